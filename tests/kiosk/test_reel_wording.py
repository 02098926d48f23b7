"""What the attract mode says, in the languages' own forms."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from engine.rules import PRESETS
from kiosk.lessons import Lesson
from kiosk.reel_wording import date_words, figures_words, lesson_words
from kiosk.statistics import Figures
from kiosk.texts import Texts, shipped_languages

LANGUAGES = list(shipped_languages())


@pytest.mark.parametrize(
    ("language", "day", "words"),
    [
        ("en", date(2026, 11, 30), "Monday, 30 November"),
        ("de", date(2026, 11, 30), "Montag, 30. November"),
        ("es", date(2026, 11, 30), "Lunes, 30 de noviembre"),
        ("fr", date(2026, 11, 30), "Lundi 30 novembre"),
        ("fr", date(2027, 1, 1), "Vendredi 1er janvier"),
        ("es", date(2027, 1, 1), "Viernes, 1 de enero"),
        ("de", date(2027, 3, 1), "Montag, 1. März"),
    ],
)
def test_dates(language: str, day: date, words: str) -> None:
    assert date_words(Texts.load(language), day) == words


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_day_of_a_year_reads_differently(language: str) -> None:
    texts = Texts.load(language)
    days = [date(2027, 1, 1) + timedelta(n) for n in range(365)]
    assert len({date_words(texts, day) for day in days}) == 365


@pytest.mark.parametrize(
    ("language", "played", "won", "said"),
    [
        ("en", 17, 6, ((17, "games today"), (6, "won"))),
        ("en", 1, 1, ((1, "game today"), (1, "won"))),
        ("de", 1, 0, ((1, "Spiel heute"), (0, "gewonnen"))),
        ("de", 17, 6, ((17, "Spiele heute"), (6, "gewonnen"))),
        ("es", 17, 1, ((17, "partidas hoy"), (1, "ganada"))),
        ("es", 1, 1, ((1, "partida hoy"), (1, "ganada"))),
        ("es", 17, 6, ((17, "partidas hoy"), (6, "ganadas"))),
        ("fr", 17, 6, ((17, "parties aujourd\N{RIGHT SINGLE QUOTATION MARK}hui"), (6, "gagnées"))),
        ("fr", 1, 0, ((1, "partie aujourd\N{RIGHT SINGLE QUOTATION MARK}hui"), (0, "gagnée"))),
    ],
)
def test_numbers_and_words_agree(
    language: str, played: int, won: int, said: tuple[tuple[int, str], ...]
) -> None:
    today = Figures(played=played, won=won)
    told = figures_words(Texts.load(language), today, Figures(played=200, won=90))
    assert tuple((figure.number, figure.words) for figure in told.figures) == said


def test_the_line_below_says_what_is_worth_saying() -> None:
    texts = Texts.load("en")
    everything = Figures(played=204, won=93)
    assert figures_words(texts, Figures(played=3, won=1), everything).line == (
        "204 games so far, 93 won"
    )
    first = figures_words(texts, Figures(played=3), everything)
    assert first.line == "Who will be the first to win today?"
    none = figures_words(texts, Figures(), everything)
    assert [(f.number, f.words) for f in none.figures] == [(204, "games so far"), (93, "won")]
    assert none.line == "Be the first to play today!"
    today = Figures(played=3, won=1, best_seconds=154.7)
    assert figures_words(texts, today, today).line == "Fastest win: 2:34"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("preset", PRESETS)
def test_every_lesson_has_words_of_its_own(language: str, preset: str) -> None:
    texts = Texts.load(language)
    said = [lesson_words(texts, lesson, PRESETS[preset]) for lesson in Lesson]
    assert len(set(said)) == len(Lesson)
    assert all(3 < len(words) < 90 for words in said)


def test_lessons_follow_the_rules() -> None:
    texts = Texts.load("en")
    goal = {name: lesson_words(texts, Lesson.GOAL, rules) for name, rules in PRESETS.items()}
    assert goal["three-pass"] == "Clear the pyramid and you win."
    assert goal["classic"] == "Clear all 52 cards and you win."
    passes = {name: lesson_words(texts, Lesson.REDEAL, rules) for name, rules in PRESETS.items()}
    assert passes["three-pass"] == "You may go through the stock 3 times."
    assert passes["cards4"] == "You go through the stock only once."
    assert lesson_words(texts, Lesson.KING, PRESETS["cards4"]).startswith("A free King")
