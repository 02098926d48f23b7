"""How many deals can be won under given rules: counted, not guessed.

Progress is kept in a work file, so that an interrupted run goes on where it was.

Invariant: every deal number of the range is decided and counted exactly once, whoever decides it;
what could not be decided is counted as that.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Final, Self

from engine.deal import LAST_DEAL, Deal
from engine.labour import in_order
from engine.position import Position
from engine.rules import Rules
from engine.solver import decide, fingerprint

#: Deal numbers in one portion of work; a tenth of a second or so.
PORTION: Final = 250

#: Standard errors to each side of the estimate that hold the true rate in 95 of 100 cases.
Z: Final = 1.959964

#: Tells of progress: what has been counted so far.
Progress = Callable[["Count"], None]


class WinRateError(Exception):
    """A work file that cannot be used; the message names it."""


@dataclass(frozen=True)
class Count:
    """What came of some deals.

    Attributes:
        deals: how many there were.
        won: how many can be won.
        undecided: how many the solver gave up on for want of memory.
        positions: how many positions it looked at.
        worst: the most that it looked at for one deal.
    """

    deals: int = 0
    won: int = 0
    undecided: int = 0
    positions: int = 0
    worst: int = 0

    def __add__(self, other: Count) -> Self:
        return type(self)(
            self.deals + other.deals,
            self.won + other.won,
            self.undecided + other.undecided,
            self.positions + other.positions,
            max(self.worst, other.worst),
        )

    @property
    def rate(self) -> float:
        """The share of deals that can be won, 0 to 1.  Undecided ones are not."""
        return self.won / self.deals

    @property
    def standard_error(self) -> float:
        """The standard error of :attr:`rate` as an estimate for all deals."""
        return sqrt(self.rate * (1 - self.rate) / self.deals)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the rate (Wilson's score interval).

        Undecided deals widen it: at the lower end none of them is won, at the upper end all are.
        """
        return (
            _wilson(self.won, self.deals)[0],
            _wilson(self.won + self.undecided, self.deals)[1],
        )


def _wilson(won: int, deals: int) -> tuple[float, float]:
    rate = won / deals
    spread = Z * sqrt(rate * (1 - rate) / deals + Z**2 / (4 * deals**2))
    middle = rate + Z**2 / (2 * deals)
    return (
        max(0.0, (middle - spread) / (1 + Z**2 / deals)),
        min(1.0, (middle + spread) / (1 + Z**2 / deals)),
    )


def count_deals(rules: str, first: int, size: int) -> Count:
    """Decide ``size`` deals from number ``first`` on, under the rules of that text."""
    chosen = Rules.parse(rules)
    total = Count()
    for number in range(first, first + size):
        solution = decide(Position(Deal.from_number(number), chosen))
        total += Count(
            1,
            int(solution.winnable is True),
            int(solution.winnable is None),
            solution.positions,
            solution.positions,
        )
    return total


def default_work_file(rules: Rules, first: int) -> Path:
    """Where a run keeps its progress unless told otherwise: in the folder it is started in."""
    name = hashlib.sha256(str(rules).encode()).hexdigest()[:8]
    return Path(f"winrate-{name}-from-{first}.work")


def win_rate(
    rules: Rules,
    deals: int,
    *,
    work: Path,
    first: int = 1,
    workers: int = 1,
    cluster: str | None = None,
    progress: Progress | None = None,
) -> Count:
    """Count how many of ``deals`` deals, from number ``first`` on, can be won.

    Args:
        rules: the rules.
        deals: how many deals, 1 or more.
        work: the work file; what it knows already is not decided again, and it is deleted in the
            end.
        first: the first deal number, 1 or more.
        workers: processes on this machine, 1 or more; see :func:`engine.labour.in_order`.
        cluster: address of a cluster to use instead, likewise.
        progress: told after each portion.

    Raises:
        WinRateError: the work file cannot be used, or is that of another run.
        ClusterError: the cluster cannot be used.
        ValueError: there are not so many deal numbers.
    """
    end = first + deals
    if end - 1 > LAST_DEAL:
        raise ValueError(f"deal numbers end at {LAST_DEAL}, before {end - 1}")
    try:
        with closing(sqlite3.connect(work)) as connection:
            done = _prepare(connection, work, rules)
            jobs = [
                (start, min(PORTION, end - start))
                for start in range(first, end, PORTION)
                if done.get(start, Count()).deals != min(PORTION, end - start)
            ]
            total = sum(
                (
                    counted
                    for start, counted in done.items()
                    if first <= start < end and counted.deals == min(PORTION, end - start)
                ),
                Count(),
            )
            if progress:
                progress(total)
            results = in_order(
                count_deals,
                ((str(rules), start, size) for start, size in jobs),
                workers=workers,
                cluster=cluster,
            )
            with closing(results):
                for (start, _size), counted in zip(jobs, results, strict=True):
                    _enter(connection, start, counted)
                    total += counted
                    if progress:
                        progress(total)
    except sqlite3.Error as error:
        raise WinRateError(f"{work}: the work file cannot be used: {error}") from None
    assert total.deals == deals
    work.unlink()
    return total


def _prepare(connection: sqlite3.Connection, work: Path, rules: Rules) -> dict[int, Count]:
    """Make the tables of the work file, or read it; results of another solver are thrown away."""
    connection.execute("CREATE TABLE IF NOT EXISTS run (rules TEXT, solver TEXT)")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS portions (first INTEGER PRIMARY KEY, deals INTEGER,"
        " won INTEGER, undecided INTEGER, positions INTEGER, worst INTEGER)"
    )
    found = connection.execute("SELECT rules, solver FROM run").fetchall()
    if found and found[0][0] != str(rules):
        raise WinRateError(f"{work}: is the work file of a run under {found[0][0]}")
    if found != [(str(rules), fingerprint())]:
        connection.execute("DELETE FROM portions")
        connection.execute("DELETE FROM run")
        connection.execute("INSERT INTO run VALUES (?, ?)", (str(rules), fingerprint()))
    connection.commit()
    return dict(_rows(connection))


def _rows(connection: sqlite3.Connection) -> Iterator[tuple[int, Count]]:
    query = "SELECT first, deals, won, undecided, positions, worst FROM portions"
    for first, *counts in connection.execute(query):
        yield first, Count(*counts)


def _enter(connection: sqlite3.Connection, first: int, counted: Count) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO portions VALUES (?, ?, ?, ?, ?, ?)",
        (
            first,
            counted.deals,
            counted.won,
            counted.undecided,
            counted.positions,
            counted.worst,
        ),
    )
    connection.commit()
