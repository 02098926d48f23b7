"""The kiosk as a program of its own, off-screen, as a machine without a display starts it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]
#: The environment without anything that leads to a display.
PLAIN: Final = {
    name: value
    for name, value in os.environ.items()
    if name not in {"DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"}
}


def started(*options: str | Path, **more: Any) -> subprocess.Popen[str]:
    """The running kiosk; what it logs can be read from ``stderr``.

    Args:
        *options: of its command line.
        **more: for ``Popen``, where it should be otherwise.
    """
    given: dict[str, Any] = {
        "stdin": subprocess.DEVNULL,
        "stderr": subprocess.PIPE,
        "text": True,
        "env": PLAIN,
        "cwd": ROOT,
    }
    command = [sys.executable, "-m", "kiosk", "--offscreen", *map(str, options)]
    return subprocess.Popen(command, **given | more)
