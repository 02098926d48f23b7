"""Mock pins, a clock that is set by hand, and threads that drive pins from outside."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import Barrier, Thread

from gpiozero.pins.mock import MockFactory, MockPWMPin

from hardware.config import PanelSettings
from hardware.events import EventKind, PanelEvent
from hardware.panel import NullPanel, Panel


class FakeClock:
    """Monotonic seconds that pass when the test says so."""

    def __init__(self, now: float = 1_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def on_threads(*jobs: Callable[[], object]) -> None:
    """Run the jobs at the same time, each on a thread of its own; an error in one is an error."""
    start = Barrier(len(jobs))
    errors: list[BaseException] = []

    def work(job: Callable[[], object]) -> None:
        try:
            start.wait(10)
            job()
        except BaseException as error:
            errors.append(error)

    threads = [Thread(target=work, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    if errors:
        raise errors[0]


class Rig:
    """A panel on mock pins.  Pins are always driven from another thread, as they are on a Pi."""

    def __init__(self, settings: PanelSettings, pin_class: type[MockPWMPin] = MockPWMPin) -> None:
        self.clock = FakeClock()
        self.factory = MockFactory(pin_class=pin_class)
        self.events: list[PanelEvent] = []
        self.settings = settings
        self.panel: Panel | NullPanel = Panel.open(
            settings, self.events.append, clock=self.clock, open_pins=lambda: self.factory
        )

    def drive(self, *steps: tuple[int, bool]) -> None:
        """Drive pins high or low, one after the other, on a thread of its own."""

        def work() -> None:
            for number, high in steps:
                pin = self.factory.pin(number)
                if high:
                    pin.drive_high()
                else:
                    pin.drive_low()

        on_threads(work)

    def press(self, *pins: int) -> None:
        """Press buttons that pull their pins low."""
        self.drive(*((pin, False) for pin in pins))

    def release(self, *pins: int) -> None:
        """Let go of buttons that pull their pins low."""
        self.drive(*((pin, True) for pin in pins))

    def wait(self, seconds: float, step: float = 0.02) -> None:
        """Let time pass, polling every ``step`` seconds."""
        end = self.clock.now + seconds
        while self.clock.now < end - 1e-9:
            self.clock.now = min(end, self.clock.now + step)
            self.panel.poll(self.clock.now)

    def poll(self) -> None:
        """Poll without time passing."""
        self.panel.poll(self.clock.now)

    def take(self, *kinds: EventKind) -> list[tuple[str, str]]:
        """The events so far, as (kind, source), all or those of some kinds; then forget them."""
        wanted: Iterable[PanelEvent] = self.events
        if kinds:
            wanted = [event for event in self.events if event.kind in kinds]
        found = [(str(event.kind), event.source) for event in wanted]
        self.events.clear()
        return found
