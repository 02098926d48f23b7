"""The menu panel: one level, everything in reach.

Invariant: every entry is one command; a language is offered by its own name.
"""

from __future__ import annotations

from kiosk import boxes
from kiosk.commands import (
    Close,
    Command,
    Open,
    Panel,
    Redo,
    Replay,
    SetAutoPlay,
    SetLanguage,
)
from kiosk.layout import Rect
from kiosk.session import Session
from kiosk.sheets import Send, Sheet, heading, heading_height
from kiosk.texts import Texts
from kiosk.widgets import Look, PushButton, Role, fit, label_room, side_by_side


class Menu(Sheet):
    """Help, choice of game, statistics, look, pause, replay, redo, auto-play, languages.

    Args:
        send: carries a command to the session.
        look: the common look.
        texts: the present language.
        session: what is possible now.
        languages: code and own name of each language.
    """

    def __init__(
        self,
        send: Send,
        look: Look,
        texts: Texts,
        session: Session,
        languages: dict[str, str],
    ) -> None:
        portrait = look.layout.portrait
        across = 2 if portrait else 3
        automatic = session.auto_play
        entries: list[tuple[str, str, Command, Role, bool]] = [
            (texts.gettext("How to play"), "help", Open(Panel.RULES), "plain", True),
            (texts.gettext("Choose a game"), "pyramid", Open(Panel.CHOOSE), "plain", True),
            (texts.gettext("Statistics"), "chart", Open(Panel.STATISTICS), "plain", True),
            (
                texts.gettext("Start again"),
                "replay",
                Replay(),
                "plain",
                session.moves_played > 0,
            ),
            (texts.gettext("Redo a move"), "redo", Redo(), "plain", session.can_redo),
            (texts.gettext("Cards and table"), "eye", Open(Panel.LOOK), "plain", True),
            (texts.gettext("Pause"), "pause", Open(Panel.PAUSE), "plain", True),
            (
                texts.gettext("Pair automatically: on")
                if automatic
                else texts.gettext("Pair automatically: off"),
                "check" if automatic else "touch",
                SetAutoPlay(not automatic),
                "chosen" if automatic else "plain",
                True,
            ),
            (texts.gettext("Back to the game"), "play", Close(), "accent", True),
        ]
        # The way back is the last row's alone where it would be left over.
        gap = look.unit
        most = look.layout.panel
        languages_across = side_by_side(
            look,
            list(languages.values()),
            most.w - 4 * gap,
            gap,
            lines=2 if portrait and len(languages) > 1 else 1,
        )
        down, lines = -(-len(entries) // across), -(-len(languages) // languages_across)
        gaps = gap * (down + lines + 1)
        note = texts.gettext("Pair automatically: one tap takes a card and the only one that fits.")
        around = heading_height(look, note) + 2 * gap
        wanted = max(round(1.2 * look.layout.touch), round(3.2 * look.scale.button))
        row_h = min((most.h - around - gaps) // (down + lines), wanted)
        height = around + row_h * (down + lines) + gaps
        super().__init__(look, boxes.centred(look.layout.screen, most.w, height))
        self._send = send
        room = heading(self, texts.gettext("Menu"), note)
        actions_h = down * row_h + (down - 1) * gap
        languages_h = lines * row_h + (lines - 1) * gap
        upper = Rect(room.x, room.top - actions_h, room.w, actions_h)
        lower = Rect(room.x, upper.y - 3 * gap - languages_h, room.w, languages_h)
        cells = boxes.grid(upper, across, down, gap)[: len(entries)]
        if len(entries) % across:
            last = cells[-1]
            cells[-1] = Rect(upper.x, last.y, upper.w, last.h)
        size = fit(
            [entry[0] for entry in entries],
            look.scale.button,
            label_room(look, cells[0], look.scale.button),
            bold=True,
        ).size
        for (text, icon, command, role, enabled), cell in zip(entries, cells, strict=True):
            button = self._button(cell, command, text, icon=icon, role=role, size=size)
            button.set_enabled(enabled)
        for (code, name), cell in zip(
            languages.items(),
            boxes.grid(lower, languages_across, lines, gap),
            strict=False,
        ):
            chosen = code == texts.language
            self._button(
                cell, SetLanguage(code), name, role="chosen" if chosen else "plain", size=size
            )

    def _button(
        self,
        rect: Rect,
        command: Command,
        text: str,
        *,
        icon: str | None = None,
        role: Role,
        size: int,
    ) -> PushButton:
        button = PushButton(
            self.look, rect, lambda: self._send(command), text, icon, role=role, size=size
        )
        self.add_widget(button)
        return button
