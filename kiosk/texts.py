"""The texts on the screen in the visitor's language, from gettext catalogues read as they are.

A language is one file, ``locale/<code>/LC_MESSAGES/kiosk.po``, whose header names it
(``X-Language-Name: Deutsch``).  Nothing is compiled, so that adding a language is adding a file.
The English texts in the code are the keys; the English catalogue only lists them.

Invariant: no Kivy, and no catalogue, however broken, stops the kiosk: whatever cannot be used is
reported in :attr:`Texts.problems` and in the log, and shown in English.
"""

from __future__ import annotations

import gettext
import io
import logging
import re
import string
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import polib

#: Where the catalogues are.
FOLDER: Final = Path(__file__).resolve().parent / "locale"
#: The language of the texts in the code.
SOURCE_LANGUAGE: Final = "en"
_NAME_HEADER: Final = "X-Language-Name"
#: A line of a catalogue's header.
_FIELD: Final = re.compile(r'^"([A-Za-z-]+): *(.*?) *(?:\\n)?"$', re.MULTILINE)
#: A translation that says anything, on its own line or below.
_SAID: Final = re.compile(r'^msgstr(?:\[\d+\])? (?:"[^"\n]|""\n")', re.MULTILINE)

_log = logging.getLogger(__name__)


def catalogue_path(language: str, folder: Path = FOLDER) -> Path:
    """The file that holds ``language``, whether it exists or not."""
    return folder / language / "LC_MESSAGES" / "kiosk.po"


def available_languages(folder: Path = FOLDER) -> dict[str, str]:
    """The languages that have a readable catalogue, English first, then by their own names.

    Returns:
        For each code, like ``de``, the language's own name, like ``Deutsch``.
    """
    names = {}
    for path in folder.glob("*/LC_MESSAGES/kiosk.po"):
        code = path.parent.parent.name
        try:
            names[code] = _header(path)[_NAME_HEADER]
        except Exception as error:  # whatever an unknown file makes the parser do
            _log.warning("language %s is left out, %s: %s", code, path, _why(error))
    names.setdefault(SOURCE_LANGUAGE, "English")
    order = sorted(names, key=lambda code: (code != SOURCE_LANGUAGE, names[code].casefold()))
    return {code: names[code] for code in order}


@cache
def shipped_languages() -> dict[str, str]:
    """The languages that this installation has; read once, for nothing changes them."""
    return available_languages()


class Texts:
    """The texts in one language.  Make it with :meth:`load`.

    Attributes:
        language: the code that was asked for, even where its catalogue cannot be read.
        problems: what is wrong with the catalogue, one sentence each.
    """

    def __init__(
        self,
        language: str = SOURCE_LANGUAGE,
        translations: gettext.NullTranslations | None = None,
        problems: tuple[str, ...] = (),
    ) -> None:
        self.language = language
        self.problems = problems
        self._translations = translations or gettext.NullTranslations()

    @classmethod
    def load(cls, language: str, folder: Path = FOLDER) -> Texts:
        """The texts in ``language``, a code like ``de``; in English if that cannot be read."""
        try:
            return cls.read(language, folder)
        except OSError as error:
            problem = f"{catalogue_path(language, folder)}: {_why(error)}"
            _log.warning("%s", problem)
            return cls(language, problems=(problem,))

    @classmethod
    def read(cls, language: str, folder: Path = FOLDER) -> Texts:
        """The same; in English only if what is in the file is of no use.

        Raises:
            OSError: the file cannot be read, which may pass.
        """
        path = catalogue_path(language, folder)
        problems: list[str] = []
        translations: gettext.NullTranslations
        try:
            translations = _read(path, problems)
        except OSError:
            raise
        except Exception as error:  # whatever an unknown file makes the parser do
            problems.append(f"{path}: {_why(error)}")
            translations = gettext.NullTranslations()
        for problem in problems:
            _log.warning("%s", problem)
        return cls(language, translations, tuple(problems))

    def gettext(self, message: str, /, **values: object) -> str:
        """The text for the English ``message``, its ``{placeholders}`` filled with ``values``."""
        return self._translations.gettext(message).format(**values)

    def ngettext(self, singular: str, plural: str, n: int, /, **values: object) -> str:
        """The text for ``n`` things in the plural form of the language; ``{n}`` is the number."""
        return self._translations.ngettext(singular, plural, n).format(n=n, **values)


def texts_in(language: str) -> Texts:
    """The texts in one of this installation's languages; read once, for nothing changes them.

    While the file cannot be read they are in English, and it is tried again each time.
    """
    try:
        return _kept(language)
    except OSError:
        return Texts.load(language)


_kept = cache(Texts.read)


def placeholders(text: str) -> frozenset[str]:
    """The names of the ``{placeholders}`` in ``text``.

    Raises:
        ValueError: the text cannot be filled: a brace without a partner, a format or an index.
    """
    names = set()
    for _literal, name, format_spec, conversion in string.Formatter().parse(text):
        if name is None:
            continue
        if not name.isidentifier() or format_spec or conversion:
            raise ValueError(f"{{{name}}} is not a plain placeholder")
        names.add(name)
    return frozenset(names)


def _header(path: Path) -> dict[str, str]:
    """The header fields of a catalogue.  Only the head of the file is read."""
    with path.open(encoding="utf-8") as file:
        return dict(_FIELD.findall("".join(_until_blank_line(file))))


def _until_blank_line(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        if not line.strip():
            return
        yield line


def _says_nothing(text: str) -> bool:
    """Whether a catalogue has a header and translates nothing, as the English one does."""
    head, _blank, entries = text.partition("\n\n")
    return bool(_FIELD.search(head)) and not _SAID.search(entries)


def _read(path: Path, problems: list[str]) -> gettext.NullTranslations:
    """Read a catalogue; what is unusable in it is dropped and added to ``problems``."""
    text = path.read_text(encoding="utf-8")
    if path == catalogue_path(SOURCE_LANGUAGE) and _says_nothing(text):
        # Reading it entry by entry would only hold up the first picture.
        return gettext.NullTranslations()
    import polib  # noqa: PLC0415 - takes its time, too

    catalogue = polib.pofile(text)
    if not catalogue.metadata:
        raise ValueError("it has no header")
    catalogue.metadata["Content-Type"] = "text/plain; charset=UTF-8"
    for entry in list(catalogue):
        try:
            _check(entry)
        except ValueError as error:
            problems.append(f"{path}, line {entry.linenum}, {entry.msgid!r}: {error}")
            catalogue.remove(entry)
    translations = gettext.GNUTranslations(io.BytesIO(catalogue.to_binary()))
    # Ask every plural form once: a rule that fails or has too few forms fails here, not in play.
    for entry in catalogue.translated_entries():
        if entry.msgid_plural:
            for n in range(200):
                translations.ngettext(entry.msgid, entry.msgid_plural, n)
    return translations


def _check(entry: polib.POEntry) -> None:
    """Raise ValueError when a translation cannot take the values of its source text."""
    if not entry.translated():
        return
    wanted = placeholders(entry.msgid)
    if entry.msgid_plural:
        wanted |= placeholders(entry.msgid_plural) | {"n"}
    for text in entry.msgstr_plural.values() if entry.msgid_plural else [entry.msgstr]:
        unknown = placeholders(text) - wanted
        if unknown:
            raise ValueError(f"there is no {{{min(unknown)}}} in the source text")


def _why(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"its header has no {error.args[0]}"
    return f"{type(error).__name__}: {error}"
