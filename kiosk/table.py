"""The table: ground, pyramid and piles, and the fingers on them.

It draws the position that it was last shown, animates the session's changes, and turns touches
into commands.  A touch, or the next change, finishes whatever still moves before it is dealt with.

Invariant: no game state.  The position is a copy for drawing and for telling what was touched;
what a touch does is the session's business.  Nothing is drawn and no timer runs while nothing
moves.

Needs Kivy's window.  Call on the main thread only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from kivy.clock import Clock
from kivy.graphics import Color, Rectangle
from kivy.uix.widget import Widget

from engine.position import Position
from kiosk import burnin, motion, theme
from kiosk.art import FaceStyle
from kiosk.commands import Change, Command, Drop, Pile, Tap, Target
from kiosk.faces import Faces, ground_texture
from kiosk.gesture import SPENT
from kiosk.layout import Layout, Rect
from kiosk.motion import Animation, Key, Pose
from kiosk.picturecache import PictureCache
from kiosk.quads import WHITE, Quad, QuadBatch
from kiosk.settings import DisplaySettings
from kiosk.theme import Palette, mix, with_alpha
from kiosk.touch import Gesture, Touches

Send = Callable[[Command], Change]

#: No frame moves anything by more than this, in seconds, however long it took.
LONGEST_STEP: Final = 0.1
#: How long a hint's rings pulse before they stay, in seconds, and how often in a second.
PULSE_TIME: Final = 2.0
PULSE_RATE: Final = 1.5

#: How far a selected card is raised, of its height; a carried one, too.
_RAISED: Final = 0.05
_CARRIED_SCALE: Final = 1.05


class Table(Widget):  # type: ignore[misc]
    """The table.

    Args:
        send: carries a command to the session, and has the change shown before it returns.
        layout: where everything lies.
        display: how cards look, and whether they move.
        palette: the colours of the ground and of the highlights.
        style: how the deck is printed; None follows ``display``.
        cache: where drawn cards are kept for the next start; None keeps none.

    After every command the app calls :meth:`animate` with its change, then :meth:`refresh`.
    """

    def __init__(
        self,
        send: Send,
        layout: Layout,
        *,
        display: DisplaySettings | None = None,
        palette: Palette = theme.PALETTE,
        style: FaceStyle | None = None,
        cache: PictureCache | None = None,
    ) -> None:
        super().__init__(size=layout.screen.size, size_hint=(None, None))
        self._send = send
        self._palette = palette
        self._display = display or DisplaySettings()
        self._style = style or FaceStyle.of(self._display)
        self._cache = cache
        self._position: Position | None = None
        self._selected: Key | None = None
        self._hinted: tuple[Key, ...] = ()
        self._coached: tuple[Key, ...] = ()
        self._hidden = False
        self._animation: Animation | None = None
        self._elapsed = 0.0
        self._pulse_left = 0.0
        self._event: Any = None
        self._then: Callable[[], None] | None = None
        #: The target under the finger, and the card that the finger carries with its pose.
        self._pressed: Target | None = None
        self._carried: tuple[Key, Pose] | None = None
        #: What was drawn for cards that do not move, with the pose it was drawn for and whether it
        #: lies on top; good for as long as nothing passes but time.
        self._lying: dict[Key, tuple[Pose, list[Quad], bool]] = {}
        self._sending = False
        with self.canvas:
            Color(1, 1, 1, 1)
            self._ground = Rectangle()
        self._touches = Touches(layout.drag_slop, layout.tap_reach)
        self._batch = QuadBatch()
        self.canvas.add(self._batch.canvas)
        self.set_layout(layout)

    # -- what the app calls ---------------------------------------------------------------------

    @property
    def moving(self) -> bool:
        """Whether cards are on their way."""
        return self._animation is not None

    @property
    def busy(self) -> bool:
        """Whether anything changes from frame to frame: cards on their way, or a pulsing hint."""
        return self._event is not None

    def rect_of(self, target: Target) -> Rect:
        """Where a pyramid card or a pile is seen, with the ring that it may have.

        A selected card is raised.
        """
        rect = self.layout.target_rect(target)
        position = self._position
        if position is None:
            return rect
        key = motion.key_of(target, position)
        if key == self._selected:
            rect = rect.moved(0, round(_RAISED * self.layout.card_height))
        ringed = key == self._selected or key in self._hinted
        return rect.inset(-self._faces.ring_margin) if ringed else rect

    def set_layout(self, layout: Layout) -> None:
        """Move to another screen size; call :meth:`show` afterwards."""
        self._let_go()
        self._stop()
        self.layout = layout
        self.size = layout.screen.size
        self._touches = Touches(layout.drag_slop, layout.tap_reach)
        self._faces = _deck(layout.card_width, self._style, self._cache)
        # Of the shadow only what is not under the card is drawn: its margin, the rounded corners,
        # and what a raised card lets be seen of it.
        w, h = self._faces.card_size
        margin, corner = self._faces.shadow_margin, max(2, round(w * 0.03))
        drop = max(1, round(w * 0.02)) + 2
        self._shadow_borders, self._lifted_borders = (
            ((margin + inner) / (w + 2 * margin), (margin + inner) / (h + 2 * margin))
            for inner in (corner, corner + drop)
        )
        # As much larger than the screen as the picture may lie beside its place.
        beyond = burnin.margin(layout)
        w, h = layout.screen.size
        ground = ground_texture((w + 2 * beyond, h + 2 * beyond), self._palette)
        # Drawn pixel for pixel: nothing to interpolate, and half the work without a GPU.
        ground.mag_filter = ground.min_filter = "nearest"
        self._ground.texture = ground
        self._ground.pos = -beyond, -beyond
        self._ground.size = ground.size
        self._draw()

    def show(self, position: Position) -> None:
        """Show a position at once."""
        self._let_go()
        self._stop()
        self._position = position
        self._draw()

    def animate(self, change: Change) -> None:
        """Show what has changed.  Whatever still moves is finished first."""
        changed = change.new != self._position
        if changed and not self._sending:
            # Something else played on while a finger was on the table.
            self._let_go()
        held = dict([self._carried]) if self._sending and self._carried is not None else {}
        animation = motion.plan(
            change, self.layout, reduced=self._display.reduced_motion, held=held
        )
        if self._sending:
            self._carried = None
        if animation is None and not changed:
            return
        self._position = change.new
        self._arrived()
        if animation is not None:
            self._start(animation)
        self._draw()

    def play(self, animation: Animation) -> None:
        """Run an animation over the position shown, whatever it shows."""
        self._start(animation)
        self._draw()

    def refresh(
        self,
        selected: int | None,
        hinted: tuple[Target, ...],
        coached: tuple[Target, ...] = (),
    ) -> None:
        """Mark the selected card, by its place, the hinted targets, and those that a newcomer is
        shown; again and again."""
        position = self._position
        keys = () if position is None else tuple(motion.key_of(t, position) for t in hinted)
        shown = () if position is None else tuple(motion.key_of(t, position) for t in coached)
        if (selected, keys, shown) == (self._selected, self._hinted, self._coached):
            return
        if keys and keys != self._hinted:
            self._pulse_left = 0.0 if self._display.reduced_motion else PULSE_TIME
            self._wind()
        elif not keys:
            self._pulse_left = 0.0
        self._selected, self._hinted, self._coached = selected, keys, shown
        self._draw()

    def hide(self, hidden: bool) -> None:
        """Show no card, and answer no touch, for as long as the game pauses; again and again."""
        if hidden == self._hidden:
            return
        self._let_go()
        self._stop()
        self._hidden = hidden
        self._draw()

    def finish(self) -> None:
        """Have everything where it is going, at once."""
        if self.busy:
            self._stop()
            self._draw()

    def when_still(self, then: Callable[[], None]) -> None:
        """Call ``then`` once: when all cards have arrived, however that comes about, or now if
        none is on its way.  A later call takes the place of one that still waits."""
        if self.moving:
            self._then = then
        else:
            then()

    # -- time -----------------------------------------------------------------------------------

    def _start(self, animation: Animation) -> None:
        self._arrived()
        self._animation = animation
        self._elapsed = 0.0
        self._wind()

    def _wind(self) -> None:
        if self._event is None:
            self._event = Clock.schedule_interval(self._step, 0)

    def _stop(self) -> None:
        self._pulse_left = 0.0
        if self._event is not None:
            self._event.cancel()
            self._event = None
        self._arrived()

    def _arrived(self) -> None:
        """Whatever moved is where it was going."""
        self._animation = None
        then, self._then = self._then, None
        if then is not None:
            then()

    def _step(self, dt: float) -> bool:
        dt = min(max(dt, 0.0), LONGEST_STEP)
        self._elapsed += dt
        self._pulse_left = max(0.0, self._pulse_left - dt)
        if self._animation is not None and self._elapsed >= self._animation.duration:
            self._arrived()
        if self._animation is None and self._pulse_left == 0:
            self._event = None
            self._draw()
            return False
        self._draw(only_time_passed=True)
        return True

    # -- drawing --------------------------------------------------------------------------------

    def _scene(self) -> list[tuple[Key, Pose]]:
        assert self._position is not None
        if self._animation is not None:
            scene = self._animation.scene(self._elapsed)
        else:
            scene = motion.still_scene(self._position, self.layout)
        if self._hidden:
            return [(key, pose) for key, pose in scene if isinstance(key, Pile)]
        return scene

    def _draw(self, *, only_time_passed: bool = False) -> None:
        position = self._position
        if not only_time_passed:
            self._lying.clear()
        if position is None:
            self._batch.show([])
            return
        marked = {} if self._hidden else {key: self._ring(key) for key in self._marked()}
        glowing = {key for key in self._coached if key not in marked}
        pulsing = self._hinted if self._pulse_left > 0 else ()
        layers: tuple[list[Quad], list[Quad]] = [], []
        moving = set() if self._animation is None else {t.key for t in self._animation.tracks}
        for key, pose in self._scene():
            if self._carried is not None and key == self._carried[0]:
                continue
            lying = self._lying.get(key)
            if lying is not None and (lying[0] is pose or lying[0] == pose):
                layers[lying[2]].extend(lying[1])
                continue
            ring = None
            drawn: list[Quad] = []
            on_top = False
            lies = pose
            if key not in moving and (key in marked or key in glowing):
                if key == self._selected:
                    raised = pose.y + round(_RAISED * self.layout.card_height)
                    lies = replace(lies, y=raised, lift=1.0)
                if key in glowing:
                    lies = replace(lies, glow=1.0)
                ring = marked.get(key)
                # What can be played lies on top, and its ring over its neighbours.
                on_top = isinstance(key, Pile) or key in position.available
            self._add(drawn, key, lies, position, ring)
            if key not in moving and key not in pulsing:
                self._lying[key] = pose, drawn, on_top
            layers[on_top].extend(drawn)
        if self._carried is not None:
            key, pose = self._carried
            self._add(layers[True], key, pose, position, self._palette.accent)
        self._batch.show([*layers[False], *layers[True]])

    def _marked(self) -> set[Key]:
        marked: set[Key] = set(self._hinted)
        if self._selected is not None:
            marked.add(self._selected)
        position, pressed = self._position, self._pressed
        if position is None or pressed is None:
            return marked
        key = motion.key_of(pressed, position)
        deals = pressed is Pile.STOCK and (position.can_draw or position.can_redeal)
        if deals or (isinstance(key, int) and motion.is_free(key, position)):
            marked.add(key)
        over = self._over()
        if over is not None and isinstance(key, int):
            other = motion.key_of(over, position)
            if isinstance(other, int) and position.can_pair(key, other):
                marked.add(other)
        return marked

    def _ring(self, key: Key) -> theme.Colour:
        accent = self._palette.accent
        if key in self._hinted and self._pulse_left > 0:
            wave = 0.5 + 0.5 * math.cos(math.tau * PULSE_RATE * (PULSE_TIME - self._pulse_left))
            return with_alpha(accent, 0.25 + 0.75 * wave)
        return accent

    def _add(
        self,
        quads: list[Quad],
        key: Key,
        pose: Pose,
        position: Position,
        ring: theme.Colour | None,
    ) -> None:
        """Add what is drawn for one card or empty place."""
        faces = self._faces
        w, h = faces.card_size
        tint = WHITE
        if pose.shade:
            tint = mix(tint, self._shade, pose.shade)
        if pose.heat:
            tint = mix(tint, self._palette.danger, 0.55 * pose.heat)
        colour = tint if pose.alpha == 1 else with_alpha(tint, pose.alpha)
        x, y = pose.x, pose.y
        if pose.glow:
            self._add_glow(quads, pose)
        if isinstance(key, Pile):
            offers = key is Pile.STOCK and position.can_redeal
            picture = faces.redeal if offers else faces.empty
            quads.append(Quad(picture, round(x), round(y), w, h, colour))
        else:
            turned = abs(2 * pose.face - 1)
            wide, high = w * pose.scale * max(turned, 0.02), h * pose.scale
            if turned == 1 and pose.scale == 1:
                # Whole pixels keep every picture as it was drawn.
                x, y = round(x), round(y)
            left, foot = x + (w - wide) / 2, y + (h - high) / 2
            self._add_shadow(quads, (left, foot, wide, high), pose)
            face_up = pose.face >= 0.5
            picture = faces.of(position.deal.cards[key]) if face_up else faces.back
            quads.append(Quad(picture, left, foot, wide, high, colour))
        if ring is not None:
            margin = faces.ring_margin
            grow_x, grow_y = margin * pose.scale, margin * pose.scale
            wide, high = w * pose.scale, h * pose.scale
            left, foot = x + (w - wide) / 2, y + (h - high) / 2
            share = ((margin + 0.1 * w) / (w + 2 * margin), (margin + 0.1 * w) / (h + 2 * margin))
            quads.append(
                Quad(
                    faces.ring,
                    left - grow_x,
                    foot - grow_y,
                    wide + 2 * grow_x,
                    high + 2 * grow_y,
                    with_alpha(ring, ring[3] * pose.alpha),
                    share,
                )
            )

    def _add_glow(self, quads: list[Quad], pose: Pose) -> None:
        """The light round a card that shines."""
        faces = self._faces
        margin = faces.glow_margin
        w, h = faces.card_size
        wide, high = w * pose.scale, h * pose.scale
        grow = margin * pose.scale
        colour = with_alpha(self._palette.accent, pose.glow * pose.alpha)
        share = (margin + 0.08 * w) / (w + 2 * margin), (margin + 0.08 * w) / (h + 2 * margin)
        left, foot = pose.x + (w - wide) / 2 - grow, pose.y + (h - high) / 2 - grow
        size = wide + 2 * grow, high + 2 * grow
        quads.append(Quad(faces.glow, left, foot, *size, colour, share))

    @property
    def _shade(self) -> theme.Colour:
        """What a covered card is tinted with: more while a newcomer is shown what is free."""
        if self._display.high_contrast:
            return theme.SHADE_FAINT
        if self._display.oled:
            return theme.SHADE_DARK
        return theme.SHADE_DEEP if self._coached else theme.SHADE

    def _add_shadow(
        self, quads: list[Quad], box: tuple[float, float, float, float], pose: Pose
    ) -> None:
        """The shadow under a card; the higher the card, the lower on the table it falls."""
        faces = self._faces
        margin = faces.shadow_margin
        w, h = faces.card_size
        left, foot, wide, high = box
        grow_x, grow_y = margin * wide / w, margin * high / h
        # The picture is hollow where the card lies; no more of it than this may come to light.
        drop = pose.lift * (max(1, round(w * 0.02)) + 2)
        colour = WHITE if pose.alpha == 1 else with_alpha(WHITE, pose.alpha)
        quads.append(
            Quad(
                faces.shadow,
                left - grow_x,
                foot - grow_y - drop,
                wide + 2 * grow_x,
                high + 2 * grow_y,
                colour,
                self._shadow_borders if pose.lift == 0 else self._lifted_borders,
            )
        )

    # -- touch ----------------------------------------------------------------------------------

    def on_touch_down(self, touch: Any) -> bool:
        """Begin to follow a touch on the table."""
        position = self._position
        x, y = touch.pos
        if position is None or self._hidden or not self.layout.screen.contains(x, y):
            return False
        now = Clock.get_time()
        if self._touches.is_lost(now):
            self._let_go()
        if self._touches.down(touch.uid, x, y, now) is not Gesture.PRESSED:
            return True
        touch.grab(self)
        self.finish()
        self._pressed = self.layout.hit(x, y, position)
        if self._pressed is not None and self._can_carry(self._pressed, position):
            self._touches.allow_drag()
        self._draw()
        return True

    def on_touch_move(self, touch: Any) -> bool:
        """Carry a card along."""
        if touch.grab_current is not self:
            return False
        x, y = touch.pos
        gesture = self._touches.move(touch.uid, x, y, Clock.get_time())
        if gesture in {Gesture.LIFTED, Gesture.DRAGGED}:
            self._carry()
            self._draw()
        return True

    def on_touch_up(self, touch: Any) -> bool:
        """Tap or drop."""
        if touch.grab_current is not self:
            return False
        touch.ungrab(self)
        x, y = touch.pos
        gesture = self._touches.up(touch.uid, x, y, Clock.get_time())
        if gesture is Gesture.NOTHING:
            return True
        target, position = self._pressed, self._position
        if SPENT in touch.ud:
            target = None
        if target is None or position is None:
            self._pressed = None
            return True
        command: Command | None = None
        if gesture is Gesture.TAPPED:
            command = Tap(target)
        elif gesture is Gesture.DROPPED:
            self._carry()
            command = Drop(target, self._over())
        self._pressed = None
        if command is not None:
            self._sending = True
            try:
                self._send(command)
            finally:
                self._sending = False
        if self._carried is not None:
            held = dict([self._carried])
            self._carried = None
            back = motion.put_back(
                self._position or position,
                self.layout,
                held,
                reduced=self._display.reduced_motion,
            )
            if back is not None:
                self._start(back)
        self._draw()
        return True

    def _can_carry(self, target: Target, position: Position) -> bool:
        if target is Pile.STOCK:
            return position.can_draw
        key = motion.key_of(target, position)
        return isinstance(key, int) and motion.is_free(key, position)

    def _carry(self) -> None:
        """Have the card that was touched follow the finger."""
        position = self._position
        if self._pressed is None or position is None:
            return
        key = motion.key_of(self._pressed, position)
        home = motion.rest(position, self.layout).get(key)
        if home is None or isinstance(key, Pile):
            return
        x, y = home.x + self._touches.dx, home.y + self._touches.dy
        self._carried = (key, replace(home, x=x, y=y, scale=_CARRIED_SCALE, lift=1.0))

    def _over(self) -> Target | None:
        """What the carried card would be dropped on."""
        if self._carried is None or self._pressed is None or self._position is None:
            return None
        _key, pose = self._carried
        rect = Rect(round(pose.x), round(pose.y), *self._faces.card_size)
        return self.layout.drop_target(rect, self._pressed, self._position)

    def _let_go(self) -> None:
        """Forget the touch that is being followed; a carried card is back in its place."""
        self._touches.cancel()
        self._pressed = None
        self._carried = None


@lru_cache(maxsize=1)
def _deck(card_width: int, style: FaceStyle, cache: PictureCache | None) -> Faces:
    """The last deck is kept: a window that only moved, or a table made again, needs no other."""
    return Faces(card_width, style, cache)
