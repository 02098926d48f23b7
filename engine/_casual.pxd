# cython: language_level=3
#
# The C types of everything in _casual.py; see _search.pxd.

cimport cython

cdef unsigned long long _MASK32, _ODD
cdef int _OVERLOOKS


cdef class CasualTable:
    cdef const unsigned int[::1] _masks
    cdef const unsigned int[::1] _exposed
    cdef const unsigned short[::1] _after
    cdef const unsigned int[::1] _covers
    cdef unsigned char[::1] _ranks
    cdef unsigned int[::1] _places
    cdef int _passes
    cdef bint _deck_goal
    cdef bint _stock_playable
    cdef bint _overlap
    cdef int _full
    cdef unsigned long long _chance
    cdef int _found
    cdef int _best
    cdef int _low
    cdef int _high

    @cython.locals(won=cython.longlong, i=cython.longlong)
    cpdef long long wins(self, unsigned long long seed, long long games)

    @cython.locals(x=cython.ulonglong)
    cdef int _random(self, int bound) noexcept nogil

    @cython.locals(
        x=cython.ulonglong, _turn=cython.int, shape=cython.int, stock=cython.uint, w=cython.int,
        turns=cython.int, removed=cython.bint, ahead=cython.uint, top=cython.int, up=cython.int,
        kings=cython.uint, place=cython.int, more=cython.bint, low=cython.int, high=cython.int,
    )
    cdef int _play(self, unsigned long long seed) noexcept nogil

    cdef int _waste_end(self, unsigned int stock, int w) noexcept nogil

    @cython.locals(exposed=cython.uint, cards=cython.uint, place=cython.int, others=cython.uint)
    cdef void _look(self, int shape, int top, int up, bint hasty) noexcept nogil

    @cython.locals(other=cython.int, low=cython.int, high=cython.int, left=cython.int)
    cdef void _consider(self, int shape, int place, unsigned int others, bint hasty) noexcept nogil

    @cython.locals(shown=cython.uint, worth=cython.int)
    cdef int _worth(self, int before, int after, int cards) noexcept nogil

    cdef void _offer(self, int low, int high, int worth, bint hasty) noexcept nogil
