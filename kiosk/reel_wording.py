"""What the attract mode says: lessons, the date of the daily deal, what was played here.

Invariant: no Kivy and no state: values and :class:`~kiosk.texts.Texts` go in, texts come out.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from engine.cards import RANK_LETTERS
from engine.rules import Rules
from kiosk import wording
from kiosk.lessons import Lesson
from kiosk.statistics import Figures
from kiosk.texts import Texts


def lesson_words(texts: Texts, lesson: Lesson, rules: Rules, letters: str = RANK_LETTERS) -> str:
    """A lesson in a sentence, as it is under ``rules``."""
    about = wording.rules_lines(texts, rules, letters)
    uncover, king, sides, look = wording.tips(texts)
    passes = rules.passes
    if passes is None:
        often = texts.gettext("You may go through the stock as often as you like.")
    else:
        often = texts.ngettext(
            "You go through the stock only once.",
            "You may go through the stock {n} times.",
            passes,
        )
    words = {
        Lesson.PAIR: texts.gettext("Two free cards that make 13 go together."),
        Lesson.DRAW: texts.gettext("Tap the stock to draw a card."),
        Lesson.KING: king,
        Lesson.WASTE: texts.gettext("The top card of the waste can be paired, too."),
        Lesson.FREE: texts.gettext("A card is free when no other card lies on it."),
        Lesson.GOAL: about["goal"],
        Lesson.SUITS: texts.gettext("Suits and colours do not matter."),
        Lesson.UNCOVER: uncover,
        Lesson.BENEATH: texts.gettext("When the top card of the waste goes, the one below plays."),
        Lesson.COVERING: texts.gettext("A card never pairs with one that still lies on it."),
        Lesson.LOOK: look,
        Lesson.REDEAL: often,
        Lesson.SIDES: sides,
        Lesson.PATIENCE: texts.gettext("A card you leave now may be the partner you need later."),
    }
    return words[lesson]


def date_words(texts: Texts, day: date) -> str:
    """A date in words, without the year: ``Monday, 30 November``."""
    weekdays = (
        texts.gettext("Monday"),
        texts.gettext("Tuesday"),
        texts.gettext("Wednesday"),
        texts.gettext("Thursday"),
        texts.gettext("Friday"),
        texts.gettext("Saturday"),
        texts.gettext("Sunday"),
    )
    months = (
        texts.gettext("January"),
        texts.gettext("February"),
        texts.gettext("March"),
        texts.gettext("April"),
        texts.gettext("May"),
        texts.gettext("June"),
        texts.gettext("July"),
        texts.gettext("August"),
        texts.gettext("September"),
        texts.gettext("October"),
        texts.gettext("November"),
        texts.gettext("December"),
    )
    said = texts.gettext(
        "{weekday}, {day} {month}",
        weekday=weekdays[day.weekday()],
        # A number that some languages write differently when it is 1: "1er janvier".
        day=texts.ngettext("{n}", "{n}", day.day),
        month=months[day.month - 1],
    )
    return said[:1].upper() + said[1:]


@dataclass(frozen=True)
class Told:
    """A number and what it counts, in words that agree with it."""

    number: int
    words: str


@dataclass(frozen=True)
class FiguresWords:
    """What was played here: two numbers, and a line below them."""

    figures: tuple[Told, Told]
    line: str


def figures_words(texts: Texts, today: Figures, all_games: Figures) -> FiguresWords:
    """What was played here: today's games, or all there were when there was none today."""
    so_far = texts.ngettext("{n} game so far", "{n} games so far", all_games.played)
    if not today.played:
        games = texts.ngettext("game so far", "games so far", all_games.played)
        line = texts.gettext("Be the first to play today!")
        return FiguresWords((Told(all_games.played, games), _won(texts, all_games.won)), line)
    if not today.won:
        line = texts.gettext("Who will be the first to win today?")
    elif today.best_seconds is not None and all_games.played == today.played:
        line = texts.gettext("Fastest win: {time}", time=wording.clock(today.best_seconds))
    else:
        line = ", ".join((so_far, texts.ngettext("{n} won", "{n} won", all_games.won)))
    games = texts.ngettext("game today", "games today", today.played)
    return FiguresWords((Told(today.played, games), _won(texts, today.won)), line)


def _won(texts: Texts, n: int) -> Told:
    return Told(n, texts.ngettext("won", "won", n))
