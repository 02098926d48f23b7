"""Weeks in virtual time without a window: nobody comes, the clock is set, then somebody comes."""

from __future__ import annotations

import gc
import tracemalloc
from collections import Counter
from datetime import datetime, timedelta
from random import Random

import pytest

from engine.rules import PRESETS
from kiosk.attract import target_of
from kiosk.commands import (
    Change,
    ChangeKind,
    Command,
    Darken,
    Draw,
    Panel,
    Somebody,
    Tap,
    Tick,
    Touched,
)
from kiosk.dealer import find_winnable
from kiosk.light import Light, LightOptions
from kiosk.schedule import Schedule, Span, Stage
from kiosk.session import Session
from kiosk.sessiontypes import SessionOptions
from kiosk.showreel import SceneKind
from kiosk.statistics import WON, Result, Statistics
from tests.kiosk.fakes import FakeAdviser, FakeDealer, won_by_hand
from tests.kiosk.test_light import Lamp

DAY = 86_400.0
FIRST = won_by_hand("three-pass")
SECOND = find_winnable("three-pass", PRESETS["three-pass"], Random(2))
OPENING_HOURS = Schedule(
    dim=(Span.parse("18:00-22:00"),),
    black=(Span.parse("22:00-08:00"), Span.parse("mon 0:00-24:00")),
)


class Hall:
    """A session and a light in an empty hall, and a clock on the wall that can be set."""

    def __init__(self) -> None:
        self.now = 50.0
        #: What the clock on the wall shows more than the monotonic one.
        self.wall = datetime(2026, 11, 30) - timedelta(seconds=self.now)
        self.dealer = FakeDealer(FIRST, SECOND)
        # A dealer that remembers all it was asked would grow by itself.
        self.dealer.days = Forgetful()
        self.results: list[Result] = []
        statistics = Statistics()
        statistics.add(Result("three-pass", 1, WON, 40, 200.0, 0, 0), self.time.date())
        self.session = Session(
            self.dealer,
            FakeAdviser(),
            SessionOptions(languages=("en", "de", "es", "fr")),
            now=self.now,
            record=self.results.append,
            statistics=statistics,
            today=lambda: self.time.date(),  # noqa: PLW0108 - the date of each moment
        )
        self.light = Light(
            Lamp(),
            LightOptions(schedule=OPENING_HOURS, dim_after=600),
            self.now,
            wall=lambda: self.time,
        )
        self.scenes: Counter[tuple[SceneKind, str]] = Counter()
        self.stages: Counter[Stage] = Counter()

    @property
    def time(self) -> datetime:
        return self.wall + timedelta(seconds=self.now)

    def do(self, command: Command, after: float = 0.0) -> Change:
        self.now += after
        return self.session.handle(command, self.now)

    def wait(self, seconds: float, step: float) -> None:
        """As the application waits."""
        scene = None
        for _ in range(round(seconds / step)):
            self.now += step
            self.light.tick(self.now)
            self.do(Darken(self.light.stage is Stage.BLACK))
            self.do(Tick())
            self.stages[self.light.stage] += 1
            if self.session.scene is not scene:
                scene = self.session.scene
                if scene is not None:
                    self.scenes[scene.kind, scene.language] += 1

    def touch(self) -> bool:
        """A finger comes down; whether that only woke."""
        dark = self.light.somebody(self.now)
        return self.do(Touched()).only_woke or dark


class Forgetful(list):  # type: ignore[type-arg]
    def append(self, _item: object) -> None:
        pass


def plays_on(hall: Hall) -> None:
    """The first touch only wakes, the second one plays, and the game can be won."""
    assert hall.touch()
    assert hall.light.stage is Stage.FULL
    assert not hall.session.attract
    assert hall.session.panel is Panel.NONE
    assert hall.session.moves_played == 0
    assert not hall.touch()
    game = FIRST if hall.session.number == FIRST.deal.number else SECOND
    for move in game.line:
        if not move.cards:
            hall.do(Draw(), 2.0)
            continue
        for card in move.cards:
            position = hall.session.position
            hall.do(Tap(target_of(position, position.deal.place_of[card])), 2.0)
    assert hall.session.panel is Panel.WON
    assert hall.results[-1].outcome == "won"


def test_a_week_that_nobody_touches_then_somebody_plays() -> None:
    hall = Hall()
    hall.wait(7 * DAY, 30.0)
    assert set(hall.scenes) == {
        (kind, language) for kind in SceneKind for language in ("en", "de", "es", "fr")
    }
    assert min(hall.scenes.values()) > 50
    hours = {stage: count * 30 / 3600 for stage, count in hall.stages.items()}
    assert hours[Stage.BLACK] == pytest.approx(24 + 6 * 10, abs=0.1)
    assert hours[Stage.FULL] == pytest.approx(0, abs=0.3)
    assert hours[Stage.DIM] == pytest.approx(6 * 14, abs=0.4)
    assert hall.results == [], "demos are nobody's games"
    plays_on(hall)


def test_nothing_grows_from_one_day_to_the_next() -> None:
    hall = Hall()
    hall.wait(1.5 * DAY, 30.0)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    objects = len(gc.get_objects())
    hall.wait(DAY, 30.0)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    # A scene is at another move, and that is all.
    assert len(gc.get_objects()) - objects < 1_000
    assert grown < 400_000


@pytest.mark.parametrize("years", [-56, 40])
def test_the_first_synchronisation_moves_the_clock_by_years(years: int) -> None:
    hall = Hall()
    hall.wall = hall.wall.replace(year=2026 + years, month=1, day=5, hour=11)
    hall.wait(1800, 2.0)
    began = hall.session.scene.began if hall.session.scene else 0.0
    hall.wall = datetime(2026, 12, 2, 11) - timedelta(seconds=hall.now)
    assert hall.do(Tick(), 0.1).kind is not ChangeKind.WOKE
    assert hall.session.scene is not None
    assert hall.session.scene.began in {began, hall.now}, "no scene is cut or drawn out by it"
    hall.wait(1800, 2.0)
    assert hall.dealer.demos > 30
    plays_on(hall)


def test_a_clock_that_is_set_to_and_fro_for_weeks() -> None:
    hall, rng = Hall(), Random(4)
    for _ in range(14 * 24):
        hall.wall += timedelta(days=rng.choice([0, 0, 0, -400, 400, 0.04, -0.04]))
        hall.wait(3600, 60.0)
    assert min(hall.stages[Stage.DIM], hall.stages[Stage.BLACK]) > 500
    plays_on(hall)


def test_people_who_only_pass_by_for_weeks() -> None:
    hall, rng = Hall(), Random(5)
    woken = 0
    for _ in range(14 * 12):
        hall.wait(7000, 50.0)
        match rng.randrange(3):
            case 0:
                hall.light.presence(True, hall.now)
                hall.do(Somebody(there=True))
                hall.wait(60, 5.0)
                assert hall.light.stage is Stage.FULL
                hall.light.presence(False, hall.now)
                hall.do(Somebody(there=False))
            case 1:
                assert hall.touch()
                woken += 1
                hall.do(Tap(rng.randrange(21, 28)), 1.0)
            case _:
                pass
    assert woken > 30
    hall.wait(7000, 20.0)
    assert hall.session.attract
    plays_on(hall)
