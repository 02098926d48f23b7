"""Lamps: off, on, breathing, blinking.

Invariant: no lamp is ever lit more than twice in a second, whatever it is asked to show; light that
flashes faster can make people ill.
"""

from __future__ import annotations

import math
from typing import Any, Final

from gpiozero import LED, PWMLED

from hardware.config import LampSpec, LampState

#: Seconds from one flash to the next, and half of it is light.
BLINK_PERIOD: Final = 1.0
#: Seconds of one breath.
BREATH_PERIOD: Final = 4.0
#: How dark a breathing lamp gets; fully dark would look broken in between.
FAINTEST: Final = 0.05
#: At the least so long between two changes from dark to light, over all states.
_SHORTEST_FLASH: Final = 0.5
#: The eye takes light by its logarithm, roughly: half the power looks like three quarters.
_GAMMA: Final = 2.2
#: Brightness is only written when it changes by this much: the library has a hundred steps.
_STEP: Final = 0.01


def brightness(state: LampState, seconds: float, *, pwm: bool) -> float:
    """How bright a lamp is, 0 to 1, when it has shown ``state`` for so many seconds.

    A lamp without ``pwm`` breathes by being on for half a breath and off for the other half.
    """
    match state:
        case LampState.OFF:
            return 0.0
        case LampState.ON:
            return 1.0
        case LampState.BLINKING:
            return 1.0 if seconds % BLINK_PERIOD < BLINK_PERIOD / 2 else 0.0
        case LampState.BREATHING:
            phase = seconds % BREATH_PERIOD / BREATH_PERIOD
            if not pwm:
                return 1.0 if phase < 0.5 else 0.0
            perceived = (1 + math.cos(2 * math.pi * phase)) / 2
            return FAINTEST + (1 - FAINTEST) * float(perceived**_GAMMA)


class Lamp:
    """One lamp on one pin; dark at first, and dark when it is closed."""

    def __init__(self, factory: Any, spec: LampSpec) -> None:
        kind = PWMLED if spec.pwm else LED
        self._spec = spec
        self._device = kind(spec.pin, active_high=spec.active == "high", pin_factory=factory)
        self._state = LampState.OFF
        self._since: float | None = None
        self._lit = float("-inf")
        self._value = 0.0

    @property
    def state(self) -> LampState:
        """What it shows."""
        return self._state

    def show(self, state: LampState) -> None:
        """Show something else, from the next :meth:`pass_time` on."""
        if state is not self._state:
            self._state = state
            self._since = None

    def pass_time(self, now: float) -> None:
        """It is ``now``, in monotonic seconds: be as bright as that asks."""
        if self._since is None:
            self._since = now
        value = brightness(self._state, now - self._since, pwm=self._spec.pwm)
        value *= self._spec.brightness if self._spec.pwm else 1.0
        if self._value == 0 < value:
            if now - self._lit < _SHORTEST_FLASH:
                return
            self._lit = now
        if value == self._value or (value > 0 and abs(value - self._value) < _STEP):
            return
        self._device.value = value
        self._value = value

    def close(self) -> None:
        """Go dark and let go of the pin."""
        try:
            self._device.off()
        finally:
            self._device.close()
