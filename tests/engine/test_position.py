"""Positions: what is available, what is legal, what it leads to, and how a game is over."""

from __future__ import annotations

import pickle
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.cards import DECK, Card
from engine.deal import Deal
from engine.position import (
    DRAW,
    REDEAL,
    IllegalMoveError,
    Move,
    MoveKind,
    MoveTextError,
    Outcome,
    Position,
)
from engine.rules import PRESETS, Covered, Goal, Rules
from tests.engine.oracle import ALL_RULES
from tests.engine.referee import Table, is_won, lay_out, moves


def deal_of(text: str) -> Deal:
    """A deal that begins with the cards named; ``--`` is filled with any other card."""
    words = text.split()
    named = {Card.parse(word) for word in words if word != "--"}
    spare = [card for card in DECK if card not in named]
    cards = [Card.parse(word) if word != "--" else spare.pop() for word in words]
    return Deal(tuple(cards + spare))


def pyramid_of(*rows: str) -> str:
    return " ".join(rows)


# A deal in which the last row and the first stock cards are known:
#   row 6, places 21 to 27: 6C 7C KH 2C 3C 4C 5C;  stock: 7D 6D KS 8D …
KNOWN = deal_of(" ".join(["--"] * 21) + " 6C 7C KH 2C 3C 4C 5C 7D 6D KS 8D")


def play(position: Position, text: str) -> Position:
    for word in text.split():
        position = position.play(Move.parse(word))
    return position


def texts(position: Position) -> set[str]:
    return {str(move) for move in position.legal_moves}


# -- against the referee ----------------------------------------------------------------------


@pytest.mark.parametrize("rules", ALL_RULES, ids=str)
def test_the_engine_and_the_referee_agree_all_the_way(rules: Rules) -> None:
    rng = Random(str(rules))
    for number in range(1, 5):
        position = Position(Deal.from_number(number), rules)
        table: Table = lay_out(position.deal, rules)
        for _ in range(150):
            legal = moves(table)
            assert texts(position) == set(legal)
            assert len(position.legal_moves) == len(legal)
            assert (position.outcome is Outcome.WON) == is_won(table)
            assert tuple(position.deal.cards[p] for p in position.waste_places) == table.waste
            assert tuple(position.deal.cards[p] for p in position.stock_places) == table.stock
            if not legal:
                break
            # Removals first more often than not, or the game would be nothing but draws.
            removals = sorted(set(legal) - {"D", "R"})
            text = rng.choice(removals if removals and rng.random() < 0.8 else sorted(legal))
            position, table = position.play(Move.parse(text)), legal[text]


@pytest.mark.parametrize("rules", ALL_RULES, ids=str)
def test_legal_is_exactly_what_can_be_played(rules: Rules) -> None:
    rng = Random(str(rules))
    candidates = [DRAW, REDEAL]
    candidates += [Move.remove(card) for card in DECK if card.is_king]
    candidates += [
        Move.remove(a, b)
        for i, a in enumerate(DECK)
        for b in DECK[i + 1 :]
        if a.rank + b.rank == 13
    ]
    position = Position(Deal.from_number(rng.randint(1, 10**6)), rules)
    for _ in range(25):
        playable = set()
        for move in candidates:
            try:
                position.play(move)
            except IllegalMoveError:
                assert not position.is_legal(move)
            else:
                assert position.is_legal(move)
                playable.add(move)
        assert playable == set(position.legal_moves)
        if not playable:
            break
        position = position.play(rng.choice(position.legal_moves))


# -- rule by rule -----------------------------------------------------------------------------


def test_a_new_position() -> None:
    position = Position(KNOWN, Rules())
    assert position.available == (21, 22, 23, 24, 25, 26, 27)
    assert (position.pyramid_left, position.cards_left, position.redeals_left) == (28, 28, 2)
    assert (position.waste_top, position.stock_top, position.can_redeal) == (None, 28, False)
    assert Position(KNOWN, Rules(goal=Goal.DECK)).cards_left == 52
    assert Position(KNOWN, Rules(passes=None)).redeals_left is None


def test_a_pair_and_a_king_of_the_pyramid_leave_and_expose_what_they_covered() -> None:
    position = Position(KNOWN, Rules())
    assert {"7C+6C", "KH", "D"} <= texts(position)
    position = play(position, "7C+6C")
    assert position.is_exposed(15)
    assert not position.is_exposed(16)
    assert play(position, "KH").is_exposed(16)


def test_the_stock_is_out_of_reach_until_drawn_unless_the_rules_say_otherwise() -> None:
    assert "7D+6C" not in texts(Position(KNOWN, Rules()))
    assert "7D+6C" in texts(play(Position(KNOWN, Rules()), "D"))
    assert "7D+6C" in texts(Position(KNOWN, Rules(stock_playable=True)))


def test_the_waste_top_pairs_with_the_stock_top_only_if_the_stock_is_playable() -> None:
    assert "7D+6D" not in texts(play(Position(KNOWN, Rules()), "D"))
    position = play(Position(KNOWN, Rules(stock_playable=True)), "D")
    assert "7D+6D" in texts(position)
    after = play(position, "7D+6D")
    assert (after.waste_top, after.stock_top) == (None, 30)


def test_two_cards_of_the_waste_never_pair() -> None:
    assert "7D+6D" not in texts(play(Position(KNOWN, Rules()), "D D"))


def test_the_card_under_the_waste_top_comes_back() -> None:
    position = play(Position(KNOWN, Rules()), "D D D")
    assert "7D+6C" not in texts(position)
    position = play(position, "KS 7C+6D")
    assert position.waste_top == 28
    assert "7D+6C" in texts(position)


def test_the_redeal_keeps_the_draw_order_and_the_passes_are_counted() -> None:
    position = play(Position(KNOWN, Rules(passes=2)), " ".join(["D"] * 24))
    assert not position.can_draw
    assert position.can_redeal
    assert position.waste_places == tuple(range(28, 52))
    position = play(position, "R")
    assert (position.pass_number, position.redeals_left) == (2, 0)
    assert position.stock_places == tuple(range(28, 52))
    assert position.waste_places == ()
    position = play(position, " ".join(["D"] * 24))
    assert not position.can_redeal


def test_there_is_no_redeal_of_nothing() -> None:
    empty = Position(KNOWN, Rules(), remaining=1)
    assert not empty.can_draw
    assert not empty.can_redeal


def test_equal_situations_are_equal_values() -> None:
    """Drawn and removed, or removed by way of the stock: the same position."""
    start = Position(KNOWN, Rules(stock_playable=True))
    assert play(start, "7D+6C") == play(start, "D 7D+6C")
    assert hash(play(start, "7D+6C")) == hash(play(start, "D 7D+6C"))


# Row 5 begins 7H 6S: place 15 is covered by 21 and 22, place 16 by 22 and 23.
COVERED = deal_of(" ".join(["--"] * 15) + " 7H 6S 5H 5S TH TS 6C KC KH 2C 3C 4C 5C")


def test_a_card_never_pairs_with_one_that_covers_it_unless_they_overlap() -> None:
    assert "7H+6C" in texts(play(Position(COVERED, Rules(overlap=True)), "KC"))
    # 6C alone is left on 7H, and they make 13.
    assert "7H+6C" not in texts(play(Position(COVERED, Rules()), "KC"))


def test_overlap_needs_the_cover_to_be_the_last_one_and_available() -> None:
    rules = Rules(overlap=True)
    assert "7H+6C" not in texts(Position(COVERED, rules))
    after = play(Position(COVERED, rules), "KC 7H+6C")
    assert not after.is_present(15)
    assert not after.is_present(21)


def test_won_with_the_pyramid_or_with_the_deck() -> None:
    last = Position(KNOWN, Rules(), remaining=1 << 21 | 1 << 28, waste_end=29)
    assert last.outcome is Outcome.RUNNING
    assert play(last, "7D+6C").outcome is Outcome.WON
    stock_left = Position(KNOWN, Rules(), remaining=1 << 50)
    assert stock_left.outcome is Outcome.WON
    assert stock_left.legal_moves == ()
    with pytest.raises(IllegalMoveError):
        stock_left.play(DRAW)
    assert Position(KNOWN, Rules(goal=Goal.DECK), remaining=1 << 50).outcome is Outcome.RUNNING


def test_a_queen_left_over_an_ace_is_not_a_win() -> None:
    """The win looks at all 28 places: cards left in the upper rows are cards left."""
    deal = deal_of("AC QC")
    stuck = Position(deal, Rules(), remaining=0b11)
    assert stuck.cards_left == 2
    assert stuck.outcome is Outcome.STUCK
    assert Position(deal, Rules(overlap=True), remaining=0b11).outcome is Outcome.RUNNING


def test_an_empty_stock_alone_does_not_end_a_game() -> None:
    position = play(Position(KNOWN, PRESETS["cards4"]), " ".join(["D"] * 24))
    assert not position.can_draw
    assert not position.can_redeal
    assert position.outcome is Outcome.RUNNING
    assert "KH" in texts(position)


def test_covered_is_about_seeing_alone() -> None:
    up = Position(KNOWN, Rules(covered=Covered.FACE_UP))
    down = Position(KNOWN, Rules(covered=Covered.FACE_DOWN))
    assert texts(up) == texts(down)
    assert up.is_visible(0)
    assert not down.is_visible(0)
    assert down.is_visible(21)
    drawn = play(down, "D D")
    assert drawn.is_visible(29)
    assert not drawn.is_visible(28)
    assert not drawn.is_visible(30)
    assert play(Position(KNOWN, Rules(stock_playable=True)), "D").is_visible(29)


def test_partners_are_the_places_that_can_go_with_a_card() -> None:
    position = play(Position(KNOWN, Rules()), "D")
    assert position.partners(21) == (22, 28)
    assert position.partners(23) == ()


def test_an_illegal_move_is_refused_with_the_position_drawn() -> None:
    position = Position(KNOWN, Rules())
    with pytest.raises(IllegalMoveError) as caught:
        position.play(REDEAL)
    assert "R is not legal in" in str(caught.value)
    assert "pass 1 of 3" in str(caught.value)
    assert position == Position(KNOWN, Rules())


def test_a_position_survives_pickling() -> None:
    position = play(Position(KNOWN, Rules()), "D 7D+6C")
    assert pickle.loads(pickle.dumps(position)) == position


# -- the text form of moves -------------------------------------------------------------------

REMOVALS = st.sampled_from(
    [Move.remove(card) for card in DECK if card.is_king]
    + [Move.remove(a, b) for a in DECK for b in DECK if a.rank + b.rank == 13]
)


@given(REMOVALS | st.sampled_from([DRAW, REDEAL]))
def test_a_move_is_read_back_from_its_text(move: Move) -> None:
    assert Move.parse(str(move)) == move
    assert Move.parse(str(move).lower()) == move
    assert Move.parse("+".join(reversed(str(move).split("+")))) == move


def test_the_higher_rank_is_written_first() -> None:
    assert str(Move.parse("6D+7C")) == "7C+6D"
    assert Move.parse("6D+7C").kind is MoveKind.PAIR


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is not a move"),
        ("DD", "is not a move"),
        ("X", "is not a move"),
        ("7C+", "is not a move"),
        ("7C 6D", "is not a move"),
        ("7C+6D+KH", "cannot be removed"),
        ("7C", "a King goes alone"),
        ("KH+KS", "a King goes alone"),
        ("7C+7C", "must add up to 13"),
        ("7C+5D", "must add up to 13"),
    ],
)
def test_other_texts_are_no_moves(text: str, reason: str) -> None:
    with pytest.raises(MoveTextError) as caught:
        Move.parse(text)
    assert reason in str(caught.value)
