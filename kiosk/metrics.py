"""Figures for Prometheus, as its text exposition format wants them.

Invariant: pure; values go in, text comes out.  Names, labels and line endings are those of
https://prometheus.io/docs/instrumenting/exposition_formats/ (version 0.0.4).
"""

from __future__ import annotations

import bisect
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, Literal

#: What every name begins with.
PREFIX: Final = "pyramid_kiosk_"

_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Sample:
    """One line.

    Attributes:
        value: the figure.
        labels: what tells it from the others of its family.
        suffix: what is added to the family's name.
    """

    value: float
    labels: Mapping[str, str] | None = None
    suffix: str = ""


@dataclass(frozen=True)
class Family:
    """A figure, for one or several things.

    Attributes:
        name: without the prefix.
        kind: ``counter`` only grows, until the next start or until it is reset.
        about: what it is, in a sentence with its unit.
        samples: the lines.

    Raises:
        ValueError: the name or a label could not be read back.
    """

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    about: str
    samples: Sequence[Sample]

    def __post_init__(self) -> None:
        names = [self.name, *(name for s in self.samples for name in s.labels or {})]
        if wrong := [name for name in names if not _NAME.fullmatch(name)]:
            raise ValueError(f"{wrong[0]!r} cannot be the name of a figure or label")


def gauge(name: str, about: str, value: float) -> Family:
    """A single figure that goes up and down."""
    return Family(name, "gauge", about, [Sample(value)])


def counter(name: str, about: str, value: float) -> Family:
    """A single figure that only grows."""
    return Family(f"{name}_total", "counter", about, [Sample(value)])


def exposition(families: Iterable[Family]) -> str:
    """The text of a file."""
    lines = []
    for family in families:
        name = PREFIX + family.name
        about = family.about.replace("\\", r"\\").replace("\n", r"\n")
        lines += [f"# HELP {name} {about}", f"# TYPE {name} {family.kind}"]
        lines += [
            f"{name}{sample.suffix}{_labels(sample.labels)} {number(sample.value)}"
            for sample in family.samples
        ]
    return "".join(f"{line}\n" for line in lines)


def _labels(labels: Mapping[str, str] | None) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def number(value: float) -> str:
    """A figure as Go's ParseFloat reads it."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


class Histogram:
    """How often values up to each of some bounds came; it grows by nothing but counts.

    Args:
        bounds: ascending.
    """

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = tuple(bounds)
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def add(self, value: float) -> None:
        """Count one more."""
        self._counts[bisect.bisect_left(self._bounds, value)] += 1
        self._sum += value

    @property
    def count(self) -> int:
        """How many there were."""
        return sum(self._counts)

    def family(self, name: str, about: str) -> Family:
        """For the file."""
        samples = [
            Sample(count, {"le": number(bound)}, "_bucket")
            for bound, count in zip(
                (*self._bounds, math.inf), accumulate(self._counts), strict=True
            )
        ]
        samples += [Sample(self._sum, suffix="_sum"), Sample(self.count, suffix="_count")]
        return Family(name, "histogram", about, samples)
