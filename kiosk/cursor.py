"""The mark that lets a stick, a wheel or a keyboard do what a finger does.

What can be marked is a list of spots: rectangles with a key each, in the order in which a wheel
goes through them.  A stick goes by where they lie.  Where the mark stands is kept by key, so that
it stays with a thing that is drawn anew, and goes to the nearest when that thing is gone.

Invariant: no Kivy, no clock, no game state.  From every spot that can be gone to each other one is
reached by the wheel alone, and by the stick alone.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from engine.deal import PYRAMID_SIZE
from engine.position import Position
from kiosk.commands import Pile, Target
from kiosk.layout import Layout, Rect

SELECT: Final = "select"
NEXT: Final = "next"
PREVIOUS: Final = "previous"
#: Ways that a stick can be pushed, as steps to the right and up.
_WAYS: Final[dict[str, tuple[int, int]]] = {
    "up": (0, 1),
    "down": (0, -1),
    "left": (-1, 0),
    "right": (1, 0),
}
#: How much worse it is to lie aside by a px than to lie a px further away.
_ASIDE: Final = 2.0


@dataclass(frozen=True)
class Spot:
    """Something that can be marked.

    Attributes:
        key: what it is; no two spots of a list have the same.
        rect: where it is.
        live: whether it would do something; the mark passes over what would not, but stays on what
            no longer does: the next press must not mean something else.
        first: whether the mark begins here.
    """

    key: Hashable
    rect: Rect
    live: bool = True
    first: bool = False


class Cursor:
    """Where the mark stands.

    Args:
        home: the scene that others lie over, and in which the mark comes back to where it was.

    Attributes:
        shown: whether the mark is seen: not before somebody has steered it, nor after a touch.
    """

    def __init__(self, home: Hashable) -> None:
        self._home = home
        self._scene: Hashable = home
        self._at_home: Spot | None = None
        self._at: Spot | None = None
        self._spots: Sequence[Spot] = ()
        self.shown = False

    @property
    def spot(self) -> Spot | None:
        """What is marked, seen or not; None where nothing can be marked."""
        return self._at

    @property
    def has_spots(self) -> bool:
        """Whether there is anything to mark at this moment."""
        return bool(self._spots)

    def settle(self, scene: Hashable, spots: Sequence[Spot]) -> None:
        """This is what there is now; again and again.

        Args:
            scene: what the spots belong to; in another scene the mark begins anew.
            spots: all that can be marked, in the wheel's order.
        """
        self._spots = spots
        if scene != self._scene:
            if self._scene == self._home:
                self._at_home = self._at
            self._at = self._at_home if scene == self._home else None
            self._scene = scene
        if not spots:
            # For a moment only, such as while cards fly: the mark will be wanted again.
            return
        self._at = self._found(self._at) if self._at is not None else self._beginning()

    def steer(self, way: str) -> bool:
        """Go ``up``, ``down``, ``left``, ``right``, ``next`` or ``previous``.

        A mark that is not seen is only shown: nobody knows yet where it goes from.

        Returns:
            whether the mark was seen already.

        Raises:
            ValueError: there is no such way.
        """
        if way not in _WAYS and way not in {NEXT, PREVIOUS}:
            raise ValueError(f"there is no way {way!r}")
        was_shown, self.shown = self.shown, True
        if was_shown and self._at is not None and self._spots:
            self._at = step(self._spots, self._at, way)
        return was_shown

    def hide(self) -> None:
        """Let the mark be seen no more until somebody steers it."""
        self.shown = False

    def forget(self) -> None:
        """Whoever comes next begins anew, and perhaps with a finger."""
        self.shown = False
        self._at = self._at_home = None

    def _found(self, old: Spot) -> Spot:
        """The same thing, wherever it is now, or what is nearest to where it was."""
        same = next((spot for spot in self._spots if spot.key == old.key), None)
        if same is not None:
            return same
        x, y = old.rect.center
        live = [spot for spot in self._spots if spot.live] or self._spots
        return min(live, key=lambda spot: math.dist(spot.rect.center, (x, y)))

    def _beginning(self) -> Spot:
        live = [spot for spot in self._spots if spot.live] or self._spots
        return next((spot for spot in live if spot.first), live[0])


def step(spots: Sequence[Spot], at: Spot, way: str) -> Spot:
    """The spot that is one step from ``at``; ``at`` itself where there is no other.

    A wheel goes round.  A stick goes to what lies that way, best in the same line; where nothing
    does it comes back in from the other side, one line on, as in reading: so nothing is out of its
    reach.
    """
    others = [spot for spot in spots if spot.live and spot.key != at.key]
    if not others:
        return at
    if way in _WAYS:
        dx, dy = _WAYS[way]
        lie_there = [spot for spot in others if _ahead(at.rect, spot.rect, dx, dy) > 0]
        if lie_there:
            return min(lie_there, key=lambda spot: _cost(at.rect, spot.rect, dx, dy))
    # Nothing lies there: on in the wheel's order.
    keys = [spot.key for spot in spots]
    start = keys.index(at.key)
    by = -1 if way in {PREVIOUS, "left", "up"} else 1
    around = (spots[(start + by * i) % len(spots)] for i in range(1, len(spots)))
    return next(spot for spot in around if spot.live)


def _ahead(here: Rect, there: Rect, dx: int, dy: int) -> float:
    """How far the middle of a rectangle lies ahead, px; 0 or less where it does not."""
    (x, y), (to_x, to_y) = here.center, there.center
    return dx * (to_x - x) + dy * (to_y - y)


def _cost(here: Rect, there: Rect, dx: int, dy: int) -> float:
    """How far out of the way a rectangle is that lies ahead."""
    (x, y), (to_x, to_y) = here.center, there.center
    if dx:
        aside = max(0, there.y - here.top, here.y - there.top)
        slant = abs(to_y - y)
    else:
        aside = max(0, there.x - here.right, here.x - there.right)
        slant = abs(to_x - x)
    return _ahead(here, there, dx, dy) + _ASIDE * aside + slant / 2


# -- what there is to mark ------------------------------------------------------------------------


def table_spots(position: Position, layout: Layout) -> Iterator[Spot]:
    """The cards that can be played, from the left, then stock and waste."""
    free = set(position.available)
    places = [
        place
        for place in range(PYRAMID_SIZE)
        if place in free
        # Where a card may go with the one that covers it.
        or (position.rules.overlap and position.is_present(place) and position.partners(place))
    ]

    def across(place: int) -> tuple[int, int]:
        rect = layout.pyramid[place]
        return rect.x, -rect.y

    for place in sorted(places, key=across):
        yield Spot(place, layout.pyramid[place])
    for pile in Pile:
        yield Spot(pile, layout.target_rect(pile), live=_is_live(pile, position))


def _is_live(pile: Target, position: Position) -> bool:
    if pile is Pile.WASTE:
        return position.waste_top is not None
    return position.can_draw or position.can_redeal


def in_reading_order(spots: Sequence[Spot]) -> list[Spot]:
    """Line by line from the top, each from the left.

    What stands beside the middle of a line's first spot belongs to that line.
    """
    left = sorted(spots, key=lambda spot: (-spot.rect.top, spot.rect.x))
    ordered: list[Spot] = []
    while left:
        head = left[0].rect
        line = [spot for spot in left if head.y <= spot.rect.center[1] < head.top]
        ordered += sorted(line, key=lambda spot: spot.rect.x)
        left = [spot for spot in left if spot not in line]
    return ordered
