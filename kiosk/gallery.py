"""Pictures of every screen, in every language, at every size: ``python -m kiosk.gallery``.

Invariant: every picture is of the real application in a real window, brought there by commands as
a visitor gives them.
"""

from __future__ import annotations

import argparse
import logging
import math
import queue
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import product
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Final

from engine.advice import advise
from engine.deal import LAST_DEAL
from engine.difficulty import Grade
from engine.position import Move, MoveKind, Outcome, Position
from engine.rules import PRESETS
from kiosk.attract import target_of
from kiosk.commands import (
    AdviceReady,
    CheckDeal,
    Close,
    Command,
    Draw,
    Hint,
    NewDeal,
    Open,
    Panel,
    Replay,
    SetLook,
    Tap,
    Tick,
    Touched,
)
from kiosk.dealer import PoolDealer
from kiosk.display import Driver, prepare
from kiosk.errorlog import Logged
from kiosk.lockout import Lockout
from kiosk.overrides import Value, step, value_of
from kiosk.power import NOT_HEEDED
from kiosk.service import Facts, PinFacts, PoolFacts, Service
from kiosk.service_commands import (
    Do,
    EnterPin,
    Light,
    NextPicture,
    OpenService,
    Page,
    Report,
    ServiceDone,
    Task,
    Turn,
    TypePin,
)
from kiosk.session import Session
from kiosk.sessiontypes import SessionOptions, Tell
from kiosk.settings import DisplaySettings, Settings
from kiosk.showreel import SceneKind
from kiosk.statistics import ABANDONED, LOST, WON, Result, Statistics
from kiosk.texts import available_languages, texts_in

if TYPE_CHECKING:
    from kiosk.app import KioskApp

SIZES: Final = ("800x480", "1024x600", "1280x720", "1920x1080", "720x1280", "1200x1920")
#: The PIN of the service menu that is photographed.
SHOWN_PIN: Final = "4711"
#: The day of the pictures.
SHOWN_DAY: Final = date(2026, 5, 28)
#: More than any line has.
MOST_MOVES: Final = 200


class SameThreadAdviser:
    """Answers hints before it returns: pictures can wait."""

    def __init__(self, inbox: queue.SimpleQueue[Command]) -> None:
        self._inbox = inbox

    def ask(self, question: int, history: tuple[Position, ...], winnable_at: int | None) -> None:
        """Answer at once, through the inbox."""
        self._inbox.put(AdviceReady(question, advise(history, winnable_at=winnable_at)))

    def cancel(self) -> None:
        """Nothing is ever under way."""


class ShownDesk:
    """A machine for the service menu whose every fact is chosen to be seen."""

    has_pin = True

    def __init__(self) -> None:
        self._overrides: dict[str, Value] = {"game.preset": "cards4", "sound.volume": 0.8}
        self.pool = PoolFacts(dict.fromkeys(PRESETS, 3_000), True)

    def check_pin(self, pin: str) -> bool:
        """Whether that is the PIN."""
        return pin == SHOWN_PIN

    def facts(self) -> Facts:
        """What a kiosk may say after a few days."""
        return Facts(
            version="0.1.0",
            system="Python 3.11.2, Linux 6.12.34+rpt-rpi-v8",
            running=3 * 86_400 + 7_500,
            machine=12 * 86_400 + 300,
            pool=self.pool,
            folder="/var/lib/pyramid-kiosk",
            games=204,
        )

    def errors(self) -> Sequence[Logged]:
        """What may have gone wrong."""
        told = [
            "the panel stopped working: button undo on GPIO 17: [Errno 5] Input/output error",
            "settings.toml: display.lefthanded is not a setting (did you mean left_handed?)",
            "a wrong PIN was entered in the service menu",
            "/var/lib/pyramid-kiosk/state.sqlite: is damaged; set aside as state.sqlite.bad-1",
            "backlight 10-0045 cannot be set: no permission to write its files",
        ]
        levels = (logging.ERROR, logging.ERROR, logging.WARNING, logging.ERROR, logging.WARNING)
        return [
            Logged(1_780_000_000 - 5_000 * i, levels[i % 5], text, 4 if i == 2 else 1)
            for i, text in enumerate(told * 3)
        ]

    def pins(self) -> PinFacts:
        """A panel with everything on it, undo pressed."""
        inputs: dict[str, bool | int] = dict.fromkeys(
            ("undo", "new_deal", "hint", "redo", "draw", "up", "down", "left", "right", "select"),
            False,
        )
        lamps = ("undo", "new_deal", "hint", "redo", "draw")
        inputs |= {"undo": True, "wheel": -3, "presence": False}
        numbers = {f"input {name}": str(2 + i) for i, name in enumerate(inputs)}
        numbers |= {f"lamp {name}": str(20 + i) for i, name in enumerate(lamps)}
        return PinFacts(inputs, lamps, numbers)

    def value(self, key: str) -> Value | None:
        """What counts for a setting."""
        return self._overrides.get(key, value_of(Settings(), key))

    def step(self, key: str, up: bool) -> Value | None:
        """What it would be one step further."""
        return step(Settings(), key, up)

    def overridden(self) -> frozenset[str]:
        """Two of them are."""
        return frozenset(self._overrides)

    def change(self, key: str, value: Value) -> None:
        """Nothing changes."""

    def use_file(self) -> None:
        """Nothing changes."""

    def start(self, task: Task) -> None:
        """Nothing is done."""


@dataclass
class HandClock:
    """A clock that stands still between commands."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Studio:
    """The application before the camera."""

    app: KioskApp
    clock: HandClock

    @property
    def session(self) -> Session:
        """What is being photographed."""
        return self.app.session

    def do(self, *commands: Command, after: float = 0.5) -> None:
        """Give commands, and let each come to rest."""
        for command in commands:
            self.clock.now += after
            self.app.send(command)
            self.app.drain()
            self.app.table.finish()

    def play(self, count: int) -> None:
        """Play moves of the pool's winning line, as taps, without asking for hints."""
        line = self.session.saved().line.split()
        for word in line[self.session.moves_played :][:count]:
            self.make(Move.parse(word))

    def make(self, move: Move) -> None:
        """Make a move by taps."""
        if move.kind in {MoveKind.DRAW, MoveKind.REDEAL}:
            # A hurried tap does not redeal.
            self.do(Draw(), after=1.0)
            return
        position = self.session.position
        for card in move.cards:
            self.do(Tap(target_of(position, position.deal.place_of[card])))


def _start(_studio: Studio) -> None:
    pass


def _play(count: int) -> Callable[[Studio], None]:
    return lambda studio: studio.play(count)


def _hint(studio: Studio) -> None:
    studio.play(6)
    studio.do(Hint())


def _hint_to_wait(studio: Studio) -> None:
    """A hint to draw although a pair lies open: along a line that wins, or in another deal's."""
    while True:
        while studio.session.position.outcome is Outcome.RUNNING:
            studio.do(Hint())
            if studio.session.hint_waits:
                return
            move = studio.session.hinted_move
            assert move is not None
            studio.make(move)
        studio.do(NewDeal())


def _won(studio: Studio) -> None:
    studio.play(MOST_MOVES)


def _lose(studio: Studio) -> None:
    """Draw card after card until it is too late; another deal when one forgives even that."""
    while True:
        while studio.session.position.can_draw:
            studio.do(Draw())
        studio.do(Close(), Hint())
        if studio.session.panel is Panel.CANNOT_WIN:
            return
        studio.do(NewDeal(), NewDeal(confirmed=True))


def _lost(studio: Studio) -> None:
    """Draw until the kiosk says of itself that it is too late."""
    while not studio.session.lost:
        studio.do(Draw(), after=4.0)


def _stuck(studio: Studio) -> None:
    """Play half a game, then only draw; another deal when something can still be removed."""
    while True:
        studio.play(14)
        while studio.session.position.can_draw:
            studio.do(Draw())
        if studio.session.position.outcome is Outcome.STUCK:
            return
        studio.do(NewDeal(), NewDeal(confirmed=True))


def _give_up(studio: Studio) -> None:
    studio.play(3)
    studio.do(NewDeal())


def _give_up_replay(studio: Studio) -> None:
    studio.play(3)
    studio.do(Replay())


def _give_up_daily(studio: Studio) -> None:
    studio.play(3)
    studio.do(NewDeal(daily=True))


def _continue(studio: Studio) -> None:
    studio.play(9)
    studio.do(Tick(), after=100)
    studio.do(Touched(), after=5)


def _countdown(studio: Studio) -> None:
    studio.play(3)
    studio.do(Tick(), after=61)


def _attract(studio: Studio) -> None:
    studio.do(Tick(), after=100)
    studio.do(Tick(), after=4)


def _reel(kind: SceneKind) -> Callable[[Studio], None]:
    """The attract mode, in its first scene of a kind, played to its middle."""

    def bring_about(studio: Studio) -> None:
        session = studio.session
        studio.do(Tick(), after=100)
        while session.scene is not None and session.scene.kind is not kind:
            studio.do(Tick(), after=0.3)
        for _ in range(50):
            studio.do(Tick(), after=0.3)

    return bring_about


def _open(panel: Panel) -> Callable[[Studio], None]:
    return lambda studio: studio.do(Open(panel))


def _number(number: int | None) -> Callable[[Studio], None]:
    """The keypad, with a number typed in by touch on its keys."""

    def bring_about(studio: Studio) -> None:
        studio.do(Open(Panel.NUMBER))
        if number is not None:
            studio.do(CheckDeal(number))
            studio.app.panels.set_texts(texts_in(studio.session.language))

    return bring_about


def _page(turns: int) -> Callable[[Studio], None]:
    """A page of the statistics."""

    def bring_about(studio: Studio) -> None:
        from kiosk.statistics_page import StatisticsPage  # noqa: PLC0415 - opens the window

        studio.do(Open(Panel.STATISTICS))
        sheet = studio.app.panels.sheet
        assert isinstance(sheet, StatisticsPage)
        for _ in range(turns):
            sheet.turn(1)

    return bring_about


def _no_statistics(studio: Studio) -> None:
    studio.session.statistics.clear()
    studio.do(Open(Panel.STATISTICS))


def _look(studio: Studio) -> None:
    studio.do(Open(Panel.LOOK), SetLook("four_colour", on=True), SetLook("local_indices", on=True))


def _pause(studio: Studio) -> None:
    studio.play(9)
    studio.do(Open(Panel.PAUSE))


def _daily(studio: Studio) -> None:
    studio.do(NewDeal(grade=Grade.MEDIUM, preset="three-pass", daily=True))
    studio.play(5)


def _refused(studio: Studio) -> None:
    cards = studio.session.position.deal.cards
    plain = [place for place in range(21, 28) if not cards[place].is_king]
    pairs = [(a, b) for a in plain for b in plain if a != b]
    wrong = next((a, b) for a, b in pairs if cards[a].rank + cards[b].rank != 13)
    studio.do(Tap(wrong[0]), Tap(wrong[1]))


def _selected(studio: Studio) -> None:
    position = studio.session.position
    free = (p for p in position.available if not position.deal.cards[p].is_king)
    studio.do(Tap(target_of(position, next(free))))


def _steered(*ways: str, open_first: Panel | None = None) -> Callable[[Studio], None]:
    """The mark of stick, wheel and keyboard, after it has been steered."""

    def bring_about(studio: Studio) -> None:
        studio.play(4)
        if open_first is not None:
            studio.do(Open(open_first))
        for way in ("next", *ways):
            studio.clock.now += 0.5
            studio.app.navigate(way)
            studio.app.table.finish()

    return bring_about


def _holding(studio: Studio) -> None:
    """The real button for a new deal is held."""
    studio.play(8)
    studio.app.ring.show(0.6)


def _service(page: Page) -> Callable[[Studio], None]:
    """A page of the service menu, the PIN entered where one is needed."""

    def bring_about(studio: Studio) -> None:
        studio.do(OpenService())
        if page is Page.PIN:
            studio.do(TypePin("4"), TypePin("7"), TypePin("1"))
            return
        studio.do(*(TypePin(digit) for digit in SHOWN_PIN), EnterPin())
        if page is not Page.HOME:
            studio.do(Turn(page))

    return bring_about


def _without_pin(studio: Studio) -> None:
    service = studio.session.service
    assert service is not None
    assert isinstance(service.desk, ShownDesk)
    service.desk.has_pin = False
    studio.do(OpenService())


def _bad_pool(studio: Studio) -> None:
    service = studio.session.service
    assert service is not None
    assert isinstance(service.desk, ShownDesk)
    why = (
        "/opt/pyramid-kiosk/venv/lib/python3.11/site-packages/engine/data/pool.sqlite: was altered "
        "after it was built: its digest is wrong; deals are searched for by the solver instead"
    )
    service.desk.pool = PoolFacts({}, False, why)
    _service(Page.STATUS)(studio)


def _locked_out(studio: Studio) -> None:
    studio.do(OpenService())
    for _ in range(4):
        studio.do(*(TypePin(digit) for digit in "0000"), EnterPin())


def _picture(number: int) -> Callable[[Studio], None]:
    def bring_about(studio: Studio) -> None:
        _service(Page.PIXELS)(studio)
        studio.do(*[NextPicture()] * number)

    return bring_about


def _confirm(studio: Studio) -> None:
    _service(Page.POWER)(studio)
    studio.do(Do(Task.POWER_OFF))


def _exported(studio: Studio) -> None:
    _service(Page.STATISTICS)(studio)
    place = "/media/pi/KINGSTON"
    studio.do(Do(Task.EXPORT), ServiceDone(Report(Task.EXPORT, True, place, on_stick=True)))


def _no_power(studio: Studio) -> None:
    _confirm(studio)
    studio.do(
        Do(Task.POWER_OFF, confirmed=True),
        ServiceDone(Report(Task.POWER_OFF, False, why=NOT_HEEDED)),
    )


def _lamps(studio: Studio) -> None:
    _service(Page.PINS)(studio)
    studio.do(Light("undo"), Light("hint"), Light("hint"))


def _touched(studio: Studio) -> None:
    """Fingers in the touch test."""
    from kivy.tests.common import UnitTestTouch  # noqa: PLC0415 - opens the window

    _service(Page.TOUCH)(studio)
    screen = studio.app.table.layout.screen
    for row in (0.1, 0.25, 0.8):
        finger = UnitTestTouch(0.05 * screen.w, row * screen.h)
        finger.touch_down()
        for part in range(60):
            share = part / 60
            finger.touch_move(
                (0.05 + 0.8 * share) * screen.w, (row + 0.05 * math.sin(9 * share)) * screen.h
            )
        if row != 0.8:
            finger.touch_up()


def _played_before() -> Statistics:
    """What a kiosk may have seen in its first weeks."""
    rng = Random(13)
    statistics = Statistics()
    skill = {Grade.EASY: 0.7, Grade.MEDIUM: 0.45, Grade.HARD: 0.2}
    for preset, games in (("three-pass", 140), ("cards4", 35), ("classic", 20), ("overlap", 9)):
        for _ in range(games):
            grade = rng.choice(list(Grade))
            won = rng.random() < skill[grade]
            statistics.add(
                Result(
                    preset=preset,
                    number=rng.randint(1, LAST_DEAL),
                    outcome=WON if won else rng.choice((LOST, ABANDONED)),
                    moves=rng.randint(33, 60),
                    seconds=rng.uniform(75, 600),
                    hints=rng.randint(0, 4),
                    undos=rng.randint(0, 6),
                    grade=grade.name.lower(),
                ),
                date(2026, 5, rng.randint(1, SHOWN_DAY.day)),
            )
    return statistics


#: Pages of the service menu as they are when they are opened.
PHOTOGRAPHED: Final = (
    Page.PIN,
    Page.HOME,
    Page.STATUS,
    Page.ERRORS,
    Page.SETTINGS,
    Page.STATISTICS,
    Page.POWER,
)
#: What to bring about, by name: the preset it is played by, and how.
SCENES: Final[dict[str, tuple[str, Callable[[Studio], None]]]] = {
    "start": ("three-pass", _start),
    "playing": ("three-pass", _play(14)),
    "selected": ("three-pass", _selected),
    "hint": ("three-pass", _hint),
    "hint-to-wait": ("three-pass", _hint_to_wait),
    "refused": ("three-pass", _refused),
    "marked": ("three-pass", _steered("next", "next", "select", "next", "next")),
    "marked-selected": ("three-pass", _steered("next", "select")),
    "marked-stock": ("three-pass", _steered(*["previous"] * 6)),
    "marked-button": ("three-pass", _steered("previous")),
    "marked-menu": ("three-pass", _steered("up", open_first=Panel.MENU)),
    "marked-choose": ("three-pass", _steered("up", "up", open_first=Panel.CHOOSE)),
    "marked-look": ("three-pass", _steered("down", open_first=Panel.LOOK)),
    "holding": ("three-pass", _holding),
    "face-down": ("cards4", _play(9)),
    "stock-open": ("collection", _play(10)),
    "won": ("three-pass", _won),
    "stuck": ("cards4", _stuck),
    "cannot-win": ("three-pass", _lose),
    "lost": ("three-pass", _lost),
    "give-up": ("three-pass", _give_up),
    "give-up-replay": ("three-pass", _give_up_replay),
    "give-up-daily": ("three-pass", _give_up_daily),
    "countdown": ("three-pass", _countdown),
    "continue": ("three-pass", _continue),
    "menu": ("three-pass", _open(Panel.MENU)),
    "choose": ("three-pass", _open(Panel.CHOOSE)),
    "number": ("three-pass", _number(None)),
    "number-winnable": ("three-pass", _number(2024)),
    "number-lost": ("cards4", _number(4_294_967_295)),
    "statistics": ("three-pass", _page(0)),
    "statistics-preset": ("three-pass", _page(1)),
    "statistics-none": ("three-pass", _no_statistics),
    "look": ("three-pass", _look),
    "pause": ("three-pass", _pause),
    "daily": ("three-pass", _daily),
    **{f"rules-{preset}": (preset, _open(Panel.RULES)) for preset in PRESETS},
    "attract": ("three-pass", _attract),
    "oled": ("three-pass", _play(14)),
    "oled-attract": ("three-pass", _attract),
    **{f"reel-{kind.value}": ("three-pass", _reel(kind)) for kind in SceneKind},
    **{f"service-{page.value}": ("three-pass", _service(page)) for page in PHOTOGRAPHED},
    "service-none": ("three-pass", _without_pin),
    "service-bad-pool": ("three-pass", _bad_pool),
    "service-locked": ("three-pass", _locked_out),
    "service-pixels": ("three-pass", _picture(0)),
    "service-colours": ("three-pass", _picture(6)),
    "service-lines": ("three-pass", _picture(7)),
    "service-touch": ("three-pass", _touched),
    "service-pins": ("three-pass", _lamps),
    "service-exported": ("three-pass", _exported),
    "service-confirm": ("three-pass", _confirm),
    "service-no-power": ("three-pass", _no_power),
}


def shoot(folder: Path, languages: Sequence[str], scenes: Sequence[str]) -> Iterator[Path]:
    """Take the pictures, one file ``SCENE-LANGUAGE.png`` each, and yield their names."""
    from kivy.base import EventLoop  # noqa: PLC0415 - opens the window
    from kivy.core.window import Window  # noqa: PLC0415

    from kiosk.app import KioskApp  # noqa: PLC0415

    EventLoop.ensure_window()
    EventLoop.status = "started"
    EventLoop.add_event_listener(Window)
    folder.mkdir(parents=True, exist_ok=True)
    for language, name in product(languages, scenes):
        preset, bring_about = SCENES[name]
        inbox: queue.SimpleQueue[Command] = queue.SimpleQueue()
        dealer = PoolDealer(Random(7))
        options = SessionOptions(
            preset=preset,
            language=language,
            start_in_attract=False,
            look=DisplaySettings(oled=name.startswith("oled")),
            tell=Tell.ALWAYS if name == "lost" else Tell.STUCK,
        )
        session = Session(
            dealer,
            SameThreadAdviser(inbox),
            options,
            now=0.0,
            statistics=_played_before(),
            today=lambda: SHOWN_DAY,
            service=Service(ShownDesk(), Lockout(0.0)),
        )
        clock = HandClock()
        app = KioskApp(
            session,
            inbox,
            keep=lambda _saved: None,
            clock=clock,
            ticking=False,
        )
        root = app.build()
        Window.add_widget(root)
        bring_about(Studio(app, clock))
        app.table.finish()
        _settle(EventLoop)
        path = folder / f"{name}-{language}.png"
        taken = Window.screenshot(name=f"{path.with_suffix('')}-.png")
        Path(taken).replace(path)
        app.on_stop()
        Window.remove_widget(root)
        dealer.close()
        yield path


def _settle(loop: Any) -> None:
    """Let panels finish appearing and everything be drawn."""
    for _ in range(40):
        loop.idle()


def main(arguments: Sequence[str] | None = None) -> int:
    """Take the pictures; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m kiosk.gallery", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("shots"), metavar="DIR")
    parser.add_argument("--sizes", nargs="+", default=SIZES, metavar="WxH")
    languages = list(available_languages())
    parser.add_argument("--languages", nargs="+", default=languages, choices=languages)
    parser.add_argument("--scenes", nargs="+", default=list(SCENES), choices=list(SCENES))
    args = parser.parse_args(arguments)
    logging.basicConfig(level=logging.WARNING)
    if len(args.sizes) > 1:
        # A window that nobody sees cannot grow: every size has a process of its own.
        rest = ["--languages", *args.languages, "--scenes", *args.scenes, "--out", str(args.out)]
        command = [sys.executable, "-m", "kiosk.gallery", *rest, "--sizes"]
        return max(subprocess.run([*command, size], check=False).returncode for size in args.sizes)
    width, height = map(int, args.sizes[0].split("x"))
    prepare(Driver.OFFSCREEN, (width, height))
    for path in shoot(args.out / args.sizes[0], args.languages, args.scenes):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
