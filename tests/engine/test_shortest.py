"""The shortest line: against a breadth-first search of legal moves that knows nothing else."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine._shortest
from engine.deal import Deal
from engine.position import Outcome, Position
from engine.rules import PRESETS, Goal, Rules
from engine.shortest import CHUNK, shortest
from engine.solver import Reason, SolverError, Verdict, decide, solve
from tests.engine.oracle import ALL_RULES, random_position

SOURCE = Path(engine._shortest.__file__).parent / "_shortest.py"

# Takes several thousand positions.
DEEP = Position(Deal.from_number(12), PRESETS["three-pass"])


def fewest_moves(position: Position) -> int | None:
    """Look at all positions one move away, then two, and so on."""
    seen = set()
    edge = [position]
    moves = 0
    while edge:
        further = []
        for one in edge:
            if one.outcome is Outcome.WON:
                return moves
            number = 0 if one.rules.passes is None else one.pass_number
            key = (one.remaining, one.waste_end, number)
            if key not in seen:
                seen.add(key)
                further += [one.play(move) for move in one.legal_moves]
        edge = further
        moves += 1
    return None


def check(position: Position) -> bool:
    """Compare the lengths, replay the line; return whether the position is winnable."""
    solution = shortest(position)
    expected = fewest_moves(position)
    assert solution.winnable is (expected is not None), str(position)
    assert solution.reason is None
    if expected is not None:
        assert len(solution.line) == expected, str(position)
        for move in solution.line:
            position = position.play(move)
        assert position.outcome is Outcome.WON
    return expected is not None


@pytest.mark.parametrize("rules", ALL_RULES, ids=str)
def test_small_positions_against_the_oracle(rules: Rules) -> None:
    rng = Random(f"shortest {rules}")
    won = 0
    for sizes in ((8, 5), (11, 9)):
        for _ in range(30):
            pyramid = rng.randint(2, sizes[0])
            stock = rng.randint(1, sizes[1])
            won += check(random_position(rng, rules, pyramid=pyramid, stock=stock))
    assert 0 < won < 60


@settings(deadline=None, max_examples=150)
@given(st.randoms(use_true_random=False), st.sampled_from(ALL_RULES), st.data())
def test_any_small_position_against_the_oracle(
    rng: Random, rules: Rules, data: st.DataObject
) -> None:
    pyramid = data.draw(st.integers(1, 10))
    stock = data.draw(st.integers(1, 9))
    check(random_position(rng, rules, pyramid=pyramid, stock=stock))


@pytest.mark.slow
def test_many_small_positions_against_the_oracle() -> None:
    rng = Random(4)
    won = sum(
        check(
            random_position(
                rng, ALL_RULES[i % 32], pyramid=rng.randint(2, 13), stock=rng.randint(1, 11)
            )
        )
        for i in range(20_000)
    )
    assert 4_000 < won < 12_000


@pytest.mark.parametrize("preset", PRESETS)
def test_late_positions_of_real_games_against_the_oracle(preset: str) -> None:
    checked = 0
    number = 0
    while checked < 10:
        number += 1
        position = Position(Deal.from_number(number), PRESETS[preset])
        for move in solve(position).line:
            if position.remaining.bit_count() <= 20:
                check(position)
                checked += 1
            position = position.play(move)


@pytest.mark.parametrize("preset", PRESETS)
def test_whole_deals_agree_with_the_solver_and_are_no_longer(preset: str) -> None:
    compared = shorter = 0
    for number in range(1, 40):
        position = Position(Deal.from_number(number), PRESETS[preset])
        solution = shortest(position, limit=10_000)
        if solution.winnable is None:
            continue
        assert solution.winnable is decide(position).winnable
        line = solve(position).line
        assert len(solution.line) <= len(line)
        shorter += len(solution.line) < len(line)
        compared += 1
    assert compared > 10
    if PRESETS[preset].passes == 3:  # with one pass few of so few deals can be won
        assert shorter > 0


def test_a_won_position_takes_no_move() -> None:
    position = Position(Deal.from_number(1), Rules(), remaining=1 << 40)
    solution = shortest(position, limit=0)
    assert (solution.verdict, solution.line, solution.positions) == (Verdict.WINNABLE, (), 0)


# -- limits -----------------------------------------------------------------------------------


def test_a_limit_is_kept_to_the_position() -> None:
    needed = shortest(DEEP).positions
    assert needed > 1_000
    for limit in (0, 1, CHUNK, CHUNK + 1, needed - 1):
        solution = shortest(DEEP, limit=limit)
        assert (solution.verdict, solution.reason) == (Verdict.UNDECIDED, Reason.LIMIT)
        assert solution.positions == limit
    assert shortest(DEEP, limit=needed).winnable is not None


def test_told_to_stop_it_stops() -> None:
    solution = shortest(DEEP, should_stop=lambda: True)
    assert (solution.verdict, solution.reason) == (Verdict.UNDECIDED, Reason.STOPPED)
    assert solution.positions == 0


def test_without_memory_it_says_so() -> None:
    solution = shortest(DEEP, memory=1 << 16)
    assert (solution.verdict, solution.reason) == (Verdict.UNDECIDED, Reason.MEMORY)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"limit": -1}, "0 or more positions, not -1"), ({"memory": 9}, "65536 bytes, not 9")],
)
def test_nonsense_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        shortest(DEEP, **arguments)


def test_a_pyramid_that_play_cannot_leave_is_refused() -> None:
    hollow = Position(Deal.from_number(1), Rules(), remaining=0b110)
    with pytest.raises(SolverError, match="no play leaves a pyramid like that"):
        shortest(hollow)


# -- compiled and interpreted -----------------------------------------------------------------


def interpreted(name: str, **names: Any) -> ModuleType:
    """A module's source as plain Python, under another name and with other things in it."""
    path = SOURCE.with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"engine.{name}_interpreted", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_both_look_at_the_same_positions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "engine._search", interpreted("_search"))
    plain = interpreted("_shortest")
    rng = Random(9)
    for i in range(96):
        position = random_position(rng, ALL_RULES[i % 32], pyramid=14, stock=12)
        found = []
        for module in (engine._shortest, plain):
            rules = position.rules
            search = module.ShortestSearch(
                tuple(card.rank for card in position.deal.cards),
                position.remaining,
                position.waste_end - 28,
                position.redeals_left,
                deck_goal=rules.goal is Goal.DECK,
                stock_playable=rules.stock_playable,
                overlap=rules.overlap,
                max_nodes=50_000,
            )
            state = search.run(0)
            while state == 0:
                state = search.run(100)
            line = (search.cost(), search.removals()) if state == 1 else None
            found.append((state, search.positions, line))
        assert found[0] == found[1], str(position)
