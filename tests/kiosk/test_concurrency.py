"""Everything at once: pins that change on ten threads while cards move, games are kept and it ends.

The pins are gpiozero's mock ones, driven from outside the main loop, as they are on a Pi, where one
thread does it; the main loop, the writing thread and the database are the real ones.
"""

from __future__ import annotations

import faulthandler
import queue
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from threading import Event, Thread

import pytest
from gpiozero.pins.mock import MockFactory, MockPWMPin

from engine.game import Game
from hardware.config import ButtonSpec, EncoderSpec, LampSpec, PanelSettings
from hardware.panel import Panel as HardwarePanel
from kiosk.adviser import ThreadAdviser
from kiosk.commands import Change, ChangeKind, Command, Drop, NewDeal
from kiosk.panel_controls import PanelControls
from kiosk.session import Session
from kiosk.sessiontypes import Saved, SessionOptions
from kiosk.storage import Storage
from tests.kiosk.conftest import Stage
from tests.kiosk.fakes import FakeDealer, won_by_hand

pytest.importorskip("kivy")

PINS = {"undo": 17, "redo": 23, "hint": 22, "draw": 24, "up": 5, "select": 6}
WHEEL = EncoderSpec(19, 26)
SETTINGS = PanelSettings(
    buttons={name: ButtonSpec(pin) for name, pin in PINS.items()},
    encoders={"wheel": WHEEL},
    lamps={"undo": LampSpec(12), "hint": LampSpec(13)},
)
DRIVEN = (*PINS.values(), WHEEL.a, WHEEL.b)
THREADS = 10
#: Until so many moves were played and taken back by the buttons, and that in so many frames.
MOVES = 8
FRAMES = 40
#: Frames after which the buttons must have done all that: far more than they need.
PATIENCE = 3000
#: Seconds after which a test that does not end shows where every thread stands, and ends.
HANGS = 300
FINGER_TICK = 0.01


class Hands:
    """Threads that drive pins, all of them any pin, until told to stop."""

    def __init__(self, factory: MockFactory) -> None:
        self._pins = [factory.pin(number) for number in DRIVEN]
        self._stop = Event()
        self.errors: list[BaseException] = []
        self.edges = [0] * THREADS
        self._threads = [Thread(target=self._work, args=(n,)) for n in range(THREADS)]
        for thread in self._threads:
            thread.start()

    def _work(self, number: int) -> None:
        rng = Random(number)
        try:
            while not self._stop.wait(FINGER_TICK):
                pin = rng.choice(self._pins)
                (pin.drive_low if rng.random() < 0.5 else pin.drive_high)()
                self.edges[number] += 1
        except BaseException as error:
            self.errors.append(error)

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()


@pytest.fixture(autouse=True)
def _hangs_show_where() -> Iterator[None]:
    faulthandler.dump_traceback_later(HANGS, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.mark.parametrize("ending", ["while they press", "after they let go"])
def test_ten_threads_at_the_buttons_while_cards_move_games_are_kept_and_it_ends(
    stage: Stage, tmp_path: Path, ending: str, caplog: pytest.LogCaptureFixture
) -> None:
    from kiosk.app import KioskApp

    inbox: queue.SimpleQueue[Command] = queue.SimpleQueue()
    storage = Storage(tmp_path)
    adviser = ThreadAdviser(inbox.put)
    session = Session(
        FakeDealer(),
        adviser,
        SessionOptions(start_in_attract=False, attract_after=0),
        now=stage.now,
        record=storage.record,
    )
    kept: list[Saved] = []

    def keep(saved: Saved) -> None:
        kept.append(saved)
        storage.save(saved)

    app = KioskApp(session, inbox, keep=keep, clock=lambda: stage.now)
    stage.window.add_widget(app.build())
    factory = MockFactory(pin_class=MockPWMPin)
    done: Counter[ChangeKind] = Counter()

    def send(command: Command) -> Change:
        change = app.send(command)
        done[change.kind] += 1
        return change

    controls = PanelControls(session, send, navigate=app.navigate)
    controls.panel = HardwarePanel.open(
        SETTINGS, controls.handle, clock=lambda: stage.now, open_pins=lambda: factory
    )
    app.attach(controls)
    hands = Hands(factory)
    moving = errands = frame = 0

    def count() -> None:
        nonlocal errands
        errands += 1

    try:
        for frame in range(PATIENCE):
            stage.frame(1 / 20)
            moving += app.table.moving
            app.soon(count)
            if frame % 20 == 10:
                # Only a game in which something was removed is counted when it is left.
                pair = won_by_hand("three-pass").line[0].cards
                inbox.put(Drop(*(session.position.deal.place_of[card] for card in pair)))
                inbox.put(NewDeal(confirmed=True))
                assert Game.load(session.saved().game).position == session.position
            played, undone = done[ChangeKind.PLAYED], done[ChangeKind.UNDONE]
            if frame >= FRAMES and played >= MOVES and undone >= MOVES // 2:
                break
        if ending == "after they let go":
            hands.stop()
        assert controls.panel.connected
        app.on_stop()
        edges = list(hands.edges)
        assert not controls.panel.connected
    finally:
        hands.stop()
        adviser.close()
        stage.window.remove_widget(app.root_widget)
    assert hands.errors == []
    assert [r.getMessage() for r in caplog.records if r.levelname in {"WARNING", "ERROR"}] == []
    assert min(edges) > 0
    assert done[ChangeKind.PLAYED] >= MOVES
    assert done[ChangeKind.UNDONE] >= MOVES // 2
    assert moving > 0, "and cards were moving all the time"
    assert errands > 0, "the main loop was not lost"
    assert len(kept) > MOVES
    assert storage.close(60)
    again = Storage(tmp_path)
    assert again.problems == []
    assert again.saved == kept[-1] == session.saved()
    assert again.statistics.all.played == session.statistics.all.played > 0
    assert again.close()


def test_a_panel_closes_while_ten_threads_are_at_its_pins() -> None:
    """Closing waits for no callback: not for one that is running, and not for those to come."""
    for _ in range(30):
        factory = MockFactory(pin_class=MockPWMPin)
        panel = HardwarePanel.open(SETTINGS, lambda _event: None, open_pins=lambda: factory)  # noqa: B023
        hands = Hands(factory)
        while not all(hands.edges):
            panel.poll(0.0)
        panel.close()
        hands.stop()
        assert hands.errors == []


def on_threads(jobs: list[Callable[[], None]]) -> None:
    threads = [Thread(target=job) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_a_storage_that_is_used_by_many_threads_while_it_closes(tmp_path: Path) -> None:
    """Only one thread saves, but others ask for copies, wait for it, and end it."""
    from tests.crash.scenarios import RESULT, SAVED

    storage = Storage(tmp_path)
    errors: list[BaseException] = []

    def guarded(job: Callable[[], object]) -> Callable[[], None]:
        def work() -> None:
            try:
                for _ in range(20):
                    job()
            except BaseException as error:
                errors.append(error)

        return work

    def forget() -> None:
        try:
            storage.forget_results(60)
        except OSError as error:
            assert "is closed" in str(error)

    on_threads(
        [
            *[guarded(lambda: storage.save(SAVED))] * 4,
            *[guarded(lambda: storage.record(RESULT))] * 3,
            *[guarded(lambda: storage.flush(60))] * 2,
            guarded(forget),
        ]
    )
    assert errors == []
    assert storage.close(60)
    again = Storage(tmp_path)
    assert again.saved == SAVED
    assert again.problems == []
    assert again.close()
