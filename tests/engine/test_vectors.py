"""300 deals whose verdicts under eight rule sets are known from elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine._search import COMPILED
from engine.deal import Deal
from engine.position import Outcome, Position
from engine.rules import Rules
from engine.solver import Verdict, solve

VECTORS = Path(__file__).parent / "vectors" / "verdicts.txt"
HEAD, *LINES = VECTORS.read_text(encoding="ascii").splitlines()
RULE_SETS = HEAD.split("\t")[1:]

# These need a position to be looked at again when it is reached earlier than before, which hardly
# any deal does; a search that does not loses them.
LINES_REACHED_AGAIN = ("2C 3C 6H 8H 4H 6C 5C 9H 2D QC TS 5H",)


def check(rule_set: str, lines: list[str]) -> None:
    rules = Rules.parse(rule_set)
    column = 1 + RULE_SETS.index(rule_set)
    for line in lines:
        fields = line.split("\t")
        position = Position(Deal.parse(fields[0]), rules)
        solution = solve(position)
        expected = Verdict.WINNABLE if fields[column] == "1" else Verdict.UNWINNABLE
        assert solution.verdict is expected, fields[0]
        if expected is Verdict.WINNABLE:
            for move in solution.line:
                position = position.play(move)
            assert position.outcome is Outcome.WON


def test_there_are_300_different_deals_and_8_rule_sets() -> None:
    assert len({line.split("\t")[0] for line in LINES}) == 300
    assert len(set(RULE_SETS)) == 8
    assert {len(line.split("\t")) for line in LINES} == {9}


@pytest.mark.parametrize("rule_set", RULE_SETS)
def test_a_sample_of_the_known_verdicts(rule_set: str) -> None:
    picked = LINES[13::17]  # of the samples like it, the one that is decided soonest
    picked += [line for line in LINES if line.startswith(LINES_REACHED_AGAIN)]
    assert len(picked) == 18
    check(rule_set, picked)


@pytest.mark.skipif(not COMPILED, reason="takes minutes interpreted: make vectors")
@pytest.mark.parametrize("rule_set", RULE_SETS)
def test_all_known_verdicts(rule_set: str) -> None:
    check(rule_set, LINES)


@pytest.mark.slow
@pytest.mark.skipif(COMPILED, reason="is done by the test above")
@pytest.mark.parametrize("rule_set", RULE_SETS)
def test_all_known_verdicts_interpreted(rule_set: str) -> None:
    check(rule_set, LINES)
