"""Small JSON files in the state folder that survive a power cut.

Invariant: a file is either the old one or the new one, never half of each; one that cannot be read
is renamed, never deleted or overwritten.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import stat
import threading
import time
from pathlib import Path
from typing import Any, Final

log = logging.getLogger(__name__)

#: A file larger than this is not one of ours.
LARGEST: Final = 100_000
#: Seconds after a failed write until the next try; doubled each time up to the second figure.
FIRST_RETRY: Final = 1.0
LAST_RETRY: Final = 15.0
#: What opening says of something that is no file.
_NO_FILE: Final = {errno.EISDIR, errno.ELOOP, errno.ENXIO}
#: Files that are there and could not be read, whatever is in them: that may be good.
_unread: set[Path] = set()


def read(path: Path) -> Any:
    """What the file holds; None when there is none or when it was set aside."""
    _unread.discard(path)
    try:
        return json.loads(_content(path))
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno in _NO_FILE:
            # Nothing could ever be written in its place.
            set_aside(path, "it is no file")
        else:
            log.error("%s: cannot be read (%s)", path, error.strerror)  # noqa: TRY400
            _unread.add(path)
        return None
    except (ValueError, RecursionError) as error:
        set_aside(path, str(error))
        return None


def _content(path: Path) -> bytes:
    # A pipe that lies there would be waited at for good, and the kiosk would never begin.
    with open(path, "rb", opener=_without_waiting) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("it is no file")
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise ValueError("it is too large")
    return data


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)


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


def save(path: Path, value: Any) -> None:
    """Put ``value`` into the file, safely on the disk before this returns.

    What could not be read there is set aside before.

    Raises:
        OSError: it could not be done; the file is as it was.
    """
    scratch = path.with_name(path.name + ".new")
    make_folder(path.parent)
    with scratch.open("wb") as file:
        file.write(json.dumps(value, indent=1, sort_keys=True).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
    if path in _unread:
        if path.exists() and set_aside(path, "it could not be read") is None:
            raise OSError(errno.EIO, "what lies there cannot be set aside")
        _unread.discard(path)
    scratch.replace(path)
    sync_folder(path.parent)


def write(path: Path, value: Any) -> bool:
    """The same; whether that worked, which the log tells otherwise."""
    try:
        save(path, value)
    except OSError as error:
        log.error("%s: cannot be written (%s)", path, error.strerror)  # noqa: TRY400
        return False
    return True


class Writer:
    """Writes small files on a thread of its own, for those who may not wait for a disk.

    Of several values that wait for the same file only the last is written.  It never raises: what
    cannot be written is said once, kept, and tried again now and then, and when it ends.

    Args:
        first_retry: seconds after a failed write until the next try.
    """

    def __init__(self, first_retry: float = FIRST_RETRY) -> None:
        self._first_retry = first_retry
        self._wake = threading.Condition()
        self._waiting: dict[Path, Any] = {}
        #: Of each file that could not be written: the pause after that, and when that is over.
        self._failing: dict[Path, tuple[float, float]] = {}
        #: The files that could not be written at the very end either.
        self._given_up: set[Path] = set()
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
        written = not self._thread.is_alive() and not self._waiting
        if not written:
            log.error("what was changed in the service menu could not be written before the end")
        return written

    def _work(self) -> None:
        while True:
            with self._wake:
                while (path := self._next()) is None:
                    if self._closing:
                        return
                    self._wake.wait(self._pause())
                value = self._waiting.pop(path)
                self._busy = True
            failure = None
            try:
                save(path, value)
            except OSError as error:
                failure = error
            except Exception:
                # It is no trouble of the disk, and would be the same another time.
                log.exception("%s: cannot be written", path)
            with self._wake:
                self._busy = False
                if failure is not None:
                    self._fails(path, value, failure)
                elif self._failing.pop(path, None) is not None:
                    log.warning("%s: is being written again", path)
                self._wake.notify_all()

    def _next(self) -> Path | None:
        """The file to write now; None when there is none."""
        now = time.monotonic()
        for path in self._waiting:
            if self._closing:
                if path not in self._given_up:
                    return path
            elif path not in self._failing or self._failing[path][1] <= now:
                return path
        return None

    def _pause(self) -> float | None:
        """Seconds until something is tried again; None when nothing waits for that."""
        now = time.monotonic()
        return min((max(0.0, self._failing[path][1] - now) for path in self._waiting), default=None)

    def _fails(self, path: Path, value: Any, error: OSError) -> None:
        """Keep what could not be written, unless something newer has come; say so once."""
        if path in self._failing:
            pause = min(2 * self._failing[path][0], LAST_RETRY)
        else:
            log.error("%s: cannot be written (%s); it is tried again", path, error.strerror)
            pause = self._first_retry
        self._failing[path] = (pause, time.monotonic() + pause)
        if path not in self._waiting:
            self._waiting[path] = value
            if self._closing:
                self._given_up.add(path)
