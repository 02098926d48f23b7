from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest
from gpiozero.pins.mock import MockFactory, MockPWMPin

from engine.position import Move, MoveKind
from hardware.config import LampState, PanelSettings
from hardware.events import EventKind, PanelEvent
from hardware.panel import Panel as HardwarePanel
from kiosk import commands
from kiosk.attract import target_of
from kiosk.commands import Change, ChangeKind, Command, Draw, NewDeal, Open, Panel, Tap
from kiosk.panel_controls import PanelControls, wired
from kiosk.panel_settings import ButtonSettings, LampSettings, PresenceSettings
from kiosk.session import Session
from kiosk.sessiontypes import SessionOptions
from tests.hardware.rig import FakeClock, on_threads
from tests.kiosk.fakes import FakeAdviser, FakeDealer, won_by_hand

BUTTONS = ButtonSettings(undo=17, new_deal=27, hint=22, redo=23, draw=24, up=5, select=6)
LAMPS = LampSettings(undo=12, new_deal=13)
SENSOR = PresenceSettings(pin=4)


@dataclass
class Cabinet:
    """A session with a panel's meaning on top, and everything it was told."""

    session: Session = field(init=False)
    controls: PanelControls = field(init=False)
    now: float = 1000.0
    dark: bool = False
    attract: bool = False
    sent: list[Command] = field(default_factory=list)
    told: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.session = Session(
            FakeDealer(),
            FakeAdviser(),
            SessionOptions(start_in_attract=self.attract),
            now=self.now,
        )
        self.controls = PanelControls(
            self.session,
            self.send,
            wake=lambda: self.dark,
            navigate=self.told.append,
            service=lambda: self.told.append("service"),
            presence=self.told.append,
        )

    def send(self, command: Command) -> Change:
        if not isinstance(command, commands.Touched):
            self.sent.append(command)
        return self.session.handle(command, self.now)

    def event(self, kind: EventKind, source: str, value: float = 0.0) -> None:
        self.now += 0.1
        self.controls.handle(PanelEvent(kind, source, value))

    def press(self, source: str) -> None:
        self.event(EventKind.PRESSED, source)

    def click(self, source: str) -> None:
        self.press(source)
        self.event(EventKind.RELEASED, source, 0.1)

    def begin(self, moves: int = 3) -> None:
        for _ in range(moves):
            self.send(Draw())
        self.sent.clear()

    def play(self, move: Move) -> None:
        if move.kind is MoveKind.DRAW:
            self.send(Draw())
        for card in move.cards:
            place = self.session.position.deal.place_of[card]
            self.send(Tap(target_of(self.session.position, place)))

    def win(self) -> None:
        for move in won_by_hand("three-pass").line:
            self.play(move)
        assert self.session.panel is Panel.WON
        self.sent.clear()


# --- Buttons -------------------------------------------------------------------------------------


def test_a_press_is_one_undo_and_a_hold_is_more() -> None:
    cabinet = Cabinet()
    cabinet.begin(5)
    cabinet.press("undo")
    assert cabinet.session.moves_played == 4
    cabinet.event(EventKind.REPEATED, "undo", 1)
    cabinet.event(EventKind.REPEATED, "undo", 2)
    assert cabinet.session.moves_played == 2


def test_a_held_undo_stops_at_the_start_without_being_refused() -> None:
    cabinet = Cabinet()
    cabinet.begin(2)
    cabinet.press("undo")
    for number in range(20):
        cabinet.event(EventKind.REPEATED, "undo", number)
    assert cabinet.sent == [commands.Undo()] * 2
    cabinet.event(EventKind.RELEASED, "undo")
    cabinet.press("redo")
    for number in range(20):
        cabinet.event(EventKind.REPEATED, "redo", number)
    assert cabinet.session.moves_played == 2
    assert cabinet.sent[2:] == [commands.Redo()] * 2


@pytest.mark.parametrize(
    ("button", "command"), [("hint", commands.Hint()), ("draw", Draw()), ("redo", commands.Redo())]
)
def test_the_other_buttons(button: str, command: Command) -> None:
    cabinet = Cabinet()
    cabinet.begin()
    cabinet.click(button)
    assert cabinet.sent == [command]


def test_only_undo_redo_and_the_stick_repeat() -> None:
    cabinet = Cabinet()
    cabinet.begin()
    cabinet.press("draw")
    cabinet.sent.clear()
    for name in ("draw", "hint", "new_deal", "select"):
        cabinet.event(EventKind.REPEATED, name, 1)
    assert (cabinet.sent, cabinet.told) == ([], [])


def test_a_new_deal_during_a_game_is_held_for_and_shows_how_far() -> None:
    cabinet = Cabinet()
    cabinet.begin()
    cabinet.press("new_deal")
    assert cabinet.sent == []
    cabinet.event(EventKind.HOLDING, "new_deal", 0.5)
    assert cabinet.controls.holding == 0.5
    cabinet.event(EventKind.HELD, "new_deal")
    assert cabinet.sent == [NewDeal(confirmed=True)]
    assert cabinet.controls.holding == 0
    assert not cabinet.session.has_game
    assert cabinet.session.panel is Panel.NONE


@pytest.mark.parametrize("kind", [EventKind.CANCELLED, EventKind.RELEASED])
def test_a_hold_let_go_too_early_keeps_the_game(kind: EventKind) -> None:
    cabinet = Cabinet()
    cabinet.begin()
    cabinet.press("new_deal")
    cabinet.event(EventKind.HOLDING, "new_deal", 0.9)
    cabinet.event(kind, "new_deal", 0.9)
    assert cabinet.controls.holding == 0
    assert cabinet.sent == []
    assert cabinet.session.has_game


def test_a_new_deal_after_a_game_is_a_press_and_only_one() -> None:
    cabinet = Cabinet()
    cabinet.win()
    cabinet.press("new_deal")
    assert cabinet.sent == [NewDeal()]
    assert cabinet.session.moves_played == 0
    cabinet.begin()
    # Still held from before: the game that has begun since is safe.
    cabinet.event(EventKind.HOLDING, "new_deal", 0.7)
    cabinet.event(EventKind.HELD, "new_deal")
    assert cabinet.controls.holding == 0
    assert cabinet.session.has_game


def test_holding_deals_another_whatever_was_asked_before() -> None:
    cabinet = Cabinet()
    cabinet.begin()
    number = cabinet.session.number
    cabinet.send(commands.Replay())
    assert cabinet.session.panel is Panel.GIVE_UP
    dealt = cabinet.session._dealer.dealt
    cabinet.press("new_deal")
    cabinet.event(EventKind.HELD, "new_deal")
    assert cabinet.session.panel is Panel.NONE
    assert not cabinet.session.has_game
    assert cabinet.session._dealer.dealt == dealt + 1
    assert number is not None


def test_undo_leads_back_from_panels_and_goes_no_further() -> None:
    cabinet = Cabinet()
    cabinet.begin()
    for opening in (Open(Panel.MENU), Open(Panel.PAUSE), commands.Replay()):
        cabinet.send(opening)
        assert cabinet.session.panel is not Panel.NONE
        cabinet.press("undo")
        cabinet.event(EventKind.REPEATED, "undo", 1)
        cabinet.event(EventKind.RELEASED, "undo")
        assert cabinet.session.panel is Panel.NONE
        assert cabinet.session.moves_played == 3


def test_both_main_buttons_open_the_service_menu_and_do_no_more() -> None:
    cabinet = Cabinet()
    cabinet.begin()
    cabinet.press("undo")
    cabinet.press("new_deal")
    cabinet.event(EventKind.COMBINATION, "service")
    assert cabinet.told == ["service"]
    cabinet.sent.clear()
    cabinet.event(EventKind.REPEATED, "undo", 1)
    cabinet.event(EventKind.HELD, "new_deal")
    assert cabinet.sent == []
    cabinet.event(EventKind.RELEASED, "undo")
    cabinet.event(EventKind.RELEASED, "new_deal")
    cabinet.click("undo")
    assert cabinet.sent == [commands.Undo()]


def test_what_the_way_to_the_service_menu_took_back_is_played_again() -> None:
    cabinet = Cabinet()
    cabinet.begin(5)
    cabinet.click("undo")
    assert cabinet.session.moves_played == 4, "that one was meant"
    cabinet.press("undo")
    cabinet.event(EventKind.REPEATED, "undo", 1)
    cabinet.press("new_deal")
    assert cabinet.session.moves_played == 2
    cabinet.event(EventKind.COMBINATION, "service")
    assert cabinet.session.moves_played == 4
    cabinet.event(EventKind.RELEASED, "undo")
    cabinet.event(EventKind.RELEASED, "new_deal")
    cabinet.click("undo")
    assert cabinet.session.moves_played == 3
    # Pressed as the second, Undo is not told at all.
    cabinet.press("new_deal")
    cabinet.event(EventKind.COMBINATION, "service")
    assert cabinet.session.moves_played == 3


def test_stick_and_wheel_navigate() -> None:
    cabinet = Cabinet()
    cabinet.press("up")
    cabinet.event(EventKind.REPEATED, "up", 1)
    cabinet.click("select")
    cabinet.event(EventKind.TURNED, "wheel", 1)
    cabinet.event(EventKind.TURNED, "wheel", -1)
    assert cabinet.told == ["up", "up", "select", "next", "previous"]
    assert cabinet.sent == []


@pytest.mark.parametrize("source", ["undo", "new_deal", "hint", "draw", "up", "select"])
@pytest.mark.parametrize("asleep", ["attract", "countdown", "dark"])
def test_the_press_that_wakes_does_nothing_else(source: str, asleep: str) -> None:
    cabinet = Cabinet(attract=asleep == "attract")
    if asleep != "attract":
        cabinet.begin()
    if asleep == "countdown":
        cabinet.now += 61
        cabinet.send(commands.Tick())
        assert cabinet.session.panel is Panel.COUNTDOWN
        cabinet.sent.clear()
    cabinet.dark = asleep == "dark"
    cabinet.press(source)
    cabinet.dark = False
    for kind in (EventKind.REPEATED, EventKind.HOLDING, EventKind.HELD):
        cabinet.event(kind, source, 0.5)
    assert (cabinet.sent, cabinet.told, cabinet.controls.holding) == ([], [], 0)
    assert not cabinet.session.attract
    assert cabinet.session.panel is Panel.NONE
    cabinet.event(EventKind.RELEASED, source)
    cabinet.press(source)
    acts = cabinet.sent or cabinet.told or source == "new_deal"
    assert acts


def test_a_release_that_never_came_spoils_no_later_press() -> None:
    cabinet = Cabinet(attract=True)
    cabinet.press("undo")
    cabinet.begin()
    cabinet.press("undo")
    cabinet.event(EventKind.REPEATED, "undo", 1)
    assert cabinet.sent == [commands.Undo()] * 2


def test_a_turn_that_wakes_does_nothing_else() -> None:
    cabinet = Cabinet(attract=True)
    cabinet.event(EventKind.TURNED, "wheel", 1)
    assert cabinet.told == []
    assert not cabinet.session.attract


def test_presence_is_passed_on_and_ends_no_attract_mode() -> None:
    cabinet = Cabinet(attract=True)
    cabinet.event(EventKind.CAME, "presence")
    assert cabinet.controls.present
    cabinet.event(EventKind.WENT, "presence")
    assert not cabinet.controls.present
    assert cabinet.told == [True, False]
    assert cabinet.session.attract


@pytest.mark.parametrize("kind", EventKind)
@pytest.mark.parametrize("source", ["undo", "new_deal", "hint", "service", "wheel", "unknown"])
@pytest.mark.parametrize("attract", [True, False])
def test_no_event_is_too_much(kind: EventKind, source: str, attract: bool) -> None:
    cabinet = Cabinet(attract=attract)
    cabinet.event(kind, source, 0.5)
    cabinet.event(kind, source, 0.5)


# --- Lamps ---------------------------------------------------------------------------------------


def test_lamps_in_attract_mode_call() -> None:
    lamps = Cabinet(attract=True).controls.lamps()
    assert lamps.pop("new_deal") == "breathing"
    assert set(lamps.values()) == {"off"}


def test_undo_and_redo_are_lit_when_there_is_something_to_do() -> None:
    cabinet = Cabinet()
    assert cabinet.controls.lamps()["undo"] == "off"
    cabinet.begin(1)
    lamps = cabinet.controls.lamps()
    assert (lamps["undo"], lamps["redo"]) == ("on", "off")
    cabinet.click("undo")
    lamps = cabinet.controls.lamps()
    assert (lamps["undo"], lamps["redo"]) == ("off", "on")


def test_the_end_of_a_game_blinks() -> None:
    cabinet = Cabinet()
    cabinet.begin()
    assert cabinet.controls.lamps()["new_deal"] == "on"
    cabinet = Cabinet()
    cabinet.win()
    lamps = cabinet.controls.lamps()
    assert lamps.pop("new_deal") == "blinking"
    assert set(lamps.values()) == {"off"}


def test_under_a_panel_only_the_way_back_is_lit() -> None:
    cabinet = Cabinet()
    cabinet.begin()
    cabinet.send(Open(Panel.MENU))
    lamps = cabinet.controls.lamps()
    assert {name for name, state in lamps.items() if state == "on"} == {"undo", "new_deal"}


def test_a_lit_button_does_something_and_a_dark_one_does_not() -> None:
    opposite = {
        "undo": (commands.Undo(), commands.Redo()),
        "draw": (Draw(), commands.Undo()),
        "redo": (commands.Redo(), commands.Undo()),
    }
    cabinet = Cabinet()
    seen = set()
    for move in won_by_hand("three-pass").line:
        for name, (command, back) in opposite.items():
            lit = cabinet.controls.lamps()[name] == "on"
            position = cabinet.session.position
            change = cabinet.send(command)
            assert (change.kind is not ChangeKind.REFUSED) == lit
            if lit:
                seen.add(name)
                cabinet.send(back)
            assert cabinet.session.position == position
        cabinet.play(move)
    assert seen == {"undo", "redo", "draw"}


def test_lamps_speak_the_words_of_the_hardware() -> None:
    for attract in (True, False):
        for state in Cabinet(attract=attract).controls.lamps().values():
            LampState(state)


# --- What is wired -------------------------------------------------------------------------------


def plugged(
    buttons: ButtonSettings = BUTTONS,
    lamps: LampSettings = LAMPS,
    presence: PresenceSettings = SENSOR,
) -> PanelSettings:
    """As the hardware takes it; whatever does not fit there raises."""
    return msgspec.convert(wired(buttons, lamps, presence), PanelSettings)


def test_nothing_is_wired_unless_it_is_named() -> None:
    nothing = plugged(ButtonSettings(), LampSettings(), PresenceSettings())
    assert nothing == PanelSettings()
    assert nothing.is_empty


def test_what_is_named_reaches_the_hardware() -> None:
    settings = plugged(
        ButtonSettings(undo=17, new_deal=27, wheel_a=5, wheel_b=6, debounce_ms=50, pull="none"),
        LampSettings(undo=12, pwm=False, active="low"),
    )
    assert set(settings.buttons) == {"undo", "new_deal"}
    assert settings.buttons["new_deal"].hold == 1.5
    assert settings.buttons["new_deal"].repeat is None
    assert settings.buttons["undo"].hold is None
    assert settings.buttons["undo"].repeat is not None
    assert {(spec.debounce, spec.pull) for spec in settings.buttons.values()} == {(0.05, "none")}
    assert settings.combinations["service"].buttons == ("undo", "new_deal")
    assert (settings.encoders["wheel"].a, settings.encoders["wheel"].b) == (5, 6)
    assert settings.lamps["undo"].active == "low"
    assert not settings.lamps["undo"].pwm
    assert settings.presence is not None
    assert settings.presence.debounce == 0.2


def test_one_main_button_alone_is_no_combination() -> None:
    assert plugged(ButtonSettings(undo=17)).combinations == {}


def test_the_hardware_offers_what_is_asked_of_it() -> None:
    cabinet = Cabinet()
    cabinet.begin(5)
    clock, factory = FakeClock(), MockFactory(pin_class=MockPWMPin)

    def pins() -> Callable[..., Any]:
        return factory  # type: ignore[no-any-return]

    cabinet.controls.panel = HardwarePanel.open(
        plugged(), cabinet.controls.handle, clock=clock, open_pins=pins
    )

    def wait(seconds: float) -> None:
        for _ in range(round(seconds / 0.02)):
            clock.now += 0.02
            cabinet.now += 0.02
            cabinet.controls.poll(clock.now)

    undo, deal = factory.pin(17), factory.pin(27)
    wait(0.1)
    assert factory.pin(12).state == 1
    on_threads(undo.drive_low)
    wait(0.1)
    on_threads(undo.drive_high)
    wait(0.1)
    assert cabinet.session.moves_played == 4
    on_threads(undo.drive_low)
    wait(5)
    on_threads(undo.drive_high)
    wait(0.1)
    assert cabinet.session.moves_played == 0
    assert factory.pin(12).state == 0
    cabinet.begin()
    on_threads(deal.drive_low)
    wait(1)
    assert 0.5 < cabinet.controls.holding < 0.8
    wait(1)
    assert cabinet.sent == [NewDeal(confirmed=True)]
    on_threads(deal.drive_high)
    wait(0.1)
    on_threads(undo.drive_low, deal.drive_low)
    wait(5.2)
    assert cabinet.told == ["service"]
    cabinet.controls.close()
    cabinet.controls.close()
    assert factory.pins == {}


def test_a_panel_that_breaks_during_a_hold_leaves_no_ring_and_nobody_behind() -> None:
    class Broken:
        connected = False

        def retry(self, now: float) -> Broken:
            return self

        def poll(self, now: float) -> None:
            pass

        def light(self, name: str, state: str) -> None:
            pass

        def close(self) -> None:
            pass

    cabinet = Cabinet()
    cabinet.begin()
    cabinet.press("new_deal")
    cabinet.event(EventKind.HOLDING, "new_deal", 0.5)
    cabinet.event(EventKind.CAME, "presence")
    cabinet.told.clear()
    cabinet.controls.panel = Broken()
    cabinet.controls.poll(1.0)
    cabinet.controls.poll(2.0)
    assert cabinet.controls.holding == 0
    assert not cabinet.controls.present
    assert len(cabinet.told) == 1, "nobody is seen any more, which is said once"


def test_without_a_panel_nothing_happens() -> None:
    cabinet = Cabinet()
    cabinet.controls.poll(1.0)
    cabinet.controls.close()
    assert cabinet.sent == []
