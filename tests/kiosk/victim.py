"""A kiosk without a screen that plays at random and is meant to be killed: see test_kill.py.

Prints ``did N SAVE`` when a move was made and handed to the storage, and ``safe N`` when the
storage said that it is on the disk.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from random import Random

from kiosk.commands import Draw, NewDeal, Redo, Tap, Undo
from kiosk.session import Session
from kiosk.sessiontypes import SessionOptions
from kiosk.storage import Storage
from tests.kiosk.fakes import FakeAdviser, FakeDealer


def main(folder: Path, seed: int) -> None:
    rng = Random(seed)
    storage = Storage(folder)
    session = Session(
        FakeDealer(),
        FakeAdviser(),
        SessionOptions(start_in_attract=False),
        now=time.monotonic(),
        saved=storage.saved,
    )
    for count in range(100_000):
        command = rng.choice(
            [Draw(), Draw(), Undo(), Redo(), NewDeal(confirmed=True), Tap(rng.randrange(28))]
        )
        session.handle(command, time.monotonic())
        print("did", count, json.dumps(asdict(session.saved())), flush=True)
        storage.save(session.saved())
        if rng.random() < 0.3 and storage.flush():
            print("safe", count, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
