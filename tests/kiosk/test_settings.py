from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.rules import PRESETS, Rules
from kiosk.settings import Settings, load, parse


def test_nothing_given_is_all_defaults() -> None:
    assert parse("") == (Settings(), [])
    assert Settings().game.preset == "three-pass"


def test_what_is_given_counts() -> None:
    settings, problems = parse(
        '[game]\npreset = "classic"\n[idle]\nattract_after = 90\n[display]\nwidth_mm = 155.0\n'
    )
    assert problems == []
    assert settings.game.preset == "classic"
    assert settings.idle.attract_after == 90
    assert settings.display.width_mm == 155.0
    assert settings.idle.countdown == Settings().idle.countdown


def test_every_mistake_is_named_and_the_rest_still_counts() -> None:
    settings, problems = parse(
        '[game]\npreset = "golf"\nauto_play = true\nauto_plai = 1\n'
        "[idle]\nattract_after = -1\ncountdown = nan\n"
        '[langauge]\ndefault = "de"\n'
        "[display]\nleft_handed = 1\n"
    )
    assert settings.game.auto_play is True
    assert settings == Settings(game=settings.game)
    assert len(problems) == 6
    for words in (
        ("game.preset", "golf", "three-pass, cards4", "default"),
        ("game.auto_plai", "did you mean auto_play"),
        ("idle.attract_after", "-1", ">= 0"),
        ("idle.countdown", "nan"),
        ("langauge", "did you mean language"),
        ("display.left_handed", "bool"),
    ):
        assert any(all(word in problem for word in words) for problem in problems), words


@pytest.mark.parametrize("text", ["[game", "= 3", "\x00", 'game = "chess"', "[[game]]\n"])
def test_what_is_no_settings_file_is_said(text: str) -> None:
    settings, problems = parse(text)
    assert settings == Settings()
    assert len(problems) == 1


def test_files_that_cannot_be_read_are_said(tmp_path: Path) -> None:
    bad = tmp_path / "settings.toml"
    for case, words in (
        (lambda: None, "cannot be read"),
        (lambda: bad.write_bytes(b"[game]\n\xff\xfe"), "not UTF-8"),
        (lambda: bad.write_bytes(b"#" * 2_000_000), "too large"),
    ):
        case()
        settings, problems = load(bad)
        assert settings == Settings()
        assert words in problems[0]
        assert str(bad) in problems[0]
    assert "is not a file" in load(tmp_path)[1][0]
    os.mkfifo(tmp_path / "pipe")
    assert "is not a file" in load(tmp_path / "pipe")[1][0]


@given(st.text(max_size=200))
def test_no_text_raises(text: str) -> None:
    settings, _problems = parse(text)
    assert isinstance(settings, Settings)


def test_custom_rules_are_put_together_in_the_file() -> None:
    settings, problems = parse(
        '[game]\npreset = "custom"\n'
        '[rules]\npasses = "unlimited"\ngoal = "deck"\nstock_playable = true\n'
    )
    assert problems == []
    assert settings.playable["custom"] == Rules.parse(
        "passes=unlimited,goal=deck,stock_playable=yes,overlap=no"
    )
    assert list(settings.playable)[:-1] == list(PRESETS)
    assert "custom" not in Settings().playable


@pytest.mark.parametrize("line", ["passes = 0", "passes = 1.5", 'goal = "all"', "overlap = 1"])
def test_wrong_custom_rules_are_named(line: str) -> None:
    settings, problems = parse(f"[rules]\n{line}\n")
    assert settings == Settings()
    assert f"rules.{line.split(maxsplit=1)[0]}" in problems[0]
