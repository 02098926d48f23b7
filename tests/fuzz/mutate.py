"""Changes bytes at random, the way files are damaged and people mistype.

Invariant: a function of the generator that is handed in and of nothing else, so that a seed and a
number bring back every case.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

#: What programs stumble over, whatever the format.
NASTY: tuple[bytes, ...] = (
    *(b"", b"\0", b"\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\x80", b"\xed\xa0\x80", b"\r\n", b"\n"),
    *(b"-1", b"0", b"1e999", b"nan", b"inf", b"9" * 40, b"18446744073709551616", b"-0.0", b"0x1"),
    *(b"[" * 300, b"{" * 300, b'"', b"'", b"\\", b"%s", b"{n}", b"{}", b"{0}", b"}", b"../", b"/"),
    *("\u202e\u0000ä\U0001f0a1".encode(), b"true", b"null", b"=", b"#", b",", b";", b"A" * 5000),
)
_WORD = re.compile(rb"[\w.+-]+")


def mutated(rng: Random, corpus: Sequence[bytes]) -> bytes:
    """One of the corpus with one to eight changes; now and then nothing of it is left."""
    data = bytearray(rng.choice(corpus))
    for _ in range(rng.choice([1, 1, 1, 2, 3, 5, 8])):
        rng.choice(_CHANGES)(rng, data, corpus)
    return bytes(data)


def _place(rng: Random, data: bytearray) -> int:
    return rng.randint(0, len(data))


def _flip(rng: Random, data: bytearray, _corpus: Sequence[bytes]) -> None:
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _byte(rng: Random, data: bytearray, _corpus: Sequence[bytes]) -> None:
    if data:
        data[rng.randrange(len(data))] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])


def _cut(rng: Random, data: bytearray, _corpus: Sequence[bytes]) -> None:
    del data[_place(rng, data) :]


def _drop(rng: Random, data: bytearray, _corpus: Sequence[bytes]) -> None:
    start = _place(rng, data)
    del data[start : start + rng.choice([1, 2, 10, 512, 4096])]


def _repeat(rng: Random, data: bytearray, _corpus: Sequence[bytes]) -> None:
    start = _place(rng, data)
    part = data[start : start + rng.choice([1, 10, 100, 4096])]
    data[start:start] = part * rng.choice([1, 2, 20])


def _insert(rng: Random, data: bytearray, _corpus: Sequence[bytes]) -> None:
    place = _place(rng, data)
    data[place:place] = rng.choice(NASTY)


def _zeros(rng: Random, data: bytearray, _corpus: Sequence[bytes]) -> None:
    # As a sector that never arrived.
    start = _place(rng, data) // 512 * 512
    data[start : start + 512] = bytes(len(data[start : start + 512]))


def _splice(rng: Random, data: bytearray, corpus: Sequence[bytes]) -> None:
    other = rng.choice(corpus)
    start = rng.randint(0, len(other))
    data[_place(rng, data) :] = other[start:]


def _word(rng: Random, data: bytearray, corpus: Sequence[bytes]) -> None:
    """Put another word, of this or another of the corpus, in the place of one."""
    words = [(found.start(), found.end()) for found in _WORD.finditer(bytes(data[:20_000]))]
    others = _WORD.findall(rng.choice(corpus)[:20_000])
    if words and others:
        start, end = rng.choice(words)
        data[start:end] = rng.choice(NASTY) if rng.random() < 0.3 else rng.choice(others)


_CHANGES = (_flip, _byte, _cut, _drop, _repeat, _insert, _zeros, _splice, _word, _word)
