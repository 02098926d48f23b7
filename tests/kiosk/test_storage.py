from __future__ import annotations

import dataclasses
import errno
import logging
import os
import shutil
import sqlite3
import threading
from pathlib import Path
from random import Random

import pytest

from kiosk import service_wording, statefile
from kiosk.dealer import PoolDealer
from kiosk.errorlog import ErrorLog
from kiosk.overrides import Overrides
from kiosk.service_desk import ServiceDesk
from kiosk.sessiontypes import Saved
from kiosk.settings import Settings
from kiosk.statefile import FILE_NAME, SCHEMA_VERSION
from kiosk.statistics import Result
from kiosk.storage import Storage
from kiosk.texts import Texts
from tests.kiosk import nofile

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


@pytest.mark.parametrize("kind", nofile.KINDS)
def test_what_is_no_file_is_set_aside(tmp_path: Path, kind: str) -> None:
    nofile.put(tmp_path / FILE_NAME, kind)
    storage = Storage(tmp_path)
    assert "is no file; it was set aside as state.sqlite.bad-1" in storage.problems[0]
    storage.save(SAVED)
    assert storage.close()
    assert len(storage.problems) == 1
    assert os.path.lexists(tmp_path / f"{FILE_NAME}.bad-1")
    again = Storage(tmp_path)
    assert again.saved == SAVED
    again.close()


def test_somebody_elses_database_is_set_aside(tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / FILE_NAME)
    db.execute("CREATE TABLE holiday (photo)")
    db.close()
    storage = Storage(tmp_path)
    assert "not a database of this program" in storage.problems[0]
    storage.close()
    assert rows(tmp_path / f"{FILE_NAME}.bad-1", "holiday") == []


@pytest.mark.parametrize(
    ("change", "name"),
    [
        # The first was found by damage at random: no lost game was ever counted again.
        ("UPDATE sqlite_master SET sql = replace(sql, '''lost''', '''game''')", "results"),
        ("UPDATE sqlite_master SET sql = replace(sql, 'id = 1', 'id = 7')", "saved"),
        ("UPDATE sqlite_master SET sql = replace(sql, 'why TEXT', 'who TEXT')", "set_aside"),
        ("CREATE TRIGGER none BEFORE INSERT ON results BEGIN SELECT raise(IGNORE); END", "none"),
        ("CREATE UNIQUE INDEX once ON results (preset)", "once"),
        ("ALTER TABLE results ADD COLUMN mood TEXT NOT NULL DEFAULT 'fair'", "results"),
    ],
)
def test_a_database_with_other_rules_is_set_aside(tmp_path: Path, change: str, name: str) -> None:
    storage = Storage(tmp_path)
    storage.record(RESULT)
    storage.close()
    db = sqlite3.connect(storage.path)
    db.execute("PRAGMA writable_schema=ON")
    db.execute(change)
    db.commit()
    db.close()
    again = Storage(tmp_path)
    assert f"what it says of '{name}' is not as it was made" in again.problems[0]
    for outcome in ("won", "lost", "abandoned"):
        again.record(dataclasses.replace(RESULT, outcome=outcome))
    again.save(SAVED)
    assert again.close()
    assert len(again.problems) == 1
    assert len(rows(storage.path, "results")) == 3
    assert (tmp_path / f"{FILE_NAME}.bad-1").exists()


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


@pytest.mark.parametrize("with_log", [False, True], ids=["alone", "with a log of its own"])
def test_a_backup_that_is_put_back_while_playing_is_gone_on_with(
    tmp_path: Path, with_log: bool
) -> None:
    before = Storage(tmp_path / "before")
    # Large enough that pages of another database would be found in it.
    for number in range(1_000):
        before.record(dataclasses.replace(RESULT, number=number))
    before.save(dataclasses.replace(SAVED, hints=77))
    assert before.flush()
    backup = tmp_path / "backup"
    if with_log:
        shutil.copytree(tmp_path / "before", backup, ignore=shutil.ignore_patterns("*-shm"))
        assert (backup / f"{FILE_NAME}-wal").exists()
    assert before.close()
    if not with_log:
        shutil.copytree(tmp_path / "before", backup)
    storage = Storage(tmp_path / "state")
    for number in range(2_000, 2_030):
        storage.record(dataclasses.replace(RESULT, number=number))
        assert storage.flush()
    for path in sorted(backup.iterdir()):
        # As tar does it: under a name of its own, which takes the place of the other.
        shutil.copy(path, tmp_path / "unpacked")
        (tmp_path / "unpacked").replace(tmp_path / "state" / path.name)
    later = dataclasses.replace(SAVED, hints=9)
    storage.save(later)
    storage.record(dataclasses.replace(RESULT, number=3_000))
    assert storage.flush()
    assert "has been replaced" in storage.problems[0]
    assert storage.close()
    again = Storage(tmp_path / "state")
    assert again.problems == []
    assert again.saved == later
    assert again.close()
    numbers = [row[3] for row in rows(again.path, "results")]
    assert numbers == [*range(1_000), 3_000]
    (aside,) = rows(again.path, "set_aside")
    assert '"hints": 77' in str(aside[3])
    assert not list((tmp_path / "state").glob("*.bad-*"))


class Stubborn:
    """Opens a database after it has refused so many times."""

    def __init__(self, refusals: int) -> None:
        self.refusals = refusals

    def connect(self, path: Path) -> sqlite3.Connection:
        if self.refusals:
            self.refusals -= 1
            raise OSError(errno.EIO, "Input/output error")
        return statefile.connect(path)


def test_however_long_it_failed_it_is_tried_again_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kiosk.storage.FIRST_RETRY", 0.001)
    monkeypatch.setattr("kiosk.storage.LAST_RETRY", 0.004)
    # Were each pause twice the one before, the last would be of years.
    storage = Storage(tmp_path, connect=Stubborn(40).connect)
    storage.save(SAVED)
    assert storage.flush(60)
    assert storage.close()


def test_after_it_has_worked_the_pauses_begin_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kiosk.storage.FIRST_RETRY", 0.001)
    monkeypatch.setattr("kiosk.storage.LAST_RETRY", 1e6)
    disk = Stubborn(10)
    storage = Storage(tmp_path, connect=disk.connect)
    storage.save(SAVED)
    assert storage.flush(60)
    disk.refusals = 10
    shutil.rmtree(tmp_path)
    storage.save(SAVED)
    # Were they gone on with, the last would be of half an hour.
    assert storage.flush(60)
    assert storage.close()


def test_a_file_that_stays_in_its_place_is_opened_once(tmp_path: Path) -> None:
    opened = []

    def connect(path: Path) -> sqlite3.Connection:
        opened.append(path)
        return statefile.connect(path)

    storage = Storage(tmp_path, connect=connect)
    for number in range(5):
        storage.record(dataclasses.replace(RESULT, number=number))
        assert storage.flush()
    assert storage.forget_results().exists()
    storage.save(SAVED)
    assert storage.flush()
    assert len(opened) == 1
    assert storage.problems == []
    assert storage.close()


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


def hot(folder: Path, saves: int = 12) -> dict[str, bytes]:
    """The database and its log as a kill leaves them, after so many saves."""
    storage = Storage(folder)
    for count in range(saves):
        storage.save(dataclasses.replace(SAVED, hints=count))
        assert storage.flush()
    found = {
        path.name: path.read_bytes() for path in folder.iterdir() if not path.name.endswith("-shm")
    }
    assert set(found) == {FILE_NAME, f"{FILE_NAME}-wal"}
    storage.close()
    return found


@pytest.mark.parametrize("harm", ["flip", "cut", "zeros"])
def test_damage_of_the_log_costs_what_is_behind_it_at_most(tmp_path: Path, harm: str) -> None:
    found = hot(tmp_path / "good")
    log = found[f"{FILE_NAME}-wal"]
    for place in range(5, len(log), 1_571):
        case = tmp_path / "case"
        case.mkdir()
        damaged = bytearray(log)
        if harm == "flip":
            damaged[place] ^= 0x40
        elif harm == "cut":
            del damaged[place:]
        else:
            damaged[place : place + 512] = bytes(len(damaged[place : place + 512]))
        (case / FILE_NAME).write_bytes(found[FILE_NAME])
        (case / f"{FILE_NAME}-wal").write_bytes(damaged)
        storage = Storage(case)
        if storage.saved is not None:
            assert storage.saved == dataclasses.replace(SAVED, hints=storage.saved.hints)
        storage.save(SAVED)
        assert storage.close(), (harm, place)
        again = Storage(case)
        assert again.saved == SAVED
        assert again.problems == []
        again.close()
        shutil.rmtree(case)


def test_a_database_cut_anywhere_is_set_aside_or_whole(tmp_path: Path) -> None:
    storage = Storage(tmp_path / "good")
    storage.save(SAVED)
    storage.close()
    sound = (tmp_path / "good" / FILE_NAME).read_bytes()
    for size in (0, 1, 15, 16, 99, 100, 511, 512, 4095, 4096, 4097, 8192):
        case = tmp_path / str(size)
        case.mkdir()
        (case / FILE_NAME).write_bytes(sound[:size])
        storage = Storage(case)
        assert storage.saved is None
        assert bool(storage.problems) is (size > 0)
        storage.save(SAVED)
        assert storage.close()
        assert Storage(case).saved == SAVED
        for aside in case.glob("*.bad-1"):
            assert aside.read_bytes() == sound[:size]


def test_a_newer_database_is_set_aside_with_its_log_untouched(tmp_path: Path) -> None:
    folder = tmp_path / "newer"
    storage = Storage(folder)
    storage.save(SAVED)
    assert storage.flush()
    db = sqlite3.connect(storage.path)
    db.execute(f"PRAGMA user_version={SCHEMA_VERSION + 1}")
    found = {path.name: path.read_bytes() for path in folder.iterdir()}
    db.close()
    storage.close()
    case = tmp_path / "case"
    case.mkdir()
    for name in (FILE_NAME, f"{FILE_NAME}-wal"):
        (case / name).write_bytes(found[name])
    again = Storage(case)
    assert "newer version" in again.problems[0]
    again.save(dataclasses.replace(SAVED, hints=5))
    assert again.close()
    assert (case / f"{FILE_NAME}.bad-1").read_bytes() == found[FILE_NAME]
    assert (case / f"{FILE_NAME}.bad-1-wal").read_bytes() == found[f"{FILE_NAME}-wal"]
    assert Storage(case).saved == dataclasses.replace(SAVED, hints=5)


def test_a_journal_goes_with_its_database(tmp_path: Path) -> None:
    """Left behind, it would be rolled back into the new database."""
    (tmp_path / FILE_NAME).write_bytes(b"not a database at all" * 100)
    (tmp_path / f"{FILE_NAME}-journal").write_bytes(b"and no journal" * 50)
    storage = Storage(tmp_path)
    storage.save(SAVED)
    assert storage.close()
    assert not (tmp_path / f"{FILE_NAME}-journal").exists()
    assert Storage(tmp_path).saved == SAVED


def test_companions_that_were_renamed_before_a_cut_wait_for_their_file(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"bad" * 1000)
    (tmp_path / f"{FILE_NAME}.bad-1-wal").write_bytes(b"its log")
    assert statefile.set_aside(tmp_path / FILE_NAME).name == f"{FILE_NAME}.bad-1"
    (tmp_path / FILE_NAME).write_bytes(b"worse")
    (tmp_path / f"{FILE_NAME}-wal").write_bytes(b"another log")
    assert statefile.set_aside(tmp_path / FILE_NAME).name == f"{FILE_NAME}.bad-2"
    assert (tmp_path / f"{FILE_NAME}.bad-1-wal").read_bytes() == b"its log"


def test_a_copy_that_does_not_fit_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = Storage(tmp_path)
    storage.record(RESULT)
    assert storage.flush()

    def full(folder: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(statefile, "sync_folder", full)
    with pytest.raises(OSError, match="No space"):
        storage.forget_results()
    assert not list(tmp_path.glob("*.reset-*"))
    assert len(rows(storage.path, "results")) == 1, "nothing is forgotten"
    storage.close()


def test_a_database_damaged_while_it_is_open_loses_nothing_that_waits(tmp_path: Path) -> None:
    storage = Storage(tmp_path)
    db = sqlite3.connect(storage.path)
    db.execute("DROP TABLE results")
    db.close()
    storage.record(RESULT)
    storage.save(SAVED)
    assert storage.flush(10)
    assert storage.close()
    assert len(rows(storage.path, "results")) == 1
    assert len(list(tmp_path.glob("*.bad-1"))) == 1


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


class Disk:
    """Opens a database as :func:`statefile.connect` does, unless the disk is full."""

    full = False

    def connect(self, path: Path) -> sqlite3.Connection:
        if self.full:
            raise OSError("No space left on device")
        return statefile.connect(path)


def test_a_disk_that_cannot_be_written_is_told_on_the_status_page_until_it_can(
    tmp_path: Path,
) -> None:
    disk = Disk()
    disk.full = True
    storage = Storage(tmp_path, connect=disk.connect)
    desk = ServiceDesk(
        Settings(),
        Overrides(tmp_path),
        storage=storage,
        dealer=PoolDealer(Random(1)),
        errors=ErrorLog(),
        post=lambda _command: None,
    )

    def shown() -> str | None:
        return dict(service_wording.fact_rows(Texts.load("en"), desk.facts())).get(
            "Nothing is kept now"
        )

    assert "No space left on device" in str(shown())
    disk.full = False
    storage.save(SAVED)
    assert storage.flush(60)
    assert shown() is None
    assert storage.close()


def test_where_no_copy_could_be_made_is_said_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"x" * 600)
    monkeypatch.delenv("RUNTIME_DIRECTORY", raising=False)
    caplog.set_level(logging.INFO)
    assert not statefile.look_into_copy(tmp_path / FILE_NAME, lambda _db: None)
    said = [record.getMessage() for record in caplog.records]
    assert any("from a copy in the temporary folder either" in line for line in said)
    assert any("from a copy in /dev/shm either" in line for line in said)
    assert not any("None" in line for line in said)
