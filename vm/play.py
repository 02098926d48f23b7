"""The game in the machine, as far as it is safe on its disk; and how to play on.

Invariant: what is known of the game comes from the database in the machine, never from what was
touched.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass

from engine.deal import PYRAMID_SIZE
from engine.game import Game
from engine.position import DRAW, REDEAL, Move, MoveKind, Outcome, Position
from kiosk.commands import Pile, Target
from kiosk.layout import Layout
from vm.machine import HEIGHT, PATIENCE, WIDTH, Machine
from vm.qmp import VmError

LAYOUT = Layout.for_screen(WIDTH, HEIGHT)
#: Seconds after a draw in which the kiosk takes no tap for turning the waste over, and more.
BEFORE_REDEAL = 3.0


@dataclass(frozen=True)
class Safe:
    """What was on the disk at some moment.

    Attributes:
        game: the running game.
        line: the moves that win it from its deal, or none.
        undos: how many moves of it were taken back.
        results: how many games had ended before.
    """

    game: Game
    line: tuple[str, ...]
    undos: int
    results: int

    @property
    def moves(self) -> tuple[str, ...]:
        """The moves to where it stands."""
        return tuple(map(str, self.game.moves))

    @property
    def deal(self) -> str:
        """Its cards."""
        return str(self.game.deal)

    def __str__(self) -> str:
        return f"deal {self.game.deal.number}, {self.game.index} moves"

    @property
    def next_move(self) -> Move | None:
        """How to play on: along the line that wins, else through the stock; None at the end."""
        moves, position = self.moves, self.game.position
        if position.outcome is not Outcome.RUNNING:
            return None
        if self.line[: len(moves)] == moves and len(self.line) > len(moves):
            return Move.parse(self.line[len(moves)])
        if position.can_draw:
            return DRAW
        return REDEAL if position.can_redeal else None

    def after(self, move: Move) -> Safe:
        """What will be safe once that move is."""
        game = Game.load(self.game.save())
        game.play(move)
        return Safe(game, self.line, self.undos, self.results)


def read(line: str) -> Safe | None:
    """What a line of the witness says; None where there is no game.

    Raises:
        ValueError: it is not such a line, or no game.
    """
    told = json.loads(line)
    saved = told["saved"]
    if saved is None:
        return None
    line_words = tuple(saved["line"].split())
    return Safe(Game.load(saved["game"]), line_words, saved["undos"], told["results"])


def lines_of(data: bytes) -> list[str]:
    """The whole lines in what came; the last one may have been cut off."""
    return data[: data.rfind(b"\n") + 1].decode("utf-8").splitlines()


def targets(move: Move, position: Position) -> tuple[Target, ...]:
    """What is touched, one after the other, to play a move.

    Raises:
        ValueError: a card of it is not where it can be touched.
    """
    if move.kind in (MoveKind.DRAW, MoveKind.REDEAL):
        return (Pile.STOCK,)
    found: list[Target] = []
    for card in move.cards:
        place = position.deal.place_of[card]
        if place < PYRAMID_SIZE:
            found.append(place)
        elif place == position.waste_top:
            found.append(Pile.WASTE)
        else:
            raise ValueError(f"{card} cannot be touched")
    return tuple(found)


def places(move: Move, position: Position) -> list[tuple[float, float]]:
    """Where fingers come down to play a move, one after the other: x and y in px.

    Raises:
        ValueError: as :func:`targets`.
    """
    return [LAYOUT.target_rect(target).center for target in targets(move, position)]


class Player:
    """Plays by touch, and waits until what was played is safe.

    Args:
        machine: where.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    @property
    def safe(self) -> Safe | None:
        """What is known to be on the disk; None if that is no game."""
        lines = lines_of(self._machine.witness.read_bytes())
        return read(lines[-1]) if lines else None

    def wait(self, what: str, wanted: Callable[[Safe], bool], timeout: float = PATIENCE) -> Safe:
        """Wait until something is on the disk.

        Args:
            what: its name, for the error.
            wanted: whether this is it.
            timeout: seconds.

        Raises:
            VmError: it does not come.
        """
        end = time.monotonic() + timeout
        while True:
            safe = self.safe
            if safe is not None and wanted(safe):
                return safe
            if time.monotonic() > end or not self._machine.is_on:
                raise VmError(f"{what} was not safe within {timeout:.0f} s; what is safe: {safe}")
            time.sleep(0.1)

    def now(self) -> Safe:
        """What is on the disk, once there is a game.

        Raises:
            VmError: none comes.
        """
        return self.wait("a game", lambda _safe: True)

    def touch_move(self, move: Move, position: Position, pause: float = 0.3) -> None:
        """Touch what plays a move, and do not wait for anything.

        Raises:
            VmError: QEMU refuses.
        """
        if move.kind is MoveKind.REDEAL:
            time.sleep(BEFORE_REDEAL)
        for number, place in enumerate(places(move, position)):
            if number:
                time.sleep(pause)
            self._machine.touch(*place)

    def play(self, safe: Safe) -> Safe:
        """Play one move by touch, and wait until it is safe.

        Raises:
            VmError: it does not happen, or the game is over.
        """
        move = safe.next_move
        if move is None:
            raise VmError(f"there is no move left in {safe}")
        self.touch_move(move, safe.game.position)
        wanted = safe.after(move)
        return self.wait(
            f"{move} as move {wanted.game.index}",
            lambda now: now.deal == wanted.deal and now.moves == wanted.moves,
        )
