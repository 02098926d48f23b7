"""How long frames take while something moves.

When nothing moves nothing is drawn, and the time between two frames says nothing; so only those
count over which something moved.

Invariant: constant memory, and next to no time, whatever happens for however long.
"""

from __future__ import annotations

from typing import Final

from kiosk.metrics import Family, Histogram, counter

#: Seconds: a screen's 60 and 30 frames a second, and what people see as a stutter and as a stop.
BOUNDS: Final = (0.01, 0.018, 0.025, 0.034, 0.05, 0.1, 0.25, 1.0)


class FrameTimes:
    """The times between frames.

    Attributes:
        times: those over which something moved, in seconds.
        frames: all frames that were drawn.
    """

    def __init__(self) -> None:
        self.times = Histogram(BOUNDS)
        self.frames = 0
        self._last: float | None = None

    def drawn(self, now: float, moving: bool) -> None:
        """A frame was drawn at ``now`` (monotonic seconds); whether something goes on moving."""
        self.frames += 1
        if self._last is not None:
            self.times.add(max(0.0, now - self._last))
        self._last = now if moving else None

    def families(self) -> list[Family]:
        """For Prometheus."""
        return [
            counter("frames", "Frames drawn since the start.", self.frames),
            self.times.family("frame_seconds", "Seconds between two frames while something moves."),
        ]
