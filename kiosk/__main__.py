"""``python -m kiosk``: everything is wired together here, and only here.

Invariant: no mistake in a file stops the kiosk.  Only a command line that cannot be understood, or
a machine without a screen, ends it before it begins: exit code 2 and a message that says what to
do.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import queue
import re
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import SystemRandom
from typing import TYPE_CHECKING, Final

import msgspec
import platformdirs

from engine.difficulty import Grade
from engine.game import SaveError
from engine.position import MoveTextError
from engine.rules import PRESETS
from hardware.backlight import FOLDER as BACKLIGHTS
from hardware.config import PanelSettings
from hardware.panel import Panel as HardwarePanel
from kiosk import pin
from kiosk import settings as settings_file
from kiosk.adviser import ThreadAdviser
from kiosk.commands import Command
from kiosk.dealer import PoolDealer
from kiosk.display import Driver, NoDisplayError, choose_driver, prepare
from kiosk.errorlog import ErrorLog
from kiosk.lockout import Lockout
from kiosk.overrides import Overrides
from kiosk.panel_controls import PanelControls, wired
from kiosk.picturecache import PictureCache
from kiosk.service import PinFacts, Service
from kiosk.service_commands import OpenService
from kiosk.service_desk import ServiceDesk, keep_failures, kept_failures, runs_as_service
from kiosk.session import Session
from kiosk.sessiontypes import Configure, Saved, SessionOptions, Tell
from kiosk.settings import Settings
from kiosk.sound import Sounds, has_sound_card
from kiosk.storage import Storage
from kiosk.texts import shipped_languages

if TYPE_CHECKING:
    from kivy.app import App

    from kiosk.app import KioskApp

log = logging.getLogger("kiosk")

NAME: Final = "pyramid-kiosk"
SYSTEM_SETTINGS: Final = Path("/etc") / NAME / "settings.toml"
DEMO_SIZE: Final = (1280, 720)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the kiosk; return the exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given[:1] == ["pin"]:
        return pin.main(given[1:])
    args = parse(given)
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    stopper = Stopper()
    stopper.listen()
    try:
        if args.demo:
            return _demo(args, stopper)
        app, close = make_app(args)
    except NoDisplayError as error:
        print(f"pyramid-kiosk: {error}", file=sys.stderr)
        return 2
    try:
        stopper.run(app)
    finally:
        close()
    if app.restarts and not runs_as_service():
        # Nobody else would start it again.
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    return 0


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
            app.run()

    def _stop(self, _number: int, _frame: object) -> None:
        self._asked = True
        if self._app is not None:
            self._app.stop()


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line; a bad one ends the program with exit code 2."""
    return _parser().parse_args(arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m kiosk",
        description="Pyramid solitaire for a touch screen. Without options it fills the screen.",
        epilog="python -m kiosk pin: make the line for the settings file that protects the service "
        "menu with a PIN.",
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


def _settings(path: Path | None) -> Settings:
    """The settings from the file named, the system's file, the user's file, or none."""
    user = platformdirs.user_config_path(NAME) / "settings.toml"
    if path is None:
        path = next((p for p in (SYSTEM_SETTINGS, user) if p.exists()), None)
    if path is None:
        return Settings()
    settings, problems = settings_file.load(path)
    for problem in problems:
        log.error("%s", problem)
    return settings


def _state_folder(path: Path | None) -> Path:
    if path is not None:
        return path
    if given := os.environ.get("STATE_DIRECTORY"):
        return Path(given.split(":")[0])
    return platformdirs.user_state_path(NAME)


def _options(args: argparse.Namespace, settings: Settings) -> SessionOptions:
    game = settings.game
    return SessionOptions(
        preset=args.preset or game.preset,
        preset_first=args.preset is not None,
        language=args.language or settings.language.default,
        language_first=args.language is not None,
        grade=None if game.grade == "any" else Grade[game.grade.upper()],
        auto_play=game.auto_play,
        attract_after=settings.idle.attract_after,
        countdown=settings.idle.countdown,
        keep_for=settings.idle.keep_game,
        tell=Tell(game.tell_lost),
        coaching=game.coaching,
        look=settings.display,
    )


def make_app(args: argparse.Namespace) -> tuple[KioskApp, Callable[[], None]]:
    """Open the window and put the kiosk together.

    Returns:
        the application, ready to run, and what to call after it has run.

    Raises:
        NoDisplayError: there is no screen.
    """
    errors = ErrorLog()
    logging.getLogger().addHandler(errors)
    driver = choose_driver(os.environ, offscreen=args.offscreen)
    file = _settings(args.settings)
    prepare(driver, args.size or (DEMO_SIZE if driver is Driver.OFFSCREEN else None))
    from kiosk.app import KioskApp, input_threads  # noqa: PLC0415 - opens the window
    from kiosk.heartbeat import Heartbeat, notifier  # noqa: PLC0415

    inbox: queue.SimpleQueue[Command] = queue.SimpleQueue()
    state = _state_folder(args.state)
    storage = Storage(state)
    overrides = Overrides(state)
    settings = overrides.applied(file)
    dealer = PoolDealer(SystemRandom(), rules=settings.playable)
    adviser = ThreadAdviser(inbox.put)
    desk = ServiceDesk(
        file,
        overrides,
        storage=storage,
        dealer=dealer,
        errors=errors,
        post=inbox.put,
        without_effect=_without_effect(),
    )
    lockout = Lockout(
        time.monotonic(), kept_failures(state), lambda failures: keep_failures(state, failures)
    )
    service = Service(desk, lockout, close_after=settings.service.close_after)
    options = _options(args, settings)

    def session_with(saved: Saved | None) -> Session:
        return Session(
            dealer,
            adviser,
            options,
            now=time.monotonic(),
            record=storage.record,
            saved=saved,
            statistics=storage.statistics,
            rules=settings.playable,
            service=service,
        )

    try:
        session = session_with(storage.saved)
    except (SaveError, MoveTextError) as error:
        storage.refuse_saved(str(error))
        session = session_with(None)
    heartbeat = Heartbeat(notifier(), input_threads)
    app = KioskApp(
        session,
        inbox,
        keep=storage.save,
        heartbeat=heartbeat,
        sounds=Sounds(settings.sound.volume),
        cache=PictureCache(state / "pictures"),
        corners=settings.service.corners,
    )
    controls = _attach_panel(app, settings)

    def apply(changed: Settings) -> None:
        inbox.put(Configure(_options(args, changed)))
        app.set_volume(changed.sound.volume)

    desk.apply = apply
    desk.restart = app.restart
    desk.read_pins = lambda: _pins(controls, settings)
    app.bind(on_start=lambda _app: dealer.check())
    log.info("playing %s on %s", session.preset, driver.value)

    def close() -> None:
        heartbeat.stopping()
        adviser.close()
        if not storage.close():
            log.error("the game could not be written before the end")
        dealer.close()
        logging.getLogger().removeHandler(errors)

    return app, close


def _attach_panel(app: KioskApp, settings: Settings) -> PanelControls | None:
    """Connect the buttons and lamps that the settings name, if they name any."""
    plain = wired(settings.buttons, settings.lamps, settings.presence)
    panel = msgspec.convert(plain, PanelSettings)
    if panel.is_empty:
        return None

    def open_service() -> None:
        app.send(OpenService())

    controls = PanelControls(app.session, app.send, service=open_service)
    controls.panel = HardwarePanel.open(panel, controls.handle)
    app.attach(controls)
    return controls


def _pins(controls: PanelControls | None, settings: Settings) -> PinFacts:
    """The buttons and lamps for the service menu, as they are now."""
    plain = wired(settings.buttons, settings.lamps, settings.presence)
    numbers = {f"input {name}": str(it["pin"]) for name, it in plain["buttons"].items()}
    numbers |= {f"input {name}": f"{it['a']}, {it['b']}" for name, it in plain["encoders"].items()}
    numbers |= {f"lamp {name}": str(it["pin"]) for name, it in plain["lamps"].items()}
    if "presence" in plain:
        numbers["input presence"] = str(plain["presence"]["pin"])
    panel = None if controls is None else controls.panel
    if panel is None:
        return PinFacts({}, (), {})
    return PinFacts(panel.inputs, tuple(plain["lamps"]), numbers, panel.reason)


def _without_effect() -> frozenset[str]:
    """The settings of the service menu that do nothing on this machine."""
    silent = set() if has_sound_card() else {"sound.volume"}
    dark = set() if any(BACKLIGHTS.glob("*")) else {"backlight.full"}
    return frozenset(silent | dark)


def _demo(args: argparse.Namespace, stopper: Stopper) -> int:
    driver = choose_driver(os.environ, offscreen=args.offscreen)
    settings = _settings(args.settings)
    prepare(driver, args.size or DEMO_SIZE)
    from kiosk.demo import play_demo  # noqa: PLC0415 - opens the window

    dealer = PoolDealer(SystemRandom(), rules=settings.playable)
    try:
        summary = play_demo(dealer, _options(args, settings), args.shots, run=stopper.run)
    finally:
        dealer.close()
    print(json.dumps(summary))
    return 0


if __name__ == "__main__":
    sys.exit(main())
