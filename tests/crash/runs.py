"""Records a scenario, cuts it off everywhere, and judges what is found: ``make crash``.

``python -m tests.crash.runs`` tries every moment of every scenario; ``--moments`` limits how many
moments, and ``--few`` how many states of each.
"""

from __future__ import annotations

import argparse
import json
import logging
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

from tests.crash.disk import VOLATILE, Disk, State
from tests.crash.scenarios import SCENARIOS, check, prepare
from tests.crash.shim import Kind, build, environment, read_log

ROOT = Path(__file__).parents[2]
#: Files that lie in memory spare the real disk thousands of folders.
MEMORY = Path("/dev/shm")


class BrokenPromiseError(AssertionError):
    """A state in which something is lost or broken; the message says which, and how to see it."""


@dataclass
class Tally:
    """What was tried.

    Attributes:
        scenario: its name.
        seed: of the recording and of the choice of states.
        operations: how many were recorded.
        moments: after how many of them the plug was pulled.
        states: how many different states were found and judged.
        seconds: how long that took.
    """

    scenario: str
    seed: int
    operations: int = 0
    moments: int = 0
    states: int = 0
    seconds: float = 0.0


def scratch_place() -> str | None:
    """Where the found folders are put."""
    return str(MEMORY) if MEMORY.is_dir() else None


def files_in(folder: Path) -> tuple[dict[str, bytes], list[str]]:
    """All files and folders below ``folder``, by whole names."""
    paths = [folder, *folder.rglob("*")]
    files = {str(path): path.read_bytes() for path in paths if path.is_file()}
    return files, [str(path) for path in paths if path.is_dir()]


def run(
    scenario: str,
    library: Path,
    *,
    seed: int = 1,
    moments: int | None = None,
    few: int | None = None,
) -> Tally:
    """Record a scenario and judge what cuts leave of it.

    Args:
        scenario: its name.
        library: the compiled shim.
        seed: of everything that is left to chance.
        moments: at how many moments it is cut, chosen at random; None is all.
        few: the most states of each moment; None is all that are tried.

    Raises:
        BrokenPromiseError: with the first state that breaks a promise.
    """
    began = time.monotonic()
    tally = Tally(scenario, seed)
    with tempfile.TemporaryDirectory(dir=scratch_place(), prefix="crash-") as place:
        folder, log = Path(place) / "disk", Path(place) / "log"
        folder.mkdir()
        prepare(scenario, folder)
        files, folders = files_in(folder)
        before = {str(Path(name).relative_to(folder)): data for name, data in files.items()}
        subprocess.run(
            [sys.executable, "-m", "tests.crash.scenarios", scenario, str(folder), str(seed)],
            env=environment(library, folder, log=log),
            cwd=ROOT,
            check=True,
        )
        operations = list(read_log(log))
        tally.operations = len(operations)
        rng = Random(f"{scenario} {seed}")
        disk = Disk(files, folders)
        # A mark changes no file: what is found after it is as after what came before.
        chosen = [n for n, operation in enumerate(operations) if operation.kind is not Kind.OPEN]
        if moments is not None and moments < len(chosen):
            chosen = rng.sample(chosen, moments)
        at = set(chosen)
        judged: set[tuple[bytes, tuple[str, ...]]] = set()
        for number, operation in enumerate(operations):
            disk.do(operation)
            if number not in at:
                continue
            tally.moments += 1
            for state in disk.states(rng, few):
                key = state.digest, state.marks[-2:]
                if key not in judged:
                    judged.add(key)
                    judge(scenario, state, folder, Path(place) / "found", before)
        tally.states = len(judged)
    tally.seconds = round(time.monotonic() - began, 1)
    return tally


def judge(
    scenario: str, state: State, recorded: Path, found: Path, before: dict[str, bytes]
) -> None:
    """Make the folder that is found and judge it."""
    found.mkdir()
    state.put(recorded, found)
    for log in [name for name in state.files if name.endswith("-wal")]:
        # What a cut leaves of the memory that programs shared may be anything at all.
        shared = found / Path(log.removesuffix("-wal") + VOLATILE).relative_to(recorded)
        if shared.parent.is_dir():
            shared.write_bytes(Random(state.place).randbytes(32_768))
    try:
        check(scenario, found, state.marks, before)
    except Exception as error:
        kept = Path(tempfile.mkdtemp(prefix="crash-found-"))
        state.put(recorded, kept)
        raise BrokenPromiseError(
            f"{scenario}, cut after operation {state.place} ({state.how}), "
            f"promised {state.marks[-2:]}: {error!r}; the folder is in {kept}"
        ) from error
    finally:
        shutil.rmtree(found)


def main(arguments: Sequence[str] | None = None) -> int:
    """Try all that was asked for; the exit code is 1 when a promise was broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash.runs")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=", ".join(SCENARIOS))
    parser.add_argument("--seeds", type=int, default=3, help="how many runs of each scenario [3]")
    parser.add_argument("--moments", type=int, help="the most moments of each [all]")
    parser.add_argument("--few", type=int, help="the most states of each moment [all]")
    args = parser.parse_args(arguments)
    logging.disable()
    status = 0
    with tempfile.TemporaryDirectory() as folder:
        library = build(Path(folder))
        for scenario in args.scenarios or SCENARIOS:
            for seed in range(1, args.seeds + 1):
                try:
                    tally = run(scenario, library, seed=seed, moments=args.moments, few=args.few)
                except BrokenPromiseError as error:
                    print(error, file=sys.stderr)
                    status = 1
                    break
                print(json.dumps(asdict(tally)), flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
