"""The rules that a game is played by, and the presets that people know by name.

Invariant: a variant is a value of :class:`Rules`, never a subclass; every combination of the
options is legal and playable.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from types import MappingProxyType
from typing import Any, Final


class RulesError(ValueError):
    """Rules that do not exist; the message names the option and what it may be."""


class Goal(Enum):
    """What has to be removed to win."""

    PYRAMID = "pyramid"  #: the 28 pyramid cards
    DECK = "deck"  #: all 52 cards


class Covered(Enum):
    """How covered pyramid cards are shown.  Display only, never legality."""

    FACE_UP = "face_up"
    FACE_DOWN = "face_down"


@dataclass(frozen=True)
class Rules:
    """One set of rules.

    Attributes:
        passes: runs through the stock, the first one included, 1 or more; None is unlimited.
        goal: what has to be removed.
        covered: whether covered pyramid cards are shown.
        stock_playable: the top stock card lies face up and is available before it is drawn.
        overlap: a card may also pair with a card that covers it, if that one is its only
            remaining cover and is itself available.

    Raises:
        RulesError: ``passes`` is not a whole number of 1 or more, or None; or another option is
            of the wrong type.
    """

    passes: int | None = 3
    goal: Goal = Goal.PYRAMID
    covered: Covered = Covered.FACE_UP
    stock_playable: bool = False
    overlap: bool = False

    def __post_init__(self) -> None:
        if self.passes is not None and (
            isinstance(self.passes, bool) or not isinstance(self.passes, int) or self.passes < 1
        ):
            raise RulesError(f"passes is 1, 2, 3, … or unlimited, not {self.passes!r}")
        for name, kind in (
            ("goal", Goal),
            ("covered", Covered),
            ("stock_playable", bool),
            ("overlap", bool),
        ):
            value = getattr(self, name)
            if not isinstance(value, kind):
                raise RulesError(f"{name} must be a {kind.__name__}, not {value!r}")

    @classmethod
    def parse(cls, text: str) -> Rules:
        """Read a preset's name, or options like ``passes=3,goal=pyramid,overlap=no``.

        A list of options may begin with a preset's name, whose options it then changes;
        without one, what is not given is as in ``three-pass``.

        >>> Rules.parse("cards4,passes=2").passes
        2

        Raises:
            RulesError: an unknown preset, option or value, or an option given twice.
        """
        head, *rest = [part.strip() for part in text.strip().split(",")]
        if "=" in head or not head:
            rest = [head, *rest]
            rules = PRESETS["three-pass"]
        elif head in PRESETS:
            rules = PRESETS[head]
        else:
            raise RulesError(
                f"{head!r} is not a preset: take one of {', '.join(PRESETS)}, "
                "or options like passes=3,goal=pyramid"
            )
        changes: dict[str, Any] = {}
        for part in rest:
            name, equals, value = (piece.strip() for piece in part.partition("="))
            if not equals or name not in _READERS:
                raise RulesError(
                    f"{part!r} is not an option: take {', '.join(f'{n}=…' for n in _READERS)}"
                )
            if name in changes:
                raise RulesError(f"{name} is given twice")
            changes[name] = _READERS[name](name, value)
        return replace(rules, **changes)

    def __str__(self) -> str:
        """All options, in the form that :meth:`parse` reads."""
        return (
            f"passes={'unlimited' if self.passes is None else self.passes},goal={self.goal.value},"
            f"covered={self.covered.value},stock_playable={_yes_no(self.stock_playable)},"
            f"overlap={_yes_no(self.overlap)}"
        )

    def include(self, other: Rules) -> bool:
        """Whether every line that wins a deal under ``other`` wins it under these rules too.

        So it is if every move that ``other`` allows is allowed here, and what ``other`` wants
        removed holds all that is wanted here.  Whether cards lie face up makes no difference.
        """
        return (
            (self.passes is None or (other.passes is not None and other.passes <= self.passes))
            and (self.goal is Goal.PYRAMID or other.goal is Goal.DECK)
            and (self.stock_playable or not other.stock_playable)
            and (self.overlap or not other.overlap)
        )

    @property
    def preset(self) -> str | None:
        """The name of the preset that these rules are, if they are one."""
        return _PRESET_NAMES.get(self)


def _yes_no(value: bool) -> str:
    return "yes" if value else "no"


def _read_passes(name: str, value: str) -> int | None:
    if value == "unlimited":
        return None
    if value.isascii() and value.isdigit() and len(value) <= 9:
        return int(value)
    raise RulesError(f"{name} is 1, 2, 3, … or unlimited, not {value!r}")


def _one_of(choices: dict[str, Any]) -> Callable[[str, str], Any]:
    def read(name: str, value: str) -> Any:
        try:
            return choices[value]
        except KeyError:
            raise RulesError(f"{name} is {' or '.join(choices)}, not {value!r}") from None

    return read


_READERS: Final[dict[str, Callable[[str, str], Any]]] = {
    "passes": _read_passes,
    "goal": _one_of({goal.value: goal for goal in Goal}),
    "covered": _one_of({covered.value: covered for covered in Covered}),
    "stock_playable": _one_of({"no": False, "yes": True}),
    "overlap": _one_of({"no": False, "yes": True}),
}

#: The named rule sets, in the order in which a player is offered them.
PRESETS: Final[MappingProxyType[str, Rules]] = MappingProxyType(
    {
        "three-pass": Rules(passes=3),
        "cards4": Rules(passes=1, covered=Covered.FACE_DOWN),
        "relaxed": Rules(passes=1, stock_playable=True),
        "classic": Rules(passes=1, goal=Goal.DECK, stock_playable=True),
        "collection": Rules(passes=3, stock_playable=True),
        "overlap": Rules(passes=1, stock_playable=True, overlap=True),
    }
)

_PRESET_NAMES: Final[dict[Rules, str]] = {rules: name for name, rules in PRESETS.items()}
