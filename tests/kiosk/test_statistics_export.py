"""The exported statistics say what was played."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from pathlib import Path

import pytest

from kiosk.statefile import FILE_NAME
from kiosk.statistics import ABANDONED, WON, Result
from kiosk.statistics_export import COLUMNS, as_csv, as_json, results_in
from kiosk.storage import Storage

GAMES = [
    Result("three-pass", 5189, WON, 51, 181.26, 1, 2, "easy", True),
    Result("cards4", None, ABANDONED, 3, 9.5, 0, 0),
]


@pytest.fixture
def played(tmp_path: Path) -> Path:
    storage = Storage(tmp_path)
    for game in GAMES:
        storage.record(game)
    assert storage.close()
    with sqlite3.connect(tmp_path / FILE_NAME) as db:
        db.execute("UPDATE results SET ended = '2026-05-01 14:03:59'")
    db.close()
    return tmp_path / FILE_NAME


def test_games_come_back_as_they_were_played(played: Path) -> None:
    found = results_in(played)
    assert [game.result for game in found] == GAMES
    assert {game.ended for game in found} == {"2026-05-01T14:03:59Z"}


def test_csv_has_a_row_for_every_game(played: Path) -> None:
    text = as_csv(results_in(played))
    first, second = csv.DictReader(io.StringIO(text, newline=""))
    assert tuple(first) == COLUMNS
    assert first == {
        "ended": "2026-05-01T14:03:59Z",
        "preset": "three-pass",
        "number": "5189",
        "outcome": "won",
        "moves": "51",
        "seconds": "181.3",
        "hints": "1",
        "undos": "2",
        "grade": "easy",
        "daily": "1",
    }
    assert (second["number"], second["grade"], second["daily"]) == ("", "", "0")


def test_json_has_an_object_for_every_game(played: Path) -> None:
    first, second = json.loads(as_json(results_in(played)))
    assert tuple(first) == COLUMNS
    assert (first["seconds"], first["daily"], first["number"]) == (181.26, True, 5189)
    assert (second["outcome"], second["number"], second["grade"]) == ("abandoned", None, None)


def test_nothing_played_is_an_empty_list_and_a_line_of_names(tmp_path: Path) -> None:
    assert Storage(tmp_path).close()
    games = results_in(tmp_path / FILE_NAME)
    assert games == []
    assert json.loads(as_json(games)) == []
    assert as_csv(games).split() == [",".join(COLUMNS)]


def test_reading_makes_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        results_in(tmp_path / FILE_NAME)
    assert list(tmp_path.iterdir()) == []
