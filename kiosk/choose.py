"""The panel that offers what to play: the rules, how hard, the deal of the day, a number.

Invariant: every deal that is offered can be won, and the panel says how rare that is.  What is
marked here becomes the game only by a command.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.difficulty import Grade
from kiosk import boxes, wording
from kiosk.commands import NewDeal, Open, Panel
from kiosk.layout import Rect
from kiosk.schedule import clock_was_set
from kiosk.session import Session
from kiosk.sheets import Send, Sheet, header
from kiosk.texts import Texts
from kiosk.widgets import LINE, SMALLEST_TEXT, Look, Option, PushButton, Role, TextBox, fit, measure

#: Rows of presets, at most, where the rest of the panel is beside them.
_DOWN = 3


class Choose(Sheet):
    """Presets and grades to mark, each explained as it is marked, and three ways to deal."""

    def __init__(self, send: Send, look: Look, texts: Texts, session: Session) -> None:
        super().__init__(look, _plate(look))
        self._send = send
        self._texts = texts
        self._presets = session.presets
        self._grades = {preset: session.grades(preset) for preset in self._presets}
        # A clock that was never set knows no day whose deal there is.
        self._knows_day = clock_was_set(session.today)
        self.preset = session.wanted_preset
        self.grade = session.wanted_grade
        room = header(self, send, texts.gettext("Choose a game"))
        upper = self._put_ways_to_deal(room)
        offered, rest = self._halves(upper)
        self._tiles = self._put_presets(offered)
        words, row = self._words_and_grades(rest)
        self._put_words(words)
        self._marks = self._put_grades(row)
        self._mark()

    # -- the parts ------------------------------------------------------------------------------

    def _put_ways_to_deal(self, room: Rect) -> Rect:
        """The buttons at the bottom of ``room``; returns what is left above them."""
        look, texts = self.look, self._texts
        touch, gap = max(look.layout.touch, round(2.6 * look.scale.button)), look.unit
        two_rows = look.layout.portrait
        height = (2 * touch + gap) if two_rows else touch
        foot = Rect(room.x, room.y, room.w, height)
        if two_rows:
            play, others = boxes.rows(foot, (touch, touch), gap)
            cells = [play, *boxes.columns(others, 2, gap)]
        else:
            cells = boxes.columns(foot, 3, gap)
        entries: tuple[tuple[str, str, Callable[[], object], Role, bool], ...] = (
            (texts.gettext("Play"), "play", lambda: self._send(self._deal()), "accent", True),
            (
                texts.gettext("Deal of the day"),
                "calendar",
                lambda: self._send(self._deal(daily=True)),
                "plain",
                self._knows_day,
            ),
            (
                texts.gettext("Deal number"),
                "number",
                lambda: self._send(Open(Panel.NUMBER, self.preset)),
                "plain",
                True,
            ),
        )
        for (text, icon, act, role, enabled), cell in zip(entries, cells, strict=True):
            button = PushButton(look, cell, act, text, icon, role=role)
            button.set_enabled(enabled)
            self.add_widget(button)
        bottom = foot.top + gap
        return Rect(room.x, bottom, room.w, room.top - bottom)

    def _halves(self, room: Rect) -> tuple[Rect, Rect]:
        """The presets, and what is said about them."""
        look = self.look
        gap, touch, count = look.unit, look.layout.touch, len(self._presets)
        if look.layout.portrait:
            down = -(-count // 2)
            gaps = (down - 1) * gap
            # Two lines of a name, as long as that leaves enough for the explanations.
            two_lines = round(2 * LINE * look.scale.button) + 2 * gap
            height = max(down * touch + gaps, min(down * two_lines + gaps, round(0.46 * room.h)))
            upper = Rect(room.x, room.top - height, room.w, height)
            rest = upper.y - round(1.5 * gap) - room.y
            return upper, Rect(room.x, room.y, room.w, rest)
        across = max(2, -(-count // _DOWN))
        width = min(round(0.21 * across * room.w), round(0.62 * room.w))
        right = room.x + width + 2 * gap
        return Rect(room.x, room.y, width, room.h), Rect(right, room.y, room.right - right, room.h)

    def _put_presets(self, room: Rect) -> dict[str, Option]:
        count = len(self._presets)
        across = 2 if self.look.layout.portrait else max(2, -(-count // _DOWN))
        cells = boxes.grid(room, across, -(-count // across), self.look.unit)
        names = [wording.preset_words(self._texts, preset).name for preset in self._presets]
        return dict(
            zip(self._presets, self._options(names, cells, self._choose_preset), strict=True)
        )

    def _words_and_grades(self, room: Rect) -> tuple[Rect, Rect]:
        if not any(self._grades.values()):
            return room, Rect(room.x, room.y, room.w, 0)
        # As high as the presets beside it, so that both make one row.
        height = min(tile.rect.h for tile in self._tiles.values())
        row = Rect(room.x, room.y, room.w, height)
        bottom = row.top + self.look.unit
        return Rect(room.x, bottom, room.w, room.top - bottom), row

    def _put_words(self, room: Rect) -> None:
        """What is marked, in sentences: all presets and grades in one size, at one place."""
        look, palette = self.look, self.look.palette
        offered = [wording.preset_words(self._texts, preset) for preset in self._presets]
        graded = [wording.grade_line(self._texts, grade) for grade in (None, *Grade)]
        if not any(self._grades.values()):
            graded = []
        gap = look.unit
        for size in range(look.scale.figure, SMALLEST_TEXT - 1, -1):
            heights = [
                max((measure(text, size, width=room.w).height for text in column), default=0)
                for column in (
                    [words.line for words in offered],
                    [words.odds for words in offered if words.odds],
                    graded,
                )
            ]
            if sum(heights) + 2 * gap <= room.h:
                break
        lower = Rect(room.x, room.y, room.w, heights[2])
        self._words_room, self._words_size = room, size
        self._words: list[TextBox] = []
        self._grade_line = TextBox(lower, size, palette.text, halign="left", valign="bottom")
        self.add_widget(self._grade_line)

    def _say(self, texts: Sequence[str]) -> None:
        """The sentences about a preset, one below the other; the first is the one that counts."""
        palette, gap = self.look.palette, self.look.unit // 2
        for box in self._words:
            self.remove_widget(box)
        room, size = self._words_room, self._words_size
        said = [text for text in texts if text]
        heights = [measure(text, size, width=room.w).height for text in said]
        self._words = [
            TextBox(rect, size, colour, text, halign="left", valign="top")
            for rect, text, colour in zip(
                boxes.rows(room, heights, gap),
                said,
                (palette.text, palette.text_soft),
                strict=False,
            )
        ]
        for box in self._words:
            self.add_widget(box)

    def _put_grades(self, row: Rect) -> dict[Grade, Option]:
        if not row.h:
            return {}
        cells = boxes.columns(row, len(Grade), self.look.unit)
        names = [wording.grade_name(self._texts, grade) for grade in Grade]
        return dict(zip(Grade, self._options(names, cells, self._choose_grade), strict=True))

    def _options(
        self, names: Sequence[str], cells: Sequence[Rect], choose: Callable[[int], None]
    ) -> list[Option]:
        """Options with their labels in one size; ``choose`` is told which one was tapped."""
        look = self.look
        room = Option.label_room(look, cells[-1])
        size = fit(names, look.scale.button, room.size, bold=True).size

        def chooser(index: int) -> Callable[[], None]:
            return lambda: choose(index)

        options = [
            Option(look, cell, chooser(index), name, size)
            for index, (name, cell) in enumerate(zip(names, cells, strict=False))
        ]
        for option in options:
            self.add_widget(option)
        return options

    # -- marking --------------------------------------------------------------------------------

    def _choose_preset(self, index: int) -> None:
        self.preset = self._presets[index]
        self._mark()

    def _choose_grade(self, index: int) -> None:
        grade = list(Grade)[index]
        # A second tap takes the mark away again.
        self.grade = None if grade is self.grade else grade
        self._mark()

    def _mark(self) -> None:
        there = self._grades[self.preset]
        if self.grade not in there:
            self.grade = None
        for preset, tile in self._tiles.items():
            tile.set_chosen(preset == self.preset)
        for grade, mark in self._marks.items():
            mark.set_chosen(grade is self.grade)
            mark.set_enabled(grade in there)
        words = wording.preset_words(self._texts, self.preset)
        self._say((words.line, words.odds))
        self._grade_line.set_text(wording.grade_line(self._texts, self.grade) if there else "")

    def _deal(self, *, daily: bool = False) -> NewDeal:
        return NewDeal(preset=self.preset, grade=self.grade, daily=daily)


def _plate(look: Look) -> Rect:
    """In landscape wider than other panels: what is explained beside the choices has to be read."""
    layout = look.layout
    if layout.portrait:
        return layout.panel
    width = min(layout.width - 2 * look.unit, round(1.7 * layout.height))
    return boxes.centred(layout.screen, width, layout.panel.h)
