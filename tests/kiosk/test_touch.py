"""What a finger means: taps, drags, slips, second fingers, echoes and vanished devices."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiosk.touch import ECHO_TIME, LOST_AFTER, Gesture, Touches

SLOP, REACH = 20.0, 40.0


@pytest.fixture
def touches() -> Touches:
    return Touches(SLOP, REACH)


def test_down_and_up_is_a_tap_however_long_it_takes(touches: Touches) -> None:
    assert touches.down("a", 100, 100, 0.0) is Gesture.PRESSED
    assert touches.active
    assert touches.up("a", 100, 100, 4.9) is Gesture.TAPPED
    assert not touches.active


def test_a_slip_within_the_slop_is_a_tap_and_carries_nothing(touches: Touches) -> None:
    touches.down("a", 100, 100, 0.0)
    touches.allow_drag()
    assert touches.move("a", 110, 115, 0.1) is Gesture.NOTHING
    assert not touches.dragging
    assert touches.up("a", 112, 108, 0.2) is Gesture.TAPPED


def test_a_short_drag_is_a_tap(touches: Touches) -> None:
    touches.down("a", 100, 100, 0.0)
    touches.allow_drag()
    assert touches.move("a", 130, 100, 0.1) is Gesture.LIFTED
    assert touches.move("a", 135, 100, 0.15) is Gesture.DRAGGED
    assert (touches.dx, touches.dy) == (35, 0)
    assert touches.up("a", 135, 100, 0.2) is Gesture.TAPPED


def test_a_drag_is_dropped_where_it_is_let_go(touches: Touches) -> None:
    touches.down("a", 100, 100, 0.0)
    touches.allow_drag()
    touches.move("a", 130, 100, 0.1)
    assert touches.dragging
    assert touches.up("a", 300, 90, 0.4) is Gesture.DROPPED
    assert (touches.dx, touches.dy) == (200, -10)
    assert not touches.dragging


def test_a_finger_reported_only_at_both_ends_has_dragged(touches: Touches) -> None:
    touches.down("a", 100, 100, 0.0)
    touches.allow_drag()
    assert touches.up("a", 300, 100, 0.1) is Gesture.DROPPED


def test_a_card_carried_away_and_brought_back_was_not_tapped(touches: Touches) -> None:
    touches.down("a", 100, 100, 0.0)
    touches.allow_drag()
    touches.move("a", 300, 100, 0.2)
    touches.move("a", 102, 100, 0.4)
    assert touches.up("a", 101, 100, 0.5) is Gesture.RETURNED


def test_what_cannot_be_carried_is_not_dropped(touches: Touches) -> None:
    touches.down("a", 100, 100, 0.0)
    assert touches.move("a", 300, 100, 0.2) is Gesture.NOTHING
    assert touches.up("a", 300, 100, 0.3) is Gesture.RETURNED


def test_a_second_finger_is_ignored_from_down_to_up(touches: Touches) -> None:
    touches.down("a", 100, 100, 0.0)
    touches.allow_drag()
    assert touches.down("b", 400, 300, 0.1) is Gesture.NOTHING
    assert touches.move("b", 500, 300, 0.2) is Gesture.NOTHING
    assert touches.up("b", 500, 300, 0.3) is Gesture.NOTHING
    assert touches.active and not touches.dragging and touches.dx == 0
    assert touches.up("a", 100, 100, 0.4) is Gesture.TAPPED


def test_one_touch_that_two_drivers_report_is_one_touch(touches: Touches) -> None:
    # At the same time ...
    assert touches.down("mtdev", 100, 100, 0.0) is Gesture.PRESSED
    assert touches.down("mouse", 100, 100, 0.0) is Gesture.NOTHING
    assert touches.up("mtdev", 100, 100, 0.1) is Gesture.TAPPED
    assert touches.up("mouse", 100, 100, 0.1) is Gesture.NOTHING
    # ... and one after the other.
    assert touches.down("mouse", 102, 101, 0.1 + ECHO_TIME / 2) is Gesture.NOTHING


def test_two_quick_taps_are_two(touches: Touches) -> None:
    touches.down("a", 100, 100, 0.0)
    touches.up("a", 100, 100, 0.05)
    assert touches.down("b", 100, 100, 0.05 + ECHO_TIME) is Gesture.PRESSED
    touches.up("b", 100, 100, 0.15)
    # Elsewhere it cannot be an echo, however soon.
    assert touches.down("c", 200, 100, 0.151) is Gesture.PRESSED


def test_a_touch_whose_device_vanished_does_not_block_the_table(touches: Touches) -> None:
    touches.down("a", 100, 100, 0.0)
    assert touches.down("b", 300, 100, LOST_AFTER - 0.1) is Gesture.NOTHING
    assert not touches.is_lost(LOST_AFTER)
    assert touches.is_lost(LOST_AFTER + 0.1)
    assert touches.down("c", 300, 100, LOST_AFTER + 0.1) is Gesture.PRESSED
    assert touches.up("a", 100, 100, LOST_AFTER + 0.2) is Gesture.NOTHING
    assert touches.up("c", 300, 100, LOST_AFTER + 0.3) is Gesture.TAPPED


def test_a_finger_that_moves_is_not_lost(touches: Touches) -> None:
    touches.down("a", 100, 100, 0.0)
    touches.move("a", 101, 100, 4.0)
    assert not touches.is_lost(LOST_AFTER + 2)


def test_a_cancelled_touch_does_nothing_when_it_ends(touches: Touches) -> None:
    assert touches.cancel() is Gesture.NOTHING
    touches.down("a", 100, 100, 0.0)
    touches.allow_drag()
    touches.move("a", 200, 100, 0.1)
    assert touches.cancel() is Gesture.CANCELLED
    assert not touches.dragging
    assert touches.up("a", 200, 100, 0.2) is Gesture.NOTHING


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["down", "move", "up", "cancel"]),
            st.sampled_from("abc"),
            st.floats(-100, 900),
            st.floats(-100, 600),
            st.floats(0, 7),
        ),
        max_size=40,
    )
)
def test_whatever_the_drivers_report_every_end_has_its_beginning(
    events: list[tuple[str, str, float, float, float]],
) -> None:
    touches = Touches(SLOP, REACH)
    now, followed = 0.0, None
    for what, name, x, y, seconds in events:
        now += seconds
        if what == "down":
            if touches.down(name, x, y, now) is Gesture.PRESSED:
                followed = name
        elif what == "move":
            gesture = touches.move(name, x, y, now)
            assert gesture is Gesture.NOTHING, "nobody allowed a drag"
        elif what == "up":
            gesture = touches.up(name, x, y, now)
            assert (gesture is Gesture.NOTHING) == (name != followed)
            assert gesture is not Gesture.DROPPED
            if name == followed:
                followed = None
        else:
            touches.cancel()
            followed = None
        assert touches.active == (followed is not None)
