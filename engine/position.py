"""Moves and positions: what lies where, which cards are available, which moves are legal.

Invariant: a :class:`Position` is an immutable value, and this module is the only place that
knows which cards are available and which moves are legal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Final

from engine.cards import Card, CardTextError, makes_thirteen
from engine.deal import PYRAMID_SIZE, Deal
from engine.rules import Covered, Goal, Rules

ROWS: Final = 7
PLACES: Final = 52
PYRAMID_MASK: Final = (1 << PYRAMID_SIZE) - 1
FULL_MASK: Final = (1 << PLACES) - 1

#: Row (0 to 6) and column (0 to row) of each pyramid place.
ROW_COLUMN: Final[tuple[tuple[int, int], ...]] = tuple(
    (row, column) for row in range(ROWS) for column in range(row + 1)
)

#: For each pyramid place, the places of the two cards that cover it (none for the last row).
COVERS: Final[tuple[tuple[int, ...], ...]] = tuple(
    () if row == ROWS - 1 else (place + row + 1, place + row + 2)
    for place, (row, _column) in enumerate(ROW_COLUMN)
)

#: The same as bit masks: bit ``p`` is place ``p``.
COVER_MASKS: Final[tuple[int, ...]] = tuple(sum(1 << p for p in covers) for covers in COVERS)


class MoveTextError(ValueError):
    """A text that should be a move is not one."""


class IllegalMoveError(ValueError):
    """A move that the position does not allow; the message shows both."""


class MoveKind(Enum):
    """What a move does."""

    DRAW = "draw"
    REDEAL = "redeal"
    KING = "king"
    PAIR = "pair"


@dataclass(frozen=True)
class Move:
    """One move.  Make one with :data:`DRAW`, :data:`REDEAL`, :meth:`remove` or :meth:`parse`.

    Attributes:
        kind: what the move does.
        cards: the cards that it removes: none, the King, or the pair with the higher rank first.
    """

    kind: MoveKind
    cards: tuple[Card, ...] = ()

    @classmethod
    def remove(cls, *cards: Card) -> Move:
        """The removal of a King, or of two cards that add up to 13, in either order.

        Raises:
            MoveTextError: the cards can never be removed together.
        """
        if len(cards) == 1 and cards[0].is_king:
            return cls(MoveKind.KING, cards)
        if len(cards) == 2 and makes_thirteen(*cards):
            return cls(MoveKind.PAIR, tuple(sorted(cards, key=lambda c: -c.rank)))
        raise MoveTextError(
            f"{'+'.join(map(str, cards)) or 'nothing'} cannot be removed: "
            "a King goes alone, two other cards must add up to 13"
        )

    @classmethod
    def parse(cls, text: str) -> Move:
        """Read a move: ``D``, ``R``, a King like ``KH``, or a pair like ``7C+6D``.

        >>> str(Move.parse("6d+7c"))
        '7C+6D'

        Raises:
            MoveTextError: the text is no move.
        """
        if text in {"D", "d"}:
            return DRAW
        if text in {"R", "r"}:
            return REDEAL
        try:
            cards = [Card.parse(word) for word in text.split("+")]
        except CardTextError as error:
            raise MoveTextError(
                f"{text!r} is not a move: "
                f"write D, R, a King like KH, or a pair like 7C+6D ({error})"
            ) from None
        return cls.remove(*cards)

    def __str__(self) -> str:
        if self.kind is MoveKind.DRAW:
            return "D"
        if self.kind is MoveKind.REDEAL:
            return "R"
        return "+".join(map(str, self.cards))


DRAW: Final = Move(MoveKind.DRAW)
REDEAL: Final = Move(MoveKind.REDEAL)


class Outcome(Enum):
    """How a position stands.  Unwinnable is something else: see :mod:`engine.solver`."""

    RUNNING = "running"
    WON = "won"
    STUCK = "stuck"


@dataclass(frozen=True)
class Position:
    """A deal in play: an immutable value.

    Attributes:
        deal: the 52 cards.
        rules: the rules in force.
        remaining: the cards still in play, a 52-bit mask: bit ``p`` is place ``p``.
        waste_end: 28 to 52: remaining stock cards at places below it are on the waste, the others
            in the stock.  Always one above the waste top, or 28 when the waste is empty, so that
            equal situations are equal values.
        pass_number: the run through the stock that is under way, 1 or more.
    """

    deal: Deal
    rules: Rules
    remaining: int = FULL_MASK
    waste_end: int = PYRAMID_SIZE
    pass_number: int = 1

    # -- what lies where ---------------------------------------------------------------------

    def is_present(self, place: int) -> bool:
        """Whether the card of ``place`` (0 to 51) is still in play."""
        return bool(self.remaining >> place & 1)

    def is_exposed(self, place: int) -> bool:
        """Whether ``place`` (0 to 27) holds a pyramid card that no card covers."""
        return self.is_present(place) and not self.remaining & COVER_MASKS[place]

    @cached_property
    def waste_places(self) -> tuple[int, ...]:
        """The waste from its bottom to its top."""
        return tuple(p for p in range(PYRAMID_SIZE, self.waste_end) if self.is_present(p))

    @cached_property
    def stock_places(self) -> tuple[int, ...]:
        """The stock in draw order: the next card first."""
        return tuple(p for p in range(self.waste_end, PLACES) if self.is_present(p))

    @property
    def waste_top(self) -> int | None:
        """The place of the card on top of the waste, or None."""
        return self.waste_end - 1 if self.waste_end > PYRAMID_SIZE else None

    @property
    def stock_top(self) -> int | None:
        """The place of the card that would be drawn next, or None."""
        return self.stock_places[0] if self.stock_places else None

    @property
    def redeals_left(self) -> int | None:
        """How many more times the waste may be turned over; None is without limit."""
        return None if self.rules.passes is None else self.rules.passes - self.pass_number

    @property
    def pyramid_left(self) -> int:
        """How many of the 28 pyramid cards remain."""
        return (self.remaining & PYRAMID_MASK).bit_count()

    @property
    def cards_left(self) -> int:
        """How many cards must still be removed to win: of the pyramid, or of the deck."""
        mask = FULL_MASK if self.rules.goal is Goal.DECK else PYRAMID_MASK
        return (self.remaining & mask).bit_count()

    def is_visible(self, place: int) -> bool:
        """Whether a player sees the face of the card at ``place``, which is present.

        Cards of the waste below its top are not visible.
        """
        if place < PYRAMID_SIZE:
            return self.rules.covered is Covered.FACE_UP or self.is_exposed(place)
        if place == self.waste_top:
            return True
        return self.rules.stock_playable and place == self.stock_top

    # -- what can be done --------------------------------------------------------------------

    @cached_property
    def available(self) -> tuple[int, ...]:
        """The places of the available cards, ascending."""
        places = [p for p in range(PYRAMID_SIZE) if self.is_exposed(p)]
        if self.waste_top is not None:
            places.append(self.waste_top)
        if self.rules.stock_playable and self.stock_top is not None:
            places.append(self.stock_top)
        return tuple(places)

    def can_pair(self, a: int, b: int) -> bool:
        """Whether the cards at two different places may be removed together now."""
        if a == b or not makes_thirteen(self.deal.cards[a], self.deal.cards[b]):
            return False
        if a in self.available and b in self.available:
            return True
        if not self.rules.overlap:
            return False
        low, high = min(a, b), max(a, b)
        # The one exception: the covering card is available and is the last that covers the other.
        return (
            low < PYRAMID_SIZE
            and self.is_present(low)
            and high in self.available
            and self.remaining & COVER_MASKS[low] == 1 << high
        )

    def partners(self, place: int) -> tuple[int, ...]:
        """The places of the cards that may be removed together with the one at ``place``."""
        return tuple(p for p in range(PLACES) if self.can_pair(place, p))

    @property
    def can_draw(self) -> bool:
        """Whether a card can be drawn."""
        return bool(self.stock_places)

    @property
    def can_redeal(self) -> bool:
        """Whether the waste can be turned over as the new stock."""
        return (
            not self.stock_places
            and self.waste_top is not None
            and (self.redeals_left is None or self.redeals_left > 0)
        )

    def removals(self) -> Iterator[Move]:
        """Yield every legal removal, once each."""
        cards = self.deal.cards
        candidates = set(self.available)
        if self.rules.overlap:
            candidates.update(p for p in range(PYRAMID_SIZE) if self.is_present(p))
        places = sorted(candidates)
        for i, a in enumerate(places):
            if cards[a].is_king:
                if a in self.available:
                    yield Move.remove(cards[a])
                continue
            for b in places[i + 1 :]:
                if self.can_pair(a, b):
                    yield Move.remove(cards[a], cards[b])

    @cached_property
    def legal_moves(self) -> tuple[Move, ...]:
        """Every legal move: removals, then the draw or the redeal.  None once the game is won."""
        if self.outcome is Outcome.WON:
            return ()
        moves = list(self.removals())
        if self.can_draw:
            moves.append(DRAW)
        if self.can_redeal:
            moves.append(REDEAL)
        return tuple(moves)

    def is_legal(self, move: Move) -> bool:
        """Whether :meth:`play` accepts ``move``."""
        if self.outcome is Outcome.WON:
            return False
        if move.kind is MoveKind.DRAW:
            return self.can_draw
        if move.kind is MoveKind.REDEAL:
            return self.can_redeal
        places = [self.deal.place_of[card] for card in move.cards]
        if move.kind is MoveKind.KING:
            return places[0] in self.available
        return self.can_pair(*places)

    def play(self, move: Move) -> Position:
        """Return the position after ``move``.

        Raises:
            IllegalMoveError: the move is not legal here.
        """
        if not self.is_legal(move):
            raise IllegalMoveError(f"{move} is not legal in\n{self}")
        if move.kind is MoveKind.DRAW:
            return self._with(waste_end=self.stock_places[0] + 1)
        if move.kind is MoveKind.REDEAL:
            return self._with(waste_end=PYRAMID_SIZE, pass_number=self.pass_number + 1)
        remaining = self.remaining
        for card in move.cards:
            remaining &= ~(1 << self.deal.place_of[card])
        waste = remaining & ((1 << self.waste_end) - 1) & ~PYRAMID_MASK
        return self._with(remaining=remaining, waste_end=max(waste.bit_length(), PYRAMID_SIZE))

    def _with(
        self,
        *,
        remaining: int | None = None,
        waste_end: int | None = None,
        pass_number: int | None = None,
    ) -> Position:
        return Position(
            self.deal,
            self.rules,
            self.remaining if remaining is None else remaining,
            self.waste_end if waste_end is None else waste_end,
            self.pass_number if pass_number is None else pass_number,
        )

    @cached_property
    def outcome(self) -> Outcome:
        """Won, stuck (no legal move), or running."""
        if self.cards_left == 0:
            return Outcome.WON
        if self.can_draw or self.can_redeal or next(self.removals(), None) is not None:
            return Outcome.RUNNING
        return Outcome.STUCK

    def __str__(self) -> str:
        """The position drawn as text; covered cards in brackets."""
        lines = []
        for row in range(ROWS):
            cells = []
            for column in range(row + 1):
                place = row * (row + 1) // 2 + column
                if not self.is_present(place):
                    cells.append(" .. ")
                elif self.is_exposed(place):
                    cells.append(f" {self.deal.cards[place]} ")
                else:
                    cells.append(f"({self.deal.cards[place]})")
            lines.append(("  " * (ROWS - 1 - row) + "".join(cells)).rstrip())
        cards = self.deal.cards
        lines.append("waste: " + (" ".join(str(cards[p]) for p in self.waste_places) or "empty"))
        lines.append("stock: " + (" ".join(str(cards[p]) for p in self.stock_places) or "empty"))
        limit = "" if self.rules.passes is None else f" of {self.rules.passes}"
        lines.append(f"pass {self.pass_number}{limit}, rules {self.rules}")
        return "\n".join(lines)
