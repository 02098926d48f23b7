"""Make the settings file that is shipped, beside this file: ``python kiosk/data/make_settings.py``.

What each setting does is taken from the table in docs/settings.md, so that it is said in one place;
names and defaults are those of :mod:`kiosk.settings`.

Invariant: every setting stands in the file, behind a ``#``: as it is, the file changes nothing, and
a default that a later version improves is improved for whoever never touched it.
"""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path
from typing import Any, Final

import msgspec

from kiosk.settings import Settings

HERE: Final = Path(__file__).resolve().parent
TABLE: Final = HERE.parent.parent / "docs" / "settings.md"
FILE: Final = HERE / "settings.toml"
WIDTH: Final = 100

#: What stands there for a setting that has no default: something that could be meant.
EXAMPLES: Final[dict[str, Any]] = {
    "display.width_mm": 155.0,
    # As docs/wiring.md connects them, as far as it does.
    "buttons.undo": 17,
    "buttons.new_deal": 27,
    "buttons.hint": 22,
    "buttons.redo": 23,
    "buttons.draw": 24,
    "buttons.up": 5,
    "buttons.down": 6,
    "buttons.left": 13,
    "buttons.right": 19,
    "buttons.select": 26,
    "buttons.wheel_a": 20,
    "buttons.wheel_b": 21,
    "lamps.undo": 12,
    "lamps.new_deal": 16,
    "lamps.hint": 18,
    "lamps.redo": 25,
    "lamps.draw": 10,
    "presence.pin": 4,
    # Of no PIN at all.
    "service.pin_hash": "scrypt$16384$8$1$" + "A" * 22 + "==$" + "A" * 43 + "=",
}

_HEAD: Final = """\
Pyramid Kiosk: the operator's settings. It belongs to /etc/pyramid-kiosk/settings.toml.

Every setting stands here with its default, behind a #: as it is, this file changes nothing. To \
change something, take away the # before it and write another value. Where there is no default, an \
example stands there.

To see whether all is well: sudo -u pyramid-kiosk pyramid-kiosk --check
To have a running kiosk read it again: sudo systemctl reload pyramid-kiosk\
"""

Key = tuple[str, str]


def described(table: str) -> dict[Key, str]:
    """What docs/settings.md says of each setting, by section and key, as plain text."""
    found: dict[Key, str] = {}
    section = ""
    row = re.compile(r"^\| (?:`\[(\w+)\]` )?\| `(\w+)` \| [^|]+ \| (.*) \|$", re.MULTILINE)
    for begun, key, text in row.findall(table):
        section = begun or section
        found[section, key] = plain(text)
    return found


def plain(text: str) -> str:
    """Markdown without its marks: code loses its quotes, a link names the document it leads to."""
    text = re.sub(r"\[([^]]+)\]\(([\w-]+\.md)[^)]*\)", r"\1 (docs/\2)", text)
    text = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", text).replace("`", "")
    return text[:1].upper() + text[1:]


def comment(text: str) -> list[str]:
    """A comment of a few lines, an empty one between paragraphs."""
    lines = []
    for paragraph in text.split("\n"):
        lines += textwrap.wrap(paragraph, WIDTH - 2, break_on_hyphens=False) or [""]
    return [f"# {line}".rstrip() for line in lines]


def made(table: str) -> str:
    """The whole file, from the text of docs/settings.md.

    Raises:
        KeyError: a setting is not described there, or has neither a default nor an example here.
    """
    texts = described(table)
    lines = comment(_HEAD)
    for section, values in msgspec.to_builtins(Settings()).items():
        lines += ["", "", f"[{section}]"]
        for key, default in values.items():
            value = EXAMPLES[f"{section}.{key}"] if default is None else default
            lines += ["", *comment(texts[section, key]), f"#{key} = {json.dumps(value)}"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    FILE.write_text(made(TABLE.read_text("utf-8")), "utf-8")
