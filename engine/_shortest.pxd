# cython: language_level=3
#
# The C types of everything in _shortest.py; see _search.pxd.

cimport cython

from engine._search cimport Search, _length, _lowest

cdef int _GOING, _FOUND, _NONE, _NO_ROOM, _FULL, _MOST, _DEAD, _FIRST_SLOTS
cdef unsigned long long _SPREAD


cdef class ShortestSearch(Search):
    cdef bint _endless
    cdef int _last
    cdef long long _max_nodes
    cdef unsigned long long[::1] _node_key
    cdef unsigned short[::1] _node_cost
    cdef unsigned int[::1] _node_parent
    cdef unsigned int[::1] _node_move
    cdef long long _nodes
    cdef long long _max_entries
    cdef unsigned int[::1] _entry_node
    cdef unsigned int[::1] _entry_next
    cdef unsigned short[::1] _entry_cost
    cdef long long _entries
    cdef unsigned int[::1] _queue
    cdef int _least
    cdef unsigned int[::1] _index
    cdef long long _index_slots
    cdef unsigned int _stock_kings
    cdef int _outcome
    cdef long long _goal

    @cython.locals(end=cython.longlong, state=cython.int)
    cpdef int run(self, long long budget)

    @cython.locals(
        entry=cython.longlong, node=cython.longlong, key=cython.ulonglong, shape=cython.int,
        stock=cython.uint,
    )
    cdef int _carry_on(self, long long end) noexcept nogil

    @cython.locals(
        exposed=cython.uint, pyramid=cython.uint, cards=cython.uint, bit=cython.uint, a=cython.int,
        others=cython.uint, below=cython.uint, low=cython.int, b=cython.int, after=cython.int,
        high=cython.int, ahead=cython.uint, again=cython.bint, last=cython.int, left=cython.int,
        j=cython.int, draws=cython.int, turn=cython.int, end=cython.int, on_waste=cython.bint,
        before=cython.int, rest=cython.uint, under=cython.int, above=cython.uint, k=cython.int,
    )
    cdef void _unfold(
        self, int shape, unsigned int stock, int number, int w, int cost, long long node
    ) noexcept nogil

    @cython.locals(
        kings=cython.uint, key=cython.ulonglong, slot=cython.longlong, node=cython.longlong,
        rest=cython.int, total=cython.int,
    )
    cdef void _offer(
        self, int shape, unsigned long long stock, int number, int w, int cost, long long parent,
        int move,
    ) noexcept nogil

    @cython.locals(
        pyramid=cython.uint, field=cython.ulonglong, moves=cython.int, cards=cython.uint,
        place=cython.int, open_cards=cython.ulonglong, plain=cython.uint, family=cython.int,
        ahead=cython.uint, reach=cython.int, mask=cython.int, low=cython.int, high=cython.int,
        i=cython.int, half=cython.int, need=cython.int, have=cython.uint, slot=cython.int,
    )
    cdef int _estimate(self, int shape, unsigned int stock, int number, int w) noexcept nogil

    @cython.locals(last=cython.longlong, slot=cython.longlong)
    cdef long long _place(self, unsigned long long key) noexcept nogil

    @cython.locals(node=cython.longlong)
    cdef void _grow_index(self)
