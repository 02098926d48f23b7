"""Cutting rectangles into rows, columns and grids, for panels and the status block.

Invariant: pure geometry on :class:`~kiosk.layout.Rect`; whole pixels; pieces never overlap and
never leave the rectangle that they are cut from, as long as it is large enough.
"""

from __future__ import annotations

from collections.abc import Sequence

from kiosk.layout import Rect


def shrunk(rect: Rect, x: int, y: int) -> Rect:
    """``rect`` without borders of ``x`` px left and right and ``y`` px above and below."""
    return Rect(rect.x + x, rect.y + y, max(0, rect.w - 2 * x), max(0, rect.h - 2 * y))


def centred(rect: Rect, w: int, h: int) -> Rect:
    """A rectangle of ``w`` by ``h`` px in the middle of ``rect``."""
    return Rect(rect.x + (rect.w - w) // 2, rect.y + (rect.h - h) // 2, w, h)


def rows(rect: Rect, heights: Sequence[int], gap: int) -> list[Rect]:
    """Full-width pieces of the given heights from the top down, ``gap`` px apart."""
    pieces = []
    top = rect.top
    for height in heights:
        pieces.append(Rect(rect.x, top - height, rect.w, height))
        top -= height + gap
    return pieces


def columns(rect: Rect, n: int, gap: int) -> list[Rect]:
    """``n`` pieces side by side, ``gap`` px apart, as equal as whole px allow."""
    return [
        Rect(left, rect.y, right - left, rect.h) for left, right in _spans(rect.x, rect.w, n, gap)
    ]


def grid(rect: Rect, across: int, down: int, gap: int) -> list[Rect]:
    """``across`` times ``down`` pieces, row by row from the top left."""
    spans = _spans(rect.y, rect.h, down, gap)
    return [
        piece
        for bottom, top in reversed(spans)
        for piece in columns(Rect(rect.x, bottom, rect.w, top - bottom), across, gap)
    ]


def union(rects: Sequence[Rect]) -> Rect:
    """The smallest rectangle that holds all of ``rects``, of which there is at least one."""
    x, y = min(r.x for r in rects), min(r.y for r in rects)
    return Rect(x, y, max(r.right for r in rects) - x, max(r.top for r in rects) - y)


def _spans(start: int, length: int, n: int, gap: int) -> list[tuple[int, int]]:
    room = max(0, length - (n - 1) * gap)
    return [
        (start + i * gap + room * i // n, start + i * gap + room * (i + 1) // n) for i in range(n)
    ]
