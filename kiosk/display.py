"""Which screen to draw on, and Kivy set up for a kiosk on it.

Invariant: :func:`prepare` runs before anything imports ``kivy.core.window``.  It turns off
everything of Kivy that a visitor could fall into, and leaves exactly one source of touches, since
two of them give every tap twice.
"""

from __future__ import annotations

import ctypes
import importlib
import os
from collections.abc import Iterable, Mapping
from enum import Enum
from pathlib import Path
from typing import Final

from kiosk.inputs import INPUTS, touchscreens
from kiosk.places import command

DRM_FOLDER: Final = Path("/dev/dri")
#: Here the kernel says of each connector, ``card0-HDMI-A-1``, whether a screen is plugged in.
CONNECTORS: Final = Path("/sys/class/drm")
#: A folder with an empty ``style.kv`` in it.
UNSTYLED: Final = Path(__file__).resolve().parent / "data" / "unstyled"


class Driver(Enum):
    """How SDL reaches a screen."""

    X11 = "x11"
    KMSDRM = "kmsdrm"  #: straight on the kernel's screen, without any display server
    OFFSCREEN = "offscreen"  #: a real OpenGL window that nobody sees


class NoDisplayError(Exception):
    """There is no screen to draw on; the message says what to do."""


def choose_driver(
    environ: Mapping[str, str],
    *,
    cards: Iterable[Path] | None = None,
    connectors: Path = CONNECTORS,
    offscreen: bool = False,
) -> Driver:
    """Find out how to reach a screen.

    Args:
        environ: the environment; ``SDL_VIDEODRIVER`` in it decides, if it is set.
        cards: the graphics cards that the kernel has; None looks in ``/dev/dri``.
        connectors: the folder in which the kernel says what is plugged into them.
        offscreen: whether a window that nobody sees was asked for.

    Raises:
        NoDisplayError: no screen can be reached.
    """
    if offscreen:
        return Driver.OFFSCREEN
    wanted = environ.get("SDL_VIDEODRIVER", "")
    if wanted:
        try:
            return Driver(wanted)
        except ValueError:
            raise NoDisplayError(
                f"SDL_VIDEODRIVER is {wanted}, which cannot be used here: "
                f"set it to {', '.join(d.value for d in Driver)}, or not at all"
            ) from None
    if environ.get("DISPLAY"):
        return Driver.X11
    if environ.get("WAYLAND_DISPLAY"):
        raise NoDisplayError(
            "This is a Wayland session without Xwayland (DISPLAY is not set), and the kiosk needs "
            "it: install xwayland and log in again, or start the kiosk from a text console."
        )
    found = sorted(DRM_FOLDER.glob("card*")) if cards is None else list(cards)
    if not found:
        raise NoDisplayError(
            "There is no display here: no DISPLAY is set and the machine has no screen in "
            f"{DRM_FOLDER}. Start the kiosk from a desktop or on a machine with a screen, or let "
            f"it play by itself without one: {command()} --offscreen --demo --shots shots"
        )
    if not any(os.access(card, os.R_OK | os.W_OK) for card in found):
        raise NoDisplayError(
            f"The screen {found[0]} may not be used by this user: add the user to the groups "
            "video, render and input (sudo usermod -aG video,render,input NAME) and log in again."
        )
    plugged = [_status(path) for card in found for path in connectors.glob(f"{card.name}-*/status")]
    if plugged and "connected" not in plugged:
        raise NoDisplayError(
            "No screen is plugged in, or it is switched off: plug it in and switch it on, then "
            f"start again. Without one: {command()} --offscreen --demo --shots shots"
        )
    return Driver.KMSDRM


def _status(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return "unknown"


def x11_screen_size(library: str = "libX11.so.6") -> tuple[int, int] | None:
    """Width and height of the X screen in px, or None if X does not answer.

    Where no window manager runs, nobody makes a window as large as the screen, so it must be made
    like that.  SDL needs the same library for X11, so it is there whenever this is asked.
    """
    try:
        x11 = ctypes.CDLL(library)
        x11.XOpenDisplay.restype = ctypes.c_void_p
        display = x11.XOpenDisplay(None)
        if not display:
            return None
        handle = ctypes.c_void_p(display)
        screen = x11.XDefaultScreen(handle)
        size = (x11.XDisplayWidth(handle, screen), x11.XDisplayHeight(handle, screen))
        x11.XCloseDisplay(handle)
    except (OSError, AttributeError):
        return None
    return size


#: How Kivy turns touches of mtdev clockwise.  What it calls a rotation by 90 or 270 degrees
#: is a reflection, which takes another one to be a rotation.
_TOUCH_TURNED: Final[Mapping[int, str]] = {
    0: "",
    90: ",rotation=90,invert_x=1",
    180: ",rotation=180",
    270: ",rotation=90,invert_y=1",
}


def prepare(
    driver: Driver,
    size: tuple[int, int] | None = None,
    *,
    rotation: int = 0,
    touch_rotation: int = 0,
    styled: bool = False,
    inputs: Path = INPUTS,
) -> None:
    """Set Kivy up.

    Args:
        driver: how the screen is reached.
        size: width and height in px make a window, before anything is turned; None fills the
            screen.
        rotation: degrees by which the picture is turned clockwise: 0, 90, 180 or 270.  Touches
            are turned with it, since a touchscreen is a part of its panel.
        touch_rotation: degrees by which they are turned besides; for KMSDRM alone, because a
            desktop has its own ways.
        styled: whether Kivy's own widgets get the looks that come with them.  None of them is on
            our screens, and to read those looks would take a fifth of the time until the first
            picture.
        inputs: where the kernel tells of its input devices; for KMSDRM, which has nobody else to
            read touchscreens.
    """
    os.environ.update(
        {
            "SDL_VIDEODRIVER": driver.value,
            "KIVY_NO_ARGS": "1",
            "KIVY_NO_CONFIG": "1",
            "KIVY_NO_FILELOG": "1",
            "KIVY_NO_CONSOLELOG": "1",
            # Kivy then logs through the standard library, and leaves the root logger alone.
            "KIVY_LOG_MODE": "PYTHON",
            # Where SDL cannot draw, Kivy must not look for an X server and end the program.
            "KIVY_WINDOW": "sdl2",
            # SIGTERM must reach us, not become a request to close the window.
            "SDL_NO_SIGNAL_HANDLERS": "1",
            # Where touches come from mtdev, SDL must not make mouse events of them as well.
            "SDL_TOUCH_MOUSE_EVENTS": "0" if driver is Driver.KMSDRM else "1",
        }
    )
    from kivy.config import Config  # noqa: PLC0415 - reads the environment when imported

    if not styled:
        _leave_looks_out()

    fill = x11_screen_size() if driver is Driver.X11 and size is None else None
    width, height = size or fill or (1280, 720)
    graphics = {
        "fullscreen": "0" if size else "auto",
        "borderless": "0",
        "resizable": "0",
        "show_cursor": "1" if size else "0",
        "allow_screensaver": "0",
        "multisamples": "0",
        "maxfps": "60",
        "verify_gl_main_thread": "0",
        "width": str(width),
        "height": str(height),
        # Kivy counts the other way round.
        "rotation": str(-rotation % 360),
    }
    for key, value in graphics.items():
        Config.set("graphics", key, value)
    for key, value in {
        "exit_on_escape": "0",
        "desktop": "0",
        "pause_on_minimize": "0",
        "keyboard_mode": "system",
        "log_level": "warning",
    }.items():
        Config.set("kivy", key, value)
    for section in ("input", "modules"):
        Config.remove_section(section)
        Config.add_section(section)
    Config.set("input", "mouse", "mouse,disable_multitouch")
    if driver is Driver.KMSDRM:
        # Kivy would look for them itself, but takes no touchscreen for one finger, and touch pads.
        for found in touchscreens(inputs):
            source = f"mtdev,/dev/input/{found.name}{_TOUCH_TURNED[touch_rotation]}"
            Config.set("input", f"mtdev_{found.name}", source)
    # Double and triple taps would only delay and rename touches.
    for key in ("double_tap_time", "triple_tap_time", "double_tap_distance"):
        Config.set("postproc", key, "0")
    Config.set("postproc", "jitter_distance", "0")
    if driver is Driver.KMSDRM:
        _ask_touchscreens()


def _ask_touchscreens() -> None:
    """Have Kivy's reader of touchscreens ask them how they are touched when it opens them."""
    try:
        # Both read what was set up.
        from kivy.input.providers import mtdev  # noqa: PLC0415

        from kiosk.touchscreen import Touchscreen  # noqa: PLC0415
    except OSError:
        return  # There is no libmtdev; Kivy says so, and reads no touchscreen.
    mtdev.Device = Touchscreen


def _leave_looks_out() -> None:
    """Have Kivy's language find an empty ``style.kv`` where it looks for the looks of widgets."""
    import kivy  # noqa: PLC0415 - reads the environment when imported

    # It keeps the folder for good, so it must see Kivy's own: nothing else leads there in a bundle.
    importlib.import_module("kivy.resources")
    own = kivy.kivy_data_dir
    kivy.kivy_data_dir = str(UNSTYLED)
    try:
        # Reads that file when it is imported for the first time, and never again.
        importlib.import_module("kivy.lang.builder")
    finally:
        kivy.kivy_data_dir = own


def open_window() -> None:
    """Open the window that :func:`prepare` has set up; the first to import it opens it.

    Raises:
        NoDisplayError: there is a screen, but nothing can be drawn on it.
    """
    from kivy.core.window import Window  # noqa: PLC0415 - opens the window

    if Window is None:
        raise NoDisplayError(
            "Nothing can be drawn on the screen; the reason is in the lines above. Either another "
            "program has the screen (a desktop, another kiosk: end it), or there is no OpenGL: "
            "install libgl1-mesa-dri and libegl1, and on a Raspberry Pi keep the line "
            "dtoverlay=vc4-kms-v3d in /boot/firmware/config.txt."
        )
