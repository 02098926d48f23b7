from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.advice import Advice
from engine.cards import makes_thirteen
from engine.deal import PYRAMID_SIZE, Deal
from engine.difficulty import Grade
from engine.game import Game, SaveError
from engine.position import COVERS, DRAW, Move, MoveKind, Outcome, Position
from engine.rules import PRESETS
from kiosk.attract import target_of
from kiosk.commands import (
    AdviceReady,
    BackToWinnable,
    Change,
    ChangeKind,
    CheckDeal,
    Close,
    Command,
    Darken,
    Draw,
    Drop,
    Hint,
    NewDeal,
    Open,
    Panel,
    Pile,
    Redo,
    Refusal,
    Replay,
    SetAutoPlay,
    SetLanguage,
    SetLook,
    Somebody,
    Tap,
    Target,
    Tick,
    Touched,
    Undo,
)
from kiosk.dealer import DealtGame
from kiosk.service import Service
from kiosk.service_commands import OpenService
from kiosk.session import Session
from kiosk.sessiontypes import Checked, Saved, SessionOptions, Tell
from kiosk.showreel import SceneKind
from kiosk.statistics import Result
from tests.kiosk.fakes import FakeAdviser, FakeDealer, service, won_by_hand


class Bench:
    """A session with fakes around it and a clock that the test moves."""

    def __init__(
        self,
        preset: str = "three-pass",
        *,
        start_in_attract: bool = False,
        saved: Saved | None = None,
        games: tuple[DealtGame, ...] = (),
        auto_play: bool = False,
        tell: Tell = Tell.OFF,
        menu: Service | None = None,
        **options: Any,
    ) -> None:
        self.now = 1000.0
        self.dealer = FakeDealer(*games)
        self.adviser = FakeAdviser()
        self.results: list[Result] = []
        self.session = Session(
            self.dealer,
            self.adviser,
            SessionOptions(
                preset=preset,
                start_in_attract=start_in_attract,
                auto_play=auto_play,
                tell=tell,
                **options,
            ),
            now=self.now,
            record=self.results.append,
            saved=saved,
            today=lambda: date(2026, 12, 24),
            service=menu,
        )

    def do(self, command: Command, after: float = 1.0) -> Change:
        self.now += after
        return self.session.handle(command, self.now)

    def tap_move(self, move: Move) -> Change:
        """Make a move as a visitor would."""
        if move.kind in {MoveKind.DRAW, MoveKind.REDEAL}:
            return self.do(Draw())
        position = self.session.position
        places = [position.deal.place_of[card] for card in move.cards]
        for place in places[:-1]:
            assert self.do(Tap(target_of(position, place))).kind is ChangeKind.SELECTED
        return self.do(Tap(target_of(position, places[-1])))

    def play_line(self, line: tuple[Move, ...]) -> Change:
        change = None
        for move in line:
            change = self.tap_move(move)
            assert change.kind is ChangeKind.PLAYED, (move, change)
            assert change.move == move
        assert change is not None
        return change


LINE = won_by_hand("three-pass").line


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_is_won_by_taps(preset: str) -> None:
    bench = Bench(preset)
    change = bench.play_line(won_by_hand(preset).line)
    assert change.new.outcome is Outcome.WON
    assert bench.session.panel is Panel.WON
    assert [r.outcome for r in bench.results] == ["won"]
    assert bench.results[0].number == won_by_hand(preset).deal.number
    assert bench.results[0].moves == len(won_by_hand(preset).line)


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_is_won_by_drags(preset: str) -> None:
    bench = Bench(preset)
    for move in won_by_hand(preset).line:
        position = bench.session.position
        if move.kind in {MoveKind.DRAW, MoveKind.REDEAL}:
            change = bench.do(Draw())
        else:
            targets = [target_of(position, position.deal.place_of[c]) for c in move.cards]
            change = bench.do(Drop(targets[0], targets[1] if targets[1:] else None))
        assert change.kind is ChangeKind.PLAYED
        assert change.move == move
    assert bench.session.panel is Panel.WON


def test_one_undo_takes_back_one_pair() -> None:
    # t_games 72: removing a pair took two undos.
    bench = Bench()
    start = bench.session.position
    bench.tap_move(LINE[0])
    change = bench.do(Undo())
    assert change.kind is ChangeKind.UNDONE
    assert change.move == LINE[0]
    assert bench.session.position == start
    assert bench.do(Undo()).refusal is Refusal.NOTHING_TO_UNDO
    assert bench.do(Redo()).move == LINE[0]
    assert bench.do(Redo()).refusal is Refusal.NOTHING_TO_REDO


def test_a_second_tap_deselects() -> None:
    bench = Bench()
    place = bench.session.position.deal.place_of[LINE[0].cards[0]]
    assert bench.do(Tap(place)).kind is ChangeKind.SELECTED
    assert bench.session.selected == place
    assert bench.do(Tap(place)).kind is ChangeKind.DESELECTED
    assert bench.session.selected is None


def test_a_covered_card_is_refused_and_its_covers_named() -> None:
    bench = Bench()
    change = bench.do(Tap(0))
    assert change.refusal is Refusal.COVERED
    assert change.targets == (0, 1, 2)
    assert bench.session.selected is None


def test_a_wrong_partner_is_refused_and_takes_over_the_selection() -> None:
    bench = Bench()
    cards = bench.session.position.deal.cards
    a, b = next(
        (a, b)
        for a in range(21, 28)
        for b in range(21, 28)
        if a != b and not cards[a].is_king and not cards[b].is_king
        if cards[a].rank + cards[b].rank != 13
    )
    bench.do(Tap(a))
    change = bench.do(Tap(b))
    assert change.refusal is Refusal.NOT_THIRTEEN
    assert change.targets == (a, b)
    assert bench.session.selected == b


def test_a_card_dropped_on_a_covered_one_is_told_what_lies_there() -> None:
    bench = Bench("overlap")
    assert bench.do(Drop(27, 0)).targets == (0, 1, 2)
    bench = overlapping()
    change = bench.do(Drop(27, 18))
    assert (change.refusal, change.targets) == (Refusal.COVERED, (18, 24))


def test_a_card_dropped_on_cards_face_down_is_told_nothing_of_them() -> None:
    bench = Bench("three-pass")
    for place in range(21, 28):
        change = bench.do(Drop(place, Pile.STOCK))
        assert (change.refusal, change.targets) == (Refusal.NOTHING_THERE, (place,))
    bench = Bench("relaxed")
    change = bench.do(Drop(27, Pile.STOCK))
    assert (change.refusal, change.targets) == (Refusal.NOT_THIRTEEN, (27, Pile.STOCK))


def overlapping() -> Bench:
    """A seven on 18 that only the six on 24 still covers; the six on 19 lies free."""
    deal = Deal.from_number(40)
    bench = Bench("overlap", games=(DealtGame(deal, PRESETS["overlap"], "overlap", ()),))
    bench.tap_move(Move.parse("TS+3S"))
    ranks = [deal.cards[place].rank for place in (18, 24, 19)]
    assert ranks == [7, 6, 6]
    return bench


@pytest.mark.parametrize(
    "commands", [(Tap(18), Tap(19)), (Tap(19), Tap(18)), (Drop(18, 19),), (Drop(19, 18),)]
)
def test_thirteen_is_never_said_not_to_be_thirteen(commands: tuple[Command, ...]) -> None:
    bench = overlapping()
    changes = [bench.do(command) for command in commands]
    assert (changes[-1].refusal, changes[-1].targets) == (Refusal.COVERED, (18, 24))
    bench = overlapping()
    assert bench.do(Drop(24, 18)).kind is ChangeKind.PLAYED


@pytest.mark.parametrize("preset", PRESETS)
def test_no_touch_is_refused_by_what_is_not_so(preset: str) -> None:
    bench = Bench(preset)
    targets: list[Target] = [*range(PYRAMID_SIZE), *Pile]
    tries = [Drop(a, b) for a in targets for b in (*targets, None)] + [Tap(a) for a in targets]
    for count, move in enumerate(won_by_hand(preset).line[:-1]):
        for command in tries if count % 8 == 5 else ():
            position = bench.session.position
            change = bench.do(command)
            if change.kind is ChangeKind.PLAYED:
                bench.do(Undo())
            places = [bench.session._place(target) for target in change.targets]
            if change.refusal is Refusal.NOT_THIRTEEN:
                a, b = (place for place in places if place is not None)
                assert position.is_visible(a)
                assert position.is_visible(b)
                assert not makes_thirteen(position.deal.cards[a], position.deal.cards[b])
            elif change.refusal is Refusal.COVERED:
                assert places[0] not in position.available
                covers = COVERS[places[0] or 0]
                assert places[1:] == [place for place in covers if position.is_present(place)]
        if bench.session.selected is not None:
            bench.session._deselect()
        bench.tap_move(move)


def test_an_empty_waste_and_a_gone_card_refuse_quietly() -> None:
    # PySolFC 147 and t_games 78: empty piles crashed.
    bench = Bench()
    assert bench.do(Tap(Pile.WASTE)).refusal is Refusal.NOTHING_THERE
    place = bench.session.position.deal.place_of[LINE[0].cards[0]]
    bench.tap_move(LINE[0])
    assert bench.do(Tap(place)).refusal is Refusal.NOTHING_THERE
    for odd in (-1, 28, 51, 99):
        assert bench.do(Tap(odd)).refusal is Refusal.NOTHING_THERE


def test_drawing_to_the_last_card_and_every_redeal() -> None:
    # PySolFC 552: crashed on redeal after the last card was dealt.
    bench = Bench()
    for passes in (1, 2, 3):
        assert bench.session.position.pass_number == passes
        for _ in range(24):
            assert bench.do(Tap(Pile.STOCK)).move == DRAW
        change = bench.do(Tap(Pile.STOCK))
        assert change.kind is (ChangeKind.PLAYED if passes < 3 else ChangeKind.REFUSED)
    assert change.refusal is Refusal.NO_STOCK


def test_a_selected_pyramid_card_stays_selected_over_a_draw() -> None:
    bench = Bench()
    card = LINE[0].cards[0]
    place = bench.session.position.deal.place_of[card]
    bench.do(Tap(place))
    bench.do(Draw())
    assert bench.session.selected == place
    bench.do(Tap(place))
    if not bench.session.position.deal.cards[28].is_king:
        bench.do(Tap(Pile.WASTE))
        assert bench.session.selected == 28
        bench.do(Draw())
        assert bench.session.selected is None


def test_auto_play_pairs_the_only_partner_at_once() -> None:
    bench = Bench(auto_play=True)
    position = bench.session.position
    place = next(p for p in position.available if len(position.partners(p)) == 1)
    change = bench.do(Tap(place))
    assert change.kind is ChangeKind.PLAYED
    bench.do(Undo())
    bench.do(SetAutoPlay(False))
    assert bench.do(Tap(place)).kind is ChangeKind.SELECTED


def test_the_face_up_stock_card_is_selected_then_drawn() -> None:
    bench = Bench("relaxed")
    seen_both = set()
    for _ in range(24):
        position = bench.session.position
        top = position.stock_top
        assert top is not None
        change = bench.do(Tap(Pile.STOCK))
        if position.deal.cards[top].is_king:
            assert change.move == Move.remove(position.deal.cards[top])
            seen_both.add("king")
        elif position.partners(top):
            assert change.kind is ChangeKind.SELECTED
            assert bench.do(Tap(Pile.STOCK)).move == DRAW
            seen_both.add("selected")
        else:
            assert change.move == DRAW
            seen_both.add("drawn")
    assert {"selected", "drawn"} <= seen_both


def test_the_stock_top_pairs_with_the_waste_top() -> None:
    for number in range(1, 200):
        deal = Deal.from_number(number)
        if deal.cards[28].rank + deal.cards[29].rank == 13:
            break
    bench = Bench("relaxed", games=(DealtGame(deal, PRESETS["relaxed"], "relaxed", ()),))
    bench.do(Draw())
    bench.do(Tap(Pile.WASTE))
    change = bench.do(Tap(Pile.STOCK))
    assert change.move == Move.remove(deal.cards[28], deal.cards[29])


def test_hints_follow_the_pool_line_to_the_win() -> None:
    bench = Bench()
    for count in range(len(LINE)):
        change = bench.do(Hint())
        assert change.kind is ChangeKind.HINTED
        assert change.move == LINE[count]
        bench.tap_move(LINE[count])
    assert bench.session.panel is Panel.WON
    assert bench.session.hints == len(LINE)
    assert bench.adviser.asked == []


def a_pair_beside_a_drawing_line() -> tuple[DealtGame, Move]:
    """A game whose line draws first, with a pair that could be taken instead; and that pair."""
    for number in range(1, 500):
        position = Position(Deal.from_number(number), PRESETS["three-pass"])
        pairs = [move for move in position.removals() if len(move.cards) == 2]
        if pairs:
            line = (DRAW, DRAW)
            return DealtGame(position.deal, position.rules, "three-pass", line), pairs[0]
    raise AssertionError("no deal begins with a pair")


def test_a_hint_to_draw_beside_a_pair_is_looked_into_and_says_why() -> None:
    game, _pair = a_pair_beside_a_drawing_line()
    bench = Bench(games=(game,), coaching=False)
    assert bench.do(Hint()).kind is ChangeKind.THINKING
    question = bench.adviser.asked[-1][0]
    change = bench.do(AdviceReady(question, Advice(True, 0, game.line, 9, waits=True)))
    assert (change.kind, change.move, change.waits) == (ChangeKind.HINTED, DRAW, True)
    assert bench.session.hint_waits
    change = bench.do(Hint())
    assert (change.kind, change.waits) == (ChangeKind.HINTED, True)
    assert len(bench.adviser.asked) == 1, "it is known by now"
    bench.do(Draw())
    assert not bench.session.hint_waits


def test_a_pair_that_wins_is_hinted_instead_of_a_draw() -> None:
    game, pair = a_pair_beside_a_drawing_line()
    bench = Bench(games=(game,), coaching=False)
    bench.do(Hint())
    question = bench.adviser.asked[-1][0]
    change = bench.do(AdviceReady(question, Advice(True, 0, (pair, DRAW), 9)))
    assert (change.kind, change.move, change.waits) == (ChangeKind.HINTED, pair, False)


@pytest.mark.parametrize("advice", [None, Advice(None, None, (), 9), Advice(True, 0, (DRAW,), 9)])
def test_what_the_solver_has_not_established_is_not_said(advice: Advice | None) -> None:
    game, _pair = a_pair_beside_a_drawing_line()
    bench = Bench(games=(game,), coaching=False)
    bench.do(Hint())
    change = bench.do(AdviceReady(bench.adviser.asked[-1][0], advice))
    assert (change.kind, change.move, change.waits) == (ChangeKind.HINTED, DRAW, False)


def test_a_repeated_hint_counts_once() -> None:
    bench = Bench()
    bench.do(Hint())
    bench.do(Hint())
    assert bench.session.hints == 1


def test_off_the_line_the_solver_is_asked_and_undo_finds_the_line_again() -> None:
    bench = Bench()
    bench.do(Draw())
    change = bench.do(Hint())
    assert change.kind is ChangeKind.THINKING
    assert bench.session.thinking
    question, history, winnable_at = bench.adviser.asked[0]
    assert history[-1] == bench.session.position
    assert winnable_at == 0
    answer = Advice(True, 1, LINE[:1], 5)
    change = bench.do(AdviceReady(question, answer))
    assert change.kind is ChangeKind.HINTED
    assert not bench.session.thinking
    bench.do(Undo())
    assert bench.do(Hint()).move == LINE[0]
    assert len(bench.adviser.asked) == 1


def test_a_late_answer_is_ignored() -> None:
    bench = Bench()
    bench.do(Draw())
    bench.do(Hint())
    question = bench.adviser.asked[0][0]
    bench.do(Draw())
    assert bench.adviser.cancelled == 1
    change = bench.do(AdviceReady(question, Advice(True, 1, LINE[:1], 5)))
    assert change.kind is ChangeKind.NOTHING
    assert bench.session.hinted == ()


def test_a_lost_game_offers_the_way_back() -> None:
    bench = Bench()
    for _ in range(5):
        bench.do(Draw())
    bench.do(Hint())
    change = bench.do(AdviceReady(bench.adviser.asked[0][0], Advice(False, 2, LINE[:1], 9)))
    assert change.kind is ChangeKind.PANEL
    assert bench.session.panel is Panel.CANNOT_WIN
    assert bench.session.moves_back == 3
    assert bench.do(Tap(Pile.STOCK)).refusal is Refusal.BLOCKED
    change = bench.do(BackToWinnable())
    assert change.kind is ChangeKind.WENT_BACK
    assert bench.session.moves_played == 2
    assert bench.session.panel is Panel.NONE
    assert bench.do(Hint()).move == LINE[0]
    assert bench.session.undos == 3


def test_a_solver_that_gave_up_says_so() -> None:
    bench = Bench()
    bench.do(Draw())
    bench.do(Hint())
    change = bench.do(AdviceReady(bench.adviser.asked[0][0], None))
    assert change.refusal is Refusal.NO_ADVICE
    assert not bench.session.thinking


def stuck_bench(tell: Tell = Tell.OFF) -> Bench:
    """A game on which nothing can be done any more, reached by drawing."""
    for number in range(1, 2000):
        deal = Deal.from_number(number)
        game = Game(deal, PRESETS["cards4"])
        while game.position.can_draw:
            game.play(DRAW)
        if game.outcome is Outcome.STUCK:
            dealt = DealtGame(deal, PRESETS["cards4"], "cards4", ())
            bench = Bench("cards4", games=(dealt,), tell=tell)
            for _ in range(24):
                bench.do(Draw())
            return bench
    raise AssertionError("no such deal")


def test_the_stuck_panel_offers_undo_and_replay() -> None:
    # green-mahjong 3: the loss overlay blocked undo.
    bench = stuck_bench()
    assert bench.session.panel is Panel.STUCK
    assert bench.do(Undo()).kind is ChangeKind.UNDONE
    assert bench.session.panel is Panel.NONE
    bench.do(Draw())
    assert bench.session.panel is Panel.STUCK
    assert bench.do(Replay()).kind is ChangeKind.DEALT
    assert bench.session.moves_played == 0
    assert [r.outcome for r in bench.results] == ["lost"]
    assert bench.session.number == bench.session.position.deal.number


def test_a_stuck_game_can_be_looked_at_and_left_without_asking() -> None:
    bench = stuck_bench()
    bench.do(Close())
    assert bench.session.panel is Panel.NONE
    assert bench.do(NewDeal()).kind is ChangeKind.DEALT
    assert [r.outcome for r in bench.results] == ["lost"]


def test_a_running_game_is_given_up_only_when_confirmed() -> None:
    bench = Bench()
    bench.tap_move(LINE[0])
    before = bench.session.position
    bench.do(NewDeal(preset="cards4"))
    assert bench.session.panel is Panel.GIVE_UP
    assert bench.session.position == before
    bench.do(Close())
    assert bench.session.panel is Panel.NONE
    assert bench.results == []
    bench.do(NewDeal(preset="cards4"))
    change = bench.do(NewDeal(confirmed=True))
    assert change.kind is ChangeKind.DEALT
    assert bench.session.preset == "cards4", "the question remembers what was asked"
    assert [r.outcome for r in bench.results] == ["abandoned"]


def test_an_untouched_game_is_left_without_asking_and_without_a_result() -> None:
    bench = Bench()
    assert bench.do(NewDeal()).kind is ChangeKind.DEALT
    assert bench.results == []


def test_a_game_left_before_anything_was_removed_is_not_counted() -> None:
    bench = Bench()
    bench.do(Draw())
    bench.do(NewDeal())
    assert bench.session.panel is Panel.GIVE_UP, "asked all the same"
    bench.do(NewDeal(confirmed=True))
    assert bench.results == []
    bench.tap_move(LINE[0])
    bench.do(Draw())
    bench.do(NewDeal(confirmed=True))
    assert [r.outcome for r in bench.results] == ["abandoned"]
    bench.do(Draw())
    bench.do(Tick(), 61)
    bench.do(Tick(), 21)
    assert bench.do(Tick(), 601).kind is ChangeKind.ABANDONED
    assert len(bench.results) == 1, "nor one that was walked away from"


def test_replay_keeps_the_deal_and_its_line() -> None:
    bench = Bench()
    bench.tap_move(LINE[0])
    bench.do(Replay())
    assert bench.session.panel is Panel.GIVE_UP
    bench.do(Replay(confirmed=True))
    assert bench.session.moves_played == 0
    assert bench.do(Hint()).move == LINE[0]


def test_an_unknown_preset_is_an_error_that_changes_nothing() -> None:
    bench = Bench()
    with pytest.raises(ValueError, match="golf"):
        bench.do(NewDeal(preset="golf"))
    assert bench.session.preset == "three-pass"


def test_panels_block_the_table() -> None:
    # PySolFC 569: one could play while paused.
    bench = Bench()
    place = bench.session.position.deal.place_of[LINE[0].cards[0]]
    for panel in (Panel.MENU, Panel.RULES, Panel.CHOOSE):
        bench.do(Open(panel))
        assert bench.session.panel is panel
        for command in (Tap(place), Tap(Pile.STOCK), Draw(), Hint(), Undo(), Drop(place, None)):
            assert bench.do(command).refusal is Refusal.BLOCKED
        bench.do(Close())
        assert bench.session.panel is Panel.NONE


def test_time_counts_only_while_playing() -> None:
    bench = Bench()
    bench.do(Tick(), 10)
    assert bench.session.seconds == 0, "not before the first move"
    bench.tap_move(LINE[0])
    start = bench.session.seconds
    bench.do(Tick(), 2)
    assert bench.session.seconds == pytest.approx(start + 2)
    bench.do(Open(Panel.MENU), 0)
    bench.do(Tick(), 3)
    bench.do(Close(), 0)
    assert bench.session.seconds == pytest.approx(start + 2)
    bench.do(Tick(), 40)
    assert bench.session.seconds == pytest.approx(start + 7), "a suspended machine is not thinking"
    bench.do(Tick(), -500)
    assert bench.session.seconds == pytest.approx(start + 7), "time never runs backwards"


def test_idle_counts_down_then_attracts_and_the_first_touch_only_wakes() -> None:
    # KlipperScreen 207 and touchkio 61: the waking tap pressed a button.
    bench = Bench()
    bench.tap_move(LINE[0])
    kept = bench.session.position
    assert bench.do(Tick(), 59).kind is ChangeKind.NOTHING
    assert bench.do(Tick(), 1.5).kind is ChangeKind.PANEL
    assert bench.session.panel is Panel.COUNTDOWN
    assert 18 < bench.session.countdown_left < 20
    assert bench.do(Tap(Pile.STOCK)).kind is ChangeKind.PANEL
    assert bench.session.panel is Panel.NONE
    assert bench.session.position == kept, "the touch that extends does nothing else"
    bench.do(Tick(), 61)
    assert bench.do(Tick(), 21).kind is ChangeKind.ATTRACT
    assert bench.session.attract
    assert bench.session.panel is Panel.NONE
    change = bench.do(Tap(Pile.STOCK))
    assert change.kind is ChangeKind.WOKE
    assert not bench.session.attract
    assert bench.session.position == kept
    assert bench.results == []


def test_a_touch_after_a_long_sleep_only_wakes() -> None:
    bench = Bench()
    bench.tap_move(LINE[0])
    kept = bench.session.position
    assert bench.do(Touched(), 3600).kind is ChangeKind.WOKE
    assert bench.session.position == kept
    assert bench.do(Tap(Pile.STOCK)).move == DRAW


def test_the_stock_dragged_to_the_waste_draws() -> None:
    bench = Bench()
    assert bench.do(Drop(Pile.STOCK, Pile.WASTE)).move == DRAW
    assert bench.do(Drop(Pile.STOCK, 3)).refusal is Refusal.NOTHING_THERE
    bench = Bench("relaxed")
    assert bench.do(Drop(Pile.STOCK, Pile.WASTE)).move == DRAW


def test_nobody_at_an_untouched_table_needs_no_countdown() -> None:
    bench = Bench()
    assert bench.do(Tick(), 61).kind is ChangeKind.ATTRACT


@pytest.mark.parametrize(
    "command", [Touched(), Undo(), NewDeal(), Hint(), Draw(), Tap(0), Drop(0, 1), Close()]
)
def test_whatever_comes_first_only_wakes(command: Command) -> None:
    bench = Bench(start_in_attract=True)
    assert bench.session.attract
    dealt = bench.dealer.dealt
    assert bench.do(command).kind is ChangeKind.WOKE
    assert bench.session.moves_played == 0
    assert bench.session.panel is Panel.NONE
    assert bench.dealer.dealt == dealt + 1


def test_the_demo_plays_its_line_and_another_follows() -> None:
    # PySolFC 409: the demo looped without end.
    bench = Bench(start_in_attract=True)
    played = []
    for _ in range(2000):
        change = bench.do(Tick(), 0.1)
        if change.kind is ChangeKind.PLAYED:
            played.append(change.move)
        if change.kind is ChangeKind.ATTRACT:
            break
    else:
        raise AssertionError("the demo did not end in 200 s")
    assert tuple(played) == LINE
    assert bench.dealer.demos > 1
    assert bench.results == [], "the demo is nobody's game"


def in_scene(bench: Bench, kind: SceneKind) -> Change:
    """Wait for a scene: the change that brought it."""
    for _ in range(3000):
        change = bench.do(Tick(), 0.1)
        if bench.session.scene is not None and bench.session.scene.kind is kind:
            return change
    raise AssertionError(f"no scene {kind} in 300 s")


def test_between_demos_words_lie_over_the_same_table() -> None:
    bench = Bench(start_in_attract=True)
    change = in_scene(bench, SceneKind.CALL)
    assert change.kind is ChangeKind.SCENE
    assert change.old == change.new == bench.session.position
    assert bench.session.position.outcome is Outcome.WON, "the cleared table of the demo"
    assert bench.session.demo_move is None
    assert bench.session.demo_line == ()
    change = in_scene(bench, SceneKind.DAILY)
    assert change.kind is ChangeKind.ATTRACT
    assert bench.session.daily
    assert bench.dealer.days == [date(2026, 12, 24)]


def test_the_attract_mode_speaks_the_languages_by_turns_and_a_touch_goes_on_in_the_last() -> None:
    bench = Bench(start_in_attract=True, language="de", languages=("en", "de", "fr"))
    session = bench.session
    assert (session.speaks, session.language) == ("de", "de")
    in_scene(bench, SceneKind.CALL)
    in_scene(bench, SceneKind.DEMO)
    assert (session.speaks, session.language) == ("en", "de")
    in_scene(bench, SceneKind.DAILY)
    in_scene(bench, SceneKind.DEMO)
    assert session.speaks == "fr"
    assert session.saved().language == "de"
    bench.do(Touched())
    assert session.speaks == session.language == "fr"
    bench.do(Tick(), 61)
    assert session.attract
    assert session.language == "de", "nobody is there: the language of the house comes back"


def test_what_nobody_has_read_says_nothing_about_the_language() -> None:
    bench = Bench(start_in_attract=True, language="de", languages=("en", "de", "fr"))
    in_scene(bench, SceneKind.CALL)
    in_scene(bench, SceneKind.DEMO)
    assert bench.session.speaks == "en"
    bench.do(Darken(dark=True))
    bench.do(Touched())
    assert bench.session.language == "de"


def test_the_service_menu_speaks_the_language_of_the_house() -> None:
    bench = Bench(start_in_attract=True, language="de", languages=("en", "de"), menu=service())
    in_scene(bench, SceneKind.CALL)
    in_scene(bench, SceneKind.DEMO)
    assert bench.session.speaks == "en"
    bench.do(Touched())
    assert bench.session.speaks == "en"
    bench.do(OpenService())
    assert bench.session.speaks == "de"
    bench.do(Close())
    assert bench.session.speaks == "en"


def test_whoever_touches_the_deal_of_the_day_plays_it() -> None:
    bench = Bench(start_in_attract=True)
    in_scene(bench, SceneKind.DAILY)
    dealt = bench.dealer.dealt
    shown = bench.session.position
    assert bench.do(Touched()).kind is ChangeKind.WOKE
    assert bench.session.daily
    assert bench.session.position == shown
    assert bench.dealer.dealt == dealt, "no other deal is used up"
    bench.play_line(LINE)
    assert bench.results[0].daily


def test_a_game_left_behind_goes_before_the_deal_of_the_day() -> None:
    bench = Bench(keep_for=3600)
    bench.tap_move(LINE[0])
    kept = bench.session.position
    bench.do(Tick(), 61)
    bench.do(Tick(), 21)
    in_scene(bench, SceneKind.DAILY)
    bench.do(Touched())
    assert bench.session.panel is Panel.CONTINUE
    assert bench.session.position == kept


def test_a_game_that_is_offered_again_and_again_is_kept_no_longer() -> None:
    bench = Bench(attract_after=60.0, countdown=20.0, keep_for=600.0)
    bench.tap_move(LINE[0])
    bench.do(SetLanguage("de"))
    bench.do(Tick(), 61)
    bench.do(Tick(), 21)
    for _ in range(4):
        # Somebody touches the screen, does not answer, and leaves.
        bench.do(Touched(), 50)
        assert bench.session.panel is Panel.CONTINUE
        bench.do(Tick(), 61)
        bench.do(Tick(), 21)
        assert bench.session.attract
    bench.do(Touched())
    bench.do(Close())
    assert bench.session.language == "de", "whoever left it goes on in their own language"
    bench.do(Tick(), 61)
    bench.do(Tick(), 21)
    bench.do(Tick(), 599)
    assert bench.results == [], "whoever went on and left again has all the time again"

    bench = Bench(attract_after=60.0, countdown=20.0, keep_for=600.0)
    bench.tap_move(LINE[0])
    bench.do(Tick(), 61)
    bench.do(Tick(), 21)
    left = bench.now
    bench.do(Touched(), 500)
    bench.do(Tick(), 61)
    bench.do(Tick(), 21)
    bench.do(Tick(), left + 601 - bench.now)
    assert [result.outcome for result in bench.results] == ["abandoned"]


def test_a_sensor_wakes_nobody_up_but_makes_the_scenes_shorter() -> None:
    bench = Bench(start_in_attract=True)
    in_scene(bench, SceneKind.CALL)
    assert bench.do(Somebody(there=True), 12).kind is ChangeKind.NOTHING
    assert bench.session.attract
    bench.do(Tick(), 0.1)
    assert bench.session.scene is not None
    assert bench.session.scene.kind is SceneKind.DEMO
    bench.do(Touched())
    assert bench.do(Somebody(there=False)).kind is ChangeKind.NOTHING
    assert not bench.session.attract


def test_in_the_dark_nothing_is_played_and_in_the_light_something_begins() -> None:
    bench = Bench(start_in_attract=True)
    assert bench.do(Darken(dark=True)).kind is ChangeKind.SCENE
    assert bench.session.dark
    assert bench.do(Darken(dark=True)).kind is ChangeKind.NOTHING
    demos = bench.dealer.demos
    for _ in range(100):
        assert bench.do(Tick(), 60).kind is ChangeKind.NOTHING
    assert bench.dealer.demos == demos
    bench.do(Darken(dark=False))
    assert not bench.session.dark
    assert bench.session.scene is not None
    assert bench.session.scene.began == bench.now
    bench.do(Darken(dark=True))
    assert bench.do(Tap(3)).kind is ChangeKind.WOKE, "a touch wakes in the dark, too"


@pytest.mark.parametrize("outcome", ["won", "lost"])
def test_a_finished_game_that_was_left_is_not_what_the_next_start_begins_with(outcome: str) -> None:
    bench = Bench() if outcome == "won" else stuck_bench()
    if outcome == "won":
        bench.play_line(LINE)
    bench.do(SetLanguage("fr"))
    bench.do(Tick(), 61)
    bench.do(Tick(), 21)
    assert bench.session.attract
    assert bench.do(Tick(), 0.1).kind is ChangeKind.ABANDONED, "which has it kept"
    assert [result.outcome for result in bench.results] == [outcome]
    bench.do(Tick(), 601)
    assert len(bench.results) == 1
    # The power goes at night, with the demo on the screen.
    morning = Bench(start_in_attract=True, saved=bench.session.saved())
    assert morning.session.attract
    morning.do(Touched())
    assert (morning.session.panel, morning.session.language) == (Panel.NONE, "en")
    assert morning.results == []


def test_a_game_left_in_the_dark_is_still_recorded() -> None:
    bench = Bench()
    bench.tap_move(LINE[0])
    bench.do(Tick(), 61)
    bench.do(Tick(), 21)
    bench.do(Darken(dark=True))
    assert bench.do(Tick(), 601).kind is ChangeKind.ABANDONED
    assert [r.outcome for r in bench.results] == ["abandoned"]


@pytest.mark.parametrize("preset", PRESETS)
def test_the_demo_knows_every_preset(preset: str) -> None:
    bench = Bench(preset, start_in_attract=True)
    outcomes = [bench.do(Tick(), 0.5).new.outcome for _ in range(400)]
    assert Outcome.WON in outcomes


def test_a_bad_demo_line_ends_too() -> None:
    game = won_by_hand("three-pass")
    bad = DealtGame(game.deal, game.rules, game.preset, (Move.parse("KH"), *game.line))
    bench = Bench(start_in_attract=True, games=(bad, game))
    for _ in range(3000):
        bench.do(Tick(), 0.1)
        if bench.dealer.demos > 1:
            break
    else:
        raise AssertionError("a demo that cannot go on must give way")


def test_a_saved_game_stands_where_it_stood() -> None:
    bench = Bench()
    for move in LINE[:6]:
        bench.tap_move(move)
    bench.do(Undo())
    bench.do(Hint())
    bench.do(SetLanguage("de"))
    saved = bench.session.saved()
    again = Bench(saved=saved, start_in_attract=True)
    assert not again.session.attract, "somebody's game is on the table"
    assert again.session.position == bench.session.position
    assert again.session.can_redo
    assert again.session.seconds == bench.session.seconds
    assert (again.session.hints, again.session.undos) == (1, 1)
    assert again.session.language == "de"
    assert again.do(Hint()).move == LINE[5], "the pool's line is still followed"


def test_a_saved_game_that_nobody_has_begun_starts_in_attract_mode() -> None:
    assert Bench(saved=Bench().session.saved(), start_in_attract=True).session.attract


def test_what_the_command_line_says_goes_before_what_was_saved() -> None:
    bench = Bench("classic")
    bench.tap_move(won_by_hand("classic").line[0])
    bench.do(SetLanguage("de"))
    saved = bench.session.saved()
    again = Bench("relaxed", saved=saved, language="fr", preset_first=True, language_first=True)
    assert again.session.language == "fr"
    assert again.session.preset == "classic", "the running game is not given up"
    again.do(NewDeal(confirmed=True))
    assert again.session.preset == "relaxed"
    again = Bench("relaxed", saved=saved, language="fr")
    assert again.session.language == "de"
    again.do(NewDeal(confirmed=True))
    assert again.session.preset == "classic"


def test_a_saved_win_shows_its_panel_and_is_not_counted_again() -> None:
    bench = Bench()
    bench.play_line(LINE)
    again = Bench(saved=bench.session.saved())
    assert again.session.panel is Panel.WON
    again.do(NewDeal())
    assert again.results == []


def test_a_bad_save_is_refused_whole() -> None:
    saved = Bench().session.saved()
    with pytest.raises(SaveError):
        Bench(saved=Saved(**{**vars(saved), "game": saved.game.replace('"D"', '"X"') + "x"}))


def test_redo_works_from_the_menu_too() -> None:
    bench = Bench()
    bench.tap_move(LINE[0])
    bench.do(Undo())
    bench.do(Open(Panel.MENU))
    assert bench.do(Redo()).kind is ChangeKind.REDONE
    assert bench.session.panel is Panel.NONE
    assert bench.session.moves_played == 1


def test_a_stuck_game_says_how_far_back_it_could_be_won() -> None:
    bench = stuck_bench(tell=Tell.STUCK)
    assert bench.session.panel is Panel.STUCK
    question, history, _ = bench.adviser.asked[-1]
    assert len(history) == 25
    assert bench.session.moves_back is None
    line = (Move.parse("D"),)
    assert bench.do(AdviceReady(question, Advice(False, 4, line, 9))).kind is ChangeKind.PANEL
    assert bench.session.panel is Panel.STUCK
    assert bench.session.moves_back == 20
    assert bench.do(BackToWinnable()).kind is ChangeKind.WENT_BACK
    assert bench.session.moves_played == 4
    assert bench.do(Hint()).move == line[0]


def test_a_hint_on_the_stuck_table_brings_its_panel_back() -> None:
    bench = stuck_bench()
    bench.do(Close())
    assert bench.do(Hint()).kind is ChangeKind.PANEL
    assert bench.session.panel is Panel.STUCK


def test_a_lost_game_is_told_at_once_if_the_operator_wants_that() -> None:
    bench = Bench(tell=Tell.ALWAYS)
    bench.tap_move(LINE[0])
    assert bench.adviser.asked == [], "on the winning line nothing needs to be asked"
    bench.do(Draw())
    bench.do(Draw())
    question, history, _ = bench.adviser.asked[-1]
    assert history[-1] == bench.session.position
    assert not bench.session.thinking, "nobody waits for this"
    assert bench.do(AdviceReady(question, Advice(False, 1, LINE[1:], 9))).kind is ChangeKind.LOST
    assert bench.session.lost
    assert bench.session.panel is Panel.NONE
    asked = len(bench.adviser.asked)
    bench.do(Draw())
    assert len(bench.adviser.asked) == asked, "what is lost stays lost"
    bench.do(Hint())
    bench.do(AdviceReady(bench.adviser.asked[-1][0], Advice(False, 1, LINE[1:], 9)))
    assert bench.do(BackToWinnable()).kind is ChangeKind.WENT_BACK
    assert not bench.session.lost


def lost_bench(winnable_at: int | None = 1) -> Bench:
    """A game of four moves that was lost by the second, of which the visitor has been told."""
    bench = Bench(tell=Tell.ALWAYS, coaching=False)
    bench.tap_move(LINE[0])
    for _ in range(3):
        bench.do(Draw())
    line = () if winnable_at is None else LINE[1:]
    advice = Advice(False, winnable_at, line, 9)
    assert bench.do(AdviceReady(bench.adviser.asked[-1][0], advice)).kind is ChangeKind.LOST
    return bench


def test_undo_and_redo_know_where_the_game_was_lost() -> None:
    bench = lost_bench()
    told = []
    for command in (Undo(), Undo(), Undo(), Undo(), Redo(), Redo(), Redo(), Redo()):
        bench.do(command)
        told.append((bench.session.moves_played, bench.session.lost))
    lost_at = [(3, True), (2, True), (1, False), (0, False)]
    assert told == [*lost_at, *lost_at[-2::-1], (4, True)]
    assert len(bench.adviser.asked) == 3, "all of it is known"


def test_another_way_from_where_it_could_be_won_is_not_lost() -> None:
    bench = lost_bench()
    for _ in range(3):
        bench.do(Undo())
    bench.tap_move(LINE[1])
    bench.tap_move(LINE[2])
    assert not bench.session.lost
    bench = lost_bench()
    bench.do(Undo())
    bench.do(Undo())
    bench.tap_move(next(bench.session.position.removals()))
    assert bench.session.lost, "what is lost stays lost, whichever way"


def test_where_it_was_lost_is_looked_for_when_it_is_not_known() -> None:
    bench = lost_bench(winnable_at=None)
    assert bench.session.lost
    bench.do(Undo())
    assert not bench.session.lost
    bench.do(Tick(), 0.1)
    question, history, _ = bench.adviser.asked[-1]
    assert history[-1] == bench.session.position
    bench.do(AdviceReady(question, Advice(False, 1, LINE[1:], 9)))
    assert bench.session.lost


@pytest.mark.parametrize("interrupted", [Open(Panel.MENU), NewDeal()])
def test_an_interrupted_look_at_whether_it_is_lost_is_taken_again(interrupted: Command) -> None:
    bench = Bench(tell=Tell.ALWAYS, coaching=False)
    bench.do(Draw())
    bench.do(Draw())
    asked = len(bench.adviser.asked)
    bench.do(interrupted)
    bench.do(Tick(), 0.1)
    assert len(bench.adviser.asked) == asked, "nothing is said over a panel"
    bench.do(Close())
    bench.do(Tick(), 0.1)
    assert len(bench.adviser.asked) == asked + 1
    # The solver gives up: it is not asked the same again.
    bench.do(AdviceReady(bench.adviser.asked[-1][0], None))
    bench.do(Tick(), 0.1)
    assert len(bench.adviser.asked) == asked + 1


def test_a_lost_game_is_told_to_be_so_after_a_restart_too() -> None:
    bench = Bench(tell=Tell.ALWAYS, saved=lost_bench().session.saved())
    bench.do(Tick(), 0.1)
    question, history, _ = bench.adviser.asked[-1]
    assert history[-1] == bench.session.position
    change = bench.do(AdviceReady(question, Advice(False, 1, LINE[1:], 9)))
    assert change.kind is ChangeKind.LOST
    assert bench.session.lost


def test_a_new_deal_instead_of_the_game_that_was_left_is_asked_about_once() -> None:
    bench = Bench(attract_after=60, countdown=20)
    bench.tap_move(LINE[0])
    bench.do(SetAutoPlay(True))
    bench.do(Tick(), 100)
    bench.do(Touched())
    assert bench.session.panel is Panel.CONTINUE
    assert bench.do(NewDeal()).kind is ChangeKind.DEALT
    assert bench.session.panel is Panel.NONE
    assert not bench.session.auto_play, "this is somebody else"
    assert [result.outcome for result in bench.results] == ["abandoned"]


def test_whoever_comes_back_is_asked_in_the_language_just_read_and_goes_on_in_their_own() -> None:
    bench = Bench(language="en", languages=("en", "fr"))
    bench.do(SetLanguage("de"))
    bench.tap_move(LINE[0])
    kept = bench.session.position
    bench.do(Tick(), 61)
    bench.do(Tick(), 21)
    assert bench.session.language == "en"
    in_scene(bench, SceneKind.CALL)
    in_scene(bench, SceneKind.DEMO)
    assert bench.session.speaks == "fr"
    bench.do(Touched())
    assert bench.session.panel is Panel.CONTINUE
    assert bench.session.speaks == "fr"
    assert bench.session.position == kept
    assert bench.do(Tap(Pile.STOCK)).refusal is Refusal.BLOCKED
    bench.do(Close())
    assert bench.session.panel is Panel.NONE
    assert bench.session.language == "de"
    assert bench.session.position == kept


def test_the_look_is_the_visitors_own_and_comes_back_with_the_game() -> None:
    bench = Bench()
    house = bench.session.look
    bench.do(SetLook("left_handed", True))
    own = bench.session.look
    assert own != house
    bench.tap_move(LINE[0])
    bench.do(Tick(), 61)
    bench.do(Tick(), 21)
    assert bench.session.look == house, "the demo is seen by somebody else"
    bench.do(Touched())
    assert bench.session.panel is Panel.CONTINUE
    assert bench.session.look == house
    bench.do(Close())
    assert bench.session.look == own


def test_whoever_takes_a_new_game_from_the_offer_begins_as_the_operator_wants() -> None:
    bench = Bench(auto_play=False)
    house = bench.session.look
    bench.do(NewDeal(preset="cards4"))
    bench.do(SetAutoPlay(True))
    bench.do(SetLook("left_handed", True))
    bench.do(Draw())
    bench.do(Tick(), 61)
    bench.do(Tick(), 21)
    bench.do(Touched())
    assert bench.session.panel is Panel.CONTINUE
    bench.do(SetLanguage("fr"))
    assert bench.do(NewDeal(confirmed=True)).kind is ChangeKind.DEALT
    session = bench.session
    assert (session.preset, session.auto_play, session.look) == ("three-pass", False, house)
    assert session.language == "fr", "chosen at the offer"
    assert session.coached, "they have never played"


def test_from_the_offer_a_new_game_is_one_confirmed_command() -> None:
    bench = Bench()
    bench.tap_move(LINE[0])
    bench.do(Tick(), 61)
    bench.do(Tick(), 21)
    bench.do(Touched())
    assert bench.do(NewDeal(confirmed=True)).kind is ChangeKind.DEALT
    assert bench.session.panel is Panel.NONE
    assert [r.outcome for r in bench.results] == ["abandoned"]


def test_a_game_left_for_ten_minutes_is_abandoned() -> None:
    bench = Bench(auto_play=False)
    bench.do(NewDeal(preset="classic"))
    bench.tap_move(won_by_hand("classic").line[0])
    bench.do(SetAutoPlay(True))
    bench.do(SetLook("four_colour", True))
    assert bench.session.look.four_colour
    bench.do(Tick(), 61)
    bench.do(Tick(), 21)
    assert bench.results == []
    kinds = {bench.do(Tick(), 10).kind for _ in range(60)}
    assert ChangeKind.ABANDONED not in kinds
    assert ChangeKind.ABANDONED in {bench.do(Tick(), 10).kind for _ in range(3)}
    assert [r.outcome for r in bench.results] == ["abandoned"]
    bench.do(Touched())
    assert bench.session.panel is Panel.NONE
    assert bench.session.preset == "three-pass"
    assert bench.session.moves_played == 0
    assert not bench.session.auto_play
    assert not bench.session.look.four_colour


def test_hurried_taps_on_the_stock_do_not_turn_the_waste_over() -> None:
    bench = Bench()
    for _ in range(30):
        bench.do(Tap(Pile.STOCK), 0.1)
    assert bench.session.position.pass_number == 1
    assert not bench.session.position.stock_places
    assert bench.do(Tap(Pile.STOCK), 1.0).kind is ChangeKind.PLAYED
    assert bench.session.position.pass_number == 2


def test_the_grade_is_kept_for_the_next_deals() -> None:
    bench = Bench()
    bench.do(NewDeal(preset="classic", grade=Grade.EASY))
    bench.do(NewDeal())
    assert bench.dealer.wanted[-2:] == [Grade.EASY, Grade.EASY]
    again = Bench(saved=bench.session.saved())
    again.do(NewDeal())
    assert again.dealer.wanted == [Grade.EASY]
    assert again.dealer.presets == ["classic"]


def test_the_daily_deal_is_that_of_the_day() -> None:
    bench = Bench()
    assert bench.do(NewDeal(daily=True)).kind is ChangeKind.DEALT
    assert bench.session.daily
    assert bench.dealer.days == [date(2026, 12, 24)]
    bench.do(NewDeal())
    assert not bench.session.daily


def test_a_number_from_the_pool_is_known_at_once() -> None:
    bench = Bench()
    number = won_by_hand("three-pass").deal.number
    assert number is not None
    bench.do(Open(Panel.NUMBER))
    bench.do(CheckDeal(number))
    assert bench.session.checked == Checked(number, True, False)
    bench.do(NewDeal(number=number))
    assert bench.session.number == number
    assert bench.do(Hint()).kind is ChangeKind.HINTED


@pytest.mark.parametrize("winnable", [True, False, None])
def test_any_other_number_is_solved_first(winnable: bool | None) -> None:
    bench = Bench()
    bench.do(Open(Panel.NUMBER))
    bench.do(CheckDeal(4_000_000_000))
    assert bench.session.checked == Checked(4_000_000_000, None, True)
    assert bench.session.thinking
    question, history, _ = bench.adviser.asked[-1]
    assert history[0].deal.number == 4_000_000_000
    answer = None if winnable is None else Advice(winnable, 0 if winnable else None, (), 3)
    bench.do(AdviceReady(question, answer))
    assert bench.session.checked == Checked(4_000_000_000, winnable, False)
    bench.do(NewDeal(number=4_000_000_000))
    assert bench.session.number == 4_000_000_000


def test_a_number_that_was_taken_away_is_not_looked_into_any_more() -> None:
    bench = Bench()
    bench.do(Open(Panel.NUMBER))
    bench.do(CheckDeal(7))
    question = bench.adviser.asked[-1][0]
    bench.do(CheckDeal(None))
    assert bench.session.checked is None
    assert not bench.session.thinking
    bench.do(AdviceReady(question, Advice(True, 0, (DRAW,), 3)))
    assert bench.session.checked is None


def test_a_number_is_played_by_the_rules_that_were_marked() -> None:
    bench = Bench()
    bench.do(NewDeal(preset="three-pass", grade=Grade.EASY))
    bench.do(Open(Panel.NUMBER, "classic"))
    assert bench.session.number_preset == "classic"
    bench.do(CheckDeal(77))
    assert bench.adviser.asked[-1][1][0].rules == PRESETS["classic"]
    bench.do(NewDeal(preset="classic", number=77))
    assert bench.session.position.rules == PRESETS["classic"]
    with pytest.raises(ValueError, match="golf"):
        bench.do(Open(Panel.NUMBER, "golf"))


def test_a_number_does_not_change_the_grade_of_the_next_deals() -> None:
    bench = Bench()
    bench.do(NewDeal(preset="three-pass", grade=Grade.EASY))
    bench.do(NewDeal(preset="three-pass", number=77))
    bench.do(NewDeal())
    assert bench.dealer.wanted[-1] is Grade.EASY


def test_a_language_chosen_at_the_offer_stays() -> None:
    bench = Bench(language="en")
    bench.do(SetLanguage("de"))
    bench.tap_move(LINE[0])
    bench.do(Tick(), 61)
    bench.do(Tick(), 21)
    bench.do(Touched())
    bench.do(SetLanguage("fr"))
    bench.do(Close())
    assert bench.session.language == "fr"


def test_an_impossible_number_is_an_error_that_changes_nothing() -> None:
    bench = Bench()
    for number in (0, -1, 2**32):
        with pytest.raises(ValueError, match="4294967295"):
            bench.do(NewDeal(number=number))
    assert bench.session.number == won_by_hand("three-pass").deal.number


def test_the_first_game_is_coached_until_the_third_removal() -> None:
    bench = Bench()
    removed = 0
    for move in LINE:
        coached = bench.session.coached
        if removed < 3:
            assert coached, move
            if coached != (Pile.STOCK,):
                cards = [bench.session._place(t) for t in coached]
                assert all(place in bench.session.position.available for place in cards)
        else:
            assert coached == ()
        bench.tap_move(move)
        removed += bool(move.cards)
    assert Bench(coaching=False).session.coached == ()


def test_coaching_goes_on_in_another_deal_until_the_third_removal() -> None:
    bench = Bench()
    bench.tap_move(LINE[0])
    bench.do(NewDeal(confirmed=True))
    assert bench.session.coached
    bench.tap_move(LINE[0])
    bench.tap_move(LINE[1])
    assert bench.session.coached == ()
    bench.do(NewDeal(confirmed=True))
    assert bench.session.coached == (), "nor in the next deal"


def deal_with_a_free_king() -> DealtGame:
    """A game that begins with a free King and a pair, and with a line that draws."""
    for number in range(1, 2000):
        position = Position(Deal.from_number(number), PRESETS["three-pass"])
        kinds = {move.kind for move in position.removals()}
        if kinds == {MoveKind.KING, MoveKind.PAIR}:
            return DealtGame(position.deal, position.rules, "three-pass", (DRAW,))
    raise AssertionError("no deal begins with a King and a pair")


def test_a_free_king_glows_first() -> None:
    bench = Bench(games=(deal_with_a_free_king(),))
    (king,) = bench.session.coached
    assert isinstance(king, int)
    assert bench.session.position.deal.cards[king].is_king


def test_what_glows_is_what_wins_as_soon_as_that_is_known() -> None:
    game, pair = a_pair_beside_a_drawing_line()
    bench = Bench(games=(game,))
    assert bench.session.coached == (Pile.STOCK,), "the line that is known"
    bench.do(Tick(), 0.1)
    question, history, _known = bench.adviser.asked[-1]
    assert history[-1] == bench.session.position
    assert not bench.session.thinking, "nobody waits for it"
    bench.do(Tick(), 0.1)
    assert len(bench.adviser.asked) == 1, "asked once"
    answer = Advice(True, 0, (pair, DRAW), 9)
    assert bench.do(AdviceReady(question, answer)).kind is ChangeKind.PANEL
    places = [bench.session.position.deal.place_of[card] for card in pair.cards]
    assert list(bench.session.coached) == places
    assert bench.session.hinted == (), "it is no hint"
    assert bench.session.hints == 0


def test_what_glows_in_a_lost_game_is_any_pair_and_nothing_is_said() -> None:
    game, pair = a_pair_beside_a_drawing_line()
    bench = Bench(games=(DealtGame(game.deal, game.rules, game.preset, ()),))
    bench.do(Tick(), 0.1)
    change = bench.do(AdviceReady(bench.adviser.asked[-1][0], Advice(False, None, (), 9)))
    assert change.kind is ChangeKind.NOTHING
    assert bench.session.panel is Panel.NONE
    assert not bench.session.lost
    assert len(bench.session.coached) == len(pair.cards)


def test_the_first_pair_and_the_first_king_of_a_newcomer_are_said() -> None:
    bench = Bench()
    said = [(move, bench.tap_move(move).first) for move in LINE]
    firsts = {
        kind: next(move for move in LINE if move.kind is kind)
        for kind in (MoveKind.PAIR, MoveKind.KING)
    }
    assert [move for move, first in said if first] == list(firsts.values())
    bench.do(NewDeal())
    assert not any(bench.tap_move(move).first for move in LINE), "known by now"
    bench = Bench(coaching=False)
    assert not any(bench.tap_move(move).first for move in LINE)


def test_a_newcomer_gets_easy_deals_unless_the_operator_has_set_a_grade() -> None:
    bench = Bench()
    assert bench.dealer.wanted == [Grade.EASY]
    for move in LINE[:8]:
        bench.tap_move(move)
    bench.do(NewDeal(confirmed=True))
    assert bench.dealer.wanted[-1] is None, "no newcomer any more"
    assert Bench(grade=Grade.HARD).dealer.wanted == [Grade.HARD]
    assert Bench(coaching=False).dealer.wanted == [None]
    bench = Bench()
    bench.do(NewDeal(preset="cards4", grade=Grade.MEDIUM))
    assert bench.dealer.wanted[-1] is Grade.MEDIUM, "their own choice"


def test_the_win_is_compared_with_what_was_before() -> None:
    bench = Bench()
    bench.play_line(LINE)
    assert bench.session.before is not None
    assert bench.session.before.played == 0
    first = bench.session.seconds
    bench.do(NewDeal())
    for move in LINE:
        bench.tap_move(move)
    assert bench.session.before.played == 1
    assert bench.session.before.best_seconds == first
    assert bench.session.statistics.of("three-pass").won == 2
    assert bench.session.statistics.of_day(date(2026, 12, 24)).played == 2


@pytest.mark.parametrize("preset", ["golf", "classic"])
def test_a_save_under_other_rules_than_it_says_is_refused(preset: str) -> None:
    saved = Bench().session.saved()
    with pytest.raises(SaveError, match=preset):
        Bench(saved=Saved(**{**vars(saved), "preset": preset}))


@pytest.mark.parametrize("line", ["AH+QH", "R", "D D D", "nonsense"])
def test_a_saved_line_that_does_not_win_is_forgotten(line: str) -> None:
    saved = Bench().session.saved()
    bench = Bench(saved=Saved(**{**vars(saved), "line": line}))
    assert bench.do(Hint()).kind is ChangeKind.THINKING


def test_auto_play_leaves_the_stock_to_be_drawn() -> None:
    bench = Bench("relaxed", auto_play=True)
    for _ in range(24):
        before = len(bench.session.position.stock_places)
        for _ in range(2):
            if len(bench.session.position.stock_places) == before:
                change = bench.do(Tap(Pile.STOCK))
        assert change.kind is ChangeKind.PLAYED
        assert change.move is not None
        assert change.move.kind is not MoveKind.PAIR


COMMANDS: list[Command] = [
    *(Tap(place) for place in range(28)),
    Tap(Pile.STOCK),
    Tap(Pile.WASTE),
    *(Drop(a, b) for a in (0, 21, 27, Pile.STOCK, Pile.WASTE) for b in (3, 22, Pile.WASTE, None)),
    Draw(),
    Undo(),
    Redo(),
    Hint(),
    BackToWinnable(),
    NewDeal(),
    NewDeal(confirmed=True),
    NewDeal(preset="classic"),
    Replay(),
    Replay(confirmed=True),
    Open(Panel.MENU),
    Open(Panel.RULES),
    Open(Panel.CHOOSE),
    Open(Panel.WON),
    Close(),
    Open(Panel.NUMBER),
    Open(Panel.STATISTICS),
    Open(Panel.PAUSE),
    CheckDeal(5189),
    CheckDeal(77),
    CheckDeal(None),
    NewDeal(number=77),
    NewDeal(daily=True),
    NewDeal(preset="cards4", grade=Grade.HARD),
    SetLook("reduced_motion", True),
    SetLanguage("fr"),
    SetAutoPlay(True),
    Tick(),
    Touched(),
]


@settings(max_examples=60, deadline=None)
@given(
    preset=st.sampled_from(list(PRESETS)),
    tell=st.sampled_from(Tell),
    steps=st.lists(
        st.tuples(st.sampled_from(COMMANDS), st.sampled_from([0.0, 0.3, 5.0, 61.0, 200.0])),
        max_size=120,
    ),
)
def test_no_sequence_of_commands_breaks_the_session(
    preset: str, tell: Tell, steps: list[tuple[Command, float]]
) -> None:
    bench = Bench(preset, tell=tell)
    for command, gap in steps:
        change = bench.do(command, gap)
        session = bench.session
        assert change.new == session.position
        assert session.selected is None or session.position.is_present(session.selected)
        assert Game.load(session.saved().game).position == session._table.game.position
        if session.thinking:
            bench.do(AdviceReady(bench.adviser.asked[-1][0], None), 0)
    # From every state a new deal is at most three inputs away: wake, ask, confirm.
    for _ in range(3):
        if bench.do(NewDeal(confirmed=True), 0).kind is ChangeKind.DEALT:
            break
    else:
        raise AssertionError("no way to a new deal")
