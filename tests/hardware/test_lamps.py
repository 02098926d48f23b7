from __future__ import annotations

import itertools

import pytest
from gpiozero.pins.mock import MockFactory, MockPin, MockPWMPin
from hypothesis import given
from hypothesis import strategies as st

from hardware.config import LampSpec, LampState
from hardware.lamps import BLINK_PERIOD, BREATH_PERIOD, Lamp, brightness


class LitPin:
    """A lamp on a mock pin, and what the pin does as time passes."""

    def __init__(self, spec: LampSpec) -> None:
        self.factory = MockFactory(pin_class=MockPWMPin if spec.pwm else MockPin)
        self.lamp = Lamp(self.factory, spec)
        self.pin = self.factory.pin(spec.pin)
        self.now = 100.0

    def show(self, state: LampState, seconds: float, step: float = 0.02) -> list[float]:
        """Show ``state`` for a while; the pin's value after each step."""
        self.lamp.show(state)
        values = []
        for _ in range(round(seconds / step)):
            self.lamp.pass_time(self.now)
            values.append(float(self.pin.state))
            self.now += step
        return values


def flashes(values: list[float]) -> int:
    """How often it went from dark to light."""
    return sum(a == 0 < b for a, b in zip([0.0, *values], values, strict=False))


@pytest.mark.parametrize("pwm", [True, False])
def test_off_and_on(pwm: bool) -> None:
    lit = LitPin(LampSpec(12, pwm=pwm))
    assert set(lit.show(LampState.OFF, 1)) == {0.0}
    assert set(lit.show(LampState.ON, 1)) == {1.0}
    assert set(lit.show(LampState.OFF, 1)) == {0.0}


def test_breathing_is_slow_smooth_and_never_dark() -> None:
    lit = LitPin(LampSpec(12))
    values = lit.show(LampState.BREATHING, 2 * BREATH_PERIOD)
    assert min(values) > 0
    assert max(values) == 1.0
    assert max(abs(a - b) for a, b in itertools.pairwise(values)) < 0.05
    assert len(set(values)) > 50


def test_breathing_writes_no_more_often_than_the_eye_can_see() -> None:
    lit = LitPin(LampSpec(12))
    lit.pin.clear_states()
    lit.show(LampState.BREATHING, BREATH_PERIOD, step=0.001)
    assert len(lit.pin.states) < 250


def test_a_plain_lamp_breathes_by_going_on_and_off() -> None:
    values = LitPin(LampSpec(12, pwm=False)).show(LampState.BREATHING, 4 * BREATH_PERIOD)
    assert set(values) == {0.0, 1.0}
    assert flashes(values) == 4


def test_blinking_is_at_most_two_flashes_a_second() -> None:
    values = LitPin(LampSpec(12)).show(LampState.BLINKING, 10)
    assert flashes(values) == 10 / BLINK_PERIOD
    assert flashes(values) <= 20


@given(st.lists(st.tuples(st.sampled_from(LampState), st.floats(0, 0.6)), max_size=40))
def test_no_lamp_flashes_faster_whatever_it_is_asked(asked: list[tuple[LampState, float]]) -> None:
    lit = LitPin(LampSpec(12))
    lit.pin.clear_states()
    lightings: list[float] = []
    for state, seconds in asked:
        before = float(lit.pin.state)
        start = lit.now
        values = lit.show(state, seconds)
        for index, (a, b) in enumerate(zip([before, *values], values, strict=False)):
            if a == 0 < b:
                lightings.append(start + index * 0.02)
    assert all(b - a > 0.499 for a, b in itertools.pairwise(lightings))


def test_blinking_begins_with_light_whenever_it_begins() -> None:
    for offset in (0.0, 0.3, 0.7):
        lit = LitPin(LampSpec(12))
        lit.now += offset
        assert lit.show(LampState.BLINKING, 0.02) == [1.0]


def test_blinking_begins_with_light_after_anything_else() -> None:
    lit = LitPin(LampSpec(12))
    lit.show(LampState.BREATHING, 0.7)
    assert lit.show(LampState.BLINKING, 0.4) == [1.0] * 20


def test_a_lamp_that_is_lit_by_a_low_pin() -> None:
    lit = LitPin(LampSpec(12, active="low", pwm=False))
    assert lit.pin.state == 1
    lit.show(LampState.ON, 0.1)
    assert lit.pin.state == 0


def test_brightness_is_bounded_by_the_setting() -> None:
    lit = LitPin(LampSpec(12, brightness=0.4))
    assert set(lit.show(LampState.ON, 0.1)) == {0.4}
    assert max(lit.show(LampState.BREATHING, BREATH_PERIOD)) == pytest.approx(0.4)
    plain = LitPin(LampSpec(12, brightness=0.4, pwm=False))
    assert set(plain.show(LampState.ON, 0.1)) == {1.0}


def test_a_closed_lamp_is_dark_and_its_pin_free() -> None:
    lit = LitPin(LampSpec(12))
    lit.show(LampState.ON, 0.1)
    lit.lamp.close()
    assert lit.pin.state == 0
    assert lit.pin.function == "input"
    Lamp(lit.factory, LampSpec(12)).close()


@given(st.sampled_from(LampState), st.floats(0, 1e9), st.booleans())
def test_brightness_stays_between_dark_and_full(state: LampState, at: float, pwm: bool) -> None:
    assert 0 <= brightness(state, at, pwm=pwm) <= 1
