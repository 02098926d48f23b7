"""A touchscreen as Kivy reads it, told at the beginning what the kernel will not repeat.

The kernel tells only what changes.  Whoever opens a touchscreen that has been touched before never
hears of a coordinate that stays the same, nor which contact is being told of, nor that a finger
lies there already; the same after events were dropped because nobody read them in time.  The kernel
can be asked, but Kivy does not ask; libmtdev does, and keeps the answer to itself.

A touchscreen for one finger, as those are that feel pressure (XPT2046) and many old ones, has words
of its own, which libmtdev passes on and Kivy does not know: they become those of a contact in slot
0.

Invariant: every touch that is passed on begins with its place and ends once, whatever was missed.
A finger that lies there when the touchscreen is opened means nothing until it is taken away: it
came down on another picture.  Of a touchscreen for several fingers without slots that cannot be
known: there such a finger begins a touch when it is told of next.
"""

from __future__ import annotations

import array
import fcntl
import logging
import select
from collections import deque
from typing import Any, Final

from kivy.lib import mtdev

log = logging.getLogger(__name__)

# From linux/input.h and linux/input-event-codes.h.
_ABS: Final = mtdev.MTDEV_TYPE_EV_ABS
_KEY: Final = mtdev.MTDEV_TYPE_EV_KEY
_SYN: Final = mtdev.MTDEV_TYPE_EV_SYN
_SYN_DROPPED: Final = 3
_SLOT: Final = mtdev.MTDEV_CODE_SLOT
_ID: Final = mtdev.MTDEV_CODE_TRACKING_ID
#: What the kiosk asks of a touch.
_PLACE: Final = (mtdev.MTDEV_CODE_POSITION_X, mtdev.MTDEV_CODE_POSITION_Y)
#: The axes of one finger, in the words for several; libmtdev knows their ranges by either.
_SINGLE: Final = {
    mtdev.MTDEV_CODE_ABS_X: mtdev.MTDEV_CODE_POSITION_X,
    mtdev.MTDEV_CODE_ABS_Y: mtdev.MTDEV_CODE_POSITION_Y,
}
_TOUCH: Final = mtdev.MTDEV_CODE_BTN_TOUCH
#: As many bytes as tell of all keys which are down.
_KEYS: Final = 0x300 // 8
#: Where a touchscreen has no slots, libmtdev makes so many up, and begins with zeros in them.
_MADE_UP: Final = 32
#: Bytes of an int, and of the six that are told of an axis, its present value first.
_INT: Final = array.array("i").itemsize
_ABSINFO: Final = 6 * _INT
_NOBODY: Final = -1


def _read(size: int, number: int) -> int:
    """The number of a request that reads ``size`` bytes from an input device."""
    return 2 << 30 | size << 16 | ord("E") << 8 | number


class Touchscreen(mtdev.Device):  # type: ignore[misc]
    """What Kivy's reader of touchscreens opens, in place of its own.

    Args:
        filename: the input device.

    Raises:
        OSError: it cannot be opened.
    """

    def __init__(self, filename: str) -> None:
        super().__init__(filename)
        self._hangup = select.poll()
        self._hangup.register(self._fd, 0)
        self._told: deque[Any] = deque()
        self._slot = 0
        #: Whether it is for one finger, and how often that came down.
        self._single = not self.has_mtdata()
        self._count = 0
        #: The touches that Kivy knows of, by their slots.
        self._touches: dict[int, int] = {}
        #: Values that Kivy has yet to hear of, by their slots and codes: with the next touch.
        self._values: dict[int, dict[int, int]] = {}
        #: Fingers that mean nothing, by theirs.
        self._lying: dict[int, int] = {}
        self._lying = self._catch_up()
        self._tell(_SLOT, self._slot)

    def idle(self, ms: int) -> bool:
        """Wait up to ``ms`` milliseconds; whether there is nothing to get."""
        return not self._told and bool(super().idle(ms))

    def get(self) -> Any:
        """The next event, with ``type``, ``code`` and ``value``; None if there is none."""
        while not self._told:
            event = super().get()
            if event is None:
                if not self._touches or not self._hangup.poll(0):
                    return None
                self._end_all()
            elif event.type == _SYN and event.code == _SYN_DROPPED and self._can_ask():
                # Otherwise the next report tells everything, and libmtdev goes on from what it
                # told last: there is nothing to ask, and nothing to forget.
                self._recover()
            elif self._single and event.type != _SYN:
                self._hear_single(event)
            elif event.type == _ABS and event.code >= _SLOT:
                self._hear(event.code, event.value)
            else:
                return event
        return self._told.popleft()

    def _tell(self, code: int, value: int) -> None:
        self._told.append(mtdev.input_event(type=_ABS, code=code, value=value))

    def _report(self) -> None:
        self._told.append(mtdev.input_event(type=_SYN))

    def _hear(self, code: int, value: int) -> None:
        """Pass on what the kernel tells of a contact, or keep it until a touch begins there."""
        if code == _SLOT:
            self._slot = value
            self._tell(code, value)
        elif code == _ID:
            self._lying.pop(self._slot, None)
            if value < 0:
                self._end()
            else:
                self._begin(value)
        elif self._slot in self._touches:
            self._tell(code, value)
        else:
            self._values.setdefault(self._slot, {})[code] = value

    def _hear_single(self, event: Any) -> None:
        """Put the words for one finger into those for several; others mean nothing."""
        if event.type == _ABS and event.code in _SINGLE:
            self._hear(_SINGLE[event.code], event.value)
        elif event.type == _KEY and event.code == _TOUCH:
            self._hear(_ID, self._next() if event.value else _NOBODY)

    def _next(self) -> int:
        self._count += 1
        return self._count

    def _begin(self, touch: int) -> None:
        if self._touches.get(self._slot) != touch:
            self._end()
            self._touches[self._slot] = touch
            self._tell(_ID, touch)
        for code, value in self._values.pop(self._slot, {}).items():
            self._tell(code, value)

    def _end(self) -> None:
        if self._touches.pop(self._slot, None) is not None:
            self._tell(_ID, _NOBODY)
            # At once, so that the next touch in this slot is another one.
            self._report()

    def _end_all(self) -> None:
        """The touchscreen was unplugged."""
        for slot in list(self._touches):
            self._hear(_SLOT, slot)
            self._hear(_ID, _NOBODY)

    def _recover(self) -> None:
        """Events were dropped: leave the rest of them, and go on from how things are."""
        while super().get() is not None:
            pass
        contacts = self._catch_up()
        current = self._slot
        for slot in sorted({*self._touches, *self._lying, *contacts}):
            contact = contacts.get(slot, _NOBODY)
            if contact != self._lying.get(slot):
                self._hear(_SLOT, slot)
                self._hear(_ID, contact)
        self._hear(_SLOT, current)
        self._report()

    def _can_ask(self) -> bool:
        return self._single or self.has_slot()

    def _catch_up(self) -> dict[int, int]:
        """Ask the kernel for its slot and all values; the contacts that there are, by slots."""
        if not self._can_ask():
            # Everything is told each time, to libmtdev.
            self._values = {slot: dict.fromkeys(_PLACE, 0) for slot in range(_MADE_UP)}
            return {}
        try:
            if self._single:
                return self._catch_up_single()
            slots = self.get_slot().maximum + 1
            self._slot = self._value(_SLOT)
            ids = self._of_slots(_ID, slots)
            places = {code: self._of_slots(code, slots) for code in _PLACE}
        except OSError as error:
            log.warning("%s does not tell how it is touched: %s", self._filename, error)
            return {}
        self._values = {
            slot: {code: values[slot] for code, values in places.items()} for slot in range(slots)
        }
        return {slot: contact for slot, contact in enumerate(ids) if contact >= 0}

    def _catch_up_single(self) -> dict[int, int]:
        """The same for one finger."""
        self._values = {0: {code: self._value(axis) for axis, code in _SINGLE.items()}}
        keys = array.array("B", bytes(_KEYS))
        fcntl.ioctl(self._fd, _read(_KEYS, 0x18), keys)
        if not keys[_TOUCH // 8] >> _TOUCH % 8 & 1:
            return {}
        # Nobody counts how often it came down: it is taken for the same.
        known = {**self._touches, **self._lying}
        return {0: known[0] if known else self._next()}

    def _value(self, axis: int) -> int:
        """The present one of an axis."""
        return self._ask(_read(_ABSINFO, 0x40 + axis), [0] * (_ABSINFO // _INT))[0]

    def _of_slots(self, code: int, slots: int) -> list[int]:
        """One value of each slot."""
        return self._ask(_read(_INT * (1 + slots), 0x0A), [code, *[0] * slots])[1:]

    def _ask(self, request: int, question: list[int]) -> list[int]:
        answer = array.array("i", question)
        fcntl.ioctl(self._fd, request, answer)
        return answer.tolist()
