"""The touch in the corners opens the service menu, and nothing else does."""

from __future__ import annotations

from random import Random

import pytest

from kiosk.gesture import CornerGesture, Step

WIDTH, HEIGHT = 800, 480
CORNERS = [(10, 470), (790, 470), (790, 10), (10, 10)]


class Hand:
    """One hand on one screen."""

    def __init__(self) -> None:
        self.gesture = CornerGesture(WIDTH, HEIGHT, 78)
        self.now = 100.0
        self.count = 0

    def touch(self, x: float, y: float, held: float = 0.1, after: float = 0.5) -> tuple[Step, Step]:
        self.now += after
        self.count += 1
        down = self.gesture.down(self.count, x, y, self.now)
        self.now += held
        return down, self.gesture.up(self.count, x, y, self.now)


def test_a_hold_and_three_taps_open() -> None:
    hand = Hand()
    assert hand.touch(*CORNERS[0], held=2.0) == (Step.NOTHING, Step.TAKEN)
    assert hand.touch(*CORNERS[1]) == (Step.TAKEN, Step.TAKEN)
    assert hand.touch(*CORNERS[2]) == (Step.TAKEN, Step.TAKEN)
    assert hand.touch(*CORNERS[3]) == (Step.TAKEN, Step.OPEN)
    # And it can be made again.
    hand.touch(*CORNERS[0], held=9.0)
    assert [hand.touch(*corner)[1] for corner in CORNERS[1:]][-1] is Step.OPEN


@pytest.mark.parametrize(
    "touches",
    [
        [(*CORNERS[0], 1.9), *CORNERS[1:]],  # not held long enough
        [*CORNERS],
        [(*CORNERS[0], 2), CORNERS[3], CORNERS[2], CORNERS[1]],  # the other way round
        [(*CORNERS[0], 2), CORNERS[1], (400, 240), CORNERS[2], CORNERS[3]],
        [(*CORNERS[0], 2), CORNERS[1], CORNERS[1], CORNERS[2], CORNERS[3]],
        [(*CORNERS[0], 2), CORNERS[1], (*CORNERS[2], 0.1, 3.1), CORNERS[3]],  # too slow
        [(*CORNERS[0], 2), CORNERS[1], (*CORNERS[2], 3.1), CORNERS[3]],  # held
        [(200, 470, 2), *CORNERS[1:]],
    ],
)
def test_anything_else_does_not(touches: list[tuple[float, ...]]) -> None:
    hand = Hand()
    assert Step.OPEN not in {step for touch in touches for step in hand.touch(*touch)}


def test_a_finger_that_slides_away_does_not_count() -> None:
    hand = Hand()
    hand.gesture.down(1, *CORNERS[0], 0.0)
    assert hand.gesture.up(1, 300, 300, 3.0) is Step.NOTHING
    hand.now = 3.0
    assert hand.touch(*CORNERS[1]) == (Step.NOTHING, Step.NOTHING)


def test_a_second_finger_spoils_it() -> None:
    hand = Hand()
    hand.gesture.down("a", *CORNERS[0], 0.0)
    hand.gesture.down("b", *CORNERS[1], 1.0)
    assert hand.gesture.up("a", *CORNERS[0], 3.0) is Step.NOTHING
    assert hand.gesture.up("b", *CORNERS[1], 3.1) is Step.NOTHING


def test_a_finger_whose_device_went_away_is_forgotten() -> None:
    hand = Hand()
    hand.gesture.down("lost", 400, 240, hand.now)
    hand.now += 61
    hand.touch(*CORNERS[0], held=2.0)
    assert [hand.touch(*corner)[1] for corner in CORNERS[1:]][-1] is Step.OPEN


def test_a_touch_on_the_table_is_never_taken() -> None:
    hand, rng = Hand(), Random(5)
    for _ in range(2000):
        x, y = rng.uniform(100, 700), rng.uniform(100, 380)
        assert hand.touch(x, y, held=rng.uniform(0, 4)) == (Step.NOTHING, Step.NOTHING)


@pytest.mark.parametrize("seed", range(5))
def test_an_hour_of_random_touches_does_not_open(seed: int) -> None:
    rng, hand = Random(seed), Hand()
    opened = 0
    while hand.now < 3700:
        steps = hand.touch(
            rng.uniform(0, WIDTH),
            rng.uniform(0, HEIGHT),
            held=rng.choice((0.1, 0.2, 0.5, 2.5)),
            after=rng.uniform(0.02, 0.6),
        )
        opened += Step.OPEN in steps
    assert hand.count > 2000
    assert opened == 0


@pytest.mark.parametrize("seed", range(5))
def test_an_hour_of_touches_in_the_corners_alone_seldom_opens(seed: int) -> None:
    # Even who knows that it is the corners has to know which, how long, and in which order.
    rng, hand = Random(seed), Hand()
    opened = 0
    while hand.now < 3700:
        held = rng.choice((0.1, 0.1, 0.1, 2.5))
        opened += Step.OPEN in hand.touch(*rng.choice(CORNERS), held=held, after=0.5)
    assert opened < 20
