"""The ring that fills or empties: how much time is left, how long a button has been held.

Invariant: nothing is drawn again unless what it shows has changed; nothing here knows the time but
the moment for which an unfinished hold stays to be read.

Needs Kivy's window.  Call on the main thread only.
"""

from __future__ import annotations

from typing import Final

from kivy.clock import Clock
from kivy.graphics import Color, SmoothLine
from kivy.uix.widget import Widget

from kiosk import boxes
from kiosk.layout import Layout, Rect
from kiosk.texts import Texts
from kiosk.widgets import LINE, Icon, Look, Plate, TextBox, measure

#: Seconds for which a hold that was let go too early still says what was missing.
LINGER: Final = 1.2
#: Height of the ring of a hold, in title sizes.
_HEIGHT: Final = 4.2


class Ring(Widget):  # type: ignore[misc]
    """A round track in the middle of a rectangle, filled clockwise from the top.

    Args:
        look: the common look.
        rect: the room for it; as high as it is wide, or wider.
    """

    def __init__(self, look: Look, rect: Rect) -> None:
        super().__init__(pos=rect.pos, size=rect.size, size_hint=(None, None))
        self._centre = rect.center
        self._radius = 0.4 * rect.h
        self._share = -1.0
        thick = max(2.0, rect.h / 24)
        with self.canvas:
            Color(*look.palette.panel_raised)
            SmoothLine(circle=(*self._centre, self._radius), width=thick)
            Color(*look.palette.accent)
            self._arc = SmoothLine(width=thick, cap="round")

    @property
    def share(self) -> float:
        """How much of it is filled, 0 to 1."""
        return max(0.0, self._share)

    def fill(self, share: float) -> None:
        """Fill so much of it; what is beyond 0 and 1 counts as that."""
        share = min(1.0, max(0.0, share))
        if share == self._share:
            return
        self._share = share
        if share:
            self._arc.circle = (*self._centre, self._radius, 0, 360 * share)
        else:
            self._arc.points = []


class HoldRing(Widget):  # type: ignore[misc]
    """Over everything while the real button for a new deal is held during a game.

    Args:
        look: the common look.
        texts: the language.

    Call :meth:`show` as often as the hold is looked at.
    """

    def __init__(self, look: Look, texts: Texts) -> None:
        super().__init__(
            pos=look.layout.screen.pos, size=look.layout.screen.size, size_hint=(None, None)
        )
        self._look = look
        self._texts = texts
        self._inside: Widget | None = None
        self.ring: Ring | None = None
        self._over = Clock.create_trigger(lambda _seconds: self._go(), LINGER)

    @property
    def shown(self) -> bool:
        """Whether it is on the screen."""
        return self._inside is not None

    def show(self, share: float, *, lingers: bool = False) -> None:
        """Show how far the hold has got.

        Args:
            share: above 0 and below 1; 0 when nothing is held.
            lingers: whether a hold that has just ended came to nothing: then the ring stays,
                emptied, for :data:`LINGER` seconds, because whoever pressed for a moment has not
                had the time to read what is wanted.
        """
        if share > 0:
            self._over.cancel()
            if self._inside is None:
                self._come()
            assert self.ring is not None
            self.ring.fill(share)
        elif self.ring is not None and not lingers:
            self._go()
        elif self.ring is not None and self.ring.share:
            self.ring.fill(0)
            self._over()

    def set_texts(self, texts: Texts) -> None:
        """Speak another language from the next hold on."""
        self._texts = texts
        self._go()

    def set_layout(self, layout: Layout) -> None:
        """Move to another screen size."""
        self._look = Look.of(layout, self._look.palette)
        self.size = layout.screen.size
        self._go()

    def _come(self) -> None:
        look, unit = self._look, self._look.unit
        text = self._texts.gettext("Keep holding for a new deal")
        size = look.scale.button
        side = round(_HEIGHT * look.scale.title)
        width = min(look.layout.panel.w - 4 * unit, max(side, 12 * size))
        words_h = measure(text, size, width=width, bold=True).height + round((LINE - 1) * size)
        box = boxes.centred(look.layout.screen, width + 4 * unit, side + words_h + 4 * unit)
        upper, lower = boxes.rows(boxes.shrunk(box, 2 * unit, 2 * unit), (side, words_h), 0)
        inside = Widget(size_hint=(None, None))
        palette = look.palette
        inside.add_widget(
            Plate(box, palette.panel, round(2.5 * unit), edge=palette.panel_edge, line=look.line)
        )
        self.ring = Ring(look, upper)
        inside.add_widget(self.ring)
        icon = round(0.36 * side)
        inside.add_widget(Icon(boxes.centred(upper, icon, icon), "deal", palette.accent))
        inside.add_widget(TextBox(lower, size, palette.text, text, bold=True))
        self._inside = inside
        self.add_widget(inside)

    def _go(self) -> None:
        self._over.cancel()
        if self._inside is not None:
            self.remove_widget(self._inside)
        self._inside = self.ring = None
