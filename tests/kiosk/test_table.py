"""Fingers on the real table, in a real window and virtual time."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from engine.deal import PYRAMID_SIZE, Deal
from engine.position import DRAW, MoveKind, Outcome, Position
from engine.rules import PRESETS, Rules
from kiosk.attract import target_of
from kiosk.commands import (
    Change,
    ChangeKind,
    Command,
    Draw,
    Drop,
    Hint,
    NewDeal,
    Panel,
    Pile,
    Refusal,
    Tap,
    Target,
    Tick,
    Touched,
    Undo,
)
from kiosk.dealer import DealtGame
from kiosk.layout import Layout
from kiosk.motion import still_scene
from kiosk.session import Session
from kiosk.sessiontypes import SessionOptions
from kiosk.settings import DisplaySettings
from tests.kiosk.conftest import STAGE_SIZE, Stage
from tests.kiosk.fakes import FakeAdviser, FakeDealer, won_by_hand

pytest.importorskip("kivy")

LAYOUT = Layout.for_screen(*STAGE_SIZE)
#: Longer than any movement, in seconds.
SETTLED = 1.0
#: Longer than the celebration of a win.
CELEBRATED = 2.1


class Pixels:
    """The picture on the screen: RGB by x and y, from the lower left."""

    def __init__(self, stage: Stage) -> None:
        from kivy.graphics.opengl import GL_RGBA, GL_UNSIGNED_BYTE, glReadPixels

        stage.window.canvas.ask_update()
        stage.window.dispatch("on_draw")
        self._width, height = STAGE_SIZE
        self._data = bytes(glReadPixels(0, 0, self._width, height, GL_RGBA, GL_UNSIGNED_BYTE))

    def __getitem__(self, xy: tuple[int, int]) -> tuple[int, ...]:
        first = 4 * (xy[1] * self._width + xy[0])
        return tuple(self._data[first : first + 3])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pixels) and self._data == other._data

    __hash__ = None  # type: ignore[assignment]


class Kiosk:
    """Session and table put together as the app does it, without buttons and panels."""

    def __init__(
        self, stage: Stage, session: Session, display: DisplaySettings | None = None
    ) -> None:
        from kiosk.app import Root
        from kiosk.table import Table

        self.stage = stage
        self.session = session
        self.layout = LAYOUT
        self.sent: list[Command] = []
        self.changes: list[Change] = []
        self.root = Root(self.send, lambda: stage.now, size=STAGE_SIZE)
        self.table = Table(self.send, LAYOUT, display=display)
        self.root.add_widget(self.table)
        stage.window.add_widget(self.root)
        self.table.show(session.position)
        stage.wait(0.1)

    def send(self, command: Command) -> Change:
        change = self.session.handle(command, self.stage.now)
        if not isinstance(command, Touched | Tick):
            self.sent.append(command)
            self.changes.append(change)
        if change.kind is not ChangeKind.NOTHING:
            self.table.animate(change)
            self.table.refresh(self.session.selected, self.session.hinted)
        return change

    @property
    def position(self) -> Position:
        return self.session.position

    def where(self, target: Target) -> tuple[float, float]:
        """The middle of what is seen of a target."""
        rect = LAYOUT.target_rect(target)
        if isinstance(target, int) and not self.position.is_exposed(target):
            return rect.center[0], rect.top - LAYOUT.row_step / 2
        return rect.center

    def tap(self, target: Target) -> None:
        self.stage.tap(*self.where(target))

    def drag(self, source: Target, target: Target) -> None:
        finger = self.stage.touch(*self.where(source))
        finger.move(*self.where(target))
        finger.up()
        self.stage.frame()

    def seen(self) -> dict[Any, Any]:
        return dict(self.table._scene())

    def pixels(self) -> Pixels:
        """What the window shows."""
        return Pixels(self.stage)


@pytest.fixture
def kiosk(stage: Stage) -> Callable[..., Kiosk]:
    def make(
        preset: str = "three-pass",
        position: Deal | None = None,
        display: DisplaySettings | None = None,
        **options: Any,
    ) -> Kiosk:
        games = ()
        if position is not None:
            games = (DealtGame(position, PRESETS[preset], preset, ()),)
        options.setdefault("start_in_attract", False)
        options.setdefault("attract_after", 0)
        session = Session(
            FakeDealer(*games),
            FakeAdviser(),
            SessionOptions(preset=preset, **options),
            now=stage.now,
        )
        return Kiosk(stage, session, display)

    return make


def a_pair(position: Position) -> tuple[int, int]:
    """Two exposed pyramid cards that add up to 13."""
    for move in position.removals():
        places = [position.deal.place_of[card] for card in move.cards]
        if len(places) == 2 and max(places) < PYRAMID_SIZE:
            return places[0], places[1]
    raise AssertionError("there is no pair")


def not_a_pair(position: Position) -> tuple[int, int]:
    free = [p for p in position.available if not position.deal.cards[p].is_king]
    return next((a, b) for a in free for b in free if a < b and not position.can_pair(a, b))


def deal_with(test: Callable[[Position], bool], preset: str = "three-pass") -> Deal:
    """The first numbered deal whose start has some property."""
    for number in count(1):
        deal = Deal.from_number(number)
        if test(Position(deal, PRESETS[preset])):
            return deal
    raise AssertionError


# -- taps ---------------------------------------------------------------------------------------


def test_two_taps_remove_a_pair(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk()
    a, b = a_pair(table.position)
    table.tap(a)
    assert table.session.selected == a
    table.tap(b)
    assert not table.position.is_present(a) and not table.position.is_present(b)
    assert table.sent == [Tap(a), Tap(b)]


def test_a_tap_removes_a_king(kiosk: Callable[..., Kiosk]) -> None:
    deal = deal_with(lambda p: any(p.deal.cards[q].is_king for q in range(21, 28)))
    table = kiosk(position=deal)
    king = next(q for q in range(21, 28) if deal.cards[q].is_king)
    table.tap(king)
    assert not table.position.is_present(king)


def test_taps_on_the_stock_draw_all_cards_and_then_redeal(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk()
    for drawn in range(1, 25):
        table.tap(Pile.STOCK)
        assert len(table.position.waste_places) == drawn
    assert table.position.pass_number == 1
    table.stage.wait(SETTLED)
    table.tap(Pile.STOCK)
    assert table.position.pass_number == 2 and len(table.position.stock_places) == 24


def test_a_tap_on_a_stock_that_is_used_up_is_refused_visibly(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk("cards4")
    for _ in range(24):
        table.send(Draw())
    table.stage.wait(SETTLED)
    table.tap(Pile.STOCK)
    assert table.changes[-1].refusal is Refusal.NO_STOCK
    assert table.table.moving


def test_a_second_tap_deselects(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk()
    a, _b = a_pair(table.position)
    table.tap(a)
    table.tap(a)
    assert table.session.selected is None
    assert table.changes[-1].kind is ChangeKind.DESELECTED


def test_a_covered_card_says_what_is_in_the_way(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk()
    table.tap(15)
    assert table.changes[-1].refusal is Refusal.COVERED
    assert table.changes[-1].targets == (15, 21, 22)
    assert table.table.moving
    table.stage.wait(SETTLED)
    assert not table.table.busy


def test_a_touch_between_cards_means_the_nearest(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk()
    rect = LAYOUT.pyramid[24]
    table.stage.tap(rect.center[0], rect.y - 5)
    assert table.sent == [Tap(24)]


def test_a_touch_on_bare_ground_is_nothing(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk()
    table.stage.tap(LAYOUT.status.center[0], LAYOUT.status.center[1])
    table.stage.tap(*LAYOUT.undo.center)
    assert table.sent == []


def test_touches_outside_the_window_are_nothing(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk()
    for x, y in [(-50, 200), (900, 200), (300, -20), (300, 700), (-1, -1)]:
        table.stage.tap(x, y)
    assert table.sent == []
    finger = table.stage.touch(*table.where(24))
    finger.move(-300, -200)
    finger.up()
    assert not table.table._touches.active
    assert table.position.is_present(24)


def test_a_stock_card_that_is_playable_pairs_from_the_stock(kiosk: Callable[..., Kiosk]) -> None:
    def fits(position: Position) -> bool:
        assert position.stock_top is not None
        return any(p < PYRAMID_SIZE for p in position.partners(position.stock_top))

    deal = deal_with(fits, "relaxed")
    table = kiosk("relaxed", deal)
    partner = table.position.partners(28)[0]
    table.tap(Pile.STOCK)
    assert table.session.selected == 28
    table.tap(partner)
    assert not table.position.is_present(28) and not table.position.is_present(partner)


# -- drags --------------------------------------------------------------------------------------


def test_a_card_dragged_onto_its_partner_pairs(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk()
    a, b = a_pair(table.position)
    table.drag(a, b)
    assert table.sent == [Drop(a, b)]
    assert not table.position.is_present(a) and not table.position.is_present(b)


def test_the_card_follows_the_finger_over_all_others(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk()
    x, y = table.where(24)
    finger = table.stage.touch(x, y)
    finger.move(x + 100, y + 120)
    key, pose = table.table._carried or (None, None)
    home = LAYOUT.pyramid[24]
    assert key == 24 and pose is not None
    assert (pose.x, pose.y) == (pytest.approx(home.x + 100), pytest.approx(home.y + 120))
    finger.up()


def test_a_drop_that_is_no_pair_flies_back(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk()
    a, b = not_a_pair(table.position)
    table.drag(a, b)
    assert table.sent == [Drop(a, b)]
    assert table.changes[-1].refusal is Refusal.NOT_THIRTEEN
    assert table.table.moving
    assert table.seen()[a].x != LAYOUT.pyramid[a].x
    table.stage.wait(SETTLED)
    assert (table.seen()[a].x, table.seen()[a].y) == LAYOUT.pyramid[a].pos


def test_a_drop_on_the_ground_flies_back(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk()
    a, _b = not_a_pair(table.position)
    finger = table.stage.touch(*table.where(a))
    finger.move(LAYOUT.width - 60, LAYOUT.height - 70)
    finger.up()
    assert table.sent == [Drop(a, None)]
    table.stage.wait(SETTLED)
    assert (table.seen()[a].x, table.seen()[a].y) == LAYOUT.pyramid[a].pos
    assert table.table._carried is None


def test_a_short_drag_is_a_tap(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk()
    a, _b = a_pair(table.position)
    x, y = table.where(a)
    finger = table.stage.touch(x, y)
    finger.move(x + 0.3 * LAYOUT.card_width, y)
    assert table.table._carried is not None
    finger.up()
    assert table.sent == [Tap(a)]
    assert table.session.selected == a
    assert table.table._carried is None


def test_a_card_brought_back_was_only_looked_at(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk()
    x, y = table.where(24)
    finger = table.stage.touch(x, y)
    finger.move(x + 200, y + 50).move(x + 3, y)
    finger.up()
    assert table.sent == []
    table.stage.wait(SETTLED)
    assert not table.table.busy


def test_a_long_press_is_a_tap(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk()
    a, _b = a_pair(table.position)
    table.stage.touch(*table.where(a)).hold(3.0).up()
    assert table.sent == [Tap(a)]


def test_covered_cards_cannot_be_carried(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk()
    x, y = table.where(10)
    finger = table.stage.touch(x, y)
    finger.move(x + 150, y)
    assert table.table._carried is None
    finger.up()
    assert table.sent == []


def test_the_stock_card_dragged_to_the_waste_is_drawn(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk()
    table.drag(Pile.STOCK, Pile.WASTE)
    assert table.position.waste_top == 28
    playable = kiosk("relaxed")
    playable.drag(Pile.STOCK, Pile.WASTE)
    assert playable.position.waste_top == 28


def test_a_king_may_be_dragged_anywhere(kiosk: Callable[..., Kiosk]) -> None:
    deal = deal_with(lambda p: any(p.deal.cards[q].is_king for q in range(21, 28)))
    table = kiosk(position=deal)
    king = next(q for q in range(21, 28) if deal.cards[q].is_king)
    finger = table.stage.touch(*table.where(king))
    finger.move(LAYOUT.width - 60, LAYOUT.height - 70)
    finger.up()
    assert not table.position.is_present(king)


def test_the_removal_of_a_carried_card_starts_under_the_finger(
    kiosk: Callable[..., Kiosk],
) -> None:
    table = kiosk()
    a, b = a_pair(table.position)
    finger = table.stage.touch(*table.where(a))
    finger.move(*table.where(b))
    carried = table.table._carried
    assert carried is not None
    finger.up()
    pose = table.seen()[a]
    assert (pose.x, pose.y) == (carried[1].x, carried[1].y)


# -- several fingers, vanishing fingers ---------------------------------------------------------


def test_other_fingers_are_ignored(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk()
    a, b = a_pair(table.position)
    first = table.stage.touch(*table.where(a))
    table.stage.tap(*table.where(Pile.STOCK))
    table.drag(b, Pile.WASTE)
    assert table.sent == []
    first.up()
    assert table.sent == [Tap(a)]


def test_one_touch_reported_twice_acts_once(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk()
    x, y = table.where(Pile.STOCK)
    one, other = table.stage.touch(x, y), table.stage.touch(x, y)
    table.stage.frame()
    one.up()
    other.up()
    late = table.stage.touch(x + 1, y)
    late.up()
    assert table.sent == [Tap(Pile.STOCK)]
    table.stage.wait(0.1)
    table.tap(Pile.STOCK)
    assert len(table.sent) == 2


def test_a_device_that_vanished_mid_drag_blocks_nothing(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk()
    x, y = table.where(24)
    table.stage.touch(x, y).move(x + 150, y + 50)
    table.stage.wait(6.0)
    table.tap(Pile.STOCK)
    assert table.sent == [Tap(Pile.STOCK)]
    table.stage.wait(SETTLED)
    assert table.table._carried is None


def test_a_card_in_the_hand_goes_home_when_the_game_moves_on_without_it(
    kiosk: Callable[..., Kiosk],
) -> None:
    table = kiosk()
    x, y = table.where(24)
    finger = table.stage.touch(x, y)
    finger.move(x + 150, y + 50)
    table.send(Draw())
    assert table.table._carried is None
    finger.move(x + 200, y + 50)
    finger.up()
    assert table.sent == [Draw()]
    table.stage.wait(SETTLED)
    assert (table.seen()[24].x, table.seen()[24].y) == LAYOUT.pyramid[24].pos


# -- time ---------------------------------------------------------------------------------------


def test_a_touch_finishes_what_moves_before_it_is_dealt_with(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk()
    table.send(NewDeal(confirmed=True))
    table.stage.wait(0.1)
    assert table.table.moving
    finger = table.stage.touch(*table.where(Pile.STOCK))
    assert not table.table.moving
    finger.up()
    assert table.position.waste_top == 28


def test_a_pair_can_be_taken_while_the_last_one_is_leaving(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk()
    line = [move for move in won_by_hand("three-pass").line[:2] if move.kind is MoveKind.PAIR]
    for move in line:
        for card in move.cards:
            x, y = table.where(table.position.deal.place_of[card])
            finger = table.stage.touch(x, y)
            table.stage.frame(0.06)
            finger.up()
    assert table.position.pyramid_left == 24


def test_undo_during_a_movement_shows_the_right_card(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk()
    table.send(Draw())
    table.stage.wait(0.1)
    table.send(Draw())
    table.stage.wait(0.05)
    table.send(Undo())
    table.stage.wait(SETTLED)
    keys = [key for key, _pose in table.table._scene()]
    assert 28 in keys and table.seen()[28].x == LAYOUT.waste.x
    assert table.seen()[29].x == LAYOUT.stock.x


def test_nothing_is_drawn_while_nothing_moves(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk()
    assert table.stage.drawn_frames(2.0) == 0
    table.tap(24)
    table.stage.wait(SETTLED)
    assert table.stage.drawn_frames(2.0) == 0
    table.send(Draw())
    assert table.stage.drawn_frames(SETTLED) > 10
    assert table.stage.drawn_frames(2.0) == 0
    assert not table.table.busy


def test_a_hint_pulses_for_a_while_and_then_stays(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk()
    table.send(Hint())
    assert table.session.hinted
    assert table.stage.drawn_frames(1.0) > 30
    table.stage.wait(1.5)
    assert table.stage.drawn_frames(2.0) == 0
    assert table.table._marked() == {
        table.position.deal.place_of[card] for card in won_by_hand("three-pass").line[0].cards
    }


@pytest.mark.pixels
def test_what_a_newcomer_is_shown_glows_and_lies_still(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk()
    before = table.pixels()
    a, b = a_pair(table.position)
    table.table.refresh(None, (), (a, b))
    table.stage.frame()
    assert table.stage.drawn_frames(2.0) == 0
    after = table.pixels()
    for place in (a, b):
        rect = LAYOUT.pyramid[place]
        # Under the lowest row lies bare ground, which turns to gold; the card keeps its colours.
        x, y = round(rect.center[0]), rect.y - 3
        assert after[x, y][0] > before[x, y][0] + 40 and after[x, y][0] > after[x, y][2]
        assert after[x, rect.y + 4] == before[x, rect.y + 4]
    apex = LAYOUT.pyramid[0]
    dark = (apex.x + apex.w // 2, apex.top - 4)
    assert sum(after[dark]) < sum(before[dark])
    table.table.refresh(None, ())
    table.stage.frame()
    assert table.pixels() == before


@pytest.mark.pixels
def test_the_stock_glows_too_and_so_does_its_empty_place(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk()
    x, y = round(LAYOUT.stock.center[0]), LAYOUT.stock.top + 2
    for drawn in (0, 24):
        for _ in range(drawn):
            table.send(Draw())
        table.table.finish()
        table.table.refresh(None, ())
        table.stage.frame()
        before = table.pixels()[x, y]
        table.table.refresh(None, (), (Pile.STOCK,))
        table.stage.frame()
        assert table.pixels()[x, y][0] > before[0] + 40


@pytest.mark.pixels
def test_no_card_is_seen_and_none_can_be_touched_while_hidden(
    kiosk: Callable[..., Kiosk],
) -> None:
    table = kiosk()
    table.send(Draw())
    table.table.hide(True)
    assert not any(isinstance(key, int) for key in table.seen())
    table.stage.frame()
    hidden = table.pixels()
    assert not table.table.busy
    a, b = a_pair(table.position)
    table.tap(a)
    assert table.sent == [Draw()]
    table.table.hide(False)
    table.stage.frame()
    x, y = (round(side) for side in LAYOUT.pyramid[b].center)
    assert hidden[x, y] != table.pixels()[x, y]
    assert table.seen() == dict(still_scene(table.position, LAYOUT))
    table.tap(a)
    assert table.sent[-1] == Tap(a)


@pytest.mark.parametrize("how", ["time", "touch", "move", "resize", "nothing moves"])
def test_what_waits_for_the_cards_to_arrive_happens_once(
    kiosk: Callable[..., Kiosk], how: str
) -> None:
    table = kiosk()
    called: list[bool] = []
    if how != "nothing moves":
        table.send(Draw())
    table.table.when_still(lambda: called.append(table.table.moving))
    assert called == ([False] if how == "nothing moves" else [])
    if how == "touch":
        table.stage.touch(5, 5).up()
    elif how == "move":
        table.send(Draw())
    elif how == "resize":
        table.table.set_layout(LAYOUT)
    else:
        table.stage.wait(SETTLED)
    assert called == [False]
    table.stage.wait(SETTLED)
    assert called == [False]


def test_a_touch_ends_the_celebration_of_a_win(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk()
    for move in won_by_hand("three-pass").line:
        if move.cards:
            places = [table.position.deal.place_of[card] for card in move.cards]
            for place in places:
                table.send(Tap(target_of(table.position, place)))
        else:
            table.stage.wait(SETTLED)
            table.send(Draw())
    assert table.position.outcome is Outcome.WON
    table.stage.wait(0.8)
    assert any(pose.glow for pose in table.seen().values())
    table.stage.tap(5, 5)
    assert not table.table.moving
    assert table.seen() == dict(still_scene(table.position, LAYOUT))


def test_a_frame_that_took_long_skips_nothing(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk()
    table.send(Draw())
    table.stage.frame(5.0)
    assert table.table.moving


def test_the_first_frame_after_a_touch_shows_it(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk()
    before = table.stage.flips
    table.stage.touch(*table.where(24))
    table.stage.frame()
    assert table.stage.flips == before + 1


def test_with_reduced_motion_nothing_pulses(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk(display=DisplaySettings(reduced_motion=True))
    table.send(Hint())
    table.stage.wait(0.3)
    assert not table.table.busy


# -- attract mode and panels --------------------------------------------------------------------


def test_the_touch_that_wakes_does_nothing_else(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk(start_in_attract=True)
    table.stage.tap(*table.where(Pile.STOCK))
    assert not table.session.attract
    assert table.sent == []
    assert table.position.waste_top is None
    table.stage.wait(SETTLED)
    table.tap(Pile.STOCK)
    assert table.position.waste_top == 28


def test_the_touch_that_ends_the_countdown_does_nothing_else(
    kiosk: Callable[..., Kiosk],
) -> None:
    table = kiosk(attract_after=5.0)
    table.tap(Pile.STOCK)
    table.stage.wait(6)
    table.send(Tick())
    assert table.session.panel is Panel.COUNTDOWN
    table.tap(Pile.STOCK)
    assert table.session.panel is Panel.NONE
    assert table.sent == [Tap(Pile.STOCK)]


def test_a_demo_is_animated_to_its_end(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk(start_in_attract=True)
    for _ in range(600):
        table.stage.frame(0.1)
        table.send(Tick())
        if table.position.outcome is Outcome.WON:
            break
    assert table.position.outcome is Outcome.WON
    table.stage.wait(CELEBRATED)
    assert not any(isinstance(key, int) and key < PYRAMID_SIZE for key in table.seen())


# -- everything that can be touched -------------------------------------------------------------


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_wherever_a_monkey_taps_and_drags_the_table_shows_the_position(
    kiosk: Callable[..., Kiosk], preset: str
) -> None:
    """Every place and pile, present, removed or empty, in every preset, during any movement."""
    from kiosk.motion import rest

    table = kiosk(preset)
    dice = random.Random(preset)
    targets: list[Target] = [*range(PYRAMID_SIZE), *Pile, Pile.STOCK, Pile.STOCK, Pile.STOCK]
    for _ in range(100):
        action = dice.random()
        x, y = LAYOUT.target_rect(dice.choice(targets)).center
        if action < 0.6:
            finger = table.stage.touch(x, y)
            table.stage.frame(0.06)
            finger.up()
        elif action < 0.85:
            finger = table.stage.touch(x, y)
            finger.move(*LAYOUT.target_rect(dice.choice(targets)).center, steps=2)
            finger.up()
        else:
            table.send(dice.choice([Undo(), Draw(), Hint(), NewDeal(confirmed=True)]))
        table.stage.frame(dice.choice([0.06, 0.2]))
        if table.session.panel is not Panel.NONE:
            table.send(NewDeal(confirmed=True))
    table.stage.wait(SETTLED)
    assert table.seen() == rest(table.position, LAYOUT)
    assert not table.table.moving
    assert len(table.sent) > 60


def test_every_target_of_an_empty_table_answers(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk("cards4")
    for _ in range(24):
        table.send(Draw())
    position = table.position
    bare = Position(position.deal, Rules(passes=1), 0, PYRAMID_SIZE)
    table.table.show(bare)
    for target in [*range(PYRAMID_SIZE), *Pile]:
        table.stage.tap(*LAYOUT.target_rect(target).center)
    table.stage.wait(SETTLED)
    assert [c for c in table.sent if isinstance(c, Tap)] == [Tap(Pile.STOCK), Tap(Pile.WASTE)]
    assert DRAW not in bare.legal_moves


# -- looks --------------------------------------------------------------------------------------


def test_what_is_drawn_is_the_scene(kiosk: Callable[..., Kiosk]) -> None:
    """One quad a card with its own picture, in the scene's order, at the scene's places."""
    from kiosk.table import Table

    table = kiosk()
    shown: list[Any] = []
    kept = table.table._batch.show
    table.table._batch.show = lambda quads: (shown.append(list(quads)), kept(quads))  # type: ignore
    table.send(Draw())
    table.stage.wait(SETTLED)
    faces = table.table._faces
    pictures = {id(faces.of(card)): place for place, card in enumerate(table.position.deal.cards)}
    drawn = [
        (pictures[id(quad.texture)], quad.x, quad.y)
        for quad in shown[-1]
        if id(quad.texture) in pictures
    ]
    face_up = [
        (key, pose.x, pose.y)
        for key, pose in table.table._scene()
        if isinstance(key, int) and pose.face == 1
    ]
    assert drawn == face_up
    assert isinstance(table.table, Table)


@pytest.mark.parametrize("move", ["draw", "pair", "hint", "undo", "selected", "deal"])
def test_a_card_that_lies_still_is_drawn_as_if_it_were_drawn_anew(
    kiosk: Callable[..., Kiosk], move: str
) -> None:
    """What is kept of a frame for the next one never goes stale, whatever happens meanwhile."""
    table = kiosk()
    shown: list[list[Any]] = []
    kept = table.table._batch.show
    table.table._batch.show = lambda quads: (shown.append(list(quads)), kept(quads))  # type: ignore
    table.table._draw()
    pair = a_pair(table.position)
    commands: dict[str, list[Command]] = {
        "draw": [Draw(), Draw()],
        "pair": [Tap(pair[0]), Tap(pair[1]), Draw()],
        "hint": [Hint(), Draw(), Hint()],
        "undo": [Draw(), Tap(pair[0]), Tap(pair[1]), Undo(), Undo()],
        "selected": [Draw(), Tap(pair[0])],
        "deal": [NewDeal(), Draw(), Tap(pair[0])],
    }
    same = 0
    for command in commands[move]:
        table.send(command)
        for _frame in range(12):
            table.stage.frame()
            drawn = shown[-1]
            same += sum(quad is other for quad, other in zip(shown[-2], drawn, strict=False))
            # Drawn anew; the next frame goes on with what was kept for it.
            lying = dict(table.table._lying)
            table.table._lying.clear()
            table.table._draw()
            assert shown.pop() == drawn
            table.table._lying.update(lying)
    assert same > 100, "nothing is kept at all"


def test_another_screen_size_is_laid_out_anew(kiosk: Callable[..., Kiosk]) -> None:
    table = kiosk()
    table.tap(24)
    other = Layout.for_screen(1280, 720)
    table.table.set_layout(other)
    table.table.show(table.position)
    assert table.table.size == [1280, 720]
    assert table.table._faces.card_size == (other.card_width, other.card_height)
    assert table.seen()[0].x == other.pyramid[0].x
