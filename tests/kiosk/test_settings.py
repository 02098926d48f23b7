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
        ("game.preset", "golf", "'three-pass', 'cards4'", "default 'three-pass'"),
        ("game.auto_plai", "did you mean auto_play"),
        ("idle.attract_after", "-1", "a number from 0 to 86400", "default 60.0"),
        ("idle.countdown", "nan"),
        ("langauge", "did you mean language"),
        ("display.left_handed", "true or false; the default false"),
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


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            '[language]\ndefault = "xx"\n',
            "language.default = 'xx': it may be 'en', 'de', 'es', 'fr'; the default 'en' is used",
        ),
        (
            '[schedule]\ndim = "22:00-06:00"\n',
            (
                "schedule.dim = '22:00-06:00': it may be a list of texts, like "
                '["mon-fri 22:00-06:30", "sat,sun 20:00-08:00"]; the default [] is used'
            ),
        ),
        (
            "[rules]\npasses = 0\n",
            (
                "rules.passes = 0: it may be a whole number from 1 to 1000 or 'unlimited'; "
                "the default 3 is used"
            ),
        ),
        (
            "[display]\nrotation = 45\nwidth_mm = 155\n",
            "display.rotation = 45: it may be 0, 90, 180, 270; the default 0 is used",
        ),
        (
            "[display]\nwidth_mm = 3\n",
            "display.width_mm = 3: it may be a number from 30 to 3000; it is left out",
        ),
        (
            'preset = "classic"\n[game]\n',
            "preset stands in no section: write it below [game]; it is ignored",
        ),
        (
            "dim = 3\n",
            "dim stands in no section: write it below [schedule] or [backlight]; it is ignored",
        ),
        ("colour = 3\n", "colour stands in no section; it is ignored"),
    ],
)
def test_a_mistake_is_said_in_the_words_of_the_file(text: str, problem: str) -> None:
    assert parse(text)[1] == [problem]


def test_a_section_that_stands_there_twice_is_said() -> None:
    (problem,) = parse("[service]\n[game]\n[service]\n")[1]
    assert "each section only once" in problem
    assert "line 3" in problem


def test_a_mark_before_the_text_is_no_mistake(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_bytes(b'\xef\xbb\xbf[game]\r\npreset = "classic"\r\n')
    settings, problems = load(path)
    assert (settings.game.preset, problems) == ("classic", [])


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


def test_a_key_of_endless_parts_is_refused_and_not_computed() -> None:
    for text in ("a" + ".a" * 400_000 + " = 1", "[a" + " . a" * 200_000 + "]\nb = 1"):
        settings, problems = parse("[game]\nauto_play = true\n" + text)
        assert settings == Settings()
        (problem,) = problems
        assert "dots in line 3" in problem
    # Nobody counts those of a comment.
    settings, problems = parse("#" + "." * 1_000 + "\n[game]\nauto_play = true\n")
    assert settings.game.auto_play
    assert problems == []
