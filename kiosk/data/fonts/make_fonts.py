"""Make the shipped fonts and the card index outlines from the published font.

Run by hand, only when the font or the suit shapes change::

    python kiosk/data/fonts/make_fonts.py FOLDER

``FOLDER`` holds ``atkinson-hyperlegible-next-{latin,latin-ext}-{400,700,800}-normal.woff2`` of the
npm package ``@fontsource/atkinson-hyperlegible-next``.  Needs ``fonttools`` and ``brotli``.  Writes
``KioskSans-*.ttf`` beside this file and ``../index_glyphs.json``.

Why not the published files: they come as one file for each range of characters, and Kivy takes
one file; they lack the suits, arrows and tick that our texts use; and their zero has a slash,
which on a card reads as another figure.
"""

# mypy: disable-error-code="import-not-found,import-untyped"
from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from fontTools.merge import Merger
from fontTools.pens.boundsPen import BoundsPen
from fontTools.pens.cu2quPen import Cu2QuPen
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
    result["0"]["path"] = _plain_zero(str(result["0"]["path"]))
    return result


def _plain_zero(path: str) -> str:
    """The zero without its slash: its outer contour, and one counter instead of two halves."""
    outer = path.split("Z", maxsplit=1)[0] + "Z"
    counter = (
        "M43.5 15.5C33 15.5 24.5 27 24.5 50S33 84.5 43.5 84.5S62.5 73 62.5 50S54 15.5 43.5 15.5Z"
    )
    return outer + counter


def main(folder: Path) -> None:
    for style, weight in WEIGHTS.items():
        font = merged(folder, weight)
        add_shapes(font)
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
