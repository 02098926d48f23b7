"""Reads the operator's file again while the kiosk runs.

What can change at once does; what cannot, because it was built into something when the kiosk began,
is named in the log and waits for the next start.

Invariant: a file with a mistake in it changes nothing: the settings that were read before stay,
and every mistake is named.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from kiosk import places, settings
from kiosk.settings import CUSTOM, Settings, in_file

log = logging.getLogger(__name__)

#: Sections and keys that count from the next start on: what is connected, what can be played, and
#: how the window lies on the screen.
AT_START: Final = (
    *("buttons", "lamps", "presence", "rules"),
    *("display.rotation", "display.touch_rotation"),
)


class Reload:
    """The operator's file, as it was read last.

    Args:
        given: the file that the command line names, or None, as for
            :func:`kiosk.places.settings_file`.
        file: what was read at the start.
        use: takes the settings that count from now on; on the thread that calls :meth:`again`.
    """

    def __init__(self, given: Path | None, file: Settings, use: Callable[[Settings], None]) -> None:
        self._given = given
        self._file = file
        self._use = use

    def again(self) -> bool:
        """Read the file again; whether it could be used."""
        path = places.settings_file(self._given)
        read, problems = (Settings(), []) if path is None else settings.load(path)
        if problems:
            for problem in problems:
                log.error("%s", problem)
            log.error(
                "the settings are not changed, nor are defaults used: "
                "put the file right and reload once more"
            )
            return False
        counts = possible(self._file, read)
        at_once = changed(self._file, counts)
        later = changed(counts, read)
        for key, value in at_once.items():
            log.info("%s is now %s", key, "set" if key == "service.pin_hash" else in_file(value))
        if later:
            log.warning("counts only after a restart: %s", ", ".join(later))
        if not at_once and not later:
            log.info("the settings were read again; nothing has changed")
        self._file = counts
        if at_once:
            self._use(counts)
        return True


def possible(old: Settings, new: Settings) -> Settings:
    """The part of ``new`` that can count at once; for the rest what ``old`` says."""
    counts = new
    for name in AT_START:
        section, _, key = name.partition(".")
        before = getattr(old, section)
        if key:
            value = {key: getattr(before, key)}
            before = msgspec.structs.replace(getattr(counts, section), **value)
        counts = msgspec.structs.replace(counts, **{section: before})
    if counts.game.preset == CUSTOM and CUSTOM not in old.playable:
        # Its rules came with the settings, too late for the table that stands.
        game = msgspec.structs.replace(counts.game, preset=old.game.preset)
        counts = msgspec.structs.replace(counts, game=game)
    return counts


def changed(old: Settings, new: Settings) -> dict[str, Any]:
    """What differs, by keys like ``game.preset``, with what ``new`` says."""
    return dict(_differences(old, new))


def _differences(old: Settings, new: Settings) -> Iterator[tuple[str, Any]]:
    for section in msgspec.structs.fields(Settings):
        before, after = getattr(old, section.name), getattr(new, section.name)
        for field in msgspec.structs.fields(before):
            if (value := getattr(after, field.name)) != getattr(before, field.name):
                yield f"{section.name}.{field.name}", value
