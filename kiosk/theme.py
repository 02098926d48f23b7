"""The look in numbers: palette, type scale and font paths.

Invariant: this module knows neither Kivy nor any file but the fonts beside it; every pair in
:data:`TEXT_PAIRS` keeps its contrast ratio, which a test computes.  Colours are RGBA tuples of
floats from 0 to 1, as Kivy takes them; :func:`hex_of` writes them as SVG takes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

Colour = tuple[float, float, float, float]

DATA: Final = Path(__file__).resolve().parent / "data"
_FONTS: Final = DATA / "fonts"

#: Text, at reading sizes.
FONT_REGULAR: Final = str(_FONTS / "KioskSans-Regular.ttf")
#: Buttons, titles, anything on a dim or busy ground.
FONT_BOLD: Final = str(_FONTS / "KioskSans-Bold.ttf")
#: Large numerals: the face whose outlines the card indices are made from.
FONT_INDEX: Final = str(_FONTS / "KioskSans-ExtraBold.ttf")


def colour(code: str, alpha: float = 1.0) -> Colour:
    """A colour from ``#rrggbb`` and an opacity of 0 to 1.

    Raises:
        ValueError: ``code`` is not six hexadecimal digits after a ``#``.
    """
    if len(code) != 7 or code[0] != "#":
        raise ValueError(f"{code!r} is not a colour: write it as #rrggbb")
    r, g, b = (int(code[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return (r, g, b, alpha)


def hex_of(value: Colour) -> str:
    """``#rrggbb`` of a colour; its opacity is dropped."""
    return "#" + "".join(f"{round(part * 255):02x}" for part in value[:3])


def mix(a: Colour, b: Colour, share: float) -> Colour:
    """``a`` with ``share`` (0 to 1) of ``b`` mixed in, part by part."""
    r, g, b_, alpha = (x + (y - x) * share for x, y in zip(a, b, strict=True))
    return (r, g, b_, alpha)


def with_alpha(value: Colour, alpha: float) -> Colour:
    """The same colour at another opacity."""
    return (value[0], value[1], value[2], alpha)


def contrast(a: Colour, b: Colour) -> float:
    """WCAG 2 contrast ratio of two opaque colours, 1 to 21."""
    lighter, darker = sorted((_luminance(a), _luminance(b)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(value: Colour) -> float:
    """Relative luminance as WCAG 2 defines it."""
    r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in value[:3])
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


@dataclass(frozen=True)
class Palette:
    """Every colour of the table and the screens, named by what it is for."""

    ground: Colour  #: the table, in the middle of the screen
    ground_edge: Colour  #: the table in the corners
    recess: Colour  #: an empty place, sunk into the table
    panel: Colour  #: a panel lying over the table
    panel_raised: Colour  #: a row or field on a panel
    panel_edge: Colour  #: the thin line round a panel
    veil: Colour  #: laid over the table while a panel is open
    button: Colour
    button_down: Colour
    text: Colour
    text_soft: Colour  #: second-rank text, still fully readable
    disabled: Colour  #: text and icons of what cannot be used now
    accent: Colour  #: selection, hint, the one button to press
    accent_down: Colour
    on_accent: Colour  #: text and icons on the accent colour
    success: Colour
    danger: Colour
    on_danger: Colour  #: text and icons on the danger colour
    mark: Colour  #: the frame round what stick, wheel or keyboard has got to


#: Night over the Nile: a deep blue-green table, sand-coloured text, gold for what matters.
PALETTE: Final = Palette(
    ground=colour("#14424a"),
    ground_edge=colour("#081f27"),
    recess=colour("#0c3039"),
    panel=colour("#0d2b35"),
    panel_raised=colour("#163c47"),
    panel_edge=colour("#3c6a72"),
    veil=colour("#041217", 0.62),
    button=colour("#1b4a55"),
    button_down=colour("#2a6570"),
    text=colour("#f7f0df"),
    text_soft=colour("#c9d3cc"),
    disabled=colour("#7f9b9d"),
    accent=colour("#f0bd4f"),
    accent_down=colour("#d9a135"),
    on_accent=colour("#241a06"),
    success=colour("#7fd0a0"),
    danger=colour("#f7a38a"),
    on_danger=colour("#2b0d05"),
    mark=colour("#4fd8ff"),
)

#: The same table for eyes that need more: near-black ground, white text, stronger gold.
HIGH_CONTRAST: Final = Palette(
    ground=colour("#06252b"),
    ground_edge=colour("#041a1f"),
    recess=colour("#03161a"),
    panel=colour("#04161b"),
    panel_raised=colour("#0a2a32"),
    panel_edge=colour("#9fb8ba"),
    veil=colour("#000405", 0.78),
    button=colour("#0d3640"),
    button_down=colour("#1d5561"),
    text=colour("#ffffff"),
    text_soft=colour("#e6eeea"),
    disabled=colour("#9fb4b5"),
    accent=colour("#ffd24a"),
    accent_down=colour("#f0bd2f"),
    on_accent=colour("#140e00"),
    success=colour("#93e6b4"),
    danger=colour("#ffa287"),
    on_danger=colour("#200700"),
    mark=colour("#6fe3ff"),
)

#: For panels that age by light: a black table, and no more light than reading needs.
OLED: Final = Palette(
    ground=colour("#000000"),
    ground_edge=colour("#000000"),
    recess=colour("#0a1417"),
    panel=colour("#070f12"),
    panel_raised=colour("#0f1e23"),
    panel_edge=colour("#2c4f56"),
    veil=colour("#000000", 0.7),
    button=colour("#0e262c"),
    button_down=colour("#1b3f48"),
    text=colour("#d8d2c2"),
    text_soft=colour("#a9b3ad"),
    disabled=colour("#6f8688"),
    accent=colour("#c99a3c"),
    accent_down=colour("#b08228"),
    on_accent=colour("#140e03"),
    success=colour("#6ab588"),
    danger=colour("#e08f78"),
    on_danger=colour("#200a04"),
    mark=colour("#3fb4d8"),
)

#: (text, background, least WCAG ratio) that both palettes must keep.  4.5 is the bound for text;
#: 3 the one for shapes and for what cannot be used, which WCAG leaves free but people still read.
TEXT_PAIRS: Final[tuple[tuple[str, str, float], ...]] = (
    *(
        (text, background, 4.5)
        for text in ("text", "text_soft", "accent", "success", "danger")
        for background in ("ground", "ground_edge", "panel", "panel_raised", "button")
    ),
    *(
        ("mark", background, 4.5)
        for background in ("ground", "ground_edge", "recess", "panel", "panel_raised", "button")
    ),
    ("text", "button_down", 4.5),
    ("text", "recess", 4.5),
    ("text_soft", "recess", 4.5),
    ("on_accent", "accent", 4.5),
    ("on_accent", "accent_down", 4.5),
    ("on_danger", "danger", 4.5),
    ("disabled", "panel", 3.0),
    ("disabled", "button", 3.0),
    ("disabled", "ground", 3.0),
    ("disabled", "ground_edge", 3.0),
)


def palette_of(*, high_contrast: bool, oled: bool) -> Palette:
    """The colours for a pair of choices; eyes that need contrast go before panels that age."""
    if high_contrast:
        return HIGH_CONTRAST
    return OLED if oled else PALETTE


@dataclass(frozen=True)
class CardColours:
    """The colours that one deck is printed in."""

    stock: Colour  #: the card itself
    edge: Colour  #: the line round it, dark enough to read against a card beneath
    spades: Colour
    hearts: Colour
    diamonds: Colour
    clubs: Colour
    back: Colour
    back_line: Colour


_STOCK: Final = colour("#fdf8ec")
_EDGE: Final = colour("#6f6553")
_INK: Final = colour("#17191f")
_RED: Final = colour("#c21f2b")
_BACK: Final = colour("#8c2f23")
_BACK_LINE: Final = colour("#f0c878")


#: What a card that other cards cover is tinted with, so that the free ones stand out: always; while
#: a newcomer is shown what is free; and for eyes that need all the light there is.
SHADE: Final = colour("#dcdfe0")
SHADE_DEEP: Final = colour("#c3c9cc")
SHADE_FAINT: Final = colour("#ebeced")
#: The same on dark cards, which a faint shade would not change.
SHADE_DARK: Final = colour("#bcc1c3")


def card_colours(*, four_colour: bool, high_contrast: bool, oled: bool = False) -> CardColours:
    """The print colours for a pair of choices.

    The green of four colours leans to blue, which keeps it somewhat apart from red for eyes that
    confuse the two; it is still the outline that tells the suits apart for everyone.  High contrast
    goes before ``oled``, whose cards are dark.
    """
    if oled and not high_contrast:
        ink, red = colour("#ddd6c5"), colour("#ff8f88")
        return CardColours(
            stock=colour("#1a1e21"),
            edge=colour("#59646a"),
            spades=ink,
            hearts=red,
            diamonds=colour("#7db2ff") if four_colour else red,
            clubs=colour("#5cc9a0") if four_colour else ink,
            back=colour("#4a1912"),
            back_line=colour("#a98546"),
        )
    if high_contrast:
        ink, red = colour("#000000"), colour("#c8000f")
        blue, green = colour("#0047d6"), colour("#00664a")
        stock, edge = colour("#ffffff"), colour("#000000")
    else:
        ink, red = _INK, _RED
        blue, green = colour("#1b62c4"), colour("#0a6f55")
        stock, edge = _STOCK, _EDGE
    return CardColours(
        stock=stock,
        edge=edge,
        spades=ink,
        hearts=red,
        diamonds=blue if four_colour else red,
        clubs=green if four_colour else ink,
        back=_BACK,
        back_line=_BACK_LINE,
    )


@dataclass(frozen=True)
class TypeScale:
    """Font sizes in px for one screen."""

    caption: int  #: status figures' labels, the deal number
    body: int  #: help and panel text
    button: int
    figure: int  #: numbers in the status line
    title: int  #: a panel's heading
    display: int  #: the attract call, "You won"


def type_scale(short_side: int) -> TypeScale:
    """Sizes for a screen whose shorter side is ``short_side`` px.

    On the 7-inch 800x480 panel (5.2 px/mm) body text is 20 px, 3.8 mm high with its line, which
    reads from a metre; nothing is ever smaller than 14 px.
    """
    base = short_side / 480

    def px(size: float) -> int:
        return max(14, round(size * base))

    return TypeScale(
        caption=px(16), body=px(20), button=px(20), figure=px(24), title=px(30), display=px(44)
    )
