from __future__ import annotations

import queue

import pytest

from engine.deal import Deal
from engine.game import Game
from engine.position import DRAW, Outcome, Position
from engine.rules import PRESETS
from kiosk.adviser import ThreadAdviser
from kiosk.commands import AdviceReady
from tests.kiosk.fakes import WON_BY_HAND

RULES = PRESETS["three-pass"]
WON = Position(Deal.from_number(WON_BY_HAND["three-pass"][0]), RULES)


def test_answers_come_with_their_number_and_a_line_that_wins() -> None:
    answers: queue.Queue[AdviceReady] = queue.Queue()
    adviser = ThreadAdviser(answers.put)
    game = Game(WON.deal, RULES)
    game.play(DRAW)
    adviser.ask(5, game.positions, 0)
    answer = answers.get(timeout=60)
    adviser.close()
    assert answer.question == 5
    assert answer.advice is not None
    assert answer.advice.winnable
    for move in answer.advice.line:
        game.play(move)
    assert game.outcome is Outcome.WON


def test_only_the_last_question_is_answered() -> None:
    answers: queue.Queue[AdviceReady] = queue.Queue()
    adviser = ThreadAdviser(answers.put)
    for question in range(20):
        adviser.ask(question, (WON,), None)
    numbers = [answers.get(timeout=60).question]
    while numbers[-1] != 19:
        numbers.append(answers.get(timeout=60).question)
    assert numbers == sorted(numbers)
    adviser.cancel()
    adviser.close()
    assert answers.empty()


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("for a test"), OSError(24, "files")])
def test_whatever_the_solver_raises_the_thread_lives(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_args: object, **_options: object) -> None:
        raise error

    answers: queue.Queue[AdviceReady] = queue.Queue()
    adviser = ThreadAdviser(answers.put)
    with monkeypatch.context() as patch:
        patch.setattr("kiosk.adviser.advise", fail)
        adviser.ask(1, (WON,), None)
        assert answers.get(timeout=60) == AdviceReady(1, None)
    adviser.ask(2, (WON,), None)
    assert answers.get(timeout=60).advice is not None
    adviser.close()


def test_a_failing_solver_answers_with_nothing_and_the_thread_lives() -> None:
    answers: queue.Queue[AdviceReady] = queue.Queue()
    adviser = ThreadAdviser(answers.put)
    adviser.ask(1, (), None)  # no game has an empty history: advise raises
    assert answers.get(timeout=60) == AdviceReady(1, None)
    adviser.ask(2, (WON,), None)
    answer = answers.get(timeout=60)
    adviser.close()
    assert answer.question == 2
    assert answer.advice is not None
