"""What a panel is: a sheet over the dimmed table, and a builder for sheets that ask something.

Invariant: a sheet is built for one state of the session and thrown away when that state is over;
it sends commands and never changes anything itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from kivy.uix.widget import Widget

from kiosk import boxes
from kiosk.commands import Close, Command
from kiosk.layout import Rect
from kiosk.session import Session
from kiosk.widgets import (
    LINE,
    Icon,
    Look,
    Plate,
    PushButton,
    Role,
    TextBox,
    descent,
    fit,
    label_room,
    measure,
    side_by_side,
    stacked_label_room,
)

Send = Callable[[Command], object]

#: How much smaller the type of a dialog may get before its texts are squeezed one by one.
_SHRINKING: Final = (1.0, 0.93, 0.86, 0.8, 0.74, 0.68, 0.62)


class Sheet(Widget):  # type: ignore[misc]
    """A panel: a rounded plate that takes every touch on it.

    One rule holds for a tap beside any panel: it does what changes least, and leads back to what
    lies below.  Only a panel on which there is but one thing to do has that done by a tap anywhere.

    Args:
        look: the common look.
        rect: the plate.
        bare: whether there is no plate, because the sheet draws all of it.

    Attributes:
        outside: the command that a tap outside the plate sends.
        anywhere: the command that a tap anywhere sends, buttons excepted, or None.
    """

    outside: Command = Close()
    anywhere: Command | None = None

    def __init__(self, look: Look, rect: Rect, *, bare: bool = False) -> None:
        super().__init__(pos=rect.pos, size=rect.size, size_hint=(None, None))
        self.look = look
        self.rect = rect
        if bare:
            return
        self.add_widget(
            Plate(
                rect,
                look.palette.panel,
                round(2.5 * look.unit),
                edge=look.palette.panel_edge,
                line=look.line,
            )
        )

    def refresh(self, session: Session) -> None:
        """Show what has changed without building anew."""

    def text(
        self, rect: Rect, size: int, text: str, *, soft: bool = False, **options: Any
    ) -> TextBox:
        """Put a text on the sheet."""
        palette = self.look.palette
        box = TextBox(rect, size, palette.text_soft if soft else palette.text, text, **options)
        self.add_widget(box)
        return box


def heading(sheet: Sheet, title: str, note: str = "") -> Rect:
    """Put a heading on a sheet, and a soft sentence beside it; return the room below."""
    look = sheet.look
    inside = sheet.rect.inset(2 * look.unit)
    title_h = _bar_height(look, note)
    (bar,) = boxes.rows(inside, (title_h,), 0)
    words = sheet.text(bar, look.scale.title, title, bold=True, halign="left", wrap=False)
    if note:
        taken = words.fitted.width + 3 * look.unit
        beside = Rect(bar.x + taken, bar.y, bar.w - taken, bar.h)
        sheet.text(beside, look.scale.body, note, soft=True, halign="right")
    return Rect(inside.x, inside.y, inside.w, inside.h - title_h - look.unit)


def heading_bar(sheet: Sheet, title: str, buttons: int) -> tuple[Rect, list[Rect], Rect]:
    """Put a heading on a sheet that has several square buttons at its right.

    Returns:
        the line below the heading, the buttons from the left, and the room below all of it.
    """
    look = sheet.look
    unit, touch = look.unit, look.layout.touch
    inside = sheet.rect.inset(2 * unit)
    title_h, line_h = round(LINE * look.scale.title), round(LINE * look.scale.body)
    bar_h = max(touch, title_h + line_h)
    bar = Rect(inside.x, inside.top - bar_h, inside.w, bar_h)
    first = bar.right - buttons * touch - (buttons - 1) * unit
    places = [
        Rect(first + i * (touch + unit), bar.top - touch, touch, touch) for i in range(buttons)
    ]
    words = boxes.centred(
        Rect(bar.x, bar.y, first - 2 * unit - bar.x, bar_h),
        first - 2 * unit - bar.x,
        title_h + line_h,
    )
    upper, lower = boxes.rows(words, (title_h, line_h), 0)
    sheet.text(upper, look.scale.title, title, bold=True, halign="left", wrap=False)
    bottom = bar.y - round(1.5 * unit)
    return lower, places, Rect(inside.x, inside.y, inside.w, bottom - inside.y)


def heading_height(look: Look, note: str = "") -> int:
    """What :func:`heading` takes of a sheet, with the borders above and below, px."""
    return _bar_height(look, note) + 5 * look.unit


def _bar_height(look: Look, note: str) -> int:
    """Of a heading, or of two lines of a sentence beside it, set a little closer."""
    lines = round(1.8 * LINE * look.scale.body) if note else 0
    return max(round(LINE * look.scale.title), lines)


def header(sheet: Sheet, send: Send, title: str, lead: str = "", note: str = "") -> Rect:
    """Put a heading and a Close button on a sheet; return the room below them.

    Args:
        sheet: the panel.
        send: carries the Close button's command.
        title: the heading.
        lead: a sentence below it, in as many lines as it takes.
        note: a few soft words beside the heading.
    """
    look = sheet.look
    scale, touch = look.scale, look.layout.touch
    inside = sheet.rect.inset(2 * look.unit)
    width = inside.w - touch - 2 * look.unit
    # Beside the heading of a narrow panel there is no room for a note.
    note_below = look.layout.portrait and bool(note)
    bar_h, title_h, note_h, lead_h = _bar(look, width, lead, note_below=note_below)
    bar = Rect(inside.x, inside.top - bar_h, inside.w, bar_h)
    close = Rect(bar.right - touch, bar.top - touch, touch, touch)
    sheet.add_widget(PushButton(look, close, lambda: send(Close()), "", "close"))
    words = boxes.centred(Rect(bar.x, bar.y, width, bar_h), width, title_h + note_h + lead_h)
    upper, middle, lower = boxes.rows(words, (title_h, note_h, lead_h), 0)
    # Air above the lead, within its own room.
    lower = Rect(lower.x, lower.y, lower.w, lower.h - (_lead_gap(look) if lead else 0))
    heading = sheet.text(upper, scale.title, title, bold=True, halign="left", wrap=False)
    if note:
        note_room = middle
        if not note_below:
            # On the base line of the heading, which stands in the middle of its room.
            taken = heading.fitted.width + 2 * look.unit
            under = descent(heading.fitted.size, bold=True) - descent(scale.caption)
            foot = upper.y + (upper.h - heading.fitted.height) // 2 + under
            note_room = Rect(upper.x + taken, foot, upper.w - taken, upper.top - foot)
        sheet.text(
            note_room,
            scale.caption,
            note,
            soft=True,
            halign="left",
            valign="middle" if note_below else "bottom",
            wrap=False,
        )
    if lead:
        sheet.text(lower, scale.body, lead, halign="left", narrowest=0.8)
    bottom = bar.y - round(1.5 * look.unit)
    return Rect(inside.x, inside.y, inside.w, bottom - inside.y)


def header_height(look: Look, width: int, lead: str = "") -> int:
    """What :func:`header` takes of a sheet ``width`` px wide, with the borders around, px."""
    inside = width - 4 * look.unit - look.layout.touch - 2 * look.unit
    return _bar(look, inside, lead)[0] + round(5.5 * look.unit)


def _bar(
    look: Look, width: int, lead: str, *, note_below: bool = False
) -> tuple[int, int, int, int]:
    """Heights of the whole head, its heading, the note below it and its lead."""
    title_h = round(LINE * look.scale.title)
    note_h = round(LINE * look.scale.caption) + look.unit // 2 if note_below else 0
    lead_h = 0
    if lead:
        lead_h = measure(lead, look.scale.body, width=width).height + _lead_gap(look)
    return max(look.layout.touch, title_h + note_h + lead_h), title_h, note_h, lead_h


def _lead_gap(look: Look) -> int:
    """Between a heading and its lead: in portrait there is room for some."""
    return look.unit if look.layout.portrait else 0


# -- dialogs ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Choice:
    """A button of a dialog."""

    text: str
    command: Command
    icon: str | None = None
    role: Role = "plain"


@dataclass(frozen=True)
class Figure:
    """A number of a dialog.

    Attributes:
        value: the number.
        caption: what it counts.
        note: what to compare it with, or empty.
        best: whether the note is something to be proud of.
    """

    value: str
    caption: str
    note: str = ""
    best: bool = False


@dataclass(frozen=True)
class Words:
    """What a dialog says, from the top down.

    Attributes:
        title: the heading.
        body: a sentence or two, or empty.
        figures: numbers side by side.
        foot: a soft sentence at the bottom, or empty.
        icon: a picture above the heading, or None.
        large: whether the heading is as large as it gets.
    """

    title: str
    body: str = ""
    figures: tuple[Figure, ...] = ()
    foot: str = ""
    icon: str | None = None
    large: bool = False


class Dialog(Sheet):
    """A sheet in the middle of the screen that says something and offers a few buttons.

    Args:
        send: carries a command to the session.
        look: the common look.
        words: what it says.
        choices: its buttons, in reading order.
        across: how many buttons are side by side.
        first: a button above the others, as wide as all of them, or None.
        low: small buttons side by side at the bottom, like the languages.
        stacked: whether the buttons of ``choices`` have their icons above their labels.
        ring: px that are kept free above the heading for something round, relative to the
            title size; 0 for nothing.
    """

    def __init__(
        self,
        send: Send,
        look: Look,
        words: Words,
        choices: Sequence[Choice] = (),
        *,
        across: int = 2,
        first: Choice | None = None,
        low: Sequence[Choice] = (),
        stacked: bool = False,
        ring: float = 0.0,
    ) -> None:
        room = look.layout.panel
        width = min(room.w, round(29 * look.scale.body))
        if not stacked and not _in_one_line(look, choices, width, across):
            across = 1
        rows = [choices[start : start + across] for start in range(0, len(choices), across)]
        tall = [stacked] * len(rows)
        if first is not None:
            rows, tall = [[first], *rows], [False, *tall]
        if low:
            names = [choice.text for choice in low]
            together = side_by_side(look, names, width - 6 * look.unit, 2 * look.unit)
            lines = [low[start : start + together] for start in range(0, len(low), together)]
            rows, tall = [*rows, *lines], [*tall, *([False] * len(lines))]
        plan = _plan(look, words, tall=tall, ring=ring, width=width)
        height = min(room.h, plan.height)
        super().__init__(look, boxes.centred(look.layout.screen, width, height))
        self._send = send
        self.ring_rect = self.icon_rect = self._first_rect = Rect(0, 0, 0, 0)
        self._first: PushButton | None = None
        inside = boxes.shrunk(self.rect, plan.pad, plan.pad)
        pieces = iter(boxes.rows(inside, plan.heights, plan.gap))
        if ring:
            self.ring_rect = next(pieces)
        if words.icon:
            self.icon_rect = next(pieces)
            side = round(0.6 * self.icon_rect.h)
            inner = boxes.centred(self.icon_rect, side, side)
            self.add_widget(Icon(inner, words.icon, look.palette.accent))
        self.text(next(pieces), plan.title, words.title, bold=True)
        if words.body:
            self.text(next(pieces), plan.body, words.body)
        if words.figures:
            self._put_figures(next(pieces), plan, words.figures)
        for row, is_tall in zip(rows, tall, strict=True):
            piece = next(pieces)
            if first is not None and row is rows[0]:
                self._first_rect = piece
                self.offer_first(first)
            else:
                self._put_row(piece, row, plan.gap, stacked=is_tall)
        if words.foot:
            self.text(next(pieces), plan.body, words.foot, soft=True)

    def _put_figures(self, rect: Rect, plan: _Plan, figures: Sequence[Figure]) -> None:
        palette, caption = self.look.palette, self.look.scale.caption
        cells = boxes.columns(rect, len(figures), self.look.unit)
        for figure, cell in zip(figures, cells, strict=True):
            self.add_widget(Plate(cell, palette.panel_raised, self.look.radius))
            heights = (plan.figure_h, plan.caption_h, plan.note_h)
            inside = boxes.centred(cell, cell.w - self.look.unit, sum(heights))
            upper, middle, lower = boxes.rows(inside, heights, 0)
            self.text(upper, round(1.25 * plan.figure), figure.value, bold=True, wrap=False)
            self.text(middle, caption, figure.caption, soft=True, wrap=False)
            colour = palette.accent if figure.best else palette.text_soft
            self.add_widget(
                TextBox(lower, caption, colour, figure.note, bold=figure.best, wrap=False)
            )

    def _put_row(self, rect: Rect, row: Sequence[Choice], gap: int, *, stacked: bool) -> None:
        """Buttons side by side, their labels in one size."""
        look = self.look
        cells = boxes.columns(rect, len(row), gap)
        size = None
        if stacked:
            room = stacked_label_room(look, cells[0], look.scale.button, 2)
            size = fit([choice.text for choice in row], look.scale.button, room, bold=True).size
        elif len(row) > 1 and not any(choice.icon for choice in row):
            room = label_room(look, cells[0])
            size = fit([choice.text for choice in row], look.scale.button, room, bold=True).size
        for choice, cell in zip(row, cells, strict=True):
            self._put_choice(choice, cell, size=size, stacked=stacked)

    def offer_first(self, choice: Choice) -> None:
        """Put another button in the place of the first one; nothing else moves."""
        if self._first is not None:
            self.remove_widget(self._first)
        self._first = self._put_choice(choice, self._first_rect)

    def _put_choice(
        self, choice: Choice, rect: Rect, *, size: int | None = None, stacked: bool = False
    ) -> PushButton:
        button = PushButton(
            self.look,
            rect,
            lambda: self._send(choice.command),
            choice.text,
            choice.icon,
            role=choice.role,
            size=size,
            stacked=stacked,
        )
        self.add_widget(button)
        return button


def _in_one_line(look: Look, choices: Sequence[Choice], width: int, across: int) -> bool:
    """Whether each label fits into a button in one line when ``across`` are side by side."""
    button = (width - 6 * look.unit - (across - 1) * 2 * look.unit) // across
    room, _height = label_room(look, Rect(0, 0, button, 0), look.scale.button)
    return all(
        measure(choice.text, look.scale.button, bold=True).width <= room for choice in choices
    )


def _plan(look: Look, words: Words, *, tall: Sequence[bool], ring: float, width: int) -> _Plan:
    """The largest plan that fits, or the smallest there is."""
    for factor in _SHRINKING:
        plan = _Plan(look, words, tall=tall, ring=ring, width=width, factor=factor)
        if plan.height <= look.layout.panel.h and plan.fits:
            break
    return plan


class _Plan:
    """Heights of the pieces of a dialog at a type size of ``factor`` times the usual."""

    def __init__(
        self,
        look: Look,
        words: Words,
        *,
        tall: Sequence[bool],
        ring: float,
        width: int,
        factor: float,
    ) -> None:
        scale = replace(
            look.scale,
            **{
                name: round(factor * getattr(look.scale, name))
                for name in ("title", "body", "figure", "display")
            },
        )
        self.title = scale.display if words.large else scale.title
        self.body, self.figure = scale.body, scale.figure
        self.pad = 3 * look.unit
        self.gap = round(1.75 * look.unit * factor)
        self.figure_h = round(1.25 * LINE * self.figure)
        self.caption_h = round(LINE * scale.caption)
        text_w = width - 2 * self.pad
        heights = []
        self.fits = True
        if ring:
            heights.append(round(ring * scale.title))
        if words.icon:
            heights.append(round(3.3 * scale.title))
        for text, size, bold in ((words.title, self.title, True), (words.body, self.body, False)):
            if text:
                needed = measure(text, size, bold=bold, width=text_w)
                heights.append(needed.height)
                self.fits = self.fits and needed.fits
        self.note_h = self.caption_h if any(figure.note for figure in words.figures) else 0
        if words.figures:
            heights.append(self.figure_h + self.caption_h + self.note_h + 2 * look.unit)
        button_h = max(look.layout.touch, round(2.6 * scale.button))
        # An icon above two lines of label.
        tall_h = max(button_h, round(4.6 * scale.button))
        heights.extend(tall_h if is_tall else button_h for is_tall in tall)
        if words.foot:
            needed = measure(words.foot, self.body, width=text_w)
            heights.append(needed.height)
            self.fits = self.fits and needed.fits
        self.heights = heights
        self.height = sum(heights) + (len(heights) - 1) * self.gap + 2 * self.pad
