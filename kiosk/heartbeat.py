"""Tells systemd that the kiosk is alive, and stops telling it when touches can no longer arrive.

Invariant: beats come from the main loop alone, so that a hung loop is noticed; and a dead input
thread silences them, since a kiosk that draws but feels nothing is dead to its visitors.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Mapping
from threading import Thread
from typing import Final, Protocol

import sdnotify

log = logging.getLogger(__name__)

#: Seconds between beats when systemd asks for none.
IDLE_INTERVAL: Final = 10.0


class Notifier(Protocol):
    """What :class:`sdnotify.SystemdNotifier` does; without systemd it does nothing."""

    def notify(self, state: str) -> None:
        """Send one line of the notification protocol."""


class Heartbeat:
    """Feeds systemd's watchdog.

    Args:
        notifier: where beats go.
        threads: gives the threads that read touches, at the time of asking.
    """

    def __init__(self, notifier: Notifier, threads: Callable[[], Iterable[Thread]]) -> None:
        self._notifier = notifier
        self._threads = threads
        self._silent = False
        self._status = ""

    def ready(self) -> None:
        """The first frame has been drawn."""
        self._notifier.notify("READY=1")

    def stopping(self) -> None:
        """The kiosk is on its way out."""
        self._notifier.notify("STOPPING=1")

    def beat(self, status: str) -> bool:
        """Feed the watchdog and say how it goes; False when an input thread has died."""
        dead = [thread.name for thread in self._threads() if not thread.is_alive()]
        if dead:
            if not self._silent:
                log.error("touches can no longer arrive, %s died: asking to be restarted", dead)
            self._silent = True
            return False
        self._silent = False
        lines = "WATCHDOG=1"
        if status != self._status:
            lines += f"\nSTATUS={status}"
            self._status = status
        self._notifier.notify(lines)
        return True


def interval(environ: Mapping[str, str] = os.environ) -> float:
    """Seconds between beats: a third of what systemd waits for, at most 10."""
    try:
        wanted = int(environ["WATCHDOG_USEC"]) / 1_000_000
    except (KeyError, ValueError):
        return IDLE_INTERVAL
    return min(max(wanted / 3, 0.5), IDLE_INTERVAL)


def notifier() -> Notifier:
    """The real one."""
    real: Notifier = sdnotify.SystemdNotifier()
    return real
