"""One game on the table with what is known about it: its lines, its counts, its time.

Invariant: a line that is known for a position wins from there.
"""

from __future__ import annotations

from engine.game import Game
from engine.position import FULL_MASK, Move, Position
from kiosk.dealer import DealtGame


class TableGame:
    """A game, its rules' name, and what is known about it; see the module's text."""

    def __init__(
        self,
        game: Game,
        preset: str,
        line: tuple[Move, ...],
        *,
        grade: str | None = None,
        daily: bool = False,
    ) -> None:
        self.game = game
        self.preset = preset
        self.grade = grade
        self.daily = daily
        self.pool_line = line
        #: For each index of the game, moves known to win from there, or None.
        self.lines: list[tuple[Move, ...] | None] = [line or None]
        #: From this index of the game on, it is proven that it cannot be won any more.
        self.lost_from: int | None = None
        #: The position that was last looked into for that.
        self.watched: Position | None = None
        #: A position in which every possible removal is proven to lose, if one is known.
        self.waits_in: Position | None = None
        #: The position that the solver was last asked about to coach a newcomer.
        self.thought_of: Position | None = None
        self.seconds = 0.0
        self.hints = 0
        self.undos = 0
        self.recorded = False

    @property
    def line(self) -> tuple[Move, ...] | None:
        """Moves known to win from the present position, or None."""
        return self.lines[self.game.index]

    @property
    def lost(self) -> bool:
        """Whether the present position is proven to be one that cannot be won."""
        return self.lost_from is not None and self.game.index >= self.lost_from

    @property
    def has_removed(self) -> bool:
        """Whether anything has been removed and not taken back: before that nothing is at stake."""
        return self.game.position.remaining != FULL_MASK

    @property
    def winnable_at(self) -> int | None:
        """The latest index up to the present one that is known to be winnable."""
        known = (i for i in range(self.game.index, -1, -1) if self.lines[i] is not None)
        return next(known, None)

    def learn(self, index: int, line: tuple[Move, ...]) -> None:
        """Remember moves that win from position ``index``."""
        self.lines[index] = line

    def lose(self, winnable_at: int | None) -> None:
        """Remember that the present position cannot be won, and which was the last that could."""
        since = self.game.index if winnable_at is None else winnable_at + 1
        self.lost_from = since if self.lost_from is None else min(since, self.lost_from)

    def play(self, move: Move) -> None:
        """Play a move, following the known line if it is that line's next move."""
        game = self.game
        redone = game.undone[:1] == (move,)
        before = self.line
        game.play(move)
        if not redone:
            del self.lines[game.index :]
            self.lines.append(None)
            if self.lost_from is not None and self.lost_from >= game.index:
                # Another way from where it could still be won.
                self.lost_from = None
        if before is not None and before[:1] == (move,):
            self.lines[game.index] = before[1:]


def laid_out(dealt: DealtGame, *, daily: bool = False) -> TableGame:
    """A deal on the table, not yet touched."""
    grade = None if dealt.grade is None else dealt.grade.name.lower()
    game = Game(dealt.deal, dealt.rules)
    return TableGame(game, dealt.preset, dealt.line, grade=grade, daily=daily)
