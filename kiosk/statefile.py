"""The state file as a file: opening it, judging it, setting it aside, looking into a copy.

Invariant: a file that this program cannot use is renamed with all that belongs to it, never deleted
or overwritten, and as it was found: it is looked at through a connection that writes nothing.
"""

from __future__ import annotations

import errno
import logging
import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Callable
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Final

from kiosk.smallfile import sync_folder

log = logging.getLogger(__name__)

FILE_NAME: Final = "state.sqlite"
SCHEMA_VERSION: Final = 1
#: Bytes of the smallest page that a database can consist of.
SMALLEST: Final = 512
#: What SQLite keeps beside a database: the log of what is not yet in it, and its index; and what a
#: change is undone with, before there is a log.
COMPANIONS: Final = ("-wal", "-shm", "-journal")

Connect = Callable[[Path], sqlite3.Connection]
Look = Callable[[sqlite3.Connection], None]

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


class UnusableError(Exception):
    """A database file that this program cannot use; the message says why."""


def connect(path: Path) -> sqlite3.Connection:
    """Open the file for writing; it is made if missing.

    Raises:
        sqlite3.Error: it cannot be opened.
    """
    # The writing thread takes over the connection that the opening thread made.
    return sqlite3.connect(path, check_same_thread=False, timeout=2.0)


def open_sound(path: Path, look: Look, connect: Connect = connect) -> sqlite3.Connection:
    """Open the file for writing, after a look that changes nothing; make it if it is missing.

    Args:
        path: the file.
        look: reads what the file holds, from a connection that is closed afterwards.
        connect: opens it for writing.

    Raises:
        UnusableError: it is damaged, no file at all, of a newer version or somebody else's.
        sqlite3.Error, OSError: it cannot be opened or read; see :func:`is_passing`.
    """
    examine(path, look)
    db = connect(path)
    try:
        version = judge(db)
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=FULL")
        if version == 0:
            db.executescript(f"BEGIN;{_SCHEMA}PRAGMA user_version={SCHEMA_VERSION};COMMIT;")
    except BaseException:
        db.close()
        raise
    return db


def examine(path: Path, look: Look = lambda _db: None) -> None:
    """Look whether the file is one that this program can use, and change nothing.

    Args:
        path: the file; one that is missing or empty will do.
        look: reads what a sound one holds.

    Raises:
        UnusableError: it is damaged, no file at all, of a newer version or somebody else's.
        sqlite3.Error, OSError: it cannot be opened or read; see :func:`is_passing`.
    """
    size = _size(path)
    # What was being made when the power went is undone first, which a look could not do.
    if size and not _companion(path, "-journal").exists():
        if size < SMALLEST:
            # SQLite would take it for nothing at all, and write over it.
            raise UnusableError(f"is damaged (it is only {size} bytes long)")
        with closing(_connect_to_read(path)) as db:
            if judge(db):
                look(db)


def _size(path: Path) -> int:
    """Bytes of the file, 0 without one.

    Raises:
        UnusableError: it is a folder, a pipe, a link that leads round or the like.
        OSError: it cannot be asked.
    """
    try:
        status = path.stat()
    except FileNotFoundError:
        return 0
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise UnusableError("is no file") from error
        raise
    if not stat.S_ISREG(status.st_mode):
        # Nothing could ever be written in its place.
        raise UnusableError("is no file")
    return status.st_size


def judge(db: sqlite3.Connection) -> int:
    """Look whether the database is one that this program can use.

    Returns:
        the version of its schema: 0 is an empty one.

    Raises:
        UnusableError, sqlite3.Error: it is not.
    """
    version: int = db.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise UnusableError(f"was written by a newer version (schema {version})")
    verdict = db.execute("PRAGMA quick_check(1)").fetchone()[0]
    if verdict != "ok":
        raise UnusableError(f"is damaged ({verdict})")
    made_of = _made_of(db)
    if version < 0 or (version == 0 and made_of):
        raise UnusableError("is not a database of this program")
    if version:
        wanted = _wanted()
        if not wanted.keys() <= made_of.keys():
            raise UnusableError("lacks tables that this program writes to")
        # A rule or a trigger of its own would refuse or change what is written, at some later time.
        for name, sql in made_of.items():
            if sql != wanted.get(name):
                raise UnusableError(f"is damaged (what it says of {name!r} is not as it was made)")
    return version


def _made_of(db: sqlite3.Connection) -> dict[str, str | None]:
    """The words by which each table, index, view and trigger of the database was made."""
    return dict(
        db.execute("SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!'")
    )


@lru_cache
def _wanted() -> dict[str, str | None]:
    """The same of a sound database."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(_SCHEMA)
        return _made_of(db)


def set_aside(path: Path) -> Path:
    """Rename the file and its companions to a name that is not taken, and return that.

    Raises:
        OSError: it cannot be renamed.
    """
    there = [suffix for suffix in COMPANIONS if _companion(path, suffix).exists()]
    number = 1
    # A cut between the renamings leaves companions there whose file follows at the next start.
    while (aside := path.with_name(f"{path.name}.bad-{number}")).exists() or any(
        _companion(aside, suffix).exists() for suffix in there
    ):
        number += 1
    # The companions first: what lies beside a file that is made anew would be taken for its own.
    for suffix in there:
        _companion(path, suffix).rename(_companion(aside, suffix))
    path.rename(aside)
    sync_folder(path.parent)
    return aside


def identity(path: Path) -> tuple[int, int] | None:
    """What tells the file of that name from another one that takes its place; None without one.

    Raises:
        OSError: it cannot be asked.
    """
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_dev, status.st_ino


def log_of(path: Path) -> tuple[int, int] | None:
    """The identity of the database's log."""
    return identity(_companion(path, "-wal"))


def set_log_aside(path: Path, log: tuple[int, int]) -> None:
    """Rename the log of a database that is gone, where it still lies beside another one.

    That one would take it for its own, and be a mixture of both.

    Args:
        path: the database.
        log: the identity of the log.

    Raises:
        OSError: it cannot be renamed.
    """
    if log_of(path) != log:
        return
    number = 1
    # Not as a file that is set aside: beside one of these it would be taken for its own, too.
    while _companion(aside := path.with_name(f"{path.name}.old-{number}"), "-wal").exists():
        number += 1
    for suffix in ("-shm", "-wal"):
        if _companion(path, suffix).exists():
            _companion(path, suffix).rename(_companion(aside, suffix))
    sync_folder(path.parent)


def copy_without_results(db: sqlite3.Connection, path: Path) -> Path:
    """Forget the finished games in the open database, after copying all of it beside itself.

    Returns:
        the copy.

    Raises:
        OSError, sqlite3.Error: it could not be done; nothing is forgotten.
    """
    number = 1
    while (copy := path.with_name(f"{path.name}.reset-{number}")).exists():
        number += 1
    try:
        db.execute("VACUUM INTO ?", (str(copy),))
        with copy.open("rb") as file:
            os.fsync(file.fileno())
        sync_folder(copy.parent)
    except BaseException:
        # Or each attempt on a full disk would leave another piece.
        copy.unlink(missing_ok=True)
        raise
    with db:
        db.execute("DELETE FROM results")
    return copy


def look_into_copy(path: Path, look: Look) -> bool:
    """Read a file that cannot be opened where it is, as on a read-only disk, from a copy.

    Args:
        path: the file.
        look: reads from the copy's connection.

    Returns:
        whether that worked.
    """
    # The disk of the state may be full, and be that of the temporary files, too.
    places = (os.environ.get("RUNTIME_DIRECTORY"), None, "/dev/shm")
    for place in dict.fromkeys(places):
        try:
            with tempfile.TemporaryDirectory(prefix="pyramid-kiosk-", dir=place) as folder:
                copy = Path(folder) / path.name
                shutil.copyfile(path, copy)
                for suffix in ("-wal", "-journal"):
                    if _companion(path, suffix).exists():
                        shutil.copyfile(_companion(path, suffix), _companion(copy, suffix))
                with closing(connect(copy)) as db:
                    if judge(db) == SCHEMA_VERSION:
                        look(db)
                        return True
        except Exception as error:
            # The reason that counts is why the file itself cannot be opened.
            where = place or "the temporary folder"
            log.info("%s cannot be read from a copy in %s either (%s)", path, where, error)
    return False


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


def is_passing(error: Exception) -> bool:
    """Whether the disk is to blame and not the file: a full or read-only one, a failing one."""
    if isinstance(error, OSError):
        return True
    name = getattr(error, "sqlite_errorname", "")
    return isinstance(error, sqlite3.Error) and name.startswith(_PASSING)


def _companion(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _connect_to_read(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=2.0)
