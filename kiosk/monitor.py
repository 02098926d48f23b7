"""What a fleet is watched by: a file of figures for Prometheus' node_exporter.

Its textfile collector reads every ``*.prom`` in a folder, at any moment.  The folder is the one
that systemd makes for the kiosk and removes when it is stopped, in memory: the figures of a kiosk
that has ended are gone, and no SD card wears.

Invariant: whoever reads the file sees all of it or the one before; a file that cannot be written
is said once, and is no reason to stop.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Final

from engine.rules import PRESETS
from kiosk.errorlog import ErrorLog
from kiosk.metrics import Family, Sample, counter, exposition, gauge
from kiosk.service import PoolFacts
from kiosk.statistics import Statistics

log = logging.getLogger(__name__)

FILE_NAME: Final = "pyramid-kiosk.prom"
#: Seconds between two writes.
EVERY: Final = 15.0


@dataclass(frozen=True)
class Sources:
    """Where the figures come from.

    Attributes:
        version: gives the one of this program.
        preset: gives the rules on the table.
        attract: whether the kiosk plays by itself.
        statistics: gives the finished games.
        frames: gives the figures about frames.
        threads: gives the threads that read touches.
        errors: what went wrong.
        pool: gives what is known about the pool.
        panel: gives why buttons and lamps do not work; empty when they do, or when there are none.
        problems: gives what is wrong with what is kept.
        clock: monotonic seconds.
    """

    version: Callable[[], str]
    preset: Callable[[], str]
    attract: Callable[[], bool]
    statistics: Callable[[], Statistics]
    frames: Callable[[], Sequence[Family]]
    threads: Callable[[], Iterable[Thread]]
    errors: ErrorLog
    pool: Callable[[], PoolFacts]
    panel: Callable[[], str]
    problems: Callable[[], Sequence[str]]
    clock: Callable[[], float] = time.monotonic


class Monitor:
    """Writes the file; on the main loop, for that is where the figures belong.

    Args:
        folder: where the file goes.
        sources: where the figures come from.
    """

    def __init__(self, folder: Path, sources: Sources) -> None:
        self._path = folder / FILE_NAME
        self._sources = sources
        self._began = sources.clock()
        self._said = ""

    def write(self) -> bool:
        """Write the figures of this moment; whether that worked."""
        try:
            put(self._path, exposition(self.families()))
        except OSError as error:
            why = f"{self._path}: cannot be written ({error.strerror}); nobody can watch"
            if why != self._said:
                log.warning("%s", why)
            self._said = why
            return False
        self._said = ""
        return True

    def families(self) -> list[Family]:
        """All figures, as they are."""
        sources = self._sources
        statistics = sources.statistics()
        threads = list(sources.threads())
        alive = all(thread.is_alive() for thread in threads)
        pool = sources.pool()
        about = {"version": sources.version(), "preset": sources.preset()}
        return [
            Family("info", "gauge", "This program and its rules.", [Sample(1, about)]),
            gauge(
                "uptime_seconds", "Seconds since the kiosk began.", sources.clock() - self._began
            ),
            gauge("attract", "1 while the kiosk plays by itself.", sources.attract()),
            Family("games_total", "counter", "Finished games.", _games(statistics)),
            counter("hints", "Hints asked for in finished games.", statistics.all.hints),
            counter("undos", "Moves taken back in finished games.", statistics.all.undos),
            *sources.frames(),
            gauge("input_threads", "Threads that read touches.", len(threads)),
            gauge("input_alive", "0 when one of them has died: touches are lost.", alive),
            *_of_process(),
            counter("warnings", "Warnings since the start.", sources.errors.warnings),
            counter("errors", "Errors since the start.", sources.errors.failures),
            gauge(
                "last_error_timestamp_seconds",
                "When the last error came, in seconds since 1970; 0 when there was none.",
                sources.errors.last_failure,
            ),
            gauge("pool_usable", "0 when deals are solved on the spot.", not pool.why),
            gauge("pool_deals", "Deals in the pool.", sum(pool.deals.values())),
            gauge("panel_usable", "0 when buttons and lamps do not work.", not sources.panel()),
            gauge("storage_problems", "What went wrong with files.", len(sources.problems())),
        ]


def _games(statistics: Statistics) -> list[Sample]:
    return [
        Sample(count, {"preset": preset, "outcome": outcome})
        # Those without a game yet, too: what begins at zero can be seen to grow.
        for preset in dict.fromkeys((*PRESETS, *statistics.presets))
        for outcome, count in statistics.of(preset).outcomes.items()
    ]


def _of_process() -> list[Family]:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return [
        gauge("memory_bytes", "Resident memory.", pages * os.sysconf("SC_PAGE_SIZE")),
        counter("cpu_seconds", "Processor time used.", time.process_time()),
        gauge("threads", "Threads of Python.", threading.active_count()),
        gauge("open_files", "Open files.", len(os.listdir("/proc/self/fd"))),  # noqa: PTH208
    ]


def put(path: Path, text: str) -> None:
    """Put a file into its place in one step, for everybody to read.

    The service's umask hides everything else from other users; node_exporter is one.  Nothing is
    synced: what is in memory does not survive a power cut anyway.

    Raises:
        OSError: it cannot be written; the file before stays.
    """
    beside = path.with_name(f".{path.name}.new")
    with beside.open("w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), 0o644)
        file.write(text)
    beside.replace(path)
