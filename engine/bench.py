"""Measures the solver: on fixed deals, beside its interpreted self, beside plain C, and as a hint.

Invariant: times are processor time of this process, so that other programs on the machine hardly
count; ratios come from one run on one machine, the shortest of several times on both sides.
"""

from __future__ import annotations

import ctypes
import importlib.util
import shutil
import subprocess
from collections.abc import Callable
from math import ceil
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import process_time
from types import ModuleType
from typing import Any, Final

from engine import _search
from engine.advice import advise
from engine.deal import Deal
from engine.pool import Pool
from engine.position import FULL_MASK, Position
from engine.rules import Goal, Rules
from engine.solver import CHUNK, decide

#: What the compiled loop is measured against; see there.
BASELINE: Final = Path(__file__).parent / "data" / "hashing.c"

#: Keys entered into the memo table: as many as it takes to let it grow to 32 MB.
KEYS: Final = 1_500_000


def deal_times(rules: Rules, deals: int, limit: int | None = None) -> dict[str, Any]:
    """Decide deals 1, 2, 3, …; return what it took, times in milliseconds."""
    counts = []
    times = []
    wins = undecided = 0
    for number in range(1, deals + 1):
        start = process_time()
        solution = decide(Position(Deal.from_number(number), rules), limit=limit)
        times.append(1000 * (process_time() - start))
        counts.append(solution.positions)
        wins += solution.winnable is True
        undecided += solution.winnable is None
    return {
        "deals": deals,
        "winnable": wins,
        "undecided": undecided,
        "positions": sum(counts),
        "average": round(sum(counts) / deals, 1),
        "worst": max(counts),
        "ms_per_deal": round(sum(times) / deals, 3),
        "ms_median": round(_share(times, 0.5), 3),
        "ms_p99": round(_share(times, 0.99), 3),
        "ms_worst": round(max(times), 3),
        "positions_per_second": round(1000 * sum(counts) / sum(times)),
    }


def hint_times(preset: str, games: int, seed: int = 1) -> dict[str, Any]:
    """Leave the pool's winning line, and ask for advice; return times in milliseconds.

    Each game goes along the line to a random place, takes up to three random moves from there, and
    asks what a visitor's hint asks: can it be won, and if not, since when?
    """
    rng = Random(seed)
    times = []
    with Pool.open() as pool:
        for _ in range(games):
            found = pool.deal(preset, rng.randrange(pool.count(preset)))
            history = [Position(found.deal, found.rules)]
            on_line = rng.randrange(len(found.line))
            for move in found.line[:on_line]:
                history.append(history[-1].play(move))
            for _turn in range(rng.randint(1, 3)):
                if history[-1].legal_moves:
                    history.append(history[-1].play(rng.choice(history[-1].legal_moves)))
            start = process_time()
            advise(history, winnable_at=on_line)
            times.append(1000 * (process_time() - start))
    return {
        "hints": games,
        "ms_median": round(_share(times, 0.5), 3),
        "ms_p99": round(_share(times, 0.99), 3),
        "ms_worst": round(max(times), 3),
    }


def pool_times(draws: int, seed: int = 1) -> dict[str, Any]:
    """Open the shipped pool and draw from it; times in milliseconds."""
    start = process_time()
    pool = Pool.open()
    opened = 1000 * (process_time() - start)
    rng = Random(seed)
    times = []
    with pool:
        for preset in pool.presets:
            seen: list[int] = []
            pool.draw(preset, rng, seen)  # the first one reads the list of numbers
            for _ in range(draws):
                start = process_time()
                pool.draw(preset, rng, seen)
                times.append(1000 * (process_time() - start))
    return {
        "ms_open": round(opened, 3),
        "draws": len(times),
        "ms_median": round(_share(times, 0.5), 3),
        "ms_p99": round(_share(times, 0.99), 3),
    }


def _share(values: list[float], share: float) -> float:
    return sorted(values)[max(0, ceil(share * len(values)) - 1)]


# -- ratios -----------------------------------------------------------------------------------


def interpreted_ratio(rules: Rules, deals: int) -> float | None:
    """How many times as long the interpreted loop takes; None if there is no compiled one."""
    if not _search.COMPILED:
        return None
    plain = interpreted_search()
    positions = [Position(Deal.from_number(number), rules) for number in range(1, deals + 1)]
    slow = _shortest_of(1, lambda: _run_all(plain, positions))
    fast = _shortest_of(3, lambda: _run_all(_search, positions))
    return slow / fast


def interpreted_search() -> ModuleType:
    """The source of the loop, loaded as plain Python."""
    source = Path(__file__).with_name("_search.py")
    spec = importlib.util.spec_from_file_location("engine._search_interpreted", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _run_all(module: ModuleType, positions: list[Position]) -> None:
    for position in positions:
        search = _search_of(module, position.deal, position.rules)
        while search.run(CHUNK) == module.RUNNING:
            pass


def _search_of(module: ModuleType, deal: Deal, rules: Rules) -> Any:
    return module.Search(
        tuple(card.rank for card in deal.cards),
        FULL_MASK,
        0,
        None if rules.passes is None else rules.passes - 1,
        deck_goal=rules.goal is Goal.DECK,
        stock_playable=rules.stock_playable,
        overlap=rules.overlap,
        max_slots=1 << 24,
    )


def c_ratio(keys: int = KEYS) -> float | None:
    """How many times as long as plain C the memo table takes; None without a C compiler.

    Raises:
        AssertionError: the two do not agree.
    """
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        return None
    with TemporaryDirectory() as folder:
        path = Path(folder) / "hashing.so"
        command = [compiler, "-O2", "-shared", "-fPIC", "-o", str(path), str(BASELINE)]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            return None
        fill = ctypes.CDLL(str(path)).fill
    fill.restype = ctypes.c_int64
    fill.argtypes = [ctypes.c_int64]
    deal = Deal.from_number(1)

    def ours() -> None:
        assert _search_of(_search, deal, Rules()).fill(keys) == different

    different = fill(keys)
    return _shortest_of(5, ours) / _shortest_of(5, lambda: fill(keys))


def _shortest_of(times: int, work: Callable[[], object]) -> float:
    taken = []
    for _ in range(times):
        start = process_time()
        work()
        taken.append(process_time() - start)
    return min(taken)
