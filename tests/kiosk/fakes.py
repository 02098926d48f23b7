"""Fakes that stand in for the pool, the solver's thread, the clock and input devices."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from engine.deal import Deal
from engine.difficulty import Grade
from engine.position import Move, Position
from engine.rules import PRESETS
from kiosk.dealer import DealtGame
from kiosk.errorlog import Logged
from kiosk.lockout import Lockout
from kiosk.overrides import Overrides, Value, step, value_of
from kiosk.service import Facts, PinFacts, PoolFacts, Service
from kiosk.service_commands import Task
from kiosk.settings import Settings

#: Deals that always taking the first removal wins, found by trying the numbers in order.
WON_BY_HAND = {
    "three-pass": (
        5189,
        (
            "7S+6S QH+AC D D D D D 8S+5D D D JS+2S TD+3D D KD D D D 8H+5S 9D+4D KC 8D+5C TS+3H "
            "JH+2H D D 7H+6D KS KH D 9S+4C TC+3S JD+2C D 7D+6C D QS+AD"
        ),
    ),
    "cards4": (
        5189,
        (
            "7S+6S QH+AC D D D D D 8S+5D D D JS+2S TD+3D D KD D D D 8H+5S 9D+4D KC 8D+5C TS+3H "
            "JH+2H D D 7H+6D KS KH D 9S+4C TC+3S JD+2C D 7D+6C D QS+AD"
        ),
    ),
    "relaxed": (
        3545,
        (
            "QC+AH TD+3C 8C+5H 8D+5S 7S+6C TS+3H QS+AC 9C+4D JS+2D QD+AS KD KH 7C+6D KC JC+2C KS D "
            "D TH+3D 9D+4C QH+AD 8H+5D D JD+2S D D 7H+6S"
        ),
    ),
    "classic": (
        4406,
        (
            "QS+AC 9C+4D 8C+5H KD TD+3S TC+3C 8S+5D KS KH D QC+AD JH+2H 9D+4C 7C+6D QH+AS D 9S+4H "
            "D 9H+4S D D TH+3D JD+2S 8H+5C TS+3H 7H+6H JS+2C 7S+6C 7D+6S JC+2D KC D QD+AH 8D+5S"
        ),
    ),
    "collection": (
        3545,
        (
            "QC+AH TD+3C 8C+5H 8D+5S 7S+6C TS+3H QS+AC 9C+4D JS+2D QD+AS KD KH 7C+6D KC JC+2C KS D "
            "D TH+3D 9D+4C QH+AD 8H+5D D JD+2S D D 7H+6S"
        ),
    ),
    "overlap": (
        3075,
        (
            "JS+2H D D TS+3C D D 8H+5C QS+AC JD+2S 7C+6D 9D+4H JC+2D QD+AH 8C+5S TH+3H 7D+6C QC+AD "
            "D TC+3S 7H+6H QH+AS 9C+4D 8D+5D KS"
        ),
    ),
}


def won_by_hand(preset: str) -> DealtGame:
    """A deal of ``preset`` with a line that wins it."""
    number, line = WON_BY_HAND[preset]
    return DealtGame(Deal.from_number(number), PRESETS[preset], preset, moves(line))


class FakeDealer:
    """Deals the given games in turn, over and over; without any, a winnable one of the preset."""

    def __init__(self, *games: DealtGame) -> None:
        self.games = games
        self.dealt = 0
        self.demos = 0
        self.presets: list[str] = []
        self.wanted: list[Grade | None] = []
        self.days: list[date] = []

    def deal(self, preset: str, grade: Grade | None = None) -> DealtGame:
        self.presets.append(preset)
        self.wanted.append(grade)
        self.dealt += 1
        return self._game(preset, self.dealt)

    def daily(self, preset: str, day: date) -> DealtGame:
        self.days.append(day)
        return self._game(preset, day.toordinal())

    def find(self, preset: str, number: int) -> DealtGame | None:
        known = won_by_hand(preset)
        return known if known.deal.number == number else None

    def grades(self, preset: str) -> tuple[Grade, ...]:
        return tuple(Grade)

    def demo(self, preset: str) -> DealtGame:
        self.demos += 1
        return self._game(preset, self.demos)

    def _game(self, preset: str, count: int) -> DealtGame:
        if not self.games:
            return won_by_hand(preset)
        game = self.games[(count - 1) % len(self.games)]
        return DealtGame(game.deal, PRESETS[preset], preset, game.line)


@dataclass
class FakeAdviser:
    """Remembers what it was asked; the test answers."""

    asked: list[tuple[int, tuple[Position, ...], int | None]] = field(default_factory=list)
    cancelled: int = 0

    def ask(self, question: int, history: tuple[Position, ...], winnable_at: int | None) -> None:
        self.asked.append((question, history, winnable_at))

    def cancel(self) -> None:
        self.cancelled += 1


def moves(text: str) -> tuple[Move, ...]:
    return tuple(Move.parse(word) for word in text.split())


@dataclass
class FakeDesk:
    """A machine for the service menu, whose every fact a test can set."""

    pin: str | None = "4711"
    settings: Settings = field(default_factory=Settings)
    changed: dict[str, Value] = field(default_factory=dict)
    log: list[Logged] = field(default_factory=list)
    wired: PinFacts = field(default_factory=lambda: PinFacts({}, (), {}))
    pool: PoolFacts = field(default_factory=lambda: PoolFacts(dict.fromkeys(PRESETS, 3000), True))
    started: list[Task] = field(default_factory=list)
    missing: frozenset[str] = frozenset()
    checked: int = 0

    @property
    def has_pin(self) -> bool:
        return self.pin is not None

    def check_pin(self, pin: str) -> bool:
        self.checked += 1
        return pin == self.pin

    def facts(self) -> Facts:
        return Facts(
            version="0.1.0",
            system="Python 3.11.2, Linux 6.12.34+rpt-rpi-v8",
            running=3 * 86400 + 7200 + 65,
            machine=400 * 86400,
            pool=self.pool,
            folder="/var/lib/pyramid-kiosk",
            games=204,
        )

    def errors(self) -> Sequence[Logged]:
        return self.log

    def pins(self) -> PinFacts:
        return self.wired

    def value(self, key: str) -> Value | None:
        return None if key in self.missing else value_of(self._now, key)

    def step(self, key: str, up: bool) -> Value | None:
        return step(self._now, key, up)

    def overridden(self) -> frozenset[str]:
        return frozenset(self.changed)

    def change(self, key: str, value: Value) -> None:
        self.changed[key] = value

    def use_file(self) -> None:
        self.changed.clear()

    def start(self, task: Task) -> None:
        self.started.append(task)

    @property
    def _now(self) -> Settings:
        changed = Overrides(Path("/nowhere"))
        changed.values = dict(self.changed)
        return changed.applied(self.settings)


def service(**facts: object) -> Service:
    """A service menu over a :class:`FakeDesk` with these facts."""
    return Service(FakeDesk(**facts), Lockout(0.0))  # type: ignore[arg-type]


def input_device(
    inputs: Path,
    number: int,
    *,
    axes: Iterable[int] = (),
    keys: Iterable[int] = (),
    properties: Iterable[int] = (),
) -> Path:
    """The folder of an input device, as the kernel tells of it."""
    word = 8 * struct.calcsize("l")
    device = inputs / f"event{number}" / "device"
    (device / "capabilities").mkdir(parents=True)
    for name, bits in (
        ("capabilities/abs", axes),
        ("capabilities/key", keys),
        ("properties", properties),
    ):
        left, words = sum(1 << bit for bit in bits), []
        while left or not words:
            words.append(f"{left & ((1 << word) - 1):x}")
            left >>= word
        (device / name).write_text(" ".join(reversed(words)) + "\n")
    return device
