from __future__ import annotations

import logging
from itertools import product
from typing import Literal

import pytest
from gpiozero.pins.mock import MockFactory

from hardware.config import EncoderSpec
from hardware.lines import Change, Encoder, Line
from tests.hardware.rig import FakeClock, on_threads

PIN = 17


def line(
    factory: MockFactory,
    clock: FakeClock,
    pull: Literal["up", "down", "none"] = "up",
    active: Literal["low", "high"] = "low",
    *,
    from_start: bool = False,
) -> Line:
    return Line(
        factory, PIN, pull=pull, active=active, debounce=0.04, clock=clock, from_start=from_start
    )


def drive(factory: MockFactory, high: bool) -> None:
    pin = factory.pin(PIN)
    on_threads(pin.drive_high if high else pin.drive_low)


@pytest.mark.parametrize(("pull", "active"), list(product(["up", "down", "none"], ["low", "high"])))
def test_every_pull_and_level(
    pull: Literal["up", "down", "none"], active: Literal["low", "high"]
) -> None:
    factory, clock = MockFactory(), FakeClock()
    rest = active == "low"
    factory.pin(PIN)._state = rest
    contact = line(factory, clock, pull, active)
    assert factory.pin(PIN).pull == {"none": "floating"}.get(pull, pull)
    # A normally closed contact rests against its pull; let it be where it rests.
    drive(factory, rest)
    clock.now += 1
    contact.changes(clock.now)
    clock.now += 1
    drive(factory, not rest)
    assert contact.changes(clock.now) == [Change(True, clock.now)]
    clock.now += 1
    drive(factory, rest)
    assert contact.changes(clock.now) == [Change(False, clock.now)]


def test_changes_have_the_time_of_their_edge_and_not_of_the_look() -> None:
    factory, clock = MockFactory(), FakeClock()
    contact = line(factory, clock)
    drive(factory, False)
    clock.now += 0.5
    drive(factory, True)
    clock.now += 3
    assert contact.changes(clock.now) == [Change(True, 1000.0), Change(False, 1000.5)]
    assert contact.changes(clock.now) == []


def test_a_button_down_at_the_start_must_be_let_go_first() -> None:
    factory, clock = MockFactory(), FakeClock()
    # The pull wins when the line is claimed, so rest high and be active high.
    contact = line(factory, clock, "up", "high")
    clock.now += 60
    assert contact.changes(clock.now) == []
    drive(factory, False)
    clock.now += 1
    assert contact.changes(clock.now) == []
    drive(factory, True)
    assert contact.changes(clock.now) == [Change(True, clock.now)]


def test_a_sensor_that_sees_somebody_at_the_start_says_so() -> None:
    factory, clock = MockFactory(), FakeClock()
    contact = line(factory, clock, "up", "high", from_start=True)
    assert contact.changes(clock.now) == [Change(True, clock.now)]


def test_an_edge_that_the_library_lost_is_seen_by_looking() -> None:
    factory, clock = MockFactory(), FakeClock()
    contact = line(factory, clock)
    factory.pin(PIN)._state = False
    clock.now += 1
    assert contact.changes(clock.now) == [Change(True, clock.now)]


def test_an_exception_on_the_librarys_thread_is_logged_and_the_next_edge_counts(
    caplog: pytest.LogCaptureFixture,
) -> None:
    factory = MockFactory()

    class BadClock(FakeClock):
        def __call__(self) -> float:
            if self.now < 1001:
                raise RuntimeError("no time")
            return self.now

    clock = BadClock()
    contact = line(factory, clock)
    # on_threads would raise what the callback lets out.
    drive(factory, False)
    drive(factory, True)
    assert [record.levelno for record in caplog.records] == [logging.ERROR] * 2
    clock.now = 1002.0
    drive(factory, False)
    assert contact.changes(clock.now) == [Change(True, 1002.0)]


def test_a_closed_line_frees_its_pin_and_says_nothing() -> None:
    factory, clock = MockFactory(), FakeClock()
    contact = line(factory, clock)
    contact.close()
    contact.close()
    drive(factory, False)
    line(factory, clock).close()


def turn(factory: MockFactory, first: int, second: int, steps: int) -> None:
    """Turn an encoder: its pins go low and high again, one leading."""
    lead, lag = factory.pin(first), factory.pin(second)
    for _ in range(steps):
        lead.drive_low()
        lag.drive_low()
        lead.drive_high()
        lag.drive_high()


def test_an_encoder_counts_steps_both_ways() -> None:
    factory = MockFactory()
    encoder = Encoder(factory, EncoderSpec(5, 6))
    on_threads(lambda: turn(factory, 5, 6, 40))
    one_way = encoder.turns()
    assert abs(one_way) == 40
    assert encoder.turns() == 0
    on_threads(lambda: turn(factory, 6, 5, 3))
    assert encoder.turns() == (-3 if one_way > 0 else 3)
    encoder.close()
    Encoder(factory, EncoderSpec(5, 6)).close()
