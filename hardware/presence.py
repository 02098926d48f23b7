"""Whether somebody is there, according to a sensor.

Infrared sensors pulse while they see somebody, so that "gone" is a time without a pulse.

Invariant: no clock, no pin and no thread.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from hardware.events import EventKind, PanelEvent

log = logging.getLogger(__name__)

#: Whoever has been seen for so many seconds without a pause is nobody: the sensor is stuck.
STUCK_AFTER: Final = 4 * 3600.0


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
            self._went()
        elif self.present and self._seen and now - self._since >= STUCK_AFTER:
            log.warning(
                "the presence sensor has seen somebody for %.0f hours: stuck? "
                "It counts again when it has seen nobody",
                STUCK_AFTER / 3600,
            )
            self._went()

    def _went(self) -> None:
        self.present = False
        self._post(PanelEvent(EventKind.WENT, self._source))
