"""The operator's settings for buttons, lamps, presence sensor and backlight, and what contradicts.

Every pin is a GPIO number (BCM numbering), not a position on the header, and absent unless it is
given: nothing is connected that the operator did not name.

Invariant: a pin that cannot be meant (not there, reserved, named twice) is left unconnected rather
than guessed at, for a wrong guess can burn something; everything else still counts.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

#: A GPIO number.  Its range is checked here, for a message that an operator can act on.
Pin = int | None
Pull = Literal["up", "down", "none"]
Active = Literal["low", "high"]
Milliseconds = Annotated[int, Meta(ge=10, le=500)]
Interval = Annotated[float, Meta(ge=0.05, le=5)]
Percent = Annotated[float, Meta(ge=1, le=100)]

#: The GPIO numbers on the header.
ON_HEADER: Final = range(28)
#: Numbers on the header that no button may have, and what they are for.
RESERVED: Final = {0: "ID_SD", 1: "ID_SC"}
#: Numbers with a pull-up resistor soldered to the board.
ALWAYS_UP: Final = frozenset({2, 3})


class ButtonSettings(Struct, frozen=True):
    """Push buttons, a stick and a wheel.

    Attributes:
        undo: takes back a move; held, one after the other.
        new_deal: deals at the end of a game; during one it must be held.
        hint: shows a move.
        redo: plays an undone move again; held, one after the other.
        draw: draws a card, or turns the waste over.
        up: a stick's direction, or a button instead of it; so are down, left and right.
        down: see up.
        left: see up.
        right: see up.
        select: does what a tap on the marked card would do.
        wheel_a: a rotary encoder's first switch.
        wheel_b: a rotary encoder's second switch.
        pull: the resistor inside the chip, for all buttons.
        active: the level of a pin while its button is down.
        debounce_ms: how long a pin must be quiet before its next change counts.
        new_deal_hold: seconds to hold new_deal during a game.
        service_hold: seconds to hold undo and new_deal together for the service menu.
        repeat_after: seconds from the press to the first repeat.
        repeat_slowest: seconds from the first repeat to the second.
        repeat_fastest: seconds between repeats after a long hold.
    """

    undo: Pin = None
    new_deal: Pin = None
    hint: Pin = None
    redo: Pin = None
    draw: Pin = None
    up: Pin = None
    down: Pin = None
    left: Pin = None
    right: Pin = None
    select: Pin = None
    wheel_a: Pin = None
    wheel_b: Pin = None
    pull: Pull = "up"
    active: Active = "low"
    debounce_ms: Milliseconds = 40
    new_deal_hold: Annotated[float, Meta(ge=0.5, le=10)] = 1.5
    service_hold: Annotated[float, Meta(ge=2, le=30)] = 5.0
    repeat_after: Interval = 0.6
    repeat_slowest: Interval = 0.4
    repeat_fastest: Interval = 0.1


class LampSettings(Struct, frozen=True):
    """Lamps in or beside the buttons.

    Attributes:
        undo: lit when there is something to undo.
        new_deal: breathes in attract mode, blinks at the end of a game.
        hint: lit when a hint can be asked for.
        redo: lit when there is something to redo.
        draw: lit when a card can be drawn, or the waste turned over.
        active: the level of a pin that lights its lamp.
        pwm: whether lamps may be dimmed by switching them quickly.
        brightness: how bright they are at most, with ``pwm``.
    """

    undo: Pin = None
    new_deal: Pin = None
    hint: Pin = None
    redo: Pin = None
    draw: Pin = None
    active: Active = "high"
    pwm: bool = True
    brightness: Annotated[float, Meta(ge=0.05, le=1)] = 1.0


class PresenceSettings(Struct, frozen=True):
    """A sensor that sees people.

    Attributes:
        pin: where it is connected.
        pull: the resistor inside the chip.
        active: the level of the pin while it sees somebody.
        debounce_ms: how long the pin must be quiet before its next change counts.
        absent_after: seconds without a sight until somebody has gone.
    """

    pin: Pin = None
    pull: Pull = "down"
    active: Active = "high"
    debounce_ms: Milliseconds = 200
    absent_after: Annotated[float, Meta(ge=1, le=3_600)] = 10.0


class BacklightSettings(Struct, frozen=True):
    """The light behind the screen.

    Attributes:
        device: its name in /sys/class/backlight; "auto" takes the first, "none" leaves it alone.
        full: percent of the brightest when somebody is there.
        dim: percent of the brightest when nobody is.
    """

    device: Annotated[str, Meta(pattern=r"\A[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}\Z")] = "auto"
    full: Percent = 100.0
    dim: Percent = 25.0


Sections = dict[str, Any]


def check(sections: Sections) -> tuple[Sections, list[str]]:
    """Find what contradicts itself or another section.

    Args:
        sections: the settings above, by section: ``buttons``, ``lamps``, ``presence`` and
            ``backlight``.

    Returns:
        the sections without what is wrong, and one sentence for each mistake.
    """
    problems: list[str] = []
    wrong: set[str] = set()
    users: dict[int, list[str]] = defaultdict(list)
    for section, values in sections.items():
        for key, pin in _pins(values):
            name = f"{section}.{key}"
            if reason := _impossible(pin, section, key, values):
                problems.append(f"{name} = {pin}: {reason}; it is left out")
                wrong.add(name)
            else:
                users[pin].append(name)
    for pin, names in sorted(users.items()):
        if len(names) > 1:
            both = "both" if len(names) == 2 else "all"
            problems.append(f"{_list(names)} {both} use GPIO {pin}; none of them is connected")
            wrong.update(names)
    sections = {
        section: msgspec.structs.replace(
            values, **{key: None for key, _pin in _pins(values) if f"{section}.{key}" in wrong}
        )
        for section, values in sections.items()
    }
    _check_wheel(sections, problems)
    _check_order(sections, problems, "buttons", ("repeat_fastest", "slower", "repeat_slowest"))
    _check_order(sections, problems, "backlight", ("dim", "brighter", "full"))
    return sections, problems


def _pins(values: Struct) -> list[tuple[str, int]]:
    """The keys of a section that name a pin, with the pins."""
    return [
        (field.name, getattr(values, field.name))
        for field in msgspec.structs.fields(values)
        if field.type == Pin and getattr(values, field.name) is not None
    ]


def _impossible(pin: int, section: str, key: str, values: Any) -> str:
    """Why nothing can be connected to a pin, or ""."""
    if pin in RESERVED:
        return f"GPIO {pin} is {RESERVED[pin]}, by which the board recognises an add-on board"
    if pin not in ON_HEADER:
        return (
            f"there is no GPIO {pin} on the header; it may be 2 to 27 "
            "(the GPIO number, not the position on the header)"
        )
    if pin not in ALWAYS_UP or section == "lamps":
        return ""
    if key.startswith("wheel_"):
        return ""
    if values.pull != "up":
        return (
            f"GPIO {pin} has a pull-up resistor on the board, which contradicts "
            f"{section}.pull = {values.pull!r}"
        )
    return ""


def _check_wheel(sections: Sections, problems: list[str]) -> None:
    buttons = sections["buttons"]
    if (buttons.wheel_a is None) == (buttons.wheel_b is None):
        return
    given, missing = "wheel_a", "wheel_b"
    if buttons.wheel_a is None:
        given, missing = missing, given
    problems.append(f"buttons.{given} needs buttons.{missing} as well; the wheel is left out")
    sections["buttons"] = msgspec.structs.replace(buttons, wheel_a=None, wheel_b=None)


def _check_order(
    sections: Sections, problems: list[str], section: str, order: tuple[str, str, str]
) -> None:
    """The first key may be at most the last; otherwise both get their defaults."""
    low, more, high = order
    values = sections[section]
    small, large = getattr(values, low), getattr(values, high)
    if small <= large:
        return
    usual = type(values)()
    problems.append(
        f"{section}.{low} = {small} is {more} than {section}.{high} = {large}; the defaults "
        f"{getattr(usual, low)} and {getattr(usual, high)} are used"
    )
    sections[section] = msgspec.structs.replace(
        values, **{low: getattr(usual, low), high: getattr(usual, high)}
    )


def _list(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
