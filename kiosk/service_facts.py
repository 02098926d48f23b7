"""Two pages of the service menu: what is going on, and what went wrong.

Invariant: they show what was true when they were opened; only turning the leaves changes them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from kivy.uix.widget import Widget

from kiosk import boxes, service_wording
from kiosk.commands import Close
from kiosk.errorlog import Logged
from kiosk.layout import Rect
from kiosk.session import Session
from kiosk.sheets import Send, Sheet, header, heading_bar
from kiosk.texts import Texts
from kiosk.widgets import LINE, Icon, Look, Plate, PushButton, TextBox, measure


class StatusPage(Sheet):
    """Version, times, pool."""

    def __init__(self, send: Send, look: Look, texts: Texts, session: Session) -> None:
        super().__init__(look, look.layout.screen.inset(look.unit))
        assert session.service is not None
        facts = session.service.desk.facts()
        room = header(self, send, texts.gettext("Status"))
        rows = service_wording.fact_rows(texts, facts)
        deals = service_wording.deal_rows(texts, facts.pool.deals)
        gap = look.unit
        if look.layout.portrait or not deals:
            facts_room, deals_room = room, room
        else:
            split = round(0.6 * (room.w - 2 * gap))
            facts_room = Rect(room.x, room.y, split, room.h)
            deals_room = Rect(room.x + split + 2 * gap, room.y, room.w - split - 2 * gap, room.h)
        used = self._put_rows(facts_room, rows, share=0.38)
        if deals:
            if look.layout.portrait:
                deals_room = Rect(room.x, room.y, room.w, used - 2 * gap - room.y)
            heading_h = round(LINE * look.scale.body)
            (heading,) = boxes.rows(deals_room, (heading_h,), 0)
            self.text(
                heading,
                look.scale.body,
                texts.gettext("Deals in the pool"),
                bold=True,
                halign="left",
                wrap=False,
            )
            below = Rect(
                deals_room.x, deals_room.y, deals_room.w, deals_room.h - heading_h - gap // 2
            )
            self._put_rows(below, deals, share=0.66)

    def _put_rows(self, room: Rect, rows: Sequence[tuple[str, str]], *, share: float) -> int:
        """Names and what they stand for; return where the last one ends."""
        gap = self.look.unit
        name_w = round(share * room.w)
        value_w = room.w - name_w - gap
        size, heights = self._fitted(rows, (name_w, value_w), room.h, gap)
        pieces = boxes.rows(room, heights, gap)
        for (name, value), piece in zip(rows, pieces, strict=True):
            left = Rect(piece.x, piece.y, name_w, piece.h)
            right = Rect(piece.right - value_w, piece.y, value_w, piece.h)
            self.text(left, size, name, soft=True, halign="left", valign="top", narrowest=1.0)
            self.text(right, size, value, bold=True, halign="left", valign="top", narrowest=1.0)
        return pieces[-1].y

    def _fitted(
        self, rows: Sequence[tuple[str, str]], widths: tuple[int, int], height: int, gap: int
    ) -> tuple[int, list[int]]:
        """The largest type in which all rows fit, and how high each is then."""
        scale = self.look.scale
        for size in range(scale.body, scale.caption - 1, -1):
            heights = [
                max(
                    measure(name, size, width=widths[0]).height,
                    measure(value, size, bold=True, width=widths[1]).height,
                    round(LINE * size),
                )
                for name, value in rows
            ]
            over = sum(heights) + (len(rows) - 1) * gap - height
            if over <= 0:
                return size, heights
        # What is longest is made smaller: a path, or what an error says.
        longest = heights.index(max(heights))
        heights[longest] = max(round(LINE * size), heights[longest] - over)
        return size, heights


class ErrorsPage(Sheet):
    """The last warnings and errors, some at a time."""

    def __init__(self, send: Send, look: Look, texts: Texts, session: Session) -> None:
        super().__init__(look, look.layout.screen.inset(look.unit))
        assert session.service is not None
        self._entries = tuple(session.service.desk.errors())
        self._texts = texts
        self._parts: list[Widget] = []
        count = 3 if self._entries else 1
        line, buttons, self._room = heading_bar(self, texts.gettext("Last errors"), count)
        self.add_widget(PushButton(look, buttons[-1], lambda: send(Close()), "", "close"))
        if not self._entries:
            middle = boxes.centred(self._room, self._room.w, round(2 * LINE * look.scale.body))
            self.text(
                middle, look.scale.body, texts.gettext("No error since the start."), soft=True
            )
            return
        self._leaves = self._leafed()
        self._leaf = 0
        self._line = TextBox(
            line, look.scale.body, look.palette.text_soft, halign="left", wrap=False
        )
        self.add_widget(self._line)
        self._turners = [
            PushButton(look, rect, self._turner(step), "", icon)
            for rect, icon, step in zip(buttons, ("left", "right"), (-1, 1), strict=False)
        ]
        for turner in self._turners:
            self.add_widget(turner)
        self._show()

    def _turner(self, step: int) -> Callable[[], None]:
        return lambda: self.turn(step)

    def turn(self, step: int) -> None:
        """Go to newer (-1) or older (1) ones."""
        self._leaf = min(max(self._leaf + step, 0), len(self._leaves) - 1)
        self._show()

    def _height(self, entry: Logged) -> int:
        look = self.look
        size = look.scale.caption
        words = measure(entry.text, size, width=self._words(self._room).w).height
        return min(words + round(LINE * size) + 2 * look.unit, self._room.h)

    def _words(self, rect: Rect) -> Rect:
        """Where the words of an entry go: beside its sign."""
        look = self.look
        left = rect.x + 2 * look.unit + look.scale.button
        return Rect(left, rect.y + look.unit, rect.right - look.unit - left, rect.h - 2 * look.unit)

    def _leafed(self) -> list[list[Logged]]:
        """The entries in portions that fit."""
        gap = self.look.unit
        leaves: list[list[Logged]] = [[]]
        left = self._room.h
        for entry in self._entries:
            height = self._height(entry) + gap
            if leaves[-1] and height - gap > left:
                leaves.append([])
                left = self._room.h
            leaves[-1].append(entry)
            left -= height
        return leaves

    def _show(self) -> None:
        for part in self._parts:
            self.remove_widget(part)
        self._parts = []
        look, palette, texts = self.look, self.look.palette, self._texts
        leaf = self._leaves[self._leaf]
        first = 1 + sum(len(before) for before in self._leaves[: self._leaf])
        self._line.set_text(
            texts.gettext(
                "{first} to {last} of {all}",
                first=first,
                last=first + len(leaf) - 1,
                all=len(self._entries),
            )
        )
        self._turners[0].set_enabled(self._leaf > 0)
        self._turners[1].set_enabled(self._leaf + 1 < len(self._leaves))
        size = look.scale.caption
        for entry, rect in zip(
            leaf, boxes.rows(self._room, [self._height(e) for e in leaf], look.unit), strict=True
        ):
            words = self._words(rect)
            upper = Rect(words.x, words.top - round(LINE * size), words.w, round(LINE * size))
            lower = Rect(words.x, words.y, words.w, words.h - upper.h)
            side = look.scale.button
            bad = entry.level >= logging.ERROR
            self._put(
                Plate(rect, palette.panel_raised, look.radius),
                Icon(
                    Rect(rect.x + look.unit, words.top - side, side, side),
                    "warning" if bad else "info",
                    palette.danger if bad else palette.accent,
                ),
                TextBox(
                    upper,
                    size,
                    palette.text_soft,
                    service_wording.logged(entry),
                    halign="left",
                    wrap=False,
                ),
                TextBox(
                    lower,
                    size,
                    palette.text,
                    entry.text,
                    halign="left",
                    valign="top",
                    narrowest=1.0,
                ),
            )

    def _put(self, *widgets: Widget) -> None:
        for widget in widgets:
            self.add_widget(widget)
            self._parts.append(widget)
