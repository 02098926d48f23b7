"""What was tried and how it went: a table for people, JSON for programs.

Invariant: a check that was not reached is listed as such, never left out.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

#: What the proof does not show; in every summary.
LIMITS: Final = (
    (
        "A killed emulator is a machine that stops at once. What it had handed to its disk "
        "survives in the host's memory, so no write is torn and none that was not synced is "
        "lost: that is tried by `make crash`, and a real card by nobody but you."
    ),
    (
        "Everything is emulated (no KVM), on an x86-64 Debian, not on a Raspberry Pi: times say "
        "nothing about a Pi, and its kernel, graphics chip and touchscreens are not there."
    ),
    (
        "The processor draws (llvmpipe). Because an emulated processor is slow, the unit may take "
        "900 s to start instead of 180, and its watchdog waits for 120 s instead of 30; its log "
        "goes to the serial line, too. All else of the kiosk but its settings is as installed."
    ),
    (
        "The pins are the kernel's simulated ones (gpio-sim): real lines to the program, without "
        "bouncing contacts."
    ),
)


@dataclass(frozen=True)
class Row:
    """One check.

    Attributes:
        name: what was tried.
        passed: whether it went as it must; None if it was not reached.
        seconds: how long it took.
        detail: what was seen, or what went wrong.
        picture: the name of the screenshot taken at its end, or "".
    """

    name: str
    passed: bool | None
    seconds: float
    detail: str
    picture: str = ""

    @property
    def verdict(self) -> str:
        """``passed`` in words."""
        return {True: "ok", False: "FAILED", None: "not reached"}[self.passed]


def markdown(rows: Sequence[Row], facts: Mapping[str, str]) -> str:
    """The summary as Markdown: figures about the run, one line a check, the limits."""

    def cell(text: str) -> str:
        return " ".join(text.split()).replace("|", "\\|")

    lines = ["# The kiosk in a virtual machine", ""]
    lines += [f"- {name}: {value}" for name, value in facts.items()]
    lines += ["", "| check | | seconds | what was seen | picture |", "|---|---|---:|---|---|"]
    for row in rows:
        picture = f"[{row.picture}]({row.picture})" if row.picture else ""
        lines.append(
            f"| {cell(row.name)} | {row.verdict} | {row.seconds:.0f} "
            f"| {cell(row.detail)} | {picture} |"
        )
    lines += ["", "What this does not show:", ""]
    lines += [f"- {limit}" for limit in LIMITS]
    return "\n".join(lines) + "\n"


def write(folder: Path, rows: Sequence[Row], facts: Mapping[str, str]) -> None:
    """Write ``summary.md`` and ``summary.json`` into a folder."""
    (folder / "summary.md").write_text(markdown(rows, facts), "utf-8")
    content = {
        "passed": all(row.passed for row in rows),
        "facts": dict(facts),
        "checks": [asdict(row) for row in rows],
        "limits": LIMITS,
    }
    (folder / "summary.json").write_text(json.dumps(content, indent=2) + "\n", "utf-8")


def host_facts() -> dict[str, str]:
    """What the figures depend on."""
    load = "/".join(f"{value:.1f}" for value in os.getloadavg())
    return {
        "host": f"{os.cpu_count()} processors, {platform.machine()}, Linux {platform.release()}",
        "load at the start (1/5/15 minutes)": load,
    }
