"""Where everything lies: screen size in, card and button rectangles out.

The pyramid takes all it can.  In landscape it is as high as the screen; piles and status fill the
two empty corners beside its upper rows, the buttons the rails beside its lower ones, in the half
that every arm reaches.  In portrait it is as wide as the screen, with the status above and piles
and buttons below.

Invariant: pure geometry, a function of its arguments alone; no Kivy.  All lengths are whole
pixels, the origin is the lower left corner, and no two things that can be touched overlap, save
the pyramid cards that lie over one another.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from engine.deal import PYRAMID_SIZE
from engine.position import ROW_COLUMN, ROWS, Position
from kiosk.commands import Pile, Target

#: Height of a card for each unit of its width.
CARD_ASPECT: Final = 7 / 5
#: The smallest screen that a layout is made for.
MIN_WIDTH: Final = 320
MIN_HEIGHT: Final = 240
#: A control is at least this wide and high.
TOUCH_MM: Final = 15.0
#: A touch that misses every card still means a playable card as near as this.
SNAP_MM: Final = 8.0
#: A touch on a covered card means a playable card beside it as near as this.
NUDGE_MM: Final = 2.0
#: A finger that stays within this of where it came down has tapped, whatever it did between.
TAP_MM: Final = 8.0

#: Share of a covered card's height that stays visible.  Less than half, and a card would reach over
#: the one two rows above it, which it does not cover; much more only costs size.
_STEP_LANDSCAPE: Final = (0.5, 0.62)
_STEP_PORTRAIT: Final = (0.5, 0.8)
#: Panels that people put behind such screens: longer side up to so many px, diagonal in inches.
_USUAL_PANELS: Final = ((1100, 7.1), (1400, 10.1), (math.inf, 13.3))
#: Where the screen is smaller than any hand, controls may take no more than this share of it.
_MOST_CONTROL: Final = 0.16


class Control(Enum):
    """The four buttons that are always there."""

    UNDO = "undo"
    HINT = "hint"
    NEW_DEAL = "new_deal"
    MENU = "menu"


@dataclass(frozen=True)
class Rect:
    """A rectangle in whole px; ``x`` and ``y`` are its lower left corner."""

    x: int
    y: int
    w: int
    h: int

    @property
    def right(self) -> int:
        """The x just beyond it."""
        return self.x + self.w

    @property
    def top(self) -> int:
        """The y just above it."""
        return self.y + self.h

    @property
    def pos(self) -> tuple[int, int]:
        """Lower left corner, as Kivy takes it."""
        return (self.x, self.y)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height, as Kivy takes them."""
        return (self.w, self.h)

    @property
    def center(self) -> tuple[float, float]:
        """The middle."""
        return (self.x + self.w / 2, self.y + self.h / 2)

    def contains(self, x: float, y: float) -> bool:
        """Whether a point lies in it; its left and lower edges belong to it."""
        return self.x <= x < self.right and self.y <= y < self.top

    def holds(self, other: Rect) -> bool:
        """Whether all of ``other`` lies in it."""
        return (
            self.x <= other.x
            and self.y <= other.y
            and other.right <= self.right
            and other.top <= self.top
        )

    def overlap(self, other: Rect) -> int:
        """Area shared with another rectangle, in square px."""
        width = min(self.right, other.right) - max(self.x, other.x)
        height = min(self.top, other.top) - max(self.y, other.y)
        return max(0, width) * max(0, height)

    def distance(self, x: float, y: float) -> float:
        """From a point to the nearest point of it, in px; 0 inside."""
        return math.hypot(max(self.x - x, 0, x - self.right), max(self.y - y, 0, y - self.top))

    def moved(self, dx: float, dy: float) -> Rect:
        """The same rectangle elsewhere, on whole px."""
        return Rect(round(self.x + dx), round(self.y + dy), self.w, self.h)

    def inset(self, by: int) -> Rect:
        """The rectangle without a border of ``by`` px."""
        return Rect(self.x + by, self.y + by, max(0, self.w - 2 * by), max(0, self.h - 2 * by))


def guess_mm_width(width: int, height: int) -> float:
    """Width in mm of the panel that usually has ``width`` x ``height`` px.

    155 mm for 800x480 (7 inches); errs to the small side, which makes controls larger.
    """
    longer = max(width, height)
    inches = next(inch for most, inch in _USUAL_PANELS if longer <= most)
    return inches * 25.4 * width / math.hypot(width, height)


@dataclass(frozen=True)
class Layout:
    """Every rectangle of one screen.  Make one with :meth:`for_screen`.

    Attributes:
        width, height: the screen, px.
        portrait: whether piles and buttons lie under the pyramid instead of beside it.
        left_handed: whether left and right are exchanged.
        px_per_mm: how fine the panel is.
        unit: the spacing that everything keeps from the screen's edge and from its neighbours.
        touch: least width and height of a control, px.
        row_step: how much lower the next pyramid row lies, px: what stays visible of a card.
        pyramid: the 28 cards by place.
        stock, waste: the two piles, the size of a card.
        stock_badge, waste_badge: the lines for a few words under each pile.
        title: free space above the piles, or in portrait beside them, for a name or a call.
        status: the block for what a player wants to know, and before that for the languages.
        undo, hint, new_deal, menu: the buttons.
        wide_buttons: whether a button has room for a label beside its icon.
        panel: the most that a panel over the table may take.
    """

    width: int
    height: int
    portrait: bool
    left_handed: bool
    px_per_mm: float
    unit: int
    touch: int
    row_step: int
    pyramid: tuple[Rect, ...]
    stock: Rect
    waste: Rect
    stock_badge: Rect
    waste_badge: Rect
    title: Rect
    status: Rect
    undo: Rect
    hint: Rect
    new_deal: Rect
    menu: Rect
    wide_buttons: bool
    panel: Rect

    @classmethod
    def for_screen(
        cls,
        width: int,
        height: int,
        *,
        mm_width: float | None = None,
        left_handed: bool = False,
    ) -> Layout:
        """Lay out a screen.

        Args:
            width, height: px; what is smaller than 320x240 is laid out as if it were that.
            mm_width: how wide the panel is in mm; None guesses from the size in px.
            left_handed: exchange left and right.

        Raises:
            ValueError: ``mm_width`` is not above 0.
        """
        width, height = max(MIN_WIDTH, int(width)), max(MIN_HEIGHT, int(height))
        if mm_width is None:
            mm_width = guess_mm_width(width, height)
        if not (mm_width > 0 and math.isfinite(mm_width)):
            raise ValueError(f"a panel is more than 0 mm wide, not {mm_width}")
        screen = _Screen(width, height, width / mm_width)
        # The arrangement with the larger cards is the one that suits the screen.
        layout = max((_landscape(screen), _portrait(screen)), key=lambda made: made.card_width)
        return layout.mirrored() if left_handed else layout

    def mirrored(self) -> Layout:
        """The same screen for the other hand.  The pyramid stays as it is: places are places."""

        def flip(rect: Rect) -> Rect:
            return Rect(self.width - rect.right, rect.y, rect.w, rect.h)

        return Layout(
            width=self.width,
            height=self.height,
            portrait=self.portrait,
            left_handed=not self.left_handed,
            px_per_mm=self.px_per_mm,
            unit=self.unit,
            touch=self.touch,
            row_step=self.row_step,
            pyramid=self.pyramid,
            stock=flip(self.stock),
            waste=flip(self.waste),
            stock_badge=flip(self.stock_badge),
            waste_badge=flip(self.waste_badge),
            title=flip(self.title),
            status=flip(self.status),
            undo=flip(self.undo),
            hint=flip(self.hint),
            new_deal=flip(self.new_deal),
            menu=flip(self.menu),
            wide_buttons=self.wide_buttons,
            panel=self.panel,
        )

    # -- what lies where ------------------------------------------------------------------------

    @property
    def screen(self) -> Rect:
        """The whole screen."""
        return Rect(0, 0, self.width, self.height)

    @property
    def card_width(self) -> int:
        """Width of every card, px."""
        return self.pyramid[0].w

    @property
    def card_height(self) -> int:
        """Height of every card, px."""
        return self.pyramid[0].h

    @property
    def pyramid_area(self) -> Rect:
        """The box round the whole pyramid."""
        first, last = self.pyramid[PYRAMID_SIZE - ROWS], self.pyramid[-1]
        return Rect(first.x, first.y, last.right - first.x, self.pyramid[0].top - first.y)

    def button(self, control: Control) -> Rect:
        """The rectangle of one of the four buttons."""
        return {
            Control.UNDO: self.undo,
            Control.HINT: self.hint,
            Control.NEW_DEAL: self.new_deal,
            Control.MENU: self.menu,
        }[control]

    def target_rect(self, target: Target) -> Rect:
        """The rectangle of a pyramid place or a pile."""
        if target is Pile.STOCK:
            return self.stock
        if target is Pile.WASTE:
            return self.waste
        assert isinstance(target, int)
        return self.pyramid[target]

    # -- touch ----------------------------------------------------------------------------------

    def mm(self, length: float) -> float:
        """A length in mm, in px."""
        return length * self.px_per_mm

    @property
    def drag_slop(self) -> float:
        """A finger that has moved as far as this, in px, takes a card along."""
        return 0.25 * self.card_width

    @property
    def tap_reach(self) -> float:
        """A finger let go within this of where it came down, in px, has tapped."""
        return min(max(self.mm(TAP_MM), 0.25 * self.card_width), 0.6 * self.card_width)

    @property
    def snap_reach(self) -> float:
        """How far from a playable card a touch still means it, in px."""
        return min(max(self.mm(SNAP_MM), 0.4 * self.card_width), self.card_width)

    def card_at(self, x: float, y: float, position: Position) -> int | None:
        """The pyramid place whose card is seen at a point; None where no card is."""
        for place in range(PYRAMID_SIZE - 1, -1, -1):
            if position.is_present(place) and self.pyramid[place].contains(x, y):
                return place
        return None

    def hit(self, x: float, y: float, position: Position) -> Target | None:
        """What a touch at a point means.

        The pile or the card that is seen there, if it can be played; else the nearest playable
        one within reach; else whatever is there, so that it can say why not; else None.
        """
        if not self.screen.contains(x, y) or any(
            self.button(control).contains(x, y) for control in Control
        ):
            return None
        for pile in Pile:
            if self.target_rect(pile).contains(x, y):
                return pile
        seen = self.card_at(x, y, position)
        if seen is not None and (seen in position.available or position.partners(seen)):
            return seen
        reach = self.snap_reach if seen is None else min(self.mm(NUDGE_MM), 0.2 * self.card_width)
        near = min(
            ((self.target_rect(t).distance(x, y), t) for t in _worth_touching(position)),
            key=lambda pair: pair[0],
            default=None,
        )
        if near is not None and near[0] <= reach:
            return near[1]
        return seen

    def drop_target(self, rect: Rect, source: Target, position: Position) -> Target | None:
        """What a card let go at ``rect`` was dropped on: what it covers most of, or None.

        A card that makes a pair with the one from ``source`` counts double, and cards that are
        not seen whole count only where no other card is.
        """
        place = _place_of(source, position)
        best: tuple[float, Target] | None = None
        for target in _droppable(position):
            if target == source:
                continue
            share = rect.overlap(self.target_rect(target)) / (rect.w * rect.h)
            other = _place_of(target, position)
            if place is not None and other is not None and position.can_pair(place, other):
                share *= 2
            elif isinstance(target, int) and target not in position.available:
                share *= 0.25
            if share > 0.05 and (best is None or share > best[0]):
                best = (share, target)
        return None if best is None else best[1]


def _place_of(target: Target, position: Position) -> int | None:
    """The place of the card that lies face up on ``target``."""
    if target is Pile.WASTE:
        return position.waste_top
    if target is Pile.STOCK:
        return position.stock_top if position.rules.stock_playable else None
    assert isinstance(target, int)
    return target if position.is_present(target) else None


def _worth_touching(position: Position) -> Iterable[Target]:
    """What a touch beside it may mean: the exposed cards and the piles that hold something."""
    yield from (place for place in position.available if place < PYRAMID_SIZE)
    if position.waste_top is not None:
        yield Pile.WASTE
    if position.can_draw or position.can_redeal:
        yield Pile.STOCK


def _droppable(position: Position) -> Iterable[Target]:
    yield from (place for place in range(PYRAMID_SIZE) if position.is_present(place))
    yield from Pile


# -- arranging ----------------------------------------------------------------------------------


class _Screen:
    """What both arrangements start from."""

    def __init__(self, width: int, height: int, px_per_mm: float) -> None:
        shorter = min(width, height)
        self.width = width
        self.height = height
        self.px_per_mm = px_per_mm
        self.unit = max(4, round(shorter / 60))
        self.touch = min(math.ceil(TOUCH_MM * px_per_mm), int(_MOST_CONTROL * width))
        self.badge = max(14, round(shorter / 18))


def _even(length: float) -> int:
    """The largest even number of px up to ``length``: halves of it are whole px too."""
    return max(2, int(length) // 2 * 2)


def _card_size(width: float) -> tuple[int, int]:
    """The largest card up to ``width`` px wide."""
    w = _even(width)
    return w, round(w * CARD_ASPECT)


def _gap(card_width: float) -> int:
    # Narrow: what shows between two cards of the cards that they cover only confuses.
    return _even(card_width * 0.025)


def _pyramid(screen: _Screen, card: tuple[int, int], step: int, top: int) -> tuple[Rect, ...]:
    w, h = card
    column = w + _gap(w)
    left = (screen.width - (6 * column + w)) // 2
    return tuple(
        Rect(left + (ROWS - 1 - r) * column // 2 + c * column, top - h - r * step, w, h)
        for r, c in ROW_COLUMN
    )


def _widest_card(room: float) -> float:
    """The width of a card of which seven with their gaps fit into ``room`` px."""
    w = int(room / 7)
    while w > 2 and 7 * _even(w) + 6 * _gap(_even(w)) > room:
        w -= 1
    return w


def _landscape(screen: _Screen) -> Layout:
    unit, touch = screen.unit, screen.touch
    width, height = screen.width, screen.height
    least, most = _STEP_LANDSCAPE
    tall = (height - 2 * unit) / (1 + (ROWS - 1) * least) / CARD_ASPECT
    # Room for the buttons beside row 6, and for the two piles beside row 3.
    beside = min(_widest_card(width - 2 * (touch + 2 * unit)), (width - 8 * unit) / 8.6)
    w, h = _card_size(min(tall, beside))
    while 2 * (step := (height - 2 * unit - h) // (ROWS - 1)) < h:
        w, h = _card_size(w - 1)
    step = min(step, int(h * most))
    top = height - (height - h - (ROWS - 1) * step) // 2
    pyramid = _pyramid(screen, (w, h), step, top)

    def left_of(row: int) -> int:
        return pyramid[row * (row + 1) // 2].x

    # The corner beside rows 0 to 3 ends where row 4 begins; all that is in it ends before row 3.
    corner_bottom = top - 4 * step + unit // 2
    corner_top = max(top, height - 2 * unit)
    corner_right = left_of(3) - unit
    between = max(unit, w // 8)
    left = max(unit, (unit + corner_right - 2 * w - between) // 2)
    badge = min(screen.badge, corner_top - corner_bottom - h - unit)
    slack = corner_top - corner_bottom - h - badge - unit // 2
    # The piles stand low in the corner, near the hand; what is left above them is for a title.
    base = corner_bottom + min(slack // 3, unit)
    stock_x = left
    waste_x = left + w + between
    pile_y = base + badge + unit // 2
    title_bottom = pile_y + h + unit
    title = Rect(unit, title_bottom, left_of(1) - 2 * unit, max(0, corner_top - title_bottom))

    rail = left_of(6)
    button_w = min(rail - 2 * unit, max(touch, round(height * 0.3)))
    between_buttons = 2 * unit
    foot = max(unit, min(pyramid[-1].y, 3 * unit))
    fit = (min(height // 2, corner_bottom) - unit // 2 - foot - between_buttons) // 2
    button_h = min(max(touch * 5 // 4, round(height * 0.18)), fit)
    left_x = (rail - button_w) // 2
    right_x = width - left_x - button_w
    upper = foot + button_h + between_buttons
    panel_w = min(width - 2 * unit, round(height * 1.45))
    return Layout(
        width=width,
        height=height,
        portrait=False,
        left_handed=False,
        px_per_mm=screen.px_per_mm,
        unit=unit,
        touch=touch,
        row_step=step,
        pyramid=pyramid,
        stock=Rect(stock_x, pile_y, w, h),
        waste=Rect(waste_x, pile_y, w, h),
        stock_badge=Rect(stock_x, base, w, badge),
        waste_badge=Rect(waste_x, base, w, badge),
        title=title,
        status=Rect(
            width - corner_right,
            corner_bottom + unit,
            corner_right - unit,
            corner_top - corner_bottom - unit,
        ),
        undo=Rect(right_x, foot, button_w, button_h),
        hint=Rect(right_x, upper, button_w, button_h),
        new_deal=Rect(left_x, foot, button_w, button_h),
        menu=Rect(left_x, upper, button_w, button_h),
        wide_buttons=button_w >= 1.8 * button_h,
        panel=_centred(screen, panel_w, height - 2 * unit),
    )


def _portrait(screen: _Screen) -> Layout:
    unit, touch, badge = screen.unit, screen.touch, screen.badge
    width, height = screen.width, screen.height
    least, most = _STEP_PORTRAIT
    button_h = max(touch * 5 // 4, round(height * 0.085))
    button_w = (width - 5 * unit) // 4
    # Before a game begins the languages are chosen there.
    status_h = max(2 * badge, round(height * 0.085), touch)
    foot = unit
    # From below: buttons, badges, piles, pyramid, status, with air between them.
    around = foot + button_h + 2 * unit + badge + unit // 2 + 2 * unit + unit + status_h + unit
    tall = max(10, height - around) / (2 + (ROWS - 1) * least) / CARD_ASPECT
    w, h = _card_size(min(tall, _widest_card(width - 2 * unit)))
    while 2 * (step := (height - around - 2 * h) // (ROWS - 1)) < h and w > 2:
        w, h = _card_size(w - 1)
    # On a screen as low as this the other arrangement wins; this one only has to come to an end.
    step = max(2, min(step, int(h * most)))
    slack = height - around - 2 * h - (ROWS - 1) * step
    base = foot + button_h + 2 * unit + slack // 3
    pile_y = base + badge + unit // 2
    status_y = height - unit - status_h
    top = status_y - unit - slack // 3
    pyramid = _pyramid(screen, (w, h), step, top)
    # Piles on the side of the hand, in line with the pyramid; all the room beside them is for
    # words, near where the eyes are when a card is drawn.
    between = max(2 * unit, w // 4)
    waste_x = pyramid[-1].x
    stock_x = waste_x - w - between
    title_x = max(unit, pyramid[PYRAMID_SIZE - ROWS].x)
    xs = [unit + i * (button_w + unit) for i in range(4)]
    panel_h = min(height - 2 * unit, round(width * 1.4))
    return Layout(
        width=width,
        height=height,
        portrait=True,
        left_handed=False,
        px_per_mm=screen.px_per_mm,
        unit=unit,
        touch=touch,
        row_step=step,
        pyramid=pyramid,
        stock=Rect(stock_x, pile_y, w, h),
        waste=Rect(waste_x, pile_y, w, h),
        stock_badge=Rect(stock_x, base, w, badge),
        waste_badge=Rect(waste_x, base, w, badge),
        title=Rect(title_x, pile_y, stock_x - between - title_x, h),
        status=Rect(unit, status_y, width - 2 * unit, status_h),
        undo=Rect(xs[3], foot, button_w, button_h),
        hint=Rect(xs[2], foot, button_w, button_h),
        new_deal=Rect(xs[0], foot, button_w, button_h),
        menu=Rect(xs[1], foot, button_w, button_h),
        wide_buttons=button_w >= 1.8 * button_h,
        panel=_centred(screen, width - 2 * unit, panel_h),
    )


def _centred(screen: _Screen, width: int, height: int) -> Rect:
    return Rect((screen.width - width) // 2, (screen.height - height) // 2, width, height)
