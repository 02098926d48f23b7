"""The machine as the service menu sees it: facts gathered, settings changed, tasks done.

Invariant: whatever takes time is done on a thread of its own, which answers by one ServiceDone;
everything else here is for the main loop alone.
"""

from __future__ import annotations

import logging
import os
import platform
import threading
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final, Protocol

from kiosk import pin as pins_hash
from kiosk import power, smallfile, stick
from kiosk.commands import Command
from kiosk.errorlog import ErrorLog, Logged
from kiosk.overrides import Overrides, Value, step, value_of
from kiosk.service import Facts, PinFacts, PoolFacts
from kiosk.service_commands import Report, ServiceDone, Task
from kiosk.settings import Settings
from kiosk.statistics_export import as_csv, as_json, results_in
from kiosk.storage import Storage

log = logging.getLogger(__name__)

ATTEMPTS_FILE: Final = "attempts.json"
#: More failures than that make no difference.
_MOST_FAILURES: Final = 1_000


class HasPool(Protocol):
    """Where deals come from."""

    @property
    def pool_facts(self) -> PoolFacts:
        """What is known about the pool."""


class ServiceDesk:
    """See the module's text.

    Args:
        file: what the operator's file says.
        overrides: what was changed since.
        storage: the results.
        dealer: the pool.
        errors: what went wrong.
        post: hands a command to the main loop, from any thread.
        apply: takes the settings that count from now on.
        restart: ends the kiosk so that it begins anew.
        pins: the panel, as it is.
        without_effect: settings that do nothing on this machine.
    """

    def __init__(
        self,
        file: Settings,
        overrides: Overrides,
        *,
        storage: Storage,
        dealer: HasPool,
        errors: ErrorLog,
        post: Callable[[Command], None],
        apply: Callable[[Settings], None] = lambda _settings: None,
        restart: Callable[[], None] = lambda: None,
        pins: Callable[[], PinFacts] = lambda: PinFacts({}, (), {}),
        without_effect: frozenset[str] = frozenset(),
    ) -> None:
        self._file = file
        self._overrides = overrides
        self._storage = storage
        self._dealer = dealer
        self._errors = errors
        self._post = post
        self.apply = apply
        self.restart = restart
        self.read_pins = pins
        self._without_effect = without_effect
        self._began = time.monotonic()

    # -- settings -------------------------------------------------------------------------------

    @property
    def settings(self) -> Settings:
        """What counts: the operator's file and what was changed since."""
        return self._overrides.applied(self._file)

    def use(self, file: Settings) -> None:
        """The operator's file has changed."""
        self._file = file
        self.apply(self.settings)

    def value(self, key: str) -> Value | None:
        """What counts for a setting; None where it has no effect on this machine."""
        return None if key in self._without_effect else value_of(self.settings, key)

    def step(self, key: str, up: bool) -> Value | None:
        """What it would be one step further; None at the end."""
        return step(self.settings, key, up)

    def overridden(self) -> frozenset[str]:
        """The settings that differ from the operator's file."""
        return frozenset(self._overrides.values)

    def change(self, key: str, value: Value) -> None:
        """Override a setting, at once."""
        self._overrides.change(self._file, key, value)
        log.info("the service menu has set %s to %s", key, value)
        self.apply(self.settings)

    def use_file(self) -> None:
        """Give up all overrides, at once."""
        self._overrides.clear()
        log.info("the service menu has given up all changed settings")
        self.apply(self.settings)

    # -- PIN ------------------------------------------------------------------------------------

    @property
    def has_pin(self) -> bool:
        """Whether a PIN is set."""
        return self._file.service.pin_hash is not None

    def check_pin(self, pin: str) -> bool:
        """Whether that is the PIN."""
        kept = self._file.service.pin_hash
        right = kept is not None and pins_hash.matches(pin, kept)
        if not right:
            log.warning("a wrong PIN was entered in the service menu")
        return right

    # -- facts ----------------------------------------------------------------------------------

    def facts(self) -> Facts:
        """The page STATUS."""
        return Facts(
            version=version(),
            system=f"Python {platform.python_version()}, {platform.system()} {platform.release()}",
            running=time.monotonic() - self._began,
            machine=time.clock_gettime(time.CLOCK_BOOTTIME),
            pool=self._dealer.pool_facts,
            folder=str(self._storage.path.parent),
            games=self._storage.statistics.all.played,
            unwritten=self._storage.failing,
        )

    def errors(self) -> Sequence[Logged]:
        """The last warnings and errors, the newest first."""
        return self._errors.entries

    def pins(self) -> PinFacts:
        """The page PINS, as it is at this moment."""
        return self.read_pins()

    # -- tasks ----------------------------------------------------------------------------------

    def start(self, task: Task) -> None:
        """Begin a task; it ends by the command ServiceDone."""
        if task is Task.RESTART:
            log.info("restarted from the service menu")
            self.restart()
            return
        name = f"service {task.value}"
        threading.Thread(target=self._work, args=(task,), name=name, daemon=True).start()

    def _work(self, task: Task) -> None:
        try:
            report = self._done(task)
        except Exception as error:
            log.exception("%s failed", task.value)
            report = Report(task, False, why=" ".join(str(error).split()) or type(error).__name__)
        self._post(ServiceDone(report))

    def _done(self, task: Task) -> Report:
        if task is Task.EXPORT:
            if not self._storage.flush():
                log.warning("the last results were not written yet and are not exported")
            games = results_in(self._storage.path)
            folder, on_stick = stick.save(
                {"csv": as_csv(games), "json": as_json(games)},
                self._storage.path.parent,
                now=datetime.now(),
            )
            log.info("%d results were exported to %s", len(games), folder)
            return Report(task, True, place=str(folder), on_stick=on_stick)
        if task is Task.RESET:
            aside = self._storage.forget_results()
            log.info("the statistics were reset; the old ones are in %s", aside)
            return Report(task, True, place=str(aside))
        log.info("asked the machine to %s", power.FILES[task])
        if why := power.ask(task):
            log.error("the machine cannot be asked to %s: %s", power.FILES[task], why)
        return Report(task, not why, why=why)


def version() -> str:
    """Of this program; a question mark where it was not installed."""
    from importlib import metadata  # noqa: PLC0415 - large, and seldom asked

    try:
        return metadata.version("pyramid-kiosk")
    except metadata.PackageNotFoundError:
        return "?"


# -- attempts at the PIN, kept over a restart -----------------------------------------------------


def kept_failures(folder: Path) -> int:
    """How many wrong PINs in a row were entered before the start."""
    path = folder / ATTEMPTS_FILE
    found = smallfile.read(path)
    if found is None:
        return 0
    if isinstance(found, dict) and type(count := found.get("failures")) is int and count >= 0:
        return min(count, _MOST_FAILURES)
    smallfile.set_aside(path, "this is no count of attempts")
    return 0


def keep_failures(
    folder: Path,
    failures: int,
    write: Callable[[Path, dict[str, int]], object] = smallfile.write,
) -> None:
    """Keep the count; ``write`` puts a value into a file, at once or soon."""
    write(folder / ATTEMPTS_FILE, {"failures": min(failures, _MOST_FAILURES)})


def runs_as_service(environ: dict[str, str] | os._Environ[str] = os.environ) -> bool:
    """Whether whoever started the kiosk starts it again when it ends."""
    return "NOTIFY_SOCKET" in environ
