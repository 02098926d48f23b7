"""Counting tests: how many lines of legal moves there are, preset by preset.

The counts are pinned, and shallow ones are counted again by the referee.  A change of any rule,
however small, changes one of them.
"""

from __future__ import annotations

import pytest

from engine.deal import Deal
from engine.position import Position
from engine.rules import PRESETS
from tests.engine.referee import Table, lay_out, moves

DEAL = 2


def perft(position: Position, depth: int) -> int:
    """The number of lines of exactly ``depth`` legal moves, at least one."""
    if depth == 1:
        return len(position.legal_moves)
    return sum(perft(position.play(move), depth - 1) for move in position.legal_moves)


def referee_perft(table: Table, depth: int) -> int:
    if depth == 0:
        return 1
    return sum(referee_perft(after, depth - 1) for after in moves(table).values())


def after_a_while(preset: str, moves_made: int) -> Position:
    """The position that always playing the middle one of the legal moves leads to."""
    position = Position(Deal.from_number(DEAL), PRESETS[preset])
    for _ in range(moves_made):
        legal = sorted(position.legal_moves, key=str)
        position = position.play(legal[len(legal) // 2])
    return position


# Preset, moves made before, depth: number of lines.
PINNED = {
    ("three-pass", 0, 13): 6_152,
    ("three-pass", 14, 19): 6_961,
    ("three-pass", 22, 23): 3_448,
    ("cards4", 0, 13): 6_152,
    ("cards4", 14, 19): 6_340,
    ("cards4", 22, 8): 8,
    ("relaxed", 0, 10): 4_986,
    ("relaxed", 14, 16): 3_900,
    ("relaxed", 22, 4): 5,
    ("classic", 0, 10): 4_986,
    ("classic", 14, 16): 3_900,
    ("classic", 22, 4): 5,
    ("collection", 0, 10): 4_986,
    ("collection", 14, 16): 7_312,
    ("collection", 22, 16): 6_547,
    ("overlap", 0, 8): 6_974,
    ("overlap", 14, 10): 6_220,
    ("overlap", 22, 9): 1_159,
}


@pytest.mark.parametrize(("preset", "moves_made", "depth"), PINNED)
def test_pinned_counts(preset: str, moves_made: int, depth: int) -> None:
    position = after_a_while(preset, moves_made)
    assert perft(position, depth) == PINNED[preset, moves_made, depth]


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("number", [1, 2, DEAL])
def test_the_referee_counts_the_same(preset: str, number: int) -> None:
    deal = Deal.from_number(number)
    rules = PRESETS[preset]
    assert perft(Position(deal, rules), 5) == referee_perft(lay_out(deal, rules), 5)


def test_late_in_the_last_pass_the_counts_agree_too() -> None:
    """From positions with redeals behind them, down to the end of the game."""
    deal = Deal.from_number(DEAL)
    rules = PRESETS["collection"]
    position = Position(deal, rules)
    table = lay_out(deal, rules)
    for step in range(400):
        legal = moves(table)
        removals = sorted(set(legal) - {"D", "R"})
        text = removals[step % len(removals)] if removals else next(iter(legal), None)
        if text is None:
            break
        move = next(move for move in position.legal_moves if str(move) == text)
        position, table = position.play(move), legal[text]
        if step % 10 == 0:
            assert perft(position, 3) == referee_perft(table, 3)
    assert position.pass_number == 3
