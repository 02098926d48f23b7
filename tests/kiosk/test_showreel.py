"""The scenes of the attract mode: their order, their length, their languages, their lessons."""

from __future__ import annotations

from datetime import date
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from engine.deal import Deal
from engine.game import Game
from engine.position import Move, MoveKind, Outcome, Position
from engine.rules import PRESETS
from kiosk import attract
from kiosk.attract import AttractPlayer, Length
from kiosk.commands import Draw
from kiosk.dealer import DealtGame, PoolDealer
from kiosk.lessons import Lesson, Teacher, fitting
from kiosk.showreel import (
    DEMO,
    DEMO_MOST,
    DEMO_SHORT,
    ORDER,
    STILL,
    STILL_SHORT,
    TRIES,
    Scene,
    SceneKind,
    Showreel,
)
from kiosk.statistics import LOST, WON, Result, Statistics
from tests.kiosk.fakes import FakeDealer, won_by_hand

DAY = date(2026, 12, 24)
LANGUAGES = ("en", "de", "es", "fr")
LINE = won_by_hand("three-pass").line


def played(*outcomes: str) -> Statistics:
    results = [Result("three-pass", 1, outcome, 40, 200.0, 0, 0) for outcome in outcomes]
    return Statistics((result, DAY) for result in results)


def showreel(**options: Any) -> Showreel:
    options.setdefault("deals", PoolDealer(Random(1)))
    options.setdefault("statistics", played(WON))
    options.setdefault("today", lambda: DAY)
    options.setdefault("preset", "cards4")
    options.setdefault("languages", LANGUAGES)
    return Showreel(**options)


class Screening:
    """A showreel that is run by a clock of its own, its demos really played."""

    def __init__(self, reel: Showreel, step: float = 0.1) -> None:
        self.reel = reel
        self.step = step
        self.now = 100.0
        self.selected: int | None = None
        self.taps: list[float] = []
        self.lessons: list[Lesson] = []
        self.scenes = [reel.begin(self.now)]

    def until_next(self) -> tuple[Scene, float]:
        """Run the scene to its end: the scene, and how long it was."""
        scene, began = self.scenes[-1], self.now
        while not self.reel.over(self.now):
            self.now += self.step
            self.act(scene.table.game)
        self.selected = None
        self.scenes.append(self.reel.next(self.now))
        return scene, self.now - began

    def act(self, game: Game) -> None:
        command = self.reel.command(self.selected, self.now)
        if command is None:
            if self.reel.teach(self.now) and self.scenes[-1].lesson is not None:
                self.lessons.append(self.scenes[-1].lesson)
            return
        if isinstance(command, Draw):
            position = game.position
            if position.can_draw or position.can_redeal:
                game.play(Move(MoveKind.DRAW if position.can_draw else MoveKind.REDEAL))
            return
        self.taps.append(self.now)
        target = command.target  # type: ignore[attr-defined]
        position = game.position
        place = target if isinstance(target, int) else position.waste_top
        if not isinstance(target, int) and target.value == "stock":
            place = position.stock_top
        assert place is not None
        cards = position.deal.cards
        if cards[place].is_king:
            game.play(Move.remove(cards[place]))
        elif self.selected is None:
            self.selected = place
        else:
            game.play(Move.remove(cards[self.selected], cards[place]))
            self.selected = None


@pytest.mark.parametrize("preset", PRESETS)
def test_scenes_alternate_and_last_thirty_to_forty_seconds(preset: str) -> None:
    screening = Screening(showreel(preset=preset))
    seen = [screening.until_next() for _ in range(2 * len(ORDER))]
    assert [scene.kind for scene, _seconds in seen] == [*ORDER, *ORDER]
    for scene, seconds in seen:
        assert 29.9 <= seconds <= DEMO_MOST + 0.2, (scene.kind, seconds)
        if scene.kind is not SceneKind.DEMO:
            assert seconds == pytest.approx(STILL, abs=0.2)
        else:
            assert scene.table.game.outcome is Outcome.WON


@pytest.mark.parametrize("preset", PRESETS)
def test_whoever_stands_before_it_sees_the_win_too(preset: str) -> None:
    screening = Screening(showreel(preset=preset))
    screening.reel.notice(True, screening.now)
    screening.until_next()  # began before
    for _ in range(len(ORDER)):
        scene, seconds = screening.until_next()
        if scene.kind is SceneKind.DEMO:
            assert scene.table.game.outcome is Outcome.WON
            assert seconds <= DEMO_SHORT + 0.2


def test_a_line_that_is_too_long_is_begun_after_its_first_moves() -> None:
    game = won_by_hand("three-pass")
    through = (Move(MoveKind.DRAW),) * 24 + (Move(MoveKind.REDEAL),)
    line = through * 2 + game.line
    deals = FakeDealer(DealtGame(game.deal, game.rules, game.preset, line))
    screening = Screening(showreel(deals=deals, preset="three-pass"))
    made = screening.scenes[0].table.game.index
    assert 0 < made < len(line)
    rest = Length.of(line[made:])
    assert DEMO_MOST - 0.5 < rest.seconds(0.0) <= DEMO_MOST
    scene, seconds = screening.until_next()
    assert scene.table.game.outcome is Outcome.WON
    assert seconds <= DEMO_MOST + 0.2


def test_a_line_that_fits_is_begun_at_its_beginning() -> None:
    screening = Screening(showreel(deals=FakeDealer(), preset="three-pass"))
    assert screening.scenes[0].table.game.index == 0


def test_a_demo_that_never_ends_is_cut_and_the_next_scene_follows() -> None:
    game = won_by_hand("three-pass")
    line = (Move(MoveKind.DRAW),) * 400
    deals = FakeDealer(DealtGame(game.deal, game.rules, game.preset, line))
    screening = Screening(showreel(deals=deals, preset="three-pass"))
    scene, seconds = screening.until_next()
    assert scene.kind is SceneKind.DEMO
    assert seconds <= DEMO_MOST + 0.2
    assert screening.scenes[-1].kind is SceneKind.CALL


def test_no_deal_comes_twice_running() -> None:
    screening = Screening(showreel(), step=5.0)
    deals = []
    for _ in range(120):
        scene, _seconds = screening.until_next()
        if scene.kind in {SceneKind.DEMO, SceneKind.DAILY}:
            deals.append(scene.table.game.deal)
    assert all(a != b for a, b in pairwise(deals))


def test_a_dealer_with_one_deal_is_asked_a_few_times_and_then_taken_at_its_word() -> None:
    deals = FakeDealer()
    reel = showreel(deals=deals, preset="three-pass")
    first = reel.begin(0.0)
    assert deals.demos == 1
    second = reel.begin(50.0)
    assert deals.demos == 1 + TRIES
    assert first.table is not second.table
    assert second.table.game.index == 0


def test_a_deal_with_a_line_that_fits_is_preferred() -> None:
    game = won_by_hand("three-pass")
    endless = DealtGame(Deal.from_number(7), game.rules, game.preset, (Move(MoveKind.DRAW),) * 400)
    deals = FakeDealer(endless, game, endless)
    reel = showreel(deals=deals, preset="three-pass")
    assert reel.begin(0.0).table.game.deal == game.deal
    assert deals.demos == 2, "and no more deals are looked at than needed"


def test_the_languages_take_turns_and_every_scene_comes_in_each() -> None:
    screening = Screening(showreel(), step=5.0)
    spoken: dict[SceneKind, set[str]] = {kind: set() for kind in SceneKind}
    demos = []
    for _ in range(4 * len(ORDER)):
        scene, _seconds = screening.until_next()
        spoken[scene.kind].add(scene.language)
        if scene.kind is SceneKind.DEMO:
            demos.append(scene.language)
    assert demos[:8] == [*LANGUAGES, *LANGUAGES]
    assert all(languages == set(LANGUAGES) for languages in spoken.values())


def test_the_next_language_begins_when_the_attract_mode_begins_again() -> None:
    reel = showreel()
    assert reel.begin(0.0).language == "en"
    reel.end()
    assert reel.scene is None
    assert reel.begin(10.0).language == "de"


def test_nothing_is_told_where_nothing_was_played() -> None:
    screening = Screening(showreel(statistics=Statistics()), step=5.0)
    kinds = {screening.until_next()[0].kind for _ in range(12)}
    assert kinds == {SceneKind.DEMO, SceneKind.CALL, SceneKind.DAILY}


def test_a_clock_that_was_never_set_has_no_deal_of_the_day() -> None:
    day = date(1970, 1, 1)
    screening = Screening(showreel(today=lambda: day), step=5.0)
    kinds = [screening.until_next()[0].kind for _ in range(5)]
    assert SceneKind.DAILY not in kinds
    assert SceneKind.FIGURES in kinds
    day = DAY
    seen = [screening.until_next()[0] for _ in range(6)]
    assert [scene.day for scene in seen if scene.kind is SceneKind.DAILY] == [DAY]


def test_the_daily_deal_is_the_one_of_the_pool() -> None:
    deals = PoolDealer(Random(5))
    screening = Screening(showreel(deals=deals), step=5.0)
    daily = next(s for s, _ in iter(screening.until_next, None) if s.kind is SceneKind.DAILY)
    assert daily.table.game.deal == deals.daily("cards4", DAY).deal
    assert daily.table.daily
    assert daily.player is None


def test_with_somebody_there_everything_is_shorter() -> None:
    screening = Screening(showreel())
    screening.reel.notice(True, screening.now)
    screening.until_next()  # began before
    for _ in range(len(ORDER)):
        scene, seconds = screening.until_next()
        most = DEMO_SHORT if scene.kind is SceneKind.DEMO else STILL_SHORT
        assert seconds <= most + 0.2
    screening.reel.notice(False, screening.now)
    screening.until_next()
    assert screening.until_next()[1] > DEMO_SHORT


def test_whoever_comes_need_not_wait_for_a_scene_that_was_long_enough() -> None:
    reel = showreel()
    reel.begin(0.0)
    call = reel.next(40.0)
    reel.notice(True, 45.0)
    assert not reel.over(49.0)
    assert reel.over(50.0)
    reel.next(50.0)
    reel.begin(100.0)
    reel.notice(False, 100.0)
    reel.begin(200.0)
    reel.notice(True, 230.0)
    assert reel.over(230.0)
    assert call.kind is SceneKind.CALL


def test_time_that_stands_still_or_leaps_does_no_harm() -> None:
    reel = showreel()
    scene = reel.begin(1000.0)
    assert not reel.over(1000.0)
    assert reel.over(1e9)
    assert reel.next(1e9).began == 1e9
    assert reel.scene is not scene


# -- the demo ------------------------------------------------------------------------------------


def test_a_line_is_played_as_slowly_as_the_time_allows() -> None:
    length = Length.of(LINE)
    assert length == Length(draws=16, pairs=16, kings=4)
    assert length.seconds(length.pace(DEMO)) == pytest.approx(DEMO, abs=0.01)
    assert length.pace(1000.0) == attract.SLOWEST
    assert Length.of(LINE * 9).pace(DEMO) == pytest.approx(0.0, abs=0.01)
    assert Length.of(()).seconds(1.0) == attract.OPENING + attract.CLOSING


def test_however_fast_a_selection_is_lit_no_more_than_twice_a_second() -> None:
    deals = FakeDealer()
    screening = Screening(showreel(deals=deals, preset="three-pass"))
    screening.reel.notice(True, screening.now)
    screening.until_next()
    screening.until_next()
    screening.taps.clear()
    assert screening.until_next()[0].kind is SceneKind.DEMO
    taps = screening.taps
    assert len(taps) > 20
    within = [sum(begin <= tap < begin + 1.0 for tap in taps) for begin in taps]
    assert max(within) <= 2 + 1, "a selection lit and put out takes two taps"
    assert all(b - a > 0.29 for a, b in pairwise(taps))


def test_a_late_command_is_made_up_for_but_not_a_night_of_them() -> None:
    game = Game(won_by_hand("three-pass").deal, PRESETS["three-pass"])
    player = AttractPlayer((Move(MoveKind.DRAW),) * 5, 0.0)
    assert player.next_command(game, None, attract.OPENING + 0.2) == Draw()
    assert player.next_command(game, None, attract.OPENING + attract.AFTER_DRAW) == Draw()
    assert player.next_command(game, None, attract.OPENING + attract.AFTER_DRAW + 0.1) is None
    assert player.next_command(game, None, 1000.0) == Draw()
    assert player.next_command(game, None, 1000.0) is None


# -- lessons -------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
def test_every_lesson_comes_round(preset: str) -> None:
    screening = Screening(showreel(preset=preset), step=0.2)
    for _ in range(40):
        screening.until_next()
    rules = PRESETS[preset]
    missing = set(Lesson) - set(screening.lessons)
    never = set()
    if rules.overlap:
        never.add(Lesson.COVERING)
    if rules.passes == 1:
        never.add(Lesson.PATIENCE)
    assert missing == never
    assert all(a is not b for a, b in pairwise(screening.lessons))


def test_lessons_stay_long_enough_to_be_read_and_give_way_to_the_moves() -> None:
    reel = showreel()
    scene = reel.begin(0.0)
    assert scene.lesson is None
    assert reel.teach(1.0)
    first = scene.lesson
    assert first is not None
    assert not reel.teach(5.9)
    assert reel.teach(6.0)
    assert scene.lesson is None
    assert not reel.teach(9.4)
    assert reel.teach(9.5)
    assert scene.lesson not in {None, first}


def test_a_lesson_is_about_the_move_that_comes() -> None:
    table = Game(won_by_hand("three-pass").deal, PRESETS["three-pass"])
    for move in LINE:
        lessons = fitting(table.position, move)
        assert lessons
        assert (Lesson.KING in lessons) == (move.kind is MoveKind.KING)
        assert (Lesson.DRAW in lessons) == (move.kind is MoveKind.DRAW)
        assert (Lesson.PAIR in lessons) == (move.kind is MoveKind.PAIR)
        waste = table.position.waste_top
        takes_waste = waste is not None and table.deal.cards[waste] in move.cards
        assert (Lesson.WASTE in lessons) == takes_waste
        before = table.position
        table.play(move)
        freed = set(table.position.available) - set(before.available)
        assert (Lesson.FREE in lessons) == (min(freed, default=99) < 28)


def test_the_lesson_heard_longest_ago_comes_first() -> None:
    position = Position(won_by_hand("three-pass").deal, PRESETS["three-pass"])
    teacher = Teacher()
    heard = [teacher.choose(position, LINE[0]) for _ in range(9)]
    fit = fitting(position, LINE[0])
    assert len(fit) > 2
    assert set(heard[: len(fit)]) == fit
    assert heard[len(fit) :] == heard[: 9 - len(fit)]
    table = Game(position.deal, position.rules)
    while table.position.can_draw:
        table.play(Move(MoveKind.DRAW))
    redeal = Move(MoveKind.REDEAL)
    assert teacher.choose(table.position, redeal) is Lesson.REDEAL
    assert teacher.choose(table.position, redeal) is None, "not twice running"


def test_a_won_or_lost_game_counts_alike() -> None:
    reel = showreel(statistics=played(LOST))
    reel.begin(0.0)
    kinds = [reel.next(40.0 * i).kind for i in range(1, 6)]
    assert kinds[-1] is SceneKind.FIGURES
