"""What the parts promise holds for the kiosk that they are put together to."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kiosk import pin
from tests.kiosk.program import PLAIN, ROOT

pytest.importorskip("kivy")

#: No wait is that long unless the program hangs.
LONG = 120.0
#: Microseconds after which the watchdog would bite: the shortest that is beaten for in time.
WATCHDOG = 1_500_000


class Kiosk:
    """A kiosk that systemd seems to have started."""

    def __init__(self, folder: Path) -> None:
        self.state = folder / "state"
        settings = folder / "settings.toml"
        settings.write_text(f'[service]\npin_hash = "{pin.hashed("2468")}"\n')
        self._notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        # Linux finds a name for it, which is short enough and goes away with it.
        self._notify.bind("")
        self._notify.settimeout(1.0)
        name = self._notify.getsockname().decode().replace("\0", "@", 1)
        options = ("--state", str(self.state), "--settings", str(settings))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.kiosk.wired", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=PLAIN | {"NOTIFY_SOCKET": name, "WATCHDOG_USEC": str(WATCHDOG)},
            cwd=ROOT,
        )

    def hear(self) -> str:
        """What systemd is told next."""
        for _ in range(int(LONG)):
            try:
                return self._notify.recv(4096).decode()
            except TimeoutError:
                assert self.process.poll() is None, "it has ended by itself"
        raise TimeoutError

    def wait_for(self, what: str) -> None:
        """Wait until it is told that."""
        while self.hear() != what:
            pass

    def hear_for(self, seconds: float) -> list[str]:
        """All that it is told until it was silent for so long."""
        self._notify.settimeout(seconds)
        heard = []
        try:
            while True:
                heard.append(self._notify.recv(4096).decode())
                assert len(heard) < 30, "it is never silent"
        except TimeoutError:
            self._notify.settimeout(1.0)
            return heard

    def ask(self, line: str) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=LONG)
        assert self.process.returncode == 0

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()
        self._notify.close()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Any]:
    begun: list[Kiosk] = []

    def begin() -> Kiosk:
        begun.append(Kiosk(tmp_path))
        return begun[-1]

    yield begin
    for kiosk in begun:
        kiosk.close()


def test_systemd_hears_that_it_is_ready_that_it_lives_and_that_it_ends(start: Any) -> None:
    kiosk = start()
    # It may be alive for a while before there is a picture.
    kiosk.wait_for("READY=1")
    for _ in range(3):
        assert kiosk.hear().startswith("WATCHDOG=1")
    kiosk.end()
    assert kiosk.hear_for(0.01)[-1] == "STOPPING=1"


def test_the_watchdog_bites_when_whoever_reads_touches_is_gone(start: Any) -> None:
    kiosk = start()
    kiosk.wait_for("READY=1")
    assert kiosk.hear().startswith("WATCHDOG=1")
    assert kiosk.ask("lose") == {}
    # What was said before is still heard; then there is silence for longer than the watchdog waits.
    kiosk.hear_for(2 * WATCHDOG / 1e6)
    kiosk.end()
    assert kiosk.hear() == "STOPPING=1"


def test_garbage_is_collected_from_the_first_picture_on(start: Any) -> None:
    kiosk = start()
    kiosk.wait_for("READY=1")
    said = kiosk.ask("collects")
    assert said["frames"] > 0
    assert said["garbage"]


def test_wrong_pins_are_counted_over_the_end_and_what_was_set_counts_after_it(start: Any) -> None:
    kiosk = start()
    for _ in range(2):
        assert kiosk.ask("pin 1111") == {"in": False, "waits": 0}
    kiosk.end()
    kiosk = start()
    # The third is the last that is free, whatever was in between.
    said = kiosk.ask("pin 1111")
    assert not said["in"]
    assert said["waits"] > 0
    assert not kiosk.ask("pin 2468")["in"]
    kiosk.end()
    # Somebody who may: the count is in a file that can be removed.
    (kiosk.state / "attempts.json").unlink()
    kiosk = start()
    assert kiosk.ask("pin 2468") == {"in": True, "waits": 0}
    assert kiosk.ask("grade") == {"grade": "easy"}
    kiosk.end()
    assert json.loads((kiosk.state / "attempts.json").read_text()) == {"failures": 0}
    kiosk = start()
    kiosk.ask("pin 2468")
    assert kiosk.ask("grade") == {"grade": "medium"}
