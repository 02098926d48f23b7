"""The loop, compiled and interpreted: the same positions, in portions of any size."""

from __future__ import annotations

import importlib.util
import sys
from itertools import pairwise
from pathlib import Path
from random import Random
from types import ModuleType

import pytest

import engine._search
from engine import _cython_shim
from engine.deal import Deal
from engine.position import Position
from engine.rules import PRESETS, Rules
from tests.engine.differential import SOURCE, interpreted_loop, outcome, search_of
from tests.engine.oracle import ALL_RULES, random_position


@pytest.fixture(scope="module")
def interpreted() -> ModuleType:
    return interpreted_loop()


def test_the_interpreted_copy_is_interpreted(interpreted: ModuleType) -> None:
    assert interpreted.COMPILED is False
    assert interpreted.Search is not engine._search.Search


@pytest.mark.skipif(not engine._search.COMPILED, reason="there is only the interpreted loop")
def test_a_compiled_loop_is_not_older_than_its_source() -> None:
    """The compiled file wins over the source beside it: `make` rebuilds it, `pytest` does not."""
    built = Path(engine._search.__file__).stat().st_mtime
    for path in (SOURCE, SOURCE.with_suffix(".pxd")):
        assert path.stat().st_mtime <= built, f"{path.name} was changed: run make venv"


@pytest.mark.parametrize("rules", ALL_RULES, ids=str)
def test_both_look_at_the_same_positions_of_small_games(
    interpreted: ModuleType, rules: Rules
) -> None:
    rng = Random(str(rules))
    for _ in range(25):
        position = random_position(rng, rules, pyramid=rng.randint(1, 20), stock=rng.randint(1, 20))
        assert outcome(engine._search, position) == outcome(interpreted, position), str(position)


@pytest.mark.parametrize("preset", PRESETS)
def test_both_look_at_the_same_positions_of_deals(interpreted: ModuleType, preset: str) -> None:
    compared = 0
    for number in range(1, 40):
        position = Position(Deal.from_number(number), PRESETS[preset])
        if (found := outcome(engine._search, position))[1] < 1_500:
            assert found == outcome(interpreted, position)
            compared += found[1] > 20  # beyond what shows at once
    assert compared > 1


@pytest.mark.parametrize("portion", [1, 7, 1000])
def test_a_table_that_grows_between_portions_loses_nothing(portion: int) -> None:
    """Deal 7 takes 23,219 positions of three passes, for which the table grows three times."""
    position = Position(Deal.from_number(7), PRESETS["three-pass"])
    assert outcome(engine._search, position, portion) == outcome(engine._search, position)


def test_no_call_works_on_beyond_its_portion() -> None:
    """Growing is spread over calls: the table is looked at again only when it has grown."""
    search = search_of(engine._search, Position(Deal.from_number(7), PRESETS["three-pass"]))
    counts = [0]
    while search.run(100) == engine._search.RUNNING:
        counts.append(search.positions)
    steps = [after - before for before, after in pairwise(counts)]
    assert max(steps) == 100
    assert steps.count(0) > 10  # calls that only moved entries


def test_a_table_of_many_pages_holds_what_a_small_one_does(interpreted: ModuleType) -> None:
    large = interpreted._new_table(1 << 16)
    assert len(large) == len(interpreted._new_table(1 << 10)) * 64
    assert not any(large)
    large[7] = 2**64 - 1
    assert large[7] == 2**64 - 1


@pytest.mark.parametrize("max_slots", [1024, 4095])
def test_a_table_that_may_not_grow_ends_the_search(max_slots: int) -> None:
    position = Position(Deal.from_number(7), PRESETS["three-pass"])
    search = search_of(engine._search, position, max_slots=max_slots)
    assert search.run(10**9) == engine._search.OUT_OF_MEMORY
    assert 512 < search.positions < 1024
    assert search.run(10**9) == engine._search.OUT_OF_MEMORY


def test_the_shim_is_what_the_loop_asks_for_when_cython_is_not_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "cython", None)  # an import of it fails
    spec = importlib.util.spec_from_file_location("engine._search_without_cython", SOURCE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.cython is _cython_shim
    position = Position(Deal.from_number(1), PRESETS["three-pass"])
    assert outcome(module, position) == outcome(engine._search, position)
