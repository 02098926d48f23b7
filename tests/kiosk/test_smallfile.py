"""Small files: whole or not at all, and written by a thread that nobody waits for."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from kiosk import smallfile
from kiosk.overrides import Overrides
from kiosk.service_desk import keep_failures, kept_failures
from kiosk.settings import Settings


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

    def write(self, path: Path, value: Any) -> bool:
        self.begun.set()
        assert self.go_on.wait(60)
        self.written.append((path.name, value))
        return True


def test_nobody_waits_and_only_the_last_value_of_a_file_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = SlowDisk()
    monkeypatch.setattr(smallfile, "write", disk.write)
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


def test_the_service_menu_hands_its_files_to_the_writer(tmp_path: Path) -> None:
    writer = smallfile.Writer()
    overrides = Overrides(tmp_path, writer.put)
    for volume in (0.1, 0.2, 0.3):
        overrides.change(Settings(), "sound.volume", volume)
    keep_failures(tmp_path, 4, writer.put)
    assert writer.close(60)
    assert Overrides(tmp_path).values == {"sound.volume": 0.3}
    assert kept_failures(tmp_path) == 4
