"""Deals: a number, or a text, becomes 52 cards in their places.

Invariant: the shuffle is frozen.  A deal number names the same 52 cards for ever, in every
version and in every language that follows the recipe of :func:`shuffle`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from engine.cards import DECK, Card, CardTextError

PYRAMID_SIZE: Final = 28
STOCK_SIZE: Final = 24
FIRST_DEAL: Final = 1
LAST_DEAL: Final = 2**32 - 1

_MASK64: Final = 2**64 - 1


class DealError(ValueError):
    """A deal number or a deal text that names no deal; the message says why."""


def _splitmix64(seed: int) -> Iterator[int]:
    """Yield the 64-bit outputs of SplitMix64 (Steele, Lea and Flood, 2014) from ``seed``."""
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) & _MASK64
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK64
        yield z ^ (z >> 31)


def shuffle(number: int) -> tuple[Card, ...]:
    """Return the 52 cards of deal ``number``, in place order.

    The recipe, for another language:

    1. Start from the deck C, D, H, S, each suit from Ace to King.
    2. Take SplitMix64 with its state set to ``number``.
    3. For ``i`` = 51 down to 1: draw a 64-bit output ``r``; as long as
       ``r >= 2**64 - 2**64 % (i + 1)``, draw again (this keeps every ``j`` equally likely);
       then swap the cards at ``i`` and ``j = r % (i + 1)``.

    Places 0 to 27 are the pyramid, row by row from the apex; 28 to 51 the stock in draw order.

    Raises:
        DealError: ``number`` is not a whole number from 1 to 4,294,967,295.
    """
    if isinstance(number, bool) or not isinstance(number, int):
        raise DealError(f"a deal number is a whole number, not {number!r}")
    if not FIRST_DEAL <= number <= LAST_DEAL:
        raise DealError(f"deal numbers go from {FIRST_DEAL} to {LAST_DEAL}, not {number}")
    cards = list(DECK)
    outputs = _splitmix64(number)
    for i in range(51, 0, -1):
        bound = i + 1
        limit = 2**64 - 2**64 % bound
        r = next(outputs)
        while r >= limit:
            r = next(outputs)
        j = r % bound
        cards[i], cards[j] = cards[j], cards[i]
    return tuple(cards)


@dataclass(frozen=True)
class Deal:
    """52 cards in their places.

    Attributes:
        cards: the cards by place: 0 to 27 the pyramid (row ``r``, column ``c`` is at
            ``r * (r + 1) // 2 + c``), 28 to 51 the stock in draw order.
        number: the deal number, or None for cards that came from a text.
    """

    cards: tuple[Card, ...]
    number: int | None = None

    def __post_init__(self) -> None:
        if len(self.cards) != len(DECK):
            raise DealError(f"a deal has 52 cards, not {len(self.cards)}")
        if len(set(self.cards)) != len(DECK):
            doubled = sorted({str(c) for c in self.cards if self.cards.count(c) > 1})
            missing = sorted(str(c) for c in set(DECK) - set(self.cards))
            raise DealError(
                f"a deal holds every card once: {' '.join(doubled)} more than once, "
                f"{' '.join(missing)} missing"
            )

    @classmethod
    def from_number(cls, number: int) -> Deal:
        """Deal the cards of a number, 1 to 4,294,967,295.

        >>> Deal.from_number(1).number
        1

        Raises:
            DealError: no such number.
        """
        return cls(shuffle(number), number)

    @classmethod
    def parse(cls, text: str) -> Deal:
        """Read a deal from a deal number, or from 52 cards separated by spaces or commas.

        Raises:
            DealError: the text is neither; the message names the first thing that is wrong.
        """
        words = re.split(r"[\s,]+", text.strip())
        if words == [""]:
            raise DealError("an empty text is no deal: give a deal number or 52 cards")
        if len(words) == 1 and re.fullmatch(r"[+-]?[0-9]+", words[0]):
            if len(words[0]) > len(str(LAST_DEAL)) + 1:
                raise DealError(f"deal numbers go from {FIRST_DEAL} to {LAST_DEAL}")
            return cls.from_number(int(words[0]))
        try:
            return cls(tuple(Card.parse(word) for word in words))
        except CardTextError as error:
            raise DealError(str(error)) from None

    def __str__(self) -> str:
        return " ".join(map(str, self.cards))

    @property
    def pyramid(self) -> tuple[Card, ...]:
        """The 28 pyramid cards, from the apex row by row."""
        return self.cards[:PYRAMID_SIZE]

    @property
    def stock(self) -> tuple[Card, ...]:
        """The 24 stock cards in draw order."""
        return self.cards[PYRAMID_SIZE:]

    @cached_property
    def place_of(self) -> dict[Card, int]:
        """The place, 0 to 51, of each card."""
        return {card: place for place, card in enumerate(self.cards)}
