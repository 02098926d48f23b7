"""The picture moves, a little, everywhere, and never off the screen."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from kiosk.burnin import STAY, WAY, margin, offset
from kiosk.layout import Control, Layout

SIZES = [
    *((320, 240), (800, 480), (1024, 600), (1280, 720), (1920, 1080), (3840, 2160)),
    *((480, 800), (720, 1280), (1200, 1920)),
]


def test_the_way_begins_in_the_middle_leads_everywhere_and_never_leaps() -> None:
    assert WAY[0] == (0, 0)
    square = {(x, y) for x in range(-2, 3) for y in range(-2, 3)}
    assert set(WAY) == square
    assert all(abs(a - c) + abs(b - d) == 1 for (a, b), (c, d) in pairwise((*WAY, WAY[0])))
    assert set(Counter(WAY).values()) == {1, 2}, "no place is kept much longer than another"


@pytest.mark.parametrize("size", SIZES)
def test_it_goes_a_few_pixels_a_minute_and_stays_within_the_border(size: tuple[int, int]) -> None:
    layout = Layout.for_screen(*size)
    places = [offset(layout, STAY * n + 1) for n in range(len(WAY))]
    steps = {abs(a - c) + abs(b - d) for (a, b), (c, d) in pairwise(places)}
    assert len(steps) == 1
    assert 1 <= min(steps) <= max(1, min(size) // 200)
    if min(size) >= 480:
        assert min(steps) >= 2
    assert max(max(map(abs, place)) for place in places) == margin(layout) < layout.unit
    seen = [*(layout.button(c) for c in Control), layout.stock, layout.waste, layout.status]
    for rect in (*seen, *layout.pyramid):
        for place in places:
            assert layout.screen.holds(rect.moved(*place)), (rect, place)


def test_it_stays_a_minute_and_depends_on_nothing_but_the_time() -> None:
    layout = Layout.for_screen(800, 480)
    assert offset(layout, 0.0) == offset(layout, STAY - 0.01) == (0, 0)
    assert offset(layout, STAY) == (2, 0)
    assert offset(layout, STAY * (len(WAY) * 1000 + 1)) == (2, 0)
