"""How soon the screen answers, counted in frames and not in time, which tests do not judge."""

from __future__ import annotations

import pytest

from kiosk.bench_answers import MOST, measure_answers
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
