"""What was changed in the service menu takes the place of the file, and only that."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import msgspec
import pytest

from kiosk import overrides
from kiosk.overrides import STEPS, Overrides, step, value_of
from kiosk.settings import Settings, parse

FILE, _ = parse('[game]\npreset = "classic"\n[idle]\nattract_after = 75\n[sound]\nvolume = 0.35\n')


def test_a_change_counts_stays_and_can_be_taken_back(tmp_path: Path) -> None:
    changed = Overrides(tmp_path)
    changed.change(FILE, "game.preset", "relaxed")
    changed.change(FILE, "sound.volume", 0.8)
    for read in (changed, Overrides(tmp_path)):
        settings = read.applied(FILE)
        assert (settings.game.preset, settings.sound.volume) == ("relaxed", 0.8)
        assert settings.idle == FILE.idle
        assert set(read.values) == {"game.preset", "sound.volume"}
    changed.clear()
    assert Overrides(tmp_path).applied(FILE) == FILE


def test_the_value_of_the_file_ends_the_overriding(tmp_path: Path) -> None:
    changed = Overrides(tmp_path)
    changed.change(FILE, "game.preset", "relaxed")
    changed.change(FILE, "game.preset", "classic")
    assert changed.values == {}


@pytest.mark.parametrize("key", STEPS)
def test_every_step_is_a_value_that_the_file_could_have(key: str, tmp_path: Path) -> None:
    own, _ = parse('[game]\npreset = "custom"\n')
    changed = Overrides(tmp_path)
    for value in STEPS[key]:
        changed.change(own, key, value)
        assert value_of(changed.applied(own), key) == value
        section, name = key.split(".")
        lowest = "dim = 1\n" if section == "backlight" else ""
        text = f"[{section}]\n{name} = {json.dumps(value)}\n{lowest}[rules]\npasses = 2\n"
        read, problems = parse(text)
        assert problems == []
        assert value_of(read, key) == value


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("game.preset", "golf"),
        ("game.preset", "custom"),
        ("game.preset", 3),
        ("idle.countdown", 4.0),
        ("sound.volume", 1.1),
        ("sound.volume", float("nan")),
        ("service.pin_hash", "x"),
        ("nonsense", 1.0),
    ],
)
def test_nothing_else_can_be_changed(tmp_path: Path, key: str, value: str | float) -> None:
    changed = Overrides(tmp_path)
    with pytest.raises(ValueError, match=key):
        changed.change(FILE, key, value)
    assert list(tmp_path.iterdir()) == []


def test_steps_go_round_in_words_and_end_in_numbers() -> None:
    assert step(FILE, "game.preset", up=True) == "collection"
    assert step(FILE, "game.preset", up=False) == "relaxed"
    last, _ = parse('[game]\npreset = "overlap"\ngrade = "hard"\n')
    assert step(last, "game.preset", up=True) == "three-pass", "no custom rules, none offered"
    own, _ = parse('[game]\npreset = "overlap"\n[rules]\npasses = 2\n')
    assert step(own, "game.preset", up=True) == "custom"
    assert step(last, "game.grade", up=True) == "any"
    # A number that the operator put between two steps.
    assert step(FILE, "idle.attract_after", up=True) == 90
    assert step(FILE, "idle.attract_after", up=False) == 60
    assert step(FILE, "sound.volume", up=True) == 0.4
    assert step(Settings(), "backlight.full", up=True) is None
    silent, _ = parse("[sound]\nvolume = 0\n")
    assert step(silent, "sound.volume", up=False) is None


def test_dimmed_is_never_brighter_than_bright(tmp_path: Path) -> None:
    changed = Overrides(tmp_path)
    changed.change(FILE, "backlight.full", 10.0)
    light = changed.applied(FILE).backlight
    assert (light.full, light.dim) == (10.0, 10.0)


@pytest.mark.parametrize("text", ["", "{", "[1]", "null junk", "\x00\xff", "[" * 100_000])
def test_a_bad_file_is_set_aside(
    tmp_path: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / overrides.FILE_NAME
    path.write_bytes(text.encode("latin-1"))
    assert Overrides(tmp_path).values == {}
    assert (tmp_path / "overrides.json.bad-1").read_bytes() == text.encode("latin-1")
    assert not path.exists()
    assert "overrides.json.bad-1" in caplog.text


def test_of_a_partly_bad_file_the_good_part_counts(tmp_path: Path) -> None:
    path = tmp_path / overrides.FILE_NAME
    path.write_text('{"sound.volume": 0.2, "game.preset": "golf", "x": 1}')
    assert Overrides(tmp_path).values == {"sound.volume": 0.2}
    assert "golf" in (tmp_path / "overrides.json.bad-1").read_text()
    assert json.loads(path.read_text()) == {"sound.volume": 0.2}


def test_half_a_character_is_no_value(tmp_path: Path) -> None:
    path = tmp_path / overrides.FILE_NAME
    path.write_text('{"game.preset": "re\\ud800laxed", "sound.volume": 0.2, "\\udfff": 1}')
    assert Overrides(tmp_path).values == {"sound.volume": 0.2}
    assert (tmp_path / "overrides.json.bad-1").exists()


def test_custom_rules_that_are_gone_from_the_file_are_passed_over(tmp_path: Path) -> None:
    own = msgspec.structs.replace(Settings(), rules=parse("[rules]\npasses = 2\n")[0].rules)
    changed = Overrides(tmp_path)
    changed.change(own, "game.preset", "custom")
    read = Overrides(tmp_path)
    assert read.applied(own).game.preset == "custom"
    assert read.applied(FILE).game.preset == "classic"


def test_a_folder_that_cannot_be_written_costs_nothing_but_the_keeping(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    changed = Overrides(blocked)
    changed.change(FILE, "sound.volume", 1.0)
    assert changed.applied(FILE).sound.volume == 1.0
    assert caplog.records[-1].levelno == logging.ERROR
