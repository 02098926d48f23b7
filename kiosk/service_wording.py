"""What the service menu says, in sentences.

What the log says is English and stays so: it is for reading out to whoever helps.

Invariant: no Kivy and no state: values and :class:`~kiosk.texts.Texts` go in, texts come out.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Final

from kiosk import power, wording
from kiosk.errorlog import Logged
from kiosk.overrides import Value
from kiosk.service import Facts, PoolFacts, Service
from kiosk.service_commands import Report, Task
from kiosk.statistics import ABANDONED, LOST, WON, Figures
from kiosk.texts import Texts

_LONG_PATH: Final = re.compile(r"(?:/[^\s/:;]+){4,}")


def span(texts: Texts, seconds: float) -> str:
    """A long time, in its two largest units."""
    minutes = int(seconds) // 60
    days, hours = minutes // 1440, minutes // 60 % 24
    if days:
        return texts.gettext("{days} d {hours} h", days=days, hours=hours)
    if hours:
        return texts.gettext("{hours} h {minutes} min", hours=hours, minutes=minutes % 60)
    return texts.gettext("{minutes} min", minutes=minutes)


def short(texts: Texts, seconds: float) -> str:
    """A setting in seconds, as people say it."""
    whole = round(seconds)
    if whole >= 60 and whole % 60 == 0:
        return texts.gettext("{minutes} min", minutes=whole // 60)
    plain = f"{seconds:g}"
    return texts.gettext("{seconds} s", seconds=plain)


def setting_name(texts: Texts, key: str) -> str:
    """What a setting is called."""
    return {
        "game.preset": texts.gettext("Rules"),
        "game.grade": texts.gettext("Difficulty"),
        "idle.attract_after": texts.gettext("Idle after"),
        "idle.countdown": texts.gettext("Countdown"),
        "idle.keep_game": texts.gettext("Keep a game"),
        "sound.volume": texts.gettext("Volume"),
        "backlight.full": texts.gettext("Brightness"),
    }[key]


def setting_value(  # noqa: PLR0911 - each kind of setting has its own words
    texts: Texts, key: str, value: Value | None
) -> str:
    """What a setting stands at."""
    if value is None:
        return texts.gettext("not here")
    if key == "game.preset":
        return wording.preset_words(texts, str(value)).name
    if isinstance(value, str):
        return wording.grade_name(texts, value) or texts.gettext("Any")
    if key == "sound.volume":
        return texts.gettext("{percent} %", percent=round(100 * value))
    if key == "backlight.full":
        return texts.gettext("{percent} %", percent=round(value))
    if value == 0:
        return texts.gettext("never")
    return short(texts, value)


def pool_state(texts: Texts, pool: PoolFacts) -> str:
    """Whether the pool is what was shipped."""
    if pool.sound is None and not pool.why:
        return texts.gettext("being checked")
    if pool.sound and not pool.why:
        return texts.gettext("checked, sound")
    return texts.gettext("not usable")


def fact_rows(texts: Texts, facts: Facts) -> list[tuple[str, str]]:
    """What is going on, each with its name."""
    rows = [
        (texts.gettext("Version"), facts.version),
        (texts.gettext("System"), facts.system),
        (texts.gettext("Running for"), span(texts, facts.running)),
        (texts.gettext("Machine on for"), span(texts, facts.machine)),
        (texts.gettext("Finished games"), str(facts.games)),
        (texts.gettext("Kept in"), facts.folder),
        (texts.gettext("Pool of deals"), pool_state(texts, facts.pool)),
    ]
    if facts.unwritten:
        rows.append((texts.gettext("Nothing is kept now"), short_paths(facts.unwritten)))
    if facts.pool.why:
        rows.append((texts.gettext("Deals are solved on the spot"), short_paths(facts.pool.why)))
    return rows


def short_paths(text: str) -> str:
    """Long paths as no more than the file's name: a line cannot break in them."""
    return _LONG_PATH.sub(lambda found: "…/" + found[0].rpartition("/")[2], text)


def played(texts: Texts, figures: Figures) -> str:
    """How the finished games ended."""
    ended = figures.outcomes
    return texts.gettext(
        "Won: {won} · Lost: {lost} · Left early: {left} · Hints: {hints}",
        won=ended[WON],
        lost=ended[LOST],
        left=ended[ABANDONED],
        hints=figures.hints,
    )


def runs_for(texts: Texts, facts: Facts) -> str:
    """Since when the kiosk and the machine have been on."""
    return texts.gettext(
        "The kiosk has been running for {kiosk}, the machine for {machine}.",
        # A figure stays with its unit where the line breaks.
        kiosk=span(texts, facts.running).replace(" ", "\N{NO-BREAK SPACE}"),
        machine=span(texts, facts.machine).replace(" ", "\N{NO-BREAK SPACE}"),
    )


def deal_rows(texts: Texts, deals: Mapping[str, int]) -> list[tuple[str, str]]:
    """The pool's deals, by preset."""
    return [(wording.preset_words(texts, name).name, str(count)) for name, count in deals.items()]


def logged(entry: Logged) -> str:
    """When an entry came, and how often."""
    moment = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.at))
    return moment if entry.times == 1 else f"{moment}  \N{MULTIPLICATION SIGN}{entry.times}"


def pin_line(texts: Texts, service: Service) -> str:
    """What the page PIN says."""
    if service.waits > 0:
        wait = wording.clock(service.waits)
        return texts.gettext("Too many wrong PINs. Wait {time}.", time=wait)
    if service.wrong:
        return texts.gettext("That is not the PIN.")
    return texts.gettext("Enter the PIN.")


def task_name(texts: Texts, task: Task) -> str:
    """What a button for a task says."""
    return {
        Task.EXPORT: texts.gettext("Export statistics"),
        Task.RESET: texts.gettext("Reset statistics"),
        Task.RESTART: texts.gettext("Restart the kiosk"),
        Task.REBOOT: texts.gettext("Restart the machine"),
        Task.POWER_OFF: texts.gettext("Power off"),
    }[task]


def question(texts: Texts, task: Task) -> tuple[str, str]:
    """What is asked before a task, and what it will do."""
    kept = texts.gettext("The game under way is kept.")
    return {
        Task.RESET: (
            texts.gettext("Reset the statistics?"),
            texts.gettext("All figures begin at zero. A copy of the old ones is set aside."),
        ),
        Task.RESTART: (texts.gettext("Restart the kiosk?"), kept),
        Task.REBOOT: (texts.gettext("Restart the machine?"), kept),
        Task.POWER_OFF: (
            texts.gettext("Power off?"),
            texts.gettext("It goes on again only at its switch or plug."),
        ),
    }[task]


def progress(texts: Texts, service: Service) -> str:
    """How a task goes or went; empty when there is nothing to say."""
    if service.busy is not None:
        return texts.gettext("One moment…")
    return "" if service.report is None else _result(texts, service.report)


def _result(texts: Texts, report: Report) -> str:
    if not report.done:
        # What a system call says is not translated; what we say ourselves is.
        why = {
            power.NOT_A_SERVICE: texts.gettext("the kiosk does not run as a service"),
            power.NOT_HEEDED: texts.gettext("pyramid-kiosk-power.path is not installed"),
        }.get(report.why, report.why)
        failed = {
            Task.EXPORT: texts.gettext("Nothing was exported: {why}", why=why),
            Task.RESET: texts.gettext("Nothing was reset: {why}", why=why),
        }
        cannot = texts.gettext("That cannot be done here: {why}", why=why)
        return failed.get(report.task, cannot)
    if report.task is Task.EXPORT:
        if report.on_stick:
            return texts.gettext("Saved on the USB stick: {place}", place=report.place)
        return texts.gettext("No USB stick can be written. Saved in {place}", place=report.place)
    if report.task is Task.RESET:
        return texts.gettext("Reset. The old figures are in {place}", place=report.place)
    return texts.gettext("The machine is going down.")


def input_name(texts: Texts, name: str) -> str:
    """What a button, wheel or sensor is called."""
    return {
        "undo": texts.gettext("Undo"),
        "new_deal": texts.gettext("New deal"),
        "hint": texts.gettext("Hint"),
        "redo": texts.gettext("Redo"),
        "draw": texts.gettext("Draw"),
        "up": texts.gettext("Up"),
        "down": texts.gettext("Down"),
        "left": texts.gettext("Left"),
        "right": texts.gettext("Right"),
        "select": texts.gettext("Select"),
        "wheel": texts.gettext("Wheel"),
        "presence": texts.gettext("Presence"),
    }.get(name, name)


def input_state(texts: Texts, state: bool | int) -> str:
    """How an input stands."""
    if isinstance(state, bool):
        return texts.gettext("pressed") if state else "\N{EN DASH}"
    return f"{state:+d}" if state else "0"


def lamp_state(texts: Texts, state: str) -> str:
    """What a lamp shows."""
    return {
        "off": texts.gettext("off"),
        "on": texts.gettext("on"),
        "breathing": texts.gettext("breathing"),
    }[state]
