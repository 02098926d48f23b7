"""The solver against the search without any cut, and compiled against interpreted, at length.

``python -m tests.engine.differential`` plays deals at random, under the rules of each preset, stops
somewhere on the way, and asks both about the position there.  Every line that the solver gives is
replayed.  ``make differential`` does it for 10,000 positions of each preset.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import engine._search
from engine.deal import LAST_DEAL, Deal
from engine.position import REDEAL, Move, MoveKind, Outcome, Position
from engine.rules import PRESETS, Goal, Rules
from engine.solver import Verdict, solve
from tests.engine.uncut import Uncut

#: The search without cuts gives up after so many positions; such a position is not counted.
MOST = 100_000
#: The interpreted loop is asked where the compiled one needs no more than so many positions.
MOST_INTERPRETED = 2_000
SOURCE = Path(engine._search.__file__).parent / "_search.py"


class DifferenceError(AssertionError):
    """The two do not agree; the message says where."""


@dataclass
class Tally:
    """What was compared.

    Attributes:
        positions: positions about which the verdicts agreed.
        winnable: how many of them can be won, each by a line that was replayed.
        interpreted: how many were also searched by the interpreted loop, to the same end.
        given_up: positions that were too many for the search without cuts; not in ``positions``.
    """

    positions: int = 0
    winnable: int = 0
    interpreted: int = 0
    given_up: int = 0


def interpreted_loop() -> ModuleType:
    """The source of the loop, loaded as plain Python under another name."""
    spec = importlib.util.spec_from_file_location("engine._search_interpreted", SOURCE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def search_of(module: ModuleType, position: Position, *, max_slots: int = 1 << 24) -> Any:
    """A search of one of the two loops."""
    rules = position.rules
    return module.Search(
        tuple(card.rank for card in position.deal.cards),
        position.remaining,
        position.waste_end - 28,
        position.redeals_left,
        deck_goal=rules.goal is Goal.DECK,
        stock_playable=rules.stock_playable,
        overlap=rules.overlap,
        max_slots=max_slots,
    )


def outcome(module: ModuleType, position: Position, portion: int = 10**9) -> tuple[Any, ...]:
    """Search in portions; return the state, the positions counted and the line."""
    search = search_of(module, position)
    state = module.RUNNING
    while state == module.RUNNING:
        state = search.run(portion)
    return state, search.positions, search.line() if state == module.WON else None


def played_position(rng: Random, rules: Rules) -> Position:
    """A position on the way through a game of a random deal.

    Half of the games are played at random, with removals preferred, as people do.  The others
    follow a winning line and leave it now and then: there the verdicts are mixed.  The way ends
    when as many cards are left as was drawn by lot, or where no move is.
    """
    position = Position(Deal.from_number(rng.randint(1, LAST_DEAL)), rules)
    line: list[Move] = []
    if rng.random() < 0.5:
        # Of some presets only one deal in twenty can be won.
        for _ in range(60):
            if line := list(solve(position, limit=20_000).line):
                break
            position = Position(Deal.from_number(rng.randint(1, LAST_DEAL)), rules)
    cards_left = rng.randint(6, 48)
    while position.remaining.bit_count() > cards_left:
        moves = position.legal_moves
        if not moves:
            break
        removals = [move for move in moves if move.kind in {MoveKind.KING, MoveKind.PAIR}]
        if line and rng.random() < 0.97:
            move = line.pop(0)
        else:
            line.clear()
            move = rng.choice(removals if removals and rng.random() < 0.8 else moves)
        if move is REDEAL and rng.random() < 0.2:
            break  # without a limit on passes the way could go on for ever
        position = position.play(move)
    return position


def compare(
    uncut: Uncut, interpreted: ModuleType, position: Position, tally: Tally, most: int = MOST
) -> None:
    """Compare everything about one position.

    Raises:
        DifferenceError: something differs.
    """
    truth = uncut.position(position, most)
    if truth is None:
        tally.given_up += 1
        return
    solution = solve(position)
    if solution.winnable is not truth:
        raise DifferenceError(f"{solution.verdict}, but the truth is {truth}:\n{position}")
    if solution.verdict is Verdict.WINNABLE:
        end = position
        for move in solution.line:
            end = end.play(move)  # refuses what is not legal
        if end.outcome is not Outcome.WON:
            raise DifferenceError(f"{solution.line} does not win:\n{position}")
        tally.winnable += 1
    if solution.positions <= MOST_INTERPRETED:
        found = [outcome(module, position) for module in (engine._search, interpreted)]
        if found[0] != found[1]:
            raise DifferenceError(f"compiled {found[0]}, interpreted {found[1]}:\n{position}")
        tally.interpreted += 1
    tally.positions += 1


def main() -> int:
    """Compare as many positions as asked for; the exit code is 1 when something differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.engine.differential")
    parser.add_argument("--positions", type=int, default=10_000, metavar="N", help="of each preset")
    parser.add_argument("--presets", nargs="+", choices=list(PRESETS), default=list(PRESETS))
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    interpreted = interpreted_loop()
    with tempfile.TemporaryDirectory() as folder:
        uncut = Uncut(Path(folder))
        for preset in args.presets:
            rng = Random(f"{args.seed} {preset}")
            tally = Tally()
            began = time.monotonic()
            while tally.positions < args.positions:
                try:
                    compare(uncut, interpreted, played_position(rng, PRESETS[preset]), tally)
                except DifferenceError as error:
                    print(f"{preset}: {error}", file=sys.stderr)
                    return 1
            seconds = round(time.monotonic() - began)
            loop = "compiled" if engine._search.COMPILED else "interpreted"
            print(
                json.dumps({"preset": preset, **asdict(tally), "loop": loop, "seconds": seconds}),
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
