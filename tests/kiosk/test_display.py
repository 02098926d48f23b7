from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kiosk.display import Driver, NoDisplayError, choose_driver, x11_screen_size
from tests.kiosk.fakes import input_device


def test_what_is_asked_for_or_there_is_taken(tmp_path: Path) -> None:
    card = tmp_path / "card0"
    card.touch()
    assert choose_driver({"DISPLAY": ":0"}, offscreen=True) is Driver.OFFSCREEN
    assert choose_driver({"SDL_VIDEODRIVER": "offscreen"}) is Driver.OFFSCREEN
    assert choose_driver({"SDL_VIDEODRIVER": "kmsdrm", "DISPLAY": ":0"}) is Driver.KMSDRM
    assert choose_driver({"DISPLAY": ":0"}, cards=[card]) is Driver.X11
    assert choose_driver({"WAYLAND_DISPLAY": "w", "DISPLAY": ":0"}) is Driver.X11
    assert choose_driver({}, cards=[card]) is Driver.KMSDRM


@pytest.mark.parametrize(
    ("environ", "cards", "words"),
    [
        ({}, [], "--offscreen"),
        ({}, [Path("/nonexistent/card0")], "usermod"),
        ({"WAYLAND_DISPLAY": "wayland-0"}, [], "Xwayland"),
        ({"SDL_VIDEODRIVER": "dummy"}, [], "SDL_VIDEODRIVER is dummy"),
    ],
)
def test_without_a_screen_it_says_what_to_do(
    environ: dict[str, str], cards: list[Path], words: str
) -> None:
    with pytest.raises(NoDisplayError, match=words):
        choose_driver(environ, cards=cards)


@pytest.mark.parametrize(("status", "found"), [("connected", True), ("disconnected", False)])
def test_a_card_without_a_screen_is_no_display(tmp_path: Path, status: str, found: bool) -> None:
    card = tmp_path / "card1"
    card.touch()
    for name in ("card1-HDMI-A-1", "card1-HDMI-A-2", "card10-DSI-1"):
        (tmp_path / "drm" / name).mkdir(parents=True)
    (tmp_path / "drm" / "card1-HDMI-A-1" / "status").write_text("disconnected\n")
    (tmp_path / "drm" / "card1-HDMI-A-2" / "status").write_text(f"{status}\n")
    (tmp_path / "drm" / "card10-DSI-1" / "status").write_text("connected\n")
    if found:
        assert choose_driver({}, cards=[card], connectors=tmp_path / "drm") is Driver.KMSDRM
    else:
        with pytest.raises(NoDisplayError, match="plug it in"):
            choose_driver({}, cards=[card], connectors=tmp_path / "drm")


def test_without_x_its_screen_has_no_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    assert x11_screen_size() is None
    assert x11_screen_size("libnowhere.so.1") is None


@pytest.mark.skipif(shutil.which("Xvfb") is None, reason="needs an X server: install xvfb")
def test_the_size_of_a_real_x_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen(
        ["Xvfb", "-displayfd", "1", "-screen", "0", "1024x600x24"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdout is not None
        monkeypatch.setenv("DISPLAY", f":{server.stdout.readline().strip()}")
        try:
            assert x11_screen_size() == (1024, 600)
        finally:
            server.terminate()


#: Prints what Kivy is set up with, in a process of its own: there is one set-up in each.
SET_UP = """
import json, sys
from pathlib import Path
from kiosk.display import Driver, prepare
prepare(Driver(sys.argv[1]), (800, 480), inputs=Path(sys.argv[2]))
from kivy.config import Config
from kivy.lang import Builder
sections = ("input", "modules", "postproc", "kivy", "graphics")
found = {section: dict(Config.items(section)) for section in sections}
print(json.dumps(found | {"rules": len(Builder.rules)}))
"""


@pytest.mark.parametrize(
    ("driver", "sources"),
    [
        (Driver.X11, {"mouse"}),
        (Driver.OFFSCREEN, {"mouse"}),
        # There SDL makes no mouse of a touch, see SDL_TOUCH_MOUSE_EVENTS.
        (Driver.KMSDRM, {"mouse", "mtdev_event0", "mtdev_event2"}),
    ],
)
def test_there_is_one_source_of_touches_and_nothing_to_fall_into(
    driver: Driver, sources: set[str], tmp_path: Path
) -> None:
    pytest.importorskip("kivy")
    input_device(tmp_path, 0, axes=[0x35, 0x36], properties=[1])
    input_device(tmp_path, 1, keys=[0x110, 0x111])
    input_device(tmp_path, 2, axes=[0, 1], keys=[0x14A])
    command = [sys.executable, "-c", SET_UP, driver.value, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert set(found["input"]) == sources
    # No red dots for a second finger, no double taps, no modules with keys of their own.
    assert found["input"]["mouse"] == "mouse,disable_multitouch"
    assert found["modules"] == {}
    assert found["postproc"]["double_tap_time"] == found["postproc"]["triple_tap_time"] == "0"
    assert found["kivy"]["exit_on_escape"] == "0"
    assert found["graphics"]["show_cursor"] == "1"
    # The looks of Kivy's own widgets were not read.
    assert found["rules"] == 0


def test_a_plain_kivy_window_has_its_looks(tmp_path: Path) -> None:
    pytest.importorskip("kivy")
    plain = SET_UP.replace("(800, 480),", "(800, 480), styled=True,")
    command = [sys.executable, "-c", plain, "offscreen", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["rules"] > 50
