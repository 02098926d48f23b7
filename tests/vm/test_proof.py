"""What was safe and what was found, how a game is played on by touch, and the table of it all."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from engine.deal import Deal
from engine.game import Game
from engine.position import DRAW, Move, MoveKind
from engine.rules import Rules
from engine.solver import solve
from kiosk import settings
from kiosk.commands import Pile
from kiosk.sessiontypes import Saved
from vm import proof
from vm.image import GUEST, folder_key, kept, key_of
from vm.machine import READY
from vm.play import LAYOUT, Safe, lines_of, read, targets
from vm.proof import CheckError, judge_cut
from vm.report import LIMITS, Row, markdown, write


def line_of(number: int) -> tuple[str, ...]:
    position = Game(Deal.from_number(number), Rules()).position
    found = solve(position)
    assert found.line
    return tuple(map(str, found.line))


NUMBER = next(n for n in range(1, 100) if solve(Game(Deal.from_number(n), Rules()).position).line)
LINE = line_of(NUMBER)


def at(moves: int, *, results: int = 3, number: int = NUMBER) -> Safe:
    game = Game(Deal.from_number(number), Rules())
    for text in LINE[:moves]:
        game.play(Move.parse(text))
    return Safe(game, LINE, 0, results)


# --- A power cut ---------------------------------------------------------------------------------


@pytest.mark.parametrize("found", [4, 5, 6])
def test_what_was_safe_is_there_and_perhaps_more(found: int) -> None:
    said = judge_cut(at(4), LINE[4:6], at(found))
    assert f"{found - 4} of 2 moves" in said
    assert f"{found} moves were found" in said


def test_a_lost_move_is_told() -> None:
    with pytest.raises(CheckError, match="moves are lost"):
        judge_cut(at(4), LINE[4:6], at(3))


def test_a_move_that_nobody_made_is_told() -> None:
    with pytest.raises(CheckError, match="other moves"):
        judge_cut(at(4), LINE[4:6], at(7))
    other = at(0)
    other.game.play(next(m for m in other.game.position.legal_moves if str(m) != LINE[0]))
    while other.game.index < 4:
        other.game.play(DRAW)
    with pytest.raises(CheckError, match="other moves"):
        judge_cut(at(4), (), other)


def test_another_deal_is_told() -> None:
    other = Safe(Game(Deal.from_number(NUMBER + 1), Rules()), (), 0, 3)
    with pytest.raises(CheckError, match="another deal"):
        judge_cut(at(0), (), other)


def test_a_lost_result_is_told() -> None:
    with pytest.raises(CheckError, match="other results"):
        judge_cut(at(4), (), at(4, results=2))


# --- Playing on ----------------------------------------------------------------------------------


def test_the_line_is_followed_by_touch_to_its_end() -> None:
    safe = at(0)
    while (move := safe.next_move) is not None:
        touched = targets(move, safe.game.position)
        assert len(touched) == (2 if move.kind is MoveKind.PAIR else 1)
        for target in touched:
            place = LAYOUT.target_rect(target).center
            assert LAYOUT.hit(*place, safe.game.position) == target
        safe = safe.after(move)
    # Some of its stock is left: nobody draws from that any more.
    assert safe.game.position.stock_places
    assert safe.moves == LINE
    assert safe.game.outcome.value == "won"


def test_off_the_line_the_stock_is_played() -> None:
    safe = at(0)
    if LINE[0] == "D":
        safe = Safe(safe.game, ("R",), 0, 0)
    else:
        safe.game.play(DRAW)
    assert safe.next_move == DRAW
    assert targets(DRAW, safe.game.position) == (Pile.STOCK,)


def test_a_card_that_lies_elsewhere_cannot_be_touched() -> None:
    position = at(0).game.position
    card = position.deal.stock[5]
    partner = next(c for c in position.deal.cards if c.rank + card.rank == 13)
    with pytest.raises(ValueError, match="cannot be touched"):
        targets(Move.remove(card, partner), position)


def test_a_line_of_the_witness_is_read_as_the_kiosk_wrote_it() -> None:
    safe = at(2)
    saved = Saved(
        game=safe.game.save(),
        preset="three-pass",
        line=" ".join(LINE),
        seconds=1.5,
        hints=0,
        undos=4,
        language="en",
        auto_play=False,
        recorded=False,
    )
    found = read(json.dumps({"saved": asdict(saved), "results": 7}))
    assert found is not None
    assert (found.moves, found.line, found.undos, found.results) == (safe.moves, LINE, 4, 7)
    assert read(json.dumps({"saved": None, "results": 0})) is None


def test_a_line_that_was_cut_off_does_not_count() -> None:
    assert lines_of(b"") == []
    assert lines_of(b'{"saved"') == []
    assert lines_of(b'{"a": 1}\n{"saved"') == ['{"a": 1}']


def test_the_machine_has_the_pins_that_are_pressed() -> None:
    text = (GUEST / "settings.toml").read_text("utf-8")
    found, problems = settings.parse(text)
    assert problems == []
    assert found.buttons.undo == proof.UNDO_PIN
    assert found.buttons.new_deal == proof.NEW_DEAL_PIN
    assert found.lamps.undo == proof.UNDO_LAMP
    assert proof.PRESS < found.buttons.new_deal_hold < proof.HOLD


def test_the_machine_says_and_waits_for_what_is_looked_for() -> None:
    text = (GUEST / "slow.conf").read_text("utf-8")
    ready = (GUEST / "vm-ready.service").read_text("utf-8")
    assert READY.search(ready.partition("ExecStart=")[2])
    assert "Wants=vm-ready.service\n" in text
    assert f"WatchdogSec={proof.WATCHDOG}\n" in text
    assert any(f"watchdog waits for {proof.WATCHDOG} s" in limit for limit in LIMITS)


# --- What is kept --------------------------------------------------------------------------------


def test_what_is_there_is_made_anew_only_when_it_must(tmp_path: Path) -> None:
    made = []

    def make(path: Path) -> None:
        made.append(path)
        path.write_text("x")

    file = tmp_path / "file"
    assert kept(file, "a", make)
    assert not kept(file, "a", make)
    assert kept(file, "b", make)
    file.unlink()
    assert kept(file, "b", make)
    assert len(made) == 3


def test_what_was_half_made_does_not_count(tmp_path: Path) -> None:
    def fail(path: Path) -> None:
        path.mkdir()
        (path / "half").write_text("x")
        raise OSError("disk full")

    folder = tmp_path / "folder"
    with pytest.raises(OSError, match="disk full"):
        kept(folder, "a", fail)
    assert not folder.exists()
    assert kept(folder, "a", lambda path: path.mkdir())
    assert list(folder.iterdir()) == []


def test_keys_tell_what_is_different(tmp_path: Path) -> None:
    assert key_of("ab", "c") != key_of("a", "bc")
    assert key_of("a", b"b") == key_of("a", "b")
    (tmp_path / "one").write_text("1")
    before = folder_key(tmp_path)
    (tmp_path / "one").rename(tmp_path / "two")
    assert folder_key(tmp_path) != before


# --- The table -----------------------------------------------------------------------------------

ROWS = [
    Row("power on", True, 83.2, "ready after\n80 s", "00-power-on.png"),
    Row("a touch | two", False, 400.0, "nothing came", ""),
    Row("power cut 1 of 1", None, 0.0, "the machine was off"),
]


def test_the_table_has_a_line_for_each_check() -> None:
    text = markdown(ROWS, {"host": "two processors"})
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert rows[1:] == [
        "| power on | ok | 83 | ready after 80 s | [00-power-on.png](00-power-on.png) |",
        "| a touch \\| two | FAILED | 400 | nothing came |  |",
        "| power cut 1 of 1 | not reached | 0 | the machine was off |  |",
    ]
    assert "- host: two processors" in text
    for limit in LIMITS:
        assert limit in text


@pytest.mark.parametrize(("count", "passed"), [(1, True), (2, False)])
def test_the_summary_passes_only_if_every_check_did(
    tmp_path: Path, count: int, passed: bool
) -> None:
    write(tmp_path, ROWS[:count], {})
    found = json.loads((tmp_path / "summary.json").read_text("utf-8"))
    assert found["passed"] is passed
    assert [row["name"] for row in found["checks"]] == [row.name for row in ROWS[:count]]
    assert (tmp_path / "summary.md").exists()
