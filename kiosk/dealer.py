"""Where a session's deals come from: the pool, or the solver when there is no sound pool.

Invariant: a deal that is handed out is winnable and comes with its winning line.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from engine.deal import LAST_DEAL, Deal
from engine.pool import Pool, PoolError
from engine.position import Move, Position
from engine.rules import PRESETS, Rules
from engine.solver import Verdict, solve

log = logging.getLogger(__name__)

#: Without a pool: positions that the search for a winnable deal spends on one candidate before it
#: tries the next.  Winnable deals mostly show it early.
LIMIT: Final = 20_000


@dataclass(frozen=True)
class DealtGame:
    """A deal that can be won, ready for the table.

    Attributes:
        deal: the cards.
        rules: the rules that it was proven under.
        preset: their name.
        line: moves that win it.
    """

    deal: Deal
    rules: Rules
    preset: str
    line: tuple[Move, ...]


class PoolDealer:
    """Deals from the pool, without repeats until all have been dealt.

    Args:
        rng: where chance comes from.
        path: the pool file; None is the shipped one.

    Attributes:
        problems: one sentence for each thing that went wrong, for the log and the service menu.
    """

    def __init__(self, rng: Random, path: Path | None = None) -> None:
        self.problems: list[str] = []
        self._rng = rng
        self._seen: dict[str, list[int]] = {}
        self._shown: dict[str, list[int]] = {}
        self._pool: Pool | None = None
        try:
            self._pool = Pool.open(path)
        except PoolError as error:
            self._problem(f"{error}; deals are searched for by the solver instead")

    def deal(self, preset: str) -> DealtGame:
        """The next deal for a player."""
        return self._draw(preset, self._seen)

    def demo(self, preset: str) -> DealtGame:
        """A deal for the attract mode; never the one before."""
        return self._draw(preset, self._shown)

    def close(self) -> None:
        """Close the pool file."""
        if self._pool is not None:
            self._pool.close()

    def _draw(self, preset: str, seen: dict[str, list[int]]) -> DealtGame:
        if self._pool is not None and preset in self._pool.presets:
            try:
                found = self._pool.draw(preset, self._rng, seen.setdefault(preset, []))
            except PoolError as error:
                self._problem(f"{error}; deals are searched for by the solver instead")
                self._pool.close()
                self._pool = None
            else:
                return DealtGame(found.deal, found.rules, preset, found.line)
        return find_winnable(preset, self._rng)

    def _problem(self, text: str) -> None:
        log.error("%s", text)
        self.problems.append(text)


def find_winnable(preset: str, rng: Random) -> DealtGame:
    """Search for a deal that the solver proves winnable, from random deal numbers.

    Raises:
        KeyError: there is no such preset.
    """
    rules = PRESETS[preset]
    while True:
        deal = Deal.from_number(rng.randint(1, LAST_DEAL))
        solution = solve(Position(deal, rules), limit=LIMIT)
        if solution.verdict is Verdict.WINNABLE:
            return DealtGame(deal, rules, preset, solution.line)
