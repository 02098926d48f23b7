"""Sounds: the right one for each change, silence wherever there must be silence."""

from __future__ import annotations

import runpy
import subprocess
import sys
import wave
from array import array
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from engine.position import DRAW, REDEAL, MoveKind, Outcome, Position
from engine.rules import PRESETS
from kiosk.commands import Change, ChangeKind, Refusal
from kiosk.sound import FOLDER, NAMES, Sounds, has_sound_card, sound_of
from tests.kiosk.fakes import won_by_hand

START = Position(won_by_hand("three-pass").deal, PRESETS["three-pass"])


@dataclass
class FakeSound:
    """Remembers how it was played."""

    name: str
    heard: list[tuple[str, float]]
    broken: bool = False
    volume: float = 1.0
    stopped: int = 0

    def play(self) -> None:
        if self.broken:
            raise OSError("the sound card was pulled out")
        self.heard.append((self.name, self.volume))

    def stop(self) -> None:
        self.stopped += 1


@dataclass
class FakeCard:
    """A sound card: it loads a sound of each file that it is given."""

    there: bool = True
    breaks: bool = False
    loaded: list[str] = field(default_factory=list)
    heard: list[tuple[str, float]] = field(default_factory=list)
    sounds: list[FakeSound] = field(default_factory=list)

    def load(self, path: str) -> FakeSound | None:
        self.loaded.append(Path(path).stem)
        if self.breaks:
            raise RuntimeError("no audio device")
        if not self.there:
            return None
        self.sounds.append(FakeSound(Path(path).stem, self.heard))
        return self.sounds[-1]


def warm(volume: float, card: FakeCard) -> Sounds:
    sounds = Sounds(volume, card.load)
    while sounds.warm_up():
        pass
    return sounds


def played(position: Position, kind: MoveKind) -> Change:
    """The first change of that kind in a game, from ``position`` on."""
    for _ in range(100):
        moves = [*position.removals(), DRAW if position.can_draw else REDEAL]
        move = next((move for move in moves if move.kind is kind), moves[-1])
        new = position.play(move)
        if move.kind is kind:
            return Change(ChangeKind.PLAYED, position, new, move)
        position = new
    raise AssertionError(f"no {kind} in a whole game")


DRAWN = played(START, MoveKind.DRAW)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (MoveKind.DRAW, "draw"),
        (MoveKind.PAIR, "pair"),
        (MoveKind.KING, "king"),
        (MoveKind.REDEAL, "redeal"),
    ],
)
def test_each_kind_of_move_has_its_sound(kind: MoveKind, name: str) -> None:
    change = played(START, kind)
    assert sound_of(change) == name
    again = Change(ChangeKind.REDONE, change.old, change.new, change.move)
    assert sound_of(again) == name
    undone = Change(ChangeKind.UNDONE, change.new, change.old, change.move)
    assert sound_of(undone) == "undo"


def test_the_last_move_of_a_won_game_sounds_like_a_win() -> None:
    known = won_by_hand("three-pass")
    position = Position(known.deal, known.rules)
    names = []
    for move in known.line:
        new = position.play(move)
        names.append(sound_of(Change(ChangeKind.PLAYED, position, new, move)))
        position = new
    assert position.outcome is Outcome.WON
    assert names.index("win") == len(names) - 1


@pytest.mark.parametrize("kind", ChangeKind)
def test_every_change_has_a_sound_that_there_is_or_none(kind: ChangeKind) -> None:
    for refusal in (None, *Refusal):
        name = sound_of(Change(kind, START, START, refusal=refusal))
        assert name is None or name in NAMES


@pytest.mark.parametrize("kind", [ChangeKind.NOTHING, ChangeKind.PANEL, ChangeKind.ATTRACT])
def test_what_is_no_move_is_not_heard(kind: ChangeKind) -> None:
    assert sound_of(Change(kind, START, START)) is None


def test_a_press_on_a_blocked_table_is_not_heard() -> None:
    refused = Change(ChangeKind.REFUSED, START, START, refusal=Refusal.COVERED)
    blocked = Change(ChangeKind.REFUSED, START, START, refusal=Refusal.BLOCKED)
    assert sound_of(refused) == "refuse"
    assert sound_of(blocked) is None


def test_a_change_is_heard_as_loud_as_the_volume_says() -> None:
    card = FakeCard()
    sounds = warm(0.5, card)
    sounds.play(DRAWN)
    sounds.volume = 1.0
    sounds.play(DRAWN)
    sounds.volume = 7.0
    sounds.play(DRAWN)
    assert card.heard == [("draw", 0.25), ("draw", 1.0), ("draw", 1.0)]


def test_the_attract_mode_is_silent() -> None:
    card = FakeCard()
    sounds = warm(1.0, card)
    sounds.play(DRAWN, attract=True)
    assert card.heard == []


def test_at_volume_0_no_file_is_opened_and_what_sounds_ends() -> None:
    card = FakeCard()
    silent = warm(0.0, card)
    silent.play(DRAWN)
    assert card.loaded == []
    silent.volume = 0.5
    while silent.warm_up():
        pass
    silent.play(DRAWN)
    silent.volume = 0.0
    silent.play(DRAWN)
    assert len(card.heard) == 1
    assert sum(sound.stopped for sound in card.sounds) == 1


def test_files_are_read_one_at_a_time_and_never_to_play() -> None:
    card = FakeCard()
    sounds = Sounds(1.0, card.load)
    sounds.play(DRAWN)
    assert card.loaded == [] and card.heard == []
    for count in range(1, len(NAMES) + 1):
        assert sounds.warm_up() == (count < len(NAMES))
        assert card.loaded == list(NAMES[:count])
    assert not sounds.warm_up()
    assert card.loaded == list(NAMES)


@pytest.mark.parametrize("card", [FakeCard(there=False), FakeCard(breaks=True)])
def test_without_a_sound_card_it_is_asked_for_once_and_all_is_silent(card: FakeCard) -> None:
    sounds = warm(1.0, card)
    sounds.play(DRAWN)
    assert card.heard == []
    assert len(card.loaded) == 1
    assert not sounds.warm_up()


def test_a_sound_card_that_is_pulled_out_leaves_silence() -> None:
    card = FakeCard()
    sounds = warm(1.0, card)
    for sound in card.sounds:
        sound.broken = True
    sounds.play(DRAWN)
    sounds.play(DRAWN)
    assert card.heard == []


# -- files ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    """The script that made them, and in ``made`` what it makes."""
    names = runpy.run_path(str(FOLDER / "make_sounds.py"))
    return {**names, "made": {name: names["pcm"](*it) for name, it in names["sounds"]().items()}}


@pytest.mark.parametrize("name", NAMES)
def test_files_are_what_the_script_makes(script: dict[str, Any], name: str) -> None:
    made = script["made"][name]
    with wave.open(str(FOLDER / f"{name}.wav"), "rb") as file:
        assert (file.getnchannels(), file.getsampwidth()) == (1, 2)
        assert file.getframerate() == script["RATE"]
        shipped = array("h", file.readframes(file.getnframes()))
    assert len(shipped) == len(made)
    # Another machine's sine may round the last bit the other way.
    assert max(abs(a - b) for a, b in zip(shipped, made, strict=True)) <= 2
    assert len(made) / script["RATE"] <= 2.0
    assert made[0] == made[-1] == 0
    assert 5000 < max(map(abs, made)) <= 20000


def test_there_is_no_file_without_a_use() -> None:
    assert {path.stem for path in FOLDER.glob("*.wav")} == set(NAMES)


def test_kivy_plays_them_and_is_silent_without_a_sound_card(kivy_window: object) -> None:
    """In a process of its own: the sound library opens the card once and for all."""
    code = (
        "from kiosk.sound import Sounds; s = Sounds(1.0)\n"
        "while s.warm_up(): pass\n"
        "print(len(s._sounds))"
    )
    for driver, count in (("dummy", len(NAMES)), ("none-such", 0)):
        environ = {
            "SDL_AUDIODRIVER": driver,
            "KIVY_NO_ARGS": "1",
            "KIVY_NO_CONFIG": "1",
            "KIVY_NO_FILELOG": "1",
            "KIVY_NO_CONSOLELOG": "1",
        }
        done = subprocess.run(
            [sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True
        )
        assert done.stdout.split()[-1] == str(count)


def test_a_sound_card_is_looked_for_before_it_is_opened(tmp_path: Path) -> None:
    cards = tmp_path / "cards"
    assert not has_sound_card({}, cards)
    cards.write_text("--- no soundcards ---\n")
    assert not has_sound_card({}, cards)
    cards.write_text(" 0 [Headphones     ]: bcm2835_headpho - bcm2835 Headphones\n")
    assert has_sound_card({}, cards)
    (tmp_path / "pulse").mkdir()
    assert has_sound_card({"XDG_RUNTIME_DIR": str(tmp_path)}, tmp_path / "none")
