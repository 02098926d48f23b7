from __future__ import annotations

import threading

import pytest

from kiosk.heartbeat import Heartbeat, interval


class FakeNotifier:
    def __init__(self) -> None:
        self.sent: list[str] = []

    def notify(self, state: str) -> None:
        self.sent.append(state)


def test_beats_while_the_input_threads_live_and_is_silent_after() -> None:
    end = threading.Event()
    thread = threading.Thread(target=end.wait, daemon=True)
    thread.start()
    notifier = FakeNotifier()
    heartbeat = Heartbeat(notifier, lambda: [thread])
    heartbeat.ready()
    assert heartbeat.beat("playing")
    assert heartbeat.beat("playing")
    assert notifier.sent == ["READY=1", "WATCHDOG=1\nSTATUS=playing", "WATCHDOG=1"]
    end.set()
    thread.join()
    assert not heartbeat.beat("playing")
    assert not heartbeat.beat("playing")
    assert len(notifier.sent) == 3


@pytest.mark.parametrize(
    ("environ", "seconds"),
    [
        ({"WATCHDOG_USEC": "15000000"}, 5.0),
        ({"WATCHDOG_USEC": "90000000"}, 10.0),
        ({"WATCHDOG_USEC": "30000"}, 0.5),
        ({"WATCHDOG_USEC": "soon"}, 10.0),
        ({}, 10.0),
    ],
)
def test_the_interval_is_a_third_of_the_watchdog(environ: dict[str, str], seconds: float) -> None:
    assert interval(environ) == seconds
