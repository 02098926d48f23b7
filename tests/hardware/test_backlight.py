from __future__ import annotations

import logging
import shutil
from pathlib import Path

import pytest

from hardware.backlight import Backlight, BacklightSpec, Level, NullBacklight, open_backlight


def light(folder: Path, name: str = "10-0045", brightest: int = 255, *, power: bool = True) -> Path:
    """A device folder as the kernel makes it."""
    device = folder / name
    device.mkdir(parents=True)
    (device / "max_brightness").write_text(f"{brightest}\n")
    (device / "brightness").write_text("10\n")
    if power:
        (device / "bl_power").write_text("0\n")
    return device


def values(device: Path) -> tuple[int, int]:
    return int((device / "brightness").read_text()), int((device / "bl_power").read_text())


class DeniedBacklight(Backlight):
    """A light whose files are there and may not be written.  (Root may write everything.)"""

    def _write(self, name: str, value: int) -> None:
        raise PermissionError(13, "Permission denied", name)


def test_full_dim_and_off_and_back_at_once(tmp_path: Path) -> None:
    device = light(tmp_path)
    backlight = open_backlight(BacklightSpec(dim=20), tmp_path)
    for level, expected in (
        (Level.FULL, (255, 0)),
        (Level.DIM, (51, 0)),
        (Level.OFF, (0, 4)),
        (Level.FULL, (255, 0)),
        (Level.OFF, (0, 4)),
        (Level.DIM, (51, 0)),
    ):
        assert backlight.set(level)
        assert backlight.level is level
        assert values(device) == expected


def test_levels_may_be_given_by_their_names(tmp_path: Path) -> None:
    light(tmp_path)
    backlight = open_backlight(BacklightSpec(), tmp_path)
    assert backlight.set("dim")
    for other in (backlight, NullBacklight()):
        with pytest.raises(ValueError, match="bright"):
            other.set("bright")


@pytest.mark.parametrize(
    ("brightest", "percent", "steps"), [(1, 1, 1), (31, 1, 1), (255, 100, 255)]
)
def test_dim_is_never_dark(tmp_path: Path, brightest: int, percent: float, steps: int) -> None:
    device = light(tmp_path, brightest=brightest)
    open_backlight(BacklightSpec(dim=percent), tmp_path).set(Level.DIM)
    assert values(device)[0] == steps


def test_what_it_is_already_is_not_written_again(tmp_path: Path) -> None:
    device = light(tmp_path)
    backlight = open_backlight(BacklightSpec(), tmp_path)
    backlight.set(Level.FULL)
    (device / "brightness").write_text("77\n")
    assert backlight.set(Level.FULL)
    assert values(device)[0] == 77


def test_a_light_without_a_switch(tmp_path: Path) -> None:
    device = light(tmp_path, power=False)
    assert open_backlight(BacklightSpec(), tmp_path).set(Level.OFF)
    assert (device / "brightness").read_text() == "0\n"
    assert not (device / "bl_power").exists()


def test_closing_leaves_the_screen_bright(tmp_path: Path) -> None:
    device = light(tmp_path)
    backlight = open_backlight(BacklightSpec(full=80), tmp_path)
    backlight.set(Level.OFF)
    backlight.close()
    assert values(device) == (204, 0)


def test_a_screen_without_a_light_is_no_fault(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for folder in (tmp_path, tmp_path / "nothing"):
        backlight = open_backlight(BacklightSpec(), folder)
        assert isinstance(backlight, NullBacklight)
        assert not backlight.set(Level.OFF)
        assert backlight.level is None
        backlight.close()
    assert caplog.records == []


def test_a_light_that_is_left_alone(tmp_path: Path) -> None:
    light(tmp_path)
    assert isinstance(open_backlight(BacklightSpec(device="none"), tmp_path), NullBacklight)


def test_a_light_is_chosen_by_name(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    first, second = light(tmp_path, "a"), light(tmp_path, "b")
    open_backlight(BacklightSpec(device="b"), tmp_path).set(Level.OFF)
    assert values(first) == (10, 0)
    assert values(second) == (0, 4)
    assert isinstance(open_backlight(BacklightSpec(device="c"), tmp_path), NullBacklight)
    assert "no backlight c (there are: a, b)" in caplog.text


@pytest.mark.parametrize("content", ["", "many", "0"])
def test_a_device_that_makes_no_sense_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, content: str
) -> None:
    (light(tmp_path) / "max_brightness").write_text(content)
    assert isinstance(open_backlight(BacklightSpec(), tmp_path), NullBacklight)
    assert "10-0045" in caplog.text


def test_no_permission_is_said_once_with_what_to_do(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    backlight = DeniedBacklight(light(tmp_path), BacklightSpec())
    for _ in range(100):
        assert not backlight.set(Level.DIM)
        assert not backlight.set(Level.OFF)
    assert [record.levelno for record in caplog.records] == [logging.ERROR]
    assert "udev rule" in caplog.text
    assert backlight.level is None


class TornBacklight(Backlight):
    """A light whose switch cannot be used once."""

    torn = False

    def _switch(self, power: int) -> None:
        if self.torn:
            self.torn = False
            raise OSError(5, "Input/output error")
        super()._switch(power)


def test_a_light_that_fails_half_way_is_bright_again_when_it_should_be(tmp_path: Path) -> None:
    device = light(tmp_path)
    backlight = TornBacklight(device, BacklightSpec())
    assert backlight.set(Level.FULL)
    backlight.torn = True
    assert not backlight.set(Level.OFF)
    assert values(device)[0] == 0, "it is dark already"
    # It was full before, and is not any more.
    assert backlight.set(Level.FULL)
    assert values(device) == (255, 0)


def test_a_light_that_goes_away_and_comes_back(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    device = light(tmp_path)
    backlight = open_backlight(BacklightSpec(), tmp_path)
    assert backlight.set(Level.FULL)
    shutil.rmtree(device)
    assert not backlight.set(Level.OFF)
    assert not device.exists()
    light(tmp_path)
    assert backlight.set(Level.OFF)
    assert values(device) == (0, 4)
    assert len(caplog.records) == 1
