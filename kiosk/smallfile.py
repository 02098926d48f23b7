"""Small JSON files in the state folder that survive a power cut.

Invariant: a file is either the old one or the new one, never half of each; one that cannot be read
is renamed, never deleted or overwritten.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from pathlib import Path
from typing import Any, Final

log = logging.getLogger(__name__)

#: A file larger than this is not one of ours.
LARGEST: Final = 100_000


def read(path: Path) -> Any:
    """What the file holds; None when there is none or when it was set aside."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            set_aside(path, "it is too large")
            return None
        return json.loads(data)
    except FileNotFoundError:
        return None
    except OSError as error:
        log.error("%s: cannot be read (%s)", path, error.strerror)  # noqa: TRY400
        return None
    except (ValueError, RecursionError) as error:
        set_aside(path, str(error))
        return None


def set_aside(path: Path, why: str) -> Path | None:
    """Rename a file to a name that is not taken, and say so; None when that fails."""
    number = 1
    while (aside := path.with_name(f"{path.name}.bad-{number}")).exists():
        number += 1
    try:
        path.rename(aside)
    except OSError as error:
        log.error(  # noqa: TRY400
            "%s: %s; it cannot be set aside (%s)", path, why, error.strerror
        )
        return None
    log.error("%s: %s; it was set aside as %s", path, why, aside.name)
    return aside


def sync_folder(folder: Path) -> None:
    """Have the names in a folder safely on the disk before this returns.

    Raises:
        OSError: it could not be done.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, where they are missing, safely on the disk.

    Raises:
        OSError: it could not be done.
    """
    missing = [folder, *folder.parents]
    missing = missing[: next(n for n, path in enumerate(missing) if path.is_dir())]
    for path in reversed(missing):
        path.mkdir(exist_ok=True)
        # Or a power cut takes the folder away, with all that is safe in it.
        sync_folder(path.parent)


def write(path: Path, value: Any) -> bool:
    """Put ``value`` into the file, safely on the disk before this returns; whether that worked."""
    scratch = path.with_name(path.name + ".new")
    try:
        make_folder(path.parent)
        with scratch.open("wb") as file:
            file.write(json.dumps(value, indent=1, sort_keys=True).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        scratch.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        log.error("%s: cannot be written (%s)", path, error.strerror)  # noqa: TRY400
        return False
    return True


class Writer:
    """Writes small files on a thread of its own, for those who may not wait for a disk.

    Of several values that wait for the same file only the last is written.  It never raises: what
    cannot be written is said in the log, as :func:`write` does it.
    """

    def __init__(self) -> None:
        self._wake = threading.Condition()
        self._waiting: dict[Path, Any] = {}
        self._busy = False
        self._closing = False
        self._thread = threading.Thread(target=self._work, name="small files", daemon=True)
        self._thread.start()

    def put(self, path: Path, value: Any) -> None:
        """Have ``value`` written into the file; returns at once, and must not be changed later."""
        with self._wake:
            self._waiting.pop(path, None)
            self._waiting[path] = value
            self._wake.notify_all()

    def flush(self, timeout: float) -> bool:
        """Wait until nothing waits, at most ``timeout`` seconds; say whether that is so."""
        with self._wake:
            return self._wake.wait_for(lambda: not (self._waiting or self._busy), timeout)

    def close(self, timeout: float = 1.0) -> bool:
        """Write what waits and end, within ``timeout`` seconds; whether all is written."""
        with self._wake:
            self._closing = True
            self._wake.notify_all()
        self._thread.join(timeout)
        if self._thread.is_alive():
            log.error("what was changed in the service menu could not be written before the end")
        return not self._thread.is_alive()

    def _work(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._waiting or self._closing)
                if not self._waiting:
                    return
                path = next(iter(self._waiting))
                value = self._waiting.pop(path)
                self._busy = True
            try:
                write(path, value)
            except Exception:
                log.exception("%s: cannot be written", path)
            with self._wake:
                self._busy = False
                self._wake.notify_all()
