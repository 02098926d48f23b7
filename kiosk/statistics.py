"""What has been played on this kiosk: games, wins, streaks and bests.

Invariant: pure bookkeeping; a function of the results that were added, in their order, and of
nothing else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Final

WON: Final = "won"
LOST: Final = "lost"
ABANDONED: Final = "abandoned"

#: No game lasts longer, in seconds, or has more moves, hints or undos.
LONGEST: Final = 1e7
MOST: Final = 1_000_000


@dataclass(frozen=True)
class Result:
    """A finished game.

    Attributes:
        preset: the rules' name.
        number: the deal number, or None for cards without one.
        outcome: ``won``, ``lost`` (left when no move was possible) or ``abandoned``.
        moves: how many moves stood at the end.
        seconds: playing time.
        hints: hints asked for.
        undos: moves taken back.
        grade: ``easy``, ``medium`` or ``hard``, or None for a deal without a grade.
        daily: whether it was the deal of the day.
    """

    preset: str
    number: int | None
    outcome: str
    moves: int
    seconds: float
    hints: int
    undos: int
    grade: str | None = None
    daily: bool = False

    @property
    def is_sound(self) -> bool:
        """Whether the figures can be those of a game: a bit that flips on a disk makes infinity of
        a second, and no clock shows that."""
        counts = (self.moves, self.hints, self.undos)
        return 0 <= self.seconds <= LONGEST and all(0 <= count <= MOST for count in counts)


@dataclass
class Figures:
    """The figures of some games.

    Attributes:
        played: games that were won, lost or abandoned.
        won: games won.
        abandoned: games that were left before their end.
        streak: games won in a row, up to now.
        best_streak: the most ever in a row.
        best_seconds: the shortest win, or None.
        fewest_moves: the win with the fewest moves, or None.
        hints: hints asked for, altogether.
        undos: moves taken back, altogether.
    """

    played: int = 0
    won: int = 0
    abandoned: int = 0
    streak: int = 0
    best_streak: int = 0
    best_seconds: float | None = None
    fewest_moves: int | None = None
    hints: int = 0
    undos: int = 0

    @property
    def outcomes(self) -> dict[str, int]:
        """How many games ended in which way."""
        lost = self.played - self.won - self.abandoned
        return {WON: self.won, LOST: lost, ABANDONED: self.abandoned}

    def add(self, result: Result) -> None:
        """Count one more game."""
        self.played += 1
        self.hints += result.hints
        self.undos += result.undos
        if result.outcome != WON:
            self.abandoned += result.outcome == ABANDONED
            self.streak = 0
            return
        self.won += 1
        self.streak += 1
        self.best_streak = max(self.best_streak, self.streak)
        if self.best_seconds is None or result.seconds < self.best_seconds:
            self.best_seconds = result.seconds
        if self.fewest_moves is None or result.moves < self.fewest_moves:
            self.fewest_moves = result.moves


class Statistics:
    """All figures, by preset and grade and by day.

    Args:
        results: games that ended before, oldest first, each with the day that it ended on.
    """

    def __init__(self, results: Iterable[tuple[Result, date]] = ()) -> None:
        self.clear()
        for result, day in results:
            self.add(result, day)

    def clear(self) -> None:
        """Forget everything."""
        self._all = Figures()
        self._by_preset: defaultdict[str, Figures] = defaultdict(Figures)
        self._by_grade: defaultdict[tuple[str, str | None], Figures] = defaultdict(Figures)
        self._by_day: defaultdict[date, Figures] = defaultdict(Figures)

    def add(self, result: Result, day: date) -> None:
        """Count one more game, which ended on ``day``."""
        for figures in (
            self._all,
            self._by_preset[result.preset],
            self._by_grade[result.preset, result.grade],
            self._by_day[day],
        ):
            figures.add(result)

    @property
    def all(self) -> Figures:
        """All games together."""
        return self._all

    @property
    def presets(self) -> tuple[str, ...]:
        """The presets of which there are games, in the order in which they were first played."""
        return tuple(self._by_preset)

    def grades(self, preset: str) -> tuple[str, ...]:
        """The grades of which there are games of a preset, in the order of their names."""
        return tuple(
            sorted(grade for name, grade in self._by_grade if name == preset and grade is not None)
        )

    def of(self, preset: str) -> Figures:
        """The games of a preset."""
        return self._by_preset.get(preset, Figures())

    def of_grade(self, preset: str, grade: str | None) -> Figures:
        """The games of a preset and grade; None is the deals without a grade."""
        return self._by_grade.get((preset, grade), Figures())

    def of_day(self, day: date) -> Figures:
        """The games that ended on a day."""
        return self._by_day.get(day, Figures())
