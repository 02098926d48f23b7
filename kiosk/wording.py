"""What the screen says about a game, in sentences: refusals, moves, presets, rules.

Invariant: no Kivy and no state: values of the game and :class:`~kiosk.texts.Texts` go in, finished
texts come out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from engine.cards import KING, Card
from engine.position import Move, MoveKind, Position
from engine.rules import PRESETS, Covered, Goal, Rules
from kiosk.commands import Change, ChangeKind, Pile, Refusal, Target
from kiosk.texts import Texts


def clock(seconds: float) -> str:
    """A playing time as ``m:ss``, or ``h:mm:ss`` from an hour on."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def pass_figure(position: Position) -> str:
    """The pass under way and how many there are, like ``2/3``; without a limit just ``2``."""
    passes = position.rules.passes
    return str(position.pass_number) if passes is None else f"{position.pass_number}/{passes}"


def rank_name(texts: Texts, rank: int) -> str:
    """A rank (1 to 13) as one says it: ``9``, ``Queen``."""
    names = {
        1: texts.gettext("Ace"),
        11: texts.gettext("Jack"),
        12: texts.gettext("Queen"),
        13: texts.gettext("King"),
    }
    return names.get(rank, str(rank))


def rank_value(texts: Texts, rank: int) -> str:
    """A rank with what it counts, for newcomers: ``9``, ``Queen (12)``."""
    name = rank_name(texts, rank)
    return name if name == str(rank) else f"{name} ({rank})"


def cards_left(texts: Texts, n: int) -> str:
    """How many cards must still go."""
    return texts.ngettext("{n} card left", "{n} cards left", n)


# -- moves and refusals -----------------------------------------------------------------------


def move_caption(texts: Texts, move: Move) -> str:
    """What a move does, as a caption: for the demo and for hints."""
    match move.kind:
        case MoveKind.DRAW:
            return texts.gettext("Draw a card")
        case MoveKind.REDEAL:
            return texts.gettext("Turn the waste over")
        case MoveKind.KING:
            return texts.gettext("A King goes alone")
        case MoveKind.PAIR:
            first, second = (rank_value(texts, card.rank) for card in move.cards)
            return f"{first} + {second} = 13"


def message(texts: Texts, change: Change) -> str:
    """What to tell the player about a change; empty when the table says it all."""
    match change.kind:
        case ChangeKind.REFUSED:
            return _refusal(texts, change)
        case ChangeKind.HINTED if change.move is not None:
            return move_caption(texts, change.move)
        case ChangeKind.WENT_BACK:
            return texts.gettext("From here the game can be won")
        case _:
            return ""


def _refusal(texts: Texts, change: Change) -> str:  # noqa: PLR0911 - one return a refusal
    targets = change.targets
    match change.refusal:
        case Refusal.COVERED:
            if len(targets) == 2:
                return texts.gettext("The card that lies on it must go first")
            return texts.gettext("Both cards that lie on it must go first")
        case Refusal.NOT_THIRTEEN:
            return _not_thirteen(texts, [_card(change.new, target) for target in targets])
        case Refusal.NO_STOCK:
            return texts.gettext("The stock is used up")
        case Refusal.NOTHING_THERE if targets == (Pile.WASTE,):
            return texts.gettext("The waste is empty")
        case Refusal.NOTHING_TO_UNDO:
            return texts.gettext("There is nothing to undo")
        case Refusal.NOTHING_TO_REDO:
            return texts.gettext("There is nothing to redo")
        case Refusal.NO_ADVICE:
            return texts.gettext("No hint found this time")
        case _:
            return ""


def _not_thirteen(texts: Texts, cards: Sequence[Card | None]) -> str:
    ranks = [card.rank for card in cards if card is not None]
    if len(ranks) != 2:
        return ""
    if KING in ranks:
        return texts.gettext("A King goes alone")
    first, second = (rank_value(texts, rank) for rank in ranks)
    return texts.gettext(
        "{first} + {second} = {total}, not 13", first=first, second=second, total=sum(ranks)
    )


def _card(position: Position, target: Target) -> Card | None:
    """The card that a touch on ``target`` means, if one lies there."""
    place = target if isinstance(target, int) else None
    if target is Pile.WASTE:
        place = position.waste_top
    elif target is Pile.STOCK:
        place = position.stock_top
    return None if place is None else position.deal.cards[place]


# -- presets and rules ------------------------------------------------------------------------


@dataclass(frozen=True)
class PresetWords:
    """How a preset is offered.

    Attributes:
        name: its short name.
        line: what is special about it, in one line.
        odds: what a random deal would be like, in one line.
    """

    name: str
    line: str
    odds: str


#: Of 100 random deals, how many cannot be won under each preset, whoever plays: decided for 20,000
#: random deals or more each; those of ``classic`` and ``overlap`` are published by
#: solitairewinrates.com (2022) and by Keller and Masten, "Pyramid and Giza".
LOST_OF_100: Final = {
    "three-pass": 34,
    "cards4": 96,
    "relaxed": 91,
    "classic": 93,
    "collection": 34,
    "overlap": 77,
}


def preset_words(texts: Texts, preset: str) -> PresetWords:
    """The words for a preset; rules without a preset's name go by their own text."""
    words = {
        "three-pass": (
            texts.gettext("Three passes"),
            texts.gettext("Three times through the stock. Good for a first game."),
        ),
        "cards4": (
            texts.gettext("Face down"),
            texts.gettext("Once through the stock. Covered cards are hidden."),
        ),
        "relaxed": (
            texts.gettext("Open stock"),
            texts.gettext("Once through the stock. Its top card plays, too."),
        ),
        "classic": (
            texts.gettext("Classic"),
            texts.gettext("Like “Open stock”, but all 52 cards must go."),
        ),
        "collection": (
            texts.gettext("Open stock, 3 passes"),
            texts.gettext("Three times through the stock. Its top card plays, too."),
        ),
        "overlap": (
            texts.gettext("Overlap"),
            texts.gettext("Like “Open stock”, and a card may pair with the last one on it."),
        ),
    }
    name, line = words.get(preset, (preset, ""))
    odds = ""
    if preset in LOST_OF_100:
        odds = texts.gettext("At random, {n} of 100 cannot.", n=LOST_OF_100[preset])
    return PresetWords(name, line, odds)


def preset_names() -> tuple[str, ...]:
    """The presets in the order in which they are offered."""
    return tuple(PRESETS)


def rules_lines(texts: Texts, rules: Rules) -> dict[str, str]:
    """How to play under ``rules``: for each subject, a text of one to three sentences.

    The subjects, in the order to show them: ``pairs``, ``free``, ``stock``, ``goal``.
    """
    if rules.stock_playable:
        # A stock card with a partner is selected by the first tap.
        stock = [
            texts.gettext("The top cards of stock and waste play, too."),
            texts.gettext("Tap the stock to draw, twice if its card fits another."),
        ]
    else:
        stock = [
            texts.gettext("Tap the stock to draw a card."),
            texts.gettext("The top card of the waste plays, too."),
        ]
    if rules.passes is None:
        stock.append(texts.gettext("You may go through the stock as often as you like."))
    else:
        stock.append(
            texts.ngettext(
                "You go through the stock only once.",
                "You may go through the stock {n} times.",
                rules.passes,
            )
        )
    free = [texts.gettext("A card is free when no other card lies on it.")]
    if rules.covered is Covered.FACE_DOWN:
        free.append(texts.gettext("Covered cards lie face down."))
    if rules.overlap:
        free.append(texts.gettext("A card may also be paired with the last one that lies on it."))
    goal = (
        texts.gettext("Clear all 52 cards and you win.")
        if rules.goal is Goal.DECK
        else texts.gettext("Clear the pyramid and you win.")
    )
    return {
        "pairs": texts.gettext(
            "Tap two free cards that make 13, or a King alone. Suits do not matter."
        ),
        "free": " ".join(free),
        "stock": " ".join(stock),
        "goal": goal,
    }
