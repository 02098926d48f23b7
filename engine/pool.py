"""The shipped pool: deals proven winnable, each with a winning line; the daily deal.

The file's format is described in ``docs/pool.md``.  It is opened read-only and immutable, so that
any number of processes may share it on a read-only disk.

Invariant: every deal that is handed out has just been replayed to a win along its own line; a
file that is missing, truncated, altered or newer than this program is refused with a
:class:`PoolError` that names it.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from math import gcd
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Any, Final, Self

from engine.cards import Card
from engine.deal import STOCK_SIZE, Deal, DealError
from engine.difficulty import CASUAL_GAMES, Grade
from engine.position import (
    DRAW,
    PLACES,
    REDEAL,
    IllegalMoveError,
    Move,
    MoveKind,
    MoveTextError,
    Outcome,
    Position,
)
from engine.rules import PRESETS, Rules

POOL_FORMAT: Final = "pyramid-pool"
#: Digits of a version number that is meant seriously.
LONGEST_VERSION: Final = 9
POOL_VERSION: Final = 2
DEFAULT_PATH: Final = Path(__file__).parent / "data" / "pool.sqlite"

#: In a stored line, bytes below 52 are places; this one is a redeal, and this plus n are n draws.
_REDEAL_BYTE: Final = 64

SCHEMA: Final = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE presets (
    preset TEXT PRIMARY KEY,
    rules TEXT NOT NULL,
    deals INTEGER NOT NULL,
    scanned INTEGER NOT NULL,
    winnable INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE deals (
    preset TEXT NOT NULL,
    number INTEGER NOT NULL,
    line BLOB NOT NULL,
    grade INTEGER,
    casual_wins INTEGER,
    PRIMARY KEY (preset, number)
) WITHOUT ROWID;
"""


class PoolError(Exception):
    """A pool that cannot be used: the message names the file and says what is wrong with it."""


class NewerPoolError(PoolError):
    """A pool file that a newer version of this program wrote."""


@dataclass(frozen=True)
class PoolDeal:
    """A deal of the pool.

    Attributes:
        preset: the preset's name.
        number: the deal number.
        rules: the preset's rules.
        line: moves from the deal to a win.
        grade: how hard it is, or None if the pool is not graded.
        casual_rate: the share of games, 0 to 1, that the casual player wins; None likewise.
    """

    preset: str
    number: int
    rules: Rules
    line: tuple[Move, ...]
    grade: Grade | None = None
    casual_rate: float | None = None

    @property
    def deal(self) -> Deal:
        """The cards."""
        return Deal.from_number(self.number)


@dataclass(frozen=True)
class PoolRow:
    """A deal as the file stores it.

    Attributes:
        preset: the preset's name.
        number: the deal number.
        line: the winning line, see :func:`encode_line`.
        grade: the value of a :class:`Grade`, or None.
        casual_wins: games that the casual player wins out of 2,000, or None.
    """

    preset: str
    number: int
    line: bytes
    grade: int | None = None
    casual_wins: int | None = None


# -- lines ------------------------------------------------------------------------------------


def encode_line(deal: Deal, line: Iterable[Move]) -> bytes:
    """Pack a line: the places that it removes, 64 for a redeal, 64 + n for n draws in a row."""
    packed = bytearray()
    for move in line:
        if move.kind is MoveKind.DRAW:
            if packed and _REDEAL_BYTE < packed[-1] < _REDEAL_BYTE + STOCK_SIZE:
                packed[-1] += 1
            else:
                packed.append(_REDEAL_BYTE + 1)
        elif move.kind is MoveKind.REDEAL:
            packed.append(_REDEAL_BYTE)
        else:
            packed.extend(sorted(deal.place_of[card] for card in move.cards))
    return bytes(packed)


def decode_line(deal: Deal, packed: bytes) -> tuple[Move, ...]:
    """Unpack what :func:`encode_line` packed.

    Raises:
        ValueError: the bytes are no line.
    """
    line: list[Move] = []
    half: Card | None = None
    for byte in packed:
        if byte < PLACES:
            card = deal.cards[byte]
            if half is not None:
                line.append(Move.remove(half, card))
                half = None
            elif card.is_king:
                line.append(Move.remove(card))
            else:
                half = card
        elif half is not None or not _REDEAL_BYTE <= byte <= _REDEAL_BYTE + STOCK_SIZE:
            raise ValueError(f"byte {byte} does not belong in a line")
        elif byte == _REDEAL_BYTE:
            line.append(REDEAL)
        else:
            line.extend([DRAW] * (byte - _REDEAL_BYTE))
    if half is not None:
        raise ValueError("the line ends with half a pair")
    return tuple(line)


def digest_of(presets: Iterable[tuple[str, str]], rows: Iterable[PoolRow]) -> str:
    """The SHA-256, in hex, of a pool's content, whatever the layout of its file.

    Args:
        presets: name and text of the rules of each preset, in order of name.
        rows: the deals, in order of preset and number.
    """
    sha = hashlib.sha256(f"{POOL_FORMAT} {POOL_VERSION}\n".encode())
    for name, rules in presets:
        sha.update(f"{name} {rules}\n".encode())
    for row in rows:
        text = f"{row.preset} {row.number} {row.line.hex()} {row.grade} {row.casual_wins}\n"
        sha.update(text.encode())
    return sha.hexdigest()


# -- the file ---------------------------------------------------------------------------------


class Pool:
    """An open pool.  Close it, or use it in a ``with`` statement.

    Make one with :meth:`open`.  An instance belongs to the thread that opened it.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection
        self._rules: dict[str, Rules] = {}
        self._numbers: dict[tuple[str, Grade | None], tuple[int, ...]] = {}

    @classmethod
    def open(cls, path: Path | None = None, *, check_digest: bool = True) -> Pool:
        """Open a pool file, the shipped one by default, and check it.

        Args:
            path: the file; None is the shipped one.
            check_digest: read every deal and compare the digest.  Without it, opening takes no
                time, and each deal that is handed out is still proven by its own line.

        Raises:
            NewerPoolError: a newer version of this program wrote the file.
            PoolError: the file is missing, is no pool, or is not as it was written.
        """
        path = DEFAULT_PATH if path is None else path
        if not path.is_file():
            raise PoolError(f"{path}: there is no such pool file")
        try:
            connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
        except sqlite3.Error as error:
            raise PoolError(f"{path}: cannot be opened: {error}") from None
        pool = cls(path, connection)
        try:
            pool._check(check_digest=check_digest)
        except PoolError:
            pool.close()
            raise
        return pool

    def close(self) -> None:
        """Close the file.  Nothing can be read afterwards."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    @property
    def digest(self) -> str:
        """The SHA-256 of the content, in hex."""
        return self._meta()["digest"]

    @property
    def presets(self) -> tuple[str, ...]:
        """The presets that the pool has deals for, in the order of the presets themselves."""
        return tuple(name for name in PRESETS if name in self._rules)

    def count(self, preset: str, grade: Grade | None = None) -> int:
        """How many deals there are of a preset: of one grade, or altogether.

        Raises:
            PoolError: the pool has no such preset.
        """
        return len(self.numbers(preset, grade))

    def scanned(self, preset: str) -> int:
        """How many deal numbers, from 1 on, were tried to find the deals of a preset.

        Raises:
            PoolError: the pool has no such preset.
        """
        self._rules_of(preset)
        return int(self._all("SELECT scanned FROM presets WHERE preset = ?", preset)[0][0])

    def winnable(self, preset: str) -> int:
        """How many of those can be won; the pool has all of them, or fewer.

        Raises:
            PoolError: the pool has no such preset.
        """
        self._rules_of(preset)
        return int(self._all("SELECT winnable FROM presets WHERE preset = ?", preset)[0][0])

    def numbers(self, preset: str, grade: Grade | None = None) -> tuple[int, ...]:
        """The deal numbers of a preset, ascending: of one grade, or all.

        Raises:
            PoolError: the pool has no such preset, or what it has is damaged.
        """
        self._rules_of(preset)
        key = (preset, grade)
        if key not in self._numbers:
            query = "SELECT number FROM deals WHERE preset = ?"
            values: list[str | int] = [preset]
            if grade is not None:
                query += " AND grade = ?"
                values.append(grade.value)
            found = self._all(query + " ORDER BY number", *values)
            if not all(type(row[0]) is int for row in found):
                raise PoolError(f"{self._path}: has a deal of {preset} whose number is none")
            self._numbers[key] = tuple(row[0] for row in found)
        return self._numbers[key]

    # -- deals --------------------------------------------------------------------------------

    def deal(self, preset: str, index: int) -> PoolDeal:
        """The deal of a preset with the ``index``-th lowest number, from 0.

        Raises:
            IndexError: there is no such deal.
            PoolError: no such preset, or the stored line does not win.
        """
        numbers = self.numbers(preset)
        if not 0 <= index < len(numbers):
            raise IndexError(f"{preset} has deals 0 to {len(numbers) - 1}, not {index}")
        return self._stored(preset, numbers[index])

    def find(self, preset: str, number: int) -> PoolDeal | None:
        """The deal of that number, or None if the pool does not have it.

        Raises:
            PoolError: no such preset, or the stored line does not win.
        """
        return self._stored(preset, number) if number in self.numbers(preset) else None

    def daily(self, preset: str, day: date) -> PoolDeal:
        """The deal of a day: the same everywhere, from the date, the preset and the pool alone.

        None comes twice until all have come once: within a year if there are 366.

        Raises:
            PoolError: no such preset, no deals, or the stored line does not win.
        """
        count = self._some(preset, None)
        # A step without a common divisor visits every index once in ``count`` days; one near the
        # golden section keeps days in a row far apart.
        step = max(1, round(count * 0.618))
        while gcd(step, count) != 1:
            step += 1
        return self.deal(preset, day.toordinal() * step % count)

    def draw(
        self, preset: str, rng: Random, seen: list[int], grade: Grade | None = None
    ) -> PoolDeal:
        """A random deal that is not in ``seen``, where its number is then entered.

        When all have been seen, ``seen`` keeps the last number alone and it begins anew.

        Args:
            preset: the preset's name.
            rng: where chance comes from.
            seen: numbers handed out before, oldest first: the caller's, one list for each preset
                and grade.  Numbers that the pool does not have do no harm.
            grade: draw from the deals of this grade alone.

        Raises:
            PoolError: no such preset, no deals, or the stored line does not win.
        """
        self._some(preset, grade)
        numbers = self.numbers(preset, grade)
        known = set(seen)
        if len(known) * 2 < len(numbers):
            # Sooner than sorting out thousands of numbers, and each is as likely.
            while (number := rng.choice(numbers)) in known:
                pass
        else:
            fresh = [number for number in numbers if number not in known]
            if not fresh:
                del seen[:-1]
                fresh = [number for number in numbers if number not in seen] or list(numbers)
            number = rng.choice(fresh)
        found = self._stored(preset, number)
        seen.append(number)
        return found

    def verify(self) -> Iterator[PoolDeal]:
        """Replay every line, deal by deal, and check the digest once more.

        Yields:
            Each deal, once its line has been seen to win.

        Raises:
            PoolError: a line does not win, or the content is not as it was written.
        """
        for row in self._rows():
            if row.preset in self._rules:  # others are of a later program
                yield self._proven(row)
        self._check()

    def rows(self, preset: str) -> list[PoolRow]:
        """The deals of a preset as the file has them, not replayed, in order of number.

        Raises:
            PoolError: the pool has no such preset.
        """
        self._rules_of(preset)
        return [row for row in self._rows() if row.preset == preset]

    # -- within -------------------------------------------------------------------------------

    def _check(self, *, check_digest: bool = True) -> None:
        """Check format, version, rules, counts and digest, and take in the rules."""
        meta = self._meta()
        if meta.get("format") != POOL_FORMAT:
            raise PoolError(f"{self._path}: is not a {POOL_FORMAT} file")
        version = meta.get("version", "")
        if not version.isascii() or not version.isdigit() or len(version) > LONGEST_VERSION:
            raise PoolError(f"{self._path}: has no valid version: {version!r}")
        if int(version) > POOL_VERSION:
            raise NewerPoolError(
                f"{self._path}: is of version {version}, this program knows up to {POOL_VERSION}"
            )
        if int(version) < POOL_VERSION:
            raise PoolError(
                f"{self._path}: is of version {version}, which this program no longer reads"
            )
        presets = self._all("SELECT preset, rules, deals FROM presets ORDER BY preset")
        named = ((name, rules) for name, rules, _ in presets)
        if check_digest and digest_of(named, self._rows()) != meta.get("digest"):
            raise PoolError(f"{self._path}: was altered after it was built: its digest is wrong")
        counted = dict(self._all("SELECT preset, COUNT(*) FROM deals GROUP BY preset"))
        for name, text, deals in presets:
            if name not in PRESETS:
                continue  # a preset of a later program, of no use to this one
            if str(PRESETS[name]) != text:
                raise PoolError(f"{self._path}: has other rules for {name} than this program")
            self._rules[name] = PRESETS[name]
            if counted.get(name, 0) != deals:
                raise PoolError(f"{self._path}: has not as many deals of {name} as it says")

    def _meta(self) -> dict[str, str]:
        return {str(key): str(value) for key, value in self._all("SELECT key, value FROM meta")}

    def _rows(self) -> Iterator[PoolRow]:
        query = "SELECT preset, number, line, grade, casual_wins FROM deals ORDER BY preset, number"
        for row in self._all(query):
            kinds = zip(row, (str, int, bytes, int | None, int | None), strict=True)
            if not all(isinstance(value, kind) for value, kind in kinds):
                raise PoolError(f"{self._path}: has a deal of the wrong type: {row[1]!r}")
            yield PoolRow(*row)

    def _stored(self, preset: str, number: int) -> PoolDeal:
        """Read and prove a deal that the list of numbers has."""
        rows = self._all(
            "SELECT preset, number, line, grade, casual_wins FROM deals"
            " WHERE preset = ? AND number = ?",
            preset,
            number,
        )
        if not rows:
            raise PoolError(f"{self._path}: {preset} deal {number} has vanished")
        return self._proven(PoolRow(*rows[0]))

    def _proven(self, row: PoolRow) -> PoolDeal:
        """Replay a stored line to its win."""
        rules = self._rules[row.preset]
        try:
            deal = Deal.from_number(row.number)
            line = decode_line(deal, row.line)
            position = Position(deal, rules)
            for move in line:
                position = position.play(move)
            grade = None if row.grade is None else Grade(row.grade)
        except (DealError, MoveTextError, IllegalMoveError, ValueError) as error:
            raise PoolError(f"{self._path}: {row.preset} deal {row.number}: {error}") from None
        if position.outcome is not Outcome.WON:
            raise PoolError(f"{self._path}: {row.preset} deal {row.number}: its line does not win")
        rate = None if row.casual_wins is None else row.casual_wins / CASUAL_GAMES
        return PoolDeal(row.preset, row.number, rules, line, grade, rate)

    def _rules_of(self, preset: str) -> Rules:
        try:
            return self._rules[preset]
        except KeyError:
            raise PoolError(f"{self._path}: has no deals of {preset!r}") from None

    def _some(self, preset: str, grade: Grade | None) -> int:
        count = self.count(preset, grade)
        if not count:
            kind = "" if grade is None else f" graded {grade.name.lower()}"
            raise PoolError(f"{self._path}: has no deals of {preset}{kind}")
        return count

    def _all(self, query: str, *values: str | int) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(query, values).fetchall()
        except (sqlite3.Error, UnicodeDecodeError, OverflowError) as error:
            # A damaged page can make sqlite3 fail even at telling what is wrong.
            raise PoolError(f"{self._path}: is damaged or no pool: {error}") from None
