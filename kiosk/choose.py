"""The panel that offers the presets.

Invariant: the order is the engine's; every deal that is offered can be won, and the panel says
what a random one would be.
"""

from __future__ import annotations

from collections.abc import Callable

from kiosk import boxes, wording
from kiosk.commands import Close, NewDeal
from kiosk.layout import Rect
from kiosk.session import Session
from kiosk.sheets import Send, Sheet, header
from kiosk.texts import Texts
from kiosk.widgets import LINE, Icon, Look, Plate, Pressable, TextBox, fit


class Choose(Sheet):
    """Six presets, each with a line that explains it; the present one is marked."""

    def __init__(self, send: Send, look: Look, texts: Texts, session: Session) -> None:
        super().__init__(look, look.layout.panel)
        self.outside = Close()
        room = header(
            self,
            send,
            texts.gettext("Choose a game"),
            texts.gettext("All our deals can be won."),
        )
        names = wording.preset_names()
        words = [wording.preset_words(texts, name) for name in names]
        across = 1 if look.layout.portrait else 2
        cells = boxes.grid(room, across, -(-len(names) // across), look.unit)
        rooms = _Entry.rooms(look, cells[0])
        scale = look.scale
        name_size = fit(
            [w.name for w in words], scale.button, rooms[0].size, bold=True, wrap=False
        ).size
        size = min(
            fit([w.line for w in words], scale.caption, rooms[1].size).size,
            fit([w.odds for w in words], scale.caption, rooms[2].size, wrap=False).size,
        )
        for name, entry, cell in zip(names, words, cells, strict=False):

            def choose(preset: str = name) -> object:
                return send(NewDeal(preset))

            self.add_widget(
                _Entry(look, cell, choose, entry, (name_size, size), chosen=name == session.preset)
            )


class _Entry(Pressable):
    """One preset as a large button."""

    def __init__(
        self,
        look: Look,
        rect: Rect,
        act: Callable[[], object],
        words: wording.PresetWords,
        sizes: tuple[int, int],
        *,
        chosen: bool,
    ) -> None:
        super().__init__(rect, look.unit, act)
        self._look = look
        palette = look.palette
        self._plate = Plate(
            rect,
            palette.panel_raised,
            look.radius,
            edge=palette.accent if chosen else None,
            line=1.5 * look.line,
        )
        self.add_widget(self._plate)
        name, line, odds = self.rooms(look, rect)
        if chosen:
            side = round(1.1 * look.scale.button)
            self.add_widget(
                Icon(Rect(name.right - side, name.y, side, name.h), "check", palette.accent)
            )
        ink = palette.accent if chosen else palette.text
        for room, size, colour, text, bold in (
            (name, sizes[0], ink, words.name, True),
            (line, sizes[1], palette.text, words.line, False),
            (odds, sizes[1], palette.text_soft, words.odds, False),
        ):
            self.add_widget(
                TextBox(room, size, colour, text, bold=bold, halign="left", wrap=room is line)
            )

    @staticmethod
    def rooms(look: Look, rect: Rect) -> tuple[Rect, Rect, Rect]:
        """The room for name, line and odds in an entry's rectangle."""
        scale = look.scale
        inside = boxes.shrunk(rect, round(1.5 * look.unit), look.unit // 2)
        name_h, odds_h = round(LINE * scale.button), round(LINE * scale.caption)
        line_h = min(round(2 * LINE * scale.caption), inside.h - name_h - odds_h)
        room = boxes.centred(inside, inside.w, name_h + line_h + odds_h)
        name, line, odds = boxes.rows(room, (name_h, line_h, odds_h), 0)
        return name, line, odds

    def show(self) -> None:
        """Look pressed or not."""
        palette = self._look.palette
        self._plate.set_colour(palette.button_down if self.down else palette.panel_raised)
