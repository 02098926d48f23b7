"""What lies over the table in attract mode between two demos: a call, the daily deal, figures.

Invariant: it is built for one scene and thrown away with it; it takes no touch, for a touch
anywhere wakes the kiosk, and it leaves the call to touch in its place free.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from kivy.uix.widget import Widget

from kiosk import art, boxes, reel_wording, theme, wording
from kiosk.art import FaceStyle
from kiosk.layout import CARD_ASPECT, Layout, Rect
from kiosk.pictures import card_texture
from kiosk.session import Session
from kiosk.showreel import Scene, SceneKind
from kiosk.texts import Texts
from kiosk.widgets import LINE, Look, Picture, Plate, TextBox, fit

#: What the call shows, as sums: two cards, two cards that are not what is printed on them, a King.
_SUMS: Final = (("9S", "4H"), ("QH", "AS"), ("KD",))
#: Of the width of the screen: what a poster takes that lets the table be seen beside it.
_NARROW: Final = 0.62
#: Cards are not drawn narrower than this, px.
_NARROWEST: Final = 24


def poster_rect(layout: Layout, kind: SceneKind) -> Rect:
    """Where a poster lies: in landscape below the call, in portrait above it."""
    unit = layout.unit
    side = 2 * unit
    if layout.portrait:
        pyramid = layout.pyramid_area
        middle = Rect(0, pyramid.y, layout.width, pyramid.h)
        width = layout.width - 2 * side
        if kind is SceneKind.DAILY:
            # Between two rows: no slivers of cards are left above and below.
            foot, top = layout.pyramid[-1].top, layout.pyramid[3].top
            return Rect(side, foot, width, top - foot)
        share = 0.9 if kind is SceneKind.CALL else 0.62
        return boxes.centred(middle, width, round(share * pyramid.h))
    width = layout.width - 2 * side
    if kind is SceneKind.DAILY:
        # The table is seen beside it, but no corners of cards that lie below it.
        covered = layout.pyramid_area.w + 2 * layout.unit
        width = min(width, max(round(_NARROW * layout.width), covered))
    # No sliver of the cards is left below it.
    foot = min(side, layout.pyramid_area.y)
    return Rect((layout.width - width) // 2, foot, width, layout.status.y - unit - foot)


class Poster(Widget):  # type: ignore[misc]
    """The poster of a scene.

    Args:
        look: the common look.
        texts: the language of the scene.
        calls: the call to touch in the other languages.
        session: what is told about; its scene is no demo.
    """

    def __init__(self, look: Look, texts: Texts, calls: Sequence[str], session: Session) -> None:
        scene = session.scene
        assert scene is not None
        self.rect = poster_rect(look.layout, scene.kind)
        super().__init__(pos=self.rect.pos, size=self.rect.size, size_hint=(None, None))
        self._look = look
        self._texts = texts
        ground = theme.with_alpha(look.palette.panel, 0.97)
        edge = look.palette.panel_edge
        self.add_widget(Plate(self.rect, ground, round(2.5 * look.unit), edge=edge, line=look.line))
        inside = boxes.shrunk(self.rect, 3 * look.unit, round(1.5 * look.unit))
        match scene.kind:
            case SceneKind.CALL:
                self._call(inside, calls, FaceStyle.of(session.look, texts.language))
            case SceneKind.DAILY:
                self._daily(inside, scene)
            case _:
                self._figures(inside, session)

    # -- the three kinds ------------------------------------------------------------------------

    def _call(self, room: Rect, calls: Sequence[str], style: FaceStyle) -> None:
        look = self._look
        scale = look.scale
        portrait = look.layout.portrait
        title_h = round(LINE * scale.title * (2 if portrait else 1))
        # Beside each other in one line where that is wide enough, else each in its own.
        lines = list(calls) if portrait else [" · ".join(calls)]
        line_h = round(LINE * scale.button)
        foot_h = line_h * len(lines)
        gap = look.unit
        cards_h = room.h - title_h - foot_h - 2 * gap
        title, cards, foot = boxes.rows(room, (title_h, cards_h, foot_h), gap)
        self._text(title, scale.title, self._texts.gettext("Make 13: tap two free cards"))
        self._sums(cards, style)
        size = fit(lines, scale.button, (foot.w, line_h), wrap=False).size
        for text, row in zip(lines, boxes.rows(foot, [line_h] * len(lines), 0), strict=True):
            self._text(row, size, text, soft=True, bold=False, wrap=False)

    def _sums(self, room: Rect, style: FaceStyle) -> None:
        """Cards that go together, as sums; in portrait below each other."""
        look = self._look
        letters = style.local_indices
        if look.layout.portrait:
            cells = boxes.grid(room, 1, len(_SUMS), 2 * look.unit)
        else:
            cells = boxes.columns(room, len(_SUMS), 2 * look.unit)
        cells_w, cells_h = cells[0].size
        # Two cards side by side take half a cell, their sum the other half.
        w = max(_NARROWEST, min(round(cells_w * 0.24), round(cells_h / CARD_ASPECT)))
        # The letters stand on the cards; beside them stands what they count.
        sums = [
            " + ".join(str(_rank(name)) for name in names) + " = 13"
            if len(names) > 1
            else f"{letters[_rank(names[0]) - 1]} = 13"
            for names in _SUMS
        ]
        step = w + look.unit
        words_w = cells_w - 2 * step - look.unit
        size = fit(sums, look.scale.title, (words_w, cells_h), bold=True).size
        for names, words, cell in zip(_SUMS, sums, cells, strict=True):
            high = art.card_size(w)[1]
            left = cell.x + (2 - len(names)) * step // 2
            for i, name in enumerate(names):
                place = Rect(left + i * step, cell.y + (cell.h - high) // 2, w, high)
                self.add_widget(Picture(place, card_texture(name, w, style)))
            text = Rect(cell.right - words_w, cell.y, words_w, cell.h)
            self._text(text, size, words, halign="left")

    def _daily(self, room: Rect, scene: Scene) -> None:
        texts, scale = self._texts, self._look.scale
        assert scene.day is not None
        table = scene.table
        number = wording.deal_line(texts, table.game.deal.number, daily=False, grade=table.grade)
        lines = (
            (texts.gettext("Deal of the day"), scale.display, False),
            (reel_wording.date_words(texts, scene.day), scale.title, False),
            (number, scale.figure, False),
            (texts.gettext("The same cards for everybody, all day long."), scale.body, True),
        )
        heights = [round(LINE * size) for _words, size, _soft in lines]
        share = min(1.0, room.h / (sum(heights) + 3 * self._look.unit // 2))
        heights = [int(share * h) for h in heights]
        spare = room.h - sum(heights)
        block = boxes.rows(room, heights, spare // (len(lines) - 1) if spare > 0 else 0)
        for (text, size, soft), row in zip(lines, block, strict=True):
            self._text(row, size, text, soft=soft, bold=not soft, wrap=False)

    def _figures(self, room: Rect, session: Session) -> None:
        look, scale = self._look, self._look.scale
        statistics = session.statistics
        told = reel_wording.figures_words(
            self._texts, statistics.of_day(session.today), statistics.all
        )
        foot_h = round(LINE * scale.title * (2 if look.layout.portrait else 1))
        upper, foot = boxes.rows(room, (room.h - foot_h - look.unit, foot_h), look.unit)
        for figure, cell in zip(told.figures, boxes.columns(upper, 2, 2 * look.unit), strict=True):
            words_h = round(LINE * scale.title)
            number_h = min(cell.h - words_h, round(LINE * 2.2 * scale.display))
            both = boxes.centred(cell, cell.w, number_h + words_h)
            number, words = boxes.rows(both, (number_h, words_h), 0)
            self._text(
                number,
                round(number_h / LINE),
                str(figure.number),
                colour=look.palette.accent,
                wrap=False,
            )
            self._text(words, scale.title, figure.words, wrap=False)
        self._text(foot, scale.figure, told.line, soft=True, bold=False)

    def _text(
        self,
        rect: Rect,
        size: int,
        text: str,
        *,
        soft: bool = False,
        bold: bool = True,
        colour: theme.Colour | None = None,
        **options: Any,
    ) -> None:
        palette = self._look.palette
        ink = colour or (palette.text_soft if soft else palette.text)
        self.add_widget(TextBox(rect, size, ink, text, bold=bold, **options))


def _rank(name: str) -> int:
    return "A23456789TJQK".index(name[0]) + 1
