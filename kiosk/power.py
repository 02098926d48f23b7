"""Asking the machine to switch itself off or to start again.

The kiosk's service has no rights for that.  It puts a file into its runtime folder; the unit
``pyramid-kiosk-power.path`` sees it, and what it starts removes the file and obeys.

Invariant: a request that nobody heeds is taken back and reported; nothing is left that would switch
the machine off later.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from kiosk.service_commands import Task

#: The request's file, as systemd/pyramid-kiosk-power.path names it.
FILES: Final[Mapping[Task, str]] = {Task.POWER_OFF: "power-off", Task.REBOOT: "reboot"}
#: Seconds that the request may lie there before nobody heeds it.
PATIENCE: Final = 8.0
_LOOK: Final = 0.2

NOT_A_SERVICE: Final = "the kiosk was not started by its systemd service"
NOT_HEEDED: Final = "pyramid-kiosk-power.path is not installed, or not started"


def ask(
    task: Task,
    environ: Mapping[str, str] = os.environ,
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> str:
    """Ask, and wait until somebody has heeded it, :data:`PATIENCE` seconds at most.

    Args:
        task: POWER_OFF or REBOOT.
        environ: has RUNTIME_DIRECTORY where systemd made one.
        sleep: waits so many seconds.

    Returns:
        why it did not work; empty when the machine is on its way.
    """
    given = environ.get("RUNTIME_DIRECTORY", "").split(":")[0]
    if not given:
        return NOT_A_SERVICE
    request = Path(given) / FILES[task]
    try:
        request.touch()
        for _ in range(round(PATIENCE / _LOOK)):
            sleep(_LOOK)
            if not request.exists():
                return ""
        request.unlink(missing_ok=True)
    except OSError as error:
        return f"{request}: {error.strerror}"
    return NOT_HEEDED
