"""The exact solver: is a position winnable, by which line, in how many passes?

Invariant: WINNABLE always comes with a line of legal moves that wins, UNWINNABLE means that no
line does, and everything else is UNDECIDED and says why.  No verdict is ever a guess.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Final

from engine._search import COMPILED, LOST, OUT_OF_MEMORY, RUNNING, WON, Search
from engine.deal import PYRAMID_SIZE
from engine.position import DRAW, REDEAL, IllegalMoveError, Move, Outcome, Position
from engine.rules import Goal

#: How the search runs here, for the log: "compiled" or "interpreted".
LOOP: Final = "compiled" if COMPILED else "interpreted"

#: How many positions are looked at between two questions whether to stop.  On a desktop machine
#: that takes 1 millisecond compiled and 2 interpreted, on a Raspberry Pi 4 some five times that.
CHUNK: Final = 2_000 if COMPILED else 100

#: The memory, in bytes, that a search may take unless told otherwise.
MEMORY: Final = 256 << 20

# A slot of the memo table takes 8 bytes, and while it grows there is a quarter more.
_BYTES_PER_SLOT: Final = 10


class SolverError(ValueError):
    """A position that no play can reach, and that the solver's reasoning does not cover."""


class Verdict(Enum):
    """What the solver knows about a position."""

    WINNABLE = "winnable"
    UNWINNABLE = "unwinnable"
    UNDECIDED = "undecided"


class Reason(Enum):
    """Why a position is undecided."""

    LIMIT = "limit"  #: as many positions as allowed were looked at
    STOPPED = "stopped"  #: ``should_stop`` said so
    MEMORY = "memory"  #: the memo table is as large as it may be


@dataclass(frozen=True)
class Solution:
    """The answer of :func:`solve`.

    Attributes:
        verdict: winnable, unwinnable or undecided.
        line: ordinary moves from the position to a win, empty unless the verdict is winnable
            (and for a position that is won already).
        positions: how many positions were looked at, 0 or more.
        reason: why the verdict is undecided; None otherwise.
    """

    verdict: Verdict
    line: tuple[Move, ...]
    positions: int
    reason: Reason | None = None

    @property
    def winnable(self) -> bool | None:
        """True, False, or None for undecided."""
        return _as_bool(self.verdict)


@dataclass(frozen=True)
class MinPasses:
    """The answer of :func:`min_passes`.

    Attributes:
        verdict: whether the position can be won with enough passes, or undecided.
        passes: the number of the pass, counted from the start of the game, in which the fastest
            line wins, 1 or more; None unless the verdict is winnable.
        line: such a line, legal under the position's rules with that many passes.
        positions: how many positions were looked at, all searches together.
        reason: why the verdict is undecided; None otherwise.
    """

    verdict: Verdict
    passes: int | None
    line: tuple[Move, ...]
    positions: int
    reason: Reason | None = None

    @property
    def winnable(self) -> bool | None:
        """True, False, or None for undecided."""
        return _as_bool(self.verdict)


def _as_bool(verdict: Verdict) -> bool | None:
    return None if verdict is Verdict.UNDECIDED else verdict is Verdict.WINNABLE


def solve(
    position: Position,
    *,
    limit: int | None = None,
    should_stop: Callable[[], bool] | None = None,
    memory: int = MEMORY,
) -> Solution:
    """Decide whether ``position`` can be won, and how.

    Other threads run meanwhile if the search is compiled.

    Args:
        position: any position that play can reach, under any rules.
        limit: the most positions to look at, 0 or more; None is as many as it takes.
        should_stop: asked every few milliseconds; the search ends once it says True.
        memory: the most bytes that the memo table may take; a table of 1,024 slots is always
            there.

    Raises:
        SolverError: cards are gone from the pyramid that are still covered.
        ValueError: ``limit`` is negative.
    """
    search, state, reason = _searched(position, limit, should_stop, memory)
    if reason is not None:
        return Solution(Verdict.UNDECIDED, (), search.positions, reason)
    if state == LOST:
        return Solution(Verdict.UNWINNABLE, (), search.positions)
    assert state == WON
    return Solution(Verdict.WINNABLE, ordinary_line(position, search.line()), search.positions)


def decide(
    position: Position,
    *,
    limit: int | None = None,
    should_stop: Callable[[], bool] | None = None,
    memory: int = MEMORY,
) -> Solution:
    """Do what :func:`solve` does, and leave out the line, which can take longer than the search.

    Arguments and errors are those of :func:`solve`.
    """
    search, state, reason = _searched(position, limit, should_stop, memory)
    if reason is not None:
        return Solution(Verdict.UNDECIDED, (), search.positions, reason)
    verdict = Verdict.WINNABLE if state == WON else Verdict.UNWINNABLE
    return Solution(verdict, (), search.positions)


@cache
def fingerprint() -> str:
    """A SHA-256, in hex, of the solver's source: what kept results are worth nothing without."""
    sha = hashlib.sha256()
    for file in (Path(__file__).with_name("_search.py"), Path(__file__)):
        sha.update(file.read_bytes())
    return sha.hexdigest()


def _searched(
    position: Position,
    limit: int | None,
    should_stop: Callable[[], bool] | None,
    memory: int,
) -> tuple[Search, int, Reason | None]:
    """Search to the end, or to the reason why not; return search, state and reason."""
    if limit is not None and limit < 0:
        raise ValueError(f"a limit is 0 or more positions, not {limit}")
    rules = position.rules
    try:
        search = Search(
            tuple(card.rank for card in position.deal.cards),
            position.remaining,
            position.waste_end - PYRAMID_SIZE,
            position.redeals_left,
            deck_goal=rules.goal is Goal.DECK,
            stock_playable=rules.stock_playable,
            overlap=rules.overlap,
            max_slots=memory // _BYTES_PER_SLOT,
        )
    except ValueError as error:
        raise SolverError(f"{error}:\n{position}") from None
    state = search.run(0)
    while state == RUNNING:
        if should_stop is not None and should_stop():
            return search, state, Reason.STOPPED
        budget = CHUNK if limit is None else min(CHUNK, limit - search.positions)
        if budget <= 0:
            return search, state, Reason.LIMIT
        state = search.run(budget)
    return search, state, Reason.MEMORY if state == OUT_OF_MEMORY else None


def min_passes(
    position: Position,
    *,
    limit: int | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> MinPasses:
    """Find the least number of passes with which ``position`` can be won.

    The passes that the position's own rules allow are not looked at: the answer for a position
    in pass 2 of 3 may be 5.  Arguments and errors are those of :func:`solve`; the limit is on all
    searches together.
    """
    solution = solve(_with_passes(position, None), limit=limit, should_stop=should_stop)
    spent = solution.positions
    if solution.verdict is not Verdict.WINNABLE:
        return MinPasses(solution.verdict, None, (), spent, solution.reason)
    most = position.pass_number + solution.line.count(REDEAL)
    for passes in range(position.pass_number, most):
        attempt = solve(
            _with_passes(position, passes),
            limit=None if limit is None else limit - spent,
            should_stop=should_stop,
        )
        spent += attempt.positions
        if attempt.verdict is Verdict.WINNABLE:
            return MinPasses(attempt.verdict, passes, attempt.line, spent)
        if attempt.verdict is Verdict.UNDECIDED:
            return MinPasses(attempt.verdict, None, (), spent, attempt.reason)
    return MinPasses(Verdict.WINNABLE, most, solution.line, spent)


def _with_passes(position: Position, passes: int | None) -> Position:
    return replace(position, rules=replace(position.rules, passes=passes))


def ordinary_line(position: Position, removals: list[tuple[int, int]]) -> tuple[Move, ...]:
    """Turn removals into a line: Kings go as they turn up, draws and redeals fill the gaps.

    Args:
        position: where the line starts.
        removals: pairs of places, in an order that wins.

    Raises:
        IllegalMoveError: the removals do not win from there.
    """
    cards = position.deal.cards
    redealt_for: Position | None = None
    line: list[Move] = []
    todo = [Move.remove(cards[a], cards[b]) for a, b in reversed(removals)]
    while position.outcome is not Outcome.WON:
        kings = [place for place in position.available if cards[place].is_king]
        if kings:
            move = Move.remove(cards[kings[0]])
        elif todo and position.is_legal(todo[-1]):
            move = todo.pop()
        else:
            move = DRAW if position.can_draw else REDEAL
            if move is REDEAL:
                # A whole pass without a removal would go on for ever under unlimited passes.
                if redealt_for is not None and redealt_for.remaining == position.remaining:
                    raise IllegalMoveError(f"{todo[-1:]} never becomes legal from\n{position}")
                redealt_for = position
        position = position.play(move)
        line.append(move)
    return tuple(line)
