"""The catalogues are complete and fit the code and the fonts; a broken one harms nobody."""

from __future__ import annotations

import errno
import runpy
from functools import cache
from pathlib import Path
from typing import Any

import polib
import pytest
from fontTools.ttLib import TTFont

from kiosk import texts, theme
from kiosk.texts import Texts, available_languages, catalogue_path, placeholders

TRANSLATED = ("de", "es", "fr")
SHIPPED = ("en", *TRANSLATED)
UPDATE = runpy.run_path(str(texts.FOLDER / "update.py"))
IN_CODE: dict[tuple[str, str], list[str]] = UPDATE["texts_in_code"]()

GOOD = """\
msgid ""
msgstr ""
"Language: xx\\n"
"X-Language-Name: Xish\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\\n"

msgid "Undo"
msgstr "Kumoa"

msgid "Deal {number}"
msgstr "Jako {number}"

msgid "{n} card left"
msgid_plural "{n} cards left"
msgstr[0] "{n} kortti"
msgstr[1] "{n} korttia"
"""


def shipped(language: str) -> polib.POFile:
    return polib.pofile(catalogue_path(language))


def written(folder: Path, text: str, language: str = "xx") -> Path:
    path = catalogue_path(language, folder)
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    return folder


def translations(entry: polib.POEntry) -> list[str]:
    return list(entry.msgstr_plural.values()) if entry.msgid_plural else [entry.msgstr]


# -- the shipped catalogues ---------------------------------------------------------------------


def test_the_code_has_texts() -> None:
    assert ("Undo", "") in IN_CODE
    assert ("{n} card left", "{n} cards left") in IN_CODE


@pytest.mark.parametrize("language", SHIPPED)
def test_every_text_in_the_code_is_in_the_catalogue_and_nothing_else(language: str) -> None:
    catalogue = shipped(language)
    assert {(e.msgid, e.msgid_plural) for e in catalogue if not e.obsolete} == set(IN_CODE)
    assert not catalogue.obsolete_entries()


@pytest.mark.parametrize("language", TRANSLATED)
def test_every_text_is_translated(language: str) -> None:
    catalogue = shipped(language)
    assert [entry.msgid for entry in catalogue if not entry.translated()] == []
    assert not catalogue.fuzzy_entries()


@pytest.mark.parametrize("language", TRANSLATED)
def test_placeholders_are_those_of_the_source(language: str) -> None:
    for entry in shipped(language):
        wanted = placeholders(entry.msgid_plural or entry.msgid)
        for index, text in enumerate(translations(entry)):
            # "only once" needs no figure; any other form shows it.
            optional = {"n"} if entry.msgid_plural and index == 0 else set()
            assert wanted - optional <= placeholders(text) <= wanted, entry.msgid


@pytest.mark.parametrize(
    ("language", "forms"),
    [("en", [1, 0, 1, 1]), ("de", [1, 0, 1, 1]), ("es", [1, 0, 1, 1]), ("fr", [0, 0, 1, 1])],
)
def test_plural_forms_are_those_of_the_language(language: str, forms: list[int]) -> None:
    spoken = Texts.load(language)
    singular, plural = "{n} card left", "{n} cards left"
    entry = shipped(language).find(singular)
    said = [spoken.ngettext(singular, plural, n) for n in (0, 1, 2, 28)]
    if language == "en":
        expected = [(singular, plural)[form] for form in forms]
    else:
        expected = [entry.msgstr_plural[form] for form in forms]
    assert said == [text.format(n=n) for text, n in zip(expected, (0, 1, 2, 28), strict=True)]


@pytest.mark.parametrize("font", [theme.FONT_REGULAR, theme.FONT_BOLD])
def test_the_fonts_have_every_character(font: str) -> None:
    drawable = set(TTFont(font).getBestCmap())
    names = "".join(available_languages().values())
    needed = set(names) | set("0123456789:/+=()")
    for pair in IN_CODE:
        needed |= set("".join(pair))
    for language in SHIPPED:
        for entry in shipped(language):
            needed |= set("".join(translations(entry)))
    assert [character for character in needed if ord(character) not in drawable] == []


@pytest.mark.parametrize("language", SHIPPED)
def test_typography(language: str) -> None:
    for entry in shipped(language):
        for text in [entry.msgid, *translations(entry)]:
            assert not set("'\"") & set(text), text
            assert "..." not in text
            assert text == text.strip()
            assert "  " not in text
        if language == "fr":
            for text in translations(entry):
                for mark in "!?:;»":
                    assert text.count(mark) == text.count(f"\N{NO-BREAK SPACE}{mark}"), text


def test_languages_go_by_their_own_names_english_first() -> None:
    assert available_languages() == {
        "en": "English",
        "de": "Deutsch",
        "es": "Español",
        "fr": "Français",
    }


@pytest.mark.parametrize("language", SHIPPED)
def test_a_shipped_language_loads_without_a_problem(language: str) -> None:
    spoken = Texts.load(language)
    assert spoken.language == language
    assert spoken.problems == ()
    for singular, plural in IN_CODE:
        values = dict.fromkeys(placeholders(singular) | placeholders(plural or ""), 7)
        if plural:
            # Words beside a large figure do not repeat it.
            values.pop("n", None)
            for n in range(30):
                assert spoken.ngettext(singular, plural, n, **values)
        else:
            assert spoken.gettext(singular, **values)


# -- a language is one file ---------------------------------------------------------------------


def test_a_fifth_language_is_one_file(tmp_path: Path) -> None:
    folder = written(tmp_path, GOOD)
    assert available_languages(folder) == {"en": "English", "xx": "Xish"}
    spoken = Texts.load("xx", folder)
    assert spoken.problems == ()
    assert spoken.gettext("Undo") == "Kumoa"
    assert spoken.gettext("Deal {number}", number=5) == "Jako 5"
    assert spoken.ngettext("{n} card left", "{n} cards left", 1) == "1 kortti"
    assert spoken.ngettext("{n} card left", "{n} cards left", 4) == "4 korttia"


def test_what_is_not_translated_is_shown_in_english(tmp_path: Path) -> None:
    spoken = Texts.load("xx", written(tmp_path, GOOD))
    assert spoken.gettext("Hint") == "Hint"
    assert spoken.ngettext("{n} move", "{n} moves", 3) == "3 moves"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        'msgid "half',
        'msgid "a"\nmsgstr "b"\nmsgstr[x] "c"',
        GOOD.replace("plural=(n != 1)", "plural=(n ! 1)"),
        GOOD.replace("plural=(n != 1)", "plural=__import__('os')"),
        GOOD.replace("plural=(n != 1)", "plural=1/(n-7)"),
        "\0\0\0",
    ],
)
def test_a_broken_catalogue_falls_back_to_english(tmp_path: Path, text: str) -> None:
    folder = written(tmp_path, text)
    spoken = Texts.load("xx", folder)
    for n in range(12):
        assert spoken.ngettext("{n} card left", "{n} cards left", n).startswith(str(n))
    assert spoken.gettext("Deal {number}", number=5) in {"Deal 5", "Jako 5"}
    assert "en" in available_languages(folder)
    assert spoken.problems, "a broken catalogue is reported"
    assert str(tmp_path) in spoken.problems[0]


def test_a_catalogue_that_is_not_there_falls_back_to_english(tmp_path: Path) -> None:
    spoken = Texts.load("xx", tmp_path)
    assert spoken.language == "xx"
    assert spoken.gettext("Undo") == "Undo"
    assert len(spoken.problems) == 1


def test_a_catalogue_that_cannot_be_read_for_a_moment_is_read_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Nobody else's texts are forgotten, and none are kept for anybody else.
    monkeypatch.setattr(texts, "_kept", cache(Texts.read))
    with monkeypatch.context() as patched:

        def fails(_path: Path, _problems: list[str]) -> Any:
            raise OSError(errno.EMFILE, "Too many open files")

        patched.setattr(texts, "_read", fails)
        english = texts.texts_in("de")
        assert "Too many open files" in english.problems[0]
        assert english.gettext("Undo") == "Undo"
    german = texts.texts_in("de")
    assert german.gettext("Undo") == "Rückgängig"
    assert texts.texts_in("de") is german


def test_a_catalogue_in_another_encoding_falls_back_to_english(tmp_path: Path) -> None:
    folder = written(tmp_path, GOOD)
    catalogue_path("xx", folder).write_bytes(GOOD.replace("Kumoa", "Peru ä").encode("latin-1"))
    spoken = Texts.load("xx", folder)
    assert spoken.gettext("Undo") == "Undo"
    assert spoken.problems


@pytest.mark.parametrize("bad", ["{nummer}", "{number", "{number:>5}", "{0}", "{number.__class__}"])
def test_a_translation_that_cannot_be_filled_is_dropped_alone(tmp_path: Path, bad: str) -> None:
    spoken = Texts.load("xx", written(tmp_path, GOOD.replace("Jako {number}", f"Jako {bad}")))
    assert spoken.gettext("Deal {number}", number=5) == "Deal 5"
    assert spoken.gettext("Undo") == "Kumoa"
    assert len(spoken.problems) == 1
    assert "Deal {number}" in spoken.problems[0]


def test_a_fuzzy_translation_is_not_used(tmp_path: Path) -> None:
    text = GOOD.replace('msgid "Undo"', '#, fuzzy\nmsgid "Undo"')
    assert Texts.load("xx", written(tmp_path, text)).gettext("Undo") == "Undo"


def test_a_nameless_language_is_not_offered(tmp_path: Path) -> None:
    folder = written(tmp_path, GOOD.replace("X-Language-Name", "X-Other"))
    assert available_languages(folder) == {"en": "English"}


# -- keeping the catalogues up to date ------------------------------------------------------------


def test_update_keeps_translations_and_drops_what_is_gone(tmp_path: Path) -> None:
    path = catalogue_path("xx", written(tmp_path, GOOD))
    update: Any = UPDATE["update"]
    update(path, {("Undo", ""): ["a.py"], ("New", ""): ["b.py"], ("One", "Many"): ["b.py"]})
    after = polib.pofile(path)
    assert [(e.msgid, e.msgid_plural) for e in after] == [
        ("Undo", ""),
        ("New", ""),
        ("One", "Many"),
    ]
    assert after[0].msgstr == "Kumoa"
    assert [e.translated() for e in after] == [True, False, False]
    assert after.metadata["X-Language-Name"] == "Xish"
