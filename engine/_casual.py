"""The casual player's games, many in a row.

The player's policy is in ``engine/difficulty.py``.  Like ``engine/_search.py`` this is one source,
compiled with the C types of ``_casual.pxd`` where there is a compiler.

Invariant: the player decides by cards that lie open before a visitor, and by chance; chance comes
from the seed alone, so that a game is the same on every machine, compiled or not.
"""

# In the hot loop a call costs more than a long function.
# ruff: noqa: PLR0912, PLR0915

from __future__ import annotations

from array import array
from typing import Final

from engine._shapes import shape_tables

_MASK32: Final = 0xFFFFFFFF
_ODD: Final = 0x45D9F3B
# Of so many pairs that lie open the player overlooks one.
_OVERLOOKS: Final = 8


class CasualTable:
    """A deal on the table of a casual player.

    Args:
        ranks: the ranks, 1 to 13, of the 52 places.
        passes: how many passes the rules allow, 1 or more; None is without limit.
        deck_goal: all cards must go, not only the pyramid.
        stock_playable: see :class:`engine.rules.Rules`.
        overlap: likewise.
    """

    def __init__(
        self,
        ranks: tuple[int, ...],
        passes: int | None,
        *,
        deck_goal: bool,
        stock_playable: bool,
        overlap: bool,
    ) -> None:
        tables = shape_tables()
        self._masks = tables.masks
        self._exposed = tables.exposed
        self._after = tables.after
        self._covers = tables.covers
        self._ranks = array("B", ranks)
        self._passes = 0 if passes is None else passes
        self._deck_goal = int(deck_goal)
        self._stock_playable = int(stock_playable)
        self._overlap = int(overlap)
        self._full = len(tables.masks) - 1
        # For each rank its places in the pyramid.
        self._places = array("I", [0]) * 14
        for place in range(28):
            self._places[ranks[place]] |= 1 << place
        self._chance = 1
        self._found = 0
        self._best = 0
        self._low = 0
        self._high = 0

    def wins(self, seed: int, games: int) -> int:
        """Play so many games and return how many were won.

        Args:
            seed: 0 to 4,294,967,295; game ``i`` is played with ``seed + i``.
            games: 0 or more.
        """
        won = 0
        for i in range(games):
            won += self._play((seed + i) & _MASK32)
        return won

    def _random(self, bound: int) -> int:
        """A number from 0 to ``bound - 1`` (Marsaglia's 32-bit xorshift, 13 17 5)."""
        x = self._chance
        x = (x ^ x << 13) & _MASK32
        x ^= x >> 17
        x = (x ^ x << 5) & _MASK32
        self._chance = x
        return x * bound >> 32

    def _play(self, seed: int) -> int:
        """Play one game; 1 if it is won."""
        # Neighbouring seeds must not begin alike.
        x = seed
        for _turn in range(2):
            x = ((x >> 16 ^ x) * _ODD) & _MASK32
        x ^= x >> 16
        self._chance = x | 1
        shape = self._full
        stock = 0xFFFFFF
        w = 0  # one above the waste top; stock cards below are on the waste
        turns = 1
        removed = 0  # whether anything was removed in this pass
        while True:
            if shape == 0 and (not self._deck_goal or stock == 0):
                return 1
            ahead = stock >> w << w
            top = w - 1
            up = -1
            if self._stock_playable and ahead:
                up = 0
                while not ahead >> up & 1:
                    up += 1

            # Kings stand out.
            kings = self._exposed[shape] & self._places[13]
            if kings:
                place = 0
                while not kings >> place & 1:
                    place += 1
                shape = self._after[shape * 28 + place]
                removed = 1
                continue
            if top >= 0 and self._ranks[28 + top] == 13:
                stock ^= 1 << top
                w = self._waste_end(stock, top)
                removed = 1
                continue
            if up >= 0 and self._ranks[28 + up] == 13:
                stock ^= 1 << up
                removed = 1
                continue

            more = ahead != 0 or (
                stock != 0 and turns != self._passes and (self._passes or removed)
            )
            self._look(shape, top, up, more)
            if self._found:
                removed = 1
                low = self._low
                high = self._high
                if high < 28:
                    shape = self._after[shape * 28 + high]
                else:
                    stock ^= 1 << (high - 28)
                if low < 28:
                    shape = self._after[shape * 28 + low]
                else:
                    stock ^= 1 << (low - 28)
                if top >= 0 and not stock >> top & 1:
                    w = self._waste_end(stock, top)
            elif ahead:
                w = 1
                while not ahead >> (w - 1) & 1:
                    w += 1
            elif more:
                w = 0
                turns += 1
                removed = 0
            else:
                return 0

    def _waste_end(self, stock: int, w: int) -> int:
        """One above the highest stock card below index ``w``."""
        while w and not stock >> (w - 1) & 1:
            w -= 1
        return w

    def _look(self, shape: int, top: int, up: int, hasty: int) -> None:
        """Choose one of the pairs that lie open; a player who can go on anyway overlooks some."""
        self._found = 0
        self._best = -1
        exposed = self._exposed[shape]
        cards = exposed
        place = 0
        while cards >> place:
            if cards >> place & 1:
                # The partner lies in a place further on, or comes with the cards below.
                others = self._places[13 - self._ranks[place]] & exposed
                self._consider(shape, place, others >> place << place, hasty)
                if self._overlap:
                    others = self._places[13 - self._ranks[place]] & self._masks[shape] & ~exposed
                    self._consider(shape, place, others, hasty)
            place += 1
        if top >= 0:
            others = self._places[13 - self._ranks[28 + top]] & exposed
            self._consider(shape, 28 + top, others, hasty)
        if up >= 0:
            others = self._places[13 - self._ranks[28 + up]] & exposed
            self._consider(shape, 28 + up, others, hasty)
            if top >= 0 and self._ranks[28 + top] + self._ranks[28 + up] == 13:
                self._offer(28 + top, 28 + up, 0, hasty)

    def _consider(self, shape: int, place: int, others: int, hasty: int) -> None:
        """Look at the pairs of the card at ``place`` with pyramid cards."""
        other = 0
        while others >> other:
            if others >> other & 1:
                low = min(place, other)
                high = max(place, other)
                if high >= 28:
                    left = self._after[shape * 28 + low]
                    self._offer(low, high, self._worth(shape, left, 1), hasty)
                elif self._exposed[shape] >> other & 1 or (
                    other < place and self._covers[other] & self._masks[shape] == 1 << place
                ):
                    left = self._after[self._after[shape * 28 + high] * 28 + low]
                    self._offer(low, high, self._worth(shape, left, 2), hasty)
            other += 1

    def _worth(self, before: int, after: int, cards: int) -> int:
        """What a player likes: first pyramid cards gone, then cards that come free."""
        shown = self._exposed[after] & ~self._exposed[before]
        worth = cards * 8
        while shown:
            shown &= shown - 1
            worth += 1
        return worth

    def _offer(self, low: int, high: int, worth: int, hasty: int) -> None:
        """Take a pair into account, unless it is overlooked; of equals each is equally likely."""
        if hasty and self._random(_OVERLOOKS) == 0:
            return
        if worth < self._best:
            return
        if worth > self._best:
            self._best = worth
            self._found = 0
        self._found += 1
        if self._random(self._found) == 0:
            self._low = low
            self._high = high
