"""A layout that can lie a little beside its place, with all that is on it and every touch.

Invariant: what lies in it knows nothing of that: it is told touches in its own coordinates.
"""

from __future__ import annotations

from typing import Any

from kivy.graphics import PopMatrix, PushMatrix, Translate
from kivy.uix.floatlayout import FloatLayout


class Shifted(FloatLayout):  # type: ignore[misc]
    """The layout.  Kivy's own for this needs the looks that the kiosk leaves out."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.canvas.before:
            PushMatrix()
            self._translate = Translate(0, 0)
        with self.canvas.after:
            PopMatrix()

    @property
    def shift(self) -> tuple[int, int]:
        """How far it lies to the right and up, px."""
        return round(self._translate.x), round(self._translate.y)

    def move(self, shift: tuple[int, int]) -> None:
        """Lie that far to the right and up; again and again."""
        if shift != self.shift:
            self._translate.xy = shift

    # -- what Kivy calls ------------------------------------------------------------------------

    def to_local(self, x: float, y: float, **_options: Any) -> tuple[float, float]:
        """From the screen's coordinates to those of what lies in it."""
        dx, dy = self.shift
        return x - dx, y - dy

    def to_parent(self, x: float, y: float, **_options: Any) -> tuple[float, float]:
        """The way back."""
        dx, dy = self.shift
        return x + dx, y + dy

    def on_touch_down(self, touch: Any) -> bool:
        """Pass a touch on."""
        return self._passed_on(super().on_touch_down, touch)

    def on_touch_move(self, touch: Any) -> bool:
        """Pass a touch on."""
        return self._passed_on(super().on_touch_move, touch)

    def on_touch_up(self, touch: Any) -> bool:
        """Pass a touch on."""
        return self._passed_on(super().on_touch_up, touch)

    def _passed_on(self, receive: Any, touch: Any) -> bool:
        touch.push()
        try:
            touch.apply_transform_2d(self.to_local)
            return bool(receive(touch))
        finally:
            touch.pop()
