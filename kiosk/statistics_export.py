"""Finished games as CSV and as JSON, for whoever wants to count them elsewhere.

Invariant: reads and never writes the kiosk's memory; every finished game is one row, in the order
in which they ended, with the moment in UTC.
"""

from __future__ import annotations

import csv
import errno
import io
import json
import sqlite3
import stat
from collections.abc import Iterable
from contextlib import closing
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

from kiosk.statistics import Result


@dataclass(frozen=True)
class Ended:
    """A finished game and when it ended.

    Attributes:
        ended: the moment in UTC, like ``2026-05-01T14:03:59Z``.
        result: the game.
    """

    ended: str
    result: Result


#: The columns, as both forms name them.
COLUMNS: Final = ("ended", *(field.name for field in fields(Result)))


def results_in(path: Path) -> list[Ended]:
    """All finished games in a state file, oldest first.

    Raises:
        OSError: there is no such file, or it is none.
        sqlite3.Error: it cannot be read.
    """
    # Without a file sqlite would say so less clearly; and opening a pipe would wait for good.
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "it is no file")
    try:
        return _read(path, "mode=ro")
    except sqlite3.OperationalError as error:
        # A file that nobody has open needs companions beside it to be read, which whoever may only
        # read cannot make.  Without a log of what is to be written it is complete as it is.
        if error.sqlite_errorname != "SQLITE_CANTOPEN" or _has_log(path):
            raise
        return _read(path, "mode=ro&immutable=1")


def _has_log(path: Path) -> bool:
    return path.with_name(f"{path.name}-wal").exists()


def _read(path: Path, how: str) -> list[Ended]:
    names = ", ".join(COLUMNS[1:])
    query = f"SELECT strftime('%Y-%m-%dT%H:%M:%SZ', ended), {names} FROM results ORDER BY id"
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True)) as db:
        return [
            Ended(ended, Result(*(*values, bool(daily))))
            for ended, *values, daily in db.execute(query)
        ]


def _rows(games: Iterable[Ended]) -> Iterable[dict[str, Any]]:
    return ({"ended": game.ended, **asdict(game.result)} for game in games)


def as_csv(games: Iterable[Ended]) -> str:
    """As CSV (RFC 4180) with a line of column names; what is not known is empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS)
    writer.writeheader()
    for row in _rows(games):
        writer.writerow(row | {"daily": int(row["daily"]), "seconds": round(row["seconds"], 1)})
    return text.getvalue()


def as_json(games: Iterable[Ended]) -> str:
    """As a JSON list of objects, one game a line; what is not known is null."""
    lines = ",\n".join(json.dumps(row) for row in _rows(games))
    return f"[\n{lines}\n]\n" if lines else "[]\n"
