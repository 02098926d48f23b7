"""Small JSON files in the state folder that survive a power cut.

Invariant: a file is either the old one or the new one, never half of each; one that cannot be read
is renamed, never deleted or overwritten.
"""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import Any, Final

log = logging.getLogger(__name__)

#: A file larger than this is not one of ours.
LARGEST: Final = 100_000


def read(path: Path) -> Any:
    """What the file holds; None when there is none or when it was set aside."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            set_aside(path, "it is too large")
            return None
        return json.loads(data)
    except FileNotFoundError:
        return None
    except OSError as error:
        log.error("%s: cannot be read (%s)", path, error.strerror)  # noqa: TRY400
        return None
    except (ValueError, RecursionError) as error:
        set_aside(path, str(error))
        return None


def set_aside(path: Path, why: str) -> Path | None:
    """Rename a file to a name that is not taken, and say so; None when that fails."""
    number = 1
    while (aside := path.with_name(f"{path.name}.bad-{number}")).exists():
        number += 1
    try:
        path.rename(aside)
    except OSError as error:
        log.error(  # noqa: TRY400
            "%s: %s; it cannot be set aside (%s)", path, why, error.strerror
        )
        return None
    log.error("%s: %s; it was set aside as %s", path, why, aside.name)
    return aside


def sync_folder(folder: Path) -> None:
    """Have the names in a folder safely on the disk before this returns.

    Raises:
        OSError: it could not be done.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, where they are missing, safely on the disk.

    Raises:
        OSError: it could not be done.
    """
    missing = [folder, *folder.parents]
    missing = missing[: next(n for n, path in enumerate(missing) if path.is_dir())]
    for path in reversed(missing):
        path.mkdir(exist_ok=True)
        # Or a power cut takes the folder away, with all that is safe in it.
        sync_folder(path.parent)


def write(path: Path, value: Any) -> bool:
    """Put ``value`` into the file, safely on the disk before this returns; whether that worked."""
    scratch = path.with_name(path.name + ".new")
    try:
        make_folder(path.parent)
        with scratch.open("wb") as file:
            file.write(json.dumps(value, indent=1, sort_keys=True).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        scratch.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        log.error("%s: cannot be written (%s)", path, error.strerror)  # noqa: TRY400
        return False
    return True
