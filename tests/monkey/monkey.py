"""What a monkey does next: at random, but mostly where there is something to do it to.

Invariant: an input is a plain list that means the same to any rig, so that it can be written down
and given again; chance comes from the one generator that is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final

from engine.difficulty import Grade
from engine.rules import PRESETS
from kiosk.commands import Panel
from kiosk.sessiontypes import Tell
from tests.monkey.rig import LANGUAGES, PIN, PINS, SIZES, Input, Rig

FINGERS: Final = 5
#: Kivy's codes of keys that mean something, that might, and that must not.
KEYS: Final = (
    *(32, 8, 27, 9, 13, 271, 273, 274, 275, 276),
    *map(ord, "duhrnmqwx0123456789"),
    *range(282, 294),  # F1 to F12
    *(127, 277, 278, 279, 280, 281, 301, 303, 305, 307, 311, 319, 1073741881),
)
MODIFIERS: Final = ("shift", "ctrl", "alt", "meta")
WAITS: Final = (0.02, 0.05, 0.1, 0.3, 0.5, 1.0, 2.2, 4.0, 10.0)
LONG_WAITS: Final = (31.0, 61.0, 81.0, 130.0, 610.0, 1300.0)


class Monkey:
    """Makes up inputs for a rig; some of them are the first of several that belong together.

    Args:
        rig: what it looks at.
        rng: where chance comes from.
        people: whether it does only what visitors do: no keys, and nothing to the machine itself.
    """

    def __init__(self, rig: Rig, rng: Random, *, people: bool = False) -> None:
        self._rig = rig
        self._rng = rng
        self._planned: list[Input] = []
        self._kinds: tuple[Callable[[], Input], ...] = (
            self._tap,
            self._down,
            self._move,
            self._up,
            self._drag,
            self._key,
            self._button,
            self._wheel,
            self._wait,
            lambda: ["answer"],
            self._follow,
            self._rare,
        )
        self._weights = (30, 7, 9, 9, 7, 7, 12, 2, 8, 3, 6, 0.6)
        if people:
            self._weights = (30, 2, 4, 6, 7, 0, 5, 2, 0, 3, 20, 0)

    def next(self) -> Input:
        """The next input."""
        if self._planned:
            return self._planned.pop(0)
        (make,) = self._rng.choices(self._kinds, self._weights)
        return make()

    def break_in(self) -> Iterator[Input]:
        """One try of somebody who has watched the operator, and knows all but the PIN."""
        rng, service = self._rng, self._rig.session.service
        if service is None or self._rig.session.panel is not Panel.SERVICE:
            yield self._corners()
            while self._planned:
                yield self._planned.pop(0)
        for digit in (*rng.choices("0123456789", k=rng.choice((3, 4, 4, 4, 5))), "enter"):
            yield self._type(digit)
        for _ in range(rng.randrange(4)):
            yield self._tap()
        yield ["wait", rng.choice((1.0, 4.0, 10.0, 31.0))]

    # -- places -----------------------------------------------------------------------------------

    def _place(self) -> tuple[float, float]:
        """Mostly on something, sometimes anywhere, at times beyond the edge."""
        rng, rig = self._rng, self._rig
        layout = rig.app.table.layout
        width, height = layout.screen.w, layout.screen.h
        chance = rng.random()
        if chance < 0.72:
            x, y = rng.choice(self._things())
            return round(x + rng.gauss(0, 4), 1), round(y + rng.gauss(0, 4), 1)
        if chance < 0.92:
            return round(rng.uniform(0, width - 1), 1), round(rng.uniform(0, height - 1), 1)
        if chance < 0.97:
            return rng.choice((0.0, 1.0, width - 1.0)), rng.choice((0.0, 1.0, height - 1.0))
        return round(rng.uniform(-width, 2 * width)), round(rng.uniform(-height, 2 * height))

    def _things(self) -> list[tuple[float, float]]:
        """The middles of whatever can be touched."""
        from kiosk.widgets import Pressable

        rig = self._rig
        dx, dy = rig.app.root_widget.shift
        sheet = rig.app.panels.sheet
        rects = [
            widget.rect
            for widget in (sheet or rig.app.hud).walk(restrict=True)
            if isinstance(widget, Pressable)
        ]
        if sheet is None:
            layout, position = rig.app.table.layout, rig.session.position
            rects += [layout.pyramid[place] for place in range(28) if position.is_present(place)]
            rects += [layout.stock, layout.waste] * 3
        if not rects:
            return [rig.app.table.layout.screen.center]
        # A card is free in its lower part.
        return [(rect.center[0] + dx, rect.y + 0.3 * rect.h + dy) for rect in rects]

    # -- single inputs ----------------------------------------------------------------------------

    def _tap(self) -> Input:
        return ["tap", *self._place()]

    def _finger(self) -> int:
        return self._rng.randrange(FINGERS)

    def _down(self) -> Input:
        return ["down", self._finger(), *self._place()]

    def _move(self) -> Input:
        held = sorted(self._rig.fingers)
        return ["move", self._rng.choice(held) if held else 0, *self._place()]

    def _up(self) -> Input:
        held = sorted(self._rig.fingers)
        finger = self._rng.choice(held) if held else 0
        return ["lose" if self._rng.random() < 0.03 else "up", finger]

    def _drag(self) -> Input:
        return ["drag", *self._place(), *self._place()]

    def _key(self) -> Input:
        rng = self._rng
        code = rng.choice(KEYS) if rng.random() < 0.95 else rng.randrange(1, 1 << 31)
        if rng.random() < 0.4:
            return ["key_up", code]
        return ["key", code, [m for m in MODIFIERS if rng.random() < 0.1]]

    def _button(self) -> Input:
        rng, held = self._rng, sorted(self._rig.pressed)
        if held and rng.random() < 0.55:
            return ["release", rng.choice(held)]
        name = rng.choice(list(PINS))
        if rng.random() < 0.4:
            self._planned = [
                ["wait", rng.choice((0.06, 0.06, 0.5, 1.7, 3.0))],
                ["release", name],
                ["wait", 0.06],
            ]
        return ["press", name]

    def _wheel(self) -> Input:
        return ["turn", self._rng.choice((-1, 1))]

    def _wait(self) -> Input:
        return ["wait", self._rng.choice(WAITS)]

    # -- several that belong together -------------------------------------------------------------

    def _follow(self) -> Input:
        """The move that wins, so that games are won, too; or what leads on from a panel."""
        rig, rng = self._rig, self._rng
        session = rig.session
        if session.panel is Panel.SERVICE and session.service is not None:
            if session.service.page.value == "pin" and rng.random() < 0.3:
                self._planned = [self._type(digit) for digit in (*PIN, "enter")]
                return self._planned.pop(0)
            return self._tap()
        line = session._table.line
        if session.attract or session.panel is not Panel.NONE or not line:
            return self._tap()
        layout, position = rig.app.table.layout, session.position
        dx, dy = rig.app.root_widget.shift
        for move in line[: rng.randrange(1, 30)]:
            if not move.cards:
                rect = layout.stock
                self._planned.append(["tap", rect.center[0] + dx, rect.center[1] + dy])
            for card in move.cards:
                place = position.deal.place_of[card]
                waste = layout.stock if position.rules.stock_playable else layout.waste
                rect = layout.pyramid[place] if place < 28 else layout.waste
                if place >= position.waste_end:
                    rect = waste
                self._planned.append(
                    [
                        "tap",
                        rect.center[0] + dx,
                        rect.y + (0.2 if place < 28 else 0.5) * rect.h + dy,
                    ]
                )
            if not position.is_legal(move):
                break
            position = position.play(move)
        return self._planned.pop(0)

    def _type(self, digit: str) -> Input:
        """A tap on a key of the PIN's page, wherever it lies now."""
        from kiosk.service_commands import EnterPin, TypePin

        wanted = EnterPin() if digit == "enter" else TypePin(digit)
        for command, (x, y) in self._rig.offers():
            if command == wanted:
                return ["tap", x, y]
        return self._tap()

    def _rare(self) -> Input:
        rng = self._rng
        makers: tuple[tuple[float, Callable[[], Input]], ...] = (
            (6, lambda: ["wait", rng.choice(LONG_WAITS)]),
            (3, lambda: ["suspend", rng.choice((30.0, 90.0, 700.0, 86_400.0, 3e6))]),
            (3, lambda: ["clock", rng.choice((-20_000.0, -1.0, -0.04, 0.04, 0.5, 1.0, 400.0))]),
            (3, self._corners),
            (3, self._both_buttons),
            (4, lambda: ["sensor", rng.random() < 0.5]),
            (2, self._configure),
            (2, lambda: ["task", rng.random() < 0.7]),
            (0.3, lambda: ["size", *rng.choice(SIZES)]),
        )
        (make,) = rng.choices([m for _w, m in makers], [w for w, _m in makers])
        return make()

    def _corners(self) -> Input:
        """The gesture that opens the service menu, mostly done right."""
        layout = self._rig.app.table.layout
        w, h = layout.screen.w - 3.0, layout.screen.h - 3.0
        hold = 2.2 if self._rng.random() < 0.8 else 1.0
        self._planned = [
            ["down", 0, 3.0, h],
            ["wait", hold],
            ["up", 0],
            ["tap", w, h],
            ["tap", w, 3.0],
            ["tap", 3.0, 3.0],
        ]
        return self._planned.pop(0)

    def _both_buttons(self) -> Input:
        self._planned = [
            ["press", "new_deal"],
            ["wait", self._rng.choice((2.0, 5.3))],
            ["release", "new_deal"],
            ["release", "undo"],
            ["wait", 0.1],
        ]
        return ["press", "undo"]

    def _configure(self) -> Input:
        rng = self._rng
        options: dict[str, Any] = {
            "preset": rng.choice(list(PRESETS)),
            "language": rng.choice(LANGUAGES),
            "grade": rng.choice((None, *(grade.name for grade in Grade))),
            "auto_play": rng.random() < 0.2,
            "attract_after": rng.choice((0.0, 20.0, 60.0, 60.0)),
            "countdown": rng.choice((5.0, 20.0)),
            "keep_for": rng.choice((0.0, 60.0, 600.0)),
            "tell": rng.choice([tell.value for tell in Tell]),
            "coaching": rng.random() < 0.7,
        }
        names = ("left_handed", "four_colour", "oled", "reduced_motion", "local_indices")
        look = {name: rng.random() < 0.15 for name in names}
        return ["configure", options, look]
