"""``python -m kiosk.bench_attract``: what the attract mode costs, beside an empty Kivy window.

Processor time a second of each kind of scene, of all threads, in a process of the real kiosk with
nobody there but a sensor's word that somebody is: the scenes are then shorter and the demos
faster, which is the most that they cost.  Beside it, an empty window that draws nothing, and one
that draws itself anew sixty times a second.

Invariant: both processes have the same interpreter, size and driver, and run in real time.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final

from kiosk.bench_process import opened

#: Seconds after the first frame until everything has come to rest, and seconds of it measured.
SETTLE: Final = 3.0
REST: Final = 10.0
#: What a second of a scene may cost at most, in seconds of an empty window that draws all the time.
MOST: Final = 2.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure for two minutes, print one JSON object, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m kiosk.bench_attract", description=main.__doc__)
    parser.add_argument("--size", default="800x480", metavar="WxH", help="of the window [800x480]")
    parser.add_argument("--child", choices=["empty", "kiosk"], help=argparse.SUPPRESS)
    parser.add_argument("--state", help=argparse.SUPPRESS)
    args = parser.parse_args(arguments)
    if args.child:
        print(json.dumps(_be_measured(args.child, args.size, args.state)))
        return 0
    with tempfile.TemporaryDirectory() as state:
        empty, scenes = (_measure(name, args.size, state) for name in ("empty", "kiosk"))
    drawing = empty["drawing"]["ms_a_second"]
    result = {
        "size": args.size,
        **empty,
        **scenes,
        "ratios": {
            name: round(figures["ms_a_second"] / drawing, 2) for name, figures in scenes.items()
        },
        "most": MOST,
    }
    print(json.dumps(result))
    return 0


def _measure(name: str, size: str, state: str) -> dict[str, dict[str, float]]:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "kiosk.bench_attract"),
            *("--child", name, "--size", size, "--state", state),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        timeout=600,
        check=True,
    )
    figures: dict[str, dict[str, float]] = json.loads(done.stdout.splitlines()[-1])
    return figures


class _Meter:
    """Adds up processor time, time and frames, under a name that changes."""

    def __init__(self) -> None:
        self._sums: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
        self._last: tuple[float, float, int] | None = None
        self._frames = 0

    def flipped(self, _window: Any) -> None:
        self._frames += 1

    def note(self, name: str | None) -> None:
        """What has passed since the last call counts for ``name``; for nothing, if it is None."""
        now = (time.process_time(), time.monotonic(), self._frames)
        if self._last is not None and name is not None:
            sums = self._sums[name]
            for i, (after, before) in enumerate(zip(now, self._last, strict=True)):
                sums[i] += after - before
        self._last = now

    def figures(self) -> dict[str, dict[str, float]]:
        return {
            name: {
                "ms_a_second": round(1000 * cpu / seconds, 1),
                "frames_a_second": round(frames / seconds, 1),
                "seconds": round(seconds, 1),
            }
            for name, (cpu, seconds, frames) in self._sums.items()
        }


def _be_measured(name: str, size: str, state: str) -> dict[str, dict[str, float]]:
    meter = _Meter()
    app, close = opened(name, size, state)
    watch = _watch_scenes if name == "kiosk" else _watch_nothing
    watch(app, meter)
    app.run()
    close()
    return meter.figures()


def _watch_nothing(app: Any, meter: _Meter) -> None:
    """An empty window, first at rest, then drawing all the time."""
    from kivy.clock import Clock  # noqa: PLC0415 - opens the window
    from kivy.core.window import Window  # noqa: PLC0415
    from kivy.graphics.opengl import glFinish  # noqa: PLC0415

    def flipped(window: Any) -> None:
        # As the kiosk does where nobody waits for the picture.
        glFinish()
        meter.flipped(window)

    def rested(_dt: float) -> None:
        meter.note("resting")
        Clock.schedule_interval(lambda _dt: Window.canvas.ask_update(), 0)
        Clock.schedule_once(drawn, REST)

    def drawn(_dt: float) -> None:
        meter.note("drawing")
        app.stop()

    def settled(_dt: float) -> None:
        meter.note(None)
        Clock.schedule_once(rested, REST)

    Window.bind(on_flip=flipped)
    Clock.schedule_once(settled, SETTLE)


def _watch_scenes(app: Any, meter: _Meter) -> None:
    """The kiosk through all its scenes."""
    from kivy.clock import Clock  # noqa: PLC0415 - opens the window
    from kivy.core.window import Window  # noqa: PLC0415

    from kiosk.commands import Somebody  # noqa: PLC0415
    from kiosk.showreel import ORDER  # noqa: PLC0415
    from kiosk.statistics import WON, Result  # noqa: PLC0415

    session = app.session
    # Something to tell.
    session.statistics.add(Result("three-pass", 1, WON, 40, 200.0, 0, 0), session.today)
    state: dict[str, Any] = {"scene": None, "seen": 0}

    def look(_dt: float) -> None:
        scene = session.scene
        if scene is state["scene"]:
            return
        before = state["scene"]
        meter.note(None if before is None else before.kind.value)
        state["scene"] = scene
        state["seen"] += 1
        if state["seen"] > len(ORDER):
            app.stop()

    def settled(_dt: float) -> None:
        app.send(Somebody(there=True))
        meter.note(None)
        Clock.schedule_interval(look, 0)

    Window.bind(on_flip=meter.flipped)
    Clock.schedule_once(settled, SETTLE)


if __name__ == "__main__":
    sys.exit(main())
