"""The cache of drawn pictures: whatever becomes of its files, a picture is right or drawn again."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiosk.picturecache import MOST_FILES, PictureCache


def files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


def test_a_picture_is_kept_under_what_it_was_drawn_from(tmp_path: Path) -> None:
    cache = PictureCache(tmp_path / "a" / "b")
    assert cache.get("<svg/>") is None
    cache.put("<svg/>", b"picture")
    assert cache.get("<svg/>") == b"picture"
    assert cache.get("<svg />") is None
    assert PictureCache(tmp_path / "a" / "b").get("<svg/>") == b"picture"
    cache.put("<svg/>", b"another")
    assert cache.get("<svg/>") == b"another"
    assert len(files(tmp_path / "a" / "b")) == 1


@given(st.data())
def test_a_damaged_file_is_no_picture(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    cache = PictureCache(tmp_path_factory.mktemp("cache"))
    cache.put("x", b"picture" * 20)
    (path,) = files(cache._folder)
    whole = path.read_bytes()
    where = data.draw(st.integers(0, len(whole) - 1))
    if data.draw(st.booleans()):
        damaged = whole[:where]
    else:
        flipped = whole[where] ^ (1 << data.draw(st.integers(0, 7)))
        damaged = whole[:where] + bytes([flipped]) + whole[where + 1 :]
    path.write_bytes(damaged)
    assert cache.get("x") is None
    cache.put("x", b"good")
    assert cache.get("x") == b"good"


def test_only_the_newest_pictures_are_kept(tmp_path: Path) -> None:
    cache = PictureCache(tmp_path)
    for number in range(MOST_FILES + 3):
        cache.put(str(number), b"%d" % number)
        for path in files(tmp_path):
            # Files made within one tick of the clock would be of one age.
            age = path.stat().st_mtime_ns - 1_000_000_000
            os.utime(path, ns=(age, age))
    kept = [number for number in range(MOST_FILES + 3) if cache.get(str(number)) is not None]
    assert kept == list(range(3, MOST_FILES + 3))


def test_what_a_power_cut_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "half.tmp").write_bytes(b"half")
    (tmp_path / "letter.txt").write_text("mine")
    PictureCache(tmp_path).put("x", b"picture")
    assert {path.suffix for path in files(tmp_path)} == {".picture", ".txt"}


@pytest.mark.parametrize("obstacle", ["file", "folder in the way", "gone"])
def test_a_folder_that_cannot_be_used_is_only_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, obstacle: str
) -> None:
    folder = tmp_path / "cache"
    if obstacle == "file":
        folder.write_text("not a folder")
    elif obstacle == "gone":
        folder = Path("/proc/no-such-folder")
    else:
        cache = PictureCache(folder)
        cache.put("x", b"picture")
        (path,) = files(folder)
        path.unlink()
        path.mkdir()
        (path / "inside").touch()
    cache = PictureCache(folder)
    with caplog.at_level(logging.WARNING):
        cache.put("x", b"picture")
    assert "cannot be kept" in caplog.text
    assert cache.get("x") is None
    assert not list(folder.glob("*.tmp") if folder.is_dir() else ())


def test_a_deck_from_the_cache_is_the_deck_that_was_drawn(kivy_window: Any, tmp_path: Path) -> None:
    from kiosk.art import FaceStyle
    from kiosk.faces import Faces

    cache = PictureCache(tmp_path)
    drawn = Faces(60, cache=cache)
    (path,) = files(tmp_path)
    written = path.stat().st_mtime_ns
    kept = Faces(60, cache=cache)
    assert path.stat().st_mtime_ns == written, "what is there is not written again"
    assert _pixels(drawn) == _pixels(kept)
    path.write_bytes(path.read_bytes()[:-1])
    assert _pixels(Faces(60, cache=cache)) == _pixels(drawn)
    Faces(60, FaceStyle(four_colour=True), cache)
    assert len(files(tmp_path)) == 2


def _pixels(faces: Any) -> bytes:
    from kivy.graphics import Fbo, Rectangle

    width, height = faces.card_size
    fbo = Fbo(size=(4 * width, height))
    with fbo:
        for i, name in enumerate(("TH", "KS", "back", "redeal")):
            Rectangle(pos=(i * width, 0), size=(width, height), texture=faces.regions[name])
    fbo.draw()
    return bytes(fbo.pixels)
