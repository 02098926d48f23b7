"""Runs a program with its writes into one folder recorded, and made to fail: see shim.c."""

from __future__ import annotations

import mmap
import os
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

SOURCE = Path(__file__).with_name("shim.c")
_HEAD = struct.Struct("<BiqqHH")


class Kind(IntEnum):
    """What was done."""

    OPEN = 1
    CREATE = 2
    WRITE = 3
    TRUNCATE = 4
    SYNC = 5
    RENAME = 6
    UNLINK = 7
    MKDIR = 8
    MARK = 9


@dataclass(frozen=True)
class Operation:
    """One call that succeeded, or a mark that the program made.

    Attributes:
        kind: what was done.
        handle: which opening of a file it was done through; 0 where it was done by name.
        offset: of a write, in bytes; of a truncation the new size.
        path: the name, where there is one; the text of a mark.
        other: the new name of a renaming.
        data: what was written.
    """

    kind: Kind
    handle: int = 0
    offset: int = 0
    path: str = ""
    other: str = ""
    data: bytes = b""


def build(folder: Path) -> Path:
    """Compile the shim into a folder."""
    library = folder / "shim.so"
    command = ["gcc", "-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library, SOURCE]
    subprocess.run([*command, "-ldl", "-lpthread"], check=True)
    return library


def read_log(path: Path) -> Iterator[Operation]:
    """What was recorded, in its order."""
    data = path.read_bytes()
    place = 0
    while place < len(data):
        kind, handle, offset, size, length, other_length = _HEAD.unpack_from(data, place)
        place += _HEAD.size
        name = data[place : place + length].decode()
        place += length
        other = data[place : place + other_length].decode()
        place += other_length
        yield Operation(Kind(kind), handle, offset, name, other, data[place : place + size])
        place += size


class Control:
    """The switches for faults, shared with the program while it runs.

    Args:
        path: a file for them; made.
    """

    FIELDS = (
        *("write_errno", "sync_errno", "open_errno", "read_errno", "names_errno"),
        *("room", "gate", "waiting", "delay_ms", "refused"),
    )

    def __init__(self, path: Path) -> None:
        self.path = path
        path.write_bytes(bytes(4 * len(self.FIELDS)))
        with path.open("r+b") as file:
            self._shared = mmap.mmap(file.fileno(), 0)
        self.set(room=-1)

    def set(self, **values: int) -> None:
        """Set some of the fields; the list is in shim.c."""
        for name, value in values.items():
            struct.pack_into("<i", self._shared, 4 * self.FIELDS.index(name), value)

    def get(self, name: str) -> int:
        """One of the fields."""
        value: int = struct.unpack_from("<i", self._shared, 4 * self.FIELDS.index(name))[0]
        return value

    def calm(self) -> None:
        """No more faults."""
        quiet = {name: 0 for name in self.FIELDS if name not in {"waiting", "refused"}}
        self.set(**{**quiet, "room": -1})


def environment(
    library: Path, folder: Path, *, log: Path | None = None, control: Control | None = None
) -> dict[str, str]:
    """What a program needs in its environment to run on the shim.

    Args:
        library: the compiled shim.
        folder: whose files are watched; the program must name it as it is given here.
        log: where its writes are recorded.
        control: the switches for faults.
    """
    wanted = {**os.environ, "LD_PRELOAD": str(library), "DISK_FOLDER": str(folder)}
    # What is measured is the disk, and coverage's own files would only get in the way.
    wanted.pop("COVERAGE_PROCESS_CONFIG", None)
    if log is not None:
        wanted["DISK_LOG"] = str(log)
    if control is not None:
        wanted["DISK_CONTROL"] = str(control.path)
    return wanted
