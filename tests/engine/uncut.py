"""The search without any cut, in C, which knows the rules and nothing else: see uncut.c."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path

from engine.deal import PYRAMID_SIZE, Deal
from engine.position import Position
from engine.rules import Goal, Rules

SOURCE = Path(__file__).with_name("uncut.c")


class Uncut:
    """Answers by trying everything: up to a million positions and a second for a whole deal.

    Args:
        folder: where the compiled library may lie.  A compiler is needed.
    """

    def __init__(self, folder: Path) -> None:
        path = folder / "uncut.so"
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", path, SOURCE], check=True)
        library = ctypes.CDLL(str(path))
        self._winnable: Callable[..., int] = library.winnable
        self._winnable_from: Callable[..., int] = library.winnable_from
        # Through a prototype, or 64 bits of a position would be cut to 32.
        library.winnable_from.argtypes = [
            *(ctypes.c_char_p, ctypes.c_uint64, ctypes.c_int, ctypes.c_int, ctypes.c_uint64),
            ctypes.POINTER(ctypes.c_int64),
        ]

    def deal(self, deal: Deal, rules: Rules) -> bool:
        """Whether a deal can be won."""
        positions = ctypes.c_int64()
        passes, options = rules.passes or 0, _options(rules)
        return bool(self._winnable(_ranks(deal), passes, options, ctypes.byref(positions)))

    def position(self, position: Position, most: int = 0) -> bool | None:
        """Whether a position can be won; None where that takes more than ``most`` positions.

        ``most`` 0 is no limit.
        """
        rules = position.rules
        number = 1 if rules.passes is None else position.pass_number
        start = position.remaining | (position.waste_end - PYRAMID_SIZE) << 52 | number << 57
        positions = ctypes.c_int64()
        found = self._winnable_from(
            _ranks(position.deal),
            start,
            rules.passes or 0,
            _options(rules),
            most,
            ctypes.byref(positions),
        )
        return None if found < 0 else bool(found)


def _ranks(deal: Deal) -> bytes:
    return bytes(card.rank for card in deal.cards)


def _options(rules: Rules) -> int:
    return 1 * (rules.goal is Goal.DECK) + 2 * rules.stock_playable + 4 * rules.overlap
