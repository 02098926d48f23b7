"""Win rates: every deal counted once, interrupted or not, and what follows from the counts."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.deal import LAST_DEAL, Deal
from engine.position import Position
from engine.rules import PRESETS, Rules
from engine.solver import solve
from engine.winrate import (
    PORTION,
    Count,
    WinRateError,
    count_deals,
    default_work_file,
    win_rates,
)

COLLECTION = PRESETS["collection"]
CARDS4 = PRESETS["cards4"]


def count(rules: Rules, first: int, size: int) -> Count:
    (counted,) = count_deals((str(rules),), first, size)
    return counted


def win_rate(rules: Rules, deals: int, **options: Any) -> Count:
    (counted,) = win_rates([rules], deals, **options)
    return counted


def test_what_is_counted_is_what_the_solver_says() -> None:
    solutions = [solve(Position(Deal.from_number(n), COLLECTION)) for n in range(11, 41)]
    counted = count(COLLECTION, 11, 30)
    assert counted == Count(
        30,
        sum(solution.winnable is True for solution in solutions),
        0,
        sum(solution.positions for solution in solutions),
        max(solution.positions for solution in solutions),
    )
    assert 0 < counted.won < 30


@pytest.mark.parametrize("workers", [1, 2])
def test_every_deal_of_the_range_is_counted(tmp_path: Path, workers: int) -> None:
    deals = PORTION * 2 + 17
    counted = win_rate(CARDS4, deals, work=tmp_path / "work", first=5, workers=workers)
    assert counted == count(CARDS4, 5, deals)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_run_goes_on_and_counts_nothing_twice(tmp_path: Path) -> None:
    work = tmp_path / "work"
    told: list[int] = []

    def interrupt(totals: tuple[Count, ...]) -> None:
        told.append(totals[0].deals)
        if totals[0].deals == PORTION:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        win_rate(COLLECTION, PORTION * 2 + 3, work=work, progress=interrupt)
    assert told == [0, PORTION]
    # What was counted is not looked at again, which a false number shows.
    with closing(sqlite3.connect(work)) as connection:
        connection.execute("UPDATE portions SET won = 0")
        connection.commit()
    resumed: list[int] = []
    counted = win_rate(
        COLLECTION,
        PORTION * 2 + 3,
        work=work,
        progress=lambda totals: resumed.append(totals[0].deals),
    )
    assert resumed == [PORTION, PORTION * 2, PORTION * 2 + 3]
    assert counted.won == count(COLLECTION, PORTION + 1, PORTION + 3).won


def test_a_last_portion_that_was_short_is_counted_anew_in_a_longer_run(tmp_path: Path) -> None:
    work = tmp_path / "work"

    def interrupt(totals: tuple[Count, ...]) -> None:
        if totals[0].deals == 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        win_rate(COLLECTION, 10, work=work, progress=interrupt)
    counted = win_rate(COLLECTION, 20, work=work)
    assert counted == count(COLLECTION, 1, 20)


def test_results_of_another_solver_are_not_mixed_in(tmp_path: Path) -> None:
    work = tmp_path / "work"

    def interrupt(totals: tuple[Count, ...]) -> None:
        if totals[0].deals:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        win_rate(COLLECTION, 12, work=work, progress=interrupt)
    with closing(sqlite3.connect(work)) as connection:
        connection.execute("UPDATE portions SET won = 99")
        connection.execute("UPDATE run SET solver = 'another'")
        connection.commit()
    assert win_rate(COLLECTION, 12, work=work) == count(COLLECTION, 1, 12)


def test_the_work_file_of_other_rules_is_refused(tmp_path: Path) -> None:
    work = tmp_path / "work"

    def interrupt(totals: tuple[Count, ...]) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        win_rate(COLLECTION, 12, work=work, progress=interrupt)
    with pytest.raises(WinRateError, match=r"work: is the work file of a run under passes=3"):
        win_rate(CARDS4, 12, work=work)
    names = {default_work_file([rules], first) for rules in PRESETS.values() for first in (1, 2)}
    assert len(names) == 12


def test_a_work_file_that_is_none_is_refused_by_name(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.write_bytes(b"something else" * 100)
    with pytest.raises(WinRateError, match="work: the work file cannot be used"):
        win_rate(COLLECTION, 1, work=work)


def test_deal_numbers_end(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="deal numbers end at 4294967295"):
        win_rate(COLLECTION, 2, work=tmp_path / "work", first=LAST_DEAL)
    assert win_rate(COLLECTION, 1, work=tmp_path / "work", first=LAST_DEAL).deals == 1


# -- several rules at once --------------------------------------------------------------------

SEVERAL = [
    Rules.parse(text)
    for text in (
        "passes=unlimited",
        "passes=unlimited,stock_playable=yes",
        "overlap",
        "relaxed",
        "classic,overlap=yes",
        "classic",
        "cards4",
        "three-pass",
        "collection",
    )
]


def test_rules_counted_together_are_counted_as_if_alone(tmp_path: Path) -> None:
    together = win_rates(SEVERAL, 120, work=tmp_path / "work", workers=2)
    alone = [count(rules, 1, 120) for rules in SEVERAL]
    assert [counted.won for counted in together] == [counted.won for counted in alone]
    assert [counted.deals for counted in together] == [120] * len(SEVERAL)
    assert together[0] == alone[0]
    # Of so many verdicts, so few had to be searched for.
    assert [counted.implied for counted in alone] == [0] * len(SEVERAL)
    assert sum(counted.implied for counted in together) > 120 * len(SEVERAL) / 2
    assert sum(counted.positions for counted in together) < sum(
        counted.positions for counted in alone
    )


def test_an_interrupted_count_of_several_rules_goes_on(tmp_path: Path) -> None:
    work = tmp_path / "work"

    def interrupt(totals: tuple[Count, ...]) -> None:
        if totals[0].deals:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        win_rates(SEVERAL[-2:], PORTION + 5, work=work, progress=interrupt)
    told: list[int] = []
    counted = win_rates(
        SEVERAL[-2:], PORTION + 5, work=work, progress=lambda totals: told.append(totals[1].deals)
    )
    assert told == [PORTION, PORTION + 5]
    assert counted == count_deals(tuple(map(str, SEVERAL[-2:])), 1, PORTION + 5)


# -- what follows -----------------------------------------------------------------------------


def test_the_interval_is_wilsons() -> None:
    low, high = Count(deals=100, won=10).interval
    assert (round(low, 4), round(high, 4)) == (0.0552, 0.1744)  # a textbook value
    assert Count(deals=50, won=0).interval[0] == 0
    assert Count(deals=50, won=50).interval[1] == pytest.approx(1)


@given(st.integers(1, 10**9), st.data())
def test_the_interval_holds_the_rate_and_undecided_deals_widen_it(
    deals: int, data: st.DataObject
) -> None:
    won = data.draw(st.integers(0, deals))
    undecided = data.draw(st.integers(0, deals - won))
    counted = Count(deals, won, undecided)
    low, high = counted.interval
    assert 0 <= low <= counted.rate + 1e-12
    assert counted.rate - 1e-12 <= high <= 1
    sure = replace(counted, undecided=0)
    assert sure.interval[0] == low
    assert sure.interval[1] <= high


def test_the_standard_error() -> None:
    assert Count(deals=10_000, won=5_000).standard_error == pytest.approx(0.005)
    assert Count(deals=10_000, won=0).standard_error == 0


def test_counts_add_up() -> None:
    assert Count(1, 1, 0, 5, 5) + Count(2, 0, 1, 9, 8) == Count(3, 1, 1, 14, 8)
