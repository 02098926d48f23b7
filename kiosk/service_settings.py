"""The page of the service menu that changes settings, a step at a time.

Invariant: what stands there is what counts; a setting that differs from the operator's file is gold
and says so.
"""

from __future__ import annotations

from collections.abc import Callable

from kiosk import boxes, service_wording
from kiosk.layout import Rect
from kiosk.overrides import STEPS
from kiosk.service_commands import Adjust, UseFile
from kiosk.session import Session
from kiosk.sheets import Send, Sheet, header
from kiosk.texts import Texts
from kiosk.widgets import LINE, Look, Plate, PushButton, TextBox, fit


class SettingsPage(Sheet):
    """A row for each setting, and a button that gives all changes up."""

    def __init__(self, send: Send, look: Look, texts: Texts, session: Session) -> None:
        super().__init__(look, look.layout.screen.inset(look.unit))
        self._texts = texts
        self._send = send
        room = header(self, send, texts.gettext("Settings"))
        across = 1 if look.layout.portrait else 2
        cells_needed = len(STEPS) + 1
        down = -(-cells_needed // across)
        gap = look.unit
        wanted = max(round(1.8 * look.layout.touch), round(5 * look.scale.button))
        height = min((room.h - (down - 1) * gap) // down, wanted)
        height = max(height, look.layout.touch)
        taken = down * height + (down - 1) * gap
        cells = boxes.grid(Rect(room.x, room.top - taken, room.w, taken), across, down, gap)
        self._rows: dict[str, tuple[TextBox, TextBox, PushButton, PushButton]] = {}
        names = [service_wording.setting_name(texts, key) for key in STEPS]
        size = fit(
            names,
            look.scale.caption,
            self._label_room(cells[0])[0].size,
            wrap=False,
        ).size
        for key, name, cell in zip(STEPS, names, cells, strict=False):
            self._put_row(key, name, cell, size)
        last = cells[len(STEPS)]
        self._file = PushButton(
            look,
            last,
            lambda: send(UseFile()),
            texts.gettext("Back to the settings file"),
            "replay",
        )
        self.add_widget(self._file)
        self.refresh(session)

    def _label_room(self, cell: Rect) -> tuple[Rect, Rect]:
        """Where the name and the value of a setting go, one above the other."""
        look = self.look
        touch, unit = look.layout.touch, look.unit
        left = cell.x + touch + unit
        width = cell.w - 2 * (touch + unit)
        name_h, value_h = round(LINE * look.scale.caption), round(LINE * look.scale.button)
        middle = boxes.centred(Rect(left, cell.y, width, cell.h), width, name_h + value_h)
        upper, lower = boxes.rows(middle, (name_h, value_h), 0)
        return upper, lower

    def _put_row(self, key: str, name: str, cell: Rect, size: int) -> None:
        look, palette = self.look, self.look.palette
        touch = look.layout.touch
        self.add_widget(Plate(cell, palette.panel_raised, look.radius))
        words = key.startswith("game.")
        less = Rect(cell.x, cell.y, touch, cell.h)
        more = Rect(cell.right - touch, cell.y, touch, cell.h)
        upper, lower = self._label_room(cell)
        label = TextBox(upper, size, palette.text_soft, name, wrap=False)
        value = TextBox(lower, look.scale.button, palette.text, bold=True, wrap=False)
        down = PushButton(
            look, less, self._adjuster(key, up=False), "", "left" if words else "minus"
        )
        up = PushButton(look, more, self._adjuster(key, up=True), "", "right" if words else "plus")
        for widget in (label, value, down, up):
            self.add_widget(widget)
        self._rows[key] = (label, value, down, up)

    def _adjuster(self, key: str, *, up: bool) -> Callable[[], object]:
        return lambda: self._send(Adjust(key, up))

    def refresh(self, session: Session) -> None:
        """Show what counts now."""
        assert session.service is not None
        desk, palette, texts = session.service.desk, self.look.palette, self._texts
        changed = desk.overridden()
        for key, (label, value, down, up) in self._rows.items():
            stands = desk.value(key)
            name = service_wording.setting_name(texts, key)
            if key in changed:
                name = texts.gettext("{setting} (changed)", setting=name)
            label.set_text(name)
            label.set_colour(palette.accent if key in changed else palette.text_soft)
            value.set_text(service_wording.setting_value(texts, key, stands))
            value.set_colour(palette.disabled if stands is None else palette.text)
            down.set_enabled(stands is not None and desk.step(key, up=False) is not None)
            up.set_enabled(stands is not None and desk.step(key, up=True) is not None)
        self._file.set_enabled(bool(changed))
