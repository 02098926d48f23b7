"""The shapes of the pyramid: exactly 1,430, counted through the engine's own idea of exposed."""

from __future__ import annotations

import random
from math import comb

from engine._shapes import SHAPE_COUNT, shape_tables
from engine.deal import PYRAMID_SIZE, Deal
from engine.position import PYRAMID_MASK, Position
from engine.rules import Rules

DEAL = Deal.from_number(1)


def exposed_places(mask: int) -> list[int]:
    position = Position(DEAL, Rules(), mask)
    return [place for place in range(PYRAMID_SIZE) if position.is_exposed(place)]


def reachable_shapes() -> set[int]:
    """The sets of places that removing exposed cards one by one leaves."""
    shapes = set()
    todo = [PYRAMID_MASK]
    while todo:
        mask = todo.pop()
        if mask not in shapes:
            shapes.add(mask)
            todo += [mask ^ 1 << place for place in exposed_places(mask)]
    return shapes


def test_exactly_1430_shapes_are_reachable() -> None:
    shapes = reachable_shapes()
    assert len(shapes) == SHAPE_COUNT == 1430
    assert {0, PYRAMID_MASK} <= shapes


def test_they_are_as_many_as_the_staircase_walks_of_catalan() -> None:
    """Row by row the pyramid's left columns form staircases: the eighth Catalan number."""
    assert comb(16, 8) // 9 == SHAPE_COUNT


def test_the_tables_say_what_the_engine_says() -> None:
    tables = shape_tables()
    assert set(tables.number_of) == reachable_shapes()
    assert (tables.number_of[0], tables.number_of[PYRAMID_MASK]) == (0, 1429)
    for mask, number in tables.number_of.items():
        assert tables.masks[number] == mask
        exposed = exposed_places(mask)
        assert [p for p in range(PYRAMID_SIZE) if tables.exposed[number] >> p & 1] == exposed
        for place in range(PYRAMID_SIZE):
            after = tables.after[number * PYRAMID_SIZE + place]
            if place in exposed:
                assert tables.masks[after] == mask ^ (1 << place)
            else:
                assert after == 0xFFFF


def test_below_is_what_every_way_to_a_place_removes() -> None:
    """A place is never exposed while a card of ``below`` lies there, and needs no other to go."""
    tables = shape_tables()
    for place in range(PYRAMID_SIZE):
        waiting = tables.below[place]
        assert exposed_places(PYRAMID_MASK & ~waiting).count(place) == 1
        for other in range(PYRAMID_SIZE):
            if waiting >> other & 1:
                alone = (1 << place) | (1 << other)
                closed = alone | tables.above[place] | tables.above[other]
                assert place not in exposed_places(closed)
            assert bool(tables.above[other] >> place & 1) == bool(tables.below[place] >> other & 1)
            assert bool(tables.covered[other] >> place & 1) == bool(
                tables.covers[place] >> other & 1
            )


def test_random_play_stays_within_the_shapes() -> None:
    rng = random.Random(5)
    shapes = shape_tables().number_of
    for number in range(1, 30):
        position = Position(Deal.from_number(number), Rules(stock_playable=True, overlap=True))
        while moves := position.legal_moves:
            position = position.play(rng.choice(moves))
            assert position.remaining & PYRAMID_MASK in shapes
