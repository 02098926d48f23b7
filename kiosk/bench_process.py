"""``python -m kiosk.bench_process``: what the whole program costs, beside an empty Kivy window.

Start to first frame, memory, and processor time while nothing moves, each measured in processes
of their own, kiosk and empty window in turn, so that both see the same machine.

Invariant: the kiosk that is measured is the real one, with pool, storage and threads; both
processes have the same interpreter, size and driver.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final

#: Pairs of processes; the medians count.
ROUNDS: Final = 5
#: Seconds after the first frame until everything has come to rest, and seconds of rest measured.
SETTLE: Final = 4.0
REST: Final = 5.0
#: What the kiosk may cost, in empty windows.
MOST: Final = {"start": 1.5, "memory": 1.5, "rest": 1.1}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print one JSON object, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m kiosk.bench_process", description=__doc__)
    parser.add_argument("--size", default="800x480", metavar="WxH", help="of the window [800x480]")
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help="pairs [5]")
    parser.add_argument("--child", choices=["empty", "kiosk"], help=argparse.SUPPRESS)
    parser.add_argument("--state", help=argparse.SUPPRESS)
    args = parser.parse_args(arguments)
    if args.child:
        _be_measured(args.child, args.size, args.state)
        return 0
    rounds: dict[str, list[dict[str, float]]] = {"empty": [], "kiosk": []}
    with tempfile.TemporaryDirectory() as state:
        for name in rounds:
            # Compiles what has never run on this machine, and draws the deck for the first time.
            _measure(name, args.size, state)
        for _ in range(args.rounds):
            for name, figures in rounds.items():
                figures.append(_measure(name, args.size, state))
    result: dict[str, Any] = {"size": args.size, "rounds": args.rounds, "most": MOST}
    for name, figures in rounds.items():
        result[name] = {key: round(median(f[key] for f in figures), 4) for key in figures[0]}
    result["ratios"] = {
        key: round(median(k[key] / e[key] for e, k in zip(*rounds.values(), strict=True)), 2)
        for key in MOST
    }
    print(json.dumps(result))
    return 0


def _measure(name: str, size: str, state: str) -> dict[str, float]:
    begin = time.monotonic()
    done = subprocess.run(
        [
            *(sys.executable, "-m", "kiosk.bench_process"),
            *("--child", name, "--size", size, "--state", state),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        timeout=300,
        check=True,
        # As installed: modules compiled before, whatever this shell says.
        env={k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"},
    )
    figures: dict[str, float] = json.loads(done.stdout)
    # The monotonic clock is the machine's: both processes read the same one.
    figures["start"] = figures.pop("first_frame") - begin
    return figures


def _be_measured(name: str, size: str, state: str) -> None:
    """Open a window, or the kiosk, and measure from inside."""
    figures: dict[str, float] = {}
    app, close = opened(name, size, state)
    _watch(app, figures)
    app.run()
    close()
    print(json.dumps(figures))


def opened(name: str, size: str, state: str) -> tuple[Any, Callable[[], None]]:
    """Open off-screen what is measured: the whole kiosk, or an empty window to compare it with.

    Args:
        name: ``kiosk`` or ``empty``.
        size: of the window, in px, like ``800x480``.
        state: the kiosk's state folder.

    Returns:
        the application, ready to run, and what to call after it has run.
    """
    if name == "kiosk":
        from kiosk.commandline import parse  # noqa: PLC0415 - needs no window
        from kiosk.wiring import make_app  # noqa: PLC0415 - the kiosk's own start

        return make_app(parse(["--offscreen", "--size", size, "--state", state]))
    from kiosk.display import Driver, prepare  # noqa: PLC0415

    width, height = map(int, size.split("x"))
    # As Kivy comes: the kiosk may leave out what it can do without.
    prepare(Driver.OFFSCREEN, (width, height), styled=True)
    from kivy.app import App  # noqa: PLC0415
    from kivy.uix.widget import Widget  # noqa: PLC0415

    class Empty(App):  # type: ignore[misc]
        def build(self) -> Widget:
            return Widget()

    return Empty(), lambda: None


def _watch(app: Any, figures: dict[str, float]) -> None:
    from kivy.clock import Clock  # noqa: PLC0415 - opens the window
    from kivy.core.window import Window  # noqa: PLC0415

    from kiosk.commands import Touched  # noqa: PLC0415

    def first_frame(_window: Any) -> None:
        Window.unbind(on_flip=first_frame)
        figures["first_frame"] = time.monotonic()
        if hasattr(app, "send"):
            app.send(Touched())  # ends the attract mode: the table then lies still
        Clock.schedule_once(settled, SETTLE)

    def settled(_dt: float) -> None:
        figures["rest"] = -time.process_time()
        Clock.schedule_once(rested, REST)

    def rested(_dt: float) -> None:
        figures["rest"] += time.process_time()
        figures["memory"] = _resident()
        app.stop()

    Window.bind(on_flip=first_frame)


def _resident() -> float:
    """Memory of this process now in MiB, or its peak where the kernel tells no more."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


if __name__ == "__main__":
    sys.exit(main())
