"""Pictures of the screen: what is black, what is a console, what is a table with cards."""

from __future__ import annotations

import struct
import zlib

import pytest

from engine.deal import Deal
from engine.position import Position
from engine.rules import PRESETS
from kiosk.layout import Rect
from vm.picture import Picture
from vm.play import LAYOUT
from vm.proof import paper_on, shows_cards, shows_position

WIDTH, HEIGHT = LAYOUT.width, LAYOUT.height


def painted(ground: tuple[int, int, int], *parts: tuple[Rect, tuple[int, int, int]]) -> Picture:
    """A picture of the screen's size; rectangles have their origin at the lower left."""
    rows = [bytearray(bytes(ground) * WIDTH) for _ in range(HEIGHT)]
    for rect, colour in parts:
        for y in range(HEIGHT - rect.top, HEIGHT - rect.y):
            rows[y][rect.x * 3 : rect.right * 3] = bytes(colour) * rect.w
    return Picture(WIDTH, HEIGHT, b"".join(rows))


def patches() -> list[tuple[Rect, tuple[int, int, int]]]:
    """A ground of many dark colours."""
    return [
        (Rect(x, y, 40, 40), (30 + x // 8, 60 + y // 8, 40 + (x + y) // 16))
        for x in range(0, WIDTH, 40)
        for y in range(0, HEIGHT, 40)
    ]


def table() -> Picture:
    """A ground with the pyramid's cards."""
    letters = [
        (Rect(card.x + 4 * n, card.y + 4, 3, 3), (16 * n, 40, 16 * n))
        for card in LAYOUT.pyramid[21:]
        for n in range(8)
    ]
    cards = [(card, (245, 243, 235)) for card in LAYOUT.pyramid]
    return painted((0, 80, 40), *patches(), *cards, *letters)


def test_a_table_with_cards_is_seen() -> None:
    picture = table()
    assert picture.black == 0
    assert paper_on(picture) > 0.4
    assert shows_cards(picture)


def test_a_black_screen_shows_nothing() -> None:
    picture = painted((0, 0, 0))
    assert picture.black == 1
    assert not picture.shows_something


def test_a_plain_ground_shows_nothing() -> None:
    picture = painted((0, 80, 40))
    assert picture.black == 0
    assert not picture.shows_something


def test_a_console_shows_nothing() -> None:
    # White letters on black.
    letters = [
        (Rect(x, y, 5, 9), (200, 200, 200))
        for x in range(0, WIDTH, 8)
        for y in range(0, HEIGHT, 16)
    ]
    picture = painted((0, 0, 0), *letters)
    assert picture.black < 0.7
    assert not shows_cards(picture)


def test_a_table_without_cards_shows_none() -> None:
    picture = painted((0, 80, 40), *patches())
    assert picture.shows_something
    assert not shows_cards(picture)


def test_a_game_that_is_nearly_over_is_seen_where_its_cards_lie() -> None:
    # The right edge of the three upper rows: only the lowest card is free.
    position = Position(Deal.from_number(1), PRESETS["three-pass"], remaining=0b100101)
    cards = [(LAYOUT.pyramid[place], (245, 243, 235)) for place in (0, 2, 5)]
    assert shows_position(painted((0, 80, 40), *patches(), *cards), position)
    assert not shows_position(painted((0, 80, 40), *patches(), *cards[:2]), position)
    assert not shows_position(painted((0, 80, 40), *cards), position), "nothing else is drawn"


def test_a_part_is_measured_from_the_lower_left() -> None:
    picture = painted((0, 0, 0), (Rect(10, 20, 30, 40), (255, 255, 255)))
    assert picture.cut(Rect(10, 20, 30, 40)).paper == 1
    assert picture.cut(Rect(10, 60, 30, 40)).paper == 0
    beyond = picture.cut(Rect(-5, -5, 20, 30))
    assert (beyond.width, beyond.height) == (15, 25)
    assert beyond.paper == pytest.approx(5 * 5 / (15 * 25))


def test_what_changed_is_a_share_of_the_screen() -> None:
    before = painted((0, 80, 40))
    after = painted((0, 80, 40), (Rect(0, 0, WIDTH // 2, HEIGHT), (0, 80, 90)))
    assert after.changed(before) == pytest.approx(0.5)
    assert before.changed(before) == 0
    # What nobody sees is no change.
    assert painted((0, 84, 40)).changed(before) == 0


def test_pictures_of_different_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="different sizes"):
        Picture(1, 1, bytes(3)).changed(Picture(2, 1, bytes(6)))


def test_a_ppm_file_is_read_as_it_is() -> None:
    data = bytes(range(12))
    assert Picture.from_ppm(b"P6\n2 2\n255\n" + data) == Picture(2, 2, data)


@pytest.mark.parametrize("text", [b"", b"P5\n2 2\n255\n", b"P6\n2 2\n255\n123"])
def test_what_is_no_ppm_file_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match="PPM"):
        Picture.from_ppm(text)


def test_a_png_file_holds_the_same_pixels() -> None:
    picture = Picture(3, 2, bytes(range(18)))
    png = picture.png()
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    chunks, at = {}, 8
    while at < len(png):
        (size,) = struct.unpack(">I", png[at : at + 4])
        kind, content = png[at + 4 : at + 8], png[at + 8 : at + 8 + size]
        (check,) = struct.unpack(">I", png[at + 8 + size : at + 12 + size])
        assert check == zlib.crc32(kind + content)
        chunks[kind] = content
        at += 12 + size
    assert struct.unpack(">IIBBBBB", chunks[b"IHDR"]) == (3, 2, 8, 2, 0, 0, 0)
    assert zlib.decompress(chunks[b"IDAT"]) == b"\0" + bytes(range(9)) + b"\0" + bytes(range(9, 18))
