"""The whole kiosk in virtual time: real window, widgets, session and panel; pins that are driven.

Nothing is drawn unless asked for, so that a thousand inputs take about a second.

Invariant: the same inputs give the same run.  Time, date, chance and the solver's thread are the
rig's own; an answer of the solver comes when an input says so.
"""

from __future__ import annotations

import ctypes
import gc
import logging
import os
import queue
import sys
import threading
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, Final
from unittest.mock import patch

from gpiozero.pins.mock import MockFactory, MockPWMPin

from engine.advice import Advice, advise
from engine.difficulty import Grade
from engine.game import Game
from engine.position import Outcome, Position
from engine.rules import PRESETS
from hardware.config import (
    ButtonSpec,
    CombinationSpec,
    EncoderSpec,
    LampSpec,
    PanelSettings,
    PresenceSpec,
    Repeat,
)
from hardware.panel import Panel as HardwarePanel
from kiosk.commands import AdviceReady, Change, ChangeKind, Command, NewDeal, Panel
from kiosk.dealer import PoolDealer
from kiosk.light import Light, LightOptions, NoBacklight
from kiosk.lockout import Lockout
from kiosk.panel_controls import PanelControls
from kiosk.schedule import Schedule, Span
from kiosk.service import Service
from kiosk.service_commands import OpenService, Report, ServiceDone, Task
from kiosk.session import Session
from kiosk.sessiontypes import Configure, Saved, SessionOptions, Tell
from kiosk.settings import DisplaySettings
from tests.kiosk.conftest import stepped
from tests.kiosk.fakes import FakeDesk

PINS: Final = {
    "undo": 17,
    "new_deal": 27,
    "redo": 23,
    "hint": 22,
    "draw": 24,
    "up": 5,
    "down": 6,
    "left": 7,
    "right": 8,
    "select": 9,
}
WHEEL: Final = EncoderSpec(19, 26)
SENSOR: Final = 16
REPEAT: Final = Repeat()
WIRED: Final = PanelSettings(
    buttons={
        name: ButtonSpec(
            pin,
            hold=1.5 if name == "new_deal" else None,
            repeat=REPEAT if name in {"undo", "redo", "up", "down", "left", "right"} else None,
        )
        for name, pin in PINS.items()
    },
    combinations={"service": CombinationSpec(("undo", "new_deal"), 5.0)},
    encoders={"wheel": WHEEL},
    lamps={"undo": LampSpec(12), "new_deal": LampSpec(13)},
    presence=PresenceSpec(SENSOR),
)
LANGUAGES: Final = ("en", "de", "es", "fr")
SIZES: Final = ((800, 480), (480, 800), (1024, 600))
PIN: Final = "4711"
#: Positions that the solver may look at for one answer: little, for answers are not the matter.
LIMIT: Final = 2_000
NIGHT: Final = Schedule(dim=(Span.parse("18:00-22:00"),), black=(Span.parse("22:00-06:00"),))
BEGINS: Final = datetime(2026, 11, 30, 10, 0)

Input = list[Any]


class BrokenError(AssertionError):
    """The kiosk is in a state that it must never be in."""


class Errors(logging.Handler):
    """Whatever was caught and logged on the way is a failure, too."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            text += f" ({record.exc_info[1]!r})"
        self.found.append(text)


class LateAdviser:
    """Answers the last question when it is told to."""

    def __init__(self) -> None:
        self.asked: tuple[int, tuple[Position, ...], int | None] | None = None

    def ask(self, question: int, history: tuple[Position, ...], winnable_at: int | None) -> None:
        self.asked = (question, history, winnable_at)

    def cancel(self) -> None:
        self.asked = None

    def answer(self) -> AdviceReady | None:
        if self.asked is None:
            return None
        number, history, winnable_at = self.asked
        self.asked = None
        found: Advice | None = advise(history, winnable_at=winnable_at, limit=LIMIT)
        return AdviceReady(number, found)


#: Of so many times that the table lays its quads anew, it really does once.
LAYS: Final = 10


@lru_cache(maxsize=1)
def _shortcuts() -> tuple[Any, Any]:
    """What draws a picture once, and what gives one deck for each size, whatever the look.

    Made once, so that what they have drawn serves the next rig as well.
    """
    from kiosk import faces, table

    deck = lru_cache(maxsize=None)(table.Faces)
    return lru_cache(maxsize=512)(faces._drawn), lambda width, _style, _cache: deck(width)


@contextmanager
def hurried() -> Iterator[None]:
    """Leave out most of the drawing, which is not the matter and takes most of the time.

    One deck for each size serves all looks, single pictures are drawn once, and only now and then
    are the table's quads laid.  Afterwards everything is drawn as before.
    """
    from kiosk import faces, table

    drawn, decks = _shortcuts()
    lay, calls = table.Table._draw, count()

    def seldom(self: table.Table, *, only_time_passed: bool = False) -> None:
        if next(calls) % LAYS == 0:
            # What was left out since may have been more than time that passed.
            lay(self)

    with (
        patch.object(faces, "_drawn", drawn),
        patch.object(table, "Faces", decks),
        patch.object(table.Table, "_draw", seldom),
    ):
        yield


class Rig:
    """A kiosk to press on.

    Args:
        window: Kivy's window.
        seed: which deals it deals.
        folder: where drawn cards are kept.
        whole: whether everything is drawn; see :func:`hurried`.

    Attributes:
        now: virtual monotonic seconds.
        inputs: how many inputs were given.
        deals: how many times a new deal was dealt to a player.
        kinds: how often which change came.
        seen: how often which panel was open, by name, after an input.
        trail: the last commands that did something, in words.
    """

    def __init__(
        self, window: Any, seed: int, folder: Path | None = None, *, whole: bool = False
    ) -> None:
        from kivy.base import EventLoop
        from kivy.clock import Clock

        from kiosk.app import KioskApp
        from kiosk.picturecache import PictureCache

        self.window, self.clock, self.loop = window, Clock, EventLoop
        self.now = max(Clock.time(), Clock._last_tick) + 1.0
        self._began = self.now
        self._shift = timedelta()
        self._taken = ExitStack()
        self._taken.enter_context(stepped(window, lambda: self.now))
        if not whole:
            self._taken.enter_context(hurried())
        window.size = SIZES[0]
        self.errors = Errors()
        logging.getLogger().addHandler(self.errors)
        self.inputs = self.deals = self.records = 0
        self.kinds: Counter[ChangeKind] = Counter()
        self.seen: Counter[str] = Counter()
        self.trail: deque[str] = deque(maxlen=12)
        self.fingers: dict[int, Any] = {}
        self.pressed: set[str] = set()
        self.saved: Saved | None = None
        self.inbox: queue.SimpleQueue[Command] = queue.SimpleQueue()
        self.adviser = LateAdviser()
        self.desk = FakeDesk(pin=PIN)
        self.dealer = PoolDealer(Random(seed))
        self.session = Session(
            self.dealer,
            self.adviser,
            SessionOptions(languages=LANGUAGES),
            now=self.now,
            record=self._record,
            today=lambda: self.wall.date(),  # noqa: PLW0108 - the date of each moment
            service=Service(self.desk, Lockout(self.now)),
        )
        self._handle = self.session.handle
        self.session.handle = self._watched  # type: ignore[method-assign]
        self.light = Light(
            NoBacklight(),
            LightOptions(schedule=NIGHT),
            self.now,
            wall=lambda: self.wall,
        )
        self.app = KioskApp(
            self.session,
            self.inbox,
            keep=self._keep,
            clock=lambda: self.now,
            light=self.light,
            cache=None if folder is None else PictureCache(folder),
        )
        self.controls = PanelControls(
            self.session,
            self.app.send,
            wake=self.app.wake,
            navigate=self.app.navigate,
            service=lambda: self.app.send(OpenService()),
            presence=self.app.presence,
        )
        window.add_widget(self.app.build())
        self.factory = MockFactory(pin_class=MockPWMPin)
        self.controls.panel = HardwarePanel.open(
            WIRED, self.controls.handle, clock=lambda: self.now, open_pins=lambda: self.factory
        )
        self.app.attach(self.controls)
        self.frame(0.1)

    @property
    def wall(self) -> datetime:
        """What the clock on the wall shows."""
        moment = BEGINS + self._shift + timedelta(seconds=self.now - self._began)
        return moment if moment.year < 9000 else BEGINS

    def close(self) -> None:
        """Take everything from the window again."""
        self.app.on_stop()
        self.dealer.close()
        self.window.remove_widget(self.app.root_widget)
        self._taken.close()
        logging.getLogger().removeHandler(self.errors)

    # -- time -----------------------------------------------------------------------------------

    def frame(self, seconds: float) -> None:
        """One turn of the main loop, so many seconds later, without a picture."""
        self.now += seconds
        self.clock.tick()
        self.clock.tick_draw()

    def wait(self, seconds: float, step: float = 0.25) -> None:
        """So much time passes, in turns of at most ``step`` seconds."""
        while seconds > 0:
            self.frame(min(step, seconds))
            seconds -= step

    def draw(self) -> None:
        """A turn with a picture."""
        self.now += 0.02
        self.window.canvas.ask_update()
        self.loop.idle()

    # -- inputs ---------------------------------------------------------------------------------

    def do(self, given: Input) -> None:
        """Give one input, let a moment pass, and look whether all is well.

        Raises:
            BrokenError: it is not.
            Exception: whatever came out of the kiosk.
        """
        kind = self.give(given)
        if kind not in {"wait", "suspend"}:
            self.frame(0.034)
        self.check()

    def give(self, given: Input) -> str:
        """Give one input, and nothing else; return its kind."""
        self.inputs += 1
        kind, *values = given
        getattr(self, f"_do_{kind}")(*values)
        return str(kind)

    def _do_down(self, finger: int, x: float, y: float) -> None:
        from kivy.tests.common import UnitTestTouch

        self._do_up(finger)
        touch = self.fingers[finger] = UnitTestTouch(x, y)
        touch.touch_down()

    def _do_move(self, finger: int, x: float, y: float) -> None:
        if (touch := self.fingers.get(finger)) is not None:
            touch.touch_move(x, y)

    def _do_up(self, finger: int) -> None:
        if (touch := self.fingers.pop(finger, None)) is not None:
            touch.touch_up()

    def _do_lose(self, finger: int) -> None:
        """The device is gone: nobody ever hears of this finger again."""
        if (touch := self.fingers.pop(finger, None)) is not None:
            self.loop.me_list.remove(touch)

    def _do_tap(self, x: float, y: float) -> None:
        self._do_down(9, x, y)
        self.frame(0.034)
        self._do_up(9)

    def _do_drag(self, x: float, y: float, to_x: float, to_y: float) -> None:
        self._do_down(9, x, y)
        for share in (0.3, 0.6, 1.0):
            self.frame(0.017)
            self._do_move(9, x + (to_x - x) * share, y + (to_y - y) * share)
        self._do_up(9)

    def _do_key(self, code: int, modifiers: list[str]) -> None:
        self.window.dispatch("on_key_down", code, 0, None, modifiers)

    def _do_key_up(self, code: int) -> None:
        self.window.dispatch("on_key_up", code, 0)

    def _do_press(self, name: str) -> None:
        self.factory.pin(PINS[name]).drive_low()
        self.pressed.add(name)

    def _do_release(self, name: str) -> None:
        self.factory.pin(PINS[name]).drive_high()
        self.pressed.discard(name)

    def _do_turn(self, way: int) -> None:
        pins = [self.factory.pin(WHEEL.a), self.factory.pin(WHEEL.b)]
        for pin in pins[::way]:
            pin.drive_low()
        for pin in pins[::way]:
            pin.drive_high()

    def _do_sensor(self, there: bool) -> None:
        pin = self.factory.pin(SENSOR)
        (pin.drive_high if there else pin.drive_low)()

    def _do_wait(self, seconds: float) -> None:
        self.wait(seconds, max(0.1, seconds / 15))

    def _do_suspend(self, seconds: float) -> None:
        self.frame(seconds)

    def _do_clock(self, days: float) -> None:
        self._shift += timedelta(days=days)
        if not 1980 < (BEGINS + self._shift).year < 2080:
            self._shift = timedelta()

    def _do_configure(self, options: dict[str, Any], look: dict[str, Any]) -> None:
        """The operator's file was read again."""
        grade = options["grade"]
        self.inbox.put(
            Configure(
                SessionOptions(
                    **{
                        **options,
                        "grade": None if grade is None else Grade[grade],
                        "tell": Tell(options["tell"]),
                    },
                    languages=LANGUAGES,
                    look=DisplaySettings(**look),
                )
            )
        )

    def _do_size(self, width: int, height: int) -> None:
        self.window.size = (width, height)

    def _do_answer(self) -> None:
        if (answer := self.adviser.answer()) is not None:
            self.inbox.put(answer)

    def _do_task(self, done: bool) -> None:
        """What the service menu has begun comes to its end."""
        if self.desk.started:
            task = Task(self.desk.started.pop())
            self.desk.started.clear()
            self.inbox.put(ServiceDone(Report(task, done, place="/somewhere", why="for a test")))

    # -- what must be so ------------------------------------------------------------------------

    def _watched(self, command: Command, now: float) -> Change:
        before = self.session.position
        change = self._handle(command, now)
        self.kinds[change.kind] += 1
        if change.kind is not ChangeKind.NOTHING:
            self.trail.append(f"{command} -> {change.kind.value}, {self._where()}")
        self._judge(change, before)
        if change.kind is ChangeKind.DEALT:
            self.deals += 1
        return change

    def _judge(self, change: Change, before: Position) -> None:
        """Every change of the table is one that the rules allow."""
        new = self.session.position
        if change.old != before or change.new != new:
            raise BrokenError(f"{change.kind}: tells another table than there is")
        move = change.move
        if change.kind in {ChangeKind.PLAYED, ChangeKind.REDONE}:
            if move is None or not before.is_legal(move) or before.play(move) != new:
                raise BrokenError(f"{change.kind}: {move} does not lead there")
        elif change.kind is ChangeKind.UNDONE:
            if move is None or new.play(move) != before:
                raise BrokenError(f"{change.kind}: {move} does not lead back")
        elif change.kind is ChangeKind.DEALT and new != Position(new.deal, new.rules):
            raise BrokenError("a deal that is not whole")

    def _keep(self, saved: Saved) -> None:
        self.saved = saved

    def _record(self, _result: object) -> None:
        self.records += 1

    def check(self) -> None:
        """Look at what is cheap to look at."""
        session = self.session
        if self.errors.found:
            raise BrokenError(f"logged: {self.errors.found[0]}")
        panel = session.panel
        self.seen["attract" if session.attract else panel.value] += 1
        sheet = self.app.panels.sheet
        shown = panel is not Panel.NONE and not session.attract
        if shown is (sheet is None) and not (panel is Panel.WON and self.app.table.moving):
            raise BrokenError(f"{panel} is open and {sheet} is shown")
        place = session.selected
        if place is not None and not session.position.is_present(place):
            raise BrokenError(f"place {place} is selected and empty")
        if session.preset not in PRESETS or session.speaks not in LANGUAGES:
            raise BrokenError(f"{session.preset} in {session.speaks}")

    def check_save(self) -> None:
        """What is kept leads back to the game that is played."""
        saved = self.session.saved()
        table = self.session._table
        game = Game.load(saved.game)
        if game.position != table.game.position or game.undone != table.game.undone:
            raise BrokenError("a save that is another game")
        if game.outcome is Outcome.WON and not table.recorded:
            raise BrokenError("a win that was not recorded")
        if self.records != self.session.statistics.all.played:
            raise BrokenError("results and statistics differ")

    # -- a new deal in three inputs ---------------------------------------------------------------

    def rest(self) -> None:
        """Everybody lets go of everything, and a second passes."""
        for finger in list(self.fingers):
            self._do_up(finger)
        for name in sorted(self.pressed):
            self._do_release(name)
        self.wait(1.2, 0.1)
        self.check()

    def new_deal(self, most: int) -> int:
        """Get a new deal by touch as a visitor would, and say how many touches it took.

        Where the service menu's gesture has been done but for its last corner, and New deal lies in
        that one, a touch there opens the menu, as it should; ``most`` are counted anew from there.

        Raises:
            BrokenError: there is none after so many touches.
        """
        self.rest()
        way = [self._where()]
        opens = self._last_corner()
        touch = 0
        while touch < most:
            touch += 1
            deals, woke = self.deals, self.kinds[ChangeKind.WOKE]
            command = self._touch_towards_a_deal()
            if touch == 1 and opens and self.session.panel is Panel.SERVICE:
                most += touch
            way.append(f"{command} -> {self._where()}")
            if self.deals > deals:
                return touch
            fresh = self.session.panel is Panel.NONE and self.session.moves_played == 0
            if self.kinds[ChangeKind.WOKE] > woke and fresh and not self.session.attract:
                return touch
        raise BrokenError(f"no new deal after {most} touches: {'; '.join(way)}")

    def _last_corner(self) -> bool:
        """Whether nothing but the last corner is missing to the service menu."""
        corners = self.app.root_widget.corners
        return corners is not None and corners._done == 3

    def _where(self) -> str:
        session = self.session
        page = session.service.page.value if session.service is not None else ""
        dark = " dark" if self.light.stage.value != "full" else ""
        if session.attract:
            return f"attract{dark}"
        if session.panel is Panel.SERVICE:
            return f"service {page}{dark}"
        return f"{session.panel.value}{dark}"

    def _touch_towards_a_deal(self) -> str:
        """One touch; what it was meant for."""
        session = self.session
        dark = self.light.stage.value != "full"
        x, y = self.app.table.layout.screen.center
        command: object = "wakes"
        if not (session.attract or dark or session.panel is Panel.COUNTDOWN):
            offers = self.offers()
            wanted = [o for o in offers if isinstance(o[0], NewDeal)] or [
                o for o in offers if type(o[0]).__name__ in {"Close", "NextPicture"}
            ]
            if not wanted:
                raise BrokenError(f"{self._where()}: nothing leads on, of {offers}")
            command, (x, y) = wanted[0]
        self._do_tap(x, y)
        self.wait(1.2, 0.1)
        self.check()
        return type(command).__name__ if isinstance(command, Command) else str(command)

    def offers(self) -> list[tuple[object, tuple[float, float]]]:
        """What can be touched now: the command that it would send, and where it is."""
        from kiosk.widgets import Pressable

        dx, dy = self.app.root_widget.shift
        found: list[tuple[object, tuple[float, float]]] = []
        sheet = self.app.panels.sheet
        asked: list[Command] = []

        def note(command: Command, _now: float) -> Change:
            asked.append(command)
            position = self.session.position
            return Change(ChangeKind.NOTHING, position, position)

        watched = self.session.handle
        self.session.handle = note  # type: ignore[method-assign]
        try:
            for widget in (sheet or self.app.hud).walk():
                if isinstance(widget, Pressable) and widget.enabled and widget.opacity:
                    del asked[:]
                    widget.press()
                    x, y = widget.rect.center
                    found += [(command, (x + dx, y + dy)) for command in asked]
        finally:
            self.session.handle = watched  # type: ignore[method-assign]
        if sheet is not None:
            corner = (3.0 + max(dx, 0), 3.0 + max(dy, 0))
            found.append((sheet.anywhere or sheet.outside, corner))
        return found

    # -- what must not grow -----------------------------------------------------------------------

    def sizes(self) -> dict[str, int]:
        """How much there is of everything; call it at the same kind of moment."""
        for pin in self.factory.pins.values():
            # What a mock pin remembers is none of the kiosk's.
            pin.clear_states()
        for _ in range(3):
            # A widget must be gone before what its properties have bound can go.
            gc.collect()
        # What was given back is no longer counted: how much of it the C library keeps for the
        # next request swings by 25 MiB, and says nothing about what is in use.
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return {
            "resident_kib": pages * (os.sysconf("SC_PAGE_SIZE") // 1024),
            "objects": len(gc.get_objects()),
            # Texts, numbers and bytes, too, of which the garbage collector knows nothing.
            "blocks": sys.getallocatedblocks(),
            "widgets": sum(1 for _ in self.app.root_widget.walk()),
            "events": len(list(self.clock.get_events())),
            "files": open_files(),
            "threads": threading.active_count(),
        }


def open_files() -> int:
    """How many files are open, but for fonts: Kivy keeps the last 64 of their sizes open."""
    found = 0
    for file in Path("/proc/self/fd").iterdir():
        # One of them is the folder that is being read, and gone.
        with suppress(OSError):
            found += file.readlink().suffix != ".ttf"
    return found


def replayed(window: Any, seed: int, inputs: Sequence[Input]) -> BaseException | None:
    """Give these inputs to a new kiosk; what comes of it, or None."""
    rig = Rig(window, seed)
    try:
        for given in inputs:
            if given[0] == "deal":
                rig.new_deal(given[1])
            elif given[0] == "save":
                rig.check_save()
            else:
                rig.do(given)
    except Exception as error:
        return error
    finally:
        rig.close()
    return None
