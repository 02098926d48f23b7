"""Tests of the service menu: pixels, touch, buttons and lamps.

Invariant: a test shows what the hardware does and sends nothing but the commands of the menu; what
was touched is forgotten with the page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from kivy.graphics import Color, Ellipse, Line, Rectangle
from kivy.graphics.texture import Texture
from kivy.uix.widget import Widget

from kiosk import boxes, service_wording
from kiosk.commands import Close
from kiosk.layout import Rect
from kiosk.service import LAMP_STATES, PICTURES
from kiosk.service_commands import Light, NextPicture
from kiosk.session import Session
from kiosk.sheets import Send, Sheet, header
from kiosk.texts import Texts
from kiosk.widgets import LINE, Look, Plate, PushButton, TextBox

# -- pixels -------------------------------------------------------------------------------------

_FULL: Final = {
    "red": (1, 0, 0, 1),
    "green": (0, 1, 0, 1),
    "blue": (0, 0, 1, 1),
    "white": (1, 1, 1, 1),
    "black": (0, 0, 0, 1),
}
#: Ramps from black, from the top down.
_RAMPS: Final = {
    "grey": ((1, 1, 1),),
    "colours": ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)),
}


class PixelTest(Sheet):
    """The whole screen in one colour after the other, then ramps and fine lines."""

    anywhere = NextPicture()

    def __init__(
        self,
        send: Send,  # noqa: ARG002 - the same call as for every page
        look: Look,
        texts: Texts,
        session: Session,
    ) -> None:
        screen = look.layout.screen
        super().__init__(look, screen, bare=True)
        self._shown = -1
        self._ground = Widget(pos=screen.pos, size=screen.size, size_hint=(None, None))
        self.add_widget(self._ground)
        height = round(2 * LINE * look.scale.body)
        self._hint = TextBox(
            Rect(screen.x + 2 * look.unit, 2 * look.unit, screen.w - 4 * look.unit, height),
            look.scale.body,
            (1, 1, 1, 1),
            texts.ngettext(
                "{n} picture: touch for the next",
                "{n} pictures: touch for the next",
                len(PICTURES),
            ),
            bold=True,
        )
        self.add_widget(self._hint)
        self.refresh(session)

    def refresh(self, session: Session) -> None:
        """Show the picture that it is at."""
        assert session.service is not None
        picture = session.service.picture
        if picture == self._shown:
            return
        self._shown = picture
        # Words only on the first one: on the others they would hide what is looked for.
        self._hint.set_colour((1, 1, 1, 1 if picture == 0 else 0))
        self._ground.canvas.clear()
        name = PICTURES[picture]
        with self._ground.canvas:
            if name in _FULL:
                Color(*_FULL[name])
                Rectangle(pos=self.rect.pos, size=self.rect.size)
            elif name in _RAMPS:
                self._put_ramps(_RAMPS[name])
            else:
                self._put_lines()

    def _put_ramps(self, colours: Sequence[tuple[int, int, int]]) -> None:
        for i, colour in enumerate(colours):
            bottom = self.rect.top - self.rect.h * (i + 1) // len(colours)
            top = self.rect.top - self.rect.h * i // len(colours)
            Color(1, 1, 1, 1)
            Rectangle(
                texture=_ramp(colour), pos=(self.rect.x, bottom), size=(self.rect.w, top - bottom)
            )

    def _put_lines(self) -> None:
        """Lines of one px, upright at the left and level at the right, in a frame at the edge."""
        x, y, w, h = self.rect.x, self.rect.y, self.rect.w, self.rect.h
        half = w // 2
        Color(1, 1, 1, 1)
        Rectangle(
            texture=_stripes((2, 1)),
            pos=(x, y),
            size=(half, h),
            tex_coords=(0, 0, half / 2, 0, half / 2, 1, 0, 1),
        )
        Rectangle(
            texture=_stripes((1, 2)),
            pos=(x + half, y),
            size=(w - half, h),
            tex_coords=(0, 0, 1, 0, 1, h / 2, 0, h / 2),
        )
        Color(1, 0, 0, 1)
        for pos, size in (
            ((x, y), (w, 1)),
            ((x, y + h - 1), (w, 1)),
            ((x, y), (1, h)),
            ((x + w - 1, y), (1, h)),
        ):
            Rectangle(pos=pos, size=size)


def _ramp(colour: tuple[int, int, int]) -> Texture:
    texture = Texture.create(size=(256, 1), colorfmt="rgb")
    texture.blit_buffer(
        bytes(level * part for level in range(256) for part in colour), colorfmt="rgb"
    )
    texture.mag_filter = texture.min_filter = "nearest"
    return texture


def _stripes(size: tuple[int, int]) -> Texture:
    """Two px, black and white, to be repeated."""
    texture = Texture.create(size=size, colorfmt="rgb")
    texture.blit_buffer(bytes((0, 0, 0, 255, 255, 255)), colorfmt="rgb")
    texture.mag_filter = texture.min_filter = "nearest"
    texture.wrap = "repeat"
    return texture


# -- touch --------------------------------------------------------------------------------------

#: Trails that are kept, and points of each.
_TRAILS: Final = 20
_POINTS: Final = 400


class TouchTest(Sheet):
    """A grid whose fields light up where they are touched, and a trail for each finger."""

    def __init__(self, send: Send, look: Look, texts: Texts, session: Session) -> None:  # noqa: ARG002
        screen = look.layout.screen
        super().__init__(look, screen, bare=True)
        self._texts = texts
        palette = look.palette
        side = round(0.8 * look.layout.touch)
        across, down = max(1, screen.w // side), max(1, screen.h // side)
        self._cells = boxes.grid(screen, across, down, 0)
        self._reached: set[int] = set()
        self._trails: dict[int, Any] = {}
        self._marks: dict[int, tuple[Any, Any]] = {}
        with self.canvas:
            Color(*palette.panel)
            Rectangle(pos=screen.pos, size=screen.size)
            self._colours = []
            for cell in self._cells:
                self._colours.append(Color(*palette.panel))
                inner = boxes.shrunk(cell, 1, 1)
                Rectangle(pos=inner.pos, size=inner.size)
            Color(*palette.panel_edge)
            for cell in self._cells:
                Line(rectangle=(*cell.pos, *cell.size), width=1)
        self._drawing = Widget(pos=screen.pos, size=screen.size, size_hint=(None, None))
        self.add_widget(self._drawing)
        button_h = max(look.layout.touch, round(2.6 * look.scale.button))
        words_h = round(2 * LINE * look.scale.body)
        width = min(screen.w - 4 * look.unit, round(17 * look.scale.body))
        plate = boxes.centred(screen, width + 2 * look.unit, words_h + button_h + 4 * look.unit)
        self.add_widget(
            Plate(plate, palette.panel_raised, look.radius, edge=palette.panel_edge, line=look.line)
        )
        words, button = boxes.rows(
            boxes.shrunk(plate, look.unit, look.unit), (words_h, button_h), 2 * look.unit
        )
        self._said = TextBox(words, look.scale.body, palette.text)
        self.add_widget(self._said)
        self.add_widget(
            PushButton(look, button, lambda: send(Close()), texts.gettext("Back"), "back")
        )
        self._say()

    @property
    def reached(self) -> int:
        """How many fields have been touched."""
        return len(self._reached)

    @property
    def fields(self) -> int:
        """How many there are."""
        return len(self._cells)

    def on_touch_down(self, touch: Any) -> bool:
        """Light the field, begin a trail; the button works all the same."""
        with self._drawing.canvas:
            Color(*self.look.palette.accent)
            trail = Line(points=[*touch.pos], width=max(1.5, self.look.unit / 4))
            radius = self.look.unit
            mark = Ellipse(size=(2 * radius, 2 * radius))
        self._trails[touch.uid] = trail
        while len(self._trails) > _TRAILS:
            oldest = next(iter(self._trails))
            self._drawing.canvas.remove(self._trails.pop(oldest))
            if (mark_of := self._marks.pop(oldest, None)) is not None:
                self._drawing.canvas.remove(mark_of[0])
        self._marks[touch.uid] = (mark, radius)
        self._follow(touch)
        return bool(super().on_touch_down(touch)) or True

    def on_touch_move(self, touch: Any) -> bool:
        """Go on with the trail."""
        if touch.grab_current is None:
            self._follow(touch)
        return bool(super().on_touch_move(touch))

    def on_touch_up(self, touch: Any) -> bool:
        """End the trail; it stays."""
        if touch.grab_current is None and (mark := self._marks.pop(touch.uid, None)) is not None:
            self._drawing.canvas.remove(mark[0])
        return bool(super().on_touch_up(touch))

    def _follow(self, touch: Any) -> None:
        x, y = touch.pos
        trail = self._trails.get(touch.uid)
        if trail is not None:
            trail.points = [*trail.points, x, y][-2 * _POINTS :]
        if (mark := self._marks.get(touch.uid)) is not None:
            mark[0].pos = (x - mark[1], y - mark[1])
        for number, cell in enumerate(self._cells):
            if number not in self._reached and cell.contains(x, y):
                self._reached.add(number)
                self._colours[number].rgba = self.look.palette.button_down
                self._say()

    def _say(self) -> None:
        done = self.reached == self.fields
        text = (
            self._texts.gettext("All fields reached")
            if done
            else self._texts.gettext(
                "{done} of {all} fields reached", done=self.reached, all=self.fields
            )
        )
        self._said.set_text(text)
        self._said.set_colour(self.look.palette.success if done else self.look.palette.text)


# -- buttons and lamps --------------------------------------------------------------------------


class PinsPage(Sheet):
    """Every button as it is, and a switch for each lamp."""

    def __init__(self, send: Send, look: Look, texts: Texts, session: Session) -> None:
        super().__init__(look, look.layout.screen.inset(look.unit))
        assert session.service is not None
        self._texts = texts
        self._send = send
        facts = session.service.desk.pins()
        self._inputs: dict[str, tuple[Plate, TextBox, TextBox, TextBox]] = {}
        self._lamps: dict[str, PushButton] = {}
        self._states: dict[str, TextBox] = {}
        lead = texts.gettext("Buttons do nothing else here. Back: by touch, or hold both buttons.")
        inputs, lamps = list(facts.inputs), list(facts.lamps)
        if not (inputs or lamps):
            lead = ""
        room = header(self, send, texts.gettext("Buttons and lamps"), lead)
        if not (inputs or lamps) or facts.why:
            text = texts.gettext("No buttons and lamps are set up.")
            if facts.why:
                text = texts.gettext("Buttons and lamps do not work: {why}", why=facts.why)
            said = boxes.centred(room, room.w, round(4 * LINE * look.scale.body))
            self.text(said, look.scale.body, text, narrowest=0.6)
            return
        across = 3 if look.layout.portrait else 6
        gap = look.unit
        rows_in, rows_out = -(-len(inputs) // across), -(-len(lamps) // across)
        heading_h = round(LINE * look.scale.caption)
        headings = (1 if inputs else 0) + (1 if lamps else 0)
        rows = rows_in + rows_out
        free = room.h - headings * (heading_h + gap) - (rows - 1) * gap
        # A finger may need less than three lines of words do.
        wanted = max(round(1.6 * look.layout.touch), self._words_height() + 2 * look.unit)
        height = max(look.layout.touch, min(free // rows, wanted))
        top = room.top
        for names, count, title in (
            (inputs, rows_in, texts.gettext("Buttons: press each of them")),
            (lamps, rows_out, texts.gettext("Lamps: touch to light them")),
        ):
            if not names:
                continue
            head = Rect(room.x, top - heading_h, room.w, heading_h)
            self.text(head, look.scale.caption, title, soft=True, halign="left", wrap=False)
            block = count * height + (count - 1) * gap
            area = Rect(room.x, head.y - gap // 2 - block, room.w, block)
            cells = boxes.grid(area, across, count, gap)
            shown = [service_wording.input_name(texts, name) for name in names]
            for name, label, cell in zip(names, shown, cells, strict=False):
                if names is inputs:
                    self._put_input(name, label, cell, facts.numbers.get(f"input {name}", ""))
                else:
                    self._put_lamp(name, label, cell, facts.numbers.get(f"lamp {name}", ""))
            top = area.y - gap
        self.refresh(session)

    def _words_height(self) -> int:
        """Of the three lines in a cell: its name, its pin and how it stands."""
        return 3 * round(LINE * self.look.scale.caption)

    def _rooms(self, cell: Rect) -> list[Rect]:
        inside = boxes.centred(cell, cell.w - self.look.unit, self._words_height())
        return boxes.rows(inside, (self._words_height() // 3,) * 3, 0)

    def _put_input(self, name: str, label: str, cell: Rect, number: str) -> None:
        look, palette = self.look, self.look.palette
        plate = Plate(cell, palette.panel_raised, look.radius)
        self.add_widget(plate)
        upper, middle, lower = self._rooms(cell)
        size = look.scale.caption
        title = TextBox(upper, size, palette.text, label, bold=True, wrap=False)
        gpio = TextBox(middle, size, palette.text_soft, f"GPIO {number}", wrap=False)
        state = TextBox(lower, size, palette.text, wrap=False)
        for box in (title, gpio, state):
            self.add_widget(box)
        self._inputs[name] = (plate, title, state, gpio)

    def _put_lamp(self, name: str, label: str, cell: Rect, number: str) -> None:
        button = PushButton(self.look, cell, self._lighter(name), "")
        self.add_widget(button)
        look, palette = self.look, self.look.palette
        upper, middle, lower = self._rooms(cell)
        size = look.scale.caption
        for rect, text in ((upper, label), (middle, f"GPIO {number}")):
            self.add_widget(TextBox(rect, size, palette.text, text, bold=rect is upper, wrap=False))
        state = TextBox(lower, size, palette.text, wrap=False)
        self.add_widget(state)
        self._lamps[name] = button
        self._states[name] = state

    def _lighter(self, name: str) -> Callable[[], object]:
        return lambda: self._send(Light(name))

    def refresh(self, session: Session) -> None:
        """Show what is pressed and what is lit at this moment."""
        assert session.service is not None
        palette, texts = self.look.palette, self._texts
        now = session.service.desk.pins().inputs
        for name, (plate, title, state, gpio) in self._inputs.items():
            stands = now.get(name, False)
            state.set_text(service_wording.input_state(texts, stands))
            pressed = stands is True
            plate.set_colour(palette.accent if pressed else palette.panel_raised)
            for box in (title, state):
                box.set_colour(palette.on_accent if pressed else palette.text)
            gpio.set_colour(palette.on_accent if pressed else palette.text_soft)
        for name in self._lamps:
            lit = session.service.lamps.get(name, LAMP_STATES[0])
            self._states[name].set_text(service_wording.lamp_state(texts, lit))
            self._states[name].set_colour(
                palette.text_soft if lit == LAMP_STATES[0] else palette.accent
            )
