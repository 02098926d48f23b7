from __future__ import annotations

import itertools
import logging

import pytest

from hardware.buttons import STUCK_AFTER, Buttons
from hardware.config import ButtonSpec, CombinationSpec, Repeat
from hardware.events import EventKind, PanelEvent

REPEAT = Repeat(after=0.6, slowest=0.4, fastest=0.1, growth=0.8)
STEP = 1 / 64  # exact in binary, so that times add up


class Desk:
    """Two main buttons and a plain one, in virtual time."""

    def __init__(self) -> None:
        self.events: list[PanelEvent] = []
        self.moved: dict[str, float] = {}
        self.now = 64.0
        self.buttons = Buttons(
            {
                "undo": ButtonSpec(17, repeat=REPEAT),
                "deal": ButtonSpec(27, hold=1.5),
                "plain": ButtonSpec(22),
            },
            {"service": CombinationSpec(("undo", "deal"), hold=5.0)},
            self.events.append,
        )

    def down(self, name: str) -> None:
        self.moved[name] = self.now
        self.buttons.change(name, True, self.now)

    def up(self, name: str) -> None:
        self.moved[name] = self.now
        self.buttons.change(name, False, self.now)

    def wait(self, seconds: float, step: float = STEP) -> None:
        end = self.now + seconds
        while self.now < end:
            self.now += step
            self.buttons.pass_time(self.now, lambda name: self.moved.get(name, float("-inf")))

    def take(self) -> list[tuple[str, str]]:
        found = [(str(event.kind), event.source) for event in self.events]
        self.events.clear()
        return found


def test_press_and_release() -> None:
    desk = Desk()
    desk.down("plain")
    desk.wait(2)
    desk.up("plain")
    assert desk.events == [
        PanelEvent(EventKind.PRESSED, "plain"),
        PanelEvent(EventKind.RELEASED, "plain", 2.0),
    ]


def test_a_release_without_a_press_is_nothing() -> None:
    desk = Desk()
    desk.up("plain")
    assert desk.events == []


def test_a_hold_fills_and_is_done_once() -> None:
    desk = Desk()
    desk.down("deal")
    desk.wait(4)
    kinds = [event.kind for event in desk.events]
    assert kinds[0] is EventKind.PRESSED
    assert kinds[-1] is EventKind.HELD
    assert set(kinds[1:-1]) == {EventKind.HOLDING}
    fractions = [event.value for event in desk.events[1:-1]]
    assert fractions == sorted(set(fractions))
    assert 0 < fractions[0] < 0.02
    assert 0.98 < fractions[-1] < 1
    desk.take()
    desk.up("deal")
    assert desk.take() == [("released", "deal")]


def test_a_hold_let_go_too_early_is_cancelled() -> None:
    desk = Desk()
    desk.down("deal")
    desk.wait(1.0)
    desk.up("deal")
    assert desk.events[-2] == PanelEvent(EventKind.CANCELLED, "deal", pytest.approx(1.0 / 1.5))
    assert desk.events[-1].kind is EventKind.RELEASED
    assert EventKind.HELD not in {event.kind for event in desk.events}


def test_a_hold_that_nobody_saw_fill_is_a_short_press() -> None:
    # Press and release were queued while the main loop was away.
    desk = Desk()
    desk.down("deal")
    desk.now += 8
    desk.up("deal")
    desk.wait(1)
    assert desk.take() == [("pressed", "deal"), ("released", "deal")]


def test_a_fluttering_contact_is_not_held() -> None:
    desk = Desk()
    desk.down("deal")
    for _ in range(40):
        desk.wait(0.25)
        desk.moved["deal"] = desk.now
    assert EventKind.HELD not in {event.kind for event in desk.events}
    desk.wait(1.5)
    assert desk.events[-1].kind is EventKind.HELD


def test_a_held_button_repeats_at_a_growing_rate_up_to_a_limit() -> None:
    desk = Desk()
    start = desk.now
    desk.down("undo")
    times = []
    for _ in range(64 * 6):
        desk.wait(STEP)
        if desk.events and desk.events[-1].kind is EventKind.REPEATED:
            times.append(desk.now)
            assert desk.events[-1].value == len(times)
        desk.events.clear()
    gaps = [b - a for a, b in itertools.pairwise(times)]
    assert times[0] - start == pytest.approx(REPEAT.after, abs=STEP)
    assert gaps[0] == pytest.approx(REPEAT.slowest, abs=STEP)
    # Shorter and shorter, to the precision with which time is looked at.
    assert all(b <= a + STEP for a, b in itertools.pairwise(gaps))
    assert gaps[-1] == pytest.approx(REPEAT.fastest, abs=STEP)
    desk.up("undo")
    desk.events.clear()
    desk.wait(2)
    assert desk.events == []


def test_repeats_missed_while_nobody_looked_are_not_made_up_for() -> None:
    desk = Desk()
    desk.down("undo")
    desk.now += 10
    desk.wait(STEP)
    assert desk.take() == [("pressed", "undo"), ("repeated", "undo")]


def test_the_second_press_repeats_as_slowly_as_the_first() -> None:
    desk = Desk()
    desk.down("undo")
    desk.wait(5)
    desk.up("undo")
    desk.wait(1)
    desk.events.clear()
    desk.down("undo")
    desk.wait(REPEAT.after - 2 * STEP)
    assert desk.take() == [("pressed", "undo")]


def test_a_stuck_button_ceases_to_repeat_and_says_so_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    desk = Desk()
    desk.down("undo")
    desk.wait(STUCK_AFTER + 1, step=0.125)
    desk.events.clear()
    desk.wait(600, step=0.125)
    assert desk.events == []
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "undo" in caplog.text
    desk.up("undo")
    desk.wait(1)
    desk.events.clear()
    desk.down("undo")
    desk.wait(1)
    assert desk.take()[:2] == [("pressed", "undo"), ("repeated", "undo")]


def test_both_main_buttons_together_are_a_combination_and_nothing_else() -> None:
    desk = Desk()
    desk.down("undo")
    desk.wait(0.25)
    desk.down("deal")
    desk.wait(4.9)
    assert desk.take() == [("pressed", "undo")]
    desk.wait(10)
    assert desk.take() == [("combination", "service")]
    desk.up("deal")
    desk.wait(3)
    desk.up("undo")
    assert desk.take() == [("released", "undo")]
    desk.down("deal")
    desk.up("deal")
    assert desk.take() == [("pressed", "deal"), ("released", "deal")]


def test_a_combination_let_go_too_early_starts_again() -> None:
    desk = Desk()
    desk.down("undo")
    desk.down("deal")
    desk.wait(4.5)
    desk.up("deal")
    desk.wait(0.5)
    desk.down("deal")
    desk.wait(4.5)
    assert "combination" not in dict(desk.take())
    desk.wait(0.6)
    assert desk.take() == [("combination", "service")]


def test_a_combination_with_a_fluttering_contact_waits_until_it_is_quiet() -> None:
    desk = Desk()
    desk.down("undo")
    desk.down("deal")
    for _ in range(10):
        desk.wait(1)
        desk.moved["undo"] = desk.now
    assert "combination" not in dict(desk.take())
    desk.wait(5)
    assert desk.take() == [("combination", "service")]


def test_a_combination_can_be_made_again() -> None:
    desk = Desk()
    for _ in range(2):
        desk.down("undo")
        desk.down("deal")
        desk.wait(5.1)
        desk.up("undo")
        desk.up("deal")
        assert desk.take().count(("combination", "service")) == 1


def test_the_second_button_cancels_the_hold_of_the_first() -> None:
    desk = Desk()
    desk.down("deal")
    desk.wait(1)
    desk.events.clear()
    desk.down("undo")
    assert desk.take() == [("cancelled", "deal")]
    desk.wait(1)
    desk.up("undo")
    desk.wait(4)
    assert desk.take() == []
    desk.down("undo")
    desk.up("undo")
    assert desk.take() == [], "deal is still down: together again"
    desk.up("deal")
    desk.down("undo")
    assert desk.take() == [("released", "deal"), ("pressed", "undo")]


def test_a_stuck_button_makes_no_combination() -> None:
    desk = Desk()
    desk.down("deal")
    desk.wait(STUCK_AFTER + 1, step=0.125)
    desk.events.clear()
    desk.down("undo")
    desk.wait(6)
    assert EventKind.COMBINATION not in {event.kind for event in desk.events}
    assert EventKind.REPEATED in {event.kind for event in desk.events}


def test_a_combination_of_buttons_that_do_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="nope"):
        Buttons({}, {"service": CombinationSpec(("nope",))}, print)
