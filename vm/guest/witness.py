"""Tells the host which game the kiosk has on its disk, each time that another one is there.

SQLite shows a transaction to others once it is synced (WAL, synchronous=FULL), so what is seen here
is safe.  One line of JSON each goes to a virtual serial line, which the host reads to its end after
a power cut.

Invariant: reads only.
"""

from __future__ import annotations

import json
import sqlite3
import time
from pathlib import Path

STATE = Path("/var/lib/pyramid-kiosk/state.sqlite")
LINE = Path("/dev/virtio-ports/vm.witness")
PAUSE = 0.05


def watch(state: Path, line: Path) -> None:
    """Read until the file is another one, or cannot be read."""
    db = sqlite3.connect(f"file:{state}?mode=ro", uri=True, timeout=5, isolation_level=None)
    file = state.stat().st_ino
    seen = version = None
    with line.open("wb", buffering=0) as out:
        while state.stat().st_ino == file:
            now = db.execute("PRAGMA data_version").fetchone()
            if now != version:
                version = now
                row = db.execute(
                    "SELECT (SELECT text FROM saved), (SELECT count(*) FROM results)"
                ).fetchone()
                if row != seen:
                    seen = row
                    text, results = row
                    told = {"saved": text and json.loads(text), "results": results}
                    out.write(json.dumps(told).encode() + b"\n")
            time.sleep(PAUSE)


while True:
    try:
        watch(STATE, LINE)
    except (OSError, sqlite3.Error) as error:
        print(error, flush=True)
    time.sleep(1)
