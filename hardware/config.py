"""What is wired to which pin, as plain values.

Invariant: values are taken as they are.  Whoever read them from a person has checked them.

Pins are GPIO numbers (BCM numbering, 0 to 27), never positions on the header.  Times are seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

Pull = Literal["up", "down", "none"]
Active = Literal["low", "high"]


class LampState(StrEnum):
    """What a lamp shows."""

    OFF = "off"
    ON = "on"
    BREATHING = "breathing"
    BLINKING = "blinking"


@dataclass(frozen=True)
class Repeat:
    """How a held button repeats, at a growing rate.

    Attributes:
        after: from the press to the first repeat.
        slowest: from the first repeat to the second.
        fastest: between repeats after a long hold.
        growth: each interval is the one before times this, above 0, at most 1.
    """

    after: float = 0.6
    slowest: float = 0.4
    fastest: float = 0.1
    growth: float = 0.85


@dataclass(frozen=True)
class ButtonSpec:
    """A push button, or one direction of a stick.

    Attributes:
        pin: GPIO number.
        pull: the resistor inside the chip.
        active: the level of the pin while the button is down.
        debounce: how long the pin must be quiet before its next change counts.
        hold: time until HELD; None for a button without a hold.
        repeat: how it repeats; None for a button that does not.
    """

    pin: int
    pull: Pull = "up"
    active: Active = "low"
    debounce: float = 0.04
    hold: float | None = None
    repeat: Repeat | None = None


@dataclass(frozen=True)
class CombinationSpec:
    """Buttons that mean something else when held together.

    Attributes:
        buttons: their names, two or more.
        hold: for how long all of them have to be down.
    """

    buttons: tuple[str, ...]
    hold: float = 5.0


@dataclass(frozen=True)
class EncoderSpec:
    """A rotary encoder: two switches to ground, with the chip's own pull-up resistors."""

    a: int
    b: int


@dataclass(frozen=True)
class LampSpec:
    """A lamp.

    Attributes:
        pin: GPIO number.
        active: the level of the pin that lights it.
        pwm: whether its brightness may be changed by switching it quickly.
        brightness: how bright it is at most, above 0, at most 1; without ``pwm`` always full.
    """

    pin: int
    active: Active = "high"
    pwm: bool = True
    brightness: float = 1.0


@dataclass(frozen=True)
class PresenceSpec:
    """A sensor that sees people: infrared, radar, light barrier or mat.

    Attributes:
        pin: GPIO number.
        pull: the resistor inside the chip.
        active: the level of the pin while somebody is there.
        debounce: how long the pin must be quiet before its next change counts.
        absent_after: how long it must see nobody before somebody has gone.
    """

    pin: int
    pull: Pull = "down"
    active: Active = "high"
    debounce: float = 0.2
    absent_after: float = 10.0


@dataclass(frozen=True)
class PanelSettings:
    """Everything on the panel; by default nothing."""

    buttons: Mapping[str, ButtonSpec] = field(default_factory=dict)
    combinations: Mapping[str, CombinationSpec] = field(default_factory=dict)
    encoders: Mapping[str, EncoderSpec] = field(default_factory=dict)
    lamps: Mapping[str, LampSpec] = field(default_factory=dict)
    presence: PresenceSpec | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is wired at all."""
        return not (self.buttons or self.encoders or self.lamps or self.presence)
