"""The batch that draws the cards: what it shows, in which order, and when it stays quiet."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kiosk.conftest import Stage

pytest.importorskip("kivy")
pytestmark = pytest.mark.pixels

RED, GREEN, BLUE = (255, 0, 0), (0, 255, 0), (0, 0, 255)
GROUND = (0, 0, 0)


class Board:
    """A batch on the stage, with plain textures to draw."""

    def __init__(self, stage: Stage) -> None:
        from kivy.uix.widget import Widget

        from kiosk.quads import QuadBatch

        self.stage = stage
        self.batch = QuadBatch()
        widget = Widget()
        widget.canvas.add(self.batch.canvas)
        stage.window.add_widget(widget)

    def texture(self, colour: tuple[int, int, int]) -> Any:
        from kivy.graphics.texture import Texture

        texture = Texture.create(size=(8, 8), colorfmt="rgba")
        texture.blit_buffer(bytes((*colour, 255)) * 64, colorfmt="rgba", bufferfmt="ubyte")
        return texture

    def pixel(self, x: int, y: int) -> tuple[int, ...]:
        from kivy.graphics.opengl import GL_RGBA, GL_UNSIGNED_BYTE, glReadPixels

        self.stage.frame()
        return tuple(glReadPixels(x, y, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE)[:3])


@pytest.fixture
def board(stage: Stage) -> Board:
    return Board(stage)


def test_later_quads_lie_over_earlier_ones_whatever_their_textures(board: Board) -> None:
    from kiosk.quads import Quad

    red, green = board.texture(RED), board.texture(GREEN)
    board.batch.show(
        [Quad(red, 10, 10, 50, 50), Quad(green, 30, 10, 50, 50), Quad(red, 60, 10, 50, 50)]
    )
    assert [board.pixel(x, 30) for x in (20, 45, 70, 90, 130)] == [RED, GREEN, RED, RED, GROUND]


def test_a_colour_multiplies_the_picture(board: Board) -> None:
    from kiosk.quads import Quad

    board.batch.show([Quad(board.texture((255, 255, 255)), 10, 10, 50, 50, (0, 0, 1, 1))])
    assert board.pixel(30, 30) == BLUE


def test_a_hollow_quad_is_a_frame(board: Board) -> None:
    from kiosk.quads import Quad

    board.batch.show([Quad(board.texture(RED), 10, 20, 100, 50, hollow=(0.1, 0.2))])
    on_the_frame = [(12, 45), (107, 45), (60, 22), (60, 67), (12, 22), (107, 67)]
    assert {board.pixel(*point) for point in on_the_frame} == {RED}
    assert {board.pixel(*point) for point in [(60, 45), (22, 32), (98, 58)]} == {GROUND}


def test_what_is_shown_again_is_not_drawn_again(board: Board) -> None:
    from kiosk.quads import Quad

    red = board.texture(RED)
    board.batch.show([Quad(red, 10, 10, 50, 50)])
    board.stage.wait(0.1)
    board.batch.show([Quad(red, 10, 10, 50, 50)])
    assert board.stage.drawn_frames(0.2) == 0
    board.batch.show([Quad(red, 11, 10, 50, 50)])
    assert board.stage.drawn_frames(0.2) == 1


def test_fewer_quads_leave_nothing_behind(board: Board) -> None:
    from kiosk.quads import Quad

    red, green = board.texture(RED), board.texture(GREEN)
    board.batch.show([Quad(red, 10, 10, 50, 50), Quad(green, 70, 10, 50, 50)])
    assert board.pixel(90, 30) == GREEN
    board.batch.show([Quad(red, 10, 10, 50, 50)])
    assert (board.pixel(30, 30), board.pixel(90, 30)) == (RED, GROUND)
    board.batch.show([])
    assert board.pixel(30, 30) == GROUND


def test_four_full_quads_take_the_place_of_a_hollow_one(board: Board) -> None:
    # Both are eight triangles.
    from kiosk.quads import Quad

    red = board.texture(RED)
    board.batch.show([Quad(red, 10, 20, 100, 50, hollow=(0.1, 0.2))])
    assert board.pixel(60, 45) == GROUND
    board.batch.show([Quad(red, 10 + 30 * i, 20, 20, 50) for i in range(4)])
    assert [board.pixel(x, 45) for x in (15, 35, 45, 65, 75, 95, 105, 125)] == [RED, GROUND] * 4
    board.batch.show([Quad(red, 10, 20, 100, 50, hollow=(0.1, 0.2))])
    assert [board.pixel(x, 45) for x in (12, 60, 105, 125)] == [RED, GROUND, RED, GROUND]
