"""``python -m kiosk stats``: what has been played here, as a table, as JSON or as CSV.

Invariant: reads only; a kiosk that runs meanwhile neither waits nor notices.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import sqlite3
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any, Final

from kiosk import places
from kiosk.statefile import FILE_NAME
from kiosk.statistics import Figures, Statistics
from kiosk.statistics_export import Ended, as_csv, as_json, results_in

#: What stands in the first row instead of a preset.
ALL: Final = "all"
#: The columns, as JSON and CSV name them.
COLUMNS: Final = (
    *("preset", "grade", "games", "won", "lost", "abandoned", "hints", "undos"),
    *("best_streak", "best_seconds", "fewest_moves"),
)
#: The same for the table, shorter.
_HEADINGS: Final = (
    *("rules", "grade", "games", "won", "lost", "left", "hints", "undos"),
    *("streak", "fastest", "fewest"),
)
#: Columns that hold words.
_WORDS: Final = 2

Row = dict[str, Any]


def main(arguments: Sequence[str]) -> int:
    """Print what was asked for; return the exit code: 0, or 1 when nothing can be read."""
    args = _parser().parse_args(arguments)
    path = places.service_state(args.state) / FILE_NAME
    try:
        games = [game for game in results_in(path) if _is_sound(game)]
    except FileNotFoundError:
        print(
            f"pyramid-kiosk: {path}: no game was kept there yet. If another folder is meant: "
            "--state DIR",
            file=sys.stderr,
        )
        return 1
    except (OSError, sqlite3.Error) as error:
        why = error.strerror if isinstance(error, OSError) else error
        print(
            f"pyramid-kiosk: {path}: cannot be read ({why}). {_advice(path, error)}",
            file=sys.stderr,
        )
        return 1
    if args.games:
        print((as_csv if args.csv else as_json)(games), end="")
    elif args.json:
        print(json.dumps(summary(games), indent=2))
    elif args.csv:
        print(table_csv(rows(counted(games))), end="")
    else:
        print(table(rows(counted(games))), end="")
    return 0


def _advice(path: Path, error: Exception) -> str:
    """What to do about a file that cannot be read."""
    if isinstance(error, PermissionError) or not os.access(path, os.R_OK):
        return "It belongs to the user that plays: try sudo"
    return f"What is to be done: {places.command()} --check --state {path.parent}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"{places.command()} stats",
        description="Print what has been played here. A kiosk that is running is not disturbed.",
    )
    parser.add_argument(
        "--state", type=Path, metavar="DIR", help="where the results are kept, if elsewhere"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="as JSON")
    form.add_argument("--csv", action="store_true", help="as CSV")
    parser.add_argument(
        "--games",
        action="store_true",
        help="every single game instead of the figures, as JSON or with --csv as CSV",
    )
    return parser


def _is_sound(game: Ended) -> bool:
    """Whether the kiosk counts it, too: what is damaged is passed over."""
    try:
        _day(game)
    except (TypeError, ValueError, OverflowError):
        return False
    return game.result.is_sound


def _day(game: Ended) -> date:
    """The day that it was here when a game ended."""
    return datetime.fromisoformat(game.ended).astimezone().date()


def counted(games: Iterable[Ended]) -> Statistics:
    """The figures of games; a game belongs to the day that it was here when it ended."""
    return Statistics((game.result, _day(game)) for game in games)


def rows(statistics: Statistics) -> Iterator[Row]:
    """A row for all games, and for each preset one, and one for each of its grades."""
    yield _row(ALL, None, statistics.all)
    for preset in statistics.presets:
        yield _row(preset, None, statistics.of(preset))
        for grade in statistics.grades(preset):
            yield _row(preset, grade, statistics.of_grade(preset, grade))


def _row(preset: str, grade: str | None, figures: Figures) -> Row:
    quickest = figures.best_seconds
    values = (
        *(preset, grade, figures.played, *figures.outcomes.values(), figures.hints, figures.undos),
        *(figures.best_streak, None if quickest is None else round(quickest, 1)),
        figures.fewest_moves,
    )
    return dict(zip(COLUMNS, values, strict=True))


def summary(games: Sequence[Ended]) -> dict[str, Any]:
    """For JSON: the first and the last game's moment in UTC, and the rows."""
    return {
        "first": games[0].ended if games else None,
        "last": games[-1].ended if games else None,
        "figures": list(rows(counted(games))),
    }


def table_csv(lines: Iterable[Row]) -> str:
    """As CSV (RFC 4180) with a line of column names; what is not known is empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS)
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()


def table(lines: Iterable[Row]) -> str:
    """For people: words to the left, figures to the right."""
    cells = [_HEADINGS, *(tuple(map(_cell, line.values())) for line in lines)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(COLUMNS))]
    printed = []
    for row in cells:
        parts = [
            text.ljust(width) if column < _WORDS else text.rjust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        printed.append("  ".join(parts).rstrip() + "\n")
    return "".join(printed)


def _cell(value: str | float | None) -> str:
    return "" if value is None else str(value)
