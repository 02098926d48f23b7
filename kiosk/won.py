"""The panel of a game that is won: what it took, and the next one.

Invariant: the celebration is over in :data:`CELEBRATION` seconds, never flashes, and is left out
where motion is reduced.
"""

from __future__ import annotations

import math
from typing import Final

from kivy.clock import Clock
from kivy.graphics import Color, SmoothLine

from kiosk import wording
from kiosk.commands import NewDeal
from kiosk.session import Session
from kiosk.sheets import Choice, Dialog, Figure, Send, Words
from kiosk.texts import Texts
from kiosk.widgets import Look

#: Seconds until all rays of light stand round the trophy.
CELEBRATION: Final = 0.9
#: Thirteen rays, like those over the pyramid on the card backs; so opaque in the end.
_RAYS: Final = 13
_RAY_ALPHA: Final = 0.6


class Won(Dialog):
    """You won.

    Args:
        send: carries a command to the session.
        look: the common look.
        texts: the language.
        session: the game that was won.
        still: whether the rays stand there at once.
    """

    def __init__(
        self, send: Send, look: Look, texts: Texts, session: Session, *, still: bool
    ) -> None:
        super().__init__(
            send,
            look,
            Words(
                title=texts.gettext("You won!"),
                figures=_figures(texts, session),
                foot=texts.gettext("… or tap anywhere for a new deal"),
                icon="trophy",
                large=True,
            ),
            [Choice(texts.gettext("New deal"), NewDeal(), "deal", "accent")],
            across=1,
        )
        self.anywhere = NewDeal()
        self._rays = self._put_rays()
        self._since = Clock.get_time()
        self._shine = Clock.create_trigger(self._shining, 0, interval=True)
        if still:
            self._light(1.0)
        else:
            self._light(0.0)
            self._shine()

    def _put_rays(self) -> list[Color]:
        rect = self.icon_rect
        x, y = rect.center
        inner, outer = 0.38 * rect.h, 0.52 * rect.h
        colours = []
        with self.canvas:
            for ray in range(_RAYS):
                angle = math.radians(200 - 220 * ray / (_RAYS - 1))
                reach = outer if ray % 2 == 0 else (inner + outer) / 2
                dx, dy = math.cos(angle), math.sin(angle)
                colours.append(Color(*self.look.palette.accent))
                SmoothLine(
                    points=[x + inner * dx, y + inner * dy, x + reach * dx, y + reach * dy],
                    width=max(1.0, rect.h / 90),
                )
        return colours

    def _shining(self, _seconds: float) -> None:
        share = (Clock.get_time() - self._since) / CELEBRATION
        self._light(share)
        if share >= 1 or self.get_root_window() is None:
            self._light(1.0)
            self._shine.cancel()

    def _light(self, share: float) -> None:
        """Let the light run round the trophy: each ray comes a little after the one before."""
        for ray, colour in enumerate(self._rays):
            come = min(1.0, max(0.0, share * 2 - ray / (_RAYS - 1)))
            colour.a = _RAY_ALPHA * come


def _figures(texts: Texts, session: Session) -> tuple[Figure, ...]:
    before = session.before
    time = moves = ""
    best_time = best_moves = False
    if before is not None:
        # Without an earlier win there is nothing to be better than.
        if before.best_seconds is not None:
            best_time = session.seconds < before.best_seconds
            time = (
                texts.gettext("New best!")
                if best_time
                else texts.gettext("Best: {figure}", figure=wording.clock(before.best_seconds))
            )
        if before.fewest_moves is not None:
            best_moves = session.moves_played < before.fewest_moves
            moves = (
                texts.gettext("New best!")
                if best_moves
                else texts.gettext("Best: {figure}", figure=before.fewest_moves)
            )
    return (
        Figure(wording.clock(session.seconds), texts.gettext("Time"), time, best_time),
        Figure(str(session.moves_played), texts.gettext("Moves"), moves, best_moves),
        Figure(str(session.hints), texts.gettext("Hints")),
    )
