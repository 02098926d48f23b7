"""A cabinet that nobody touches: the whole application in a real window, worked by pins alone.

The pins are mock pins, driven from another thread, as real ones are; everything between them and
the picture is what runs in a kiosk, put together by the kiosk's own wiring.
"""

from __future__ import annotations

import logging
import queue
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import pytest
from gpiozero.pins.mock import MockFactory, MockPWMPin

from engine.deal import PYRAMID_SIZE
from engine.position import Move, MoveKind
from hardware.chip import HardwareError
from hardware.config import PanelSettings
from hardware.events import PanelEvent
from hardware.panel import Panel as HardwarePanel
from kiosk.attract import target_of
from kiosk.commands import Command, Draw, Open, Panel, Pile, Replay, Tap, Touched
from kiosk.cursor import Spot, step
from kiosk.layout import Control
from kiosk.panel_settings import ButtonSettings, LampSettings, PresenceSettings
from kiosk.service_commands import EnterPin, Page, Turn, TypePin
from kiosk.session import Session
from kiosk.sessiontypes import Saved, SessionOptions
from kiosk.settings import Settings
from kiosk.statistics import Result
from tests.hardware.rig import on_threads
from tests.kiosk.conftest import Stage
from tests.kiosk.fakes import FakeAdviser, FakeDealer, service, won_by_hand

pytest.importorskip("kivy")

UNDO, DEAL, UP, DOWN, LEFT, RIGHT, SELECT, A, B, SENSOR = 17, 27, 5, 6, 13, 19, 26, 23, 24, 4
HINT, REDO, DRAW = 20, 21, 22
UNDO_LAMP, DEAL_LAMP = 12, 16
#: Longer than a contact is locked out, and than the time between two looks at the panel.
FRAME = 0.05
#: What falls on the border between two frames may count for either.
SLACK = 1.01 * FRAME
STICK = {"up": UP, "down": DOWN, "left": LEFT, "right": RIGHT}
SETTINGS = Settings(
    buttons=ButtonSettings(
        undo=UNDO,
        new_deal=DEAL,
        hint=HINT,
        redo=REDO,
        draw=DRAW,
        up=UP,
        down=DOWN,
        left=LEFT,
        right=RIGHT,
        select=SELECT,
        wheel_a=A,
        wheel_b=B,
    ),
    lamps=LampSettings(undo=UNDO_LAMP, new_deal=DEAL_LAMP),
    presence=PresenceSettings(pin=SENSOR),
)


class Cabinet:
    """The application on a stage, with a panel of mock pins."""

    def __init__(
        self,
        stage: Stage,
        monkeypatch: pytest.MonkeyPatch,
        *,
        preset: str = "three-pass",
        size: tuple[int, int] = (800, 480),
        attract: bool = False,
        settings: Settings = SETTINGS,
        open_pins: Callable[[], Any] | None = None,
    ) -> None:
        from kiosk import wiring
        from kiosk.app import KioskApp

        stage.window.size = size
        stage.wait(0.05)
        self.stage = stage
        self.factory = MockFactory(pin_class=MockPWMPin)
        self.results: list[Result] = []
        self.kept: list[Saved] = []
        self.inbox: queue.SimpleQueue[Command] = queue.SimpleQueue()
        self.session = Session(
            FakeDealer(),
            FakeAdviser(),
            SessionOptions(preset=preset, start_in_attract=attract),
            now=stage.now,
            record=self.results.append,
            service=service(),
        )
        self.app = KioskApp(
            self.session, self.inbox, keep=self.kept.append, clock=lambda: stage.now
        )

        def opened(panel: PanelSettings, post: Callable[[PanelEvent], None]) -> Any:
            return open_panel(
                panel, post, clock=lambda: stage.now, open_pins=open_pins or (lambda: self.factory)
            )

        open_panel = HardwarePanel.open
        stage.window.add_widget(self.app.build())
        with monkeypatch.context() as patched:
            patched.setattr(HardwarePanel, "open", opened)
            controls = wiring._attach_panel(self.app, settings)
        assert controls is not None
        self.controls = controls
        stage.wait(0.5)

    def close(self) -> None:
        self.app.on_stop()
        self.stage.window.remove_widget(self.app.root_widget)

    # -- hands ----------------------------------------------------------------------------------

    def wait(self, seconds: float) -> None:
        """So much time passes, in frames that are just short enough to see every press."""
        for _ in range(max(1, round(seconds / FRAME))):
            self.stage.frame(FRAME)

    def drive(self, pin: int, high: bool) -> None:
        """Move a pin on a thread of its own."""
        mock = self.factory.pin(pin)
        on_threads(mock.drive_high if high else mock.drive_low)

    def hold(self, pin: int, seconds: float) -> None:
        """Press a button for so long, and let go."""
        self.drive(pin, False)
        self.wait(seconds)
        self.drive(pin, True)
        self.wait(FRAME)

    def press(self, pin: int) -> None:
        self.hold(pin, FRAME)

    def turn(self, steps: int) -> None:
        """Turn the wheel so many steps, anticlockwise if it is less than 0."""
        first, second = (A, B) if steps > 0 else (B, A)
        lead, lag = self.factory.pin(first), self.factory.pin(second)

        def work() -> None:
            for _ in range(abs(steps)):
                lead.drive_low()
                lag.drive_low()
                lead.drive_high()
                lag.drive_high()

        on_threads(work)
        self.wait(FRAME)

    # -- eyes -----------------------------------------------------------------------------------

    @property
    def marked(self) -> object:
        """The key of what is seen to be marked."""
        spot = self._cursor.spot
        if self.app.mark.rect is None or spot is None:
            return None
        return spot.key

    @property
    def _cursor(self) -> Any:
        return self.app.mark._cursor

    @property
    def spots(self) -> Sequence[Spot]:
        found: list[Spot] = list(self.app.mark._spots())
        return found

    def labelled(self, text: str) -> Spot:
        """The spot of the button with that label on the open panel."""
        from kiosk.mark import _buttons

        for button in _buttons(self.app.panels.sheet):
            if getattr(button, "label", None) is not None and button.label.text == text:
                return next(spot for spot in self.spots if spot.rect == button.rect)
        raise AssertionError(f"no button {text!r}")

    # -- playing --------------------------------------------------------------------------------

    def steer_by_stick(self, key: object) -> None:
        """Push the stick until the mark is there, by the shortest way."""
        if self.marked is None:
            self.press(UP)
        spots = self.spots
        start = next(spot for spot in spots if spot.key == self.marked)
        ways: dict[object, tuple[str, ...]] = {start.key: ()}
        todo = [start]
        while key not in ways:
            here = todo.pop(0)
            for way in STICK:
                there = step(spots, here, way)
                if there.key not in ways:
                    ways[there.key] = (*ways[here.key], way)
                    todo.append(there)
        for way in ways[key]:
            self.press(STICK[way])
        assert self.marked == key

    def steer_by_wheel(self, key: object) -> None:
        """Turn the wheel until the mark is there, the nearer way round."""
        if self.marked is None:
            self.turn(1)
        live = [spot.key for spot in self.spots if spot.live or spot.key == self.marked]
        steps = (live.index(key) - live.index(self.marked)) % len(live)
        if steps:
            self.turn(steps if steps <= len(live) // 2 else steps - len(live))
        assert self.marked == key

    def play(self, move: Move, steer: Callable[[object], None]) -> None:
        """Make a move as somebody would: go there, take it."""
        position = self.session.position
        if move.kind in {MoveKind.DRAW, MoveKind.REDEAL}:
            targets: list[int | Pile] = [Pile.STOCK]
            if move.kind is MoveKind.REDEAL:
                self.wait(0.8)  # a hurried tap does not redeal
        else:
            place_of = position.deal.place_of
            targets = [target_of(position, place_of[card]) for card in move.cards]
        for target in targets:
            steer(target)
            self.press(SELECT)


@pytest.fixture
def cabinets(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Cabinet]]:
    opened: list[Cabinet] = []

    def make(**options: Any) -> Cabinet:
        opened.append(Cabinet(stage, monkeypatch, **options))
        return opened[-1]

    yield make
    for cabinet in opened:
        cabinet.close()


# --- The whole game ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("by", "preset", "size"),
    [
        ("stick", "three-pass", (800, 480)),
        ("wheel", "three-pass", (720, 1280)),
        ("stick", "overlap", (800, 480)),
    ],
)
def test_a_game_is_won_without_touching_the_screen_and_the_next_begun(
    cabinets: Callable[..., Cabinet], by: str, preset: str, size: tuple[int, int]
) -> None:
    cabinet = cabinets(preset=preset, size=size, attract=True)
    steer = cabinet.steer_by_stick if by == "stick" else cabinet.steer_by_wheel
    assert cabinet.session.attract
    cabinet.press(UP) if by == "stick" else cabinet.turn(1)
    assert not cabinet.session.attract, "the first push wakes"
    assert cabinet.marked is None, "and does nothing else"
    for move in won_by_hand(preset).line:
        before = cabinet.session.moves_played
        cabinet.play(move, steer)
        assert cabinet.session.moves_played == before + 1, move
    assert cabinet.session.panel is Panel.WON
    assert [result.outcome for result in cabinet.results] == ["won"]
    cabinet.wait(4)  # the celebration
    assert cabinet.app.panels.sheet is not None
    new_deal = cabinet.labelled("New deal")
    assert cabinet.marked == new_deal.key, "the mark is on the one thing to do"
    assert cabinet.app.mark.rect == new_deal.rect
    cabinet.press(SELECT)
    assert cabinet.session.panel is Panel.NONE
    assert cabinet.session.moves_played == 0
    assert cabinet.session.position.pyramid_left == PYRAMID_SIZE
    cabinet.wait(2)
    steer(Pile.STOCK)
    cabinet.press(SELECT)
    assert cabinet.session.moves_played == 1


@pytest.mark.parametrize("by", ["stick", "wheel"])
def test_the_buttons_beside_the_table_are_within_reach(
    cabinets: Callable[..., Cabinet], by: str
) -> None:
    cabinet = cabinets()
    steer = cabinet.steer_by_stick if by == "stick" else cabinet.steer_by_wheel
    steer(Pile.STOCK)
    cabinet.press(SELECT)
    steer(Control.UNDO)
    assert cabinet.app.mark.rect == cabinet.app.table.layout.undo
    cabinet.press(SELECT)
    assert cabinet.session.moves_played == 0
    cabinet.press(SELECT)
    assert cabinet.marked is Control.UNDO, "what has ceased to do anything is not left by itself"
    assert cabinet.session.moves_played == 0
    steer(Control.HINT)
    cabinet.press(SELECT)
    assert cabinet.session.hints == 1
    steer(Pile.STOCK)
    cabinet.press(SELECT)
    steer(Control.NEW_DEAL)
    cabinet.press(SELECT)
    assert cabinet.session.panel is Panel.GIVE_UP
    cabinet.wait(0.3)
    assert cabinet.marked == cabinet.labelled("Keep playing").key
    cabinet.press(SELECT)
    assert cabinet.session.panel is Panel.NONE
    assert cabinet.marked is Control.NEW_DEAL, "back where it was"
    steer(Control.MENU)
    cabinet.press(SELECT)
    assert cabinet.session.panel is Panel.MENU


# --- Panels --------------------------------------------------------------------------------------


def leave_by(cabinet: Cabinet, steer: Callable[[object], None], label: str) -> None:
    steer(cabinet.labelled(label).key)
    cabinet.press(SELECT)


OPENED = [
    Panel.MENU,
    Panel.RULES,
    Panel.CHOOSE,
    Panel.NUMBER,
    Panel.STATISTICS,
    Panel.LOOK,
    Panel.PAUSE,
]


@pytest.mark.parametrize("panel", OPENED, ids=lambda panel: panel.value)
@pytest.mark.parametrize("size", [(800, 480), (720, 1280)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_a_stick_reaches_everything_on_every_panel_and_leaves_it(
    cabinets: Callable[..., Cabinet], panel: Panel, size: tuple[int, int]
) -> None:
    from kiosk.mark import _buttons

    cabinet = cabinets(size=size)
    cabinet.press(UP)
    cabinet.app.send(Open(panel))
    cabinet.wait(0.3)
    sheet = cabinet.app.panels.sheet
    live = {spot.key for spot in cabinet.spots if spot.live}
    assert live == {button.rect for button in _buttons(sheet) if button.enabled}
    assert cabinet.marked in live
    for start in cabinet.spots:
        seen, todo = {start.key}, [start]
        while todo:
            here = todo.pop()
            found = [step(cabinet.spots, here, way) for way in STICK]
            todo += [there for there in found if there.key not in seen]
            seen |= {there.key for there in found}
        assert seen | {start.key} >= live, start
    # A cabinet with nothing but a stick must get out of it again.
    closing = {"Back to the game", ""}
    for spot in [spot for spot in cabinet.spots if spot.live]:
        button = next(b for b in _buttons(sheet) if b.rect == spot.rect)
        if getattr(button, "label", None) is None or button.label.text not in closing:
            continue
        cabinet.steer_by_stick(spot.key)
        cabinet.press(SELECT)
        if cabinet.session.panel is Panel.NONE:
            return
    raise AssertionError("no way out")


def test_choices_and_switches_are_made_by_the_wheel(cabinets: Callable[..., Cabinet]) -> None:
    cabinet = cabinets()
    steer = cabinet.steer_by_wheel
    steer(Control.MENU)
    cabinet.press(SELECT)
    cabinet.wait(0.3)
    leave_by(cabinet, steer, "Cards and table")
    cabinet.wait(0.3)
    assert cabinet.session.panel is Panel.LOOK
    steer(cabinet.labelled("Left-handed").key)
    undo = cabinet.app.table.layout.undo
    cabinet.press(SELECT)
    cabinet.wait(0.3)
    assert cabinet.session.look.left_handed
    assert cabinet.app.table.layout.undo.x < undo.x
    assert cabinet.marked == cabinet.labelled("Left-handed").key, "still where it was"
    cabinet.press(UNDO)
    assert cabinet.session.panel is Panel.NONE
    steer(Control.MENU)
    cabinet.press(SELECT)
    cabinet.wait(0.3)
    leave_by(cabinet, steer, "Choose a game")
    cabinet.wait(0.3)
    leave_by(cabinet, steer, "Classic")
    leave_by(cabinet, steer, "Hard")
    leave_by(cabinet, steer, "Play")
    assert cabinet.session.preset == "classic"
    assert cabinet.session.wanted_grade is not None
    assert cabinet.session.panel is Panel.NONE


def test_a_number_is_typed_by_the_stick(cabinets: Callable[..., Cabinet]) -> None:
    cabinet = cabinets()
    steer = cabinet.steer_by_stick
    steer(Control.MENU)
    cabinet.press(SELECT)
    cabinet.wait(0.3)
    leave_by(cabinet, steer, "Choose a game")
    cabinet.wait(0.3)
    leave_by(cabinet, steer, "Deal number")
    cabinet.wait(0.3)
    for digit in "5189":
        leave_by(cabinet, steer, digit)
    leave_by(cabinet, steer, "Play")
    assert cabinet.session.number == 5189
    assert cabinet.session.panel is Panel.NONE


def test_the_service_menu_is_entered_and_left_by_stick(cabinets: Callable[..., Cabinet]) -> None:
    cabinet = cabinets()
    for pin in (UNDO, DEAL):
        cabinet.drive(pin, False)
    cabinet.wait(4.5)
    assert cabinet.session.panel is Panel.NONE
    cabinet.wait(1)
    for pin in (UNDO, DEAL):
        cabinet.drive(pin, True)
    cabinet.wait(0.3)
    assert cabinet.session.panel is Panel.SERVICE
    for digit in "4711":
        cabinet.steer_by_stick(cabinet.labelled(digit).key)
        cabinet.press(SELECT)
    assert cabinet.session.service is not None
    enter = next(spot for spot in cabinet.spots if spot.first)
    cabinet.steer_by_stick(enter.key)
    cabinet.press(SELECT)
    cabinet.wait(0.3)
    assert cabinet.session.service.page is Page.HOME
    pictures = 0
    cabinet.app.send(Turn(Page.PIXELS))
    while cabinet.session.service.page is Page.PIXELS:
        assert cabinet.marked is None, "nothing lies over the pixels that are looked at"
        cabinet.press(SELECT)
        pictures += 1
        assert pictures < 20
    assert pictures > 3
    cabinet.press(UNDO)
    assert cabinet.session.panel is Panel.NONE


def test_in_the_test_of_the_buttons_a_stick_moves_nothing(
    cabinets: Callable[..., Cabinet],
) -> None:
    from kiosk.service_commands import OpenService

    cabinet = cabinets()
    for command in (OpenService(), *map(TypePin, "4711"), EnterPin(), Turn(Page.PINS)):
        cabinet.app.send(command)
    cabinet.press(DOWN)
    cabinet.turn(3)
    cabinet.press(SELECT)
    assert cabinet.marked is None
    assert cabinet.session.service is not None
    assert cabinet.session.service.page is Page.PINS


# --- Seen and not seen ---------------------------------------------------------------------------


def test_a_finger_takes_the_mark_away_and_the_stick_brings_it_back(
    cabinets: Callable[..., Cabinet],
) -> None:
    cabinet = cabinets()
    assert cabinet.marked is None
    cabinet.press(RIGHT)
    first = cabinet.marked
    assert first == 21
    cabinet.press(RIGHT)
    assert cabinet.marked == 22
    cabinet.stage.tap(*cabinet.app.table.layout.stock.center)
    assert cabinet.marked is None
    assert cabinet.session.moves_played == 1
    cabinet.press(SELECT)
    assert cabinet.session.selected is None, "a press that only shows the mark takes nothing"
    assert cabinet.marked == 22
    cabinet.press(SELECT)
    assert cabinet.session.selected == 22 or cabinet.session.moves_played == 2


def test_the_mark_is_drawn_round_a_raised_card_and_nothing_is_drawn_without_need(
    cabinets: Callable[..., Cabinet],
) -> None:
    cabinet = cabinets()
    cards = cabinet.session.position.deal.cards
    place = next(p for p in range(21, 28) if not cards[p].is_king)
    cabinet.steer_by_stick(place)
    at_rest = cabinet.app.mark.rect
    assert at_rest == cabinet.app.table.layout.pyramid[place]
    cabinet.press(SELECT)
    assert cabinet.session.selected == place
    raised = cabinet.app.mark.rect
    assert raised.top > at_rest.top
    assert raised.w > at_rest.w, "round the ring of the selection, not over it"
    cabinet.wait(1)
    frame = cabinet.app.mark._frame.children[:]
    cabinet.app.mark.update()
    assert cabinet.app.mark._frame.children == frame


def test_the_mark_goes_with_the_visitor(cabinets: Callable[..., Cabinet]) -> None:
    cabinet = cabinets()
    cabinet.press(RIGHT)
    cabinet.press(RIGHT)
    assert cabinet.marked == 22
    cabinet.stage.now += 61
    cabinet.wait(0.3)
    assert cabinet.session.attract
    assert cabinet.marked is None
    cabinet.app.send(Touched())
    cabinet.wait(0.3)
    assert cabinet.marked is None
    cabinet.press(RIGHT)
    assert cabinet.marked == 21, "the next one begins where everybody does"


@pytest.mark.parametrize("pin", [UP, SELECT, UNDO, DEAL, HINT, REDO, DRAW])
def test_the_button_that_wakes_does_nothing_else(
    cabinets: Callable[..., Cabinet], pin: int
) -> None:
    cabinet = cabinets(attract=True)
    dealt = cabinet.session._dealer.dealt
    cabinet.hold(pin, 2.5)
    assert not cabinet.session.attract
    assert cabinet.session.panel is Panel.NONE
    assert cabinet.session.moves_played == 0
    assert cabinet.session.hints == 0
    assert cabinet.session._dealer.dealt == dealt + 1, "the visitor's own deal, and no other"
    assert cabinet.marked is None
    assert not cabinet.app.ring.shown


def test_still_there_is_answered_by_any_push_which_does_nothing_else(
    cabinets: Callable[..., Cabinet],
) -> None:
    cabinet = cabinets()
    cabinet.press(DRAW)
    for wake in (lambda: cabinet.press(SELECT), lambda: cabinet.turn(1), lambda: cabinet.press(UP)):
        cabinet.stage.now += 61
        cabinet.wait(0.3)
        assert cabinet.session.panel is Panel.COUNTDOWN
        wake()
        assert cabinet.session.panel is Panel.NONE
        assert cabinet.session.moves_played == 1
        assert cabinet.marked is None


# --- Two main buttons ----------------------------------------------------------------------------


def test_undo_is_one_move_a_press_and_ever_more_while_it_is_held(
    cabinets: Callable[..., Cabinet],
) -> None:
    cabinet = cabinets()
    for _ in range(20):
        cabinet.press(DRAW)
    assert cabinet.session.moves_played == 20
    cabinet.press(UNDO)
    assert cabinet.session.moves_played == 19
    cabinet.drive(UNDO, False)
    frames = []
    while len(frames) < 15:
        before, waited = cabinet.session.moves_played, 0
        while cabinet.session.moves_played == before:
            cabinet.wait(FRAME)
            waited += 1
        assert cabinet.session.moves_played == before - 1
        frames.append(waited)
    cabinet.drive(UNDO, True)
    # The press, the pause after it, and then repeats that come ever sooner.
    press, pause, *repeats = frames
    assert press == 1
    assert pause * FRAME == pytest.approx(0.6, abs=SLACK)
    assert repeats[0] * FRAME == pytest.approx(0.4, abs=SLACK)
    assert all(later <= sooner for sooner, later in pairwise(repeats)), repeats
    assert repeats[-1] * FRAME == pytest.approx(0.1, abs=SLACK)


def test_a_new_deal_is_held_for_and_the_ring_says_so(cabinets: Callable[..., Cabinet]) -> None:
    cabinet = cabinets()
    cabinet.press(DRAW)
    cabinet.drive(DEAL, False)
    cabinet.wait(0.75)
    assert cabinet.app.ring.shown
    assert 0.4 < cabinet.app.ring.ring.share < 0.6
    assert cabinet.session.has_game
    cabinet.drive(DEAL, True)
    cabinet.wait(0.2)
    assert cabinet.app.ring.shown, "what was missing can still be read"
    assert cabinet.app.ring.ring.share == 0
    cabinet.wait(1.5)
    assert not cabinet.app.ring.shown
    assert cabinet.session.has_game
    cabinet.hold(DEAL, 1.7)
    assert not cabinet.session.has_game
    assert not cabinet.app.ring.shown
    assert cabinet.session.moves_played == 0


def test_the_ring_is_as_long_as_the_setting_says(cabinets: Callable[..., Cabinet]) -> None:
    from msgspec.structs import replace

    cabinet = cabinets(
        settings=replace(SETTINGS, buttons=replace(SETTINGS.buttons, new_deal_hold=4.0))
    )
    cabinet.press(DRAW)
    cabinet.drive(DEAL, False)
    cabinet.wait(2)
    assert 0.4 < cabinet.app.ring.ring.share < 0.6
    cabinet.wait(2.2)
    assert not cabinet.session.has_game
    cabinet.drive(DEAL, True)


def test_there_is_no_ring_without_a_game_nor_in_the_service_menu(
    cabinets: Callable[..., Cabinet],
) -> None:
    from kiosk.service_commands import OpenService

    cabinet = cabinets()
    cabinet.drive(DEAL, False)
    cabinet.wait(1)
    assert not cabinet.app.ring.shown
    cabinet.drive(DEAL, True)
    cabinet.wait(0.1)
    cabinet.press(DRAW)
    cabinet.app.send(OpenService())
    cabinet.drive(DEAL, False)
    cabinet.wait(1)
    assert not cabinet.app.ring.shown
    cabinet.wait(1)
    cabinet.drive(DEAL, True)
    assert cabinet.session.panel is Panel.SERVICE
    assert cabinet.session.has_game


def test_the_ring_goes_when_both_buttons_are_held(cabinets: Callable[..., Cabinet]) -> None:
    cabinet = cabinets()
    cabinet.press(DRAW)
    cabinet.drive(DEAL, False)
    cabinet.wait(0.5)
    assert cabinet.app.ring.ring.share > 0
    cabinet.drive(UNDO, False)
    cabinet.wait(2)
    assert not cabinet.app.ring.shown
    assert cabinet.session.has_game
    cabinet.drive(UNDO, True)
    cabinet.drive(DEAL, True)


def test_the_lamps_follow_the_game(cabinets: Callable[..., Cabinet]) -> None:
    cabinet = cabinets(attract=True)
    undo, deal = cabinet.factory.pin(UNDO_LAMP), cabinet.factory.pin(DEAL_LAMP)

    def seen(seconds: float) -> set[float]:
        states = set()
        for _ in range(round(seconds / 0.05)):
            cabinet.wait(0.05)
            states.add(round(deal.state, 3))
        return states

    assert len(seen(3)) > 10, "breathing"
    assert undo.state == 0
    cabinet.press(UP)
    cabinet.wait(0.2)
    assert undo.state == 0
    cabinet.press(DRAW)
    cabinet.wait(0.2)
    assert (undo.state, seen(1.5)) == (1, {1.0})
    cabinet.press(UNDO)
    cabinet.wait(0.2)
    assert undo.state == 0
    for move in won_by_hand("three-pass").line:
        position = cabinet.session.position
        if not move.cards:
            cabinet.app.send(Draw())
        for card in move.cards:
            cabinet.app.send(Tap(target_of(position, position.deal.place_of[card])))
    assert cabinet.session.panel is Panel.WON
    assert seen(2) == {0.0, 1.0}, "blinking"
    assert undo.state == 0


def test_a_storm_of_ten_thousand_edges_in_a_second_is_one_undo(
    cabinets: Callable[..., Cabinet],
) -> None:
    cabinet = cabinets()
    for _ in range(3):
        cabinet.press(DRAW)
    pin = cabinet.factory.pin(UNDO)

    def storm() -> None:
        for _ in range(100):
            pin.drive_low()
            pin.drive_high()

    for _ in range(50):
        on_threads(storm)
        cabinet.stage.frame(0.02)
    cabinet.wait(1)
    assert cabinet.session.moves_played == 2


def test_a_command_that_fails_costs_that_press_alone(
    cabinets: Callable[..., Cabinet],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    cabinet = cabinets()
    cabinet.press(DRAW)
    handle = cabinet.session.handle

    def fail(command: Command, now: float) -> Any:
        if isinstance(command, Draw):
            raise RuntimeError("not now")  # noqa: TRY004 - any error will do
        return handle(command, now)

    with monkeypatch.context() as patched:
        patched.setattr(cabinet.session, "handle", fail)
        cabinet.hold(DRAW, 2)
        assert cabinet.session.moves_played == 1
    assert [record.exc_info is not None for record in caplog.records] == [True]
    cabinet.press(DRAW)
    assert cabinet.session.moves_played == 2
    cabinet.hold(DEAL, 1.7)
    assert not cabinet.session.has_game


def test_pins_that_are_busy_at_first_are_tried_again_while_the_game_goes_on(
    stage: Stage, cabinets: Callable[..., Cabinet], caplog: pytest.LogCaptureFixture
) -> None:
    tried: list[float] = []
    factory = MockFactory(pin_class=MockPWMPin)

    def open_pins() -> MockFactory:
        tried.append(stage.now)
        if len(tried) < 4:
            raise HardwareError("GPIO 17 is taken by spi0")
        return factory

    caplog.set_level(logging.INFO, "hardware")
    cabinet = cabinets(open_pins=open_pins)
    cabinet.factory = factory
    cabinet.stage.tap(*cabinet.app.table.layout.stock.center)
    assert cabinet.session.moves_played == 1
    for _ in range(160):
        cabinet.stage.frame(0.25)
        cabinet.app.send(Touched())
    pauses = [later - sooner for sooner, later in pairwise(tried)]
    assert pauses == pytest.approx([5, 10, 20], abs=0.3)
    said = [r.getMessage() for r in caplog.records if r.name.startswith("hardware")]
    assert said == [
        "no panel, the game goes on without: GPIO 17 is taken by spi0",
        "the panel works now",
    ]
    cabinet.press(UNDO)
    assert cabinet.session.moves_played == 0


# --- By keys -------------------------------------------------------------------------------------

KEYS = {"up": 273, "down": 274, "right": 275, "left": 276, "next": 9, "select": 13}


def key(cabinet: Cabinet, name: str, *, modifiers: Sequence[str] = ()) -> None:
    """Press a key and let it go."""
    window = cabinet.stage.window
    window.dispatch("on_key_down", KEYS[name], 0, None, list(modifiers))
    cabinet.wait(0.05)
    window.dispatch("on_key_up", KEYS[name], 0)
    cabinet.wait(0.05)


@pytest.mark.parametrize("preset", ["three-pass"])
def test_a_game_is_won_by_keys_alone(cabinets: Callable[..., Cabinet], preset: str) -> None:
    cabinet = cabinets(preset=preset, attract=True)
    key(cabinet, "down")
    assert not cabinet.session.attract
    assert cabinet.marked is None

    def steer(target: object) -> None:
        if cabinet.marked is None:
            key(cabinet, "next")
        for _ in range(20):
            if cabinet.marked == target:
                return
            key(cabinet, "next")
        raise AssertionError(f"{target} is out of reach")

    for move in won_by_hand(preset).line:
        before = cabinet.session.moves_played
        position = cabinet.session.position
        targets: list[object] = [Pile.STOCK]
        if move.cards:
            place_of = position.deal.place_of
            targets = [target_of(position, place_of[card]) for card in move.cards]
        for target in targets:
            steer(target)
            key(cabinet, "select")
        assert cabinet.session.moves_played == before + 1, move
    cabinet.wait(4)
    key(cabinet, "select")
    assert cabinet.session.panel is Panel.NONE
    assert cabinet.session.moves_played == 0


def test_the_tabulator_goes_both_ways(cabinets: Callable[..., Cabinet]) -> None:
    cabinet = cabinets()
    key(cabinet, "next")
    key(cabinet, "next")
    assert cabinet.marked == 22
    key(cabinet, "next", modifiers=["shift"])
    key(cabinet, "next", modifiers=["shift"])
    assert cabinet.marked == "fr", "the languages come last, before the first move"
    key(cabinet, "select")
    assert cabinet.session.language == "fr"


def test_leaning_on_enter_takes_one_thing(cabinets: Callable[..., Cabinet]) -> None:
    cabinet = cabinets()
    cabinet.steer_by_wheel(Pile.STOCK)
    window = cabinet.stage.window
    for _ in range(10):
        window.dispatch("on_key_down", KEYS["select"], 0, None, [])
        cabinet.wait(0.05)
    assert cabinet.session.moves_played == 1
    window.dispatch("on_key_up", KEYS["select"], 0)
    key(cabinet, "select")
    assert cabinet.session.moves_played == 2


def test_a_key_that_answers_still_there_moves_no_mark(cabinets: Callable[..., Cabinet]) -> None:
    cabinet = cabinets()
    cabinet.press(DRAW)
    key(cabinet, "right")
    marked = cabinet.marked
    cabinet.stage.now += 61
    cabinet.wait(0.3)
    assert cabinet.session.panel is Panel.COUNTDOWN
    key(cabinet, "right")
    assert cabinet.session.panel is Panel.NONE
    assert cabinet.marked == marked


@pytest.mark.parametrize("code", [120, 303])  # x and shift, which mean nothing in the game
def test_any_key_says_that_somebody_is_there_but_a_book_on_it_does_not(
    cabinets: Callable[..., Cabinet], code: int
) -> None:
    cabinet = cabinets()
    window = cabinet.stage.window
    cabinet.press(DRAW)
    cabinet.stage.now += 61
    cabinet.wait(0.3)
    assert cabinet.session.panel is Panel.COUNTDOWN
    window.dispatch("on_key_down", code, 0, None, [])
    assert cabinet.session.panel is Panel.NONE
    for _second in range(61):
        # What is held down is heard again and again.
        cabinet.stage.now += 1
        window.dispatch("on_key_down", code, 0, None, [])
    cabinet.wait(0.3)
    window.dispatch("on_key_down", code, 0, None, [])
    assert cabinet.session.panel is Panel.COUNTDOWN
    window.dispatch("on_key_up", code, 0)


# --- Panels that open by themselves --------------------------------------------------------------


def test_the_panels_that_ask_are_answered_by_stick(cabinets: Callable[..., Cabinet]) -> None:
    cabinet = cabinets()
    cabinet.steer_by_stick(Pile.STOCK)
    cabinet.press(SELECT)
    cabinet.app.send(Replay())
    cabinet.wait(0.3)
    leave_by(cabinet, cabinet.steer_by_stick, "Start again")
    assert cabinet.session.moves_played == 0
    cabinet.press(DRAW)
    cabinet.stage.now += 100
    cabinet.wait(0.3)
    assert cabinet.session.attract
    cabinet.press(UP)
    assert cabinet.session.panel is Panel.CONTINUE
    cabinet.wait(0.3)
    cabinet.press(UP)
    assert cabinet.marked == cabinet.labelled("Continue this game").key
    cabinet.press(SELECT)
    assert cabinet.session.panel is Panel.NONE
    assert cabinet.session.moves_played == 1


def test_a_stuck_game_is_taken_back_by_stick(cabinets: Callable[..., Cabinet]) -> None:
    cabinet = cabinets(preset="classic")
    cabinet.press(UP)
    # Draw everything first: of this deal that leaves nothing to win.
    while cabinet.session.position.can_draw:
        cabinet.app.send(Draw())
    while removals := list(cabinet.session.position.removals()):
        cabinet.play(removals[-1], cabinet.steer_by_stick)
    assert cabinet.session.panel is Panel.STUCK
    moves = cabinet.session.moves_played
    cabinet.wait(1)
    undo = cabinet.labelled("Undo a move")
    assert cabinet.marked == undo.key
    cabinet.press(SELECT)
    assert cabinet.session.panel is Panel.NONE
    assert cabinet.session.moves_played == moves - 1
