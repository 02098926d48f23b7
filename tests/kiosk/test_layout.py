"""The geometry: nothing overlaps that should not, everything fits, controls suit a hand."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.deal import PYRAMID_SIZE, Deal
from engine.game import Game
from engine.position import COVERS, DRAW, ROW_COLUMN, Move, Position
from engine.rules import PRESETS, Rules
from kiosk.commands import Pile, Target
from kiosk.layout import TOUCH_MM, Control, Layout, Rect, guess_mm_width

SIZES = [(800, 480), (1024, 600), (1280, 720), (1920, 1080), (720, 1280), (1200, 1920)]

sizes = st.tuples(st.integers(320, 4096), st.integers(240, 4096))


def separate_things(layout: Layout) -> dict[str, Rect]:
    """Everything that must keep clear of everything else; the pyramid card by card."""
    things = {control.value: layout.button(control) for control in Control}
    things |= {
        "stock": layout.stock,
        "waste": layout.waste,
        "stock badge": layout.stock_badge,
        "waste badge": layout.waste_badge,
        "status": layout.status,
        "title": layout.title,
    }
    return things


def check(layout: Layout) -> None:
    things = separate_things(layout)
    for name, rect in things.items():
        assert layout.screen.holds(rect), f"{name} {rect} leaves the screen"
        assert rect.w > 0 and rect.h > 0, f"{name} {rect} is nothing"
    for (name_a, a), (name_b, b) in combinations(things.items(), 2):
        assert not a.overlap(b), f"{name_a} {a} overlaps {name_b} {b}"
    for place, card in enumerate(layout.pyramid):
        assert layout.screen.holds(card), f"place {place} {card} leaves the screen"
        for name, rect in things.items():
            assert not card.overlap(rect), f"place {place} {card} overlaps {name} {rect}"
    assert layout.screen.holds(layout.panel)
    assert layout.stock.size == layout.waste.size == layout.pyramid[0].size


def check_pyramid(layout: Layout) -> None:
    for (a, rect_a), (b, rect_b) in combinations(enumerate(layout.pyramid), 2):
        if ROW_COLUMN[a][0] == ROW_COLUMN[b][0]:
            assert not rect_a.overlap(rect_b)
    for place, covers in enumerate(COVERS):
        for cover in covers:
            assert layout.pyramid[place].overlap(layout.pyramid[cover])
    rows = [layout.pyramid[r * (r + 1) // 2].y for r in range(7)]
    assert {a - b for a, b in pairwise(rows)} == {layout.row_step}
    for place, (row, column) in enumerate(ROW_COLUMN):
        twin = layout.pyramid[place + row - 2 * column]
        assert layout.pyramid[place].x + twin.right == layout.pyramid_area.x * 2 + (
            layout.pyramid_area.w
        )


@pytest.mark.parametrize("left_handed", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_the_sizes_that_the_kiosk_is_made_for(size: tuple[int, int], left_handed: bool) -> None:
    layout = Layout.for_screen(*size, left_handed=left_handed)
    check(layout)
    check_pyramid(layout)
    assert layout.portrait == (size[1] > size[0])
    for control in Control:
        button = layout.button(control)
        assert min(button.size) >= layout.mm(TOUCH_MM)
        assert button.center[1] < layout.height / 2
    for a, b in combinations(Control, 2):
        gap = layout.button(a).inset(-layout.unit // 2)
        assert not gap.overlap(layout.button(b)), "buttons keep their distance"
    # What a player must read of a covered card, and what the screen has to offer, is used.
    assert 2 * layout.row_step >= layout.card_height
    if layout.portrait:
        assert layout.row_step >= 0.6 * layout.card_height
        assert layout.pyramid_area.w >= 0.94 * layout.width
    else:
        assert layout.pyramid_area.h >= 0.94 * layout.height


def test_cards_on_the_smallest_usual_panel_are_16_mm_wide() -> None:
    layout = Layout.for_screen(800, 480, mm_width=155)
    assert layout.pyramid[0].size == (82, 115)


@given(sizes, st.booleans())
def test_any_screen_is_laid_out_without_overlap(size: tuple[int, int], left: bool) -> None:
    layout = Layout.for_screen(*size, left_handed=left)
    check(layout)
    check_pyramid(layout)


@given(sizes, st.floats(20, 2000))
def test_any_panel_width_is_laid_out_without_overlap(size: tuple[int, int], mm: float) -> None:
    check(Layout.for_screen(*size, mm_width=mm))


@given(sizes)
def test_controls_suit_a_hand_on_every_panel_that_has_the_room(size: tuple[int, int]) -> None:
    layout = Layout.for_screen(*size)
    wanted = min(layout.mm(TOUCH_MM), 0.16 * layout.width - 1)
    for control in Control:
        assert min(layout.button(control).size) >= min(wanted, 0.17 * layout.height)


def test_undo_and_new_deal_are_far_apart() -> None:
    for size in SIZES:
        layout = Layout.for_screen(*size)
        assert layout.undo.x - layout.new_deal.right > layout.width / 3


@given(sizes)
def test_the_other_hand_gets_the_mirror_image(size: tuple[int, int]) -> None:
    right = Layout.for_screen(*size)
    left = Layout.for_screen(*size, left_handed=True)
    assert left.pyramid == right.pyramid
    assert left.undo.right == right.width - right.undo.x
    assert left.mirrored() == right


def test_a_screen_smaller_than_any_is_laid_out_as_the_smallest() -> None:
    assert Layout.for_screen(1, 1) == Layout.for_screen(320, 240)


@pytest.mark.parametrize("mm", [0, -3, float("nan"), float("inf")])
def test_a_panel_has_a_width(mm: float) -> None:
    with pytest.raises(ValueError, match="mm wide"):
        Layout.for_screen(800, 480, mm_width=mm)


def test_the_guess_for_a_seven_inch_panel() -> None:
    assert guess_mm_width(800, 480) == pytest.approx(155, abs=1)
    assert guess_mm_width(480, 800) == pytest.approx(93, abs=1)


# -- rectangles ---------------------------------------------------------------------------------


def test_rectangles_know_their_geometry() -> None:
    rect = Rect(10, 20, 30, 40)
    assert (rect.right, rect.top, rect.center) == (40, 60, (25, 40))
    assert rect.contains(10, 20) and not rect.contains(40, 30) and not rect.contains(20, 60)
    assert rect.overlap(Rect(30, 50, 30, 40)) == 100
    assert rect.overlap(Rect(40, 20, 5, 5)) == 0
    assert rect.distance(20, 30) == 0
    assert rect.distance(43, 64) == 5
    assert rect.moved(0.6, -0.4) == Rect(11, 20, 30, 40)
    assert rect.inset(5) == Rect(15, 25, 20, 30)
    assert rect.holds(Rect(10, 20, 30, 40)) and not rect.holds(Rect(9, 20, 5, 5))


# -- touch --------------------------------------------------------------------------------------


@pytest.fixture(params=SIZES, ids=lambda size: "x".join(map(str, size)))
def layout(request: pytest.FixtureRequest) -> Layout:
    return Layout.for_screen(*request.param)


def without(position: Position, *places: int) -> Position:
    """The position after some cards have left, legally or not: geometry does not care."""
    remaining = position.remaining
    for place in places:
        remaining &= ~(1 << place)
    return Position(
        position.deal, position.rules, remaining, position.waste_end, position.pass_number
    )


START = Position(Deal.from_number(1), PRESETS["three-pass"])


def test_the_middle_of_what_is_seen_of_every_card_hits_it(layout: Layout) -> None:
    for place, rect in enumerate(layout.pyramid):
        x, y = rect.center[0], rect.top - layout.row_step / 2
        assert layout.card_at(x, y, START) == place
        assert layout.hit(x, y, START) == place


def test_a_lower_row_lies_over_the_upper_one(layout: Layout) -> None:
    left, right = COVERS[0]
    x, y = layout.pyramid[0].x + 1, layout.pyramid[0].y + 1
    assert layout.card_at(x, y, START) == left
    assert layout.card_at(x, y, without(START, left)) == 0
    assert right == left + 1


def test_a_touch_between_cards_means_the_nearest_playable_one(layout: Layout) -> None:
    # Between two cards of the last row, a little below them: the ground, as the eye sees it.
    a, b = layout.pyramid[24], layout.pyramid[25]
    y = a.y + 2
    gap = b.x - a.right
    assert layout.card_at(a.right + gap / 4, a.y - 2, START) is None
    assert layout.hit(a.right + gap / 4, a.y - 2, START) == 24
    assert layout.hit(b.x - gap / 4, a.y - 2, START) == 25
    assert layout.hit(a.center[0], y, without(START, 24)) != 24


def test_a_touch_on_the_edge_of_a_covered_card_means_the_playable_one_beside_it(
    layout: Layout,
) -> None:
    rect = layout.pyramid[21]
    inside = layout.pyramid[15]
    x, y = rect.right - 3, rect.top + 1
    assert inside.contains(x, y)
    assert layout.hit(x, y, START) == 21
    # But well inside what is seen of the covered card it is that card that was meant.
    assert layout.hit(inside.center[0], inside.top - layout.row_step / 2, START) == 15


def test_a_touch_far_from_everything_means_nothing(layout: Layout) -> None:
    emptied = without(START, *range(1, PYRAMID_SIZE))
    area = layout.pyramid_area
    assert layout.hit(*area.center, emptied) is None


def test_buttons_and_the_outside_are_no_cards(layout: Layout) -> None:
    for control in Control:
        assert layout.hit(*layout.button(control).center, START) is None
    for x, y in [(-1, 5), (5, -1), (layout.width, 5), (5, layout.height), (float("nan"), 5)]:
        assert layout.hit(x, y, START) is None


def test_piles_are_hit_whether_they_hold_anything_or_not(layout: Layout) -> None:
    bare = without(START, *range(PYRAMID_SIZE, 52))
    for position in (START, bare):
        assert layout.hit(*layout.stock.center, position) is Pile.STOCK
        assert layout.hit(*layout.waste.center, position) is Pile.WASTE


def test_a_near_miss_of_the_stock_hits_it_while_it_holds_something(layout: Layout) -> None:
    x, y = layout.stock.x - layout.snap_reach / 3, layout.stock.center[1]
    assert layout.hit(x, y, START) is Pile.STOCK
    bare = without(START, *range(PYRAMID_SIZE, 52))
    assert layout.hit(x, y, bare) is None


def test_a_covered_card_is_playable_when_the_overlap_rule_gives_it_a_partner() -> None:
    layout = Layout.for_screen(800, 480)
    # 6S is covered by 7H alone once 22 has left.
    cards = list(START.deal.cards)
    for place, text in ((15, "6S"), (21, "7H")):
        at = [str(card) for card in cards].index(text)
        cards[place], cards[at] = cards[at], cards[place]
    rules = Rules(overlap=True)
    position = without(Position(Deal(tuple(cards)), rules), 22)
    rect = layout.pyramid[15]
    edge = layout.pyramid[21]
    x, y = rect.x + 4, edge.top + 1
    assert layout.hit(x, y, position) == 15
    assert layout.hit(x, y, without(Position(Deal(tuple(cards)), Rules()), 22)) == 21


@given(
    st.sampled_from(SIZES),
    st.floats(-50, 2000),
    st.floats(-50, 2000),
    st.integers(0, 2**52 - 1),
    st.integers(28, 52),
    st.sampled_from(sorted(PRESETS)),
)
def test_whatever_is_touched_the_answer_is_there_to_be_touched(  # noqa: PLR0917 - hypothesis
    size: tuple[int, int], x: float, y: float, remaining: int, waste: int, preset: str
) -> None:
    layout = Layout.for_screen(*size)
    below = remaining & ((1 << waste) - 1) & ~((1 << PYRAMID_SIZE) - 1)
    position = Position(
        START.deal, PRESETS[preset], remaining, max(PYRAMID_SIZE, below.bit_length())
    )
    target = layout.hit(x, y, position)
    if isinstance(target, int):
        assert position.is_present(target)
    if target is not None:
        assert layout.target_rect(target).distance(x, y) <= layout.card_width
    seen = layout.card_at(x, y, position)
    if seen is not None and seen in position.available:
        assert target == seen


# -- dropping -----------------------------------------------------------------------------------


def pairs(position: Position) -> list[tuple[Target, Target]]:
    found: list[tuple[Target, Target]] = []
    for move in position.removals():
        places = [position.deal.place_of[card] for card in move.cards]
        if len(places) == 2 and max(places) < PYRAMID_SIZE:
            found.append((places[0], places[1]))
    return found


def test_a_card_is_dropped_on_what_it_covers_most_of(layout: Layout) -> None:
    w, h = layout.card_width, layout.card_height
    over = layout.pyramid[23].moved(0.35 * w, -0.1 * h)
    assert layout.drop_target(over, 27, START) == 23
    over = layout.pyramid[23].moved(0.75 * w, -0.1 * h)
    assert layout.drop_target(over, 27, START) == 24


def test_an_exposed_card_comes_before_the_covered_ones_above_it(layout: Layout) -> None:
    over = layout.pyramid[23].moved(0, 0.6 * layout.card_height)
    assert layout.drop_target(over, 27, START) == 23


def test_a_partner_comes_before_its_neighbour(layout: Layout) -> None:
    for number in range(1, 60):
        position = Position(Deal.from_number(number), PRESETS["three-pass"])
        for a, b in pairs(position):
            if a - b > 2:
                # Rather over the neighbour of the partner than over the partner.
                over = layout.pyramid[b].moved(0.6 * layout.card_width, 0)
                assert layout.drop_target(over, a, position) == b
                return
    raise AssertionError("no deal of the first 60 has such a pair")


def test_a_card_dropped_on_the_ground_or_at_home_is_dropped_on_nothing(layout: Layout) -> None:
    bare = without(START, *range(21))
    over = layout.pyramid[0]
    assert layout.drop_target(over, 24, bare) is None
    alone = without(START, *(p for p in range(PYRAMID_SIZE) if p != 24))
    assert layout.drop_target(layout.pyramid[24], 24, alone) is None


def test_the_stock_card_can_be_dropped_on_the_empty_waste(layout: Layout) -> None:
    over = layout.waste.moved(layout.unit, layout.unit)
    assert layout.drop_target(over, Pile.STOCK, START) is Pile.WASTE
    game = Game(START.deal, PRESETS["relaxed"])
    game.play(DRAW)
    assert layout.drop_target(layout.waste, 24, game.position) is Pile.WASTE
    assert isinstance(game.moves[0], Move)
