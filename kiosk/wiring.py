"""Puts the kiosk together: files, pool, session, window, panel.

Invariant: this is the only place where everything is wired together, and the only one that knows
pins as well as cards.  No mistake in a file stops it.
"""

from __future__ import annotations

import argparse
import gc
import logging
import os
import queue
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import SystemRandom
from threading import Thread
from typing import TYPE_CHECKING, Final

import msgspec

from engine.difficulty import Grade
from engine.game import SaveError
from engine.position import MoveTextError
from hardware.backlight import FOLDER as BACKLIGHTS
from hardware.backlight import Backlight, BacklightSpec, NullBacklight, open_backlight
from hardware.chip import find_chip
from kiosk import places, smallfile
from kiosk import renderer as graphics
from kiosk import settings as settings_file
from kiosk.adviser import ThreadAdviser
from kiosk.commands import Command
from kiosk.dealer import PoolDealer
from kiosk.display import Driver, choose_driver, open_window, prepare
from kiosk.errorlog import ErrorLog
from kiosk.light import Light, LightOptions
from kiosk.lockout import Lockout
from kiosk.monitor import EVERY, Monitor, Sources
from kiosk.overrides import Overrides
from kiosk.panel_controls import PanelControls, wired
from kiosk.picturecache import PictureCache
from kiosk.reload import Reload
from kiosk.service import PinFacts, Service
from kiosk.service_commands import OpenService
from kiosk.service_desk import ServiceDesk, keep_failures, kept_failures, version
from kiosk.session import Session
from kiosk.sessiontypes import Configure, Saved, SessionOptions, Tell
from kiosk.settings import Settings
from kiosk.sound import Sounds, has_sound_card
from kiosk.storage import Storage
from kiosk.texts import shipped_languages

if TYPE_CHECKING:
    from kiosk.app import KioskApp

log = logging.getLogger("kiosk")

#: The size of a window in px that nobody sees, and of the demo's.
DEMO_SIZE: Final = (1280, 720)
#: Whoever did something has full light for so many seconds at least.
LEAST_LIGHT: Final = 60.0
#: Seconds that are waited, at the end, for what is still being written or thought about.
LONGEST_END: Final = 4.0
#: Where the attract mode never begins: seconds without input after which nobody is there.
ALONE: Final = 180.0


def read_settings(given: Path | None) -> Settings:
    """The operator's settings, every mistake in them logged; the defaults where there is no file.

    Args:
        given: the file that the command line names, or None.
    """
    path = places.settings_file(given)
    if path is None:
        return Settings()
    settings, problems = settings_file.load(path)
    for problem in problems:
        log.error("%s", problem)
    return settings


def options_of(args: argparse.Namespace, settings: Settings) -> SessionOptions:
    """What the session is told to do, by the command line and the operator's file."""
    game = settings.game
    return SessionOptions(
        preset=args.preset or game.preset,
        preset_first=args.preset is not None,
        language=args.language or settings.language.default,
        language_first=args.language is not None,
        languages=tuple(shipped_languages()),
        grade=None if game.grade == "any" else Grade[game.grade.upper()],
        auto_play=game.auto_play,
        attract_after=settings.idle.attract_after,
        countdown=settings.idle.countdown,
        keep_for=settings.idle.keep_game,
        tell=Tell(game.tell_lost),
        coaching=game.coaching,
        look=settings.display,
    )


def light_of(settings: Settings) -> tuple[Backlight | NullBacklight, LightOptions]:
    """The light behind the screen, and what the operator wants of it."""
    wanted, idle = settings.backlight, settings.idle
    backlight = open_backlight(BacklightSpec(wanted.device, wanted.full, wanted.dim))
    options = LightOptions(
        schedule=settings.schedule.schedule,
        dim_after=idle.dim_after,
        stay=max(LEAST_LIGHT, (idle.attract_after or ALONE) + idle.countdown),
        dim=wanted.dim / wanted.full,
    )
    return backlight, options


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
    file = read_settings(args.settings)
    _prepare(driver, args, file)
    open_window()
    from kiosk.app import KioskApp, input_threads  # noqa: PLC0415 - opens the window
    from kiosk.heartbeat import Heartbeat, notifier  # noqa: PLC0415

    inbox: queue.SimpleQueue[Command] = queue.SimpleQueue()
    state = places.state_folder(args.state)
    storage = Storage(state)
    small_files = smallfile.Writer()
    overrides = Overrides(state, small_files.put)
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
        time.monotonic(),
        kept_failures(state),
        lambda failures: keep_failures(state, failures, small_files.put),
    )
    service = Service(desk, lockout, close_after=settings.service.close_after)
    options = options_of(args, settings)

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
    light = Light(*light_of(settings), time.monotonic())
    app = KioskApp(
        session,
        inbox,
        keep=storage.save,
        heartbeat=heartbeat,
        sounds=Sounds(settings.sound.volume),
        cache=PictureCache(state / "pictures"),
        corners=settings.service.corners,
        light=light,
    )
    controls = _attach_panel(app, settings)

    desk.apply = _applier(app, light, service, args)
    app.reload = Reload(args.settings, file, desk.use).again
    desk.restart = app.restart
    desk.read_pins = lambda: _pins(controls, settings)
    _let_watch(
        app,
        storage=storage,
        dealer=dealer,
        errors=errors,
        threads=input_threads,
        panel=lambda: desk.pins().why,
    )
    app.bind(on_start=lambda _app: dealer.check())
    app.bind(on_start=lambda _app: _say_who_draws())
    log.info("playing %s on %s", session.preset, driver.value)

    def close() -> None:
        # All are asked to end before one is waited for; the game has the first claim on the time.
        end = time.monotonic() + LONGEST_END
        heartbeat.stopping()
        adviser.close(timeout=0)
        if not storage.close():
            log.error("the game could not be written before the end")
        small_files.close(max(0.0, end - time.monotonic()))
        adviser.close(max(0.0, end - time.monotonic()))
        dealer.close()
        logging.getLogger().removeHandler(errors)

    return app, close


def _applier(
    app: KioskApp, light: Light, service: Service, args: argparse.Namespace
) -> Callable[[Settings], None]:
    """What makes other settings count in the running kiosk."""

    def apply(changed: Settings) -> None:
        app.inbox.put(Configure(options_of(args, changed)))
        app.set_volume(changed.sound.volume)
        light.change(*light_of(changed), time.monotonic())
        app.set_corners(changed.service.corners)
        service.close_after = changed.service.close_after

    return apply


def _let_watch(
    app: KioskApp,
    *,
    storage: Storage,
    dealer: PoolDealer,
    errors: ErrorLog,
    threads: Callable[[], list[Thread]],
    panel: Callable[[], str],
) -> None:
    """Where systemd has made a folder for it, write figures for whoever watches a fleet."""
    folder = places.runtime_folder()
    if folder is None:
        return
    session = app.session
    sources = Sources(
        version=cache(version),
        preset=lambda: session.preset,
        attract=lambda: session.attract,
        statistics=lambda: session.statistics,
        frames=app.frame_times.families,
        threads=threads,
        errors=errors,
        pool=lambda: dealer.pool_facts,
        panel=panel,
        problems=lambda: storage.problems,
    )
    monitor = Monitor(folder, sources)
    app.every(EVERY, monitor.write)
    # Not before the first picture.
    app.bind(on_start=lambda _app: app.soon(monitor.write))


def name_chip() -> str:
    """The GPIO chip of the header.

    Raises:
        HardwareError: there is none, or it may not be used; the message says why.
    """
    chip = find_chip()
    return f"{chip.label} (/dev/gpiochip{chip.number})"


def _say_who_draws() -> None:
    """Log what draws; on a Raspberry Pi it must be the graphics chip."""
    from kivy.graphics.opengl import glGetString  # noqa: PLC0415 - opens the window

    name = glGetString(graphics.GL_RENDERER).decode("utf-8", "replace")
    log.info("drawn by %s", name)
    if why := graphics.complaint(name, on_pi=graphics.is_raspberry_pi()):
        log.error("%s", why)


def _prepare(driver: Driver, args: argparse.Namespace, file: Settings) -> None:
    """Set Kivy up, and collect no garbage until the first picture stands.

    What is made until then stays, so that looking through it finds nothing, and takes time.  The
    application switches collecting on again.
    """
    prepare(
        driver,
        args.size or (DEMO_SIZE if driver is Driver.OFFSCREEN else None),
        rotation=file.display.rotation,
        touch_rotation=file.display.touch_rotation,
    )
    gc.disable()


def _attach_panel(app: KioskApp, settings: Settings) -> PanelControls | None:
    """Connect the buttons and lamps that the settings name, if they name any."""
    plain = wired(settings.buttons, settings.lamps, settings.presence)
    if not any(plain.values()):
        return None
    # What most kiosks go without is not read before their first picture.
    from hardware.config import PanelSettings  # noqa: PLC0415
    from hardware.panel import Panel as HardwarePanel  # noqa: PLC0415

    panel = msgspec.convert(plain, PanelSettings)

    def open_service() -> None:
        app.send(OpenService())

    controls = PanelControls(
        app.session,
        app.send,
        wake=app.wake,
        navigate=app.navigate,
        service=open_service,
        presence=app.presence,
    )
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
