"""The last errors are remembered, within bounds."""

from __future__ import annotations

import logging

from kiosk.errorlog import LONGEST, MOST, ErrorLog


def logger(kept: ErrorLog) -> logging.Logger:
    made = logging.Logger("test")
    made.addHandler(kept)
    return made


def test_warnings_and_errors_are_kept_newest_first() -> None:
    kept = ErrorLog(clock=iter(range(10)).__next__)
    log = logger(kept)
    log.info("nothing to see")
    log.warning("the %s is dim", "light")
    log.error("two\nlines")
    assert [(e.at, e.level, e.text) for e in kept.entries] == [
        (1, logging.ERROR, "two lines"),
        (0, logging.WARNING, "the light is dim"),
    ]


def test_the_same_again_is_counted() -> None:
    kept = ErrorLog(clock=lambda: 7.0)
    for _ in range(1000):
        logger(kept).error("again")
    (entry,) = kept.entries
    assert entry.times == 1000


def test_what_was_raised_is_named() -> None:
    kept = ErrorLog()
    try:
        int("no such thing")
    except ValueError:
        logger(kept).exception("lost")
    assert kept.entries[0].text == (
        "lost (ValueError: invalid literal for int() with base 10: 'no such thing')"
    )


def test_it_is_bounded() -> None:
    kept = ErrorLog()
    log = logger(kept)
    for number in range(3 * MOST):
        log.error("%d %s", number, "x" * 10_000)
    assert len(kept.entries) == MOST
    assert kept.entries[0].text.startswith(f"{3 * MOST - 1} ")
    assert all(len(entry.text) == LONGEST for entry in kept.entries)


def test_what_no_font_can_draw_is_spelled_out() -> None:
    log = ErrorLog(lambda: 0.0)
    record = logging.LogRecord("x", logging.ERROR, "x", 1, "file \udcff", (), None)
    log.emit(record)
    assert log.entries[0].text == "file \\udcff"
