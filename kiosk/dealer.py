"""Where a session's deals come from: the pool, or the solver when there is no sound pool.

Invariant: a deal that is handed out is winnable and comes with its winning line.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.deal import Deal
from engine.position import Move
from engine.rules import Rules


@dataclass(frozen=True)
class DealtGame:
    """A deal that can be won, ready for the table.

    Attributes:
        deal: the cards.
        rules: the rules that it was proven under.
        preset: their name.
        line: moves that win it.
    """

    deal: Deal
    rules: Rules
    preset: str
    line: tuple[Move, ...]
