"""Days and hours at which the screen is dim or black."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from kiosk.schedule import DAYS, Schedule, ScheduleError, Span, Stage, read
from kiosk.settings import Settings, parse

#: A Monday, 00:00.
MONDAY = datetime(2026, 11, 30)


def minutes_of_week(text: str) -> set[tuple[str, int]]:
    """Every minute of a week that a line covers, by day and minute of the day."""
    span = Span.parse(text)
    week = (MONDAY + timedelta(minutes=n) for n in range(7 * 24 * 60))
    return {(DAYS[m.weekday()], m.hour * 60 + m.minute) for m in week if span.covers(m)}


def hours(days: str, begin: float, end: float) -> set[tuple[str, int]]:
    return {(day, n) for day in days.split() for n in range(round(begin * 60), round(end * 60))}


@pytest.mark.parametrize(
    ("line", "covered"),
    [
        ("22:00-24:00", hours(" ".join(DAYS), 22, 24)),
        ("mon 8:00-09:30", hours("mon", 8, 9.5)),
        ("mon-wed 08:00-09:00", hours("mon tue wed", 8, 9)),
        ("Sat,SUN 08:00 - 09:00", hours("sat sun", 8, 9)),
        ("sat-mon,wed 0:00-1:00", hours("sat sun mon wed", 0, 1)),
        ("mon 22:00-06:00", hours("mon", 22, 24) | hours("tue", 0, 6)),
        ("sun 22:00-06:00", hours("sun", 22, 24) | hours("mon", 0, 6)),
        ("fri 12:00-00:00", hours("fri", 12, 24)),
        ("tue 00:00-24:00", hours("tue", 0, 24)),
        ("18:00-8:15", hours(" ".join(DAYS), 0, 8.25) | hours(" ".join(DAYS), 18, 24)),
    ],
)
def test_a_line_covers_its_time_to_the_minute(line: str, covered: set[tuple[str, int]]) -> None:
    assert minutes_of_week(line) == covered


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("", "write days and hours like mon-fri 22:00-06:30"),
        ("mon", "write days and hours"),
        ("22-6", "write days and hours"),
        ("22:00", "write days and hours"),
        ("22:00-06:00 mon", "write days and hours"),
        ("25:00-06:00", "25:00 is no time of day"),
        ("08:00-24:01", "24:01 is no time of day"),
        ("08:60-09:00", "08:60 is no time of day"),
        ("08:00-08:00", "the whole day is 00:00-24:00"),
        ("24:00-06:00", "24:00 can only be its end"),
        ("monday 08:00-09:00", "monday is no day; the days are mon, tue"),
        ("mon- 08:00-09:00", "nothing is no day"),
        ("mon,,tue 08:00-09:00", "nothing is no day"),
        ("mo-fr 08:00-09:00", "mo is no day"),
    ],
)
def test_a_line_that_is_none_says_why(line: str, why: str) -> None:
    with pytest.raises(ScheduleError, match=why):
        Span.parse(line)
    assert read([line, "mon 1:00-2:00"])[1][0][0] == line


def test_black_goes_before_dim() -> None:
    schedule = Schedule(
        dim=(Span.parse("18:00-08:00"),), black=(Span.parse("mon-fri 22:00-06:00"),)
    )
    stages = [schedule.stage(MONDAY + timedelta(hours=h)) for h in (12, 18, 21.99, 22, 30, 32)]
    full, dim, black = Stage.FULL, Stage.DIM, Stage.BLACK
    assert stages == [full, dim, dim, black, dim, full]
    saturday = MONDAY + timedelta(days=5)
    assert schedule.stage(saturday + timedelta(hours=5)) is black, "it began on Friday"
    assert schedule.stage(saturday + timedelta(hours=23)) is dim
    assert Schedule().stage(MONDAY) is full


def test_a_clock_that_was_never_set_makes_nothing_dark() -> None:
    schedule = Schedule(black=(Span.parse("00:00-24:00"),))
    assert schedule.stage(datetime(1970, 1, 1)) is Stage.FULL
    assert schedule.stage(datetime(2026, 1, 1)) is Stage.BLACK


def test_settings_name_every_mistake_and_keep_the_rest() -> None:
    settings, problems = parse(
        '[schedule]\ndim = ["mon 25:00-26:00", "sat 10:00-12:00", "always"]\n'
        'black = ["22:00-06:00", "son 1:00-2:00"]\nbright = []\n[idle]\ndim_after = -1\n'
    )
    assert settings.schedule.dim == ("sat 10:00-12:00",)
    assert settings.schedule.black == ("22:00-06:00",)
    assert settings.schedule.schedule == Schedule(
        (Span.parse("sat 10:00-12:00"),), (Span.parse("22:00-06:00"),)
    )
    assert settings.idle == Settings().idle
    assert len(problems) == 5
    for said in (
        "schedule.dim: 'mon 25:00-26:00': 25:00 is no time of day",
        "schedule.dim: 'always': write days and hours",
        "schedule.black: 'son 1:00-2:00': son is no day",
        "schedule.bright is not a setting",
        "idle.dim_after = -1",
    ):
        assert sum(said in problem for problem in problems) == 1, said


@pytest.mark.parametrize("value", ['"22:00-06:00"', "22", "[1, 2]", "[[]]", "{}", "true"])
def test_settings_that_are_no_lists_of_lines_are_named(value: str) -> None:
    settings, problems = parse(f"[schedule]\nblack = {value}\n")
    assert settings == Settings()
    assert len(problems) == 1
    assert problems[0].startswith("schedule.black = ")
