"""The service menu behind its PIN: what it lets in, what it does, and when it goes away."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from engine.advice import Advice
from engine.difficulty import Grade
from kiosk.commands import (
    OPENED_BY_PLAYER,
    AdviceReady,
    Change,
    ChangeKind,
    CheckDeal,
    Close,
    Command,
    Draw,
    Drop,
    Hint,
    NewDeal,
    Open,
    Panel,
    Pile,
    Redo,
    Refusal,
    Replay,
    SetAutoPlay,
    SetLanguage,
    SetLook,
    Tap,
    Tick,
    Touched,
    Undo,
)
from kiosk.lockout import Lockout
from kiosk.overrides import STEPS
from kiosk.service import HARMLESS, PICTURES, PinFacts, Service
from kiosk.service_commands import (
    Adjust,
    Do,
    EnterPin,
    Light,
    NextPicture,
    OpenService,
    Page,
    Report,
    ServiceCommand,
    ServiceDone,
    Task,
    Turn,
    TypePin,
    UseFile,
)
from kiosk.session import Session
from kiosk.sessiontypes import Configure, SessionOptions
from kiosk.settings import DisplaySettings
from kiosk.statistics import Result
from tests.kiosk.fakes import FakeAdviser, FakeDealer, FakeDesk

WIRED = PinFacts({"undo": False}, ("undo",), {"input undo": "17", "lamp undo": "22"})


class Bench:
    """A session with a service menu, and a clock that the test moves."""

    def __init__(self, *, start_in_attract: bool = False, **facts: Any) -> None:
        self.now = 1000.0
        self.desk = FakeDesk(**facts)
        self.kept: list[int] = []
        self.service = Service(self.desk, Lockout(self.now, keep=self.kept.append))
        self.dealer = FakeDealer()
        self.adviser = FakeAdviser()
        self.session = Session(
            self.dealer,
            self.adviser,
            SessionOptions(start_in_attract=start_in_attract),
            now=self.now,
            service=self.service,
        )

    def do(self, *commands: Command, after: float = 0.2) -> Change:
        for command in commands:
            self.now += after
            change = self.session.handle(command, self.now)
        return change

    def tick(self, seconds: float) -> None:
        for _ in range(round(seconds)):
            self.do(Tick(), after=1.0)

    def enter(self, pin: str = "4711") -> Change:
        return self.do(*(TypePin(digit) for digit in pin), EnterPin())

    def opened(self) -> Bench:
        self.do(OpenService())
        self.enter()
        assert self.service.page is Page.HOME
        return self


def test_the_right_pin_opens() -> None:
    bench = Bench()
    assert bench.do(OpenService()).kind is ChangeKind.PANEL
    assert (bench.session.panel, bench.service.page) == (Panel.SERVICE, Page.PIN)
    bench.enter()
    assert bench.service.page is Page.HOME
    assert bench.service.may_change
    assert bench.service.typed == ""


def test_a_wrong_pin_says_so_and_the_next_may_be_right() -> None:
    bench = Bench()
    bench.do(OpenService())
    bench.enter("4712")
    assert (bench.service.page, bench.service.wrong) == (Page.PIN, True)
    bench.enter()
    assert bench.service.page is Page.HOME


def test_after_three_wrong_ones_there_is_a_wait_that_closing_does_not_shorten() -> None:
    bench = Bench()
    bench.do(OpenService())
    for _ in range(3):
        bench.enter("0000")
    assert bench.desk.checked == 3
    assert bench.service.waits == 30
    bench.do(Close(), OpenService())
    assert bench.service.waits == 30
    assert bench.enter().refusal is Refusal.BLOCKED
    assert bench.desk.checked == 3, "not even asked"
    bench.tick(10)
    assert 15 < bench.service.waits < 20
    bench.tick(20)
    assert bench.service.waits == 0
    bench.enter()
    assert bench.service.page is Page.HOME
    assert bench.kept[-1] == 0


def test_the_count_of_the_wait_is_shown_once_a_second() -> None:
    bench = Bench()
    bench.do(OpenService())
    for _ in range(3):
        bench.enter("0000")
    kinds = [bench.do(Tick(), after=0.1).kind for _ in range(100)]
    assert kinds.count(ChangeKind.PANEL) == 10


def test_digits_can_be_taken_back_and_are_bounded() -> None:
    bench = Bench(pin="1234")
    bench.do(OpenService(), TypePin("9"), TypePin(""), TypePin(""))
    assert bench.service.typed == ""
    bench.do(*[TypePin("5")] * 20)
    assert bench.service.typed == "5" * 12
    bench.do(*[TypePin("")] * 20)
    for nonsense in ("12", "x", "²"):
        assert bench.do(TypePin(nonsense)).refusal is Refusal.BLOCKED
    assert bench.do(TypePin("1"), EnterPin()).refusal is Refusal.BLOCKED, "too short to be one"
    assert bench.desk.checked == 0


def test_leaving_forgets_the_pin() -> None:
    bench = Bench().opened()
    bench.do(Close(), OpenService())
    assert bench.service.page is Page.PIN
    assert not bench.service.may_change


EVERYTHING: list[ServiceCommand] = [
    *(Turn(page) for page in Page),
    *(Do(task, confirmed) for task in Task for confirmed in (False, True)),
    *(Adjust(key, up) for key in STEPS for up in (False, True)),
    UseFile(),
    Light("undo"),
    NextPicture(),
]


@pytest.mark.parametrize("command", EVERYTHING, ids=repr)
def test_nothing_is_done_before_the_pin(command: ServiceCommand) -> None:
    bench = Bench(wired=WIRED)
    assert bench.do(command).refusal is Refusal.BLOCKED, "the menu is not even open"
    bench.do(OpenService())
    assert bench.do(command).refusal is Refusal.BLOCKED
    assert bench.service.page is Page.PIN
    assert (bench.desk.started, bench.desk.changed) == ([], {})


def test_without_a_pin_everything_is_seen_and_nothing_changed() -> None:
    bench = Bench(pin=None, wired=WIRED)
    bench.do(OpenService())
    assert bench.service.page is Page.HOME
    for page in Page:
        if page is Page.HOME:
            continue
        change = bench.do(Turn(page))
        assert (change.kind is ChangeKind.PANEL) == (page in HARMLESS), page
        for command in EVERYTHING:
            if isinstance(command, Do | Adjust | UseFile):
                assert bench.do(command).refusal is Refusal.BLOCKED
        if change.kind is ChangeKind.PANEL:
            bench.do(Close())
    assert (bench.desk.started, bench.desk.changed) == ([], {})


# -- over the game -------------------------------------------------------------------------------


def test_the_game_waits_under_the_menu_and_goes_on() -> None:
    bench = Bench()
    bench.do(Draw(), Draw())
    bench.opened()
    before = bench.session.saved()
    refused = [
        *(Tap(target) for target in (*range(28), *Pile)),
        Drop(27, 26),
        Draw(),
        Undo(),
        Redo(),
        Hint(),
        NewDeal(confirmed=True),
        Replay(confirmed=True),
        CheckDeal(7),
        SetLanguage("de"),
        SetAutoPlay(on=True),
        SetLook("four_colour", on=True),
        *(Open(panel) for panel in Panel),
    ]
    for command in refused:
        assert bench.do(command).refusal is Refusal.BLOCKED, command
    bench.do(Close())
    assert bench.session.panel is Panel.NONE
    assert bench.session.saved() == before
    assert bench.do(Undo()).kind is ChangeKind.UNDONE


@pytest.mark.parametrize("panel", sorted(OPENED_BY_PLAYER, key=lambda panel: panel.value))
def test_the_panel_that_was_open_is_there_again(panel: Panel) -> None:
    bench = Bench()
    bench.do(Open(panel))
    bench.opened()
    bench.do(Close())
    assert bench.session.panel is panel


def test_a_question_to_the_solver_is_dropped() -> None:
    bench = Bench()
    bench.do(Open(Panel.NUMBER), CheckDeal(7))
    assert bench.session.thinking
    bench.opened()
    assert not bench.session.thinking
    bench.do(Close())
    assert bench.session.checked is None, "nobody is looking whether it can be won any more"


def test_no_visitor_opens_it_like_other_panels() -> None:
    assert Bench().do(Open(Panel.SERVICE)).refusal is Refusal.BLOCKED


def test_from_the_attract_mode_the_table_comes_first() -> None:
    bench = Bench(start_in_attract=True)
    assert bench.do(OpenService()).kind is ChangeKind.WOKE
    assert not bench.session.attract
    assert bench.session.panel is Panel.SERVICE


def test_from_the_countdown() -> None:
    bench = Bench()
    bench.do(Draw())
    bench.tick(63)
    assert bench.session.panel is Panel.COUNTDOWN
    bench.opened()
    bench.do(Close())
    assert bench.session.panel is Panel.NONE


def test_it_closes_by_itself_and_the_attract_mode_follows() -> None:
    bench = Bench().opened()
    bench.do(Turn(Page.STATUS))
    bench.tick(89)
    assert bench.session.panel is Panel.SERVICE
    bench.tick(2)
    assert bench.session.panel is not Panel.SERVICE
    assert not bench.service.may_change
    bench.tick(2)
    assert bench.session.attract


def test_input_keeps_it_open() -> None:
    bench = Bench().opened()
    for _ in range(20):
        bench.tick(60)
        bench.do(Touched())
    assert (bench.session.panel, bench.service.page) == (Panel.SERVICE, Page.HOME)


def test_after_a_sleep_without_ticks_a_touch_only_wakes() -> None:
    bench = Bench().opened()
    change = bench.do(Do(Task.EXPORT), after=3600.0)
    assert change.kind is ChangeKind.WOKE
    assert bench.session.panel is Panel.NONE
    assert bench.desk.started == []


def test_the_way_in_is_a_way_out() -> None:
    bench = Bench().opened()
    bench.do(Turn(Page.PINS), OpenService())
    assert bench.service.page is Page.HOME
    bench.do(OpenService())
    assert bench.session.panel is Panel.NONE


# -- pages ---------------------------------------------------------------------------------------


def test_back_leads_up_and_out() -> None:
    bench = Bench().opened()
    for page in HARMLESS - {Page.HOME} | {Page.SETTINGS, Page.STATISTICS, Page.POWER}:
        bench.do(Turn(page))
        assert bench.service.page is page
        bench.do(Close())
        assert bench.service.page is Page.HOME
    bench.do(Close())
    assert bench.session.panel is Panel.NONE


def test_every_picture_is_shown_once() -> None:
    bench = Bench().opened()
    bench.do(Turn(Page.PIXELS))
    seen = []
    while bench.service.page is Page.PIXELS:
        seen.append(PICTURES[bench.service.picture])
        bench.do(NextPicture())
    assert tuple(seen) == PICTURES
    assert bench.service.page is Page.HOME


def test_lamps_go_through_their_states_and_out_with_the_page() -> None:
    bench = Bench(wired=WIRED).opened()
    assert bench.do(Light("undo")).refusal is Refusal.BLOCKED
    bench.do(Turn(Page.PINS))
    seen = []
    for _ in range(4):
        bench.do(Light("undo"))
        seen.append(bench.service.lamps["undo"])
    assert seen == ["on", "breathing", "off", "on"]
    assert bench.do(Light("hint")).refusal is Refusal.BLOCKED, "not wired"
    bench.do(Close())
    assert bench.service.lamps == {}


def test_a_button_is_shown_as_soon_as_it_moves_and_only_then() -> None:
    bench = Bench(wired=WIRED).opened()
    bench.do(Turn(Page.PINS), Tick())
    assert bench.do(Tick()).kind is ChangeKind.NOTHING
    bench.desk.wired = PinFacts({"undo": True}, ("undo",), WIRED.numbers)
    assert bench.do(Tick()).kind is ChangeKind.PANEL
    assert bench.do(Tick()).kind is ChangeKind.NOTHING


def test_settings_are_changed_step_by_step_and_given_up() -> None:
    bench = Bench().opened()
    assert bench.do(Adjust("sound.volume", up=True)).refusal is Refusal.BLOCKED, "another page"
    bench.do(Turn(Page.SETTINGS), Adjust("sound.volume", up=True), Adjust("game.preset", up=False))
    assert bench.desk.changed == {"sound.volume": 0.6, "game.preset": "overlap"}
    for _ in range(20):
        bench.do(Adjust("sound.volume", up=True))
    assert bench.desk.changed["sound.volume"] == 1.0
    bench.do(UseFile())
    assert bench.desk.changed == {}


def test_what_is_not_there_cannot_be_set() -> None:
    bench = Bench(missing=frozenset({"backlight.full"})).opened()
    bench.do(Turn(Page.SETTINGS))
    assert bench.do(Adjust("backlight.full", up=False)).refusal is Refusal.BLOCKED


# -- tasks ---------------------------------------------------------------------------------------


def test_an_export_is_reported() -> None:
    bench = Bench().opened()
    bench.do(Turn(Page.STATISTICS), Do(Task.EXPORT))
    assert bench.desk.started == [Task.EXPORT]
    assert bench.service.busy is Task.EXPORT
    assert bench.do(Do(Task.EXPORT)).refusal is Refusal.BLOCKED, "one at a time"
    report = Report(Task.EXPORT, True, "/media/stick", on_stick=True)
    bench.do(ServiceDone(report))
    assert (bench.service.busy, bench.service.report) == (None, report)
    bench.do(Close())
    assert bench.service.report is None


@pytest.mark.parametrize("task", [Task.RESET, Task.RESTART, Task.REBOOT, Task.POWER_OFF])
def test_what_cannot_be_taken_back_is_asked_about(task: Task) -> None:
    bench = Bench().opened()
    bench.do(Do(task, confirmed=True))
    assert bench.desk.started == [], "nobody has asked yet"
    assert (bench.service.page, bench.service.asking) == (Page.CONFIRM, task)
    bench.do(Close())
    assert bench.service.page in {Page.STATISTICS, Page.POWER}
    other = Task.RESET if task is not Task.RESET else Task.POWER_OFF
    bench.do(Do(task), Do(other, confirmed=True))
    assert bench.desk.started == [], "asked about something else"
    bench.do(Do(task), Do(task, confirmed=True))
    assert bench.desk.started == [task]


def test_statistics_are_forgotten_when_they_are_safe_elsewhere_and_not_before() -> None:
    bench = Bench().opened()
    statistics = bench.session.statistics
    statistics.add(Result("three-pass", 1, "won", 40, 200.0, 0, 0), bench.session.today)
    bench.do(Do(Task.RESET), Do(Task.RESET, confirmed=True))
    bench.do(ServiceDone(Report(Task.RESET, False, why="full")))
    assert statistics.all.played == 1
    bench.do(Do(Task.RESET), Do(Task.RESET, confirmed=True))
    bench.do(ServiceDone(Report(Task.RESET, True, "/var/lib/copy")))
    assert statistics.all.played == 0


def test_a_stick_that_hangs_keeps_nobody_from_switching_off() -> None:
    bench = Bench().opened()
    bench.do(Do(Task.EXPORT), Do(Task.EXPORT))
    assert bench.desk.started == [Task.EXPORT]
    bench.do(Do(Task.POWER_OFF), Do(Task.POWER_OFF, confirmed=True))
    assert bench.desk.started == [Task.EXPORT, Task.POWER_OFF]
    bench.do(ServiceDone(Report(Task.EXPORT, True, place="/stick")))
    assert bench.service.busy is Task.POWER_OFF
    bench.do(Do(Task.RESTART), Do(Task.EXPORT))
    assert bench.desk.started == [Task.EXPORT, Task.POWER_OFF]


def test_a_task_that_ends_after_the_menu_is_no_matter() -> None:
    bench = Bench().opened()
    bench.do(Do(Task.EXPORT), Close(), Close(), ServiceDone(Report(Task.EXPORT, True)))
    assert bench.session.panel is Panel.NONE
    bench.opened()
    assert bench.service.busy is None


# -- other settings at once ----------------------------------------------------------------------


def test_other_rules_replace_a_table_that_nobody_has_touched() -> None:
    bench = Bench()
    change = bench.do(Configure(SessionOptions(preset="classic", grade=Grade.HARD)))
    assert change.kind is ChangeKind.DEALT
    assert bench.session.preset == "classic"
    assert bench.dealer.wanted[-1] is Grade.HARD


def test_other_rules_wait_for_the_end_of_a_game() -> None:
    bench = Bench()
    bench.do(Draw())
    number = bench.session.number
    bench.do(Configure(SessionOptions(preset="classic")))
    assert (bench.session.preset, bench.session.number) == ("three-pass", number)
    bench.do(NewDeal(confirmed=True))
    assert bench.session.preset == "classic"


def test_other_rules_behind_the_demo_show_when_somebody_comes() -> None:
    bench = Bench(start_in_attract=True)
    bench.do(Configure(SessionOptions(preset="relaxed")))
    assert bench.session.attract
    bench.do(Touched())
    assert bench.session.preset == "relaxed"


def test_idle_times_count_at_once() -> None:
    bench = Bench()
    bench.do(Draw(), Configure(SessionOptions(attract_after=10.0, countdown=5.0)))
    bench.tick(12)
    assert bench.session.panel is Panel.COUNTDOWN


def test_another_language_and_look_show_at_once_where_nobody_is() -> None:
    bench = Bench(start_in_attract=True)
    wanted = SessionOptions(language="de", look=DisplaySettings(four_colour=True))
    bench.do(Configure(wanted))
    assert bench.session.attract
    assert (bench.session.language, bench.session.look) == ("de", wanted.look)


def test_another_look_counts_at_once_but_for_what_the_visitor_has_chosen() -> None:
    bench = Bench()
    bench.do(Draw(), SetLook("oled", on=True))
    look = DisplaySettings(width_mm=155.0, four_colour=True)
    bench.do(Configure(SessionOptions(language="de", look=look, auto_play=True)))
    session = bench.session
    assert session.look == DisplaySettings(width_mm=155.0, four_colour=True, oled=True)
    assert session.auto_play
    assert session.language == "en", "no other words in the middle of a game"
    bench.do(SetAutoPlay(on=False), NewDeal(confirmed=True))
    bench.do(Configure(SessionOptions(language="en")), Configure(SessionOptions(language="de")))
    assert (session.language, session.auto_play) == ("de", False)


def test_a_countdown_that_is_not_due_any_more_goes_away() -> None:
    bench = Bench()
    bench.do(Draw(), Open(Panel.RULES))
    bench.tick(62)
    assert bench.session.panel is Panel.COUNTDOWN
    bench.do(Configure(SessionOptions(attract_after=0.0)))
    bench.tick(1000)
    assert bench.session.panel is Panel.RULES


def test_the_look_of_whoever_left_follows_the_operator_too() -> None:
    bench = Bench()
    bench.do(Draw(), SetLook("oled", on=True))
    bench.tick(62)
    bench.tick(21)
    assert bench.session.attract
    bench.do(Configure(SessionOptions(look=DisplaySettings(width_mm=155.0))))
    bench.do(Touched(), Close())
    assert bench.session.look == DisplaySettings(width_mm=155.0, oled=True)


def test_a_number_is_still_looked_into_when_other_rules_are_dealt() -> None:
    bench = Bench()
    bench.do(Open(Panel.NUMBER), CheckDeal(123456789))
    bench.do(Configure(SessionOptions(preset="classic")))
    bench.do(AdviceReady(bench.adviser.asked[-1][0], None))
    checked = bench.session.checked
    assert checked is not None
    assert not checked.thinking


# -- nobody gets in by chance --------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_an_hour_of_random_commands_never_gets_past_the_pin(seed: int) -> None:
    rng = Random(seed)
    bench = Bench()
    visitor: list[Command] = [
        *(Tap(target) for target in (*range(28), *Pile)),
        Draw(),
        Undo(),
        Redo(),
        Close(),
        Touched(),
        NewDeal(),
        NewDeal(confirmed=True),
        *(Open(panel) for panel in Panel),
        OpenService(),
        *(TypePin(digit) for digit in "0123456789"),
        EnterPin(),
        *EVERYTHING,
        Tick(),
    ]
    end = bench.now + 3600
    while bench.now < end:
        bench.do(rng.choice(visitor), after=rng.uniform(0.02, 0.5))
        assert not bench.service.may_change
        assert (bench.desk.started, bench.desk.changed) == ([], {})
    assert bench.desk.checked < 20, "three at once, then slower and slower"
    assert bench.kept


def test_the_solver_may_answer_while_the_menu_is_open() -> None:
    bench = Bench()
    bench.do(Draw(), Hint())
    question = bench.session._question
    bench.opened()
    bench.do(AdviceReady(question, Advice(False, None, (), 1)))
    assert bench.session.panel is Panel.SERVICE
