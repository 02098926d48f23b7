"""The Kivy application: brings session, table, buttons and panels together.

Commands come from widgets, keys, timers and other threads; each goes through
:meth:`KioskApp.send`, which has the session handle it and shows what changed.

Invariant: this is the only place where threads meet the main loop, through one queue that the
main loop drains.
"""

from __future__ import annotations

import gc
import logging
import math
import os
import queue
import time
from collections.abc import Callable
from importlib import import_module
from threading import Thread
from typing import Any, Final

from kivy.app import App
from kivy.base import EventLoop
from kivy.clock import Clock
from kivy.core.window import Window
from kivy.graphics.opengl import glFinish

from kiosk import burnin, theme
from kiosk.art import FaceStyle
from kiosk.commands import (
    Change,
    ChangeKind,
    Close,
    Command,
    Darken,
    Draw,
    Hint,
    NewDeal,
    Open,
    Panel,
    Redo,
    Somebody,
    Tick,
    Touched,
    Undo,
)
from kiosk.cursor import NEXT, PREVIOUS, SELECT, Cursor
from kiosk.display import Driver
from kiosk.frametimes import FrameTimes
from kiosk.gesture import SPENT, CornerGesture, Step
from kiosk.heartbeat import Heartbeat, interval
from kiosk.layout import Layout
from kiosk.light import Light
from kiosk.mark import Mark
from kiosk.mishap import Mishaps
from kiosk.panel_controls import PanelControls
from kiosk.picturecache import PictureCache
from kiosk.ring import HoldRing
from kiosk.schedule import Stage
from kiosk.screens import Hud, PanelHost
from kiosk.service_commands import OpenService
from kiosk.session import Session
from kiosk.sessiontypes import Saved
from kiosk.shifted import Shifted
from kiosk.sound import Sounds
from kiosk.table import Table
from kiosk.texts import shipped_languages, texts_in
from kiosk.veil import Veil
from kiosk.widgets import Look

log = logging.getLogger(__name__)

#: Seconds between ticks.
TICK: Final = 0.1
#: Seconds between two looks at the panel of buttons.
POLL: Final = 1 / 30
#: Seconds between two sound files that are read after the start.
WARM_UP: Final = 0.3
#: Under kmsdrm the first frames may stay black: draw again so many seconds after the start.
DRAW_AGAIN: Final = (1.0, 3.0)
#: A key that is held down is heard again at least so often, in seconds.
REPEATS_WITHIN: Final = 2.0
#: Seconds after which a key that is down is one that something lies on, as a button is.
STUCK_AFTER: Final = 30.0

#: What changes the game that is kept.
_KEPT: Final = {
    ChangeKind.PLAYED,
    ChangeKind.UNDONE,
    ChangeKind.REDONE,
    ChangeKind.WENT_BACK,
    ChangeKind.DEALT,
    ChangeKind.WOKE,
    ChangeKind.OPTION,
    # Hints are counted, too.
    ChangeKind.THINKING,
    ChangeKind.HINTED,
}

#: Keys, by Kivy's codes: the whole game but the pyramid.
_KEYS: Final[dict[int, Command]] = {
    32: Draw(),  # space
    8: Undo(),  # backspace
    27: Close(),  # escape
    **{
        ord(letter): command
        for letter, command in {
            "d": Draw(),
            "u": Undo(),
            "r": Redo(),
            "h": Hint(),
            "n": NewDeal(),
            "m": Open(Panel.MENU),
        }.items()
    },
}
#: Keys that steer the mark, by Kivy's codes; the tabulator goes round like a wheel.
_WAYS: Final[dict[int, str]] = {
    273: "up",
    274: "down",
    275: "right",
    276: "left",
    9: NEXT,
    13: SELECT,
    271: SELECT,  # enter on the number pad
}


class Root(Shifted):
    """Sees every touch first: the one that wakes the kiosk does nothing else.

    Args:
        send: the road for commands.
        clock: monotonic seconds.

    Attributes:
        corners: the touch that opens the service menu; None where there is none.
        watching: whether it would be heeded now.
        wake: brings the light back at every touch; whether it was not bright.
        on_finger: called at every touch, before anything else is done with it.
    """

    def __init__(
        self, send: Callable[[Command], Change], clock: Callable[[], float], **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._send = send
        self._clock = clock
        self.corners: CornerGesture | None = None
        self.watching = True
        self.wake: Callable[[], bool] = lambda: False
        self.on_finger: Callable[[], object] = lambda: None

    def on_touch_down(self, touch: Any) -> bool:
        """Let a touch through unless it woke somebody."""
        if not (0 <= touch.sx <= 1 and 0 <= touch.sy <= 1):
            return True
        if touch.is_mouse_scrolling:
            return True
        self.on_finger()
        dark = self.wake()
        change = self._send(Touched())
        if self.corners is not None and self.watching:
            step = self.corners.down(touch.uid, touch.x, touch.y, self._clock())
            if step is not Step.NOTHING:
                touch.ud["only_woke"] = True
                return True
        if dark or change.only_woke:
            touch.ud["only_woke"] = True
            return True
        return bool(super().on_touch_down(touch))

    def on_touch_move(self, touch: Any) -> bool:
        """Follow a touch that was let through."""
        return "only_woke" in touch.ud or bool(super().on_touch_move(touch))

    def on_touch_up(self, touch: Any) -> bool:
        """End a touch that was let through."""
        step = Step.NOTHING
        if self.corners is not None and self.watching:
            step = self.corners.up(touch.uid, touch.x, touch.y, self._clock())
        if step is not Step.NOTHING:
            # Whatever holds this touch hears of its end only after this.
            touch.ud[SPENT] = True
        if step is Step.OPEN:
            self._send(OpenService())
        return "only_woke" in touch.ud or bool(super().on_touch_up(touch))


class KioskApp(App):  # type: ignore[misc]
    """The application.

    Args:
        session: what is shown and played on.
        inbox: where other threads hand in their commands.
        keep: takes what must survive a power cut, whenever that changes.
        heartbeat: what systemd is told; None tells it nothing.
        sounds: what is heard; None is silence.
        cache: where drawn cards are kept for the next start; None keeps none.
        clock: monotonic seconds.
        corners: whether the service menu can be opened by touch.
        light: how bright the screen is; None leaves it alone.
        ticking: whether time passes by itself; otherwise the caller drains and ticks.
    """

    def __init__(
        self,
        session: Session,
        inbox: queue.SimpleQueue[Command],
        *,
        keep: Callable[[Saved], None],
        heartbeat: Heartbeat | None = None,
        sounds: Sounds | None = None,
        cache: PictureCache | None = None,
        clock: Callable[[], float] = time.monotonic,
        corners: bool = True,
        light: Light | None = None,
        ticking: bool = True,
    ) -> None:
        super().__init__()
        self.session = session
        self.inbox = inbox
        self._keep = keep
        self._heartbeat = heartbeat
        self._sounds = sounds
        self._cache = cache
        self._clock = clock
        self._has_corners = corners and session.service is not None
        self._light = light
        self._veil = Veil()
        self._ticking = ticking
        self._errands: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
        #: Reads the operator's settings again.
        self.reload: Callable[[], object] = lambda: None
        #: Whether it was stopped to begin anew.
        self.restarts = False
        self._built = 0.0
        self.frame_times = FrameTimes()
        self._second = -1
        #: Whether each frame is waited for: nobody else waits for a picture that nobody sees, and
        #: frames would pile up in memory.
        self.finishes_frames = os.environ.get("SDL_VIDEODRIVER") == Driver.OFFSCREEN.value
        self._controls: PanelControls | None = None
        self._cursor = Cursor(Panel.NONE)
        #: Each key that is down, when it came down, and when that was last heard.
        self._keys_down: dict[int, tuple[float, float]] = {}
        self._events: list[Any] = []
        self._mishaps = Mishaps(self._dress, clock)
        self._warming = Clock.create_trigger(lambda _dt: None)
        self._bindings = {
            "on_resize": self._resized,
            "on_key_down": self._key_down,
            "on_key_up": self._key_up,
            "on_flip": self._flipped,
            # Nothing on the screen closes the kiosk.
            "on_request_close": lambda *_args: True,
        }

    # -- making -------------------------------------------------------------------------------

    def build(self) -> Root:
        """Make the widgets and start the timers."""
        self.root_widget = Root(self.send, self._clock)
        self.root_widget.wake = self.wake
        self.root_widget.canvas.after.add(self._veil.canvas)
        self._built = self._clock()
        self._dress()
        Window.bind(**self._bindings)
        self._mishaps.watch()
        if self._ticking:
            self._repeat(self._tick, TICK)
        self._events += [
            Clock.schedule_once(lambda _dt: Window.canvas.ask_update(), after)
            for after in DRAW_AGAIN
        ]
        if self._heartbeat is not None:
            self._repeat(self._beat, interval())
        self._warm_up()
        return self.root_widget

    def restart(self) -> None:
        """End, to begin anew."""
        self.restarts = True
        self.stop()

    def attach(self, controls: PanelControls) -> None:
        """Let a panel of buttons and lamps take part; call before the application runs."""
        self._controls = controls
        self._repeat(self._poll, POLL)

    def _poll(self, _dt: float) -> None:
        controls = self._controls
        assert controls is not None
        controls.poll(self._clock())
        self.ring.show(controls.holding, lingers=self.session.has_game)

    def navigate(self, way: str) -> None:
        """Move the mark, or take what it is on: see :meth:`kiosk.mark.Mark.navigate`."""
        self.mark.navigate(way)

    def every(self, seconds: float, errand: Callable[[], object]) -> None:
        """Have something done again and again, by the main loop; call before it runs."""
        self._repeat(lambda _dt: self.soon(errand), seconds)

    def _repeat(self, do: Callable[[float], object], seconds: float) -> None:
        """Call ``do`` every so many seconds as long as the application runs."""
        self._events.append(Clock.schedule_interval(self._mishaps.shield(do), seconds))

    def wake(self) -> bool:
        """Somebody is there: full light at once; whether it was not bright before."""
        if self._light is None:
            return False
        was_dark = self._light.somebody(self._clock())
        self._veil.show(self._light.veil)
        return was_dark

    def presence(self, somebody: bool) -> None:
        """A sensor sees somebody, or nobody any more."""
        if self._light is not None:
            self._light.presence(somebody, self._clock())
            self._follow_light()
        self.send(Somebody(somebody))

    def _follow_light(self) -> None:
        """Show what the light cannot, and play no demo in the dark."""
        if self._light is None:
            return
        self._veil.show(self._light.veil)
        self.send(Darken(self._light.stage is Stage.BLACK))

    def set_volume(self, volume: float) -> None:
        """How loud it is from now on, 0 to 1."""
        if self._sounds is not None:
            self._sounds.volume = volume
            self._warm_up()

    def set_corners(self, wanted: bool) -> None:
        """Whether the service menu can be opened by touch from now on."""
        self._has_corners = wanted and self.session.service is not None
        self._watch_corners(self._layout())

    def _warm_up(self) -> None:
        """Read the sound files: one at a time, and none before the first picture stands."""
        sounds = self._sounds
        if sounds is not None:
            self._warming.cancel()
            self._warming = Clock.schedule_interval(lambda _dt: sounds.warm_up(), WARM_UP)

    def _watch_corners(self, layout: Layout) -> None:
        self.root_widget.corners = (
            CornerGesture(layout.width, layout.height, layout.touch) if self._has_corners else None
        )

    def _dress(self) -> None:
        """Make everything that is seen, for the look and the language of this moment."""
        self._look, self._spoken = self.session.look, self.session.speaks
        look, layout, texts = self._look, self._layout(), texts_in(self._spoken)
        palette = theme.palette_of(high_contrast=look.high_contrast, oled=look.oled)
        still = look.reduced_motion
        style = FaceStyle.of(look, self._spoken)
        self._watch_corners(layout)
        self.root_widget.clear_widgets()
        self.table = Table(
            self.send, layout, display=look, palette=palette, style=style, cache=self._cache
        )
        self.hud = Hud(self.send, layout, texts, palette=palette, reduced_motion=still)
        self.panels = PanelHost(
            self.send,
            layout,
            texts,
            palette=palette,
            style=style,
            languages=shipped_languages(),
            reduced_motion=still,
        )
        parts = (self.table, self.hud, self.panels)
        self.ring = HoldRing(Look.of(layout, palette), texts)
        self.mark = Mark(
            self.send, self.session, self._cursor, parts, layout=layout, palette=palette
        )
        self.root_widget.on_finger = self.mark.hide
        for widget in (*parts, self.ring, self.mark):
            self.root_widget.add_widget(widget)
        self.table.show(self.session.position)
        self._refresh()

    def _speak(self) -> None:
        """Change the language, and the deck where its letters change with it."""
        if FaceStyle.of(self._look, self.session.speaks) != FaceStyle.of(self._look, self._spoken):
            self._dress()
            return
        self._spoken = self.session.speaks
        texts = texts_in(self._spoken)
        for widget in (self.hud, self.panels, self.ring):
            widget.set_texts(texts)

    def _layout(self) -> Layout:
        look = self.session.look
        return Layout.for_screen(
            *map(int, Window.size), mm_width=look.width_mm, left_handed=look.left_handed
        )

    @property
    def frames(self) -> int:
        """How many frames were drawn."""
        return self.frame_times.frames

    # -- the one road -------------------------------------------------------------------------

    def send(self, command: Command) -> Change:
        """Have the session carry out a command, and show what changed."""
        change = self.session.handle(command, self._clock())
        if change.kind is ChangeKind.NOTHING:
            # What may have changed is the clock, once a second.
            if int(self.session.seconds) != self._second:
                self._second = int(self.session.seconds)
                self.hud.update(self.session)
            return change
        if self.session.look != self._look:
            self._dress()
        elif self.session.speaks != self._spoken:
            self._speak()
        if self._sounds is not None:
            self._sounds.play(change, attract=self.session.attract)
        self.table.animate(change)
        self.hud.message(change)
        self._refresh()
        if self.session.panel is Panel.WON:
            # First the cards celebrate, then the panel says it; a touch ends the waiting.
            self.table.when_still(self._refresh)
        if change.kind is ChangeKind.ABANDONED or (
            change.kind in _KEPT and not self.session.attract
        ):
            self._keep(self.session.saved())
        return change

    def _refresh(self) -> None:
        session = self.session
        self.table.hide(session.panel is Panel.PAUSE)
        self.table.refresh(session.selected, session.hinted, session.coached)
        self.hud.update(session)
        self.root_widget.watching = session.panel is not Panel.SERVICE
        self._place()
        if not (session.panel is Panel.WON and self.table.moving):
            self.panels.update(session)
        self.mark.update()

    def drain(self) -> None:
        """Carry out what other threads have handed in."""
        while True:
            try:
                command = self.inbox.get_nowait()
            except queue.Empty:
                return
            self.send(command)

    def soon(self, errand: Callable[[], object]) -> None:
        """Have something done by the main loop; may be called on any thread and by a signal."""
        self._errands.put(errand)

    def _run_errands(self) -> None:
        while True:
            try:
                errand = self._errands.get_nowait()
            except queue.Empty:
                return
            try:
                errand()
            except Exception:
                # Nothing that was put off to this moment may end the kiosk.
                log.exception("an errand of the main loop failed")

    def _tick(self, _dt: float) -> None:
        self._run_errands()
        self.drain()
        if self._light is not None:
            self._light.tick(self._clock())
            self._follow_light()
        self.send(Tick())
        self._place()

    def _place(self) -> None:
        """Lay the picture a little beside its place, against burn-in; not while it is tested."""
        place = (0, 0)
        if self.session.panel is not Panel.SERVICE:
            place = burnin.offset(self.table.layout, self._clock() - self._built)
        self.root_widget.move(place)

    # -- Kivy ---------------------------------------------------------------------------------

    def _resized(self, _window: Any, _width: int, _height: int) -> None:
        layout = self._layout()
        self._watch_corners(layout)
        for widget in (self.table, self.hud, self.panels, self.ring, self.mark):
            widget.set_layout(layout)
        self.table.show(self.session.position)
        self._refresh()

    def _key_down(
        self, _window: Any, key: int, _code: int, _text: str | None, modifiers: list[str]
    ) -> bool:
        now = self._clock()
        since, last = self._keys_down.get(key, (now, -math.inf))
        # Which key came up is not heard where a keyboard is pulled out.
        repeated = now - last < REPEATS_WITHIN
        self._keys_down[key] = (since if repeated else now, now)
        if repeated and now - since > STUCK_AFTER:
            # A book lies on the keyboard: that is nobody.
            return True
        command, way = _KEYS.get(key), _WAYS.get(key)
        if self.wake() or not (repeated or command or way):
            # Any key wakes, whether it means something or not.
            self.send(Touched())
        elif command is not None:
            self.send(command)
        elif way == SELECT and repeated:
            # Leaning on a key takes one thing, not whatever comes to lie there next.
            pass
        elif way is not None and not self.send(Touched()).only_woke:
            self.navigate(PREVIOUS if way == NEXT and "shift" in modifiers else way)
        return True

    def _key_up(self, _window: Any, key: int, *_rest: Any) -> bool:
        self._keys_down.pop(key, None)
        return True

    def _flipped(self, _window: Any) -> None:
        self.frame_times.drawn(self._clock(), self.table.moving)
        if self.finishes_frames:
            glFinish()
        if self.frames == 1:
            if self._heartbeat is not None:
                self._heartbeat.ready()
            gc.enable()  # see kiosk/wiring.py
            Thread(target=self._get_ready, name="getting ready", daemon=True).start()

    def _get_ready(self) -> None:
        """Have at hand what a visitor may ask for next; on a thread, behind the first picture."""
        import_module("kiosk.panels")
        for language in shipped_languages():
            texts_in(language)

    def _beat(self, _dt: float) -> None:
        assert self._heartbeat is not None
        self._heartbeat.beat("attract mode" if self.session.attract else "a visitor is playing")

    def on_stop(self) -> None:
        """Keep the game once more on the way out."""
        gc.enable()
        if self._controls is not None:
            self._controls.close()
        if self._light is not None:
            self._light.close()
        for event in (*self._events, self._warming):
            event.cancel()
        Window.unbind(**self._bindings)
        self._mishaps.leave()
        self._keep(self.session.saved())


def input_threads() -> list[Thread]:
    """The threads that read touches."""
    threads = (getattr(provider, "thread", None) for provider in EventLoop.input_providers)
    return [thread for thread in threads if isinstance(thread, Thread)]
