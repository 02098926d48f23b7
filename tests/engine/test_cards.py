"""Cards: 52 of them, each with one text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.cards import DECK, RANK_LETTERS, Card, CardTextError, Suit, makes_thirteen


def test_the_deck_is_52_different_cards_in_the_frozen_order() -> None:
    assert len(set(DECK)) == 52
    assert " ".join(map(str, DECK[:14])) == "AC 2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC AD"
    assert [str(card) for card in DECK[26::13]] == ["AH", "AS"]


def test_every_card_is_read_back_from_its_text_in_either_case() -> None:
    for place, card in enumerate(DECK):
        assert Card.parse(str(card)) is card
        assert Card.parse(str(card).lower()) is card
        assert card.deck_index == place


#: What belongs to cards and what does not; all of Unicode takes a table that takes half a minute.
LETTERS = st.sampled_from("A23456789TJQKCDHS0tdhx+ ♥♠é\x00\n\U0001f0a1")


@given(st.text(LETTERS, max_size=4).filter(lambda text: text.upper() not in set(map(str, DECK))))
def test_any_other_text_is_refused_and_shown(text: str) -> None:
    with pytest.raises(CardTextError) as caught:
        Card.parse(text)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize("text", ["", "T", "TH ", "10H", "1H", "HT", "T♥", "th+"])
def test_near_misses_are_refused(text: str) -> None:
    with pytest.raises(CardTextError, match="is not a card"):
        Card.parse(text)


def test_each_card_has_four_partners_but_a_king_has_none() -> None:
    for card in DECK:
        partners = [other for other in DECK if makes_thirteen(card, other)]
        assert len(partners) == (0 if card.is_king else 4)
        assert card.is_king == (str(card)[0] == "K")


def test_the_rank_letters_are_the_ranks() -> None:
    assert [Card(rank, Suit.HEARTS) for rank in range(1, 14)] == [
        Card.parse(f"{letter}H") for letter in RANK_LETTERS
    ]


@pytest.mark.parametrize("text", ["A\u017f", "\uff21S", "\u0661S", "A\u0405"])
def test_letters_that_only_look_like_ours_are_no_card(text: str) -> None:
    with pytest.raises(CardTextError):
        Card.parse(text)
