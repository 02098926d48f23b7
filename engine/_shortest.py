"""The search for a shortest line: removals, draws and redeals counted one each.

A* over positions after removals: the draws and redeals on the way to a removal are part of its
cost.  ``docs/solver.md`` ("The shortest line") says why that is exact.  Like ``engine/_search.py``,
whose tables it uses, this is one source, compiled with the C types of ``_shortest.pxd`` where there
is a compiler.

Invariant: the estimate never exceeds what is still to come, so that the first win that is taken
from the queue is a shortest one.
"""

# In the hot loop a call costs more than a long function.
# ruff: noqa: PLR0912, PLR0915, PLR0917

from __future__ import annotations

from array import array
from mmap import mmap
from typing import Final

from engine._search import LOST, OUT_OF_MEMORY, RUNNING, WON

try:
    import cython
except ImportError:  # it is needed to compile this file, not to run it
    from engine import _cython_shim as cython
if not cython.compiled:  # the compiler has them from _shortest.pxd
    from engine._search import Search, _length, _lowest

_GOING: Final = RUNNING
_FOUND: Final = WON
_NONE: Final = LOST
_NO_ROOM: Final = OUT_OF_MEMORY
_FULL: Final = 4

# No line is longer: 28 passes of 24 draws and a redeal, and 52 removals.
_MOST: Final = 1024
_DEAD: Final = -1
_FIRST_SLOTS: Final = 1 << 12
_SPREAD: Final = 0x1E3779B1
#: The bytes of a node and of its entry in the queue, and of the four slots of the table that it
#: may need at worst.
NODE_BYTES: Final = 18 + 2 * 10 + 4 * 4


class ShortestSearch(Search):
    """One search for a shortest line, which :meth:`run` carries on in portions.

    The arguments and errors are those of :class:`engine._search.Search`, but for ``max_nodes``: the
    most positions that may be remembered, 1 or more.
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
        max_nodes: int,
    ) -> None:
        super().__init__(
            ranks,
            remaining,
            waste_end,
            redeals,
            deck_goal=deck_goal,
            stock_playable=stock_playable,
            overlap=overlap,
            max_slots=0,
        )
        # The deadlines of the parent count stock cards without Kings, and so does its "unlimited";
        # here Kings are cards that may be drawn.
        self._endless = int(redeals is None or redeals >= 24)
        self._last = 0 if redeals is None else max(redeals, 0)
        self._max_nodes = max_nodes
        self._node_key = memoryview(mmap(-1, (max_nodes + 1) * 8)).cast("Q")
        self._node_cost = memoryview(mmap(-1, (max_nodes + 1) * 2)).cast("H")
        self._node_parent = memoryview(mmap(-1, (max_nodes + 1) * 4)).cast("I")
        self._node_move = memoryview(mmap(-1, (max_nodes + 1) * 4)).cast("I")
        self._nodes = 0
        # A node that is found again at a lower cost has a second entry in the queue.
        self._max_entries = max_nodes * 2
        self._entry_node = memoryview(mmap(-1, (max_nodes * 2 + 1) * 4)).cast("I")
        self._entry_next = memoryview(mmap(-1, (max_nodes * 2 + 1) * 4)).cast("I")
        self._entry_cost = memoryview(mmap(-1, (max_nodes * 2 + 1) * 2)).cast("H")
        self._entries = 0
        self._queue = array("I", [0]) * _MOST  # for each estimated total the entry last entered
        self._least = 0
        self._index = memoryview(array("I", [0]) * _FIRST_SLOTS)
        self._index_slots = _FIRST_SLOTS
        self._stock_kings = 0
        for j in range(24):
            if ranks[28 + j] == 13:
                self._stock_kings |= 1 << j
        shape = self._shape_of(remaining & 0xFFFFFFF)
        stock = remaining >> 28
        below = stock & ((1 << waste_end) - 1)
        self._outcome = _GOING
        self._goal = 0
        self._offer(shape, stock, 0, below.bit_length(), 0, 0, 0)

    def _shape_of(self, pyramid: int) -> int:
        low = 0
        high = len(self._masks)
        while high - low > 1:
            middle = (low + high) // 2
            if self._masks[middle] <= pyramid:
                low = middle
            else:
                high = middle
        return low

    def run(self, budget: int) -> int:
        """Look at up to ``budget`` more positions; return RUNNING, WON, LOST or OUT_OF_MEMORY."""
        end = self.positions + budget
        state = self._outcome
        while state == _GOING:
            with cython.nogil:
                state = self._carry_on(end)
            if state == _FULL:
                self._grow_index()
                state = _GOING
            elif state == _GOING:
                break
        self._outcome = state
        return state

    def cost(self) -> int:
        """The length of the line found."""
        return self._node_cost[self._goal]

    def removals(self) -> list[tuple[int, int]]:
        """The removals of the line found: places, the lower one first, a King of the stock twice.

        Kings of the pyramid are left out: they go whenever they can.
        """
        found = []
        node = self._goal
        while self._node_parent[node]:
            move = self._node_move[node]
            found.append((move >> 6, move & 63))
            node = self._node_parent[node]
        return found[::-1]

    def _carry_on(self, end: int) -> int:
        while True:
            while self._least < _MOST and self._queue[self._least] == 0:
                self._least += 1
            if self._least == _MOST:
                return _NONE
            entry = self._queue[self._least]
            node = self._entry_node[entry]
            if self._entry_cost[entry] != self._node_cost[node]:
                self._queue[self._least] = self._entry_next[entry]
                continue  # it was found again at a lower cost
            key = self._node_key[node]
            shape = key >> 34
            stock = key >> 10 & 0xFFFFFF
            if shape == 0 and (not self._deck_goal or stock == 0):
                self._goal = node
                return _FOUND
            if self.positions >= end:
                return _GOING
            # A position has at most 160 moves, in this pass and the next.
            if (self._nodes + 160) * 2 > self._index_slots:
                return _FULL
            if self._nodes + 160 > self._max_nodes or self._entries + 160 > self._max_entries:
                return _NO_ROOM
            self._queue[self._least] = self._entry_next[entry]
            self.positions += 1
            self._unfold(shape, stock, key >> 5 & 31, key & 31, self._node_cost[node], node)

    def _unfold(self, shape: int, stock: int, number: int, w: int, cost: int, node: int) -> None:
        """Offer the position after each removal that is possible in this pass or the next."""
        exposed = self._exposed[shape]
        pyramid = self._masks[shape]
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
                    if self._covers[low] & pyramid & ~bit == 0:
                        others |= 1 << low
            while others:
                b = _lowest(others)
                others &= others - 1
                after = self._after[self._after[shape * 28 + a] * 28 + b]
                low = min(a, b)
                high = max(a, b)
                self._offer(after, stock, number, w, cost + 1, node, low << 6 | high)
        # The stock card at j: how many draws (and a redeal) until it can be played.
        ahead = stock >> w << w
        again = self._endless or number < self._last
        last = _length(ahead)
        left = 0
        for j in range(w, last):
            left += stock >> j & 1
        draws = 0
        for turn in range(2):
            if turn == 0:
                j = w - 1 if w else 0
                end = 24
            else:
                if w == 0 or not again:
                    break
                # Everything is drawn, turned over, and drawn again up to j.
                draws = left + 1
                number += 0 if self._endless else 1
                j = 0
                end = w - 1  # from there on this pass is better
            while j < end:
                if stock >> j & 1:
                    on_waste = turn == 0 and j == w - 1
                    # What is face up on the stock is played from there, or drawn first.
                    before = draws
                    if not on_waste:
                        draws += 1
                        if not self._stock_playable:
                            before = draws
                    rest = stock ^ (1 << j)
                    under = _length(rest & ((1 << j) - 1))
                    if self._stock_kings >> j & 1:
                        self._offer(
                            shape, rest, number, under, cost + before + 1, node, (28 + j) * 65
                        )
                    others = self._pyramid_partners[28 + j] & exposed
                    while others:
                        a = _lowest(others)
                        others &= others - 1
                        self._offer(
                            self._after[shape * 28 + a],
                            rest,
                            number,
                            under,
                            cost + before + 1,
                            node,
                            a << 6 | (28 + j),
                        )
                    if self._stock_playable:
                        above = rest >> j << j
                        k = _lowest(above)
                        if above and self._stock_partners[28 + j] >> k & 1:
                            self._offer(
                                shape,
                                rest ^ (1 << k),
                                number,
                                under,
                                cost + draws + 1,
                                node,
                                (28 + j) << 6 | (28 + k),
                            )
                j += 1

    def _offer(
        self, shape: int, stock: int, number: int, w: int, cost: int, parent: int, move: int
    ) -> None:
        """Enter a position into the queue, unless it is lost or was found at no higher cost."""
        kings = self._exposed[shape] & self._kings
        while kings:
            shape = self._after[shape * 28 + _lowest(kings)]
            cost += 1
            kings = self._exposed[shape] & self._kings
        key = shape
        key = key << 34 | stock << 10 | number << 5 | w
        slot = self._place(key)
        node = self._index[slot]
        if node and self._node_cost[node] <= cost:
            return
        rest = self._estimate(shape, stock, number, w)
        if rest == _DEAD:
            return
        if node == 0:
            self._nodes += 1
            node = self._nodes
            self._index[slot] = node
            self._node_key[node] = key
        self._node_cost[node] = cost
        self._node_parent[node] = parent
        self._node_move[node] = move
        total = cost + rest
        self._entries += 1
        self._entry_node[self._entries] = node
        self._entry_cost[self._entries] = cost
        self._entry_next[self._entries] = self._queue[total]
        self._queue[total] = self._entries
        self._least = min(self._least, total)

    def _estimate(self, shape: int, stock: int, number: int, w: int) -> int:
        """No more than the moves that it takes from here to a win, or that there is none."""
        pyramid = self._masks[shape]
        field = 0
        moves = 0
        cards = pyramid
        while cards:
            place = _lowest(cards)
            cards &= cards - 1
            field |= self._place_bit[place]
            moves += self._kings >> place & 1
        open_cards = field  # of the pyramid alone
        plain = stock & ~self._stock_kings
        cards = plain
        while cards:
            field |= self._place_bit[28 + _lowest(cards)]
            cards &= cards - 1
        if self._unlimited:
            for family in range(6):
                if self._deadline(family, field >> (8 * family) & 255) < 0:
                    return _DEAD
        elif self._is_too_late(field, plain, number, _length(plain & ((1 << w) - 1))):
            return _DEAD
        if self._deck_goal:
            cards = stock & self._stock_kings
            while cards:
                moves += 1
                cards &= cards - 1
            open_cards = field
        # Each family takes at least as many removals as the more frequent of its ranks has cards.
        ahead = stock >> w << w
        reach = 0  # one above the stock card that must at least come up in this pass
        for family in range(6):
            mask = open_cards >> (8 * family) & 255
            low = 0
            high = 0
            for i in range(4):
                low += mask >> i & 1
                high += mask >> (4 + i) & 1
            moves += max(low, high)
            if self._deck_goal or low == high:
                continue
            # Partners that the stock must give: those on the waste first, then those to be drawn.
            half = 4 if low > high else 0
            need = low - high if low > high else high - low
            have = 0
            for i in range(4):
                slot = 8 * family + half + i
                if field >> slot & 1 and self._slot_place[slot] >= 28:
                    have |= 1 << (self._slot_place[slot] - 28)
            cards = have & ~ahead
            while cards and need:
                cards &= cards - 1
                need -= 1
            cards = have & ahead
            while need and cards:
                reach = max(reach, _lowest(cards) + 1)
                cards &= cards - 1
                need -= 1
        if self._deck_goal:
            reach = _length(ahead)
        # Each card before that one is drawn, or played from the top of the stock.  The latter is
        # a removal that may have been counted, if it is with a card that was.
        cards = ahead & ((1 << reach) - 1)
        if self._stock_playable:
            if self._deck_goal:
                return moves
            cards &= ~self._wanted_by(shape)
            if reach:
                cards &= ~(1 << (reach - 1))
        while cards:
            moves += 1
            cards &= cards - 1
        return moves

    def _place(self, key: int) -> int:
        """The slot of the index where a position is, or would be entered."""
        last = self._index_slots - 1
        slot = (((key >> 20 ^ key) & 0x7FFFFFF) * _SPREAD >> 10) & last
        while self._index[slot] and self._node_key[self._index[slot]] != key:
            slot = (slot + 1) & last
        return slot

    def _grow_index(self) -> None:
        """Make the index four times larger."""
        self._index_slots *= 4
        self._index = memoryview(mmap(-1, self._index_slots * 4)).cast("I")
        for node in range(1, self._nodes + 1):
            self._index[self._place(self._node_key[node])] = node
