"""Building a pool: the same content whatever the workers, and on from where it was interrupted."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from engine.deal import Deal
from engine.difficulty import CASUAL_GAMES, Grade, casual_wins, grade_of
from engine.pool import Pool, PoolError, encode_line
from engine.pool_build import build, casual_result, winning_line
from engine.position import Position
from engine.rules import PRESETS
from engine.solver import solve

# Few, and quick to solve.
WANTED = {"collection": 2, "three-pass": 1}


def test_workers_do_not_change_the_content(tmp_path: Path) -> None:
    alone = build(tmp_path / "alone.sqlite", WANTED, portion=3)
    assert build(tmp_path / "many.sqlite", WANTED, workers=2, portion=1) == alone
    with Pool.open(tmp_path / "many.sqlite") as pool:
        assert pool.digest == alone
        for preset, count in WANTED.items():
            assert [pool.count(preset, grade) for grade in Grade] == [count] * 3
        assert len(list(pool.verify())) == 9
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["alone.sqlite", "many.sqlite"]


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    tried: list[int] = []

    def interrupt(preset: str, found: int, wanted: int, done: int) -> None:
        tried.append(done)
        if done == 2:
            raise KeyboardInterrupt

    path = tmp_path / "pool.sqlite"
    with pytest.raises(KeyboardInterrupt):
        build(path, {"collection": 2}, portion=2, progress=interrupt)
    assert not path.exists()
    resumed: list[int] = []
    digest = build(
        path,
        {"collection": 2},
        portion=2,
        progress=lambda _preset, _found, _wanted, done: resumed.append(done),
    )
    assert tried == [0, 2]
    assert resumed[0] == 2
    assert digest == build(tmp_path / "whole.sqlite", {"collection": 2}, portion=1)


def test_results_of_another_program_are_not_mixed_in(tmp_path: Path) -> None:
    """The work file remembers which solver and which casual player it is of."""

    def interrupt(preset: str, found: int, wanted: int, done: int) -> None:
        if done:
            raise KeyboardInterrupt

    path = tmp_path / "pool.sqlite"
    with pytest.raises(KeyboardInterrupt):
        build(path, {"collection": 2}, portion=2, progress=interrupt)
    work = tmp_path / "pool.sqlite.work"
    assert work.exists()
    with closing(sqlite3.connect(work)) as connection:
        connection.execute("UPDATE program SET fingerprint = 'of another one'")
        connection.execute("UPDATE tried SET wins = 7")
        connection.commit()
    digest = build(path, {"collection": 2}, portion=2)
    assert digest == build(tmp_path / "whole.sqlite", {"collection": 2}, portion=1)


def test_the_deals_are_the_first_winnable_ones_of_each_grade(tmp_path: Path) -> None:
    path = tmp_path / "pool.sqlite"
    build(path, {"collection": 2}, portion=3)
    with Pool.open(path) as pool:
        last = pool.scanned("collection")
        positions = [
            Position(Deal.from_number(number), PRESETS["collection"])
            for number in range(1, last + 1)
        ]
        winnable = [position for position in positions if solve(position).winnable]
        assert pool.winnable("collection") == len(winnable)
        for grade in Grade:
            expected = [
                number
                for position in winnable
                if (number := position.deal.number) is not None
                and grade_of(casual_wins(position.deal, position.rules, seed=number)) is grade
            ]
            assert list(pool.numbers("collection", grade)) == expected[:2]


def test_the_shipped_pool_is_what_the_builder_builds(tmp_path: Path) -> None:
    """For the first deals of each preset; all of them take minutes."""
    with Pool.open() as pool:
        for preset in PRESETS:
            numbers = pool.numbers(preset)
            for number in range(1, 30):
                assert (casual_result(preset, number) is not None) == (number in numbers)
            for index in (0, 1, 2):
                deal = pool.deal(preset, index)
                assert winning_line(preset, deal.number) == encode_line(deal.deal, deal.line)
                wins = casual_result(preset, deal.number)
                assert wins is not None
                assert deal.casual_rate == wins / CASUAL_GAMES
                assert deal.grade is grade_of(wins)


def test_a_pool_that_is_there_is_replaced_only_when_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "pool.sqlite"
    old = build(path, {"three-pass": 1})

    def interrupt(preset: str, found: int, wanted: int, done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(path, {"three-pass": 2}, portion=2, progress=interrupt)
    with Pool.open(path) as pool:
        assert pool.digest == old
    assert build(path, {"three-pass": 2}) != old


def test_a_work_file_that_is_none_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "pool.sqlite.work").write_bytes(b"something else" * 100)
    with pytest.raises(PoolError, match=r"pool\.sqlite\.work: the work file cannot be used"):
        build(tmp_path / "pool.sqlite", {"three-pass": 1})


def test_nowhere_to_write_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(PoolError, match=r"none/pool\.sqlite\.work: the work file cannot be used"):
        build(tmp_path / "none" / "pool.sqlite", {"three-pass": 1})
