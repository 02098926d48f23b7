"""The panels that ask something: stuck, cannot be won, give up, still there, go on.

Invariant: each is made of the session's public properties and the texts alone.
"""

from __future__ import annotations

import math
from typing import Final

from kiosk import wording
from kiosk.commands import (
    BackToWinnable,
    Close,
    NewDeal,
    Replay,
    SetLanguage,
    Touched,
    Undo,
)
from kiosk.ring import Ring
from kiosk.session import Session
from kiosk.sheets import Choice, Dialog, Send, Words
from kiosk.texts import Texts
from kiosk.widgets import Look, TextBox

#: Height of the countdown's ring, in title sizes.
_RING: Final = 4.2


class Stuck(Dialog):
    """No move is left: take back, begin again, or another deal; or look at the table.

    How far to go back is found out while the panel is open: then the first button changes its
    meaning where it is, and nothing moves under a finger.
    """

    def __init__(self, send: Send, look: Look, texts: Texts, session: Session) -> None:
        tips = wording.tips(texts)
        super().__init__(
            send,
            look,
            Words(
                title=texts.gettext("No moves left"),
                body=wording.cards_left(texts, session.position.cards_left),
                # Now somebody wants to know; another deal brings another one.
                foot=tips[(session.number or 0) % len(tips)],
            ),
            [
                Choice(texts.gettext("New deal"), NewDeal(), "deal"),
                Choice(texts.gettext("Start again"), Replay(), "replay"),
                Choice(texts.gettext("Look at the table"), Close(), "eye"),
            ],
            across=3,
            first=_way_back(texts, session.moves_back),
            stacked=True,
        )
        self._texts = texts
        self._back = session.moves_back

    def refresh(self, session: Session) -> None:
        """Offer the way back once it is known."""
        back = session.moves_back
        if back != self._back:
            self._back = back
            self.offer_first(_way_back(self._texts, back))


def _way_back(texts: Texts, back: int | None) -> Choice:
    """To where the game can be won, if that is known; else one move."""
    if back is None:
        return Choice(texts.gettext("Undo a move"), Undo(), "undo", "accent")
    text = texts.ngettext(
        "Back {n} move: from there it can be won",
        "Back {n} moves: from there it can be won",
        back,
    )
    return Choice(text, BackToWinnable(), "undo", "accent")


def cannot_win(send: Send, look: Look, texts: Texts, session: Session) -> Dialog:
    """No line of moves wins: go back to where one did, if it ever could be won, or play on."""
    play_on = Choice(texts.gettext("Play on"), Close(), "play")
    back = session.moves_back
    if back is None:
        # Before the first move nothing has been lost; later, the way back may just not be known.
        fresh = session.moves_played == 0
        words = Words(
            title=texts.gettext("This deal cannot be won") if fresh else wording.lost(texts)
        )
        way_out = Choice(texts.gettext("New deal"), NewDeal(), "deal", "accent")
    else:
        words = Words(
            title=wording.lost(texts),
            body=texts.ngettext(
                "It could still be won {n} move ago. Go back?",
                "It could still be won {n} moves ago. Go back?",
                back,
            ),
        )
        way_out = Choice(texts.gettext("Go back"), BackToWinnable(), "undo", "accent")
    return Dialog(send, look, words, [way_out, play_on])


def give_up(send: Send, look: Look, texts: Texts, session: Session) -> Dialog:
    """A running game is about to be left, for another one or for its own beginning."""
    # The session remembers what was asked for; the confirmation only lets it happen.
    title, leave = _instead(texts, session)
    body = texts.gettext("The game that you are playing ends.")
    if session.has_removed:
        body = texts.gettext("The game that you are playing ends, and counts as not won.")
    return Dialog(
        send,
        look,
        Words(title=title, body=body),
        [Choice(texts.gettext("Keep playing"), Close(), "play", "accent"), leave],
    )


def _instead(texts: Texts, session: Session) -> tuple[str, Choice]:
    """The question whether to leave the game for what was asked for, and the button that does."""
    wanted, confirmed = session.pending, NewDeal(confirmed=True)
    if isinstance(wanted, Replay):
        title = texts.gettext("Start this deal again?")
        return title, Choice(texts.gettext("Start again"), Replay(confirmed=True), "replay")
    if wanted is not None and wanted.daily:
        title = texts.gettext("Play the deal of the day?")
        return title, Choice(texts.gettext("Deal of the day"), confirmed, "calendar")
    if wanted is not None and wanted.number is not None:
        title = texts.gettext("Play deal {number}?", number=wanted.number)
        return title, Choice(
            texts.gettext("Deal {number}", number=wanted.number), confirmed, "number"
        )
    title = texts.gettext("Deal a new game?")
    if wanted is not None and wanted.preset not in {None, session.preset}:
        name = wording.preset_words(texts, str(wanted.preset)).name
        title = texts.gettext("Deal a new game: {name}?", name=name)
    return title, Choice(texts.gettext("New deal"), confirmed, "deal")


def go_on(
    send: Send, look: Look, texts: Texts, session: Session, languages: dict[str, str]
) -> Dialog:
    """Somebody left a game: is it the same person?  The first thing that a visitor may see."""
    return Dialog(
        send,
        look,
        Words(
            title=texts.gettext("Welcome back?"),
            body=texts.ngettext(
                "A game is under way: {n} card left.",
                "A game is under way: {n} cards left.",
                session.position.cards_left,
            ),
        ),
        [
            Choice(texts.gettext("Continue this game"), Close(), "play", "accent"),
            Choice(texts.gettext("New deal"), NewDeal(confirmed=True), "deal"),
        ],
        low=[
            Choice(name, SetLanguage(code), role="chosen" if code == texts.language else "plain")
            for code, name in languages.items()
        ],
    )


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
        self._ring = Ring(look, rect)
        self.add_widget(self._ring)
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
        self._ring.fill(left / self._whole)
