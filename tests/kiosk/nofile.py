"""What can lie in the place of a file and is none."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

KINDS: Final = ("folder", "pipe", "loop")


def put(path: Path, kind: str) -> None:
    """Put one of that kind there."""
    match kind:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "loop":
            path.symlink_to(path)
