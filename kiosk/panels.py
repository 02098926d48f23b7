"""All panels, and which of them shows a session.

Apart from :mod:`kiosk.screens` so that they can be imported behind the first picture: together they
are more program than the table.

Invariant: every member of :class:`kiosk.commands.Panel` but NONE has a panel here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kiosk import dialogs, service_pages
from kiosk.art import FaceStyle
from kiosk.choose import Choose
from kiosk.commands import Panel
from kiosk.look_page import LookPage
from kiosk.menu import Menu
from kiosk.number import NumberPad
from kiosk.pause import Pause
from kiosk.rules_page import RulesPage
from kiosk.session import Session
from kiosk.sheets import Send, Sheet
from kiosk.statistics_page import StatisticsPage
from kiosk.texts import Texts
from kiosk.widgets import Look
from kiosk.won import Won

#: Panels that need nothing but the session.
_BUILDERS: Final[dict[Panel, Callable[[Send, Look, Texts, Session], Sheet | None]]] = {
    Panel.STUCK: dialogs.Stuck,
    Panel.CANNOT_WIN: dialogs.cannot_win,
    Panel.GIVE_UP: dialogs.give_up,
    Panel.COUNTDOWN: dialogs.Countdown,
    Panel.CHOOSE: Choose,
    Panel.NUMBER: NumberPad,
    Panel.STATISTICS: StatisticsPage,
    Panel.PAUSE: Pause,
    Panel.SERVICE: service_pages.page,
}


def build(
    send: Send,
    look: Look,
    texts: Texts,
    session: Session,
    *,
    style: FaceStyle,
    languages: dict[str, str],
    still: bool,
) -> Sheet | None:
    """The panel of the session as it is now, or None.

    Args:
        send: carries a command to the session.
        look: how everything looks.
        texts: the language.
        session: what it shows.
        style: how cards in pictures are printed.
        languages: code and own name of each language on offer.
        still: whether nothing on it moves.
    """
    special: dict[Panel, Callable[[], Sheet]] = {
        Panel.WON: lambda: Won(send, look, texts, session, still=still),
        Panel.CONTINUE: lambda: dialogs.go_on(send, look, texts, session, languages),
        Panel.MENU: lambda: Menu(send, look, texts, session, languages),
        Panel.RULES: lambda: RulesPage(send, look, texts, session, style),
        Panel.LOOK: lambda: LookPage(send, look, texts, session, style),
    }
    if session.panel in special:
        return special[session.panel]()
    build_it = _BUILDERS.get(session.panel)
    return None if build_it is None else build_it(send, look, texts, session)
