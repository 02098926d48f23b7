"""The kiosk's memory: the running game and the finished ones, in one SQLite database.

Writing happens on a thread of its own, so that a slow card never holds up a frame.  Each save is
one transaction, synced to the disk; a save that is still waiting is replaced by the next one.
After a power cut the game therefore stands where the last finished write left it: at most the
moves of the one write that was under way are missing.  ``docs/reliability.md`` has the promise in
full, and how it is tested.

Invariant: nothing here raises into the game.  A database that cannot be used is renamed, never
deleted or overwritten, and what went wrong is in :attr:`Storage.problems`.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Final

import msgspec

from kiosk import statefile
from kiosk.sessiontypes import Saved
from kiosk.smallfile import FIRST_RETRY, LAST_RETRY, make_folder
from kiosk.statefile import FILE_NAME, UnusableError, is_passing
from kiosk.statistics import Result, Statistics

log = logging.getLogger(__name__)

#: Results that could not be written are kept up to this many.
MOST_WAITING: Final = 1000
#: Sentences in :attr:`Storage.problems`; the oldest make room.
MOST_PROBLEMS: Final = 100


@dataclass(frozen=True)
class _Aside:
    """A game that cannot be gone on with.

    Attributes:
        why: the reason.
        text: what was found in the place of the saved game.
        clears: whether it gives up that place.
    """

    why: str
    text: str
    clears: bool = True


class _Forget:
    """A request to forget the results, and how it ended."""

    def __init__(self) -> None:
        self.finished = threading.Event()
        self.copy: Path | None = None
        self.error: Exception | None = None


class Storage:
    """The open memory of a kiosk.

    Args:
        folder: where the database lies; made if missing.

    Attributes:
        problems: one sentence for each thing that went wrong, for the log and the service menu.
        saved: the game that was under way, or None.
        statistics: the games that ended before.
        failing: why nothing is being written at this moment, or "".
    """

    def __init__(self, folder: Path, *, connect: statefile.Connect = statefile.connect) -> None:
        self.path = folder / FILE_NAME
        self.problems: list[str] = []
        self.saved: Saved | None = None
        self.statistics = Statistics()
        self.failing = ""
        self._started = False
        self._connect = connect
        #: The last game that was read or written: one that is found instead is somebody's.
        self._last: Saved | None = None
        self._wake = threading.Condition()
        self._saved_waiting: Saved | None = None
        self._results_waiting: deque[Result] = deque(maxlen=MOST_WAITING)
        self._asides_waiting: deque[_Aside] = deque(maxlen=MOST_WAITING)
        self._forget_waiting: _Forget | None = None
        self._busy = False
        self._closing = False
        #: What tells the file that is open, and its log, from others in their places.
        self._file: tuple[int, int] | None = None
        self._log: tuple[int, int] | None = None
        #: The log of a file that another one has taken the place of.
        self._stale_log: tuple[int, int] | None = None
        self._db = self._open()
        self._last = self.saved
        self._started = True
        self._thread = threading.Thread(target=self._write_all, name="storage", daemon=True)
        self._thread.start()

    # -- opening --------------------------------------------------------------------------------

    def _open(self) -> sqlite3.Connection | None:
        db = self._opened()
        if db is not None:
            try:
                self._file, self._log = statefile.identity(self.path), statefile.log_of(self.path)
            except OSError as error:
                db.close()
                self._fails(f"{self.path}: cannot be used ({error})")
                return None
        return db

    def _opened(self) -> sqlite3.Connection | None:
        try:
            make_folder(self.path.parent)
        except OSError as error:
            self._fails(f"{self.path.parent}: cannot be made ({error.strerror})")
            return None
        try:
            return statefile.open_sound(self.path, self._read, self._connect)
        except Exception as error:
            # A damaged file makes sqlite3 raise whatever it likes, decoding errors included.
            if is_passing(error):
                # Only at the start: later there is a newer game than the one in the file.
                read = not self._started and statefile.look_into_copy(self.path, self._read)
                found = "; what it holds was read from a copy" if read else ""
                self._fails(f"{self.path}: cannot be used ({error}){found}")
                return None
            self._forget_what_was_read()
            if not self._set_aside(_why(error)):
                return None
        try:
            return statefile.open_sound(self.path, self._read, self._connect)
        except (UnusableError, sqlite3.Error, OSError) as error:
            self._fails(f"{self.path}: cannot be made ({error})")
            return None

    def _forget_what_was_read(self) -> None:
        self.saved = None
        self.statistics = Statistics()

    def _read(self, db: sqlite3.Connection) -> None:
        """Read what an open database holds; called again for a copy when that failed half-way."""
        self._forget_what_was_read()
        self._read_results(db)
        # As bytes: a damaged text must be read to be set aside.
        row = db.execute("SELECT CAST(text AS BLOB) FROM saved").fetchone()
        if row is not None:
            self._read_saved(row[0])

    def _read_results(self, db: sqlite3.Connection) -> None:
        columns = "preset, number, outcome, moves, seconds, hints, undos, grade, daily"
        rows = db.execute(f"SELECT date(ended, 'localtime'), {columns} FROM results ORDER BY id")
        statistics = Statistics()
        unread = 0
        for day, *values in rows:
            try:
                result, ended = Result(*values), date.fromisoformat(day)
                if result.is_sound:
                    statistics.add(result, ended)
                else:
                    unread += 1
            except (TypeError, ValueError):
                unread += 1
        if unread:
            self._problem_once(
                f"{self.path}: {unread} results cannot be read; they are passed over"
            )
        self.statistics = statistics

    def _read_saved(self, text: bytes) -> None:
        try:
            self.saved = msgspec.json.decode(text, type=Saved)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            self._problem_once(
                f"{self.path}: the saved game cannot be read ({error}); set aside in it"
            )
            aside = _Aside(str(error), text.decode("utf-8", "backslashreplace"))
            if aside not in self._asides_waiting:
                self._asides_waiting.append(aside)

    def _set_aside(self, why: str) -> bool:
        """Rename the database, and say so; whether that worked."""
        try:
            aside = statefile.set_aside(self.path)
        except OSError as error:
            self._fails(f"{self.path}: {why}; it cannot be set aside ({error.strerror})")
            return False
        self._problem(f"{self.path}: {why}; it was set aside as {aside.name}")
        return True

    def _problem(self, text: str) -> None:
        log.error("%s", text)
        self.problems.append(text)
        del self.problems[:-MOST_PROBLEMS]

    def _problem_once(self, text: str) -> None:
        if text not in self.problems:
            self._problem(text)

    def _fails(self, why: str) -> None:
        """Nothing can be written for now: said once until it works again."""
        if not self.failing:
            self._problem(f"{why}; nothing is kept for now, and it is tried again")
        self.failing = why

    def _works(self) -> None:
        if self.failing:
            log.warning("%s: is being written again", self.path)
        self.failing = ""

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
            self._asides_waiting.append(_Aside(why, _text(self.saved)))
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

    def close(self, timeout: float = 3.5) -> bool:
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
                written = self._write(saved, results, asides)
            except Exception as error:
                if not is_passing(error):
                    # Whatever it was, the next save must still be written: lose this one, say so.
                    log.exception("a save was lost")
                    self._problem_once(f"{self.path}: a save was lost, see the log")
                else:
                    self._fails(f"{self.path}: cannot be written ({error})")
                written = not is_passing(error)
            if forget is not None:
                self._forget(forget, written)
            with self._wake:
                self._busy = False
                if written:
                    retry = FIRST_RETRY
                    self._works()
                else:
                    # Put it back, unless something newer has come.
                    self._saved_waiting = self._saved_waiting or saved
                    self._results_waiting.extendleft(reversed(results))
                    self._asides_waiting.extendleft(reversed(asides))
                self._wake.notify_all()
                if not written:
                    if self._closing:
                        break
                    self._wake.wait_for(lambda: self._closing, retry)
                    retry = min(retry * 2, LAST_RETRY)
        self._drop()

    def _write(self, saved: Saved | None, results: list[Result], asides: list[_Aside]) -> bool:
        """Write one transaction; False when it is worth another try.

        Raises:
            OSError: likewise.
        """
        self._look_after_file()
        if self._db is None:
            self._db = self._reopened(asides)
        if self._db is None:
            return False
        try:
            with self._db as db:
                for aside in asides:
                    _put_aside(db, aside)
                for result in results:
                    _insert(db, result)
                if saved is not None:
                    _replace(db, saved)
        except (sqlite3.Error, OverflowError, ValueError) as error:
            if is_passing(error):
                self._fails(f"{self.path}: cannot be written ({error})")
                return False
            if _is_about_values(error):
                self._problem_once(f"{self.path}: cannot be written as it is ({error})")
                self._write_apart(saved, results, asides)
            else:
                # Damaged since it was opened: what is waiting goes into a new one.
                self._drop()
                self._set_aside(f"cannot be written any more ({error})")
                return False
        if saved is not None:
            self._last = saved
        self._log = statefile.log_of(self.path)
        return True

    def _look_after_file(self) -> None:
        """Let go of a file that is not in its place any more.

        Raises:
            OSError: it is worth another try.
        """
        if self._db is not None and (there := statefile.identity(self.path)) != self._file:
            # Closed first: where it is still the same, SQLite takes the log away with that.
            self._drop()
            if there is None:
                self._problem(f"{self.path}: has been removed; begun anew")
            else:
                # As when a backup is put back: nobody would ever see what the old one is told.
                self._problem(f"{self.path}: has been replaced; gone on with what is there now")
                self._stale_log = self._log
        if self._stale_log is not None:
            statefile.set_log_aside(self.path, self._stale_log)
            self._stale_log = None

    def _drop(self) -> None:
        if self._db is not None:
            with suppress(sqlite3.Error):  # nothing more can be asked of it
                self._db.close()
        self._db = None

    def _reopened(self, asides: list[_Aside]) -> sqlite3.Connection | None:
        """Open again what could not be used; a game that is found there is set aside, not lost."""
        kept, self.saved = (self.saved, self.statistics), None
        db = self._open()
        found = self.saved
        self.saved, self.statistics = kept
        if db is not None and found is not None and found != self._last:
            self._problem_once(
                f"{self.path}: holds a game that was not read before; set aside in it"
            )
            # It stays where it is, too, until another game takes its place.
            why = "found when the file could be used again"
            asides.append(_Aside(why, _text(found), clears=False))
        return db

    def _write_apart(
        self, saved: Saved | None, results: list[Result], asides: list[_Aside]
    ) -> None:
        """Write piece by piece after some value in the whole could not be written."""
        assert self._db is not None
        for aside in asides:
            with self._db as db:
                _put_aside(db, aside)
        for result in results:
            try:
                with self._db as db:
                    _insert(db, result)
            except (sqlite3.Error, OverflowError, ValueError) as error:
                if is_passing(error):
                    raise OSError(str(error)) from error
                self._problem_once(f"{self.path}: a result cannot be kept ({error}): {result}")
        if saved is not None:
            with self._db as db:
                _replace(db, saved)

    def _forget(self, request: _Forget, written: bool) -> None:
        """Copy the database, then delete the results; say how it went."""
        try:
            if not written or self._db is None:
                raise OSError(self.failing or f"{self.path}: cannot be used")  # noqa: TRY301
            request.copy = statefile.copy_without_results(self._db, self.path)
        except Exception as error:
            # Whoever waits for it is told; the thread goes on.
            request.error = error
        request.finished.set()


def _is_about_values(error: Exception) -> bool:
    """Whether what was to be written is to blame, and not the file."""
    return not isinstance(error, sqlite3.Error) or isinstance(
        error, sqlite3.IntegrityError | sqlite3.DataError | sqlite3.InterfaceError
    )


def _why(error: Exception) -> str:
    return str(error) if isinstance(error, UnusableError) else f"is damaged ({error})"


def _insert(db: sqlite3.Connection, result: Result) -> None:
    db.execute(
        "INSERT INTO results"
        " (preset, number, outcome, moves, seconds, hints, undos, grade, daily) VALUES"
        " (:preset, :number, :outcome, :moves, :seconds, :hints, :undos, :grade, :daily)",
        asdict(result),
    )


def _replace(db: sqlite3.Connection, saved: Saved) -> None:
    db.execute("INSERT OR REPLACE INTO saved VALUES (1, ?)", (_text(saved),))


def _text(saved: Saved) -> str:
    return json.dumps(asdict(saved))


def _put_aside(db: sqlite3.Connection, aside: _Aside) -> None:
    db.execute("INSERT INTO set_aside (why, text) VALUES (?, ?)", (aside.why, aside.text))
    if aside.clears:
        db.execute("DELETE FROM saved")
