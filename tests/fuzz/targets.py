"""What is fed with damaged input, and what must be true of its answer.

Invariant: a target raises only when a promise is broken: a clear error or a sound default, never an
exception of its own, and never a lost file.
"""

from __future__ import annotations

import io
import json
import shutil
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import asdict
from pathlib import Path
from random import Random
from unittest import mock

import msgspec

from engine import __main__ as engine_main
from engine.deal import Deal
from engine.game import Game, SaveError
from engine.pool import Pool, PoolError, PoolRow, encode_line
from engine.pool_build import write
from engine.position import Outcome
from engine.rules import PRESETS
from kiosk import settings as settings_file
from kiosk import texts
from kiosk.commandline import parse as parse_kiosk
from kiosk.overrides import Overrides
from kiosk.session import Session
from kiosk.sessiontypes import Saved, SessionOptions
from kiosk.settings import Settings
from kiosk.statefile import COMPANIONS, FILE_NAME
from kiosk.statistics import Result
from kiosk.storage import Storage
from tests.kiosk.fakes import FakeAdviser, FakeDealer

ROOT = Path(__file__).parents[2]
DEALT = 7


class Target(ABC):
    """Something that reads what others wrote.

    Args:
        scratch: a folder for files, its own.
    """

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch

    @abstractmethod
    def corpus(self) -> Sequence[bytes]:
        """Sound inputs, from which the damaged ones are made."""

    @abstractmethod
    def feed(self, data: bytes) -> None:
        """Read one input.

        Raises:
            Exception: a promise is broken.
        """

    def fresh_folder(self) -> Path:
        """An empty folder."""
        return Path(tempfile.mkdtemp(dir=self.scratch))


class SettingsFile(Target):
    """The operator's settings, and the overrides of the service menu."""

    def corpus(self) -> Sequence[bytes]:
        text = (ROOT / "docs" / "settings.md").read_text("utf-8")
        example = text.partition("```toml\n")[2].partition("```")[0]
        lines = []
        for section, table in msgspec.to_builtins(Settings()).items():
            lines.append(f"[{section}]")
            lines += [f"{key} = {json.dumps(it)}" for key, it in table.items() if it is not None]
        return [
            example.encode(),
            "\n".join(lines).encode(),
            b"[game]\npreset = 'custom'\n[rules]\npasses = 2\n",
        ]

    def feed(self, data: bytes) -> None:
        path = self.scratch / "settings.toml"
        path.write_bytes(data)
        settings, problems = settings_file.load(path)
        assert all(problem.startswith(str(path)) for problem in problems)
        # What came out is what could be in a file, whatever went in.
        again = msgspec.convert(msgspec.to_builtins(settings), Settings)
        assert again == settings
        for rules in settings.playable.values():
            assert rules.passes is None or rules.passes >= 1
        assert path.read_bytes() == data


class OverridesFile(Target):
    """The settings changed in the service menu."""

    def corpus(self) -> Sequence[bytes]:
        values = {"game.preset": "relaxed", "sound.volume": 0.8, "idle.countdown": 30.0}
        return [json.dumps(values).encode(), json.dumps(values, indent=1).encode(), b"{}"]

    def feed(self, data: bytes) -> None:
        folder = self.fresh_folder()
        path = folder / "overrides.json"
        path.write_bytes(data)
        overrides = Overrides(folder)
        settings = overrides.applied(Settings())
        assert msgspec.convert(msgspec.to_builtins(settings), Settings) == settings
        assert any(kept.read_bytes() == data for kept in folder.iterdir()), "the file is lost"
        overrides.change(Settings(), "sound.volume", 0.3)
        assert Overrides(folder).values["sound.volume"] == 0.3
        shutil.rmtree(folder)


class Save(Target):
    """The text of a saved game, and the session that goes on with it."""

    def corpus(self) -> Sequence[bytes]:
        rng = Random(5)
        games = []
        for rules in PRESETS.values():
            game = Game(Deal.from_number(DEALT), rules)
            for _ in range(40):
                moves = game.position.legal_moves
                if moves:
                    game.play(rng.choice(moves))
            game.undo()
            games.append(game.save().encode())
        session = Session(
            FakeDealer(), FakeAdviser(), SessionOptions(start_in_attract=False), now=0.0
        )
        kept = [json.dumps(asdict(session.saved())).encode()]
        kept += [
            json.dumps(asdict(session.saved()) | {"game": game.decode()}).encode() for game in games
        ]
        return [*games, *kept]

    def feed(self, data: bytes) -> None:
        try:
            game = Game.load(data.decode("utf-8", "replace"))
        except SaveError as error:
            assert str(error)
        else:
            again = Game.load(game.save())
            assert again.positions == game.positions
            assert again.undone == game.undone
        try:
            saved = msgspec.json.decode(data, type=Saved)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return
        try:
            session = Session(FakeDealer(), FakeAdviser(), SessionOptions(), now=0.0, saved=saved)
        except ValueError as error:
            # As kiosk/__main__.py does it: the save is set aside.
            assert isinstance(error, SaveError) or "move" in str(error), repr(error)
            return
        assert session.position.outcome in Outcome
        Game.load(session.saved().game)


class Database(Target):
    """The state file, its log beside it: the first four bytes say where the log begins."""

    def corpus(self) -> Sequence[bytes]:
        inputs = []
        for steps in (0, 3, 60):
            folder = self.fresh_folder()
            storage = Storage(folder)
            for count in range(steps):
                storage.record(Result("three-pass", count + 1, "won", 40, 90.5, 0, 3, "hard"))
                storage.save(
                    Saved("game " * 40, "three-pass", "D", 1.5, count, 0, "de", True, False)
                )
                storage.flush()
            inputs.append(self._packed(folder))
            storage.close()
            inputs.append(self._packed(folder))
            shutil.rmtree(folder)
        return inputs

    def _packed(self, folder: Path) -> bytes:
        database = (folder / FILE_NAME).read_bytes()
        log = folder / f"{FILE_NAME}-wal"
        return (
            len(database).to_bytes(4, "big")
            + database
            + (log.read_bytes() if log.exists() else b"")
        )

    def feed(self, data: bytes) -> None:
        size = int.from_bytes(data[:4], "big")
        database, log = data[4 : 4 + size], data[4 + size :]
        folder = self.fresh_folder()
        path = folder / FILE_NAME
        path.write_bytes(database)
        if log:
            path.with_name(path.name + "-wal").write_bytes(log)
        saved = Saved("next", "three-pass", "", 1.5, 3, 0, "de", True, False)
        storage = Storage(folder)
        aside = [kept for kept in folder.glob("*.bad-*") if not kept.name.endswith(COMPANIONS)]
        assert len(aside) <= 1
        for kept in aside:
            assert kept.read_bytes() == database, "the bad file was changed"
        storage.record(Result("relaxed", 1, "lost", 1, 1.0, 0, 0))
        storage.save(saved)
        assert storage.close(30), storage.problems
        again = Storage(folder)
        assert again.saved == saved
        assert again.statistics.of("relaxed").played >= 1
        assert again.close(30)
        shutil.rmtree(folder)


class PoolFile(Target):
    """The pool of deals."""

    def corpus(self) -> Sequence[bytes]:
        path = self.scratch / "corpus.sqlite"
        rows = []
        with Pool.open() as pool:
            for preset in ("cards4", "three-pass"):
                deals = sorted((pool.deal(preset, n) for n in range(3)), key=lambda it: it.number)
                rows += [
                    PoolRow(it.preset, it.number, encode_line(it.deal, it.line), 1, 1500)
                    for it in deals
                ]
        names = ("cards4", "three-pass")
        write(path, [(name, str(PRESETS[name]), 3, 1000, 100) for name in names], rows)
        return [path.read_bytes()]

    def feed(self, data: bytes) -> None:
        path = self.scratch / "pool.sqlite"
        path.write_bytes(data)
        for check in (True, False):
            try:
                with Pool.open(path, check_digest=check) as pool:
                    for preset in pool.presets:
                        found = pool.draw(preset, Random(1), [], None)
                        assert found.line
            except PoolError as error:
                assert str(path) in str(error)
        assert path.read_bytes() == data


class Catalogue(Target):
    """A language."""

    def corpus(self) -> Sequence[bytes]:
        inputs = []
        for language in ("de", "fr"):
            text = texts.catalogue_path(language).read_text("utf-8")
            entries = text.split("\n\n")
            plural = [entry for entry in entries if "msgid_plural" in entry]
            inputs.append("\n\n".join([*entries[:12], *plural[:2]]).encode())
        return inputs

    def feed(self, data: bytes) -> None:
        path = texts.catalogue_path("xx", self.scratch)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        names = texts.available_languages(self.scratch)
        assert all(isinstance(name, str) for name in names.values())
        read = texts.Texts.load("xx", self.scratch)
        assert read.gettext("Status") or True
        assert isinstance(read.gettext("Undo"), str)
        for n in (0, 1, 2, 5, 10**6):
            assert isinstance(read.ngettext("{n} card", "{n} cards", n), str)
        assert path.read_bytes() == data


class CommandLine(Target):
    """What is typed after ``python -m engine`` and ``python -m kiosk``, a word a line."""

    #: Asked for by a word that is left alone; the rest would work for minutes, rightly.
    QUICK = ("deal", "solve", "pool")

    def corpus(self) -> Sequence[bytes]:
        lines = [
            "deal 7 --json",
            "solve --rules relaxed --limit 50 deals",
            "solve --rules passes=3,goal=deck,overlap=yes --limit 20 --shortest deals",
            "solve --rules cards4,passes=2 --limit 20 --min-passes deals",
            "pool verify pool",
            "pool stats pool --json",
            "kiosk --size 800x480 --preset cards4 --language de --state here --offscreen",
            "kiosk --demo --size 1280x720 --settings file --check --json",
            "winrate --rules relaxed --deals 10 --from 3 --workers 2",
            "bench --rules classic --json",
        ]
        return [line.replace(" ", "\n").encode() for line in lines]

    def feed(self, data: bytes) -> None:
        (self.scratch / "deals").write_bytes(b"7\n" + data + b"\n12\n")
        (self.scratch / "pool").write_bytes(data)
        words = [word for word in data.decode("utf-8", "surrogateescape").split("\n") if word]
        words = [
            str(self.scratch / word) if word in {"deals", "pool"} and n else word
            for n, word in enumerate(words)
        ]
        if any("\0" in word for word in words) or "--shots" in words:
            return  # no program can be given the first, and the second makes a folder
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as said:
            try:
                with mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(data))):
                    code = self._run(words)
            except SystemExit as end:
                code = end.code
        assert code in {0, 1, 2}, code
        assert code == 0 or said.getvalue() or words[:1] == ["solve"], "nothing was said"

    def _run(self, words: list[str]) -> int:
        if words[:1] == ["kiosk"]:
            parse_kiosk(words[1:])
            return 0
        # Without a file, a pool command reads the shipped pool for seconds, rightly.
        slow = words[:1] == ["pool"] and str(self.scratch / "pool") not in words
        if slow or words[:1] not in ([word] for word in self.QUICK) or "build" in words:
            engine_main._parser().parse_args(words)
            return 0
        if words[0] == "solve":
            words = [*words, "--limit", "50"]
        return engine_main.main(words)


TARGETS: dict[str, type[Target]] = {
    "settings": SettingsFile,
    "overrides": OverridesFile,
    "saves": Save,
    "databases": Database,
    "pools": PoolFile,
    "catalogues": Catalogue,
    "command-lines": CommandLine,
}
