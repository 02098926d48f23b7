"""Whole deals against a search without any cut, in C, which knows the rules and nothing else."""

from __future__ import annotations

import shutil
from random import Random

import pytest

from engine.deal import Deal
from engine.position import IllegalMoveError, Outcome, Position
from engine.rules import PRESETS, Goal, Rules
from engine.solver import decide, solve
from tests.engine import differential, oracle
from tests.engine.uncut import Uncut

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no compiler")


def compare(uncut: Uncut, rules: Rules, numbers: list[int]) -> int:
    """Compare verdicts; return how many of the deals can be won."""
    won = 0
    for number in numbers:
        deal = Deal.from_number(number)
        expected = uncut.deal(deal, rules)
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


def test_the_search_without_cuts_agrees_with_the_slow_one_from_any_position(uncut: Uncut) -> None:
    rng = Random(4)
    won = 0
    for rules in oracle.ALL_RULES:
        for _ in range(8):
            position = oracle.random_position(rng, rules, pyramid=9, stock=7)
            truth = oracle.is_winnable(position)
            assert uncut.position(position) is truth, str(position)
            won += truth
    assert 40 < won < 216, "of 256, and neither all nor none"


def test_the_search_without_cuts_gives_up_where_it_is_told_to(uncut: Uncut) -> None:
    position = Position(Deal.from_number(7), PRESETS["three-pass"])
    assert uncut.position(position, most=1_000) is None


@pytest.mark.parametrize("preset", PRESETS)
def test_positions_of_games(uncut: Uncut, preset: str) -> None:
    """What `make differential` does at length."""
    rng = Random(preset)
    tally = differential.Tally()
    interpreted = differential.interpreted_loop()
    while tally.positions < 25:
        position = differential.played_position(rng, PRESETS[preset])
        differential.compare(uncut, interpreted, position, tally, most=20_000)
    assert 0 < tally.winnable < 25
    assert tally.interpreted > 15


def test_a_difference_is_seen(uncut: Uncut, monkeypatch: pytest.MonkeyPatch) -> None:
    deals = (Deal.from_number(number) for number in range(1, 1_000))
    games = (Position(deal, PRESETS["relaxed"]) for deal in deals)
    position = next(game for game in games if decide(game).winnable)
    right = solve(position)
    end = position
    for move in right.line[:-3]:
        end = end.play(move)
    assert end.outcome is Outcome.RUNNING
    monkeypatch.setattr(differential, "solve", lambda _position: solve(position))
    interpreted = differential.interpreted_loop()
    with pytest.raises(IllegalMoveError):
        differential.compare(uncut, interpreted, end, differential.Tally())
    lost = Position(Deal.from_number(2), PRESETS["classic"])
    monkeypatch.setattr(differential, "solve", lambda _position: right)
    assert not decide(lost).winnable
    with pytest.raises(differential.DifferenceError, match="the truth is False"):
        differential.compare(uncut, interpreted, lost, differential.Tally(), most=10**7)
