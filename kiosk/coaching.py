"""How far a visitor has been shown what to do: by a glow, and in words.

Invariant: pure bookkeeping about one visitor, from their first move on, over all their games until
somebody else comes; no game state, so undo changes nothing.
"""

from __future__ import annotations

from typing import Final

from engine.position import Move, MoveKind

#: What can be removed glows until a visitor has removed something so many times.
COACHED_REMOVALS: Final = 3


class Coach:
    """What one visitor has been shown.

    Args:
        needed: whether this is somebody new; otherwise nothing is shown.
    """

    def __init__(self, *, needed: bool = True) -> None:
        self._removals = 0 if needed else COACHED_REMOVALS
        self._unexplained = {MoveKind.PAIR, MoveKind.KING} if needed else set()

    @property
    def shows(self) -> bool:
        """Whether the visitor is still shown what can be removed."""
        return self._removals < COACHED_REMOVALS

    def sees(self, move: Move) -> bool:
        """The visitor has made a move: whether it is to be explained, as the first of its kind."""
        if not move.cards:
            return False
        self._removals += 1
        first = move.kind in self._unexplained
        self._unexplained.discard(move.kind)
        return first
