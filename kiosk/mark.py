"""The mark on the screen: a frame round what a stick, a wheel or a keyboard has got to.

It finds what there is to mark where a finger would find it: the buttons of the open panel, or else
cards, piles and the buttons beside them.  Taking what is marked is a tap on it.

Invariant: no game state, and no second road: it sends the commands that a finger would send.
Nothing is drawn again unless the frame moves.

Needs Kivy's window.  Call on the main thread only.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, Final

from kivy.graphics import Color, InstructionGroup, SmoothLine
from kivy.uix.widget import Widget

from kiosk.commands import Command, Panel, Pile, Tap
from kiosk.cursor import SELECT, Cursor, Spot, in_reading_order, table_spots
from kiosk.hud import Hud, Send
from kiosk.layout import Layout, Rect
from kiosk.screens import PanelHost
from kiosk.session import Session
from kiosk.sheets import Sheet
from kiosk.table import Table
from kiosk.theme import Palette
from kiosk.widgets import Pressable, PushButton

_BLACK: Final = (0.0, 0.0, 0.0, 1.0)


class Mark(Widget):  # type: ignore[misc]
    """The mark over one table, its buttons and its panels.

    Args:
        send: carries a command to the session.
        session: read only.
        cursor: where the mark stands; outlives this widget.
        parts: the table, the buttons beside it and the panels over it.
        layout: where everything lies.
        palette: the colours.

    After every command the app calls :meth:`update`.
    """

    def __init__(
        self,
        send: Send,
        session: Session,
        cursor: Cursor,
        parts: tuple[Table, Hud, PanelHost],
        *,
        layout: Layout,
        palette: Palette,
    ) -> None:
        super().__init__(size=layout.screen.size, size_hint=(None, None))
        self._send = send
        self._session = session
        self._cursor = cursor
        self._table, self._hud, self._panels = parts
        self._palette = palette
        self._frame = InstructionGroup()
        self._drawn: Rect | None = None
        self.canvas.add(self._frame)
        self.set_layout(layout)

    # -- what the app calls ---------------------------------------------------------------------

    @property
    def rect(self) -> Rect | None:
        """What the frame is round, on the screen; None while there is none."""
        return self._drawn

    def set_layout(self, layout: Layout) -> None:
        """Move to another screen size; call :meth:`update` afterwards."""
        self._layout = layout
        self.size = layout.screen.size
        self._draw(None)

    def update(self) -> None:
        """Mark what there is now."""
        cursor = self._cursor
        if self._session.attract:
            cursor.forget()
        spot = None
        if cursor.shown:
            self._settle()
            spot = cursor.spot if cursor.has_spots else None
        self._draw(None if spot is None else self._rect_of(spot))

    def navigate(self, way: str) -> None:
        """Go ``up``, ``down``, ``left``, ``right``, ``next`` or ``previous``, or ``select``.

        A mark that is not seen is only shown, whatever was asked.

        Raises:
            ValueError: there is no such way.
        """
        cursor = self._cursor
        self._settle()
        if way != SELECT:
            cursor.steer(way)
        elif not cursor.has_spots:
            self._take_anywhere()
        elif cursor.shown:
            self._take(cursor.spot)
        cursor.shown = True
        self.update()

    def hide(self) -> None:
        """Let the mark disappear: a finger is on the screen."""
        self._cursor.hide()
        self._draw(None)

    # -- what there is --------------------------------------------------------------------------

    def _settle(self) -> None:
        session = self._session
        scene: Hashable = session.panel
        if session.panel is Panel.SERVICE and session.service is not None:
            scene = (session.panel, session.service.page, session.service.asking)
        self._cursor.settle(scene, list(self._spots()))

    def _spots(self) -> Iterator[Spot]:
        session, sheet = self._session, self._panels.sheet
        if session.attract:
            return
        if sheet is not None:
            yield from in_reading_order(
                [
                    Spot(button.rect, button.rect, live=button.enabled, first=_is_first(button))
                    for button in _buttons(sheet)
                ]
            )
        elif session.panel is Panel.NONE:
            yield from table_spots(session.position, self._layout)
            for control, button in self._hud.buttons.items():
                yield Spot(control, button.rect, live=button.enabled)

    def _rect_of(self, spot: Spot) -> Rect:
        key = spot.key
        return self._table.rect_of(key) if isinstance(key, int | Pile) else spot.rect

    # -- taking ---------------------------------------------------------------------------------

    def _take(self, spot: Spot | None) -> None:
        sheet = self._panels.sheet
        key = None if spot is None else spot.key
        if isinstance(key, int | Pile):
            self._send(Tap(key))
            return
        buttons = list(self._hud.buttons.values()) if sheet is None else _buttons(sheet)
        for button in buttons:
            if spot is not None and button.rect == spot.rect:
                button.press()
                return

    def _take_anywhere(self) -> None:
        """Where there is nothing to mark, taking is a tap somewhere."""
        sheet = self._panels.sheet
        command: Command | None = None if sheet is None else sheet.anywhere
        if command is not None:
            self._send(command)
        else:
            # What is not there yet is still on its way, as after the last move of a game.
            self._table.finish()

    # -- drawing --------------------------------------------------------------------------------

    def _draw(self, rect: Rect | None) -> None:
        if rect == self._drawn:
            return
        self._drawn = rect
        self._frame.clear()
        if rect is None:
            return
        unit = self._layout.unit
        # A bright line between two dark ones: seen on cards as well as on the table.
        line = max(1.8, 0.3 * unit)
        casing = line + max(1.2, 0.14 * unit)
        away = casing
        x, y = rect.x - away, rect.y - away
        box = (x, y, rect.w + 2 * away, rect.h + 2 * away, unit + away)
        for colour, width in ((_BLACK, casing), (self._palette.mark, line)):
            self._frame.add(Color(*colour))
            self._frame.add(SmoothLine(rounded_rectangle=box, width=width))


def _buttons(sheet: Sheet) -> list[Pressable]:
    """All that can be pressed on a panel."""

    def within(widget: Any) -> Iterator[Pressable]:
        for child in widget.children:
            if isinstance(child, Pressable):
                yield child
            else:
                yield from within(child)

    return list(within(sheet))


def _is_first(button: Pressable) -> bool:
    """Whether it is the one thing to do."""
    return isinstance(button, PushButton) and button.role == "accent"
