"""``python -m kiosk.bench``: what a frame of the table costs, beside a frame of an empty window.

Both are measured in one run, off-screen, at the 60 frames a second of the kiosk, in processor time
of all threads.  Once to the last pixel of each frame: without a GPU nearly all of that is the
drawing of pixels in software, and grows with the area that the cards cover.  And once without
pixels: what a machine pays that has a GPU to draw them; see :mod:`kiosk.bench_pixels`.  Then, how
soon the screen answers a touch, a new deal and another language.

Invariant: it measures the table as the kiosk uses it, through its public methods.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import median
from typing import Any, Final

from engine.deal import Deal
from engine.position import PLACES, Position
from engine.rules import PRESETS
from kiosk.bench_answers import measure_answers
from kiosk.display import Driver, prepare
from kiosk.layout import Layout
from kiosk.motion import Animation, Pose, Segment, Track

#: Frames of each measurement, and those before it that warm everything up.
FRAMES: Final = 60
WARM_UP: Final = 10
#: How often each is repeated, in turn; the medians count, for the machine may have other work.
ROUNDS: Final = 5
#: What a frame with all cards moving may cost, in frames of an empty window; without pixels, for a
#: Raspberry Pi has a GPU.
MOST: Final = 12.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print one JSON object, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m kiosk.bench", description=main.__doc__)
    parser.add_argument("--size", default="800x480", metavar="WxH", help="of the window [800x480]")
    args = parser.parse_args(arguments)
    try:
        width, height = map(int, args.size.split("x"))
    except ValueError:
        parser.error(f"{args.size!r} is not a size: write it like 1280x720")
    prepare(Driver.OFFSCREEN, (width, height))
    result = measure(width, height)
    result["answers"] = measure_answers()
    print(json.dumps(result))
    return 0


def everything_moves(layout: Layout, seconds: float) -> Animation:
    """All 52 cards at once, each on its own way across the screen, for so many seconds."""
    w, h = layout.width - layout.card_width, layout.height - layout.card_height
    tracks = []
    for place in range(PLACES):
        # Each turns round at a moment of its own, so that there is none in which all stand still.
        begun = -place / PLACES
        corners = [
            Pose(
                w * (0.5 + 0.5 * math.sin(place * 1.3 + leg * 2.1)),
                h * (0.5 + 0.5 * math.cos(place * 2.7 + leg * 1.7)),
            )
            for leg in range(math.ceil(seconds) + 2)
        ]
        legs = tuple(
            Segment(begun + leg, begun + leg + 1, a, b)
            for leg, (a, b) in enumerate(pairwise(corners))
        )
        tracks.append(Track(place, legs, z=place))
    return Animation(tuple(tracks))


def measure(width: int, height: int) -> dict[str, Any]:
    """Processor time a frame in ms: an empty window, one card moving, all cards, nothing."""
    from kivy.base import EventLoop  # noqa: PLC0415 - opens the window
    from kivy.core.window import Window  # noqa: PLC0415
    from kivy.graphics.opengl import glGetString  # noqa: PLC0415

    from kiosk.bench_pixels import Pixels  # noqa: PLC0415
    from kiosk.table import Table  # noqa: PLC0415

    EventLoop.ensure_window()
    if Window not in EventLoop.event_listeners:
        EventLoop.add_event_listener(Window)
    EventLoop.status = "started"
    flips = 0
    pixels = Pixels()

    def flipped(_window: Any) -> None:
        nonlocal flips
        flips += 1
        pixels.finish()

    Window.bind(on_flip=flipped)
    layout = Layout.for_screen(width, height)
    table = Table(_nobody, layout)
    table.show(Position(Deal.from_number(1), PRESETS["three-pass"]))

    def frames(before_frame: Callable[[], None] = lambda: None) -> tuple[float, int]:
        """Processor time a turn of the main loop in ms, and how many turns drew."""
        for _ in range(WARM_UP):
            before_frame()
            EventLoop.idle()
        drawn, began = flips, time.process_time()
        for _ in range(FRAMES):
            before_frame()
            EventLoop.idle()
        return (time.process_time() - began) * 1000 / FRAMES, flips - drawn

    costs: dict[str, list[float]] = {}

    def note(name: str, cost: tuple[float, int], draws: int) -> None:
        if cost[1] != draws:
            raise RuntimeError(f"{name}: {cost[1]} frames of {FRAMES} were drawn, not {draws}")
        costs.setdefault(name, []).append(cost[0])

    for _ in range(ROUNDS):
        for suffix in ("", "_without_pixels"):
            pixels.paint(not suffix)
            Window.remove_widget(table)
            note("empty" + suffix, frames(Window.canvas.ask_update), FRAMES)
            Window.add_widget(table)
            table.play(everything_moves(layout, 10.0))
            note("every_card" + suffix, frames(), FRAMES)
            table.finish()
            note("still" + suffix, frames(), 0)
    pixels.paint(True)
    table.finish()
    Window.remove_widget(table)
    Window.unbind(on_flip=flipped)
    medians = {name: median(values) for name, values in costs.items()}
    return {
        "size": f"{width}x{height}",
        "renderer": glGetString(_GL_RENDERER).decode(),
        **{f"{name}_ms": round(value, 3) for name, value in medians.items()},
        "ratio": round(medians["every_card"] / medians["empty"], 1),
        "ratio_without_pixels": round(
            medians["every_card_without_pixels"] / medians["empty_without_pixels"], 1
        ),
        "still_ratio": round(medians["still"] / medians["empty"], 2),
        "most": MOST,
    }


_GL_RENDERER: Final = 0x1F01


def _nobody(_command: Any) -> Any:
    raise AssertionError("nobody touches the table while it is measured")


if __name__ == "__main__":
    raise SystemExit(main())
