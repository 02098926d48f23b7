"""What the panel reports: somebody pressed, held, turned or came near something.

Invariant: plain immutable values that name what was wired, never what it means to the game.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class EventKind(StrEnum):
    """What happened.  The text of each kind is frozen: whoever receives events goes by it."""

    PRESSED = "pressed"  #: but for the last button of a combination, which means only that
    RELEASED = "released"  #: value: seconds since it was pressed
    REPEATED = "repeated"  #: held, and time for one more; value: the how-manieth, from 1
    HOLDING = "holding"  #: on the way to HELD; value: how far, above 0 and below 1
    HELD = "held"  #: held for as long as it takes; once a press
    CANCELLED = "cancelled"  #: a hold under way came to nothing; value: how far it had got
    COMBINATION = "combination"  #: several buttons were held together for as long as it takes
    TURNED = "turned"  #: an encoder; value: 1 clockwise, -1 anticlockwise
    CAME = "came"  #: a presence sensor sees somebody
    WENT = "went"  #: it has seen nobody for a while


@dataclass(frozen=True, slots=True)
class PanelEvent:
    """Something that happened on the panel.

    Attributes:
        kind: what happened.
        source: the name of the button, combination, encoder or sensor.
        value: see the kind; 0 where it says nothing.
    """

    kind: EventKind
    source: str
    value: float = 0.0
