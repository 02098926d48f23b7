"""The shortest way to win: the fewest removals, draws and redeals, counted one each.

Invariant: a line that is handed out is legal, wins, and no line is shorter; where that could not be
proven, the position is undecided.
"""

from __future__ import annotations

from collections.abc import Callable

from engine._search import COMPILED, OUT_OF_MEMORY, RUNNING, WON
from engine._shortest import NODE_BYTES, ShortestSearch
from engine.deal import PYRAMID_SIZE
from engine.position import DRAW, REDEAL, Move, Outcome, Position
from engine.rules import Goal
from engine.solver import MEMORY, Reason, Solution, Verdict, decide

#: Positions looked at between two questions whether to stop; each takes some ten times as long as
#: one of the plain search.
CHUNK = 500 if COMPILED else 10


def shortest(
    position: Position,
    *,
    limit: int | None = None,
    should_stop: Callable[[], bool] | None = None,
    memory: int = MEMORY,
) -> Solution:
    """Decide whether ``position`` can be won, and find a line with the fewest moves.

    Args:
        position: any position that play can reach, under any rules.
        limit: the most positions to look at, 0 or more; None is as many as it takes.
        should_stop: asked every few milliseconds; the search ends once it says True.
        memory: the most bytes that the search may take, 65,536 at least.

    Raises:
        SolverError: cards are gone from the pyramid that are still covered.
        ValueError: ``limit`` is negative, or ``memory`` too small.
    """
    if limit is not None and limit < 0:
        raise ValueError(f"a limit is 0 or more positions, not {limit}")
    if memory < 1 << 16:
        raise ValueError(f"a search takes at least 65536 bytes, not {memory}")
    # That a position cannot be won shows a hundred times sooner in the plain search.
    decided = decide(position, limit=limit, should_stop=should_stop, memory=memory)
    if decided.verdict is not Verdict.WINNABLE:
        return decided
    spent = decided.positions
    rules = position.rules
    search = ShortestSearch(
        tuple(card.rank for card in position.deal.cards),
        position.remaining,
        position.waste_end - PYRAMID_SIZE,
        position.redeals_left,
        deck_goal=rules.goal is Goal.DECK,
        stock_playable=rules.stock_playable,
        overlap=rules.overlap,
        max_nodes=memory // NODE_BYTES,
    )
    state = search.run(0)
    while state == RUNNING:
        if should_stop is not None and should_stop():
            return Solution(Verdict.UNDECIDED, (), spent + search.positions, Reason.STOPPED)
        budget = CHUNK if limit is None else min(CHUNK, limit - spent - search.positions)
        if budget <= 0:
            return Solution(Verdict.UNDECIDED, (), spent + search.positions, Reason.LIMIT)
        state = search.run(budget)
    if state == OUT_OF_MEMORY:
        return Solution(Verdict.UNDECIDED, (), spent + search.positions, Reason.MEMORY)
    assert state == WON
    line = _line(position, search.removals())
    assert len(line) == search.cost()
    return Solution(Verdict.WINNABLE, line, spent + search.positions)


def _line(position: Position, removals: list[tuple[int, int]]) -> tuple[Move, ...]:
    """Put the Kings of the pyramid, and the draws and redeals, between removals."""
    cards = position.deal.cards
    todo = [
        Move.remove(cards[low]) if low == high else Move.remove(cards[low], cards[high])
        for low, high in reversed(removals)
    ]
    line: list[Move] = []
    while position.outcome is not Outcome.WON:
        kings = [p for p in position.available if p < PYRAMID_SIZE and cards[p].is_king]
        if kings:
            move = Move.remove(cards[kings[0]])
        elif position.is_legal(todo[-1]):
            move = todo.pop()
        else:
            move = DRAW if position.can_draw else REDEAL
        position = position.play(move)
        line.append(move)
    return tuple(line)
