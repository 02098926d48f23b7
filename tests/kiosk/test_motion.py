"""Movements: whatever happens, every animation starts and ends where the cards really lie."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.deal import PYRAMID_SIZE, Deal
from engine.position import DRAW, REDEAL, Move, MoveKind, Outcome, Position
from engine.rules import PRESETS
from kiosk import motion
from kiosk.commands import Change, ChangeKind, Pile, Refusal
from kiosk.layout import Layout
from kiosk.motion import Animation, Key, Pose, Segment, Track, plan, rest, still_scene
from tests.kiosk.fakes import WON_BY_HAND, moves, won_by_hand

LAYOUT = Layout.for_screen(800, 480)
#: What the longest of the ordinary movements may take.
LONGEST = 0.6
#: And the one that follows a win.
LONGEST_CELEBRATION = 2.0

#: A deal whose first move is a pair.
START = Position(won_by_hand("three-pass").deal, PRESETS["three-pass"])


def change(kind: ChangeKind, old: Position, new: Position, move: Move | None = None) -> Change:
    return Change(kind, old, new, move)


def played(old: Position, move: Move) -> Change:
    return change(ChangeKind.PLAYED, old, old.play(move), move)


def undone(old: Position, move: Move) -> Change:
    return change(ChangeKind.UNDONE, old.play(move), old, move)


def animate(made: Change, **options: object) -> Animation:
    animation = plan(made, LAYOUT, **options)  # type: ignore[arg-type]
    assert animation is not None
    return animation


def poses(animation: Animation, t: float) -> dict[Key, Pose]:
    scene = animation.scene(t)
    assert len({key for key, _pose in scene}) == len(scene), "no card is seen twice"
    return dict(scene)


# -- rest ---------------------------------------------------------------------------------------


def test_at_the_start_the_pyramid_lies_open_and_the_stock_shows_its_last_cards() -> None:
    poses = rest(START, LAYOUT)
    pyramid = [key for key in poses if isinstance(key, int) and key < PYRAMID_SIZE]
    assert pyramid == list(range(PYRAMID_SIZE))
    assert all(poses[key].face == 1 for key in pyramid)
    assert (poses[0].x, poses[0].y) == LAYOUT.pyramid[0].pos
    assert [key for key in poses if isinstance(key, int) and key >= PYRAMID_SIZE] == [30, 29, 28]
    assert poses[28] == Pose(*LAYOUT.stock.pos, face=0)
    assert poses[29].y < poses[28].y


def test_covered_cards_lie_face_down_where_the_rules_say_so() -> None:
    poses = rest(Position(START.deal, PRESETS["cards4"]), LAYOUT)
    assert [poses[place].face for place in range(PYRAMID_SIZE)] == [0] * 21 + [1] * 7


def test_the_top_of_a_playable_stock_lies_face_up() -> None:
    poses = rest(Position(START.deal, PRESETS["relaxed"]), LAYOUT)
    assert (poses[28].face, poses[29].face) == (1, 0)


def test_the_waste_shows_its_top_over_the_card_below() -> None:
    position = START.play(DRAW).play(DRAW)
    keys = [key for key, _pose in still_scene(position, LAYOUT)]
    assert keys.index(28) < keys.index(29)
    poses = rest(position, LAYOUT)
    assert (poses[29].x, poses[29].y) == LAYOUT.waste.pos
    assert poses[29].face == 1


def test_the_last_card_of_a_pile_has_nothing_under_it() -> None:
    position = START
    for _ in range(23):
        position = position.play(DRAW)
    below = [k for k in rest(position, LAYOUT) if isinstance(k, int) and k in position.stock_places]
    assert below == [51]


# -- every animation ----------------------------------------------------------------------------


@pytest.mark.parametrize("reduced", [False, True])
@pytest.mark.parametrize("preset", sorted(WON_BY_HAND))
def test_a_whole_game_and_all_of_it_taken_back(preset: str, reduced: bool) -> None:
    dealt = won_by_hand(preset)
    position = Position(dealt.deal, dealt.rules)
    for move in moves(WON_BY_HAND[preset][1]):
        forth, back = played(position, move), undone(position, move)
        for made in (forth, back):
            animation = animate(made, reduced=reduced)
            won = made is forth and made.new.outcome is Outcome.WON and not reduced
            assert 0 < animation.duration <= (LONGEST_CELEBRATION if won else LONGEST)
            end = poses(animation, animation.duration)
            for key, pose in rest(made.new, LAYOUT).items():
                if isinstance(key, Pile) or key < PYRAMID_SIZE or key in made.new.available:
                    assert end[key] == pose
        position = forth.new


@given(st.integers(1, 5000), st.lists(st.integers(0, 10**6), max_size=60))
def test_random_games_never_lose_sight_of_a_card(number: int, choices: list[int]) -> None:
    position = Position(Deal.from_number(number), PRESETS["collection"])
    for choice in choices:
        legal = position.legal_moves
        if not legal:
            break
        move = legal[choice % len(legal)]
        made = played(position, move)
        animation = animate(made)
        removed = {position.deal.place_of[card] for card in move.cards}
        for t in (0.0, 0.05, animation.duration * 0.5, animation.duration):
            seen = poses(animation, t)
            there = set(range(PYRAMID_SIZE)) & {p for p in range(52) if made.new.is_present(p)}
            assert there <= seen.keys()
            if t == 0:
                assert removed <= seen.keys()
        assert not removed & poses(animation, animation.duration).keys()
        position = made.new


def test_a_scene_before_the_beginning_or_after_the_end_is_the_first_or_the_last() -> None:
    animation = animate(played(START, DRAW))
    assert animation.scene(-1) == animation.scene(0)
    assert animation.scene(99) == animation.scene(animation.duration)


def test_nothing_moves_when_nothing_changed() -> None:
    for kind in (ChangeKind.SELECTED, ChangeKind.HINTED, ChangeKind.PANEL, ChangeKind.OPTION):
        assert plan(change(kind, START, START), LAYOUT) is None


# -- one by one ---------------------------------------------------------------------------------


def test_a_drawn_card_is_turned_over_on_its_way_above_everything() -> None:
    animation = animate(played(START, DRAW))
    faces = [poses(animation, t)[28].face for t in (0, animation.duration / 2, animation.duration)]
    assert faces[0] == 0 and faces[2] == 1 and 0.2 < faces[1] < 0.8
    for t in (0.0, 0.1, 0.2):
        assert animation.scene(t)[-1][0] == 28
    middle = poses(animation, animation.duration / 2)[28]
    assert middle.lift > 0.9
    assert LAYOUT.stock.x < middle.x < LAYOUT.waste.x


def test_the_next_card_of_a_playable_stock_turns_over_when_one_is_drawn() -> None:
    start = Position(START.deal, PRESETS["relaxed"])
    animation = animate(played(start, DRAW))
    assert poses(animation, 0)[29].face == 0
    assert poses(animation, animation.duration)[29].face == 1
    assert poses(animation, animation.duration / 2)[28].face == 1


def test_a_redeal_turns_the_waste_over_and_keeps_its_order() -> None:
    position = START
    for _ in range(24):
        position = position.play(DRAW)
    made = played(position, REDEAL)
    animation = animate(made)
    first = animation.scene(0)
    assert first[-1][0] == 51, "the last card drawn still lies on top"
    last = [key for key, _pose in animation.scene(animation.duration)]
    assert last[-1] == 28, "and the first one drawn is drawn first again"
    assert all(pose.face == 0 for key, pose in animation.scene(animation.duration) if key == 28)


def test_a_redeal_of_a_playable_stock_shows_its_top_at_the_end() -> None:
    position = Position(START.deal, PRESETS["collection"])
    for _ in range(24):
        position = position.play(DRAW)
    animation = animate(played(position, REDEAL))
    end = poses(animation, animation.duration)
    assert (end[28].face, end[29].face) == (1, 0)


@pytest.mark.parametrize("preset", ["three-pass", "collection"])
def test_a_redeal_taken_back_ends_with_the_waste_as_it_was(preset: str) -> None:
    position = Position(START.deal, PRESETS[preset])
    for _ in range(24):
        position = position.play(DRAW)
    animation = animate(undone(position, REDEAL))
    end = poses(animation, animation.duration)
    assert end[51] == rest(position, LAYOUT)[51]
    assert animation.scene(animation.duration)[-1][0] == 51
    assert 28 not in end or end[28].x == LAYOUT.waste.x


def test_two_cards_meet_and_leave_together() -> None:
    move = next(m for m in START.legal_moves if m.kind is MoveKind.PAIR)
    a, b = (START.deal.place_of[card] for card in move.cards)
    animation = animate(played(START, move))
    met = poses(animation, motion.MEET_TIME)
    assert met[a].y == met[b].y
    assert 0 < abs(met[a].x - met[b].x) < LAYOUT.card_width
    # The left one stays on the left: they do not cross.
    left = min((a, b), key=lambda place: LAYOUT.pyramid[place].x)
    right = a + b - left
    assert met[left].x < met[right].x
    late = poses(animation, animation.duration - 0.02)
    assert late[a].alpha < 0.5
    assert {key for key, _pose in animation.scene(0.1)[-2:]} == {a, b}


def test_a_card_that_becomes_exposed_is_turned_over() -> None:
    dealt = won_by_hand("cards4")
    position = Position(dealt.deal, dealt.rules)
    turned = 0
    for move in dealt.line:
        made = played(position, move)
        animation = animate(made)
        for place in range(PYRAMID_SIZE):
            if made.new.is_exposed(place) and not position.is_exposed(place):
                turned += 1
                assert poses(animation, 0)[place].face == 0
                assert poses(animation, animation.duration)[place].face == 1
        position = made.new
    assert turned == 21


def test_undo_is_the_move_played_backwards() -> None:
    forth, back = animate(played(START, DRAW)), animate(undone(START, DRAW))
    assert back.duration < forth.duration
    for share in (0.25, 0.5, 0.9):
        there = poses(back, share * back.duration)[28]
        was = poses(forth, (1 - share) * forth.duration)[28]
        assert (there.x, there.face) == (pytest.approx(was.x), pytest.approx(was.face))
    assert poses(back, 0)[28] == poses(forth, forth.duration)[28]
    assert poses(back, back.duration)[28] == poses(forth, 0)[28]


def test_the_deal_is_short_and_fills_the_pyramid_from_above() -> None:
    animation = animate(change(ChangeKind.DEALT, START.play(DRAW), START))
    assert animation.duration <= LONGEST
    seen = [
        len([k for k, _ in animation.scene(t) if isinstance(k, int) and k < 28])
        for t in (0.0, 0.15, 0.3, animation.duration)
    ]
    assert seen == sorted(seen) and seen[0] <= 1 and seen[-1] == 28
    assert dict(animation.scene(animation.duration)) == rest(START, LAYOUT)


def test_a_demo_is_dealt_and_so_is_a_fresh_game_after_it() -> None:
    other = Position(Deal.from_number(2), PRESETS["three-pass"])
    assert plan(change(ChangeKind.ATTRACT, START, other), LAYOUT) is not None
    assert plan(change(ChangeKind.WOKE, START, other), LAYOUT) is not None
    running = other.play(DRAW)
    assert plan(change(ChangeKind.WOKE, START, running), LAYOUT) is None, "it lies as it lay"


def test_going_back_several_moves_brings_back_what_left() -> None:
    dealt = won_by_hand("three-pass")
    position = start = Position(dealt.deal, dealt.rules)
    for move in dealt.line[:12]:
        position = position.play(move)
    animation = animate(change(ChangeKind.WENT_BACK, position, start))
    assert animation.duration <= LONGEST
    assert dict(animation.scene(animation.duration)) == rest(start, LAYOUT)
    gone = [p for p in range(PYRAMID_SIZE) if not position.is_present(p)]
    assert gone
    assert all(poses(animation, 0.3)[place].alpha > 0 for place in gone)


# -- refusals -----------------------------------------------------------------------------------


def refused(refusal: Refusal, *targets: int | Pile) -> Change:
    return Change(ChangeKind.REFUSED, START, START, None, refusal, targets)


def test_a_covered_card_shakes_and_what_covers_it_glows() -> None:
    animation = animate(refused(Refusal.COVERED, 15, 21, 22))
    during = [poses(animation, t) for t in (0.03, 0.06, 0.1, 0.15, 0.2)]
    home = LAYOUT.pyramid[15].x
    offsets = [seen[15].x - home for seen in during]
    assert max(offsets) > 1 and min(offsets) < -1
    assert max(abs(offset) for offset in offsets) < LAYOUT.card_width / 10
    assert max(seen[21].heat for seen in during) > 0.8
    assert all(seen[21].x == LAYOUT.pyramid[21].x and seen[15].heat == 0 for seen in during)
    assert dict(animation.scene(animation.duration)) == rest(START, LAYOUT)


def test_two_cards_that_are_no_pair_both_shake() -> None:
    animation = animate(refused(Refusal.NOT_THIRTEEN, 21, 22))
    seen = poses(animation, 0.03)
    assert seen[21].x != LAYOUT.pyramid[21].x and seen[22].x != LAYOUT.pyramid[22].x


def test_an_empty_stock_shakes_too() -> None:
    position = START
    for _ in range(24):
        position = position.play(DRAW)
    made = Change(ChangeKind.REFUSED, position, position, None, Refusal.NO_STOCK, (Pile.STOCK,))
    assert poses(animate(made), 0.03)[Pile.STOCK].x != LAYOUT.stock.x


def test_with_reduced_motion_nothing_is_ever_elsewhere_than_in_its_place() -> None:
    made = refused(Refusal.COVERED, 15, 21, 22)
    animation = animate(made, reduced=True)
    assert poses(animation, 0.1)[15].x == LAYOUT.pyramid[15].x
    assert poses(animation, 0.1)[15].heat > 0
    fading = animate(played(START, DRAW), reduced=True)
    for t in (0.0, 0.05, 0.1):
        assert all(
            (pose.x, pose.face) in {(LAYOUT.waste.x, 1.0), (LAYOUT.stock.x, 0.0)}
            for key, pose in fading.scene(t)
            if isinstance(key, int) and key >= PYRAMID_SIZE
        )


# -- dragging -----------------------------------------------------------------------------------


def test_a_dropped_card_leaves_from_where_it_was_dropped() -> None:
    move = next(m for m in START.legal_moves if m.kind is MoveKind.PAIR)
    a, b = (START.deal.place_of[card] for card in move.cards)
    held: dict[Key, Pose] = {a: Pose(LAYOUT.pyramid[b].x + 5, LAYOUT.pyramid[b].y + 5, lift=1)}
    animation = animate(played(START, move), held=held)
    assert poses(animation, 0)[a] == held[a]


def test_a_refused_drop_flies_back() -> None:
    held: dict[Key, Pose] = {21: Pose(400, 300, lift=1)}
    animation = animate(refused(Refusal.NOT_THIRTEEN, 21, 22), held=held)
    assert poses(animation, 0)[21].x == 400
    assert animation.scene(0.05)[-1][0] == 21
    assert poses(animation, animation.duration)[21] == rest(START, LAYOUT)[21]
    back = motion.put_back(START, LAYOUT, held)
    assert back is not None
    assert dict(back.scene(back.duration)) == rest(START, LAYOUT)


# -- parts --------------------------------------------------------------------------------------


@pytest.mark.parametrize("ease", [motion.ease_in, motion.ease_out, motion.ease_both])
def test_easing_begins_at_nothing_ends_at_all_and_never_turns_back(ease: motion.Ease) -> None:
    values = [ease(i / 50) for i in range(51)]
    assert values[0] == 0 and values[-1] == 1
    assert values == sorted(values)


def test_a_track_waits_between_its_segments() -> None:
    a, b, c = Pose(0, 0), Pose(10, 0), Pose(10, 20)
    track = Track(0, (Segment(1, 2, a, b), Segment(3, 4, b, c)), z=1, hidden_before=True)
    assert track.at(0.5) is None
    assert track.at(1) == a
    assert track.at(2.5) == b
    assert track.at(4) == c and track.at(9) == c
    assert track.end == 4


# -- shade and celebration ------------------------------------------------------------------------


def test_covered_cards_lie_in_the_shade_until_they_are_free() -> None:
    shaded = {key for key, pose in rest(START, LAYOUT).items() if pose.shade}
    assert shaded == set(range(PYRAMID_SIZE - 7))


def test_what_overlap_lets_be_played_is_not_in_the_shade() -> None:
    reached: list[int] = []
    number = 0
    while not reached:
        number += 1
        position = Position(Deal.from_number(number), PRESETS["overlap"])
        while position.can_draw and not reached:
            position = position.play(next(iter(position.removals()), DRAW))
            free = position.available
            reached = [p for p in range(PYRAMID_SIZE) if position.partners(p) and p not in free]
    shade = {key: pose.shade for key, pose in rest(position, LAYOUT).items()}
    assert all(shade[place] == 0 for place in reached)
    assert 1 in shade.values()


def test_a_card_comes_out_of_the_shade_step_by_step() -> None:
    move = next(iter(START.removals()))
    old = START
    while not (freed := set(range(21)) & set(old.play(move).available) - set(old.available)):
        old = old.play(move)
        move = next(iter(old.removals()), DRAW)
    animation = animate(played(old, move))
    (place, *_) = freed
    shades = [poses(animation, t * animation.duration / 20)[place].shade for t in range(21)]
    assert shades[0] == 1
    assert shades[-1] == 0
    assert shades == sorted(shades, reverse=True)
    assert any(0 < shade < 1 for shade in shades)


def won_game() -> tuple[Position, Move]:
    """The last move of a game that is won, and the position before it."""
    known = won_by_hand("three-pass")
    position = Position(known.deal, known.rules)
    for move in known.line[:-1]:
        position = position.play(move)
    return position, known.line[-1]


def test_a_win_is_celebrated_for_less_than_two_seconds() -> None:
    won = played(*won_game())
    assert won.new.outcome is Outcome.WON
    animation = animate(won)
    assert LONGEST < animation.duration <= LONGEST_CELEBRATION
    shining: set[Key] = set()
    for frame in range(120):
        shining |= {key for key, pose in poses(animation, frame / 60).items() if pose.glow}
    assert len(shining) == PYRAMID_SIZE
    assert not any(won.new.is_present(key) for key in shining if isinstance(key, int))
    assert animation.scene(animation.duration) == still_scene(won.new, LAYOUT)


def test_with_reduced_motion_a_win_is_not_celebrated() -> None:
    animation = animate(played(*won_game()), reduced=True)
    assert animation.duration == motion.FADE_TIME
    assert all(pose.glow == 0 for pose in poses(animation, 0.1).values())
