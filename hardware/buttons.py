"""What people do with buttons: press, hold, repeat, and hold several together.

Presses and releases come in with their times, and time passes; events come out.

Invariant: no clock, no pin and no thread.  A hold only advances while time is seen to pass: a press
and a release that arrive together are a short press, however far apart they were, because nobody
saw the ring fill.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from hardware.config import ButtonSpec, CombinationSpec
from hardware.events import EventKind, PanelEvent

log = logging.getLogger(__name__)

#: A button down for longer than this is stuck, not held: it no longer repeats.
STUCK_AFTER: Final = 30.0


@dataclass
class _Button:
    spec: ButtonSpec
    down_since: float | None = None
    progress: float = 0.0
    held: bool = False
    repeats: int = 0
    next_repeat: float = 0.0
    interval: float = 0.0
    #: Part of a combination under way: until it is up again it does nothing alone.
    muted: bool = False
    #: Pressed as the last of a combination: not even that press is told.
    silent: bool = False
    stuck: bool = False


@dataclass
class _Combination:
    spec: CombinationSpec
    since: float | None = None
    done: bool = False


class Buttons:
    """All buttons of a panel.

    Args:
        buttons: how each one behaves, by name.
        combinations: what is held together, by name; each of known buttons.
        post: takes the events.
    """

    def __init__(
        self,
        buttons: Mapping[str, ButtonSpec],
        combinations: Mapping[str, CombinationSpec],
        post: Callable[[PanelEvent], None],
    ) -> None:
        self._buttons = {name: _Button(spec) for name, spec in buttons.items()}
        self._combinations = {name: _Combination(spec) for name, spec in combinations.items()}
        self._post = post
        for name, spec in combinations.items():
            if unknown := set(spec.buttons) - set(buttons):
                raise ValueError(f"combination {name}: no buttons {sorted(unknown)}")

    def change(self, name: str, down: bool, at: float) -> None:
        """Button ``name`` went down or up at monotonic time ``at``."""
        button = self._buttons[name]
        if down:
            self._press(name, button, at)
        elif button.down_since is not None:
            self._release(name, button, at)

    def pass_time(self, now: float, steady_since: Callable[[str], float]) -> None:
        """It is ``now``; ``steady_since`` tells since when a button has been quietly where it is.

        A contact that flutters is neither held nor let go.
        """
        for name, button in self._buttons.items():
            if button.down_since is None:
                continue
            if not button.stuck and now - button.down_since > STUCK_AFTER:
                button.stuck = True
                log.warning("button %s has been down for %.0f s: stuck?", name, STUCK_AFTER)
            if button.muted or button.stuck:
                continue
            since = max(button.down_since, steady_since(name))
            self._hold(name, button, since, now)
            self._repeat(name, button, since, now)
        for name, combination in self._combinations.items():
            self._combine(name, combination, now, steady_since)

    def _press(self, name: str, button: _Button, at: float) -> None:
        spec = button.spec
        self._buttons[name] = button = _Button(spec, down_since=at)
        if spec.repeat is not None:
            button.next_repeat = at + spec.repeat.after
            button.interval = spec.repeat.slowest
        for combination in self._combinations.values():
            members = combination.spec.buttons
            if name in members and all(map(self._is_meant, members)):
                combination.since = at
                combination.done = False
                button.silent = True
                for member in members:
                    self._mute(member)
        if not button.silent:
            self._post(PanelEvent(EventKind.PRESSED, name))

    def _release(self, name: str, button: _Button, at: float) -> None:
        assert button.down_since is not None
        self._cancel(name, button)
        seconds = max(0.0, at - button.down_since)
        button.down_since = None
        for combination in self._combinations.values():
            if name in combination.spec.buttons:
                combination.since = None
        if not button.silent:
            self._post(PanelEvent(EventKind.RELEASED, name, seconds))

    def _hold(self, name: str, button: _Button, since: float, now: float) -> None:
        hold = button.spec.hold
        if hold is None or button.held:
            return
        progress = (now - since) / hold
        if progress >= 1:
            button.held = True
            button.progress = 0.0
            self._post(PanelEvent(EventKind.HELD, name))
        elif progress > 0:
            button.progress = progress
            self._post(PanelEvent(EventKind.HOLDING, name, progress))

    def _repeat(self, name: str, button: _Button, since: float, now: float) -> None:
        repeat = button.spec.repeat
        if repeat is None or now < max(button.next_repeat, since + repeat.after):
            return
        # One at a time: what was missed while nobody looked is not made up for.
        button.repeats += 1
        button.next_repeat = now + button.interval
        button.interval = max(repeat.fastest, button.interval * repeat.growth)
        self._post(PanelEvent(EventKind.REPEATED, name, button.repeats))

    def _combine(
        self,
        name: str,
        combination: _Combination,
        now: float,
        steady_since: Callable[[str], float],
    ) -> None:
        if combination.since is None or combination.done:
            return
        since = max(combination.since, *map(steady_since, combination.spec.buttons))
        if now - since >= combination.spec.hold:
            combination.done = True
            self._post(PanelEvent(EventKind.COMBINATION, name))

    def _is_meant(self, name: str) -> bool:
        """Whether a button is down, and not because it is stuck."""
        button = self._buttons[name]
        return button.down_since is not None and not button.stuck

    def _mute(self, name: str) -> None:
        button = self._buttons[name]
        button.muted = True
        self._cancel(name, button)

    def _cancel(self, name: str, button: _Button) -> None:
        if button.progress:
            self._post(PanelEvent(EventKind.CANCELLED, name, button.progress))
            button.progress = 0.0
