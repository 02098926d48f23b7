"""The panel: all buttons, encoders, lamps and the presence sensor behind one door.

Everything here runs on the caller's thread, in :meth:`Panel.poll`; the library's thread only puts
edges on queues.

Invariant: the game goes on without a panel.  Nothing here raises because of hardware: a panel that
cannot be opened, or breaks, is replaced by one that does nothing and is tried again now and then.
Each reason is logged once, in one line.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from hardware.buttons import Buttons
from hardware.chip import HardwareError, open_factory
from hardware.config import LampState, PanelSettings
from hardware.events import EventKind, PanelEvent
from hardware.presence import Presence

if TYPE_CHECKING:
    from hardware.lamps import Lamp
    from hardware.lines import Encoder, Line

log = logging.getLogger(__name__)

#: Seconds until a panel that failed is tried again: at first, and at most; each time twice as long.
FIRST_RETRY: Final = 5.0
LAST_RETRY: Final = 300.0

Post = Callable[[PanelEvent], None]
#: Makes a gpiozero pin factory; raises HardwareError.
OpenPins = Callable[[], Any]


class _Closable(Protocol):
    def close(self) -> None: ...


_Made = TypeVar("_Made", bound=_Closable)


@dataclass
class _Attempts:
    """What panels that stand in for each other share: what is wanted, and how it went so far."""

    settings: PanelSettings
    post: Post
    clock: Callable[[], float]
    open_pins: OpenPins
    reason: str = ""
    pause: float = FIRST_RETRY
    next_try: float = 0.0

    def open(self) -> Panel | NullPanel:
        """Try once."""
        if self.settings.is_empty:
            return NullPanel(self)
        try:
            panel = Panel(self, self.open_pins())
        except Exception as error:
            reason = plain(error)
            if reason != self.reason:
                log.error("no panel, the game goes on without: %s", reason)  # noqa: TRY400
            self.failed(reason)
            return NullPanel(self)
        if self.reason:
            log.info("the panel works now")
        self.reason = ""
        return panel

    def failed(self, reason: str) -> None:
        """Remember why, and wait longer each time."""
        self.reason = reason
        self.next_try = self.clock() + self.pause
        self.pause = min(LAST_RETRY, self.pause * 2)


class Panel:
    """A panel that works; made by :meth:`open`.

    Attributes:
        connected: whether it works; once it does not, it never will again: see :meth:`retry`.
    """

    def __init__(self, attempts: _Attempts, factory: Any) -> None:
        """Claim every pin.

        Raises:
            HardwareError: a pin cannot be used.  The pins claimed before it are free again, and so
                is the factory.
        """
        # gpiozero loads slowly, and a kiosk without a panel need not have it.
        from hardware.lamps import Lamp  # noqa: PLC0415
        from hardware.lines import Encoder, Line, guard  # noqa: PLC0415

        guard(factory)
        self._attempts = attempts
        self._open_since = attempts.clock()
        self._to_close: list[_Closable] = [factory]
        self.connected = True
        settings = attempts.settings
        self._buttons = Buttons(settings.buttons, settings.combinations, self._safely)
        self._lines: dict[str, Line] = {}
        self._encoders: dict[str, Encoder] = {}
        self._lamps: dict[str, Lamp] = {}
        self._turned: dict[str, int] = {}
        self._sensor: tuple[Line, Presence] | None = None
        for name, button in settings.buttons.items():
            make = partial(
                Line,
                factory,
                button.pin,
                pull=button.pull,
                active=button.active,
                debounce=button.debounce,
                clock=attempts.clock,
            )
            self._lines[name] = line = self._claim(f"button {name} on GPIO {button.pin}", make)
            if line.waits_for_release:
                log.warning("button %s is down already: it waits to be let go", name)
        for name, encoder in settings.encoders.items():
            what = f"encoder {name} on GPIO {encoder.a} and {encoder.b}"
            self._encoders[name] = self._claim(what, partial(Encoder, factory, encoder))
        for name, lamp in settings.lamps.items():
            what = f"lamp {name} on GPIO {lamp.pin}"
            self._lamps[name] = self._claim(what, partial(Lamp, factory, lamp))
        if (sensor := settings.presence) is not None:
            make = partial(
                Line,
                factory,
                sensor.pin,
                pull=sensor.pull,
                active=sensor.active,
                debounce=sensor.debounce,
                clock=attempts.clock,
                from_start=True,
            )
            line = self._claim(f"presence sensor on GPIO {sensor.pin}", make)
            self._sensor = (line, Presence(sensor.absent_after, self._safely))

    @classmethod
    def open(
        cls,
        settings: PanelSettings,
        post: Post,
        *,
        clock: Callable[[], float] = time.monotonic,
        open_pins: OpenPins = open_factory,
    ) -> Panel | NullPanel:
        """A panel that works, or one that does nothing and will be tried again.

        Args:
            settings: what is wired.
            post: takes the events, on the thread that calls :meth:`poll`.
            clock: monotonic seconds, the same scale as in :meth:`poll`.
            open_pins: makes the pin factory.
        """
        return _Attempts(settings, post, clock, open_pins).open()

    @property
    def reason(self) -> str:
        """Why it does not work; empty while it does."""
        return self._attempts.reason

    @property
    def inputs(self) -> dict[str, bool | int]:
        """By name: whether a button or the sensor is active now; how far an encoder was turned.

        The sensor is called ``presence``.  Empty when the panel does not work.
        """
        if not self.connected:
            return {}
        found: dict[str, bool | int] = {name: line.active for name, line in self._lines.items()}
        found |= {name: self._turned.get(name, 0) for name in self._encoders}
        if self._sensor is not None:
            found["presence"] = self._sensor[0].active
        return found

    def poll(self, now: float) -> None:
        """It is ``now``, in monotonic seconds: post what has happened, and move the lamps.

        Call it at least ten times a second; a ring fills, and a lamp breathes, as smoothly as this
        is called.
        """
        if not self.connected:
            return
        try:
            self._poll(now)
        except Exception as error:
            reason = plain(error)
            log.error("the panel stopped working: %s", reason)  # noqa: TRY400
            if now - self._open_since > LAST_RETRY:
                self._attempts.pause = FIRST_RETRY
            self._attempts.failed(reason)
            self.close()

    def light(self, name: str, state: str) -> None:
        """Have a lamp show ``off``, ``on``, ``breathing`` or ``blinking``.

        A lamp that is not wired is no mistake: not every cabinet has one.

        Raises:
            ValueError: there is no such state.
        """
        wanted = LampState(state)
        if (lamp := self._lamps.get(name)) is not None:
            lamp.show(wanted)

    def retry(self, now: float) -> Panel | NullPanel:
        """The panel to go on with: this one, or what stands in for it since it broke."""
        broken = not self.connected and self._attempts.reason
        return NullPanel(self._attempts).retry(now) if broken else self

    def close(self) -> None:
        """Put out the lamps and let go of all pins; a second time does nothing.  Never raises."""
        self.connected = False
        while self._to_close:
            thing = self._to_close.pop()
            try:
                thing.close()
            except Exception as error:
                log.warning("closing %s: %s", type(thing).__name__, plain(error))

    def _claim(self, what: str, make: Callable[[], _Made]) -> _Made:
        try:
            made = make()
        except Exception as error:
            self.close()
            raise HardwareError(f"{what}: {plain(error)}") from error
        self._to_close.append(made)
        return made

    def _poll(self, now: float) -> None:
        changes = [
            (change.at, name, change.active)
            for name, line in self._lines.items()
            for change in line.changes(now)
        ]
        # In the order in which they happened, whichever button they came from.
        for at, name, active in sorted(changes, key=itemgetter(0)):
            self._buttons.change(name, active, at)
        self._buttons.pass_time(now, lambda name: self._lines[name].last_edge)
        for name, encoder in self._encoders.items():
            steps = encoder.turns()
            self._turned[name] = self._turned.get(name, 0) + steps
            for _ in range(abs(steps)):
                self._safely(PanelEvent(EventKind.TURNED, name, 1 if steps > 0 else -1))
        if self._sensor is not None:
            line, presence = self._sensor
            for change in line.changes(now):
                presence.change(change.active, change.at)
            presence.pass_time(now)
        for lamp in self._lamps.values():
            lamp.pass_time(now)

    def _safely(self, event: PanelEvent) -> None:
        try:
            self._attempts.post(event)
        except Exception:
            log.exception("%s of %s was lost", event.kind, event.source)


class NullPanel:
    """A panel that does nothing, because none is wired or it cannot be used; see :meth:`retry`."""

    connected: Final = False

    def __init__(self, attempts: _Attempts) -> None:
        self._attempts = attempts
        self._closed = False

    @property
    def reason(self) -> str:
        """Why there is none; empty when nothing is wired, which is no fault."""
        return self._attempts.reason

    @property
    def inputs(self) -> dict[str, bool | int]:
        """Nothing."""
        return {}

    def poll(self, now: float) -> None:
        """Do nothing."""

    def light(self, name: str, state: str) -> None:  # noqa: ARG002 - the same call as on a Panel
        """Do nothing; a state that does not exist raises ValueError all the same."""
        LampState(state)

    def retry(self, now: float) -> Panel | NullPanel:
        """The panel to go on with: a real one if it is time to try and it can be opened.

        The pauses between tries double, from FIRST_RETRY to LAST_RETRY seconds.
        """
        attempts = self._attempts
        if self._closed or attempts.settings.is_empty or now < attempts.next_try:
            return self
        return attempts.open()

    def close(self) -> None:
        """Give up trying; a second time does nothing."""
        self._closed = True


def plain(error: Exception) -> str:
    """What an error says, on one line."""
    return " ".join(str(error).split()) or type(error).__name__
