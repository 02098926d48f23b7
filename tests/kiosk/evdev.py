"""A touchscreen that is a pipe, read by Kivy's own reader through the real libmtdev.

``python -m tests.kiosk.evdev FIFO SCENE`` plays a scene with evdev.c preloaded, and prints what
Kivy made of it: ``[action, touch, x, y]`` each, x and y from 0 to 1, y upwards.  A scene is a list
of steps in JSON, each a word and frames; a frame is a list of ``[slot, {axis: value}]``:

- ``report``: the touchscreen reports these frames, one after the other;
- ``drop``: it reports them while nobody reads, and there is no room for them;
- ``open``: Kivy opens it, once; what was reported before, it never hears;
- ``lose``: like ``drop``, but when the kernel is asked, the touchscreen is gone;
- ``unplug``, ``plug``: it goes; a new one comes, which Kivy has opened when it reports.

Each step is made when everything before has been read.  After the scene, ``plain`` leaves Kivy's
reader as it is, ``unslotted`` and ``single`` choose another touchscreen, and a number turns touches
by so many degrees.
"""

from __future__ import annotations

import ctypes
import json
import os
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SYN, KEY, ABS = 0, 1, 3
SYN_REPORT, SYN_MT_REPORT, SYN_DROPPED = 0, 2, 3
SLOT = 0x2F
AXES = {"id": 0x39, "x": 0x35, "y": 0x36}
#: What the kernel makes a mouse of; Kivy must not.
POINTER = {"x": 0x00, "y": 0x01}
#: Smallest and largest place on an axis; for one finger, as panels have it that feel pressure.
RANGE = (0, 1000)
SINGLE_RANGE = (200, 1200)
TOUCH = 0x14A
SLOTS = 10
Frame = list[tuple[int, dict[str, int]]]


class Kernel:
    """What the kernel keeps of a touchscreen, and tells of it: only what changes.

    Args:
        fifo: where it tells.
        slots: whether it has slots; without, everything is told each time.
        single: whether it is for one finger; it tells of it in the order of a frame.
    """

    def __init__(self, fifo: Path, *, slots: bool = True, single: bool = False) -> None:
        self._fifo = fifo
        self._slotted = slots
        self._single = single
        self._shim = ctypes.CDLL(None)
        self._pipe: int | None = None
        self._has = (ctypes.c_ubyte * 64).in_dll(self._shim, "evdev_has")
        self._axes = (ctypes.c_int * 6 * 64).in_dll(self._shim, "evdev_axes")
        self._slots = (ctypes.c_int * SLOTS * 64).in_dll(self._shim, "evdev_slots")
        self._gone = ctypes.c_int.in_dll(self._shim, "evdev_gone")
        self._keys = (ctypes.c_ubyte * 96).in_dll(self._shim, "evdev_keys")
        ctypes.c_int.in_dll(self._shim, "evdev_type_b").value = slots and not single
        several = () if single else (AXES["x"], AXES["y"])
        for code in (*several, *POINTER.values()):
            self._has[code] = 1
            self._axes[code][1:3] = SINGLE_RANGE if single else RANGE
        if slots and not single:
            self._has[SLOT] = self._has[AXES["id"]] = 1
            self._axes[SLOT][2] = SLOTS - 1
            self._axes[AXES["id"]][2] = 65535
        self._reset()

    def _reset(self) -> None:
        ctypes.memset(self._slots, 0, ctypes.sizeof(self._slots))
        self._axes[SLOT][0] = 0
        for slot in range(SLOTS):
            self._slots[AXES["id"]][slot] = -1
        self._keys[TOUCH // 8] = 0

    def listen(self) -> None:
        """Somebody listens from now on."""
        # Both ends, so that it can be opened before its reader.
        self._pipe = os.open(self._fifo, os.O_RDWR | os.O_NONBLOCK)

    def unplug(self) -> None:
        """It is gone, and whoever reads hears so."""
        assert self._pipe is not None
        os.close(self._pipe)
        self._pipe = None
        self._gone.value = 0
        self._reset()

    def report(self, frame: Frame) -> None:
        """Something happens, and is told."""
        self._write(self._happens(frame))

    def drop(self, frames: list[Frame], *, gone: bool = False) -> None:
        """Much happens, and only the end of it is told; ``gone`` if nothing more can be asked."""
        self._gone.value = gone
        events = [self._happens(frame) for frame in frames][-1]
        self._write([(SYN, SYN_DROPPED, 0), *events[-1:]])

    def _write(self, events: list[tuple[int, int, int]]) -> None:
        if self._pipe is not None:
            told = [*events, (SYN, SYN_REPORT, 0)]
            os.write(self._pipe, b"".join(struct.pack("LLHHi", 0, 0, *event) for event in told))

    def _happens(self, frame: Frame) -> list[tuple[int, int, int]]:
        if self._single:
            return [event for _, values in frame for event in self._of_one(values)]
        events = []
        for slot, values in frame:
            if not self._slotted:
                events += [(ABS, AXES[axis], value) for axis, value in values.items()]
                events += [(SYN, SYN_MT_REPORT, 0)]
                continue
            for axis, value in values.items():
                code = AXES[axis]
                if self._slots[code][slot] == value:
                    continue
                if self._axes[SLOT][0] != slot:
                    self._axes[SLOT][0] = slot
                    events.append((ABS, SLOT, slot))
                self._slots[code][slot] = value
                events.append((ABS, code, value))
        for axis, code in POINTER.items():
            if frame and axis in frame[0][1] and self._axes[code][0] != frame[0][1][axis]:
                self._axes[code][0] = frame[0][1][axis]
                events.append((ABS, code, self._axes[code][0]))
        return events

    def _of_one(self, values: dict[str, int]) -> Iterator[tuple[int, int, int]]:
        for axis, value in values.items():
            if axis == "id":
                before, down = self._keys[TOUCH // 8] >> TOUCH % 8 & 1, int(value >= 0)
                self._keys[TOUCH // 8] = down << TOUCH % 8
                if before != down:
                    yield KEY, TOUCH, down
            elif self._axes[POINTER[axis]][0] != value:
                self._axes[POINTER[axis]][0] = value
                yield ABS, POINTER[axis], value


class Seen(list[Any]):
    """The queue of Kivy's reader, with what each touch was when it was put there."""

    def append(self, item: Any) -> None:
        """Note an action and its touch."""
        action, touch = item
        super().append([action, touch.id, round(touch.sx, 3), round(touch.sy, 3)])


def play(kernel: Kernel, fifo: Path, steps: list[tuple[Any, ...]], flags: list[str]) -> Seen:
    """Play a scene; what Kivy made of it."""
    from kiosk.display import _TOUCH_TURNED, Driver, prepare

    prepare(Driver.KMSDRM)
    from kivy.input.providers import mtdev
    from kivy.lib.mtdev import Device

    left: Iterator[tuple[Any, ...]] = iter(steps)
    base: Any = Device if "plain" in flags else mtdev.Device

    class Driven(base):  # type: ignore[misc]
        """Has the next step made when there is nothing to read."""

        def idle(self, _ms: int) -> bool:
            if not super().idle(0):
                return False
            step(*next(left))
            return True

    def step(word: str, *frames: Frame) -> None:
        match word:
            case "report":
                for frame in frames:
                    kernel.report(frame)
            case "drop":
                kernel.drop(list(frames))
            case "lose":
                kernel.drop(list(frames), gone=True)
            case "unplug":
                kernel.unplug()
            case "plug":
                kernel.listen()
            case _:
                raise ValueError(word)

    for word, *frames in left:
        if word == "open":
            break
        step(word, *frames)
    kernel.listen()
    mtdev.Device = Driven
    turned = sum(int(flag) for flag in flags if flag.isdecimal())
    provider = mtdev.MTDMotionEventProvider("touch", f"{fifo}{_TOUCH_TURNED[turned]}")
    seen = Seen()
    try:
        provider._thread_run(
            queue=seen, input_fn=str(fifo), device="touch", default_ranges=provider.default_ranges
        )
    except StopIteration:
        return seen
    raise AssertionError("Kivy stopped reading before the scene was over")


if __name__ == "__main__":
    pipe, scene, flags = Path(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3:]
    touchscreen = Kernel(pipe, slots="unslotted" not in flags, single="single" in flags)
    print(json.dumps(play(touchscreen, pipe, scene, flags)))
