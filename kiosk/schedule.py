"""When the screen is dim and when it is black: days and hours, as the operator writes them.

A line is ``mon-fri 22:00-06:30``: days, if it is not every day, and a time that begins on these
days and may end on the next.

Invariant: pure; the stage is a function of the wall clock as it is read at that moment, so that a
clock that is set, or an hour of summer time, is followed at once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum
from typing import Final

DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MINUTES: Final = 24 * 60
_SPAN: Final = re.compile(
    r"(?:(?P<days>[^0-9]*?)\s+)?(?P<begin>\d{1,2}:\d\d)\s*-\s*(?P<end>\d{1,2}:\d\d)"
)
_FIRST_DAY: Final = date(2026, 1, 1)


def clock_was_set(day: date) -> bool:
    """Whether a clock that says so can be right: a Pi without a battery may begin in 1970."""
    return day >= _FIRST_DAY


class ScheduleError(ValueError):
    """A line that names no days and hours; the message says what is wrong with it."""


class Stage(Enum):
    """How much light there is, from the most."""

    FULL = "full"
    DIM = "dim"
    BLACK = "off"


@dataclass(frozen=True)
class Span:
    """A time of the week.

    Attributes:
        days: the days on which it begins, 0 (Monday) to 6.
        begin: minutes after midnight.
        end: minutes after midnight, up to 24 hours; not after ``begin``: of the next day.
    """

    days: frozenset[int]
    begin: int
    end: int

    @classmethod
    def parse(cls, text: str) -> Span:
        """Read a line.

        >>> sorted(Span.parse("sat,sun 22:00-6:30").days)
        [5, 6]

        Raises:
            ScheduleError: it is none.
        """
        match = _SPAN.fullmatch(text.strip())
        if match is None:
            raise ScheduleError("write days and hours like mon-fri 22:00-06:30, or just the hours")
        begin, end = _minutes(match["begin"]), _minutes(match["end"])
        if begin == end:
            raise ScheduleError("it ends when it begins; the whole day is 00:00-24:00")
        if begin == _MINUTES:
            raise ScheduleError("24:00 can only be its end")
        return cls(_days(match["days"] or ""), begin, end)

    def covers(self, moment: datetime) -> bool:
        """Whether it is that time at a local ``moment``."""
        minute = moment.hour * 60 + moment.minute
        today = moment.weekday()
        if self.begin < self.end:
            return today in self.days and self.begin <= minute < self.end
        if minute >= self.begin:
            return today in self.days
        return minute < self.end and (today - 1) % 7 in self.days


@dataclass(frozen=True)
class Schedule:
    """All times of the week at which the screen is not bright."""

    dim: tuple[Span, ...] = ()
    black: tuple[Span, ...] = ()

    def stage(self, moment: datetime) -> Stage:
        """What the screen is at a local ``moment``; black where both are asked for.

        A clock that was evidently never set says nothing about the time of day.
        """
        if not clock_was_set(moment.date()):
            return Stage.FULL
        if any(span.covers(moment) for span in self.black):
            return Stage.BLACK
        if any(span.covers(moment) for span in self.dim):
            return Stage.DIM
        return Stage.FULL


def read(lines: Sequence[str]) -> tuple[tuple[Span, ...], list[tuple[str, str]]]:
    """Read lines: the times, and each line that is none with what is wrong with it."""
    spans, wrong = [], []
    for line in lines:
        try:
            spans.append(Span.parse(line))
        except ScheduleError as error:
            wrong.append((line, str(error)))
    return tuple(spans), wrong


def _minutes(text: str) -> int:
    hour, minute = map(int, text.split(":"))
    if minute > 59 or hour * 60 + minute > _MINUTES:
        raise ScheduleError(f"{text} is no time of day; it goes from 00:00 to 24:00")
    return hour * 60 + minute


def _days(text: str) -> frozenset[int]:
    if not text.strip():
        return frozenset(range(7))
    days: set[int] = set()
    for part in text.lower().split(","):
        first, dash, last = (piece.strip() for piece in part.partition("-"))
        begin, end = _day(first), _day(last if dash else first)
        # From Saturday to Monday is three days.
        days.update((begin + i) % 7 for i in range((end - begin) % 7 + 1))
    return frozenset(days)


def _day(name: str) -> int:
    if name not in DAYS:
        raise ScheduleError(f"{name or 'nothing'} is no day; the days are {', '.join(DAYS)}")
    return DAYS.index(name)
