"""The pool: what is shipped, what is handed out, and which files are refused."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.deal import Deal
from engine.difficulty import CASUAL_GAMES, Grade, grade_of
from engine.game import Game
from engine.pool import (
    DEFAULT_PATH,
    NewerPoolError,
    Pool,
    PoolDeal,
    PoolError,
    PoolRow,
    decode_line,
    digest_of,
    encode_line,
)
from engine.pool_build import write
from engine.position import DRAW, REDEAL, Move, Outcome
from engine.rules import PRESETS

# Content, not file: rebuilding the pool with the same solver gives the same digest.
SHIPPED_DIGEST = "23dde283fa2b2fad90962da82c80ced9a4d38b23904503f130dbaf9f1720fe87"


@pytest.fixture(scope="module")
def shipped() -> Iterator[Pool]:
    with Pool.open() as pool:
        yield pool


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A pool of three graded deals of one preset and two of another."""
    with Pool.open() as pool:
        rows = [
            row(pool.deal("three-pass", 0), 1, 1800),
            row(pool.deal("three-pass", 1), 3, 20),
            row(pool.deal("three-pass", 2), 3, 50),
            row(pool.deal("cards4", 0), None, None),
            row(pool.deal("cards4", 1), None, None),
        ]
    return written(tmp_path / "small.sqlite", rows)


def row(deal: PoolDeal, grade: int | None, casual_wins: int | None) -> PoolRow:
    return PoolRow(deal.preset, deal.number, encode_line(deal.deal, deal.line), grade, casual_wins)


def written(path: Path, rows: list[PoolRow]) -> Path:
    rows = sorted(rows, key=lambda r: (r.preset, r.number))
    counts = [
        (name, str(PRESETS[name]), sum(r.preset == name for r in rows), 1000, 100)
        for name in sorted({r.preset for r in rows})
    ]
    write(path, counts, rows)
    return path


def changed(path: Path, statement: str) -> Path:
    """Change a pool file behind its back."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()
    return path


# -- what is shipped --------------------------------------------------------------------------


def test_the_shipped_pool_has_1000_deals_of_every_preset_and_grade(shipped: Pool) -> None:
    assert shipped.presets == tuple(PRESETS)
    for preset in PRESETS:
        assert [shipped.count(preset, grade) for grade in Grade] == [1000, 1000, 1000]
        assert shipped.count(preset) == len(set(shipped.numbers(preset))) == 3000
        assert shipped.scanned(preset) == shipped.numbers(preset)[-1]
        assert shipped.count(preset) <= shipped.winnable(preset) < shipped.scanned(preset)
    assert shipped.path == DEFAULT_PATH
    assert DEFAULT_PATH.stat().st_size < 6_000_000
    assert shipped.digest == SHIPPED_DIGEST


def test_shipped_lines_win_through_a_game(shipped: Pool) -> None:
    """A sample; `make pool-verify` replays all of them."""
    for preset in PRESETS:
        for index in range(0, shipped.count(preset), 50):
            deal = shipped.deal(preset, index)
            game = Game(deal.deal, deal.rules)
            for move in deal.line:
                game.play(move)
            assert game.outcome is Outcome.WON


def test_a_deal_is_found_by_index_and_by_number(shipped: Pool) -> None:
    deal = shipped.deal("cards4", 7)
    assert deal == shipped.find("cards4", deal.number)
    assert deal.number == shipped.numbers("cards4")[7]
    assert deal.rules == PRESETS["cards4"]
    assert deal.deal == Deal.from_number(deal.number)
    assert deal.grade is not None
    assert deal.casual_rate is not None
    assert deal.grade is grade_of(round(deal.casual_rate * CASUAL_GAMES))


@pytest.mark.parametrize("number", [0, -1, 2**32, 2**80, 4294967295])
def test_a_number_that_the_pool_does_not_have(shipped: Pool, number: int) -> None:
    assert shipped.find("cards4", number) is None


def test_an_index_out_of_range(shipped: Pool) -> None:
    for index in (-1, shipped.count("cards4")):
        with pytest.raises(IndexError, match="cards4 has deals 0 to"):
            shipped.deal("cards4", index)


def test_a_preset_that_the_pool_does_not_have(small: Path) -> None:
    with Pool.open(small) as pool:
        assert pool.presets == ("three-pass", "cards4")
        for ask in (
            lambda: pool.count("relaxed"),
            lambda: pool.find("relaxed", 1),
            lambda: pool.scanned("relaxed"),
            lambda: pool.daily("relaxed", date(2026, 1, 1)),
            lambda: pool.draw("relaxed", Random(1), []),
        ):
            with pytest.raises(PoolError, match=r"small\.sqlite: has no deals of 'relaxed'"):
                ask()


def test_grades_and_rates(small: Path) -> None:
    with Pool.open(small) as pool:
        assert pool.count("three-pass", Grade.EASY) == 1
        assert pool.count("three-pass", Grade.MEDIUM) == 0
        assert pool.count("three-pass", Grade.HARD) == 2
        assert pool.deal("three-pass", 0).grade is Grade.EASY
        assert pool.deal("three-pass", 0).casual_rate == 0.9
        assert pool.scanned("three-pass") == 1000
        assert pool.winnable("three-pass") == 100
        with pytest.raises(PoolError, match="no deals of three-pass graded medium"):
            pool.draw("three-pass", Random(1), [], Grade.MEDIUM)


# -- the daily deal ---------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
def test_no_daily_deal_comes_twice_within_a_year(shipped: Pool, preset: str) -> None:
    start = date(2027, 11, 3)
    numbers = [shipped.daily(preset, start + timedelta(days)).number for days in range(366)]
    assert len(set(numbers)) == 366


def test_the_daily_deal_is_the_same_everywhere(shipped: Pool) -> None:
    with Pool.open() as another:
        for days in range(10):
            day = date(2026, 12, 28) + timedelta(days)
            assert another.daily("cards4", day) == shipped.daily("cards4", day)
    # Pinned: with this pool, every kiosk has these.
    assert [shipped.daily(preset, date(2027, 1, 1)).number for preset in PRESETS] == [
        796,
        13996,
        5874,
        7621,
        779,
        2129,
    ]


def test_a_small_pool_gives_each_deal_once_before_any_twice(small: Path) -> None:
    with Pool.open(small) as pool:
        for start in range(5):
            days = [date(2026, 2, 27) + timedelta(start + i) for i in range(3)]
            assert len({pool.daily("three-pass", day).number for day in days}) == 3


# -- drawing ----------------------------------------------------------------------------------


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32))
def test_drawing_gives_every_deal_once_before_any_twice(seed: int) -> None:
    rng = Random(seed)
    seen: list[int] = []
    with Pool.open() as pool:
        count = 10
        seen = list(pool.numbers("cards4")[count:])
        drawn = [pool.draw("cards4", rng, seen).number for _ in range(count)]
        assert sorted(drawn) == list(pool.numbers("cards4")[:count])
        again = pool.draw("cards4", rng, seen).number
        assert again != drawn[-1]
        assert seen == [drawn[-1], again]


def test_drawing_uses_no_chance_but_what_it_is_given(shipped: Pool) -> None:
    def numbers(seed: int) -> list[int]:
        rng = Random(seed)
        seen: list[int] = []
        return [shipped.draw("three-pass", rng, seen).number for _ in range(10)]

    assert numbers(1) == numbers(1) != numbers(2)


def test_drawing_within_a_grade(small: Path) -> None:
    with Pool.open(small) as pool:
        seen: list[int] = []
        drawn = [pool.draw("three-pass", Random(1), seen, Grade.HARD).number for _ in range(6)]
        assert set(drawn) == set(pool.numbers("three-pass", Grade.HARD))
        assert all(a != b for a, b in pairwise(drawn))
        only = pool.numbers("three-pass", Grade.EASY)
        seen = []
        for _ in range(3):  # with a single deal there is nothing else to give
            assert pool.draw("three-pass", Random(1), seen, Grade.EASY).number == only[0]


# -- files that are not as they should be -----------------------------------------------------


def refused(path: Path) -> str:
    with pytest.raises(PoolError) as caught:
        Pool.open(path)
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_a_missing_file(tmp_path: Path) -> None:
    assert "there is no such pool file" in refused(tmp_path / "none.sqlite")
    assert "there is no such pool file" in refused(tmp_path)
    assert not (tmp_path / "none.sqlite").exists()


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\x00", b"no database at all" * 500])
def test_a_file_that_is_no_pool(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "odd.sqlite"
    path.write_bytes(content)
    assert "damaged or no pool" in refused(path)


def test_a_database_of_something_else(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    changed(path, "CREATE TABLE meta (key TEXT, value TEXT)")
    assert "is not a pyramid-pool file" in refused(path)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9, 0.99])
def test_a_truncated_file(tmp_path: Path, share: float) -> None:
    whole = DEFAULT_PATH.read_bytes()
    path = tmp_path / "short.sqlite"
    path.write_bytes(whole[: int(len(whole) * share)])
    refused(path)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM deals WHERE rowid_number = 1",
        "UPDATE deals SET number = number + 1000000 WHERE preset = 'cards4'",
        "UPDATE deals SET line = x'41' WHERE preset = 'cards4'",
        "UPDATE deals SET line = 'text'",
        "UPDATE deals SET grade = 2",
        "UPDATE deals SET casual_wins = 1",
        "UPDATE presets SET rules = 'passes=9'",
        "DELETE FROM presets WHERE preset = 'cards4'",
        "UPDATE meta SET value = 'x' WHERE key = 'digest'",
        "DELETE FROM meta WHERE key = 'digest'",
    ],
)
def test_an_altered_file(small: Path, statement: str) -> None:
    first = "(SELECT min(number) FROM deals)"
    changed(small, statement.replace("rowid_number = 1", f"number = {first}"))
    message = refused(small)
    assert "altered after it was built" in message or "wrong type" in message


def test_any_byte_changed_is_refused_or_does_not_matter(tmp_path: Path) -> None:
    """Free space of the file may hold anything; what is handed out must not change."""
    whole = DEFAULT_PATH.read_bytes()
    rng = Random(8)
    path = tmp_path / "bent.sqlite"
    noticed = 0
    for _ in range(25):
        bent = bytearray(whole)
        bent[rng.randrange(len(bent))] ^= 1 << rng.randrange(8)
        path.write_bytes(bent)
        try:
            with Pool.open(path) as pool:
                assert pool.digest == SHIPPED_DIGEST
                for preset in PRESETS:
                    pool.deal(preset, rng.randrange(pool.count(preset)))
        except PoolError:
            noticed += 1
    assert noticed > 10


@pytest.mark.parametrize("version", ["3", "10"])
def test_a_newer_file_is_told_apart(small: Path, version: str) -> None:
    changed(small, f"UPDATE meta SET value = '{version}' WHERE key = 'version'")
    with pytest.raises(NewerPoolError, match=f"of version {version}, this program knows up to 2"):
        Pool.open(small)


def test_a_file_of_before_is_refused(small: Path) -> None:
    changed(small, "UPDATE meta SET value = '1' WHERE key = 'version'")
    assert "of version 1, which this program no longer reads" in refused(small)


@pytest.mark.parametrize("version", ["0x1", "", "one", "²"])
def test_a_file_without_a_version(small: Path, version: str) -> None:
    changed(small, f"UPDATE meta SET value = '{version}' WHERE key = 'version'")
    assert "no valid version" in refused(small)


def test_a_line_that_does_not_win_is_never_handed_out(tmp_path: Path) -> None:
    """Even with a digest that fits."""
    with Pool.open() as pool:
        good = pool.deal("three-pass", 0)
    for line in (good.line[:-1], good.line[1:], ()):
        bad = PoolRow("three-pass", good.number, encode_line(good.deal, line))
        with Pool.open(written(tmp_path / "bad.sqlite", [bad])) as pool:
            for ask in (
                lambda: pool.deal("three-pass", 0),
                lambda: pool.find("three-pass", good.number),
                lambda: pool.daily("three-pass", date(2026, 5, 1)),
                lambda: pool.draw("three-pass", Random(1), []),
                lambda: list(pool.verify()),
            ):
                with pytest.raises(PoolError, match=f"bad.sqlite: three-pass deal {good.number}"):
                    ask()


@pytest.mark.parametrize(
    ("number", "line", "grade"),
    [(0, b"", None), (2**40, b"", None), (1, b"\xff", None), (1, b"\x00", None), (1, b"", 9)],
)
def test_rows_that_make_no_sense_are_refused(
    tmp_path: Path, number: int, line: bytes, grade: int | None
) -> None:
    path = written(tmp_path / "odd.sqlite", [PoolRow("cards4", number, line, grade)])
    with Pool.open(path) as pool, pytest.raises(PoolError, match=r"odd\.sqlite: cards4 deal"):
        pool.deal("cards4", 0)


def test_a_pool_made_for_other_rules_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    write(path, [("cards4", "passes=2", 0, 0, 0)], [])
    assert "other rules for cards4" in refused(path)


def test_a_count_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "short.sqlite"
    write(path, [("cards4", str(PRESETS["cards4"]), 3, 50, 4)], [])
    assert "not as many deals of cards4" in refused(path)


def test_presets_of_a_later_program_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "later.sqlite"
    later = PoolRow("giza", 1, b"\x41")
    write(path, [("giza", "tableau=3", 1, 1, 1)], [later])
    with Pool.open(path) as pool:
        assert pool.presets == ()
        assert list(pool.verify()) == []


def test_any_damage_of_the_schema_page_is_a_pool_error(tmp_path: Path, small: Path) -> None:
    whole = small.read_bytes()
    path = tmp_path / "bent.sqlite"
    for place in range(0, 4096, 16):
        bent = bytearray(whole)
        bent[place] ^= 0xFF
        path.write_bytes(bent)
        try:
            Pool.open(path).close()
        except PoolError as error:
            assert str(path) in str(error)


def test_the_file_can_be_read_where_nothing_can_be_written(tmp_path: Path, small: Path) -> None:
    """Immutable: no journal, no lock file, odd characters in the path or not."""
    home = tmp_path / "ein Ordner? #1 %41"
    home.mkdir()
    path = home / "pool.sqlite"
    path.write_bytes(small.read_bytes())
    path.chmod(0o444)
    home.chmod(0o555)
    try:
        with Pool.open(path) as pool:
            assert pool.count("cards4") == 2
            assert [entry.name for entry in home.iterdir()] == ["pool.sqlite"]
    finally:
        home.chmod(0o755)


def test_a_closed_pool_gives_nothing(small: Path) -> None:
    pool = Pool.open(small)
    pool.close()
    with pytest.raises(PoolError):
        pool.deal("cards4", 0)


# -- packed lines -----------------------------------------------------------------------------

DEAL = Deal.from_number(1)
REMOVALS = [Move.remove(a, b) for a in DEAL.cards for b in DEAL.cards if a.rank + b.rank == 13] + [
    Move.remove(card) for card in DEAL.cards if card.is_king
]


@given(st.lists(st.sampled_from([DRAW, DRAW, REDEAL, *REMOVALS[::9]]), max_size=200))
def test_a_line_is_unpacked_as_it_was(line: list[Move]) -> None:
    packed = encode_line(DEAL, line)
    assert decode_line(DEAL, packed) == tuple(line)
    assert len(packed) <= sum(max(1, len(move.cards)) for move in line)


def test_the_packed_form_is_pinned() -> None:
    text = "D D D 7D+6D R KD D"
    line = [Move.parse(word) for word in text.split()]
    places = sorted(DEAL.place_of[card] for card in line[3].cards)
    assert encode_line(DEAL, line) == bytes([67, *places, 64, DEAL.place_of[line[5].cards[0]], 65])


@given(st.binary(max_size=12))
def test_bytes_are_a_line_or_refused(packed: bytes) -> None:
    try:
        line = decode_line(DEAL, packed)
    except ValueError:
        return
    assert decode_line(DEAL, encode_line(DEAL, line)) == line


def test_the_digest_covers_all_there_is() -> None:
    presets = [("cards4", "passes=1")]
    base = PoolRow("cards4", 1, b"\x41", 1, 5)
    others = [
        PoolRow("cards5", 1, b"\x41", 1, 5),
        PoolRow("cards4", 2, b"\x41", 1, 5),
        PoolRow("cards4", 1, b"\x42", 1, 5),
        PoolRow("cards4", 1, b"\x41", 2, 5),
        PoolRow("cards4", 1, b"\x41", 1, None),
    ]
    digests = {digest_of(presets, [entry]) for entry in (base, *others)}
    digests.add(digest_of([("cards4", "passes=2")], [base]))
    digests.add(digest_of(presets, []))
    assert len(digests) == 8
