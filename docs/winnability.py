"""Makes what ``docs/winnability.md`` shows: counts the deals, writes the tables, draws the plot.

    python docs/winnability.py count    # hours; interrupted, it goes on when started again
    python docs/winnability.py page     # tables, from docs/winnability.json
    python docs/winnability.py plot     # the plot likewise; needs matplotlib

``make winnability`` does all three.

Invariant: every figure in the tables and in the plot comes from ``docs/winnability.json``, which
holds an ``engine.winrate.Count`` of the deals from number 1 on for each row.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from textwrap import fill
from typing import Any, Final

from engine.rules import Rules
from engine.winrate import Count, win_rates

DOCS: Final = Path(__file__).resolve().parent
COUNTS: Final = DOCS / "winnability.json"
PAGE: Final = DOCS / "winnability.md"
PLOT: Final = DOCS / "images" / "winnability.svg"


@dataclass(frozen=True)
class Row:
    """Rules whose deals are counted.

    Attributes:
        rules: as ``python -m engine winrate --rules`` takes them.
        label: what the plot calls them.
        colour: of their bar.
        published: what solitairewinrates.com ("Pyramid", 2022) says, in %.
    """

    rules: str
    label: str
    colour: str
    published: float | None = None

    @property
    def option(self) -> dict[str, str]:
        """The options of the rules, by name."""
        return dict(part.split("=") for part in self.rules.split(","))


def _rules(passes: int | str, goal: str, stock: str, overlap: str = "no") -> str:
    return f"passes={passes},goal={goal},covered=face_up,stock_playable={stock},overlap={overlap}"


WASTE, STOCK, OVERLAP, DECK = "#0072b2", "#d55e00", "#009e73", "#cc79a7"

ROWS: Final = (
    Row(_rules(1, "pyramid", "no"), "waste only, 1 pass", WASTE),
    Row(_rules(2, "pyramid", "no"), "2 passes", WASTE),
    Row(_rules(3, "pyramid", "no"), "3 passes", WASTE),
    Row(_rules("unlimited", "pyramid", "no"), "unlimited", WASTE),
    Row(_rules(1, "pyramid", "yes"), "stock playable, 1 pass", STOCK, 9.02),
    Row(_rules(3, "pyramid", "yes"), "3 passes", STOCK),
    Row(_rules("unlimited", "pyramid", "yes"), "unlimited", STOCK, 66.87),
    Row(_rules(1, "pyramid", "yes", "yes"), "with overlap, 1 pass", OVERLAP, 22.77),
    Row(_rules("unlimited", "pyramid", "yes", "yes"), "unlimited", OVERLAP, 83.15),
    Row(_rules(1, "deck", "yes"), "whole deck, 1 pass", DECK, 6.80),
    Row(_rules(1, "deck", "yes", "yes"), "with overlap", DECK, 15.92),
)


def read_counts() -> dict[str, Count]:
    """What has been counted, by the rules' text."""
    if not COUNTS.exists():
        sys.exit(f"{COUNTS.name} is missing: count first")
    rows: list[dict[str, Any]] = json.loads(COUNTS.read_text("utf-8"))
    return {row.pop("rules"): Count(**row) for row in rows}


#: Searched in this order, most verdicts follow from those before (see ``count_deals``).
ORDER: Final = (3, 8, 6, 7, 4, 0, 10, 9, 1, 2, 5)


#: So many deals are counted before what is known so far is written down.
STEP: Final = 50_000


def count(deals: int, workers: int) -> None:
    """Count all rows together up to that deal number, beginning after the last one counted."""
    known = read_counts() if COUNTS.exists() else {}
    total = {row.rules: known.get(row.rules, Count()) for row in ROWS}
    while (done := total[ROWS[0].rules].deals) < deals:
        counted = win_rates(
            [Rules.parse(ROWS[place].rules) for place in ORDER],
            min(STEP, deals - done),
            first=done + 1,
            work=COUNTS.with_suffix(".work"),
            workers=workers,
        )
        for place, more in zip(ORDER, counted, strict=True):
            total[ROWS[place].rules] += more
        lines = [json.dumps({"rules": rules} | asdict(count)) for rules, count in total.items()]
        COUNTS.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")
        print(f"{total[ROWS[0].rules].deals:,} deals", flush=True)


def _percent(share: float) -> str:
    return f"{100 * share:.2f}"


def _cells(counted: Count) -> list[str]:
    low, high = counted.interval
    return [
        f"{counted.deals:,}",
        f"{100 * counted.rate:.3f} %",
        f"{_percent(low)} to {_percent(high)} %",
    ]


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def tables() -> dict[str, str]:
    """The page's tables and sentences with figures, by the name of their place."""
    counts = read_counts()
    waste = [
        [row.option["passes"], *_cells(counts[row.rules])]
        for row in ROWS
        if row.option["stock_playable"] == "no"
    ]
    stock = []
    for row in ROWS:
        if row.option["stock_playable"] == "no":
            continue
        counted = counts[row.rules]
        line = [row.option[name] for name in ("goal", "passes", "overlap")] + _cells(counted)
        if row.published is None:
            line += ["", ""]
        else:
            off = (counted.rate - row.published / 100) / counted.standard_error
            line += [f"{row.published:.2f} %", f"{off:+.1f} s.e."]
        stock.append(line)
    undecided = sum(row.undecided for row in counts.values())
    stayed = f"{undecided:,} of them" if undecided else "none of them"
    summary = (
        f"{sum(row.deals for row in counts.values()):,} verdicts went into this page; {stayed} "
        f"stayed undecided. {sum(row.implied for row in counts.values()):,} follow from the "
        "verdict on the same deal under other rules, for what wins under some rules wins under "
        "all that allow more and ask no more; the hardest of those searched for took "
        f"{max(row.worst for row in counts.values()):,} positions."
    )
    return {
        "sum": fill(summary, 105),
        "waste": _table(["passes", "deals", "winnable", "95 % interval"], waste),
        "stock": _table(
            [
                *("goal", "passes", "overlap", "deals", "winnable"),
                *("95 % interval", "published", "deviation"),
            ],
            stock,
        ),
    }


def page() -> None:
    """Write the tables into the page, each between its two marks."""
    text = PAGE.read_text("utf-8")
    for name, content in tables().items():
        marks = f"<!-- {name} -->", f"<!-- end of {name} -->"
        pattern = re.compile(re.escape(marks[0]) + ".*?" + re.escape(marks[1]), re.DOTALL)
        if len(pattern.findall(text)) != 1:
            sys.exit(f"{PAGE.name}: the marks {marks[0]} and {marks[1]} must stand there once")
        text = pattern.sub(f"{marks[0]}\n{content}\n{marks[1]}", text)
    PAGE.write_text(text, "utf-8")


def plot() -> None:
    """Draw the rates with their intervals."""
    import matplotlib as mpl  # noqa: PLC0415 - only the plot needs it

    mpl.use("svg")
    # The same file from the same figures.
    mpl.rcParams["svg.hashsalt"] = "pyramid"
    from matplotlib import pyplot  # noqa: PLC0415

    counts = read_counts()
    figure, axes = pyplot.subplots(figsize=(8, 4.2))
    for place, row in enumerate(ROWS):
        counted = counts[row.rules]
        rate, (low, high) = 100 * counted.rate, (100 * end for end in counted.interval)
        axes.barh(place, rate, color=row.colour, height=0.72)
        axes.errorbar(rate, place, xerr=[[rate - low], [high - rate]], color="black", linewidth=2)
        axes.text(high + 1, place, f"{rate:.1f} %", va="center")
    axes.set_yticks(range(len(ROWS)), [row.label for row in ROWS])
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel("deals that can be won, %")
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(PLOT, metadata={"Date": None})


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("what", choices=("count", "page", "plot"))
    parser.add_argument("--deals", type=int, default=1_000_000, help="for each row [1000000]")
    parser.add_argument("--workers", type=int, default=2, help="processes [2]")
    args = parser.parse_args()
    match args.what:
        case "count":
            count(args.deals, args.workers)
        case "page":
            page()
        case "plot":
            plot()


if __name__ == "__main__":
    main()
