"""``make monkey``: so many random inputs to the whole kiosk, and what came of them.

What fails is written down as a JSON file of the inputs that lead there, as few as could be found;
``python -m tests.monkey.run --replay FILE`` gives them again.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from statistics import median_high
from typing import Any, Final

#: After so many inputs a new deal must be within reach; after so many the save is looked at.
DEALS_EVERY: Final = 300
SAVES_EVERY: Final = 100
#: A picture is really drawn after so many.
DRAWS_EVERY: Final = 500
#: The most touches to a new deal, in the game and in the service menu, which nobody plays in.
MOST: Final = 3
MOST_IN_SERVICE: Final = 5
#: How much there is of everything is looked at so many times.
SAMPLES: Final = 40
#: What may be there more at the end than after a quarter of the way; see :func:`grown`.
ROOM: Final = {
    "resident_kib": 8_192,
    "objects": 3_000,
    "blocks": 20_000,
    "widgets": 100,
    "events": 12,
    "files": 2,
    "threads": 0,
    "frame_us": 500,
}


def grown(samples: Sequence[dict[str, int]]) -> dict[str, int]:
    """What has grown: the median of the last quarter less that of the second one.

    The first quarter fills what is kept on purpose (pictures, texts); a leak goes on growing.
    """
    quarter = len(samples) // 4
    if not quarter:
        return {}
    second, last = samples[quarter : 2 * quarter], samples[-quarter:]
    return {
        name: median_high(s[name] for s in last) - median_high(s[name] for s in second)
        for name in samples[0]
    }


def leaks(samples: Sequence[dict[str, int]]) -> dict[str, int]:
    """Of what has grown, that for which there is no room."""
    return {name: more for name, more in grown(samples).items() if more > ROOM[name]}


def run(
    window: Any,
    inputs: int,
    seed: int,
    *,
    looks: int = SAMPLES,
    say: Callable[[str], None] = lambda _text: None,
) -> dict[str, Any]:
    """Give so many inputs.

    Args:
        window: Kivy's window.
        inputs: how many.
        seed: which ones, and which deals.
        looks: how many times it is looked at how much there is; that takes a while.
        say: told at each of them.

    Returns:
        what happened; under ``failure`` the error, if one came, and under ``inputs`` what led
        there.
    """
    from tests.monkey.monkey import Monkey
    from tests.monkey.rig import Rig

    rng = Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        rig = Rig(window, seed, Path(folder))
        monkey = Monkey(rig, rng)
        # In a file: in memory they would be most of what grows.
        path = Path(folder) / "inputs"
        done = path.open("w")
        samples: list[dict[str, int]] = []
        touches: Counter[int] = Counter()
        failure: BaseException | None = None
        began = time.monotonic()
        try:
            for count in range(1, inputs + 1):
                given = monkey.next()
                print(json.dumps(given), file=done)
                rig.do(given)
                if count % SAVES_EVERY == 0:
                    print('["save"]', file=done)
                    rig.check_save()
                if count % DRAWS_EVERY == 0:
                    rig.draw()
                if count % DEALS_EVERY == 0:
                    most = MOST_IN_SERVICE if rig.session.panel.value == "service" else MOST
                    print(json.dumps(["deal", most]), file=done)
                    touches[rig.new_deal(most)] += 1
                if count % max(1, inputs // looks) == 0:
                    samples.append(rig.sizes())
                    gone = time.monotonic() - began
                    say(f"{count} inputs, {count / gone:.0f} a second: {samples[-1]}")
        except Exception as error:
            failure = error
        finally:
            rig.close()
            done.close()
        given_till_then = [json.loads(line) for line in path.open()] if failure else []
    return {
        "seed": seed,
        "inputs_given": rig.inputs,
        "seconds": round(time.monotonic() - began, 1),
        "virtual_days": round((rig.now - rig._began) / 86_400, 1),
        "panels": dict(rig.seen.most_common()),
        "changes": {kind.value: n for kind, n in rig.kinds.most_common()},
        "games": rig.records,
        "touches_to_a_new_deal": dict(sorted(touches.items())),
        "samples": samples,
        "grown": grown(samples),
        "failure": None if failure is None else signature(failure),
        "trail": [] if failure is None else list(rig.trail),
        "error": failure,
        "inputs": given_till_then,
    }


def signature(error: BaseException) -> str:
    """What tells one failure from another: its kind, its words and where it came from."""
    trace, place = error.__traceback__, ""
    while trace is not None:
        code = trace.tb_frame.f_code
        if "/tests/" not in code.co_filename:
            place = f" in {Path(code.co_filename).name}:{code.co_name}"
        trace = trace.tb_next
    words = str(error).partition(";")[0].partition(", of ")[0][:160]
    return f"{type(error).__name__}: {words}{place}"


def shrunk(
    inputs: Sequence[Any],
    fails: Callable[[Sequence[Any]], bool],
    *,
    seconds: float = 120.0,
) -> list[Any]:
    """As few of the inputs as still fail: the shortest tail, then what can be left out of it.

    Args:
        inputs: which fail, all together.
        fails: whether some of them do.
        seconds: for how long that may be asked.
    """
    end = time.monotonic() + seconds

    def asks(some: Sequence[Any]) -> bool:
        return time.monotonic() < end and fails(some)

    kept = list(inputs)
    length = 50
    while length < len(kept):
        if asks(kept[-length:]):
            kept = kept[-length:]
            break
        length *= 4
    parts = 2
    while len(kept) > 1 and time.monotonic() < end:
        size = max(1, len(kept) // parts)
        for begin in range(0, len(kept), size):
            fewer = kept[:begin] + kept[begin + size :]
            if fewer and asks(fewer):
                kept, parts = fewer, max(2, parts - 1)
                break
        else:
            if size == 1:
                break
            parts = min(len(kept), parts * 2)
    return kept


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when nothing failed and nothing grew."""
    parser = argparse.ArgumentParser(prog="python -m tests.monkey.run", description=__doc__)
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("build/monkey"))
    parser.add_argument("--replay", type=Path, help="a file of inputs that failed")
    args = parser.parse_args(arguments)
    from tests.kiosk.conftest import open_window
    from tests.monkey.rig import replayed

    window = open_window()
    if args.replay is not None:
        failed = json.loads(args.replay.read_text())
        error = replayed(window, failed["seed"], failed["inputs"])
        if error is not None:
            raise error
        print("nothing fails any more")
        return 0
    args.out.mkdir(parents=True, exist_ok=True)
    told = run(window, args.inputs, args.seed, say=lambda text: print(text, flush=True))
    error, inputs = told.pop("error"), told.pop("inputs")
    told["leaks"] = leaks(told["samples"])
    report = args.out / f"seed-{args.seed}.json"
    report.write_text(json.dumps(told, indent=1))
    print(json.dumps({name: value for name, value in told.items() if name != "samples"}, indent=1))
    if error is not None:
        wanted = told["failure"]

        def fails(some: Sequence[Any]) -> bool:
            found = replayed(window, args.seed, some)
            return found is not None and signature(found) == wanted

        few = shrunk(inputs, fails)
        path = args.out / f"failure-{args.seed}.json"
        path.write_text(json.dumps({"seed": args.seed, "failure": wanted, "inputs": few}))
        print(f"{len(few)} inputs that lead there: {path}", *few, sep="\n")
        raise error
    return 1 if told["leaks"] else 0


if __name__ == "__main__":
    os.environ.setdefault("KIVY_LOG_MODE", "PYTHON")
    sys.exit(main())
