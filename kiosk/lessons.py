"""What a demo teaches while it plays: which lesson goes with the move that comes next.

Invariant: a function of positions and moves, and of which lessons were given before; every lesson
that fits comes round, the one not heard for longest first.  No words: see ``reel_wording``.
"""

from __future__ import annotations

from enum import Enum

from engine.deal import PYRAMID_SIZE
from engine.position import Move, MoveKind, Position


class Lesson(Enum):
    """Something worth knowing, in the order in which a newcomer needs it."""

    PAIR = "pair"  #: two free cards that make 13 go together
    DRAW = "draw"  #: tap the stock to draw
    KING = "king"  #: a King goes alone, at once
    WASTE = "waste"  #: the top card of the waste plays
    FREE = "free"  #: when a card is free
    GOAL = "goal"  #: what wins
    SUITS = "suits"  #: do not matter
    UNCOVER = "uncover"  #: of two pairs, the one that uncovers a card
    BENEATH = "beneath"  #: the waste card below comes back
    COVERING = "covering"  #: a card never pairs with one that lies on it
    LOOK = "look"  #: what the waste card can free, before drawing
    REDEAL = "redeal"  #: how often one goes through the stock
    SIDES = "sides"  #: keep both sides open
    PATIENCE = "patience"  #: a card let go now may be missed later


def fitting(position: Position, move: Move) -> frozenset[Lesson]:
    """The lessons that ``move``, about to be made in ``position``, is an example of."""
    rules = position.rules
    if move.kind is MoveKind.REDEAL:
        return frozenset({Lesson.REDEAL})
    if move.kind is MoveKind.DRAW:
        found = {Lesson.DRAW, Lesson.GOAL, Lesson.REDEAL}
        if position.waste_top is not None:
            found.add(Lesson.LOOK)
            if rules.passes is None or rules.passes > position.pass_number:
                found.add(Lesson.PATIENCE)
        return frozenset(found)
    found = {Lesson.KING} if move.kind is MoveKind.KING else {Lesson.PAIR, Lesson.SUITS}
    places = {position.deal.place_of[card] for card in move.cards}
    if position.waste_top in places:
        found.add(Lesson.WASTE)
        if len(position.waste_places) > 1:
            found.add(Lesson.BENEATH)
    if not rules.overlap and any(place < PYRAMID_SIZE for place in places):
        found.add(Lesson.COVERING)
    if _uncovers(position, move):
        found.add(Lesson.FREE)
        if len(list(position.removals())) > 1:
            found.add(Lesson.UNCOVER)
    if position.pyramid_left <= PYRAMID_SIZE // 2:
        found.add(Lesson.SIDES)
    return frozenset(found)


def _uncovers(position: Position, move: Move) -> bool:
    """Whether a pyramid card is free after the move that was not before."""
    after = position.play(move)
    return any(
        after.is_present(place) and after.is_exposed(place) and not position.is_exposed(place)
        for place in range(PYRAMID_SIZE)
    )


class Teacher:
    """Chooses lessons, over all demos of a kiosk."""

    def __init__(self) -> None:
        self._waiting = list(Lesson)
        self._last: Lesson | None = None

    def choose(self, position: Position, move: Move) -> Lesson | None:
        """A lesson that fits, the one not given for longest; it is given now.

        None when no other fits than the one that was given last.
        """
        lessons = fitting(position, move) - {self._last}
        lesson = next((lesson for lesson in self._waiting if lesson in lessons), None)
        if lesson is not None:
            self._waiting.remove(lesson)
            self._waiting.append(lesson)
            self._last = lesson
        return lesson
