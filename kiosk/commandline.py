"""The command line: which words there are, and what each may be.

Invariant: no Kivy, and nothing is opened; a bad command line ends the program with exit code 2.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from engine.rules import PRESETS
from kiosk.places import SYSTEM_SETTINGS, command
from kiosk.texts import shipped_languages


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line; a bad one ends the program with exit code 2."""
    parser = _parser()
    args = parser.parse_args(arguments)
    if args.json and not args.check:
        parser.error("--json belongs to --check")
    return args


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=command(),
        description="Pyramid solitaire for a touch screen. Without options it fills the screen.",
        epilog=f"Other commands: {command()} settings prints a settings file with "
        f"every default; {command()} pin makes the line in it that protects the "
        f"service menu with a PIN; {command()} stats prints what has been played here.",
    )
    parser.add_argument(
        "--settings", type=Path, metavar="FILE", help=f"the settings file [{SYSTEM_SETTINGS}]"
    )
    parser.add_argument(
        "--state", type=Path, metavar="DIR", help="where the running game and the results are kept"
    )
    parser.add_argument("--preset", choices=list(PRESETS), help="the rules of the next deals")
    parser.add_argument(
        "--language", choices=list(shipped_languages()), help="the language to begin with"
    )
    parser.add_argument(
        "--size", type=_size, metavar="WxH", help="a window of that size instead of all the screen"
    )
    parser.add_argument(
        "--offscreen", action="store_true", help="draw into a window that nobody sees"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="say what is wrong with the settings and with this machine, and what to do, and end: "
        "exit code 0 when the kiosk is ready (warnings do not count), 1 when something must be put "
        "right",
    )
    parser.add_argument("--json", action="store_true", help="with --check: as JSON")
    parser.add_argument(
        "--demo",
        action="store_true",
        help="play one attract-mode game at speed, print a summary as JSON, and end",
    )
    parser.add_argument(
        "--shots", type=_folder, metavar="DIR", help="with --demo: save pictures of it there"
    )
    return parser


def _size(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"([0-9]{1,5})x([0-9]{1,5})", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size: write it like 1280x720")
    width, height = int(match[1]), int(match[2])
    if not (320 <= width <= 8192 and 240 <= height <= 8192):
        raise argparse.ArgumentTypeError(f"{text}: sizes go from 320x240 to 8192x8192")
    return width, height


def _folder(text: str) -> Path:
    path = Path(text)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{text}: cannot be made ({error.strerror})") from None
    return path
