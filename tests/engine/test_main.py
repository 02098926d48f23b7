"""The command line, in this process where it can be and in one of its own where it matters."""

from __future__ import annotations

import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.__main__ import LONGEST_LINE, main
from engine._search import COMPILED
from engine.deal import Deal
from engine.game import Game
from engine.pool import Pool
from engine.pool_build import build
from engine.position import Move, Outcome, Position
from engine.rules import PRESETS, Rules
from engine.shortest import shortest
from engine.winrate import count_deals, default_work_file

ROOT = Path(__file__).resolve().parents[2]
Run = Any


def run_process(*args: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "engine", *args],
        input=stdin,
        capture_output=True,
        cwd=ROOT,
        check=False,
        timeout=120,
    )


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in this process: exit code, standard output, standard error."""

    def run_here(*args: str, stdin: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        try:
            code = main(args)
        except SystemExit as stop:
            code = int(stop.code or 0)
        out, err = capsys.readouterr()
        return code, out, err

    return run_here


def objects(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


# -- deal -------------------------------------------------------------------------------------


def test_deal_prints_the_52_cards(run: Run) -> None:
    code, out, _ = run("deal", "17")
    assert code == 0
    assert out == f"{Deal.from_number(17)}\n"


def test_deal_as_json(run: Run) -> None:
    code, out, _ = run("deal", "--json", "17")
    assert code == 0
    (answer,) = objects(out)
    assert answer["number"] == 17
    assert " ".join(answer["pyramid"] + answer["stock"]) == str(Deal.from_number(17))
    assert len(answer["pyramid"]) == 28


@pytest.mark.parametrize("number", ["0", "4294967296", "x", "", "1.5", "AH", "-7"])
def test_deal_refuses_what_is_no_number(run: Run, number: str) -> None:
    code, out, err = run("deal", "--", number)
    assert (code, out) == (2, "")
    assert "NUMBER" in err


# -- solve ------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ["three-pass", "cards4", "passes=3,goal=deck,stock_playable=yes"])
def test_solve_answers_one_object_a_line_and_the_moves_win(run: Run, rules: str) -> None:
    texts = [str(Deal.from_number(5)), "1", "2", "12"]
    code, out, err = run("solve", "--rules", rules, stdin="\n".join(texts).encode())
    assert (code, err) == (0, "")
    answers = objects(out)
    assert len(answers) == 4
    for text, answer in zip(texts, answers, strict=True):
        assert list(answer) == ["winnable", "moves", "positions", "seconds"]
        assert type(answer["positions"]) is int
        assert answer["seconds"] >= 0
        game = Game(Deal.parse(text), Rules.parse(rules))
        for move in answer["moves"]:
            game.play(Move.parse(move))
        assert (game.outcome is Outcome.WON) == answer["winnable"]


def test_solve_plays_three_pass_unless_told_otherwise(run: Run) -> None:
    first = objects(run("solve", stdin=b"2")[1])[0]
    again = objects(run("solve", "--rules", "three-pass", stdin=b"2")[1])[0]
    other = objects(run("solve", "--rules", "cards4", stdin=b"2")[1])[0]
    assert first["moves"] == again["moves"] != other["moves"]


def test_solve_within_a_limit_is_undecided(run: Run) -> None:
    code, out, _ = run("solve", "--limit", "10", stdin=b"44")
    (answer,) = objects(out)
    assert code == 0
    assert (answer["winnable"], answer["moves"], answer["positions"]) == (None, [], 10)


def test_solve_with_the_least_passes(run: Run) -> None:
    (answer,) = objects(run("solve", "--min-passes", "--rules", "cards4", stdin=b"5")[1])
    assert answer["winnable"] is True
    assert answer["passes"] == answer["moves"].count("R") + 1 > 1


@pytest.mark.parametrize("rules", ["three-pass", "classic"])
def test_solve_with_the_fewest_moves(run: Run, rules: str) -> None:
    numbers = b"1\n14"
    plain = objects(run("solve", "--rules", rules, stdin=numbers)[1])
    fewest = objects(run("solve", "--shortest", "--rules", rules, stdin=numbers)[1])
    assert [a["winnable"] for a in fewest] == [a["winnable"] for a in plain]
    for answer, other in zip(fewest, plain, strict=True):
        assert list(answer) == list(other)
        assert len(answer["moves"]) <= len(other["moves"])
    found = shortest(Position(Deal.from_number(1), PRESETS[rules]))
    assert fewest[0]["moves"] == [str(move) for move in found.line]
    assert fewest[0]["positions"] == found.positions


def test_a_malformed_line_is_reported_and_the_run_goes_on(run: Run) -> None:
    lines = [b"5", b"nonsense", b"", b"AH 2H", b"\xff\xfe\x00", b"4294967296", b"  1  "]
    code, out, err = run("solve", stdin=b"\n".join(lines))
    answers = objects(out)
    assert (code, err) == (2, "")
    assert [answer.get("line") for answer in answers] == [None, 2, 4, 5, 6, None]
    assert [answer.get("winnable") for answer in answers] == [True, None, None, None, None, True]
    assert "'nonsense' is not a card" in answers[1]["error"]
    assert "52 cards, not 2" in answers[2]["error"]
    assert "not UTF-8 text" in answers[3]["error"]
    assert "deal numbers go from 1" in answers[4]["error"]


def test_windows_line_ends_and_a_byte_order_mark_do_no_harm(run: Run) -> None:
    code, out, _ = run("solve", stdin=b"\xef\xbb\xbf5\r\n\r\n1\r\n")
    assert code == 0
    assert [answer["winnable"] for answer in objects(out)] == [True, True]


def test_a_line_without_end_is_one_error(run: Run) -> None:
    code, out, _ = run("solve", stdin=b"A" * (10 * LONGEST_LINE) + b"\n5\n")
    answers = objects(out)
    assert code == 2
    assert answers[0]["line"] == 1
    assert len(answers[0]["error"]) < 200
    assert answers[1]["winnable"] is True
    assert len(answers) == 2


@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(garbage=st.binary(max_size=60))
def test_any_bytes_give_an_answer_for_each_line(run: Run, garbage: bytes) -> None:
    code, out, err = run("solve", "--limit", "0", stdin=garbage)
    lines = [line for line in garbage.split(b"\n") if line.strip()]
    answers = objects(out)
    assert len(answers) == len(lines)
    assert code == (2 if any("error" in answer for answer in answers) else 0)
    assert err == ""


def test_solve_reads_a_file(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "deals.txt"
    path.write_text("5\n1\n")
    code, out, _ = run("solve", str(path))
    assert code == 0
    assert len(objects(out)) == 2


def test_nothing_to_solve_is_no_error(run: Run) -> None:
    assert run("solve", stdin=b"\n \n") == (0, "", "")


@pytest.mark.parametrize("name", ["/no/such/file", "/", "bad\0name"])
def test_a_file_that_cannot_be_read(run: Run, name: str) -> None:
    code, out, err = run("solve", name)
    assert (code, out) == (2, "")
    assert "cannot read" in err


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (["--rules", "passes=0"], "passes is 1, 2, 3"),
        (["--rules", "easy"], "not a preset"),
        (["--limit", "-1"], "not a whole number of 0 or more"),
        (["--limit", "many"], "not a whole number of 0 or more"),
        (["--limit", "9" * 30], "not a whole number of 0 or more"),
        (["--shortest", "--min-passes"], "not allowed with"),
        (["--frobnicate"], "unrecognized arguments"),
    ],
)
def test_bad_options_are_named(run: Run, args: list[str], reason: str) -> None:
    code, out, err = run("solve", *args)
    assert (code, out) == (2, "")
    assert reason in err


# -- pool -------------------------------------------------------------------------------------


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A pool of a few deals."""
    path = tmp_path / "pool.sqlite"
    build(path, {"collection": 2, "three-pass": 1}, portion=1)
    return path


def test_pool_verify_as_json(run: Run, small: Path) -> None:
    code, out, _ = run("pool", "verify", "--pool", str(small), "--json")
    assert code == 0
    (answer,) = objects(out)
    with Pool.open(small) as pool:
        assert answer["digest"] == pool.digest
    assert answer["deals"] == {"three-pass": 3, "collection": 6}


def test_the_shipped_pool_is_the_one_that_is_meant_by_default() -> None:
    ended = run_process("pool", "stats", "--json")
    assert ended.returncode == 0
    (answer,) = objects(ended.stdout.decode())
    with Pool.open() as pool:
        assert answer["digest"] == pool.digest
        assert {row["preset"]: row["deals"] for row in answer["presets"]} == {
            preset: pool.count(preset) for preset in PRESETS
        }


@pytest.mark.slow
def test_every_line_of_the_shipped_pool_wins() -> None:
    """Half a minute; `make pool-verify` does the same."""
    ended = run_process("pool", "verify", "--json")
    assert ended.returncode == 0
    (answer,) = objects(ended.stdout.decode())
    assert sum(answer["deals"].values()) == 18_000


def test_pool_commands_speak_to_people_too(run: Run, small: Path) -> None:
    with Pool.open(small) as pool:
        digest = pool.digest
    code, out, _ = run("pool", "verify", "--pool", str(small))
    assert code == 0
    assert " ".join(out.split()) == (
        f"three-pass 3 deals, every line wins collection 6 deals, every line wins digest {digest}"
    )
    code, out, _ = run("pool", "stats", "--pool", str(small))
    assert code == 0
    assert "easy 2 hard 2 medium 2" in out
    assert digest in out


def test_pool_stats_as_json(run: Run, small: Path) -> None:
    code, out, _ = run("pool", "stats", "--pool", str(small), "--json")
    assert code == 0
    (answer,) = objects(out)
    assert answer["bytes"] == small.stat().st_size
    assert [(row["preset"], row["deals"], row["scanned"]) for row in answer["presets"]] == [
        ("three-pass", 3, 15),
        ("collection", 6, 27),
    ]
    assert [row["grades"] for row in answer["presets"]] == [
        {"easy": 1, "hard": 1, "medium": 1},
        {"easy": 2, "hard": 2, "medium": 2},
    ]
    for row in answer["presets"]:
        assert 0.5 < row["winnable"] < 0.8
        assert 0.05 < row["casual_rate"] < 0.95


def test_an_altered_pool_is_no_success(run: Run, small: Path) -> None:
    with closing(sqlite3.connect(small)) as connection:
        connection.execute("UPDATE deals SET line = x'41'")
        connection.commit()
    for command in ("verify", "stats"):
        code, out, err = run("pool", command, "--pool", str(small))
        assert (code, out) == (1, "")
        assert "pool.sqlite: was altered after it was built" in err


@pytest.mark.parametrize("command", ["verify", "stats"])
def test_a_pool_that_is_not_there(run: Run, tmp_path: Path, command: str) -> None:
    code, out, err = run("pool", command, "--pool", str(tmp_path / "none.sqlite"))
    assert (code, out) == (1, "")
    assert "none.sqlite: there is no such pool file" in err


def test_pool_build(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "pool.sqlite"
    args = ["pool", "build", "--pool", str(path), "--deals", "1"]
    args += ["--presets", "collection,three-pass", "--json"]
    code, out, err = run(*args)
    assert (code, err) == (0, "")
    with Pool.open(path) as pool:
        assert objects(out)[0]["digest"] == pool.digest
        assert [pool.count(preset) for preset in pool.presets] == [3, 3]


@pytest.mark.parametrize(
    "args", [["--presets", "easy"], ["--presets", ""], ["--deals", "0"], ["--workers", "0"]]
)
def test_pool_build_refuses_bad_options(run: Run, tmp_path: Path, args: list[str]) -> None:
    path = tmp_path / "pool.sqlite"
    code, _, err = run("pool", "build", "--pool", str(path), *args)
    assert code == 2
    assert args[0] in err
    assert list(tmp_path.iterdir()) == []


# -- bench ------------------------------------------------------------------------------------


def test_bench_counts_what_solve_counts(run: Run) -> None:
    code, out, _ = run("bench", "--deals", "3", "--rules", "collection", "--json")
    assert code == 0
    (row,) = objects(out)
    solved = objects(run("solve", "--rules", "collection", stdin=b"1\n2\n3")[1])
    assert row["positions"] == sum(answer["positions"] for answer in solved)
    assert row["worst"] == max(answer["positions"] for answer in solved)
    assert row["winnable"] == sum(answer["winnable"] for answer in solved)
    assert row["positions_per_second"] > 0
    assert row["loop"] == ("compiled" if COMPILED else "interpreted")
    assert row["undecided"] == 0


def test_bench_prints_a_row_for_each_preset_and_what_else_it_measures(run: Run) -> None:
    code, out, _ = run("bench", "--deals", "2", "--limit", "50", "--hints", "2")
    assert code == 0
    lines = out.splitlines()
    assert ("compiled" if COMPILED else "interpreted") in lines[0]
    assert [line.split()[0] for line in lines[1:8]] == ["rules", *PRESETS]
    for preset in PRESETS:
        assert f"2 hints off the line of {preset}: median" in out
    assert "12 draws: median" in out
    assert ("the interpreted loop takes" in out) == COMPILED


def test_bench_as_json_says_the_same(run: Run) -> None:
    code, out, _ = run("bench", "--deals", "2", "--limit", "50", "--hints", "2", "--json")
    assert code == 0
    answers = objects(out)
    assert [row["rules"] for row in answers[:6]] == list(PRESETS)
    hints, pool, ratios = answers[6:]
    assert list(hints["hints"]) == list(PRESETS)
    assert pool["pool"]["draws"] == 12
    assert list(ratios["ratios"]) == ["interpreted", "c"]


# -- winrate ----------------------------------------------------------------------------------


def test_winrate_as_json(run: Run, tmp_path: Path) -> None:
    work = tmp_path / "work"
    args = ["--rules", "collection", "--from", "5", "--deals", "60", "--work", str(work)]
    code, out, err = run("winrate", *args, "--json")
    assert (code, err) == (0, "")
    (answer,) = objects(out)
    (counted,) = count_deals((str(PRESETS["collection"]),), 5, 60)
    assert (answer["winnable"], answer["deals"], answer["undecided"]) == (counted.won, 60, 0)
    assert (answer["from"], answer["positions"]) == (5, counted.positions)
    assert answer["interval"][0] < answer["rate"] < answer["interval"][1]
    assert not work.exists()


def test_winrate_speaks_to_people_too(run: Run, tmp_path: Path) -> None:
    work = tmp_path / "work"
    code, out, _ = run("winrate", "--rules", "cards4", "--deals", "30", "--work", str(work))
    assert code == 0
    assert out == (
        "0 of 30 deals can be won, 0 undecided: 0.000%, with 95 % confidence 0.000% to 11.351%\n"
    )


def test_winrate_counts_several_rules_together(run: Run, tmp_path: Path) -> None:
    args = ["--rules", "collection", "--rules", "cards4,passes=2", "--deals", "40"]
    args += ["--work", str(tmp_path / "work")]
    code, out, err = run("winrate", *args, "--json")
    assert (code, err) == (0, "")
    answers = objects(out)
    assert [answer["rules"] for answer in answers] == [
        str(PRESETS["collection"]),
        "passes=2,goal=pyramid,covered=face_down,stock_playable=no,overlap=no",
    ]
    for answer in answers:
        (counted,) = count_deals((answer["rules"],), 1, 40)
        assert (answer["winnable"], answer["deals"]) == (counted.won, 40)
    assert (answers[0]["implied"], answers[1]["implied"] > 0) == (0, True)
    code, out, _ = run("winrate", *args)
    assert [line.split(":")[0] for line in out.splitlines()] == [
        "collection",
        "passes=2,goal=pyramid,covered=face_down,stock_playable=no,overlap=no",
    ]


def test_winrate_keeps_its_progress_in_the_folder_that_it_is_started_in(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = default_work_file([PRESETS["cards4"]], 1)
    name.write_bytes(b"something else" * 100)
    code, out, err = run("winrate", "--rules", "cards4", "--deals", "3")
    assert (code, out) == (2, "")
    assert f"{name}: the work file cannot be used" in err


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        ([], "--rules"),
        (["--rules", "cards4", "--from", "4294967295", "--deals", "2"], "end at 4294967295"),
        (["--rules", "cards4", "--workers", "2", "--dask", "tcp://x:1"], "not allowed with"),
        (["--rules", "cards4", "--dask", "nonsense://nowhere"], "cluster"),
    ],
)
def test_winrate_refuses_bad_options(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    args: list[str],
    reason: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run("winrate", *args)
    assert (code, out) == (2, "")
    assert reason in err


# -- the process ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "args",
    [
        [],
        ["deal"],
        ["solve"],
        ["pool"],
        ["pool", "verify"],
        ["pool", "stats"],
        ["pool", "build"],
        ["bench"],
        ["winrate"],
    ],
    ids=" ".join,
)
def test_every_command_has_help(run: Run, args: list[str]) -> None:
    code, out, err = run(*args, "--help")
    assert (code, err) == (0, "")
    assert "usage: python -m engine" in out


@pytest.mark.parametrize("args", [[], ["pool"], ["play"], ["deal"]], ids=" ".join)
def test_a_command_that_is_incomplete_or_unknown(run: Run, args: list[str]) -> None:
    code, out, err = run(*args)
    assert (code, out) == (2, "")
    assert "usage: python -m engine" in err


def test_the_module_is_a_program() -> None:
    ended = run_process("solve", "--rules", "cards4", "-", stdin=b"1\n\xe9\n")
    assert ended.returncode == 2
    assert ended.stderr == b""
    first, second = objects(ended.stdout.decode())
    assert first["winnable"] is False
    assert second["line"] == 2


def test_a_reader_that_goes_away_ends_it_quietly() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "engine", "solve", "--limit", "0"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
    )
    assert process.stdin and process.stdout and process.stderr
    process.stdin.write(b"1\n")
    process.stdin.flush()
    assert process.stdout.readline()
    process.stdout.close()
    process.stdin.write(b"2\n" * 100)
    process.stdin.close()
    assert process.wait(timeout=60) == 128 + signal.SIGPIPE
    assert process.stderr.read() == b""
    process.stderr.close()


def test_control_c_ends_it_without_a_traceback() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "engine", "solve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
    )
    assert process.stdin and process.stdout
    process.stdin.write(b"1\n")
    process.stdin.flush()
    assert process.stdout.readline()  # it is up, and waits for the next line
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGINT
    assert err.strip() == b"interrupted"


def test_control_c_while_building_with_workers_leaves_work_that_can_go_on(tmp_path: Path) -> None:
    path = tmp_path / "pool.sqlite"
    command = ["pool", "build", "--pool", str(path), "--presets", "overlap", "--deals", "100000"]
    process = subprocess.Popen(
        [sys.executable, "-m", "engine", *command, "--workers", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        start_new_session=True,
    )
    work = tmp_path / "pool.sqlite.work"
    while process.poll() is None and not tried(work):
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers as well
    out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGINT
    assert (out, err.strip()) == (b"", b"interrupted")
    assert tried(work) > 0
    assert not path.exists()


def tried(work: Path) -> int:
    """How many deal numbers a work file has results for."""
    if not work.exists():
        return 0
    with closing(sqlite3.connect(work)) as connection:
        tables = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'tried'")
        if tables.fetchone() == (0,):
            return 0
        return int(connection.execute("SELECT count(*) FROM tried").fetchone()[0])


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("solve <&-", b"standard input"),
        ("deal 1 >/dev/full", b"No space left"),
        ("solve --help >/dev/full", b"No space left"),
        ("deal 1 >&-", b""),
        ("pool stats 2>&- >&-", b""),
    ],
)
def test_streams_that_fail_end_it_with_a_sentence(command: str, reason: bytes) -> None:
    done = subprocess.run(
        ["bash", "-c", f"exec '{sys.executable}' -m engine {command}"],
        capture_output=True,
        cwd=Path(__file__).parents[2],
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert reason in done.stderr
    assert b"Traceback" not in done.stderr


def test_help_can_be_read_where_only_ascii_can() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "engine", "solve", "--help"],
        capture_output=True,
        env={"PYTHONIOENCODING": "ascii", "PATH": "/usr/bin:/bin"},
        cwd=Path(__file__).parents[2],
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    assert b"--min-passes" in done.stdout


def test_a_line_of_blanks_without_end_is_no_blank_line(run: Run) -> None:
    code, out, _ = run("solve", stdin=b" " * 1000 + b"5\n")
    assert code == 2
    assert objects(out)[0]["line"] == 1


def test_pool_build_replaces_nothing_but_a_pool(run: Run, tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("keep me")
    code, _, err = run("pool", "build", "--pool", str(letter), "--deals", "1")
    assert code == 1
    assert str(letter) in err
    assert letter.read_text() == "keep me"
    assert list(tmp_path.iterdir()) == [letter]
