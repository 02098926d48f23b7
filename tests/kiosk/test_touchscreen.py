"""What a visitor's finger does is heard whole, whatever the kernel has told before.

Kivy's own reader runs on the real libmtdev, in a process of its own; the touchscreen is a pipe,
and only what the kernel answers is made up (evdev.py, evdev.c).
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


def has_libmtdev() -> bool:
    try:
        ctypes.CDLL("libmtdev.so.1")
    except OSError:
        return False
    return True


pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None or not has_libmtdev(), reason="needs gcc and libmtdev"
)


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("evdev") / "evdev.so"
    source = Path(__file__).with_name("evdev.c")
    command = ["gcc", "-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library, source]
    subprocess.run(command, check=True)
    return library


class Scene:
    """Plays scenes; see evdev.py for their steps."""

    def __init__(self, shim: Path, folder: Path) -> None:
        self._environment = {**os.environ, "LD_PRELOAD": str(shim)}
        self._fifo = folder / "event0"
        os.mkfifo(self._fifo)
        self.stderr = ""

    def __call__(self, *steps: Any, flags: tuple[str, ...] = ()) -> list[list[Any]]:
        program = [sys.executable, "-m", "tests.kiosk.evdev", self._fifo, json.dumps(steps)]
        done = subprocess.run(
            [*program, *flags],
            cwd=ROOT,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        self.stderr = done.stderr
        found: list[list[Any]] = json.loads(done.stdout.splitlines()[-1])
        return found


@pytest.fixture
def scene(shim: Path, tmp_path: Path) -> Scene:
    return Scene(shim, tmp_path)


def at(slot: int, **values: int) -> list[Any]:
    return [[slot, values]]


def report(*frames: Any) -> list[Any]:
    return ["report", *frames]


def drop(*frames: Any) -> list[Any]:
    return ["drop", *frames]


OPEN = ["open"]
UP = at(0, id=-1)
#: Upwards it is 0.6.
DOWN = at(0, id=1, x=300, y=400)


# --- Opening a touchscreen that was touched before -----------------------------------------------


@pytest.mark.parametrize(
    ("second", "place"),
    [
        ({"x": 300, "y": 400}, [0.3, 0.6]),
        ({"x": 300, "y": 100}, [0.3, 0.9]),
        ({"x": 700, "y": 400}, [0.7, 0.6]),
        ({"x": 700, "y": 100}, [0.7, 0.9]),
    ],
)
def test_the_first_touch_is_where_it_is_though_the_one_before_was_there(
    scene: Scene, second: dict[str, int], place: list[float]
) -> None:
    found = scene(report(DOWN, UP), OPEN, report(at(0, id=2, **second), UP))
    assert found == [["begin", 2, *place], ["end", 2, *place]]


def test_kivy_alone_misplaces_it(scene: Scene) -> None:
    # When this fails, Kivy asks the kernel itself, and kiosk/touchscreen.py may go.
    again = report(at(0, id=2, x=300, y=100))
    found = scene(report(DOWN, UP), OPEN, again, flags=("plain",))
    assert found == [["begin", 2, -1, 0.9]]


def test_a_touch_at_the_corner_where_nobody_touched_before(scene: Scene) -> None:
    # The kernel begins with zeros, so it tells none.
    found = scene(OPEN, report(at(0, id=0, x=0, y=0), UP))
    assert found == [["begin", 0, 0.0, 1.0], ["end", 0, 0.0, 1.0]]


def test_touches_after_the_first_are_where_they_are(scene: Scene) -> None:
    taps = [at(0, id=2, x=300, y=100), UP, at(0, id=3, x=300, y=100), UP, at(0, id=4, x=500), UP]
    found = scene(report(DOWN, UP), OPEN, *map(report, taps))
    assert [one for one in found if one[0] == "begin"] == [
        ["begin", 2, 0.3, 0.9],
        ["begin", 3, 0.3, 0.9],
        ["begin", 4, 0.5, 0.9],
    ]
    assert [one[1] for one in found if one[0] == "end"] == [2, 3, 4]


def test_the_slot_that_was_told_of_last_is_known(scene: Scene) -> None:
    two = [[0, {"id": 1, "x": 300, "y": 400}], [1, {"id": 2, "x": 500, "y": 600}]]
    found = scene(
        report(two, UP, at(1, id=-1)),
        OPEN,
        report(at(1, id=3, x=510)),  # The kernel does not say that it is slot 1.
        report(at(0, id=4, x=310)),
        report(at(1, x=520)),
        report(at(1, id=-1)),
    )
    assert found == [
        ["begin", 3, 0.51, 0.4],
        ["begin", 4, 0.31, 0.6],
        ["update", 3, 0.52, 0.4],
        ["end", 3, 0.52, 0.4],
    ]


def test_a_finger_that_lies_there_means_nothing_and_the_next_one_does(scene: Scene) -> None:
    found = scene(
        report(DOWN),
        OPEN,
        report(at(0, x=310)),
        report(at(1, id=2, x=500, y=500)),  # Another one beside it.
        report(at(1, id=-1)),
        report(UP),
        report(at(0, id=3, y=200)),
        report(UP),
    )
    assert found == [
        ["begin", 2, 0.5, 0.5],
        ["end", 2, 0.5, 0.5],
        ["begin", 3, 0.31, 0.8],
        ["end", 3, 0.31, 0.8],
    ]


def test_a_touch_that_becomes_another_one_ends(scene: Scene) -> None:
    found = scene(OPEN, report(DOWN), report(at(0, id=2)), report(UP))
    assert found == [
        ["begin", 1, 0.3, 0.6],
        ["end", 1, 0.3, 0.6],
        ["begin", 2, 0.3, 0.6],
        ["end", 2, 0.3, 0.6],
    ]


def test_a_touchscreen_without_slots(scene: Scene) -> None:
    taps = [at(0, x=x, y=y) for x, y in [(0, 0), (0, 400), (300, 400), (300, 400)]]
    steps = [report(frame) for tap in taps for frame in (tap, [[0, {}]])]
    found = scene(OPEN, *steps, flags=("unslotted",))
    places = [[0.0, 1.0], [0.0, 0.6], [0.3, 0.6], [0.3, 0.6]]
    assert found == [
        [action, number, *place]
        for number, place in enumerate(places)
        for action in ("begin", "end")
    ]


# --- Events that were dropped --------------------------------------------------------------------


def test_a_finger_that_was_taken_away_meanwhile_is_gone(scene: Scene) -> None:
    found = scene(OPEN, report(DOWN), drop(at(0, x=350), UP, []), report(at(0, id=2, y=500)))
    assert found == [["begin", 1, 0.3, 0.6], ["end", 1, 0.3, 0.6], ["begin", 2, 0.35, 0.5]]


def test_a_finger_that_moved_meanwhile_is_where_it_is(scene: Scene) -> None:
    found = scene(OPEN, report(DOWN), drop(at(0, x=350), at(0, y=450)), report(UP))
    assert found == [["begin", 1, 0.3, 0.6], ["update", 1, 0.35, 0.55], ["end", 1, 0.35, 0.55]]


def test_a_finger_that_came_again_meanwhile_is_another_touch(scene: Scene) -> None:
    missed = drop(UP, at(0, id=2, x=350), at(0, y=450))
    found = scene(OPEN, report(DOWN), missed, report(at(0, x=360)), report(UP))
    assert found == [
        ["begin", 1, 0.3, 0.6],
        ["end", 1, 0.3, 0.6],
        ["begin", 2, 0.35, 0.55],
        ["update", 2, 0.36, 0.55],
        ["end", 2, 0.36, 0.55],
    ]


def test_fingers_that_came_meanwhile_are_there(scene: Scene) -> None:
    two = [[0, {"id": 1, "x": 300, "y": 400}], [1, {"id": 2, "x": 700, "y": 200}]]
    found = scene(OPEN, drop(two, UP), report(at(1, id=-1)), report(at(0, id=3, y=410)))
    assert found == [["begin", 2, 0.7, 0.8], ["end", 2, 0.7, 0.8], ["begin", 3, 0.3, 0.59]]


def test_a_finger_that_lay_there_still_means_nothing(scene: Scene) -> None:
    missed = drop(at(0, x=350), at(0, y=450))
    found = scene(report(DOWN), OPEN, missed, report(UP), report(at(0, id=2, y=460)))
    assert found == [["begin", 2, 0.35, 0.54]]


def test_a_finger_that_lay_there_and_came_again_meanwhile_is_a_touch(scene: Scene) -> None:
    missed = drop(UP, at(0, id=2, x=350))
    found = scene(report(DOWN), OPEN, missed, report(UP))
    assert found == [["begin", 2, 0.35, 0.6], ["end", 2, 0.35, 0.6]]


def test_without_slots_the_next_report_tells_everything(scene: Scene) -> None:
    lifted: list[Any] = [[0, {}]]
    tap = at(0, x=300, y=400)
    found = scene(
        OPEN,
        report(tap),
        drop(at(0, x=310, y=400), at(0, x=320, y=400)),
        report(at(0, x=330, y=400)),
        report(lifted),
        report(tap),
        drop(tap, lifted),
        report(at(0, x=330, y=400)),
        report(lifted),
        flags=("unslotted",),
    )
    # The place of a touch is told where it was, though y never changes.
    assert [one for one in found if one[0] != "update"] == [
        ["begin", 0, 0.3, 0.6],
        ["end", 0, 0.33, 0.6],
        ["begin", 1, 0.3, 0.6],
        ["end", 1, 0.3, 0.6],
        ["begin", 2, 0.33, 0.6],
        ["end", 2, 0.33, 0.6],
    ]


# --- Unplugged under a finger --------------------------------------------------------------------


@pytest.mark.parametrize("missed", [[], [["lose", at(0, x=310)]]])
def test_a_touch_ends_when_the_touchscreen_goes_and_the_new_one_works(
    scene: Scene, missed: list[Any]
) -> None:
    # The new one counts from the beginning, so that its first touch has the number of the old one.
    again = report(at(0, id=1, x=600, y=700))
    found = scene(OPEN, report(DOWN), *missed, ["unplug"], ["plug"], again, report(UP))
    assert found == [
        ["begin", 1, 0.3, 0.6],
        ["end", 1, 0.3, 0.6],
        ["begin", 1, 0.6, 0.3],
        ["end", 1, 0.6, 0.3],
    ]
    assert ("does not tell how it is touched" in scene.stderr) == bool(missed)


# --- For one finger ------------------------------------------------------------------------------

SINGLE = ("single",)
#: The kernel counts none of its touches; its axes begin with 200 and end with 1200.
PRESSED = at(0, id=0, x=500, y=600)


def test_kivy_alone_does_not_read_a_touchscreen_for_one_finger(scene: Scene) -> None:
    # When this fails, Kivy has learned it, and kiosk/touchscreen.py need not do it.
    assert scene(OPEN, report(PRESSED), report(UP), flags=("single", "plain")) == []


def test_one_finger_touches_moves_and_goes(scene: Scene) -> None:
    steps = [PRESSED, at(0, x=700), at(0, y=1200), UP, at(0, id=0, x=200, y=200), UP]
    found = scene(OPEN, *map(report, steps), flags=SINGLE)
    assert found == [
        ["begin", 1, 0.3, 0.6],
        ["update", 1, 0.5, 0.6],
        ["update", 1, 0.5, 0.0],
        ["end", 1, 0.5, 0.0],
        ["begin", 2, 0.0, 1.0],
        ["end", 2, 0.0, 1.0],
    ]


def test_one_finger_is_where_it_is_in_whatever_order_it_is_told(scene: Scene) -> None:
    last = at(0, x=500, y=600, id=0)
    # Where it was when it went is told with that, or before.
    gone = at(0, id=-1, x=900, y=900)
    found = scene(OPEN, *map(report, [last, gone, last, at(0, x=510, id=-1)]), flags=SINGLE)
    assert found == [
        ["begin", 1, 0.3, 0.6],
        ["end", 1, 0.3, 0.6],
        ["begin", 2, 0.3, 0.6],
        ["end", 2, 0.31, 0.6],
    ]


@pytest.mark.parametrize(
    ("turned", "place"), [(90, [0.6, 0.7]), (180, [0.7, 0.4]), (270, [0.4, 0.3])]
)
def test_one_finger_on_a_panel_that_hangs_turned(
    scene: Scene, turned: int, place: list[float]
) -> None:
    found = scene(OPEN, report(PRESSED), report(UP), flags=("single", str(turned)))
    assert found == [["begin", 1, *place], ["end", 1, *place]]


def test_one_finger_where_it_touched_before_it_was_opened(scene: Scene) -> None:
    found = scene(report(PRESSED, UP), OPEN, report(at(0, id=0)), report(UP), flags=SINGLE)
    assert found == [["begin", 1, 0.3, 0.6], ["end", 1, 0.3, 0.6]]


def test_one_finger_that_lies_there_means_nothing_until_it_came_again(scene: Scene) -> None:
    steps = [at(0, x=510), UP, at(0, id=0, y=700), UP]
    found = scene(report(PRESSED), OPEN, *map(report, steps), flags=SINGLE)
    assert [[what, *place] for what, _, *place in found] == [
        ["begin", 0.31, 0.5],
        ["end", 0.31, 0.5],
    ]


def test_one_finger_that_did_something_meanwhile(scene: Scene) -> None:
    found = scene(
        OPEN,
        report(PRESSED),
        drop(at(0, x=700), at(0, y=700)),
        drop(at(0, x=710), UP, []),
        drop(at(0, id=0, x=900), []),
        report(UP),
        flags=SINGLE,
    )
    assert found == [
        ["begin", 1, 0.3, 0.6],
        ["update", 1, 0.5, 0.5],
        ["end", 1, 0.5, 0.5],
        ["begin", 2, 0.7, 0.5],
        ["end", 2, 0.7, 0.5],
    ]


def test_one_finger_that_still_lies_there_means_nothing(scene: Scene) -> None:
    steps = [drop(at(0, x=510), []), report(at(0, x=520)), report(UP)]
    assert scene(report(PRESSED), OPEN, *steps, flags=SINGLE) == []


def test_one_finger_when_the_touchscreen_goes_and_the_new_one_comes(scene: Scene) -> None:
    again = report(at(0, id=0, x=600, y=700))
    found = scene(OPEN, report(PRESSED), ["unplug"], ["plug"], again, report(UP), flags=SINGLE)
    assert [[what, *place] for what, _, *place in found] == [
        ["begin", 0.3, 0.6],
        ["end", 0.3, 0.6],
        ["begin", 0.4, 0.5],
        ["end", 0.4, 0.5],
    ]


# --- Without the library -------------------------------------------------------------------------


def test_without_libmtdev_the_kiosk_starts_and_reads_no_touchscreen() -> None:
    program = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name == "kivy.lib.mtdev":
            raise OSError("libmtdev.so.1: cannot open shared object file")
sys.meta_path.insert(0, Missing())
from kiosk.display import Driver, prepare
prepare(Driver.KMSDRM)
from kivy.input.factory import MotionEventFactory
print(MotionEventFactory.get("mtdev"))
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "None"
