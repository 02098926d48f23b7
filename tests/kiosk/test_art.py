"""The drawings and the palette, as far as they can be judged without a window."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from itertools import combinations

import pytest
import resvg_py
from fontTools.ttLib import TTFont

from engine.cards import DECK, Card, Suit
from kiosk import art, theme
from kiosk.art import FaceStyle
from kiosk.layout import Layout

STYLES = [
    FaceStyle(),
    FaceStyle(four_colour=True),
    FaceStyle(high_contrast=True, show_values=True),
    FaceStyle(four_colour=True, high_contrast=True, local_indices="A23456789TVDR"),
]
WIDTHS = [60, 84, 110, 140, 220]

#: What the texts of the four languages need beyond ASCII, and the signs that we put in texts.
LETTERS = (
    "áéíóúüñÁÉÍÓÚÜÑ¿¡ªºäöüßÄÖÜẞ„“\u201a\u2018"
    "àâæçéèêëîïôœùûüÿÀÂÆÇÉÈÊËÎÏÔŒÙÛÜŸ«»"
    "\u2019”\u2013—…\u00d7½·•\u2212°€\u00a0→←✓♠♥♦♣"
)


def png(svg: str) -> bytes:
    drawn: bytes = resvg_py.svg_to_bytes(svg_string=svg, skip_system_fonts=True)
    return drawn


def test_neither_module_loads_kivy() -> None:
    code = "import sys, kiosk.art, kiosk.theme; sys.exit('kivy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# -- faces ------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("width", [60, 140])
def test_all_pictures_of_a_deck_differ(width: int, style: FaceStyle) -> None:
    names = [str(card) for card in DECK] + ["back", "empty", "redeal"]
    drawn = {name: png(art.picture(name, width, style)) for name in names}
    assert len(set(drawn.values())) == 55


def test_four_colours_print_each_suit_in_its_own() -> None:
    colours = theme.card_colours(four_colour=True, high_contrast=False)
    assert len({colours.spades, colours.hearts, colours.diamonds, colours.clubs}) == 4
    two = theme.card_colours(four_colour=False, high_contrast=False)
    assert two.spades == two.clubs != two.hearts == two.diamonds


@pytest.mark.parametrize("card", [Card(rank, Suit.HEARTS) for rank in (2, 7, 12, 13)], ids=str)
def test_a_red_card_has_no_colour_of_a_black_one(card: Card) -> None:
    colours = theme.card_colours(four_colour=True, high_contrast=False)
    svg = art.picture(str(card), 140, FaceStyle(four_colour=True))
    assert theme.hex_of(colours.hearts) in svg
    for other in (colours.diamonds, colours.clubs):
        assert theme.hex_of(other) not in svg


@pytest.mark.parametrize("card", ["JC", "QD", "KH"])
def test_court_figures_wear_the_colour_of_their_suit(card: str) -> None:
    """Index, suit and clothes: the colour appears more often than on a number card."""
    colours = theme.card_colours(four_colour=True, high_contrast=False)
    suit = {"C": colours.clubs, "D": colours.diamonds, "H": colours.hearts}[card[1]]
    svg = art.picture(card, 140, FaceStyle(four_colour=True))
    assert "#c0ffee" not in svg
    assert svg.count(theme.hex_of(suit)) > 1


@pytest.mark.parametrize(
    ("rank", "columns"),
    [
        (2, "2"),
        (3, "3"),
        (4, "22"),
        (5, "212"),
        (6, "33"),
        (7, "313"),
        (8, "323"),
        (9, "414"),
        (10, "424"),
    ],
)
def test_pips_lie_as_on_printed_cards(rank: int, columns: str) -> None:
    """So many in each column from the left, apart from one another and within the card."""
    svg = art.picture(str(Card(rank, Suit.CLUBS)), 200, FaceStyle())
    uses = re.findall(r'#C" transform="translate\((\S+) (\S+)\) scale\((\S+)\)', svg)
    boxes = sorted((float(x), float(y), float(scale) * 100) for x, y, scale in uses)
    (index,) = (box for box in boxes if box[1] < 20)
    pips = [box for box in boxes if box != index]
    assert "".join(str(sum(pip[0] == x for pip in pips)) for x in sorted({p[0] for p in pips})) == (
        columns
    )
    for x, y, size in pips:
        assert y >= 50 and y + size <= 137
        assert x >= 3 and x + size <= 97
    for (x, y, size), (other_x, other_y, _size) in combinations(pips, 2):
        assert max(abs(x - other_x), abs(y - other_y)) >= size * 0.7


@pytest.mark.parametrize("rank", range(2, 11))
def test_as_many_pips_as_the_rank_from_120_px_on(rank: int) -> None:
    def suits(width: int, style: FaceStyle) -> int:
        return art.picture(str(Card(rank, Suit.CLUBS)), width, style).count('href="#C"')

    assert suits(art.PIPS_FROM, FaceStyle()) == rank + 1
    assert suits(art.PIPS_FROM - 1, FaceStyle()) == 2
    assert suits(260, FaceStyle(high_contrast=True)) == 2


@pytest.mark.parametrize(
    ("indices", "card", "glyphs"),
    [
        ("A23456789TJQK", "TH", "10"),
        ("A23456789TJQK", "QS", "Q"),
        ("A23456789TBDK", "JS", "B"),
        ("A23456789TVDR", "KS", "R"),
    ],
)
def test_local_indices(indices: str, card: str, glyphs: str) -> None:
    svg = art.picture(card, 84, FaceStyle(local_indices=indices))
    body = svg.split("</defs>")[1]
    assert [part[0] for part in body.split('href="#g')[1:]] == list(glyphs)


def test_indices_on_the_smallest_usual_panel_are_6_mm_high() -> None:
    # 800x480 on a 7-inch panel, which is 155 mm wide.
    layout = Layout.for_screen(800, 480, mm_width=155)
    svg = art.picture("8S", layout.card_width, FaceStyle())
    (units,) = re.findall(r'<g transform="scale\(([0-9.]+)\)">', svg)
    # An index character is 100 units high before it is scaled to its card.
    drawn = r'href="#g8" transform="translate\([^)]*\) scale\([0-9.]+ ([0-9.]+)\)"'
    (scale,) = re.findall(drawn, svg)
    height = 100 * float(scale) * float(units)
    assert height / (800 / 155) == pytest.approx(6.5, abs=0.1)


@pytest.mark.parametrize(("card", "badge"), [("AS", "1"), ("JD", "11"), ("QC", "12"), ("KH", "13")])
def test_values_are_a_choice(card: str, badge: str) -> None:
    def glyphs(style: FaceStyle) -> list[str]:
        body = art.picture(card, 84, style).split("</defs>")[1]
        return [part[0] for part in body.split('href="#g')[1:]]

    assert glyphs(FaceStyle()) == [card[0]]
    assert glyphs(FaceStyle(show_values=True)) == [card[0], *badge]


@pytest.mark.parametrize("card", ["2S", "TH"])
def test_number_cards_carry_no_badge(card: str) -> None:
    plain = art.picture(card, 84, FaceStyle())
    assert art.picture(card, 84, FaceStyle(show_values=True)) == plain


@pytest.mark.parametrize(
    "indices", ["", "A23456789TJQ", "A23456789TJQKX", "A23456789TJQk", "A23456789TJJK"]
)
def test_bad_indices_are_refused(indices: str) -> None:
    with pytest.raises(ValueError, match=repr(indices)):
        FaceStyle(local_indices=indices)


# -- sheets -----------------------------------------------------------------------------------


@pytest.mark.parametrize("max_side", [1024, 2048, 4096])
@pytest.mark.parametrize("width", WIDTHS)
def test_sheets_hold_every_picture_once_apart_and_in_its_size(width: int, max_side: int) -> None:
    sheets = art.pages(width, FaceStyle(), max_side)
    names = [name for sheet in sheets for name in sheet.places]
    assert sorted(names) == sorted([*map(str, DECK), *art.EXTRAS])
    size = art.card_size(width)
    grown = {
        "shadow": art.shadow_margin(width),
        "ring": art.ring_margin(width),
        "glow": art.glow_margin(width),
    }
    for sheet in sheets:
        assert max(sheet.width, sheet.height) <= max_side
        root = ET.fromstring(sheet.svg)
        assert (root.get("width"), root.get("height")) == (str(sheet.width), str(sheet.height))
        for name, box in sheet.places.items():
            margin = 2 * grown.get(name, 0)
            assert (box.width, box.height) == (size[0] + margin, size[1] + margin)
            assert box.x >= art.PAD
            assert box.y >= art.PAD
            assert box.x + box.width + art.PAD <= sheet.width
            assert box.y + box.height + art.PAD <= sheet.height
        for a, b in combinations(sheet.places.values(), 2):
            beside = a.x + a.width + art.PAD < b.x or b.x + b.width + art.PAD < a.x
            above = a.y + a.height + art.PAD < b.y or b.y + b.height + art.PAD < a.y
            assert beside or above


def test_a_pi_3_takes_the_deck_of_an_800x480_panel_on_one_sheet() -> None:
    assert len(art.pages(84, FaceStyle(), 2048)) == 1


def test_cards_that_cannot_be_drawn_are_refused() -> None:
    with pytest.raises(ValueError, match="23 px"):
        art.card_size(23)
    with pytest.raises(ValueError, match="does not fit"):
        art.pages(900, FaceStyle(), 1024)


def test_an_unknown_picture_is_refused() -> None:
    with pytest.raises(KeyError, match="joker"):
        art.picture("joker", 84, FaceStyle())


# -- icons ------------------------------------------------------------------------------------

NEEDED_ICONS = [
    "undo",
    "redo",
    "hint",
    "deal",
    "menu",
    "close",
    "back",
    "pause",
    "play",
    "settings",
    "language",
    "help",
    "trophy",
    "star",
    "calendar",
    "touch",
    "left",
    "right",
    "redeal",
    "replay",
    "sound",
    "mute",
    "check",
]


@pytest.mark.parametrize("name", NEEDED_ICONS)
def test_icons_needed_are_there(name: str) -> None:
    assert name in art.icon_names()


@pytest.mark.parametrize("name", art.icon_names())
def test_icons_are_white_and_on_one_grid(name: str) -> None:
    svg = art.icon(name)
    root = ET.fromstring(svg)
    assert root.get("viewBox") == "0 0 24 24"
    values = [node.get(key) for node in root.iter() for key in ("fill", "stroke")]
    assert set(values) <= {None, "none", "#ffffff"}
    empty = png('<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24"/>')
    assert png(svg) != empty


def test_an_unknown_icon_is_named_with_those_there_are() -> None:
    with pytest.raises(KeyError, match=r"no icon 'teapot'; there are: .*undo"):
        art.icon("teapot")


# -- theme ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "palette", [theme.PALETTE, theme.HIGH_CONTRAST, theme.OLED], ids=["plain", "high", "oled"]
)
@pytest.mark.parametrize(("text", "background", "least"), theme.TEXT_PAIRS)
def test_text_keeps_its_contrast(
    palette: theme.Palette, text: str, background: str, least: float
) -> None:
    assert theme.contrast(getattr(palette, text), getattr(palette, background)) >= least


@pytest.mark.parametrize("four_colour", [False, True])
@pytest.mark.parametrize("high_contrast", [False, True])
def test_cards_keep_their_contrast(four_colour: bool, high_contrast: bool) -> None:
    colours = theme.card_colours(four_colour=four_colour, high_contrast=high_contrast)
    for suit in (colours.spades, colours.hearts, colours.diamonds, colours.clubs):
        assert theme.contrast(suit, colours.stock) >= 5.5
    assert theme.contrast(colours.edge, colours.stock) >= 4.5
    assert theme.contrast(colours.back, colours.back_line) >= 4.5
    assert theme.contrast(colours.stock, theme.PALETTE.ground) >= 7


@pytest.mark.parametrize("four_colour", [False, True])
def test_dark_cards_can_be_read_and_shine_little(four_colour: bool) -> None:
    colours = theme.card_colours(four_colour=four_colour, high_contrast=False, oled=True)
    black = theme.colour("#000000")
    for shade in (1.0, theme.SHADE_DARK[0]):

        def shaded(value: theme.Colour, by: float = shade) -> theme.Colour:
            return (value[0] * by, value[1] * by, value[2] * by, 1.0)

        for suit in (colours.spades, colours.hearts, colours.diamonds, colours.clubs):
            assert theme.contrast(shaded(suit), shaded(colours.stock)) >= 4.5
    # Luminance: contrast to black is 20 times it, and 1.
    assert theme.contrast(colours.stock, black) < 1.4
    assert theme.contrast(colours.edge, black) >= 3, "a card is seen on a black table"
    assert theme.OLED.ground == theme.OLED.ground_edge == black
    assert theme.palette_of(high_contrast=True, oled=True) == theme.HIGH_CONTRAST
    assert theme.palette_of(high_contrast=False, oled=True) == theme.OLED
    assert theme.palette_of(high_contrast=False, oled=False) == theme.PALETTE
    bright = theme.card_colours(four_colour=four_colour, high_contrast=True, oled=True)
    assert bright == theme.card_colours(four_colour=four_colour, high_contrast=True)


@pytest.mark.parametrize(
    ("shade", "high_contrast", "least"),
    [(theme.SHADE, False, 5), (theme.SHADE_DEEP, False, 4.5), (theme.SHADE_FAINT, True, 5)],
)
def test_cards_in_the_shade_keep_their_contrast(
    shade: theme.Colour, high_contrast: bool, least: float
) -> None:
    def shaded(value: theme.Colour) -> theme.Colour:
        r, g, b = (x * y for x, y in zip(value[:3], shade[:3], strict=True))
        return (r, g, b, 1.0)

    colours = theme.card_colours(four_colour=True, high_contrast=high_contrast)
    for suit in (colours.spades, colours.hearts, colours.diamonds, colours.clubs):
        assert theme.contrast(shaded(suit), shaded(colours.stock)) >= least


def test_contrast_agrees_with_wcag() -> None:
    black, white = theme.colour("#000000"), theme.colour("#ffffff")
    assert theme.contrast(black, white) == pytest.approx(21)
    assert theme.contrast(theme.colour("#767676"), white) == pytest.approx(4.54, abs=0.01)


def test_colours_read_and_write() -> None:
    assert theme.hex_of(theme.colour("#14424a")) == "#14424a"
    assert theme.colour("#ffffff", 0.5) == (1, 1, 1, 0.5)
    for wrong in ("14424a", "#14424", "#14424g", "red"):
        with pytest.raises(ValueError, match=r"not a colour|invalid literal"):
            theme.colour(wrong)


def test_type_grows_with_the_screen_and_never_below_14_px() -> None:
    small, panel, large = (theme.type_scale(side) for side in (240, 480, 1080))
    assert small.caption == small.body == 14
    assert panel.caption < panel.body < panel.figure < panel.title < panel.display
    assert large.body == round(panel.body * 1080 / 480)


@pytest.mark.parametrize("path", [theme.FONT_REGULAR, theme.FONT_BOLD, theme.FONT_INDEX])
def test_fonts_have_every_character_of_the_four_languages(path: str) -> None:
    with TTFont(path) as font:
        drawn = font.getBestCmap()
    ascii_letters = "".join(map(chr, range(0x20, 0x7F)))
    assert [c for c in ascii_letters + LETTERS if ord(c) not in drawn] == []


def test_the_fonts_carry_their_licence() -> None:
    text = (theme.DATA / "fonts" / "OFL.txt").read_text(encoding="utf-8")
    assert "SIL OPEN FONT LICENSE" in text
    assert "Atkinson Hyperlegible Next" in text
