"""The running game survives a kill at any moment."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from random import Random

from engine.game import Game
from kiosk.storage import Storage

KILLS = 12


def test_a_game_that_was_killed_stands_where_it_stood(tmp_path: Path) -> None:
    rng = Random(13)
    for kill in range(KILLS):
        with subprocess.Popen(
            [sys.executable, "-m", "tests.kiosk.victim", str(tmp_path), str(kill)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        ) as process:
            assert process.stdout is not None
            lines = []
            for _ in range(rng.randrange(5, 150)):
                lines.append(process.stdout.readline())
            process.kill()
            lines += process.stdout.readlines()
        made: list[str] = []
        safe = 0
        for line in lines:
            word, _, rest = line.rstrip("\n").partition(" ")
            if word == "did" and line.endswith("}\n"):
                made.append(rest.partition(" ")[2])
            elif word == "safe":
                safe = len(made) - 1
        assert len(made) > 1, "the kill came before the first move"
        storage = Storage(tmp_path)
        assert storage.problems == []
        assert storage.saved is not None
        kept = json.dumps(asdict(storage.saved))
        assert kept in made[safe:], "older than what was said to be safe"
        Game.load(storage.saved.game)
        assert storage.close()
