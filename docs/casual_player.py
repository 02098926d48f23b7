"""Draws how often the casual player wins, and prints the table of ``docs/pool.md``.

    python docs/casual_player.py        # a minute; needs matplotlib

Takes the first winnable deals of each preset, with ``engine.difficulty`` for the rates.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import count, islice
from pathlib import Path
from typing import Final

import matplotlib as mpl
from matplotlib import pyplot

from engine.deal import Deal
from engine.difficulty import CASUAL_GAMES, EASY_FROM, MEDIUM_FROM, casual_wins
from engine.position import Position
from engine.rules import PRESETS, Rules
from engine.solver import decide

PLOT: Final = Path(__file__).resolve().parent / "images" / "casual-player.svg"
DEALS: Final = 1_000
#: Colours that people who see fewer colours can tell apart (Okabe and Ito).
COLOURS: Final = ("#0072b2", "#d55e00", "#e69f00", "#000000", "#56b4e9", "#009e73")


def wins(rules: Rules) -> list[int]:
    """How many games of each of the first winnable deals are won, fewest first."""
    deals = (Deal.from_number(number) for number in count(1))
    winnable = (deal for deal in deals if decide(Position(deal, rules)).winnable)
    return sorted(casual_wins(deal, rules) for deal in islice(winnable, DEALS))


def main() -> None:
    """Draw and print."""
    mpl.use("svg")
    # The same file from the same figures.
    mpl.rcParams["svg.hashsalt"] = "pyramid"
    figure, axes = pyplot.subplots(figsize=(8, 4.2))
    print("| preset | easy | medium | hard | never won | average rate |")
    print("|---|---|---|---|---|---|")
    for (name, rules), colour in zip(PRESETS.items(), COLOURS, strict=True):
        won = wins(rules)
        easy = sum(it >= EASY_FROM for it in won) / DEALS
        medium = sum(it >= MEDIUM_FROM for it in won) / DEALS - easy
        shares = (easy, medium, 1 - easy - medium, won.count(0) / DEALS)
        rate = sum(won) / DEALS / CASUAL_GAMES
        cells = " | ".join(f"{share:.1%}".replace("%", " %") for share in (*shares, rate))
        print(f"| `{name}` | {cells} |")
        shares_at = [
            100 * (DEALS - bisect_left(won, percent * CASUAL_GAMES / 100)) / DEALS
            for percent in range(101)
        ]
        axes.plot(range(101), shares_at, color=colour, label=name)
    for limit in (MEDIUM_FROM, EASY_FROM):
        axes.axvline(100 * limit / CASUAL_GAMES, color="grey", linestyle="--", linewidth=1)
    for x, y, word in ((0.5, 4, "hard"), (10.5, 93, "medium"), (26, 93, "easy")):
        axes.text(x, y, word, color="0.25", fontsize="small")
    axes.set_xlim(0, 100)
    axes.set_ylim(0, 100)
    axes.set_xlabel("games that the casual player wins, % (at least)")
    axes.set_ylabel("share of the winnable deals, %")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(PLOT, metadata={"Date": None})


if __name__ == "__main__":
    main()
