"""A disk that is full, failing, read-only or hanging: the game goes on, and nothing is lost.

Each test runs a real program on the shim, which makes its calls fail.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from kiosk.statefile import FILE_NAME
from kiosk.storage import Storage
from tests.crash.scenarios import RESULT, SAVED
from tests.crash.shim import Control, build, environment

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no compiler")

ROOT = Path(__file__).parents[2]
#: No wait is that long unless the program hangs.
LONG = 600.0

#: Faults of a disk that worked before, by the calls that begin to fail.
FAULTS = {
    "a full disk": {"room": 0},
    "a disk that becomes full": {"room": 5_000},
    "writes that fail": {"write_errno": errno.EIO},
    "syncs that fail": {"sync_errno": errno.EIO},
    "a quota": {"write_errno": errno.EDQUOT},
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("shim"))


class Program:
    """A program of faulty.py on a disk that can be made to fail."""

    def __init__(self, kind: str, library: Path, folder: Path, control: Control) -> None:
        self.control = control
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.faulty", kind, str(folder)],
            env=environment(library, folder, control=control),
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        # A program that hangs is ended, and its answers with it.
        self._watch = Timer(LONG, self._process.kill)
        self._watch.start()

    def tell(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, f"ended with {self._process.wait()}: {self.rest()}"
        answer: dict[str, Any] = json.loads(line)
        return answer

    def ask(self, line: str) -> dict[str, Any]:
        self.tell(line)
        return self.answer()

    def rest(self) -> str:
        assert self._process.stderr is not None
        return self._process.stderr.read()

    def end(self, number: int | None = None) -> tuple[int, str]:
        """End it, by a signal or by the end of its input; return the exit code and the log."""
        if number is not None:
            self._process.send_signal(number)
        _, log = self._process.communicate(timeout=LONG)
        return self._process.returncode, log

    def close(self) -> None:
        self.control.calm()
        self._watch.cancel()
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def start(library: Path, tmp_path: Path) -> Iterator[Any]:
    """Starts programs, and ends them whatever comes."""
    control = Control(tmp_path / "control")
    begun: list[Program] = []

    def begin(kind: str, folder: Path) -> Program:
        begun.append(Program(kind, library, folder, control))
        return begun[-1]

    yield begin
    for program in begun:
        program.close()


def numbers(folder: Path) -> list[int]:
    db = sqlite3.connect(folder / FILE_NAME)
    try:
        return [number for (number,) in db.execute("SELECT number FROM results ORDER BY id")]
    finally:
        db.close()


@pytest.mark.parametrize("fault", FAULTS)
def test_what_waits_is_written_when_the_disk_works_again(
    start: Any, tmp_path: Path, fault: str
) -> None:
    folder = tmp_path / "state"
    program = start("storage", folder)
    program.ask("save 1")
    assert program.ask("flush 60")["written"]
    program.control.set(**FAULTS[fault])
    for count in range(2, 5):
        program.ask(f"save {count}")
    said = program.ask("flush 0.5")
    assert not said["written"]
    assert said["failing"]
    assert len(said["problems"]) == 1, "said once, however often it is tried"
    assert program.control.get("refused") > 0
    program.control.calm()
    said = program.ask("flush 60")
    assert said["written"]
    assert not said["failing"]
    # The next time it is said again.
    program.control.set(**FAULTS[fault])
    program.ask("save 5")
    assert len(program.ask("flush 0.5")["problems"]) == 2
    program.control.calm()
    assert program.ask("flush 60")["written"]
    assert program.end()[0] == 0
    again = Storage(folder)
    assert again.problems == []
    assert again.saved == replace(SAVED, hints=5)
    assert again.close()
    assert numbers(folder) == [1, 2, 3, 4, 5]
    assert not list(folder.glob("*.bad-*"))


def kept(folder: Path) -> None:
    """A game from the day before."""
    storage = Storage(folder)
    storage.save(replace(SAVED, hints=99))
    storage.record(replace(RESULT, number=99))
    assert storage.close()


@pytest.mark.parametrize(
    "fault",
    [{"open_errno": errno.EROFS}, {"room": 0}, {"write_errno": errno.EIO}],
    ids=["read-only", "full", "failing"],
)
def test_a_disk_that_cannot_be_written_is_read(
    start: Any, tmp_path: Path, fault: dict[str, int]
) -> None:
    folder = tmp_path / "state"
    kept(folder)
    # As after a cut: a log beside the database, which may not be passed over.
    storage = Storage(folder)
    storage.save(replace(SAVED, hints=100))
    assert storage.flush()
    shutil.copytree(folder, tmp_path / "cut", ignore=shutil.ignore_patterns("*-shm"))
    storage.close()
    before = {path.name: path.read_bytes() for path in (tmp_path / "cut").iterdir()}
    assert f"{FILE_NAME}-wal" in before
    program = start("storage", tmp_path / "cut")
    program.control.set(**fault)
    said = program.ask("save 101")
    assert said["saved"] == 100, said
    assert said["played"] == 1
    assert not program.ask("flush 0.5")["written"]
    for name, content in before.items():
        assert (tmp_path / "cut" / name).read_bytes() == content
    program.control.calm()
    assert program.ask("flush 60")["written"]
    program.end()
    assert numbers(tmp_path / "cut") == [99, 101]
    again = Storage(tmp_path / "cut")
    assert again.saved == replace(SAVED, hints=101)
    assert again.close()


def test_a_game_that_could_not_be_read_is_not_overwritten(start: Any, tmp_path: Path) -> None:
    folder = tmp_path / "state"
    kept(folder)
    control = Control(tmp_path / "control")
    control.set(read_errno=errno.EIO)
    program = start("storage", folder)
    program.control.set(read_errno=errno.EIO)
    said = program.ask("save 1")
    # Reading may have begun before the disk was told to fail.
    if said["saved"] is None:
        assert "cannot be used" in said["failing"]
        program.control.calm()
        assert program.ask("flush 60")["written"]
        program.end()
        db = sqlite3.connect(folder / FILE_NAME)
        (text,) = db.execute("SELECT text FROM set_aside").fetchone()
        db.close()
        assert json.loads(text)["hints"] == 99
        assert numbers(folder) == [99, 1]
        again = Storage(folder)
        assert again.saved == replace(SAVED, hints=1)
        assert again.close()


def test_the_kiosk_plays_on_while_the_disk_hangs(start: Any, tmp_path: Path) -> None:
    """Commands are carried out one after the other while a sync does not come back at all."""
    folder = tmp_path / "state"
    program = start("kiosk", folder)
    program.ask("touch")
    program.ask("deal")
    program.control.set(gate=1)
    last = program.ask("draw")
    while not program.control.get("waiting"):
        time.sleep(0.01)
    for deed in ["draw", "draw", "undo", "redo"] * 5:
        last = program.ask(deed)
    assert program.control.get("waiting") == 1, "and all the time the disk was hanging"
    program.control.calm()
    code, log = program.end(signal.SIGTERM)
    assert code == 0, log
    again = Storage(folder)
    assert again.problems == []
    assert again.saved is not None
    assert again.saved.game == last["game"]
    assert again.close()


def test_the_kiosk_ends_though_the_disk_hangs(start: Any, tmp_path: Path) -> None:
    folder = tmp_path / "state"
    program = start("kiosk", folder)
    program.ask("touch")
    program.ask("deal")
    program.control.set(gate=1)
    program.ask("draw")
    code, log = program.end(signal.SIGTERM)
    assert code == 0, log
    assert "the game could not be written before the end" in log
    assert "Traceback" not in log
    program.control.calm()
    again = Storage(folder)
    assert again.problems == []
    assert again.close()


@pytest.mark.parametrize("fault", ["a full disk", "writes that fail"])
def test_the_kiosk_plays_on_while_nothing_can_be_written(
    start: Any, tmp_path: Path, fault: str
) -> None:
    folder = tmp_path / "state"
    program = start("kiosk", folder)
    program.control.set(**FAULTS[fault])
    program.ask("touch")
    program.ask("deal")
    for deed in ["draw", "draw", "undo", "redo"] * 3:
        last = program.ask(deed)
    program.control.calm()
    code, log = program.end(signal.SIGTERM)
    assert code == 0, log
    assert "Traceback" not in log
    again = Storage(folder)
    # It is tried again at once when the program ends.
    assert again.saved is not None
    assert again.saved.game == last["game"]
    assert again.close()


def test_faults_stay_in_their_folder(library: Path, tmp_path: Path) -> None:
    control = Control(tmp_path / "control")
    control.set(write_errno=errno.ENOSPC)
    (tmp_path / "watched").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", f"open({str(tmp_path / 'other')!r}, 'w').write('x')"],
        env=environment(library, tmp_path / "watched", control=control),
        check=False,
    )
    assert done.returncode == 0
    assert (tmp_path / "other").read_text() == "x"
    assert os.environ.get("LD_PRELOAD") is None
