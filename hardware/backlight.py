"""The light behind the screen, by the kernel's files in ``/sys/class/backlight``.

Invariant: nothing here stops the kiosk.  A screen without such a light, or one that may not be
written, stays as it is; that is said once.
"""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from hardware.chip import HardwareError

log = logging.getLogger(__name__)

FOLDER: Final = Path("/sys/class/backlight")

# What the file bl_power takes: FB_BLANK_UNBLANK and FB_BLANK_POWERDOWN of the kernel's linux/fb.h.
_POWER_ON: Final = 0
_POWER_OFF: Final = 4


class Level(StrEnum):
    """How bright the screen is."""

    FULL = "full"
    DIM = "dim"
    OFF = "off"


@dataclass(frozen=True)
class BacklightSpec:
    """What is wanted of the light.

    Attributes:
        device: the name of its folder; "auto" takes the only one, or the first by name; "none"
            leaves the light alone.
        full: percent of the brightest, 1 to 100, when somebody is there.
        dim: percent of the brightest, 1 to 100, when nobody is.
    """

    device: str = "auto"
    full: float = 100.0
    dim: float = 25.0


class Backlight:
    """A light that can be set.

    Args:
        folder: the device's folder.
        spec: how bright.

    Raises:
        HardwareError: it is no backlight.
    """

    def __init__(self, folder: Path, spec: BacklightSpec) -> None:
        self._folder = folder
        self._spec = spec
        self._level: Level | None = None
        self._complaint = ""
        try:
            self._brightest = int((folder / "max_brightness").read_text("ascii"))
        except (OSError, ValueError) as error:
            raise HardwareError(f"{folder.name} is no backlight: {_reason(error)}") from error
        if self._brightest < 1:
            raise HardwareError(f"{folder.name} has no brightness to set")

    @property
    def level(self) -> Level | None:
        """What was set last; None when nothing could be set yet."""
        return self._level

    def set(self, level: Level | str) -> bool:
        """Make the screen full, dim or off; return whether it is.

        Asking for what it is already writes nothing.  A failure is logged once, and tried again at
        the next call.
        """
        level = Level(level)
        if level is self._level:
            return True
        try:
            if level is Level.OFF:
                # Some panels are not dark at 0, others have no switch: both, switch last.
                self._write("brightness", 0)
                self._switch(_POWER_OFF)
            else:
                self._switch(_POWER_ON)
                self._write("brightness", self._steps(level))
        except OSError as error:
            self._level = None
            self._complain(error)
            return False
        self._level = level
        self._complaint = ""
        return True

    def close(self) -> None:
        """Leave the screen bright, so that whatever comes next can be seen."""
        self.set(Level.FULL)

    def _steps(self, level: Level) -> int:
        percent = self._spec.full if level is Level.FULL else self._spec.dim
        return min(self._brightest, max(1, round(self._brightest * percent / 100)))

    def _switch(self, power: int) -> None:
        if (self._folder / "bl_power").exists():
            self._write("bl_power", power)

    def _write(self, name: str, value: int) -> None:
        # Never made anew: a file that is not there is a device that went away.
        handle = os.open(self._folder / name, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
        try:
            os.write(handle, b"%d\n" % value)
        finally:
            os.close(handle)

    def _complain(self, error: OSError) -> None:
        if isinstance(error, PermissionError):
            reason = (
                "no permission to write its files: a udev rule must give brightness and bl_power "
                "to the group video, and the service must be allowed to write there"
            )
        else:
            reason = _reason(error)
        if reason != self._complaint:
            self._complaint = reason
            log.error("backlight %s cannot be set: %s", self._folder.name, reason)


class NullBacklight:
    """The light of a screen that has none of its own: nothing can be set."""

    level: Level | None = None

    def set(self, level: Level | str) -> bool:
        """Do nothing; return False."""
        Level(level)
        return False

    def close(self) -> None:
        """Do nothing."""


def open_backlight(spec: BacklightSpec, folder: Path = FOLDER) -> Backlight | NullBacklight:
    """The light to set, or one that does nothing; a name that is not there is logged."""
    if spec.device == "none":
        return NullBacklight()
    names = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
    if spec.device == "auto":
        if not names:
            return NullBacklight()
        name = names[0]
    else:
        name = spec.device
    if name not in names:
        there = ", ".join(names) or "none"
        log.error("there is no backlight %s (there are: %s)", name, there)
        return NullBacklight()
    try:
        return Backlight(folder / name, spec)
    except HardwareError as error:
        log.error("%s", error)  # noqa: TRY400 - an operator's line, not a trace
        return NullBacklight()


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
