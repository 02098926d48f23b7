"""How many deals can be won under given rules: counted, not guessed.

Progress is kept in a work file, so that an interrupted run goes on where it was.  Several rules are
counted together in less time: what wins under some rules wins under all that include them.

Invariant: every deal number of the range is decided and counted exactly once, whoever decides it;
what could not be decided is counted as that.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import astuple, dataclass
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

#: Tells of progress: what has been counted so far, for each of the rules.
Progress = Callable[[tuple["Count", ...]], None]


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
        implied: how many verdicts it had no need to search for, because they follow from the
            verdict under other rules.
    """

    deals: int = 0
    won: int = 0
    undecided: int = 0
    positions: int = 0
    worst: int = 0
    implied: int = 0

    def __add__(self, other: Count) -> Self:
        return type(self)(
            self.deals + other.deals,
            self.won + other.won,
            self.undecided + other.undecided,
            self.positions + other.positions,
            max(self.worst, other.worst),
            self.implied + other.implied,
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


def count_deals(rules: tuple[str, ...], first: int, size: int) -> tuple[Count, ...]:
    """Decide ``size`` deals from number ``first`` on, under the rules of each text.

    A deal is decided under one text after the other, and searched only where the verdict does not
    follow from those before: put rules first that include many of the others.
    """
    chosen = [Rules.parse(text) for text in rules]
    totals = [Count()] * len(chosen)
    for number in range(first, first + size):
        deal = Deal.from_number(number)
        verdicts: list[tuple[Rules, bool | None]] = []
        for place, these in enumerate(chosen):
            winnable = _implied(these, verdicts)
            if winnable is not None:
                one = Count(1, int(winnable), implied=1)
            else:
                solution = decide(Position(deal, these))
                winnable, spent = solution.winnable, solution.positions
                one = Count(1, int(winnable is True), int(winnable is None), spent, spent)
            verdicts.append((these, winnable))
            totals[place] += one
    return tuple(totals)


def _implied(rules: Rules, verdicts: list[tuple[Rules, bool | None]]) -> bool | None:
    """The verdict that follows from those under other rules; None if none does."""
    for other, winnable in verdicts:
        if winnable is True and rules.include(other):
            return True
        if winnable is False and other.include(rules):
            return False
    return None


def default_work_file(rules: Sequence[Rules], first: int) -> Path:
    """Where a run keeps its progress unless told otherwise: in the folder it is started in."""
    name = hashlib.sha256(_text(rules).encode()).hexdigest()[:8]
    return Path(f"winrate-{name}-from-{first}.work")


def win_rates(
    rules: Sequence[Rules],
    deals: int,
    *,
    work: Path,
    first: int = 1,
    workers: int = 1,
    cluster: str | None = None,
    progress: Progress | None = None,
) -> tuple[Count, ...]:
    """Count how many of ``deals`` deals, from number ``first`` on, can be won.

    Args:
        rules: one or more rules, in the order that suits :func:`count_deals`.
        deals: how many deals, 1 or more.
        work: the work file; what it knows already is not decided again, and it is deleted in the
            end.
        first: the first deal number, 1 or more.
        workers: processes on this machine, 1 or more; see :func:`engine.labour.in_order`.
        cluster: address of a cluster to use instead, likewise.
        progress: told after each portion.

    Returns:
        a count for each of the rules, in their order.

    Raises:
        WinRateError: the work file cannot be used, or is that of another run.
        ClusterError: the cluster cannot be used.
        ValueError: there are not so many deal numbers.
    """
    end = first + deals
    if end - 1 > LAST_DEAL:
        raise ValueError(f"deal numbers end at {LAST_DEAL}, before {end - 1}")
    texts = tuple(str(these) for these in rules)
    try:
        with closing(sqlite3.connect(work)) as connection:
            done = _prepare(connection, work, rules)
            todo: list[tuple[int, int]] = []
            totals = (Count(),) * len(texts)
            for start in range(first, end, PORTION):
                size = min(PORTION, end - start)
                known = done.get(start, ())
                if len(known) == len(texts) and all(counted.deals == size for counted in known):
                    totals = _sums(totals, known)
                else:
                    todo.append((start, size))
            if progress:
                progress(totals)
            results = in_order(
                count_deals,
                ((texts, start, size) for start, size in todo),
                workers=workers,
                cluster=cluster,
            )
            with closing(results):
                for (start, _size), counted in zip(todo, results, strict=True):
                    _enter(connection, start, counted)
                    totals = _sums(totals, counted)
                    if progress:
                        progress(totals)
    except sqlite3.Error as error:
        raise WinRateError(f"{work}: the work file cannot be used: {error}") from None
    assert all(total.deals == deals for total in totals)
    work.unlink()
    return totals


def _text(rules: Sequence[Rules]) -> str:
    return " ".join(str(these) for these in rules)


def _sums(some: Sequence[Count], more: Sequence[Count]) -> tuple[Count, ...]:
    return tuple(one + other for one, other in zip(some, more, strict=True))


def _prepare(
    connection: sqlite3.Connection, work: Path, rules: Sequence[Rules]
) -> dict[int, tuple[Count, ...]]:
    """Make the tables of the work file, or read it; results of another solver are thrown away."""
    connection.execute("CREATE TABLE IF NOT EXISTS run (rules TEXT, solver TEXT)")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS portions (first INTEGER, place INTEGER, deals INTEGER,"
        " won INTEGER, undecided INTEGER, positions INTEGER, worst INTEGER, implied INTEGER,"
        " PRIMARY KEY (first, place))"
    )
    found = connection.execute("SELECT rules, solver FROM run").fetchall()
    if found and found[0][0] != _text(rules):
        raise WinRateError(f"{work}: is the work file of a run under {found[0][0]}")
    if found != [(_text(rules), fingerprint())]:
        connection.execute("DELETE FROM portions")
        connection.execute("DELETE FROM run")
        connection.execute("INSERT INTO run VALUES (?, ?)", (_text(rules), fingerprint()))
    connection.commit()
    done: dict[int, tuple[Count, ...]] = {}
    query = (
        "SELECT first, deals, won, undecided, positions, worst, implied FROM portions"
        " ORDER BY first, place"
    )
    for first, *counts in connection.execute(query):
        done[first] = (*done.get(first, ()), Count(*counts))
    return done


def _enter(connection: sqlite3.Connection, first: int, counted: Sequence[Count]) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO portions VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [(first, place, *astuple(one)) for place, one in enumerate(counted)],
    )
    connection.commit()
