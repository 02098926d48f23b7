"""The bench: what it counts is true, whatever the times are."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from engine import bench
from engine._search import COMPILED
from engine.bench import c_ratio, deal_times, hint_times, interpreted_ratio, pool_times
from engine.deal import Deal
from engine.position import Position
from engine.rules import PRESETS, Rules
from engine.solver import decide


def test_deals_are_counted_as_the_solver_does() -> None:
    row = deal_times(PRESETS["relaxed"], 20)
    solutions = [decide(Position(Deal.from_number(n), PRESETS["relaxed"])) for n in range(1, 21)]
    assert row["positions"] == sum(solution.positions for solution in solutions)
    assert row["worst"] == max(solution.positions for solution in solutions)
    assert row["winnable"] == sum(solution.winnable is True for solution in solutions)
    assert row["undecided"] == 0
    assert 0 < row["ms_median"] <= row["ms_p99"] <= row["ms_worst"]
    assert row["ms_per_deal"] <= row["ms_worst"]


def test_undecided_deals_are_told() -> None:
    assert deal_times(PRESETS["relaxed"], 20, limit=1)["undecided"] > 0


def test_hints_and_draws() -> None:
    row = hint_times("collection", 5)
    assert row["hints"] == 5
    assert 0 < row["ms_median"] <= row["ms_p99"] <= row["ms_worst"]
    row = pool_times(3)
    assert row["draws"] == 3 * len(PRESETS)
    assert 0 < row["ms_median"] <= row["ms_p99"]


@pytest.mark.skipif(not COMPILED, reason="there is only the interpreted loop")
def test_the_compiled_loop_is_a_different_one() -> None:
    ratio = interpreted_ratio(Rules(passes=3), 3)
    assert ratio is not None
    # Tens of times in truth: this is no measurement, it only shows that two things were compared.
    assert ratio > 3


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no compiler")
def test_plain_c_does_the_same_work() -> None:
    """The two must find the same number of keys, which is checked on the way."""
    ratio = c_ratio(20_000)
    assert ratio is not None
    assert ratio > 0


def test_without_a_compiler_there_is_no_such_ratio(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert c_ratio(1) is None
    broken = tmp_path / "gcc"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    assert c_ratio(1) is None
    assert bench.BASELINE.exists()
