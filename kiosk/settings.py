"""The operator's settings: a TOML file becomes a frozen value, every mistake named.

Invariant: a mistake never stops the kiosk.  Each wrong key is reported with what it may be, and
its default is used; everything else in the file still counts.
"""

from __future__ import annotations

import difflib
import math
import tomllib
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

import msgspec
from msgspec import Meta, Struct, inspect

from engine.rules import PRESETS, Covered, Goal, Rules
from kiosk import panel_settings, pin, schedule
from kiosk.panel_settings import (
    BacklightSettings,
    ButtonSettings,
    LampSettings,
    PresenceSettings,
)
from kiosk.schedule import Schedule
from kiosk.texts import shipped_languages

#: The name of the rules that the operator puts together.
CUSTOM: Final = "custom"

Preset = Literal["three-pass", "cards4", "relaxed", "classic", "collection", "overlap", "custom"]
Seconds = Annotated[float, Meta(ge=0, le=86_400)]
Millimetres = Annotated[float, Meta(ge=30, le=3_000)]


class GameSettings(Struct, frozen=True):
    """What is played.

    Attributes:
        preset: the rules that a fresh kiosk deals.
        grade: how hard the deals of a fresh kiosk are.
        auto_play: whether a tapped card with exactly one partner pairs at once.
        tell_lost: when a player is told, without asking, that the game cannot be won any more.
        coaching: whether a visitor's first game shows what can be done.
    """

    preset: Preset = "three-pass"
    grade: Literal["any", "easy", "medium", "hard"] = "any"
    auto_play: bool = False
    tell_lost: Literal["off", "stuck", "always"] = "stuck"
    coaching: bool = True


class LanguageSettings(Struct, frozen=True):
    """What is spoken.

    Attributes:
        default: the language of a fresh kiosk, the code of a catalogue.
    """

    default: str = "en"


class IdleSettings(Struct, frozen=True):
    """What happens when nobody touches anything.

    Attributes:
        attract_after: seconds until the countdown; 0 never.
        countdown: seconds that the countdown lasts before the attract mode begins.
        keep_game: seconds that a game left behind is offered to go on with.
        dim_after: seconds without input until the screen is dim; 0 never.
    """

    attract_after: Seconds = 60.0
    countdown: Annotated[float, Meta(ge=5, le=600)] = 20.0
    keep_game: Seconds = 600.0
    dim_after: Seconds = 600.0


class ScheduleSettings(Struct, frozen=True):
    """When the screen is dim or black, as long as nobody is there.

    Attributes:
        dim: times at which it is dim, like ``mon-fri 18:00-22:00``: see ``kiosk/schedule.py``.
        black: times at which it is black.
    """

    dim: tuple[str, ...] = ()
    black: tuple[str, ...] = ()

    @property
    def schedule(self) -> Schedule:
        """As the light takes it."""
        return Schedule(dim=schedule.read(self.dim)[0], black=schedule.read(self.black)[0])


class DisplaySettings(Struct, frozen=True):
    """How it looks.

    Attributes:
        width_mm: the visible width of the panel; None guesses it from the size in pixels.
        rotation: degrees by which the picture is turned clockwise, for a panel that hangs turned.
        touch_rotation: degrees by which touches are turned clockwise besides, for a touchscreen
            that is not mounted as its panel is; only where there is no desktop.
        left_handed: whether the two button rails change sides.
        four_colour: whether each suit has its own colour.
        high_contrast: whether card faces are drawn in the strongest colours.
        oled: whether table and cards are dark, for panels that age by light.
        show_values: whether Jack, Queen and King show 11, 12 and 13.
        reduced_motion: whether cards appear in their places instead of flying there.
        local_indices: whether Jack, Queen and King carry the letters of the language on the screen
            where it has its own: B D K in German, V D R in French.
    """

    width_mm: Millimetres | None = None
    rotation: Literal[0, 90, 180, 270] = 0
    touch_rotation: Literal[0, 90, 180, 270] = 0
    left_handed: bool = False
    four_colour: bool = False
    high_contrast: bool = False
    oled: bool = False
    show_values: bool = True
    reduced_motion: bool = False
    local_indices: bool = False


class RulesSettings(Struct, frozen=True):
    """The rules of the preset ``custom``: any combination is allowed.

    Attributes:
        passes: runs through the stock, the first one included, or "unlimited".
        goal: what has to be removed.
        covered: how covered pyramid cards are shown.
        stock_playable: whether the top stock card lies face up and plays.
        overlap: whether a card may pair with the last one that covers it.
    """

    passes: Annotated[int, Meta(ge=1, le=1_000)] | Literal["unlimited"] = 3
    goal: Literal["pyramid", "deck"] = "pyramid"
    covered: Literal["face_up", "face_down"] = "face_up"
    stock_playable: bool = False
    overlap: bool = False

    @property
    def rules(self) -> Rules:
        """As the engine takes them."""
        return Rules(
            passes=None if isinstance(self.passes, str) else self.passes,
            goal=Goal(self.goal),
            covered=Covered(self.covered),
            stock_playable=self.stock_playable,
            overlap=self.overlap,
        )


class SoundSettings(Struct, frozen=True):
    """What is heard.

    Attributes:
        volume: 0 is silence, 1 as loud as the machine is set.
    """

    volume: Annotated[float, Meta(ge=0, le=1)] = 0.5


class ServiceSettings(Struct, frozen=True):
    """The service menu.

    Attributes:
        pin_hash: what ``python -m kiosk pin`` made of the PIN; without it the menu only shows.
        corners: whether it can be opened by touch, in the corners of the screen.
        close_after: seconds without input after which it closes by itself.
    """

    pin_hash: Annotated[str, Meta(pattern=pin.PATTERN)] | None = None
    corners: bool = True
    close_after: Annotated[float, Meta(ge=30, le=600)] = 90.0


class Settings(Struct, frozen=True):
    """All settings, one attribute a section of the file."""

    game: GameSettings = GameSettings()
    language: LanguageSettings = LanguageSettings()
    idle: IdleSettings = IdleSettings()
    schedule: ScheduleSettings = ScheduleSettings()
    display: DisplaySettings = DisplaySettings()
    rules: RulesSettings = RulesSettings()
    sound: SoundSettings = SoundSettings()
    buttons: ButtonSettings = ButtonSettings()
    lamps: LampSettings = LampSettings()
    presence: PresenceSettings = PresenceSettings()
    backlight: BacklightSettings = BacklightSettings()
    service: ServiceSettings = ServiceSettings()

    @property
    def playable(self) -> dict[str, Rules]:
        """Everything that can be played, by name: the presets, and ``custom`` where it is used."""
        used = self.game.preset == CUSTOM or self.rules != RulesSettings()
        return {**PRESETS, CUSTOM: self.rules.rules} if used else dict(PRESETS)


#: The sections about what is connected, which must not contradict each other.
_WIRED: Final = ("buttons", "lamps", "presence", "backlight")

#: What must not get into a log, and what to do about it.
_SECRET: Final = {
    "service.pin_hash": "is not the hash of a PIN; make one with: pyramid-kiosk pin",
    "service.pin": "a PIN is not kept in this file, only its hash; make one with: "
    "pyramid-kiosk pin",
}

#: A settings file larger than this is not one.
LARGEST_FILE: Final = 1_000_000
#: No line with a setting has more; ten thousand in a key take seconds to read, and a million hours.
MOST_DOTS: Final = 200


def load(path: Path) -> tuple[Settings, list[str]]:
    """Read a settings file.

    Returns:
        the settings, and one sentence for each mistake; the defaults stand for what is wrong.
        A file that does not exist is a mistake too: ask before whether it does.
    """
    try:
        if path.exists() and not path.is_file():
            return Settings(), [f"{path}: is not a file; all defaults are used"]
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
        if len(data) > LARGEST_FILE:
            return Settings(), [f"{path}: too large to be a settings file; all defaults are used"]
        # Some editors put a mark before the text.
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return Settings(), [
            f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8. All defaults are used"
        ]
    except OSError as error:
        return Settings(), [f"{path}: cannot be read ({error.strerror}); all defaults are used"]
    settings, problems = parse(text)
    return settings, [f"{path}: {problem}" for problem in problems]


def parse(text: str) -> tuple[Settings, list[str]]:
    """Read settings from TOML text; see :func:`load`."""
    try:
        _refuse_long_keys(text)
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        advice = "text stands in quotes, and each section only once in the file"
        return Settings(), [f"not valid TOML ({error}): {advice}; all defaults are used"]
    problems: list[str] = []
    sections: dict[str, Any] = {}
    known = {field.name: field.type for field in msgspec.structs.fields(Settings)}
    for name, table in document.items():
        if name not in known and not isinstance(table, dict):
            problems.append(f"{name} stands in no section{_belongs(name, known)}; it is ignored")
        elif name not in known:
            problems.append(f"[{name}] is not a section{_meant(name, list(known))}; it is ignored")
        elif not isinstance(table, dict):
            problems.append(f"{name} must be a section: write [{name}] and its keys below it")
        else:
            sections[name] = _section(name, known[name], table, problems)
    settings = Settings(**sections)
    settings = msgspec.structs.replace(settings, schedule=_sound_times(settings.schedule, problems))
    language = settings.language.default
    if language not in (spoken := shipped_languages()):
        problems.append(
            f"language.default = {in_file(language)}: it may be {', '.join(map(in_file, spoken))}; "
            f"the default {in_file(LanguageSettings().default)} is used"
        )
        settings = msgspec.structs.replace(settings, language=LanguageSettings())
    wired = {name: getattr(settings, name) for name in _WIRED}
    wired, contradictions = panel_settings.check(wired)
    return msgspec.structs.replace(settings, **wired), problems + contradictions


def _refuse_long_keys(text: str) -> None:
    """Refuse a key of so many parts that reading it would hold up the kiosk for minutes.

    Raises:
        ValueError: there is one.
    """
    for number, line in enumerate(text.splitlines(), 1):
        if line.count(".") > MOST_DOTS and not line.lstrip().startswith("#"):
            raise ValueError(f"more than {MOST_DOTS} dots in line {number}")


def _section(name: str, kind: Any, table: dict[str, Any], problems: list[str]) -> Any:
    fields = {field.name: field for field in msgspec.structs.fields(kind)}
    values = {}
    for key, value in table.items():
        field = fields.get(key)
        secret = _SECRET.get(f"{name}.{key}")
        if secret is not None and (field is None or not _converts(value, field.type)):
            problems.append(f"{name}.{key}: {secret}. Until then the service menu changes nothing")
            continue
        if field is None:
            problems.append(
                f"{name}.{key} is not a setting{_meant(key, list(fields))}; it is ignored"
            )
            continue
        if isinstance(value, float) and not math.isfinite(value):
            value = str(value)  # TOML knows nan and inf, which no setting is  # noqa: PLW2901
        try:
            values[key] = msgspec.convert(value, field.type)
        except msgspec.ValidationError:
            problems.append(
                f"{name}.{key} = {in_file(value)}: it may be {_may_be(field.type)}; "
                + (
                    "it is left out"
                    if field.default is None
                    else f"the default {in_file(field.default)} is used"
                )
            )
    return kind(**values)


def _sound_times(times: ScheduleSettings, problems: list[str]) -> ScheduleSettings:
    """The times without those that are none, each of which is named."""
    sound = {}
    for key in times.__struct_fields__:
        lines = getattr(times, key)
        wrong = dict(schedule.read(lines)[1])
        problems += [
            f"schedule.{key}: {line!r}: {why}; it is left out" for line, why in wrong.items()
        ]
        sound[key] = tuple(line for line in lines if line not in wrong)
    return ScheduleSettings(**sound)


def _converts(value: Any, kind: Any) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


def _belongs(key: str, known: dict[str, Any]) -> str:
    """The sections that have a setting of that name, as advice."""
    homes = [
        f"[{name}]"
        for name, kind in known.items()
        if key in {field.name for field in msgspec.structs.fields(kind)}
    ]
    return f": write it below {' or '.join(homes)}" if homes else ""


def _meant(name: str, choices: list[str]) -> str:
    close = difflib.get_close_matches(name, choices, n=1)
    return f" (did you mean {close[0]}?)" if close else f" (there are: {', '.join(choices)})"


def _may_be(kind: Any) -> str:  # noqa: PLR0911 - one for each kind
    """What a setting of a kind may be, for somebody who writes TOML and no Python."""
    if get_origin(kind) in {Union, UnionType}:
        # TOML has no null.
        return " or ".join(_may_be(one) for one in get_args(kind) if one is not type(None))
    if get_origin(kind) is Literal:
        return ", ".join(map(in_file, get_args(kind)))
    match inspect.type_info(kind):
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType(ge=None):
            return "a GPIO number, 2 to 27, without quotes"
        case inspect.IntType(ge=least, le=most):
            return f"a whole number from {least} to {most}"
        case inspect.FloatType(ge=least, le=most):
            return f"a number from {least:g} to {most:g}"
        case inspect.VarTupleType():
            return 'a list of texts, like ["mon-fri 22:00-06:30", "sat,sun 20:00-08:00"]'
        case _:
            return "a text in quotes, of letters, digits and _.:-"


def in_file(value: Any) -> str:
    """A value as it would stand in the file; "unset" for one that would not."""
    if value is None:
        return "unset"
    if isinstance(value, bool):
        return str(value).lower()
    return repr(list(value) if isinstance(value, tuple) else value)
