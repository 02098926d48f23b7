"""What buttons, stick, wheel and lamps mean to the game.

Events of the panel come in, commands go out, by the same road as every touch; lamps show what a
button would do.

Invariant: knows no pin.  The panel is whatever has the methods of :class:`Pins`; what is wired is
described by :func:`wired` in plain values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from engine.position import Outcome
from kiosk.commands import (
    OPENED_BY_PLAYER,
    Change,
    ChangeKind,
    Close,
    Command,
    Draw,
    Hint,
    NewDeal,
    Panel,
    Redo,
    Touched,
    Undo,
)
from kiosk.panel_settings import ButtonSettings, LampSettings, PresenceSettings
from kiosk.service_commands import Page
from kiosk.session import Session

NEW_DEAL: Final = "new_deal"
UNDO: Final = "undo"
SERVICE: Final = "service"

#: Buttons that always mean the same.
_COMMANDS: Final[dict[str, Command]] = {"hint": Hint(), "redo": Redo(), "draw": Draw()}
#: Buttons that move the mark on the table, or take what is marked.
_STICK: Final = ("up", "down", "left", "right", "select")
_WHEEL: Final = "wheel"
_BUTTONS: Final = (UNDO, NEW_DEAL, *_COMMANDS, *_STICK)
_LAMPS: Final = (UNDO, NEW_DEAL, *_COMMANDS)
#: Buttons that go on while they are held.
_REPEATING: Final = (UNDO, "redo", "up", "down", "left", "right")

#: Panels over the table from which Undo leads back, for a kiosk whose touch screen is dead.
_BACK: Final = OPENED_BY_PLAYER | {Panel.GIVE_UP, Panel.CONTINUE, Panel.SERVICE}
#: Panels under which Undo is Undo.
_UNDO: Final = frozenset({Panel.NONE, Panel.STUCK, Panel.CANNOT_WIN})


class PanelEvent(Protocol):
    """Something that happened on the panel: see ``hardware/events.py``."""

    @property
    def kind(self) -> str:
        """What happened."""

    @property
    def source(self) -> str:
        """The name of what it happened to."""

    @property
    def value(self) -> float:
        """How far, how often, which way."""


class Pins(Protocol):
    """A panel, working or not: see ``hardware/panel.py``."""

    @property
    def connected(self) -> bool:
        """Whether it works."""

    @property
    def reason(self) -> str:
        """Why it does not; empty when it does, or when nothing is wired."""

    @property
    def inputs(self) -> Mapping[str, bool | int]:
        """By name: whether it is active now, or how far it was turned."""

    def retry(self, now: float) -> Pins:
        """The panel to go on with."""

    def poll(self, now: float) -> None:
        """Post what has happened; move the lamps."""

    def light(self, name: str, state: str) -> None:
        """Have a lamp show ``off``, ``on``, ``breathing`` or ``blinking``."""

    def close(self) -> None:
        """Let go of everything."""


class PanelControls:
    """The meaning of a panel; on the main loop only.

    Args:
        session: read, to know what a button would do.
        send: the application's road for commands.
        wake: called at every press; whether the display was dark.  A press that wakes it does
            nothing else.
        navigate: takes ``up``, ``down``, ``left``, ``right``, ``select``, ``next`` or ``previous``.
        service: both main buttons were held: open the service menu.
        presence: somebody came (True) or has gone (False).

    Attributes:
        panel: what is polled; None until one is attached.
        holding: how far the hold of the new-deal button has got, above 0 and below 1; 0 when it is
            not held.  The ring on the screen shows it.
        present: whether the sensor sees somebody.
    """

    def __init__(
        self,
        session: Session,
        send: Callable[[Command], Change],
        *,
        wake: Callable[[], bool] = lambda: False,
        navigate: Callable[[str], None] = lambda _direction: None,
        service: Callable[[], None] = lambda: None,
        presence: Callable[[bool], None] = lambda _present: None,
    ) -> None:
        self._session = session
        self._send = send
        self._wake = wake
        self._navigate = navigate
        self._service = service
        self._presence = presence
        #: Buttons that have done all that this press may do.
        self._spent: set[str] = set()
        #: How many moves this press of Undo has taken back.
        self._taken_back = 0
        self.panel: Pins | None = None
        self.holding = 0.0
        self.present = False

    def poll(self, now: float) -> None:
        """It is ``now``, in monotonic seconds; call it thirty times a second for a smooth ring."""
        if self.panel is None:
            return
        self.panel = self.panel.retry(now)
        self.panel.poll(now)
        if not self.panel.connected:
            self.holding = 0.0
            self._taken_back = 0
            if self.present:
                # A sensor that is gone sees nobody, and one that comes back begins anew.
                self.present = False
                self._presence(False)
        for name, state in self.lamps().items():
            self.panel.light(name, state)

    def close(self) -> None:
        """Put out the lamps and let go of the panel; a second time does nothing."""
        if self.panel is not None:
            self.panel.close()

    # -- buttons --------------------------------------------------------------------------------

    def handle(self, event: PanelEvent) -> None:  # noqa: PLR0912 - the one switch
        """Do what an event means; one that means nothing here is ignored."""
        source = event.source
        match event.kind:
            case "pressed":
                self._pressed(source)
            case "repeated":
                if source in _REPEATING and source not in self._spent:
                    self._again(source)
            case "holding":
                if source == NEW_DEAL and source not in self._spent:
                    self.holding = event.value
            case "held":
                if source == NEW_DEAL and source not in self._spent:
                    self._give_up_for_another()
            case "cancelled":
                if source == NEW_DEAL:
                    self.holding = 0.0
            case "released":
                self._spent.discard(source)
                if source == NEW_DEAL:
                    self.holding = 0.0
                elif source == UNDO:
                    self._taken_back = 0
            case "turned":
                if not (self._only_wakes() or self._tested):
                    self._navigate("next" if event.value > 0 else "previous")
            case "combination":
                if source == SERVICE:
                    self._spent.update((UNDO, NEW_DEAL))
                    self._give_back()
                    self._service()
            case "came" | "went":
                self.present = event.kind == "came"
                self._presence(self.present)

    def _give_back(self) -> None:
        """Whoever held Undo for the service menu did not mean the game."""
        for _ in range(self._taken_back):
            self._send(Redo())
        self._taken_back = 0

    def _pressed(self, source: str) -> None:
        self._spent.discard(source)
        if source == UNDO:
            self._taken_back = 0
        if self._only_wakes() or self._tested:
            self._spent.add(source)
        elif source == NEW_DEAL:
            if self._session.panel is Panel.SERVICE:
                # No game is given up from there, so no ring may promise it.
                self._spent.add(source)
            elif not self._session.has_game:
                self._spent.add(source)
                self._send(NewDeal())
        else:
            self._act(source)

    @property
    def _tested(self) -> bool:
        """Whether the service menu only shows what is pressed."""
        service = self._session.service
        return (
            self._session.panel is Panel.SERVICE
            and service is not None
            and service.page is Page.PINS
        )

    def _only_wakes(self) -> bool:
        """Say that somebody is there; whether that was all that this press did."""
        dark = self._wake()
        change = self._send(Touched())
        return dark or change.only_woke

    def _act(self, source: str) -> None:
        if source == UNDO and self._session.panel in _BACK:
            self._spent.add(source)
            self._send(Close())
        elif source == UNDO:
            self._taken_back += self._send(Undo()).kind is ChangeKind.UNDONE
        elif source in _COMMANDS:
            self._send(_COMMANDS[source])
        elif source in _STICK:
            self._navigate(source)

    def _again(self, source: str) -> None:
        """Go on while a button is held, but not against a wall: that would flicker."""
        session = self._session
        if source == UNDO and not (session.panel in _UNDO and session.can_undo):
            return
        if source == "redo" and not (session.panel is Panel.NONE and session.can_redo):
            return
        self._act(source)

    def _give_up_for_another(self) -> None:
        """The player held the button long enough: that is the confirmation."""
        self._spent.add(NEW_DEAL)
        self.holding = 0.0
        if self._session.panel is Panel.GIVE_UP:
            # What was asked there may have been something else, such as to replay this deal.
            self._send(Close())
        self._send(NewDeal(confirmed=True))

    # -- lamps ----------------------------------------------------------------------------------

    def lamps(self) -> dict[str, str]:
        """What every lamp shows, by its name."""
        session = self._session
        if self._tested and session.service is not None:
            return {name: session.service.lamps.get(name, "off") for name in _LAMPS}
        lit = dict.fromkeys(_LAMPS, False)
        if session.attract or session.panel is Panel.COUNTDOWN:
            return {name: "breathing" if name == NEW_DEAL else "off" for name in lit}
        position = session.position
        playing = session.panel is Panel.NONE and position.outcome is Outcome.RUNNING
        lit[UNDO] = session.panel in _BACK or (session.panel in _UNDO and session.can_undo)
        lit["hint"] = playing
        lit["redo"] = session.panel is Panel.NONE and session.can_redo
        lit["draw"] = playing and (position.can_draw or position.can_redeal)
        states = {name: "on" if on else "off" for name, on in lit.items()}
        states[NEW_DEAL] = "on" if position.outcome is Outcome.RUNNING else "blinking"
        return states


def wired(
    buttons: ButtonSettings, lamps: LampSettings, presence: PresenceSettings
) -> dict[str, Any]:
    """What is connected, in plain values that ``hardware.config.PanelSettings`` is made of."""
    debounce = buttons.debounce_ms / 1000
    repeat = {
        "after": buttons.repeat_after,
        "slowest": buttons.repeat_slowest,
        "fastest": buttons.repeat_fastest,
    }
    found: dict[str, Any] = {"buttons": {}, "combinations": {}, "encoders": {}, "lamps": {}}
    for name in _BUTTONS:
        if (pin := getattr(buttons, name)) is not None:
            found["buttons"][name] = {
                "pin": pin,
                "pull": buttons.pull,
                "active": buttons.active,
                "debounce": debounce,
                "hold": buttons.new_deal_hold if name == NEW_DEAL else None,
                "repeat": repeat if name in _REPEATING else None,
            }
    if {UNDO, NEW_DEAL} <= found["buttons"].keys():
        both = {"buttons": (UNDO, NEW_DEAL), "hold": buttons.service_hold}
        found["combinations"][SERVICE] = both
    if buttons.wheel_a is not None and buttons.wheel_b is not None:
        found["encoders"][_WHEEL] = {"a": buttons.wheel_a, "b": buttons.wheel_b}
    for name in _LAMPS:
        if (pin := getattr(lamps, name)) is not None:
            found["lamps"][name] = {
                "pin": pin,
                "active": lamps.active,
                "pwm": lamps.pwm,
                "brightness": lamps.brightness,
            }
    if presence.pin is not None:
        found["presence"] = {
            "pin": presence.pin,
            "pull": presence.pull,
            "active": presence.active,
            "debounce": presence.debounce_ms / 1000,
            "absent_after": presence.absent_after,
        }
    return found
