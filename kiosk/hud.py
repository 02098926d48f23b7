"""What always lies beside the table: four buttons, the status block, the title line, the call.

The title line says what the game is about; a refusal, a hint or the working solver speak there for
a while.
Until a game has begun there is nothing to count: where the figures will be, the languages can be
chosen.  In attract mode the buttons and figures make room for the call to touch, and the title
line tells what the demo is doing.

Invariant: it reads the session and sends commands; it holds no game state.  Nothing is drawn
again unless what it shows has changed; only the call to touch moves, in attract mode alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from kivy.animation import Animation
from kivy.clock import Clock
from kivy.uix.floatlayout import FloatLayout
from kivy.uix.widget import Widget

from engine.cards import RANK_LETTERS
from engine.position import Outcome
from kiosk import boxes, reel_wording, theme, wording
from kiosk.art import FaceStyle
from kiosk.commands import Change, Command, Hint, NewDeal, Open, Panel, SetLanguage, Undo
from kiosk.layout import Control, Layout, Rect
from kiosk.poster import Poster
from kiosk.session import Session
from kiosk.showreel import Scene, SceneKind
from kiosk.texts import Texts, shipped_languages, texts_in
from kiosk.theme import Palette
from kiosk.widgets import (
    LINE,
    Icon,
    Look,
    Plate,
    PushButton,
    Role,
    TextBox,
    fit,
    label_room,
    measure,
    stacked_label_room,
)

Send = Callable[[Command], Change]

#: Seconds that a message stays.
MESSAGE_TIME: Final = 3.0
#: Seconds after which what is not shown yet is made, too.
READY: Final = 0.5
#: Seconds of one breath of the call to touch, and how faint it becomes.
PULSE: Final = 2.4
PULSE_LEAST: Final = 0.45
#: How often a second it is looked whether it has become fainter or stronger by a step that is
#: drawn.  Each step costs a picture of the whole screen, and a finer one is not seen: it takes
#: about nine of them a second, few where the breath turns.
PULSE_RATE: Final = 20
PULSE_STEP: Final = 1 / 20

#: Seconds in which a poster appears.
APPEAR: Final = 0.5

_ICONS: Final = {
    Control.UNDO: "undo",
    Control.HINT: "hint",
    Control.NEW_DEAL: "deal",
    Control.MENU: "menu",
}


class Hud(FloatLayout):  # type: ignore[misc]
    """The buttons and the status of one screen.

    Args:
        send: carries a command to the session.
        layout: where everything lies.
        texts: the language.
        palette: the colours.
        reduced_motion: whether the call to touch stands still.

    After every command the app calls :meth:`message` with the change and :meth:`update` with the
    session; the other methods put another language or another screen in place.
    """

    def __init__(
        self,
        send: Send,
        layout: Layout,
        texts: Texts,
        *,
        palette: Palette = theme.PALETTE,
        reduced_motion: bool = False,
    ) -> None:
        super().__init__(size=layout.screen.size, size_hint=(None, None))
        self._send = send
        self._texts = texts
        self._palette = palette
        self._reduced_motion = reduced_motion
        self._session: Session | None = None
        self._said = ""
        self._scene: Scene | None = None
        self._poster: Poster | None = None
        self._silence = Clock.create_trigger(self._fall_silent, MESSAGE_TIME)
        self._make_ready = Clock.create_trigger(self._make_both, READY)
        self._breath = Clock.create_trigger(self._breathe, 1 / PULSE_RATE, interval=True)
        self.set_layout(layout)

    # -- what the app calls ---------------------------------------------------------------------

    @property
    def buttons(self) -> Mapping[Control | str, PushButton]:
        """The four buttons, and by its code each language that can be chosen at this moment, in
        their order for those who cannot reach for one."""
        buttons: dict[Control | str, PushButton] = dict(self._play.buttons.items())
        buttons.update(self._play.choices.items())
        return buttons

    def update(self, session: Session) -> None:
        """Show the session as it is now."""
        self._session = session
        shown: _Shown = self._call if session.attract else self._play
        hidden: _Shown | None = self._play_made if session.attract else self._call_made
        shown.show_if(True)
        if hidden is not None:
            hidden.show_if(False)
        if session.attract and not (self._reduced_motion or session.dark):
            self._breath()
        else:
            self._breath.cancel()
        self._title.update(session, self._texts, self._said, self._letters)
        self._put_up(session)
        if not session.attract:
            self._play.update(session)

    def message(self, change: Change) -> None:
        """Say what there is to say about a change, for :data:`MESSAGE_TIME`."""
        said = wording.message(self._texts, change, self._letters)
        if said:
            self._silence.cancel()
            self._silence()
        elif change.old != change.new:
            self._silence.cancel()
        else:
            return
        self._say(said)

    @property
    def _letters(self) -> str:
        """The ranks as the cards on the table show them."""
        if self._session is None:
            return RANK_LETTERS
        return FaceStyle.of(self._session.look, self._texts.language).local_indices

    def set_texts(self, texts: Texts) -> None:
        """Speak another language at once."""
        self._texts = texts
        self._said = ""
        self._silence.cancel()
        self._build()

    def set_layout(self, layout: Layout) -> None:
        """Move to another screen size."""
        self._look = Look.of(layout, self._palette)
        self.size = layout.screen.size
        self._build()

    # -- inside ---------------------------------------------------------------------------------

    def _build(self) -> None:
        self.clear_widgets()
        self._scene, self._poster = None, None
        self._play_made: _Play | None = None
        self._call_made: _Call | None = None
        self._play_holder = Widget(size_hint=(None, None))
        self._call_holder = Widget(size_hint=(None, None))
        self._title = _Title(self._look)
        for part in (self._title, self._play_holder, self._call_holder):
            self.add_widget(part)
        if self._session is not None:
            self.update(self._session)
        self._make_ready()

    @property
    def _play(self) -> _Play:
        if self._play_made is None:
            self._play_made = _Play(self._play_holder, self._send, self._look, self._texts)
        return self._play_made

    @property
    def _call(self) -> _Call:
        if self._call_made is None:
            self._call_made = _Call(self._call_holder, self._look, self._texts)
        return self._call_made

    def _make_both(self, _seconds: float) -> None:
        """Make what is not shown as well: nobody shall wait for it."""
        _both = self._play, self._call

    def _put_up(self, session: Session) -> None:
        """Show the poster of the scene, if it has one."""
        scene = session.scene
        if scene is self._scene:
            return
        self._scene = scene
        if self._poster is not None:
            Animation.cancel_all(self._poster, "opacity")
            self.remove_widget(self._poster)
            self._poster = None
        if scene is None or scene.kind is SceneKind.DEMO:
            return
        others = [code for code in shipped_languages() if code != self._texts.language]
        calls = [call_to_touch(texts_in(code)) for code in others]
        self._poster = Poster(self._look, self._texts, calls, session)
        self.add_widget(self._poster)
        if not self._reduced_motion:
            self._poster.opacity = 0.0
            Animation(opacity=1.0, duration=APPEAR).start(self._poster)

    def _say(self, said: str) -> None:
        self._said = said
        if self._session is not None:
            self._title.update(self._session, self._texts, said, self._letters)

    def _fall_silent(self, _seconds: float) -> None:
        self._say("")

    def _breathe(self, _seconds: float) -> None:
        phase = Clock.get_boottime() % PULSE / PULSE
        alpha = PULSE_LEAST + (1 - PULSE_LEAST) * (0.5 + 0.5 * math.cos(math.tau * phase))
        self._call.glow(round(alpha / PULSE_STEP) * PULSE_STEP)


def call_to_touch(texts: Texts) -> str:
    """What a passer-by is called to do."""
    return texts.gettext("Touch to play")


class _Shown:
    """Widgets that come and go together: ``holder`` has them while they are shown."""

    def __init__(self, holder: Widget) -> None:
        self.holder = holder
        self._inside = Widget(size_hint=(None, None))

    def add(self, widget: Any) -> Any:
        self._inside.add_widget(widget)
        return widget

    def show_if(self, shown: bool) -> None:
        if shown != bool(self.holder.children):
            if shown:
                self.holder.add_widget(self._inside)
            else:
                self.holder.remove_widget(self._inside)


class _Play(_Shown):
    """Buttons and figures while somebody plays."""

    def __init__(self, holder: Widget, send: Send, look: Look, texts: Texts) -> None:
        super().__init__(holder)
        self.buttons = self._make_buttons(send, look, texts)
        self._counts = _Shown(self.add(Widget(size_hint=(None, None))))
        self._figures = self._make_figures(look, texts)
        self._choice = _Shown(self.add(Widget(size_hint=(None, None))))
        self._languages = self._make_languages(send, look, texts)

    def _make_buttons(self, send: Send, look: Look, texts: Texts) -> dict[Control, PushButton]:
        labels = {
            Control.UNDO: texts.gettext("Undo"),
            Control.HINT: texts.gettext("Hint"),
            Control.NEW_DEAL: texts.gettext("New deal"),
            Control.MENU: texts.gettext("Menu"),
        }
        commands: dict[Control, Command] = {
            Control.UNDO: Undo(),
            Control.HINT: Hint(),
            Control.NEW_DEAL: NewDeal(),
            Control.MENU: Open(Panel.MENU),
        }
        size, lines = _label_size(look, list(labels.values()))

        def sender(command: Command) -> Callable[[], object]:
            return lambda: send(command)

        return {
            control: self.add(
                PushButton(
                    look,
                    look.layout.button(control),
                    sender(commands[control]),
                    labels[control],
                    _ICONS[control],
                    size=size,
                    stacked=True,
                    lines=lines,
                )
            )
            for control in Control
        }

    def _make_figures(self, look: Look, texts: Texts) -> dict[str, TextBox]:
        captions = {
            "left": texts.gettext("Cards left"),
            "pass": texts.gettext("Pass"),
            "moves": texts.gettext("Moves"),
            "time": texts.gettext("Time"),
        }
        rect, palette = look.layout.status, look.palette
        add = self._counts.add
        add(Plate(rect, theme.with_alpha(palette.recess, 0.6), look.radius))
        inside = boxes.shrunk(rect, look.unit // 2, look.unit // 2)
        cells = (
            boxes.columns(inside, 4, look.unit)
            if look.layout.portrait
            else boxes.grid(inside, 2, 2, look.unit // 2)
        )
        caption_h = round(LINE * look.scale.caption)
        figure_h = min(cells[0].h - caption_h, round(1.9 * look.scale.figure))
        size = fit(
            list(captions.values()), look.scale.caption, (cells[0].w, caption_h), wrap=False
        ).size
        figures = {}
        for (name, caption), cell in zip(captions.items(), cells, strict=True):
            pair = boxes.centred(cell, cell.w, figure_h + caption_h)
            upper, lower = boxes.rows(pair, (figure_h, caption_h), 0)
            figures[name] = add(
                TextBox(
                    upper,
                    round(1.35 * look.scale.figure),
                    palette.text,
                    bold=True,
                    valign="bottom",
                    wrap=False,
                )
            )
            add(TextBox(lower, size, palette.text_soft, caption, valign="top", wrap=False))
        badge = look.layout.stock_badge
        size = min(look.scale.figure, round(badge.h / LINE))
        figures["stock"] = self.add(TextBox(badge, size, palette.text, bold=True, wrap=False))
        return figures

    @property
    def choices(self) -> dict[str, PushButton]:
        """The languages that can be chosen now, by code."""
        return self._languages if self._choice.holder.children else {}

    def _make_languages(self, send: Send, look: Look, texts: Texts) -> dict[str, PushButton]:
        """A button for each language; none where there is no room, for the menu has them, too."""
        names = shipped_languages()
        layout, gap = look.layout, look.unit
        across = len(names) if layout.portrait else 2
        down = -(-len(names) // across)
        # As low as a finger allows, and in the corner: they are not what the visitor came for.
        touch_h = max(layout.touch, round(2.6 * look.scale.button))
        height = min(layout.status.h, down * touch_h + (down - 1) * gap)
        room = layout.status
        room = Rect(room.x, room.top - height, room.w, height)
        cells = boxes.grid(room, across, down, gap)
        if len(names) < 2 or min(min(cell.size) for cell in cells) < layout.touch:
            return {}
        room_for_name = label_room(look, cells[0])
        label = fit(list(names.values()), look.scale.button, room_for_name, bold=True, wrap=False)
        if label.size < look.scale.caption:
            return {}

        def sender(code: str) -> Callable[[], object]:
            return lambda: send(SetLanguage(code))

        buttons = {}
        for (code, name), cell in zip(names.items(), cells, strict=False):
            role: Role = "chosen" if code == texts.language else "plain"
            button = PushButton(look, cell, sender(code), name, role=role, size=label.size)
            buttons[code] = self._choice.add(button)
        return buttons

    def update(self, session: Session) -> None:
        choosing = bool(self._languages) and session.moves_played == 0
        self._counts.show_if(not choosing)
        self._choice.show_if(choosing)
        running = session.position.outcome is Outcome.RUNNING
        self.buttons[Control.UNDO].set_enabled(session.can_undo)
        self.buttons[Control.HINT].set_enabled(running and not session.thinking)
        stock = len(session.position.stock_places)
        self._figures["stock"].set_text(str(stock) if stock else "")
        self._figures["left"].set_text(str(session.position.cards_left))
        self._figures["pass"].set_text(wording.pass_figure(session.position))
        self._figures["moves"].set_text(str(session.moves_played))
        self._figures["time"].set_text(wording.clock(session.seconds))


def _label_size(look: Look, labels: list[str]) -> tuple[int, int]:
    """One font size for the labels of all buttons, whichever is the longest, and their lines."""
    size = look.scale.caption
    one, two = (
        fit(
            labels,
            size,
            stacked_label_room(look, look.layout.undo, size, lines),
            bold=True,
            wrap=lines > 1,
        ).size
        for lines in (1, 2)
    )
    # One line leaves more room for the icon: that is worth a slightly smaller label.
    return (one, 1) if one >= 0.95 * two else (two, 2)


class _Title(Widget):  # type: ignore[misc]
    """The line that says what it is about, and speaks when there is something to say."""

    def __init__(self, look: Look) -> None:
        super().__init__(size_hint=(None, None))
        rect, scale, palette = look.layout.title, look.scale, look.palette
        self._look = look
        self._ground = theme.with_alpha(palette.panel, 0.92)
        name_h, deal_h = round(LINE * scale.button), round(LINE * scale.caption)
        # A narrow title is a high one: there a long name takes two lines.
        two_lines = rect.h >= 2 * name_h + deal_h
        if two_lines:
            name_h, deal_h = 2 * name_h, min(2 * deal_h, rect.h - 2 * name_h)
        both = boxes.centred(rect, rect.w - 2 * look.unit, name_h + deal_h)
        upper, lower = boxes.rows(both, (name_h, deal_h), 0)
        self._name = TextBox(
            upper,
            scale.button,
            palette.text,
            bold=True,
            halign=look.outward,
            valign="bottom" if two_lines else "middle",
            wrap=two_lines,
        )
        self._deal = TextBox(
            lower,
            scale.caption,
            palette.text_soft,
            halign=look.outward,
            valign="top" if two_lines else "middle",
            wrap=two_lines,
        )
        # In portrait the figures' line is wider, and free in attract mode.
        self._speech = self._speaker(rect, scale.figure)
        self._caption = (
            self._speaker(look.layout.status, scale.title) if look.layout.portrait else self._speech
        )
        for part in (self._name, self._deal):
            self.add_widget(part)

    def _speaker(self, rect: Rect, size: int) -> _Speech:
        speech = _Speech(self._look, rect, size, self._ground)
        self.add_widget(speech)
        return speech

    def update(self, session: Session, texts: Texts, said: str, letters: str) -> None:
        said = self._what_to_say(session, texts, said, letters)
        speaking, silent = self._speech, self._caption
        if session.attract:
            speaking, silent = silent, speaking
        if silent is not speaking:
            silent.say("")
        speaking.say(said)
        name = deal = ""
        if not session.attract and not said:
            name = self._what_it_is(session, texts)
            deal = wording.lost(texts) if session.lost else self._which_it_is(session, texts)
        self._name.set_text(name)
        self._deal.set_text(deal)

    @staticmethod
    def _what_it_is(session: Session, texts: Texts) -> str:
        """How to begin, until something has been removed; from then on the goal."""
        if session.has_removed:
            return wording.goal(texts, session.position.rules)
        return texts.gettext("Make 13: tap two free cards")

    def _which_it_is(self, session: Session, texts: Texts) -> str:
        """Which deal it is; and by which rules, where there is room to say that as well."""
        box, size = self._deal, self._look.scale.caption
        deal = wording.deal_line(texts, session.number, daily=session.daily, grade=session.grade)
        name = wording.preset_words(texts, session.preset).name
        both = f"{deal} · {name}" if deal else name
        took = measure(both, size, width=box.rect.w)
        return both if took.fits and took.height <= box.rect.h else deal

    @staticmethod
    def _what_to_say(session: Session, texts: Texts, said: str, letters: str) -> str:
        if session.attract:
            return _caption(session, texts, letters)
        if said:
            return said
        if session.thinking:
            return texts.gettext("Thinking…")
        if session.hinted_move is not None:
            # As long as it is framed: words take longer to read than a frame.
            return wording.hint(texts, session.hinted_move, letters, waits=session.hint_waits)
        if session.position.outcome is Outcome.STUCK:
            return texts.gettext("No moves left")
        return ""


def _caption(session: Session, texts: Texts, letters: str) -> str:
    """What a demo says: its end, the lesson of the moment, or the move that comes."""
    scene, move = session.scene, session.demo_move
    if scene is None or scene.kind is not SceneKind.DEMO:
        return ""
    if session.position.outcome is Outcome.WON:
        return texts.gettext("The pyramid is cleared!")
    if scene.lesson is not None:
        return reel_wording.lesson_words(texts, scene.lesson, session.position.rules, letters)
    return wording.move_caption(texts, move, letters) if move is not None else ""


class _Speech(Widget):  # type: ignore[misc]
    """A sentence on a plate that is as wide as the sentence."""

    def __init__(self, look: Look, rect: Rect, size: int, ground: theme.Colour) -> None:
        super().__init__(size_hint=(None, None))
        self._rect = rect
        self._margin = round(1.75 * look.unit)
        self._outward = look.outward
        self._plate = Plate(rect, ground, look.radius)
        self._centred = look.layout.portrait and rect == look.layout.status
        self._words = TextBox(
            boxes.shrunk(rect, self._margin, look.unit // 2),
            size,
            look.palette.text,
            bold=True,
            halign="center" if self._centred else look.outward,
        )
        self._inside = Widget(size_hint=(None, None))
        self._inside.add_widget(self._plate)
        self._inside.add_widget(self._words)

    def say(self, text: str) -> None:
        self._words.set_text(text)
        if bool(text) != bool(self.children):
            change = self.add_widget if text else self.remove_widget
            change(self._inside)
        if not text:
            return
        rect = self._rect
        width = min(rect.w, self._words.drawn_width + 2 * self._margin)
        room = rect.w - width
        shift = room // 2 if self._centred else room if self._outward == "right" else 0
        x = rect.x + shift
        self._plate.place(Rect(x, rect.y, width, rect.h))


class _Call(_Shown):
    """The call to touch the screen, where nothing of the table is."""

    def __init__(self, holder: Widget, look: Look, texts: Texts) -> None:
        super().__init__(holder)
        layout, palette, scale = look.layout, look.palette, look.scale
        if layout.portrait:
            rect = boxes.union([layout.button(control) for control in Control])
        else:
            rect = layout.status
        self.add(Plate(rect, palette.accent, 2 * look.radius))
        inside = boxes.shrunk(rect, round(1.5 * look.unit), look.unit)
        text = call_to_touch(texts)
        gap = 2 * look.unit
        if layout.portrait:
            side = round(0.72 * inside.h)
            width = inside.w - side - gap
            said = fit([text], scale.display, (width, inside.h), bold=True)
            left = inside.x + (inside.w - side - gap - said.width) // 2
            hand = Rect(left, inside.y + (inside.h - side) // 2, side, side)
            words = Rect(hand.right + gap, inside.y, said.width + 1, inside.h)
        else:
            side = min(round(0.42 * inside.h), inside.w)
            said = fit([text], scale.display, (inside.w, inside.h - side - gap), bold=True)
            both = boxes.centred(inside, inside.w, side + gap + said.height)
            upper, words = boxes.rows(both, (side, said.height), gap)
            hand = boxes.centred(upper, side, side)
        self._hand = Icon(hand, "touch", palette.on_accent)
        self._ink = palette.on_accent
        self.add(self._hand)
        self.add(TextBox(words, scale.display, palette.on_accent, text, bold=True))

    def glow(self, alpha: float) -> None:
        """How strongly the hand shows, 0 to 1."""
        self._hand.set_colour(theme.with_alpha(self._ink, alpha))
