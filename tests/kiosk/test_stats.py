"""What has been played, on the command line."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import sqlite3
from pathlib import Path

import pytest

from kiosk import stats
from kiosk.statefile import FILE_NAME
from kiosk.statistics import Result
from kiosk.storage import Storage

GAMES = [
    Result("classic", 7, "won", moves=30, seconds=61.26, hints=1, undos=2, grade="easy"),
    Result("classic", 8, "lost", moves=20, seconds=40.0, hints=0, undos=0, grade="hard"),
    Result("classic", 9, "won", moves=28, seconds=90.0, hints=0, undos=1, grade="easy", daily=True),
    Result("cards4", None, "abandoned", moves=3, seconds=9.0, hints=2, undos=0),
]


@pytest.fixture
def state(tmp_path: Path) -> Path:
    storage = Storage(tmp_path / "state")
    for game in GAMES:
        storage.record(game)
    assert storage.close()
    return tmp_path / "state"


def asked(capsys: pytest.CaptureFixture[str], state: Path, *arguments: str) -> str:
    assert stats.main(["--state", str(state), *arguments]) == 0
    return capsys.readouterr().out


def test_the_table_has_a_row_for_all_for_rules_and_for_grades(
    capsys: pytest.CaptureFixture[str], state: Path
) -> None:
    assert asked(capsys, state) == (
        "rules    grade  games  won  lost  left  hints  undos  streak  fastest  fewest\n"
        "all                 4    2     1     1      3      3       1     61.3      28\n"
        "classic             3    2     1     0      1      3       1     61.3      28\n"
        "classic  easy       2    2     0     0      1      3       2     61.3      28\n"
        "classic  hard       1    0     1     0      0      0       0\n"
        "cards4              1    0     0     1      2      0       0\n"
    )


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("seconds", "9e999"),
        ("seconds", "-9e999"),
        ("seconds", "1e300"),
        ("seconds", "-1.0"),
        ("moves", "-1"),
        ("hints", str(2**62)),
        ("undos", "-7"),
        ("ended", "'-4000-01-01'"),
        ("ended", "'no day'"),
    ],
)
def test_a_figure_that_no_game_has_is_passed_over_here_and_by_the_kiosk(
    capsys: pytest.CaptureFixture[str], state: Path, column: str, value: str
) -> None:
    before = asked(capsys, state)
    storage = Storage(state)
    storage.record(GAMES[0])
    assert storage.close()
    db = sqlite3.connect(state / FILE_NAME)
    with db:
        db.execute(f"UPDATE results SET {column} = {value} WHERE id = 5")
    db.close()
    assert asked(capsys, state) == before
    again = Storage(state)
    assert again.statistics.all.played == len(GAMES)
    assert again.statistics.all.best_seconds == 61.26
    assert "1 results cannot be read" in again.problems[0]
    assert again.close()


def test_json_has_the_same_figures(capsys: pytest.CaptureFixture[str], state: Path) -> None:
    said = json.loads(asked(capsys, state, "--json"))
    assert said["first"] <= said["last"]
    assert said["last"].endswith("Z")
    assert [(row["preset"], row["grade"], row["games"]) for row in said["figures"]] == [
        ("all", None, 4),
        ("classic", None, 3),
        ("classic", "easy", 2),
        ("classic", "hard", 1),
        ("cards4", None, 1),
    ]
    assert said["figures"][0] == {
        **{"preset": "all", "grade": None, "games": 4, "won": 2, "lost": 1, "abandoned": 1},
        **{"hints": 3, "undos": 3, "best_streak": 1, "best_seconds": 61.3, "fewest_moves": 28},
    }


def test_csv_has_the_same_figures(capsys: pytest.CaptureFixture[str], state: Path) -> None:
    read = list(csv.DictReader(io.StringIO(asked(capsys, state, "--csv"))))
    assert tuple(read[0]) == stats.COLUMNS
    assert [row["games"] for row in read] == ["4", "3", "2", "1", "1"]
    assert read[4]["best_seconds"] == ""


def test_every_single_game_can_be_had(capsys: pytest.CaptureFixture[str], state: Path) -> None:
    games = json.loads(asked(capsys, state, "--games"))
    assert [game["number"] for game in games] == [7, 8, 9, None]
    read = list(csv.DictReader(io.StringIO(asked(capsys, state, "--games", "--csv"))))
    assert [row["outcome"] for row in read] == ["won", "lost", "won", "abandoned"]


def test_a_running_kiosk_is_read_and_not_disturbed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    storage = Storage(tmp_path)
    storage.record(GAMES[0])
    assert storage.flush()
    # It is in the middle of a write when somebody asks.
    writer = sqlite3.connect(tmp_path / FILE_NAME)
    writer.execute("BEGIN IMMEDIATE")
    assert json.loads(asked(capsys, tmp_path, "--json"))["figures"][0]["games"] == 1
    writer.rollback()
    writer.close()
    storage.record(GAMES[1])
    assert storage.close()
    assert storage.problems == []
    assert json.loads(asked(capsys, tmp_path, "--json"))["figures"][0]["games"] == 2


def test_reading_leaves_nothing_behind(capsys: pytest.CaptureFixture[str], state: Path) -> None:
    before = sorted((path.name, path.stat().st_mtime_ns) for path in state.iterdir())
    asked(capsys, state)
    after = sorted((path.name, path.stat().st_mtime_ns) for path in state.iterdir())
    assert [entry for entry in after if entry[0] == FILE_NAME] == [
        entry for entry in before if entry[0] == FILE_NAME
    ]
    assert Storage(state).problems == []


def test_a_kiosk_without_games_has_one_row(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert Storage(tmp_path).close()
    said = json.loads(asked(capsys, tmp_path, "--json"))
    assert (said["first"], len(said["figures"]), said["figures"][0]["games"]) == (None, 1, 0)
    assert json.loads(asked(capsys, tmp_path, "--games")) == []


def test_what_cannot_be_read_is_said_and_left_alone(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert stats.main(["--state", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert "no game was kept there yet" in said
    assert "--state DIR" in said
    file = tmp_path / FILE_NAME
    file.write_bytes(b"nonsense" * 1000)
    assert stats.main(["--state", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert "cannot be read" in said
    assert f"--check --state {tmp_path}" in said
    assert "sudo" not in said, "nobody's rights are to blame"
    assert file.read_bytes() == b"nonsense" * 1000


def test_a_pipe_in_its_place_is_not_waited_for(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / FILE_NAME)
    assert stats.main(["--state", str(tmp_path)]) == 1
    assert "it is no file" in capsys.readouterr().err


def test_whoever_may_not_read_it_is_told_of_sudo(
    capsys: pytest.CaptureFixture[str], state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_path: Path) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(stats, "results_in", refused)
    assert stats.main(["--state", str(state)]) == 1
    assert "try sudo" in capsys.readouterr().err


def test_a_bad_command_line_ends_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--json", "--csv"], ["--xml"], ["today"]):
        with pytest.raises(SystemExit) as ended:
            stats.main(arguments)
        assert ended.value.code == 2
    capsys.readouterr()


def test_the_program_knows_the_command(capsys: pytest.CaptureFixture[str], state: Path) -> None:
    pytest.importorskip("kivy")
    from kiosk.__main__ import main

    assert main(["stats", "--state", str(state), "--csv"]) == 0
    assert capsys.readouterr().out.startswith("preset,grade,games,")
