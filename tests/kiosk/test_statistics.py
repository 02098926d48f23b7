from __future__ import annotations

from datetime import date

from kiosk.statistics import ABANDONED, LOST, WON, Figures, Result, Statistics

MONDAY, TUESDAY = date(2026, 11, 30), date(2026, 12, 1)


def result(
    outcome: str, *, preset: str = "classic", moves: int = 50, seconds: float = 100.0, grade: str
) -> Result:
    return Result(preset, 1, outcome, moves, seconds, 2, 1, grade)


def test_figures_by_preset_grade_and_day() -> None:
    statistics = Statistics()
    for outcome, grade, moves, seconds, day in (
        (WON, "easy", 50, 100.0, MONDAY),
        (WON, "easy", 48, 120.0, MONDAY),
        (LOST, "hard", 10, 5.0, MONDAY),
        (WON, "hard", 60, 90.0, TUESDAY),
        (ABANDONED, "easy", 3, 1.0, TUESDAY),
    ):
        statistics.add(result(outcome, moves=moves, seconds=seconds, grade=grade), day)
    statistics.add(result(WON, preset="cards4", moves=70, seconds=300.0, grade="easy"), TUESDAY)
    assert statistics.of("classic") == Figures(
        played=5,
        won=3,
        abandoned=1,
        streak=0,
        best_streak=2,
        best_seconds=90.0,
        fewest_moves=48,
        hints=10,
        undos=5,
    )
    easy = statistics.of_grade("classic", "easy")
    assert (easy.played, easy.won, easy.fewest_moves, easy.best_seconds) == (3, 2, 48, 100.0)
    assert statistics.of_day(MONDAY).played == 3
    assert statistics.of_day(TUESDAY).won == 2
    assert statistics.all.played == 6
    assert statistics.all.streak == 1
    assert statistics.of("overlap") == Figures()
    assert statistics.of_grade("classic", None) == Figures()
    assert statistics.of_day(date(2000, 1, 1)) == Figures()


def test_outcomes_presets_and_grades_of_which_there_are_games() -> None:
    statistics = Statistics()
    assert statistics.all.outcomes == {WON: 0, LOST: 0, ABANDONED: 0}
    assert statistics.presets == ()
    for outcome, preset, grade in (
        (LOST, "classic", "medium"),
        (ABANDONED, "classic", None),
        (ABANDONED, "classic", "easy"),
        (WON, "cards4", "hard"),
    ):
        statistics.add(result(outcome, preset=preset, grade=grade), MONDAY)
    assert statistics.all.outcomes == {WON: 1, LOST: 1, ABANDONED: 2}
    assert statistics.of("classic").outcomes == {WON: 0, LOST: 1, ABANDONED: 2}
    assert statistics.presets == ("classic", "cards4")
    assert statistics.grades("classic") == ("easy", "medium")
    assert statistics.grades("overlap") == ()


def test_reading_leaves_no_traces() -> None:
    statistics = Statistics([(result(WON, grade="easy"), MONDAY)])
    statistics.of("cards4").add(result(WON, grade="easy"))
    assert statistics.of("cards4") == Figures()
    statistics.clear()
    assert statistics.all == Figures()
