"""A short walk of the monkey, and that it would notice: ``make monkey`` goes a long way."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kiosk.commands import Panel
from kiosk.session import Session
from tests.monkey.run import DEALS_EVERY, MOST, ROOM, grown, leaks, run, shrunk, signature
from tests.monkey.soak import days, soak

pytest.importorskip("kivy")


def test_some_hundred_inputs_do_no_harm(kivy_window: Any) -> None:
    told = run(kivy_window, DEALS_EVERY, seed=11, looks=4)
    assert told["failure"] is None, (told["failure"], told["trail"])
    assert sum(told["touches_to_a_new_deal"].values()) == 1
    assert told["inputs_given"] == DEALS_EVERY
    assert len(told["panels"]) > 2
    assert len(told["samples"]) == 4


def test_what_goes_wrong_is_found_and_comes_again(
    kivy_window: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.monkey.rig import replayed

    handle = Session._draw

    def forgets_its_cards(self: Session) -> Any:
        if self.moves_played == 2 and not self.attract:
            raise KeyError("the third card")
        return handle(self)

    monkeypatch.setattr(Session, "_draw", forgets_its_cards)
    few = [["tap", 400.0, 240.0], *[["key", ord("d"), []], ["key_up", ord("d")]] * 3]
    error = replayed(kivy_window, 3, few)
    assert error is not None
    assert signature(error) == "KeyError: 'the third card' in session.py:_carry_out"
    assert replayed(kivy_window, 3, few[:-2]) is None


def test_a_broken_table_is_noticed(kivy_window: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.monkey.rig import BrokenError, replayed

    # A panel that is not shown is as bad as one that does not go away.
    monkeypatch.setattr("kiosk.screens.PanelHost.update", lambda _self, _session: None)
    error = replayed(kivy_window, 3, [["tap", 400.0, 240.0], ["key", ord("m"), []]])
    assert isinstance(error, BrokenError)
    assert "menu" in str(error).lower()


def test_what_it_leaves_out_is_drawn_again_afterwards(kivy_window: Any) -> None:
    from kiosk import faces, table
    from tests.monkey.rig import Rig

    whole = faces._drawn, table.Faces, table.Table._draw
    rig = Rig(kivy_window, 3)
    try:
        assert faces._drawn is not whole[0]
        assert table.Faces is not whole[1]
        assert table.Table._draw is not whole[2]
    finally:
        rig.close()
    assert (faces._drawn, table.Faces, table.Table._draw) == whole


@pytest.mark.parametrize(
    ("corners", "touches"), [(["up", "right", "down"], 4), (["right", "down"], 2)]
)
def test_a_new_deal_that_is_the_last_corner_of_the_gesture_takes_one_touch_more(
    kivy_window: Any, corners: list[str], touches: int
) -> None:
    from tests.monkey.rig import Rig

    places = {"up": (3.0, 797.0), "right": (477.0, 797.0), "down": (477.0, 3.0)}
    rig = Rig(kivy_window, 3)
    try:
        # Upright, New deal lies in the lower left corner.
        rig.do(["size", 480, 800])
        for given in [["tap", 240.0, 400.0], *[["key", ord("d"), []], ["key_up", ord("d")]] * 4]:
            rig.do(given)
        for corner in corners:
            x, y = places[corner]
            rig.do(["down", 0, x, y])
            rig.do(["wait", 2.2 if corner == "up" else 0.1])
            rig.do(["up", 0])
        assert rig.new_deal(MOST) == touches
    finally:
        rig.close()


@pytest.mark.parametrize("needed", [[3], [3, 77], [0, 50, 99], [98, 99]])
def test_what_is_not_needed_is_left_out(needed: list[int]) -> None:
    def fails(some: Sequence[int]) -> bool:
        return set(needed) <= set(some)

    assert shrunk(range(100), fails) == needed


@pytest.mark.parametrize("minutes", [3, pytest.param(60, marks=pytest.mark.slow)])
def test_children_do_not_get_past_the_pin_by_touch(kivy_window: Any, minutes: int) -> None:
    from tests.monkey.monkey import Monkey
    from tests.monkey.rig import Rig

    rig = Rig(kivy_window, 5)
    monkey = Monkey(rig, Random(minutes), people=True)
    end = rig.now + 60 * minutes
    opened = 0
    try:
        while rig.now < end:
            for given in monkey.break_in():
                rig.do(given)
                assert rig.session.service is None or not rig.session.service.may_change
            opened += rig.session.panel is Panel.SERVICE
            assert (rig.desk.started, rig.desk.changed) == ([], {})
    finally:
        rig.close()
    assert opened > minutes, "they know the way to the page"
    # Three at once, then after 30 s, a minute, two ... a quarter of an hour.
    assert 3 <= rig.desk.checked <= 3 + 5 + minutes // 15


def sample(**more: int) -> dict[str, int]:
    return {**dict.fromkeys(ROOM, 1_000), **more}


def test_what_goes_on_growing_is_told_from_what_is_filled_once() -> None:
    filled = [sample(objects=min(50_000, n * 5_000)) for n in range(40)]
    assert leaks(filled) == {}
    leak = [sample(objects=n * 500, threads=1) for n in range(40)]
    assert leaks(leak) == {"objects": 10_000}
    assert leaks([sample(events=n) for n in range(40)]) == {"events": 20}
    assert leaks([sample(frame_us=8_000 + n * 150) for n in range(40)]) == {"frame_us": 3_000}
    assert grown([sample()]) == {}


def test_some_hours_of_a_museum_in_virtual_time(kivy_window: Any, tmp_path: Path) -> None:
    told = days(kivy_window, 0.025, 3, tmp_path / "days.csv", a_day=80, say=lambda _text: None)
    assert told["visitors"] > 0
    assert told["samples"] == 2
    lines = (tmp_path / "days.csv").read_text().splitlines()
    assert lines[0].startswith("hours,resident_kib,objects")
    assert len(lines) == 3
    computed = lines[0].split(",").index("frame_us")
    assert all(float(line.split(",")[computed]) > 0 for line in lines[1:])


def test_some_seconds_of_real_time(kivy_window: Any, tmp_path: Path) -> None:
    told = soak(kivy_window, 3 / 3600, 3, tmp_path / "soak.csv", every=0.5, say=lambda _text: None)
    assert told["samples"] > 0
    assert told["inputs"] > 0


def test_fonts_are_not_counted_and_kivy_keeps_no_more_than_its_64(kivy_window: Any) -> None:
    from kivy.core.text import Label

    from kiosk.theme import FONT_REGULAR
    from tests.monkey.rig import open_files

    before = open_files()
    for size in range(10, 110):
        Label(text="13", font_size=size, font_name=FONT_REGULAR).refresh()
    assert open_files() == before
    assert len(os.listdir("/proc/self/fd")) - before < 70  # noqa: PTH208 - names are enough
