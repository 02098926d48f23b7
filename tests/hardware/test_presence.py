from __future__ import annotations

import pytest

from hardware.events import EventKind, PanelEvent
from hardware.presence import STUCK_AFTER, Presence

CAME = PanelEvent(EventKind.CAME, "presence")
WENT = PanelEvent(EventKind.WENT, "presence")


def test_somebody_comes_once_and_goes_after_a_while() -> None:
    events: list[PanelEvent] = []
    presence = Presence(10.0, events.append)
    presence.change(True, 100.0)
    presence.pass_time(200.0)
    assert events == [CAME]
    presence.change(False, 200.0)
    presence.pass_time(209.9)
    assert events == [CAME]
    assert presence.present
    presence.pass_time(210.0)
    presence.pass_time(300.0)
    assert events == [CAME, WENT]
    assert not presence.present


def test_a_sensor_that_pulses_sees_one_visitor() -> None:
    events: list[PanelEvent] = []
    presence = Presence(10.0, events.append)
    for second in range(0, 60, 6):
        presence.change(True, second)
        presence.change(False, second + 2)
        presence.pass_time(second + 5)
    assert events == [CAME]
    presence.pass_time(66)
    assert events == [CAME, WENT]
    presence.change(True, 70)
    assert events == [CAME, WENT, CAME]


def test_a_sensor_that_never_stops_seeing_somebody_is_stuck(
    caplog: pytest.LogCaptureFixture,
) -> None:
    events: list[PanelEvent] = []
    presence = Presence(10.0, events.append)
    presence.change(True, 100.0)
    presence.pass_time(100.0 + STUCK_AFTER - 1)
    assert events == [CAME]
    for hours in range(100):
        presence.pass_time(100.0 + STUCK_AFTER + 3600 * hours)
    assert events == [CAME, WENT]
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    # It is believed again once it has let go, be it ever so short.
    presence.change(False, 500_000.0)
    presence.change(True, 500_001.0)
    assert events == [CAME, WENT, CAME]
    presence.change(False, 500_002.0)
    presence.pass_time(500_012.0)
    assert events == [CAME, WENT, CAME, WENT]


def test_at_first_nobody_is_there() -> None:
    events: list[PanelEvent] = []
    Presence(10.0, events.append).pass_time(1e9)
    assert events == []
