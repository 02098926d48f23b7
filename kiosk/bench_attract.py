"""``python -m kiosk.bench_attract``: what the attract mode costs, beside an empty Kivy window.

Processor time a second of each kind of scene, of all threads, in a process of the real kiosk with
nobody there but a sensor's word that somebody is: the scenes are then shorter and the demos
faster, which is the most that they cost.  Beside it, an empty window that draws nothing, and one
that draws itself anew in every frame.

By turns a part of a second with all pixels and one without (see :mod:`kiosk.bench_pixels`), as
``python -m kiosk.bench`` does.  Figures with pixels tell what a machine pays that has no GPU: there
a card that crosses the screen costs as much as its area, and an empty window next to nothing.
Figures without them tell what the program itself costs, which is what a Raspberry Pi pays: its GPU
paints.  So the limit is for these.

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
from collections.abc import Callable, Sequence
from typing import Any, Final

from kiosk.bench_process import opened

#: Seconds with pixels, then without: no part of the time in which a demo makes its moves, or one
#: kind would see all the taps and the other all the flights.
TURN: Final = 0.37
#: What the names of figures without pixels end in.
WITHOUT: Final = "_without_pixels"
#: Seconds after the first frame until everything has come to rest, and seconds of it measured.
SETTLE: Final = 3.0
REST: Final = 10.0
#: What a second of a scene may cost at most, in seconds of an empty window that draws all the time;
#: both without pixels.
MOST: Final = 2.0


#: By the name of what was measured.
Figures = dict[str, dict[str, float]]


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
    ratios = ratios_of(empty, scenes)
    result = {
        "size": args.size,
        **empty,
        **scenes,
        **ratios,
        "most": MOST,
        "above": [name for name, ratio in ratios["ratios" + WITHOUT].items() if ratio > MOST],
    }
    print(json.dumps(result))
    return 0


def ratios_of(empty: Figures, scenes: Figures) -> dict[str, dict[str, float]]:
    """What each scene costs in empty windows that draw, with pixels and without."""
    ratios: dict[str, dict[str, float]] = {}
    for suffix in ("", WITHOUT):
        drawing = empty["drawing" + suffix]["ms_a_second"]
        ratios["ratios" + suffix] = {
            name.removesuffix(WITHOUT): round(figures["ms_a_second"] / drawing, 2)
            for name, figures in scenes.items()
            if name.endswith(WITHOUT) == bool(suffix)
        }
    return ratios


def _measure(name: str, size: str, state: str) -> Figures:
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
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return figures


class Meter:
    """Adds up processor time, time and frames, under a name that changes.

    Args:
        clocks: processor time and monotonic time, in seconds.
    """

    def __init__(
        self,
        clocks: tuple[Callable[[], float], Callable[[], float]] = (
            time.process_time,
            time.monotonic,
        ),
    ) -> None:
        self._clocks = clocks
        self._sums: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
        self._last: tuple[float, ...] | None = None
        self._frames = 0

    def flipped(self, _window: Any) -> None:
        """A frame was drawn."""
        self._frames += 1

    def note(self, name: str | None) -> None:
        """What has passed since the last call counts for ``name``; for nothing, if it is None."""
        now = (*(clock() for clock in self._clocks), self._frames)
        if self._last is not None and name is not None:
            sums = self._sums[name]
            for i, (after, before) in enumerate(zip(now, self._last, strict=True)):
                sums[i] += after - before
        self._last = now

    def figures(self) -> Figures:
        """What a second of each name was."""
        return {
            name: {
                "ms_a_second": round(1000 * cpu / seconds, 1),
                "frames_a_second": round(frames / seconds, 1),
                "seconds": round(seconds, 1),
            }
            for name, (cpu, seconds, frames) in sorted(self._sums.items())
        }


class _Turns:
    """With pixels and without, by turns, while one thing after another is measured."""

    def __init__(self, meter: Meter, painted: Callable[[bool], object]) -> None:
        from kivy.clock import Clock  # noqa: PLC0415 - opens the window
        from kivy.core.window import Window  # noqa: PLC0415

        from kiosk.bench_pixels import Pixels  # noqa: PLC0415

        self._meter = meter
        self._painted = painted
        self.pixels = Pixels()
        self._name: str | None = None
        Window.bind(on_flip=meter.flipped)
        Clock.schedule_interval(self._turn, TURN)

    def now(self, name: str | None) -> None:
        """From now on, this is measured; None is nothing."""
        self._note()
        self._name = name

    def _turn(self, _dt: float) -> None:
        self._note()
        wanted = not self.pixels.painted
        self.pixels.paint(wanted)
        self._painted(wanted)
        # What it took to turn is no part of anything.
        self._meter.note(None)

    def _note(self) -> None:
        name = self._name
        self._meter.note(name and name + ("" if self.pixels.painted else WITHOUT))


def _be_measured(name: str, size: str, state: str) -> Figures:
    meter = Meter()
    app, close = opened(name, size, state)
    watch = _watch_scenes if name == "kiosk" else _watch_nothing
    watch(app, meter)
    app.run()
    close()
    return meter.figures()


def _watch_nothing(app: Any, meter: Meter) -> None:
    """An empty window, first at rest, then drawing all the time."""
    from kivy.clock import Clock  # noqa: PLC0415 - opens the window
    from kivy.core.window import Window  # noqa: PLC0415

    turns = _Turns(meter, lambda _wanted: None)

    def settled(_dt: float) -> None:
        turns.now("resting")
        Clock.schedule_once(rested, REST)

    def rested(_dt: float) -> None:
        turns.now("drawing")
        Clock.schedule_interval(lambda _dt: Window.canvas.ask_update(), 0)
        Clock.schedule_once(drawn, REST)

    def drawn(_dt: float) -> None:
        turns.now(None)
        app.stop()

    # As the kiosk does where nobody waits for the picture.
    Window.bind(on_flip=lambda _window: turns.pixels.finish())
    Clock.schedule_once(settled, SETTLE)


def _watch_scenes(app: Any, meter: Meter) -> None:
    """The kiosk through all its scenes."""
    from kivy.clock import Clock  # noqa: PLC0415 - opens the window

    from kiosk.commands import Somebody  # noqa: PLC0415
    from kiosk.showreel import ORDER  # noqa: PLC0415
    from kiosk.statistics import WON, Result  # noqa: PLC0415

    session = app.session
    # Something to tell.
    session.statistics.add(Result("three-pass", 1, WON, 40, 200.0, 0, 0), session.today)
    state: dict[str, Any] = {"scene": None, "seen": 0}

    def waits(wanted: bool) -> None:
        app.finishes_frames = wanted

    turns = _Turns(meter, waits)

    def look(_dt: float) -> None:
        scene = session.scene
        if scene is state["scene"]:
            return
        state["scene"] = scene
        state["seen"] += 1
        if state["seen"] > len(ORDER):
            turns.now(None)
            app.stop()
        else:
            turns.now(scene.kind.value)

    def settled(_dt: float) -> None:
        app.send(Somebody(there=True))
        Clock.schedule_interval(look, 0)

    Clock.schedule_once(settled, SETTLE)


if __name__ == "__main__":
    sys.exit(main())
