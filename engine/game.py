"""A game: a deal played move by move, with undo, redo, restart and a text save.

Invariant: a game always stands at a position that legal moves reached from its deal, and a save
that is not exactly such a game is refused whole.
"""

from __future__ import annotations

import json
from typing import Any, Final

from engine.deal import Deal, DealError
from engine.position import IllegalMoveError, Move, MoveTextError, Outcome, Position
from engine.rules import Rules, RulesError

SAVE_FORMAT: Final = "pyramid-game"
SAVE_VERSION: Final = 1


class SaveError(ValueError):
    """A text that is not the save of a game; the message says what is wrong with it."""


class NewerSaveError(SaveError):
    """A save that a newer version of this program wrote."""


class Game:
    """A deal, the moves played on it, and where in them the player stands.

    Undone moves are kept for redo until another move is played.

    >>> game = Game(Deal.from_number(1), Rules())
    >>> game.play(Move.parse("D"))
    >>> game.undo()
    Move(kind=<MoveKind.DRAW: 'draw'>, cards=())
    >>> game.index
    0
    """

    def __init__(self, deal: Deal, rules: Rules) -> None:
        self._positions: list[Position] = [Position(deal, rules)]
        self._moves: list[Move] = []
        self._index = 0

    # -- reading ------------------------------------------------------------------------------

    @property
    def deal(self) -> Deal:
        """The cards of this game."""
        return self._positions[0].deal

    @property
    def rules(self) -> Rules:
        """The rules of this game."""
        return self._positions[0].rules

    @property
    def position(self) -> Position:
        """Where the game stands."""
        return self._positions[self._index]

    @property
    def index(self) -> int:
        """How many moves have been played to the present position."""
        return self._index

    @property
    def moves(self) -> tuple[Move, ...]:
        """The moves played to the present position, oldest first."""
        return tuple(self._moves[: self._index])

    @property
    def undone(self) -> tuple[Move, ...]:
        """The moves that redo would play, next one first."""
        return tuple(self._moves[self._index :])

    @property
    def positions(self) -> tuple[Position, ...]:
        """The positions from the deal to the present one, both included."""
        return tuple(self._positions[: self._index + 1])

    @property
    def can_undo(self) -> bool:
        """Whether a move can be taken back."""
        return self._index > 0

    @property
    def can_redo(self) -> bool:
        """Whether an undone move can be played again."""
        return self._index < len(self._moves)

    @property
    def outcome(self) -> Outcome:
        """How the present position stands."""
        return self.position.outcome

    # -- changing -----------------------------------------------------------------------------

    def play(self, move: Move) -> None:
        """Play a move.  Undone moves are forgotten, unless the move is the next of them.

        Raises:
            IllegalMoveError: the move is not legal; the game is as it was.
        """
        if self.can_redo and self._moves[self._index] == move:
            self._index += 1
            return
        position = self.position.play(move)
        del self._moves[self._index :]
        del self._positions[self._index + 1 :]
        self._moves.append(move)
        self._positions.append(position)
        self._index += 1

    def undo(self) -> Move | None:
        """Take back one move and return it; None, and nothing happens, at the start."""
        if not self.can_undo:
            return None
        self._index -= 1
        return self._moves[self._index]

    def redo(self) -> Move | None:
        """Play the last undone move again and return it; None if there is none."""
        if not self.can_redo:
            return None
        self._index += 1
        return self._moves[self._index - 1]

    def go_to(self, index: int) -> None:
        """Stand after ``index`` moves: undo or redo as many as that takes.

        Raises:
            ValueError: ``index`` is not from 0 to the number of moves known.
        """
        if not 0 <= index <= len(self._moves):
            raise ValueError(f"the game knows moves 0 to {len(self._moves)}, not {index}")
        self._index = index

    def restart(self) -> None:
        """Go back to the deal.  Redo still knows the way."""
        self._index = 0

    # -- saving -------------------------------------------------------------------------------

    def save(self) -> str:
        """The whole game as one line of JSON that :meth:`load` reads."""
        return json.dumps(
            {
                "format": SAVE_FORMAT,
                "version": SAVE_VERSION,
                "rules": str(self.rules),
                "number": self.deal.number,
                "deal": str(self.deal),
                "moves": " ".join(map(str, self._moves)),
                "index": self._index,
            }
        )

    @classmethod
    def load(cls, text: str) -> Game:
        """Read a game from its save, checking everything before anything is built.

        Raises:
            NewerSaveError: a newer version wrote the save.
            SaveError: the text is no save, or its moves do not fit its deal.
        """
        fields = _fields(text)
        try:
            deal = Deal.parse(fields["deal"])
            rules = Rules.parse(fields["rules"])
            moves = [Move.parse(word) for word in fields["moves"].split()]
        except (DealError, RulesError, MoveTextError) as error:
            raise SaveError(f"the save cannot be read: {error}") from None
        number = fields["number"]
        if number is not None:
            try:
                numbered = Deal.from_number(number)
            except DealError as error:
                raise SaveError(f"the save cannot be read: {error}") from None
            if numbered.cards != deal.cards:
                raise SaveError(f"the save's cards are not those of its deal number {number}")
            deal = numbered
        game = cls(deal, rules)
        for count, move in enumerate(moves, start=1):
            try:
                game.play(move)
            except IllegalMoveError as error:
                raise SaveError(f"move {count} of the save does not fit: {error}") from None
        index = fields["index"]
        if not 0 <= index <= len(moves):
            raise SaveError(f"the save stands at move {index}, but has {len(moves)} moves")
        game.go_to(index)
        return game


def _fields(text: str) -> dict[str, Any]:
    """Decode a save and check the presence and type of every field."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SaveError(f"the save is not JSON: {error}") from None
    if not isinstance(fields, dict) or fields.get("format") != SAVE_FORMAT:
        raise SaveError(f"the save is not a {SAVE_FORMAT} object")
    version = fields.get("version")
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise SaveError(f"the save has no valid version: {version!r}")
    if version > SAVE_VERSION:
        raise NewerSaveError(
            f"the save is of version {version}, this program knows up to {SAVE_VERSION}"
        )
    for name, kinds in {
        "rules": (str,),
        "number": (int, type(None)),
        "deal": (str,),
        "moves": (str,),
        "index": (int,),
    }.items():
        value = fields.get(name, ...)
        if value is ... or isinstance(value, bool) or not isinstance(value, kinds):
            raise SaveError(f"the save's {name} is missing or of the wrong type: {value!r}")
    return fields
