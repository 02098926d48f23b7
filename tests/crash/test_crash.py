"""Power cuts between any two writes: a sample here, all of them with ``make crash``."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.crash import runs
from tests.crash.disk import Disk
from tests.crash.scenarios import HASTY_SCENARIOS, SCENARIOS
from tests.crash.shim import Kind, Operation, build

needs_compiler = pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no compiler")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("shim"))


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    # Hundreds of files are found damaged, and rightly said to be.
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


@needs_compiler
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_no_cut_breaks_a_promise(library: Path, scenario: str) -> None:
    tally = runs.run(scenario, library, moments=25, few=5)
    assert tally.moments == 25
    assert tally.states > 20


@needs_compiler
@pytest.mark.parametrize("scenario", HASTY_SCENARIOS)
def test_a_broken_promise_is_found(library: Path, scenario: str) -> None:
    with pytest.raises(runs.BrokenPromiseError, match="cut after operation"):
        runs.run(scenario, library, few=6)


def found(disk: Disk) -> set[tuple[tuple[str, bytes], ...]]:
    """All that may be found after a cut."""
    return {tuple(sorted(state.files.items())) for state in disk.states(Random(1))}


def test_what_was_synced_is_there_and_the_rest_may_be() -> None:
    disk = Disk({"/d/a": b"old"}, ["/d"])
    disk.do(Operation(Kind.OPEN, 1, path="/d/a"))
    disk.do(Operation(Kind.WRITE, 1, offset=0, data=b"new"))
    assert found(disk) == {(("/d/a", b"old"),), (("/d/a", b"new"),)}
    disk.do(Operation(Kind.SYNC, 1))
    assert found(disk) == {(("/d/a", b"new"),)}


def test_a_later_write_may_arrive_without_an_earlier_one() -> None:
    disk = Disk({"/d/a": b"...."}, ["/d"])
    disk.do(Operation(Kind.OPEN, 1, path="/d/a"))
    disk.do(Operation(Kind.WRITE, 1, offset=0, data=b"12"))
    disk.do(Operation(Kind.WRITE, 1, offset=2, data=b"34"))
    contents = {dict(files)["/d/a"] for files in found(disk)}
    assert contents == {b"....", b"12..", b"..34", b"1234"}


def test_a_write_may_arrive_in_part_and_leave_zeros_before_it() -> None:
    disk = Disk({"/d/a": b""}, ["/d"])
    disk.do(Operation(Kind.OPEN, 1, path="/d/a"))
    disk.do(Operation(Kind.WRITE, 1, offset=0, data=b"x" * 512 + b"y" * 512))
    contents = set()
    for seed in range(30):
        contents |= {state.files["/d/a"] for state in disk.states(Random(seed))}
    assert contents == {
        b"",
        b"x" * 512 + b"y" * 512,
        bytes(1024),
        bytes(512) + b"y" * 512,
        b"x" * 512 + bytes(512),
    }


def test_a_new_name_is_there_only_once_its_folder_is_synced() -> None:
    disk = Disk({"/d/a": b"old"}, ["/d"])
    disk.do(Operation(Kind.CREATE, path="/d/b"))
    disk.do(Operation(Kind.OPEN, 1, path="/d/b"))
    disk.do(Operation(Kind.WRITE, 1, data=b"new"))
    disk.do(Operation(Kind.SYNC, 1))
    disk.do(Operation(Kind.RENAME, path="/d/b", other="/d/a"))
    before = (("/d/a", b"old"),)
    assert found(disk) == {before, (*before, ("/d/b", b"new")), (("/d/a", b"new"),)}
    disk.do(Operation(Kind.OPEN, 2, path="/d"))
    disk.do(Operation(Kind.SYNC, 2))
    assert found(disk) == {(("/d/a", b"new"),)}
    disk.do(Operation(Kind.UNLINK, path="/d/a"))
    assert found(disk) == {(("/d/a", b"new"),), ()}
