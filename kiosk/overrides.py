"""What was changed in the service menu: a few settings that take the place of the operator's file.

They lie in the state folder and stay until somebody gives them up in the menu; the file itself is
never written.

Invariant: only the settings in :data:`STEPS` can be overridden, and only by values that the file
could have; whatever else the kept file says is set aside and reported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import msgspec

from kiosk import smallfile
from kiosk.settings import CUSTOM, Settings

FILE_NAME: Final = "overrides.json"

Value = str | float

#: The settings that can be changed, each with the values that are offered, in their order.
STEPS: Final[Mapping[str, tuple[Value, ...]]] = MappingProxyType(
    {
        "game.preset": (
            "three-pass",
            "cards4",
            "relaxed",
            "classic",
            "collection",
            "overlap",
            CUSTOM,
        ),
        "game.grade": ("any", "easy", "medium", "hard"),
        "idle.attract_after": (0.0, 30.0, 45.0, 60.0, 90.0, 120.0, 180.0, 300.0, 600.0, 1800.0),
        "idle.countdown": (5.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0, 120.0),
        "idle.keep_game": (0.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0),
        "sound.volume": tuple(step / 10 for step in range(11)),
        "backlight.full": tuple(float(percent) for percent in range(10, 101, 10)),
    }
)


def value_of(settings: Settings, key: str) -> Value:
    """What ``settings`` say for a key of :data:`STEPS`."""
    section, name = key.split(".")
    value: Value = getattr(getattr(settings, section), name)
    return value


def step(settings: Settings, key: str, up: bool) -> Value | None:
    """The next value that is offered, up or down; None at the end.

    Words go round; numbers end.  A number between two steps goes to the nearer end of its own.
    """
    now = value_of(settings, key)
    offered = [value for value in STEPS[key] if value != CUSTOM or CUSTOM in settings.playable]
    if isinstance(now, str):
        return offered[(offered.index(now) + (1 if up else -1)) % len(offered)]
    beyond = [
        value
        for value in offered
        if not isinstance(value, str) and (value > now if up else value < now)
    ]
    if not beyond:
        return None
    return min(beyond) if up else max(beyond)


def _problem(key: object, value: object, settings: Settings) -> str:
    """Why ``value`` cannot take the place of a setting, or ""."""
    if key not in STEPS:
        return f"{key!r} cannot be overridden"
    assert isinstance(key, str)
    section, name = key.split(".")
    kind = next(
        field.type
        for field in msgspec.structs.fields(type(getattr(settings, section)))
        if field.name == name
    )
    try:
        msgspec.convert(value, kind)
    except (msgspec.ValidationError, UnicodeError) as error:
        # JSON can spell characters that are none: half of a pair of surrogates.
        return f"{key} = {value!r}: {error}"
    if key == "game.preset" and value not in settings.playable:
        return f"{key} = {value!r}: the file has no rules for it"
    return ""


class Overrides:
    """The settings that are changed, kept in a folder.

    Args:
        folder: the state folder.
        write: puts a value into a file.

    Attributes:
        values: by key, like ``game.preset``.
    """

    def __init__(
        self, folder: Path, write: Callable[[Path, dict[str, Value]], object] = smallfile.write
    ) -> None:
        self._path = folder / FILE_NAME
        self._write = write
        self.values: dict[str, Value] = {}
        data = smallfile.read(self._path)
        if data is None:
            return
        plain = Settings()
        if not isinstance(data, dict):
            smallfile.set_aside(self._path, "these are no overrides")
            return
        wrong = []
        for key, value in data.items():
            # Whether there are custom rules, only the operator's file can tell: see `applied`.
            problem = "" if (key, value) == ("game.preset", CUSTOM) else _problem(key, value, plain)
            if problem:
                wrong.append(problem)
            else:
                self.values[key] = value
        if wrong and smallfile.set_aside(self._path, "; ".join(wrong)) is not None:
            self._keep()

    def applied(self, settings: Settings) -> Settings:
        """The operator's settings with the overrides in place."""
        for key, value in self.values.items():
            if _problem(key, value, settings):
                continue
            section, name = key.split(".")
            changed = msgspec.structs.replace(getattr(settings, section), **{name: value})
            settings = msgspec.structs.replace(settings, **{section: changed})
        light = settings.backlight
        if light.dim > light.full:
            # The file was checked for that; what was changed since has the last word.
            light = msgspec.structs.replace(light, dim=light.full)
        return msgspec.structs.replace(settings, backlight=light)

    def change(self, settings: Settings, key: str, value: Value) -> None:
        """Override a setting of the operator's file; the file's own value ends the overriding.

        Raises:
            ValueError: that setting cannot be changed, or not to that.
        """
        if problem := _problem(key, value, settings):
            raise ValueError(problem)
        if value == value_of(settings, key):
            self.values.pop(key, None)
        else:
            self.values[key] = value
        self._keep()

    def clear(self) -> None:
        """Go back to the operator's file altogether."""
        self.values.clear()
        self._keep()

    def _keep(self) -> None:
        self._write(self._path, dict(self.values))
