"""What can be asked of a session, and what it answers.

Touch, drag, key, physical button, attract player and idle timer all speak these commands, and
nothing changes the game or the state of the table in any other way.

Invariant: plain immutable values; no Kivy, no behaviour.
"""

from __future__ import annotations

from enum import Enum
from typing import ClassVar

from msgspec import Struct

from engine.advice import Advice
from engine.difficulty import Grade
from engine.position import Move, Position


class Pile(Enum):
    """The two piles beside the pyramid, as things to touch."""

    STOCK = "stock"
    WASTE = "waste"


#: What was touched: a pyramid place, 0 to 27, or a pile (whatever lies on it, if anything).
Target = int | Pile


class Panel(Enum):
    """What lies over the table, if anything.  While a panel is open the table takes no input."""

    NONE = "none"
    WON = "won"
    STUCK = "stuck"
    CANNOT_WIN = "cannot_win"  #: a hint was asked for and no line of moves wins any more
    GIVE_UP = "give_up"  #: a running game is about to be left: really?
    COUNTDOWN = "countdown"  #: nobody has touched anything for a while
    CONTINUE = "continue"  #: somebody left a game: go on with it, or begin another?
    MENU = "menu"
    RULES = "rules"
    CHOOSE = "choose"  #: preset, grade, the deal of the day
    NUMBER = "number"  #: a deal number is entered
    STATISTICS = "statistics"
    LOOK = "look"  #: how the cards look and move
    PAUSE = "pause"  #: the table is hidden
    SERVICE = "service"  #: for whoever looks after the kiosk: see kiosk/service.py


#: The panels that a player opens, and leaves to another of them or to the table.
OPENED_BY_PLAYER = frozenset(
    {
        Panel.MENU,
        Panel.RULES,
        Panel.CHOOSE,
        Panel.NUMBER,
        Panel.STATISTICS,
        Panel.LOOK,
        Panel.PAUSE,
    }
)


class Refusal(Enum):
    """Why a command did nothing."""

    COVERED = "covered"  #: the card is not available
    NOT_THIRTEEN = "not_thirteen"  #: the two cards do not add up to 13
    NOTHING_THERE = "nothing_there"
    NO_STOCK = "no_stock"  #: nothing to draw, and no redeal left
    NOTHING_TO_UNDO = "nothing_to_undo"
    NOTHING_TO_REDO = "nothing_to_redo"
    NO_ADVICE = "no_advice"  #: the solver gave up: it can neither hint nor say that it is lost
    BLOCKED = "blocked"  #: a panel is open, or the game is over


class ChangeKind(Enum):
    """What a command brought about."""

    NOTHING = "nothing"
    SELECTED = "selected"
    DESELECTED = "deselected"
    REFUSED = "refused"
    PLAYED = "played"
    UNDONE = "undone"
    REDONE = "redone"
    WENT_BACK = "went_back"  #: several moves at once were taken back
    DEALT = "dealt"  #: another game lies on the table
    THINKING = "thinking"  #: the solver was asked for a hint
    HINTED = "hinted"
    PANEL = "panel"  #: a panel opened, closed or counts down
    ATTRACT = "attract"  #: another deal lies on the table, and nobody plays
    SCENE = "scene"  #: in attract mode: other words, over the same table
    WOKE = "woke"  #: the attract mode ended; the player's game lies on the table
    ABANDONED = "abandoned"  #: a game that somebody left was cleared away, behind the demo
    LOST = "lost"  #: found out, unasked, that no line of moves wins any more
    OPTION = "option"  #: language, auto-play or look


class Change(Struct, frozen=True):
    """The answer to a command: all that animation, sound, lamps and storage need.

    Attributes:
        kind: what happened.
        old: the position that was on the table.
        new: the position that is on the table now; often the same one.
        move: the move that was played, undone or redone.
        refusal: why nothing happened, when ``kind`` is REFUSED.
        targets: the things that were touched, hinted or are in the way, for highlighting.
        first: when ``kind`` is PLAYED: whether a new visitor has made the first move of its kind.
        waits: when ``kind`` is HINTED: whether every removal that is possible is proven to lose.
    """

    kind: ChangeKind
    old: Position
    new: Position
    move: Move | None = None
    refusal: Refusal | None = None
    targets: tuple[Target, ...] = ()
    first: bool = False
    waits: bool = False

    @property
    def only_woke(self) -> bool:
        """Of the answer to :class:`Touched`: whether that is all that this touch or press does."""
        return self.kind in {ChangeKind.WOKE, ChangeKind.PANEL}


class Command(Struct, frozen=True):
    """Something asked of the session."""

    #: Whether a person did this: it wakes the attract mode and restarts the idle time.
    by_person: ClassVar[bool] = True


class Touched(Command, frozen=True):
    """Somebody touched the screen, wherever.  Sent at once, before it is known what it will be."""


class Tap(Command, frozen=True):
    """A pyramid card or a pile was tapped."""

    target: Target


class Drop(Command, frozen=True):
    """The card on ``source`` was dragged and let go over ``target``, or over nothing (None)."""

    source: Target
    target: Target | None


class Draw(Command, frozen=True):
    """Draw a card, or turn the waste over when the stock is empty."""


class Undo(Command, frozen=True):
    """Take back one move."""


class Redo(Command, frozen=True):
    """Play the last undone move again."""


class Hint(Command, frozen=True):
    """Show a move that leads to a win."""


class BackToWinnable(Command, frozen=True):
    """Go back to the last position from which the game can be won (panel CANNOT_WIN)."""


class NewDeal(Command, frozen=True):
    """Deal another game.

    Attributes:
        preset: the preset to play from now on; None keeps the present one.
        grade: with a preset: how hard deals are from now on; None is any.
        number: that deal number, instead of one from the pool, 1 to 4,294,967,295.
        daily: the deal of the day, instead of any.
        confirmed: whether a running game may be given up; otherwise the player is asked first.
    """

    preset: str | None = None
    grade: Grade | None = None
    number: int | None = None
    daily: bool = False
    confirmed: bool = False


class CheckDeal(Command, frozen=True):
    """Find out whether a deal number can be won (panel NUMBER); see ``Session.checked``.

    Attributes:
        number: what has been typed by now; None when all of it was taken away again.
    """

    number: int | None


class Replay(Command, frozen=True):
    """Play the same deal from its start."""

    confirmed: bool = False


class Open(Command, frozen=True):
    """Open one of the panels of :data:`OPENED_BY_PLAYER`.

    Attributes:
        panel: which one.
        preset: for NUMBER: the rules that the deal is to be played by; None keeps the present.
    """

    panel: Panel
    preset: str | None = None


class Close(Command, frozen=True):
    """Close the panel; the stuck panel shows the table as it stands."""


class SetLanguage(Command, frozen=True):
    """Speak another language from now on: the code of a catalogue, like ``de``."""

    language: str


class SetAutoPlay(Command, frozen=True):
    """Whether a tapped card that has exactly one partner is paired with it at once."""

    on: bool


class SetLook(Command, frozen=True):
    """Change how the kiosk looks, until the next visitor: an attribute of DisplaySettings."""

    name: str
    on: bool


class Tick(Command, frozen=True):
    """Time has passed.  Sent a few times a second; drives idle time and attract mode."""

    by_person: ClassVar[bool] = False


class Somebody(Command, frozen=True):
    """A sensor sees somebody (True), or nobody any more (False)."""

    by_person: ClassVar[bool] = False

    there: bool


class Darken(Command, frozen=True):
    """The screen is black from now on (True), or to be seen again (False)."""

    by_person: ClassVar[bool] = False

    dark: bool


class AdviceReady(Command, frozen=True):
    """The solver has answered the question numbered ``question``; None when it gave up."""

    by_person: ClassVar[bool] = False

    question: int
    advice: Advice | None
