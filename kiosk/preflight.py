"""``python -m kiosk --check``: is this machine ready, and if not, what is to be done?

Every probe looks at one thing and answers with a :class:`Finding`; none opens a window, takes a pin
or changes anything but a file of no length that is gone at once.

Invariant: nothing raises; what cannot be found out is a finding too.
"""

from __future__ import annotations

import grp
import importlib.util
import json
import os
import pwd
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from engine.pool import Pool, PoolError
from kiosk import renderer as graphics
from kiosk.display import Driver, NoDisplayError, choose_driver
from kiosk.inputs import touchscreens
from kiosk.overrides import FILE_NAME as OVERRIDES
from kiosk.panel_controls import wired
from kiosk.places import NAME, command
from kiosk.settings import Settings
from kiosk.sound import has_sound_card
from kiosk.statefile import FILE_NAME, UnusableError, examine, is_passing

#: Free bytes in the state folder: below the first a warning, below the second a problem.
LITTLE_SPACE: Final = 100_000_000
NO_SPACE: Final = 5_000_000

#: Groups of the user and what each is for.
GROUPS: Final[Mapping[str, str]] = {
    "video": "the screen",
    "render": "the graphics chip",
    "input": "the touch screen",
    "gpio": "buttons and lamps",
    "audio": "sound",
}


class Level(StrEnum):
    """How bad it is."""

    OK = "ok"
    WARNING = "warning"  #: the kiosk plays, with less than it could
    PROBLEM = "problem"  #: to be put right


@dataclass(frozen=True)
class Finding:
    """What one probe has found.

    Attributes:
        subject: what was looked at, in a word.
        level: how bad it is.
        text: what is there, in one line.
        remedy: what to do, or empty.
    """

    subject: str
    level: Level
    text: str
    remedy: str = ""


@dataclass(frozen=True)
class Machine:
    """What is looked at; a test gives another one.

    Attributes:
        root: the folder that holds dev, proc and sys.
        environ: the environment.
        user: the number of the user.
        groups: the names of the groups that the user is in.
        existing: the names of all groups that there are.
        renderer: asks OpenGL what draws; None where that cannot be found out.
        access: whether a file may be read and written; like :func:`os.access`.
    """

    root: Path
    environ: Mapping[str, str]
    user: int
    groups: frozenset[str]
    existing: frozenset[str]
    renderer: Callable[[], str | None] = graphics.renderer
    access: Callable[[Path, int], bool] = os.access

    @classmethod
    def this(cls) -> Machine:
        """The one that this runs on."""
        names = {entry.gr_gid: entry.gr_name for entry in grp.getgrall()}
        ours = {names[number] for number in (*os.getgroups(), os.getegid()) if number in names}
        return cls(Path("/"), os.environ, os.geteuid(), frozenset(ours), frozenset(names.values()))

    def usable(self, path: Path) -> bool:
        """Whether this user may read and write a file."""
        return self.access(path, os.R_OK | os.W_OK)

    @property
    def has_desktop(self) -> bool:
        """Whether a desktop owns screen and touches, and hands them on to whoever is logged in."""
        try:
            return choose_driver(self.environ, cards=()) is Driver.X11
        except NoDisplayError:
            return False

    @property
    def user_name(self) -> str:
        """The name of the user."""
        try:
            return pwd.getpwuid(self.user).pw_name
        except KeyError:
            return str(self.user)

    def joining(self, *groups: str) -> str:
        """What to do to be in groups."""
        return f"sudo usermod -aG {','.join(groups)} {self.user_name}, then log in or start again"


def check(
    machine: Machine,
    settings: tuple[Settings, Sequence[str], Path | None],
    state: Path,
    *,
    find_chip: Callable[[], str],
    offscreen: bool = False,
    pool: Path | None = None,
) -> list[Finding]:
    """Look at everything.

    Args:
        machine: where.
        settings: the operator's settings, what is wrong with their file, and which file that is.
        state: the state folder.
        find_chip: names the GPIO chip of the header, or raises an exception that says why not.
        offscreen: whether a window that nobody sees will do.
        pool: the pool file; None is the shipped one.
    """
    chosen, problems, path = settings
    probes: dict[str, Callable[[], Finding]] = {
        "user": lambda: of_user(machine, chosen),
        "display": lambda: of_display(machine, offscreen=offscreen),
        "graphics": lambda: of_graphics(machine),
        "touch": lambda: of_touch(machine),
        "pins": lambda: of_pins(chosen, find_chip),
        "light": lambda: of_backlight(machine, chosen),
        "sound": lambda: of_sound(machine, chosen),
        "pool": lambda: of_pool(pool),
        "storage": lambda: of_storage(state, machine),
    }
    return [
        *of_settings(problems, path),
        *of_overrides(state),
        *(_safely(*probe) for probe in probes.items()),
    ]


def _safely(subject: str, probe: Callable[[], Finding]) -> Finding:
    try:
        return probe()
    except Exception as error:
        # A folder that may not even be looked into, for instance.
        return Finding(subject, Level.PROBLEM, f"cannot be found out: {error}")


def of_settings(problems: Sequence[str], path: Path | None) -> Iterable[Finding]:
    """Each mistake in the operator's file."""
    if path is None:
        yield Finding("settings", Level.OK, "there is no file, all defaults count")
    elif not problems:
        yield Finding("settings", Level.OK, f"{path}: read, without a mistake")
    remedy = "put the file right"
    if path is not None and _is_closed(path):
        remedy = (
            "whoever runs the kiosk must be able to read it; this asks as the user of the service: "
            f"sudo -u {NAME} {command()} --check"
        )
    for problem in problems:
        yield Finding("settings", Level.PROBLEM, problem, remedy)


def _is_closed(path: Path) -> bool:
    """Whether a file is there, or may be, and whoever asks may not read it."""
    try:
        path.stat()
    except PermissionError:
        return True
    except OSError:
        return False
    return not os.access(path, os.R_OK)


def of_overrides(state: Path) -> Iterable[Finding]:
    """What the service menu has changed; nothing where it has changed nothing."""
    path = state / OVERRIDES
    try:
        kept = json.loads(path.read_bytes())
    except FileNotFoundError:
        return
    except (OSError, ValueError, RecursionError) as error:
        yield Finding(
            "settings",
            Level.WARNING,
            f"{path}: what the service menu has changed cannot be read ({error})",
            "the next start sets a damaged file aside; what may not be read is asked for by sudo",
        )
        return
    if isinstance(kept, dict) and kept:
        said = ", ".join(f"{key} = {json.dumps(value)}" for key, value in kept.items())
        yield Finding("settings", Level.OK, f"the service menu has the last word on {said}")


def of_user(machine: Machine, settings: Settings) -> Finding:
    """The groups that open the devices."""
    if machine.user == 0:
        return Finding(
            "user",
            Level.WARNING,
            "root may do anything, so this says little about the user that plays",
            "ask as that user: sudo -u pyramid-kiosk pyramid-kiosk --check",
        )
    needed = set(GROUPS) & machine.existing
    if machine.has_desktop:
        needed &= {"gpio"}
    if not _pins_of(settings):
        needed.discard("gpio")
    missing = [name for name in GROUPS if name in needed - machine.groups]
    if missing:
        what = ", ".join(f"{name} ({GROUPS[name]})" for name in missing)
        return Finding(
            "user",
            Level.WARNING,
            f"{machine.user_name} is not in the groups {what}",
            machine.joining(*missing),
        )
    return Finding("user", Level.OK, f"{machine.user_name} is in all groups that it needs")


def of_display(machine: Machine, *, offscreen: bool = False) -> Finding:
    """How a screen would be reached."""
    cards = sorted((machine.root / "dev/dri").glob("card*"))
    try:
        driver = choose_driver(
            machine.environ,
            cards=cards,
            connectors=machine.root / "sys/class/drm",
            offscreen=offscreen,
        )
    except NoDisplayError as error:
        return Finding("display", Level.PROBLEM, *_parted(str(error)))
    return Finding("display", Level.OK, f"would be reached by {driver.value}")


def of_graphics(machine: Machine) -> Finding:
    """Whether a chip draws, or the processor must."""
    on_pi = graphics.is_raspberry_pi(machine.root / "proc/device-tree/model")
    nodes = sorted((machine.root / "dev/dri").glob("renderD*"))
    closed = [node for node in nodes if not machine.usable(node)]
    bad = Level.PROBLEM if on_pi else Level.WARNING
    if nodes and len(closed) == len(nodes):
        return Finding(
            "graphics",
            bad,
            f"{closed[0]} may not be used: the processor would draw, slowly",
            machine.joining("render"),
        )
    name = machine.renderer()
    if name is not None and not graphics.is_software(name):
        return Finding("graphics", Level.OK, name)
    if not nodes or name is not None:
        remedy = "cards may stutter; a machine with a graphics chip draws them smoothly"
        if on_pi:
            remedy = "put dtoverlay=vc4-kms-v3d into /boot/firmware/config.txt and start again"
        text = f"{name or 'no graphics chip'}: the processor would draw, slowly"
        return Finding("graphics", bad, text, remedy)
    return Finding(
        "graphics",
        Level.WARNING,
        f"{nodes[0]} can be used, but what would draw cannot be found out",
        "install libegl1",
    )


def of_touch(machine: Machine) -> Finding:
    """The touch screens that the kernel knows."""
    found: list[str] = []
    closed: list[str] = []
    for folder in touchscreens(machine.root / "sys/class/input"):
        name = _text(folder / "device/name") or folder.name
        usable = machine.has_desktop or machine.usable(machine.root / "dev/input" / folder.name)
        (found if usable else closed).append(f"{name} ({folder.name})")
    if found:
        return Finding("touch", Level.OK, ", ".join(found))
    if closed:
        return Finding(
            "touch",
            Level.PROBLEM,
            f"{', '.join(closed)} may not be used",
            machine.joining("input"),
        )
    return Finding(
        "touch",
        Level.WARNING,
        "there is no touch screen: only a mouse, a keyboard or buttons can play",
        "look whether its USB cable or ribbon is plugged in",
    )


def of_pins(settings: Settings, find_chip: Callable[[], str]) -> Finding:
    """The chip that buttons and lamps are on, if there are any."""
    names = _pins_of(settings)
    if not names:
        return Finding("pins", Level.OK, "no buttons or lamps are set")
    missing = [name for name in ("gpiozero", "lgpio") if importlib.util.find_spec(name) is None]
    if missing:
        return Finding(
            "pins",
            Level.PROBLEM,
            f"not installed, so no button works: {', '.join(missing)}",
            "install the part hardware: pip install 'pyramid-kiosk[hardware]'",
        )
    try:
        chip = find_chip()
    except Exception as error:
        return Finding(
            "pins",
            Level.PROBLEM,
            str(error),
            "buttons and lamps need a Raspberry Pi's header; docs/wiring.md tells more",
        )
    return Finding("pins", Level.OK, f"{chip}, for {', '.join(names)}")


def _pins_of(settings: Settings) -> list[str]:
    plain = wired(settings.buttons, settings.lamps, settings.presence)
    return [
        *plain["buttons"],
        *plain["encoders"],
        *(f"lamp {name}" for name in plain["lamps"]),
        *(["presence"] if "presence" in plain else []),
    ]


def of_backlight(machine: Machine, settings: Settings) -> Finding:
    """The light behind the screen."""
    folder = machine.root / "sys/class/backlight"
    wanted = settings.backlight.device
    there = sorted(entry.name for entry in folder.glob("*"))
    if wanted == "none":
        return Finding("light", Level.OK, "is left alone")
    if wanted == "auto" and not there:
        return Finding("light", Level.OK, "the screen has none that a program could set")
    name = there[0] if wanted == "auto" else wanted
    if name not in there:
        return Finding(
            "light",
            Level.PROBLEM,
            f"there is no backlight {name} (there are: {', '.join(there) or 'none'})",
            "put backlight.device right in the settings file",
        )
    if not machine.usable(folder / name / "brightness"):
        return Finding(
            "light",
            Level.WARNING,
            f"{folder / name / 'brightness'} may not be written: it stays as bright as it is",
            "let the group video write it, by a rule for udev; docs/wiring.md tells how",
        )
    return Finding("light", Level.OK, name)


def of_sound(machine: Machine, settings: Settings) -> Finding:
    """Whether anything can be heard."""
    if settings.sound.volume == 0:
        return Finding("sound", Level.OK, "is turned off in the settings")
    if has_sound_card(machine.environ, machine.root / "proc/asound/cards"):
        return Finding("sound", Level.OK, "there is a sound card")
    return Finding(
        "sound",
        Level.WARNING,
        "there is no sound card: the kiosk is silent",
        "plug one in, or put volume = 0 into the section [sound]",
    )


def of_pool(path: Path | None = None) -> Finding:
    """Whether the pool of deals is what was shipped."""
    try:
        with Pool.open(path) as pool:
            deals = sum(pool.count(preset) for preset in pool.presets)
            return Finding("pool", Level.OK, f"{deals:,} deals, digest {pool.digest[:12]}")
    except (PoolError, ValueError) as error:
        return Finding(
            "pool",
            Level.PROBLEM,
            f"{error}; deals are solved on the spot, and have no grades",
            "install the program again",
        )


def of_storage(folder: Path, machine: Machine) -> Finding:
    """Whether games can be kept."""
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    try:
        with tempfile.TemporaryFile(dir=existing):
            free = shutil.disk_usage(existing).free
    except OSError as error:
        return Finding(
            "storage",
            Level.PROBLEM,
            f"{existing} cannot be written ({error.strerror}): no game is kept",
            "let the user write there, or name another folder by --state",
        )
    if trouble := _trouble(folder / FILE_NAME, machine):
        what, remedy = trouble
        return Finding("storage", Level.PROBLEM, f"{folder / FILE_NAME}: {what}", remedy)
    text = f"{folder} can be written, {free / 1e6:,.0f} MB are free"
    if free < LITTLE_SPACE:
        level = Level.PROBLEM if free < NO_SPACE else Level.WARNING
        return Finding("storage", level, text, "make room on the disk")
    return Finding("storage", Level.OK, text)


def _trouble(path: Path, machine: Machine) -> tuple[str, str] | None:
    """What is wrong with a state file and what to do; nothing is wrong with one that is not there.

    The next start sets aside what it cannot use, but leaves alone what it may not or cannot read.
    """
    try:
        if path.is_file() and not machine.usable(path):
            return (
                "may not be read and written by this user: no game is kept",
                f"sudo chown {machine.user_name} {path}*",
            )
        examine(path)
    except (UnusableError, sqlite3.Error, OSError) as error:
        if is_passing(error):
            why = error.strerror if isinstance(error, OSError) else error
            return (
                f"cannot be read ({why}): no game is kept",
                "look at the disk, and at whose files these are; they are left as they are",
            )
        what = str(error) if isinstance(error, UnusableError) else f"cannot be read ({error})"
        return what, "the next start sets it aside and begins a new one; keep a copy if it matters"
    return None


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace").strip()
    except OSError:
        return ""


def _parted(message: str) -> tuple[str, str]:
    """What is wrong and what to do, of a message that says both."""
    what, _, remedy = message.partition(": ")
    return what, remedy


# -- saying it ------------------------------------------------------------------------------------


def ready(findings: Iterable[Finding]) -> bool:
    """Whether nothing needs to be put right."""
    return all(finding.level is not Level.PROBLEM for finding in findings)


def as_text(findings: Sequence[Finding]) -> str:
    """A line for each finding, another one for what to do, and the sum."""
    lines = []
    for finding in findings:
        lines.append(f"{finding.level.value:8} {finding.subject:9} {finding.text}")
        if finding.remedy:
            lines.append(f"{'':18} -> {finding.remedy}")
    counts = [
        f"{count} {level.value}{'' if count == 1 else 's'}"
        for level in (Level.PROBLEM, Level.WARNING)
        if (count := sum(finding.level is level for finding in findings))
    ]
    return "\n".join([*lines, ", ".join(counts) or "all is well"]) + "\n"


def as_json(findings: Sequence[Finding]) -> str:
    """An object with ``ready`` and the ``findings``."""
    document = {"ready": ready(findings), "findings": [asdict(finding) for finding in findings]}
    return json.dumps(document, indent=2) + "\n"
