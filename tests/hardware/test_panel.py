from __future__ import annotations

import gc
import itertools
import logging
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gpiozero
import pytest
from gpiozero.pins.mock import MockFactory, MockPWMPin

from hardware.chip import HardwareError
from hardware.config import (
    ButtonSpec,
    CombinationSpec,
    EncoderSpec,
    LampSpec,
    PanelSettings,
    PresenceSpec,
    Repeat,
)
from hardware.events import EventKind, PanelEvent
from hardware.panel import FIRST_RETRY, LAST_RETRY, NullPanel, Panel
from tests.hardware.rig import FakeClock, Rig, on_threads

UNDO, DEAL, LAMP, SENSOR = 17, 27, 12, 4

SETTINGS = PanelSettings(
    buttons={
        "undo": ButtonSpec(UNDO, repeat=Repeat()),
        "deal": ButtonSpec(DEAL, hold=1.5),
    },
    combinations={"service": CombinationSpec(("undo", "deal"), 5.0)},
    encoders={"wheel": EncoderSpec(5, 6)},
    lamps={"undo": LampSpec(LAMP), "deal": LampSpec(13, pwm=False)},
    presence=PresenceSpec(SENSOR),
)
TEN = PanelSettings(buttons={f"b{pin}": ButtonSpec(pin) for pin in range(16, 26)})


# --- What people do ------------------------------------------------------------------------------


def test_a_press_and_its_release() -> None:
    rig = Rig(SETTINGS)
    rig.press(UNDO)
    assert rig.events == []
    rig.poll()
    assert rig.take() == [("pressed", "undo")]
    rig.wait(0.2)
    rig.release(UNDO)
    rig.poll()
    assert rig.events == [PanelEvent(EventKind.RELEASED, "undo", pytest.approx(0.2))]


def test_a_held_button_repeats() -> None:
    rig = Rig(SETTINGS)
    rig.press(UNDO)
    rig.wait(5)
    repeats = rig.take(EventKind.REPEATED)
    assert 20 < len(repeats) < 50
    rig.release(UNDO)
    rig.wait(1)
    assert rig.take() == [("released", "undo")]


def test_a_hold_with_its_progress() -> None:
    rig = Rig(SETTINGS)
    rig.press(DEAL)
    rig.wait(1.4)
    assert {kind for kind, _source in rig.take()} == {"pressed", "holding"}
    rig.wait(0.2)
    assert rig.take()[-1] == ("held", "deal")


def test_both_main_buttons_for_five_seconds() -> None:
    rig = Rig(SETTINGS)
    rig.press(UNDO, DEAL)
    rig.wait(4.9)
    rig.take()
    rig.wait(0.2)
    assert rig.take() == [("combination", "service")]


def test_a_storm_from_another_thread_is_one_press_and_one_release() -> None:
    rig = Rig(SETTINGS)
    pin = rig.factory.pin(UNDO)

    def storm() -> None:
        for number in range(10_000):
            rig.clock.now = 2_000 + number / 10_000
            (pin.drive_low if number % 2 == 0 else pin.drive_high)()

    on_threads(storm)
    rig.poll()
    assert rig.take() == [("pressed", "undo")]
    rig.wait(60)
    assert rig.take() == [("released", "undo")]


def test_a_storm_that_is_polled_all_the_while() -> None:
    rig = Rig(SETTINGS)
    pin = rig.factory.pin(DEAL)
    over = threading.Event()

    def storm() -> None:
        for number in range(10_000):
            rig.clock.now = 2_000 + number / 10_000
            (pin.drive_low if number % 2 == 0 else pin.drive_high)()
        pin.drive_low()
        over.set()

    def polls() -> None:
        while not over.is_set():
            rig.poll()

    on_threads(storm, polls)
    rig.poll()
    assert [event.kind for event in rig.events if event.kind is not EventKind.HOLDING] == [
        EventKind.PRESSED
    ]


def test_ten_buttons_pressed_on_ten_threads_at_once() -> None:
    rig = Rig(TEN)
    rounds = 50
    for _ in range(rounds):
        pins = [rig.factory.pin(pin) for pin in range(16, 26)]
        on_threads(*(pin.drive_low for pin in pins))
        rig.wait(0.1)
        on_threads(*(pin.drive_high for pin in pins))
        rig.wait(0.1)
    found = rig.take()
    for name in TEN.buttons:
        own = [kind for kind, source in found if source == name]
        assert own == ["pressed", "released"] * rounds


def test_ten_threads_bounce_ten_pins_while_another_polls() -> None:
    rig = Rig(TEN)
    left = threading.Semaphore(0)

    def bounce(number: int) -> Callable[[], None]:
        def work() -> None:
            pin = rig.factory.pin(number)
            for _ in range(500):
                pin.drive_low()
                pin.drive_high()
            pin.drive_low()
            left.release()

        return work

    def polls() -> None:
        done = 0
        while done < len(TEN.buttons):
            rig.poll()
            done += left.acquire(blocking=False)

    on_threads(polls, *(bounce(number) for number in range(16, 26)))
    rig.wait(1)
    assert sorted(rig.take()) == sorted(("pressed", name) for name in TEN.buttons)


def test_a_panel_that_is_closed_hears_no_more_edges() -> None:
    class LingeringPin(MockPWMPin):
        """As lgpio's: when it is closed, it stays on the list of those that are told of edges."""

        def close(self) -> None:
            pass

    rig = Rig(SETTINGS, pin_class=LingeringPin)
    pins = list(rig.factory.pins.values())
    assert sum(pin.when_changed is not None for pin in pins) == 5, "two buttons, a wheel, a sensor"
    rig.panel.close()
    assert [pin.when_changed for pin in pins] == [None] * len(pins)


def test_an_error_in_the_library_does_not_end_its_thread(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rig = Rig(SETTINGS)

    def fails(_ticks: float, _state: bool) -> None:
        raise OSError("lgpio: bad handle")

    pin = rig.factory.pin(UNDO)
    pin.when_changed = fails
    rig.press(UNDO)
    assert [r.getMessage() for r in caplog.records] == ["an edge on GPIO17 was lost"]
    rig.poll()
    assert rig.take() == [("pressed", "undo")], "it is found by looking at the pin"


def test_an_edge_that_comes_while_a_panel_is_closed_is_nobodys(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rig = Rig(SETTINGS)
    pin = rig.factory.pin(UNDO)

    def closes(_ticks: float, _state: bool) -> None:
        rig.panel.close()
        raise TypeError("'NoneType' object is not callable")

    pin.when_changed = closes
    rig.press(UNDO)
    assert not rig.panel.connected
    assert caplog.records == []


def test_events_come_in_the_order_in_which_they_happened() -> None:
    rig = Rig(TEN)
    for pin, high in ((18, False), (17, False), (18, True), (17, True)):
        rig.clock.now += 0.1
        rig.drive((pin, high))
    rig.poll()
    assert rig.take() == [
        ("pressed", "b18"),
        ("pressed", "b17"),
        ("released", "b18"),
        ("released", "b17"),
    ]


def test_somebody_comes_and_goes() -> None:
    rig = Rig(SETTINGS)
    rig.drive((SENSOR, True))
    rig.wait(60)
    assert rig.take() == [("came", "presence")]
    rig.drive((SENSOR, False))
    rig.wait(9.5)
    assert rig.take() == []
    rig.wait(1)
    assert rig.take() == [("went", "presence")]


def test_a_turned_wheel() -> None:
    rig = Rig(SETTINGS)
    for _ in range(3):
        rig.drive((5, False), (6, False), (5, True), (6, True))
    rig.poll()
    assert rig.take() == [("turned", "wheel")] * 3


def test_lamps_show_what_they_are_told() -> None:
    rig = Rig(SETTINGS)
    pwm, plain = rig.factory.pin(LAMP), rig.factory.pin(13)
    rig.panel.light("undo", "on")
    rig.panel.light("deal", "blinking")
    rig.panel.light("not wired", "on")
    rig.wait(0.1)
    assert (pwm.state, plain.state) == (1.0, 1.0)
    rig.wait(0.5)
    assert (pwm.state, plain.state) == (1.0, 0.0)
    for panel in (rig.panel, Panel.open(PanelSettings(), print)):
        with pytest.raises(ValueError, match="bright"):
            panel.light("undo", "bright")


def test_an_exception_in_the_receiver_costs_that_event_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    seen: list[PanelEvent] = []

    def post(event: PanelEvent) -> None:
        if event.kind is EventKind.PRESSED:
            raise RuntimeError("not now")
        seen.append(event)

    clock, factory = FakeClock(), MockFactory(pin_class=MockPWMPin)
    panel = Panel.open(SETTINGS, post, clock=clock, open_pins=lambda: factory)
    on_threads(factory.pin(DEAL).drive_low)
    for _ in range(100):
        clock.now += 0.02
        panel.poll(clock.now)
    assert panel.connected
    assert seen[-1].kind is EventKind.HELD
    assert "pressed of deal was lost" in caplog.text


def test_a_button_that_is_down_at_the_start_is_told_and_waits(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rig = Rig(PanelSettings(buttons={"undo": ButtonSpec(UNDO, active="high", hold=1.0)}))
    rig.wait(60)
    assert rig.take() == []
    assert "button undo is down already" in caplog.text
    rig.press(UNDO)
    rig.wait(0.1)
    assert rig.take() == []
    rig.release(UNDO)
    rig.wait(2)
    assert rig.take(EventKind.PRESSED, EventKind.HELD) == [("pressed", "undo"), ("held", "undo")]


# --- When there is no panel ----------------------------------------------------------------------


class Pins:
    """Opens mock pins, or fails with the reason that is set; counts both."""

    def __init__(self, reason: str = "") -> None:
        self.reason = reason
        self.tries = 0
        self.factories: list[MockFactory] = []

    def __call__(self) -> Any:
        self.tries += 1
        if self.reason:
            raise HardwareError(self.reason)
        self.factories.append(MockFactory(pin_class=MockPWMPin))
        return self.factories[-1]


def opened(pins: Callable[[], Any], clock: FakeClock) -> Panel | NullPanel:
    return Panel.open(SETTINGS, lambda event: None, clock=clock, open_pins=pins)


def test_nothing_wired_is_no_fault_and_opens_nothing(caplog: pytest.LogCaptureFixture) -> None:
    pins, clock = Pins(), FakeClock()
    panel = Panel.open(PanelSettings(), print, clock=clock, open_pins=pins)
    assert (panel.connected, panel.reason, pins.tries) == (False, "", 0)
    assert panel.retry(1e9) is panel
    panel.poll(1e9)
    panel.close()
    assert caplog.records == []


def test_no_chip_is_one_log_line_however_long_it_is_tried(
    caplog: pytest.LogCaptureFixture,
) -> None:
    pins, clock = Pins("no GPIO chip"), FakeClock()
    panel = opened(pins, clock)
    for _ in range(24 * 3600):
        clock.now += 1
        panel = panel.retry(clock.now)
        panel.poll(clock.now)
        panel.light("undo", "on")
    assert not panel.connected
    assert panel.reason == "no GPIO chip"
    assert [record.levelno for record in caplog.records] == [logging.ERROR]
    assert "the game goes on without: no GPIO chip" in caplog.text
    day = 24 * 3600 / LAST_RETRY
    assert day <= pins.tries <= day + 10


def test_the_pauses_between_tries_grow() -> None:
    pins, clock = Pins("busy"), FakeClock()
    panel = opened(pins, clock)
    times = [clock.now]
    while len(times) < 10:
        clock.now += 0.5
        panel = panel.retry(clock.now)
        if pins.tries > len(times):
            times.append(clock.now)
    pauses = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert pauses == [min(LAST_RETRY, FIRST_RETRY * 2**n) for n in range(9)]


def test_another_reason_is_another_line_and_success_is_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    pins, clock = Pins("no GPIO chip"), FakeClock()
    panel = opened(pins, clock)
    for reason in ("no GPIO chip", "no permission", "no permission", ""):
        pins.reason = reason
        clock.now += LAST_RETRY
        panel = panel.retry(clock.now)
    assert panel.connected
    assert panel.reason == ""
    assert panel.retry(clock.now + 1e6) is panel
    lines = [record.getMessage().rpartition(": ")[2] for record in caplog.records]
    assert lines == ["no GPIO chip", "no permission", "the panel works now"]


@pytest.mark.parametrize(
    ("pin", "what"),
    [
        (UNDO, "button undo on GPIO 17"),
        (6, "encoder wheel on GPIO 5 and 6"),
        (LAMP, "lamp undo on GPIO 12"),
        (SENSOR, "presence sensor on GPIO 4"),
    ],
)
def test_a_busy_pin_is_named_and_all_others_are_free_again(
    pin: int, what: str, caplog: pytest.LogCaptureFixture
) -> None:
    class BusyPin(MockPWMPin):
        """A pin that another program holds, as lgpio tells: when it is first asked for."""

        busy = True

        def __init__(self, factory: Any, info: Any) -> None:
            if self.busy and info.name == f"GPIO{pin}":
                raise OSError("GPIO busy")
            super().__init__(factory, info)

    made: list[MockFactory] = []

    def pins() -> MockFactory:
        made.append(MockFactory(pin_class=BusyPin))
        return made[-1]

    clock = FakeClock()
    panel = opened(pins, clock)
    assert not panel.connected
    assert panel.reason == f"{what}: GPIO busy"
    assert len(caplog.records) == 1
    assert "\n" not in caplog.records[0].getMessage()
    assert made[0].pins == {}
    BusyPin.busy = False
    clock.now += FIRST_RETRY
    assert panel.retry(clock.now).connected


def test_a_panel_that_breaks_is_replaced_and_does_not_flood_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class BreakingPin(MockPWMPin):
        broken = False

        def _get_state(self) -> float:
            if self.broken:
                raise OSError("lgpio: bad handle")
            return float(super()._get_state())

    clock = FakeClock()
    tries: list[float] = []

    def pins() -> MockFactory:
        tries.append(clock.now)
        BreakingPin.broken = False
        return MockFactory(pin_class=BreakingPin)

    panel = opened(pins, clock)
    assert panel.connected
    for _ in range(3600):
        # It opens each time, and breaks as soon as it is used.
        BreakingPin.broken = True
        clock.now += 1
        panel.poll(clock.now)
        panel = panel.retry(clock.now)
    assert "the panel stopped working: lgpio: bad handle" in caplog.text
    assert len(tries) < 25
    assert len(caplog.records) < 50
    BreakingPin.broken = False
    clock.now += LAST_RETRY
    panel = panel.retry(clock.now)
    panel.poll(clock.now)
    assert panel.connected


def test_a_panel_that_worked_for_long_is_tried_again_soon() -> None:
    clock, pins = FakeClock(), Pins("busy")
    panel = opened(pins, clock)
    for _ in range(20):
        clock.now += LAST_RETRY
        panel = panel.retry(clock.now)
    pins.reason = ""
    clock.now += LAST_RETRY
    panel = panel.retry(clock.now)
    clock.now += LAST_RETRY + 1
    panel.poll(clock.now)
    assert panel.connected

    def broken() -> float:
        raise OSError("bad handle")

    pins.factories[-1].pin(UNDO)._get_state = broken
    panel.poll(clock.now)
    assert not panel.connected
    clock.now += FIRST_RETRY
    assert panel.retry(clock.now).connected


# --- The end -------------------------------------------------------------------------------------


def test_closing_puts_out_the_lamps_frees_the_pins_and_may_be_done_twice() -> None:
    rig = Rig(SETTINGS)
    pwm, plain = rig.factory.pin(LAMP), rig.factory.pin(13)
    rig.panel.light("undo", "on")
    rig.panel.light("deal", "on")
    rig.wait(0.1)
    rig.panel.close()
    rig.panel.close()
    assert (pwm.state, plain.state) == (0, 0)
    assert {pin.function for pin in (pwm, plain)} == {"input"}
    assert rig.factory.pins == {}
    rig.press(UNDO)
    rig.wait(1)
    assert rig.events == []


def test_a_closed_panel_stays_closed() -> None:
    pins, clock = Pins(), FakeClock()
    panel = opened(pins, clock)
    panel.close()
    assert panel.retry(clock.now + 1e6) is panel
    missing = Pins("no chip")
    null = opened(missing, clock)
    null.close()
    null.close()
    assert null.retry(clock.now + 1e6) is null
    assert missing.tries == 1


def test_closing_never_raises(caplog: pytest.LogCaptureFixture) -> None:
    rig = Rig(SETTINGS)
    rig.panel.light("undo", "on")
    rig.wait(0.1)

    def failing() -> None:
        raise OSError("gone")

    rig.factory.close = failing
    rig.panel.close()
    assert "closing MockFactory: gone" in caplog.text


def test_opening_and_closing_leaves_nothing_behind() -> None:
    factories: list[weakref.ref[MockFactory]] = []

    def once() -> None:
        rig = Rig(SETTINGS)
        rig.press(UNDO)
        rig.wait(0.5)
        rig.panel.close()
        factories.append(weakref.ref(rig.factory))

    def held() -> tuple[int, int]:
        gc.collect()
        return threading.active_count(), len(list(Path("/proc/self/fd").iterdir()))

    once()
    before = held()
    for _ in range(20):
        once()
    assert held() == before
    assert all(factory() is None for factory in factories)


def test_a_kiosk_without_a_panel_loads_no_pin_library() -> None:
    program = (
        "import sys; from hardware.panel import Panel; from hardware.config import PanelSettings; "
        "Panel.open(PanelSettings(), print).close(); "
        "print(any(m.startswith(('gpiozero', 'lgpio')) for m in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


def test_no_other_pin_library_is_looked_for() -> None:
    # gpiozero would try several, and say so, were it ever left without a factory.
    rig = Rig(SETTINGS)
    rig.wait(1)
    rig.panel.close()
    assert gpiozero.Device.pin_factory is None
