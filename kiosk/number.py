"""The panel in which a deal number is entered, on keys as large as buttons.

Invariant: what is typed is a deal number or nothing: a key that would lead beyond the last deal,
or to a number that begins with 0, cannot be pressed.
"""

from __future__ import annotations

from engine.deal import LAST_DEAL
from kiosk import boxes, theme, wording
from kiosk.commands import CheckDeal, NewDeal
from kiosk.keypad import BACK, digit_keys
from kiosk.layout import Rect
from kiosk.session import Session
from kiosk.sheets import Send, Sheet, header
from kiosk.texts import Texts
from kiosk.theme import Colour
from kiosk.widgets import LINE, Look, Plate, PushButton, TextBox


class NumberPad(Sheet):
    """Ten digits, what is known about the number, and a button that deals it."""

    def __init__(self, send: Send, look: Look, texts: Texts, session: Session) -> None:
        super().__init__(look, look.layout.panel)
        self._send = send
        self._texts = texts
        self._session = session
        self.typed = "" if session.checked is None else str(session.checked.number)
        room = header(
            self,
            send,
            texts.gettext("Deal number"),
            "",
            wording.preset_words(texts, session.number_preset).name,
        )
        pad, field, said, play = self._rooms(room)
        self._keys = self._put_keys(pad)
        palette = look.palette
        self.add_widget(Plate(field, theme.with_alpha(palette.recess, 1.0), look.radius))
        self._number = TextBox(
            boxes.shrunk(field, look.unit, look.unit // 2),
            look.scale.display,
            palette.text,
            bold=True,
            wrap=False,
        )
        self._said = TextBox(said, look.scale.body, palette.text)
        self._play_rect = play
        self._play: PushButton | None = None
        for box in (self._number, self._said):
            self.add_widget(box)
        self.refresh(session)

    def _rooms(self, room: Rect) -> tuple[Rect, Rect, Rect, Rect]:
        """Where the keys, the number, the words and the button go."""
        look = self.look
        touch, gap, unit = look.layout.touch, look.unit, look.unit
        field_h = round(1.5 * LINE * look.scale.display)
        if look.layout.portrait:
            field = Rect(room.x, room.top - field_h, room.w, field_h)
            said_h = round(3 * LINE * look.scale.body)
            said = Rect(room.x, field.y - unit - said_h, room.w, said_h)
            play = Rect(room.x, room.y, room.w, touch)
            bottom = play.top + 2 * gap
            return Rect(room.x, bottom, room.w, said.y - unit - bottom), field, said, play
        # The keys are on the side of the hand.
        half = (room.w - 3 * unit) // 2
        left, right = room.x, room.right - half
        keys_x, rest_x = (left, right) if look.layout.left_handed else (right, left)
        field = Rect(rest_x, room.top - field_h, half, field_h)
        play = Rect(rest_x, room.y, half, touch)
        said = Rect(rest_x, play.top + gap, half, field.y - play.top - 2 * gap)
        return Rect(keys_x, room.y, half, room.h), field, said, play

    def _put_keys(self, room: Rect) -> dict[str, PushButton]:
        keys = digit_keys(self.look, room, self._press, enter=None)
        for key in keys.values():
            self.add_widget(key)
        return keys

    def _press(self, key: str) -> None:
        self._type(self.typed[:-1] if key == BACK else self.typed + key)

    def _type(self, typed: str) -> None:
        if typed != self.typed:
            self.typed = typed
            self._send(CheckDeal(int(typed) if typed else None))
        self.refresh(self._session)

    def refresh(self, session: Session) -> None:
        """Show the number and what is known about it."""
        typed = self.typed
        self._number.set_text(typed or "\N{EN DASH}")
        for digit, key in self._keys.items():
            key.set_enabled(bool(typed) if digit == BACK else _is_deal(typed + digit))
        said, colour, sure = self._verdict(session)
        self._said.set_text(said)
        self._said.set_colour(colour)
        self._offer(self._texts.gettext("Play"), sure=sure)

    def _verdict(self, session: Session) -> tuple[str, Colour, bool]:
        """What to say about the number, in which colour, and whether it can be won."""
        texts, palette, checked = self._texts, self.look.palette, session.checked
        if not self.typed or checked is None or checked.number != int(self.typed):
            return texts.gettext("Which deal? Type its number."), palette.text_soft, False
        if checked.thinking:
            return texts.gettext("Looking whether it can be won…"), palette.text_soft, False
        if checked.winnable is None:
            return (
                texts.gettext("Whether this deal can be won is not known."),
                palette.text,
                False,
            )
        if checked.winnable:
            return texts.gettext("This deal can be won."), palette.success, True
        return (
            texts.gettext("This deal cannot be won. Play it anyway?"),
            palette.danger,
            False,
        )

    def _deal(self) -> None:
        preset = self._session.number_preset
        self._send(NewDeal(preset=preset, number=int(self.typed)))

    def _offer(self, text: str, *, sure: bool) -> None:
        """The button that deals: gold for a deal that can be won."""
        if self._play is None or (self._play.role == "accent") != sure:
            if self._play is not None:
                self.remove_widget(self._play)
            self._play = PushButton(
                self.look,
                self._play_rect,
                self._deal,
                text,
                "play",
                role="accent" if sure else "plain",
            )
            self.add_widget(self._play)
        self._play.set_enabled(bool(self.typed))


def _is_deal(typed: str) -> bool:
    """Whether this is how a deal number is written."""
    return typed[0] != "0" and int(typed) <= LAST_DEAL
