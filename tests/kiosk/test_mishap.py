"""Exceptions thrown into every callback of the main loop: logged, and gone on from for a while."""

from __future__ import annotations

import logging
import queue
from collections.abc import Callable, Iterator
from pkgutil import resolve_name
from typing import Any

import pytest

from kiosk.commands import Close, Command, Panel
from kiosk.layout import Control
from kiosk.session import Session
from kiosk.sessiontypes import SessionOptions
from tests.kiosk.conftest import Stage
from tests.kiosk.fakes import FakeAdviser, FakeDealer

pytest.importorskip("kivy")

MOST = 5
WITHIN = 60.0


class TroubleError(Exception):
    """What is thrown."""


class Kiosk:
    """The application on a stage whose main loop asks what to do about exceptions."""

    def __init__(self, stage: Stage) -> None:
        from kiosk.app import KioskApp

        self.stage = stage
        self.session = Session(
            FakeDealer(),
            FakeAdviser(),
            SessionOptions(start_in_attract=False, attract_after=0),
            now=stage.now,
        )
        inbox: queue.SimpleQueue[Command] = queue.SimpleQueue()
        self.app = KioskApp(self.session, inbox, keep=lambda _saved: None, clock=lambda: stage.now)
        stage.window.add_widget(self.app.build())
        stage.wait(0.5)

    def guarded(self, do: Callable[[], object]) -> bool:
        """As Kivy's main loop does it; whether it goes on."""
        from kivy.base import ExceptionManager

        try:
            do()
        except Exception as error:
            return bool(ExceptionManager.handle_exception(error) == ExceptionManager.PASS)
        return True

    def tap(self, control: Control) -> bool:
        x, y = self.app.table.layout.button(control).center
        return self.guarded(lambda: self.stage.tap(x, y))

    @property
    def fingers(self) -> list[Any]:
        """Touches whose end was lost in an exception."""
        from kivy.base import EventLoop

        return list(EventLoop.me_list)


#: What the main loop calls, and where it can go wrong: in touches, keys, ticks, frames, widgets.
CALLBACKS = (
    "kiosk.session:Session.handle",
    "kiosk.app:KioskApp._tick",
    "kiosk.app:KioskApp._run_errands",
    "kiosk.app:KioskApp._key_down",
    "kiosk.app:KioskApp._refresh",
    "kiosk.app:KioskApp._place",
    "kiosk.app:KioskApp._flipped",
    "kiosk.app:Root.on_touch_down",
    "kiosk.app:Root.on_touch_up",
    "kiosk.table:Table.animate",
    "kiosk.table:Table.on_touch_down",
    "kiosk.table:Table.on_touch_up",
    "kiosk.table:Table._step",
    "kiosk.table:Table._draw",
    "kiosk.hud:Hud.message",
    "kiosk.hud:Hud.update",
    "kiosk.screens:PanelHost.update",
    "kiosk.screens:PanelHost.on_touch_down",
    "kiosk.menu:Menu.__init__",
    "kiosk.widgets:Pressable.on_touch_up",
    "kiosk.mark:Mark.update",
    "kiosk.frametimes:FrameTimes.drawn",
)


class Trap:
    """A function that throws as long as it is armed."""

    def __init__(self, patch: pytest.MonkeyPatch, name: str) -> None:
        self.armed = self.sprung = 0
        module, _, path = name.partition(":")
        owner = resolve_name(f"{module}:{path.rpartition('.')[0]}")
        attribute = path.rpartition(".")[2]
        real = getattr(owner, attribute)

        def trapped(*args: Any, **options: Any) -> Any:
            if self.armed:
                self.armed -= 1
                self.sprung += 1
                raise TroubleError("for a test")
            return real(*args, **options)

        # Kivy looks weakly bound methods up by their names.
        trapped.__name__ = attribute
        patch.setattr(owner, attribute, trapped)


@pytest.fixture
def start(stage: Stage) -> Iterator[Callable[[], Kiosk]]:
    made: list[Kiosk] = []

    def make() -> Kiosk:
        made.append(Kiosk(stage))
        return made[-1]

    yield make
    for it in made:
        it.app.on_stop()
        stage.window.remove_widget(it.app.root_widget)


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]


@pytest.mark.parametrize("name", CALLBACKS)
def test_whatever_throws_once_the_kiosk_plays_on(
    start: Any,
    stage: Stage,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    trap = Trap(monkeypatch, name)
    kiosk = start()
    window = stage.window
    trap.armed = 1
    stock = kiosk.app.table.layout.stock.center
    for do in (
        lambda: stage.tap(*stock),
        lambda: window.dispatch("on_key_down", 100, 0, "d", []),
        lambda: window.dispatch("on_key_up", 100, 0),
        window.canvas.ask_update,
        lambda: stage.wait(0.5),
    ):
        assert kiosk.guarded(do)
    assert kiosk.tap(Control.MENU)
    assert kiosk.guarded(lambda: stage.wait(0.5))
    assert trap.sprung == 1
    errors = said(caplog)
    assert len(errors) == 1
    trace = next(record.exc_info for record in caplog.records if record.exc_info)
    assert isinstance(trace[1], TroubleError)
    # Whatever it was, everything goes on from here.
    for finger in kiosk.fingers:
        finger.touch_up()
    kiosk.app.send(Close())
    stage.wait(1.0)
    assert kiosk.session.panel is Panel.NONE
    assert kiosk.app.panels.sheet is None
    before = kiosk.session.moves_played
    stage.tap(*kiosk.app.table.layout.stock.center)
    assert kiosk.session.moves_played == before + 1
    assert kiosk.tap(Control.MENU)
    assert kiosk.app.panels.sheet is not None


def test_what_throws_again_and_again_ends_the_kiosk_so_that_it_begins_anew(
    start: Any, stage: Stage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    trap = Trap(monkeypatch, "kiosk.app:KioskApp._tick")
    kiosk = start()
    trap.armed = 1000
    # Kivy drops a timer whose callback has raised: it must not get that far.
    went = [kiosk.guarded(lambda: stage.frame(0.2)) for _ in range(MOST + 1)]
    assert went == [True] * MOST + [False]
    assert "once too often" in said(caplog)[-1]


def test_a_failure_an_hour_is_none_too_often(
    start: Any, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap = Trap(monkeypatch, "kiosk.app:KioskApp._tick")
    kiosk = start()
    for _ in range(3 * MOST):
        trap.armed = 1
        assert kiosk.guarded(lambda: stage.frame(WITHIN / MOST + 1))
    assert trap.sprung == 3 * MOST


def test_a_screen_that_cannot_be_made_anew_ends_the_kiosk(
    start: Any, stage: Stage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    trap = Trap(monkeypatch, "kiosk.hud:Hud.update")
    kiosk = start()
    trap.armed = 1000
    assert not kiosk.tap(Control.MENU)
    assert "could not be made anew" in said(caplog)[-1]
    trap.armed = 0


def test_what_ends_the_program_on_purpose_is_not_held_up(start: Any) -> None:
    from kivy.base import ExceptionManager

    kiosk = start()
    for error in (KeyboardInterrupt(), SystemExit(0)):
        assert ExceptionManager.handle_exception(error) == ExceptionManager.RAISE
    kiosk.app.on_stop()
    assert ExceptionManager.handle_exception(TroubleError()) == ExceptionManager.RAISE
    assert ExceptionManager.handlers == []
