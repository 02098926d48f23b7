"""The whole application with nobody there: its light, its moving picture, nothing that grows."""

from __future__ import annotations

import gc
import os
import queue
import threading
import tracemalloc
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from kiosk.burnin import STAY, margin
from kiosk.commands import Command, Panel, Touched
from kiosk.layout import Control, Rect
from kiosk.light import Light, LightOptions, NoBacklight
from kiosk.schedule import Schedule, Span
from kiosk.service_commands import OpenService
from kiosk.session import Session
from kiosk.sessiontypes import SessionOptions
from kiosk.showreel import ORDER, SceneKind
from kiosk.statistics import WON, Result, Statistics
from tests.kiosk.conftest import Stage
from tests.kiosk.fakes import FakeAdviser, FakeDealer, service
from tests.kiosk.test_light import Lamp

pytest.importorskip("kivy")

EVENING = datetime(2026, 11, 30, 20, 0)
NIGHT = Schedule(black=(Span.parse("22:00-06:00"),))


class Kiosk:
    """The application on a stage, with a light and a clock on the wall."""

    def __init__(self, stage: Stage, *, attract: bool, backlight: Any = None, **light: Any) -> None:
        from kiosk.app import KioskApp

        self.stage = stage
        self.began = stage.now
        self.wall = EVENING
        statistics = Statistics()
        statistics.add(Result("three-pass", 1, WON, 40, 200.0, 0, 0), EVENING.date())
        self.session = Session(
            FakeDealer(),
            FakeAdviser(),
            SessionOptions(
                start_in_attract=attract,
                attract_after=60 if attract else 0,
                languages=("en", "de", "es", "fr"),
            ),
            now=stage.now,
            statistics=statistics,
            today=lambda: self.now.date(),  # noqa: PLW0108 - the date of each moment
            service=service(),
        )
        self.light = Light(
            backlight or NoBacklight(),
            LightOptions(**light),
            stage.now,
            wall=lambda: self.now,
        )
        inbox: queue.SimpleQueue[Command] = queue.SimpleQueue()
        self.app = KioskApp(
            self.session,
            inbox,
            keep=lambda _saved: None,
            clock=lambda: stage.now,
            light=self.light,
        )
        self.root = self.app.build()
        stage.window.add_widget(self.root)
        stage.wait(0.5)

    @property
    def now(self) -> datetime:
        """What the clock on the wall shows."""
        return self.wall + timedelta(seconds=self.stage.now - self.began)

    def wait(self, seconds: float, step: float = 1.0) -> None:
        for _ in range(round(seconds / step)):
            self.stage.frame(step)

    def until_minute(self, minute: int) -> None:
        """Let the picture lie where it lies in that minute since the start."""
        self.stage.frame(self.began + minute * STAY + 1 - self.stage.now)
        self.wait(0.3, 0.1)

    def close(self) -> None:
        self.app.on_stop()
        self.stage.window.remove_widget(self.root)

    def pixel(self, x: int, y: int) -> tuple[int, ...]:
        from kivy.graphics.opengl import GL_RGBA, GL_UNSIGNED_BYTE, glReadPixels

        self.stage.window.canvas.ask_update()
        self.stage.frame()
        return tuple(bytes(glReadPixels(x, y, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE)))[:3]


@pytest.fixture
def kiosk(stage: Stage) -> Iterator[Any]:
    made: list[Kiosk] = []

    def make(*, attract: bool = False, **options: Any) -> Kiosk:
        made.append(Kiosk(stage, attract=attract, **options))
        return made[-1]

    yield make
    for it in made:
        it.close()


# -- burn-in -------------------------------------------------------------------------------------


def test_touches_follow_the_picture(kiosk: Any, stage: Stage) -> None:
    it = kiosk(dim_after=0)
    rect: Rect = it.app.table.layout.button(Control.MENU)
    shifts = set()
    for minute in range(26):
        it.until_minute(minute)
        dx, dy = it.root.shift
        shifts.add((dx, dy))
        x, y = [(rect.x + 1, rect.y + 1), (rect.right - 2, rect.top - 2)][minute % 2]
        stage.touch(x + dx, y + dy).up()
        assert it.session.panel is Panel.MENU, (minute, dx, dy)
        it.app.send(it.app.panels.sheet.outside)
        assert it.session.panel is Panel.NONE
        stage.touch(rect.x - 2 + dx, rect.y + 1 + dy).up()
        assert it.session.panel is Panel.NONE, "beside it is beside it"
    assert len(shifts) == 25


def test_a_card_is_hit_and_carried_wherever_the_picture_lies(kiosk: Any, stage: Stage) -> None:
    it = kiosk(dim_after=0)
    layout = it.app.table.layout
    it.until_minute(20)
    dx, dy = it.root.shift
    assert max(abs(dx), abs(dy)) == margin(layout)
    x, y = layout.stock.x + 1 + dx, layout.stock.y + 1 + dy
    finger = stage.touch(x, y)
    goal = layout.waste.center
    finger.move(goal[0] + dx, goal[1] + dy)
    finger.up()
    stage.wait(0.5)
    assert it.session.moves_played == 1


@pytest.mark.pixels
def test_the_whole_picture_moves_and_leaves_no_gap(kiosk: Any, stage: Stage) -> None:
    it = kiosk(dim_after=0)
    layout = it.app.table.layout
    points = [(layout.pyramid[21].x + 3 + n, layout.pyramid[21].y + 20) for n in range(0, 30, 3)]
    before = [it.pixel(*point) for point in points]
    assert it.root.shift == (0, 0)
    it.until_minute(17)
    dx, dy = it.root.shift
    assert (dx, dy) != (0, 0)
    assert [it.pixel(x + dx, y + dy) for x, y in points] == before
    w, h = layout.screen.size
    for corner in ((0, 0), (w - 1, 0), (0, h - 1), (w - 1, h - 1)):
        assert max(it.pixel(*corner)) > 8, "the ground reaches into every corner"


def test_the_service_menu_lies_exactly_in_its_place(kiosk: Any, stage: Stage) -> None:
    it = kiosk(dim_after=0)
    it.until_minute(17)
    assert it.root.shift != (0, 0)
    it.app.send(OpenService())
    assert it.root.shift == (0, 0), "its test pictures test the edges of the screen"


# -- the light -----------------------------------------------------------------------------------


@pytest.mark.pixels
def test_nobody_there_dims_the_picture_and_a_touch_only_brings_it_back(
    kiosk: Any, stage: Stage
) -> None:
    it = kiosk(dim_after=300, dim=0.25)
    layout = it.app.table.layout
    x, y = layout.pyramid[27].x + 12, layout.pyramid[27].y + 12
    bright = it.pixel(x, y)
    it.wait(301)
    dx, dy = it.root.shift
    dim = it.pixel(x + dx, y + dy)
    assert max(dim) < 0.7 * max(bright)
    stage.tap(*layout.stock.center)
    assert it.session.moves_played == 0, "that touch does nothing else"
    assert it.pixel(x + dx, y + dy) == bright
    stage.tap(layout.stock.center[0] + dx, layout.stock.center[1] + dy)
    assert it.session.moves_played == 1


def test_where_the_light_can_be_set_the_picture_stays_as_it_is(kiosk: Any, stage: Stage) -> None:
    lamp = Lamp()
    it = kiosk(dim_after=300, backlight=lamp)
    it.wait(301)
    assert lamp.levels == ["full", "dim"]
    assert it.app._veil.share == 0
    stage.touch(5, 5)
    assert lamp.levels[-1] == "full", "before the next frame"
    it.app.on_stop()
    assert lamp.closed == 1


@pytest.mark.pixels
def test_a_black_screen_costs_nothing_and_is_back_at_once(kiosk: Any, stage: Stage) -> None:
    it = kiosk(attract=True, schedule=NIGHT, dim_after=0)
    it.wait(10)
    it.wall = EVENING + timedelta(hours=5)
    it.wait(130)
    assert it.session.dark
    assert it.pixel(400, 240) == (0, 0, 0)
    dealt = it.session._dealer.demos
    assert stage.drawn_frames(5.0) == 0
    it.wait(300)
    assert it.session._dealer.demos == dealt
    finger = stage.touch(400, 240)
    stage.frame()
    assert it.pixel(400, 240) != (0, 0, 0)
    assert not it.session.attract, "the same touch ends the attract mode"
    finger.up()
    it.wait(1)
    assert it.session.moves_played == 0
    assert not it.session.dark


def test_a_key_wakes_and_does_nothing_else(kiosk: Any, stage: Stage) -> None:
    it = kiosk(dim_after=300)
    it.wait(301)
    stage.window.dispatch("on_key_down", 32, 0, " ", [])
    assert it.session.moves_played == 0
    assert it.app._veil.share == 0
    stage.window.dispatch("on_key_up", 32, 0)
    stage.window.dispatch("on_key_down", 32, 0, " ", [])
    assert it.session.moves_played == 1


def test_somebody_who_is_seen_has_light_and_a_scene_that_begins(kiosk: Any, stage: Stage) -> None:
    it = kiosk(attract=True, schedule=NIGHT, dim_after=0)
    it.wall = EVENING + timedelta(hours=5)
    it.wait(130, 4.0)
    assert it.session.dark
    it.app.presence(True)
    assert not it.session.dark
    assert it.session.attract, "a sensor takes no game out of its box"
    assert it.session.scene.began == pytest.approx(stage.now)
    it.wait(400, 4.0)
    assert not it.session.dark
    it.app.presence(False)
    it.wait(130, 4.0)
    assert it.session.dark


def test_a_kiosk_without_a_light_to_care_for_is_as_it_was(stage: Stage) -> None:
    from kiosk.app import KioskApp

    session = Session(
        FakeDealer(), FakeAdviser(), SessionOptions(start_in_attract=False), now=stage.now
    )
    app = KioskApp(session, queue.SimpleQueue(), keep=lambda _saved: None, clock=lambda: stage.now)
    stage.window.add_widget(app.build())
    assert not app.wake()
    app.presence(True)
    app.on_stop()
    stage.window.remove_widget(app.root_widget)


# -- a long time ---------------------------------------------------------------------------------


def counts(it: Kiosk) -> dict[str, int]:
    """What must not grow."""
    from kivy.clock import Clock

    gc.collect()
    return {
        "widgets": sum(1 for _ in it.root.walk()),
        "events": len(list(Clock.get_events())),
        "threads": threading.active_count(),
        "files": len(os.listdir("/proc/self/fd")),  # noqa: PTH208 - names are enough
    }


def leave_alone(it: Kiosk, seconds: float) -> None:
    """Nobody comes for so long, after a first round of all scenes in all languages."""
    first = 4 * len(ORDER) * 35.0
    seen = set()
    demos = it.session._dealer.demos
    for _ in range(round(first / 4)):
        it.stage.frame(4.0)
        seen.add((it.session.scene.kind, it.session.speaks))
    assert {kind for kind, _language in seen} == set(SceneKind)
    assert {language for _kind, language in seen} == {"en", "de", "es", "fr"}
    assert it.session._dealer.demos > demos
    before = counts(it)
    tracemalloc.start()
    memory = tracemalloc.get_traced_memory()[0]
    it.wait(seconds, 4.0)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - memory
    tracemalloc.stop()
    after = counts(it)
    assert grown < 1_500_000, "less than what the scenes of a moment hold"
    assert after["threads"] == before["threads"]
    assert after["files"] <= before["files"]
    # A poster more or less, and what breathes or appears with it.
    assert abs(after["widgets"] - before["widgets"]) <= 40
    assert abs(after["events"] - before["events"]) <= 4


def test_nothing_grows_while_nobody_comes_and_the_first_touch_works(
    kiosk: Any, stage: Stage
) -> None:
    it = kiosk(attract=True, dim_after=0)
    leave_alone(it, 450)
    stage.tap(400, 100)
    assert not it.session.attract
    dx, dy = it.root.shift
    x, y = it.app.table.layout.stock.center
    stage.tap(x + dx, y + dy)
    assert it.session.moves_played == 1


@pytest.mark.slow
def test_nothing_grows_in_many_hours(kiosk: Any, stage: Stage) -> None:
    it = kiosk(attract=True, schedule=NIGHT)
    it.wall = EVENING - timedelta(hours=10)
    leave_alone(it, 8 * 3600)
    it.app.send(Touched())
    assert not it.session.attract
