"""The PIN, its hash, and how often it may be tried."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest

from kiosk import pin, settings
from kiosk.lockout import LONGEST_WAIT, Lockout, wait_after
from kiosk.places import SHIPPED_SETTINGS


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_hash_matches_its_pin_and_no_other() -> None:
    kept = pin.hashed("4711")
    assert pin.matches("4711", kept)
    assert not any(pin.matches(other, kept) for other in ("4712", "471", "47110", "", "٤٧١١"))
    assert "4711" not in kept
    assert re.match(pin.PATTERN, kept)


def test_the_hash_is_scrypt_as_everybody_computes_it() -> None:
    # Computed with: openssl kdf … -kdfopt n:16384 -kdfopt r:8 -kdfopt p:1 SCRYPT
    kept = "scrypt$16384$8$1$MDEyMzQ1Njc4OWFiY2RlZg==$+xUjwrlvBEfl9N2cHk+xFTORLMmp/IRqPRPwuveZyKY="
    assert pin.hashed("123456", b"0123456789abcdef") == kept


def test_two_hashes_of_one_pin_differ() -> None:
    assert pin.hashed("0000") != pin.hashed("0000")


@pytest.mark.parametrize(
    "text", ["", "123", "1" * 13, "12a4", "12 34", "-1234", "\N{FULLWIDTH DIGIT ONE}234"]
)
def test_what_is_no_pin_gets_no_hash(text: str) -> None:
    with pytest.raises(ValueError, match="4 to 12 digits"):
        pin.hashed(text)


@pytest.mark.parametrize(
    "kept",
    [
        "",
        "4711",
        "scrypt$1$2$3",
        "scrypt$16383$8$1$MDEyMzQ1Njc4OWFiY2RlZg==$" + "A" * 43 + "=",  # no power of two
        "scrypt$9999999$99$99$MDEyMzQ1Njc4OWFiY2RlZg==$" + "A" * 43 + "=",  # costs gigabytes
        "scrypt$16384$8$1$!$!",
    ],
)
def test_a_damaged_hash_matches_nothing(kept: str) -> None:
    assert not pin.matches("4711", kept)


def test_the_command_prints_a_line_for_the_end_of_the_shipped_settings_file() -> None:
    out = io.StringIO()
    assert pin.main(source=io.StringIO("4711\n"), out=out) == 0
    read, problems = settings.parse(SHIPPED_SETTINGS.read_text("utf-8") + out.getvalue())
    assert problems == []
    assert read.service.pin_hash is not None
    assert pin.matches("4711", read.service.pin_hash)


@pytest.mark.parametrize(
    ("answers", "code"),
    [(["4711", "4711"], 0), (["4711", "4712"], 2), (["47"], 2), ([EOFError()], 2)],
)
def test_on_a_terminal_it_asks_twice(
    monkeypatch: pytest.MonkeyPatch, answers: list[Any], code: int
) -> None:
    asked = iter(answers)

    def answer(_prompt: str) -> str:
        given = next(asked)
        if isinstance(given, Exception):
            raise given
        return str(given)

    monkeypatch.setattr("getpass.getpass", answer)
    out = io.StringIO()
    assert pin.main(source=Terminal(), out=out) == code
    assert bool(out.getvalue()) == (code == 0)
    assert list(asked) == []


def test_a_pin_on_the_command_line_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert pin.main(["4711"]) == 2
    assert "usage" in capsys.readouterr().err
    assert pin.main(["--help"]) == 0


@pytest.mark.parametrize(
    "text", ['pin_hash = "4711"', "pin_hash = 4711", "pin = 4711", 'pin = "4711"']
)
def test_a_plain_pin_in_the_file_is_refused_and_not_repeated(text: str) -> None:
    read, problems = settings.parse(f"[service]\n{text}\n")
    assert read.service.pin_hash is None
    (problem,) = problems
    assert "pyramid-kiosk pin" in problem
    assert "4711" not in problem


# -- attempts ------------------------------------------------------------------------------------


def test_waits_grow_to_a_quarter_of_an_hour() -> None:
    assert [wait_after(n) for n in range(10)] == [0, 0, 0, 30, 60, 120, 240, 480, 900, 900]
    assert wait_after(10**6) == LONGEST_WAIT


def test_three_attempts_then_a_wait_then_one_at_a_time() -> None:
    lockout = Lockout(0.0)
    for _ in range(3):
        assert lockout.left(10.0) == 0
        assert not lockout.attempt(10.0, lambda: False)
    assert lockout.left(10.0) == 30.0
    assert not lockout.attempt(39.9, lambda: True), "not even the right one, too early"
    assert lockout.failures == 3
    assert not lockout.attempt(40.0, lambda: False)
    assert lockout.left(40.0) == 60.0
    assert lockout.attempt(100.0, lambda: True)
    assert (lockout.failures, lockout.left(100.0)) == (0, 0)


def test_an_attempt_is_kept_before_it_is_known_whether_it_was_right() -> None:
    kept: list[int] = []
    lockout = Lockout(0.0, keep=kept.append)

    def pulled_the_plug() -> bool:
        assert kept == [1]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lockout.attempt(1.0, pulled_the_plug)
    assert kept == [1]


def test_a_restart_begins_the_last_wait_anew() -> None:
    lockout = Lockout(5.0, failures=4)
    assert lockout.left(5.0) == 60.0
    assert lockout.left(65.0) == 0.0
    assert Lockout(5.0, failures=2).left(5.0) == 0.0
