"""What a finger means: one touch at a time becomes a tap, a drag that was dropped, or nothing.

A card is taken along once the finger has left the slop; a finger that is let go near where it came
down has tapped all the same, however long it took and whatever it did on the way.

Invariant: pure; no Kivy, no clock: times are monotonic seconds, places px, and a touch is known by
any hashable name.  While one touch is being followed all others are ignored.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from enum import Enum
from typing import Final

#: A touch as soon after the end of another one, in seconds, is its echo from a second driver.
ECHO_TIME: Final = 0.05
#: A touch that was not heard of for so many seconds is lost: its device is gone.
LOST_AFTER: Final = 5.0


class Gesture(Enum):
    """What has just become of the touch."""

    NOTHING = "nothing"
    PRESSED = "pressed"  #: it came down, and is being followed
    LIFTED = "lifted"  #: it has left the slop: the card goes along from now on
    DRAGGED = "dragged"  #: the card is elsewhere now
    TAPPED = "tapped"
    DROPPED = "dropped"
    RETURNED = "returned"  #: the card was carried away and brought back, or never could be carried
    CANCELLED = "cancelled"  #: it ended without being let go


class Touches:
    """Follows one touch at a time.

    Args:
        slop: px that a finger moves before a card goes along.
        reach: px within which a finger that is let go has tapped; ``slop`` or more.

    Attributes:
        dx, dy: how far the touch that is being followed has gone, px.
        dragging: whether a card goes along.
    """

    def __init__(self, slop: float, reach: float) -> None:
        self._slop = slop
        self._reach = max(slop, reach)
        self._name: Hashable | None = None
        self._start = (0.0, 0.0)
        self._heard = -math.inf
        self._can_drag = False
        self._far = False
        self._last_end: tuple[float, float, float] = (-math.inf, 0.0, 0.0)
        self.dx = 0.0
        self.dy = 0.0
        self.dragging = False

    @property
    def active(self) -> bool:
        """Whether a touch is being followed."""
        return self._name is not None

    def follows(self, name: Hashable) -> bool:
        """Whether ``name`` is the touch that is being followed."""
        return self._name is not None and self._name == name

    def down(self, name: Hashable, x: float, y: float, now: float) -> Gesture:
        """A touch begins: PRESSED if it will be followed, else NOTHING.

        The caller ends a drag that is still under way first, when :meth:`is_lost` says so.
        """
        if self.active and not self.is_lost(now):
            return Gesture.NOTHING
        ended, last_x, last_y = self._last_end
        if now - ended < ECHO_TIME and math.hypot(x - last_x, y - last_y) <= self._slop:
            return Gesture.NOTHING
        self._name = name
        self._start = (x, y)
        self._heard = now
        self._can_drag = False
        self._far = False
        self.dx = self.dy = 0.0
        self.dragging = False
        return Gesture.PRESSED

    def allow_drag(self) -> None:
        """What was touched may be carried away."""
        self._can_drag = True

    def is_lost(self, now: float) -> bool:
        """Whether the touch that is being followed has been silent for too long to be believed."""
        return self.active and now - self._heard > LOST_AFTER

    def move(self, name: Hashable, x: float, y: float, now: float) -> Gesture:
        """A touch is elsewhere."""
        if not self.follows(name):
            return Gesture.NOTHING
        self._go(x, y, now)
        if self.dragging:
            return Gesture.DRAGGED
        if self._can_drag and math.hypot(self.dx, self.dy) > self._slop:
            self.dragging = True
            return Gesture.LIFTED
        return Gesture.NOTHING

    def up(self, name: Hashable, x: float, y: float, now: float) -> Gesture:
        """A touch ends."""
        if not self.follows(name):
            return Gesture.NOTHING
        self._go(x, y, now)
        # A quick finger may be reported down and up, with nothing between.
        if self._can_drag and math.hypot(self.dx, self.dy) > self._reach:
            self.dragging = True
        near = math.hypot(self.dx, self.dy) <= self._reach
        was_dragging, was_far = self.dragging, self._far
        self._name = None
        self.dragging = False
        self._last_end = (now, x, y)
        if near:
            return Gesture.RETURNED if was_far else Gesture.TAPPED
        return Gesture.DROPPED if was_dragging else Gesture.RETURNED

    def cancel(self) -> Gesture:
        """The touch will not be let go: its device vanished, or the table became another one."""
        if not self.active:
            return Gesture.NOTHING
        self._name = None
        self.dragging = False
        return Gesture.CANCELLED

    def _go(self, x: float, y: float, now: float) -> None:
        self._heard = now
        self.dx, self.dy = x - self._start[0], y - self._start[1]
        if math.hypot(self.dx, self.dy) > self._reach:
            self._far = True
