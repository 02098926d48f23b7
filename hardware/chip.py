"""The GPIO chip behind the header, found by its label.

The chip's number moves between kernels (0, 4, 11 to 15 have been seen on a Raspberry Pi 5); its
label does not.

Invariant: only the `lgpio` library ever drives a pin, and importing it leaves the process in the
folder where it was.
"""

from __future__ import annotations

import fcntl
import os
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

#: Labels of chips that have the header's pins: Pi 5; Pi 4; older ones; simulated lines.
LABELS: Final = ("pinctrl-rp1", "pinctrl-bcm2711", "pinctrl-bcm2835", "gpio-sim")

#: A board with the usual header (Pi 3 B), for simulated lines on a machine that is no Pi.
_SIMULATED_REVISION: Final = 0xA02082

# struct gpiochip_info of the kernel's linux/gpio.h: name, label, number of lines.
_CHIP_INFO: Final = struct.Struct("32s32sI")
_GET_CHIP_INFO: Final = 0x8044B401


class HardwareError(Exception):
    """Something about the hardware that an operator can act on; the message says what."""


@dataclass(frozen=True)
class Chip:
    """A GPIO chip: ``/dev/gpiochip<number>``."""

    number: int
    label: str

    @property
    def is_simulated(self) -> bool:
        """Whether its lines exist in the kernel only."""
        return self.label.startswith("gpio-sim")


def ask_kernel(device: Path) -> str:
    """The label of the chip behind a device file.

    Raises:
        OSError: it cannot be opened, or is no GPIO chip.
    """
    handle = os.open(device, os.O_RDONLY | os.O_CLOEXEC)
    try:
        answer = fcntl.ioctl(handle, _GET_CHIP_INFO, bytes(_CHIP_INFO.size))
    finally:
        os.close(handle)
    _name, label, _lines = _CHIP_INFO.unpack(answer)
    return str(label.partition(b"\0")[0].decode("ascii", "replace"))


def find_chip(
    labels: Sequence[str] = LABELS,
    *,
    root: Path = Path("/"),
    ask: Callable[[Path], str] = ask_kernel,
) -> Chip:
    """The chip with one of the labels; of several, the one whose label is named first.

    Args:
        labels: how the label may begin, the preferred ones first.
        root: where ``dev`` and ``sys`` are.
        ask: tells the label of a device file, or raises OSError.

    Raises:
        HardwareError: there is none, or this user may not use it.
    """
    chips: list[Chip] = []
    closed: dict[int, OSError] = {}
    for number in _numbers(root):
        device = root / "dev" / f"gpiochip{number}"
        try:
            label = ask(device)
        except OSError as error:
            closed[number] = error
            label = _label_from_sysfs(root, number)
        if label:
            chips.append(Chip(number, label))
    for wanted in labels:
        for chip in chips:
            if chip.label.startswith(wanted):
                if chip.number in closed:
                    raise HardwareError(_why_closed(chip.number, chip.label, closed[chip.number]))
                return chip
    if closed:
        # No label could be read for these, so the header's chip may be among them.
        number = min(closed)
        raise HardwareError(_why_closed(number, "", closed[number]))
    there = ", ".join(f"{chip.label} ({chip.number})" for chip in chips)
    raise HardwareError(
        f"no GPIO chip of a Raspberry Pi (there are: {there})"
        if there
        else "no GPIO chip: this machine has no header, or the kernel does not show it"
    )


def _why_closed(number: int, label: str, error: OSError) -> str:
    name = f"/dev/gpiochip{number}" + (f" ({label})" if label else "")
    if isinstance(error, PermissionError):
        return f"no permission for {name}: the user must be in the group gpio"
    return f"{name} cannot be opened: {error.strerror or error}"


def _numbers(root: Path) -> list[int]:
    """The numbers of all chips.  Links (some systems have gpiochip4 -> gpiochip0) do not count."""
    folders = (root / "sys/bus/gpio/devices", root / "dev")
    found: set[int] = set()
    for folder in folders:
        if not folder.is_dir():
            continue
        for entry in folder.iterdir():
            match = re.fullmatch(r"gpiochip([0-9]+)", entry.name)
            # In sysfs every entry is a link, to the device; in dev a link is another name.
            if match and not (folder.name == "dev" and entry.is_symlink()):
                found.add(int(match[1]))
    return sorted(found)


def _label_from_sysfs(root: Path, number: int) -> str:
    """The label as sysfs tells it, or "".

    The character device has no label there on most kernels.  The old interface has, under another
    number; its ``device`` link leads to the folder that holds the character device.
    """
    own = root / f"sys/bus/gpio/devices/gpiochip{number}/label"
    legacy = root / "sys/class/gpio"
    candidates = [own] if own.is_file() else []
    if legacy.is_dir():
        candidates += [
            entry / "label"
            for entry in sorted(legacy.iterdir())
            if (entry / "device" / f"gpiochip{number}").is_dir()
            or (entry / "device").resolve().name == f"gpiochip{number}"
        ]
    for candidate in candidates:
        try:
            return candidate.read_text("utf-8").strip()
        except OSError:
            continue
    return ""


def pipe_folder(environment: Mapping[str, str]) -> Path:
    """A folder for the pipe that `lgpio` makes as soon as it is imported.

    That is ``LG_WD``, else the service's or the user's runtime folder.  It is never /tmp, where
    others could put a file of that name first.

    Raises:
        HardwareError: there is none that can be written.
    """
    tried = []
    for variable in ("LG_WD", "RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"):
        value = environment.get(variable, "").split(":")[0]
        if not value:
            continue
        folder = Path(value)
        if folder.is_dir() and os.access(folder, os.W_OK | os.X_OK):
            return folder
        tried.append(f"{variable}={value} cannot be written")
    raise HardwareError(
        "lgpio needs a folder for its pipe: "
        + ("; ".join(tried) or "set LG_WD to one that can be written")
    )


def _import_factory() -> Any:
    from gpiozero.pins.lgpio import LGPIOFactory  # noqa: PLC0415 - makes a pipe, starts a thread

    return LGPIOFactory


def open_factory(
    *,
    root: Path = Path("/"),
    ask: Callable[[Path], str] = ask_kernel,
    load: Callable[[], Any] = _import_factory,
) -> Any:
    """A gpiozero pin factory on the header's chip.

    Args:
        root: see :func:`find_chip`.
        ask: see :func:`find_chip`.
        load: returns the class ``LGPIOFactory``.

    Raises:
        HardwareError: no chip, no permission, or no library.
    """
    chip = find_chip(root=root, ask=ask)
    factory = _load_in(pipe_folder(os.environ), load)
    if chip.is_simulated:
        factory = type("SimulatedFactory", (factory,), {"_get_revision": _simulated_revision})
    try:
        return factory(chip=chip.number)
    except Exception as error:
        # lgpio's own error says no more than that it could not.
        raise HardwareError(
            f"/dev/gpiochip{chip.number} ({chip.label}) cannot be opened: {error}"
        ) from error


def _load_in(folder: Path, load: Callable[[], Any]) -> Any:
    """Import lgpio with ``folder`` as its own, and stay where we are: lgpio changes folders."""
    before = Path.cwd()
    os.environ["LG_WD"] = str(folder)
    try:
        return load()
    except Exception as error:
        raise HardwareError(f"lgpio cannot be used: {error}") from error
    finally:
        os.chdir(before)


def _simulated_revision(_factory: Any) -> int:
    return _SIMULATED_REVISION
