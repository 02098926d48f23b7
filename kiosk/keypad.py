"""Ten digits and a key that takes the last one away, as large as the room allows.

Invariant: knows nothing of what is typed; each key says which one it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kiosk import boxes
from kiosk.layout import Rect
from kiosk.widgets import Look, PushButton

BACK: Final = "back"
_DIGITS: Final = "123456789"


def digit_keys(
    look: Look, room: Rect, press: Callable[[str], object], *, enter: Callable[[], object] | None
) -> dict[str, PushButton]:
    """The keys, by ``0`` to ``9`` and :data:`BACK`, not yet on any sheet.

    Args:
        look: the common look.
        room: where they go, in three columns and four rows.
        press: called with the name of the key.
        enter: what a further key, ``enter``, does; None gives its place to the 0.
    """
    cells = boxes.grid(room, 3, 4, look.unit)
    places = dict(zip(_DIGITS, cells, strict=False))
    places["0"] = boxes.union(cells[9:11]) if enter is None else cells[10]
    size = round(1.25 * look.scale.figure)

    def presser(name: str) -> Callable[[], object]:
        return lambda: press(name)

    keys = {
        digit: PushButton(look, rect, presser(digit), digit, size=size)
        for digit, rect in places.items()
    }
    back = cells[11] if enter is None else cells[9]
    keys[BACK] = PushButton(look, back, presser(BACK), "", "backspace")
    if enter is not None:
        keys["enter"] = PushButton(look, cells[11], enter, "", "check", role="accent")
    return keys
