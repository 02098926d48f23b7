"""Small files: whole or not at all, and written by a thread that nobody waits for."""

from __future__ import annotations

import errno
import threading
from pathlib import Path
from typing import Any

import pytest

from kiosk import smallfile
from kiosk.overrides import Overrides
from kiosk.service_desk import keep_failures, kept_failures
from kiosk.settings import Settings
from tests.kiosk import nofile


def test_what_was_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "file.json"
    assert smallfile.read(path) is None
    assert smallfile.write(path, {"a": 1})
    assert smallfile.read(path) == {"a": 1}
    assert [kept.name for kept in path.parent.iterdir()] == ["file.json"]


def test_a_folder_behind_a_file_is_said_and_not_made(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    assert not smallfile.write(tmp_path / "file" / "below" / "file.json", 1)
    assert "cannot be written" in caplog.text
    assert (tmp_path / "file").read_text() == "in the way"


class SlowDisk:
    """Stands in for the writing, and holds it up until it is told to go on."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.go_on = threading.Event()
        self.written: list[tuple[str, Any]] = []

    def save(self, path: Path, value: Any) -> None:
        self.begun.set()
        assert self.go_on.wait(60)
        self.written.append((path.name, value))


def test_nobody_waits_and_only_the_last_value_of_a_file_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = SlowDisk()
    monkeypatch.setattr(smallfile, "save", disk.save)
    writer = smallfile.Writer()
    writer.put(tmp_path / "a", 1)
    assert disk.begun.wait(60)
    for value in (2, 3, 4):
        writer.put(tmp_path / "a", value)
    writer.put(tmp_path / "b", 5)
    assert not writer.flush(0.01)
    assert not writer.close(0.01)
    disk.go_on.set()
    assert writer.flush(60)
    assert writer.close(60)
    assert disk.written == [("a", 1), ("a", 4), ("b", 5)]


def test_a_write_that_goes_wrong_costs_only_itself(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    writer = smallfile.Writer()
    writer.put(tmp_path / "a", object())
    writer.put(tmp_path / "b", 2)
    assert writer.close(60)
    assert smallfile.read(tmp_path / "b") == 2
    assert "cannot be written" in caplog.text


class FullDisk:
    """Stands in for the writing of one file, which fails so many times."""

    def __init__(self, name: str, times: int) -> None:
        self._name = name
        self.left = times
        self._save = smallfile.save

    def save(self, path: Path, value: Any) -> None:
        if path.name == self._name and self.left:
            self.left -= 1
            raise OSError(errno.ENOSPC, "No space left on device")
        self._save(path, value)


def test_what_cannot_be_written_is_kept_and_written_when_the_disk_works_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    disk = FullDisk("a", 3)
    monkeypatch.setattr(smallfile, "save", disk.save)
    writer = smallfile.Writer(first_retry=0.01)
    writer.put(tmp_path / "a", 1)
    writer.put(tmp_path / "b", 2)
    assert writer.flush(60)
    assert disk.left == 0
    assert smallfile.read(tmp_path / "a") == 1
    assert smallfile.read(tmp_path / "b") == 2
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        (
            "ERROR",
            f"{tmp_path / 'a'}: cannot be written (No space left on device); it is tried again",
        ),
        ("WARNING", f"{tmp_path / 'a'}: is being written again"),
    ]
    assert writer.close(60)


def test_however_long_it_failed_it_is_tried_again_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = FullDisk("a", 40)
    monkeypatch.setattr(smallfile, "save", disk.save)
    monkeypatch.setattr(smallfile, "LAST_RETRY", 0.004)
    # Were each pause twice the one before, the last would be of years.
    writer = smallfile.Writer(first_retry=0.001)
    writer.put(tmp_path / "a", 1)
    assert writer.flush(60)
    assert smallfile.read(tmp_path / "a") == 1
    assert writer.close(60)


def test_a_value_that_came_while_another_failed_takes_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = SlowDisk()

    def save(path: Path, value: Any) -> None:
        disk.save(path, value)
        if value == 1:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(smallfile, "save", save)
    # Nothing is tried again by itself in the time that this takes.
    writer = smallfile.Writer(first_retry=1e6)
    writer.put(tmp_path / "a", 1)
    assert disk.begun.wait(60)
    writer.put(tmp_path / "a", 2)
    disk.go_on.set()
    # And at the end it is tried once more.
    assert writer.close(60)
    assert disk.written == [("a", 1), ("a", 2)]


def test_what_can_never_be_written_does_not_hold_up_the_end_or_other_files(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a").mkdir()
    writer = smallfile.Writer(first_retry=1e6)
    writer.put(tmp_path / "a", 1)
    writer.put(tmp_path / "b", 2)
    assert not writer.flush(0.01) or (tmp_path / "b").exists()
    assert not writer.close(60)
    assert smallfile.read(tmp_path / "b") == 2
    assert "could not be written before the end" in caplog.text


@pytest.mark.parametrize("kind", nofile.KINDS)
def test_what_is_no_file_is_waited_for_by_nobody_and_set_aside(
    tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "a"
    nofile.put(path, kind)
    assert smallfile.read(path) is None
    assert "set aside as a.bad-1" in caplog.text
    assert [found.name for found in tmp_path.iterdir()] == ["a.bad-1"]
    assert smallfile.write(path, 1)
    assert smallfile.read(path) == 1


@pytest.fixture
def unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that says "old", of which the disk told nothing when it was asked first."""

    def fails(_path: Path) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    path = tmp_path / "a"
    assert smallfile.write(path, "old")
    with monkeypatch.context() as patched:
        patched.setattr(smallfile, "_content", fails)
        assert smallfile.read(path) is None
    return path


def test_what_could_not_be_read_is_not_written_over(tmp_path: Path, unread: Path) -> None:
    assert smallfile.write(unread, "new")
    assert smallfile.write(unread, "newer")
    assert smallfile.read(unread) == "newer"
    assert smallfile.read(tmp_path / "a.bad-1") == "old"
    assert len(list(tmp_path.iterdir())) == 2


def test_what_could_not_be_read_first_and_then_could_is_written_over(
    tmp_path: Path, unread: Path
) -> None:
    assert smallfile.read(unread) == "old"
    assert smallfile.write(unread, "new")
    assert [found.name for found in tmp_path.iterdir()] == ["a"]


def test_the_service_menu_hands_its_files_to_the_writer(tmp_path: Path) -> None:
    writer = smallfile.Writer()
    overrides = Overrides(tmp_path, writer.put)
    for volume in (0.1, 0.2, 0.3):
        overrides.change(Settings(), "sound.volume", volume)
    keep_failures(tmp_path, 4, writer.put)
    assert writer.close(60)
    assert Overrides(tmp_path).values == {"sound.volume": 0.3}
    assert kept_failures(tmp_path) == 4
