"""Who draws: the name of the graphics chip, or of the program that stands in for one.

Invariant: opens no window and needs no screen; whatever is missing gives None, never an error.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any, Final

#: How the names of programs begin that draw where no chip can be used.
SOFTWARE: Final = ("llvmpipe", "softpipe", "swrast", "software rasterizer")

#: Where a Raspberry Pi says what it is.
MODEL: Final = Path("/proc/device-tree/model")

# Of EGL's and OpenGL ES's headers.
_SURFACELESS: Final = 0x31DD
_OPENGL_ES_API: Final = 0x30A0
_RENDERABLE_TYPE: Final = 0x3040
_SURFACE_TYPE: Final = 0x3033
_OPENGL_ES2_BIT: Final = 0x0004
_CLIENT_VERSION: Final = 0x3098
_NONE: Final = 0x3038
GL_RENDERER: Final = 0x1F01


def is_software(name: str) -> bool:
    """Whether a name that :func:`renderer` or OpenGL gives is that of a program, not of a chip."""
    return name.lower().startswith(SOFTWARE)


def is_raspberry_pi(model: Path = MODEL) -> bool:
    """Whether this machine is a Raspberry Pi."""
    try:
        return model.read_text("utf-8", "replace").startswith("Raspberry Pi")
    except OSError:
        return False


def complaint(name: str, *, on_pi: bool) -> str:
    """What to say about a kiosk that draws with ``name``; empty when all is well."""
    if not on_pi or not is_software(name):
        return ""
    return (
        f"{name} draws instead of the graphics chip, slowly: is the user in the group render? "
        "--check says more"
    )


def renderer() -> str | None:
    """What OpenGL would draw with here and for this user; None where that cannot be found out."""
    try:
        return _asked(ctypes.CDLL("libEGL.so.1"))
    except (OSError, AttributeError):
        return None


def _asked(egl: Any) -> str | None:
    pointer, integer = ctypes.c_void_p, ctypes.c_int
    egl.eglGetProcAddress.restype = pointer
    get_display = egl.eglGetProcAddress(b"eglGetPlatformDisplayEXT")
    get_string = egl.eglGetProcAddress(b"glGetString")
    if not get_display or not get_string:
        return None
    display_of = ctypes.CFUNCTYPE(pointer, ctypes.c_uint, pointer, pointer)(get_display)
    string_of = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_uint)(get_string)
    display = pointer(display_of(_SURFACELESS, None, None))
    if not display or not egl.eglInitialize(display, None, None):
        return None
    try:
        egl.eglBindAPI(_OPENGL_ES_API)
        wanted = (integer * 5)(_RENDERABLE_TYPE, _OPENGL_ES2_BIT, _SURFACE_TYPE, 0, _NONE)
        config, count = pointer(), integer()
        egl.eglChooseConfig(display, wanted, ctypes.byref(config), 1, ctypes.byref(count))
        egl.eglCreateContext.restype = pointer
        version = (integer * 3)(_CLIENT_VERSION, 2, _NONE)
        made = egl.eglCreateContext(display, config if count.value else None, None, version)
        context = pointer(made)
        if not context or not egl.eglMakeCurrent(display, None, None, context):
            return None
        name: bytes | None = string_of(GL_RENDERER)
        egl.eglMakeCurrent(display, None, None, None)
        egl.eglDestroyContext(display, context)
    finally:
        egl.eglTerminate(display)
    return None if name is None else name.decode("utf-8", "replace")
