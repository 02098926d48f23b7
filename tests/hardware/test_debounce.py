from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from hardware.debounce import Debouncer
from tests.hardware.rig import on_threads

LOCK_OUT = 0.04


def debouncer(active: bool = False) -> tuple[Debouncer, list[tuple[bool, float]]]:
    seen: list[tuple[bool, float]] = []
    return Debouncer(LOCK_OUT, active, lambda state, at: seen.append((state, at))), seen


def test_a_clean_press_and_release_count_at_once() -> None:
    contact, seen = debouncer()
    contact.edge(True, 1.0)
    contact.edge(False, 2.0)
    assert seen == [(True, 1.0), (False, 2.0)]
    assert not contact.active


def test_bouncing_counts_once_down_and_once_up() -> None:
    contact, seen = debouncer()
    for number in range(9):
        contact.edge(number % 2 == 0, 1.0 + number * 0.001)
    contact.rest(True, 1.1)
    for number in range(9):
        contact.edge(number % 2 == 1, 2.0 + number * 0.001)
    contact.rest(False, 2.1)
    assert seen == [(True, 1.0), (False, 2.0)]


def test_a_storm_of_ten_thousand_edges_in_a_second_is_one_press() -> None:
    contact, seen = debouncer()
    for number in range(10_000):
        contact.edge(number % 2 == 0, 5.0 + number / 10_000)
        # Time is looked at all the while, and the level is whatever it is just then.
        contact.rest(number % 3 == 0, 5.0 + number / 10_000)
    contact.rest(True, 6.1)
    assert seen == [(True, 5.0)]


def test_after_a_storm_the_level_it_came_to_rest_at_counts() -> None:
    contact, seen = debouncer()
    for number in range(10_000):
        contact.edge(number % 2 == 0, 5.0 + number / 10_000)
    last = contact.last_edge
    contact.rest(False, last + LOCK_OUT * 0.99)
    assert seen == [(True, 5.0)]
    contact.rest(False, last + LOCK_OUT * 1.01)
    assert seen == [(True, 5.0), (False, last + LOCK_OUT * 1.01)]


def test_a_press_shorter_than_the_lock_out_is_released_after_it() -> None:
    contact, seen = debouncer()
    contact.edge(True, 1.0)
    contact.edge(False, 1.01)
    contact.rest(False, 1.03)
    assert seen == [(True, 1.0)]
    contact.rest(False, 1.06)
    assert seen == [(True, 1.0), (False, 1.06)]


def test_an_edge_that_nobody_reported_is_made_good() -> None:
    contact, seen = debouncer()
    contact.rest(True, 3.0)
    assert seen == [(True, 3.0)]


def test_a_clock_that_goes_back_shortens_no_lock_out() -> None:
    contact, seen = debouncer()
    contact.edge(True, 10.0)
    contact.edge(False, 9.0)
    contact.edge(False, 10.02)
    assert seen == [(True, 10.0)]
    assert contact.last_edge == 10.02


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 0.2)), max_size=60), st.booleans())
def test_states_alternate_are_apart_and_end_where_the_contact_is(
    edges: list[tuple[bool, float]], first: bool
) -> None:
    contact, seen = debouncer(first)
    now, level = 100.0, first
    for level, pause in edges:
        now += pause
        contact.edge(level, now)
    contact.rest(level, now + 1)
    states = [first, *(state for state, _at in seen)]
    assert all(a is not b for a, b in itertools.pairwise(states))
    times = [at for _state, at in seen]
    assert all(b - a >= LOCK_OUT - 1e-9 for a, b in itertools.pairwise(times))
    assert contact.active is level


def test_two_threads_never_count_a_change_twice() -> None:
    contact, seen = debouncer()

    def edges() -> None:
        for number in range(5_000):
            contact.edge(number % 2 == 0, number * 0.05)

    def looks() -> None:
        for number in range(5_000):
            contact.rest(number % 2 == 1, number * 0.05)

    on_threads(edges, looks)
    states = [False, *(state for state, _at in seen)]
    assert len(states) > 1
    assert all(a is not b for a, b in itertools.pairwise(states))
