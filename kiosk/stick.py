"""Where exported files go: a USB stick that is plugged in, or the state folder.

Invariant: nothing is overwritten, no half of a file is left, and what is written is on the medium
before this returns, so that the stick may be pulled out at once.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final

log = logging.getLogger(__name__)

#: Where desktops, udisks and udev rules mount what is plugged in: there, or one folder below.
MOUNTED_AT: Final = (Path("/media"), Path("/run/media"))
#: What the files are called, before the moment.
STEM: Final = "pyramid-kiosk"
FOLDER: Final = "export"


def sticks(
    roots: Sequence[Path] = MOUNTED_AT, is_mount: Callable[[Path], bool] = os.path.ismount
) -> Iterator[Path]:
    """What is mounted there and can be written, by name."""
    for root in roots:
        for folder in _folders(root):
            for candidate in (folder, *_folders(folder)):
                if is_mount(candidate) and os.access(candidate, os.W_OK):
                    yield candidate


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(entry for entry in folder.iterdir() if entry.is_dir())
    except OSError:
        return []


def save(
    texts: Mapping[str, str],
    state: Path,
    *,
    now: datetime,
    found: Callable[[], Iterator[Path]] = sticks,
) -> tuple[Path, bool]:
    """Write each text into a file, on the first stick that takes it, or into the state folder.

    Args:
        texts: by file ending, like ``csv``.
        state: the state folder.
        now: for the files' names.
        found: finds the sticks.

    Returns:
        the folder that the files are in, and whether that is a stick.

    Raises:
        OSError: not even the state folder can be written.
    """
    for stick in found():
        try:
            _write(texts, stick, now)
        except OSError as error:
            log.warning("%s: cannot be written (%s)", stick, error.strerror)
        else:
            return stick, True
    folder = state / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    _write(texts, folder, now)
    return folder, False


def _write(texts: Mapping[str, str], folder: Path, now: datetime) -> None:
    """Write all texts, or leave nothing behind: half a table looks like a whole one."""
    begun: list[Path] = []
    try:
        _write_each(texts, folder, now, begun)
    except OSError:
        for path in begun:
            with suppress(OSError):
                path.unlink()
        raise


def _write_each(texts: Mapping[str, str], folder: Path, now: datetime, begun: list[Path]) -> None:
    stem = f"{STEM}-{now:%Y-%m-%d-%H%M%S}"
    taken = 1
    while any((folder / f"{stem}.{ending}").exists() for ending in texts):
        taken += 1
        stem = f"{STEM}-{now:%Y-%m-%d-%H%M%S}-{taken}"
    for ending, text in texts.items():
        path = folder / f"{stem}.{ending}"
        with path.open("x", encoding="utf-8", newline="") as file:
            begun.append(path)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
