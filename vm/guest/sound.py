"""Judges the kiosk's database, and prints what is in it as one line of JSON.

Invariant: reads only.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

STATE = Path("/var/lib/pyramid-kiosk/state.sqlite")

db = sqlite3.connect(f"file:{STATE}?mode=ro", uri=True, timeout=10)
text, results = db.execute(
    "SELECT (SELECT text FROM saved), (SELECT count(*) FROM results)"
).fetchone()
told = {
    "verdict": db.execute("PRAGMA integrity_check").fetchone()[0],
    "told": {"saved": text and json.loads(text), "results": results},
    "put_aside": db.execute("SELECT count(*) FROM set_aside").fetchone()[0],
    "set_aside": sorted(path.name for path in STATE.parent.glob("*.bad-*")),
}
print(json.dumps(told))
