"""The few widgets that every screen is made of: text, icon, picture, plate, button.

Each is put into a rectangle once and shows itself there.  A text is drawn into a texture only
when the text or the room for it changes; a colour change only tints.

Invariant: they know nothing of cards and sessions; a button acts at touch-up inside it and looks
pressed from touch-down on, whatever time passes in between.

Needs Kivy's window.  Call on the main thread only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal

from kivy.core.text import Label as CoreLabel
from kivy.graphics import Color, Rectangle, SmoothLine, SmoothRoundedRectangle
from kivy.graphics.texture import Texture
from kivy.uix.widget import Widget

from kiosk import theme
from kiosk.faces import icon_texture
from kiosk.gesture import SPENT
from kiosk.layout import Layout, Rect
from kiosk.theme import FONT_BOLD, FONT_REGULAR, Colour, Palette, TypeScale

Horizontal = Literal["left", "center", "right"]
Vertical = Literal["top", "middle", "bottom"]

#: No text is ever drawn smaller than this, px, whatever its room.
SMALLEST_TEXT: Final = 10
#: Room left and right of a button's label, in units; and the side of an icon beside it, for each px
#: of the label's font size.
_BESIDE_LABEL: Final = 1.75
_ICON: Final = 1.35
#: Height of a line of text for each px of its font size, with a little air.
LINE: Final = 1.35


@dataclass(frozen=True)
class Look:
    """What the widgets of one screen have in common.

    Attributes:
        layout: where things are, and how large a finger is.
        palette: the colours.
        scale: the font sizes.
    """

    layout: Layout
    palette: Palette
    scale: TypeScale

    @classmethod
    def of(cls, layout: Layout, palette: Palette = theme.PALETTE) -> Look:
        """The look for a screen."""
        return cls(layout, palette, theme.type_scale(min(layout.width, layout.height)))

    @property
    def unit(self) -> int:
        """The least distance between things, px."""
        return self.layout.unit

    @property
    def outward(self) -> Literal["left", "right"]:
        """The side to which the title line keeps: that of the nearer edge of the screen."""
        return "right" if self.layout.left_handed else "left"

    @property
    def radius(self) -> int:
        """Corner radius of buttons and fields, px."""
        return round(1.5 * self.unit)

    @property
    def line(self) -> float:
        """Width of a thin line, px."""
        return max(1.0, self.unit / 8)


# -- text ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fitted:
    """A text as it will be drawn.

    Attributes:
        size: the font size, px.
        width, height: what it takes, px.
        fits: whether that is within the room that was given.
    """

    size: int
    width: int
    height: int
    fits: bool


@lru_cache(maxsize=4096)
def measure(text: str, size: int, *, bold: bool = False, width: int | None = None) -> Fitted:
    """How large a text is, in lines of at most ``width`` px, broken between words only.

    ``fits`` tells whether every word is within ``width``.
    """
    label = _label(text, size, bold=bold, width=width)
    label.resolve_font_name()
    w, h = label.get_extents(text)
    if width is None or w <= width:
        # One line: there is nothing to break.
        return Fitted(size, w, h, True)
    _w, h = label.render()
    words_fit = all(label.get_extents(word)[0] <= width for word in text.split(" "))
    return Fitted(size, width, h, words_fit)


def fit(
    texts: Sequence[str],
    size: int,
    room: tuple[int, int],
    *,
    bold: bool = False,
    wrap: bool = True,
) -> Fitted:
    """The largest common font size, up to ``size``, at which each text fits into ``room``.

    What does not fit at :data:`SMALLEST_TEXT` is given that size, with ``fits`` false.
    """
    width, height = room
    for px in range(size, SMALLEST_TEXT - 1, -1):
        fits, widest, highest = True, 0, 0
        for text in texts:
            found = measure(text, px, bold=bold, width=width if wrap else None)
            widest, highest = max(widest, found.width), max(highest, found.height)
            fits = fits and found.fits and widest <= width and highest <= height
            if not fits and px > SMALLEST_TEXT:
                # The others need not be measured.
                break
        if fits:
            break
    return Fitted(px, widest, highest, fits)


@lru_cache(maxsize=64)
def descent(size: int, *, bold: bool = False) -> int:
    """How far a line of text reaches below its base line, px."""
    label = _label("", size, bold=bold)
    label.resolve_font_name()
    return -int(label.get_descent())


def balanced(text: str, size: int, width: int, *, bold: bool = False) -> int:
    """The least width, up to ``width`` px, in which a text takes no more lines than in that.

    Lines of about one length read better than a long one and a single word.
    """
    whole = measure(text, size, bold=bold, width=width)
    if whole.width < width:
        return whole.width
    low, high = width // 2, width
    while high - low > max(1, size // 4):
        middle = (low + high) // 2
        tried = measure(text, size, bold=bold, width=middle)
        if tried.fits and tried.height <= whole.height:
            high = middle
        else:
            low = middle
    return high


def _label(
    text: str, size: int, *, bold: bool, width: int | None = None, halign: Horizontal = "left"
) -> Any:
    return CoreLabel(
        text=text,
        font_name=FONT_BOLD if bold else FONT_REGULAR,
        font_size=size,
        text_size=(width, None),
        halign=halign,
    )


class TextBox(Widget):  # type: ignore[misc]
    """A text in a rectangle, made smaller only where it would not fit.

    Args:
        rect: the room for it.
        size: its font size, px.
        colour: its colour.
        text: what it says first.
        bold: whether in the bold face.
        halign, valign: where in the rectangle.
        wrap: whether it may take several lines.
        narrowest: its lines are made of about one length, but of no less than this share of the
            room: a paragraph of half the width looks broken where there is room beside it.

    Attributes:
        fitted: how it is drawn; ``fitted.fits`` is false when the text does not fit at all.
    """

    def __init__(
        self,
        rect: Rect,
        size: int,
        colour: Colour,
        text: str = "",
        *,
        bold: bool = False,
        halign: Horizontal = "center",
        valign: Vertical = "middle",
        wrap: bool = True,
        narrowest: float = 0.0,
    ) -> None:
        super().__init__(pos=rect.pos, size=rect.size, size_hint=(None, None))
        self.rect = rect
        self.text = ""
        self.fitted = Fitted(size, 0, 0, True)
        self._font_size = size
        self._bold = bold
        self._halign: Horizontal = halign
        self._valign: Vertical = valign
        self._wrap = wrap
        self._narrowest = round(narrowest * rect.w)
        self._colour = Color(*colour)
        self._quad = Rectangle(size=(0, 0))
        self._shown = False
        self.set_text(text)

    def set_text(self, text: str) -> None:
        """Say something else; nothing happens when it is the same."""
        if text == self.text:
            return
        self.text = text
        self._draw()

    @property
    def drawn_width(self) -> int:
        """How wide the text is as it is drawn, px."""
        width: float = self._quad.size[0]
        return round(width)

    def set_colour(self, colour: Colour) -> None:
        """Tint the text."""
        if tuple(self._colour.rgba) != colour:
            self._colour.rgba = colour

    def _show(self, shown: bool) -> None:
        """Have it drawn, or not: what cannot be seen costs as much in every frame as what can."""
        if shown == self._shown:
            return
        self._shown = shown
        change = self.canvas.add if shown else self.canvas.remove
        for part in (self._colour, self._quad):
            change(part)

    def _draw(self) -> None:
        rect = self.rect
        self._show(bool(self.text))
        if not self.text:
            self._quad.size = (0, 0)
            return
        self.fitted = fit([self.text], self._font_size, rect.size, bold=self._bold, wrap=self._wrap)
        width = None
        if self._wrap:
            width = balanced(self.text, self.fitted.size, rect.w, bold=self._bold)
            width = max(width, self._narrowest)
        label = _label(
            self.text, self.fitted.size, bold=self._bold, width=width, halign=self._halign
        )
        label.refresh()
        texture = label.texture
        shift = {"left": 0.0, "center": 0.5, "right": 1.0}[self._halign]
        lift = {"bottom": 0.0, "middle": 0.5, "top": 1.0}[self._valign]
        self._quad.texture = texture
        self._quad.size = texture.size
        self._quad.pos = (
            round(rect.x + (rect.w - texture.width) * shift),
            round(rect.y + (rect.h - texture.height) * lift),
        )


# -- shapes -------------------------------------------------------------------------------------


class Picture(Widget):  # type: ignore[misc]
    """A texture in the middle of a rectangle, at the texture's own size."""

    def __init__(self, rect: Rect, texture: Texture, tint: Colour = (1, 1, 1, 1)) -> None:
        super().__init__(pos=rect.pos, size=rect.size, size_hint=(None, None))
        w, h = texture.size
        with self.canvas:
            self._colour = Color(*tint)
            Rectangle(
                texture=texture,
                pos=(rect.x + (rect.w - w) // 2, rect.y + (rect.h - h) // 2),
                size=(w, h),
            )

    def set_colour(self, colour: Colour) -> None:
        """Tint the picture."""
        if tuple(self._colour.rgba) != colour:
            self._colour.rgba = colour


class Icon(Picture):
    """An icon as large as its rectangle allows."""

    def __init__(self, rect: Rect, name: str, tint: Colour) -> None:
        super().__init__(rect, icon_texture(name, max(1, min(rect.size))), tint)


class Plate(Widget):  # type: ignore[misc]
    """A filled rectangle with round corners, and a thin edge if wanted."""

    def __init__(
        self, rect: Rect, colour: Colour, radius: float, edge: Colour | None = None, line: float = 1
    ) -> None:
        super().__init__(pos=rect.pos, size=rect.size, size_hint=(None, None))
        with self.canvas:
            self._colour = Color(*colour)
            self._shape = SmoothRoundedRectangle(pos=rect.pos, size=rect.size, radius=[radius])
            if edge is not None:
                Color(*edge)
                SmoothLine(rounded_rectangle=(rect.x, rect.y, rect.w, rect.h, radius), width=line)

    def set_colour(self, colour: Colour) -> None:
        """Fill with another colour."""
        if tuple(self._colour.rgba) != colour:
            self._colour.rgba = colour

    def place(self, rect: Rect) -> None:
        """Fill another rectangle.  Only for a plate without an edge."""
        if self._shape.size != rect.size or self._shape.pos != rect.pos:
            self._shape.pos, self._shape.size = rect.pos, rect.size


# -- button -------------------------------------------------------------------------------------

Role = Literal["plain", "accent", "danger", "chosen"]


class Pressable(Widget):  # type: ignore[misc]
    """Something that acts when it is touched and let go.

    A finger that slides off lets go of it, one that slides back presses it again; a slip of
    ``slop`` px beyond the edge still counts as on it.  A touch that ends after the widget has left
    the screen does nothing.

    Args:
        rect: the touch target.
        slop: px.
        act: called at touch-up.

    Attributes:
        down: whether it is being pressed.
        enabled: whether it acts; a touch on it is taken in any case.
    """

    def __init__(self, rect: Rect, slop: float, act: Callable[[], object]) -> None:
        super().__init__(pos=rect.pos, size=rect.size, size_hint=(None, None))
        self.rect = rect
        self.down = False
        self.enabled = True
        self._slop = slop
        self._act = act

    def show(self) -> None:
        """Called whenever ``down`` or ``enabled`` has changed."""

    def set_enabled(self, enabled: bool) -> None:
        """Whether it acts from now on."""
        if enabled != self.enabled:
            self.enabled = enabled
            self._press(self.down and enabled)
            self.show()

    def press(self) -> None:
        """Do what a tap on it would do."""
        if self.enabled and self.get_root_window() is not None:
            self._act()

    def _press(self, down: bool) -> None:
        if down != self.down:
            self.down = down
            self.show()

    def on_touch_down(self, touch: Any) -> bool:
        """Take a touch that comes down on it."""
        if not self.rect.contains(*touch.pos):
            return False
        if self.enabled and not touch.is_mouse_scrolling:
            touch.grab(self)
            self._press(True)
        return True

    def on_touch_move(self, touch: Any) -> bool:
        """Follow the touch off the button and back."""
        if touch.grab_current is not self:
            return False
        self._press(self.enabled and self.rect.distance(*touch.pos) <= self._slop)
        return True

    def on_touch_up(self, touch: Any) -> bool:
        """Act, if the finger is still on it."""
        if touch.grab_current is not self:
            return False
        touch.ungrab(self)
        on_it = self.enabled and self.rect.distance(*touch.pos) <= self._slop
        on_it = on_it and SPENT not in touch.ud
        self._press(False)
        if on_it and self.get_root_window() is not None:
            self._act()
        return True


# Not "Button": Kivy styles widgets by the names of their classes.
class PushButton(Pressable):
    """A button with an icon, a label or both: beside each other, or the icon above.

    Args:
        look: the common look.
        rect: the button, touch target and all.
        act: called when it has been pressed and let go.
        text: its label; may be empty.
        icon: the icon's name, or None.
        role: ``accent`` for the one thing to do, ``danger`` for what cannot be taken back,
            ``chosen`` for the present choice among several.
        size: font size of the label, px; None for the usual.
        stacked: whether the icon is above the label.
        lines: how many lines a label below the icon may take.
    """

    def __init__(
        self,
        look: Look,
        rect: Rect,
        act: Callable[[], object],
        text: str = "",
        icon: str | None = None,
        *,
        role: Role = "plain",
        size: int | None = None,
        stacked: bool = False,
        lines: int = 2,
    ) -> None:
        super().__init__(rect, look.unit, act)
        self._look = look
        self.role: Role = role
        palette = look.palette
        self._plate = Plate(
            rect,
            palette.button,
            look.radius,
            edge=palette.accent if role == "chosen" else None,
            line=1.5 * look.line,
        )
        self.add_widget(self._plate)
        size = size or look.scale.button
        if stacked and icon and text:
            icon_rect, text_rect = _stacked(look, rect, size, lines)
        else:
            icon_rect, text_rect = _beside(look, rect, text, size, has_icon=icon is not None)
        self._icon = Icon(icon_rect, icon, palette.text) if icon else None
        if self._icon:
            self.add_widget(self._icon)
        self.label = TextBox(
            text_rect,
            size,
            palette.text,
            text,
            bold=True,
            valign="middle",
        )
        self.add_widget(self.label)
        self.show()

    def show(self) -> None:
        """Colour plate, icon and label for what the button can do now."""
        palette = self._look.palette
        plate, ink = {
            "plain": (palette.button, palette.text),
            "chosen": (palette.button, palette.accent),
            "accent": (palette.accent, palette.on_accent),
            "danger": (palette.danger, palette.on_danger),
        }[self.role]
        if not self.enabled:
            plate, ink = theme.with_alpha(palette.button, 0.45), palette.disabled
        elif self.down:
            plate = {
                "accent": palette.accent_down,
                "danger": theme.mix(palette.danger, palette.text, 0.3),
            }.get(self.role, palette.button_down)
        self._plate.set_colour(plate)
        self.label.set_colour(ink)
        if self._icon:
            self._icon.set_colour(ink)


class Option(Pressable):
    """One of several to choose from; the chosen one has a gold edge and gold words.

    Args:
        look: the common look.
        rect: the touch target.
        act: called when it has been pressed and let go.
        text: its label, in up to two lines.
        size: font size of the label, px.
    """

    def __init__(
        self, look: Look, rect: Rect, act: Callable[[], object], text: str, size: int
    ) -> None:
        super().__init__(rect, look.unit, act)
        self._look = look
        self.chosen = False
        palette = look.palette
        self._plate = Plate(rect, palette.button, look.radius)
        self.add_widget(self._plate)
        with self._plate.canvas:
            self._edge = Color(*theme.with_alpha(palette.accent, 0))
            SmoothLine(
                rounded_rectangle=(rect.x, rect.y, rect.w, rect.h, look.radius),
                width=1.5 * look.line,
            )
        room = self.label_room(look, rect)
        self.label = TextBox(room, size, palette.text, text, bold=True)
        self.add_widget(self.label)

    @staticmethod
    def label_room(look: Look, rect: Rect) -> Rect:
        """Where the label of an option at ``rect`` goes."""
        side = round(0.75 * look.unit)
        return Rect(rect.x + side, rect.y + side, rect.w - 2 * side, rect.h - 2 * side)

    def set_chosen(self, chosen: bool) -> None:
        """Mark it, or not."""
        if chosen != self.chosen:
            self.chosen = chosen
            self._edge.a = float(chosen)
            self.show()

    def show(self) -> None:
        """Colour it for what it is now."""
        palette = self._look.palette
        self._plate.set_colour(palette.button_down if self.down else palette.button)
        self.label.set_colour(palette.accent if self.chosen else palette.text)


def stacked_room(look: Look, rect: Rect) -> Rect:
    """Of a button at ``rect``, the room for an icon above a label."""
    side = max(4, round(0.9 * look.unit))
    above = max(3, look.unit // 2)
    return Rect(rect.x + side, rect.y + above, rect.w - 2 * side, rect.h - 2 * above)


def stacked_label_room(look: Look, rect: Rect, size: int, lines: int) -> tuple[int, int]:
    """Width and height of the room for a label of so many lines below an icon, px.

    Args:
        look: the common look.
        rect: the button.
        size: the font size of the label, px.
        lines: how many lines it may take; more than three fifths of the button it never does.
    """
    inside = stacked_room(look, rect)
    return inside.w, min(inside.h * 3 // 5, round(lines * LINE * size))


def _stacked(look: Look, rect: Rect, size: int, lines: int) -> tuple[Rect, Rect]:
    """Rectangles of icon and label, one above the other, together in the middle."""
    inside = stacked_room(look, rect)
    _width, label_h = stacked_label_room(look, rect, size, lines)
    room = inside.h - label_h
    side = max(1, min(round(0.8 * room), inside.w, round(2.75 * size)))
    gap = max(0, min((room - side) // 2, look.unit))
    bottom = inside.y + (room - side - gap) // 2
    return (
        Rect(inside.x + (inside.w - side) // 2, bottom + label_h + gap, side, side),
        Rect(inside.x, bottom, inside.w, label_h),
    )


def label_room(look: Look, rect: Rect, icon_for: int = 0) -> tuple[int, int]:
    """Width and height of the room for the label of a button at ``rect``, px.

    Args:
        look: the common look.
        rect: the button.
        icon_for: the font size of a label that has an icon beside it, px; 0 for no icon.
    """
    inside = _inside(look, rect)
    icon = round(_ICON * icon_for) + look.unit if icon_for else 0
    return inside.w - icon, inside.h


def side_by_side(look: Look, labels: Sequence[str], width: int, gap: int, *, lines: int = 1) -> int:
    """How many buttons without icons share a line, in as few lines as leave each one its room.

    Args:
        look: the common look.
        labels: what they say.
        width: the room for a line, px.
        gap: what is left between two of them, px.
        lines: the fewest lines to make of them.
    """
    for down in range(lines, len(labels) + 1):
        across = -(-len(labels) // down)
        cell = Rect(0, 0, (width - (across - 1) * gap) // across, look.layout.touch)
        label = fit(labels, look.scale.button, label_room(look, cell), bold=True)
        if cell.w >= look.layout.touch and label.fits and label.size >= look.scale.caption:
            return across
    return 1


def _inside(look: Look, rect: Rect) -> Rect:
    """Of a button at ``rect``, the room for a label and an icon beside it."""
    side = round(_BESIDE_LABEL * look.unit)
    return Rect(rect.x + side, rect.y + look.unit // 2, rect.w - 2 * side, rect.h - look.unit)


def _beside(look: Look, rect: Rect, text: str, size: int, *, has_icon: bool) -> tuple[Rect, Rect]:
    """Rectangles of icon and label side by side, together in the middle of the button."""
    inside = _inside(look, rect)
    if not has_icon:
        return inside, inside
    if not text:
        side = max(1, round(0.5 * min(rect.size)))
        return Rect(
            rect.x + (rect.w - side) // 2, rect.y + (rect.h - side) // 2, side, side
        ), inside
    side = max(1, min(round(_ICON * size), inside.h))
    gap = look.unit
    room = inside.w - side - gap
    drawn = fit([text], size, (room, inside.h), bold=True).size
    needed = min(room, balanced(text, drawn, room, bold=True) + 1)
    left = inside.x + (room - needed) // 2
    return (
        Rect(left, inside.y + (inside.h - side) // 2, side, side),
        Rect(left + side + gap, inside.y, needed, inside.h),
    )
