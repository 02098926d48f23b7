"""Games: undo, redo, restart, and a save that is read back whole or not at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from engine.deal import Deal
from engine.game import Game, NewerSaveError, SaveError
from engine.position import DRAW, REDEAL, IllegalMoveError, Move, Outcome, Position
from engine.rules import PRESETS, Rules
from tests.engine.test_rules import RULES


class GameMachine(RuleBasedStateMachine):
    """Everything that can be done to a game, in any order, against a plain list of positions."""

    @initialize(number=st.integers(1, 1000), rules=st.sampled_from([*PRESETS.values()]) | RULES)
    def deal(self, number: int, rules: Rules) -> None:
        self.game = Game(Deal.from_number(number), rules)
        self.model = [Position(Deal.from_number(number), rules)]
        self.moves: list[Move] = []
        self.here = 0

    @precondition(lambda self: self.game.position.legal_moves)
    @rule(data=st.data())
    def play(self, data: st.DataObject) -> None:
        legal = self.game.position.legal_moves
        # Removals come first among the legal moves: prefer them, or games are nothing but draws.
        move = data.draw(st.sampled_from([*legal, *legal[:-1] * 3]))
        before = self.game.position
        known = self.here < len(self.moves) and self.moves[self.here] == move
        self.game.play(move)
        assert self.game.undo() == move
        assert self.game.position == before
        assert self.game.redo() == move
        if not known:
            self.moves[self.here :] = [move]
            self.model[self.here + 1 :] = [before.play(move)]
        self.here += 1

    @rule(count=st.integers(1, 30))
    def draw_on(self, count: int) -> None:
        """Go deeper into the stock than single steps would get."""
        for _ in range(count):
            position = self.game.position
            move = DRAW if position.can_draw else REDEAL
            if move not in position.legal_moves:
                break
            self.moves[self.here :] = [move]
            self.model[self.here + 1 :] = [position.play(move)]
            self.game.play(move)
            if self.game.can_redo:  # the very move was next to be redone: nothing is forgotten
                self.moves += self.game.undone
                for later in self.game.undone:
                    self.model.append(self.model[-1].play(later))
            self.here += 1

    @rule(data=st.data())
    def try_something_illegal(self, data: st.DataObject) -> None:
        position = self.game.position
        texts = ["D", "R", *(f"K{suit}" for suit in "CDHS"), "7C+6D", "QH+AS", "TD+3C", "8S+5H"]
        move = Move.parse(data.draw(st.sampled_from(texts)))
        if move in position.legal_moves:
            return
        saved = self.game.save()
        with pytest.raises(IllegalMoveError):
            self.game.play(move)
        assert self.game.save() == saved

    @rule(count=st.integers(1, 8))
    def undo(self, count: int) -> None:
        for _ in range(count):
            expected = self.moves[self.here - 1] if self.here else None
            assert self.game.undo() == expected
            self.here = max(self.here - 1, 0)

    @rule(count=st.integers(1, 8))
    def redo(self, count: int) -> None:
        for _ in range(count):
            expected = self.moves[self.here] if self.here < len(self.moves) else None
            assert self.game.redo() == expected
            self.here = min(self.here + 1, len(self.moves))

    @rule(data=st.data())
    def go_to(self, data: st.DataObject) -> None:
        self.here = data.draw(st.integers(0, len(self.moves)))
        self.game.go_to(self.here)

    @rule()
    def restart(self) -> None:
        self.game.restart()
        self.here = 0

    @rule()
    def save_and_load(self) -> None:
        loaded = Game.load(self.game.save())
        assert loaded.save() == self.game.save()
        assert loaded.positions == self.game.positions
        assert loaded.undone == self.game.undone
        self.game = loaded

    @invariant()
    def stands_where_the_model_stands(self) -> None:
        game = self.game
        assert game.position == self.model[self.here]
        assert game.positions == tuple(self.model[: self.here + 1])
        assert game.moves == tuple(self.moves[: self.here])
        assert game.undone == tuple(self.moves[self.here :])
        assert game.index == self.here
        assert game.can_undo == (self.here > 0)
        assert game.can_redo == (self.here < len(self.moves))

    @invariant()
    def no_card_is_lost(self) -> None:
        position = self.game.position
        removed = [card for move in self.game.moves for card in move.cards]
        pyramid = [place for place in range(28) if position.is_present(place)]
        places = [*pyramid, *position.waste_places, *position.stock_places]
        cards = [position.deal.cards[place] for place in places]
        assert len(cards) + len(removed) == 52
        assert len(set(cards) | set(removed)) == 52

    @invariant()
    def outcome_and_legal_moves_agree(self) -> None:
        position = self.game.position
        assert (self.game.outcome is Outcome.RUNNING) == bool(position.legal_moves)
        assert (self.game.outcome is Outcome.WON) == (position.cards_left == 0)
        for move in position.legal_moves:
            assert position.play(move) != position


TestGameMachine = GameMachine.TestCase
TestGameMachine.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


def some_game() -> Game:
    """Deal 5 with a few moves played and one of them undone."""
    game = Game(Deal.from_number(5), PRESETS["three-pass"])
    for text in ["KC", "D", "D", "D", "8H+5S", "D", "KD"]:
        game.play(Move.parse(text))
    game.undo()
    return game


def test_one_undo_takes_back_one_move_be_it_a_pair_or_a_king() -> None:
    game = some_game()
    assert game.undo() == DRAW
    assert str(game.undo()) == "8H+5S"
    assert game.position.pyramid_left == 27
    for _ in range(3):
        assert game.undo() == DRAW
    assert str(game.undo()) == "KC"
    assert game.undo() is None
    assert game.position.pyramid_left == 28


def test_playing_the_undone_move_again_keeps_the_way_ahead() -> None:
    game = some_game()
    game.restart()
    game.play(Move.parse("KC"))
    assert len(game.undone) == 6
    game.undo()
    game.play(DRAW)
    assert game.undone == ()


@pytest.mark.parametrize("index", [-1, 8])
def test_go_to_knows_its_bounds(index: int) -> None:
    game = some_game()
    with pytest.raises(ValueError, match="knows moves 0 to 7"):
        game.go_to(index)
    assert game.index == 6


def test_the_save_is_one_line_of_plain_text() -> None:
    assert json.loads(some_game().save()) == {
        "format": "pyramid-game",
        "version": 1,
        "rules": "passes=3,goal=pyramid,covered=face_up,stock_playable=no,overlap=no",
        "number": 5,
        "deal": str(Deal.from_number(5)),
        "moves": "KC D D D 8H+5S D KD",
        "index": 6,
    }
    assert "\n" not in some_game().save()


def test_a_game_of_cards_without_a_number_is_saved_too() -> None:
    game = Game(Deal.parse(str(Deal.from_number(3))), Rules(passes=None))
    game.play(DRAW)
    loaded = Game.load(game.save())
    assert loaded.deal.number is None
    assert loaded.position == game.position


# -- bad saves --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"format": "chess"}, "not a pyramid-game"),
        ({"format": None}, "not a pyramid-game"),
        ({"version": 0}, "no valid version"),
        ({"version": "1"}, "no valid version"),
        ({"version": True}, "no valid version"),
        ({"version": None}, "no valid version"),
        ({"rules": "passes=0"}, "passes is 1, 2, 3"),
        ({"rules": 3}, "rules is missing or of the wrong type"),
        ({"number": "5"}, "number is missing or of the wrong type"),
        ({"number": 5.0}, "number is missing or of the wrong type"),
        ({"number": True}, "number is missing or of the wrong type"),
        ({"number": 0}, "deal numbers go from 1"),
        ({"number": 6}, "not those of its deal number 6"),
        ({"deal": "AH"}, "52 cards, not 1"),
        ({"deal": str(Deal.from_number(6))}, "not those of its deal number 5"),
        ({"deal": None}, "deal is missing or of the wrong type"),
        ({"moves": "KC KC"}, "move 2 of the save does not fit: KC is not legal"),
        ({"moves": "R"}, "move 1 of the save does not fit"),
        ({"moves": "D Z"}, "'Z' is not a move"),
        ({"moves": ["D"]}, "moves is missing or of the wrong type"),
        ({"index": -1}, "stands at move -1"),
        ({"index": 8}, "stands at move 8, but has 7 moves"),
        ({"index": 1.0}, "index is missing or of the wrong type"),
        ({"index": True}, "index is missing or of the wrong type"),
    ],
)
def test_a_bad_field_is_refused_with_the_reason(changes: dict[str, Any], reason: str) -> None:
    fields = json.loads(some_game().save()) | changes
    with pytest.raises(SaveError) as caught:
        Game.load(json.dumps(fields))
    assert reason in str(caught.value)


@pytest.mark.parametrize("name", ["format", "version", "rules", "number", "deal", "moves", "index"])
def test_a_missing_field_is_refused(name: str) -> None:
    fields = json.loads(some_game().save())
    del fields[name]
    with pytest.raises(SaveError):
        Game.load(json.dumps(fields))


def test_a_newer_save_is_told_apart() -> None:
    fields = json.loads(some_game().save()) | {"version": 2, "moves": {"something": "new"}}
    with pytest.raises(NewerSaveError, match="of version 2, this program knows up to 1"):
        Game.load(json.dumps(fields))


@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", "5", '"pyramid-game"', "{", "[" * 100_000, "\ud800", '{"format": NaN}'],
)
def test_what_is_no_save_at_all_is_refused(text: str) -> None:
    with pytest.raises(SaveError):
        Game.load(text)


@given(st.data())
def test_a_save_with_a_byte_changed_is_a_whole_game_or_refused(data: st.DataObject) -> None:
    save = some_game().save()
    at = data.draw(st.integers(0, len(save) - 1))
    text = save[:at] + data.draw(st.characters(codec="utf-8")) + save[at + 1 :]
    try:
        game = Game.load(text)
    except SaveError:
        return
    replayed = Position(game.deal, game.rules)
    for move in (*game.moves, *game.undone):
        replayed = replayed.play(move)
    assert Game.load(game.save()).position == game.position


@given(st.integers(0, 400))
def test_a_save_cut_short_is_refused(length: int) -> None:
    save = some_game().save()
    with pytest.raises(SaveError):
        Game.load(save[: min(length, len(save) - 1)])
