"""What a session is given and what it hands out: its neighbours, options and what is kept.

Invariant: plain values and protocols; no behaviour.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from typing import Annotated, ClassVar, Protocol

from msgspec import Meta

from engine.difficulty import Grade
from engine.position import Position
from kiosk.commands import Command
from kiosk.dealer import DealtGame
from kiosk.settings import DisplaySettings


class Dealer(Protocol):
    """Where deals come from."""

    def deal(self, preset: str, grade: Grade | None = None) -> DealtGame:
        """The next deal for a player, of one grade if there are any of it."""

    def demo(self, preset: str) -> DealtGame:
        """A deal for the attract mode; never one that :meth:`deal` would count as used."""

    def daily(self, preset: str, day: date) -> DealtGame:
        """The deal of a day."""

    def find(self, preset: str, number: int) -> DealtGame | None:
        """The deal of that number, if it is known to be winnable."""

    def grades(self, preset: str) -> tuple[Grade, ...]:
        """The grades that there are deals of."""


class Adviser(Protocol):
    """Who answers hints: at once it only takes the question, and answers by AdviceReady."""

    def ask(self, question: int, history: tuple[Position, ...], winnable_at: int | None) -> None:
        """Start working on a question; an earlier one is dropped."""

    def cancel(self) -> None:
        """Drop the question being worked on, if any."""


#: What a saved game may claim; checked when it is read back.
Seconds = Annotated[float, Meta(ge=0, le=1e7)]
Count = Annotated[int, Meta(ge=0, le=1_000_000)]


@dataclass(frozen=True)
class Saved:
    """What is kept over a power cut: the running game and what belongs to it.

    Attributes:
        game: the text save of the game.
        preset: the preset being played.
        line: the moves of the pool's winning line from the deal, or empty.
        seconds: playing time so far.
        hints: hints asked for.
        undos: moves taken back.
        language: the language on the screen.
        auto_play: whether auto-play is on.
        recorded: whether the result of this game has been recorded already.
        grade: how hard the deal is, if that is known.
        daily: whether it is the deal of a day.
        wanted_grade: the grade that the player has chosen for the next deals.
    """

    game: str
    preset: str
    line: str
    seconds: Seconds
    hints: Count
    undos: Count
    language: str
    auto_play: bool
    recorded: bool
    grade: str | None = None
    daily: bool = False
    wanted_grade: str | None = None


class Tell(Enum):
    """When a player is told, without asking, that the game cannot be won any more."""

    OFF = "off"
    STUCK = "stuck"  #: only when no move is left: how far to go back
    ALWAYS = "always"  #: after the move that lost it


@dataclass(frozen=True)
class Checked:
    """What is known about a deal number that was entered.

    Attributes:
        number: the deal number.
        winnable: whether it can be won; None while the solver works, or when it gave up.
        thinking: whether the solver is still at work.
    """

    number: int
    winnable: bool | None
    thinking: bool


@dataclass(frozen=True)
class SessionOptions:
    """What the operator decides.

    Attributes:
        preset: the preset that a fresh kiosk deals.
        language: the language that a fresh kiosk speaks; once nobody is there it comes back.
        auto_play: whether auto-play is on at first.
        attract_after: seconds without input until the countdown; 0 never.
        countdown: seconds that the countdown lasts.
        start_in_attract: whether the attract mode runs until somebody comes.
        grade: how hard the deals of a fresh kiosk are; None is any.
        keep_for: seconds that a game left behind is offered to go on with.
        tell: when a lost game is said to be lost, unasked.
        coaching: whether a visitor's first game shows what can be done.
        look: how the kiosk looks to a fresh visitor.
        preset_first: deal ``preset`` next even if a game by other rules was under way.
        language_first: speak ``language`` even if another one was spoken before.
        languages: the languages that the attract mode speaks by turns; none is ``language`` alone.
            A touch goes on in the one that is being shown.
    """

    preset: str = "three-pass"
    language: str = "en"
    auto_play: bool = False
    attract_after: float = 60.0
    countdown: float = 20.0
    start_in_attract: bool = True
    grade: Grade | None = None
    keep_for: float = 600.0
    tell: Tell = Tell.STUCK
    coaching: bool = True
    look: DisplaySettings = field(default_factory=DisplaySettings)
    preset_first: bool = False
    language_first: bool = False
    languages: tuple[str, ...] = ()

    @property
    def turns(self) -> tuple[str, ...]:
        """The languages of the attract mode, ``language`` first."""
        return (self.language, *(code for code in self.languages if code != self.language))


class Configure(Command, frozen=True):
    """The operator has changed his mind: these options count from now on."""

    by_person: ClassVar[bool] = False

    options: SessionOptions
