"""Advice on a running game: can it still be won, by which moves, and if not, since when.

Invariant: what is said is proven by the solver; where it gave up, nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.position import Move, Position
from engine.solver import Verdict, solve


@dataclass(frozen=True)
class Advice:
    """What the solver found out about a game.

    Attributes:
        winnable: whether the last position can be won; None when the solver gave up.
        index: the latest position of the history that can be won: the last one when
            ``winnable``; None when no position can be, or when it could not be found out.
        line: moves that win from position ``index``; empty when that is None.  Of the last position
            it begins with a removal if any removal wins there.
        waits: whether the last position can be won, something can be removed there, and each such
            removal is proven to lose: then one must draw first.
        positions: how many positions the searches looked at.
    """

    winnable: bool | None
    index: int | None
    line: tuple[Move, ...]
    positions: int
    waits: bool = False


def advise(
    history: Sequence[Position],
    *,
    winnable_at: int | None = None,
    limit: int | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Advice:
    """Say whether the last position of a game can be won, and if not, which earlier one could.

    A position that cannot be won leads to no position that can.  So the latest winnable one is
    found by halving the history: about log2(n) searches.

    Args:
        history: the positions of a game from its deal on, at least one.
        winnable_at: an index already known to be winnable (its search is then skipped).
        limit: the most positions that any one search may look at; None is without limit.
        should_stop: asked regularly; once it says True, the answer is that nothing was found.

    Raises:
        ValueError: the history is empty.
    """
    if not history:
        raise ValueError("a game has at least one position: the history is empty")
    last = len(history) - 1
    solution = solve(history[last], limit=limit, should_stop=should_stop)
    total = solution.positions
    if solution.verdict is Verdict.WINNABLE:
        first, waits, more = _removing_first(history[last], solution.line, limit, should_stop)
        return Advice(True, last, first, total + more, waits)
    if solution.verdict is Verdict.UNDECIDED:
        return Advice(None, None, (), total)
    best, line = winnable_at, None
    low = 0 if winnable_at is None else winnable_at + 1
    high = last - 1
    while low <= high:
        middle = (low + high) // 2
        solution = solve(history[middle], limit=limit, should_stop=should_stop)
        total += solution.positions
        if solution.verdict is Verdict.UNDECIDED:
            return Advice(False, None, (), total)
        if solution.verdict is Verdict.WINNABLE:
            best, line = middle, solution.line
            low = middle + 1
        else:
            high = middle - 1
    if best is None:
        return Advice(False, None, (), total)
    if line is None:
        solution = solve(history[best], limit=limit, should_stop=should_stop)
        total += solution.positions
        if solution.verdict is not Verdict.WINNABLE:
            return Advice(False, None, (), total)
        line = solution.line
    return Advice(False, best, line, total)


def _removing_first(
    position: Position,
    line: tuple[Move, ...],
    limit: int | None,
    should_stop: Callable[[], bool] | None,
) -> tuple[tuple[Move, ...], bool, int]:
    """A line that wins like ``line`` but begins with a removal, if one does.

    Somebody who sees a pair wants to take it: told to draw, they want to know why.

    Returns:
        the line; whether every removal is proven to lose; how many positions were looked at.
    """
    # A King first: that it goes never harms.
    removals = sorted(position.removals(), key=lambda move: len(move.cards))
    if not removals or line[:1] == () or line[0].cards:
        return line, False, 0
    total, all_lose = 0, True
    for move in removals:
        solution = solve(position.play(move), limit=limit, should_stop=should_stop)
        total += solution.positions
        if solution.verdict is Verdict.WINNABLE:
            return (move, *solution.line), False, total
        all_lose = all_lose and solution.verdict is Verdict.UNWINNABLE
    return line, all_lose, total
