"""How soon the screen answers, counted in frames and not in time, which tests do not judge."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.game import Game
from kiosk import bench_storage
from kiosk.bench_answers import MOST, measure_answers
from kiosk.storage import Storage
from tests.kiosk.conftest import Stage


def test_touch_new_deal_and_language_are_seen_in_the_next_frames(stage: Stage) -> None:
    answers = measure_answers(rounds=4)
    assert set(answers) == {"touch", "deal", "language"}
    for name, answer in answers.items():
        assert 1 <= answer["frames"] <= MOST, name


def test_an_answer_that_is_never_seen_is_no_answer(stage: Stage) -> None:
    from kiosk.bench_answers import _answer

    with pytest.raises(RuntimeError, match="nothing changed"):
        _answer(lambda: None)


def test_the_bench_of_the_storage_plays_and_keeps_every_move(tmp_path: Path) -> None:
    figures = bench_storage.measure(tmp_path, 30)
    assert figures["moves"] == 30
    assert 0 < figures["safe_ms"] <= figures["safe_99_ms"] <= figures["safe_longest_ms"]
    assert 0 <= figures["safe_before_the_animation_ends"] <= 1
    storage = Storage(tmp_path)
    assert storage.saved is not None
    assert len(Game.load(storage.saved.game).moves) > 20
    storage.close()
