"""``python -m kiosk``: what is asked for on the command line is begun here, and brought to its end.

Invariant: no mistake in a file stops the kiosk.  Only a command line that cannot be understood, or
a machine without a screen, ends it before it begins: exit code 2 and a message that says what to
do.
"""

from __future__ import annotations

import argparse
import gc
import json
import logging
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from random import SystemRandom
from typing import TYPE_CHECKING, Final

from kiosk import pin, places
from kiosk.commandline import parse
from kiosk.dealer import PoolDealer
from kiosk.display import NoDisplayError, choose_driver, open_window, prepare
from kiosk.places import SHIPPED_SETTINGS
from kiosk.service_desk import runs_as_service
from kiosk.settings import Settings, load
from kiosk.wiring import DEMO_SIZE, make_app, name_chip, options_of, read_settings

if TYPE_CHECKING:
    from kivy.app import App

#: As a shell reports a program that SIGPIPE has ended.
BROKEN_PIPE: Final = 128 + signal.SIGPIPE
#: The last of the three files that a program begins with.
STDERR: Final = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the kiosk; return the exit code."""
    fill_streams()
    given = sys.argv[1:] if arguments is None else list(arguments)
    commands = {"pin": pin.main, "settings": print_settings, "stats": print_stats}
    if given and given[0] in commands:
        return printed(lambda: commands[given[0]](given[1:]))
    args = parse(given)
    if args.check:
        return printed(lambda: check(args))
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    stopper = Stopper()
    stopper.listen()
    # Where somebody sits at a terminal, its end is the kiosk's end too.
    reloads = not args.demo and (runs_as_service() or not sys.stdin.isatty())
    if reloads:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the file is about to be read anyway
    try:
        if args.demo:
            return _demo(args, stopper)
        app, close = make_app(args)
    except NoDisplayError as error:
        print(f"pyramid-kiosk: {error}", file=sys.stderr)
        return 2
    if reloads:
        signal.signal(signal.SIGHUP, lambda _number, _frame: app.soon(app.reload))
    try:
        stopper.run(app)
    finally:
        close()
    # All is safe.  Looking for garbage in what ends anyway would take most of the time from here.
    gc.freeze()
    if app.restarts and not runs_as_service():
        # Nobody else would start it again.
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    return 0


def fill_streams() -> None:
    """Put an empty file in the place of each stream that whoever started this has closed.

    Otherwise there is none in Python, and the next file that is opened takes its number: a library
    that complains would write into it.
    """
    while (handle := os.open(os.devnull, os.O_RDWR)) <= STDERR:
        pass
    os.close(handle)
    nothing = Path(os.devnull)
    # They stay open for as long as the program runs.
    sys.stdin = sys.stdin or nothing.open(encoding="utf-8")
    sys.stdout = sys.stdout or nothing.open("w", encoding="utf-8")
    sys.stderr = sys.stderr or nothing.open("w", encoding="utf-8")


def printed(run: Callable[[], int]) -> int:
    """Run what only prints; a reader who has had enough ends it without a complaint."""
    try:
        code = run()
        sys.stdout.flush()
    except BrokenPipeError:
        # What is still in the buffer must not fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    return code


def check(args: argparse.Namespace) -> int:
    """``python -m kiosk --check``: 0 when all is ready, 1 when something is to be put right."""
    from kiosk import preflight  # noqa: PLC0415 - not needed for playing

    path = places.settings_file(args.settings)
    settings, problems = (Settings(), []) if path is None else load(path)
    findings = preflight.check(
        preflight.Machine.this(),
        (settings, problems, path),
        places.service_state(args.state),
        find_chip=name_chip,
        offscreen=args.offscreen,
    )
    print((preflight.as_json if args.json else preflight.as_text)(findings), end="")
    return 0 if preflight.ready(findings) else 1


def print_settings(arguments: Sequence[str]) -> int:
    """``python -m kiosk settings``: print the settings file that is shipped."""
    parser = argparse.ArgumentParser(
        prog=f"{places.command()} settings",
        description="Print a settings file with every setting in it, each with its default and "
        "what it does. As it is, it changes nothing.",
    )
    parser.parse_args(arguments)
    print(SHIPPED_SETTINGS.read_text("utf-8"), end="")
    return 0


def print_stats(arguments: Sequence[str]) -> int:
    """``python -m kiosk stats``: what has been played here."""
    from kiosk import stats  # noqa: PLC0415 - not needed for playing

    return stats.main(arguments)


class Stopper:
    """Ends the program on SIGTERM and SIGINT, at whatever moment they come."""

    def __init__(self) -> None:
        self._app: App | None = None
        self._asked = False

    def listen(self) -> None:
        """Take the signals over, before anything else can."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)

    def run(self, app: App) -> None:
        """Run an application until it ends, or is asked to."""
        self._app = app
        if not self._asked:
            # Asked between here and the loop: the loop itself looks as soon as it turns.
            app.bind(on_start=lambda _app: self._asked and app.stop())
            try:
                app.run()
            finally:
                # Whoever asks once more would have it end again in the midst of its end.
                self._app = None

    def _stop(self, _number: int, _frame: object) -> None:
        self._asked = True
        if self._app is not None:
            self._app.stop()


def _demo(args: argparse.Namespace, stopper: Stopper) -> int:
    driver = choose_driver(os.environ, offscreen=args.offscreen)
    settings = read_settings(args.settings)
    prepare(driver, args.size or DEMO_SIZE, rotation=settings.display.rotation)
    open_window()
    from kiosk.demo import play_demo  # noqa: PLC0415 - needs a window

    dealer = PoolDealer(SystemRandom(), rules=settings.playable)
    try:
        summary = play_demo(dealer, options_of(args, settings), args.shots, run=stopper.run)
    finally:
        dealer.close()
    print(json.dumps(summary))
    return 0


if __name__ == "__main__":
    sys.exit(main())
