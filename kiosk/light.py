"""How bright the screen is: full while somebody is there, dim when nobody is, black by schedule.

Invariant: whoever touches, presses or is seen has the full light at once, whatever the schedule
says, and keeps it while he is there.  Idle time is monotonic; the time of day is read anew each
time and never reckoned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Protocol

from kiosk.schedule import Schedule, Stage

#: A light that cannot be set is tried again after so many seconds.
TRY_AGAIN: Final = 10.0
#: Half the brightness is not half the number in a picture: see :attr:`Light.veil`.
_GAMMA: Final = 2.2


class Backlight(Protocol):
    """The light behind the screen: see ``hardware/backlight.py``."""

    def set(self, level: str) -> bool:
        """Make it ``full``, ``dim`` or ``off``; whether it is."""

    def close(self) -> None:
        """Leave the screen bright."""


class NoBacklight:
    """A screen whose light cannot be set."""

    def set(self, level: str) -> bool:
        """Do nothing; False."""
        del level
        return False

    def close(self) -> None:
        """Do nothing."""


@dataclass(frozen=True)
class LightOptions:
    """What the operator decides.

    Attributes:
        schedule: when it is dim or black, if nobody is there.
        dim_after: seconds without input until it is dim; 0 never.
        stay: seconds of full light after the last input, whatever the schedule says.
        dim: brightness of the dim screen as a share of the full one, 0 to 1, where the picture
            has to be darkened because the light cannot be.
    """

    schedule: Schedule = field(default_factory=Schedule)
    dim_after: float = 600.0
    stay: float = 90.0
    dim: float = 0.25


class Light:
    """The light of one screen.

    Args:
        backlight: what is set.
        options: what the operator decides.
        now: monotonic seconds.
        wall: the local time of day.

    Attributes:
        stage: how bright it is.
    """

    def __init__(
        self,
        backlight: Backlight,
        options: LightOptions,
        now: float,
        *,
        wall: Callable[[], datetime] = datetime.now,
    ) -> None:
        self._backlight = backlight
        self._options = options
        self._wall = wall
        self._seen = now
        self._somebody = False
        self._obeys = False
        self._tried = now
        self.stage = Stage.FULL
        self._set(Stage.FULL, now)

    @property
    def veil(self) -> float:
        """How much black lies over the picture, 0 to 1: where the light itself cannot be set."""
        if self.stage is Stage.FULL:
            return 0.0
        if self.stage is Stage.BLACK:
            # Some lights are never quite off.
            return 1.0
        return 0.0 if self._obeys else 1.0 - self._options.dim ** (1 / _GAMMA)

    def somebody(self, now: float) -> bool:
        """Somebody did something at monotonic time ``now``: full light at once.

        Returns:
            whether it was not bright before: then that was all that the touch may do.
        """
        was_dark = self.stage is not Stage.FULL
        self._seen = max(self._seen, now)
        if was_dark:
            self._set(Stage.FULL, now)
        return was_dark

    def presence(self, there: bool, now: float) -> None:
        """A sensor sees somebody, or nobody any more."""
        self._somebody = there
        self.somebody(now)

    def tick(self, now: float) -> None:
        """It is ``now``: set what is due."""
        if self._somebody:
            self._seen = max(self._seen, now)
        stage = self._due(now - self._seen)
        if stage is not self.stage or (not self._obeys and now - self._tried >= TRY_AGAIN):
            self._set(stage, now)

    def change(self, backlight: Backlight, options: LightOptions, now: float) -> None:
        """The operator has changed his mind."""
        # It may be another light now, or none: nobody would light this one again.
        self._backlight.close()
        self._backlight, self._options = backlight, options
        self._set(self.stage, now)

    def close(self) -> None:
        """Leave the screen bright."""
        self._backlight.close()

    def _due(self, idle: float) -> Stage:
        options = self._options
        if idle < options.stay:
            return Stage.FULL
        stage = options.schedule.stage(self._wall())
        if stage is Stage.FULL and 0 < options.dim_after <= idle:
            return Stage.DIM
        return stage

    def _set(self, stage: Stage, now: float) -> None:
        self._tried = now
        self._obeys = self._backlight.set(stage.value)
        self.stage = stage
