"""The attract player: plays a demo game along its winning line, as a visitor would, by taps.

It plays as slowly as the time that it is given allows, so that every demo takes about as long.

Invariant: it never touches a game; it only says which command comes next, and it comes to an end
in a bounded number of commands and a bounded time.  A selection is never lit and put out more
than once a second.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from engine.deal import PYRAMID_SIZE
from engine.game import Game
from engine.position import Move, MoveKind, Position
from kiosk.commands import Command, Draw, Pile, Tap, Target

#: Seconds before the first move: a passer-by sees a full pyramid and the call to touch.
OPENING: Final = 3.0
#: Seconds that the cleared table stays before the next demo.
CLOSING: Final = 3.0
#: Seconds between the two taps of a pair, after a removal and after a draw, at an easy pace.
BETWEEN_TAPS: Final = 0.6
AFTER_REMOVAL: Final = 1.0
AFTER_DRAW: Final = 0.6
#: However little time there is, a tap is followed by so many seconds, a draw by so many.
LEAST_AFTER_TAP: Final = 0.5
LEAST_AFTER_DRAW: Final = 0.3
#: However much time there is, the pace is no slower than so many times the easy one.
SLOWEST: Final = 1.8
#: A demo never makes more commands than this for each move of its line.
COMMANDS_PER_MOVE: Final = 3
#: A command that is late by more than this, in seconds, is not made up for: the machine slept.
LATE: Final = 1.0
#: To make up for a late command, the next ones wait no less than this share of their time.
HURRY: Final = 0.6


def target_of(position: Position, place: int) -> Target:
    """The thing to touch for the available card at ``place``."""
    if place < PYRAMID_SIZE:
        return place
    return Pile.WASTE if place == position.waste_top else Pile.STOCK


@dataclass(frozen=True)
class Length:
    """What decides how long a demo takes: how many moves of each kind its line has."""

    draws: int
    pairs: int
    kings: int

    @classmethod
    def of(cls, line: Iterable[Move]) -> Length:
        """Count a line."""
        kinds = Counter(move.kind for move in line)
        draws = kinds[MoveKind.DRAW] + kinds[MoveKind.REDEAL]
        return cls(draws, kinds[MoveKind.PAIR], kinds[MoveKind.KING])

    def seconds(self, pace: float) -> float:
        """How long it takes from the deal to the end.

        Args:
            pace: 1 is easy; 0.5 twice as fast, as far as the least times allow.
        """
        removing = (self.pairs + self.kings) * _after_removal(pace)
        tapping = self.pairs * _between_taps(pace)
        return OPENING + self.draws * _after_draw(pace) + removing + tapping + CLOSING

    def pace(self, seconds: float) -> float:
        """The slowest pace, at most :data:`SLOWEST`, at which it takes ``seconds``.

        0, the fastest, when there is not enough time for it in any case.
        """
        low, high = 0.0, SLOWEST
        if self.seconds(high) <= seconds:
            return high
        for _ in range(20):
            middle = (low + high) / 2
            if self.seconds(middle) <= seconds:
                low = middle
            else:
                high = middle
        return low


def _between_taps(pace: float) -> float:
    return max(LEAST_AFTER_TAP, pace * BETWEEN_TAPS)


def _after_removal(pace: float) -> float:
    return max(LEAST_AFTER_TAP, pace * AFTER_REMOVAL)


def _after_draw(pace: float) -> float:
    return max(LEAST_AFTER_DRAW, pace * AFTER_DRAW)


class AttractPlayer:
    """Plays one demo.

    Args:
        line: moves that win the demo's game.
        now: the monotonic time, in seconds.
        pace: how fast: see :meth:`Length.seconds`.
    """

    def __init__(self, line: tuple[Move, ...], now: float, pace: float = 1.0) -> None:
        self._line = line
        self._pace = pace
        self._index = 0
        self._commands_left = COMMANDS_PER_MOVE * len(line)
        self._due = now + OPENING

    @property
    def next_move(self) -> Move | None:
        """The move that is being made or comes next; None at the end."""
        return self._line[self._index] if self._index < len(self._line) else None

    def finished(self, now: float) -> bool:
        """Whether the demo is over and has been looked at long enough."""
        over = self._index >= len(self._line) or self._commands_left <= 0
        return over and now >= self._due

    def next_command(self, game: Game, selected: int | None, now: float) -> Command | None:
        """The command that is due at time ``now``, or None while there is nothing to do."""
        self._index = game.index
        if now < self._due or self._index >= len(self._line) or self._commands_left <= 0:
            return None
        self._commands_left -= 1
        move = self._line[self._index]
        ends = self._index + 1 == len(self._line)
        if move.kind in {MoveKind.DRAW, MoveKind.REDEAL}:
            self._wait(CLOSING if ends else _after_draw(self._pace), now)
            return Draw()
        places = [game.deal.place_of[card] for card in move.cards]
        if len(places) == 2 and selected not in places:
            # A covered card of the overlap rule is tapped first as well: both taps are legal.
            self._wait(_between_taps(self._pace), now)
            return Tap(target_of(game.position, places[0]))
        self._wait(CLOSING if ends else _after_removal(self._pace), now)
        other = next((p for p in places if p != selected), places[0])
        return Tap(target_of(game.position, other))

    def _wait(self, seconds: float, now: float) -> None:
        """The next command is due so long after this one was."""
        due = self._due if now - self._due <= LATE else now
        self._due = max(due + seconds, now + HURRY * seconds)
