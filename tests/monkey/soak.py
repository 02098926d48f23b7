"""A long time: ``make days``, a museum's month in virtual time, and ``make soak``, real hours.

Visitors come by the day's hours, play for a while as the monkey does, and leave in the middle of
what they do; at night the screen is black.  How much there is of everything is written down as it
goes, and judged in the end as in :func:`tests.monkey.run.leaks`.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median
from typing import Any, Final

from tests.monkey.run import grown, leaks

#: When the museum is open, and how many visitors come to the kiosk in an hour then.
OPEN: Final = range(10, 18)
VISITORS: Final = 6.0
#: The most inputs of a visitor.
MOST_INPUTS: Final = 120
#: Seconds of a turn while nobody is there, in virtual time.
IDLE: Final = 2.0
#: Samples of a virtual day.
A_DAY: Final = 4
#: Frames that are drawn and timed for a sample in virtual time.
FRAMES: Final = 20


@dataclass(frozen=True)
class Took:
    """What a frame took.

    Attributes:
        seconds: until it was done, which is also up to what else the machine does.
        computing: seconds that the main thread computed for it. Without a GPU the pixels are
            painted by others, which take more or less for the same picture as the machine is busy.
    """

    seconds: float
    computing: float


class Record:
    """Samples, written to a CSV file as they come."""

    def __init__(self, path: Path, say: Callable[[str], None]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("w", newline="")
        self._say = say
        self._writer: Any = None
        self.samples: list[dict[str, int]] = []

    def add(self, at: float, sizes: dict[str, int], frames: Sequence[Took]) -> None:
        """One more: ``at`` seconds since the beginning, and what frames took, one at least."""
        times = [frame.seconds for frame in frames]
        sizes = sizes | {"frame_us": round(1e6 * median(frame.computing for frame in frames))}
        self.samples.append(sizes)
        row = {
            "hours": round(at / 3600, 3),
            **sizes,
            "frame_ms_median": round(1000 * median(times), 2),
            "frame_ms_longest": round(1000 * max(times), 2),
        }
        if self._writer is None:
            self._writer = csv.DictWriter(self._file, row)
            self._writer.writeheader()
        self._writer.writerow(row)
        self._file.flush()
        self._say(json.dumps(row))

    def close(self) -> None:
        """All is written."""
        self._file.close()


def verdict(samples: Sequence[dict[str, int]]) -> dict[str, Any]:
    """What has grown, and whether that is too much."""
    return {"samples": len(samples), "grown": grown(samples), "leaks": leaks(samples)}


def days(
    window: Any,
    count: float,
    seed: int,
    path: Path,
    *,
    a_day: int = A_DAY,
    say: Callable[[str], None] = print,
) -> dict[str, Any]:
    """So many days of a museum, in virtual time, looked at ``a_day`` times a day.

    Raises:
        Exception: whatever came out of the kiosk.
    """
    from tests.monkey.monkey import Monkey
    from tests.monkey.rig import Rig

    rng = Random(seed)
    rig = Rig(window, seed)
    monkey = Monkey(rig, rng, people=True)
    record = Record(path, say)
    visitors, began, wanted = 0, rig.now, 86_400.0 / a_day
    due = began + wanted
    try:
        while rig.now - began < count * 86_400:
            if rig.wall.hour in OPEN and rng.random() < VISITORS * 60 / 3600:
                visitors += 1
                for _ in range(rng.randrange(1, MOST_INPUTS)):
                    rig.do(monkey.next())
                    rig.wait(rng.uniform(0.1, 2.0), 0.5)
                rig.rest()
            rig.wait(60.0, IDLE)
            rig.check()
            if rig.now >= due:
                due += wanted
                rig.check_save()
                frames = [_timed(rig.draw) for _ in range(FRAMES)]
                record.add(rig.now - began, rig.sizes(), frames)
    finally:
        record.close()
        rig.close()
    return {"days": count, "visitors": visitors, "games": rig.records, **verdict(record.samples)}


def soak(
    window: Any,
    hours: float,
    seed: int,
    path: Path,
    *,
    every: float = 60.0,
    say: Callable[[str], None] = print,
) -> dict[str, Any]:
    """So many real hours, every frame drawn, looked at every so many seconds.

    Raises:
        Exception: whatever came out of the kiosk.
    """
    from tests.monkey.monkey import Monkey
    from tests.monkey.rig import Rig

    rng = Random(seed)
    rig = Rig(window, seed, whole=True)
    monkey = Monkey(rig, rng, people=True)
    record = Record(path, say)
    begin = last = sampled = time.monotonic()
    presses = begin
    frames: list[Took] = []
    drawn = 0

    def count(_window: object) -> None:
        nonlocal drawn
        drawn += 1

    window.bind(on_flip=count)
    try:
        while (now := time.monotonic()) - begin < hours * 3600:
            rig.now += now - last
            last = now
            if now >= presses:
                # Three minutes with somebody there, and three without.
                if int((now - begin) / 180) % 2 == 0:
                    rig.give(monkey.next())
                    rig.check()
                presses = now + rng.uniform(0.1, 1.5)
            before = drawn
            took = _timed(rig.loop.idle)
            if drawn > before:
                # A turn without a picture costs next to nothing, and there are more of them.
                frames.append(took)
            time.sleep(max(0.0, 1 / 60 - took.seconds))
            if now - sampled >= every and frames:
                sampled = now
                rig.check_save()
                record.add(now - begin, rig.sizes(), frames)
                frames = []
    finally:
        window.unbind(on_flip=count)
        record.close()
        rig.close()
    return {"hours": hours, "inputs": rig.inputs, "games": rig.records, **verdict(record.samples)}


def _timed(do: Callable[[], object]) -> Took:
    began, computed = time.perf_counter(), time.thread_time()
    do()
    return Took(time.perf_counter() - began, time.thread_time() - computed)


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when nothing failed and nothing grew."""
    parser = argparse.ArgumentParser(prog="python -m tests.monkey.soak", description=__doc__)
    parser.add_argument("--days", type=float)
    parser.add_argument("--hours", type=float)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("build/soak"))
    args = parser.parse_args(arguments)
    if (args.days is None) == (args.hours is None):
        parser.error("take --days of virtual time, or --hours of real time")
    from tests.kiosk.conftest import open_window

    window = open_window()

    def say(text: str) -> None:
        print(text, flush=True)

    if args.days is not None:
        told = days(window, args.days, args.seed, args.out / "days.csv", say=say)
    else:
        told = soak(window, args.hours, args.seed, args.out / "soak.csv", say=say)
    name = "days" if args.days is not None else "soak"
    (args.out / f"{name}.json").write_text(json.dumps(told, indent=1))
    print(json.dumps(told, indent=1))
    return 1 if told["leaks"] else 0


if __name__ == "__main__":
    sys.exit(main())
