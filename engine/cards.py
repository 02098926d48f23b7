"""Cards, ranks and suits, and their two-letter text form (``TH`` is the ten of hearts).

Invariant: exactly 52 cards exist, as the constants of :data:`DECK`; a card is an immutable value.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple

RANK_LETTERS: Final = "A23456789TJQK"
KING: Final = 13
PAIR_SUM: Final = 13


class Suit(Enum):
    """A suit.  It never matters for play, only for the eye."""

    CLUBS = "C"
    DIAMONDS = "D"
    HEARTS = "H"
    SPADES = "S"


class Card(NamedTuple):
    """One card: ``rank`` 1 (Ace) to 13 (King), and its suit.

    >>> str(Card.parse("TH"))
    'TH'
    >>> Card.parse("TH").rank
    10
    """

    rank: int
    suit: Suit

    def __str__(self) -> str:
        return RANK_LETTERS[self.rank - 1] + self.suit.value

    @property
    def is_king(self) -> bool:
        """Whether this card leaves alone."""
        return self.rank == KING

    @property
    def deck_index(self) -> int:
        """The place of this card in :data:`DECK`, 0 to 51."""
        return "CDHS".index(self.suit.value) * 13 + self.rank - 1

    @classmethod
    def parse(cls, text: str) -> Card:
        """Read a card from its text form, in either case.

        Raises:
            CardTextError: ``text`` is not a rank letter followed by a suit letter.
        """
        try:
            # Upper case of more than ASCII would let other letters through: the long s is one.
            return _BY_TEXT[text.upper() if text.isascii() else ""]
        except (KeyError, AttributeError):
            raise CardTextError(
                f"{text!r} is not a card: "
                f"write a rank of {RANK_LETTERS} and a suit of CDHS, like TH"
            ) from None


class CardTextError(ValueError):
    """A text that should name a card does not."""


def makes_thirteen(a: Card, b: Card) -> bool:
    """Whether two cards are a pair.  Two Kings are not: a King leaves alone."""
    return a.rank + b.rank == PAIR_SUM


#: All 52 cards in the order that the shuffle starts from: clubs, diamonds, hearts, spades,
#: each from Ace to King.  Frozen: deal numbers depend on it.
DECK: Final[tuple[Card, ...]] = tuple(
    Card(rank, suit)
    for suit in (Suit.CLUBS, Suit.DIAMONDS, Suit.HEARTS, Suit.SPADES)
    for rank in range(1, KING + 1)
)

_BY_TEXT: Final[dict[str, Card]] = {str(card): card for card in DECK}
