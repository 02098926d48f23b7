"""The 1,430 shapes that the pyramid can have, numbered, with what is exposed in each.

A shape is the set of pyramid places that still hold a card.  Cards leave from below, so a place
that holds a card has every place that it covers filled too; exactly 1,430 sets are like that
(the Catalan number of 8), the full and the empty pyramid included.

Invariant: shape 0 is the empty pyramid, the last shape the full one, and a shape's number is its
rank when the masks are sorted.  The tables depend on nothing but the geometry of the pyramid.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import cache
from typing import Final, NamedTuple

from engine.deal import PYRAMID_SIZE
from engine.position import COVER_MASKS, COVERS, PYRAMID_MASK

SHAPE_COUNT: Final = 1430


class ShapeTables(NamedTuple):
    """What the search looks up about shapes.

    Attributes:
        number_of: from the 28-bit mask of a shape to its number, 0 to 1,429.
        masks: the 28-bit mask of each shape.
        exposed: the 28-bit mask of the exposed places of each shape.
        after: ``after[shape * 28 + place]`` is the shape that is left when the exposed card of
            ``place`` goes; 0xFFFF where no exposed card lies there.
        covers: for each place the 28-bit mask of the two places that cover it.
        covered: likewise of the places that it covers.
        below: likewise of all places that must be empty before it is exposed.
        above: likewise of all places that wait for it.
    """

    number_of: dict[int, int]
    masks: array[int]
    exposed: array[int]
    after: array[int]
    covers: array[int]
    covered: array[int]
    below: array[int]
    above: array[int]


@cache
def shape_tables() -> ShapeTables:
    """Build the tables, once."""
    exposed_of: dict[int, int] = {}
    todo = [PYRAMID_MASK]
    while todo:
        mask = todo.pop()
        if mask in exposed_of:
            continue
        exposed = 0
        for place in range(PYRAMID_SIZE):
            if mask >> place & 1 and not mask & COVER_MASKS[place]:
                exposed |= 1 << place
                todo.append(mask ^ (1 << place))
        exposed_of[mask] = exposed
    masks = sorted(exposed_of)
    number_of = {mask: number for number, mask in enumerate(masks)}
    after = array("H", [0xFFFF]) * (len(masks) * PYRAMID_SIZE)
    for mask, number in number_of.items():
        for place in range(PYRAMID_SIZE):
            if exposed_of[mask] >> place & 1:
                after[number * PYRAMID_SIZE + place] = number_of[mask ^ (1 << place)]
    below = [0] * PYRAMID_SIZE
    for place in reversed(range(PYRAMID_SIZE)):
        for cover in COVERS[place]:
            below[place] |= 1 << cover | below[cover]
    return ShapeTables(
        number_of,
        masks=array("I", masks),
        exposed=array("I", [exposed_of[mask] for mask in masks]),
        after=after,
        covers=array("I", COVER_MASKS),
        covered=array("I", _transposed(COVER_MASKS)),
        below=array("I", below),
        above=array("I", _transposed(below)),
    )


def _transposed(masks: Sequence[int]) -> list[int]:
    """For each place the places whose mask has it."""
    return [
        sum(1 << other for other, mask in enumerate(masks) if mask >> place & 1)
        for place in range(PYRAMID_SIZE)
    ]
