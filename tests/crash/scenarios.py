"""What is done to the state folder while it is recorded, and what must be true after any cut.

``python -m tests.crash.scenarios NAME FOLDER SEED`` does it, under the shim; ``did``, ``safe`` and
the like are marked in the recording as they come true.  ``check`` then judges a folder.

Invariant: a check is made with the program's own means alone: what it reads is what counts.
"""

from __future__ import annotations

import ctypes
import json
import os
import sqlite3
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from kiosk import smallfile
from kiosk.overrides import Overrides
from kiosk.sessiontypes import Saved
from kiosk.settings import Settings
from kiosk.statefile import FILE_NAME
from kiosk.statistics import Result
from kiosk.storage import Storage

SAVED = Saved("game", "three-pass", "", 12.5, 0, 0, "de", True, False)
RESULT = Result("three-pass", 0, "won", 40, 90.5, 0, 3, "hard")
#: How long the program waits for its disk before a test fails; no wait is that long.
LONG = 60.0


def mark(*words: object) -> None:
    """Write into the recording what is true from here on."""
    text = " ".join(map(str, words))
    ctypes.CDLL(None).disk_mark(ctypes.c_char_p(text.encode()))


def often_checkpointed(path: Path) -> sqlite3.Connection:
    """A connection that brings the log back into the database after a few pages, not a thousand."""
    db = sqlite3.connect(path, check_same_thread=False)
    db.execute("PRAGMA wal_autocheckpoint=12")
    return db


def game(count: int, rng: Random) -> Saved:
    """The save number ``count``, short or over several pages."""
    size = rng.choice([10, 300, 1_500, 9_000])
    return replace(SAVED, hints=count, game=f"{count} " + "x" * size)


def play(storage: Storage, rng: Random, steps: int, first: int = 1) -> None:
    """Save games and results, and now and then wait until they are safe."""
    for count in range(first, first + steps):
        # A result first: it belongs to the game before.
        mark("did", count)
        if count % 5 == 0:
            storage.record(replace(RESULT, number=count))
        storage.save(game(count, rng))
        if rng.random() < 0.4:
            assert storage.flush(LONG)
            mark("safe", count)
    assert storage.flush(LONG)
    mark("safe", first + steps - 1)


# -- what is done ---------------------------------------------------------------------------------


def first_day(folder: Path, rng: Random) -> None:
    """From nothing, with a proper end and another start."""
    storage = Storage(folder / "state")
    play(storage, rng, 12)
    assert storage.close(LONG)
    storage = Storage(folder / "state")
    play(storage, rng, 8, first=13)
    assert storage.close(LONG)


def long_play(folder: Path, rng: Random) -> None:
    """The log is brought back into the database while play goes on."""
    storage = Storage(folder / "state", connect=often_checkpointed)
    play(storage, rng, 60)
    assert storage.close(LONG)


def after_a_kill(folder: Path, rng: Random) -> None:
    """The log of a killed program is found at the start: see `prepare`."""
    mark("did", 9)
    mark("safe", 9)
    storage = Storage(folder / "state")
    play(storage, rng, 8, first=10)
    assert storage.close(LONG)


def forgetting(folder: Path, rng: Random) -> None:
    """The results are forgotten half-way, after a copy was made."""
    storage = Storage(folder / "state")
    play(storage, rng, 10)
    mark("forgetting")
    storage.forget_results(LONG)
    mark("forgotten")
    play(storage, rng, 5, first=11)
    assert storage.close(LONG)


def damaged(folder: Path, rng: Random) -> None:
    """A damaged database is found and set aside: see `prepare`."""
    storage = Storage(folder / "state")
    play(storage, rng, 6)
    assert storage.close(LONG)


def refused(folder: Path, rng: Random) -> None:
    """The saved game turns out to be none."""
    mark("did", 9)
    mark("safe", 9)
    storage = Storage(folder / "state")
    storage.refuse_saved("its moves do not fit")
    play(storage, rng, 4, first=10)
    assert storage.close(LONG)


def small_files(folder: Path, rng: Random) -> None:
    """Settings are changed in the service menu, and wrong PINs are counted."""
    overrides = Overrides(folder / "state")
    for count in range(1, 9):
        mark("did", count)
        overrides.change(Settings(), "sound.volume", count / 10 if count != 5 else 1.0)
        overrides.change(Settings(), "idle.countdown", [5.0, 10.0][count % 2])
        assert smallfile.write(folder / "state" / "attempts.json", {"failures": count})
        mark("safe", count)


# -- what is done wrongly, to see that it is found ------------------------------------------------


def hasty_files(folder: Path, rng: Random) -> None:
    """Small files that are not synced before they are renamed."""
    os.fsync = lambda _file: None
    small_files(folder, rng)


def hasty_database(folder: Path, rng: Random) -> None:
    """A database that is synced when its log is brought back, and not before."""
    storage = Storage(folder / "state", connect=lambda path: sqlite3.connect(path, **HASTY))
    play(storage, rng, 12)
    assert storage.close(LONG)


class HastyConnection(sqlite3.Connection):
    """Takes it less seriously than it is told to."""

    def execute(self, sql: str, *args: Any) -> sqlite3.Cursor:
        return super().execute(sql.replace("=FULL", "=NORMAL"), *args)


HASTY: Any = {"factory": HastyConnection, "check_same_thread": False}


# -- before, and after ----------------------------------------------------------------------------


def prepare(name: str, folder: Path) -> None:
    """Put there what the scenario begins with."""
    state = folder / "state"
    if name in {"after_a_kill", "refused"}:
        # Copied while it is open: as a kill leaves it, the log beside the database.
        storage = Storage(folder / "before")
        play_quietly(storage, 9)
        state.mkdir()
        for path in (folder / "before").iterdir():
            (state / path.name).write_bytes(path.read_bytes())
        storage.close(LONG)
        for path in (folder / "before").iterdir():
            path.unlink()
        (folder / "before").rmdir()
    elif name == "damaged":
        storage = Storage(state)
        play_quietly(storage, 9)
        storage.close(LONG)
        content = bytearray((state / FILE_NAME).read_bytes())
        content[4096:4400] = bytes(range(256)) + bytes(48)
        (state / FILE_NAME).write_bytes(content)


def play_quietly(storage: Storage, steps: int) -> None:
    """What `play` does, without marks."""
    for count in range(1, steps + 1):
        if count % 5 == 0:
            storage.record(replace(RESULT, number=count))
        storage.save(replace(SAVED, hints=count))
        assert storage.flush(LONG)


@dataclass(frozen=True)
class Promised:
    """What the marks say.

    Attributes:
        did: the last save that was handed over; 0 for none.
        safe: the last one that was said to be on the disk.
        words: other marks.
    """

    did: int
    safe: int
    words: frozenset[str]

    @classmethod
    def of(cls, marks: Sequence[str]) -> Promised:
        """Read the marks."""
        last = {"did": 0, "safe": 0}
        words = set()
        for text in marks:
            word, _, number = text.partition(" ")
            words.add(word)
            if number:
                last[word] = int(number)
        return cls(last["did"], last["safe"], frozenset(words))


def check(name: str, folder: Path, marks: Sequence[str], before: dict[str, bytes]) -> None:
    """Judge what was found after a cut.

    Args:
        name: the scenario.
        folder: what was found; it is used up.
        marks: what had been promised.
        before: the files that the scenario began with, by their names within the folder.

    Raises:
        AssertionError: a promise was broken.
    """
    promised = Promised.of(marks)
    if name.endswith("_files"):
        _check_small_files(folder / "state", promised)
        return
    state = folder / "state"
    storage = Storage(state)
    try:
        _check_storage(name, storage, promised, before)
    finally:
        storage.close(LONG)
    # And the game goes on.
    storage = Storage(state)
    assert storage.problems == []
    storage.save(replace(SAVED, hints=777))
    assert storage.close(LONG)
    storage = Storage(state)
    assert storage.saved == replace(SAVED, hints=777)
    assert storage.close(LONG)


def _check_storage(
    name: str, storage: Storage, promised: Promised, before: dict[str, bytes]
) -> None:
    state = storage.path.parent
    if name == "damaged":
        content = before[f"state/{FILE_NAME}"]
        assert any(path.read_bytes() == content for path in state.iterdir()), "the bad file is lost"
    else:
        assert storage.problems == [], storage.problems
    db = sqlite3.connect(storage.path)
    try:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        numbers = [number for (number,) in db.execute("SELECT number FROM results ORDER BY id")]
        aside = [json.loads(text) for (text,) in db.execute("SELECT text FROM set_aside")]
    finally:
        db.close()
    saved = 0 if storage.saved is None else storage.saved.hints
    if name == "refused" and storage.saved is None:
        saved = max(kept["hints"] for kept in aside)
    assert promised.safe <= saved <= promised.did, f"game {saved} of {promised}"
    if "forgetting" in promised.words:
        for copy in state.glob(f"{FILE_NAME}.reset-*"):
            numbers += _numbers_in(copy)
        numbers = sorted(set(numbers))
    wanted = list(range(5, promised.did + 1, 5))
    assert numbers == wanted[: len(numbers)], f"results {numbers} of {promised}"
    assert len(numbers) >= promised.safe // 5, f"results {numbers} of {promised}"


def _numbers_in(copy: Path) -> list[int]:
    """The results in a copy; one that a cut left unfinished has none, and is not needed yet."""
    try:
        db = sqlite3.connect(copy)
        try:
            return [number for (number,) in db.execute("SELECT number FROM results")]
        finally:
            db.close()
    except sqlite3.DatabaseError:
        return []


def _check_small_files(state: Path, promised: Promised) -> None:
    values = Overrides(state).values
    failures = (smallfile.read(state / "attempts.json") or {"failures": 0})["failures"]
    assert not list(state.glob("*.bad-*")), "a half-written file was found"
    assert promised.safe <= failures <= promised.did
    volume = values.get("sound.volume", 0.5 if promised.safe == 0 else None)
    of_volume = {count / 10 if count != 5 else 1.0: count for count in range(1, 9)}
    counts = {promised.safe, promised.did}
    assert volume == 0.5 or of_volume[volume] in counts, (volume, promised)
    # And the next change works, whatever lies about.
    overrides = Overrides(state)
    overrides.change(Settings(), "sound.volume", 0.9)
    assert Overrides(state).values["sound.volume"] == 0.9


SCENARIOS: dict[str, Callable[[Path, Random], None]] = {
    scenario.__name__: scenario
    for scenario in (
        *(first_day, long_play, after_a_kill, forgetting, damaged, refused),
        small_files,
    )
}

#: These must break their promises.
HASTY_SCENARIOS = {scenario.__name__: scenario for scenario in (hasty_files, hasty_database)}

if __name__ == "__main__":
    {**SCENARIOS, **HASTY_SCENARIOS}[sys.argv[1]](Path(sys.argv[2]), Random(sys.argv[3]))
