"""The panel that teaches the game on one screen, under the rules in force.

Invariant: its pictures are the cards of the table, drawn by the same art.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from kivy.graphics.texture import Texture

from kiosk import art, boxes, wording
from kiosk.art import FaceStyle
from kiosk.commands import Close
from kiosk.faces import _texture_of as texture_of
from kiosk.layout import Rect
from kiosk.session import Session
from kiosk.sheets import Send, Sheet, header
from kiosk.texts import Texts
from kiosk.widgets import Icon, Look, Picture, fit

#: The seven ways to make 13, with suits that show that suits do not matter.
PAIRS: Final[tuple[tuple[str, ...], ...]] = (
    ("QH", "AS"),
    ("JC", "2D"),
    ("TD", "3S"),
    ("9S", "4H"),
    ("8H", "5C"),
    ("7C", "6D"),
    ("KS",),
)
_FADED: Final = (0.55, 0.55, 0.55, 1.0)
_FULL: Final = (1.0, 1.0, 1.0, 1.0)
#: Cards are not drawn narrower than this, px.
_NARROWEST: Final = 24


@lru_cache(maxsize=64)
def card_texture(name: str, width: int, style: FaceStyle) -> Texture:
    """One card (``TH``, ``back``, …) ``width`` px wide."""
    return texture_of(art.picture(name, width, style))


class RulesPage(Sheet):
    """How to play.

    Args:
        send: carries a command to the session.
        look: the common look.
        texts: the language.
        session: the game whose rules are told.
        style: how the cards are printed.
    """

    def __init__(
        self, send: Send, look: Look, texts: Texts, session: Session, style: FaceStyle
    ) -> None:
        super().__init__(look, look.layout.panel)
        self.outside = Close()
        self._style = style
        room = header(
            self,
            send,
            texts,
            texts.gettext("How to play"),
            wording.preset_words(texts, session.preset).name,
        )
        scale, unit = look.scale, look.unit
        lines = wording.rules_lines(texts, session.position.rules)
        across = 4 if look.layout.portrait else 7
        strip_rows = -(-len(PAIRS) // across)
        cell_w = (room.w - (across - 1) * 2 * unit) // across
        card_w = max(_NARROWEST, (cell_w - unit // 2) // 2)
        caption_h = round(1.4 * scale.caption)
        cell_h = art.card_size(card_w)[1] + unit // 2 + caption_h
        strip_h = strip_rows * cell_h + (strip_rows - 1) * unit
        strip = Rect(room.x, room.top - strip_h, room.w, strip_h)
        self._put_pairs(strip, across, card_w, caption_h)
        below = Rect(room.x, room.y, room.w, room.h - strip_h - 2 * unit)
        self._put_lines(below, session, lines)

    def _put_pairs(self, strip: Rect, across: int, card_w: int, caption_h: int) -> None:
        unit, look = self.look.unit, self.look
        down = -(-len(PAIRS) // across)
        line_cells = boxes.grid(strip, 1, down, unit)
        for row, line in enumerate(line_cells):
            pairs = PAIRS[row * across : (row + 1) * across]
            # A short last line stands in the middle.
            whole = boxes.columns(line, across, 2 * unit)
            spare = (line.w - (whole[len(pairs) - 1].right - line.x)) // 2
            for names, cell in zip(pairs, whole, strict=False):
                room = cell.moved(spare, 0)
                cards, caption = boxes.rows(room, (room.h - caption_h, caption_h), 0)
                width = len(names) * card_w + (len(names) - 1) * (unit // 2)
                left = cards.x + (cards.w - width) // 2
                for i, name in enumerate(names):
                    x = left + i * (card_w + unit // 2)
                    self._card(name, card_w, x, cards.y + unit // 2)
                values = " + ".join(str(_value(name)) for name in names)
                self.text(caption, look.scale.caption, values, bold=True, wrap=False)

    def _put_lines(self, room: Rect, session: Session, lines: dict[str, str]) -> None:
        unit, scale = self.look.unit, self.look.scale
        picture_w = round(4.2 * scale.body)
        text_w = room.w - picture_w - 2 * unit
        gap = unit
        # Longer texts get more room; all share one size.
        size = scale.body
        while True:
            heights = [
                max(fit([t], size, (text_w, room.h)).height, round(2.6 * scale.body))
                for t in lines.values()
            ]
            spare = room.h - sum(heights) - gap * (len(heights) - 1)
            if spare >= 0 or size <= scale.caption:
                break
            size -= 1
        if spare < 0:
            heights = [h + spare // len(heights) for h in heights]
        gap += max(0, min(3 * unit, spare // max(1, len(heights))))
        for (subject, text), row in zip(
            lines.items(), boxes.rows(room, heights, gap), strict=True
        ):
            self._put_picture(subject, Rect(row.x, row.y, picture_w, row.h), session)
            words = Rect(row.right - text_w, row.y, text_w, row.h)
            self.text(words, size, text, halign="left")

    def _put_picture(self, subject: str, room: Rect, session: Session) -> None:
        """A picture of what a line says, from the cards of the table."""
        look, unit = self.look, self.look.unit
        rules = session.position.rules
        w = max(_NARROWEST, round(1.35 * look.scale.body))
        h = art.card_size(w)[1]
        x, y = room.x + (room.w - 2 * w - unit // 2) // 2, room.y + (room.h - h) // 2
        if subject == "pairs":
            self._card("9S", w, x, y)
            self._card("4H", w, x + w + unit // 2, y)
        elif subject == "free":
            step = round(0.45 * h)
            low = room.y + (room.h - h - step) // 2
            covered = "back" if rules.covered is rules.covered.FACE_DOWN else "JD"
            self._card(covered, w, x + (w + unit // 2) // 2, low + step, faded=True)
            self._card("7C", w, x, low)
            self._card("2S", w, x + w + unit // 2, low)
        elif subject == "stock":
            self._card("5H" if rules.stock_playable else "back", w, x, y)
            self._card("8C", w, x + w + unit // 2, y)
        else:
            side = min(room.w, room.h, round(2.2 * look.scale.body))
            self.add_widget(Icon(boxes.centred(room, side, side), "trophy", look.palette.accent))

    def _card(self, name: str, width: int, x: int, y: int, *, faded: bool = False) -> None:
        texture = card_texture(name, width, self._style)
        rect = Rect(x, y, *art.card_size(width))
        self.add_widget(Picture(rect, texture, _FADED if faded else _FULL))


def _value(name: str) -> int:
    return "A23456789TJQK".index(name[0]) + 1
