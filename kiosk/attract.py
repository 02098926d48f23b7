"""The attract player: plays a demo game along its winning line, as a visitor would, by taps.

Invariant: it never touches a game; it only says which command comes next, and it comes to an end
in a bounded number of commands and a bounded time.
"""

from __future__ import annotations

from typing import Final

from engine.deal import PYRAMID_SIZE
from engine.game import Game
from engine.position import Move, MoveKind, Position
from kiosk.commands import Command, Draw, Pile, Tap, Target

#: Seconds before the first move: a passer-by sees a full pyramid and the call to touch.
OPENING: Final = 3.0
#: Seconds between the two taps of a pair, and after a move.
BETWEEN_TAPS: Final = 0.5
AFTER_REMOVAL: Final = 0.9
AFTER_DRAW: Final = 0.45
#: A demo never makes more commands than this for each move of its line.
COMMANDS_PER_MOVE: Final = 3
#: Seconds that the cleared table stays before the next demo.
CLOSING: Final = 4.0


def target_of(position: Position, place: int) -> Target:
    """The thing to touch for the available card at ``place``."""
    if place < PYRAMID_SIZE:
        return place
    return Pile.WASTE if place == position.waste_top else Pile.STOCK


class AttractPlayer:
    """Plays one demo.

    Args:
        line: moves that win the demo's game.
        now: the monotonic time, in seconds.
    """

    def __init__(self, line: tuple[Move, ...], now: float) -> None:
        self._line = line
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
            self._due = now + (CLOSING if ends else AFTER_DRAW)
            return Draw()
        places = [game.deal.place_of[card] for card in move.cards]
        if len(places) == 2 and selected not in places:
            # A covered card of the overlap rule is tapped first as well: both taps are legal.
            self._due = now + BETWEEN_TAPS
            return Tap(target_of(game.position, places[0]))
        self._due = now + (CLOSING if ends else AFTER_REMOVAL)
        other = next((p for p in places if p != selected), places[0])
        return Tap(target_of(game.position, other))
