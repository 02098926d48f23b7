"""Bring the catalogues up to date with the texts in the code.

Run by hand after a text was added, changed or removed (needs Babel)::

    python kiosk/locale/update.py

New texts are added without a translation, texts that are gone are taken out, translations stay.
A new language begins as a copy of ``en``: translate it, and put its own name, its code and its
plural rule into the header.
"""

from __future__ import annotations

from pathlib import Path

import polib
from babel.messages.extract import extract_from_dir

HERE = Path(__file__).resolve().parent
CODE = HERE.parent
#: The functions whose first argument is a text; ``ngettext`` takes a singular and a plural.
KEYWORDS = {"gettext": None, "ngettext": (1, 2)}


def texts_in_code() -> dict[tuple[str, str], list[str]]:
    """Singular and plural (or empty) of each text, with the files that it is in."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, _line, message, _comments, _context in sorted(
        extract_from_dir(CODE, [("**.py", "python")], keywords=KEYWORDS), key=lambda hit: hit[:2]
    ):
        key = message if isinstance(message, tuple) else (message, "")
        files = found.setdefault((key[0], key[1]), [])
        if name not in files:
            files.append(name)
    return found


def update(path: Path, texts: dict[tuple[str, str], list[str]]) -> None:
    """Rewrite one catalogue: all of ``texts`` in their order, with the translations it has."""
    old = polib.pofile(path)
    known = {(entry.msgid, entry.msgid_plural): entry for entry in old if not entry.obsolete}
    new = polib.POFile(wrapwidth=98)
    new.header, new.metadata = old.header, old.metadata
    for (singular, plural), files in texts.items():
        entry = known.get((singular, plural)) or polib.POEntry(
            msgid=singular,
            msgid_plural=plural,
            msgstr_plural={0: "", 1: ""} if plural else {},
        )
        # Line numbers would change with every edit; the file is enough to find the text.
        entry.occurrences = [(name, "") for name in files]
        new.append(entry)
    new.save(str(path))


if __name__ == "__main__":
    in_code = texts_in_code()
    for catalogue in sorted(HERE.glob("*/LC_MESSAGES/kiosk.po")):
        update(catalogue, in_code)
        print(f"{catalogue.relative_to(HERE)}: {len(in_code)} texts")
