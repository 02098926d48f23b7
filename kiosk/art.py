"""Card faces, card back and table marks as SVG text.

Invariant: this module only builds text; it opens no window, draws no pixel and knows no Kivy.  A
card is drawn in units of 1/100 of its width (so 140 units high), except for its edge, which is
laid on whole pixels to stay crisp at any size.  No filters, clip paths, gradients or text: outlines
alone keep the drawing of a whole deck fast, and the same on every machine.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, TypedDict

from engine.cards import DECK, RANK_LETTERS, Card, Suit
from kiosk import theme
from kiosk.settings import DisplaySettings
from kiosk.theme import Colour, hex_of

#: From this card width on, in px, the number cards show their pips; below it, one large suit.
PIPS_FROM: Final = 120
#: Free pixels round every picture in an atlas, so that linear filtering meets only emptiness.
PAD: Final = 1
#: Names of the pictures of an atlas that are not cards.
EXTRAS: Final = ("back", "empty", "redeal", "shadow", "ring", "glow")

#: The suits in a box of 100 by 100, y down.
SUIT_PATHS: Final[Mapping[Suit, str]] = {
    Suit.SPADES: (
        "M50 2C57 21 95 39 95 65C95 78 85.5 86 74.5 86C66 86 59.5 82 55.5 75.5"
        "C56.5 85 60.5 92 68 98H32C39.5 92 43.5 85 44.5 75.5"
        "C40.5 82 34 86 25.5 86C14.5 86 5 78 5 65C5 39 43 21 50 2Z"
    ),
    Suit.HEARTS: (
        "M50 97C45 83 3 62 3 31C3 15 14.5 5 27.5 5C38 5 46.5 11.5 50 21"
        "C53.5 11.5 62 5 72.5 5C85.5 5 97 15 97 31C97 62 55 83 50 97Z"
    ),
    Suit.DIAMONDS: "M50 0C60 20 74 37 91 50C74 63 60 80 50 100C40 80 26 63 9 50C26 37 40 20 50 0Z",
    Suit.CLUBS: (
        "M50 2C62.5 2 72 11.5 72 23.500C72 31 68.5 37 63 41C66 39.7 69 39 72.5 39"
        "C86 39 97 49 97 62.500C97 76 86.5 86 73.5 86C65.5 86 59 82 55 75.5"
        "C56.5 85 60.5 92 68 98H32C39.5 92 43.5 85 45 75.5"
        "C41 82 34.5 86 26.5 86C13.5 86 3 76 3 62.500C3 49 14 39 27.5 39"
        "C31 39 34 39.7 37 41C31.5 37 28 31 28 23.500C28 11.5 37.5 2 50 2Z"
    ),
}


#: The indices of the languages whose decks have letters of their own.
LOCAL_INDICES: Final[Mapping[str, str]] = {"de": "A23456789TBDK", "fr": "A23456789TVDR"}


@dataclass(frozen=True)
class FaceStyle:
    """How the deck is printed."""

    #: Blue diamonds and green clubs, instead of two red and two black suits.
    four_colour: bool = False
    #: White stock, black edge, full colours, and one large suit instead of the pips.
    high_contrast: bool = False
    #: Dark cards, for panels that age by light.
    oled: bool = False
    #: A small badge with the value (1, 11, 12, 13) on the ranks that are written as letters.
    show_values: bool = False
    #: Thirteen characters, Ace to King, for the index; ``T`` is drawn as 10.
    local_indices: str = RANK_LETTERS

    def __post_init__(self) -> None:
        known = _glyphs()
        if len(self.local_indices) != 13 or any(c not in known for c in self.local_indices):
            raise ValueError(
                f"{self.local_indices!r} does not name the ranks: "
                "write thirteen characters of A-Z and 0-9, Ace to King, with T for the ten"
            )
        if len(set(self.local_indices)) != 13:
            raise ValueError(f"{self.local_indices!r} gives two ranks the same index")

    @classmethod
    def of(cls, display: DisplaySettings, language: str = "en") -> FaceStyle:
        """The style that the settings ask for, while that language is on the screen."""
        local = LOCAL_INDICES.get(language, RANK_LETTERS) if display.local_indices else RANK_LETTERS
        return cls(
            four_colour=display.four_colour,
            high_contrast=display.high_contrast,
            oled=display.oled,
            show_values=display.show_values,
            local_indices=local,
        )


@dataclass(frozen=True)
class Box:
    """A rectangle of whole pixels; ``x``, ``y`` is its top left corner, y down."""

    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True)
class Page:
    """One sheet of pictures: ``svg`` is ``width`` by ``height`` px, and ``places`` tells where
    each picture lies, by card text (``TH``) or by a name of :data:`EXTRAS`."""

    svg: str
    width: int
    height: int
    places: Mapping[str, Box]


def card_size(card_width: int) -> tuple[int, int]:
    """Width and height in px of a card, 5 to 7.

    Raises:
        ValueError: ``card_width`` is under 24 px, where nobody could read a card.
    """
    if card_width < 24:
        raise ValueError(f"a card {card_width} px wide cannot be read: 24 px is the least")
    return card_width, round(card_width * 1.4)


def shadow_margin(card_width: int) -> int:
    """How far the shadow reaches beyond the card on each side, in px."""
    return max(4, round(card_width * 0.1))


def ring_margin(card_width: int) -> int:
    """How far the selection ring reaches beyond the card on each side, in px."""
    return max(4, round(card_width * 0.06)) + 1


def glow_margin(card_width: int) -> int:
    """How far the glow reaches beyond the card on each side, in px."""
    return max(6, round(card_width * 0.14))


def has_pips(card_width: int, style: FaceStyle) -> bool:
    """Whether number cards of this width show as many pips as they count, or one large suit."""
    return card_width >= PIPS_FROM and not style.high_contrast


def pages(card_width: int, style: FaceStyle, max_side: int = 4096) -> tuple[Page, ...]:
    """The whole deck and the :data:`EXTRAS` on as few sheets as ``max_side`` px allow.

    Raises:
        ValueError: the card is too narrow to read, or does not fit on a sheet.
    """
    printer = _Printer(card_size(card_width)[0], style)
    return tuple(
        Page(printer.sheet(width, height, places), width, height, places)
        for width, height, places in _sheets(_sizes(card_width), max_side)
    )


def _sizes(card_width: int) -> _Sizes:
    """Name, width and height of every picture."""
    w, h = card_size(card_width)
    shadow, ring = shadow_margin(w), ring_margin(w)
    sizes: _Sizes = [(str(card), w, h) for card in DECK]
    sizes += [(name, w, h) for name in ("back", "empty", "redeal")]
    sizes.append(("shadow", w + 2 * shadow, h + 2 * shadow))
    sizes.append(("ring", w + 2 * ring, h + 2 * ring))
    sizes.append(("glow", w + 2 * glow_margin(w), h + 2 * glow_margin(w)))
    return sizes


def picture(name: str, card_width: int, style: FaceStyle) -> str:
    """One picture alone as a complete SVG text; ``name`` as in :attr:`Page.places`.

    Raises:
        KeyError: there is no picture of that name.
    """
    for each, width, height in _sizes(card_width):
        if each == name:
            box = Box(0, 0, width, height)
            return _Printer(card_width, style).sheet(width, height, {name: box})
    raise KeyError(name)


def icon_names() -> tuple[str, ...]:
    """Every icon there is, sorted."""
    return tuple(sorted(path.stem for path in (theme.DATA / "icons").glob("*.svg")))


def icon(name: str) -> str:
    """The SVG text of an icon, white on nothing.

    Raises:
        KeyError: there is no such icon; the message lists those there are.
    """
    try:
        return (theme.DATA / "icons" / f"{name}.svg").read_text(encoding="utf-8")
    except FileNotFoundError:
        raise KeyError(f"no icon {name!r}; there are: {', '.join(icon_names())}") from None


def _open(width: int, height: int) -> str:
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
    )


_Sizes = list[tuple[str, int, int]]
_Sheets = list[tuple[int, int, dict[str, Box]]]


def _sheets(sizes: _Sizes, max_side: int) -> _Sheets:
    """Lay pictures on as few sheets, and those as small, as rows of one width allow.

    The pixels of a sheet are what drawing it costs, so the best width is worth trying for.
    """
    widest = max(width for _, width, _ in sizes) + 2 * PAD
    highest = max(height for _, _, height in sizes) + 2 * PAD
    if max(widest, highest) > max_side:
        raise ValueError(f"a picture of {widest}x{highest} px does not fit on {max_side} px")
    step = min(width for _, width, _ in sizes) + 2 * PAD
    tries = [_shelves(sizes, width, max_side) for width in range(widest, max_side + 1, step)]
    return min(tries, key=lambda sheets: (len(sheets), sum(w * h for w, h, _ in sheets)))


def _shelves(sizes: _Sizes, width: int, max_height: int) -> _Sheets:
    """Lay pictures in rows ``width`` px wide, and begin a new sheet when one is full."""
    sheets: _Sheets = []
    places: dict[str, Box] = {}
    x = y = row = used = 0
    for name, inner_width, inner_height in sizes:
        full_width, full_height = inner_width + 2 * PAD, inner_height + 2 * PAD
        if x + full_width > width:
            x, y, row = 0, y + row, 0
        if y + max(row, full_height) > max_height:
            sheets.append((used, y + row, places))
            places, x, y, row, used = {}, 0, 0, 0, 0
        places[name] = Box(x + PAD, y + PAD, inner_width, inner_height)
        x += full_width
        row = max(row, full_height)
        used = max(used, x)
    sheets.append((used, y + row, places))
    return sheets


class _Glyph(TypedDict):
    width: float
    path: str


@cache
def _glyphs() -> Mapping[str, _Glyph]:
    """Index outlines: y down, cap height 100, ink from x = 0 to ``width``."""
    text = (theme.DATA / "index_glyphs.json").read_text(encoding="utf-8")
    glyphs: dict[str, _Glyph] = json.loads(text)
    return glyphs


@cache
def _court(rank: int) -> str:
    """The inside of a court figure's file, without its outer tag and comments."""
    name = {11: "jack", 12: "queen", 13: "king"}[rank]
    text = (theme.DATA / "courts" / f"{name}.svg").read_text(encoding="utf-8")
    lines = text.strip().splitlines()[1:-1]
    return "".join(line for line in lines if not line.startswith("<!--"))


def _pairs(*rows: float) -> tuple[tuple[float, float], ...]:
    """A pip in each of the outer columns, in each of the rows."""
    return tuple((column, row) for row in rows for column in (-1, 1))


#: Pips of ranks 2 to 10 as printed cards have them: (column -1..1, how far down -1..1).
_PIPS: Final[Mapping[int, tuple[tuple[float, float], ...]]] = {
    2: ((0, -1), (0, 1)),
    3: ((0, -1), (0, 0), (0, 1)),
    4: _pairs(-1, 1),
    5: (*_pairs(-1, 1), (0, 0)),
    6: _pairs(-1, 0, 1),
    7: (*_pairs(-1, 0, 1), (0, -1 / 2)),
    8: (*_pairs(-1, 0, 1), (0, -1 / 2), (0, 1 / 2)),
    9: (*_pairs(-1, -1 / 3, 1 / 3, 1), (0, 0)),
    10: (*_pairs(-1, -1 / 3, 1 / 3, 1), (0, -2 / 3), (0, 2 / 3)),
}

#: Size of a pip, and the way from the middle to the outer columns and rows, by rank: the fewer
#: pips, the larger.
_PIP_SIZES: Final[Mapping[int, tuple[float, float, float]]] = {
    2: (31, 0, 25),
    3: (26, 0, 28.5),
    4: (28, 23, 25),
    5: (26, 25, 27),
    6: (24, 23, 28.5),
    7: (21.5, 25, 30),
    8: (21, 25, 30),
    9: (19.5, 25, 31),
    10: (19, 25.5, 31.5),
}


class _Printer:
    """Draws the pictures of one deck at one size."""

    def __init__(self, card_width: int, style: FaceStyle) -> None:
        self.w, self.h = card_size(card_width)
        self.style = style
        self.pips = has_pips(card_width, style)
        self.colours = theme.card_colours(
            four_colour=style.four_colour, high_contrast=style.high_contrast, oled=style.oled
        )
        self.edge = max(1, round(card_width / (60 if style.high_contrast else 90)))
        self.radius = max(3, round(card_width * 0.075))

    # -- sheets ---------------------------------------------------------------------------------

    def sheet(self, width: int, height: int, places: Mapping[str, Box]) -> str:
        """A complete SVG text with each picture at its place."""
        body = "".join(
            f'<g transform="translate({box.x} {box.y})">{self._picture(name)}</g>'
            for name, box in places.items()
        )
        return f"{_open(width, height)}<defs>{self._definitions()}</defs>{body}</svg>"

    def _definitions(self) -> str:
        suits = "".join(
            f'<path id="{suit.value}" d="{path}"/>' for suit, path in SUIT_PATHS.items()
        )
        glyphs = "".join(f'<path id="g{c}" d="{g["path"]}"/>' for c, g in _glyphs().items())
        return suits + glyphs

    def _picture(self, name: str) -> str:
        extras = {
            "back": self._back,
            "empty": self._recess,
            "redeal": lambda: self._recess() + self._redeal_arrow(),
            "shadow": self._shadow,
            "ring": self._ring,
            "glow": self._glow,
        }
        if name in extras:
            return extras[name]()
        return self._face(Card.parse(name))

    # -- parts ----------------------------------------------------------------------------------

    def _rounded(self, inset: int, fill: str, extra: str = "") -> str:
        """A rounded rectangle ``inset`` px inside the card (outside it where negative)."""
        w, h = self.w - 2 * inset, self.h - 2 * inset
        r = max(1, self.radius - inset)
        return (
            f'<rect x="{inset}" y="{inset}" width="{w}" height="{h}" rx="{r}" '
            f'fill="{fill}"{extra}/>'
        )

    def _blank(self) -> str:
        return self._rounded(0, hex_of(self.colours.edge)) + self._rounded(
            self.edge, hex_of(self.colours.stock)
        )

    def _units(self, body: str) -> str:
        """Wrap a drawing made in units of 1/100 of the card's width."""
        return f'<g transform="scale({self.w / 100:g})">{body}</g>'

    def _colour_of(self, suit: Suit) -> Colour:
        return {
            Suit.SPADES: self.colours.spades,
            Suit.HEARTS: self.colours.hearts,
            Suit.DIAMONDS: self.colours.diamonds,
            Suit.CLUBS: self.colours.clubs,
        }[suit]

    @staticmethod
    def _suit(suit: Suit, x: float, y: float, size: float) -> str:
        """A suit in a square of ``size`` whose middle is at ``x``, ``y``."""
        return (
            f'<use xlink:href="#{suit.value}" transform="translate({x - size / 2:.2f} '
            f'{y - size / 2:.2f}) scale({size / 100:.4f})"/>'
        )

    @staticmethod
    def _text_width(text: str, cap: float) -> float:
        squeeze = _squeeze(text)
        width = sum(_glyphs()[c]["width"] * squeeze for c in text)
        return (width + _GAP * (len(text) - 1)) * cap / 100

    def _text(self, text: str, x: float, y: float, cap: float) -> str:
        """Index characters with capitals ``cap`` high; ``x``, ``y`` is their top left corner."""
        squeeze, scale = _squeeze(text), cap / 100
        parts = []
        for character in text:
            parts.append(
                f'<use xlink:href="#g{character}" transform="translate({x:.2f} {y:.2f}) '
                f'scale({scale * squeeze:.4f} {scale:.4f})"/>'
            )
            x += (_glyphs()[character]["width"] * squeeze + _GAP) * scale
        return "".join(parts)

    def _index_text(self, rank: int) -> str:
        letter = self.style.local_indices[rank - 1]
        return "10" if letter == "T" else letter

    def _badge(self, card: Card, x: float, y: float, cap: float) -> str:
        """The value on a gold pill whose middle is at ``x``, ``y``; nothing on a number card."""
        if not self.style.show_values or self._index_text(card.rank).isdigit():
            return ""
        text = str(card.rank)
        inner = self._text_width(text, cap)
        width, height = max(inner + cap * 1.1, cap * 1.8), cap * 1.8
        return (
            f'<rect x="{x - width / 2:.2f}" y="{y - height / 2:.2f}" width="{width:.2f}" '
            f'height="{height:.2f}" rx="{height / 2:.2f}" fill="{_GOLD}" '
            f'stroke="{hex_of(self.colours.stock)}" stroke-width="1.5"/>'
            f'<g fill="{_INK}">{self._text(text, x - inner / 2, y - cap / 2, cap)}</g>'
        )

    # -- faces ----------------------------------------------------------------------------------

    def _face(self, card: Card) -> str:
        """Rank and suit side by side across the top, which stays in sight on a covered card;
        below them the picture."""
        if card.rank > 10:
            picture = self._figure(card, 50, (self.h - self.edge) * 100 / self.w, 0.86)
        elif card.rank == 1:
            picture = self._ace(card.suit, 50, 100, 62)
        elif self.pips:
            size, across, down = _PIP_SIZES[card.rank]
            picture = "".join(
                self._suit(card.suit, 50 + across * column, _PIPS_MIDDLE + down * row, size)
                for column, row in _PIPS[card.rank]
            )
        else:
            picture = self._suit(card.suit, 50, 100, 58)
        body = (
            picture
            + self._text(self._index_text(card.rank), 7, 9, _INDEX_CAP)
            + self._suit(card.suit, 76, 27, 36)
            + self._badge(card, 76, 57, 13)
        )
        fill = hex_of(self._colour_of(card.suit))
        return f'{self._blank()}<g fill="{fill}">{self._units(body)}</g>'

    def _ace(self, suit: Suit, x: float, y: float, size: float) -> str:
        """A large suit with the house mark, a small pyramid, in it."""
        half = size * 0.1
        drop = {Suit.SPADES: 0.1, Suit.HEARTS: -0.08, Suit.DIAMONDS: 0.0, Suit.CLUBS: 0.1}[suit]
        top = y + size * drop - half * 0.9
        foot = top + half * 1.7
        return (
            self._suit(suit, x, y, size)
            + f'<path fill="{_GOLD_LIGHT}" d="M{x:.2f} {top:.2f}L{x + half:.2f} {foot:.2f}'
            f'H{x - half:.2f}Z"/><path fill="{_GOLD}" d="M{x:.2f} {top:.2f}L{x + half:.2f} '
            f'{foot:.2f}H{x + half * 0.25:.2f}Z"/>'
        )

    def _figure(self, card: Card, x: float, foot: float, scale: float) -> str:
        """A court figure 100 units high and wide, scaled, standing on ``foot``."""
        figure = _court(card.rank).replace("#c0ffee", hex_of(self._colour_of(card.suit)))
        return (
            f'<g transform="translate({x - 50 * scale:.2f} {foot - 100 * scale:.2f}) '
            f'scale({scale:g})">{figure}</g>'
        )

    # -- the other pictures ---------------------------------------------------------------------

    def _back(self) -> str:
        """A pyramid before the sun, and both again in the river."""
        back, line = hex_of(self.colours.back), hex_of(self.colours.back_line)
        night = hex_of(theme.mix(self.colours.back, theme.colour("#000000"), 0.38))
        lit = hex_of(theme.mix(self.colours.back, self.colours.back_line, 0.34))
        left, right, top, shore = 8.5, 91.5, 8.5, 103.0
        sun_x, sun_y = 50.0, 54.0
        rays = []
        for step in range(28):
            angle = math.tau * (step + 0.5) / 28
            dx, dy = math.cos(angle), math.sin(angle)
            reach = min(
                ((right if dx > 0 else left) - sun_x) / dx,
                ((shore if dy > 0 else top) - sun_y) / dy,
            )
            near, far = (24, reach - 3) if step % 2 else (28, reach - 7)
            if far > near:
                rays.append(
                    f"M{sun_x + dx * near:.2f} {sun_y + dy * near:.2f}"
                    f"L{sun_x + dx * far:.2f} {sun_y + dy * far:.2f}"
                )
        ripples = "".join(
            f"M{50 - half:g} {y:g}H{50 + half:g}"
            for y, half in ((108, 33), (113, 25), (118, 17), (123, 9))
        )
        body = (
            f'<rect x="4.5" y="4.5" width="91" height="131" rx="4" fill="{back}"/>'
            f'<rect x="8.5" y="{shore}" width="83" height="{131.5 - shore}" fill="{night}"/>'
            f'<path d="{"".join(rays)}{ripples}" stroke="{line}" stroke-width="1.3" fill="none" '
            f'stroke-linecap="round"/>'
            f'<circle cx="{sun_x}" cy="{sun_y}" r="19" fill="{line}"/>'
            f'<path d="M50 45L86 {shore}H14Z" fill="{night}"/>'
            f'<path d="M50 45L60 {shore}H14Z" fill="{lit}"/>'
            f'<path d="M8.5 {shore}H91.5" stroke="{line}" stroke-width="1.6"/>'
            f'<rect x="8.5" y="8.5" width="83" height="123" rx="2" fill="none" stroke="{line}" '
            f'stroke-width="1.3"/>'
        )
        return self._blank() + self._units(body)

    def _recess(self) -> str:
        line = max(1.5, self.w / 60)
        dash = self.w / 14
        return self._rounded(
            round(line),
            hex_of(theme.PALETTE.recess),
            f' fill-opacity="0.55" stroke="{hex_of(theme.PALETTE.text_soft)}" '
            f'stroke-opacity="0.6" stroke-width="{line:.2f}" stroke-linecap="round" '
            f'stroke-dasharray="{dash:.2f} {dash:.2f}"',
        )

    def _redeal_arrow(self) -> str:
        body = icon("redeal").split("\n", 1)[1].rsplit("</svg>", 1)[0]
        return self._units(
            f'<g transform="translate(20 40) scale(2.5)" fill="none" '
            f'stroke="{hex_of(theme.PALETTE.accent)}" stroke-width="2.2" '
            f'stroke-linecap="round" stroke-linejoin="round">{body}</g>'
        )

    def _shadow(self) -> str:
        """A soft shadow, a little below the card, made of frames one pixel wide.

        It is hollow where the card lies: nothing of it is seen there, and painting the whole area
        again and again is what a soft shadow without a filter would cost.
        """
        margin = shadow_margin(self.w)
        drop = max(1, round(self.w * 0.02))
        reach = margin - drop
        parts = []
        for distance in range(-drop - 2, reach):
            t = max(0.0, (distance + 0.5) / reach)
            grow = distance + 0.5
            parts.append(
                f'<rect x="{margin - grow}" y="{margin - grow + drop}" '
                f'width="{self.w + 2 * grow}" height="{self.h + 2 * grow}" '
                f'rx="{max(1.0, self.radius + grow)}" stroke-opacity="{0.5 * (1 - t) ** 2.2:.4f}"/>'
            )
        return f'<g fill="none" stroke="#000000" stroke-width="1.05">{"".join(parts)}</g>'

    def _ring(self) -> str:
        """A white frame outside the card, for the table to tint."""
        margin = ring_margin(self.w)
        line = margin - 1
        return (
            f'<rect x="{1 + line / 2}" y="{1 + line / 2}" width="{self.w + line}" '
            f'height="{self.h + line}" rx="{self.radius + line / 2}" fill="none" '
            f'stroke="#ffffff" stroke-width="{line}"/>'
        )

    def _glow(self) -> str:
        """A white light round the card, strongest at its edge, for the table to tint."""
        margin = glow_margin(self.w)
        parts = []
        # It begins under the card's edge, so that no line of the ground shows between the two.
        for distance in range(-2, margin):
            grow = distance + 0.5
            t = max(0.0, grow / margin)
            parts.append(
                f'<rect x="{margin - grow}" y="{margin - grow}" width="{self.w + 2 * grow}" '
                f'height="{self.h + 2 * grow}" rx="{max(1.0, self.radius + grow)}" '
                f'stroke-opacity="{0.95 * (1 - t) ** 1.1:.4f}"/>'
            )
        return f'<g fill="none" stroke="#ffffff" stroke-width="1.05">{"".join(parts)}</g>'


_INDEX_CAP: Final = 41.0
_PIPS_MIDDLE: Final = 93.5  # as far from the index as from the lower edge
_GAP: Final = 7.0  # between the figures of a ten, per 100 of cap height
_GOLD: Final = "#d9a441"
_GOLD_LIGHT: Final = "#f6d98a"
_INK: Final = "#17191f"


def _squeeze(text: str) -> float:
    """Two figures are narrowed so that a ten is hardly wider than a queen."""
    return 0.8 if len(text) > 1 else 1.0
