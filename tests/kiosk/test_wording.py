"""Sentences about a game: what a refusal, a move and a preset say."""

from __future__ import annotations

import pytest

from engine.deal import Deal
from engine.difficulty import Grade
from engine.position import DRAW, REDEAL, Move, Position
from engine.rules import PRESETS, Rules
from kiosk import wording
from kiosk.commands import Change, ChangeKind, Pile, Refusal, Target
from kiosk.texts import Texts
from tests.kiosk.fakes import WON_BY_HAND

ENGLISH = Texts()
GERMAN = Texts.load("de")


def start(preset: str = "three-pass") -> Position:
    return Position(Deal.from_number(WON_BY_HAND[preset][0]), PRESETS[preset])


def refused(refusal: Refusal, *targets: Target, position: Position | None = None) -> Change:
    now = position or start()
    return Change(ChangeKind.REFUSED, now, now, refusal=refusal, targets=targets)


def place(position: Position, rank: int) -> int:
    """A pyramid place with a card of ``rank``."""
    return next(p for p in range(28) if position.deal.cards[p].rank == rank)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0:00"), (59.9, "0:59"), (60, "1:00"), (3599, "59:59"), (3600, "1:00:00")],
)
def test_clock(seconds: float, text: str) -> None:
    assert wording.clock(seconds) == text


def test_pass_figure() -> None:
    assert wording.pass_figure(start()) == "1/3"
    unlimited = Position(Deal.from_number(1), Rules(passes=None))
    assert wording.pass_figure(unlimited) == "1"


@pytest.mark.parametrize(
    ("move", "english", "german"),
    [
        (DRAW, "Draw a card", "Ziehe eine Karte"),
        (REDEAL, "Turn the waste over", "Drehe den Ablagestapel um"),
        (Move.parse("KH"), "K counts 13: it goes alone", "K zählt 13: Er geht allein"),
        (Move.parse("4D+9C"), "9 + 4 = 13", "9 + 4 = 13"),
        (Move.parse("AD+QC"), "Q (12) + A (1) = 13", "Q (12) + A (1) = 13"),
        (Move.parse("JD+2C"), "J (11) + 2 = 13", "J (11) + 2 = 13"),
    ],
)
def test_move_caption(move: Move, english: str, german: str) -> None:
    assert wording.move_caption(ENGLISH, move) == english
    assert wording.move_caption(GERMAN, move) == german


def test_a_pair_that_does_not_add_up_is_worked_out() -> None:
    position = start()
    six, nine, jack = (place(position, rank) for rank in (6, 9, 11))
    assert (
        wording.message(ENGLISH, refused(Refusal.NOT_THIRTEEN, six, nine)) == "6 + 9 = 15, not 13"
    )
    assert (
        wording.message(ENGLISH, refused(Refusal.NOT_THIRTEEN, jack, nine))
        == "J (11) + 9 = 20, not 13"
    )


def test_a_pair_with_the_waste_is_worked_out() -> None:
    position = start().play(DRAW)
    waste = position.deal.cards[28]
    other = next(p for p in range(28) if position.deal.cards[p].rank not in {13, 13 - waste.rank})
    said = wording.message(
        ENGLISH, refused(Refusal.NOT_THIRTEEN, Pile.WASTE, other, position=position)
    )
    assert said.endswith(f"= {waste.rank + position.deal.cards[other].rank}, not 13")


def test_a_pair_with_the_stock_is_worked_out() -> None:
    position = start("relaxed")
    stock = position.deal.cards[28]
    other = next(p for p in range(28) if position.deal.cards[p].rank not in {13, 13 - stock.rank})
    said = wording.message(
        ENGLISH, refused(Refusal.NOT_THIRTEEN, other, Pile.STOCK, position=position)
    )
    assert said.endswith(f"= {stock.rank + position.deal.cards[other].rank}, not 13")


def test_a_king_is_not_added_up() -> None:
    position = start()
    change = refused(Refusal.NOT_THIRTEEN, place(position, 5), place(position, 13))
    assert wording.message(ENGLISH, change) == "K counts 13: it goes alone"


def test_a_covered_card_tells_how_many_lie_on_it() -> None:
    both = wording.message(ENGLISH, refused(Refusal.COVERED, 0, 1, 2))
    one = wording.message(ENGLISH, refused(Refusal.COVERED, 0, 2))
    assert both == "Both cards that lie on it must go first"
    assert one == "The card that lies on it must go first"


@pytest.mark.parametrize("refusal", list(Refusal))
def test_every_refusal_can_be_worded_without_targets(refusal: Refusal) -> None:
    said = wording.message(GERMAN, refused(refusal))
    silent = {Refusal.BLOCKED, Refusal.NOTHING_THERE, Refusal.NOT_THIRTEEN}
    assert (said == "") == (refusal in silent)


def test_an_empty_pile_says_so_and_empty_ground_does_not() -> None:
    assert wording.message(ENGLISH, refused(Refusal.NOTHING_THERE, Pile.WASTE))
    assert wording.message(ENGLISH, refused(Refusal.NOTHING_THERE, 5)) == ""


def test_a_hint_is_said_and_a_move_is_not() -> None:
    position = start()
    hint = Change(ChangeKind.HINTED, position, position, move=DRAW, targets=(Pile.STOCK,))
    assert wording.message(ENGLISH, hint) == "Draw a card"
    played = Change(ChangeKind.PLAYED, position, position.play(DRAW), move=DRAW)
    assert wording.message(ENGLISH, played) == ""


def test_a_newcomers_first_king_is_explained() -> None:
    position = start()
    king = Move.parse("KH")
    taught = Change(ChangeKind.PLAYED, position, position, move=king, first=True)
    assert wording.message(ENGLISH, taught) == "K counts 13: it goes alone"
    known = Change(ChangeKind.PLAYED, position, position, move=king)
    assert wording.message(ENGLISH, known) == ""


def test_the_goal_is_that_of_the_rules() -> None:
    assert wording.goal(ENGLISH, PRESETS["three-pass"]) == "Make 13, clear the pyramid"
    assert wording.goal(ENGLISH, PRESETS["classic"]) == "Make 13, clear all 52 cards"


def test_why_not_to_take_a_pair_is_said_where_it_is_known() -> None:
    position = start()
    known = Change(ChangeKind.HINTED, position, position, move=DRAW, waits=True)
    said = "Draw a card. A pair taken now would lose the game."
    assert wording.message(ENGLISH, known) == said
    redeal = wording.hint(GERMAN, REDEAL, waits=True)
    assert redeal.startswith("Drehe den Ablagestapel um. ")


@pytest.mark.parametrize("texts", [ENGLISH, GERMAN])
def test_every_preset_has_words_of_its_own(texts: Texts) -> None:
    words = [wording.preset_words(texts, name) for name in PRESETS]
    assert len({w.name for w in words}) == len({w.line for w in words}) == len(PRESETS)
    assert set(wording.LOST_OF_100) == set(PRESETS)
    odds = "Of 100 shuffled decks, 4 can be won. You always get one of those."
    assert wording.preset_words(ENGLISH, "cards4").odds == odds


def test_rules_without_words_are_house_rules() -> None:
    words = wording.preset_words(ENGLISH, "custom")
    assert (words.name, words.odds) == ("House rules", "Every deal here can be won.")
    assert words.line


def test_cards_go_by_the_letters_that_are_printed_on_them() -> None:
    german = "A23456789TBDK"
    assert wording.move_caption(GERMAN, Move.parse("AD+QC"), german) == "D (12) + A (1) = 13"
    assert wording.rank_value(10, german) == "10"
    assert wording.king_alone(GERMAN, "A23456789TVDR").startswith("R ")


@pytest.mark.parametrize("grade", list(Grade))
def test_every_grade_has_a_name_and_a_line(grade: Grade) -> None:
    name = wording.grade_name(GERMAN, grade)
    assert name == wording.grade_name(GERMAN, grade.name.lower())
    assert wording.grade_line(GERMAN, grade).startswith(name)
    assert name not in wording.grade_line(GERMAN, None)


@pytest.mark.parametrize("grade", [None, "unheard of"])
def test_a_deal_without_a_grade_has_no_name_for_it(grade: str | None) -> None:
    assert wording.grade_name(ENGLISH, grade) == ""
    assert wording.deal_line(ENGLISH, 7, daily=False, grade=grade) == "Deal 7"


def test_a_deal_is_called_by_its_day_or_number_and_its_grade() -> None:
    assert wording.deal_line(ENGLISH, 7, daily=False, grade="easy") == "Deal 7 · Easy"
    assert wording.deal_line(ENGLISH, 7, daily=True, grade="hard") == "Deal of the day · Hard"
    assert wording.deal_line(ENGLISH, None, daily=False, grade=None) == ""


def test_a_game_found_lost_is_said() -> None:
    position = start()
    said = wording.message(ENGLISH, Change(ChangeKind.LOST, position, position))
    assert said == "This game cannot be won any more"


def test_the_rules_page_follows_the_rules() -> None:
    page = {name: wording.rules_lines(ENGLISH, rules) for name, rules in PRESETS.items()}
    assert "3 times" in page["three-pass"]["stock"]
    assert "only once" in page["cards4"]["stock"]
    assert "back" in page["cards4"]["free"]
    assert "back" not in page["three-pass"]["free"]
    assert "top cards of stock and waste" in page["relaxed"]["stock"]
    assert "top card of the waste" in page["three-pass"]["stock"]
    assert "52" in page["classic"]["goal"]
    assert "pyramid" in page["relaxed"]["goal"]
    assert "go together" in page["overlap"]["free"]
    assert "go together" not in page["relaxed"]["free"]
    assert "as often as you like" in wording.rules_lines(ENGLISH, Rules(passes=None))["stock"]
