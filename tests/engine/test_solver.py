"""The solver: against the oracle, from any position, within its limit, and told to stop."""

from __future__ import annotations

import sys
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine._search import COMPILED, OUT_OF_MEMORY, RUNNING, Search
from engine.deal import Deal
from engine.game import Game
from engine.position import DRAW, REDEAL, IllegalMoveError, Move, Outcome, Position
from engine.rules import PRESETS, Goal, Rules
from engine.solver import (
    CHUNK,
    Reason,
    SolverError,
    Verdict,
    min_passes,
    ordinary_line,
    solve,
)
from tests.engine.oracle import ALL_RULES, is_winnable, random_position
from tests.engine.test_position import deal_of


def check_against_the_oracle(position: Position) -> bool:
    """Compare verdicts, replay the line; return whether the position is winnable."""
    solution = solve(position)
    expected = is_winnable(position)
    assert solution.winnable == expected, str(position)
    assert solution.reason is None
    if expected:
        for move in solution.line:
            position = position.play(move)
        assert position.outcome is Outcome.WON
    else:
        assert solution.line == ()
    return expected


# -- truth ------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ALL_RULES, ids=str)
def test_small_positions_against_the_oracle(rules: Rules) -> None:
    rng = Random(str(rules))
    won = 0
    for sizes in ((8, 5), (12, 10)):
        for _ in range(40):
            pyramid = rng.randint(2, sizes[0])
            stock = rng.randint(1, sizes[1])
            position = random_position(rng, rules, pyramid=pyramid, stock=stock)
            won += check_against_the_oracle(position)
    assert 0 < won < 80  # a test that only ever sees one verdict proves little


@settings(deadline=None, max_examples=150)
@given(st.randoms(use_true_random=False), st.sampled_from(ALL_RULES), st.data())
def test_any_small_position_against_the_oracle(
    rng: Random, rules: Rules, data: st.DataObject
) -> None:
    pyramid = data.draw(st.integers(1, 10))
    stock = data.draw(st.integers(1, 9))
    check_against_the_oracle(random_position(rng, rules, pyramid=pyramid, stock=stock))


@pytest.mark.slow
def test_many_small_positions_against_the_oracle() -> None:
    rng = Random(2024)
    won = sum(
        check_against_the_oracle(
            random_position(
                rng, ALL_RULES[i % 32], pyramid=rng.randint(2, 13), stock=rng.randint(1, 11)
            )
        )
        for i in range(40_000)
    )
    assert 8_000 < won < 24_000


@pytest.mark.parametrize("preset", PRESETS)
def test_late_positions_of_real_games_against_the_oracle(preset: str) -> None:
    """Play a winning line, stray from it near the end, and ask again at every step."""
    rng = Random(preset)
    checked = 0
    number = 0
    while checked < 12:
        number += 1
        position = Position(Deal.from_number(number), PRESETS[preset])
        solution = solve(position, limit=3000)
        if solution.verdict is not Verdict.WINNABLE:
            continue
        for move in solution.line:
            if position.remaining.bit_count() <= 22:
                check_against_the_oracle(position)
                stray = rng.choice(position.legal_moves)
                check_against_the_oracle(position.play(stray))
                checked += 1
            position = position.play(move)


# -- lines ------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
def test_the_line_replays_through_a_game_and_stays_winnable_all_the_way(preset: str) -> None:
    deals = (Deal.from_number(number) for number in range(1, 200))
    deal, line = next(
        (deal, solution.line)
        for deal in deals
        if (solution := solve(Position(deal, PRESETS[preset]), limit=3000)).winnable
    )
    game = Game(deal, PRESETS[preset])
    for move in line[:-1]:
        game.play(move)
        assert game.outcome is Outcome.RUNNING
    game.play(line[-1])
    assert game.outcome is Outcome.WON
    for position in game.positions[-6:]:
        assert solve(position).verdict is Verdict.WINNABLE


def test_a_won_position_has_an_empty_line() -> None:
    position = Position(Deal.from_number(1), Rules(), remaining=1 << 40)
    solution = solve(position, limit=0)
    assert (solution.verdict, solution.line, solution.positions) == (Verdict.WINNABLE, (), 0)


def test_kings_alone_are_won_by_taking_them() -> None:
    deal = deal_of("KC 2C KH " + "-- " * 25 + "KD KS")
    left = Position(deal, PRESETS["classic"], remaining=1 | 1 << 28 | 1 << 29, waste_end=29)
    assert [str(move) for move in solve(left).line] == ["KC", "KD", "KS"]


def test_stock_kings_do_not_hinder() -> None:
    """A King between two stock cards that make 13 is no obstacle: it is drawn and taken."""
    deal = deal_of("-- " * 28 + "7C KD 6C")
    rules = Rules(passes=1, goal=Goal.DECK, stock_playable=True)
    left = Position(deal, rules, remaining=0b111 << 28)
    assert [str(move) for move in solve(left).line] == ["D", "KD", "7C+6C"]


def test_a_position_with_redeals_behind_it() -> None:
    """7C is under 2C on the waste: this pass cannot play it, the next one can, if there is one."""
    deal = deal_of("6C " + "-- " * 27 + "7C 2C")
    mask = 1 | 0b11 << 28
    for number, expected in ((1, True), (2, True), (3, False)):
        position = Position(deal, Rules(passes=3), mask, waste_end=30, pass_number=number)
        assert solve(position).winnable is expected
    line = solve(Position(deal, Rules(passes=None), mask, waste_end=30, pass_number=99)).line
    assert line == (REDEAL, DRAW, Move.parse("7C+6C"))


def test_there_is_no_limit_on_the_depth_of_the_search() -> None:
    """The search keeps its own stack."""
    depth = 0
    frame = sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back  # type: ignore[assignment]
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + 60)
    try:
        assert solve(Position(Deal.from_number(5), PRESETS["collection"])).winnable
    finally:
        sys.setrecursionlimit(before)


# -- limits -----------------------------------------------------------------------------------

# Takes more than 2,000 positions to decide, and cannot be won.
HARD = Position(Deal.from_number(14), PRESETS["three-pass"])

# Takes more than 20,000, likewise.
LONG = Position(Deal.from_number(7), PRESETS["three-pass"])


def test_a_limit_is_kept_to_the_position() -> None:
    needed = solve(HARD).positions
    assert needed > 2_000
    for limit in (0, 1, CHUNK, CHUNK + 1, needed - 1):
        solution = solve(HARD, limit=limit)
        assert solution.verdict is Verdict.UNDECIDED
        assert solution.winnable is None
        assert solution.reason is Reason.LIMIT
        assert solution.positions == limit
    assert solve(HARD, limit=needed).verdict is not Verdict.UNDECIDED


def test_a_negative_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="0 or more positions, not -1"):
        solve(HARD, limit=-1)


def test_it_asks_often_whether_to_stop_and_then_does() -> None:
    asked = 0

    def should_stop() -> bool:
        nonlocal asked
        asked += 1
        return asked > 10

    solution = solve(LONG, should_stop=should_stop)
    assert solution.verdict is Verdict.UNDECIDED
    assert solution.reason is Reason.STOPPED
    assert asked == 11
    assert solution.positions == 10 * CHUNK
    # Interpreted, a position takes 10 to 20 microseconds, compiled less than half of one, and
    # several times that on a small machine.
    assert (2_000 if COMPILED else 100) == CHUNK


def test_the_answer_is_the_same_in_portions_and_at_once() -> None:
    whole, portions = search_of(HARD), search_of(HARD)
    state = RUNNING
    while state == RUNNING:
        state = portions.run(7)
    assert state == whole.run(10**9)
    assert portions.positions == whole.positions
    assert portions.line() == whole.line()
    assert whole.run(100) == state  # there is nothing left to do


def test_a_full_memo_table_is_no_verdict() -> None:
    search = search_of(HARD, max_slots=1024)
    assert search.run(10**9) == OUT_OF_MEMORY
    assert search.positions < 1024


def search_of(position: Position, *, max_slots: int = 1 << 24) -> Search:
    rules = position.rules
    return Search(
        tuple(card.rank for card in position.deal.cards),
        position.remaining,
        position.waste_end - 28,
        position.redeals_left,
        deck_goal=rules.goal is Goal.DECK,
        stock_playable=rules.stock_playable,
        overlap=rules.overlap,
        max_slots=max_slots,
    )


def test_a_pyramid_that_play_cannot_leave_is_refused() -> None:
    hollow = Position(Deal.from_number(1), Rules(), remaining=0b110)
    with pytest.raises(SolverError, match="no play leaves a pyramid like that") as caught:
        solve(hollow)
    assert "waste: empty" in str(caught.value)


@pytest.mark.parametrize("passes", [2, None])
def test_removals_that_do_not_win_are_no_line(passes: int | None) -> None:
    deal = deal_of("6C " + "-- " * 27 + "7C 2C")
    position = Position(deal, Rules(passes=passes), 1 | 0b10 << 28)
    with pytest.raises(IllegalMoveError):
        ordinary_line(position, [(0, 28)])


# -- passes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [1, 3, 4, 5, 11, 18])
def test_min_passes_is_the_first_number_of_passes_that_wins(number: int) -> None:
    position = Position(Deal.from_number(number), PRESETS["three-pass"])
    found = min_passes(position, limit=60_000)
    verdicts = [
        solve(replace(position, rules=Rules(passes=passes)), limit=60_000).winnable
        for passes in (1, 2, 3, 4, None)
    ]
    assert None not in verdicts
    if found.winnable:
        assert found.passes == 1 + [*verdicts[:4], True].index(True)
        end = replace(position, rules=Rules(passes=found.passes))
        for move in found.line:
            end = end.play(move)
        assert end.outcome is Outcome.WON
        assert end.pass_number == found.passes
    else:
        assert found.verdict is Verdict.UNWINNABLE
        assert found.passes is None
        assert not any(verdicts)


@settings(deadline=None, max_examples=40)
@given(st.randoms(use_true_random=False), st.sampled_from([r for r in ALL_RULES if r.passes == 3]))
def test_min_passes_against_the_oracle(rng: Random, rules: Rules) -> None:
    position = random_position(rng, rules, pyramid=6, stock=6)
    found = min_passes(position)
    assert found.winnable == is_winnable(replace(position, rules=replace(rules, passes=None)))
    if found.passes is not None:
        for passes in range(position.pass_number, found.passes + 1):
            limited = replace(position, rules=replace(rules, passes=passes))
            assert is_winnable(limited) == (passes == found.passes)


def test_min_passes_within_a_limit_or_told_to_stop() -> None:
    unlimited = solve(replace(HARD, rules=Rules(passes=None))).positions
    for limit in (0, unlimited - 1):
        found = min_passes(HARD, limit=limit)
        assert (found.verdict, found.reason) == (Verdict.UNDECIDED, Reason.LIMIT)
        assert found.positions <= limit
    found = min_passes(HARD, should_stop=lambda: True)
    assert (found.verdict, found.reason, found.passes) == (
        Verdict.UNDECIDED,
        Reason.STOPPED,
        None,
    )
