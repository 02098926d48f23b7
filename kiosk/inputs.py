"""Which of the kernel's input devices are touchscreens, by what it says they can tell.

Whoever reads touchscreens and whoever says whether there is one go by the same words, which are
those of udev (``ID_INPUT_TOUCHSCREEN``) but for odd devices: the kiosk starts anew when udev says
that one was plugged in.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Final

#: Here is a folder for each input device, named as it is in ``/dev/input``.
INPUTS: Final = Path("/sys/class/input")

# From linux/input-event-codes.h.
_ABS_X: Final = 0x00
_ABS_Y: Final = 0x01
_ABS_MT_SLOT: Final = 0x2F
_ABS_MT_POSITION_X: Final = 0x35
_ABS_MT_POSITION_Y: Final = 0x36
#: All buttons of mice, joysticks and gamepads.
_BUTTONS: Final = range(0x110, 0x140)
_BTN_TOOL_PEN: Final = 0x140
_BTN_TOOL_FINGER: Final = 0x145
_BTN_TOUCH: Final = 0x14A
_BTN_STYLUS: Final = 0x14B
_POINTER: Final = 0
_DIRECT: Final = 1

#: Bits of the kernel's words, which are as long as those of the program that reads them.
_WORD: Final = 8 * struct.calcsize("l")


def touchscreens(inputs: Path = INPUTS) -> list[Path]:
    """The folders of all touchscreens in ``inputs``, by their names."""
    return [found for found in sorted(inputs.glob("event*")) if is_touchscreen(found / "device")]


def is_touchscreen(device: Path) -> bool:
    """Whether an input device is a touchscreen, for several fingers or for one.

    Many that are for one finger do not say that they lie on a screen.  So those count which tell
    when they are touched, unless they need a pen, move a pointer as a touch pad does, or have
    buttons of a mouse or joystick.

    Args:
        device: its folder, with ``capabilities`` and ``properties`` in it; what cannot be read
            there, it has not.
    """
    axes = _bits(device / "capabilities/abs")
    keys = _bits(device / "capabilities/key")
    properties = _bits(device / "properties")
    # Some joysticks have every axis that there is, also the one before the slot, which is none.
    joystick = {_ABS_MT_SLOT - 1, _ABS_MT_SLOT} <= axes
    several = {_ABS_MT_POSITION_X, _ABS_MT_POSITION_Y} <= axes and not joystick
    if _DIRECT in properties and several:
        return True
    if _BTN_TOUCH not in keys or not keys.isdisjoint({_BTN_TOOL_PEN, _BTN_STYLUS}):
        return False
    if _DIRECT not in properties and (_POINTER in properties or _BTN_TOOL_FINGER in keys):
        return False
    return several or ({_ABS_X, _ABS_Y} <= axes and keys.isdisjoint(_BUTTONS))


def _bits(path: Path) -> set[int]:
    """The bits that are set in a bit map of the kernel: words in hex, the highest first."""
    number = 0
    try:
        for word in path.read_text("utf-8", "replace").split():
            number = number << _WORD | int(word, 16)
    except (OSError, ValueError):
        return set()
    return {bit for bit in range(number.bit_length()) if number >> bit & 1}
