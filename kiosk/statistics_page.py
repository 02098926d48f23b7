"""The panel with what has been played on this kiosk: all games, then each preset by grade.

Invariant: it shows figures of :class:`~kiosk.statistics.Statistics` and changes none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from kivy.uix.widget import Widget

from engine.difficulty import Grade
from kiosk import boxes, theme, wording
from kiosk.commands import Close
from kiosk.layout import Rect
from kiosk.session import Session
from kiosk.sheets import Send, Sheet, heading_bar
from kiosk.statistics import Figures, Statistics
from kiosk.texts import Texts
from kiosk.widgets import LINE, Icon, Look, Plate, PushButton, TextBox, fit

#: Shares of a row's width: name, bar, won of played, best time, fewest moves, streak.
_COLUMNS: Final = (0.39, 0.11, 0.15, 0.11, 0.12, 0.12)
#: The same without the name, which stands above them.
_COLUMNS_BELOW: Final = (0.28, 0.21, 0.17, 0.17, 0.17)
_NOTHING: Final = "\N{EN DASH}"


@dataclass(frozen=True)
class _Row:
    """A line of the table."""

    name: str
    figures: Figures
    total: bool = False


@dataclass(frozen=True)
class _Page:
    """One table: all games, or those of a preset."""

    title: str
    rows: tuple[_Row, ...]


class StatisticsPage(Sheet):
    """Figures and bars, a page at a time."""

    def __init__(self, send: Send, look: Look, texts: Texts, session: Session) -> None:
        super().__init__(look, look.layout.panel)
        self._texts = texts
        self._pages = _pages(texts, session)
        self._page = 0
        self._parts: list[Widget] = []
        played = session.statistics.all.played
        title, buttons, self._room = heading_bar(
            self, texts.gettext("Statistics"), 3 if played else 1
        )
        self.add_widget(PushButton(look, buttons[-1], lambda: send(Close()), "", "close"))
        if not played:
            self._put_invitation(send)
            return
        self._title = TextBox(
            title, look.scale.body, look.palette.accent, bold=True, halign="left", wrap=False
        )
        self.add_widget(self._title)
        for rect, icon, step in zip(buttons, ("left", "right"), (-1, 1), strict=False):
            self._put_turner(rect, icon, step)
        self._show()

    def _put_turner(self, rect: Rect, icon: str, step: int) -> None:
        self.add_widget(PushButton(self.look, rect, lambda: self.turn(step), "", icon))

    def turn(self, step: int) -> None:
        """Go to another page; the last one is before the first."""
        self._page = (self._page + step) % len(self._pages)
        self._show()

    def _put_invitation(self, send: Send) -> None:
        """Nothing has been played yet."""
        look, texts, room = self.look, self._texts, self._room
        heights = (
            round(3.2 * look.scale.title),
            round(2 * LINE * look.scale.body),
            max(look.layout.touch, round(2.6 * look.scale.button)),
        )
        width = min(room.w, round(22 * look.scale.body))
        middle = boxes.centred(room, width, sum(heights) + 4 * look.unit)
        icon, words, button = boxes.rows(middle, heights, 2 * look.unit)
        self.add_widget(Icon(icon, "trophy", look.palette.accent))
        self.text(
            words,
            look.scale.body,
            texts.gettext("No game has ended here yet. The first win is yours to take!"),
        )
        self.add_widget(
            PushButton(
                look, button, lambda: send(Close()), texts.gettext("Play"), "play", role="accent"
            )
        )

    # -- the table ------------------------------------------------------------------------------

    def _show(self) -> None:
        """Put the page on the sheet in place of the one before."""
        for part in self._parts:
            self.remove_widget(part)
        self._parts = []
        page = self._pages[self._page]
        self._title.set_text(page.title)
        look, room, texts = self.look, self._room, self._texts
        head_h = round(2 * LINE * look.scale.caption) + 2 * _inset(look)
        count = len(page.rows)
        gap = look.unit // 2
        most = (4.6 if look.layout.portrait else 2.6) * look.scale.body
        row_h = min((room.h - head_h - count * gap) // count, round(most))
        head, *rows = boxes.rows(room, (head_h, *([row_h] * count)), gap)
        captions = (
            texts.gettext("Share won"),
            texts.gettext("Won / played"),
            texts.gettext("Best time"),
            texts.gettext("Fewest moves"),
            texts.gettext("Longest streak"),
        )
        _, *cells = _cells(look, head)
        size = min(
            fit([caption], look.scale.caption, cell.size).size
            for caption, cell in zip(captions, cells, strict=True)
        )
        for caption, cell in zip(captions, cells, strict=True):
            self._put(cell, size, caption, soft=True)
        name, _, *cells = _cells(look, rows[0])
        sizes = (
            fit([row.name for row in page.rows], look.scale.body, name.size).size,
            fit(["888 / 888"], look.scale.body, cells[0].size, wrap=False).size,
        )
        for row, rect in zip(page.rows, rows, strict=True):
            self._put_row(row, rect, sizes)

    def _put_row(self, row: _Row, rect: Rect, sizes: tuple[int, int]) -> None:
        look, palette, figures = self.look, self.look.palette, row.figures
        self._keep(
            Plate(
                rect,
                palette.button if row.total else palette.panel_raised,
                look.radius // 2,
            )
        )
        name, bar, *cells = _cells(look, rect)
        name_size, size = sizes
        self._put(name, name_size, row.name, halign="left")
        self._put_bar(bar, figures)
        best = figures.best_seconds
        for cell, text in zip(
            cells,
            (
                f"{figures.won} / {figures.played}" if figures.played else _NOTHING,
                _NOTHING if best is None else wording.clock(best),
                _NOTHING if figures.fewest_moves is None else str(figures.fewest_moves),
                str(figures.best_streak) if figures.best_streak else _NOTHING,
            ),
            strict=True,
        ):
            self._put(cell, size, text, wrap=False)

    def _put_bar(self, room: Rect, figures: Figures) -> None:
        """How many of the games were won, as a bar that is full when all were."""
        palette = self.look.palette
        height = round(0.6 * self.look.scale.body)
        bar = boxes.centred(room, room.w, height)
        radius = height / 2
        self._keep(Plate(bar, theme.with_alpha(palette.recess, 1.0), radius))
        if figures.won:
            width = max(height, round(bar.w * figures.won / figures.played))
            self._keep(Plate(Rect(bar.x, bar.y, width, height), palette.accent, radius))

    def _put(self, rect: Rect, size: int, text: str, **options: Any) -> None:
        if text:
            self._parts.append(self.text(rect, size, text, **options))

    def _keep(self, part: Plate) -> None:
        self.add_widget(part)
        self._parts.append(part)


def _inset(look: Look) -> int:
    """What a row keeps free above and below its words, px."""
    return look.unit // 4


def _cells(look: Look, row: Rect) -> list[Rect]:
    """The columns of a row: the name, and what is said about it.

    In portrait the name stands above the rest.
    """
    inside = boxes.shrunk(row, look.unit, _inset(look))
    if not look.layout.portrait:
        return _columns(inside, _COLUMNS, look.unit)
    half = inside.h // 2
    name = Rect(inside.x, inside.y + half, inside.w, inside.h - half)
    below = Rect(inside.x, inside.y, inside.w, half)
    if row.h < round(2 * LINE * look.scale.body):
        below = inside
    return [name, *_columns(below, _COLUMNS_BELOW, look.unit)]


def _columns(room: Rect, shares: Sequence[float], gap: int) -> list[Rect]:
    cells = []
    x = float(room.x)
    for share in shares:
        width = share * (room.w + gap)
        cells.append(Rect(round(x), room.y, round(x + width) - gap - round(x), room.h))
        x += width
    return cells


def _pages(texts: Texts, session: Session) -> list[_Page]:
    """All games by preset, then each preset that was played by grade, the present one first."""
    statistics = session.statistics
    names = {preset: wording.preset_words(texts, preset).name for preset in session.presets}
    first = _Page(
        texts.gettext("All games"),
        (
            *(_Row(name, statistics.of(preset)) for preset, name in names.items()),
            _Row(texts.gettext("In total"), statistics.all, total=True),
        ),
    )
    return [
        first,
        *(_Page(name, _by_grade(texts, statistics, preset)) for preset, name in names.items()),
    ]


def _by_grade(texts: Texts, statistics: Statistics, preset: str) -> tuple[_Row, ...]:
    rows = [
        _Row(
            wording.grade_name(texts, grade),
            statistics.of_grade(preset, grade.name.lower()),
        )
        for grade in Grade
    ]
    other = statistics.of_grade(preset, None)
    if other.played:
        rows.append(_Row(texts.gettext("Other deals"), other))
    return (*rows, _Row(texts.gettext("In total"), statistics.of(preset), total=True))
