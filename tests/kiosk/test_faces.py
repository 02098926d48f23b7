"""Faces as textures: what the GPU holds is what was drawn, pixel by pixel.

Needs an OpenGL window, which SDL's offscreen driver opens without a display.
"""

from __future__ import annotations

import os
from itertools import combinations
from typing import Any

import pytest

from engine.cards import DECK, Card, Suit
from kiosk import art, theme

pytest.importorskip("kivy")


@pytest.fixture(scope="module", autouse=True)
def window(request: pytest.FixtureRequest) -> Any:
    """Kivy's one window, imported here and not at the top: importing it opens it."""
    try:
        return request.getfixturevalue("kivy_window")
    except pytest.FixtureLookupError:
        os.environ.setdefault("SDL_VIDEODRIVER", "offscreen")
        for name in ("KIVY_NO_ARGS", "KIVY_NO_CONFIG", "KIVY_NO_FILELOG", "KIVY_NO_CONSOLELOG"):
            os.environ.setdefault(name, "1")
        from kivy.core.window import Window

        return Window


@pytest.fixture(scope="module")
def deck(window: Any) -> Any:
    from kiosk.faces import Faces

    return Faces(84)


def shown(texture: Any, tint: tuple[float, ...] = (1, 1, 1, 1)) -> list[bytes]:
    """The texture drawn at its own size on black: rows from the top, RGBA."""
    from kivy.graphics import Color, Fbo, Rectangle

    width, height = texture.size
    fbo = Fbo(size=(width, height))
    with fbo:
        Color(0, 0, 0, 1)
        Rectangle(size=(width, height))
        Color(*tint)
        Rectangle(texture=texture, size=(width, height))
    fbo.draw()
    data = fbo.pixels
    rows = [data[i : i + width * 4] for i in range(0, len(data), width * 4)]
    return rows[::-1]


def pixel(rows: list[bytes], x: int, y: int) -> tuple[int, ...]:
    return tuple(rows[y][x * 4 : x * 4 + 3])


def rgb(colour: theme.Colour) -> tuple[int, ...]:
    return tuple(round(part * 255) for part in colour[:3])


@pytest.mark.parametrize("width", [60, 84, 140])
def test_pictures_have_exactly_the_card_size(width: int) -> None:
    from kiosk.faces import Faces

    faces = Faces(width)
    assert faces.card_size == (width, round(width * 1.4))
    for texture in [*map(faces.of, DECK), faces.back, faces.empty, faces.redeal]:
        assert texture.size == faces.card_size
    for texture, margin in (
        (faces.shadow, faces.shadow_margin),
        (faces.ring, faces.ring_margin),
    ):
        assert texture.size == tuple(side + 2 * margin for side in faces.card_size)


def test_a_deck_is_one_texture(deck: Any) -> None:
    assert len({region.id for region in deck.regions.values()}) == 1


def test_every_face_is_shown_upright_and_as_it_was_drawn(deck: Any) -> None:
    """Each region, drawn at whole coordinates, is the picture that is drawn alone.

    The rasteriser rounds a little differently far from its origin, so a rim may differ by a few
    steps of 255; a picture that is turned, shifted by a pixel or filtered differs by a hundred.
    """
    from kiosk import faces

    for card in (*DECK[::5], Card.parse("TH"), Card.parse("KS")):
        alone = faces.texture_of(art.picture(str(card), 84, deck.style))
        pairs = zip(b"".join(shown(deck.of(card))), b"".join(shown(alone)), strict=True)
        assert max(abs(a - b) for a, b in pairs) <= 16, card


def test_rank_and_suit_lie_in_the_strip_that_a_covered_card_shows(deck: Any) -> None:
    width, height = deck.card_size
    colours = theme.card_colours(four_colour=False, high_contrast=False)
    for card in DECK:
        rows = shown(deck.of(card))
        ink = rgb(colours.hearts if card.suit in (Suit.HEARTS, Suit.DIAMONDS) else colours.spades)
        strip = range(2, round(height * 0.45))
        left = sum(pixel(rows, x, y) == ink for y in strip for x in range(width * 55 // 100))
        right = sum(
            pixel(rows, x, y) == ink for y in strip for x in range(width * 66 // 100, width)
        )
        assert left > 200, card
        assert right > 200, card


def test_all_faces_differ_and_ranks_differ_much_in_the_strip(deck: Any) -> None:
    strips = {}
    for card in DECK:
        rows = shown(deck.of(card))
        strips[card] = b"".join(rows[: round(len(rows) * 0.45)])
    assert len(set(strips.values())) == 52
    hearts = [strips[Card(rank, Suit.HEARTS)] for rank in range(1, 14)]
    for i, one in enumerate(hearts):
        for other in hearts[:i]:
            changed = sum(abs(a - b) > 64 for a, b in zip(one[1::4], other[1::4], strict=True))
            assert changed > 120


def test_suits_are_told_apart_by_shape_alone(window: Any) -> None:
    from kiosk import faces

    side, shapes = 30, {}
    for suit, path in art.SUIT_PATHS.items():
        svg = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{side}" height="{side}" '
            f'viewBox="0 0 100 100"><path d="{path}" fill="#000"/></svg>'
        )
        _width, _height, pixels = faces._pixels(svg)
        shapes[suit] = {i for i in range(side * side) if pixels[4 * i + 3] > 127}
    # Without any colour, the two most alike (spade, club) differ in a seventh of their pixels.
    for one, other in combinations(Suit, 2):
        differing = len(shapes[one] ^ shapes[other]) / len(shapes[one] | shapes[other])
        assert differing > 0.13, (one, other)


def test_the_edge_is_crisp(deck: Any) -> None:
    """One whole pixel of edge colour, then stock: no half-tones in the middle of a side."""
    width, height = deck.card_size
    colours = theme.card_colours(four_colour=False, high_contrast=False)
    rows = shown(deck.of(Card.parse("7C")))
    for x, y, dx, dy in (
        (0, height // 2, 1, 0),
        (width - 1, height // 2, -1, 0),
        (width // 2, 0, 0, 1),
        (width // 2, height - 1, 0, -1),
    ):
        assert pixel(rows, x, y) == rgb(colours.edge)
        assert pixel(rows, x + dx, y + dy) == rgb(colours.stock)
    assert pixel(rows, 0, 0) == (0, 0, 0)


def test_the_shadow_fades_outwards(deck: Any) -> None:
    rows = shown(deck.shadow, tint=(1, 1, 1, 1))
    assert {pixel(rows, 0, y) for y in range(len(rows))} == {(0, 0, 0)}
    from kivy.graphics import Color, Fbo, Rectangle

    size = deck.shadow.size
    fbo = Fbo(size=size)
    with fbo:
        Color(1, 1, 1, 1)
        Rectangle(size=size)
        Rectangle(texture=deck.shadow, size=size)
    fbo.draw()
    middle = size[1] // 2 * size[0] * 4
    levels = [fbo.pixels[middle + x * 4] for x in range(deck.shadow_margin)]
    assert levels == sorted(levels, reverse=True)
    assert levels[0] > 235
    assert levels[-1] < 190


def test_the_ring_takes_its_colour_from_the_table(deck: Any) -> None:
    rows = shown(deck.ring, tint=theme.PALETTE.accent)
    width, height = deck.ring.size
    assert pixel(rows, deck.ring_margin // 2 + 1, height // 2) == rgb(theme.PALETTE.accent)
    assert pixel(rows, width // 2, height // 2) == (0, 0, 0)


def test_icons_are_cached_white_and_of_their_size() -> None:
    from kiosk.faces import icon_texture

    icon = icon_texture("undo", 40)
    assert icon is icon_texture("undo", 40)
    assert icon.size == (40, 40)
    rows = shown(icon, tint=theme.PALETTE.accent)
    assert rgb(theme.PALETTE.accent) in {pixel(rows, x, y) for x in range(40) for y in range(40)}


def test_icons_stand_upright() -> None:
    from kiosk.faces import icon_texture

    rows = shown(icon_texture("pyramid", 48))
    lit = [sum(pixel(rows, x, y) != (0, 0, 0) for x in range(48)) for y in range(48)]
    assert max(lit[36:]) > 2 * max(lit[6:16])


def test_icons_that_cannot_be_drawn_are_refused() -> None:
    from kiosk.faces import icon_texture

    with pytest.raises(KeyError, match=r"no icon 'teapot'; there are: .*undo"):
        icon_texture("teapot", 40)
    with pytest.raises(ValueError, match="0 px"):
        icon_texture("undo", 0)


def test_what_is_no_drawing_is_refused() -> None:
    from kiosk.faces import texture_of

    with pytest.raises(ValueError):
        texture_of("not a drawing")


def test_the_ground_runs_from_the_middle_to_the_corners() -> None:
    from kiosk.faces import ground_texture

    rows = shown(ground_texture((320, 200)))
    middle, corner = pixel(rows, 160, 84), pixel(rows, 1, 198)
    for seen, wanted in ((middle, theme.PALETTE.ground), (corner, theme.PALETTE.ground_edge)):
        assert all(abs(a - b) <= 3 for a, b in zip(seen, rgb(wanted), strict=True))
    assert len(rows) == 200
