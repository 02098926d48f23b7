"""The panel that offers the presets.

Invariant: the order is the engine's; every deal that is offered can be won, and the panel says
what a random one would be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kiosk import boxes, wording
from kiosk.commands import Close, NewDeal
from kiosk.layout import Rect
from kiosk.session import Session
from kiosk.sheets import Send, Sheet, header
from kiosk.texts import Texts
from kiosk.widgets import LINE, SMALLEST_TEXT, Icon, Look, Plate, Pressable, TextBox, fit, measure


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
        sizes = _sizes(look, cells[-1], words)
        for name, entry, cell in zip(names, words, cells, strict=False):

            def choose(preset: str = name) -> object:
                return send(NewDeal(preset))

            self.add_widget(_Entry(look, cell, choose, entry, sizes, chosen=name == session.preset))


@dataclass(frozen=True)
class _Sizes:
    """Font sizes and heights that suit all entries, px."""

    name: int
    text: int
    name_h: int
    line_h: int
    odds_h: int


def _inside(look: Look, rect: Rect) -> Rect:
    return boxes.shrunk(rect, round(1.5 * look.unit), look.unit // 4)


def _sizes(look: Look, cell: Rect, words: Sequence[wording.PresetWords]) -> _Sizes:
    """The largest sizes at which every entry fits into ``cell``."""
    scale, room = look.scale, _inside(look, cell)
    name_h = round(LINE * scale.button)
    name = fit([w.name for w in words], scale.button, (room.w, name_h), bold=True, wrap=False)
    for size in range(scale.caption, SMALLEST_TEXT - 1, -1):
        lines = [measure(w.line, size, width=room.w) for w in words]
        odds = [measure(w.odds, size) for w in words]
        line_h, odds_h = max(m.height for m in lines), max(m.height for m in odds)
        fits = all(m.fits for m in lines) and max(m.width for m in odds) <= room.w
        if fits and name_h + line_h + odds_h <= room.h:
            break
    return _Sizes(name.size, size, name_h, line_h, odds_h)


class _Entry(Pressable):
    """One preset as a large button."""

    def __init__(
        self,
        look: Look,
        rect: Rect,
        act: Callable[[], object],
        words: wording.PresetWords,
        sizes: _Sizes,
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
        inside = _inside(look, rect)
        heights = (sizes.name_h, sizes.line_h, sizes.odds_h)
        name, line, odds = boxes.rows(boxes.centred(inside, inside.w, sum(heights)), heights, 0)
        if chosen:
            side = round(1.1 * look.scale.button)
            self.add_widget(
                Icon(Rect(name.right - side, name.y, side, name.h), "check", palette.accent)
            )
        ink = palette.accent if chosen else palette.text
        for room, size, colour, text, bold in (
            (name, sizes.name, ink, words.name, True),
            (line, sizes.text, palette.text, words.line, False),
            (odds, sizes.text, palette.text_soft, words.odds, False),
        ):
            self.add_widget(
                TextBox(room, size, colour, text, bold=bold, halign="left", wrap=room is line)
            )

    def show(self) -> None:
        """Look pressed or not."""
        palette = self._look.palette
        self._plate.set_colour(palette.button_down if self.down else palette.panel_raised)
