"""Where the whole picture lies: a few pixels elsewhere every minute, so that nothing burns in.

The picture walks from the middle round and round to the outermost place and back, so that it never
leaps, and every place has its share of the time.

Invariant: a function of the time and the screen; never further than the free border round the
picture.
"""

from __future__ import annotations

from typing import Final

from kiosk.layout import Layout

#: Seconds that the picture stays in one place.
STAY: Final = 60.0
#: How far it goes from the middle, in steps.
_REACH: Final = 2
#: A step is this share of the shorter side of the screen.
_STEP: Final = 1 / 240


def _spiral(reach: int) -> tuple[tuple[int, int], ...]:
    """All places of a square grid, each beside the one before, from the middle outwards."""
    places = [(0, 0)]
    x = y = 0
    dx, dy = 1, 0
    length = 1
    while len(places) < (2 * reach + 1) ** 2:
        for _ in range(2):
            for _ in range(length):
                x, y = x + dx, y + dy
                if max(abs(x), abs(y)) <= reach:
                    places.append((x, y))
            dx, dy = -dy, dx
        length += 1
    return tuple(places)


_OUT: Final = _spiral(_REACH)
#: The way out and back, which begins anew at its end.
WAY: Final = (*_OUT, *_OUT[-2:0:-1])


def margin(layout: Layout) -> int:
    """How far the picture may lie from its usual place, px, in each direction."""
    return _REACH * _step(layout)


def offset(layout: Layout, now: float) -> tuple[int, int]:
    """How far to the right and up the picture lies, px.

    Args:
        layout: the screen.
        now: monotonic seconds.
    """
    x, y = WAY[int(now // STAY) % len(WAY)]
    step = _step(layout)
    return x * step, y * step


def _step(layout: Layout) -> int:
    shorter = min(layout.width, layout.height)
    # Everything keeps a distance of a unit from the edge; a step or two must fit into it.
    return max(1, min(round(shorter * _STEP), (layout.unit - 1) // _REACH))
