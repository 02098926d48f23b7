"""The last warnings and errors, kept in memory for the service menu.

Invariant: bounded in number and in length, whatever is logged how often; may be called on any
thread and never raises into whoever logs.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

#: Entries that are kept, and characters of each.
MOST: Final = 100
LONGEST: Final = 500


@dataclass(frozen=True)
class Logged:
    """A warning or an error.

    Attributes:
        at: when it came last, in seconds since 1970.
        level: as the logging module counts.
        text: one line.
        times: how often the same came in a row.
    """

    at: float
    level: int
    text: str
    times: int = 1


class ErrorLog(logging.Handler):
    """Collects; add it to the root logger before anything else is done.

    Args:
        clock: seconds since 1970; only shown, never reckoned with.

    Attributes:
        warnings: how many came, those that were dropped since included.
        failures: the same of errors.
        last_failure: when the last error came, in seconds since 1970; 0 when there was none.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        super().__init__(logging.WARNING)
        self._clock = clock
        self._entries: deque[Logged] = deque(maxlen=MOST)
        self._guard = threading.Lock()
        self.warnings = 0
        self.failures = 0
        self.last_failure = 0.0

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one more; the same as the last one is only counted."""
        try:
            text = " ".join(record.getMessage().split())
            if record.exc_info and record.exc_info[1] is not None:
                error = record.exc_info[1]
                text += f" ({type(error).__name__}: {' '.join(str(error).split())})"
            # A name of a file may hold bytes that are no text, and no font could draw.
            text = text.encode("utf-8", "backslashreplace").decode("utf-8")
            text = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
            entry = Logged(self._clock(), record.levelno, text)
            with self._guard:
                if entry.level >= logging.ERROR:
                    self.failures += 1
                    self.last_failure = entry.at
                else:
                    self.warnings += 1
                last = self._entries[-1] if self._entries else None
                if last is not None and (last.level, last.text) == (entry.level, entry.text):
                    self._entries[-1] = replace(entry, times=last.times + 1)
                else:
                    self._entries.append(entry)
        except Exception:
            self.handleError(record)

    @property
    def entries(self) -> tuple[Logged, ...]:
        """What was collected, the newest first."""
        with self._guard:
            return tuple(reversed(self._entries))
