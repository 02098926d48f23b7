"""The panel with the switches for how the cards look and move, each beside what it changes.

Invariant: a switch shows what the session says; the pictures are cards of the table, printed the
way they are printed now.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from kivy.graphics import Color, Ellipse

from kiosk import art, boxes
from kiosk.art import FaceStyle
from kiosk.commands import SetLook
from kiosk.layout import Rect
from kiosk.pictures import card_texture
from kiosk.session import Session
from kiosk.sheets import Send, Sheet, header
from kiosk.texts import Texts
from kiosk.widgets import (
    LINE,
    Icon,
    Look,
    Picture,
    Plate,
    Pressable,
    TextBox,
    fit,
)


@dataclass(frozen=True)
class _Entry:
    """A switch: an attribute of DisplaySettings, its label, and cards or an icon beside it."""

    name: str
    text: str
    cards: tuple[str, ...] = ()
    icon: str = ""


#: How far a second card lies to the right of the first, in card widths.
_FAN: Final = 0.62
#: A card on a switch is not drawn narrower than this, px.
_NARROWEST: Final = 24


class LookPage(Sheet):
    """How it looks.

    Args:
        send: carries a command to the session.
        look: the common look.
        texts: the language.
        session: what is switched on.
        style: how the cards are printed.
    """

    def __init__(
        self, send: Send, look: Look, texts: Texts, session: Session, style: FaceStyle
    ) -> None:
        super().__init__(look, look.layout.panel)
        room = header(
            self,
            send,
            texts.gettext("Cards and table"),
            texts.gettext("Until the next visitor comes."),
        )
        entries = _entries(texts, style)
        across = 1 if look.layout.portrait else 2
        down = -(-len(entries) // across)
        gap = look.unit
        # As much as a finger wants, or the words and the picture where a finger wants less.
        wanted = max(round(1.6 * look.layout.touch), round(4.6 * look.scale.button))
        height = min((room.h - (down - 1) * gap) // down, wanted)
        taken = down * height + (down - 1) * gap
        cells = boxes.grid(Rect(room.x, room.top - taken, room.w, taken), across, down, gap)
        size = fit(
            [entry.text for entry in entries],
            look.scale.button,
            Toggle.label_room(look, cells[0]).size,
            bold=True,
        ).size

        def switcher(name: str, on: bool) -> Callable[[], object]:
            return lambda: send(SetLook(name, on))

        for entry, cell in zip(entries, cells, strict=False):
            on = bool(getattr(session.look, entry.name))
            switch = Toggle(look, cell, switcher(entry.name, not on), entry.text, size, on=on)
            self.add_widget(switch)
            self._put_picture(entry, Toggle.picture_room(look, cell), style)

    def _put_picture(self, entry: _Entry, room: Rect, style: FaceStyle) -> None:
        if entry.icon:
            side = round(0.5 * min(room.size))
            self.add_widget(
                Icon(boxes.centred(room, side, side), entry.icon, self.look.palette.text_soft)
            )
            return
        count = len(entry.cards)
        width = min(room.h * 5 // 7, round(room.w / (1 + _FAN * (count - 1))))
        width = max(_NARROWEST, width)
        w, h = art.card_size(width)
        shift = round(_FAN * w)
        x = room.x + (room.w - w - shift * (count - 1)) // 2
        for i, name in enumerate(entry.cards):
            rect = Rect(x + i * shift, room.y + (room.h - h) // 2, w, h)
            self.add_widget(Picture(rect, card_texture(name, w, style)))


def _entries(texts: Texts, style: FaceStyle) -> list[_Entry]:
    letters = style.local_indices
    written = ", ".join((letters[0], *letters[-3:]))
    entries = [
        _Entry("four_colour", texts.gettext("Four suit colours"), ("5D", "5C")),
        _Entry("high_contrast", texts.gettext("High contrast"), ("9H",)),
        _Entry("show_values", texts.gettext("Values on {letters}", letters=written), ("QS",)),
    ]
    # Only some languages have letters of their own.
    if texts.language in art.LOCAL_INDICES:
        local = ", ".join(art.LOCAL_INDICES[texts.language][-3:])
        entries.append(
            _Entry("local_indices", texts.gettext("Letters {letters}", letters=local), ("JC",))
        )
    entries += [
        _Entry("left_handed", texts.gettext("Left-handed"), icon="touch"),
        _Entry("reduced_motion", texts.gettext("Less motion"), icon="still"),
    ]
    return entries


# Not "Switch": Kivy styles widgets by the names of their classes.
class Toggle(Pressable):
    """A row that switches something on or off, with room for a picture at its left.

    Args:
        look: the common look.
        rect: the touch target.
        act: called when it has been pressed and let go.
        text: what it switches.
        size: font size of the text, px.
        on: how it stands.
    """

    def __init__(
        self,
        look: Look,
        rect: Rect,
        act: Callable[[], object],
        text: str,
        size: int,
        *,
        on: bool,
    ) -> None:
        super().__init__(rect, look.unit, act)
        self.on = on
        self._look = look
        palette = look.palette
        self._plate = Plate(rect, palette.panel_raised, look.radius)
        self.add_widget(self._plate)
        self.label = TextBox(
            self.label_room(look, rect), size, palette.text, text, bold=True, halign="left"
        )
        self.add_widget(self.label)
        track = _track(look, rect)
        self.add_widget(
            Plate(
                track,
                palette.accent if on else palette.recess,
                track.h / 2,
                edge=palette.accent if on else palette.panel_edge,
                line=look.line,
            )
        )
        knob = track.h - 2 * round(0.14 * track.h)
        margin = (track.h - knob) // 2
        x = track.right - margin - knob if on else track.x + margin
        with self.canvas:
            Color(*(palette.on_accent if on else palette.text_soft))
            Ellipse(pos=(x, track.y + margin), size=(knob, knob))

    @staticmethod
    def picture_room(look: Look, rect: Rect) -> Rect:
        """Where a picture goes on a switch at ``rect``."""
        margin = round(0.75 * look.unit)
        side = round(min(rect.h - 2 * margin, 3.6 * look.scale.button))
        return Rect(rect.x + look.unit, rect.y + (rect.h - side) // 2, round(1.1 * side), side)

    @staticmethod
    def label_room(look: Look, rect: Rect) -> Rect:
        """Where the text goes on a switch at ``rect``."""
        left = Toggle.picture_room(look, rect).right + look.unit
        right = _track(look, rect).x - look.unit
        height = min(rect.h - look.unit, round(2 * LINE * look.scale.button))
        return Rect(left, rect.y + (rect.h - height) // 2, right - left, height)

    def show(self) -> None:
        """Look pressed or not."""
        palette = self._look.palette
        self._plate.set_colour(palette.button_down if self.down else palette.panel_raised)


def _track(look: Look, rect: Rect) -> Rect:
    """The slot that a switch's knob slides in."""
    height = round(1.3 * look.scale.button)
    width = round(1.85 * height)
    return Rect(
        rect.right - round(1.5 * look.unit) - width, rect.y + (rect.h - height) // 2, width, height
    )
