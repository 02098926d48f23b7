from __future__ import annotations

import dataclasses
import shutil
import sqlite3
import threading
from pathlib import Path

import pytest

from kiosk.sessiontypes import Saved
from kiosk.statefile import FILE_NAME, SCHEMA_VERSION
from kiosk.statistics import Result
from kiosk.storage import Storage

SAVED = Saved("game text", "three-pass", "D D", 12.5, 1, 2, "de", True, False)
RESULT = Result("three-pass", 7, "won", 40, 90.5, 0, 3, "hard")


def rows(path: Path, table: str) -> list[tuple[object, ...]]:
    db = sqlite3.connect(path)
    try:
        return db.execute(f"SELECT * FROM {table}").fetchall()
    finally:
        db.close()


def test_what_was_saved_is_there_again(tmp_path: Path) -> None:
    storage = Storage(tmp_path / "new" / "folder")
    assert storage.saved is None
    storage.save(SAVED)
    storage.record(RESULT)
    assert storage.close()
    again = Storage(tmp_path / "new" / "folder")
    assert again.saved == SAVED
    assert again.problems == []
    assert again.close()
    (row,) = rows(again.path, "results")
    assert row[2:] == ("three-pass", 7, "won", 40, 90.5, 0, 3, "hard", 0)
    assert again.statistics.of_grade("three-pass", "hard").best_seconds == 90.5


def test_a_save_is_on_the_disk_after_flush_without_a_close(tmp_path: Path) -> None:
    storage = Storage(tmp_path)
    storage.save(SAVED)
    assert storage.flush()
    # Another process that looks now, as after a kill, finds it.
    assert len(rows(storage.path, "saved")) == 1
    storage.close()


def test_the_latest_save_counts(tmp_path: Path) -> None:
    storage = Storage(tmp_path)
    for count in range(300):
        storage.save(dataclasses.replace(SAVED, hints=count))
    assert storage.close()
    assert Storage(tmp_path).saved == dataclasses.replace(SAVED, hints=299)


@pytest.mark.parametrize(
    "junk", [b"not a database at all" * 100, b"SQLite format 3\0" + b"x" * 5000]
)
def test_a_damaged_database_is_set_aside_and_said(tmp_path: Path, junk: bytes) -> None:
    path = tmp_path / FILE_NAME
    for count in (1, 2):
        path.write_bytes(junk)
        storage = Storage(tmp_path)
        assert storage.saved is None
        assert f"{FILE_NAME}.bad-{count}" in storage.problems[0]
        storage.save(SAVED)
        assert storage.close()
        aside = tmp_path / f"{FILE_NAME}.bad-{count}"
        assert aside.read_bytes() == junk, "never overwritten"
        assert Storage(tmp_path).saved == SAVED


def test_a_newer_database_is_set_aside_whole(tmp_path: Path) -> None:
    storage = Storage(tmp_path)
    storage.save(SAVED)
    storage.close()
    db = sqlite3.connect(storage.path)
    db.execute(f"PRAGMA user_version={SCHEMA_VERSION + 1}")
    db.close()
    again = Storage(tmp_path)
    assert again.saved is None
    assert "newer version" in again.problems[0]
    again.close()
    assert len(rows(tmp_path / f"{FILE_NAME}.bad-1", "saved")) == 1


def test_somebody_elses_database_is_set_aside(tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / FILE_NAME)
    db.execute("CREATE TABLE holiday (photo)")
    db.close()
    storage = Storage(tmp_path)
    assert "not a database of this program" in storage.problems[0]
    storage.close()
    assert rows(tmp_path / f"{FILE_NAME}.bad-1", "holiday") == []


def test_a_damaged_save_is_kept_aside_in_the_database(tmp_path: Path) -> None:
    storage = Storage(tmp_path)
    storage.save(SAVED)
    storage.close()
    db = sqlite3.connect(storage.path)
    db.execute("UPDATE saved SET text = '{\"game\": 5}'")
    db.commit()
    db.close()
    again = Storage(tmp_path)
    assert again.saved is None
    assert "saved game cannot be read" in again.problems[0]
    again.close()
    assert [row[3] for row in rows(storage.path, "set_aside")] == ['{"game": 5}']


def test_a_refused_save_is_kept_aside_in_the_database(tmp_path: Path) -> None:
    storage = Storage(tmp_path)
    storage.save(SAVED)
    storage.close()
    again = Storage(tmp_path)
    again.refuse_saved("its moves do not fit")
    again.close()
    (row,) = rows(storage.path, "set_aside")
    assert row[2] == "its moves do not fit"
    assert "game text" in str(row[3])
    assert Storage(tmp_path).saved is None


def test_without_a_folder_the_game_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    storage = Storage(tmp_path / "file" / "state")
    assert "nothing is kept for now" in storage.problems[0]
    storage.save(SAVED)
    storage.record(RESULT)
    assert not storage.close(), "and it is not claimed that anything was kept"


def test_a_folder_that_comes_back_is_used(tmp_path: Path) -> None:
    way = tmp_path / "file"
    way.write_text("in the way")
    storage = Storage(way / "state")
    storage.save(SAVED)
    assert not storage.flush(0.2)
    way.unlink()
    assert storage.flush(20)
    assert storage.close()
    assert Storage(way / "state").saved == SAVED


def test_a_folder_that_is_removed_while_playing_is_made_again(tmp_path: Path) -> None:
    storage = Storage(tmp_path / "state")
    storage.save(SAVED)
    assert storage.flush()
    shutil.rmtree(tmp_path / "state")
    later = dataclasses.replace(SAVED, hints=9)
    storage.save(later)
    assert storage.flush()
    assert "has been removed" in storage.problems[0]
    assert storage.close()
    assert Storage(tmp_path / "state").saved == later


def test_no_damaged_byte_stops_the_start_or_the_next_save(tmp_path: Path) -> None:
    folder = tmp_path / "good"
    storage = Storage(folder)
    storage.save(SAVED)
    storage.record(RESULT)
    assert storage.close()
    sound = (folder / FILE_NAME).read_bytes()
    # The first page holds the header and the schema: there the most can go wrong.
    for count, place in enumerate((*range(0, 4096, 64), *range(4096, len(sound), 128))):
        for flip in (0xFF, 0x80) if place < 4096 else (0xFF,):
            case = tmp_path / f"{count}-{flip}"
            case.mkdir()
            damaged = bytearray(sound)
            damaged[place] ^= flip
            (case / FILE_NAME).write_bytes(damaged)
            storage = Storage(case)
            storage.save(SAVED)
            storage.record(RESULT)
            assert storage.close(), (place, flip)
            again = Storage(case)
            assert again.saved == SAVED, (place, flip)
            assert again.close()
            for aside in case.glob("*.bad-1"):
                assert aside.read_bytes() == bytes(damaged), "never overwritten"
            shutil.rmtree(case)


def test_a_result_that_cannot_be_kept_costs_only_itself(tmp_path: Path) -> None:
    storage = Storage(tmp_path)
    storage.record(dataclasses.replace(RESULT, hints=10**30))
    storage.record(dataclasses.replace(RESULT, seconds=float("nan")))
    storage.record(RESULT)
    storage.save(SAVED)
    assert storage.flush()
    assert storage.close()
    assert len([p for p in storage.problems if "result cannot be kept" in p]) == 2
    assert len(rows(storage.path, "results")) == 1
    assert Storage(tmp_path).saved == SAVED


def test_a_database_without_its_tables_is_begun_anew(tmp_path: Path) -> None:
    storage = Storage(tmp_path)
    db = sqlite3.connect(storage.path)
    db.execute("DROP TABLE saved")
    db.close()
    storage.save(SAVED)
    assert storage.flush(10)
    assert storage.close()
    assert any("set aside as" in problem for problem in storage.problems)
    assert Storage(tmp_path).saved == SAVED


@pytest.mark.parametrize(
    "change", [{"seconds": -1}, {"seconds": 1e300}, {"hints": -1}, {"undos": 10**30}]
)
def test_a_save_that_claims_the_impossible_is_set_aside(
    tmp_path: Path, change: dict[str, float]
) -> None:
    storage = Storage(tmp_path)
    storage.save(dataclasses.replace(SAVED, **change))  # type: ignore[arg-type]
    assert storage.close()
    again = Storage(tmp_path)
    assert again.saved is None
    assert "saved game cannot be read" in again.problems[0]
    assert again.close()
    assert len(rows(again.path, "set_aside")) == 1


class FailingConnection(sqlite3.Connection):
    """Fails its first inserts, like a disk that is full for a while."""

    failures = 0
    failed = threading.Event()

    def execute(self, sql: str, *args: object) -> sqlite3.Cursor:  # type: ignore[override]
        if sql.startswith("INSERT") and type(self).failures > 0:
            type(self).failures -= 1
            if type(self).failures == 0:
                type(self).failed.set()
            raise sqlite3.OperationalError("database or disk is full")
        return super().execute(sql, *args)


def test_a_full_disk_is_said_once_and_tried_again(tmp_path: Path) -> None:
    FailingConnection.failures = 1
    FailingConnection.failed.clear()
    storage = Storage(
        tmp_path,
        connect=lambda path: sqlite3.connect(
            path, factory=FailingConnection, check_same_thread=False
        ),
    )
    storage.record(RESULT)
    assert FailingConnection.failed.wait(10)
    storage.save(SAVED)
    assert storage.flush(10)
    assert [p for p in storage.problems if "disk is full" in p] == storage.problems
    assert len(storage.problems) == 1
    storage.close()
    assert len(rows(storage.path, "results")) == 1
    assert Storage(tmp_path).saved == SAVED
