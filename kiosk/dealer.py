"""Where a session's deals come from: the pool, or the solver when there is no sound pool.

Invariant: a deal that is handed out is winnable and comes with its winning line.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from random import Random
from threading import Thread
from typing import Final

from engine.deal import LAST_DEAL, Deal
from engine.difficulty import Grade
from engine.pool import Pool, PoolDeal, PoolError
from engine.position import Move, Position
from engine.rules import PRESETS, Rules
from engine.solver import Verdict, solve
from kiosk.service import PoolFacts

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
        line: moves that win it; empty for a number that was asked for and not solved.
        grade: how hard it is, if the pool knows.
    """

    deal: Deal
    rules: Rules
    preset: str
    line: tuple[Move, ...]
    grade: Grade | None = None


class PoolDealer:
    """Deals from the pool, without repeats until all have been dealt.

    Args:
        rng: where chance comes from.
        path: the pool file; None is the shipped one.
        rules: what can be played, by name; None is the presets.

    Attributes:
        problems: one sentence for each thing that went wrong, for the log and the service menu.
    """

    def __init__(
        self,
        rng: Random,
        path: Path | None = None,
        *,
        rules: Mapping[str, Rules] | None = None,
    ) -> None:
        self._rules = PRESETS if rules is None else rules
        self.problems: list[str] = []
        self._rng = rng
        self._seen: dict[tuple[str, Grade | None], list[int]] = {}
        self._shown: dict[tuple[str, Grade | None], list[int]] = {}
        self._pool: Pool | None = None
        #: Set by the checking thread, acted upon by the thread that deals.
        self._unsound: PoolError | None = None
        #: Whether the digest was read and is right; None until then.
        self._sound: bool | None = None
        try:
            # Reading all of it would hold up the first picture: see :meth:`check`.
            self._pool = Pool.open(path, check_digest=False)
        except (PoolError, ValueError) as error:
            self._problem(f"{error}; deals are searched for by the solver instead")

    def check(self) -> None:
        """Read the whole pool and compare its digest, on a thread of its own.

        A pool that was altered is used until then: each deal from it is proven by its own line.
        """
        if self._pool is not None:
            path = self._pool.path
            Thread(target=self._check, args=(path,), name="pool check", daemon=True).start()

    def _check(self, path: Path) -> None:
        try:
            Pool.open(path).close()
        except PoolError as error:
            self._unsound = error
            self._sound = False
        else:
            self._sound = True

    @property
    def pool_facts(self) -> PoolFacts:
        """What is known about the pool, for the service menu."""
        if self._pool is not None and self._unsound is not None:
            self._give_up(self._unsound)
        if self._pool is None:
            return PoolFacts({}, self._sound, self.problems[-1] if self.problems else "")
        return PoolFacts(
            {name: self._pool.count(name) for name in self._rules if name in self._pool.presets},
            self._sound,
        )

    def deal(self, preset: str, grade: Grade | None = None) -> DealtGame:
        """The next deal for a player, of one grade if there are any of it."""
        return self._draw(preset, grade, self._seen)

    def demo(self, preset: str) -> DealtGame:
        """A deal for the attract mode; never the one before."""
        return self._draw(preset, None, self._shown)

    def daily(self, preset: str, day: date) -> DealtGame:
        """The deal of a day: the same on every kiosk with the same pool."""
        found = self._from_pool(preset, lambda pool: pool.daily(preset, day))
        if found is None:
            return self._find_winnable(preset, Random(day.toordinal()))
        return found

    def find(self, preset: str, number: int) -> DealtGame | None:
        """The deal of that number if the pool has it, and so knows that it can be won."""
        return self._from_pool(preset, lambda pool: pool.find(preset, number))

    def grades(self, preset: str) -> tuple[Grade, ...]:
        """The grades that the pool has deals of, from the easiest."""
        if self._pool is None or preset not in self._pool.presets:
            return ()
        return tuple(grade for grade in Grade if self._pool.count(preset, grade))

    def close(self) -> None:
        """Close the pool file."""
        if self._pool is not None:
            self._pool.close()

    def _draw(
        self, preset: str, grade: Grade | None, seen: dict[tuple[str, Grade | None], list[int]]
    ) -> DealtGame:
        if grade is not None and grade not in self.grades(preset):
            grade = None
        found = self._from_pool(
            preset,
            lambda pool: pool.draw(preset, self._rng, seen.setdefault((preset, grade), []), grade),
        )
        return self._find_winnable(preset, self._rng) if found is None else found

    def _from_pool(self, preset: str, ask: Callable[[Pool], PoolDeal | None]) -> DealtGame | None:
        """Ask the pool, unless there is none; give it up when it turns out to be unsound."""
        if self._pool is not None and self._unsound is not None:
            self._give_up(self._unsound)
        if self._pool is None or preset not in self._pool.presets:
            return None
        try:
            found = ask(self._pool)
        except (PoolError, ValueError, TypeError) as error:
            self._give_up(error)
            return None
        if found is None:
            return None
        return DealtGame(found.deal, found.rules, preset, found.line, found.grade)

    def _give_up(self, error: Exception) -> None:
        self._problem(f"{error}; deals are searched for by the solver instead")
        self.close()
        self._pool = None

    def _find_winnable(self, preset: str, rng: Random) -> DealtGame:
        return find_winnable(preset, self._rules[preset], rng)

    def _problem(self, text: str) -> None:
        log.error("%s", text)
        self.problems.append(text)


def find_winnable(preset: str, rules: Rules, rng: Random) -> DealtGame:
    """Search for a deal that the solver proves winnable, from random deal numbers."""
    while True:
        deal = Deal.from_number(rng.randint(1, LAST_DEAL))
        solution = solve(Position(deal, rules), limit=LIMIT)
        if solution.verdict is Verdict.WINNABLE:
            return DealtGame(deal, rules, preset, solution.line)
