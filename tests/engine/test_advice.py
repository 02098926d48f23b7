"""Advice: against the oracle along whole games, within limits, and told to stop."""

from __future__ import annotations

from random import Random

import pytest

from engine.advice import Advice, advise
from engine.deal import Deal
from engine.position import Outcome, Position
from engine.rules import PRESETS, Rules
from engine.solver import decide, solve
from tests.engine.oracle import ALL_RULES, random_position
from tests.engine.uncut import Uncut

NOTHING = Advice(None, None, (), 0)


def history_from(position: Position, rng: Random, moves: int) -> list[Position]:
    """Positions of a game of random moves."""
    history = [position]
    while len(history) <= moves and history[-1].legal_moves:
        history.append(history[-1].play(rng.choice(history[-1].legal_moves)))
    return history


def wins(position: Position, advice: Advice) -> bool:
    for move in advice.line:
        position = position.play(move)
    return position.outcome is Outcome.WON


@pytest.mark.parametrize("rules", ALL_RULES, ids=str)
def test_the_latest_winnable_position_is_the_one_that_the_oracle_finds(
    rules: Rules, uncut: Uncut
) -> None:
    rng = Random(str(rules))
    checked = spoiled = 0
    while checked < 25 or spoiled < 2:  # or nothing was searched for
        start = random_position(rng, rules, pyramid=rng.randint(2, 9), stock=rng.randint(1, 7))
        history = history_from(start, rng, rng.randint(0, 15))
        winnable = [index for index, position in enumerate(history) if uncut.position(position)]
        advice = advise(history)
        assert advice.winnable is (winnable[-1:] == [len(history) - 1])
        assert advice.index == (winnable[-1] if winnable else None)
        if advice.index is None:
            assert advice.line == ()
        else:
            assert wins(history[advice.index], advice)
        # What is known already is taken as such, and changes nothing.
        if winnable:
            known = advise(history, winnable_at=winnable[0])
            assert (known.winnable, known.index) == (advice.winnable, advice.index)
            exactly = advise(history, winnable_at=winnable[-1])
            assert (exactly.winnable, exactly.index) == (advice.winnable, advice.index)
            assert wins(history[winnable[-1]], exactly)
        checked += 1
        spoiled += bool(winnable) and advice.winnable is False


@pytest.mark.parametrize("rules", ALL_RULES, ids=str)
def test_a_removal_comes_first_where_one_wins_and_else_each_is_known_to_lose(
    rules: Rules, uncut: Uncut
) -> None:
    rng = Random(str(rules))
    checked = waited = 0
    # Where the stock plays as well, one hardly ever has to wait.
    while checked < 60 or (waited < 3 and not rules.stock_playable):
        position = random_position(rng, rules, pyramid=rng.randint(2, 9), stock=rng.randint(1, 7))
        removals = list(position.removals())
        if not removals or not uncut.position(position):
            continue
        wins_by_removal = any(uncut.position(position.play(move)) for move in removals)
        advice = advise([position])
        assert wins(position, advice)
        assert bool(advice.line[0].cards) is wins_by_removal
        assert advice.waits is not wins_by_removal
        checked += 1
        waited += advice.waits


def test_with_nothing_to_remove_nothing_waits() -> None:
    for number in range(1, 200):
        start = Position(Deal.from_number(number), PRESETS["three-pass"])
        if not any(start.removals()) and solve(start).line:
            assert not advise([start]).waits
            return
    raise AssertionError("every deal begins with a removal")


def game_that_goes_wrong() -> tuple[list[Position], int]:
    """A deal won along its line for ten moves, then a random game; and the last winnable index."""
    rng = Random(3)
    for number in range(1, 200):
        start = Position(Deal.from_number(number), PRESETS["three-pass"])
        line = solve(start).line
        if not line:
            continue
        history = [start]
        for move in line[:10]:
            history.append(history[-1].play(move))
        history += history_from(history[-1], rng, 60)[1:]
        winnable = [bool(decide(position).winnable) for position in history]
        last = winnable.count(True) - 1
        # It should end where that it is lost does not show at once.
        while len(history) > last + 1 and not decide(history[-1]).positions:
            history.pop()
        if len(history) > last + 1:
            assert winnable == sorted(winnable, reverse=True)
            return history, last
    raise AssertionError("every random game went well")


def test_a_real_game_takes_few_searches() -> None:
    history, last = game_that_goes_wrong()
    calls = []

    def watch() -> bool:
        calls.append(1)
        return False

    advice = advise(history, should_stop=watch)
    assert (advice.winnable, advice.index) == (False, last)
    assert wins(history[last], advice)
    everything = sum(decide(position).positions for position in history)
    assert 0 < advice.positions <= everything


def test_told_to_stop_it_claims_nothing() -> None:
    history, _ = game_that_goes_wrong()
    assert advise(history, should_stop=lambda: True) == NOTHING


def test_told_to_stop_later_it_claims_only_what_is_proven() -> None:
    history, last = game_that_goes_wrong()
    asked = 0
    after = 0

    def should_stop() -> bool:
        nonlocal asked
        asked += 1
        return asked > after

    seen = set()
    for after in range(60):  # noqa: B007
        asked = 0
        advice = advise(history, should_stop=should_stop)
        seen.add((advice.winnable, advice.index))
        assert (advice.winnable, advice.index) in {(None, None), (False, None), (False, last)}
        assert bool(advice.line) == (advice.index is not None)
    assert (None, None) in seen
    assert (False, last) in seen


def test_within_a_limit_it_claims_only_what_is_proven() -> None:
    history, last = game_that_goes_wrong()
    seen = set()
    for limit in (0, 1, 10, 100, 1_000, 10_000, 10**9):
        advice = advise(history, limit=limit)
        seen.add((advice.winnable, advice.index))
        assert (advice.winnable, advice.index) in {(None, None), (False, None), (False, last)}
    assert (False, last) in seen
    assert len(seen) > 1


def test_a_single_position_is_a_history() -> None:
    start = Position(Deal.from_number(1), PRESETS["three-pass"])
    advice = advise([start])
    assert (advice.winnable, advice.index) == (True, 0)
    assert wins(start, advice)


def test_no_history_is_an_error() -> None:
    with pytest.raises(ValueError, match="the history is empty"):
        advise([])
