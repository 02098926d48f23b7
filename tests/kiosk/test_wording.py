"""Sentences about a game: what a refusal, a move and a preset say."""

from __future__ import annotations

import pytest

from engine.deal import Deal
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
        (Move.parse("KH"), "A King goes alone", "Ein König geht allein"),
        (Move.parse("4D+9C"), "9 + 4 = 13", "9 + 4 = 13"),
        (Move.parse("AD+QC"), "Queen (12) + Ace (1) = 13", "Dame (12) + Ass (1) = 13"),
        (Move.parse("JD+2C"), "Jack (11) + 2 = 13", "Bube (11) + 2 = 13"),
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
        == "Jack (11) + 9 = 20, not 13"
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
    assert wording.message(ENGLISH, change) == "A King goes alone"


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


@pytest.mark.parametrize("texts", [ENGLISH, GERMAN])
def test_every_preset_has_words_of_its_own(texts: Texts) -> None:
    words = [wording.preset_words(texts, name) for name in PRESETS]
    assert len({w.name for w in words}) == len({w.line for w in words}) == len(PRESETS)
    assert set(wording.LOST_OF_100) == set(PRESETS)
    assert wording.preset_words(ENGLISH, "cards4").odds == "At random, 96 of 100 cannot."


def test_rules_without_words_go_by_their_name() -> None:
    words = wording.preset_words(ENGLISH, "the operator's own")
    assert (words.name, words.line, words.odds) == ("the operator's own", "", "")


def test_the_rules_page_follows_the_rules() -> None:
    page = {name: wording.rules_lines(ENGLISH, rules) for name, rules in PRESETS.items()}
    assert "3 times" in page["three-pass"]["stock"]
    assert "only once" in page["cards4"]["stock"]
    assert "face down" in page["cards4"]["free"]
    assert "face down" not in page["three-pass"]["free"]
    assert "top cards of stock and waste" in page["relaxed"]["stock"]
    assert "top card of the waste" in page["three-pass"]["stock"]
    assert "52" in page["classic"]["goal"]
    assert "pyramid" in page["relaxed"]["goal"]
    assert "last one that lies on it" in page["overlap"]["free"]
    assert "as often as you like" in wording.rules_lines(ENGLISH, Rules(passes=None))["stock"]
