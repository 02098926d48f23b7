"""The panel that teaches the game on one screen, under the rules in force.

Invariant: its pictures are the cards of the table, drawn by the same art.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.rules import Covered
from kiosk import art, boxes, theme, wording
from kiosk.art import FaceStyle
from kiosk.layout import Rect
from kiosk.pictures import card_texture
from kiosk.session import Session
from kiosk.sheets import Send, Sheet, header
from kiosk.texts import Texts
from kiosk.widgets import LINE, SMALLEST_TEXT, Icon, Look, Picture, measure

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
#: A covered card lies in the shade of the others, and can still be read.
_FADED: Final = theme.SHADE_DEEP
_FULL: Final = (1.0, 1.0, 1.0, 1.0)
#: How much of a covered card is seen above those that cover it, in card heights.
_STEP: Final = 0.46
#: How far the second card of a pair lies to the right of the first, in card widths.
_FAN: Final = 0.75
#: So many tips for playing well, at most.
_TIPS: Final = 2
#: Cards are not drawn narrower than this, px.
_NARROWEST: Final = 24


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
        self._style = style
        lines = wording.rules_lines(texts, session.position.rules, style.local_indices)
        room = header(
            self,
            send,
            texts.gettext("How to play"),
            lines.pop("pairs"),
            wording.preset_words(texts, session.preset).name,
        )
        strip = self._put_pairs(room)
        below = strip.y - 2 * look.unit - room.y
        self._put_lines(Rect(room.x, room.y, room.w, below), session, lines, wording.tips(texts))

    def _put_pairs(self, room: Rect) -> Rect:
        """The pairs at the top of ``room``; returns what they take."""
        unit, scale = self.look.unit, self.look.scale
        across = 4 if self.look.layout.portrait else 7
        lines = [PAIRS[i : i + across] for i in range(0, len(PAIRS), across)]
        gap = 2 * unit
        cell_w = (room.w - (across - 1) * gap) // across
        # The second card lies over the first, as in a hand; both indices stay visible.
        card_w = max(_NARROWEST, min(round(cell_w / (1 + _FAN)), round(0.14 * room.h)))
        card_h = art.card_size(card_w)[1]
        caption_h = round(LINE * scale.caption)
        line_h = card_h + unit // 4 + caption_h
        strip_h = len(lines) * line_h + (len(lines) - 1) * unit
        strip = Rect(room.x, room.top - strip_h, room.w, strip_h)
        for pairs, line in zip(lines, boxes.grid(strip, 1, len(lines), unit), strict=True):
            whole = boxes.columns(line, across, gap)
            # A short last line stands in the middle.
            spare = (line.right - whole[len(pairs) - 1].right) // 2
            for names, cell in zip(pairs, whole, strict=False):
                self._put_pair(names, cell.moved(spare, 0), card_w, caption_h)
        return strip

    def _put_pair(self, names: tuple[str, ...], cell: Rect, card_w: int, caption_h: int) -> None:
        shift = round(_FAN * card_w)
        left = cell.x + (cell.w - card_w - shift * (len(names) - 1)) // 2
        top = cell.top - art.card_size(card_w)[1]
        for i, name in enumerate(names):
            self._card(name, card_w, left + i * shift, top)
        values = " + ".join(str(_value(name)) for name in names)
        caption = Rect(cell.x, cell.y, cell.w, caption_h)
        self.text(caption, self.look.scale.caption, values, bold=True, wrap=False)

    def _put_lines(
        self, room: Rect, session: Session, lines: dict[str, str], tips: Sequence[str]
    ) -> None:
        """A picture and a text for each subject; all texts in one size."""
        unit, scale = self.look.unit, self.look.scale
        w = self._card_w = self._card_width(session)
        # The overlap rule has a picture of its own beside that of a free card.
        picture_w = round((4.6 if session.position.rules.overlap else 2.6) * w)
        text_w = room.w - picture_w - 2 * unit
        card_h = art.card_size(w)[1]
        picture_h = {"free": round((1 + _STEP) * card_h), "stock": card_h}

        def heights(size: int, texts: dict[str, str]) -> list[int]:
            return [
                max(
                    measure(text, size, width=text_w).height,
                    picture_h.get(subject, round(2 * scale.body)),
                )
                for subject, text in texts.items()
            ]

        def spare(size: int, texts: dict[str, str]) -> int:
            return room.h - sum(heights(size, texts)) - unit * (len(texts) - 1)

        size = next(
            (size for size in range(scale.body, SMALLEST_TEXT, -1) if spare(size, lines) >= 0),
            SMALLEST_TEXT,
        )
        # Advice for playing well comes after the goal, as much as crowds out nothing.
        for count in range(_TIPS, 0, -1):
            advised = {**lines, "goal": " ".join((lines["goal"], *tips[:count]))}
            if spare(size, advised) >= 0:
                lines = advised
                break
        gap = unit + max(0, min(3 * unit, spare(size, lines) // len(lines)))
        pieces = boxes.rows(room, heights(size, lines), gap)
        for (subject, text), row in zip(lines.items(), pieces, strict=True):
            self._put_picture(subject, Rect(row.x, row.y, picture_w, row.h), session)
            words = Rect(row.right - text_w, row.y, text_w, row.h)
            self.text(words, size, text, halign="left")

    def _card_width(self, session: Session) -> int:
        """Width of the cards beside the lines, px; smaller where there are more and less room."""
        crowded = self.look.layout.portrait and session.position.rules.overlap
        return max(_NARROWEST, round((1.3 if crowded else 1.7) * self.look.scale.body))

    def _put_picture(self, subject: str, room: Rect, session: Session) -> None:
        """A picture of what a line says, from the cards of the table."""
        look, unit = self.look, self.look.unit
        rules = session.position.rules
        w = self._card_w
        h = art.card_size(w)[1]
        gap = max(2, unit // 4)
        x, y = room.x + (room.w - 2 * w - gap) // 2, room.y + (room.h - h) // 2
        step = round(_STEP * h)
        match subject:
            case "free":
                y -= step // 2
                if rules.overlap:
                    # One neighbour is gone; the two that make 13 are both in full light.
                    x -= w + gap
                    beside = x + round(2.6 * w)
                    self._card("6D", w, beside, y + step)
                    self._card("7C", w, beside + (w + gap) // 2, y)
                covered = "back" if rules.covered is Covered.FACE_DOWN else "JD"
                self._card(covered, w, x + (w + gap) // 2, y + step, faded=True)
                self._card("7C", w, x, y)
                self._card("2S", w, x + w + gap, y)
            case "stock":
                self._card("5H" if rules.stock_playable else "back", w, x, y)
                self._card("8C", w, x + w + gap, y)
            case _:
                side = min(room.w, room.h, round(2.2 * look.scale.body))
                self.add_widget(
                    Icon(boxes.centred(room, side, side), "trophy", look.palette.accent)
                )

    def _card(self, name: str, width: int, x: int, y: int, *, faded: bool = False) -> None:
        texture = card_texture(name, width, self._style)
        rect = Rect(x, y, *art.card_size(width))
        self.add_widget(Picture(rect, texture, _FADED if faded else _FULL))


def _value(name: str) -> int:
    return "A23456789TJQK".index(name[0]) + 1
