"""How soon the screen answers, counted in frames and not in time, which tests do not judge; and
that the benches count what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.game import Game
from kiosk import bench_storage
from kiosk.bench_answers import MOST, measure_answers
from kiosk.bench_attract import Meter, ratios_of
from kiosk.storage import Storage
from tests.kiosk.conftest import Stage


@pytest.mark.pixels
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


@pytest.mark.pixels
def test_without_pixels_everything_is_drawn_and_nothing_is_painted(stage: Stage) -> None:
    from kivy.graphics import Color, Rectangle
    from kivy.graphics.opengl import GL_RGBA, GL_UNSIGNED_BYTE, glReadPixels

    from kiosk.bench_pixels import Pixels

    def drawn() -> tuple[int, ...]:
        before = stage.flips
        stage.window.canvas.ask_update()
        stage.frame()
        assert stage.flips == before + 1
        pixels.finish()
        return tuple(bytes(glReadPixels(5, 5, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE)))[:3]

    pixels = Pixels()
    with stage.window.canvas.after:
        red = Color(1, 0, 0)
        square = Rectangle(pos=(0, 0), size=(10, 10))
    try:
        assert drawn() == (255, 0, 0)
        pixels.paint(False)
        assert not pixels.painted
        assert drawn() != (255, 0, 0)
        pixels.paint(True)
        assert drawn() == (255, 0, 0)
    finally:
        pixels.paint(True)
        stage.window.canvas.after.remove(red)
        stage.window.canvas.after.remove(square)


def test_the_meter_adds_up_what_passes_under_each_name() -> None:
    now = [0.0, 0.0]
    meter = Meter((lambda: now[0], lambda: now[1]))

    def pass_(cpu: float, seconds: float, frames: int, name: str | None) -> None:
        now[0] += cpu
        now[1] += seconds
        for _ in range(frames):
            meter.flipped(None)
        meter.note(name)

    pass_(9.0, 9.0, 9, "before it began")
    pass_(0.1, 1.0, 60, "demo")
    pass_(5.0, 7.0, 500, None)
    pass_(0.2, 1.0, 20, "call")
    pass_(0.2, 2.0, 30, "demo")
    assert meter.figures() == {
        "call": {"ms_a_second": 200.0, "frames_a_second": 20.0, "seconds": 1.0},
        "demo": {"ms_a_second": 100.0, "frames_a_second": 30.0, "seconds": 3.0},
    }


def test_scenes_are_compared_with_an_empty_window_drawn_in_the_same_way() -> None:
    def cost(ms: float) -> dict[str, float]:
        return {"ms_a_second": ms}

    empty = {"drawing": cost(100), "drawing_without_pixels": cost(40), "resting": cost(20)}
    scenes = {"demo": cost(500), "demo_without_pixels": cost(60)}
    assert ratios_of(empty, scenes) == {
        "ratios": {"demo": 5.0},
        "ratios_without_pixels": {"demo": 1.5},
    }
