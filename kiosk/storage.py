"""The kiosk's memory: the running game and the finished ones, in one SQLite database.

Writing happens on a thread of its own, so that a slow card never holds up a frame.  Each save is
one transaction, synced to the disk; a save that is still waiting is replaced by the next one.
After a power cut the game therefore stands where the last finished write left it: at most the
moves of the one write that was under way are missing.

Invariant: nothing here raises into the game.  A database that cannot be used is renamed, never
deleted or overwritten, and what went wrong is in :attr:`Storage.problems`.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Final

import msgspec

from kiosk.sessiontypes import Saved
from kiosk.statistics import Result, Statistics

log = logging.getLogger(__name__)

FILE_NAME: Final = "state.sqlite"
SCHEMA_VERSION: Final = 1
#: Seconds after a failed write until the next try; doubled each time up to the second figure.
FIRST_RETRY: Final = 1.0
LAST_RETRY: Final = 60.0
#: Results that could not be written are kept up to this many.
MOST_WAITING: Final = 1000

_SCHEMA: Final = """
CREATE TABLE saved (id INTEGER PRIMARY KEY CHECK (id = 1), text TEXT NOT NULL) STRICT;
CREATE TABLE results (
    id INTEGER PRIMARY KEY, ended TEXT NOT NULL DEFAULT (datetime('now')),
    preset TEXT NOT NULL, number INTEGER,
    outcome TEXT NOT NULL CHECK (outcome IN ('won', 'lost', 'abandoned')),
    moves INTEGER NOT NULL, seconds REAL NOT NULL, hints INTEGER NOT NULL, undos INTEGER NOT NULL,
    grade TEXT, daily INTEGER NOT NULL
) STRICT;
CREATE TABLE set_aside (
    id INTEGER PRIMARY KEY, at TEXT NOT NULL DEFAULT (datetime('now')),
    why TEXT NOT NULL, text TEXT NOT NULL
) STRICT;
"""


class _Forget:
    """A request to forget the results, and how it ended."""

    def __init__(self) -> None:
        self.finished = threading.Event()
        self.copy: Path | None = None
        self.error: Exception | None = None


class UnusableError(Exception):
    """A database file that this program cannot use; the message says why."""


class Storage:
    """The open memory of a kiosk.

    Args:
        folder: where the database lies; made if missing.

    Attributes:
        problems: one sentence for each thing that went wrong, for the log and the service menu.
        saved: the game that was under way, or None.
        statistics: the games that ended before.
    """

    def __init__(
        self, folder: Path, *, connect: Callable[[Path], sqlite3.Connection] | None = None
    ) -> None:
        self.path = folder / FILE_NAME
        self.problems: list[str] = []
        self.saved: Saved | None = None
        self.statistics = Statistics()
        self._connect = connect or _connect
        self._wake = threading.Condition()
        self._saved_waiting: Saved | None = None
        self._results_waiting: deque[Result] = deque(maxlen=MOST_WAITING)
        self._asides_waiting: deque[tuple[str, str]] = deque(maxlen=MOST_WAITING)
        self._forget_waiting: _Forget | None = None
        self._busy = False
        self._closing = False
        self._db = self._open()
        self._thread = threading.Thread(target=self._write_all, name="storage", daemon=True)
        self._thread.start()

    # -- opening --------------------------------------------------------------------------------

    def _open(self) -> sqlite3.Connection | None:
        folder = self.path.parent
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self._problem_once(
                f"{folder}: cannot be made ({error.strerror}); nothing is kept for now"
            )
            return None
        db = None
        try:
            db = self._connect(self.path)
            self._prepare(db)
        except Exception as error:
            # A damaged file makes sqlite3 raise whatever it likes, decoding errors included.
            if db is not None:
                db.close()
            if _is_passing(error):
                self._problem_once(
                    f"{self.path}: cannot be used ({error}); nothing is kept for now"
                )
                return None
            aside = self._set_aside()
            if aside is None:
                return None
            self._problem(f"{self.path}: {_why(error)}; it was set aside as {aside.name}")
            return self._open_new()
        return db

    def _open_new(self) -> sqlite3.Connection | None:
        db = None
        try:
            db = self._connect(self.path)
            self._prepare(db)
        except (UnusableError, sqlite3.Error) as error:
            if db is not None:
                db.close()
            self._problem_once(f"{self.path}: cannot be made ({error}); nothing is kept for now")
            return None
        return db

    def _prepare(self, db: sqlite3.Connection) -> None:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version > SCHEMA_VERSION:
            raise UnusableError(f"was written by a newer version (schema {version})")
        verdict = db.execute("PRAGMA quick_check(1)").fetchone()[0]
        if verdict != "ok":
            raise UnusableError(f"is damaged ({verdict})")
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=FULL")
        if version == 0:
            if db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                raise UnusableError("is not a database of this program")
            db.executescript(f"BEGIN;{_SCHEMA}PRAGMA user_version={SCHEMA_VERSION};COMMIT;")
        self._read_results(db)
        # As bytes: a damaged text must be read to be set aside.
        row = db.execute("SELECT CAST(text AS BLOB) FROM saved").fetchone()
        if row is not None:
            self._read_saved(db, row[0])

    def _read_results(self, db: sqlite3.Connection) -> None:
        columns = "preset, number, outcome, moves, seconds, hints, undos, grade, daily"
        rows = db.execute(f"SELECT date(ended, 'localtime'), {columns} FROM results ORDER BY id")
        statistics = Statistics()
        unread = 0
        for day, *values in rows:
            try:
                statistics.add(Result(*values), date.fromisoformat(day))
            except (TypeError, ValueError):
                unread += 1
        if unread:
            self._problem(f"{self.path}: {unread} results cannot be read; they are passed over")
        self.statistics = statistics

    def _read_saved(self, db: sqlite3.Connection, text: bytes) -> None:
        try:
            self.saved = msgspec.json.decode(text, type=Saved)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            self._problem(f"{self.path}: the saved game cannot be read ({error}); set aside in it")
            with db:
                _put_aside(db, str(error), text.decode("utf-8", "backslashreplace"))
                db.execute("DELETE FROM saved")

    def _set_aside(self) -> Path | None:
        """Rename the database and its companions to a name that is not taken."""
        number = 1
        while (aside := self.path.with_name(f"{FILE_NAME}.bad-{number}")).exists():
            number += 1
        try:
            for suffix in ("-wal", "-shm"):
                companion = self.path.with_name(FILE_NAME + suffix)
                if companion.exists():
                    companion.rename(aside.with_name(aside.name + suffix))
            self.path.rename(aside)
        except OSError as error:
            self._problem(
                f"{self.path}: is damaged and cannot be set aside ({error.strerror}); "
                "nothing will be kept"
            )
            return None
        return aside

    def _problem(self, text: str) -> None:
        log.error("%s", text)
        self.problems.append(text)

    # -- what the game calls --------------------------------------------------------------------

    def save(self, saved: Saved) -> None:
        """Keep the running game.  Returns at once; only the latest waiting save is written."""
        with self._wake:
            self._saved_waiting = saved
            self._wake.notify_all()

    def record(self, result: Result) -> None:
        """Keep the result of a finished game.  Returns at once."""
        with self._wake:
            self._results_waiting.append(result)
            self._wake.notify_all()

    def refuse_saved(self, why: str) -> None:
        """Set the saved game aside: it was readable, but is no game."""
        if self.saved is None:
            return
        self._problem(f"{self.path}: the saved game is set aside: {why}")
        with self._wake:
            self._asides_waiting.append((why, _text(self.saved)))
            self._wake.notify_all()
        self.saved = None

    def forget_results(self, timeout: float = 30.0) -> Path:
        """Forget all finished games, after copying everything into a file beside this one.

        Waits until that is done; not for the main loop.

        Returns:
            the copy.

        Raises:
            OSError, sqlite3.Error: it could not be done; nothing is forgotten.
            TimeoutError: it was not done in time.
        """
        request = _Forget()
        with self._wake:
            self._forget_waiting = request
            self._wake.notify_all()
        if not request.finished.wait(timeout):
            with self._wake:
                if self._forget_waiting is request:
                    self._forget_waiting = None
            raise TimeoutError(f"{self.path}: not done within {timeout:.0f} s")
        if request.copy is None:
            raise request.error or OSError(f"{self.path}: is closed")
        return request.copy

    def flush(self, timeout: float = 5.0) -> bool:
        """Wait until everything is written, at most ``timeout`` seconds; say whether it is."""
        end = time.monotonic() + timeout
        with self._wake:
            while self._waiting or self._busy:
                left = end - time.monotonic()
                if left <= 0 or not self._thread.is_alive():
                    return False
                self._wake.wait(min(left, 0.2))
        return True

    def close(self, timeout: float = 5.0) -> bool:
        """Write what is waiting and close, within ``timeout`` seconds; say whether all is safe."""
        with self._wake:
            self._closing = True
            self._wake.notify_all()
        self._thread.join(timeout)
        return not self._thread.is_alive() and not self._waiting

    # -- the writing thread ---------------------------------------------------------------------

    @property
    def _waiting(self) -> bool:
        return (
            self._saved_waiting is not None
            or bool(self._results_waiting)
            or bool(self._asides_waiting)
            or self._forget_waiting is not None
        )

    def _write_all(self) -> None:
        retry = FIRST_RETRY
        while True:
            with self._wake:
                while not self._waiting and not self._closing:
                    self._wake.wait()
                if not self._waiting:
                    break
                saved, self._saved_waiting = self._saved_waiting, None
                results = list(self._results_waiting)
                asides = list(self._asides_waiting)
                self._results_waiting.clear()
                self._asides_waiting.clear()
                forget, self._forget_waiting = self._forget_waiting, None
                self._busy = True
            try:
                failure = self._write(saved, results, asides)
            except Exception:
                # Whatever it was, the next save must still be written: lose this one, say so.
                log.exception("a save was lost")
                self._problem_once(f"{self.path}: a save was lost, see the log")
                failure = None
            if forget is not None:
                self._forget(forget, failure)
            with self._wake:
                self._busy = False
                if failure is None:
                    retry = FIRST_RETRY
                else:
                    # Put it back, unless something newer has come.
                    self._saved_waiting = self._saved_waiting or saved
                    self._results_waiting.extendleft(reversed(results))
                    self._asides_waiting.extendleft(reversed(asides))
                self._wake.notify_all()
                if failure is not None:
                    if self._closing:
                        break
                    self._problem_once(failure)
                    self._wake.wait_for(lambda: self._closing, retry)
                    retry = min(retry * 2, LAST_RETRY)
        if self._db is not None:
            self._db.close()

    def _write(
        self, saved: Saved | None, results: list[Result], asides: list[tuple[str, str]]
    ) -> str | None:
        """Write one transaction; say what went wrong, if it is worth another try."""
        if self._db is not None and not self.path.exists():
            self._problem(f"{self.path}: has been removed; begun anew")
            self._db.close()
            self._db = None
        if self._db is None:
            # Not the one that was found at the start: that has been read, or could not be.
            kept = self.saved, self.statistics
            self._db = self._open()
            self.saved, self.statistics = kept
        if self._db is None:
            return f"{self.path}: still cannot be used; tried again"
        try:
            with self._db as db:
                for why, text in asides:
                    _put_aside(db, why, text)
                for result in results:
                    _insert(db, result)
                if saved is not None:
                    db.execute("INSERT OR REPLACE INTO saved VALUES (1, ?)", (_text(saved),))
        except (sqlite3.Error, OSError, OverflowError, ValueError) as error:
            if _is_passing(error):
                return f"{self.path}: cannot be written ({error}); tried again"
            return self._write_apart(saved, results, error)
        return None

    def _forget(self, request: _Forget, failure: str | None) -> None:
        """Copy the database, then delete the results; say how it went."""
        try:
            if failure is not None or self._db is None:
                raise OSError(failure or f"{self.path}: cannot be used")  # noqa: TRY301
            number = 1
            while (copy := self.path.with_name(f"{FILE_NAME}.reset-{number}")).exists():
                number += 1
            self._db.execute("VACUUM INTO ?", (str(copy),))
            with copy.open("rb") as file:
                os.fsync(file.fileno())
            with self._db as db:
                db.execute("DELETE FROM results")
            request.copy = copy
        except Exception as error:
            # Whoever waits for it is told; the thread goes on.
            request.error = error
        request.finished.set()

    def _write_apart(
        self, saved: Saved | None, results: list[Result], error: Exception
    ) -> str | None:
        """Write piece by piece after something in the whole could not be written at all."""
        self._problem_once(f"{self.path}: cannot be written as it is ({error})")
        for result in results:
            try:
                with self._connection as db:
                    _insert(db, result)
            except (sqlite3.Error, OverflowError, ValueError) as why:
                self._problem_once(f"{self.path}: a result cannot be kept ({why}): {result}")
        if saved is None:
            return None
        try:
            with self._connection as db:
                db.execute("INSERT OR REPLACE INTO saved VALUES (1, ?)", (_text(saved),))
        except sqlite3.Error as why:
            if _is_passing(why):
                return f"{self.path}: cannot be written ({why}); tried again"
            self._connection.close()
            self._db = None
            aside = self._set_aside()
            where = "" if aside is None else f" as {aside.name}"
            self._problem(f"{self.path}: cannot hold a game any more ({why}); set aside{where}")
            return f"{self.path}: begun anew"
        return None

    @property
    def _connection(self) -> sqlite3.Connection:
        assert self._db is not None
        return self._db

    def _problem_once(self, text: str) -> None:
        if text not in self.problems:
            self._problem(text)


#: What passes by itself, or when somebody puts the disk right: the file is not to blame.
_PASSING: Final = (
    "SQLITE_BUSY",
    "SQLITE_CANTOPEN",
    "SQLITE_FULL",
    "SQLITE_IOERR",
    "SQLITE_LOCKED",
    "SQLITE_NOMEM",
    "SQLITE_PERM",
    "SQLITE_READONLY",
)


def _is_passing(error: Exception) -> bool:
    if isinstance(error, OSError):
        return True
    name = getattr(error, "sqlite_errorname", "")
    return isinstance(error, sqlite3.Error) and name.startswith(_PASSING)


def _why(error: Exception) -> str:
    return str(error) if isinstance(error, UnusableError) else f"is damaged ({error})"


def _insert(db: sqlite3.Connection, result: Result) -> None:
    db.execute(
        "INSERT INTO results"
        " (preset, number, outcome, moves, seconds, hints, undos, grade, daily) VALUES"
        " (:preset, :number, :outcome, :moves, :seconds, :hints, :undos, :grade, :daily)",
        asdict(result),
    )


def _text(saved: Saved) -> str:
    return json.dumps(asdict(saved))


def _put_aside(db: sqlite3.Connection, why: str, text: str) -> None:
    db.execute("INSERT INTO set_aside (why, text) VALUES (?, ?)", (why, text))
    db.execute("DELETE FROM saved WHERE text = ?", (text,))


def _connect(path: Path) -> sqlite3.Connection:
    # The writing thread takes over the connection that the opening thread made.
    return sqlite3.connect(path, check_same_thread=False, timeout=2.0)
