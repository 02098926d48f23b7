"""Full, dim, black: by idle time, by the clock on the wall, and at once back to full."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest

from kiosk.light import TRY_AGAIN, Light, LightOptions, NoBacklight
from kiosk.schedule import Schedule, Span, Stage

NOON = datetime(2026, 11, 30, 12, 0)
NIGHT = Schedule(dim=(Span.parse("20:00-22:00"),), black=(Span.parse("22:00-06:00"),))


@dataclass
class Lamp:
    """A backlight that remembers what it was set to."""

    obeys: bool = True
    levels: list[str] = field(default_factory=list)
    closed: int = 0

    def set(self, level: str) -> bool:
        self.levels.append(level)
        return self.obeys

    def close(self) -> None:
        self.closed += 1


class Room:
    """A light, and both clocks, which a test moves separately or together."""

    def __init__(self, wall: datetime = NOON, *, obeys: bool = True, **options: object) -> None:
        options.setdefault("schedule", NIGHT)
        self.lamp = Lamp(obeys)
        self.now = 1000.0
        self.wall = wall
        self.light = Light(
            self.lamp,
            LightOptions(**options),  # type: ignore[arg-type]
            self.now,
            wall=lambda: self.wall,
        )

    def wait(self, seconds: float, step: float = 1.0) -> Stage:
        for _ in range(round(seconds / step)):
            self.now += step
            self.wall += timedelta(seconds=step)
            self.light.tick(self.now)
        return self.light.stage


def test_nobody_there_dims_and_a_touch_brings_the_light_back_at_once() -> None:
    room = Room(dim_after=300)
    assert room.wait(299) is Stage.FULL
    assert room.wait(1) is Stage.DIM
    assert room.lamp.levels == ["full", "dim"]
    assert room.light.somebody(room.now)
    assert room.light.stage is Stage.FULL
    assert room.lamp.levels[-1] == "full", "set before anything else happens"
    assert not room.light.somebody(room.now), "the next touch counts"
    assert room.wait(299) is Stage.FULL


def test_no_idle_time_never_dims() -> None:
    assert Room(dim_after=0, schedule=Schedule()).wait(7 * 86_400, 60) is Stage.FULL


def test_the_schedule_is_followed_over_midnight_and_a_week() -> None:
    room = Room(NOON.replace(hour=0), dim_after=0)
    seen: dict[int, set[Stage]] = {}
    for _ in range(7 * 24):
        seen.setdefault(room.wall.hour, set()).add(room.wait(3600, 60))
    assert {hour for hour, stages in seen.items() if stages == {Stage.DIM}} == {19, 20}
    assert {hour for hour, stages in seen.items() if stages == {Stage.BLACK}} == {
        *(21, 22, 23),
        *range(5),
    }
    assert all(len(stages) == 1 for stages in seen.values())


def test_whoever_plays_at_night_has_light_until_he_goes() -> None:
    room = Room(NOON.replace(hour=23), stay=80)
    assert room.wait(79) is Stage.FULL
    assert room.wait(1) is Stage.BLACK
    assert room.light.veil == 1
    assert room.light.somebody(room.now)
    for _ in range(100):
        assert room.wait(60) is Stage.FULL
        assert not room.light.somebody(room.now)
    assert room.wait(80) is Stage.BLACK


def test_a_sensor_that_sees_somebody_keeps_the_light_on() -> None:
    room = Room(NOON.replace(hour=23), stay=80)
    room.wait(100)
    room.light.presence(True, room.now)
    assert room.light.stage is Stage.FULL
    assert room.wait(5000) is Stage.FULL
    room.light.presence(False, room.now)
    assert room.wait(79) is Stage.FULL
    assert room.wait(2) is Stage.BLACK


@pytest.mark.parametrize("years", [-56, -1, 1, 30])
def test_a_clock_that_is_set_is_followed_at_once_and_changes_no_idle_time(years: int) -> None:
    room = Room(NOON, dim_after=300)
    room.wait(200)
    room.wall = room.wall.replace(year=2026 + years, hour=23)
    expected = Stage.BLACK if years > 0 else Stage.FULL
    room.light.tick(room.now)
    assert room.light.stage is expected
    room.wall = NOON
    room.light.tick(room.now)
    assert room.light.stage is Stage.FULL
    assert room.wait(99) is Stage.FULL
    assert room.wait(1) is Stage.DIM, "idle time did not leap"


def test_a_suspended_machine_wakes_into_the_right_stage() -> None:
    room = Room(NOON, dim_after=0)
    room.now += 12 * 3600
    room.wall += timedelta(hours=12)
    room.light.tick(room.now)
    assert room.light.stage is Stage.BLACK


def test_monotonic_time_that_stands_still_does_no_harm() -> None:
    room = Room(NOON, dim_after=300)
    room.light.somebody(room.now - 500)
    room.light.tick(room.now - 400)
    assert room.light.stage is Stage.FULL
    assert room.wait(299) is Stage.FULL


def test_where_there_is_no_light_to_set_the_picture_is_darkened() -> None:
    room = Room(NOON, obeys=False, dim_after=300, dim=0.25)
    assert room.light.veil == 0
    room.wait(300)
    assert room.light.veil == pytest.approx(0.467, abs=0.001), "a quarter of the light"
    assert (1 - room.light.veil) ** 2.2 == pytest.approx(0.25)
    with_light = Room(NOON, dim_after=300)
    with_light.wait(300)
    assert with_light.light.veil == 0
    assert not NoBacklight().set("dim")


def test_a_light_that_fails_is_tried_again_now_and_then() -> None:
    room = Room(NOON, obeys=False, dim_after=300)
    room.wait(300)
    tried = len(room.lamp.levels)
    room.wait(60, 0.1)
    assert tried + 5 <= len(room.lamp.levels) <= tried + 60 / TRY_AGAIN
    room.lamp.obeys = True
    room.wait(TRY_AGAIN + 1)
    assert room.light.veil == 0
    tried = len(room.lamp.levels)
    room.wait(60)
    assert len(room.lamp.levels) == tried, "what is set is not set again"


def test_new_options_count_at_once() -> None:
    room = Room(NOON, dim_after=0)
    other = Lamp()
    room.light.change(other, LightOptions(dim_after=60, stay=10), room.now)
    assert other.levels == ["full"]
    assert room.wait(60) is Stage.DIM
    assert other.levels == ["full", "dim"]
    room.light.close()
    assert (room.lamp.closed, other.closed) == (1, 1)


def test_a_light_that_is_let_alone_from_now_on_is_not_left_dark() -> None:
    room = Room(NOON.replace(hour=23))
    assert room.wait(100) is Stage.BLACK
    room.light.change(NoBacklight(), LightOptions(schedule=NIGHT), room.now)
    assert (room.lamp.closed, room.light.stage, room.light.veil) == (1, Stage.BLACK, 1)
