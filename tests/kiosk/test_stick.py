"""Where exported files go: the first stick that takes them, or the state folder."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

import pytest

from kiosk import stick

NOW = datetime(2026, 12, 1, 9, 30, 5)
STEM = "pyramid-kiosk-2026-12-01-093005"
TEXTS = {"csv": "a,b\n", "json": "[]\n"}


def saved(tmp_path: Path, *found: Path) -> tuple[Path, bool]:
    return stick.save(TEXTS, tmp_path / "state", now=NOW, found=lambda: iter(found))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_first_stick_takes_both_files_and_nothing_is_overwritten(tmp_path: Path) -> None:
    plugged = tmp_path / "stick"
    plugged.mkdir()
    (plugged / f"{STEM}.csv").write_text("another kiosk's")
    assert saved(tmp_path, plugged) == (plugged, True)
    assert (plugged / f"{STEM}.csv").read_text() == "another kiosk's"
    assert (plugged / f"{STEM}-2.csv").read_text() == TEXTS["csv"]
    assert (plugged / f"{STEM}-2.json").read_text() == TEXTS["json"]
    assert not (tmp_path / "state").exists()


def test_without_a_stick_the_state_folder_takes_them(tmp_path: Path) -> None:
    folder = tmp_path / "state" / "export"
    assert saved(tmp_path) == (folder, False)
    assert saved(tmp_path, tmp_path / "pulled out") == (folder, False)
    assert len(names(folder)) == 4


def test_a_full_stick_is_left_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugged = tmp_path / "stick"
    plugged.mkdir()
    (plugged / "holiday.jpg").write_text("")
    synced = os.fsync

    def full(handle: int) -> None:
        # The second file does not fit: some file systems say so only now.
        if Path(f"/proc/self/fd/{handle}").readlink() == plugged / f"{STEM}.json":
            raise OSError(28, "No space left on device")
        synced(handle)

    monkeypatch.setattr(os, "fsync", full)
    assert saved(tmp_path, plugged) == (tmp_path / "state" / "export", False)
    assert names(plugged) == ["holiday.jpg"]


def test_only_what_is_mounted_and_can_be_written_is_a_stick(tmp_path: Path) -> None:
    media = tmp_path / "media"
    for name in ("pi/STICK", "usb0", "pi/only a folder"):
        (media / name).mkdir(parents=True)
    mounted = {media / "pi/STICK", media / "usb0"}
    found = stick.sticks((media, tmp_path / "missing"), mounted.__contains__)
    assert list(found) == [media / "pi/STICK", media / "usb0"]
