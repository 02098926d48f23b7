"""What can be asked of the service menu, beside the commands of everybody.

Invariant: plain immutable values; no Kivy, no behaviour.  Outside the open menu the session refuses
all of them but :class:`OpenService` and :class:`ServiceDone`.
"""

from __future__ import annotations

from enum import Enum
from typing import ClassVar

from msgspec import Struct

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


class Report(Struct, frozen=True):
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


class OpenService(Command, frozen=True):
    """Open the service menu, over whatever is on the screen."""


class ServiceCommand(Command, frozen=True):
    """Something asked of the open menu."""


class TypePin(ServiceCommand, frozen=True):
    """Type a digit of the PIN; an empty text takes the last one away."""

    digit: str


class EnterPin(ServiceCommand, frozen=True):
    """The PIN is typed: is it right?"""


class Turn(ServiceCommand, frozen=True):
    """Go to a page; PIN and CONFIRM cannot be gone to."""

    page: Page


class NextPicture(ServiceCommand, frozen=True):
    """Fill the screen with the next picture; after the last one go back (page PIXELS)."""


class Light(ServiceCommand, frozen=True):
    """Have a lamp show the next of off, on and breathing (page PINS)."""

    name: str


class Adjust(ServiceCommand, frozen=True):
    """Change a setting by one step (page SETTINGS)."""

    key: str
    up: bool


class UseFile(ServiceCommand, frozen=True):
    """Give up all changed settings: the operator's file counts again."""


class Do(ServiceCommand, frozen=True):
    """Have something done; what cannot be taken back is asked about first."""

    task: Task
    confirmed: bool = False


class ServiceDone(Command, frozen=True):
    """A task has come to its end."""

    by_person: ClassVar[bool] = False

    report: Report
