"""A touchscreen is known by what the kernel says of it, and nothing else is taken for one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kiosk import inputs
from tests.kiosk.fakes import input_device

X, Y, Z, PRESSURE = 0x00, 0x01, 0x02, 0x18
SLOT, MT_X, MT_Y, MT_ID = 0x2F, 0x35, 0x36, 0x39
LEFT, RIGHT, TRIGGER, SOUTH = 0x110, 0x111, 0x120, 0x130
PEN, FINGER, TOUCH, STYLUS = 0x140, 0x145, 0x14A, 0x14B
POINTER, DIRECT, BUTTONPAD, ACCELEROMETER = 0, 1, 2, 6
SEVERAL = (X, Y, SLOT, MT_X, MT_Y, MT_ID)

TOUCHSCREENS: dict[str, dict[str, Any]] = {
    "for several fingers": {"axes": SEVERAL, "keys": [TOUCH], "properties": [DIRECT]},
    "without slots": {"axes": [MT_X, MT_Y], "keys": [TOUCH]},
    "that tells no touch but places": {"axes": [MT_X, MT_Y], "properties": [DIRECT]},
    "with a pen besides": {"axes": SEVERAL, "keys": [TOUCH, PEN], "properties": [DIRECT]},
    "that tells of a finger": {"axes": SEVERAL, "keys": [TOUCH, FINGER], "properties": [DIRECT]},
    # As the drivers ads7846 and tsc2007 have it: they do not say that it lies on a screen.
    "that feels pressure": {"axes": [X, Y, PRESSURE], "keys": [TOUCH]},
    "for one finger": {"axes": [X, Y], "keys": [TOUCH], "properties": [DIRECT]},
}

OTHERS: dict[str, dict[str, Any]] = {
    "keyboard": {"keys": range(1, 0xF8)},
    "mouse": {"keys": [LEFT, RIGHT]},
    # QEMU's tablet, and the mouse that many touchscreens are besides.
    "mouse with places": {"axes": [X, Y], "keys": [LEFT, RIGHT]},
    "mouse with places that is touched": {"axes": [X, Y], "keys": [LEFT, TOUCH]},
    "mouse with a touch pad": {"axes": [SLOT, MT_X, MT_Y, MT_ID], "keys": [LEFT, RIGHT]},
    "touch pad": {
        "axes": [*SEVERAL, PRESSURE],
        "keys": [LEFT, TOUCH, FINGER],
        "properties": [POINTER, BUTTONPAD],
    },
    "old touch pad": {"axes": [X, Y, PRESSURE], "keys": [LEFT, TOUCH, FINGER]},
    "touch pad without buttons": {"axes": [X, Y], "keys": [TOUCH, FINGER]},
    "something that moves a pointer": {"axes": [X, Y], "keys": [TOUCH], "properties": [POINTER]},
    "drawing tablet": {"axes": [X, Y, PRESSURE], "keys": [PEN, TOUCH, STYLUS]},
    "pen on a screen": {"axes": [X, Y], "keys": [TOUCH, STYLUS], "properties": [DIRECT]},
    "joystick": {"axes": [X, Y, Z], "keys": [TRIGGER]},
    "gamepad that is touched": {"axes": [X, Y], "keys": [SOUTH, TOUCH]},
    "joystick with every axis": {"axes": range(0x40), "keys": [TRIGGER, TOUCH]},
    "accelerometer": {"axes": [X, Y, Z], "properties": [ACCELEROMETER]},
    "slider": {"axes": [X], "keys": [TOUCH]},
    "screen that does not tell when it is touched": {"axes": [X, Y], "properties": [DIRECT]},
}


@pytest.mark.parametrize("told", TOUCHSCREENS.values(), ids=TOUCHSCREENS)
def test_a_touchscreen(tmp_path: Path, told: dict[str, Any]) -> None:
    assert inputs.is_touchscreen(input_device(tmp_path, 0, **told))


@pytest.mark.parametrize("told", OTHERS.values(), ids=OTHERS)
def test_no_touchscreen(tmp_path: Path, told: dict[str, Any]) -> None:
    assert not inputs.is_touchscreen(input_device(tmp_path, 0, **told))


def test_all_touchscreens_of_a_machine(tmp_path: Path) -> None:
    for number, told in enumerate([*OTHERS.values(), *TOUCHSCREENS.values()]):
        input_device(tmp_path, number, **told)
    found = {path.name for path in inputs.touchscreens(tmp_path)}
    assert found == {f"event{len(OTHERS) + number}" for number in range(len(TOUCHSCREENS))}
    assert inputs.touchscreens(tmp_path / "not there") == []


def test_bit_maps_are_read_in_the_words_of_the_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = tmp_path / "event0/device"
    (device / "capabilities").mkdir(parents=True)
    # The bits 0x35, 0x36 and 0x14a, as a kernel of 64 bits writes them.
    (device / "capabilities/abs").write_text("60000000000000\n")
    (device / "capabilities/key").write_text("400 0 0 0 0 0\n")
    assert inputs.is_touchscreen(device)
    # The same of 32 bits.
    monkeypatch.setattr(inputs, "_WORD", 32)
    (device / "capabilities/abs").write_text("600000 0\n")
    (device / "capabilities/key").write_text("400 0 0 0 0 0 0 0 0 0 0\n")
    assert inputs.is_touchscreen(device)


def test_what_is_no_bit_map_says_nothing(tmp_path: Path) -> None:
    device = input_device(tmp_path, 0, **TOUCHSCREENS["for one finger"])
    (device / "capabilities/abs").write_text("nonsense\n")
    assert not inputs.is_touchscreen(device)
