"""Building a pool: deal numbers 1, 2, 3, … in order, kept if winnable.

Progress is kept in a work file beside the pool, so that an interrupted run goes on where it was.

Invariant: the content depends on the solver and on the counts asked for, never on the number of
workers or on interruptions; the pool file appears complete, in one step, or not at all.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing
from functools import partial
from itertools import count
from pathlib import Path

from engine.deal import Deal
from engine.labour import in_order
from engine.pool import (
    POOL_FORMAT,
    POOL_VERSION,
    SCHEMA,
    Pool,
    PoolError,
    PoolRow,
    digest_of,
    encode_line,
)
from engine.position import Position
from engine.rules import PRESETS
from engine.solver import fingerprint, solve

#: Deal numbers that a worker takes at a time.
PORTION = 4

#: Tells of progress: the preset, deals found so far, deals wanted, deal numbers tried so far.
Progress = Callable[[str, int, int, int], None]

#: The lines, or None, of one portion of deal numbers after the other.
Portions = Generator[list[bytes | None], None, None]


def winning_line(preset: str, number: int) -> bytes | None:
    """The packed winning line of a deal, or None if it cannot be won."""
    deal = Deal.from_number(number)
    solution = solve(Position(deal, PRESETS[preset]))
    if solution.winnable is None:
        # Leaving it out would make the content depend on the memory at hand.
        raise PoolError(f"{preset} deal {number} cannot be decided: {solution.reason}")
    return encode_line(deal, solution.line) if solution.winnable else None


def _portion(preset: str, first: int, size: int) -> list[bytes | None]:
    return [winning_line(preset, number) for number in range(first, first + size)]


def build(
    path: Path,
    wanted: Mapping[str, int],
    *,
    workers: int = 1,
    portion: int = PORTION,
    progress: Progress | None = None,
) -> str:
    """Build the pool ``path`` with so many deals of each preset, and return its digest.

    Args:
        path: the pool file; one that is there is replaced in the end.
        wanted: how many deals, 0 or more, of each preset.
        workers: processes that solve, 1 or more; with more than one, call from the main thread.
        portion: deal numbers that a worker takes at a time, 1 or more.
        progress: told after each portion of deal numbers.

    Raises:
        PoolError: the work file cannot be used, or a deal cannot be decided.
    """
    work = path.with_name(path.name + ".work")
    try:
        with closing(sqlite3.connect(work)) as connection:
            _prepare(connection)
            labour = partial(_portions, workers=workers, size=portion)
            for preset in PRESETS:
                # Zero deals asked for is no reason to try even one.
                if wanted.get(preset, 0):
                    _fill(connection, preset, wanted[preset], labour, progress)
            digest = _finish(connection, path, wanted)
    except sqlite3.Error as error:
        raise PoolError(f"{work}: the work file cannot be used: {error}") from None
    work.unlink()
    return digest


def _prepare(connection: sqlite3.Connection) -> None:
    """Make the tables of the work file; results of another solver are thrown away."""
    connection.execute("CREATE TABLE IF NOT EXISTS solver (fingerprint TEXT)")
    row = (fingerprint(),)
    if connection.execute("SELECT fingerprint FROM solver").fetchall() != [row]:
        connection.execute("DELETE FROM solver")
        connection.execute("INSERT INTO solver VALUES (?)", row)
        connection.execute("DROP TABLE IF EXISTS tried")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS tried"
        " (preset TEXT, number INTEGER, line BLOB, PRIMARY KEY (preset, number))"
    )
    connection.commit()


def _fill(
    connection: sqlite3.Connection,
    preset: str,
    wanted: int,
    labour: Callable[[str, int], Portions],
    progress: Progress | None,
) -> None:
    """Try deal numbers until the work file has enough winnable deals of a preset."""
    tried, found = connection.execute(
        "SELECT count(*), count(line) FROM tried WHERE preset = ?", (preset,)
    ).fetchone()
    if progress:
        progress(preset, found, wanted, tried)
    if found >= wanted:
        return
    with closing(labour(preset, tried + 1)) as portions:
        for lines in portions:
            connection.executemany(
                "INSERT INTO tried VALUES (?, ?, ?)",
                [(preset, tried + 1 + i, line) for i, line in enumerate(lines)],
            )
            connection.commit()
            tried += len(lines)
            found += sum(line is not None for line in lines)
            if progress:
                progress(preset, found, wanted, tried)
            if found >= wanted:
                return


def _portions(preset: str, first: int, *, workers: int, size: int) -> Portions:
    """Yield the lines of portion after portion, in order, from deal number ``first``."""
    return in_order(
        _portion, ((preset, start, size) for start in count(first, size)), workers=workers
    )


def _finish(connection: sqlite3.Connection, path: Path, wanted: Mapping[str, int]) -> str:
    """Write the pool from the work file, and read it back."""
    rows: list[PoolRow] = []
    presets: list[tuple[str, str, int, int]] = []
    for preset in sorted(PRESETS):
        kept = connection.execute(
            "SELECT number, line FROM tried WHERE preset = ? AND line IS NOT NULL"
            " ORDER BY number LIMIT ?",
            (preset, wanted.get(preset, 0)),
        ).fetchall()
        if kept:
            rows += [PoolRow(preset, number, line) for number, line in kept]
            presets.append((preset, str(PRESETS[preset]), len(kept), kept[-1][0]))
    new = path.with_name(path.name + ".new")
    digest = write(new, presets, rows)
    Pool.open(new).close()
    new.replace(path)
    return digest


def write(path: Path, presets: list[tuple[str, str, int, int]], rows: Iterable[PoolRow]) -> str:
    """Write a pool file and return its digest.

    Args:
        path: the file; one that is there is replaced.
        presets: name, text of the rules, number of deals and of deal numbers tried, by name.
        rows: the deals in order of preset and number.
    """
    rows = list(rows)
    digest = digest_of(((name, rules) for name, rules, _, _ in presets), rows)
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SCHEMA)
        connection.executemany(
            "INSERT INTO meta VALUES (?, ?)",
            [("format", POOL_FORMAT), ("version", str(POOL_VERSION)), ("digest", digest)],
        )
        connection.executemany("INSERT INTO presets VALUES (?, ?, ?, ?)", presets)
        connection.executemany(
            "INSERT INTO deals VALUES (?, ?, ?, ?, ?)",
            [(row.preset, row.number, row.line, row.grade, row.casual_wins) for row in rows],
        )
        connection.commit()
        connection.execute("VACUUM")
    return digest
