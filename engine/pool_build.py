"""Building a pool: deal numbers 1, 2, 3, … in order, kept if winnable, until each grade is full.

Progress is kept in a work file beside the pool, so that an interrupted run goes on where it was.

Invariant: the content depends on the solver, the casual player and the counts asked for, never on
the number of workers or on interruptions; the pool file appears complete, in one step, or not at
all.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing
from functools import partial
from itertools import count
from pathlib import Path

from engine.deal import Deal
from engine.difficulty import Grade, casual_wins, grade_of
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
from engine.solver import decide, fingerprint, solve

#: Deal numbers that a worker takes at a time.
PORTION = 100

#: Tells of progress: the preset, deals found so far, deals wanted, deal numbers tried so far.
Progress = Callable[[str, int, int, int], None]


def casual_result(preset: str, number: int) -> int | None:
    """How often the casual player wins a deal, or None if it cannot be won at all."""
    position = Position(Deal.from_number(number), PRESETS[preset])
    winnable = decide(position).winnable
    if winnable is None:
        # Leaving it out would make the content depend on the memory at hand.
        raise PoolError(f"{preset} deal {number} cannot be decided")
    if not winnable:
        return None
    return casual_wins(position.deal, position.rules, seed=number)


def winning_line(preset: str, number: int) -> bytes:
    """The packed winning line of a deal that can be won."""
    deal = Deal.from_number(number)
    solution = solve(Position(deal, PRESETS[preset]))
    assert solution.winnable
    return encode_line(deal, solution.line)


def _try_portion(preset: str, first: int, size: int) -> list[int | None]:
    return [casual_result(preset, number) for number in range(first, first + size)]


def _line_portion(preset: str, numbers: list[int]) -> list[bytes]:
    return [winning_line(preset, number) for number in numbers]


def build(
    path: Path,
    wanted: Mapping[str, int],
    *,
    workers: int = 1,
    cluster: str | None = None,
    portion: int = PORTION,
    progress: Progress | None = None,
) -> str:
    """Build the pool ``path`` with so many deals of each preset and grade; return its digest.

    Args:
        path: the pool file; one that is there is replaced in the end.
        wanted: how many deals of each grade, 0 or more, of each preset.
        workers: processes that solve, 1 or more; see :func:`engine.labour.in_order`.
        cluster: address of a cluster to use instead, likewise.
        portion: deal numbers that a worker takes at a time, 1 or more.
        progress: told after each portion of deal numbers.

    Raises:
        PoolError: something else than a sound pool is in the way, the work file cannot be used,
            or a deal cannot be decided.
        ClusterError: the cluster cannot be used.
    """
    if path.exists():
        # Only a pool is replaced: anything else was named by mistake.
        Pool.open(path).close()
    work = path.with_name(path.name + ".work")
    labour = partial(in_order, workers=workers, cluster=cluster)
    try:
        with closing(sqlite3.connect(work)) as connection:
            _prepare(connection)
            rows: list[PoolRow] = []
            presets: list[tuple[str, str, int, int, int]] = []
            for preset in sorted(PRESETS):
                # Zero deals asked for is no reason to try even one.
                if not wanted.get(preset, 0):
                    continue
                tries = partial(_tries, preset, size=portion, labour=labour)
                kept = _fill(connection, preset, wanted[preset], tries, progress)
                rows += _with_lines(connection, preset, kept, labour)
                last = max(number for number, _ in kept)
                (winnable,) = connection.execute(
                    "SELECT count(wins) FROM tried WHERE preset = ? AND number <= ?",
                    (preset, last),
                ).fetchone()
                presets.append((preset, str(PRESETS[preset]), len(kept), last, winnable))
    except sqlite3.Error as error:
        raise PoolError(f"{work}: the work file cannot be used: {error}") from None
    new = path.with_name(path.name + ".new")
    digest = write(new, presets, rows)
    Pool.open(new).close()
    new.replace(path)
    work.unlink()
    return digest


def _prepare(connection: sqlite3.Connection) -> None:
    """Make the tables of the work file; results of another solver or player are thrown away."""
    connection.execute("CREATE TABLE IF NOT EXISTS program (fingerprint TEXT)")
    sha = hashlib.sha256(fingerprint().encode())
    for name in ("_casual.py", "difficulty.py"):
        sha.update(Path(__file__).with_name(name).read_bytes())
    row = (sha.hexdigest(),)
    if connection.execute("SELECT fingerprint FROM program").fetchall() != [row]:
        connection.execute("DELETE FROM program")
        connection.execute("INSERT INTO program VALUES (?)", row)
        connection.execute("DROP TABLE IF EXISTS tried")
        connection.execute("DROP TABLE IF EXISTS lines")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS tried"
        " (preset TEXT, number INTEGER, wins INTEGER, PRIMARY KEY (preset, number)) WITHOUT ROWID"
    )
    connection.execute(
        "CREATE TABLE IF NOT EXISTS lines"
        " (preset TEXT, number INTEGER, line BLOB, PRIMARY KEY (preset, number)) WITHOUT ROWID"
    )
    connection.commit()


def _tries(
    preset: str,
    first: int,
    *,
    size: int,
    labour: Callable[..., Generator[list[int | None], None, None]],
) -> Generator[list[int | None], None, None]:
    """Try portion after portion of deal numbers, from ``first`` on."""
    return labour(_try_portion, ((preset, start, size) for start in count(first, size)))


def _fill(
    connection: sqlite3.Connection,
    preset: str,
    wanted: int,
    tries: Callable[[int], Generator[list[int | None], None, None]],
    progress: Progress | None,
) -> list[tuple[int, int]]:
    """Try deal numbers until every grade has enough; return numbers and wins of those kept."""
    kept: list[tuple[int, int]] = []
    room = dict.fromkeys(Grade, wanted)
    tried = 0

    def enter(wins: int | None) -> None:
        nonlocal tried
        tried += 1
        if wins is not None and room[grade_of(wins)]:
            room[grade_of(wins)] -= 1
            kept.append((tried, wins))

    def tell() -> None:
        if progress:
            progress(preset, len(kept), wanted * len(Grade), tried)

    query = "SELECT wins FROM tried WHERE preset = ? ORDER BY number"
    for (wins,) in connection.execute(query, (preset,)):
        enter(wins)
    tell()
    if not any(room.values()):
        return kept
    with closing(tries(tried + 1)) as portions:
        for results in portions:
            connection.executemany(
                "INSERT INTO tried VALUES (?, ?, ?)",
                [(preset, tried + 1 + i, wins) for i, wins in enumerate(results)],
            )
            connection.commit()
            for wins in results:
                enter(wins)
            tell()
            if not any(room.values()):
                break
    return kept


def _with_lines(
    connection: sqlite3.Connection,
    preset: str,
    kept: list[tuple[int, int]],
    labour: Callable[..., Generator[list[bytes], None, None]],
) -> list[PoolRow]:
    """Find the winning line of each deal that is kept."""
    query = "SELECT number, line FROM lines WHERE preset = ?"
    lines: dict[int, bytes] = dict(connection.execute(query, (preset,)))
    missing = [number for number, _ in kept if number not in lines]
    shares = [missing[i : i + PORTION] for i in range(0, len(missing), PORTION)]
    with closing(labour(_line_portion, ((preset, share) for share in shares))) as portions:
        for share, found in zip(shares, portions, strict=True):
            connection.executemany(
                "INSERT INTO lines VALUES (?, ?, ?)",
                [(preset, number, line) for number, line in zip(share, found, strict=True)],
            )
            connection.commit()
            lines |= zip(share, found, strict=True)
    return [
        PoolRow(preset, number, lines[number], grade_of(wins).value, wins) for number, wins in kept
    ]


def write(
    path: Path, presets: list[tuple[str, str, int, int, int]], rows: Iterable[PoolRow]
) -> str:
    """Write a pool file and return its digest.

    Args:
        path: the file; one that is there is replaced.
        presets: name, text of the rules, number of deals, of deal numbers tried, and of those
            that can be won; in order of name.
        rows: the deals in order of preset and number.
    """
    rows = list(rows)
    digest = digest_of(((name, rules) for name, rules, *_ in presets), rows)
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SCHEMA)
        connection.executemany(
            "INSERT INTO meta VALUES (?, ?)",
            [("format", POOL_FORMAT), ("version", str(POOL_VERSION)), ("digest", digest)],
        )
        connection.executemany("INSERT INTO presets VALUES (?, ?, ?, ?, ?)", presets)
        connection.executemany(
            "INSERT INTO deals VALUES (?, ?, ?, ?, ?)",
            [(row.preset, row.number, row.line, row.grade, row.casual_wins) for row in rows],
        )
        connection.commit()
        connection.execute("VACUUM")
    return digest
