"""The panel that hides the table while somebody is away for a moment.

Invariant: nothing of the table is seen, and time does not count (the session sees to that).
"""

from __future__ import annotations

from kiosk import boxes, burnin, wording
from kiosk.commands import Close
from kiosk.session import Session
from kiosk.sheets import Send, Sheet
from kiosk.texts import Texts
from kiosk.widgets import LINE, Icon, Look, Plate, PushButton


class Pause(Sheet):
    """The whole screen, and one large button."""

    def __init__(self, send: Send, look: Look, texts: Texts, session: Session) -> None:
        screen = look.layout.screen
        super().__init__(look, screen, bare=True)
        # As far as the picture may be moved against burn-in: no edge of it is ever seen.
        beyond = burnin.margin(look.layout)
        everything = boxes.shrunk(screen, -beyond, -beyond)
        self.add_widget(Plate(everything, look.palette.panel, 0))
        scale, unit = look.scale, look.unit
        width = min(screen.w - 8 * unit, round(22 * scale.body))
        button_h = max(round(1.4 * look.layout.touch), round(3.2 * scale.button))
        heights = (
            round(3.2 * scale.title),
            round(LINE * scale.display),
            round(LINE * scale.body),
            button_h,
        )
        gap = 2 * unit
        room = boxes.centred(screen, width, sum(heights) + 3 * gap)
        icon, title, body, button = boxes.rows(room, heights, gap)
        self.add_widget(Icon(icon, "pyramid", look.palette.accent))
        self.text(title, scale.display, texts.gettext("Pause"), bold=True, wrap=False)
        self.text(
            body,
            scale.body,
            texts.gettext("Time played: {time}", time=wording.clock(session.seconds)),
            soft=True,
            wrap=False,
        )
        self.add_widget(
            PushButton(
                look,
                button,
                lambda: send(Close()),
                texts.gettext("Back to the game"),
                "play",
                role="accent",
                size=round(1.2 * scale.button),
            )
        )
