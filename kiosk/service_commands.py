"""What can be asked of the service menu, beside the commands of everybody.

Invariant: plain immutable values; no Kivy, no behaviour.  Outside the open menu the session refuses
all of them but :class:`OpenService` and :class:`ServiceDone`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from kiosk.commands import Command


class Page(Enum):
    """What the service menu shows."""

    PIN = "pin"
    HOME = "home"
    STATUS = "status"  #: version, pool, times
    ERRORS = "errors"
    SETTINGS = "settings"
    PIXELS = "pixels"  #: the screen full of one colour after the other
    TOUCH = "touch"  #: where fingers are
    PINS = "pins"  #: buttons and lamps
    STATISTICS = "statistics"  #: export, reset
    POWER = "power"  #: restart, power off
    CONFIRM = "confirm"  #: really?


class Task(Enum):
    """What the service menu can have done."""

    EXPORT = "export"
    RESET = "reset"  #: forget the statistics
    RESTART = "restart"  #: the kiosk
    REBOOT = "reboot"  #: the machine
    POWER_OFF = "power_off"


@dataclass(frozen=True)
class Report:
    """How a task went.

    Attributes:
        task: which one.
        done: whether it was.
        place: where the result lies, if anywhere; a path.
        on_stick: whether that is on a USB stick.
        why: why not, for whoever can read a log.
    """

    task: Task
    done: bool
    place: str = ""
    on_stick: bool = False
    why: str = ""


@dataclass(frozen=True)
class OpenService(Command):
    """Open the service menu, over whatever is on the screen."""


@dataclass(frozen=True)
class ServiceCommand(Command):
    """Something asked of the open menu."""


@dataclass(frozen=True)
class TypePin(ServiceCommand):
    """Type a digit of the PIN; an empty text takes the last one away."""

    digit: str


@dataclass(frozen=True)
class EnterPin(ServiceCommand):
    """The PIN is typed: is it right?"""


@dataclass(frozen=True)
class Turn(ServiceCommand):
    """Go to a page; PIN and CONFIRM cannot be gone to."""

    page: Page


@dataclass(frozen=True)
class NextPicture(ServiceCommand):
    """Fill the screen with the next picture; after the last one go back (page PIXELS)."""


@dataclass(frozen=True)
class Light(ServiceCommand):
    """Have a lamp show the next of off, on and breathing (page PINS)."""

    name: str


@dataclass(frozen=True)
class Adjust(ServiceCommand):
    """Change a setting by one step (page SETTINGS)."""

    key: str
    up: bool


@dataclass(frozen=True)
class UseFile(ServiceCommand):
    """Give up all changed settings: the operator's file counts again."""


@dataclass(frozen=True)
class Do(ServiceCommand):
    """Have something done; what cannot be taken back is asked about first."""

    task: Task
    confirmed: bool = False


@dataclass(frozen=True)
class ServiceDone(Command):
    """A task has come to its end."""

    by_person: ClassVar[bool] = False

    report: Report
