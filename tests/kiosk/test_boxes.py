"""Cutting rectangles: the pieces lie in order, inside, apart, and use what there is."""

from __future__ import annotations

from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from kiosk import boxes
from kiosk.layout import Rect

rects = st.builds(
    Rect, st.integers(0, 500), st.integers(0, 500), st.integers(200, 2000), st.integers(200, 2000)
)


@given(rects, st.integers(1, 7), st.integers(1, 7), st.integers(0, 20))
def test_a_grid_fills_its_rectangle(rect: Rect, across: int, down: int, gap: int) -> None:
    cells = boxes.grid(rect, across, down, gap)
    assert len(cells) == across * down
    assert all(rect.holds(cell) for cell in cells)
    assert all(a.overlap(b) == 0 for a, b in combinations(cells, 2))
    assert boxes.union(cells) == rect
    assert max(c.w for c in cells) - min(c.w for c in cells) <= 1
    assert max(c.h for c in cells) - min(c.h for c in cells) <= 1


@given(rects, st.integers(2, 6), st.integers(0, 20))
def test_a_grid_is_read_from_the_top_left(rect: Rect, n: int, gap: int) -> None:
    cells = boxes.grid(rect, n, n, gap)
    order = sorted(cells, key=lambda cell: (-cell.y, cell.x))
    assert cells == order
    first, second = boxes.columns(rect, n, gap)[:2]
    assert second.x - first.right == gap


@given(rects, st.lists(st.integers(1, 50), min_size=1, max_size=3), st.integers(0, 10))
def test_rows_go_down_from_the_top(rect: Rect, heights: list[int], gap: int) -> None:
    pieces = boxes.rows(rect, heights, gap)
    assert pieces[0].top == rect.top
    assert [piece.h for piece in pieces] == heights
    assert all(above.y - below.top == gap for above, below in pairwise(pieces))


@given(rects, st.integers(0, 99), st.integers(0, 99))
def test_shrunk_and_centred_agree(rect: Rect, x: int, y: int) -> None:
    inner = boxes.shrunk(rect, x, y)
    assert rect.holds(inner)
    assert boxes.centred(rect, inner.w, inner.h) == inner
