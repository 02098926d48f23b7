"""The panels that ask something: won, stuck, cannot be won, give up, still there.

Invariant: each is made of the session's public properties and the texts alone.
"""

from __future__ import annotations

import math
from typing import Final

from kivy.graphics import Color, SmoothLine

from kiosk import wording
from kiosk.commands import BackToWinnable, Close, NewDeal, Replay, Touched, Undo
from kiosk.session import Session
from kiosk.sheets import Choice, Dialog, Send, Words
from kiosk.texts import Texts
from kiosk.theme import with_alpha
from kiosk.widgets import Look, TextBox

#: Height of the countdown's ring, in title sizes.
_RING: Final = 4.2


def won(send: Send, look: Look, texts: Texts, session: Session) -> Dialog:
    """The game is won: what it took, and the next one."""
    dialog = Dialog(
        send,
        look,
        Words(
            title=texts.gettext("You won!"),
            figures=(
                (wording.clock(session.seconds), texts.gettext("Time")),
                (str(session.moves_played), texts.gettext("Moves")),
                (str(session.hints), texts.gettext("Hints")),
            ),
            foot=texts.gettext("… or tap anywhere"),
            icon="trophy",
            large=True,
        ),
        [Choice(texts.gettext("New deal"), NewDeal(), "deal", "accent")],
        across=1,
    )
    dialog.anywhere = NewDeal()
    _rays(dialog, look)
    return dialog


def _rays(dialog: Dialog, look: Look) -> None:
    """Thirteen rays of light round the trophy, like those over the pyramid on the card backs."""
    rect = dialog.icon_rect
    x, y = rect.center
    inner, outer = 0.38 * rect.h, 0.52 * rect.h
    with dialog.canvas:
        Color(*with_alpha(look.palette.accent, 0.55))
        for ray in range(13):
            angle = math.radians(-20 + 220 * ray / 12)
            reach = outer if ray % 2 == 0 else (inner + outer) / 2
            dx, dy = math.cos(angle), math.sin(angle)
            SmoothLine(
                points=[x + inner * dx, y + inner * dy, x + reach * dx, y + reach * dy],
                width=max(1.0, rect.h / 90),
            )


def stuck(send: Send, look: Look, texts: Texts, session: Session) -> Dialog:
    """No move is left: take back, begin again, or another deal; or look at the table."""
    choices = [
        Choice(texts.gettext("Undo a move"), Undo(), "undo", "accent"),
        Choice(texts.gettext("New deal"), NewDeal(), "deal"),
        Choice(texts.gettext("Replay this deal"), Replay(), "replay"),
        Choice(texts.gettext("Look at the table"), Close(), "eye"),
    ]
    return Dialog(
        send,
        look,
        Words(
            title=texts.gettext("No moves left"),
            body=wording.cards_left(texts, session.position.cards_left),
        ),
        choices,
    )


def cannot_win(send: Send, look: Look, texts: Texts, session: Session) -> Dialog:
    """No line of moves wins any more: go back to where one did, or play on."""
    play_on = Choice(texts.gettext("Play on"), Close())
    back = session.moves_back
    if back is None:
        return Dialog(
            send,
            look,
            Words(title=texts.gettext("This game cannot be won any more")),
            [Choice(texts.gettext("Undo a move"), Undo(), "undo", "accent"), play_on],
        )
    dialog = Dialog(
        send,
        look,
        Words(
            title=texts.gettext("This game cannot be won any more"),
            body=texts.ngettext(
                "It could still be won {n} move ago. Go back?",
                "It could still be won {n} moves ago. Go back?",
                back,
            ),
        ),
        [Choice(texts.gettext("Go back"), BackToWinnable(), "undo", "accent"), play_on],
    )
    dialog.outside = Close()
    return dialog


def give_up(send: Send, look: Look, texts: Texts, session: Session) -> Dialog:
    """A running game is about to be left."""
    dialog = Dialog(
        send,
        look,
        Words(
            title=texts.gettext("Give up this game?"),
            body=wording.cards_left(texts, session.position.cards_left),
        ),
        [
            Choice(texts.gettext("Keep playing"), Close(), "play", "accent"),
            # The session remembers what was asked for; the confirmation only lets it happen.
            Choice(texts.gettext("Give up"), NewDeal(confirmed=True), "flag", "danger"),
        ],
    )
    dialog.outside = Close()
    return dialog


class Countdown(Dialog):
    """Nobody has touched anything for a while; any touch goes on."""

    def __init__(self, send: Send, look: Look, texts: Texts, session: Session) -> None:
        super().__init__(
            send,
            look,
            Words(
                title=texts.gettext("Still there?"),
                body=texts.gettext("Touch the screen to keep playing."),
            ),
            ring=_RING,
        )
        self.anywhere = Touched()
        rect = self.ring_rect
        self._whole = max(session.countdown_left, 1.0)
        self._centre = rect.center
        self._radius = rect.h / 2 - 0.1 * rect.h
        thick = max(2.0, rect.h / 24)
        with self.canvas:
            Color(*look.palette.panel_raised)
            SmoothLine(circle=(*self._centre, self._radius), width=thick)
            Color(*look.palette.accent)
            self._arc = SmoothLine(width=thick, cap="round")
        self._number = TextBox(rect, look.scale.display, look.palette.text, bold=True, wrap=False)
        self.add_widget(self._number)
        self._shown = -1
        self.refresh(session)

    def refresh(self, session: Session) -> None:
        """Count down; the picture changes once a second."""
        left = math.ceil(session.countdown_left)
        if left == self._shown:
            return
        self._shown = left
        self._number.set_text(str(left))
        angle = 360 * min(1.0, left / self._whole)
        self._arc.circle = (*self._centre, self._radius, 0, angle)
