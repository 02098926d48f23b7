"""Buttons, status and panels in a real window: what they show, what they send, that all fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from itertools import combinations, groupby, pairwise
from typing import Any

import pytest

from engine.advice import Advice
from engine.deal import LAST_DEAL
from engine.difficulty import Grade
from engine.position import MoveKind, Outcome
from engine.rules import PRESETS
from kiosk import burnin, reel_wording, theme, wording
from kiosk.attract import target_of
from kiosk.commands import (
    AdviceReady,
    BackToWinnable,
    Change,
    ChangeKind,
    CheckDeal,
    Close,
    Command,
    Darken,
    Draw,
    Drop,
    Hint,
    NewDeal,
    Open,
    Panel,
    Pile,
    Redo,
    Replay,
    SetAutoPlay,
    SetLanguage,
    SetLook,
    Tap,
    Tick,
    Touched,
    Undo,
)
from kiosk.errorlog import Logged
from kiosk.layout import Control, Layout, Rect
from kiosk.overrides import STEPS
from kiosk.power import NOT_HEEDED
from kiosk.service import PinFacts, PoolFacts, Service
from kiosk.service_commands import (
    Do,
    EnterPin,
    OpenService,
    Page,
    Report,
    ServiceDone,
    Task,
    Turn,
    TypePin,
)
from kiosk.session import Session
from kiosk.sessiontypes import Configure, SessionOptions, Tell
from kiosk.settings import DisplaySettings
from kiosk.showreel import SceneKind
from kiosk.statistics import LOST, WON, Figures, Result
from kiosk.texts import Texts, available_languages, texts_in
from kiosk.wording import clock
from tests.kiosk.fakes import WON_BY_HAND, FakeAdviser, FakeDealer, moves, service

SIZES = [(800, 480), (1024, 600), (1280, 720), (1920, 1080), (720, 1280), (1200, 1920)]
LANGUAGES = ("en", "de", "es", "fr")
SMALL = Layout.for_screen(800, 480)


class Screen:
    """Hud and panels over nothing, with a session behind them, as the app puts them together."""

    def __init__(
        self,
        window: Any,
        session: Session,
        *,
        layout: Layout = SMALL,
        language: str = "en",
        **options: Any,
    ) -> None:
        from kivy.uix.floatlayout import FloatLayout

        from kiosk.screens import Hud, PanelHost

        self.window = window
        self.session = session
        self.now = session._now
        self.sent: list[Command] = []
        self.layout = layout
        texts = texts_in(language)
        self.hud = Hud(self.send, layout, texts, **options)
        self.panels = PanelHost(self.send, layout, texts, **options)
        self.root = FloatLayout(size=layout.screen.size, size_hint=(None, None))
        self.root.add_widget(self.hud)
        self.root.add_widget(self.panels)
        window.add_widget(self.root)
        self.refresh()

    def send(self, command: Command) -> Change:
        self.sent.append(command)
        return self.do(command)

    def do(self, command: Command, seconds: float = 0.5) -> Change:
        self.now += seconds
        language = self.session.speaks
        change = self.session.handle(command, self.now)
        if self.session.speaks != language:
            self.hud.set_texts(texts_in(self.session.speaks))
            self.panels.set_texts(texts_in(self.session.speaks))
        self.hud.message(change)
        self.refresh()
        return change

    def refresh(self) -> None:
        self.hud.update(self.session)
        self.panels.update(self.session)

    def close(self) -> None:
        self.window.remove_widget(self.root)

    # -- what is there ---------------------------------------------------------------------------

    def shown(self, kind: Any = None) -> list[Any]:
        """The widgets that are shown, of a class or of any."""
        return [w for w in self.root.walk() if kind is None or isinstance(w, kind)]

    def says(self) -> list[str]:
        from kiosk.widgets import TextBox

        return [box.text for box in self.shown(TextBox) if box.text]

    def button(self, text: str) -> Any:
        from kiosk.widgets import PushButton

        return next(b for b in self.shown(PushButton) if b.label.text == text)

    # -- touch -----------------------------------------------------------------------------------

    def touch(self, x: float, y: float) -> Any:
        from kivy.tests.common import UnitTestTouch

        touch = UnitTestTouch(x, y)
        touch.touch_down()
        return touch

    def tap(self, x: float, y: float) -> None:
        self.touch(x, y).touch_up()

    def press(self, text: str) -> None:
        self.tap(*self.button(text).rect.center)


Make = Callable[..., Screen]


@pytest.fixture
def make(stage: Any) -> Iterator[Make]:
    """Makes screens, and takes them away again."""
    made: list[Screen] = []

    def build(session: Session | None = None, **options: Any) -> Screen:
        made.append(Screen(stage.window, session or new_session(), **options))
        return made[-1]

    yield build
    for screen in made:
        screen.close()


# -- sessions in every state ---------------------------------------------------------------------


def new_session(
    preset: str = "three-pass",
    language: str = "en",
    menu: Service | None = None,
    **options: Any,
) -> Session:
    options.setdefault("start_in_attract", False)
    return Session(
        FakeDealer(),
        FakeAdviser(),
        SessionOptions(preset=preset, language=language, **options),
        now=0.0,
        service=menu or service(),
    )


#: A panel with everything on it.
WIRED = PinFacts(
    {
        **dict.fromkeys(
            ("undo", "new_deal", "hint", "redo", "draw", "up", "down", "left", "right", "select"),
            False,
        ),
        "wheel": -12,
        "presence": True,
    },
    ("undo", "new_deal", "hint", "redo", "draw"),
    {
        **{
            f"input {name}": "27"
            for name in (
                "undo",
                "new_deal",
                "hint",
                "redo",
                "draw",
                "up",
                "down",
                "left",
                "right",
                "select",
                "presence",
            )
        },
        "input wheel": "22, 23",
        **{f"lamp {name}": "27" for name in ("undo", "new_deal", "hint", "redo", "draw")},
    },
)
#: Pages of the service menu, and what else they may show.
SERVICE_STATES = {
    **{f"service_{page.value}": page for page in Page if page is not Page.CONFIRM},
    "service_none": Page.HOME,
    "service_locked": Page.PIN,
    "service_no_errors": Page.ERRORS,
    "service_no_pins": Page.PINS,
    "service_broken_pins": Page.PINS,
    "service_bad_pool": Page.STATUS,
    "service_exported": Page.STATISTICS,
    "service_exported_here": Page.STATISTICS,
    "service_not_exported": Page.STATISTICS,
    "service_reset": Page.STATISTICS,
    "service_busy": Page.POWER,
    "service_no_power": Page.POWER,
    **{f"service_ask_{task.value}": Page.CONFIRM for task in Task if task is not Task.EXPORT},
}


def in_service(name: str, language: str) -> Session:
    """A session with a page of the service menu open."""
    long_why = "button undo on GPIO 17: [Errno 16] Device or resource busy"
    facts: dict[str, Any] = {
        "service_none": {"pin": None},
        "service_errors": {
            "log": [
                Logged(1.8e9 - 100 * i, 30 + 10 * (i % 2), "what went wrong " * (1 + 3 * i), 1 + i)
                for i in range(9)
            ]
        },
        "service_pins": {"wired": WIRED},
        "service_broken_pins": {"wired": PinFacts({}, ("undo",), WIRED.numbers, long_why)},
        "service_settings": {
            "changed": dict.fromkeys(STEPS, 0) | {key: STEPS[key][-1] for key in STEPS},
            "missing": frozenset({"backlight.full"}),
        },
        "service_bad_pool": {
            "pool": PoolFacts(
                {},
                False,
                "/opt/pyramid-kiosk/engine/data/pool.sqlite: the digest of the deals is not the "
                "one that is written there; deals are searched for by the solver instead",
            )
        },
    }.get(name, {})
    if name == "service_settings":
        facts["changed"]["game.preset"] = "collection"
    session = new_session("three-pass", language, service(**facts))
    menu = session.service
    assert menu is not None

    def do(*commands: Command) -> None:
        for command in commands:
            session.handle(command, session._now + 0.5)

    page = SERVICE_STATES[name]
    do(OpenService())
    if name == "service_locked":
        for _ in range(8):
            do(*[TypePin("0")] * 4, EnterPin())
            session.handle(Tick(), session._now + 80)
        do(*[TypePin("0")] * 4, EnterPin())
    if page is Page.PIN:
        return session
    do(*(TypePin(digit) for digit in "4711"), EnterPin())
    task = next((t for t in Task if name == f"service_ask_{t.value}"), None)
    if task is not None:
        do(Do(task))
        return session
    if page is not Page.HOME:
        do(Turn(page))
    stick, state = "/media/pyramid/Kingston DataTraveler", "/var/lib/pyramid-kiosk/export"
    report = {
        "service_exported": Report(Task.EXPORT, True, stick, on_stick=True),
        "service_exported_here": Report(Task.EXPORT, True, state),
        "service_not_exported": Report(Task.EXPORT, False, why="No space left on device"),
        "service_reset": Report(Task.RESET, True, "/var/lib/pyramid-kiosk/state.sqlite.reset-1"),
        "service_no_power": Report(Task.POWER_OFF, False, why=NOT_HEEDED),
    }.get(name)
    if name == "service_busy":
        do(Do(Task.REBOOT), Do(Task.REBOOT, confirmed=True))
    elif report is not None:
        do(Do(report.task), Do(report.task, confirmed=True), ServiceDone(report))
    return session


def play(session: Session, n: int) -> None:
    """Play ``n`` moves of the line that wins, two seconds each."""
    for move in moves(WON_BY_HAND[session.preset][1])[session.moves_played :][:n]:
        session.handle(Tick(), session._now + 2)
        if move.kind in {MoveKind.DRAW, MoveKind.REDEAL}:
            session.handle(Draw(), session._now)
        else:
            for card in move.cards:
                place = session.position.deal.place_of[card]
                session.handle(Tap(target_of(session.position, place)), session._now)


def clumsy(session: Session) -> Command:
    """What somebody does who draws whenever that is possible."""
    position = session.position
    if position.can_draw or position.can_redeal:
        return Draw()
    for place in position.available:
        if position.deal.cards[place].is_king:
            return Tap(target_of(position, place))
        for partner in position.partners(place):
            return Drop(target_of(position, place), target_of(position, partner))
    raise AssertionError("a running game has a move")


def in_state(state: str, language: str = "en") -> Session:
    """A session with a certain panel open, or in another state worth a picture."""
    name, _, preset = state.partition(" ")
    session = new_session(preset or "three-pass", language, start_in_attract=name == "attract")

    def do(command: Command) -> None:
        session.handle(command, session._now + 0.5)

    if name == "won":
        play(session, 99)
    elif name == "stuck":
        while session.position.outcome is Outcome.RUNNING:
            do(clumsy(session))
    elif name in {"cannot_win", "never_winnable"}:
        play(session, 11)
        session._table.lines[session._table.game.index] = None
        do(Hint())
        once = name == "cannot_win"
        advice = Advice(False, 4 if once else None, moves("D") if once else (), 1)
        do(AdviceReady(session._question, advice))
    elif name == "give_up":
        play(session, 5)
        do(NewDeal())
    elif name == "continue":
        play(session, 5)
        session.handle(Tick(), session._now + 100)
        do(Touched())
    elif name == "countdown":
        play(session, 5)
        session.handle(Tick(), session._now + 63)
    elif name in {"menu", "rules", "choose", "number", "statistics", "look", "pause"}:
        play(session, 3)
        do(Undo())
        do(Open(Panel(name)))
    elif name == "play":
        play(session, 12)
    elif name == "service":
        do(OpenService())
    elif name in SERVICE_STATES:
        return in_service(name, language)
    elif name in VARIANTS:
        return in_variant(name, language)
    return session


def in_variant(name: str, language: str) -> Session:
    """A session whose panel shows something more than in :func:`in_state`."""
    session = in_state("stuck" if name == "stuck_back" else "new", language)

    def do(command: Command) -> None:
        session.handle(command, session._now + 0.5)

    if name == "stuck_back":
        do(AdviceReady(session._question, Advice(False, 8, moves("D"), 1)))
    elif name == "give_up_replay":
        play(session, 5)
        do(Replay())
    elif name.startswith("give_up_"):
        play(session, 5)
        do(
            {
                "give_up_daily": NewDeal(daily=True),
                "give_up_number": NewDeal(number=LAST_DEAL),
                "give_up_preset": NewDeal(preset="collection"),
            }[name]
        )
    elif name == "waits":
        do(Draw())
        do(Hint())
        do(AdviceReady(session._question, Advice(True, 1, moves("D"), 1, waits=True)))
    elif name == "lost":
        play(session, 12)
        session.handle(Configure(SessionOptions(language=language, tell=Tell.ALWAYS)), session._now)
        session._table.lose(None)
    elif name == "number_checked":
        do(Open(Panel.NUMBER))
        do(CheckDeal(LAST_DEAL))
        do(AdviceReady(session._question, Advice(False, None, (), 1)))
    elif name == "statistics_played":
        for number, (preset, (_deal, line)) in enumerate(WON_BY_HAND.items()):
            for grade in (*Grade, None):
                session.statistics.add(
                    Result(
                        preset=preset,
                        number=number,
                        outcome="won" if number % 2 else "lost",
                        moves=len(line.split()),
                        seconds=3599.0 + number,
                        hints=0,
                        undos=0,
                        grade=None if grade is None else grade.name.lower(),
                    ),
                    date(2026, 1, 1),
                )
        do(Open(Panel.STATISTICS))
    return session


PANELS = [panel.value for panel in Panel if panel is not Panel.NONE]
VARIANTS = [
    "waits",
    "stuck_back",
    "never_winnable",
    "give_up_replay",
    "give_up_daily",
    "give_up_number",
    "give_up_preset",
    "lost",
    "number_checked",
    "statistics_played",
]
STATES = [
    "new",
    "play",
    "attract",
    *PANELS,
    *VARIANTS,
    *SERVICE_STATES,
    *(f"rules {preset}" for preset in PRESETS),
]


@pytest.mark.parametrize("panel", PANELS)
def test_the_states_are_what_they_are_called(panel: str) -> None:
    assert in_state(panel).panel is Panel(panel)


# -- everything fits -----------------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("size", SIZES)
def test_everything_fits(make: Make, size: tuple[int, int], language: str) -> None:
    layout = Layout.for_screen(*size)
    for state in STATES:
        screen = make(in_state(state, language), layout=layout, language=language)
        check_texts_fit(screen, state)
        check_controls(screen, state)
        if screen.panels.sheet is not None:
            check_sheet(screen, state)
        screen.close()


#: Languages that somebody may add, each by a file of its own.
ADDED = {"it": "Italiano", "nl": "Nederlands", "pl": "Polski", "pt": "Português (Brasil)"}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("size", SIZES)
def test_everything_fits_with_a_fifth_language(
    make: Make, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int], language: str
) -> None:
    from kiosk import hud, screens

    layout = Layout.for_screen(*size)
    languages = available_languages()
    for code, name in ADDED.items():
        with monkeypatch.context() as patch:
            five = {**languages, code: name}
            patch.setattr(hud, "shipped_languages", lambda five=five: five)
            patch.setattr(screens, "available_languages", lambda five=five: five)
            for state in ("new", "menu", "continue"):
                screen = make(in_state(state, language), layout=layout, language=language)
                check_texts_fit(screen, state)
                check_controls(screen, state)
                if screen.panels.sheet is not None:
                    check_sheet(screen, state)
                    assert name in screen.says()
                screen.close()


@pytest.mark.parametrize("size", SIZES)
def test_whoever_comes_back_may_choose_among_many_languages(
    make: Make, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    from kiosk import hud, screens

    many = {**available_languages(), **ADDED}
    monkeypatch.setattr(hud, "shipped_languages", lambda: many)
    monkeypatch.setattr(screens, "available_languages", lambda: many)
    for state in ("new", "continue"):
        screen = make(in_state(state), layout=Layout.for_screen(*size))
        assert all(box.fitted.fits for box in text_boxes(screen))
        check_controls(screen, state)
        screen.close()


def check_texts_fit(screen: Screen, state: str) -> None:
    """Every text is in its place, and not much smaller than it should be."""
    screen_rect = screen.layout.screen
    least = min(screen_rect.size) / 480 * 12
    for box in text_boxes(screen):
        if box.text:
            about = f"{state}: {box.text!r} at {box.fitted.size} px in {box.rect}"
            assert box.fitted.fits, about
            assert box.fitted.size >= least, about
            assert screen_rect.holds(box.rect), about


def check_controls(screen: Screen, state: str) -> None:
    """What can be touched is as large as a finger needs, and does not overlap."""
    from kiosk.widgets import Pressable

    holder = screen.hud if screen.panels.sheet is None else screen.panels.sheet
    controls = [w.rect for w in holder.walk() if isinstance(w, Pressable)]
    assert bool(controls) == (state not in {"attract", "countdown", "service_pixels"})
    least = screen.layout.touch
    assert all(min(rect.size) >= least for rect in controls), (state, controls, least)
    assert all(a.overlap(b) == 0 for a, b in combinations(controls, 2)), state


def check_sheet(screen: Screen, state: str) -> None:
    """A panel is on the screen, all that belongs to it is on it, and no texts collide."""
    from kiosk.widgets import PushButton, TextBox

    sheet = screen.panels.sheet
    assert screen.layout.screen.holds(sheet.rect)
    inside = [w for w in sheet.walk() if isinstance(w, TextBox | PushButton)]
    assert all(sheet.rect.holds(w.rect) for w in inside), state
    texts = [w for w in inside if isinstance(w, TextBox) and w.text]
    assert texts
    for a, b in combinations(texts, 2):
        assert ink(a).overlap(ink(b)) == 0, (state, a.text, b.text)


def ink(box: Any) -> Rect:
    """Where a text really is."""
    quad = box._quad
    return Rect(*map(int, quad.pos), *map(int, quad.size))


def test_the_attract_call_leaves_the_pyramid_free(make: Make) -> None:
    from kiosk.widgets import Plate

    for size in SIZES:
        layout = Layout.for_screen(*size)
        screen = make(in_state("attract"), layout=layout)
        for plate in screen.shown(Plate):
            rect = Rect(*map(int, plate._shape.pos), *map(int, plate._shape.size))
            if plate._colour.a:
                assert all(rect.overlap(card) == 0 for card in layout.pyramid), size
        screen.close()


# -- the hud -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "command"),
    [("Undo", Undo()), ("Hint", Hint()), ("New deal", NewDeal()), ("Menu", Open(Panel.MENU))],
)
def test_a_button_sends_its_command_at_touch_up(make: Make, label: str, command: Command) -> None:
    screen = make(in_state("play"))
    touch = screen.touch(*screen.button(label).rect.center)
    assert screen.button(label).down
    assert screen.sent == []
    touch.touch_up()
    assert screen.sent == [command]
    assert not screen.button(label).down


def test_a_finger_that_slides_off_does_nothing(make: Make) -> None:
    screen = make(in_state("play"))
    button = screen.button("Undo")
    touch = screen.touch(*button.rect.center)
    touch.touch_move(button.rect.x - 100, button.rect.y)
    assert not button.down
    touch.touch_up()
    assert screen.sent == []


def test_a_finger_that_slides_back_or_slips_a_little_still_acts(make: Make) -> None:
    screen = make(in_state("play"))
    button = screen.button("Undo")
    touch = screen.touch(*button.rect.center)
    touch.touch_move(button.rect.x - 100, button.rect.y)
    touch.touch_move(button.rect.x - screen.layout.unit // 2, button.rect.y)
    assert button.down
    touch.touch_up()
    assert screen.sent == [Undo()]


def test_a_touch_that_comes_from_beside_does_nothing(make: Make) -> None:
    screen = make(in_state("play"))
    rect = screen.button("Undo").rect
    touch = screen.touch(rect.x - 100, rect.y + 5)
    touch.touch_move(*rect.center)
    touch.touch_up()
    assert screen.sent == []


def test_undo_and_hint_look_unusable_when_they_are(make: Make) -> None:
    screen = make(new_session())
    assert not screen.button("Undo").enabled
    assert screen.button("Hint").enabled
    screen.press("Undo")
    assert screen.sent == []
    screen.do(Draw())
    assert screen.button("Undo").enabled
    screen.session._table.lines[1] = None
    screen.do(Hint())
    assert not screen.button("Hint").enabled
    assert "Thinking…" in screen.says()


def test_a_button_that_becomes_unusable_while_pressed_does_nothing(make: Make) -> None:
    screen = make(in_state("play"))
    touch = screen.touch(*screen.button("Undo").rect.center)
    while screen.session.can_undo:
        screen.do(Undo())
    assert not screen.button("Undo").down
    touch.touch_up()
    assert screen.sent == []


def test_figures_follow_the_game(make: Make) -> None:
    session = new_session()
    screen = make(session)
    assert "Deal 5189 · Three passes" in screen.says()
    play(session, 3)
    screen.now = session._now
    screen.do(Tick(), 2.0)
    figures = screen.says()
    assert {str(session.position.cards_left), "3", "0:06", "1/3"} <= set(figures)


def test_before_the_first_move_the_languages_are_where_the_figures_will_be(make: Make) -> None:
    screen = make(new_session(language="de"), language="de")
    names = set(available_languages().values())
    assert names <= set(screen.says())
    assert "Durchgang" not in screen.says()
    assert screen.button("Deutsch").role == "chosen"
    screen.press("Français")
    assert screen.sent == [SetLanguage("fr")]
    assert screen.button("Français").role == "chosen"
    screen.do(Draw())
    assert not names & set(screen.says())
    assert "Passage" in screen.says()
    screen.do(Undo())
    assert names <= set(screen.says())


def test_the_question_whether_to_leave_a_game_is_about_what_was_asked_for_last(make: Make) -> None:
    screen = make(in_state("play"))
    for command, question in (
        (Replay(), "Start this deal again?"),
        (NewDeal(), "Deal a new game?"),
        (NewDeal(daily=True), "Play the deal of the day?"),
    ):
        screen.do(command)
        assert question in screen.says()


def test_languages_that_find_no_room_beside_the_table_are_left_to_the_menu(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kiosk import hud

    many = {code: code.upper() for code in "abcdefghi"}
    monkeypatch.setattr(hud, "shipped_languages", lambda: many)
    screen = make(new_session())
    assert not set(many.values()) & set(screen.says())
    assert "1/3" in screen.says()


def test_the_goal_is_told_all_along(make: Make) -> None:
    screen = make(new_session(coaching=False))
    how, goal = "Make 13: tap two free cards", "Make 13, clear the pyramid"
    assert how in screen.says()
    screen.do(Draw())
    assert how in screen.says(), "a card drawn is nobody's first pair"
    screen.do(Undo())
    play(screen.session, 2)
    screen.refresh()
    assert goal in screen.says()
    play(screen.session, 9)
    screen.refresh()
    assert goal in screen.says()


def test_a_newcomers_first_king_is_explained_where_the_goal_stands(make: Make) -> None:
    session = new_session()
    line = moves(WON_BY_HAND["three-pass"][1])
    before = next(i for i, move in enumerate(line) if move.kind is MoveKind.KING)
    play(session, before)
    screen = make(session)
    (card,) = line[before].cards
    place = session.position.deal.place_of[card]
    screen.do(Tap(target_of(session.position, place)))
    assert "K counts 13: it goes alone" in screen.says()


@pytest.mark.parametrize("left_handed", [False, True])
@pytest.mark.parametrize("size", [(800, 480), (720, 1280)])
def test_the_title_keeps_to_its_edge_of_the_screen(
    make: Make, size: tuple[int, int], left_handed: bool
) -> None:
    layout = Layout.for_screen(*size, left_handed=left_handed)
    screen = make(new_session(), layout=layout)
    (name,) = (box for box in text_boxes(screen) if box.text == "Make 13: tap two free cards")
    (x, _y), (w, _h) = name._quad.pos, name._quad.size
    room = name.rect
    gaps = (x - room.x, room.right - (x + w))
    assert gaps[left_handed] == 0 < gaps[not left_handed]


def test_a_deal_is_named_by_number_or_day_and_grade(make: Make) -> None:
    screen = make(new_session())
    screen.session._table.grade = "hard"
    screen.refresh()
    assert "Deal 5189 · Hard · Three passes" in screen.says()
    screen.do(NewDeal(daily=True))
    assert "Deal of the day · Three passes" in screen.says()
    assert not [text for text in screen.says() if "5189" in text]
    screen.do(NewDeal(preset="collection"))
    screen.session._table.grade = "medium"
    screen.refresh()
    assert "Deal 3545 · Medium" in screen.says(), "no room for a name so long"


def test_a_lost_game_is_said_quietly_and_the_hint_stays(make: Make) -> None:
    screen = make(in_state("lost"))
    assert "This game cannot be won any more" in screen.says()
    assert "Make 13, clear the pyramid" in screen.says()
    assert screen.button("Hint").enabled
    screen.do(Undo())
    assert "This game cannot be won any more" not in screen.says()


def test_an_empty_stock_is_not_counted(make: Make) -> None:
    screen = make(new_session())
    count = screen.hud._play._figures["stock"]
    while screen.session.position.can_draw:
        assert count.text == str(len(screen.session.position.stock_places))
        screen.do(Draw(), 1.0)
    assert count.text == ""


def test_messages_name_cards_as_they_are_printed(make: Make) -> None:
    session = new_session(language="de", look=DisplaySettings(local_indices=True))
    screen = make(session, language="de")
    places = session.position.available
    ranks = {session.position.deal.cards[p].rank: p for p in places}
    queen = next(rank for rank in (12, 11) if rank in ranks)
    other = next(rank for rank in ranks if rank not in {13, 13 - queen, queen})
    screen.do(Tap(ranks[queen]))
    screen.do(Tap(ranks[other]))
    letter = {12: "D", 11: "B"}[queen]
    assert any(text.startswith(f"{letter} ({queen}) + ") for text in screen.says())


def test_a_refusal_is_said_for_three_seconds(make: Make, stage: Any) -> None:
    screen = make(new_session())
    said = "Both cards that lie on it must go first"
    assert screen.do(Tap(0)).kind is ChangeKind.REFUSED
    assert said in screen.says()
    assert "Make 13: tap two free cards" not in screen.says()
    stage.wait(2.5)
    assert said in screen.says()
    stage.wait(1.0)
    assert said not in screen.says()
    assert "Make 13: tap two free cards" in screen.says()


def test_a_second_refusal_stays_its_own_three_seconds(make: Make, stage: Any) -> None:
    screen = make(new_session())
    screen.do(Tap(0))
    stage.wait(2.0)
    screen.do(Tap(Pile.WASTE))
    stage.wait(2.0)
    assert "The waste is empty" in screen.says()
    stage.wait(1.5)
    assert "The waste is empty" not in screen.says()


def test_a_hint_is_said_as_long_as_it_is_shown(make: Make, stage: Any) -> None:
    screen = make(in_state("waits"))
    said = "Draw a card. A pair taken now would lose the game."
    stage.wait(10.0)
    assert said in screen.says()
    screen.do(Draw())
    assert said not in screen.says()


def test_a_move_silences_the_message(make: Make) -> None:
    screen = make(new_session())
    screen.do(Tap(0))
    screen.do(Draw())
    assert "Both cards that lie on it must go first" not in screen.says()
    assert "Make 13: tap two free cards" in screen.says()


@pytest.mark.parametrize("state", ["new", "play", *PANELS])
def test_nothing_is_drawn_when_nothing_changes(make: Make, stage: Any, state: str) -> None:
    screen = make(in_state(state))
    stage.wait(1.0)
    screen.refresh()
    assert stage.drawn_frames(1.0) == 0


def test_a_change_is_drawn_in_the_next_frame(make: Make, stage: Any) -> None:
    screen = make(in_state("play"))
    stage.wait(1.0)
    screen.do(Undo())
    assert stage.drawn_frames(1.0) == 1


def test_only_the_time_is_drawn_again_each_second(make: Make, stage: Any) -> None:
    screen = make(in_state("play"))
    before = {box: id(box._quad.texture) for box in text_boxes(screen)}
    for _tick in range(4):
        screen.do(Tick(), 0.3)
    changed = [box.text for box in text_boxes(screen) if id(box._quad.texture) != before[box]]
    assert len(changed) == 1
    assert changed[0].startswith("0:")


def text_boxes(screen: Screen) -> list[Any]:
    from kiosk.widgets import TextBox

    return screen.shown(TextBox)


def test_another_language_is_spoken_at_once(make: Make) -> None:
    screen = make(in_state("menu"))
    screen.press("Deutsch")
    assert screen.sent == [SetLanguage("de")]
    assert {"Menü", "Rückgängig", "Neue Partie", "So wird gespielt"} <= set(screen.says())
    assert "Menu" not in screen.says()
    screen.press("Français")
    assert "Comment jouer" in screen.says()
    assert screen.session.moves_played == 2


def test_another_size_moves_everything(make: Make) -> None:
    screen = make(in_state("menu"))
    large = Layout.for_screen(1920, 1080)
    screen.hud.set_layout(large)
    screen.panels.set_layout(large)
    assert screen.hud.size == [1920, 1080]
    assert screen.button("Undo").rect == large.button(Control.UNDO)
    assert screen.panels.sheet.rect.right > 800


# -- attract mode --------------------------------------------------------------------------------


def test_attract_mode_calls_and_tells_what_it_does(make: Make) -> None:
    from kiosk.widgets import PushButton

    session = in_state("attract")
    screen = make(session)
    assert session.attract
    assert "Touch to play" in screen.says()
    assert not [text for text in screen.says() if "5189" in text or "Three passes" in text]
    assert screen.shown(PushButton) == []
    captions = set()
    for _ in range(400):
        screen.do(Tick(), 0.1)
        captions |= set(screen.says())
        if session.position.outcome is not Outcome.RUNNING:
            break
    # Between two lessons the moves are told.
    assert "Draw a card" in captions
    assert len([text for text in captions if text.endswith(" = 13")]) >= 2
    assert "The pyramid is cleared!" in screen.says()
    assert screen.do(Touched()).kind is ChangeKind.WOKE
    assert "Touch to play" not in screen.says()
    # Four that stay, and a language each.
    assert len(screen.shown(PushButton)) == 4 + len(available_languages())


def in_scene(screen: Screen, kind: SceneKind) -> Any:
    """Wait for a scene of the attract mode: its poster, if it has one."""
    for _ in range(300):
        screen.now += 1.0
        screen.session.handle(Tick(), screen.now)
        if screen.session.scene.kind is kind:
            screen.do(Tick(), 0.1)
            screen.hud.set_texts(texts_in(screen.session.speaks))
            return screen.hud._poster
    raise AssertionError(f"no scene {kind} in 300 s")


@pytest.mark.parametrize("size", [(800, 480), (1920, 1080), (720, 1280)])
@pytest.mark.parametrize("language", LANGUAGES)
def test_posters_hold_their_words_and_leave_the_call_free(
    make: Make, size: tuple[int, int], language: str
) -> None:
    from kiosk.widgets import TextBox

    session = new_session(language=language, start_in_attract=True)
    day = session.today
    for outcome in (WON, LOST):
        session.statistics.add(Result("three-pass", 1, outcome, 40, 200.0, 0, 0), day)
    layout = Layout.for_screen(*size)
    screen = make(session, layout=layout, language=language)
    calls = [layout.button(c) for c in Control] if layout.portrait else [layout.status]
    for kind in (SceneKind.CALL, SceneKind.DAILY, SceneKind.FIGURES):
        poster = in_scene(screen, kind)
        assert layout.screen.holds(poster.rect)
        assert all(poster.rect.overlap(call) == 0 for call in calls)
        boxes = [w for w in poster.walk() if isinstance(w, TextBox) and w.text]
        assert len(boxes) >= 4
        for box in boxes:
            assert box.fitted.fits, (kind, box.text)
            assert poster.rect.holds(box.rect), (kind, box.text)
        for a, b in combinations(boxes, 2):
            assert ink(a).overlap(ink(b)) == 0, (kind, a.text, b.text)


@pytest.mark.parametrize("size", SIZES)
def test_the_deal_of_the_day_leaves_no_slivers_of_cards(make: Make, size: tuple[int, int]) -> None:
    from kiosk.poster import poster_rect

    layout = Layout.for_screen(*size)
    rect = poster_rect(layout, SceneKind.DAILY)
    for place, card in enumerate(layout.pyramid):
        # What is seen of a card: all of the last row, a strip of every other.
        strip = card.h if place >= 21 else layout.row_step
        seen = Rect(card.x, card.top - strip, card.w, strip)
        shared = rect.overlap(seen) / (seen.w * seen.h)
        assert shared < 0.1 or shared > 0.85, (place, shared)


def test_every_scene_says_its_own(make: Make) -> None:
    session = new_session(start_in_attract=True)
    for outcome in (WON, WON, LOST):
        result = Result("three-pass", 1, outcome, 40, 200.0, 0, 0)
        session.statistics.add(result, session.today)
    screen = make(session)
    assert in_scene(screen, SceneKind.DEMO) is None
    in_scene(screen, SceneKind.CALL)
    assert "Make 13: tap two free cards" in screen.says()
    assert "Zum Spielen tippen" in " ".join(screen.says()), "the other languages call as well"
    in_scene(screen, SceneKind.DAILY)
    said = screen.says()
    assert "Deal of the day" in said
    assert "Deal 5189" in said
    assert reel_wording.date_words(Texts(), session.today) in said
    in_scene(screen, SceneKind.FIGURES)
    said = screen.says()
    assert [text for text in said if text in {"3", "games today", "2", "won"}] == [
        *("3", "games today", "2", "won")
    ]
    screen.do(Touched())
    assert screen.hud._poster is None
    assert "games today" not in screen.says()


def test_a_demo_teaches(make: Make) -> None:
    screen = make(in_state("attract"))
    captions = set()
    while screen.session.scene.kind is SceneKind.DEMO:
        screen.do(Tick(), 0.5)
        captions |= set(screen.says())
    assert "Two free cards that make 13 go together." in captions
    assert len([text for text in captions if text.endswith(".")]) >= 3


def test_posters_appear_softly_or_at_once(make: Make, stage: Any) -> None:
    screen = make(in_state("attract"))
    poster = in_scene(screen, SceneKind.CALL)
    assert poster.opacity == 0
    stage.wait(0.7)
    assert poster.opacity == 1
    still = make(in_state("attract"), reduced_motion=True)
    assert in_scene(still, SceneKind.CALL).opacity == 1


def test_nothing_breathes_in_the_dark(make: Make, stage: Any) -> None:
    screen = make(in_state("attract"))
    screen.do(Darken(dark=True))
    before = screen.hud._call._hand._colour.a
    assert stage.drawn_frames(0.5) <= 1
    assert screen.hud._call._hand._colour.a == before


def test_the_call_breathes_slowly_and_only_in_attract_mode(make: Make, stage: Any) -> None:
    screen = make(in_state("attract"))
    alphas = []
    for _frame in range(80):
        stage.wait(0.05)
        alphas.append(screen.hud._call._hand._colour.a)
    # Without those that are as strong as the one before.
    alphas = [alpha for alpha, _same in groupby(alphas)]
    turns = sum(
        (b - a) * (c - b) < 0 for a, b, c in zip(alphas, alphas[1:], alphas[2:], strict=False)
    )
    assert 1 <= turns <= 8, "at most one breath a second, two turns each"
    assert max(alphas) - min(alphas) > 0.3
    screen.do(Touched())
    still = screen.hud._call._hand._colour.a
    stage.wait(1.0)
    assert screen.hud._call._hand._colour.a == still


def test_the_call_breathes_in_steps_that_nobody_sees_and_draws_nothing_between(
    make: Make, stage: Any
) -> None:
    from kiosk.hud import PULSE, PULSE_LEAST, PULSE_STEP

    screen = make(in_state("attract"))
    stage.wait(1.0)
    alphas = [screen.hud._call._hand._colour.a]
    frames = 0
    for _frame in range(round(PULSE * 60)):
        frames += stage.drawn_frames(1 / 60)
        alphas.append(screen.hud._call._hand._colour.a)
    steps = [abs(b - a) for a, b in pairwise(alphas)]
    assert max(steps) == pytest.approx(PULSE_STEP)
    assert (min(alphas), max(alphas)) == pytest.approx((PULSE_LEAST, 1.0))
    # Down and up again.
    assert sum(step > 0 for step in steps) == round(2 * (1 - PULSE_LEAST) / PULSE_STEP)
    assert frames <= sum(step > 0 for step in steps) + 1


def test_with_reduced_motion_the_call_stands_still(make: Make, stage: Any) -> None:
    screen = make(in_state("attract"), reduced_motion=True)
    before = screen.hud._call._hand._colour.a
    stage.wait(1.0)
    assert screen.hud._call._hand._colour.a == before == 1.0


# -- the panels ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "label", "command"),
    [
        ("won", "New deal", NewDeal()),
        ("stuck", "Undo a move", Undo()),
        ("stuck", "Start again", Replay()),
        ("stuck", "New deal", NewDeal()),
        ("stuck", "Look at the table", Close()),
        ("cannot_win", "Go back", BackToWinnable()),
        ("cannot_win", "Play on", Close()),
        ("never_winnable", "New deal", NewDeal()),
        ("never_winnable", "Play on", Close()),
        ("give_up", "Keep playing", Close()),
        ("give_up", "New deal", NewDeal(confirmed=True)),
        ("give_up_replay", "Keep playing", Close()),
        ("give_up_replay", "Start again", Replay(confirmed=True)),
        ("continue", "Continue this game", Close()),
        ("continue", "New deal", NewDeal(confirmed=True)),
        ("continue", "Deutsch", SetLanguage("de")),
        ("menu", "How to play", Open(Panel.RULES)),
        ("menu", "Choose a game", Open(Panel.CHOOSE)),
        ("menu", "Statistics", Open(Panel.STATISTICS)),
        ("menu", "Cards and table", Open(Panel.LOOK)),
        ("menu", "Pause", Open(Panel.PAUSE)),
        ("choose", "Deal number", Open(Panel.NUMBER, "three-pass")),
        ("menu", "Start again", Replay()),
        ("menu", "Redo a move", Redo()),
        ("menu", "Pair automatically: off", SetAutoPlay(True)),
        ("menu", "Back to the game", Close()),
        ("menu", "Español", SetLanguage("es")),
    ],
)
def test_a_panel_button_sends_its_command(
    make: Make, state: str, label: str, command: Command
) -> None:
    from kiosk.widgets import PushButton

    screen = make(in_state(state))
    button = next(
        w for w in screen.panels.sheet.walk() if isinstance(w, PushButton) and w.label.text == label
    )
    screen.tap(*button.rect.center)
    assert screen.sent == [command]


# -- choosing ------------------------------------------------------------------------------------


def options(screen: Screen) -> dict[str, Any]:
    from kiosk.widgets import Option

    return {option.label.text: option for option in screen.shown(Option)}


def pick(screen: Screen, text: str) -> None:
    screen.tap(*options(screen)[text].rect.center)


@pytest.mark.parametrize("preset", list(PRESETS))
def test_every_preset_can_be_chosen_and_is_explained(make: Make, preset: str) -> None:
    screen = make(in_state("choose"))
    words = wording.preset_words(Texts(), preset)
    pick(screen, words.name)
    assert screen.sent == [], "a preset is marked, not dealt"
    assert {words.line, words.odds} <= set(screen.says())
    assert [name for name, option in options(screen).items() if option.chosen] == [words.name]
    screen.press("Play")
    assert screen.sent == [NewDeal(preset=preset)]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("size", SIZES)
def test_a_choice_is_explained_in_letters_to_be_read(
    make: Make, size: tuple[int, int], language: str
) -> None:
    layout = Layout.for_screen(*size)
    screen = make(in_state("choose", language), layout=layout, language=language)
    words = {box.fitted.size for box in screen.panels.sheet._words}
    assert len(words) == 1, "of one size, whatever is marked"
    assert min(words) >= 0.85 * theme.type_scale(min(size)).body


@pytest.mark.parametrize("grade", list(Grade))
def test_a_grade_is_chosen_with_the_preset(make: Make, grade: Grade) -> None:
    screen = make(in_state("choose"))
    assert wording.grade_line(Texts(), None) in screen.says()
    pick(screen, wording.grade_name(Texts(), grade))
    assert wording.grade_line(Texts(), grade) in screen.says()
    pick(screen, "Classic")
    screen.press("Play")
    assert screen.sent == [NewDeal(preset="classic", grade=grade)]


def test_a_second_tap_takes_the_grade_away(make: Make) -> None:
    screen = make(in_state("choose"))
    pick(screen, "Hard")
    pick(screen, "Hard")
    screen.press("Play")
    assert screen.sent == [NewDeal(preset="three-pass")]


def test_the_present_choice_is_marked(make: Make) -> None:
    session = new_session("classic", grade=Grade.HARD)
    screen = make(session)
    screen.do(Open(Panel.CHOOSE))
    assert {name for name, o in options(screen).items() if o.chosen} == {"Classic", "Hard"}


class SomeGrades(FakeDealer):
    """Has deals of one grade for one preset, and no graded deals for the others."""

    def grades(self, preset: str) -> tuple[Grade, ...]:
        return (Grade.EASY,) if preset == "classic" else ()


def test_only_grades_that_there_are_can_be_chosen(make: Make) -> None:
    session = Session(SomeGrades(), FakeAdviser(), SessionOptions(start_in_attract=False), now=0.0)
    screen = make(session)
    screen.do(Open(Panel.CHOOSE))
    enabled = {name: option.enabled for name, option in options(screen).items()}
    assert not any(enabled[name] for name in ("Easy", "Medium", "Hard"))
    pick(screen, "Classic")
    enabled = {name: option.enabled for name, option in options(screen).items()}
    assert [enabled[name] for name in ("Easy", "Medium", "Hard")] == [True, False, False]
    pick(screen, "Easy")
    pick(screen, "Overlap")
    screen.press("Play")
    assert screen.sent == [NewDeal(preset="overlap")]


def test_a_clock_that_was_never_set_offers_no_deal_of_the_day(make: Make) -> None:
    session = new_session()
    session._today = lambda: date(1970, 1, 2)
    screen = make(session)
    screen.do(Open(Panel.CHOOSE))
    assert not screen.button("Deal of the day").enabled
    screen.press("Deal of the day")
    assert screen.sent == []
    session._today = lambda: date(2026, 1, 1)
    screen.do(Close())
    screen.do(Open(Panel.CHOOSE))
    assert screen.button("Deal of the day").enabled


def test_the_deal_of_the_day_keeps_what_is_chosen(make: Make) -> None:
    screen = make(in_state("choose"))
    pick(screen, "Overlap")
    screen.press("Deal of the day")
    assert screen.sent == [NewDeal(preset="overlap", daily=True)]


# -- a deal number -------------------------------------------------------------------------------


def type_number(screen: Screen, digits: str) -> None:
    for digit in digits:
        screen.press(digit)


def test_a_number_is_typed_checked_and_dealt(make: Make) -> None:
    screen = make(in_state("number"))
    assert not screen.button("Play").enabled
    type_number(screen, "42")
    assert screen.sent == [CheckDeal(4), CheckDeal(42)]
    assert {"42", "Looking whether it can be won…"} <= set(screen.says())
    screen.do(AdviceReady(screen.session._question, Advice(False, None, (), 1)))
    assert "This deal cannot be won. Play it anyway?" in screen.says()
    assert screen.button("Play").role == "plain"
    screen.press("Play")
    assert screen.sent[-1] == NewDeal("three-pass", number=42)


def test_a_number_of_the_pool_can_be_won(make: Make) -> None:
    screen = make(in_state("number"))
    type_number(screen, "5189")
    assert "This deal can be won." in screen.says()
    assert screen.button("Play").role == "accent"


def test_when_the_solver_gives_up_that_is_said(make: Make) -> None:
    screen = make(in_state("number"))
    type_number(screen, "7")
    screen.do(AdviceReady(screen.session._question, None))
    assert "Whether this deal can be won is not known." in screen.says()


def test_an_impossible_number_cannot_be_typed(make: Make) -> None:
    screen = make(in_state("number"))
    sheet = screen.panels.sheet
    type_number(screen, "0")
    assert (sheet.typed, screen.sent) == ("", [])
    type_number(screen, "429496729")
    usable = [digit for digit in "0123456789" if sheet._keys[digit].enabled]
    assert usable == list("012345")
    type_number(screen, "9")
    assert sheet.typed == "429496729"
    type_number(screen, "5")
    assert sheet.typed == str(LAST_DEAL)
    assert not any(sheet._keys[digit].enabled for digit in "0123456789")
    type_number(screen, "1")
    assert sheet.typed == str(LAST_DEAL)


def test_the_backspace_takes_digits_away_to_nothing(make: Make) -> None:
    screen = make(in_state("number"))
    sheet = screen.panels.sheet
    type_number(screen, "12")
    for _ in range(3):
        screen.tap(*sheet._keys["back"].rect.center)
    assert sheet.typed == ""
    assert screen.sent == [CheckDeal(1), CheckDeal(12), CheckDeal(1), CheckDeal(None)]
    assert "Which deal? Type its number." in screen.says()
    assert not screen.button("Play").enabled
    # As after a countdown: what was taken away does not come back.
    screen.panels.set_layout(screen.layout)
    assert screen.panels.sheet is not sheet
    assert screen.panels.sheet.typed == ""
    assert "Which deal? Type its number." in screen.says()


# -- statistics, look, pause ---------------------------------------------------------------------


def test_without_games_the_statistics_invite_to_play(make: Make) -> None:
    screen = make(in_state("statistics"))
    assert any("first win" in text for text in screen.says())
    screen.press("Play")
    assert screen.sent == [Close()]


def test_the_statistics_show_every_preset_and_its_grades(make: Make) -> None:
    screen = make(in_state("statistics_played"))
    names = [wording.preset_words(Texts(), preset).name for preset in PRESETS]
    assert {"All games", "In total", *names} <= set(screen.says())
    assert "12 / 24" in screen.says()
    sheet = screen.panels.sheet
    for name in names:
        sheet.turn(1)
        assert {name, "Easy", "Medium", "Hard", "Other deals", "In total"} <= set(screen.says())
    assert "1:00:04" in screen.says()
    sheet.turn(1)
    assert "All games" in screen.says()
    sheet.turn(-1)
    assert names[-1] in screen.says()


def test_a_bar_is_as_long_as_the_share_won(make: Make) -> None:
    from kiosk.widgets import Plate

    session = in_state("statistics_played")
    screen = make(session)
    gold = screen.panels.sheet.look.palette.accent
    bars = [
        p
        for p in screen.panels.sheet.walk()
        if isinstance(p, Plate) and tuple(p._colour.rgba) == gold
    ]
    widths = sorted(bar._shape.size[0] for bar in bars)
    assert len(widths) == 4, "three presets that were always won, and all together"
    assert widths[0] == pytest.approx(widths[-1] / 2, abs=1)


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("Four suit colours", "four_colour"),
        ("High contrast", "high_contrast"),
        ("Values on A, J, Q, K", "show_values"),
        ("Left-handed", "left_handed"),
        ("Less motion", "reduced_motion"),
    ],
)
def test_a_switch_changes_the_look(make: Make, label: str, name: str) -> None:
    screen = make(in_state("look"))
    was = getattr(screen.session.look, name)
    screen.tap(*switch(screen, label).rect.center)
    assert screen.sent == [SetLook(name, not was)]
    assert switch(screen, label).on is not was
    screen.tap(*switch(screen, label).rect.center)
    assert screen.sent[-1] == SetLook(name, was)


def switch(screen: Screen, label: str) -> Any:
    from kiosk.look_page import Toggle

    return next(w for w in screen.shown(Toggle) if w.label.text == label)


def test_letters_are_offered_where_the_language_has_its_own(make: Make) -> None:
    german = make(in_state("look", "de"), language="de")
    german.tap(*switch(german, "Buchstaben B, D, K").rect.center)
    assert german.sent == [SetLook("local_indices", on=True)]
    german.close()
    english = make(in_state("look"))
    assert not [text for text in english.says() if text.startswith("Letters")]


def test_pause_covers_the_whole_table_and_resumes(make: Make) -> None:
    from kivy.graphics import SmoothLine

    from kiosk.widgets import Plate

    screen = make(in_state("pause"))
    sheet = screen.panels.sheet
    assert sheet.rect == screen.layout.screen
    assert sheet.look.palette.panel[3] == 1.0
    # Wherever the picture is moved against burn-in, no edge of it is seen.
    (cover,) = [w for w in sheet.children if isinstance(w, Plate)]
    beyond = burnin.margin(screen.layout)
    assert tuple(cover._shape.pos) == (-beyond, -beyond)
    assert tuple(cover._shape.size) == (800 + 2 * beyond, 480 + 2 * beyond)
    assert not [i for i in cover.canvas.children if isinstance(i, SmoothLine)]
    screen.press("Back to the game")
    assert screen.sent == [Close()]
    assert screen.session.panel is Panel.NONE


def test_the_rules_end_with_advice_where_there_is_room(make: Make) -> None:
    screen = make(in_state("rules"))
    goal = next(text for text in screen.says() if text.startswith("Clear the pyramid"))
    assert goal == " ".join(("Clear the pyramid and you win.", *wording.tips(Texts())[:2]))


@pytest.mark.parametrize("language", LANGUAGES)
def test_advice_at_the_end_is_in_letters_to_be_read(make: Make, language: str) -> None:
    screen = make(in_state("stuck", language), language=language)
    tips = wording.tips(texts_in(language))
    (tip,) = [box for box in text_boxes(screen) if box.text in tips]
    assert tip.fitted.size >= 0.9 * theme.type_scale(480).body


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("size", [(800, 480), (1920, 1080), (720, 1280)])
def test_names_in_the_statistics_are_as_large_as_the_figures(
    make: Make, size: tuple[int, int], language: str
) -> None:
    layout = Layout.for_screen(*size)
    session = in_state("statistics_played", language)
    screen = make(session, layout=layout, language=language)
    names = {wording.preset_words(texts_in(language), preset).name for preset in PRESETS}
    drawn = {box.text: box.fitted.size for box in text_boxes(screen)}
    assert names <= set(drawn)
    assert min(drawn[name] for name in names) >= 0.85 * drawn["12 / 24"]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("size", SIZES)
def test_what_stands_in_one_row_has_one_size_to_be_read(
    make: Make, size: tuple[int, int], language: str
) -> None:
    layout, texts = Layout.for_screen(*size), texts_in(language)
    least = 0.8 * theme.type_scale(min(size)).caption

    screen = make(in_state("play", language), layout=layout, language=language)
    bar = {screen.hud.buttons[control].label.fitted.size for control in Control}
    assert len(bar) == 1
    assert min(bar) >= least
    screen.close()

    screen = make(in_state("stuck", language), layout=layout, language=language)
    row = {texts.gettext(text) for text in ("New deal", "Start again", "Look at the table")}
    labels = [button.label for button in push_buttons(screen.panels.sheet)]
    drawn = [label.fitted.size for label in labels if label.text in row]
    assert len(drawn) == len(row)
    assert len(set(drawn)) == 1
    screen.close()

    screen = make(in_state("statistics_played", language), layout=layout, language=language)
    captions = ("Share won", "Won / played", "Best time", "Fewest moves", "Longest streak")
    heads = {texts.gettext(caption) for caption in captions}
    drawn = [box.fitted.size for box in text_boxes(screen) if box.text in heads]
    assert len(drawn) == len(captions)
    assert len(set(drawn)) == 1
    assert drawn[0] >= least


@pytest.mark.parametrize("size", [size for size in SIZES if size[0] > size[1]])
def test_a_note_stands_on_the_base_line_of_its_heading(make: Make, size: tuple[int, int]) -> None:
    from kiosk.widgets import descent

    for state in ("number", "rules three-pass"):
        screen = make(in_state(state), layout=Layout.for_screen(*size))
        title, note = (
            next(box for box in text_boxes(screen) if box.text in said)
            for said in (("Deal number", "How to play"), ("Three passes",))
        )
        lines = [ink(box).y + descent(box.fitted.size, bold=box is title) for box in (title, note)]
        assert abs(lines[0] - lines[1]) <= 1, (state, lines)
        assert note.fitted.size < title.fitted.size
        screen.close()


@pytest.mark.parametrize("size", SIZES)
def test_words_of_a_button_of_the_panel_keep_off_its_edges(
    make: Make, size: tuple[int, int]
) -> None:
    from kiosk.widgets import Plate

    layout = Layout.for_screen(*size)
    screen = make(in_state("service_pins"), layout=layout)
    plates = [w for w in screen.panels.sheet.walk() if isinstance(w, Plate)]
    states = [box for box in text_boxes(screen) if box.text.startswith("GPIO")]
    assert len(states) == len(WIRED.inputs) + len(WIRED.lamps)
    for box in states:
        cell = min(
            (Rect(*map(int, (*w.pos, *w.size))) for w in plates),
            key=lambda rect: (not rect.holds(box.rect), rect.w * rect.h),
        )
        # The middle one of three lines; what is free is half above and half below them.
        assert cell.h - 3 * box.rect.h >= layout.unit


@pytest.mark.parametrize("state", ["look", "service_home", "service_settings", "service_pins"])
@pytest.mark.parametrize("size", SIZES)
def test_what_is_on_a_page_does_not_crowd_at_its_top(
    make: Make, size: tuple[int, int], state: str
) -> None:
    from kiosk.widgets import Plate

    screen = make(in_state(state), layout=Layout.for_screen(*size))
    sheet = screen.panels.sheet
    lowest = min(w.y for w in sheet.walk() if isinstance(w, Plate) and w.height < sheet.rect.h)
    assert lowest - sheet.rect.y <= 0.25 * sheet.rect.h


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_label_beside_its_icon_is_centred_and_keeps_away_from_the_edges(
    make: Make, language: str
) -> None:
    screen = make(in_state("menu", language), language=language)
    wrapped = 0
    for button in push_buttons(screen.panels.sheet):
        if not button.label.text or button._icon is None:
            continue
        label, rect = ink(button.label), button.rect
        icon = Rect(*map(int, button._icon.pos), *map(int, button._icon.size))
        assert label.right <= rect.right - screen.layout.unit
        assert icon.x >= rect.x + screen.layout.unit
        # Icon and words together stand in the middle.
        assert abs((icon.x - rect.x) - (rect.right - label.right)) <= 4, button.label.text
        wrapped += label.h > 1.5 * button.label.fitted.size * 1.35
        assert button.label._halign == "center"
    assert wrapped or language in {"en", "es"}


def test_the_menu_explains_what_pairs_automatically(make: Make) -> None:
    said = "Pair automatically: one tap takes a card and the only one that fits."
    assert said in make(in_state("menu")).says()


def test_the_stuck_panel_gives_advice(make: Make) -> None:
    assert set(wording.tips(Texts())) & set(make(in_state("stuck")).says())


# -- the menu ------------------------------------------------------------------------------------


def test_auto_play_shows_its_state(make: Make) -> None:
    screen = make(in_state("menu"))
    screen.press("Pair automatically: off")
    assert "Pair automatically: on" in screen.says()
    screen.press("Pair automatically: on")
    assert "Pair automatically: off" in screen.says()


def test_redo_and_replay_are_offered_only_where_they_do_something(make: Make) -> None:
    screen = make(new_session())
    screen.do(Open(Panel.MENU))
    assert not screen.button("Redo a move").enabled
    assert not screen.button("Start again").enabled


@pytest.mark.parametrize("state", PANELS)
def test_no_touch_goes_through_a_panel(make: Make, stage: Any, state: str) -> None:
    screen = make(in_state(state))
    reached: list[Any] = []
    screen.hud.bind(on_touch_down=lambda _hud, touch: reached.append(touch))
    screen.hud.bind(on_touch_move=lambda _hud, touch: reached.append(touch))
    screen.hud.bind(on_touch_up=lambda _hud, touch: reached.append(touch))
    for x in range(5, 800, 61):
        for y in range(5, 480, 53):
            touch = screen.touch(x, y)
            if screen.panels.sheet is None:
                screen.session = in_state(state)
                screen.refresh()
            touch.touch_move(-100, -100)
            touch.touch_up()
            assert screen.panels.sheet is not None
    assert reached == []


@pytest.mark.parametrize(
    ("state", "command"),
    [
        ("menu", Close()),
        ("rules", Close()),
        ("choose", Close()),
        ("number", Close()),
        ("statistics", Close()),
        ("look", Close()),
        ("pause", None),
        ("give_up", Close()),
        ("cannot_win", Close()),
        ("never_winnable", Close()),
        ("stuck", Close()),
        ("continue", Close()),
        ("service", Close()),
        ("won", NewDeal()),
        ("countdown", Touched()),
    ],
)
def test_a_tap_beside_a_panel(make: Make, stage: Any, state: str, command: Command | None) -> None:
    screen = make(in_state(state))
    stage.wait(1.0)
    screen.tap(3, 3)
    assert screen.sent == ([] if command is None else [command])


def test_the_tap_that_wins_does_not_deal_as_well(make: Make, stage: Any) -> None:
    screen = make(in_state("won"))
    screen.tap(3, 3)
    assert screen.sent == []
    stage.wait(1.0)
    screen.tap(400, 300)
    assert screen.sent == [NewDeal()]
    assert screen.session.panel is Panel.NONE


def test_a_touch_that_outlives_its_panel_does_nothing(make: Make, stage: Any) -> None:
    screen = make(in_state("menu"))
    stage.wait(1.0)
    held = screen.touch(*screen.button("Start again").rect.center)
    beside = screen.touch(3, 3)
    screen.do(Close())
    held.touch_up()
    beside.touch_up()
    assert screen.sent == []


def test_the_countdown_counts_and_ends_at_a_touch(make: Make) -> None:
    session = in_state("countdown")
    screen = make(session)
    assert "17" in screen.says()
    sheet = screen.panels.sheet
    screen.do(Tick(), 1.0)
    assert "16" in screen.says()
    assert screen.panels.sheet is sheet, "a second changes a figure, not the panel"
    screen.do(Touched())
    assert screen.panels.sheet is None


def test_the_win_shows_what_it_took(make: Make) -> None:
    session = in_state("won")
    screen = make(session)
    assert {"You won!", str(session.moves_played), "Hints"} <= set(screen.says())


def test_a_win_is_measured_against_the_best_before(make: Make) -> None:
    session = in_state("won")
    seconds, count = session.seconds, session.moves_played
    for best, fewest, said in (
        (seconds + 1, count + 1, {"New best!"}),
        (seconds - 1, count - 1, {f"Best: {clock(seconds - 1)}", f"Best: {count - 1}"}),
        (seconds, count, {f"Best: {clock(seconds)}", f"Best: {count}"}),
    ):
        session.before = Figures(3, 1, best_seconds=best, fewest_moves=fewest)
        screen = make(session)
        assert said <= set(screen.says())
        assert ("New best!" in screen.says()) == ("New best!" in said)
        screen.close()


def test_the_first_win_is_compared_with_nothing(make: Make) -> None:
    session = in_state("won")
    session.before = Figures(3, 0)
    assert not [text for text in make(session).says() if "est" in text]


def test_the_celebration_is_short_and_left_out_with_reduced_motion(make: Make, stage: Any) -> None:
    from kiosk.won import CELEBRATION

    assert CELEBRATION <= 2
    screen = make(in_state("won"))
    rays = [colour.a for colour in screen.panels.sheet._rays]
    assert max(rays) == 0
    seen = []
    for _frame in range(round(CELEBRATION * 60) + 10):
        stage.frame()
        seen.append([colour.a for colour in screen.panels.sheet._rays])
    assert min(seen[-1]) > 0
    for before, after in pairwise(seen):
        assert all(a <= b for a, b in zip(before, after, strict=True)), "no ray ever flashes"
    assert stage.drawn_frames(1.0) == 0
    calm = make(in_state("won"), reduced_motion=True)
    assert [colour.a for colour in calm.panels.sheet._rays] == seen[-1]


def test_stuck_offers_the_way_back_once_it_is_known(make: Make) -> None:
    screen = make(in_state("stuck"))
    sheet = screen.panels.sheet
    others = {b.label.text: b.rect for b in push_buttons(sheet)}
    gold = others.pop("Undo a move")
    screen.do(AdviceReady(screen.session._question, Advice(False, 8, moves("D"), 1)))
    back = screen.session.moves_played - 8
    now = {b.label.text: b.rect for b in push_buttons(sheet)}
    assert screen.panels.sheet is sheet
    assert now.pop(f"Back {back} moves: from there it can be won") == gold
    assert now == others, "nothing moves under a finger"
    screen.press(f"Back {back} moves: from there it can be won")
    assert screen.sent == [BackToWinnable()]
    assert screen.session.moves_played == 8


def test_giving_up_is_worded_by_what_comes_next(make: Make) -> None:
    assert "Deal a new game?" in make(in_state("give_up")).says()
    again = make(in_state("give_up_replay"))
    assert "Start this deal again?" in again.says()
    again.press("Start again")
    assert again.session.moves_played == 0
    assert again.session.panel is Panel.NONE


@pytest.mark.parametrize(
    ("wanted", "title", "button"),
    [
        (NewDeal(daily=True), "Play the deal of the day?", "Deal of the day"),
        (NewDeal(number=7), "Play deal 7?", "Deal 7"),
        (NewDeal(preset="overlap"), "Deal a new game: Overlap?", "New deal"),
        (NewDeal(preset="three-pass"), "Deal a new game?", "New deal"),
    ],
)
def test_what_a_game_is_given_up_for_is_named(
    make: Make, wanted: NewDeal, title: str, button: str
) -> None:
    session = new_session()
    play(session, 5)
    screen = make(session)
    screen.do(wanted)
    assert title in screen.says()
    assert "The game that you are playing ends, and counts as not won." in screen.says()
    (leave,) = [b for b in push_buttons(screen.panels.sheet) if b.label.text == button]
    screen.tap(*leave.rect.center)
    assert session.panel is Panel.NONE
    assert session.daily is wanted.daily
    assert session.preset == (wanted.preset or "three-pass")


def test_a_game_that_is_not_counted_is_not_said_to_be(make: Make) -> None:
    screen = make(new_session())
    screen.do(Draw())
    screen.do(NewDeal())
    assert "The game that you are playing ends." in screen.says()


def push_buttons(holder: Any) -> list[Any]:
    from kiosk.widgets import PushButton

    return [w for w in holder.walk() if isinstance(w, PushButton)]


def test_the_stuck_panel_counts_the_cards_and_lets_look(make: Make) -> None:
    screen = make(in_state("stuck"))
    left = screen.session.position.cards_left
    assert f"{left} cards left".replace(" ", " ") in screen.says()
    screen.press("Look at the table")
    assert screen.panels.sheet is None
    assert "No moves left" in screen.says()


def test_how_far_to_go_back_is_said_in_the_right_number(make: Make) -> None:
    screen = make(in_state("cannot_win"))
    assert screen.session.moves_back == 7
    assert "It could still be won 7 moves ago. Go back?" in screen.says()
    screen.press("Go back")
    assert screen.session.moves_played == 4
    assert screen.panels.sheet is None


def test_a_deal_that_never_could_be_won_is_called_that_before_the_first_move(make: Make) -> None:
    session = new_session()
    session._table.lines[0] = None
    screen = make(session)
    screen.do(Hint())
    screen.do(AdviceReady(session._question, Advice(False, None, (), 1)))
    assert "This deal cannot be won" in screen.says()
    assert "Undo a move" not in screen.says()
    screen.press("Play on")
    assert screen.panels.sheet is None


def test_the_languages_are_the_catalogues(make: Make) -> None:
    screen = make(in_state("menu"))
    assert set(available_languages().values()) <= set(screen.says())


def test_a_panel_fades_in_unless_motion_is_reduced(make: Make, stage: Any) -> None:
    screen = make(new_session())
    screen.do(Open(Panel.MENU))
    assert screen.panels.opacity < 1
    stage.wait(0.5)
    assert screen.panels.opacity == 1
    calm = make(new_session(), reduced_motion=True)
    calm.do(Open(Panel.MENU))
    assert calm.panels.opacity == 1
