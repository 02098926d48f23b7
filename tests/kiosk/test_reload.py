"""The operator's file read again: what counts at once, what later, and what a mistake does."""

from __future__ import annotations

import logging
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from kiosk import commandline, places, wiring
from kiosk.errorlog import ErrorLog
from kiosk.overrides import Overrides
from kiosk.reload import AT_START, Reload, changed, possible
from kiosk.service_desk import ServiceDesk
from kiosk.settings import Settings, parse
from tests.kiosk.program import started


def read(text: str) -> Settings:
    settings, problems = parse(text)
    assert problems == []
    return settings


class Reloaded:
    """A file and what came of reading it again."""

    def __init__(self, folder: Path, text: str = "") -> None:
        self.path = folder / "settings.toml"
        self.path.write_text(text)
        self.used: list[Settings] = []
        self.reload = Reload(self.path, read(text), self.used.append)

    def again(self, text: str) -> bool:
        self.path.write_text(text)
        return self.reload.again()


def said(caplog: pytest.LogCaptureFixture) -> str:
    text = "\n".join(record.getMessage() for record in caplog.records)
    caplog.clear()
    return text


@pytest.fixture(autouse=True)
def log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)


def test_what_can_change_at_once_is_used_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kiosk = Reloaded(tmp_path, "[sound]\nvolume = 0.5\n")
    text = '[sound]\nvolume = 0.2\n[game]\npreset = "classic"\n[idle]\ncountdown = 30\n'
    assert kiosk.again(text)
    assert kiosk.used == [read(text)]
    lines = said(caplog).splitlines()
    assert "sound.volume is now 0.2" in lines
    assert "game.preset is now 'classic'" in lines
    assert "idle.countdown is now 30.0" in lines
    assert kiosk.again('[schedule]\nblack = ["22:00-06:00"]\n[display]\noled = true\n')
    lines = said(caplog).splitlines()
    assert "schedule.black is now ['22:00-06:00']" in lines
    assert "display.oled is now true" in lines
    assert kiosk.again("[display]\nwidth_mm = 155\n")
    assert "schedule.black is now []" in said(caplog).splitlines()
    assert kiosk.again("")
    assert "display.width_mm is now unset" in said(caplog).splitlines()


def test_what_is_connected_is_named_and_waits(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kiosk = Reloaded(tmp_path, "[buttons]\nundo = 17\n")
    text = "[buttons]\nundo = 18\nhint = 22\n[lamps]\nundo = 12\n[sound]\nvolume = 0\n"
    assert kiosk.again(text)
    (used,) = kiosk.used
    assert (used.buttons.undo, used.buttons.hint, used.lamps.undo) == (17, None, None)
    assert used.sound.volume == 0
    late = "counts only after a restart: buttons.undo, buttons.hint, lamps.undo"
    assert late in said(caplog)
    # It stays outstanding until the kiosk has begun anew, and is said each time.
    assert kiosk.again(text)
    assert late in said(caplog)
    assert len(kiosk.used) == 1


def test_a_picture_that_is_to_be_turned_waits_for_the_next_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kiosk = Reloaded(tmp_path)
    assert kiosk.again("[display]\nrotation = 90\nfour_colour = true\n")
    (used,) = kiosk.used
    assert (used.display.rotation, used.display.four_colour) == (0, True)
    assert "counts only after a restart: display.rotation" in said(caplog)


def test_how_the_window_lies_waits_while_how_it_looks_does_not() -> None:
    old = read("[display]\nrotation = 90\n")
    new = read("[display]\nrotation = 180\nfour_colour = true\n")
    counts = possible(old, new)
    assert (counts.display.rotation, counts.display.four_colour) == (90, True)
    assert changed(counts, new) == {"display.rotation": 180}


def test_what_waits_for_a_start_is_the_name_of_something() -> None:
    for name in AT_START:
        section, _, key = name.partition(".")
        assert hasattr(getattr(Settings(), section), key) if key else hasattr(Settings(), section)


def test_rules_that_the_table_does_not_know_wait_too(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kiosk = Reloaded(tmp_path)
    assert kiosk.again('[game]\npreset = "custom"\ngrade = "hard"\n[rules]\npasses = 1\n')
    (used,) = kiosk.used
    assert used.game.preset == "three-pass"
    assert used.game.grade == "hard"
    assert "custom" not in used.playable
    assert "counts only after a restart: game.preset, rules.passes" in said(caplog)


def test_custom_rules_that_are_known_can_be_chosen_at_once() -> None:
    old = read("[rules]\npasses = 1\n")
    new = read('[game]\npreset = "custom"\n[rules]\npasses = 1\n')
    assert possible(old, new) == new


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[sound]\nvolume = 2\n[idle]\ncountdown = 30\n", "sound.volume"),
        ("[sound\n", "not valid TOML"),
        ("[buttons]\nundo = 17\nhint = 17\n", "buttons.undo and buttons.hint"),
    ],
)
def test_a_mistake_changes_nothing_and_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str, words: str
) -> None:
    kiosk = Reloaded(tmp_path, "[sound]\nvolume = 0.3\n")
    assert not kiosk.again(text)
    assert kiosk.used == []
    lines = said(caplog)
    assert words in lines
    assert "the settings are not changed" in lines
    # Put right, it counts.
    assert kiosk.again("[sound]\nvolume = 0.4\n")
    assert kiosk.used[0].sound.volume == 0.4


def test_a_file_that_is_gone_changes_nothing(tmp_path: Path) -> None:
    kiosk = Reloaded(tmp_path, "[sound]\nvolume = 0.3\n")
    kiosk.path.unlink()
    assert not kiosk.reload.again()
    assert kiosk.used == []


def test_the_same_file_is_said_to_be_the_same(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kiosk = Reloaded(tmp_path)
    assert kiosk.again("[sound]\nvolume = 0.5\n")
    assert kiosk.used == []
    assert "nothing has changed" in said(caplog)


def test_the_hash_of_a_pin_does_not_get_into_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept = "scrypt$16384$8$1$" + "A" * 22 + "==$" + "B" * 43 + "="
    kiosk = Reloaded(tmp_path)
    assert kiosk.again(f'[service]\npin_hash = "{kept}"\n')
    assert kiosk.used[0].service.pin_hash == kept
    lines = said(caplog)
    assert "service.pin_hash is now set" in lines
    assert "BBB" not in lines


def test_differences_are_named_by_section_and_key() -> None:
    assert changed(Settings(), read("[display]\nfour_colour = true\n")) == {
        "display.four_colour": True
    }
    assert changed(Settings(), Settings()) == {}


HASH = "scrypt$16384$8$1$" + "A" * 22 + "==$" + "B" * 43 + "="


def keys() -> Iterator[str]:
    """Every setting there is, by names like ``game.preset``."""
    for section in msgspec.structs.fields(Settings):
        for field in msgspec.structs.fields(section.type):
            yield f"{section.name}.{field.name}"


#: For every kind of setting at least two values that it may have.
CANDIDATES = (
    *(True, False, 0.3, 0.4, 7, 8, 90, 180, 300.0, 400.0),
    *("de", "en", "classic", "cards4", "hard", "easy", "off", "always", "up", "down", "high"),
    *("low", "deck", "pyramid", "face_up", "face_down", HASH),
    *(("mon 10:00-11:00",), ("tue 10:00-11:00",)),
)


def another(kind: Any, value: Any) -> Any:
    """A value that a setting of this kind may have, other than ``value``."""
    for candidate in CANDIDATES:
        try:
            if candidate != value and msgspec.convert(candidate, kind, strict=True) == candidate:
                return candidate
        except msgspec.ValidationError:
            continue
    raise AssertionError(f"CANDIDATES has no value for {kind}")


class Running:
    """What a running kiosk does with settings, without its window: all that they reach."""

    def __init__(self, folder: Path) -> None:
        self.reached: dict[str, Any] = {}
        self.inbox: SimpleQueue[Any] = SimpleQueue()
        app: Any = SimpleNamespace(
            inbox=self.inbox,
            set_volume=lambda volume: self.reached.update(volume=volume),
            set_corners=lambda wanted: self.reached.update(corners=wanted),
        )
        light: Any = SimpleNamespace(change=lambda *given: self.reached.update(light=given[:-1]))
        self.service: Any = SimpleNamespace()
        storage: Any = None
        dealer: Any = None
        self.desk = ServiceDesk(
            Settings(),
            Overrides(folder),
            storage=storage,
            dealer=dealer,
            errors=ErrorLog(),
            post=self.inbox.put,
        )
        args = commandline.parse([])
        self.desk.apply = wiring._applier(app, light, self.service, args)

    def after(self, settings: Settings) -> dict[str, Any]:
        """What is set where, once the kiosk uses these settings."""
        self.desk.use(settings)
        options = self.inbox.get_nowait().options
        return {
            **self.reached,
            "options": options,
            "has_pin": self.desk.has_pin,
            "close_after": self.service.close_after,
        }


@pytest.mark.parametrize("key", list(keys()))
def test_every_setting_counts_at_once_or_is_said_to_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    # What stands behind the screen is told apart by what would be opened.
    monkeypatch.setattr(wiring, "open_backlight", lambda spec: spec)
    monkeypatch.setattr(places, "settings_file", lambda given: given)
    old = Settings()
    section, _, name = key.partition(".")
    before = getattr(old, section)
    kind = next(f.type for f in msgspec.structs.fields(before) if f.name == name)
    value = another(kind, getattr(before, name))
    new = msgspec.structs.replace(
        old, **{section: msgspec.structs.replace(before, **{name: value})}
    )
    assert changed(old, new) == {key: value}
    waits = key in AT_START or section in AT_START
    assert (possible(old, new) == old) is waits
    if not waits:
        running = Running(tmp_path)
        first = running.after(old)
        assert running.after(new) != first, f"{key} reaches nothing in the running kiosk"


def test_a_running_kiosk_reads_it_again_at_a_signal(tmp_path: Path) -> None:
    pytest.importorskip("kivy")
    settings = tmp_path / "settings.toml"
    settings.write_text("[sound]\nvolume = 0.5\n")
    options = ("--size", "800x480", "--state", tmp_path / "state", "--settings", settings)
    with started(*options) as process:
        assert process.stderr is not None
        lines = []

        def until(words: str) -> None:
            for line in process.stderr or ():
                lines.append(line)
                if words in line:
                    return
            raise AssertionError(lines)

        until("main loop")
        time.sleep(1)
        settings.write_text("[sound]\nvolume = 0.2\n[buttons]\nundo = 17\n")
        process.send_signal(signal.SIGHUP)
        until("sound.volume is now 0.2")
        until("counts only after a restart: buttons.undo")
        settings.write_text("[sound]\nvolume = 9\n")
        process.send_signal(signal.SIGHUP)
        until("the settings are not changed")
        process.send_signal(signal.SIGTERM)
        lines += process.stderr.readlines()
        assert process.wait(30) == 0
    assert not any("Traceback" in line for line in lines), lines
    assert any("drawn by " in line for line in lines)
