"""How soon the screen answers: from a touch, a new deal or another language to the first frame
that shows it.

Two counts matter, and the worse one is reported: how many frames are drawn before one shows a
difference, and how many sixtieths of a second the work until then keeps the processor.

Invariant: the application is the real one, with pool, session and every widget; only its solver
is left out, which runs in another process and holds up no frame.
"""

from __future__ import annotations

import math
import queue
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from random import Random
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from engine.position import Position
from kiosk.commands import Command, NewDeal, SetLanguage
from kiosk.dealer import PoolDealer
from kiosk.session import Session
from kiosk.sessiontypes import SessionOptions

if TYPE_CHECKING:
    from kiosk.app import KioskApp

#: In how many frames every answer has to be seen.
MOST: Final = 2
#: Milliseconds of one frame.
FRAME_MS: Final = 1000 / 60
#: How often each is asked; the medians count.
ROUNDS: Final = 5
#: More frames than any answer waits for.
_PATIENCE: Final = 30


def measure_answers(rounds: int = ROUNDS) -> dict[str, dict[str, float]]:
    """For each kind of answer: ``frames`` drawn until it is seen, ``ms`` of processor time until
    then, and ``answer``: in how many frames of a 60 Hz screen that is."""
    languages = ("de", "fr", "es", "en")

    def language(app: KioskApp, number: int) -> None:
        app.send(SetLanguage(languages[number % len(languages)]))

    def deal(app: KioskApp, _number: int) -> None:
        app.send(NewDeal(confirmed=True))

    asked: dict[str, Callable[[KioskApp, int], None]] = {
        "touch": _touch_a_card,
        "deal": deal,
        "language": language,
    }
    with _running() as app:
        costs = {
            name: [_answer(partial(ask, app, number)) for number in range(rounds)]
            for name, ask in asked.items()
        }
    result = {}
    for name, each in costs.items():
        frames, ms = max(frames for frames, _ms in each), median(ms for _frames, ms in each)
        answer = max(frames, math.ceil(ms / FRAME_MS))
        result[name] = {"frames": frames, "ms": round(ms, 1), "answer": answer}
    return result


class _NoAdviser:
    """Asks nobody."""

    def ask(self, question: int, history: tuple[Position, ...], winnable_at: int | None) -> None:
        """Never answer."""

    def cancel(self) -> None:
        """Nothing is under way."""


@contextmanager
def _running() -> Iterator[KioskApp]:
    from kivy.base import EventLoop  # noqa: PLC0415 - opens the window
    from kivy.core.window import Window  # noqa: PLC0415

    from kiosk.app import KioskApp  # noqa: PLC0415

    inbox: queue.SimpleQueue[Command] = queue.SimpleQueue()
    dealer = PoolDealer(Random(1))
    options = SessionOptions(start_in_attract=False, attract_after=0)
    session = Session(dealer, _NoAdviser(), options, now=time.monotonic())
    app = KioskApp(session, inbox, keep=lambda _saved: None, ticking=False)
    root = app.build()
    Window.add_widget(root)
    for _ in range(10):
        EventLoop.idle()
    try:
        yield app
    finally:
        app.on_stop()
        Window.remove_widget(root)
        dealer.close()


def _touch_a_card(app: KioskApp, number: int) -> None:
    from kivy.base import EventLoop  # noqa: PLC0415
    from kivy.input.motionevent import MotionEvent  # noqa: PLC0415

    class Touch(MotionEvent):  # type: ignore[misc]
        def depack(self, args: tuple[float, float]) -> None:
            self.sx, self.sy = args
            self.profile = ["pos"]
            super().depack(args)

    app.table.finish()
    free = app.session.position.available
    x, y = app.table.layout.pyramid[free[number % len(free)]].center
    window = EventLoop.window
    where = x / (window.width - 1), y / (window.height - 1)
    touch = Touch("bench", f"bench {number}", where, is_touch=True, type_id="touch")
    EventLoop.post_dispatch_input("begin", touch)
    EventLoop.post_dispatch_input("end", touch)


def _answer(ask: Callable[[], object]) -> tuple[int, float]:
    """Frames until the picture is another one, and processor time until then in ms."""
    from kivy.base import EventLoop  # noqa: PLC0415
    from kivy.core.window import Window  # noqa: PLC0415
    from kivy.graphics.opengl import (  # noqa: PLC0415
        GL_RGBA,
        GL_UNSIGNED_BYTE,
        glFinish,
        glReadPixels,
    )

    def picture() -> bytes:
        return bytes(glReadPixels(0, 0, *map(int, Window.size), GL_RGBA, GL_UNSIGNED_BYTE))

    # What was asked before has come to rest.
    for _ in range(_PATIENCE):
        EventLoop.idle()
    seen: list[tuple[float, bytes]] = []

    def flipped(_window: Any) -> None:
        glFinish()
        # Reading the picture back is none of the kiosk's work.
        seen.append((time.process_time(), picture()))

    Window.canvas.ask_update()
    Window.bind(on_flip=flipped)
    try:
        EventLoop.idle()
        _when, before = seen.pop()
        began = time.process_time()
        ask()
        for turn in range(1, _PATIENCE + 1):
            EventLoop.idle()
            if seen and seen[-1][1] != before:
                return turn, (seen[-1][0] - began) * 1000
    finally:
        Window.unbind(on_flip=flipped)
    raise RuntimeError(f"nothing changed on the screen in {_PATIENCE} frames")
