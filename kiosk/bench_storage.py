"""How long a move takes to be safe on the disk, and how long the main loop takes over it.

``python -m kiosk.bench_storage --folder DIR`` writes on the disk that DIR lies on, in a folder of
its own, and prints one JSON object.  Run it on the card that a kiosk will use.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from statistics import median

from engine.deal import Deal
from engine.game import Game
from engine.rules import PRESETS
from kiosk.motion import LEAVE_TIME, MEET_TIME
from kiosk.sessiontypes import Saved
from kiosk.storage import Storage

#: Milliseconds that the quickest animation of a move takes: two cards that meet and leave.
ANIMATION: float = 1_000 * (MEET_TIME + LEAVE_TIME)


def measure(folder: Path, moves: int) -> dict[str, float]:
    """Play and keep a game of so many moves, waiting for each to be safe.

    Returns:
        milliseconds until a move is safe (median, the 99th of 100, longest), and the longest that
        handing it over took; and the share of moves that were safe before their animation ended.
    """
    storage = Storage(folder)
    rng = Random(1)
    game = Game(Deal.from_number(7), PRESETS["relaxed"])
    safe, handed = [], []
    for _ in range(moves):
        choice = game.position.legal_moves
        if choice:
            game.play(rng.choice(choice))
        else:
            game.restart()
        saved = Saved(game.save(), "relaxed", "", 1.0, 0, 0, "en", False, False)
        began = time.perf_counter()
        storage.save(saved)
        handed.append(time.perf_counter() - began)
        storage.flush(60)
        safe.append(time.perf_counter() - began)
    storage.close()
    safe.sort()
    in_time = sum(1_000 * seconds < ANIMATION for seconds in safe)
    return {
        "moves": moves,
        "safe_ms": round(1_000 * median(safe), 2),
        "safe_99_ms": round(1_000 * safe[(99 * moves - 1) // 100], 2),
        "safe_longest_ms": round(1_000 * safe[-1], 2),
        "handed_over_longest_ms": round(1_000 * max(handed), 3),
        "safe_before_the_animation_ends": round(in_time / moves, 4),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m kiosk.bench_storage")
    parser.add_argument("--folder", type=Path, help="on the disk in question [the temporary one]")
    parser.add_argument("--moves", type=int, default=1_000)
    args = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=args.folder, prefix="pyramid-kiosk-bench-") as folder:
        print(json.dumps(measure(Path(folder), args.moves)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
