"""The whole application in a real window: everything between a finger and the saved game."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from threading import Thread
from typing import Any

import msgspec
import pytest

from engine.advice import Advice
from engine.game import Game
from engine.position import Move, MoveKind, Outcome
from engine.rules import PRESETS
from kiosk.attract import target_of
from kiosk.commands import (
    AdviceReady,
    ChangeKind,
    Close,
    Command,
    Draw,
    NewDeal,
    Open,
    Panel,
    Pile,
    SetLanguage,
    SetLook,
    Tap,
    Target,
)
from kiosk.layout import Control
from kiosk.reload import AT_START
from kiosk.session import Session
from kiosk.sessiontypes import Configure, Saved, SessionOptions
from kiosk.settings import DisplaySettings
from kiosk.statistics import Result
from tests.kiosk.conftest import Stage
from tests.kiosk.fakes import FakeAdviser, FakeDealer, won_by_hand

pytest.importorskip("kivy")

SIZES = [(800, 480), (1024, 600), (1280, 720), (1920, 1080), (720, 1280), (1200, 1920)]


class Watched(DisplaySettings, frozen=True):
    """Settings that remember which of them were looked at."""

    def __getattribute__(self, name: str) -> Any:
        LOOKED_AT.add(name)
        return super().__getattribute__(name)


LOOKED_AT: set[str] = set()


class Kiosk:
    """The application on a stage."""

    def __init__(
        self,
        stage: Stage,
        preset: str = "three-pass",
        *,
        size: tuple[int, int] = (800, 480),
        start_in_attract: bool = False,
        saved: Saved | None = None,
        display: DisplaySettings | None = None,
    ) -> None:
        from kiosk.app import KioskApp

        stage.window.size = size
        stage.wait(0.05)
        self.stage = stage
        self.adviser = FakeAdviser()
        self.results: list[Result] = []
        self.kept: list[Saved] = []
        self.inbox: queue.SimpleQueue[Command] = queue.SimpleQueue()
        self.session = Session(
            FakeDealer(),
            self.adviser,
            SessionOptions(
                preset=preset,
                start_in_attract=start_in_attract,
                look=display or DisplaySettings(),
            ),
            now=stage.now,
            record=self.results.append,
            saved=saved,
        )
        self.app = KioskApp(
            self.session,
            self.inbox,
            keep=self.kept.append,
            clock=lambda: stage.now,
        )
        stage.window.add_widget(self.app.build())
        stage.wait(1.0)

    def close(self) -> None:
        self.app.on_stop()
        self.stage.window.remove_widget(self.app.root_widget)

    def tap(self, target: Target | Control) -> None:
        layout = self.app.table.layout
        if isinstance(target, Control):
            x, y = getattr(layout, target.value).center
        elif isinstance(target, Pile):
            x, y = (layout.stock if target is Pile.STOCK else layout.waste).center
        else:
            # Low on the card: what may still cover an available card covers nothing of it there.
            rect = layout.pyramid[target]
            x, y = rect.center[0], rect.y + rect.h * 0.2
        self.stage.tap(x, y)

    def play(self, move: Move) -> None:
        position = self.session.position
        if move.kind in {MoveKind.DRAW, MoveKind.REDEAL}:
            self.tap(Pile.STOCK)
            return
        for card in move.cards:
            self.tap(target_of(position, position.deal.place_of[card]))

    def win(self) -> None:
        """Play the line that wins, only its last move by touch."""
        *line, last = won_by_hand("three-pass").line
        for move in line:
            position = self.session.position
            for card in move.cards:
                self.app.send(Tap(target_of(position, position.deal.place_of[card])))
            if not move.cards:
                self.app.send(Draw())
        self.stage.wait(1.0)
        self.play(last)


@pytest.fixture
def kiosks(stage: Stage) -> Iterator[Any]:
    opened: list[Kiosk] = []

    def make(*args: Any, **kwargs: Any) -> Kiosk:
        for kiosk in opened:
            kiosk.close()
        opened.clear()
        opened.append(Kiosk(stage, *args, **kwargs))
        return opened[0]

    yield make
    for kiosk in opened:
        kiosk.close()


@pytest.mark.parametrize(
    ("preset", "size"),
    list(zip(PRESETS, SIZES, strict=True)),
    ids=lambda it: str(it).replace(", ", "x"),
)
def test_every_preset_is_won_by_touch(kiosks: Any, preset: str, size: tuple[int, int]) -> None:
    kiosk = kiosks(preset, size=size)
    for move in won_by_hand(preset).line:
        before = kiosk.session.moves_played
        kiosk.play(move)
        assert kiosk.session.moves_played == before + 1, move
    assert kiosk.session.panel is Panel.WON
    assert kiosk.session.position.outcome is Outcome.WON
    assert [r.outcome for r in kiosk.results] == ["won"]
    kiosk.stage.wait(4)  # the celebration, and the moment in which a hurried tap does nothing
    kiosk.stage.tap(5, 5)
    assert kiosk.session.moves_played == 0, "at the end of a game a plain tap deals the next"


def test_what_must_survive_is_kept_after_every_move(kiosks: Any) -> None:
    kiosk = kiosks()
    for count, move in enumerate(won_by_hand("three-pass").line[:8], start=1):
        kiosk.play(move)
        assert Game.load(kiosk.kept[-1].game).index == count
    kiosk.tap(Control.UNDO)
    assert Game.load(kiosk.kept[-1].game).index == 7
    kiosk.tap(Control.HINT)
    assert kiosk.kept[-1].hints == 1
    again = kiosks(saved=kiosk.kept[-1])
    assert again.session.moves_played == 7
    assert again.session.position == kiosk.session.position


def test_the_first_touch_only_wakes_wherever_it_lands(kiosks: Any) -> None:
    kiosk = kiosks(start_in_attract=True)
    layout = kiosk.app.table.layout
    places = [layout.stock.center, *(getattr(layout, control.value).center for control in Control)]
    places += [layout.pyramid[27].center, (1, 1)]
    for x, y in places:
        assert kiosk.session.attract
        kiosk.stage.tap(x, y)
        assert not kiosk.session.attract
        assert kiosk.session.moves_played == 0
        assert kiosk.session.panel is Panel.NONE
        assert kiosk.session.selected is None
        kiosk.stage.now += 61
        kiosk.stage.wait(0.3)


def test_buttons_undo_hint_deal_and_open_the_menu(kiosks: Any) -> None:
    kiosk = kiosks()
    line = won_by_hand("three-pass").line
    kiosk.tap(Control.HINT)
    assert kiosk.session.hinted
    kiosk.play(line[0])
    kiosk.tap(Control.UNDO)
    assert kiosk.session.moves_played == 0
    kiosk.tap(Control.MENU)
    assert kiosk.session.panel is Panel.MENU
    kiosk.tap(Pile.STOCK)
    assert kiosk.session.moves_played == 0, "nothing is played through a panel"
    kiosk.app.send(Open(Panel.RULES))
    assert kiosk.session.panel is Panel.RULES
    kiosk.app.send(Close())
    assert kiosk.session.panel is Panel.NONE
    kiosk.play(line[0])
    kiosk.tap(Control.NEW_DEAL)
    assert kiosk.session.panel is Panel.GIVE_UP
    assert kiosk.session.moves_played == 1


def test_a_hint_comes_from_another_thread_through_the_inbox(kiosks: Any) -> None:
    kiosk = kiosks()
    kiosk.tap(Pile.STOCK)
    kiosk.tap(Control.HINT)
    assert kiosk.session.thinking
    question = kiosk.adviser.asked[-1][0]
    kiosk.inbox.put(AdviceReady(question, Advice(False, 0, won_by_hand("three-pass").line, 1)))
    kiosk.stage.wait(0.3)
    assert kiosk.session.panel is Panel.CANNOT_WIN


def test_the_language_changes_without_losing_the_game(kiosks: Any) -> None:
    kiosk = kiosks()
    kiosk.play(won_by_hand("three-pass").line[0])
    position = kiosk.session.position
    for language in ("de", "fr", "es", "en"):
        kiosk.app.send(SetLanguage(language))
        kiosk.stage.wait(0.1)
        assert kiosk.app._spoken == language
        assert kiosk.session.position == position


def test_keys_play_too(kiosks: Any) -> None:
    kiosk = kiosks()
    window = kiosk.stage.window
    window.dispatch("on_key_down", ord("d"), 0, "d", [])
    assert kiosk.session.moves_played == 1
    window.dispatch("on_key_down", ord("u"), 0, "u", [])
    assert kiosk.session.moves_played == 0
    window.dispatch("on_key_down", ord("m"), 0, "m", [])
    assert kiosk.session.panel is Panel.MENU
    window.dispatch("on_key_down", 27, 0, "", [])
    assert kiosk.session.panel is Panel.NONE
    for key in (282, 283, 293, 13, 9, 300, 0, 10**9):  # function keys, Return, Tab, nonsense
        window.dispatch("on_key_down", key, 0, "", [])
    assert kiosk.session.moves_played == 0


@pytest.mark.parametrize("key", [ord("u"), ord("d"), ord(" "), 274, 300])
def test_a_book_on_the_keyboard_is_nobody(kiosks: Any, key: int) -> None:
    kiosk = kiosks()
    window = kiosk.stage.window

    def held(seconds: float) -> None:
        for _ in range(round(seconds / 0.5)):
            window.dispatch("on_key_down", key, 0, "", [])
            kiosk.stage.frame(0.5)

    held(25)
    assert not kiosk.session.attract, "who leans on a key is there"
    began = kiosk.stage.now
    while not kiosk.session.attract and kiosk.stage.now < began + 300:
        held(5)
    assert kiosk.session.attract
    assert kiosk.stage.now - began < 5 + 60 + 20 + 10
    held(60)
    assert kiosk.session.attract, "nor does it wake the kiosk"
    window.dispatch("on_key_up", key, 0)
    window.dispatch("on_key_down", key, 0, "", [])
    assert not kiosk.session.attract, "a key that comes down anew is somebody"


def test_a_key_that_was_never_heard_to_come_up_is_heard_when_it_comes_down(kiosks: Any) -> None:
    # Its keyboard was pulled out meanwhile.
    kiosk = kiosks()
    window = kiosk.stage.window
    window.dispatch("on_key_down", ord("d"), 0, "d", [])
    kiosk.stage.wait(40)
    window.dispatch("on_key_down", ord("d"), 0, "d", [])
    assert kiosk.session.moves_played == 2


def test_nothing_is_drawn_when_nothing_happens(kiosks: Any) -> None:
    kiosk = kiosks()
    kiosk.stage.wait(4)  # the frames that are drawn again after the start, see DRAW_AGAIN
    assert kiosk.stage.drawn_frames(20) == 0
    kiosk.tap(Pile.STOCK)
    kiosk.stage.wait(1)
    # The clock on the screen moves once a second, and nothing else.
    assert kiosk.stage.drawn_frames(10) <= 11


def test_a_new_size_lays_everything_out_again(kiosks: Any) -> None:
    kiosk = kiosks()
    kiosk.play(won_by_hand("three-pass").line[0])
    kiosk.stage.window.size = (720, 1280)
    kiosk.stage.wait(0.2)
    assert kiosk.app.table.layout.screen.size == (720, 1280)
    kiosk.play(won_by_hand("three-pass").line[1])
    assert kiosk.session.moves_played == 2


def test_a_confirmed_new_deal_is_one_change(kiosks: Any) -> None:
    kiosk = kiosks()
    kiosk.play(won_by_hand("three-pass").line[0])
    assert kiosk.app.send(NewDeal(confirmed=True)).kind is ChangeKind.DEALT
    assert [r.outcome for r in kiosk.results] == ["abandoned"]


def test_a_new_look_is_put_on_without_losing_the_game(kiosks: Any) -> None:
    kiosk = kiosks()
    kiosk.play(won_by_hand("three-pass").line[0])
    position = kiosk.session.position
    undo = kiosk.app.table.layout.undo
    widgets = len(kiosk.app.root_widget.children)
    for name in ("left_handed", "high_contrast", "four_colour", "reduced_motion"):
        kiosk.app.send(SetLook(name, True))
        kiosk.stage.wait(0.1)
    assert kiosk.session.position == position
    assert kiosk.app.table.layout.undo.x < undo.x
    assert len(kiosk.app.root_widget.children) == widgets
    kiosk.tap(Control.UNDO)
    assert kiosk.session.moves_played == 0


def test_the_letters_of_the_deck_follow_the_language(kiosks: Any) -> None:
    kiosk = kiosks(display=DisplaySettings(local_indices=True))
    styles = []
    for language in ("de", "fr", "es"):
        kiosk.app.send(SetLanguage(language))
        styles.append(kiosk.app.table._style.local_indices[-3:])
    assert styles == ["BDK", "VDR", "JQK"]


def test_a_paused_table_shows_nothing_and_takes_nothing(kiosks: Any) -> None:
    # PySolFC 569: one could play while paused.
    kiosk = kiosks()
    kiosk.app.send(Open(Panel.PAUSE))
    kiosk.tap(Pile.STOCK)
    assert kiosk.session.moves_played == 0
    kiosk.app.send(Close())
    kiosk.stage.wait(0.5)
    kiosk.tap(Pile.STOCK)
    assert kiosk.session.moves_played == 1


def test_a_visitor_who_comes_back_may_go_on(kiosks: Any) -> None:
    kiosk = kiosks()
    kiosk.play(won_by_hand("three-pass").line[0])
    kiosk.stage.now += 61
    kiosk.stage.wait(0.3)
    assert kiosk.session.panel is Panel.COUNTDOWN
    kiosk.stage.now += 30
    kiosk.stage.wait(0.3)
    assert kiosk.session.attract
    kiosk.tap(Pile.STOCK)
    assert kiosk.session.panel is Panel.CONTINUE
    assert kiosk.session.moves_played == 1


def test_the_offer_to_go_on_goes_away_when_the_visitors_language_comes_back(kiosks: Any) -> None:
    """The panel closes by the same command that brings another language."""
    kiosk = kiosks()
    kiosk.app.send(SetLanguage("fr"))
    kiosk.play(won_by_hand("three-pass").line[0])
    kiosk.stage.now += 61
    kiosk.stage.wait(0.3)
    kiosk.stage.now += 30
    kiosk.stage.wait(0.3)
    kiosk.tap(Pile.STOCK)
    assert kiosk.session.panel is Panel.CONTINUE
    assert kiosk.session.speaks == "en"
    kiosk.stage.wait(1.0)
    kiosk.app.send(Close())
    assert kiosk.session.speaks == "fr"
    assert kiosk.app.panels.sheet is None
    kiosk.stage.wait(0.3)
    kiosk.tap(Pile.STOCK)
    assert kiosk.session.moves_played == 2, "nothing lies over the table"


def test_the_cards_celebrate_before_the_panel_says_it(kiosks: Any) -> None:
    kiosk = kiosks()
    kiosk.win()
    assert kiosk.session.panel is Panel.WON
    assert kiosk.app.table.moving
    assert kiosk.app.panels.sheet is None
    kiosk.stage.wait(3)
    assert not kiosk.app.table.moving
    assert kiosk.app.panels.sheet is not None


def test_a_touch_ends_the_celebration(kiosks: Any) -> None:
    kiosk = kiosks()
    kiosk.win()
    kiosk.tap(0)
    assert not kiosk.app.table.moving
    assert kiosk.app.panels.sheet is not None
    assert kiosk.session.position.outcome is Outcome.WON, "and does nothing else"


def test_errands_are_run_by_the_main_loop_and_cannot_end_it(kiosks: Any, stage: Stage) -> None:
    kiosk = kiosks()
    done: list[str] = []

    def fails() -> None:
        raise OSError("no")

    Thread(
        target=lambda: [kiosk.app.soon(it) for it in (fails, lambda: done.append("yes"))]
    ).start()
    stage.wait(0.5)
    assert done == ["yes"]


def test_corners_can_be_turned_off_and_on(kiosks: Any) -> None:
    kiosk = kiosks()
    kiosk.app.set_corners(True)
    assert kiosk.app.root_widget.corners is None  # this kiosk has no service menu
    kiosk.session.service = object()
    kiosk.app.set_corners(True)
    assert kiosk.app.root_widget.corners is not None
    kiosk.app.set_corners(False)
    assert kiosk.app.root_widget.corners is None
    kiosk.session.service = None


def test_every_setting_of_the_look_is_heeded_when_it_changes(stage: Stage) -> None:
    kiosk = Kiosk(stage, start_in_attract=True)
    LOOKED_AT.clear()
    kiosk.inbox.put(Configure(SessionOptions(look=Watched(four_colour=True))))
    stage.wait(0.3)
    assert isinstance(kiosk.session.look, Watched)
    at_start = {name.partition(".")[2] for name in AT_START if name.startswith("display.")}
    names = {field.name for field in msgspec.structs.fields(DisplaySettings)}
    assert names - at_start - LOOKED_AT == set()
    kiosk.close()
