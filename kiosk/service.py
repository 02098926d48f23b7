"""The service menu's state: which page, what was typed, what may be done.

What it shows and does is given by a :class:`Desk`.

Invariant: no Kivy, no clock, no thread.  Without the right PIN nothing is changed, done or shown
but the page PIN; where no PIN is set, everything may be seen and nothing may be changed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from kiosk.errorlog import Logged
from kiosk.lockout import Lockout
from kiosk.overrides import Value
from kiosk.pin import LONGEST, SHORTEST
from kiosk.service_commands import (
    Adjust,
    Do,
    EnterPin,
    Light,
    NextPicture,
    Page,
    Report,
    ServiceCommand,
    Task,
    Turn,
    TypePin,
    UseFile,
)

#: Pages that only show or try something: open without a PIN where none is set.
HARMLESS: Final = frozenset(
    {Page.HOME, Page.STATUS, Page.ERRORS, Page.PIXELS, Page.TOUCH, Page.PINS}
)
#: Tasks that are asked about first.
ASKED_ABOUT: Final = frozenset({Task.RESET, Task.RESTART, Task.REBOOT, Task.POWER_OFF})
#: Tasks with which the kiosk ends.
ENDING: Final = frozenset({Task.RESTART, Task.REBOOT, Task.POWER_OFF})
#: Pictures of the page PIXELS, in their order.
PICTURES: Final = ("red", "green", "blue", "white", "black", "grey", "colours", "lines")
#: What a lamp shows, one after the other.
LAMP_STATES: Final = ("off", "on", "breathing")
#: Seconds without input after which the menu closes, unless the operator says otherwise.
CLOSE_AFTER: Final = 90.0


@dataclass(frozen=True)
class PoolFacts:
    """What is known about the pool of deals.

    Attributes:
        deals: how many there are, by preset; empty without a pool.
        sound: whether its digest is right; None while it is still being read.
        why: why deals are solved on the spot instead, or empty.
    """

    deals: Mapping[str, int]
    sound: bool | None
    why: str = ""


@dataclass(frozen=True)
class Facts:
    """What the page STATUS shows.

    Attributes:
        version: of this program.
        system: of Python and of the machine's system, in one line.
        running: seconds since this program began.
        machine: seconds since the machine began.
        pool: the deals.
        folder: where everything is kept.
        games: finished games that are known.
        unwritten: why nothing can be kept at this moment, or empty.
    """

    version: str
    system: str
    running: float
    machine: float
    pool: PoolFacts
    folder: str
    games: int
    unwritten: str = ""


@dataclass(frozen=True)
class PinFacts:
    """What the page PINS shows.

    Attributes:
        inputs: by name, what is wired and whether it is pressed; a wheel has a count instead.
        lamps: the lamps that are wired.
        numbers: the GPIO number of each, by ``input name`` or ``lamp name``.
        why: why nothing works, or empty.
    """

    inputs: Mapping[str, bool | int]
    lamps: Sequence[str]
    numbers: Mapping[str, str]
    why: str = ""


class Desk(Protocol):
    """The machine as the service menu sees it; see :mod:`kiosk.service_desk`."""

    @property
    def has_pin(self) -> bool:
        """Whether a PIN is set."""

    def check_pin(self, pin: str) -> bool:
        """Whether that is the PIN."""

    def facts(self) -> Facts:
        """The page STATUS."""

    def errors(self) -> Sequence[Logged]:
        """The last warnings and errors, the newest first."""

    def pins(self) -> PinFacts:
        """The page PINS, as it is at this moment."""

    def value(self, key: str) -> Value | None:
        """What counts for a setting; None where it has no effect on this machine."""

    def step(self, key: str, up: bool) -> Value | None:
        """What it would be one step further; None at the end."""

    def overridden(self) -> frozenset[str]:
        """The settings that differ from the operator's file."""

    def change(self, key: str, value: Value) -> None:
        """Override a setting, at once."""

    def use_file(self) -> None:
        """Give up all overrides, at once."""

    def start(self, task: Task) -> None:
        """Begin a task; it ends by the command ServiceDone."""


class Service:
    """The menu; see the module's text.

    Args:
        desk: what it shows and does.
        lockout: how often the PIN may be tried.
        close_after: seconds without input after which it closes.

    Attributes:
        page: what is shown; means nothing while the menu is closed.
        typed: the digits typed so far.
        wrong: whether the last PIN was wrong.
        picture: the number of the picture on the page PIXELS.
        lamps: what each lamp shows on the page PINS.
        asking: on the page CONFIRM: about what.
        busy: the task that is under way, or None.
        report: how the last task went, until the page is left.
        waits: whole seconds until the next PIN may be entered.
    """

    def __init__(self, desk: Desk, lockout: Lockout, *, close_after: float = CLOSE_AFTER) -> None:
        self.desk = desk
        self.close_after = close_after
        self._lockout = lockout
        self.page = Page.PIN
        self.typed = ""
        self.wrong = False
        self.picture = 0
        self.lamps: dict[str, str] = {}
        self.asking: Task | None = None
        self.busy: Task | None = None
        self.report: Report | None = None
        self.waits = 0
        self._may_change = False
        self._pins: PinFacts | None = None

    @property
    def may_change(self) -> bool:
        """Whether the PIN was entered; without it the menu changes nothing."""
        return self._may_change

    def may_open(self, page: Page) -> bool:
        """Whether a page can be gone to now."""
        if page in {Page.PIN, Page.CONFIRM} or self.page is Page.PIN:
            return False
        return self._may_change or page in HARMLESS

    def open(self, now: float) -> None:
        """Begin: at the PIN, or at once where there is none."""
        self._forget()
        self.page = Page.PIN if self.desk.has_pin else Page.HOME
        self.waits = math.ceil(self._lockout.left(now))

    def close(self) -> None:
        """The menu has been left: the next one has to enter the PIN again."""
        self._forget()
        self.page = Page.PIN

    def back(self) -> bool:
        """Go one page up; whether there was one: otherwise the menu is to be closed."""
        if self.page in {Page.PIN, Page.HOME}:
            return False
        up = Page.HOME
        if self.page is Page.CONFIRM:
            up = Page.STATISTICS if self.asking is Task.RESET else Page.POWER
        self._turn(up)
        return True

    def handle(self, command: ServiceCommand, now: float) -> bool:  # noqa: PLR0911 - the one switch
        """Carry out a command of the open menu; whether it was allowed."""
        if self.page is Page.PIN:
            return self._enter(command, now)
        match command:
            case Turn(page):
                if not self.may_open(page):
                    return False
                self._turn(page)
                return True
            case NextPicture():
                return self._next_picture()
            case Light(name):
                return self._light(name)
            case Adjust(key, up):
                return self._adjust(key, up=up)
            case UseFile():
                if self._may_change and self.page is Page.SETTINGS:
                    self.desk.use_file()
                    return True
                return False
            case Do(task, confirmed):
                return self._do(task, confirmed=confirmed)
            case _:
                return False

    def pass_time(self, now: float) -> bool:
        """It is ``now``: whether something on the open page has changed by itself."""
        if self.page is Page.PIN:
            before, self.waits = self.waits, math.ceil(self._lockout.left(now))
            return before != self.waits
        if self.page is Page.PINS:
            before_pins, self._pins = self._pins, self.desk.pins()
            return before_pins != self._pins
        return False

    def has_time_for(self, task: Task) -> bool:
        """Whether ``task`` can be begun now: one after the other, but what ends the kiosk can be
        done while a broken stick holds up another one for good."""
        return self.busy is None or (task in ENDING and self.busy not in ENDING)

    def done(self, report: Report) -> None:
        """A task has come to its end."""
        if self.busy is report.task:
            self.busy = None
            self.report = report

    # -- inside ---------------------------------------------------------------------------------

    def _forget(self) -> None:
        self.typed = ""
        self.wrong = False
        self.lamps = {}
        self.asking = self.report = None
        self._may_change = False
        self.picture = 0
        self._pins = None

    def _turn(self, page: Page) -> None:
        self.page = page
        self.picture = 0
        self.lamps = {}
        self.asking = self.report = None

    def _enter(self, command: ServiceCommand, now: float) -> bool:
        self.waits = math.ceil(self._lockout.left(now))
        if self.waits > 0:
            self.typed = ""
            return False
        match command:
            case TypePin(""):
                self.typed = self.typed[:-1]
            case TypePin(digit) if len(digit) == 1 and digit in "0123456789":
                if len(self.typed) >= LONGEST:
                    return False
                self.wrong = False
                self.typed += digit
            case EnterPin() if len(self.typed) >= SHORTEST:
                typed, self.typed = self.typed, ""
                if self._lockout.attempt(now, lambda: self.desk.check_pin(typed)):
                    self.wrong = False
                    self._may_change = True
                    self._turn(Page.HOME)
                else:
                    self.wrong = True
                    self.waits = math.ceil(self._lockout.left(now))
            case _:
                return False
        return True

    def _next_picture(self) -> bool:
        if self.page is not Page.PIXELS:
            return False
        if self.picture + 1 == len(PICTURES):
            self._turn(Page.HOME)
        else:
            self.picture += 1
        return True

    def _light(self, name: str) -> bool:
        if self.page is not Page.PINS or name not in self.desk.pins().lamps:
            return False
        shown = LAMP_STATES.index(self.lamps.get(name, LAMP_STATES[0]))
        self.lamps[name] = LAMP_STATES[(shown + 1) % len(LAMP_STATES)]
        return True

    def _adjust(self, key: str, *, up: bool) -> bool:
        if not self._may_change or self.page is not Page.SETTINGS:
            return False
        if self.desk.value(key) is None or (value := self.desk.step(key, up)) is None:
            return False
        self.desk.change(key, value)
        return True

    def _do(self, task: Task, *, confirmed: bool) -> bool:
        if not self._may_change or not self.has_time_for(task):
            return False
        if task in ASKED_ABOUT and not (confirmed and self.asking is task):
            self.page, self.asking, self.report = Page.CONFIRM, task, None
            return True
        self._turn(Page.STATISTICS if task in {Task.EXPORT, Task.RESET} else Page.POWER)
        self.busy = task
        self.desk.start(task)
        return True
