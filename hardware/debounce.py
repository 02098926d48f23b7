"""Edges of a bouncing contact become presses and releases.

The first edge after a quiet time counts at once, so that a press is never late.  Every edge after
it only prolongs the lock-out; when the pin has been quiet for long enough, the level at which it
came to rest counts.  So a storm of edges, however long, is one press and at most one release.

Invariant: no clock and no pin.  Safe to use from two threads: edges come on one, time on another.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock


class Debouncer:
    """The debounced state of one contact.

    Args:
        lock_out: how long, in seconds, there must be no edge before the next change counts.
        active: the state at first.
        changed: called with each new state and its time; while a lock is held, so it must be quick.
    """

    def __init__(
        self, lock_out: float, active: bool, changed: Callable[[bool, float], None]
    ) -> None:
        self._lock_out = lock_out
        self._changed = changed
        self._lock = Lock()
        self._active = active
        self._last_edge = float("-inf")

    @property
    def active(self) -> bool:
        """The debounced state."""
        return self._active

    @property
    def last_edge(self) -> float:
        """When the contact last moved at all, counted or not; minus infinity for never."""
        return self._last_edge

    def edge(self, active: bool, now: float) -> None:
        """The contact went to ``active`` at monotonic time ``now``."""
        with self._lock:
            quiet = now - self._last_edge >= self._lock_out
            self._last_edge = max(now, self._last_edge)
            if quiet:
                self._set(active, now)

    def rest(self, active: bool, now: float) -> None:
        """The contact was seen at ``active``: what counts once the lock-out is over.

        This also makes good an edge that was never reported.
        """
        with self._lock:
            if active != self._active and now - self._last_edge >= self._lock_out:
                self._last_edge = now
                self._set(active, now)

    def _set(self, active: bool, now: float) -> None:
        if active != self._active:
            self._active = active
            self._changed(active, now)
