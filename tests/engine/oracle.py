"""The truth about small positions: every line is tried, nothing is cut, nothing is clever.

It knows the game only through :class:`engine.position.Position`, and the solver not at all.
"""

from __future__ import annotations

from random import Random

from engine.cards import DECK, Card
from engine.deal import PYRAMID_SIZE, Deal
from engine.position import COVER_MASKS, PLACES, Outcome, Position
from engine.rules import Goal, Rules

#: Every combination of the options that matter for play; passes 1, 2, 3 and unlimited.
ALL_RULES: tuple[Rules, ...] = tuple(
    Rules(passes=passes, goal=goal, stock_playable=stock_playable, overlap=overlap)
    for passes in (1, 2, 3, None)
    for goal in Goal
    for stock_playable in (False, True)
    for overlap in (False, True)
)


def is_winnable(position: Position) -> bool:
    """Try every line of legal moves, remembering only the positions that have been seen."""
    seen = set()
    todo = [position]
    while todo:
        position = todo.pop()
        # Without a limit on passes the number of the pass changes nothing.
        number = 0 if position.rules.passes is None else position.pass_number
        key = (position.remaining, position.waste_end, number)
        if key in seen:
            continue
        seen.add(key)
        if position.outcome is Outcome.WON:
            return True
        todo += [position.play(move) for move in position.legal_moves]
    return False


def random_position(rng: Random, rules: Rules, *, pyramid: int, stock: int) -> Position:
    """A position with up to so many pyramid and stock cards, few enough to try every line.

    The cards are chosen so that a good part of the positions can be won, and not at once.

    Args:
        rng: where chance comes from.
        rules: the rules of the position.
        pyramid: pyramid cards left, 1 to 28.
        stock: stock cards left, on stock and waste together, 1 to 24.
            Either number may turn out lower.
    """
    if rules.goal is Goal.DECK or rng.random() < 0.3:
        in_pyramid, in_stock = _pairs(rng, pyramid, stock)
    else:
        in_pyramid, in_stock = _mixed(rng, pyramid, stock)
    pyramid = len(in_pyramid)
    chosen = in_pyramid + in_stock
    others = [card for card in DECK if card not in chosen]
    rng.shuffle(others)
    # The top of the pyramid is what remains late in a game.
    top = in_pyramid + others[: PYRAMID_SIZE - pyramid]
    rest = in_stock + others[PYRAMID_SIZE - pyramid :]
    rng.shuffle(rest)
    deal = Deal(tuple(top + rest))

    mask = (1 << PYRAMID_SIZE) - 1
    while mask.bit_count() > pyramid:
        exposed = [p for p in range(PYRAMID_SIZE) if mask >> p & 1 and not mask & COVER_MASKS[p]]
        # From below and mostly in order, or what is left would nearly always be wide.
        mask ^= 1 << (max(exposed) if rng.random() < 0.7 else rng.choice(exposed))
    kept = [p for p in range(PYRAMID_SIZE, PLACES) if deal.cards[p] in chosen]
    if kept and rng.random() < 0.2:
        kept.remove(rng.choice(kept))
    for place in kept:
        mask |= 1 << place
    end = PYRAMID_SIZE
    if kept and rng.random() < 0.5:
        end = rng.choice(kept) + 1
    number = rng.randint(1, rules.passes or 3)
    return Position(deal, rules, mask, end, number)


def _pairs(rng: Random, pyramid: int, stock: int) -> tuple[list[Card], list[Card]]:
    """Cards that pair off exactly, each of the stock with one of the pyramid."""
    in_pyramid: list[Card] = []
    in_stock: list[Card] = []
    low = [card for card in DECK if card.rank <= 6]
    high = [card for card in DECK if 6 < card.rank < 13]
    rng.shuffle(low)
    rng.shuffle(high)
    while low and len(in_pyramid) < pyramid and len(in_stock) < stock:
        card = low.pop()
        partner = next(other for other in high if other.rank + card.rank == 13)
        high.remove(partner)
        pair = [card, partner]
        rng.shuffle(pair)
        in_pyramid.append(pair[0])
        (in_pyramid if rng.random() < 0.3 else in_stock).append(pair[1])
    rng.choice([in_pyramid, in_stock]).append(rng.choice([c for c in DECK if c.is_king]))
    rng.shuffle(in_pyramid)
    return in_pyramid, in_stock


def _mixed(rng: Random, pyramid: int, stock: int) -> tuple[list[Card], list[Card]]:
    """Cards of few ranks, most of them with a partner somewhere."""
    few = rng.sample(range(1, 7), rng.choice([1, 2, 2, 3]))
    chosen = [card for card in DECK if card.rank in few or 13 - card.rank in few]
    rng.shuffle(chosen)
    chosen = chosen[: pyramid + stock]
    if rng.random() < 0.5:
        chosen[rng.randrange(len(chosen))] = rng.choice([c for c in DECK if c.is_king])
    pyramid = min(pyramid, len(chosen) - 1)
    return chosen[:pyramid], chosen[pyramid:]
