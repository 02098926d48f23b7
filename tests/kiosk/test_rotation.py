"""A panel that hangs turned: the picture is turned, and touches with it.

Each case is a process of its own, because Kivy opens one window and keeps it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.kiosk.fakes import input_device

ROOT = Path(__file__).resolve().parent.parent.parent

PROGRAM = """
import json, sys
from kiosk.display import Driver, prepare
prepare(Driver.OFFSCREEN, (800, 480), rotation=int(sys.argv[1]), touch_rotation=90)
from kivy.base import EventLoop
from kivy.config import Config
from kivy.core.window import Window
from kivy.graphics import Color, Rectangle
from kivy.graphics.opengl import GL_RGB, GL_UNSIGNED_BYTE, glReadPixels
from kivy.tests.common import UnitTestTouch
from kivy.uix.widget import Widget

root = Widget()
with root.canvas:
    Color(1, 0, 0)
    Rectangle(pos=(0, 0), size=(100, 50))  # red in the lower left corner of the picture
Window.add_widget(root)
EventLoop.window = Window
for _ in range(3):
    EventLoop.idle()
Window.dispatch('on_draw')
pixels = glReadPixels(0, 0, 800, 480, GL_RGB, GL_UNSIGNED_BYTE)
red = {
    name: pixels[(y * 800 + x) * 3] > 200
    for name, (x, y) in {"lower left": (20, 20), "lower right": (780, 20),
                         "upper left": (20, 460), "upper right": (780, 460)}.items()
}
touch = UnitTestTouch(0, 0)
touch.sx, touch.sy = json.loads(sys.argv[2])
Window.transform_motion_event_2d(touch)
print(json.dumps({"size": Window.size, "red": [name for name in red if red[name]],
                  "touch": touch.pos, "input": dict(Config.items("input"))}))
"""


def seen(rotation: int, touch: tuple[float, float]) -> dict[str, Any]:
    """What a window of 800x480 shows; ``touch`` is given as the panel gives it, 0 to 1, upwards."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(rotation), json.dumps(touch)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize(
    ("rotation", "size", "corner", "touch"),
    [
        (0, [800, 480], "lower left", (0.0, 0.0)),
        (90, [480, 800], "upper left", (0.0, 1.0)),
        (180, [800, 480], "upper right", (1.0, 1.0)),
        (270, [480, 800], "lower right", (1.0, 0.0)),
    ],
)
def test_picture_is_turned_clockwise_and_touches_with_it(
    rotation: int, size: list[int], corner: str, touch: tuple[float, float]
) -> None:
    found = seen(rotation, touch)
    assert found["size"] == size
    assert found["red"] == [corner]
    # Whoever touches the red corner touches what is drawn there.
    assert found["touch"] == pytest.approx([0, 0], abs=1)
    # Where the desktop turns touches, the kiosk does not.
    assert not any("mtdev" in value for value in found["input"].values())


TOUCHES = """
import json, sys
from pathlib import Path
from types import SimpleNamespace
from kiosk.display import Driver, prepare
prepare(Driver.KMSDRM, touch_rotation=int(sys.argv[1]), inputs=Path(sys.argv[2]))
from kivy.config import Config
from kivy.input.providers import mtdev

(source,) = [value for _, value in Config.items("input") if "mtdev" in value]

class Device:
    # One touch, near the upper right corner of the touchscreen: x 0.9, y 0.8 upwards.
    def __init__(self, _name):
        absolute, report = mtdev.MTDEV_TYPE_EV_ABS, mtdev.MTDEV_TYPE_EV_SYN
        self.events = [SimpleNamespace(type=t, code=c, value=v) for t, c, v in (
            (absolute, mtdev.MTDEV_CODE_TRACKING_ID, 7),
            (absolute, mtdev.MTDEV_CODE_POSITION_X, 900),
            (absolute, mtdev.MTDEV_CODE_POSITION_Y, 200),
            (report, 0, 0),
        )]
    def __bool__(self):
        return bool(self.events)
    def get_abs(self, _axis):
        return SimpleNamespace(minimum=0, maximum=1000)
    def idle(self, _ms):
        return False
    def get(self):
        return self.events.pop(0) if self.events else None

mtdev.Device = Device
provider = mtdev.MTDMotionEventProvider("touch", source.removeprefix("mtdev,"))
assert provider.input_fn == "/dev/input/event1"
provider.start()
provider.thread.join()
_, touch = provider.queue[0]
print(json.dumps([touch.sx, touch.sy]))
"""


@pytest.mark.parametrize(
    ("turned", "position"),
    [(0, [0.9, 0.8]), (90, [0.8, 0.1]), (180, [0.1, 0.2]), (270, [0.2, 0.9])],
)
def test_touchscreen_that_is_mounted_turned_is_turned_clockwise(
    turned: int, position: list[float], tmp_path: Path
) -> None:
    input_device(tmp_path, 1, axes=[0x35, 0x36], properties=[1])
    done = subprocess.run(
        [sys.executable, "-c", TOUCHES, str(turned), str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == pytest.approx(position)
