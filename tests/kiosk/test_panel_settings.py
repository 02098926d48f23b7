from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardware.backlight import BacklightSpec
from kiosk.panel_settings import BacklightSettings, ButtonSettings, LampSettings
from kiosk.settings import Settings, parse

DOCS = Path(__file__).resolve().parents[2] / "docs"

CABINET = """
[buttons]
undo = 17
new_deal = 27
wheel_a = 5
wheel_b = 6
pull = "none"
debounce_ms = 50
new_deal_hold = 2
[lamps]
undo = 12
new_deal = 13
pwm = false
[presence]
pin = 4
absent_after = 30
[backlight]
device = "10-0045"
dim = 10
"""


def test_a_whole_cabinet() -> None:
    settings, problems = parse(CABINET)
    assert problems == []
    assert (settings.buttons.undo, settings.buttons.new_deal) == (17, 27)
    assert settings.buttons.new_deal_hold == 2
    assert (settings.lamps.undo, settings.lamps.pwm) == (12, False)
    assert (settings.presence.pin, settings.presence.absent_after) == (4, 30)
    assert (settings.backlight.device, settings.backlight.dim) == ("10-0045", 10)


def test_nothing_is_connected_by_default() -> None:
    settings = Settings()
    for section in (settings.buttons, settings.lamps, settings.presence):
        pins = [f.name for f in msgspec.structs.fields(section) if f.type == (int | None)]
        assert pins
        assert all(getattr(section, pin) is None for pin in pins)


@pytest.mark.parametrize(
    ("text", "names", "left"),
    [
        ("[buttons]\nundo = 17\nhint = 17\n", ("buttons.undo", "buttons.hint"), Settings()),
        ("[buttons]\nundo = 17\n[lamps]\nredo = 17\n", ("buttons.undo", "lamps.redo"), Settings()),
        ("[lamps]\ndraw = 9\n[presence]\npin = 9\n", ("lamps.draw", "presence.pin"), Settings()),
        (
            "[buttons]\nwheel_a = 5\nwheel_b = 6\nup = 6\nundo = 4\n",
            ("buttons.wheel_b", "buttons.up"),
            Settings(buttons=ButtonSettings(undo=4)),
        ),
        (
            "[buttons]\nundo = 4\nhint = 4\n[lamps]\nundo = 4\nhint = 5\n",
            ("buttons.undo", "buttons.hint", "lamps.undo"),
            Settings(lamps=LampSettings(hint=5)),
        ),
    ],
)
def test_two_uses_of_one_pin_name_both_keys_and_connect_neither(
    text: str, names: tuple[str, ...], left: Settings
) -> None:
    settings, problems = parse(text)
    assert settings == left
    assert all(name in problems[0] for name in names)
    assert "use GPIO" in problems[0]


@pytest.mark.parametrize("pin", [28, 40, -1, 999, 10**30])
@pytest.mark.parametrize("key", ["buttons.undo", "lamps.hint", "presence.pin", "buttons.wheel_a"])
def test_a_pin_that_does_not_exist(key: str, pin: int) -> None:
    section, name = key.split(".")
    settings, problems = parse(f"[{section}]\n{name} = {pin}\n")
    assert settings == Settings()
    assert key in problems[0]
    assert len(problems) == 1


def test_the_difference_between_numbers_and_positions_is_told() -> None:
    assert "not the position on the header" in parse("[buttons]\nundo = 36\n")[1][0]


@pytest.mark.parametrize(("pin", "name"), [(0, "ID_SD"), (1, "ID_SC")])
def test_a_reserved_pin(pin: int, name: str) -> None:
    settings, problems = parse(f"[lamps]\nundo = {pin}\n")
    assert settings == Settings()
    assert len(problems) == 1
    assert f"lamps.undo = {pin}" in problems[0]
    assert name in problems[0]


def test_every_pin_from_2_to_27_may_be_used() -> None:
    for pin in range(2, 28):
        settings, problems = parse(f"[buttons]\nundo = {pin}\n")
        assert problems == []
        assert settings.buttons.undo == pin


@pytest.mark.parametrize("pull", ["down", "none"])
@pytest.mark.parametrize("pin", [2, 3])
def test_a_pull_that_the_board_contradicts_names_both_keys(pin: int, pull: str) -> None:
    settings, problems = parse(f'[buttons]\nhint = {pin}\npull = "{pull}"\n')
    assert settings.buttons.hint is None
    assert f"buttons.hint = {pin}" in problems[0]
    assert "buttons.pull" in problems[0]
    # The presence sensor's pull is down unless said otherwise.
    assert "presence.pull" in parse(f"[presence]\npin = {pin}\n")[1][0]
    # A lamp has no pull, and the wheel's is always up.
    assert parse(f"[lamps]\nhint = {pin}\n")[1] == []
    assert parse(f'[buttons]\nwheel_a = {pin}\nwheel_b = 5\npull = "{pull}"\n')[1] == []


@pytest.mark.parametrize(("given_key", "missing"), [("wheel_a", "wheel_b"), ("wheel_b", "wheel_a")])
def test_half_a_wheel_is_none(given_key: str, missing: str) -> None:
    settings, problems = parse(f"[buttons]\n{given_key} = 5\n")
    assert settings == Settings()
    assert f"buttons.{given_key} needs buttons.{missing}" in problems[0]


def test_values_in_the_wrong_order_name_both_keys() -> None:
    settings, problems = parse(
        "[buttons]\nrepeat_slowest = 0.2\nrepeat_fastest = 0.5\n[backlight]\nfull = 20\n"
    )
    assert settings == Settings()
    assert "buttons.repeat_fastest = 0.5 is slower than buttons.repeat_slowest" in problems[0]
    assert "backlight.dim = 25.0 is brighter than backlight.full = 20" in problems[1]


def test_every_mistake_is_named_at_once_and_the_rest_still_counts() -> None:
    settings, problems = parse(
        "[buttons]\nundo = 17\nnew_deal = 27\nhint = 1\nredo = 40\ndraw = true\n"
        'pull = "sideways"\ndebounce_ms = 5\nundoo = 3\nnew_deal_hold = 0.1\n'
        '[lamps]\nundo = 17\nhint = "12"\nbrightness = 0\nactive = 1\n'
        "[presence]\npin = 4.5\n"
        '[backlight]\ndevice = "../../etc"\ndim = 0\n'
    )
    assert settings == Settings(buttons=ButtonSettings(new_deal=27))
    for words in (
        ("buttons.undo and lamps.undo both use GPIO 17",),
        ("buttons.hint = 1", "ID_SC"),
        ("buttons.redo = 40", "2 to 27"),
        ("buttons.draw = true", "a GPIO number, 2 to 27", "left out"),
        ("buttons.pull = 'sideways'", "'up', 'down', 'none'; the default 'up'"),
        ("buttons.debounce_ms = 5", "a whole number from 10 to 500", "default 40"),
        ("buttons.undoo", "did you mean undo"),
        ("buttons.new_deal_hold", "a number from 0.5 to 10"),
        ("lamps.hint = '12'", "without quotes"),
        ("lamps.brightness = 0", "from 0.05 to 1"),
        ("lamps.active = 1", "'low', 'high'"),
        ("presence.pin = 4.5", "a GPIO number"),
        ("backlight.device", "../../etc", "a text in quotes"),
        ("backlight.dim = 0", "from 1 to 100"),
    ):
        assert any(all(word in problem for word in words) for problem in problems), words
    assert len(problems) == 14
    assert not any("null" in problem or "None" in problem for problem in problems)


def test_the_wiring_that_is_drawn_is_the_wiring_that_is_written() -> None:
    text = (DOCS / "wiring.md").read_text("utf-8")
    (example,) = re.findall(r"^```toml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    settings, problems = parse(example)
    assert problems == []
    written = {
        f"{section}.{key} = {pin}"
        for section in ("buttons", "lamps", "presence")
        for key, pin in msgspec.to_builtins(getattr(settings, section)).items()
        if f"{section}.{key}" in KEYS and pin is not None
    }
    picture = (DOCS / "images" / "wiring.svg").read_text("utf-8")
    drawn = re.findall(r">(.*?)</text>", picture)
    assert {words for words in drawn if " = " in words} == written
    assert {words.split()[-1] for words in drawn if words.startswith("GPIO ")} == {
        words.split()[-1] for words in written
    }


KEYS = [
    f"{section}.{field.name}"
    for section in ("buttons", "lamps", "presence")
    for field in msgspec.structs.fields(getattr(Settings(), section))
    if field.type == (int | None)
]


@given(st.dictionaries(st.sampled_from(KEYS), st.integers(-2, 30), max_size=12))
def test_no_two_things_share_a_pin_whatever_is_written(pins: dict[str, int]) -> None:
    text = ""
    for section in ("buttons", "lamps", "presence"):
        text += f"[{section}]\n"
        for key, pin in pins.items():
            if key.startswith(f"{section}."):
                text += f"{key.split('.')[1]} = {pin}\n"
    settings, problems = parse(text)
    used = {
        key: pin
        for key in KEYS
        if (pin := getattr(getattr(settings, key.split(".")[0]), key.split(".")[1])) is not None
    }
    assert len(set(used.values())) == len(used)
    assert all(pins[key] == pin and 2 <= pin <= 27 for key, pin in used.items())
    # Whatever was left out is spoken of.
    for key in set(pins) - set(used):
        assert any(key in problem for problem in problems), key


def test_the_light_is_described_as_the_hardware_takes_it() -> None:
    settings, _problems = parse(CABINET)
    spec = msgspec.convert(msgspec.to_builtins(settings.backlight), BacklightSpec)
    assert spec == BacklightSpec(device="10-0045", full=100, dim=10)
    assert msgspec.to_builtins(BacklightSettings()) == msgspec.to_builtins(BacklightSpec())
