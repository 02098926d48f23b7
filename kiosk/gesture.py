"""The touch that opens the service menu: hold one corner, then tap the other three clockwise.

A finger is held in the upper left corner for two seconds and let go; then the upper right, lower
right and lower left corner are tapped, in this order, each within three seconds of the one before.
One finger is enough.  No other touch may come between, so nobody finds it by playing.

Invariant: no Kivy and no clock: places in px from the lower left and monotonic seconds come in.
Touches that belong to the gesture are taken away from what lies under them; all others are not.
"""

from __future__ import annotations

from collections.abc import Hashable
from enum import Enum
from typing import Final

#: A touch that carries this among its data has done all that it may do when it ends.
SPENT: Final = "spent"
#: Seconds for which the first corner is held, at least.
HOLD: Final = 2.0
#: Seconds from one corner to the next, and for which a tap may last, at most.
NEXT: Final = 3.0
#: Seconds after which a finger that was never lifted is forgotten.
FORGET: Final = 60.0
#: Corners are squares of this share of the screen's shorter side, in case a finger is larger.
SHARE: Final = 0.14


class Step(Enum):
    """What a touch meant."""

    NOTHING = "nothing"  #: it is not part of the gesture
    TAKEN = "taken"  #: it is, and does nothing else
    OPEN = "open"  #: it was the last one: open the service menu


class CornerGesture:
    """Follows the touches of one screen.

    Args:
        width, height: of the screen, px.
        finger: the side of the smallest touch target, px.
    """

    def __init__(self, width: float, height: float, finger: float) -> None:
        side = max(finger, SHARE * min(width, height))
        near, far_x, far_y = (0.0, side), (width - side, width), (height - side, height)
        #: The corners in their order: upper left, upper right, lower right, lower left.
        self._corners = ((near, far_y), (far_x, far_y), (far_x, near), (near, near))
        self._touches: dict[Hashable, tuple[int | None, float]] = {}
        self._done = 0
        self._last = 0.0

    def down(self, touch: Hashable, x: float, y: float, now: float) -> Step:
        """A finger came down at a place; ``touch`` tells fingers apart."""
        corner = self._corner(x, y)
        # A touch whose end got lost, with its device, is not waited for for ever.
        self._touches = {t: kept for t, kept in self._touches.items() if now - kept[1] < FORGET}
        alone = not self._touches
        if self._done and (corner != self._done or not alone or now - self._last > NEXT):
            self._done = 0
        taken = self._done > 0
        # A second finger anywhere spoils what the first one has begun.
        if not alone:
            self._touches = dict.fromkeys(self._touches, (None, now))
        self._touches[touch] = (corner if alone else None, now)
        return Step.TAKEN if taken else Step.NOTHING

    def up(self, touch: Hashable, x: float, y: float, now: float) -> Step:
        """A finger left the screen at a place."""
        corner, since = self._touches.pop(touch, (None, now))
        if corner is None or self._corner(x, y) != corner or corner != self._done:
            self._done = 0
            return Step.NOTHING
        held = now - since
        if (held < HOLD) if corner == 0 else (held > NEXT):
            self._done = 0
            return Step.NOTHING if corner == 0 else Step.TAKEN
        self._done += 1
        self._last = now
        if self._done < len(self._corners):
            return Step.TAKEN
        self._done = 0
        return Step.OPEN

    def _corner(self, x: float, y: float) -> int | None:
        for number, ((left, right), (bottom, top)) in enumerate(self._corners):
            if left <= x <= right and bottom <= y <= top:
                return number
        return None
