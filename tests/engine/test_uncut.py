"""Whole deals against a search without any cut, in C, which knows the rules and nothing else."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.deal import Deal
from engine.position import Position
from engine.rules import PRESETS, Goal, Rules
from engine.solver import decide

SOURCE = Path(__file__).with_name("uncut.c")
Uncut = Callable[[Deal, Rules], bool]

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no compiler")


@pytest.fixture(scope="module")
def uncut(tmp_path_factory: pytest.TempPathFactory) -> Uncut:
    """Whether a deal can be won, by trying everything: up to a million positions and a second."""
    path = tmp_path_factory.mktemp("uncut") / "uncut.so"
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", path, SOURCE], check=True)
    library = ctypes.CDLL(str(path))

    def ask(deal: Deal, rules: Rules) -> bool:
        options = 1 * (rules.goal is Goal.DECK) + 2 * rules.stock_playable + 4 * rules.overlap
        positions = ctypes.c_int64()
        ranks = bytes(card.rank for card in deal.cards)
        return bool(library.winnable(ranks, rules.passes or 0, options, ctypes.byref(positions)))

    return ask


def compare(uncut: Uncut, rules: Rules, numbers: list[int]) -> int:
    """Compare verdicts; return how many of the deals can be won."""
    won = 0
    for number in numbers:
        deal = Deal.from_number(number)
        expected = uncut(deal, rules)
        assert decide(Position(deal, rules)).winnable is expected, number
        won += expected
    return won


@pytest.mark.parametrize("preset", PRESETS)
def test_two_deals_of_each_preset(uncut: Uncut, preset: str) -> None:
    """One that can be won and one that cannot."""
    numbers: dict[bool | None, int] = {}
    for number in range(1, 60):
        numbers.setdefault(
            decide(Position(Deal.from_number(number), PRESETS[preset])).winnable, number
        )
    assert compare(uncut, PRESETS[preset], list(numbers.values())) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "rules",
    [*PRESETS.values(), Rules(passes=2), Rules(passes=1, goal=Goal.DECK, overlap=True)],
    ids=str,
)
def test_many_deals(uncut: Uncut, rules: Rules) -> None:
    compare(uncut, rules, list(range(100, 140)))
