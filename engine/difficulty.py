"""How hard a deal is: the share of games that a casual player wins, and the grade that follows.

The casual player has read the rules and plays what lies open:

1. A King that is available goes at once.
2. Of the pairs that can go, the player likes those best that take most cards from the pyramid, and
   of these the ones that set most cards free; among equals chance decides.  Each pair is
   overlooked once in eight times, unless nothing else is left to do.
3. Without a pair the player draws, and when the stock is empty turns the waste over, if the rules
   allow it.  Where they allow it for ever, the player stops after a pass in which nothing went.

So the player sees what a visitor sees (:meth:`engine.position.Position.is_visible`), remembers
nothing, thinks no move ahead, and never holds a card back for later.

Invariant: the figures depend on the deal and the rules alone, and are the same on every machine.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from engine._casual import CasualTable
from engine.deal import Deal
from engine.rules import Covered, Goal, Rules

#: The casual player plays each deal this many times.
CASUAL_GAMES: Final = 2_000

#: A deal is easy if the casual player wins at least this many games: one in four,
EASY_FROM: Final = CASUAL_GAMES // 4
#: and medium with at least this many: one in twenty.
MEDIUM_FROM: Final = CASUAL_GAMES // 20


class Grade(Enum):
    """How hard a deal is for a casual player; the value is what a pool file stores."""

    EASY = 1
    MEDIUM = 2
    HARD = 3


def casual_wins(deal: Deal, rules: Rules, *, games: int = CASUAL_GAMES, seed: int = 0) -> int:
    """How many games of a deal the casual player wins.

    Args:
        deal: the cards.
        rules: the rules.
        games: how many games, 0 or more.
        seed: where chance begins, 0 to 4,294,967,295.
    """
    table = CasualTable(
        tuple(card.rank for card in deal.cards),
        rules.passes,
        deck_goal=rules.goal is Goal.DECK,
        stock_playable=rules.stock_playable,
        # A card that lies face down is not known to pair with the one on it.
        overlap=rules.overlap and rules.covered is Covered.FACE_UP,
    )
    return table.wins(seed, games)


def grade_of(wins: int) -> Grade:
    """The grade of a winnable deal.

    Args:
        wins: games of :data:`CASUAL_GAMES` that the casual player wins.
    """
    if wins >= EASY_FROM:
        return Grade.EASY
    return Grade.MEDIUM if wins >= MEDIUM_FROM else Grade.HARD
