"""Programs on a disk that fails when it is told to: see test_faults.py.

``python -m tests.crash.faulty storage FOLDER`` keeps games as it is told on its standard input, a
word and a number a line, and answers each line with one of JSON.  ``... kiosk FOLDER`` is the whole
kiosk, off-screen, which is told what a visitor does, and answers with each game that it hands over.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from kiosk.commands import Command, Draw, NewDeal, Redo, Touched, Undo
from kiosk.storage import Storage
from tests.crash.scenarios import RESULT, SAVED

#: What a visitor can do here.
DEEDS: dict[str, Command] = {
    "touch": Touched(),
    "deal": NewDeal(confirmed=True),
    "draw": Draw(),
    "undo": Undo(),
    "redo": Redo(),
}


def answer(**facts: Any) -> None:
    """Say one line to whoever has started this."""
    print(json.dumps(facts), flush=True)


def storage(folder: Path) -> None:
    """Keep games until the input ends."""
    kept = Storage(folder)
    for line in sys.stdin:
        word, _, number = line.strip().partition(" ")
        written = True
        if word == "save":
            kept.record(replace(RESULT, number=int(number)))
            kept.save(replace(SAVED, hints=int(number)))
        elif word == "flush":
            written = kept.flush(float(number))
        answer(
            written=written,
            failing=kept.failing,
            problems=kept.problems,
            saved=None if kept.saved is None else kept.saved.hints,
            played=kept.statistics.all.played,
        )
    answer(written=kept.close())


def kiosk(folder: Path) -> None:
    """Play until the program is ended."""
    from kiosk.__main__ import Stopper, make_app, parse

    stopper = Stopper()
    stopper.listen()
    app, close = make_app(parse(["--offscreen", "--size", "320x240", "--state", str(folder)]))
    keep = app._keep

    def told(saved: Any) -> None:
        keep(saved)
        answer(**asdict(saved))

    def listen() -> None:
        for line in sys.stdin:
            app.inbox.put(DEEDS[line.strip()])

    app._keep = told
    threading.Thread(target=listen, daemon=True).start()
    try:
        stopper.run(app)
    finally:
        close()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    # As it is on a machine without a screen.
    os.environ.setdefault("SDL_VIDEODRIVER", "offscreen")
    {"storage": storage, "kiosk": kiosk}[sys.argv[1]](Path(sys.argv[2]))
