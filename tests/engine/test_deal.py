"""Deals: the frozen shuffle, and the text forms."""

from __future__ import annotations

import hashlib
import struct
from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.cards import DECK
from engine.deal import LAST_DEAL, Deal, DealError, shuffle

# Pinned for ever: a deal number that people wrote down must go on naming the same cards.
VECTORS = {
    1: (
        "7D 9C 4D 8H 8D 5S JD 6D 9S JC 5D KD 3C 2D JH 5H 7H 4H 2C AD 6S KC KH TH TS JS "
        "TD 8S QC 4S 6C 7C AS 5C AH KS 6H QS QH QD 9D 3D 3S AC 4C 2H 8C TC 3H 2S 9H 7S"
    ),
    2: (
        "QH 3S 4C 5H 7H 2D KH TD AC 6C 7S 3C QC 7D 6H JH TC 9S JD 8C 4D 5S 2S 4H AD QD "
        "6S 8H 3H 9D 6D JS AS 5C JC AH KC 2H 7C 4S 9C TH 5D TS QS KS 8S KD 3D 2C 8D 9H"
    ),
    13: (
        "2S AD 3H 7H 6S JC 8S 4H QH KH 2C 9S TD 9H 5H QC KS 4D TS 5S 5D 9C KD 9D 8C 6D "
        "7S 3D 4S 3C AS 6H KC QS 2H 5C 7D JS QD AH 8D 3S JH 6C 2D TC 8H 4C TH 7C AC JD"
    ),
    1000000: (
        "3D 3H 6H KS QC TC JS JD 3C 5H 5D 6D AC 9D 8D QS 7C JC TD 2D 8H KC 4D 2H 2C 6S "
        "QH 9H 9C 4S 9S 4H 4C KD AS TH TS 6C 5C QD 8C 2S AH 5S 3S AD KH JH 7H 8S 7S 7D"
    ),
    2147483648: (
        "3S 3H 8C 4D JD 6D 3D TH 2S 9S JS 4C AD 2C 5D KS TD 2H 4S 9H KD 5S QH TC 8S 8H "
        "5H KH JC AS 4H QC QD 6S 7C 5C 6C 8D AC 6H 9D 7D 3C 9C QS KC JH 2D TS AH 7S 7H"
    ),
    4294967295: (
        "6H 2D 8H 3S TC 5S 4H QC 3C JC 8C 5H JS KD 7S 9H 4D 5D 3D AD JD KS AC 4S 7C 8D "
        "9C 2C 9D 2H 2S JH QS 6C 6D 9S KH AS 4C 6S 7H 8S 5C QD TS TH 7D AH TD QH KC 3H"
    ),
}
# SHA-256 of the texts of deals 1 to 1000, one a line.
FIRST_THOUSAND = "8707eae2d74d1eabe4ad179d392a609618c9a058610facbc4c333a160d2de3dd"


@pytest.mark.parametrize("number", VECTORS)
def test_vectors(number: int) -> None:
    assert str(Deal.from_number(number)) == VECTORS[number]


def test_the_first_thousand_deals() -> None:
    text = "".join(f"{Deal.from_number(number)}\n" for number in range(1, 1001))
    assert hashlib.sha256(text.encode()).hexdigest() == FIRST_THOUSAND


def reference_shuffle(number: int) -> list[str]:
    """The recipe in the documentation of ``shuffle``, followed by another hand.

    The 64-bit arithmetic is done on packed words, so that a slip in a mask would show.
    """

    def word(value: int) -> int:
        return int(struct.unpack("<Q", value.to_bytes(32, "little")[:8])[0])

    deck = [rank + suit for suit in "CDHS" for rank in "A23456789TJQK"]
    state = number
    i = 51
    while i > 0:
        state = word(state + 0x9E3779B97F4A7C15)
        z = word((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9)
        z = word((z ^ (z >> 27)) * 0x94D049BB133111EB)
        r = z ^ (z >> 31)
        if r >= 2**64 - 2**64 % (i + 1):
            continue
        j = r % (i + 1)
        deck[i], deck[j] = deck[j], deck[i]
        i -= 1
    return deck


@given(st.integers(1, LAST_DEAL))
def test_the_documented_recipe_gives_the_same_cards(number: int) -> None:
    assert [str(card) for card in shuffle(number)] == reference_shuffle(number)


def test_no_place_prefers_a_card() -> None:
    """Chi-square over the 52 by 52 table of cards and places, which a biased shuffle inflates."""
    deals = 5200
    counts: Counter[tuple[int, int]] = Counter()
    for number in range(1, deals + 1):
        for place, card in enumerate(shuffle(number)):
            counts[place, card.deck_index] += 1
    expected = deals / 52
    chi_square = sum(
        (counts[place, card] - expected) ** 2 / expected
        for place in range(52)
        for card in range(52)
    )
    # 51 times 51 degrees of freedom: mean 2601, standard deviation 72.  The deals are fixed, so
    # this passes always or never.
    assert 2601 - 4 * 72 < chi_square < 2601 + 4 * 72


def test_different_numbers_are_different_deals() -> None:
    rng = Random(13)
    numbers = {*range(1, 500), *(rng.randint(1, LAST_DEAL) for _ in range(500))}
    assert len({shuffle(number) for number in numbers}) == len(numbers)


@pytest.mark.parametrize("number", [0, -1, LAST_DEAL + 1, 10**30])
def test_numbers_out_of_range_are_refused(number: int) -> None:
    with pytest.raises(DealError, match="deal numbers go from 1 to 4294967295"):
        Deal.from_number(number)


@pytest.mark.parametrize("number", [True, 1.0, "1", None])
def test_what_is_not_a_whole_number_is_refused(number: object) -> None:
    with pytest.raises(DealError, match="whole number"):
        Deal.from_number(number)  # type: ignore[arg-type]


@given(st.permutations(DECK))
def test_a_deal_is_read_back_from_its_text(cards: list[object]) -> None:
    deal = Deal(tuple(cards))  # type: ignore[arg-type]
    assert Deal.parse(str(deal)) == deal
    assert Deal.parse(str(deal).lower().replace(" ", ",\t")) == deal
    assert [deal.place_of[card] for card in deal.cards] == list(range(52))
    assert (*deal.pyramid, *deal.stock) == deal.cards


def test_a_number_is_read_as_a_deal_number() -> None:
    assert Deal.parse(" 7\n") == Deal.from_number(7)
    assert Deal.parse("4294967295").number == 4294967295


FULL = str(Deal.from_number(1))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("  \n", "empty"),
        ("0", "deal numbers go from 1"),
        ("-3", "deal numbers go from 1"),
        ("4294967296", "deal numbers go from 1"),
        ("9" * 5000, "deal numbers go from 1"),
        ("٣", "is not a card"),
        ("1.5", "is not a card"),
        ("TH", "52 cards, not 1"),
        (FULL[3:], "52 cards, not 51"),
        (FULL + " AH", "52 cards, not 53"),
        (FULL.replace("AH", "AS"), "AS more than once, AH missing"),
        (FULL.replace("TH", "10H"), "'10H' is not a card"),
    ],
)
def test_other_texts_are_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(DealError, match=reason):
        Deal.parse(text)
