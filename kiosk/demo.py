"""One attract-mode game at speed: for machines without a display, for pictures and for tests.

Invariant: the demo runs through the same application, session and attract player as on a screen;
only the clock is its own, a fixed step a frame.
"""

from __future__ import annotations

import logging
import queue
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from kivy.clock import Clock
from kivy.core.window import Window

from engine.position import Outcome, Position
from kiosk.app import KioskApp
from kiosk.commands import Change, ChangeKind, Command
from kiosk.session import Session
from kiosk.sessiontypes import Dealer, SessionOptions

log = logging.getLogger(__name__)

#: Seconds of the demo's time that each frame takes it forward.
STEP: Final = 0.15
#: A demo that has not ended after so many frames never will.
MOST_FRAMES: Final = 5000


class NoAdvice:
    """Nobody asks for hints in a demo."""

    def ask(self, question: int, history: tuple[Position, ...], winnable_at: int | None) -> None:
        """Take the question and never answer."""

    def cancel(self) -> None:
        """There is nothing to drop."""


class DemoApp(KioskApp):
    """The application with a clock of its own, which ends after one demo."""

    def __init__(self, session: Session, shots: Path | None) -> None:
        self._time = 0.0
        inbox: queue.SimpleQueue[Command] = queue.SimpleQueue()
        super().__init__(
            session,
            inbox,
            keep=lambda _saved: None,
            clock=lambda: self._time,
            ticking=False,
        )
        self._shots = shots
        self._half = len(session.demo_line) // 2
        self.pictures: list[str] = []
        self.moves = 0
        self.won = False
        self._settling = 0

    def on_start(self) -> None:
        """Begin once the window has been drawn."""
        self._events.append(Clock.schedule_interval(self._step, 0))

    def send(self, command: Command) -> Change:
        """Count the moves that go by."""
        change = super().send(command)
        if change.kind is ChangeKind.PLAYED:
            self.moves += 1
            self.won = change.new.outcome is Outcome.WON
        return change

    def _step(self, _dt: float) -> None:
        # Pictures are taken of a table at rest, one frame after its animation was finished.
        if self._settling:
            self._settling -= 1
            if self._settling == 0:
                self._picture({0: "1-start", self._half: "2-middle"}.get(self.moves, "3-end"))
                if self.won:
                    self.stop()
            return
        before = self.moves
        if self.frames > 1 and not self.pictures and self._shots is not None:
            self._settle()
            return
        self._time += STEP
        self._tick(0)
        if self.won or (self.moves == self._half and self.moves != before):
            self._settle()
        if self.frames > MOST_FRAMES:
            log.error("the demo did not end within %d frames", MOST_FRAMES)
            self.stop()

    def _settle(self) -> None:
        self.table.finish()
        Window.canvas.ask_update()
        self._settling = 3

    def _picture(self, name: str) -> None:
        if self._shots is None:
            return
        wanted = self._shots / f"{name}.png"
        # Kivy numbers the files that it writes and says which name it took.
        taken = Window.screenshot(name=str(self._shots / f"{name}-.png"))
        if taken:
            Path(taken).replace(wanted)
            self.pictures.append(str(wanted))


def play_demo(
    dealer: Dealer,
    options: SessionOptions,
    shots: Path | None,
    *,
    run: Callable[[KioskApp], None],
) -> dict[str, Any]:
    """Play one demo, by ``run``, and return its summary, ready for JSON."""
    session = Session(dealer, NoAdvice(), options, now=0.0)
    deal, rules, preset = session.number, session.position.rules, session.preset
    app = DemoApp(session, shots)
    run(app)
    return {
        "deal": deal,
        "preset": preset,
        "rules": str(rules),
        "moves": app.moves,
        "won": app.won,
        "frames": app.frames,
        "pictures": app.pictures,
    }
