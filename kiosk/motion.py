"""How cards move: from what was on the table, what is on it now and what happened, to poses.

:func:`rest` says where every card lies in a position; :func:`plan` says how it gets there.  The
table asks an :class:`Animation` for its scene at a time and draws that; it may stop asking at any
moment, because every animation ends exactly in the rest of the new position.

Invariant: pure; no Kivy, no clock, no state.  Times are seconds from the start of an animation,
lengths px, the origin the lower left corner of the screen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from engine.deal import PYRAMID_SIZE
from engine.position import PLACES, Move, MoveKind, Outcome, Position
from kiosk.commands import Change, ChangeKind, Pile, Refusal, Target
from kiosk.layout import Layout

#: What has a pose: a card by its place, 0 to 51, or the empty place under a pile.
Key = int | Pile

Ease = Callable[[float], float]

#: Seconds that things take.
DEAL_STAGGER: Final = 0.011
DEAL_FLIGHT: Final = 0.26
DRAW_TIME: Final = 0.26
REDEAL_FLIGHT: Final = 0.26
REDEAL_STAGGER: Final = 0.035
MEET_TIME: Final = 0.17
LEAVE_TIME: Final = 0.2
KING_RISE: Final = 0.13
FLIP_TIME: Final = 0.2
SHAKE_TIME: Final = 0.36
RETURN_TIME: Final = 0.22
FADE_TIME: Final = 0.16
#: The fountain after a win: between two cards, and how long one flies.  All of it, the last pair's
#: leaving included, stays under 2 seconds.
THROW_STAGGER: Final = 0.022
THROW_FLIGHT: Final = 0.95
#: What is taken back is seen for the second time, and goes faster.
UNDO_PACE: Final = 1.25

#: How many cards of a pile show, the top one included.
_PILE_DEPTH: Final = 3
#: How many cards a redeal is seen to turn over.
_REDEAL_CARDS: Final = 6


@dataclass(frozen=True, slots=True)
class Pose:
    """How one card lies.

    Attributes:
        x, y: lower left corner of the unscaled card, px.
        face: 0 shows the back, 1 the face; between them it is being turned over.
        alpha: opacity, 0 to 1.
        scale: size, about its middle.
        lift: how far it is above the table, 0 lying to 1 carried.
        heat: how strongly it is marked as being in the way, 0 to 1.
        shade: how much it lies in the shade, 0 free to 1 covered by other cards.
        glow: how strongly it shines, 0 to 1.
    """

    x: float
    y: float
    face: float = 1.0
    alpha: float = 1.0
    scale: float = 1.0
    lift: float = 0.0
    heat: float = 0.0
    shade: float = 0.0
    glow: float = 0.0


def ease_out(p: float) -> float:
    """Fast first, then settling."""
    return 1 - (1 - p) ** 3


def ease_in(p: float) -> float:
    """Slow first, then leaving."""
    return p * p


def ease_both(p: float) -> float:
    """Slow, fast, slow."""
    return p * p * (3 - 2 * p)


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a track: from one pose to another.

    Attributes:
        start, end: when it begins and ends.
        a, b: the poses then.
        ease: how time becomes progress, 0 to 1 each.
        arc: whether the card rises from the table between them.
        throw: how high above the straight way it is thrown, px.
    """

    start: float
    end: float
    a: Pose
    b: Pose
    ease: Ease = ease_both
    arc: bool = False
    throw: float = 0.0

    def at(self, t: float) -> Pose:
        """The pose at a time from ``start`` to ``end``."""
        linear = (t - self.start) / (self.end - self.start)
        p = self.ease(linear)
        a, b = self.a, self.b
        lift = a.lift + (b.lift - a.lift) * p
        if self.arc:
            lift = max(lift, math.sin(math.pi * linear))
        return Pose(
            a.x + (b.x - a.x) * p,
            a.y + (b.y - a.y) * p + self.throw * 4 * p * (1 - p),
            a.face + (b.face - a.face) * p,
            a.alpha + (b.alpha - a.alpha) * p,
            a.scale + (b.scale - a.scale) * p,
            lift,
            a.heat + (b.heat - a.heat) * p,
            a.shade + (b.shade - a.shade) * p,
            a.glow + (b.glow - a.glow) * p,
        )


@dataclass(frozen=True)
class Track:
    """The way of one card.

    Attributes:
        key: the card.
        segments: in order of time; between and after them it stays where the last one ended.
        z: what it lies over: higher is nearer to the eye.
        z_after: ``z`` from half of its way on, for cards that change the pile; None keeps it.
        hidden_before: whether it is not seen before its first segment begins.
        shake: amplitude in px of a shaking that dies away over the whole track; 0 for none.
    """

    key: Key
    segments: tuple[Segment, ...]
    z: float
    z_after: float | None = None
    hidden_before: bool = False
    shake: float = 0.0

    @property
    def end(self) -> float:
        """When it has arrived."""
        return self.segments[-1].end

    def at(self, t: float) -> Pose | None:
        """The pose at time ``t``, or None while it is not seen."""
        first = self.segments[0]
        if t < first.start:
            return None if self.hidden_before else first.a
        pose = first.a
        for segment in self.segments:
            if t < segment.start:
                break
            pose = segment.b if t >= segment.end else segment.at(t)
        if self.shake and first.start <= t < self.end:
            p = (t - first.start) / (self.end - first.start)
            pose = replace(pose, x=pose.x + self.shake * math.sin(6 * math.pi * p) * (1 - p))
        return pose

    def z_at(self, t: float) -> float:
        """``z`` at time ``t``."""
        if self.z_after is None:
            return self.z
        return self.z if t < (self.segments[0].start + self.end) / 2 else self.z_after


@dataclass(frozen=True)
class Animation:
    """All cards while some of them move.

    Attributes:
        tracks: the cards that move.
        still: the cards that do not, with their ``z``.
        backward: whether it runs from its end to its start.
        pace: how much faster than written.
    """

    tracks: tuple[Track, ...]
    still: tuple[tuple[Key, Pose, float], ...] = ()
    backward: bool = False
    pace: float = 1.0

    @cached_property
    def duration(self) -> float:
        """Seconds from the first frame to the last."""
        return self._written / self.pace

    @cached_property
    def _written(self) -> float:
        return max(track.end for track in self.tracks)

    def scene(self, t: float) -> list[tuple[Key, Pose]]:
        """What is seen at ``t`` seconds, from the table upwards."""
        t = min(max(t * self.pace, 0.0), self._written)
        if self.backward:
            t = self._written - t
        seen: list[tuple[float, Key, Pose]] = [(z, key, pose) for key, pose, z in self.still]
        for track in self.tracks:
            pose = track.at(t)
            if pose is not None and pose.alpha > 0:
                seen.append((track.z_at(t), track.key, pose))
        seen.sort(key=lambda item: item[0])
        return [(key, pose) for _z, key, pose in seen]


# -- rest ---------------------------------------------------------------------------------------


def pile_edge(layout: Layout) -> int:
    """How far a card below the top of a pile looks out under it, px."""
    return max(1, layout.card_width // 40)


def rest(position: Position, layout: Layout) -> dict[Key, Pose]:
    """Where everything lies, from the table upwards: empty places, pyramid, waste, stock.

    Cards deep in a pile are left out: they are not seen.
    """
    poses: dict[Key, Pose] = {
        Pile.STOCK: Pose(*layout.stock.pos),
        Pile.WASTE: Pose(*layout.waste.pos),
    }
    for place in range(PYRAMID_SIZE):
        if position.is_present(place):
            face = 1.0 if position.is_visible(place) else 0.0
            shade = 0.0 if is_free(place, position) else 1.0
            poses[place] = Pose(*layout.pyramid[place].pos, face=face, shade=shade)
    edge = pile_edge(layout)
    for depth, place in _below_top(tuple(reversed(position.waste_places))):
        poses[place] = Pose(layout.waste.x, layout.waste.y - edge * depth)
    for depth, place in _below_top(position.stock_places):
        face = 1.0 if position.is_visible(place) else 0.0
        poses[place] = Pose(layout.stock.x, layout.stock.y - edge * depth, face=face)
    return poses


def is_free(place: int, position: Position) -> bool:
    """Whether touching the card at a place can lead to anything."""
    return place in position.available or (
        position.rules.overlap and bool(position.partners(place))
    )


def _below_top(places: tuple[int, ...]) -> Iterable[tuple[int, int]]:
    """(how deep, place) of what shows of a pile, given from the top, lowest first.

    A pile shows an edge for each card of its last few, so that its end is seen coming.
    """
    shown = places[:_PILE_DEPTH]
    return reversed(list(enumerate(shown)))


def still_scene(position: Position, layout: Layout) -> list[tuple[Key, Pose]]:
    """What is seen while nothing moves, from the table upwards."""
    return list(rest(position, layout).items())


# -- plans --------------------------------------------------------------------------------------


def plan(
    change: Change,
    layout: Layout,
    *,
    reduced: bool = False,
    held: Mapping[Key, Pose] | None = None,
) -> Animation | None:
    """How the table gets from the old position to the new one; None when nothing moves.

    Args:
        change: what happened.
        layout: where everything lies.
        reduced: whether things fade where they are instead of flying and shaking.
        held: cards that are elsewhere than in their place, because somebody dragged them.
    """
    held = held or {}
    if change.kind is ChangeKind.REFUSED:
        return _refused(change, layout, reduced=reduced, held=held)
    if change.old is change.new and not held:
        dealt = change.kind in {ChangeKind.DEALT, ChangeKind.ATTRACT}
        return deal(change.new, layout, reduced=reduced) if dealt else None
    animation: Animation | None
    if reduced:
        animation = _cross_fade(change.old, change.new, layout, held)
    else:
        animation = _moved(change, layout, held)
    return animation


def _moved(change: Change, layout: Layout, held: Mapping[Key, Pose]) -> Animation | None:
    old, new = change.old, change.new
    match change.kind:
        case ChangeKind.PLAYED | ChangeKind.REDONE if change.move is not None:
            forward = _forward(old, new, change.move, layout, held)
            return _celebrated(forward, new, layout) if new.outcome is Outcome.WON else forward
        case ChangeKind.UNDONE if change.move is not None:
            return _backward(_forward(new, old, change.move, layout, {}), rest(new, layout))
        case ChangeKind.WENT_BACK:
            return _return_all(old, new, layout)
        case ChangeKind.DEALT | ChangeKind.ATTRACT:
            return deal(new, layout)
        case ChangeKind.WOKE if new == Position(new.deal, new.rules):
            return deal(new, layout)
        case _:
            return None


class _Stage:
    """The poses of a position, its stacking order, and the tracks laid over them."""

    def __init__(self, poses: Mapping[Key, Pose]) -> None:
        self.poses = dict(poses)
        self.order = {key: float(z) for z, key in enumerate(poses)}
        self.tracks: dict[Key, Track] = {}
        self._next = 1000.0

    def on_top(self) -> float:
        """A ``z`` above all that there is so far."""
        self._next += 1
        return self._next

    def add(self, track: Track) -> None:
        self.tracks[track.key] = track

    def turn(self, before: Mapping[Key, Pose], at: float) -> None:
        """From time ``at`` on, turn over the cards that show another side than before, and
        light those that have come out of the shade."""
        for key, pose in self.poses.items():
            was = before.get(key)
            if key in self.tracks or was is None:
                continue
            if was.face != pose.face or was.shade != pose.shade:
                shown = replace(pose, face=was.face, shade=was.shade)
                segment = Segment(at, at + FLIP_TIME, shown, pose, arc=was.face != pose.face)
                self.add(Track(key, (segment,), self.order[key]))

    def animation(self) -> Animation:
        still = tuple(
            (key, pose, self.order[key])
            for key, pose in self.poses.items()
            if key not in self.tracks
        )
        return Animation(tuple(self.tracks.values()), still)


def _forward(
    old: Position, new: Position, move: Move, layout: Layout, held: Mapping[Key, Pose]
) -> Animation:
    """A move that is played: ``old.play(move) == new``."""
    before = {**rest(old, layout), **held}
    stage = _Stage(rest(new, layout))
    match move.kind:
        case MoveKind.DRAW:
            _draw(stage, before, new)
        case MoveKind.REDEAL:
            _redeal(stage, old, new, layout)
        case MoveKind.KING | MoveKind.PAIR:
            places = [old.deal.place_of[card] for card in move.cards]
            _leave(stage, [(p, before[p]) for p in places], layout)
            stage.turn(before, MEET_TIME * 0.6)
    return stage.animation()


def _backward(forward: Animation, poses: Mapping[Key, Pose]) -> Animation:
    """A move taken back, ending in ``poses``."""
    moving = {track.key for track in forward.tracks}
    order = {key: z for key, _pose, z in forward.still}
    # What was not seen before the move lies deep in a pile: over its empty place, under the rest.
    still = tuple(
        (key, pose, order.get(key, 1.5)) for key, pose in poses.items() if key not in moving
    )
    return Animation(forward.tracks, still, backward=True, pace=UNDO_PACE)


def _draw(stage: _Stage, before: Mapping[Key, Pose], new: Position) -> None:
    place = new.waste_top
    assert place is not None
    start, end = before[place], stage.poses[place]
    stage.add(Track(place, (Segment(0, DRAW_TIME, start, end, arc=True),), stage.on_top()))
    stage.turn(before, DRAW_TIME * 0.25)


def _redeal(stage: _Stage, old: Position, new: Position, layout: Layout) -> None:
    """The waste is turned over card by card; what lay lowest in it becomes the top of the stock."""
    from_top = tuple(reversed(old.waste_places))[:_REDEAL_CARDS]
    edge = pile_edge(layout)
    landed = 0.0
    for i, place in enumerate(from_top):
        depth = min(i, _PILE_DEPTH - 1)
        start = Pose(layout.waste.x, layout.waste.y - edge * depth)
        # The stock grows under each card that lands on it.
        level = max(0, _PILE_DEPTH - 1 - i)
        end = Pose(layout.stock.x, layout.stock.y - edge * level, face=0.0)
        at = i * REDEAL_STAGGER
        landed = at + REDEAL_FLIGHT
        segment = Segment(at, landed, start, end, arc=True)
        stage.add(Track(place, (segment,), z=900.0 - i, z_after=1000.0 + i))
    for place in new.stock_places[:_PILE_DEPTH]:
        if place in stage.tracks:
            continue
        pose = stage.poses[place]
        back = replace(pose, face=0.0)
        segment = Segment(landed, landed + 0.01, back, back)
        stage.add(Track(place, (segment,), 1100 + stage.order[place], hidden_before=True))
    top = new.stock_top
    if top is not None and stage.poses[top].face > 0:
        pose = stage.poses[top]
        segment = Segment(landed, landed + FLIP_TIME, replace(pose, face=0.0), pose, arc=True)
        hidden = top not in from_top
        stage.add(Track(top, (segment,), stage.on_top() + 200, hidden_before=hidden))


def _leave(stage: _Stage, cards: list[tuple[int, Pose]], layout: Layout) -> None:
    """Cards that are removed: two meet in the middle of their way, one rises; then they go."""
    w, h = layout.card_width, layout.card_height
    if len(cards) == 1:
        place, start = cards[0]
        risen = replace(start, y=start.y + 0.12 * h, scale=1.12, lift=1.0)
        gone = replace(risen, y=risen.y + 0.55 * h, alpha=0.0, scale=1.0)
        segments = (
            Segment(0, KING_RISE, start, risen, ease_out),
            Segment(KING_RISE, KING_RISE + LEAVE_TIME, risen, gone, ease_in),
        )
        stage.add(Track(place, segments, stage.on_top()))
        return
    x = sum(pose.x for _place, pose in cards) / 2
    y = sum(pose.y for _place, pose in cards) / 2 + 0.1 * h
    # Side by side, overlapping a little, so that both ranks are read; within the screen.
    aside = 0.36 * w
    x = min(max(x, aside), layout.width - w - aside)
    y = min(y, layout.height - 1.1 * h)
    for side, (place, start) in zip(
        (-1, 1), sorted(cards, key=lambda item: item[1].x), strict=True
    ):
        met = Pose(x + side * aside, y, scale=1.06, lift=1.0)
        gone = replace(met, x=x + side * aside * 0.6, y=y + 0.45 * h, alpha=0.0, scale=0.92)
        rest_until = MEET_TIME + 0.05
        segments = (
            Segment(0, MEET_TIME, start, met, ease_out),
            Segment(rest_until, rest_until + LEAVE_TIME - 0.03, met, gone, ease_in),
        )
        stage.add(Track(place, segments, stage.on_top()))


def _celebrated(last: Animation, won: Position, layout: Layout) -> Animation:
    """After the last cards have gone, all that were removed rise shining, as a fountain does, and
    fall beyond the edge of the screen."""
    w, h = layout.card_width, layout.card_height
    begin = last.duration
    removed = [place for place in range(PLACES) if not won.is_present(place)]
    # As many as the time allows, of those that lay highest: a whole deck would take too long.
    thrown = removed[:PYRAMID_SIZE]
    foot = Pose((layout.width - w) / 2, -1.1 * h, scale=0.9, lift=1.0, glow=1.0)
    tracks = {track.key: track for track in last.tracks}
    for i, place in enumerate(thrown):
        # By the golden angle: one after the other they fly far apart.
        aside = ((i * 0.618034) % 1) * 2 - 1
        down = replace(foot, x=foot.x + aside * 0.55 * layout.width)
        at = begin + i * THROW_STAGGER
        throw = layout.height * (1.02 - 0.3 * abs(aside))
        flight = Segment(at, at + THROW_FLIGHT, foot, down, _steady, throw=throw)
        gone = Segment(flight.end, flight.end + 0.01, down, replace(down, alpha=0.0))
        before = tracks[place].segments if place in tracks else ()
        tracks[place] = Track(place, (*before, flight, gone), 3000.0 + i, hidden_before=not before)
    return Animation(tuple(tracks.values()), last.still)


def _steady(p: float) -> float:
    return p


def _return_all(old: Position, new: Position, layout: Layout) -> Animation | None:
    """Several moves at once are taken back: what left comes down again, the piles are set right."""
    before = rest(old, layout)
    stage = _Stage(rest(new, layout))
    height = layout.card_height
    back = [key for key in stage.poses if key not in before and isinstance(key, int)]
    for i, key in enumerate(back):
        end = stage.poses[key]
        start = replace(end, y=end.y + 0.45 * height, alpha=0.0)
        at = min(i * 0.02, 0.2)
        segment = Segment(at, at + 0.24, start, end, ease_out, arc=True)
        stage.add(Track(key, (segment,), stage.order[key], hidden_before=True))
    stage.turn(before, 0.05)
    return stage.animation() if stage.tracks else None


def deal(position: Position, layout: Layout, *, reduced: bool = False) -> Animation:
    """The pyramid is dealt from the stock; with ``reduced`` it appears."""
    stage = _Stage(rest(position, layout))
    stock = Pose(*layout.stock.pos, face=0.0)
    pyramid = [key for key in stage.poses if isinstance(key, int) and key < PYRAMID_SIZE]
    for i, key in enumerate(pyramid or list(stage.poses)):
        end = stage.poses[key]
        if reduced:
            segment = Segment(0, FADE_TIME, replace(end, alpha=0.0), end)
            z = stage.order[key]
        else:
            at = i * DEAL_STAGGER
            segment = Segment(at, at + DEAL_FLIGHT, stock, end, ease_out, arc=True)
            # Over the stock while they leave it, and over one another as they will lie.
            z = stage.order[key] + 500
        stage.add(Track(key, (segment,), z, hidden_before=True))
    return stage.animation()


def _cross_fade(
    old: Position, new: Position, layout: Layout, held: Mapping[Key, Pose]
) -> Animation | None:
    """What leaves fades out, what comes or shows another side fades in; nothing travels."""
    if old.deal != new.deal:
        return deal(new, layout, reduced=True)
    before = {**rest(old, layout), **held}
    stage = _Stage(rest(new, layout))
    for key, pose in stage.poses.items():
        was = before.get(key)
        if not isinstance(key, int):
            continue
        if was is not None and replace(was, shade=pose.shade) == pose and was != pose:
            stage.add(Track(key, (Segment(0, FADE_TIME, was, pose),), stage.order[key]))
        elif was is None or was.face != pose.face or was.x != pose.x:
            segment = Segment(0, FADE_TIME, replace(pose, alpha=0.0), pose)
            stage.add(Track(key, (segment,), stage.order[key]))
    gone = [key for key in before if key not in stage.poses]
    for key in gone:
        pose = before[key]
        segment = Segment(0, FADE_TIME, pose, replace(pose, alpha=0.0))
        stage.add(Track(key, (segment,), stage.on_top()))
    return stage.animation() if stage.tracks else None


def _refused(
    change: Change, layout: Layout, *, reduced: bool, held: Mapping[Key, Pose]
) -> Animation | None:
    """What was tried shakes its head; what is in the way glows for a moment."""
    position = change.new
    stage = _Stage(rest(position, layout))
    keys = [key_of(target, position) for target in change.targets]
    if change.refusal is Refusal.COVERED and len(keys) > 1:
        shaking, hot = keys[:1], keys[1:]
    else:
        shaking, hot = keys, []
    if reduced:
        shaking, hot = [], shaking + hot
    for key in (*shaking, *hot):
        if key not in stage.poses or key in held or key in stage.tracks:
            continue
        pose = stage.poses[key]
        half = SHAKE_TIME / 3
        strength = 1.0 if key in hot else 0.0
        warm = replace(pose, heat=strength)
        stage.add(
            Track(
                key,
                (
                    Segment(0, half, pose, warm, ease_out),
                    Segment(half, SHAKE_TIME, warm, pose, ease_both),
                ),
                stage.order[key],
                shake=0.07 * layout.card_width if key in shaking else 0.0,
            )
        )
    for place, start in held.items():
        if place in stage.poses:
            end = stage.poses[place]
            time = FADE_TIME if reduced else RETURN_TIME
            segment = Segment(0, time, replace(start, lift=1.0), end, ease_out)
            stage.add(Track(place, (segment,), stage.on_top()))
    return stage.animation() if stage.tracks else None


def put_back(
    position: Position, layout: Layout, held: Mapping[Key, Pose], *, reduced: bool = False
) -> Animation | None:
    """A dragged card that was let go without a try returns to its place."""
    change = Change(ChangeKind.REFUSED, position, position)
    return _refused(change, layout, reduced=reduced, held=held)


def key_of(target: Target, position: Position) -> Key:
    """What lies on a target: its top card, or the empty place."""
    if target is Pile.WASTE:
        return target if position.waste_top is None else position.waste_top
    if target is Pile.STOCK:
        return target if position.stock_top is None else position.stock_top
    return target
