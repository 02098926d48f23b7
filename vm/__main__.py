"""The command line: ``python -m vm``, called by ``make vm``."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random

from vm.host import find_emulator, install_missing, say
from vm.image import Workshop
from vm.machine import Machine
from vm.proof import Proof
from vm.qmp import VmError
from vm.report import Row, host_facts, write


def parse(words: Sequence[str] | None = None) -> argparse.Namespace:
    """What the command line asks for; ends the program if it is not understood."""
    parser = argparse.ArgumentParser(
        prog="python -m vm",
        description="Build a Debian image with the kiosk in it, boot it in QEMU and try it out.",
        epilog="The variable VM_HOOKS holds further options for mmdebstrap, quoted as in a shell.",
    )
    parser.add_argument("--cuts", type=_count, default=5, help="how many power cuts [5]")
    parser.add_argument("--seed", type=int, default=1, help="when they come [1]")
    parser.add_argument(
        "--out", type=Path, default=Path("build/vm"), help="for all that is made [build/vm]"
    )
    parser.add_argument("--image", action="store_true", help="only make the image")
    return parser.parse_args(words)


def _count(text: str) -> int:
    try:
        count = int(text)
    except ValueError:
        count = -1
    if count < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no count")
    return count


def main(words: Sequence[str] | None = None) -> int:
    """Make the image, try everything, write the summary.

    Returns:
        0 if all went well, 1 if a check failed, 2 if there was nothing to try.
    """
    args = parse(words)
    out = args.out.resolve()
    cache, shots = out / "cache", out / "run"
    cache.mkdir(parents=True, exist_ok=True)
    log = out / "build.log"
    began = time.monotonic()
    facts = host_facts()
    try:
        hooks = shlex.split(os.environ.get("VM_HOOKS", ""))
        install_missing(log)
        emulator = find_emulator(cache, hooks, log)
        disk = Workshop(cache, hooks, log).disk()
    except (VmError, ValueError, OSError) as error:
        print(f"vm: {error}", file=sys.stderr)
        return 2
    made = time.monotonic() - began
    say(f"The image is {disk.image}, with release {disk.release} (made in {made:.0f} s)")
    if args.image:
        return 0
    shutil.rmtree(shots, ignore_errors=True)
    shots.mkdir()
    facts |= {
        "release": disk.release,
        "machine": f"Debian 12, Linux {disk.system}, two processors emulated by QEMU "
        f"{emulator.version}",
        "seed": str(args.seed),
        "power cuts asked for": str(args.cuts),
        "the image": f"{made:.0f} s",
    }
    began = time.monotonic()

    def keep(rows: Sequence[Row]) -> None:
        write(shots, rows, facts | {"the checks": f"{time.monotonic() - began:.0f} s"})

    with Machine(emulator, disk, shots, log) as machine:
        rows = Proof(machine, shots, Random(args.seed), keep).run(args.cuts)
    failed = sum(not row.passed for row in rows)
    say(f"{len(rows) - failed} of {len(rows)} checks passed: {shots / 'summary.md'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
