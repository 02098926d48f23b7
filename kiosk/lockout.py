"""How often a PIN may be tried: three times, then after waits that grow.

Invariant: no clock of its own; time is monotonic and comes in with every call.  An attempt is
counted, and the count kept, before it is known whether it was right, so that pulling the plug gains
nothing: after a restart the last wait begins anew.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

#: Attempts before the first wait.
FREE: Final = 3
#: Seconds of the first wait; each further one is twice as long, up to the second figure.
FIRST_WAIT: Final = 30.0
LONGEST_WAIT: Final = 900.0


def wait_after(failures: int) -> float:
    """Seconds to wait after so many failures in a row."""
    if failures < FREE:
        return 0.0
    return float(min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(failures - FREE, 30)))


class Lockout:
    """The count of failures in a row.

    Args:
        now: monotonic seconds.
        failures: how many there were before the start.
        keep: called with the count whenever it changes, before anything follows from it; it may
            not wait for a disk.
    """

    def __init__(
        self, now: float, failures: int = 0, keep: Callable[[int], None] = lambda _failures: None
    ) -> None:
        self.failures = max(0, failures)
        self._keep = keep
        self._until = now + wait_after(self.failures)

    def left(self, now: float) -> float:
        """Seconds until the next attempt may be made; 0 when it may be made now."""
        return max(0.0, self._until - now)

    def attempt(self, now: float, check: Callable[[], bool]) -> bool:
        """Try, unless it is too early; whether it was tried and right."""
        if self.left(now) > 0:
            return False
        self._count(self.failures + 1)
        if check():
            self._count(0)
            self._until = now
            return True
        self._until = now + wait_after(self.failures)
        return False

    def _count(self, failures: int) -> None:
        self.failures = failures
        self._keep(failures)
