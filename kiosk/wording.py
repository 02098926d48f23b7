"""What the screen says about a game, in sentences: refusals, moves, presets, rules.

Invariant: no Kivy and no state: values of the game and :class:`~kiosk.texts.Texts` go in, finished
texts come out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from engine.cards import KING, RANK_LETTERS, Card
from engine.difficulty import Grade
from engine.position import Move, MoveKind, Position
from engine.rules import Covered, Goal, Rules
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


def rank_value(rank: int, letters: str = RANK_LETTERS) -> str:
    """A rank as the card shows it, with what it counts where that is not the same: ``Q (12)``.

    Args:
        rank: 1 to 13.
        letters: thirteen characters, Ace to King, as the cards on the table show them.
    """
    return str(rank) if 2 <= rank <= 10 else f"{letters[rank - 1]} ({rank})"


def cards_left(texts: Texts, n: int) -> str:
    """How many cards must still go."""
    return texts.ngettext("{n} card left", "{n} cards left", n)


# -- moves and refusals -----------------------------------------------------------------------


def move_caption(texts: Texts, move: Move, letters: str = RANK_LETTERS) -> str:
    """What a move does, as a caption: for the demo and for hints.

    Cards go by what is printed on them: a newcomer need not know that Q is a Queen.
    """
    match move.kind:
        case MoveKind.DRAW:
            return texts.gettext("Draw a card")
        case MoveKind.REDEAL:
            return texts.gettext("Turn the waste over")
        case MoveKind.KING:
            return king_alone(texts, letters)
        case MoveKind.PAIR:
            first, second = (rank_value(card.rank, letters) for card in move.cards)
            return f"{first} + {second} = 13"


def hint(texts: Texts, move: Move, letters: str = RANK_LETTERS, *, waits: bool = False) -> str:
    """A hint in words; ``waits`` says that every removal that is possible is proven to lose."""
    said = move_caption(texts, move, letters)
    if not waits:
        return said
    return texts.gettext("{hint}. A pair taken now would lose the game.", hint=said)


def lost(texts: Texts) -> str:
    """That no line of moves wins any more."""
    return texts.gettext("This game cannot be won any more")


def king_alone(texts: Texts, letters: str = RANK_LETTERS) -> str:
    """Why a King needs no partner."""
    return texts.gettext("{king} counts 13: it goes alone", king=letters[KING - 1])


def message(texts: Texts, change: Change, letters: str = RANK_LETTERS) -> str:
    """What to tell the player about a change; empty when the table says it all."""
    match change.kind:
        case ChangeKind.REFUSED:
            return _refusal(texts, change, letters)
        case ChangeKind.HINTED if change.move is not None:
            return hint(texts, change.move, letters, waits=change.waits)
        case ChangeKind.PLAYED if change.first and change.move is not None:
            return move_caption(texts, change.move, letters)
        case ChangeKind.WENT_BACK:
            return texts.gettext("The game can be won from here")
        case ChangeKind.LOST:
            return lost(texts)
        case _:
            return ""


def _refusal(  # noqa: PLR0911 - one return a refusal
    texts: Texts, change: Change, letters: str
) -> str:
    targets = change.targets
    match change.refusal:
        case Refusal.COVERED:
            if len(targets) == 2:
                return texts.gettext("The card that lies on it must go first")
            return texts.gettext("Both cards that lie on it must go first")
        case Refusal.NOT_THIRTEEN:
            cards = [_card(change.new, target) for target in targets]
            return _not_thirteen(texts, cards, letters)
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


def _not_thirteen(texts: Texts, cards: Sequence[Card | None], letters: str) -> str:
    ranks = [card.rank for card in cards if card is not None]
    if len(ranks) != 2:
        return ""
    if KING in ranks:
        return king_alone(texts, letters)
    first, second = (rank_value(rank, letters) for rank in ranks)
    return texts.gettext(
        "{first} + {second} = {total}, not 13", first=first, second=second, total=sum(ranks)
    )


def _card(position: Position, target: Target) -> Card | None:
    """The card that a touch on ``target`` means, if one lies there face up."""
    place = target if isinstance(target, int) else None
    if target is Pile.WASTE:
        place = position.waste_top
    elif target is Pile.STOCK and position.rules.stock_playable:
        place = position.stock_top
    return None if place is None else position.deal.cards[place]


# -- presets and rules ------------------------------------------------------------------------


@dataclass(frozen=True)
class PresetWords:
    """How a preset is offered.

    Attributes:
        name: its short name.
        line: what is special about it, for somebody who knows no other.
        odds: how rare a deal that can be won is, and that only such are dealt.
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
    """The words for a preset; any other name stands for the operator's own rules."""
    words = {
        "three-pass": (
            texts.gettext("Three passes"),
            texts.gettext(
                "Three times through the stock, the whole pyramid in sight. Good for a first game."
            ),
        ),
        "cards4": (
            texts.gettext("Face down"),
            texts.gettext("Covered cards lie face down. Only once through the stock."),
        ),
        "relaxed": (
            texts.gettext("Open stock"),
            texts.gettext(
                "The top card of the stock lies face up: pair it without drawing it. Only once "
                "through the stock."
            ),
        ),
        "classic": (
            texts.gettext("Classic"),
            texts.gettext("Like “Open stock”, but stock and waste must go, too: all 52 cards."),
        ),
        "collection": (
            texts.gettext("Open stock, 3 passes"),
            texts.gettext(
                "The top card of the stock lies face up: pair it without drawing it. Three times "
                "through the stock."
            ),
        ),
        "overlap": (
            texts.gettext("Overlap"),
            texts.gettext(
                "Like “Open stock”. Also, a card that only one other still lies on may be paired "
                "with that one."
            ),
        ),
    }
    own = (texts.gettext("House rules"), texts.gettext("The rules of this place."))
    name, line = words.get(preset, own)
    if preset in LOST_OF_100:
        odds = texts.gettext(
            "Of 100 shuffled decks, {n} can be won. You always get one of those.",
            n=100 - LOST_OF_100[preset],
        )
    else:
        odds = texts.gettext("Every deal here can be won.")
    return PresetWords(name, line, odds)


def goal(texts: Texts, rules: Rules) -> str:
    """What a game is about, in a few words that can always stand beside it."""
    if rules.goal is Goal.DECK:
        return texts.gettext("Make 13, clear all 52 cards")
    return texts.gettext("Make 13, clear the pyramid")


def grade_name(texts: Texts, grade: Grade | str | None) -> str:
    """How hard a deal is, in a word; empty for a deal without a grade."""
    if isinstance(grade, Grade):
        grade = grade.name.lower()
    names = {
        "easy": texts.gettext("Easy"),
        "medium": texts.gettext("Medium"),
        "hard": texts.gettext("Hard"),
    }
    return names.get(grade or "", "")


def grade_line(texts: Texts, grade: Grade | None) -> str:
    """What a grade means, in a sentence; None is any."""
    match grade:
        case Grade.EASY:
            return texts.gettext("Easy: most ways lead to a win.")
        case Grade.MEDIUM:
            return texts.gettext("Medium: think a little before you draw.")
        case Grade.HARD:
            return texts.gettext("Hard: only a few ways lead to a win.")
        case None:
            return texts.gettext("Any difficulty, or pick one:")


def deal_line(texts: Texts, number: int | None, *, daily: bool, grade: str | None) -> str:
    """Which deal lies on the table: its number or day, and how hard it is."""
    parts = []
    if daily:
        parts.append(texts.gettext("Deal of the day"))
    elif number is not None:
        parts.append(texts.gettext("Deal {number}", number=number))
    name = grade_name(texts, grade)
    if name:
        parts.append(name)
    return " · ".join(parts)


def rules_lines(texts: Texts, rules: Rules, letters: str = RANK_LETTERS) -> dict[str, str]:
    """How to play under ``rules``: for each subject, a text of one to three sentences.

    The subjects, in the order to show them: ``pairs``, ``free``, ``stock``, ``goal``.
    """
    if rules.stock_playable:
        stock = [
            texts.gettext("The top cards of stock and waste can be paired, too."),
            # A stock card with a partner is selected by the first tap.
            texts.gettext("Tap the stock to draw; if its card lights up, tap it again."),
        ]
    else:
        stock = [
            texts.gettext("Tap the stock to draw a card."),
            texts.gettext("The top card of the waste can be paired, too."),
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
        free.append(texts.gettext("Until then you see only its back."))
    if rules.overlap:
        free.append(
            texts.gettext("If one single card still lies on it and both make 13, they go together.")
        )
    goal = (
        texts.gettext("Clear all 52 cards and you win.")
        if rules.goal is Goal.DECK
        else texts.gettext("Clear the pyramid and you win.")
    )
    return {
        "pairs": texts.gettext(
            "Tap two free cards that make 13, or a King ({king}) alone. Suits do not matter.",
            king=letters[KING - 1],
        ),
        "free": " ".join(free),
        "stock": " ".join(stock),
        "goal": goal,
    }


def tips(texts: Texts) -> tuple[str, ...]:
    """How to play well, a sentence each, the most useful first."""
    return (
        texts.gettext("Of two pairs, take the one that uncovers a card."),
        texts.gettext("A free King can go at once: it costs nothing."),
        texts.gettext("Keep both sides open: a narrow strip gets stuck."),
        texts.gettext("Before you draw, look what the waste card can free."),
    )
