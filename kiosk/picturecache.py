"""Drawn pictures kept on disk, so that the next start need not draw them again.

Each is a file of its own, named after what it was drawn from: another version of the drawing has
another name, and a file is never out of date.  It begins with a digest of the rest.

Invariant: a cache is a convenience.  What is missing, damaged or out of reach is simply drawn
again, nothing here raises, and no more than :data:`MOST_FILES` files are kept.
"""

from __future__ import annotations

import hashlib
import logging
import os
import tempfile
from pathlib import Path
from typing import Final

log = logging.getLogger(__name__)

#: Changes when the way that pictures are drawn changes without their texts changing.
VERSION: Final = 1
#: A kiosk needs one or two decks; a display that is tried out in several ways needs a few.
MOST_FILES: Final = 8
#: Nothing that we draw comes near to this many bytes.
LARGEST_FILE: Final = 16 * 1024 * 1024

_SUFFIX: Final = ".picture"
_DIGEST: Final = hashlib.sha256().digest_size


class PictureCache:
    """Pictures in a folder.

    Args:
        folder: where they are kept; made when the first one is.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, drawn_from: str) -> bytes | None:
        """The picture drawn from a text, or None if it must be drawn."""
        path = self._path(drawn_from)
        try:
            with path.open("rb") as file:
                data = file.read(LARGEST_FILE + 1)
        except OSError:
            return None
        digest, picture = data[:_DIGEST], data[_DIGEST:]
        if hashlib.sha256(picture).digest() != digest:
            log.warning("%s is damaged: the picture is drawn again", path)
            return None
        return picture

    def put(self, drawn_from: str, picture: bytes) -> None:
        """Keep a picture; the oldest ones make room."""
        path = self._path(drawn_from)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            # Another name until it is whole: a power cut leaves the old file or none.
            handle, name = tempfile.mkstemp(suffix=".tmp", prefix=path.stem, dir=self._folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(hashlib.sha256(picture).digest() + picture)
                Path(name).replace(path)
            except OSError:
                Path(name).unlink(missing_ok=True)
                raise
            self._make_room(path)
        except OSError as error:
            log.warning("the picture cannot be kept for the next start (%s)", error)

    def _path(self, drawn_from: str) -> Path:
        name = hashlib.sha256(f"{VERSION}\n{drawn_from}".encode()).hexdigest()[:32]
        return self._folder / (name + _SUFFIX)

    def _make_room(self, newest: Path) -> None:
        """Remove what is too much, and what a power cut left unfinished."""
        others = [
            path
            for path in self._folder.iterdir()
            if path.suffix in {_SUFFIX, ".tmp"} and path != newest
        ]
        ages = {path: path.stat().st_mtime_ns for path in others}
        finished = sorted(
            (path for path in others if path.suffix == _SUFFIX), key=ages.__getitem__, reverse=True
        )
        unfinished = [path for path in others if path.suffix == ".tmp"]
        for path in (*finished[MOST_FILES - 1 :], *unfinished):
            path.unlink(missing_ok=True)
