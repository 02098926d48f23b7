"""What becomes of an exception that nobody has caught on the main loop: play goes on.

A touch, a tick or a frame that failed is given up, and everything on the screen is made anew from
the session, which changes a game only as a whole.  Where that keeps happening the kiosk ends, to be
begun anew by whoever started it: a loop of failures helps nobody.

Invariant: never hides that something is wrong: each exception is in the log with its trace.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from kivy.base import ExceptionHandler, ExceptionManager

log = logging.getLogger(__name__)

#: So many exceptions within so many seconds are gone on from, but no more.
MOST: Final = 5
WITHIN: Final = 60.0


class Mishaps(ExceptionHandler):  # type: ignore[misc]
    """Kivy's main loop asks it what to do about an exception.

    Args:
        anew: makes everything that is seen anew.
        clock: monotonic seconds.
    """

    def __init__(
        self, anew: Callable[[], object], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._anew = anew
        self._clock = clock
        self._times: deque[float] = deque(maxlen=MOST)
        self._ended = False

    def watch(self) -> None:
        """Be asked from now on."""
        ExceptionManager.add_handler(self)

    def leave(self) -> None:
        """Be asked no more; a second time does nothing."""
        ExceptionManager.remove_handler(self)

    def handle_exception(self, inst: BaseException) -> int:
        """Whether the main loop goes on (PASS) or the exception ends it (RAISE)."""
        go_on, end = int(ExceptionManager.PASS), int(ExceptionManager.RAISE)
        if self._ended or not isinstance(inst, Exception):
            return end
        log.error("something failed that should not have", exc_info=inst)
        now = self._clock()
        if len(self._times) == MOST and now - self._times[0] < WITHIN:
            log.critical("that was once too often: the kiosk ends, to begin anew")
            self._ended = True
            return end
        self._times.append(now)
        try:
            self._anew()
        except Exception:
            log.exception("the screen could not be made anew either: the kiosk ends")
            self._ended = True
            return end
        return go_on

    def shield(self, do: Callable[[float], object]) -> Callable[[float], None]:
        """``do`` for a timer that is to go on: Kivy drops one whose callback has raised."""

        def safely(seconds: float) -> None:
            try:
                do(seconds)
            except Exception as error:
                if self.handle_exception(error) != ExceptionManager.PASS:
                    raise

        return safely
