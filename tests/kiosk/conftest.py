"""Kivy's one window, off-screen, and a stage on it where time is moved by hand.

Nothing here imports Kivy before a test asks for it: importing its window opens it.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import pytest

#: The size that the stage has unless a test asks for another one.
STAGE_SIZE = (800, 480)
FRAME = 1 / 60
_STAGES = count()
GL_SCISSOR_TEST = 0x0C11


def open_window() -> Any:
    """Kivy's window, drawn into memory, with no input device attached."""
    os.environ.setdefault("SDL_VIDEODRIVER", "offscreen")
    for name in ("KIVY_NO_ARGS", "KIVY_NO_CONFIG", "KIVY_NO_FILELOG", "KIVY_NO_CONSOLELOG"):
        os.environ.setdefault(name, "1")
    from kivy.config import Config

    for device, _driver in Config.items("input"):
        Config.remove_option("input", device)
    # As the kiosk sets it: without a GPU, smoothing costs most of the time of a frame.
    Config.set("graphics", "multisamples", "0")
    Config.set("graphics", "width", STAGE_SIZE[0])
    Config.set("graphics", "height", STAGE_SIZE[1])
    from kivy.base import EventLoop
    from kivy.core.window import Window

    EventLoop.ensure_window()
    return Window


@pytest.fixture(scope="session")
def kivy_window() -> Any:
    """Kivy's one window, for all tests of a process."""
    pytest.importorskip("kivy")
    return open_window()


class Finger:
    """One finger on the screen; coordinates in px from the lower left."""

    def __init__(self, stage: Stage, x: float, y: float) -> None:
        from kivy.tests.common import UnitTestTouch

        self._stage = stage
        self._touch = UnitTestTouch(x, y)
        self._touch.touch_down()

    def move(self, x: float, y: float, *, steps: int = 4) -> Finger:
        """Slide there in a few steps, a frame each."""
        from_x, from_y = self._touch.pos
        for step in range(1, steps + 1):
            share = step / steps
            self._touch.touch_move(from_x + (x - from_x) * share, from_y + (y - from_y) * share)
            self._stage.frame()
        return self

    def up(self) -> None:
        """Let go."""
        self._touch.touch_up()

    def hold(self, seconds: float) -> Finger:
        """Wait."""
        self._stage.wait(seconds)
        return self


class Stage:
    """A real window whose frames are stepped one by one, in virtual time.

    Attributes:
        window: Kivy's window.
        flips: how many frames have really been drawn.

    Args:
        clock: Kivy's.
        painted: whether the pixels are wanted, too. Without a GPU they cost most of the time.
    """

    def __init__(self, window: Any, clock: Any, *, painted: bool) -> None:
        self.window = window
        self.flips = 0
        self._painted = painted
        self._clock = clock
        # Time must never run backwards for events that were scheduled before.
        self.now = max(clock.time(), clock._last_tick)

    def frame(self, seconds: float = FRAME) -> None:
        """One turn of the main loop, ``seconds`` after the last one."""
        from kivy.base import EventLoop
        from kivy.graphics.opengl import glEnable, glScissor

        self.now += seconds
        if not self._painted:
            glEnable(GL_SCISSOR_TEST)
            glScissor(0, 0, 1, 1)
        EventLoop.idle()

    def wait(self, seconds: float) -> None:
        """So much time passes, frame by frame."""
        for _ in range(round(seconds / FRAME)):
            self.frame()

    def drawn_frames(self, seconds: float) -> int:
        """How many frames are drawn while so much time passes."""
        before = self.flips
        self.wait(seconds)
        return self.flips - before

    def touch(self, x: float, y: float) -> Finger:
        """Put a finger down."""
        return Finger(self, x, y)

    def tap(self, x: float, y: float) -> None:
        """Put a finger down and take it away, as fast as people do."""
        finger = self.touch(x, y)
        self.frame()
        finger.up()
        self.wait(0.1)

    def _flipped(self, _window: Any) -> None:
        self.flips += 1


@contextmanager
def stepped(window: Any, now: Callable[[], float]) -> Iterator[None]:
    """Kivy's main loop turns only when it is told to, and takes the time from ``now``."""
    from kivy.base import EventLoop
    from kivy.clock import Clock

    before = Clock._max_fps, EventLoop.status, tuple(window.size)
    Clock._max_fps = 0
    Clock.time = now
    EventLoop.status = "started"
    if window not in EventLoop.event_listeners:
        EventLoop.add_event_listener(window)
    try:
        yield
    finally:
        Clock._max_fps, EventLoop.status, window.size = before
        del Clock.time


@pytest.fixture
def stage(kivy_window: Any, request: pytest.FixtureRequest) -> Iterator[Stage]:
    """An empty window and a clock that only the test moves; one pixel is painted of each frame.

    All of them are where a test or its module is marked ``pixels``.
    """
    from kivy.clock import Clock
    from kivy.graphics.opengl import glDisable

    # What the tests before have left is looked through once, and not at each collection after; now
    # and then again, for what was still held the first time.
    if next(_STAGES) % 20 == 0:
        gc.unfreeze()
    gc.collect()
    gc.freeze()
    window = kivy_window
    kept = list(window.children)
    for child in kept:
        window.remove_widget(child)
    painted = request.node.get_closest_marker("pixels") is not None
    stage = Stage(window, Clock, painted=painted)
    events = {id(event) for event in Clock.get_events()}
    window.bind(on_flip=stage._flipped)
    with stepped(window, lambda: stage.now):
        try:
            window.size = STAGE_SIZE
            stage.wait(0.1)
            yield stage
        finally:
            window.unbind(on_flip=stage._flipped)
            glDisable(GL_SCISSOR_TEST)
            for child in list(window.children):
                window.remove_widget(child)
            for event in Clock.get_events():
                if id(event) not in events:
                    event.cancel()
