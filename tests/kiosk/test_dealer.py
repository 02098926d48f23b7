from __future__ import annotations

import itertools
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from datetime import date
from pathlib import Path
from random import Random

import pytest

from engine.difficulty import Grade
from engine.game import Game
from engine.pool import DEFAULT_PATH, Pool
from engine.position import Outcome
from engine.rules import PRESETS
from kiosk import service_wording
from kiosk.dealer import DealtGame, PoolDealer
from kiosk.service import Facts, PoolFacts
from kiosk.texts import Texts


def replay(dealt: DealtGame) -> Outcome:
    game = Game(dealt.deal, dealt.rules)
    for move in dealt.line:
        game.play(move)
    return game.outcome


@pytest.mark.parametrize("preset", PRESETS)
def test_every_deal_comes_with_a_line_that_wins(preset: str) -> None:
    dealer = PoolDealer(Random(1))
    assert dealer.problems == []
    for dealt in [dealer.deal(preset) for _ in range(10)] + [dealer.demo(preset)]:
        assert replay(dealt) is Outcome.WON
        assert dealt.rules == PRESETS[preset]
        assert dealt.preset == preset
    dealer.close()


def test_no_deal_comes_twice_before_all_have_come() -> None:
    dealer = PoolDealer(Random(2))
    numbers = [dealer.deal("three-pass").deal.number for _ in range(200)]
    assert len(set(numbers)) == 200
    dealer.close()


def test_demos_do_not_use_up_deals_and_never_repeat_at_once() -> None:
    dealer, twin = PoolDealer(Random(3)), PoolDealer(Random(3))
    shown = [dealer.demo("cards4").deal.number for _ in range(50)]
    assert all(a != b for a, b in itertools.pairwise(shown))
    assert dealer._seen == twin._seen == {}
    dealer.close()
    twin.close()


def test_without_a_sound_pool_deals_are_solved_on_the_spot(tmp_path: Path) -> None:
    bad = tmp_path / "pool.sqlite"
    bad.write_bytes(b"junk" * 1000)
    dealer = PoolDealer(Random(4), bad)
    assert str(bad) in dealer.problems[0]
    for _ in range(2):
        assert replay(dealer.deal("three-pass")) is Outcome.WON
    assert bad.read_bytes() == b"junk" * 1000


def test_a_pool_that_was_altered_is_given_up_once_it_has_been_checked(tmp_path: Path) -> None:
    altered = tmp_path / "pool.sqlite"
    shutil.copy(DEFAULT_PATH, altered)
    db = sqlite3.connect(altered)
    with db:
        db.execute("UPDATE deals SET casual_wins = casual_wins + 1")
    db.close()
    dealer = PoolDealer(Random(5), altered)
    assert dealer.problems == []
    assert replay(dealer.deal("three-pass")) is Outcome.WON
    dealer.check()
    for thread in threading.enumerate():
        if thread.name == "pool check":
            thread.join()
    assert replay(dealer.deal("three-pass")) is Outcome.WON
    assert "digest is wrong" in dealer.problems[0]
    assert dealer.grades("three-pass") == ()


def test_a_sound_pool_stays(tmp_path: Path) -> None:
    dealer = PoolDealer(Random(6))
    dealer.check()
    for thread in threading.enumerate():
        if thread.name == "pool check":
            thread.join()
    assert dealer.deal("classic", Grade.HARD).grade is Grade.HARD
    assert dealer.problems == []
    dealer.close()


def cut(pool: Path) -> None:
    os.truncate(pool, pool.stat().st_size * 2 // 3)


def altered(pool: Path) -> None:
    with closing(sqlite3.connect(pool)) as db, db:
        db.execute("UPDATE deals SET grade = (grade + 1) % 3 WHERE number % 100 = 7")


def newer(pool: Path) -> None:
    with closing(sqlite3.connect(pool)) as db, db:
        db.execute("UPDATE meta SET value = '99' WHERE key = 'version'")


@pytest.mark.parametrize("spoil", [cut, altered, newer, Path.unlink])
def test_a_bad_pool_is_said_in_log_and_service_menu_and_every_deal_is_proven(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, spoil: Callable[[Path], None]
) -> None:
    pool = tmp_path / "pool.sqlite"
    shutil.copy(DEFAULT_PATH, pool)
    spoil(pool)
    dealer = PoolDealer(Random(8), pool)
    dealer.check()
    for thread in threading.enumerate():
        if thread.name == "pool check":
            thread.join()
    facts = dealer.pool_facts
    assert facts.deals == {}
    assert str(pool) in facts.why
    assert [record.getMessage() for record in caplog.records] == [facts.why]
    assert caplog.records[0].levelname == "ERROR"
    shown = dict(service_wording.fact_rows(Texts.load("en"), facts_with(facts)))
    assert shown["Pool of deals"] == "not usable"
    assert "pool.sqlite" in shown["Deals are solved on the spot"]
    number = next(iter(shipped_numbers()))
    assert dealer.find("three-pass", number) is None
    for game in (
        dealer.deal("three-pass", Grade.EASY),
        dealer.demo("three-pass"),
        dealer.daily("three-pass", date(2026, 5, 1)),
    ):
        assert replay(game) is Outcome.WON
        assert game.grade is None


def facts_with(pool: PoolFacts) -> Facts:
    return Facts("1", "a system", 1.0, 2.0, pool, "/var/lib/pyramid-kiosk", 0)


def shipped_numbers() -> tuple[int, ...]:
    with Pool.open(check_digest=False) as pool:
        return pool.numbers("three-pass")
