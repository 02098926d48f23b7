"""Figures for Prometheus: their format, their values, the file."""

from __future__ import annotations

import logging
import math
import os
import re
import signal
import stat
import subprocess
import time
from datetime import date
from pathlib import Path
from threading import Event, Thread

import pytest

from kiosk import monitor
from kiosk.errorlog import ErrorLog
from kiosk.frametimes import FrameTimes
from kiosk.metrics import Family, Histogram, Sample, counter, exposition, gauge, number
from kiosk.monitor import FILE_NAME, Monitor, Sources
from kiosk.service import PoolFacts
from kiosk.statistics import Result, Statistics
from tests.kiosk.program import PLAIN, started

#: A line of the text format: name, labels, value.
LINE = re.compile(
    r'[a-z_]+(\{[a-z_]+="(?:[^"\\\n]|\\.)*"(?:,[a-z_]+="(?:[^"\\\n]|\\.)*")*\})? '
    r"(?:[+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Inf)|NaN)"
)


def figures_in(text: str) -> dict[str, float]:
    """Each line's name with its labels, and its figure; fails where the format is wrong."""
    assert text.endswith("\n")
    found: dict[str, float] = {}
    typed: set[str] = set()
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            name, kind = line.split()[2:]
            assert name not in typed, "a family stands twice"
            assert kind in {"counter", "gauge", "histogram"}
            assert (kind == "counter") == name.endswith("_total"), name
            typed.add(name)
        elif not line.startswith("# HELP "):
            assert LINE.fullmatch(line), line
            name, value = line.rsplit(" ", 1)
            assert name not in found
            family = name.split("{")[0]
            assert typed & {family, re.sub("_(bucket|sum|count)$", "", family)}, name
            found[name] = float(value)
    return found


def test_the_text_is_what_the_format_says() -> None:
    text = exposition(
        [
            gauge("uptime_seconds", "Seconds since\nthe start.", 12.5),
            Family("games_total", "counter", "Games.", [Sample(3, {"a": 'x"\\\ny', "b": "z"})]),
        ]
    )
    assert text == (
        "# HELP pyramid_kiosk_uptime_seconds Seconds since\\nthe start.\n"
        "# TYPE pyramid_kiosk_uptime_seconds gauge\n"
        "pyramid_kiosk_uptime_seconds 12.5\n"
        "# HELP pyramid_kiosk_games_total Games.\n"
        "# TYPE pyramid_kiosk_games_total counter\n"
        'pyramid_kiosk_games_total{a="x\\"\\\\\\ny",b="z"} 3\n'
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *[(0, "0"), (True, "1"), (-3, "-3"), (2.0, "2"), (0.1, "0.1"), (1e-9, "1e-09")],
        *[(math.nan, "NaN"), (math.inf, "+Inf"), (-math.inf, "-Inf"), (1e300, "1e+300")],
    ],
)
def test_numbers_are_written_so_that_they_can_be_read(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize("name", ["Games", "games-won", "", "1st", "games total"])
def test_names_that_could_not_be_read_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be the name"):
        gauge(name, "", 0)
    with pytest.raises(ValueError, match="cannot be the name"):
        Family("games", "gauge", "", [Sample(0, {name: ""})])


def test_a_counter_is_called_total() -> None:
    assert counter("hints", "", 1).name == "hints_total"


def test_a_histogram_counts_up_to_each_bound() -> None:
    histogram = Histogram((0.1, 0.5))
    for value in (0.05, 0.1, 0.2, 7.0):
        histogram.add(value)
    said = figures_in(exposition([histogram.family("frame_seconds", "")]))
    assert said == {
        'pyramid_kiosk_frame_seconds_bucket{le="0.1"}': 2,
        'pyramid_kiosk_frame_seconds_bucket{le="0.5"}': 3,
        'pyramid_kiosk_frame_seconds_bucket{le="+Inf"}': 4,
        "pyramid_kiosk_frame_seconds_sum": pytest.approx(7.35),
        "pyramid_kiosk_frame_seconds_count": 4,
    }


def test_only_times_over_which_something_moved_count() -> None:
    frames = FrameTimes()
    for now, moving in ((10.0, False), (20.0, True), (20.02, True), (20.05, False), (90.0, True)):
        frames.drawn(now, moving)
    said = figures_in(exposition(frames.families()))
    assert said["pyramid_kiosk_frames_total"] == 5
    assert said["pyramid_kiosk_frame_seconds_count"] == 2
    assert said["pyramid_kiosk_frame_seconds_sum"] == pytest.approx(0.05)
    assert said['pyramid_kiosk_frame_seconds_bucket{le="0.025"}'] == 1


# -- the kiosk's own figures ---------------------------------------------------------------------


class Kiosk:
    """A kiosk of which only figures are known."""

    def __init__(self, folder: Path) -> None:
        self.now = 100.0
        self.statistics = Statistics()
        self.errors = ErrorLog(clock=lambda: 1_780_000_000.0)
        self.pool = PoolFacts({"classic": 3000, "cards4": 3000}, True)
        self.threads: list[Thread] = []
        self.problems: list[str] = []
        self.broken = ""
        self.monitor = Monitor(
            folder,
            Sources(
                version=lambda: "0.1.0",
                preset=lambda: "classic",
                attract=lambda: True,
                statistics=lambda: self.statistics,
                frames=FrameTimes().families,
                threads=lambda: self.threads,
                errors=self.errors,
                pool=lambda: self.pool,
                panel=lambda: self.broken,
                problems=lambda: self.problems,
                clock=lambda: self.now,
            ),
        )

    def figures(self) -> dict[str, float]:
        found = figures_in(exposition(self.monitor.families()))
        assert all(name.startswith("pyramid_kiosk_") for name in found)
        return {name.removeprefix("pyramid_kiosk_"): value for name, value in found.items()}


def result(outcome: str, preset: str = "classic", hints: int = 0) -> Result:
    return Result(preset, 7, outcome, moves=30, seconds=60.0, hints=hints, undos=2)


def test_games_are_counted_by_rules_and_outcome(tmp_path: Path) -> None:
    kiosk = Kiosk(tmp_path)
    day = date(2026, 5, 1)
    for outcome in ("won", "won", "lost", "abandoned"):
        kiosk.statistics.add(result(outcome, hints=1), day)
    kiosk.statistics.add(result("abandoned", "cards4"), day)
    kiosk.statistics.add(result("lost", "custom"), day)
    said = kiosk.figures()
    assert said['games_total{preset="custom",outcome="lost"}'] == 1
    assert said['games_total{preset="overlap",outcome="won"}'] == 0  # nobody has played it yet
    assert said['games_total{preset="classic",outcome="won"}'] == 2
    assert said['games_total{preset="classic",outcome="lost"}'] == 1
    assert said['games_total{preset="classic",outcome="abandoned"}'] == 1
    assert said['games_total{preset="cards4",outcome="abandoned"}'] == 1
    assert said['games_total{preset="cards4",outcome="won"}'] == 0
    assert (said["hints_total"], said["undos_total"]) == (4, 12)


def test_time_state_and_pool(tmp_path: Path) -> None:
    kiosk = Kiosk(tmp_path)
    kiosk.now += 90
    said = kiosk.figures()
    assert said["uptime_seconds"] == 90
    assert said["attract"] == 1
    assert said['info{version="0.1.0",preset="classic"}'] == 1
    assert (said["pool_usable"], said["pool_deals"]) == (1, 6000)
    assert said["memory_bytes"] > 1_000_000
    assert said["open_files"] > 2
    assert said["threads"] >= 1
    kiosk.pool = PoolFacts({}, False, "pool: its digest is wrong")
    assert said["panel_usable"] == 1
    kiosk.problems.append("state.sqlite: is damaged")
    kiosk.broken = "no GPIO chip"
    said = kiosk.figures()
    assert (said["pool_usable"], said["pool_deals"], said["storage_problems"]) == (0, 0, 1)
    assert said["panel_usable"] == 0


def test_a_thread_that_has_died_is_seen(tmp_path: Path) -> None:
    kiosk = Kiosk(tmp_path)
    assert kiosk.figures()["input_alive"] == 1  # none is needed where the window reads touches
    end = Event()
    thread = Thread(target=end.wait)
    thread.start()
    kiosk.threads.append(thread)
    assert (kiosk.figures()["input_alive"], kiosk.figures()["input_threads"]) == (1, 1)
    end.set()
    thread.join()
    assert (kiosk.figures()["input_alive"], kiosk.figures()["input_threads"]) == (0, 1)


def test_errors_are_counted_though_only_the_last_ones_are_kept(tmp_path: Path) -> None:
    kiosk = Kiosk(tmp_path)
    assert kiosk.figures()["last_error_timestamp_seconds"] == 0
    for nth in range(150):
        text = f"error {nth}"
        kiosk.errors.handle(logging.LogRecord("a", logging.ERROR, "", 0, text, (), None))
    kiosk.errors.handle(logging.LogRecord("a", logging.WARNING, "", 0, "careful", (), None))
    said = kiosk.figures()
    assert (said["errors_total"], said["warnings_total"]) == (150, 1)
    assert said["last_error_timestamp_seconds"] == 1_780_000_000
    assert len(kiosk.errors.entries) == 100


def test_the_file_appears_in_one_step_for_everybody_to_read(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        kiosk = Kiosk(tmp_path)
        assert kiosk.monitor.write()
        assert kiosk.monitor.write()
    finally:
        os.umask(before)
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]
    file = tmp_path / FILE_NAME
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    assert figures_in(file.read_text("utf-8"))["pyramid_kiosk_uptime_seconds"] == 0


def test_the_file_before_stays_when_a_new_one_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / FILE_NAME
    monitor.put(file, "before\n")

    def full(*_args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(monitor.os, "fchmod", full)
    with pytest.raises(OSError, match="No space"):
        monitor.put(file, "after\n")
    assert file.read_text("utf-8") == "before\n"


def test_a_folder_that_is_gone_is_said_once_and_again_after_it_was_there(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "run"
    kiosk = Kiosk(folder)
    assert not kiosk.monitor.write()
    assert not kiosk.monitor.write()
    assert len(caplog.records) == 1
    assert "nobody can watch" in caplog.text
    folder.mkdir()
    assert kiosk.monitor.write()
    (folder / FILE_NAME).unlink()
    folder.rmdir()
    assert not kiosk.monitor.write()
    assert len(caplog.records) == 2


def test_a_running_kiosk_writes_its_figures(tmp_path: Path) -> None:
    pytest.importorskip("kivy")
    folder = tmp_path / "run"
    folder.mkdir()
    env = PLAIN | {"RUNTIME_DIRECTORY": str(folder)}
    with started("--state", tmp_path / "state", stderr=subprocess.DEVNULL, env=env) as process:
        file = folder / FILE_NAME
        for _ in range(600):
            if file.exists() or process.poll() is not None:
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    said = figures_in(file.read_text("utf-8"))
    assert said["pyramid_kiosk_input_alive"] == 1
    assert said["pyramid_kiosk_pool_usable"] == 1
    assert said["pyramid_kiosk_pool_deals"] == 18_000
