"""Feeds damaged input to everything that reads files or words: ``make fuzz``.

``python -m tests.fuzz.run`` gives every target its share; a case is brought back by ``--seed`` and
``--only``.  With ``--guided`` and the package atheris (which is not pinned and not needed for
anything else) the input is chosen by what code it reaches.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import logging
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from random import Random

from tests.fuzz.mutate import mutated
from tests.fuzz.targets import TARGETS, Target

#: What part of all cases a target gets: some are slow, for they write files and sync them.
SHARES = {"databases": 0.3, "pools": 0.5}
#: Seconds of computing that no input may take.
LONGEST = 1.0
#: Seconds after which a case hangs, and the whole run ends with where it hangs.
HANGS = 120.0


class FoundError(AssertionError):
    """An input that breaks a promise; the message says how to see it again."""


def scratch_place() -> str | None:
    """Where files are made: in memory where that is possible."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


def case(name: str, corpus: Sequence[bytes], seed: int, number: int) -> bytes:
    """One of the cases of a seed."""
    return mutated(Random(f"{name} {seed} {number}"), corpus)


def run(name: str, cases: Sequence[int], seed: int, *, measured: bool = False) -> float:
    """Feed a target with so many cases.

    Args:
        name: the target.
        cases: their numbers.
        seed: of all of them.
        measured: whether a case that computes for too long is a finding, too.

    Returns:
        the longest that one took, in seconds of computing.

    Raises:
        FoundError: with the first finding.
    """
    longest = 0.0
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=scratch_place()) as folder:
        target = TARGETS[name](Path(folder))
        corpus = target.corpus()
        for data in corpus:
            target.feed(data)
        for number in cases:
            data = case(name, corpus, seed, number)
            began = time.process_time()
            if measured:
                faulthandler.dump_traceback_later(HANGS, exit=True)
            try:
                target.feed(data)
            except Exception as error:
                trace = "".join(traceback.format_exception(error)[-6:])
                raise FoundError(
                    f"{name}, seed {seed}, case {number}: {data[:200]!r}\n{trace}"
                ) from error
            longest = max(longest, time.process_time() - began)
            if measured and longest > LONGEST:
                raise FoundError(f"{name}, seed {seed}, case {number}: took {longest:.1f} s")
    return longest


def guided(name: str, cases: int, seed: int) -> None:
    """Do the same with input that atheris chooses; does not return, and ends with its exit code."""
    import atheris

    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=scratch_place()) as folder:
        target: Target = TARGETS[name](Path(folder) / "scratch")
        target.scratch.mkdir()
        inputs = Path(folder) / "corpus"
        inputs.mkdir()
        for number, data in enumerate(target.corpus()):
            (inputs / str(number)).write_bytes(data)
        atheris.instrument_all()
        options = [f"-runs={cases}", f"-seed={seed}", "-timeout=20", "-max_len=60000"]
        atheris.Setup([sys.argv[0], *options, str(inputs)], target.feed)
        atheris.Fuzz()


def main(arguments: Sequence[str] | None = None) -> int:
    """Feed all targets; the exit code is 1 when something was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.run")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--cases", type=int, default=100_000, help="of all targets together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, metavar="NUMBER", help="only this case")
    parser.add_argument("--guided", action="store_true", help="one target, by atheris")
    args = parser.parse_args(arguments)
    logging.disable()
    names = args.targets or list(TARGETS)
    if args.guided:
        guided(names[0], args.cases, args.seed)
    status = 0
    for name in names:
        whole = sum(SHARES.get(each, 1.0) for each in names)
        count = -int(-args.cases * SHARES.get(name, 1.0) // whole)
        numbers = range(count) if args.only is None else [args.only]
        began = time.monotonic()
        try:
            longest = run(name, numbers, args.seed, measured=True)
        except FoundError as error:
            print(error, file=sys.stderr, flush=True)
            status = 1
            continue
        seconds = round(time.monotonic() - began)
        facts = {"cases": len(numbers), "seed": args.seed, "longest": round(longest, 3)}
        print(json.dumps({"target": name, **facts, "seconds": seconds}), flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
