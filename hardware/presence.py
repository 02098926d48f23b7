"""Whether somebody is there, according to a sensor.

Infrared sensors pulse while they see somebody, so that "gone" is a time without a pulse.

Invariant: no clock, no pin and no thread.
"""

from __future__ import annotations

from collections.abc import Callable

from hardware.events import EventKind, PanelEvent


class Presence:
    """Turns the state of a sensor into CAME and WENT.

    Args:
        absent_after: seconds without a sight until somebody has gone.
        post: takes the events.
        source: the name in the events.
    """

    def __init__(
        self,
        absent_after: float,
        post: Callable[[PanelEvent], None],
        source: str = "presence",
    ) -> None:
        self._absent_after = absent_after
        self._post = post
        self._source = source
        self._seen = False
        self._since = 0.0
        self.present = False

    def change(self, seen: bool, at: float) -> None:
        """The sensor began or ceased to see somebody at monotonic time ``at``."""
        self._seen = seen
        self._since = at
        if seen and not self.present:
            self.present = True
            self._post(PanelEvent(EventKind.CAME, self._source))

    def pass_time(self, now: float) -> None:
        """It is ``now``."""
        if self.present and not self._seen and now - self._since >= self._absent_after:
            self.present = False
            self._post(PanelEvent(EventKind.WENT, self._source))
