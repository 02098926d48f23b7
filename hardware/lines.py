"""Pins that are read: one contact, or the two of an encoder.

Invariant: what runs on the library's thread only puts something on a queue, and no exception gets
out of it: that thread serves all pins, and would be gone.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

from gpiozero import DigitalInputDevice, RotaryEncoder

from hardware.config import Active, EncoderSpec, Pull
from hardware.debounce import Debouncer

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Change:
    """A contact's debounced state changed at monotonic time ``at``."""

    active: bool
    at: float


class _GuardedPin:
    """What keeps a gpiozero pin from ending the thread that serves all pins; goes before its class.

    A pin that is closed while an edge is on its way finds its handlers gone half-way, and raises.
    And lgpio's pins stay on that thread's list when they are closed: the next edge on the same GPIO
    would go to the closed one as well, which then asks for a chip that it no longer has.
    """

    when_changed: object
    _is_closed = False

    def close(self) -> None:
        """Hear of no more edges, then let go."""
        self._is_closed = True
        try:
            self.when_changed = None
        finally:
            super().close()  # type: ignore[misc]

    def _call_when_changed(self, *edge: object) -> None:
        try:
            super()._call_when_changed(*edge)  # type: ignore[misc]
        except Exception:
            if not self._is_closed:
                log.exception("an edge on %s was lost", self)


def guard(factory: Any) -> None:
    """Have a gpiozero pin factory make pins that raise nothing on the library's thread."""
    kind = factory.pin_class
    if not issubclass(kind, _GuardedPin):
        factory.pin_class = type(f"Guarded{kind.__name__}", (_GuardedPin, kind), {})


class Line:
    """One contact on one pin.

    A contact that is active when it is opened counts as inactive until it has been let go: a button
    that is stuck, or leant on while the kiosk starts, is not pressed.

    Args:
        factory: the gpiozero pin factory.
        pin: GPIO number.
        pull: the resistor inside the chip.
        active: the level of the pin while the contact is active.
        debounce: seconds, see :class:`~hardware.debounce.Debouncer`.
        clock: monotonic seconds; called on the library's thread.
        from_start: whether a contact that is active at first is a change; for sensors.
    """

    def __init__(
        self,
        factory: Any,
        pin: int,
        *,
        pull: Pull,
        active: Active,
        debounce: float,
        clock: Callable[[], float],
        from_start: bool = False,
    ) -> None:
        self._clock = clock
        self._changes: SimpleQueue[Change] = SimpleQueue()
        # gpiozero ties "active" to the pull: with a pull-up, low is active.
        up = {"up": True, "down": False, "none": None}[pull]
        self._inverted = (active == "high") == (up is True)
        self._device = DigitalInputDevice(
            pin, pull_up=up, active_state=True if up is None else None, pin_factory=factory
        )
        self._ignored = self._read() and not from_start
        self._debouncer = Debouncer(debounce, self._ignored, self._put)
        self._device.when_activated = lambda: self._edge(True)
        self._device.when_deactivated = lambda: self._edge(False)

    @property
    def last_edge(self) -> float:
        """When the contact last moved at all; minus infinity for never."""
        return self._debouncer.last_edge

    @property
    def active(self) -> bool:
        """Whether the contact is active at this moment, not debounced."""
        return self._read()

    @property
    def waits_for_release(self) -> bool:
        """Whether the contact was active when it was opened, and has been ever since."""
        return self._ignored

    def changes(self, now: float) -> list[Change]:
        """What has changed since the last call, oldest first; call it on one thread only."""
        self._debouncer.rest(self._read(), now)
        found: list[Change] = []
        while True:
            try:
                change = self._changes.get_nowait()
            except Empty:
                return found
            if self._ignored:
                # This is the release that had to come first.
                self._ignored = False
            else:
                found.append(change)

    def close(self) -> None:
        """Let go of the pin."""
        self._device.close()

    def _read(self) -> bool:
        return bool(self._device.is_active) is not self._inverted

    def _edge(self, device_active: bool) -> None:
        try:
            self._debouncer.edge(device_active is not self._inverted, self._clock())
        except Exception:
            log.exception("an edge on %s was lost", self._device)

    def _put(self, active: bool, at: float) -> None:
        self._changes.put(Change(active, at))


class Encoder:
    """A rotary encoder."""

    def __init__(self, factory: Any, spec: EncoderSpec) -> None:
        self._turns: SimpleQueue[int] = SimpleQueue()
        self._device = RotaryEncoder(spec.a, spec.b, max_steps=0, pin_factory=factory)
        self._device.when_rotated_clockwise = lambda: self._turns.put(1)
        self._device.when_rotated_counter_clockwise = lambda: self._turns.put(-1)

    def turns(self) -> int:
        """Steps since the last call: those clockwise, less those anticlockwise."""
        total = 0
        while True:
            try:
                total += self._turns.get_nowait()
            except Empty:
                return total

    def close(self) -> None:
        """Let go of the pins."""
        self._device.close()
