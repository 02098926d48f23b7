"""A second set of rules of the game, written with piles of cards instead of masks.

It shares with the engine nothing but the card, and is as plain as the printed rules: slow, and
easy to check by reading.  Tests hold the engine against it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.cards import Card
from engine.deal import Deal
from engine.rules import Goal, Rules

Rows = tuple[tuple[Card | None, ...], ...]


@dataclass(frozen=True)
class Table:
    """What lies on the table: rows from the apex, stock with the next card first, waste."""

    rules: Rules
    rows: Rows
    stock: tuple[Card, ...]
    waste: tuple[Card, ...] = ()
    redeals_made: int = 0


def lay_out(deal: Deal, rules: Rules) -> Table:
    """Lay the cards of a deal on the table."""
    cards = list(deal.cards)
    rows = []
    for length in range(1, 8):
        rows.append(tuple(cards[:length]))
        del cards[:length]
    return Table(rules, tuple(rows), tuple(cards))


def is_won(table: Table) -> bool:
    """Whether what the goal asks for is gone."""
    empty = not any(card for row in table.rows for card in row)
    if table.rules.goal is Goal.DECK:
        return empty and not table.stock and not table.waste
    return empty


def covers(table: Table, row: int, column: int) -> list[Card]:
    """The cards that lie on the one in that row and column."""
    if row == 6:
        return []
    below = table.rows[row + 1]
    return [card for card in below[column : column + 2] if card is not None]


def moves(table: Table) -> dict[str, Table]:
    """Every legal move, as text, and the table after it."""
    if is_won(table):
        return {}
    free: list[Card] = []
    almost: list[tuple[Card, Card]] = []
    for r, row in enumerate(table.rows):
        for c, card in enumerate(row):
            if card is None:
                continue
            on_top = covers(table, r, c)
            if not on_top:
                free.append(card)
            elif len(on_top) == 1:
                almost.append((card, on_top[0]))
    if table.waste:
        free.append(table.waste[-1])
    if table.rules.stock_playable and table.stock:
        free.append(table.stock[0])
    removals = [{card} for card in free if card.rank == 13]
    removals += [{a, b} for a in free for b in free if a.rank + b.rank == 13]
    if table.rules.overlap:
        removals += [{a, b} for a, b in almost if a.rank + b.rank == 13 and b in free]
    found = {move_text(cards): without(table, cards) for cards in removals}
    if table.stock:
        found["D"] = replace(table, stock=table.stock[1:], waste=(*table.waste, table.stock[0]))
    elif table.waste and (
        table.rules.passes is None or table.redeals_made + 1 < table.rules.passes
    ):
        found["R"] = replace(
            table, stock=table.waste, waste=(), redeals_made=table.redeals_made + 1
        )
    return found


def move_text(cards: set[Card]) -> str:
    """The move in the text form of the engine, the higher rank first."""
    return "+".join(map(str, sorted(cards, key=lambda card: -card.rank)))


def without(table: Table, gone: set[Card]) -> Table:
    """The table once some cards are gone."""
    return replace(
        table,
        rows=tuple(tuple(None if card in gone else card for card in row) for row in table.rows),
        stock=tuple(card for card in table.stock if card not in gone),
        waste=tuple(card for card in table.waste if card not in gone),
    )
