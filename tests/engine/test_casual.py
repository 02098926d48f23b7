"""The casual player's loop: compiled and interpreted alike, and true to the game."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import engine._casual
from engine._casual import CasualTable
from engine.deal import Deal
from engine.position import DRAW, REDEAL, Move, Outcome, Position
from engine.rules import PRESETS, Goal, Rules
from tests.engine.oracle import ALL_RULES

SOURCE = Path(engine._casual.__file__).parent / "_casual.py"
HASTE = 8  # of so many pairs one is overlooked


@pytest.fixture(scope="module")
def interpreted() -> ModuleType:
    """The source of the loop, loaded as plain Python under another name."""
    spec = importlib.util.spec_from_file_location("engine._casual_interpreted", SOURCE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def table_of(module: Any, deal: Deal, rules: Rules) -> Any:
    return module.CasualTable(
        tuple(card.rank for card in deal.cards),
        rules.passes,
        deck_goal=rules.goal is Goal.DECK,
        stock_playable=rules.stock_playable,
        overlap=rules.overlap,
    )


class Chance:
    """The same chance as the loop's, written anew from its description."""

    def __init__(self, seed: int) -> None:
        x = seed
        for _ in range(2):
            x = ((x >> 16 ^ x) * 0x45D9F3B) % 2**32
        self.state = (x >> 16 ^ x) | 1

    def below(self, bound: int) -> int:
        x = self.state
        x ^= x << 13 & 0xFFFFFFFF
        x ^= x >> 17
        x ^= x << 5 & 0xFFFFFFFF
        self.state = x
        return x * bound >> 32


def worth(position: Position, places: tuple[int, int]) -> int:
    """What the player likes: pyramid cards gone count 8 each, cards that come free 1."""
    move = Move.remove(*(position.deal.cards[place] for place in places))
    after = position.play(move)

    def exposed(p: Position) -> set[int]:
        return {place for place in range(28) if p.is_exposed(place)}

    gone = sum(place < 28 for place in places)
    if not gone:
        return 0
    return 8 * gone + len(exposed(after) - exposed(position))


def pairs_in_the_order_of_looking(position: Position) -> list[tuple[int, int]]:
    """Exposed cards from the apex down, each with exposed ones further on, then with covered ones
    that it is the last to cover; then the waste top, then the stock top, then these two."""
    exposed = [place for place in range(28) if position.is_exposed(place)]
    covered = [
        place
        for place in range(28)
        if position.is_present(place) and not position.is_exposed(place)
    ]
    found = []
    for place in exposed:
        found += [(place, other) for other in exposed if other > place]
        found += [(other, place) for other in covered]
    stock_top = position.stock_top if position.rules.stock_playable else None
    for top in (position.waste_top, stock_top):
        if top is not None:
            found += [(other, top) for other in exposed]
    if position.waste_top is not None and stock_top is not None:
        found.append((position.waste_top, stock_top))
    return [pair for pair in found if position.can_pair(*pair)]


def plays(deal: Deal, rules: Rules, seed: int) -> bool:
    """One casual game through the engine's own positions; whether it is won."""
    chance = Chance(seed)
    position = Position(deal, rules)
    removed = False
    while position.outcome is Outcome.RUNNING:
        cards = deal.cards
        kings = [place for place in position.available if cards[place].is_king]
        if kings:
            # One after the other: of the pyramid from the apex down, the waste, the stock.
            position = position.play(Move.remove(cards[kings[0]]))
            removed = True
            continue
        more = position.can_draw or (position.can_redeal and (rules.passes is not None or removed))
        best = -1
        liked: list[tuple[int, int]] = []
        choice: tuple[int, int] | None = None
        for pair in pairs_in_the_order_of_looking(position):
            if more and chance.below(HASTE) == 0:
                continue
            value = worth(position, pair)
            if value < best:
                continue
            if value > best:
                best, liked = value, []
            liked.append(pair)
            if chance.below(len(liked)) == 0:
                choice = pair
        if choice is not None:
            position = position.play(Move.remove(*(cards[place] for place in choice)))
            removed = True
        elif not more:
            return False
        elif position.can_draw:
            position = position.play(DRAW)
        else:
            position = position.play(REDEAL)
            removed = False
    return position.outcome is Outcome.WON


@pytest.mark.parametrize("rules", ALL_RULES, ids=str)
def test_the_loop_plays_the_game_that_the_engine_knows(rules: Rules) -> None:
    for number in range(1, 4):
        deal = Deal.from_number(number)
        table = table_of(engine._casual, deal, rules)
        for seed in (0, 77, 2**32 - 1):
            assert table.wins(seed, 1) == plays(deal, rules, seed), (number, seed)


@pytest.mark.parametrize("preset", PRESETS)
def test_some_games_are_won(preset: str) -> None:
    """Deal by deal and game by game; or the test above might compare losses alone."""
    rules = PRESETS[preset]
    compared = 0
    for number in range(1, 400):
        deal = Deal.from_number(number)
        table = table_of(engine._casual, deal, rules)
        if not table.wins(0, 100):
            continue
        seed = next(seed for seed in range(100) if table.wins(seed, 1))
        assert plays(deal, rules, seed)
        compared += 1
        if compared == 3:
            break
    assert compared == 3


@pytest.mark.parametrize("preset", PRESETS)
def test_compiled_and_interpreted_win_the_same_games(interpreted: ModuleType, preset: str) -> None:
    for number in range(1, 40):
        deal = Deal.from_number(number)
        both = [
            table_of(module, deal, PRESETS[preset]).wins(2**32 - 5, 12)
            for module in (engine._casual, interpreted)
        ]
        assert both[0] == both[1]


def test_games_are_counted_one_by_one() -> None:
    table = table_of(engine._casual, Deal.from_number(2), PRESETS["collection"])
    singly = [table.wins(seed, 1) for seed in range(200, 260)]
    assert sum(singly) == table.wins(200, 60)
    assert 0 < sum(singly) < 60
    assert table.wins(5, 0) == 0
    assert isinstance(table, CasualTable)
