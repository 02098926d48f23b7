"""The search behind the solver: does a line of removals exist, and which?

Plain integers and flat arrays throughout, no recursion in the loop, no closures, no generators,
no calls out.  The same source runs in two ways: Cython compiles it, with the C types that
``_search.pxd`` gives to every name, and where there is no compiler Python interprets it.
:data:`COMPILED` says which.  ``docs/solver.md`` explains the ideas and proves each cut; the
section that a comment names is there.

Invariant: a verdict does not depend on the order in which moves are tried, and everything that is
left out is left out by a cut that keeps at least one winning line.  Compiled or not, the same
positions are looked at in the same order.

Vocabulary of this module
    family: a pair of ranks that add up to 13 (A+Q, 2+J, … 6+7), numbered 0 to 5.  Its eight cards
        are the eight bits of a family mask: the low rank in bits 0 to 3, the high one in 4 to 7.
    field: the six family masks side by side, 48 bits.  Kings are in no family.
    stock: the 24-bit mask of the stock cards still in play, on the stock or on the waste alike;
        bit ``j`` is place ``28 + j``.
    time: ``pass * 32 + w``.  ``pass`` counts from 0, the pass under way at the start; ``w`` is
        one above the index of the waste top, 0 with nothing on the waste.  Earlier is stronger.
"""

# In the hot loop a call costs more than a long function, and a tuple more than many arguments.
# ruff: noqa: PLR0911, PLR0912, PLR0915, PLR0917

from __future__ import annotations

from array import array
from mmap import mmap
from typing import Final

from engine._shapes import shape_tables

try:
    import cython
except ImportError:  # it is needed to compile this file, not to run it
    from engine import _cython_shim as cython

# What run() returns.  The compiler keeps names that _search.pxd knows to itself, hence the pairs.
_RUNNING: Final = 0
_WON: Final = 1
_LOST: Final = 2
_OUT_OF_MEMORY: Final = 3
_FULL: Final = 4
RUNNING: Final = _RUNNING
WON: Final = _WON
LOST: Final = _LOST
OUT_OF_MEMORY: Final = _OUT_OF_MEMORY

#: Whether this module was compiled.
COMPILED: Final = bool(cython.compiled)

_NEVER: Final = -1
_ALWAYS: Final = 1 << 14
_UNKNOWN: Final = -2

_FAMILIES: Final = 6
_MAX_DEPTH: Final = 32
# At most 26 removals follow each other, and no position has more than 80: 7 exposed cards with
# 4 partners each in the stock, 23 pairs of neighbours, 12 pairs of exposed cards, 14 of a card
# and its cover.  So the stack never holds more than 2,080.
_MAX_STACK: Final = 2112
_FIRST_SLOTS: Final = 1 << 10
# A larger table lives in pages that the system hands out, zeroed, when they are first touched, so
# that making it takes no time.
_LARGE: Final = 1 << 16
# While the table grows, entries moved for each position of the budget.
_MOVES: Final = 16
# The bits of a table entry that are the key, and what spreads keys over the slots.
_KEY: Final = 0x7FFFFFFFF
_SPREAD: Final = 0x1E3779B1
_LOW: Final = 0xFFFFFFFF

# A power of two modulo 37 is different for each exponent below 36: an index of the lowest bit
# that needs no instruction a language might lack.
_BIT: Final = array("B", [0]) * 37
for _i in range(32):
    _BIT[pow(2, _i, 37)] = _i
# One above the highest bit of a 12-bit number.
_LENGTH: Final = array("B", [_i.bit_length() for _i in range(4096)])


def _lowest(mask: int) -> int:
    """The index of the lowest bit of a 32-bit mask, 0 for 0."""
    return _BIT[(mask & -mask) % 37]


def _length(mask: int) -> int:
    """One above the index of the highest bit of a 24-bit mask, 0 for 0."""
    return _LENGTH[mask >> 12] + 12 if mask >> 12 else _LENGTH[mask]


def _new_table(slots: int) -> array[int] | memoryview[int]:
    """A memo table of so many empty slots, 8 bytes each."""
    if slots < _LARGE:
        return array("Q", [0]) * slots
    return memoryview(mmap(-1, slots * 8)).cast("Q")


class Search:
    """One search, which :meth:`run` carries on in portions.

    Args:
        ranks: the ranks, 1 to 13, of the 52 places.
        remaining: 52-bit mask of the cards in play; its pyramid part must be a shape.
        waste_end: 0 to 24: stock cards of a lower index lie on the waste.
        redeals: how many redeals are left; None is without limit.
        deck_goal: all cards must go, not only the pyramid.
        stock_playable: see :class:`engine.rules.Rules`.
        overlap: likewise.
        max_slots: the most slots, of 8 bytes each, that the memo table may have.

    Raises:
        ValueError: the pyramid part of ``remaining`` is no shape.
    """

    def __init__(
        self,
        ranks: tuple[int, ...],
        remaining: int,
        waste_end: int,
        redeals: int | None,
        *,
        deck_goal: bool,
        stock_playable: bool,
        overlap: bool,
        max_slots: int,
    ) -> None:
        tables = shape_tables()
        pyramid = remaining & 0xFFFFFFF
        if pyramid not in tables.number_of:
            raise ValueError("no play leaves a pyramid like that")
        self._masks = tables.masks
        self._exposed = tables.exposed
        self._after = tables.after
        self._covers = tables.covers
        self._covered = tables.covered
        self._below = tables.below
        self._above = tables.above
        self._deck_goal = int(deck_goal)
        self._stock_playable = int(stock_playable)
        self._overlap = int(overlap)
        self._max_slots = max_slots

        self._ranks = array("B", ranks)
        self._place_family = array("B", [0]) * 52
        self._place_bit = array("Q", [0]) * 52  # the bit of each place in the field
        self._slot_place = array("B", [0]) * 48  # the place of each bit of the field
        self._family_stock = array("I", [0]) * _FAMILIES
        # For each place the places of the partners, in the pyramid and in the stock.
        self._pyramid_partners = array("I", [0]) * 52
        self._stock_partners = array("I", [0]) * 52
        self._deadlines = array("h", [_UNKNOWN]) * (_FAMILIES * 256)

        self._wanted = array("I", [0]) * len(tables.masks)  # see _wanted_by()

        self._table = _new_table(_FIRST_SLOTS)
        self._slots = _FIRST_SLOTS
        self._used = 0
        self._old = self._table  # while the table grows, the one before
        self._chance = 0  # see fill()
        self._to_move = 0  # the slots of the old table that still have to be moved
        self.positions = 0
        self._stack_field = array("Q", [0]) * _MAX_STACK
        self._stack_shape = array("H", [0]) * _MAX_STACK
        self._stack_stock = array("I", [0]) * _MAX_STACK
        self._stack_time = array("h", [0]) * _MAX_STACK
        self._stack_move = array("H", [0]) * _MAX_STACK
        self._stack_depth = array("B", [0]) * _MAX_STACK
        self._path = array("H", [0]) * _MAX_DEPTH
        self._top = 0
        self._depth = 0
        self._read_ranks()
        self._state = self._start(
            tables.number_of[pyramid],
            remaining >> 28,
            waste_end,
            24 if redeals is None else max(redeals, 0),
        )

    def _read_ranks(self) -> None:
        """Fill the tables that depend on the ranks alone."""
        self._kings = 0  # pyramid places of Kings
        for family in range(_FAMILIES):
            self._deadlines[family * 256] = _ALWAYS
            for high in range(2):
                rank = 12 - family if high else family + 1
                slot = family * 8 + high * 4
                bit = 1
                bit <<= slot  # apart, as the compiler takes a shifted 1 for a small number
                for place in range(52):
                    if self._ranks[place] != rank:
                        continue
                    self._place_family[place] = family
                    self._place_bit[place] = bit
                    self._slot_place[slot] = place
                    bit <<= 1
                    slot += 1
                    if place >= 28:
                        self._family_stock[family] |= 1 << (place - 28)
        for place in range(52):
            rank = self._ranks[place]
            if rank == 13 and place < 28:
                self._kings |= 1 << place
            for other in range(52):
                if self._ranks[other] + rank == 13:
                    if other < 28:
                        self._pyramid_partners[place] |= 1 << other
                    else:
                        self._stock_partners[place] |= 1 << (other - 28)

    def _start(self, shape: int, stock: int, waste_end: int, redeals: int) -> int:
        """Push the first position, and return the state."""
        # Kings of the stock leave on their own as they turn up: "Kings" in docs/solver.md.
        cards = 0
        for j in range(24):
            if self._ranks[28 + j] == 13:
                stock &= ~(1 << j)
            cards += stock >> j & 1
        self._unlimited = int(redeals >= cards)
        self._last_pass = 0 if self._unlimited else redeals
        time = 0 if self._unlimited else _length(stock & ((1 << waste_end) - 1))
        shape = self._without_kings(shape)
        field = 0
        left = self._masks[shape]
        for place in range(52):
            if (left >> place & 1) if place < 28 else (stock >> (place - 28) & 1):
                field |= self._place_bit[place]
        if self._is_won(shape, field):
            return _WON
        if self._is_too_late(field, stock, 0, time):
            return _LOST
        self._push(shape, stock, field, time, 0, 0)
        return _RUNNING

    # -- small steps --------------------------------------------------------------------------

    def _without_kings(self, shape: int) -> int:
        """Take every King away that is exposed, and those that this exposes."""
        kings = self._exposed[shape] & self._kings
        while kings:
            shape = self._after[shape * 28 + _lowest(kings)]
            kings = self._exposed[shape] & self._kings
        return shape

    def _is_won(self, shape: int, field: int) -> bool:
        return shape == 0 and (not self._deck_goal or field == 0)

    def _deadline(self, family: int, mask: int) -> int:
        """The latest time from which the family's own cards could still all go.

        Only the cards of this family are looked at, as if all others were gone: "Deadlines" in
        docs/solver.md.  NEVER if no order of removals does it, ALWAYS if time does not matter.
        """
        known = self._deadlines[family * 256 + mask]
        if known != _UNKNOWN:
            return known
        base = family * 8
        pyramid = 0
        stock = 0
        for i in range(8):
            if mask >> i & 1:
                place = self._slot_place[base + i]
                if place < 28:
                    pyramid |= 1 << place
                else:
                    stock |= 1 << (place - 28)
        best = _NEVER
        if pyramid == 0 and not (self._deck_goal and stock):
            best = _ALWAYS
        for i in range(4):
            if best == _ALWAYS or not mask >> i & 1:
                continue
            a = self._slot_place[base + i]
            for k in range(4, 8):
                if not mask >> k & 1:
                    continue
                b = self._slot_place[base + k]
                play = self._play_time(pyramid, stock, min(a, b), max(a, b))
                if play == _NEVER:
                    continue
                rest = self._deadline(family, mask & ~(1 << i | 1 << k))
                best = max(best, self._latest(rest, play))
        self._deadlines[family * 256 + mask] = best
        return best

    def _play_time(self, pyramid: int, stock: int, low: int, high: int) -> int:
        """When, within a pass, two cards of a family can go, the rest of the deck ignored.

        Returns NEVER; ALWAYS for two pyramid cards; else ``w_before * 32 + w_after``, the latest
        ``w`` at which the removal is still ahead and the one that it leaves.
        """
        if low < 28:
            waiting = self._below[low] & pyramid
            if high < 28:
                waiting |= self._below[high] & pyramid
                if waiting >> high & 1:
                    if not (self._overlap and self._covers[low] >> high & 1):
                        return _NEVER
                    waiting ^= 1 << high
            if waiting:
                return _NEVER
            if high < 28:
                return _ALWAYS
            j = high - 28
            return (j + 1) * 32 + _length(stock & ((1 << j) - 1))
        if not self._stock_playable:
            return _NEVER
        i = low - 28
        j = high - 28
        if stock & ((1 << j) - 1) & ~((2 << i) - 1):
            return _NEVER
        return (i + 1) * 32 + _length(stock & ((1 << i) - 1))

    def _latest(self, rest: int, play: int) -> int:
        """The latest time at which a removal may still be ahead if ``rest`` is what it leaves."""
        if rest == _NEVER or play == _ALWAYS:
            return rest
        if self._unlimited:
            return _ALWAYS
        if rest == _ALWAYS:
            number = self._last_pass
        else:
            number = rest >> 5
            if (play & 31) > (rest & 31):
                number -= 1
        return _NEVER if number < 0 else number * 32 + (play >> 5)

    # -- the loop -----------------------------------------------------------------------------

    def run(self, budget: int) -> int:
        """Look at up to ``budget`` more positions; return RUNNING, WON, LOST or OUT_OF_MEMORY.

        A position counts once it is found to be new, or to be reached earlier than before.  Other
        threads run meanwhile, if this module is compiled; this object belongs to one of them.

        Each call does a bounded amount of work: RUNNING may mean that the memo table is growing,
        and that fewer positions than allowed were looked at.
        """
        end = self.positions + budget
        state = self._state
        while state == _RUNNING:
            with cython.nogil:
                state = self._loop(end)
            if state == _FULL:
                state = _RUNNING if self._grow() else _OUT_OF_MEMORY
            elif state == _RUNNING:
                break
        self._state = state
        return state

    def _loop(self, end: int) -> int:
        """Go on until there are ``end`` positions, the search is over, or the table is full."""
        if self._to_move and not self._move(end - self.positions):
            return _RUNNING
        while self._top:
            top = self._top - 1
            shape = self._stack_shape[top]
            stock = self._stack_stock[top]
            time = self._stack_time[top]
            key = shape << 24 | stock
            slot = self._slot(key)
            entry = self._table[slot]
            if entry and entry >> 35 <= time:
                self._top = top
                continue
            # Only now: what is left on the stack might have been nothing new.
            if self.positions >= end:
                return _RUNNING
            if self._used * 2 > self._slots:
                return _FULL
            self.positions += 1
            self._used += entry == 0
            self._table[slot] = time << 35 | key
            self._top = top
            depth = self._stack_depth[top]
            self._path[depth] = self._stack_move[top]
            if self._expand(shape, stock, self._stack_field[top], time, depth + 1):
                return _WON
        return _LOST

    def _slot(self, key: int) -> int:
        """The slot of the memo table where a position is, or would be entered."""
        last = self._slots - 1
        slot = (key * _SPREAD >> 20) & last
        while self._table[slot] and self._table[slot] & _KEY != key:
            slot = (slot + 1) & last
        return slot

    def _grow(self) -> bool:
        """Begin to make the memo table four times larger, if it may be."""
        size = self._slots * 4
        if size > self._max_slots:
            return False
        self._old = self._table
        self._to_move = self._slots
        self._table = _new_table(size)
        self._slots = size
        return True

    def _move(self, budget: int) -> bool:
        """Move some entries of the old table into the new one; True once all have been."""
        stop = 0
        if self._to_move > budget * _MOVES:
            stop = self._to_move - budget * _MOVES
        while self._to_move > stop:
            self._to_move -= 1
            entry = self._old[self._to_move]
            if entry:
                self._table[self._slot(entry & _KEY)] = entry
        return stop == 0

    def _expand(self, shape: int, stock: int, field: int, time: int, depth: int) -> bool:
        """Put the positions after each removal on the stack; True if one of them is won."""
        base = self._top
        exposed = self._exposed[shape]
        pyramid = self._masks[shape]
        number = time >> 5
        w = time & 31
        ahead = stock  # stock cards that can still come up
        if w and number == self._last_pass and not self._unlimited:
            ahead = stock >> (w - 1) << (w - 1)

        # The earliest of the new times must be tried first, so it is pushed last: first the stock
        # cards of the next pass, then those of this one, the last to come up first.
        playable = ahead
        if not self._stock_playable:
            playable = 0
            cards = exposed
            while cards:
                playable |= self._stock_partners[_lowest(cards)]
                cards &= cards - 1
            playable &= ahead
        now = playable
        if not self._unlimited and w:
            now = playable >> (w - 1) << (w - 1)
        for turn in range(2):
            part = now if turn else playable ^ now
            upper = part
            while upper:
                j = _length(upper) - 1
                upper ^= 1 << j
                left = stock ^ (1 << j)
                if self._stock_playable:
                    above = left >> j << j
                    k = _lowest(above)
                    if (
                        above
                        and self._stock_partners[28 + j] >> k & 1
                        and self._try(
                            shape, left ^ (1 << k), field, number, w, j, 28 + j, 28 + k, depth
                        )
                    ):
                        return True
                under = left & ((1 << j) - 1)
                i = _length(under) - 1
                if i >= 0 and self._ranks[28 + i] == self._ranks[28 + j] and part >> i & 1:
                    continue  # "Equal neighbours"
                others = self._pyramid_partners[28 + j] & exposed
                while others:
                    a = _lowest(others)
                    others &= others - 1
                    after = self._without_kings(self._after[shape * 28 + a])
                    if self._try(after, left, field, number, w, j, a, 28 + j, depth):
                        return True

        cards = exposed
        while cards:
            bit = cards & -cards
            cards ^= bit
            a = _lowest(bit)
            others = self._pyramid_partners[a] & cards
            if self._overlap:
                below = self._pyramid_partners[a] & self._covered[a]
                while below:
                    low = _lowest(below)
                    below &= below - 1
                    if self._covers[low] & pyramid == bit:
                        others |= 1 << low
            while others:
                b = _lowest(others)
                others &= others - 1
                after = self._after[self._after[shape * 28 + a] * 28 + b]
                low = min(a, b)
                high = max(a, b)
                if self._is_forced(low, high, pyramid, stock):
                    self._top = base
                    return self._try(
                        self._without_kings(after), stock, field, number, w, -1, low, high, depth
                    )
                if self._try(
                    self._without_kings(after), stock, field, number, w, -1, low, high, depth
                ):
                    return True
        return False

    def _is_forced(self, a: int, b: int, pyramid: int, stock: int) -> bool:
        """Whether a pair of the pyramid that can go now must go together: "Forced pairs"."""
        for turn in range(2):
            one = b if turn else a
            other = a if turn else b
            if self._stock_partners[one] & stock == 0:
                partners = self._pyramid_partners[one] & pyramid
                apart = self._above[one]
                if self._overlap:
                    apart &= ~self._covered[one]
                if partners & ~apart & ~(1 << other) == 0:
                    return True
        return False

    def _try(
        self,
        shape: int,
        stock: int,
        field: int,
        number: int,
        w: int,
        played: int,
        low: int,
        high: int,
        depth: int,
    ) -> bool:
        """Push the position after a removal, unless a cut rules it out; True if it is won.

        ``played`` is the lowest stock index that the removal takes, -1 if it takes none.
        """
        field &= ~(self._place_bit[low] | self._place_bit[high])
        if self._is_won(shape, field):
            self._path[depth] = low << 6 | high
            self._depth = depth + 1
            return True
        if self._unlimited:
            family = self._place_family[low]
            if self._deadline(family, field >> (8 * family) & 255) == _NEVER:
                return False
        else:
            if played >= 0:
                if played < w - 1:
                    number += 1
                w = _length(stock & ((1 << played) - 1))
            if number == self._last_pass and w:
                out = self._out_of_reach(shape, stock, w)
                if out:
                    if self._deck_goal:
                        return False
                    stock &= ~out
                    while out:
                        field &= ~self._place_bit[28 + _lowest(out)]
                        out &= out - 1
                    w = _length(stock & ((1 << w) - 1))
            if self._is_too_late(field, stock, number, w):
                return False
        self._push(shape, stock, field, number * 32 + w, low << 6 | high, depth)
        return False

    def _is_too_late(self, field: int, stock: int, number: int, w: int) -> bool:
        """Whether a family's deadline has passed."""
        waste = stock & ((1 << w) - 1)
        for family in range(_FAMILIES):
            mask = field >> (8 * family) & 255
            deadline = self._deadlines[family * 256 + mask]
            if deadline == _UNKNOWN:
                deadline = self._deadline(family, mask)
            left = deadline - number * 32
            if left < 24:
                if left < 0:
                    return True
                under = waste & self._family_stock[family]
                if left < _length(under):
                    return True
        return False

    def _out_of_reach(self, shape: int, stock: int, w: int) -> int:
        """In the last pass: waste cards that cannot go, and all below them: "Buried waste"."""
        waste = stock & ((1 << w) - 1)
        lonely = waste & ~self._wanted_by(shape)
        comes = stock >> w << w if self._stock_playable else 0
        while lonely:
            j = _length(lonely) - 1
            if self._stock_partners[28 + j] & comes == 0:
                return waste & ((2 << j) - 1)
            lonely ^= 1 << j
        return 0

    def _wanted_by(self, shape: int) -> int:
        """The stock places whose cards have a partner in a shape."""
        wanted = self._wanted[shape]
        if wanted == 0:
            cards = self._masks[shape]
            while cards:
                wanted |= self._stock_partners[_lowest(cards)]
                cards &= cards - 1
            wanted |= 1 << 24  # known
            self._wanted[shape] = wanted
        return wanted

    def _push(self, shape: int, stock: int, field: int, time: int, move: int, depth: int) -> None:
        top = self._top
        self._stack_shape[top] = shape
        self._stack_stock[top] = stock
        self._stack_field[top] = field
        self._stack_time[top] = time
        self._stack_move[top] = move
        self._stack_depth[top] = depth
        self._top = top + 1

    def line(self) -> list[tuple[int, int]]:
        """The removals of the line found, as pairs of places, the lower one first.

        Kings are left out: they go whenever they can.
        """
        return [(move >> 6, move & 63) for move in self._path[1 : self._depth]]

    def fill(self, count: int) -> int:
        """Enter ``count`` pseudo-random keys into the memo table; return how many were different.

        The object is of no further use then: this is for ``python -m engine bench``, which has
        the same in C (``engine/data/hashing.c``).
        """
        with cython.nogil:
            todo = self._fill(count, 1)
        while todo:
            self._grow()
            with cython.nogil:
                self._move(self._slots)
                todo = self._fill(todo, self._chance)
        return self._used

    def _fill(self, count: int, chance: int) -> int:
        """Enter keys until the table is full; return how many are left."""
        while count:
            if self._used * 2 > self._slots:
                break
            count -= 1
            chance = (chance * 1664525 + 1013904223) & _LOW
            key = (chance >> 8) + 1
            time = chance & 255
            slot = self._slot(key)
            entry = self._table[slot]
            if entry and entry >> 35 <= time:
                continue
            self._used += entry == 0
            self._table[slot] = time << 35 | key
        self._chance = chance
        return count
