"""Make the shipped fonts and the card index outlines from the published font.

Run by hand, only when the font or the suit shapes change::

    python kiosk/data/fonts/make_fonts.py FOLDER

``FOLDER`` holds ``atkinson-hyperlegible-next-{latin,latin-ext}-{400,700,800}-normal.woff2`` of the
npm package ``@fontsource/atkinson-hyperlegible-next``.  Needs ``fonttools`` and ``brotli``.  Writes
``KioskSans-*.ttf`` beside this file and ``../index_glyphs.json``.

Why not the published files: they come as one file for each range of characters, and Kivy takes
one file; they lack the suits, arrows and tick that our texts use; and their zero has a slash,
which most visitors read as another sign.
"""

# mypy: disable-error-code="import-not-found,import-untyped"
from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from fontTools.merge import Merger
from fontTools.pens.boundsPen import BoundsPen
from fontTools.pens.cu2quPen import Cu2QuPen
from fontTools.pens.recordingPen import DecomposingRecordingPen, RecordingPen
from fontTools.pens.reverseContourPen import ReverseContourPen
from fontTools.pens.svgPathPen import SVGPathPen
from fontTools.pens.transformPen import TransformPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.svgLib.path import parse_path
from fontTools.ttLib import TTFont

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2]))

from engine.cards import Suit  # noqa: E402
from kiosk.art import SUIT_PATHS  # noqa: E402

FAMILY = "Kiosk Sans"
WEIGHTS = {"Regular": 400, "Bold": 700, "ExtraBold": 800}
CAP = 668  # cap height of the published font, in its units of 1000 an em

#: Our own shapes in a box of 100 by 100, y down, for characters that the published font lacks.
SHAPES = {
    "♠": SUIT_PATHS[Suit.SPADES],
    "♥": SUIT_PATHS[Suit.HEARTS],
    "♦": SUIT_PATHS[Suit.DIAMONDS],
    "♣": SUIT_PATHS[Suit.CLUBS],
    "→": "M4 42H66L46 22L58 10L98 50L58 90L46 78L66 58H4Z",
    "←": "M96 42H34L54 22L42 10L2 50L42 90L54 78L34 58H96Z",
    "✓": "M6 54L18 41L38 61L82 14L95 27L38 86Z",
}


def merged(folder: Path, weight: int) -> TTFont:
    """The Latin and Latin Extended files of one weight as one font."""
    with tempfile.TemporaryDirectory() as scratch:
        parts = []
        for subset in ("latin", "latin-ext"):
            font = TTFont(folder / f"atkinson-hyperlegible-next-{subset}-{weight}-normal.woff2")
            font.flavor = None
            part = Path(scratch) / f"{subset}.ttf"
            font.save(part)
            parts.append(str(part))
        return Merger().merge(parts)


def add_shapes(font: TTFont) -> None:
    """Add :data:`SHAPES`, as high as a capital and sitting on the line."""
    scale = (CAP + 40) / 100
    order = list(font.getGlyphOrder())
    for character, path in SHAPES.items():
        pen = TTGlyphPen(None)
        # The shapes are y down and clockwise as seen; turned over, that is TrueType's direction.
        flip = TransformPen(
            Cu2QuPen(pen, max_err=0.5, reverse_direction=False), (scale, 0, 0, -scale, 30, CAP + 20)
        )
        parse_path(path, flip)
        name = f"uni{ord(character):04X}"
        order.append(name)
        font["glyf"].glyphs[name] = pen.glyph()
        font["hmtx"].metrics[name] = (round(100 * scale) + 60, 30)
        for table in font["cmap"].tables:
            if table.isUnicode():
                table.cmap[ord(character)] = name
    font.setGlyphOrder(order)
    font["glyf"].glyphOrder = order


def rename(font: TTFont, style: str) -> None:
    """A changed font goes by its own name; the copyright line stays."""
    for record in list(font["name"].names):
        text = {
            1: FAMILY if style != "ExtraBold" else f"{FAMILY} ExtraBold",
            2: style if style != "ExtraBold" else "Regular",
            3: f"{FAMILY} {style}",
            4: f"{FAMILY} {style}",
            6: f"KioskSans-{style}",
            16: FAMILY,
            17: style,
        }.get(record.nameID)
        if text is not None:
            record.string = text


def index_glyphs(font: TTFont) -> dict[str, dict[str, object]]:
    """Outlines for card indices: y down, cap height 100, ink starting at x = 0."""
    glyphs = font.getGlyphSet()
    names = font.getBestCmap()
    scale = 100 / CAP
    result: dict[str, dict[str, object]] = {}
    for character in "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789":
        name = names[ord(character)]
        bounds = BoundsPen(glyphs)
        glyphs[name].draw(bounds)
        left, _, right, _ = bounds.bounds
        pen = SVGPathPen(glyphs, ntos=lambda value: f"{round(value, 1):g}")
        glyphs[name].draw(TransformPen(pen, (scale, 0, 0, -scale, -left * scale, 100)))
        result[character] = {"width": round((right - left) * scale, 1), "path": pen.getCommands()}
    return result


def plain_zero(font: TTFont) -> None:
    """Give the zero one counter instead of the two halves beside its slash.

    The counter is the outer contour made smaller by the stems of the letter O.
    """
    glyphs, names = font.getGlyphSet(), font.getBestCmap()
    zero, letter = names[ord("0")], names[ord("O")]
    outer = max(_contours(glyphs, zero), key=_height)
    o_outer, o_inner = sorted(_contours(glyphs, letter), key=_height, reverse=True)
    (left, bottom, right, top), (o_left, o_bottom, _, _) = _bounds(outer), _bounds(o_outer)
    in_left, in_bottom, _, _ = _bounds(o_inner)
    width, height = right - left, top - bottom
    x_scale = 1 - 2 * (in_left - o_left) / width
    y_scale = 1 - 2 * (in_bottom - o_bottom) / height
    x, y = (left + right) / 2, (bottom + top) / 2
    pen = TTGlyphPen(None)
    outer.replay(pen)
    outer.replay(
        TransformPen(
            ReverseContourPen(pen), (x_scale, 0, 0, y_scale, x * (1 - x_scale), y * (1 - y_scale))
        )
    )
    font["glyf"][zero] = pen.glyph()


def _contours(glyphs: Any, name: str) -> list[RecordingPen]:
    whole = DecomposingRecordingPen(glyphs)
    glyphs[name].draw(whole)
    contours: list[RecordingPen] = []
    for step in whole.value:
        if step[0] == "moveTo":
            contours.append(RecordingPen())
        contours[-1].value.append(step)
    return contours


def _bounds(contour: RecordingPen) -> tuple[float, float, float, float]:
    pen = BoundsPen(None)
    contour.replay(pen)
    left, bottom, right, top = pen.bounds
    return left, bottom, right, top


def _height(contour: RecordingPen) -> float:
    _, bottom, _, top = _bounds(contour)
    return top - bottom


def main(folder: Path) -> None:
    for style, weight in WEIGHTS.items():
        font = merged(folder, weight)
        add_shapes(font)
        plain_zero(font)
        rename(font, style)
        font["OS/2"].recalcUnicodeRanges(font)
        font.save(HERE / f"KioskSans-{style}.ttf")
        if style == "ExtraBold":
            outlines = index_glyphs(font)
            text = json.dumps(outlines, indent=1, sort_keys=True)
            (HERE.parent / "index_glyphs.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
