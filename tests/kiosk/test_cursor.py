"""Where the mark of stick, wheel and keyboard goes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.game import Game
from engine.rules import PRESETS
from kiosk.commands import Pile
from kiosk.cursor import Cursor, Spot, in_reading_order, step, table_spots
from kiosk.layout import Control, Layout, Rect
from tests.kiosk.fakes import won_by_hand

SIZES = [(800, 480), (1024, 600), (1920, 1080), (720, 1280), (480, 480), (320, 240)]
STICK = ("up", "down", "left", "right")


def spot(key: str, x: int, y: int, *, live: bool = True, first: bool = False) -> Spot:
    return Spot(key, Rect(x, y, 40, 20), live, first)


#: Two lines of three, and one alone below them.
KEYS = [
    *(spot(key, x, 200) for key, x in (("a", 0), ("b", 50), ("c", 100))),
    *(spot(key, x, 150) for key, x in (("d", 0), ("e", 50), ("f", 100))),
    spot("g", 100, 100),
]
BY_KEY = {one.key: one for one in KEYS}


def table(preset: str, moves: int, layout: Layout) -> list[Spot]:
    """All that can be marked at a table after some moves of a line that wins."""
    dealt = won_by_hand(preset)
    game = Game(dealt.deal, PRESETS[preset])
    for move in dealt.line[:moves]:
        game.play(move)
    spots = list(table_spots(game.position, layout))
    return [*spots, *(Spot(control, layout.button(control)) for control in Control)]


def reached(spots: Sequence[Spot], start: Spot, ways: Sequence[str]) -> set[object]:
    """The keys of all spots that lead from one to the next from ``start``."""
    seen, todo = {start.key}, [start]
    while todo:
        here = todo.pop()
        for way in ways:
            there = step(spots, here, way)
            if there.key not in seen:
                seen.add(there.key)
                todo.append(there)
    return seen


# --- One step ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "way", "end"),
    [
        ("a", "right", "b"),
        ("b", "right", "c"),
        ("e", "left", "d"),
        ("b", "down", "e"),
        ("e", "up", "b"),
        ("f", "down", "g"),
        ("d", "down", "g"),  # nothing straight below it: what lies below all the same
        ("c", "right", "d"),  # the end of a line leads into the next, as in reading
        ("d", "left", "c"),
        ("g", "right", "a"),
        ("a", "next", "b"),
        ("c", "next", "d"),
        ("g", "next", "a"),
        ("a", "previous", "g"),
    ],
)
def test_a_step(start: str, way: str, end: str) -> None:
    assert step(KEYS, BY_KEY[start], way).key == end


@pytest.mark.parametrize("way", ["right", "next"])
def test_what_does_nothing_is_passed_over(way: str) -> None:
    spots = [spot("a", 0, 0), spot("b", 50, 0, live=False), spot("c", 100, 0)]
    assert step(spots, spots[0], way).key == "c"


@pytest.mark.parametrize("way", [*STICK, "next", "previous"])
def test_where_there_is_nowhere_to_go_it_stays(way: str) -> None:
    spots = [spot("a", 0, 0), spot("b", 50, 0, live=False)]
    assert step(spots, spots[0], way) == spots[0]


@given(
    st.lists(
        st.builds(
            Rect, st.integers(0, 700), st.integers(0, 400), st.integers(5, 90), st.integers(5, 90)
        ),
        min_size=1,
        max_size=12,
        unique=True,
    )
)
def test_a_wheel_comes_by_everything_once_in_a_round(rects: list[Rect]) -> None:
    spots = in_reading_order([Spot(rect, rect) for rect in rects])
    assert sorted(s.rect.pos + s.rect.size for s in spots) == sorted(r.pos + r.size for r in rects)
    here, seen = spots[0], []
    for _ in spots:
        seen.append(here.key)
        here = step(spots, here, "next")
    assert here == spots[0]
    assert len(set(seen)) == len(spots)
    for one in spots:
        assert step(spots, step(spots, one, "next"), "previous") == one


# --- The table -----------------------------------------------------------------------------------


def test_the_wheel_goes_over_cards_piles_and_buttons_in_this_order() -> None:
    layout = Layout.for_screen(800, 480)
    keys = [one.key for one in table("three-pass", 0, layout)]
    assert keys == [*range(21, 28), Pile.STOCK, Pile.WASTE, *Control]
    assert [c.value for c in Control] == ["undo", "hint", "new_deal", "menu"]


def test_free_cards_are_in_order_from_the_left_whatever_their_row() -> None:
    layout = Layout.for_screen(800, 480)
    mixed = 0
    for moves in range(len(won_by_hand("three-pass").line)):
        cards = [s.rect for s in table("three-pass", moves, layout) if isinstance(s.key, int)]
        assert cards == sorted(cards, key=lambda rect: rect.x)
        mixed += cards != sorted(cards, key=lambda rect: (-rect.y, rect.x))
    assert mixed, "the rows never differ: the test shows nothing"


def test_an_empty_waste_is_passed_over_and_a_full_one_is_not() -> None:
    layout = Layout.for_screen(800, 480)
    live = {one.key: one.live for one in table("three-pass", 0, layout)}
    assert (live[Pile.STOCK], live[Pile.WASTE]) == (True, False)
    drawn = 3  # 7S+6S QH+AC D
    live = {one.key: one.live for one in table("three-pass", drawn, layout)}
    assert live[Pile.WASTE]


def test_a_card_that_may_go_with_the_one_that_covers_it_can_be_marked() -> None:
    dealt = won_by_hand("overlap")
    game = Game(dealt.deal, PRESETS["overlap"])
    layout = Layout.for_screen(800, 480)
    covered = 0
    for move in dealt.line:
        spots = {one.key for one in table_spots(game.position, layout)}
        assert {p for p in game.position.available if p < 28} <= spots
        place_of = game.position.deal.place_of
        covered += sum(place_of[card] not in game.position.available for card in move.cards)
        assert {place_of[card] for card in move.cards if place_of[card] < 28} <= spots
        game.play(move)
    assert covered, "the line has no such move: the test shows nothing"


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("left_handed", [False, True])
@pytest.mark.parametrize("preset", ["three-pass", "overlap", "collection"])
def test_a_stick_alone_gets_from_everywhere_to_everywhere(
    size: tuple[int, int], left_handed: bool, preset: str
) -> None:
    layout = Layout.for_screen(*size, left_handed=left_handed)
    for moves in range(0, len(won_by_hand(preset).line), 3):
        spots = table(preset, moves, layout)
        live = {one.key for one in spots if one.live}
        for start in spots:
            if start.live:
                assert reached(spots, start, STICK) == live, (moves, start.key)


# --- Where it stands -----------------------------------------------------------------------------


def test_the_first_push_only_shows_the_mark() -> None:
    cursor = Cursor("table")
    cursor.settle("table", KEYS)
    assert not cursor.shown
    assert not cursor.steer("right")
    assert cursor.shown
    assert cursor.spot == BY_KEY["a"]
    assert cursor.steer("right")
    assert cursor.spot == BY_KEY["b"]


def test_a_touch_hides_the_mark_where_it_stays() -> None:
    cursor = Cursor("table")
    cursor.settle("table", KEYS)
    cursor.steer("down")
    cursor.steer("down")
    cursor.hide()
    assert not cursor.shown
    cursor.steer("down")
    assert cursor.shown
    assert cursor.spot == BY_KEY["d"]


def test_it_begins_at_the_one_thing_to_do() -> None:
    cursor = Cursor("table")
    cursor.settle("menu", [*KEYS, spot("back", 0, 0, first=True)])
    assert cursor.spot is not None
    assert cursor.spot.key == "back"


def test_it_begins_at_nothing_that_does_nothing() -> None:
    cursor = Cursor("table")
    cursor.settle("menu", [spot("a", 0, 0, live=False, first=True), spot("b", 0, 50)])
    assert cursor.spot is not None
    assert cursor.spot.key == "b"


def test_it_stays_on_what_no_longer_does_anything() -> None:
    """The last of several presses must not mean what happens to lie beside."""
    cursor = Cursor("table")
    cursor.settle("table", KEYS)
    gone = [spot("a", 0, 200, live=False), *KEYS[1:]]
    cursor.settle("table", gone)
    assert cursor.spot == gone[0]
    cursor.steer("next")
    assert cursor.steer("next")
    assert cursor.spot == BY_KEY["b"]


def test_it_goes_along_with_what_moves() -> None:
    cursor = Cursor("table")
    cursor.settle("table", KEYS)
    moved = [*KEYS[1:], spot("a", 500, 300)]
    cursor.settle("table", moved)
    assert cursor.spot == moved[-1]


def test_where_its_card_is_gone_it_goes_to_the_nearest() -> None:
    cursor = Cursor("table")
    cursor.settle("table", KEYS)
    cursor.steer("next")
    for _ in range(5):
        cursor.steer("next")
    assert cursor.spot == BY_KEY["f"]
    cursor.settle("table", [one for one in KEYS if one.key not in {"f", "c"}])
    assert cursor.spot in (BY_KEY["e"], BY_KEY["g"])
    cursor.settle("table", [spot("g", 100, 100, live=False), BY_KEY["a"]])
    assert cursor.spot is not None


def test_it_comes_back_to_the_table_where_it_was() -> None:
    cursor = Cursor("table")
    cursor.settle("table", KEYS)
    cursor.steer("down")
    cursor.steer("down")
    cursor.steer("right")
    panel = [spot("x", 0, 0), spot("y", 50, 0, first=True)]
    for scene in ("menu", "rules"):
        cursor.settle(scene, panel)
        assert cursor.spot == panel[1]
        cursor.steer("left")
        assert cursor.spot == panel[0]
    cursor.settle("table", KEYS)
    assert cursor.spot == BY_KEY["e"]


def test_while_there_is_nothing_to_mark_its_place_is_kept() -> None:
    cursor = Cursor("table")
    cursor.settle("table", KEYS)
    cursor.steer("down")
    cursor.steer("down")
    cursor.settle("table", [])
    assert not cursor.has_spots
    cursor.steer("down")
    cursor.settle("table", KEYS)
    assert cursor.spot == BY_KEY["d"]


def test_for_somebody_else_it_begins_anew() -> None:
    cursor = Cursor("table")
    cursor.settle("table", KEYS)
    cursor.steer("down")
    cursor.steer("down")
    cursor.settle("menu", [spot("x", 0, 0)])
    cursor.forget()
    assert not cursor.shown
    cursor.settle("table", KEYS)
    assert cursor.spot == BY_KEY["a"]


@pytest.mark.parametrize("way", ["select", "", "north"])
def test_a_way_that_does_not_exist_is_named(way: str) -> None:
    cursor = Cursor("table")
    cursor.settle("table", KEYS)
    with pytest.raises(ValueError, match=f"no way '{way}'"):
        cursor.steer(way)
    assert not cursor.shown


def test_lines_are_read_from_the_top_even_where_heights_differ() -> None:
    spots = [
        Spot("tall", Rect(0, 100, 40, 100)),
        Spot("upper", Rect(50, 155, 40, 40)),
        Spot("lower", Rect(50, 105, 40, 40)),
        Spot("foot", Rect(0, 50, 90, 40)),
    ]
    assert [one.key for one in in_reading_order(spots)] == ["tall", "upper", "lower", "foot"]
