# cython: language_level=3
#
# The C types of everything in _search.py.  Without Cython nobody reads this file; with it, a name
# that is missing here is a Python object, and the compiler refuses it wherever the interpreter's
# lock is not held.  What is declared here cannot be seen from Python, unless it says so.

cimport cython

cdef int _RUNNING, _WON, _LOST, _OUT_OF_MEMORY, _FULL
cdef int _NEVER, _ALWAYS, _UNKNOWN
cdef int _FAMILIES, _MAX_DEPTH, _MAX_STACK, _FIRST_SLOTS, _LARGE, _MOVES
cdef unsigned long long _KEY, _SPREAD, _LOW

cdef unsigned char[::1] _BIT
cdef unsigned char[::1] _LENGTH

cdef int _lowest(unsigned int mask) noexcept nogil
cdef int _length(unsigned int mask) noexcept nogil


cdef class Search:
    cdef const unsigned int[::1] _masks
    cdef const unsigned int[::1] _exposed
    cdef const unsigned short[::1] _after
    cdef const unsigned int[::1] _covers
    cdef const unsigned int[::1] _covered
    cdef const unsigned int[::1] _below
    cdef const unsigned int[::1] _above

    cdef bint _deck_goal
    cdef bint _stock_playable
    cdef bint _overlap
    cdef bint _unlimited
    cdef int _last_pass
    cdef long long _max_slots

    cdef unsigned char[::1] _ranks
    cdef unsigned int _kings
    cdef unsigned char[::1] _place_family
    cdef unsigned long long[::1] _place_bit
    cdef unsigned char[::1] _slot_place
    cdef unsigned int[::1] _family_stock
    cdef unsigned int[::1] _pyramid_partners
    cdef unsigned int[::1] _stock_partners
    cdef short[::1] _deadlines
    cdef unsigned int[::1] _wanted

    cdef unsigned long long[::1] _table
    cdef unsigned long long[::1] _old
    cdef long long _slots
    cdef long long _used
    cdef long long _to_move
    cdef unsigned long long _chance
    cdef readonly long long positions

    cdef unsigned long long[::1] _stack_field
    cdef unsigned short[::1] _stack_shape
    cdef unsigned int[::1] _stack_stock
    cdef short[::1] _stack_time
    cdef unsigned short[::1] _stack_move
    cdef unsigned char[::1] _stack_depth
    cdef unsigned short[::1] _path
    cdef int _top
    cdef int _depth
    cdef int _state

    @cython.locals(
        family=cython.int, high=cython.int, rank=cython.int, slot=cython.int, place=cython.int,
        other=cython.int, bit=cython.ulonglong,
    )
    cdef void _read_ranks(self) noexcept nogil

    @cython.locals(
        cards=cython.int, j=cython.int, time=cython.int, field=cython.ulonglong, left=cython.uint,
        place=cython.int,
    )
    cdef int _start(
        self, int shape, unsigned int stock, int waste_end, int redeals
    ) noexcept nogil

    @cython.locals(kings=cython.uint)
    cdef int _without_kings(self, int shape) noexcept nogil

    cdef bint _is_won(self, int shape, unsigned long long field) noexcept nogil

    @cython.locals(
        known=cython.int, base=cython.int, pyramid=cython.uint, stock=cython.uint, i=cython.int,
        k=cython.int, place=cython.int, best=cython.int, a=cython.int, b=cython.int,
        play=cython.int, rest=cython.int,
    )
    cdef int _deadline(self, int family, int mask) noexcept nogil

    @cython.locals(waiting=cython.uint, i=cython.int, j=cython.int)
    cdef int _play_time(
        self, unsigned int pyramid, unsigned int stock, int low, int high
    ) noexcept nogil

    @cython.locals(number=cython.int)
    cdef int _latest(self, int rest, int play) noexcept nogil

    @cython.locals(end=cython.longlong, state=cython.int)
    cpdef int run(self, long long budget)

    @cython.locals(
        top=cython.int, shape=cython.ulonglong, stock=cython.uint, time=cython.ulonglong,
        key=cython.ulonglong, slot=cython.longlong, entry=cython.ulonglong, depth=cython.int,
    )
    cdef int _loop(self, long long end) noexcept nogil

    @cython.locals(last=cython.longlong, slot=cython.longlong)
    cdef long long _slot(self, unsigned long long key) noexcept nogil

    @cython.locals(size=cython.longlong)
    cdef bint _grow(self)

    @cython.locals(stop=cython.longlong, entry=cython.ulonglong)
    cdef bint _move(self, long long budget) noexcept nogil

    @cython.locals(
        base=cython.int, exposed=cython.uint, pyramid=cython.uint, number=cython.int, w=cython.int,
        ahead=cython.uint, playable=cython.uint, cards=cython.uint, now=cython.uint,
        turn=cython.int, part=cython.uint, upper=cython.uint, j=cython.int, left=cython.uint,
        above=cython.uint, k=cython.int, under=cython.uint, i=cython.int, others=cython.uint,
        a=cython.int, after=cython.int, bit=cython.uint, below=cython.uint, low=cython.int,
        high=cython.int, b=cython.int,
    )
    cdef bint _expand(
        self, int shape, unsigned int stock, unsigned long long field, int time, int depth
    ) noexcept nogil

    @cython.locals(
        turn=cython.int, one=cython.int, other=cython.int, partners=cython.uint, apart=cython.uint
    )
    cdef bint _is_forced(
        self, int a, int b, unsigned int pyramid, unsigned int stock
    ) noexcept nogil

    @cython.locals(family=cython.int, out=cython.uint)
    cdef bint _try(
        self, int shape, unsigned int stock, unsigned long long field, int number, int w,
        int played, int low, int high, int depth,
    ) noexcept nogil

    @cython.locals(
        waste=cython.uint, family=cython.int, mask=cython.int, deadline=cython.int,
        left=cython.int, under=cython.uint,
    )
    cdef bint _is_too_late(
        self, unsigned long long field, unsigned int stock, int number, int w
    ) noexcept nogil

    @cython.locals(waste=cython.uint, lonely=cython.uint, comes=cython.uint, j=cython.int)
    cdef unsigned int _out_of_reach(self, int shape, unsigned int stock, int w) noexcept nogil

    @cython.locals(wanted=cython.uint, cards=cython.uint)
    cdef unsigned int _wanted_by(self, int shape) noexcept nogil

    @cython.locals(top=cython.int)
    cdef void _push(
        self, int shape, unsigned int stock, unsigned long long field, int time, int move,
        int depth,
    ) noexcept nogil

    @cython.locals(todo=cython.longlong)
    cpdef long long fill(self, long long count)

    @cython.locals(
        key=cython.ulonglong, time=cython.ulonglong, slot=cython.longlong,
        entry=cython.ulonglong,
    )
    cdef long long _fill(self, long long count, unsigned long long chance) noexcept nogil
