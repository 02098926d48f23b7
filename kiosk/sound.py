"""Sounds: what a change sounds like, and playing it.

Invariant: sound is an extra.  Nothing here raises; without a sound card, at volume 0 and in the
attract mode the kiosk is silent.  Files are read by :meth:`Sounds.warm_up`, one a call, and never
while a change is shown, so that no frame waits for them.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Protocol

from engine.position import MoveKind, Outcome
from kiosk.commands import Change, ChangeKind, Refusal

log = logging.getLogger(__name__)

FOLDER: Final = Path(__file__).resolve().parent / "data" / "sounds"

#: In the order in which they will be wanted.
NAMES: Final = (
    "pick",
    "pair",
    "draw",
    "king",
    "refuse",
    "deal",
    "undo",
    "redeal",
    "hint",
    "win",
)


class Sound(Protocol):
    """What plays one file; Kivy's sounds do."""

    volume: float

    def play(self) -> object:
        """Begin from the start, without waiting for the end."""

    def stop(self) -> object:
        """Be silent."""


Load = Callable[[str], Sound | None]


def sound_of(change: Change) -> str | None:
    """The name of what a change sounds like; None for silence."""
    match change.kind:
        case ChangeKind.PLAYED | ChangeKind.REDONE if change.move is not None:
            if change.new.outcome is Outcome.WON:
                return "win"
            return _MOVES[change.move.kind]
        case ChangeKind.REFUSED if change.refusal is Refusal.BLOCKED:
            return None
        case _:
            return _CHANGES.get(change.kind)


_MOVES: Final = {
    MoveKind.DRAW: "draw",
    MoveKind.REDEAL: "redeal",
    MoveKind.KING: "king",
    MoveKind.PAIR: "pair",
}
_CHANGES: Final = {
    ChangeKind.SELECTED: "pick",
    ChangeKind.REFUSED: "refuse",
    ChangeKind.UNDONE: "undo",
    ChangeKind.WENT_BACK: "undo",
    ChangeKind.DEALT: "deal",
    ChangeKind.HINTED: "hint",
}


class Sounds:
    """Plays sounds.

    Args:
        volume: how loud, 0 (silent) to 1.
        load: makes a sound of a file's name, or None where it cannot be played; Kivy's by
            default.
    """

    def __init__(self, volume: float, load: Load | None = None) -> None:
        self._load: Final = load or _kivy_load
        self._waiting = list(NAMES)
        self._sounds: dict[str, Sound] = {}
        self._last: Sound | None = None
        self._volume = 0.0
        self.volume = volume

    @property
    def volume(self) -> float:
        """How loud, 0 to 1; values beyond are taken as the nearest of these."""
        return self._volume

    @volume.setter
    def volume(self, value: float) -> None:
        self._volume = min(max(value, 0.0), 1.0)
        if self._volume == 0:
            self.stop()

    def warm_up(self) -> bool:
        """Read one more file; whether there are more to read.

        Call now and then after the first frame, until it says no; at volume 0 it opens nothing.
        """
        if self._volume == 0 or not self._waiting:
            return False
        name = self._waiting.pop(0)
        # Whatever a sound library raises, the game goes on.
        try:
            sound = self._load(str(FOLDER / f"{name}.wav"))
        except Exception as error:
            log.info("no sound: %s", error)
            sound = None
        if sound is None:
            # Without a sound card the other files would fail as well, each after a while.
            self._waiting.clear()
            return False
        self._sounds[name] = sound
        return bool(self._waiting)

    def play(self, change: Change, *, attract: bool = False) -> None:
        """Let a change be heard, unless nobody is there to hear it (``attract``)."""
        name = None if attract or self._volume == 0 else sound_of(change)
        sound = self._sounds.get(name or "")
        if sound is None:
            return
        try:
            # Loudness is felt as about the square root of what is sent to the loudspeaker.
            sound.volume = self._volume**2
            sound.play()
            self._last = sound
        except Exception as error:
            log.info("no sound: %s", error)
            self._sounds.clear()

    def stop(self) -> None:
        """Silence what still sounds."""
        sound, self._last = self._last, None
        if sound is None:
            return
        try:
            sound.stop()
        except Exception as error:
            log.info("a sound cannot be stopped: %s", error)


def has_sound_card(
    environ: Mapping[str, str] = os.environ, cards: Path = Path("/proc/asound/cards")
) -> bool:
    """Whether a sound can be heard at all.  Trying without one fills the log with complaints."""
    session = Path(environ.get("XDG_RUNTIME_DIR", "/nowhere"))
    if (
        environ.get("SDL_AUDIODRIVER")
        or environ.get("PULSE_SERVER")
        or (session / "pulse").exists()
    ):
        return True
    try:
        return "no soundcards" not in cards.read_text()
    except OSError:
        return False


def _kivy_load(path: str) -> Sound | None:
    if not has_sound_card():
        return None
    # The other providers would be imported too, and one of them takes over the main loop.
    os.environ.setdefault("KIVY_AUDIO", "sdl2")
    from kivy.core.audio import SoundLoader  # noqa: PLC0415 - opens the sound card

    sound = SoundLoader.load(path)
    # Where no sound card is, Kivy only logs it and gives a sound of no length.
    return sound if sound is not None and sound.length > 0 else None
