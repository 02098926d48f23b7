"""The panels over the table: which one is open, and what a touch beside it does.

The other screen, which is always there, is :class:`kiosk.hud.Hud`.

Invariant: the open panel follows :attr:`kiosk.session.Session.panel`; while one is open no touch
reaches what lies under it.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Final

from kivy.animation import Animation
from kivy.clock import Clock
from kivy.graphics import Color, Rectangle
from kivy.uix.floatlayout import FloatLayout

from kiosk import burnin, theme
from kiosk.art import FaceStyle
from kiosk.commands import Panel
from kiosk.gesture import SPENT
from kiosk.hud import Hud, Send
from kiosk.layout import Layout
from kiosk.session import Session
from kiosk.texts import Texts, available_languages
from kiosk.theme import Palette
from kiosk.widgets import Look

if TYPE_CHECKING:
    from kiosk.sheets import Sheet

__all__ = ["Hud", "PanelHost"]

#: Stands for a panel that must be built anew, whatever it will be.
_OUT_OF_DATE: Final = object()
#: Seconds in which a panel appears; it takes touches from the first on.
FADE: Final = 0.15
#: Seconds for which a tap anywhere is not yet taken: it was meant for the table.
SETTLE: Final = 0.8


class PanelHost(FloatLayout):  # type: ignore[misc]
    """Shows the session's panel.

    Args:
        send: carries a command to the session.
        layout: where everything lies.
        texts: the language.
        palette: the colours.
        style: how cards in pictures are printed.
        languages: code and own name of each language that the menu offers; None for all.
        reduced_motion: whether panels appear at once.

    After every command the app calls :meth:`update`.
    """

    def __init__(
        self,
        send: Send,
        layout: Layout,
        texts: Texts,
        *,
        palette: Palette = theme.PALETTE,
        style: FaceStyle | None = None,
        languages: dict[str, str] | None = None,
        reduced_motion: bool = False,
    ) -> None:
        super().__init__(size=layout.screen.size, size_hint=(None, None))
        self._send = send
        self._texts = texts
        self._palette = palette
        self._look = Look.of(layout, palette)
        self._style = style or FaceStyle()
        self._languages = available_languages() if languages is None else languages
        self._reduced_motion = reduced_motion
        self._session: Session | None = None
        self._shown: Hashable = None
        self._settled = True
        self._settle = Clock.create_trigger(self._be_settled, SETTLE)
        self.sheet: Sheet | None = None

    # -- what the app calls ---------------------------------------------------------------------

    def update(self, session: Session) -> None:
        """Show the panel of the session as it is now, or none."""
        # What is there from the beginning does not appear, it is there.
        begins = self._session is None
        self._session = session
        wanted = _state(session)
        if wanted == self._shown:
            if self.sheet is not None:
                self.sheet.refresh(session)
            return
        was_open = self.sheet is not None
        self._shown = wanted
        self.clear_widgets()
        self.canvas.before.clear()
        self.sheet = self._build(session)
        if self.sheet is None:
            return
        with self.canvas.before:
            Color(*self._palette.veil)
            beyond = burnin.margin(self._look.layout)
            w, h = self.size
            Rectangle(pos=(-beyond, -beyond), size=(w + 2 * beyond, h + 2 * beyond))
        self.add_widget(self.sheet)
        self._settled = False
        self._settle.cancel()
        self._settle()
        Animation.cancel_all(self, "opacity")
        self.opacity = 1.0
        if not (was_open or begins or self._still(session)):
            self.opacity = 0.0
            Animation(opacity=1.0, duration=FADE).start(self)

    def set_texts(self, texts: Texts) -> None:
        """Speak another language at once."""
        self._texts = texts
        self._rebuild()

    def set_layout(self, layout: Layout) -> None:
        """Move to another screen size."""
        self._look = Look.of(layout, self._palette)
        self.size = layout.screen.size
        self._rebuild()

    # -- touch ----------------------------------------------------------------------------------

    def on_touch_down(self, touch: Any) -> bool:
        """Give the touch to the panel's buttons; let nothing through to the table."""
        sheet = self.sheet
        if sheet is None:
            return False
        if super().on_touch_down(touch) or not self._settled:
            return True
        inside = sheet.rect.contains(*touch.pos)
        command = sheet.anywhere or (None if inside else sheet.outside)
        if command is not None:
            touch.grab(self)
            touch.ud[self] = (sheet, command)
        return True

    def on_touch_move(self, touch: Any) -> bool:
        """Keep moves from the table, too."""
        return super().on_touch_move(touch) or self.sheet is not None

    def on_touch_up(self, touch: Any) -> bool:
        """Act on a tap beside the buttons, if the same panel is still open."""
        if touch.grab_current is self:
            touch.ungrab(self)
            sheet, command = touch.ud.pop(self)
            if sheet is self.sheet and SPENT not in touch.ud:
                self._send(command)
            return True
        return super().on_touch_up(touch) or self.sheet is not None

    # -- inside ---------------------------------------------------------------------------------

    def _rebuild(self) -> None:
        # Not None: that is what stands for no panel, and one that has just been closed must go.
        self._shown = _OUT_OF_DATE
        if self._session is not None:
            self.update(self._session)

    def _be_settled(self, _seconds: float) -> None:
        self._settled = True

    def _still(self, session: Session) -> bool:
        return self._reduced_motion or session.look.reduced_motion

    def _build(self, session: Session) -> Sheet | None:
        if session.attract:
            return None
        if session.panel is Panel.NONE:
            return None
        # Not at the top: they are more program than the table, which is to be seen first.
        from kiosk import panels  # noqa: PLC0415

        return panels.build(
            self._send,
            self._look,
            self._texts,
            session,
            style=self._style,
            languages=self._languages,
            still=self._still(session),
        )


def _state(session: Session) -> Hashable:
    """All that decides what a panel looks like when it is built."""
    if session.attract or session.panel is Panel.NONE:
        return None
    if session.panel is Panel.SERVICE and (service := session.service) is not None:
        return (
            service.page,
            service.asking,
            service.busy,
            service.report,
            session.statistics.all.played,
        )
    return (
        session.panel,
        session.pending,
        session.preset,
        session.position,
        session.auto_play,
        session.can_redo,
        session.look,
        None if session.panel is Panel.STUCK else session.moves_back,
    )
