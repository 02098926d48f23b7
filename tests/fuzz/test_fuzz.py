"""A sample of the damaged inputs that ``make fuzz`` feeds by the hundred thousand."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.fuzz import run
from tests.fuzz.targets import TARGETS, Target

#: Some targets write and sync files for each case.
CASES = {"databases": 25, "pools": 40}


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("name", TARGETS)
def test_damaged_input_is_answered_properly(name: str) -> None:
    run.run(name, range(CASES.get(name, 100)), seed=2026)


@pytest.mark.parametrize(
    ("name", "seed", "number"),
    [
        # JSON spells half a character, and msgspec could not encode it.
        ("overrides", 1, 2105),
        # A damaged column of numbers holds text.
        ("pools", 1, 2986),
    ],
)
def test_what_was_found_once(name: str, seed: int, number: int) -> None:
    run.run(name, [number], seed)


class Brittle(Target):
    """Breaks on a zero byte."""

    def corpus(self) -> Sequence[bytes]:
        return [b"some words in a row"]

    def feed(self, data: bytes) -> None:
        if b"\0" in data:
            raise KeyError("zero")


def test_a_broken_promise_is_found_and_can_be_seen_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TARGETS, "brittle", Brittle)
    with pytest.raises(run.FoundError, match="brittle, seed 1, case") as found:
        run.run("brittle", range(2_000), seed=1)
    number = int(str(found.value).partition("case ")[2].partition(":")[0])
    with pytest.raises(run.FoundError, match=f"case {number}:"):
        run.run("brittle", [number], seed=1)
    run.run("brittle", range(number), seed=1)
    corpus = Brittle(Path()).corpus()
    assert run.case("brittle", corpus, 1, number) != run.case("brittle", corpus, 2, number)
