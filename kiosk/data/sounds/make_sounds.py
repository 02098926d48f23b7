"""Make the sounds beside this file: ``python kiosk/data/sounds/make_sounds.py``.

Every sound is computed here from sines and noise, and nothing was recorded or taken from
elsewhere; script and sounds are dedicated to the public domain (CC0 1.0).

Invariant: the standard library alone, and the same bytes on every run; a test compares them.
"""

from __future__ import annotations

import math
import random
import wave
from array import array
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

#: Samples a second, one channel of 16 bits.
RATE: Final = 22_050
#: Samples over which each sound fades in and out, so that none begins or ends with a crack.
EDGE: Final = 40

Samples = list[float]

C5, E5, G5, C6, D6, E6, G6 = 523.25, 659.26, 783.99, 1046.50, 1174.66, 1318.51, 1567.98


def silence(seconds: float) -> Samples:
    """Nothing, for so long."""
    return [0.0] * round(seconds * RATE)


def mixed(seconds: float, parts: Iterable[tuple[float, float, Samples]]) -> Samples:
    """Parts given as (when, how loud, samples), laid over one another; what is longer is cut."""
    result = silence(seconds)
    for when, loud, part in parts:
        first = round(when * RATE)
        for i, value in enumerate(part[: max(0, len(result) - first)]):
            result[first + i] += loud * value
    return result


def bell(pitch: float, seconds: float) -> Samples:
    """A small struck bell: partials that are not quite harmonic, the higher the sooner gone."""
    partials = ((1.0, 1.0, 1.0), (2.0, 0.32, 1.9), (2.997, 0.16, 3.0), (5.41, 0.07, 5.5))
    decay = 4.6 / seconds
    return [
        sum(
            loud * math.exp(-decay * faster * t) * math.sin(math.tau * pitch * ratio * t)
            for ratio, loud, faster in partials
            if pitch * ratio < RATE / 2.2
        )
        for t in (i / RATE for i in range(round(seconds * RATE)))
    ]


def wood(pitch: float, seconds: float) -> Samples:
    """A soft mallet on wood."""
    return [
        math.exp(-t * 26) * math.sin(math.tau * pitch * t)
        + 0.22 * math.exp(-t * 70) * math.sin(math.tau * pitch * 3.93 * t)
        for t in (i / RATE for i in range(round(seconds * RATE)))
    ]


def paper(seconds: float, low: float, high: float, seed: int) -> Samples:
    """Card sliding over card: noise whose middle pitch goes from ``low`` to ``high`` Hz."""
    noise = random.Random(seed)
    near = wide = 0.0
    result = []
    count = round(seconds * RATE)
    for i in range(count):
        p = i / count
        pitch = low + (high - low) * p
        value = noise.uniform(-1, 1)
        # The difference of two low-pass filters lets a band pass.
        near += (1 - math.exp(-math.tau * pitch * 1.6 / RATE)) * (value - near)
        wide += (1 - math.exp(-math.tau * pitch * 0.5 / RATE)) * (value - wide)
        result.append((near - wide) * math.sin(math.pi * p) ** 1.5)
    return result


def tap(seed: int, pitch: float = 210.0) -> Samples:
    """A card set down: a click and a little of the table under it."""
    noise = random.Random(seed)
    last = 0.0
    result = []
    for i in range(round(0.07 * RATE)):
        t = i / RATE
        value = noise.uniform(-1, 1)
        last += 0.55 * (value - last)
        click = last * math.exp(-t * 230)
        result.append(0.8 * click + 0.5 * math.exp(-t * 65) * math.sin(math.tau * pitch * t))
    return result


def _draw() -> Samples:
    return mixed(0.24, [(0, 0.9, paper(0.17, 900, 2600, 1)), (0.15, 0.6, tap(2))])


def _deal() -> Samples:
    slides = [(i * 0.047, 0.5 + 0.04 * (i % 3), paper(0.09, 1100, 2800, 20 + i)) for i in range(11)]
    taps = [(0.05 + i * 0.047, 0.28, tap(40 + i, 190 + 6 * (i % 4))) for i in range(11)]
    return mixed(0.68, slides + taps)


def _redeal() -> Samples:
    # A riffle: faster and faster, and then the pack is squared.
    taps, when = [], 0.0
    for i in range(15):
        taps.append((when, 0.3 + 0.015 * i, tap(60 + i, 230 + 5 * i)))
        when += 0.042 * 0.93**i
    return mixed(0.62, [*taps, (0.03, 0.35, paper(0.4, 700, 2200, 3)), (0.46, 0.9, tap(80, 170))])


def _win() -> Samples:
    notes = [(i * 0.11, 0.55, bell(pitch, 1.2)) for i, pitch in enumerate((C5, E5, G5, C6, E6))]
    chord = [(0.62, loud, bell(pitch, 1.25)) for pitch, loud in ((C5, 0.4), (G5, 0.4), (C6, 0.4))]
    return mixed(1.9, [*notes, *chord, (0.66, 0.35, bell(E6, 1.2)), (0.70, 0.3, bell(G6, 1.15))])


def sounds() -> Mapping[str, tuple[float, Samples]]:
    """Every sound by name: how loud its loudest sample is, 0 to 1, and its samples."""
    draw = _draw()
    return {
        "pick": (0.22, tap(5, 260)),
        "draw": (0.25, draw),
        "undo": (0.2, draw[::-1]),
        "deal": (0.25, _deal()),
        "redeal": (0.28, _redeal()),
        "pair": (0.4, mixed(0.75, [(0.14, 0.7, bell(G5, 0.55)), (0.23, 0.8, bell(C6, 0.5))])),
        "king": (
            0.42,
            mixed(
                0.95,
                [(0.05 + 0.07 * i, 0.6, bell(p, 0.75)) for i, p in enumerate((C5, E5, G5, C6))],
            ),
        ),
        "hint": (0.26, mixed(0.6, [(0, 0.8, bell(D6, 0.55))])),
        "refuse": (0.38, mixed(0.3, [(0, 0.9, wood(196, 0.14)), (0.11, 0.8, wood(165, 0.18))])),
        "win": (0.5, _win()),
    }


def pcm(loud: float, samples: Samples) -> array[int]:
    """Samples as 16-bit numbers, the loudest at ``loud``, with soft ends."""
    peak = max(map(abs, samples))
    last = len(samples) - 1
    return array(
        "h",
        (
            round(32767 * loud * value / peak * min(1.0, i / EDGE, (last - i) / EDGE))
            for i, value in enumerate(samples)
        ),
    )


def main() -> None:
    """Write them."""
    for name, (loud, samples) in sounds().items():
        with wave.open(str(Path(__file__).with_name(f"{name}.wav")), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(RATE)
            # WAV is little-endian, as every machine that this runs on.
            file.writeframes(pcm(loud, samples).tobytes())


if __name__ == "__main__":
    main()
