"""The engine's command line: ``python -m engine deal | solve | winrate | pool | bench``.

Invariant: answers go to the standard output, everything else to the standard error; the exit code
is 0 when all went well, 1 when a pool is not as it should be, 2 for bad input.  Ctrl-C and a
reader that goes away end a command without a traceback.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import signal
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from time import perf_counter
from typing import Any, BinaryIO, Final

from engine.bench import c_ratio, deal_times, hint_times, interpreted_ratio, pool_times
from engine.deal import LAST_DEAL, Deal, DealError
from engine.difficulty import CASUAL_GAMES, Grade
from engine.labour import ClusterError
from engine.pool import DEFAULT_PATH, Pool, PoolError, decode_line
from engine.pool_build import Progress, build
from engine.position import Position
from engine.rules import PRESETS, Rules, RulesError
from engine.shortest import shortest
from engine.solver import LOOP, min_passes, solve
from engine.winrate import Count, WinRateError, default_work_file, win_rates

BAD_INPUT: Final = 2
BAD_POOL: Final = 1
INTERRUPTED: Final = 128 + signal.SIGINT
BROKEN_PIPE: Final = 128 + signal.SIGPIPE

#: No deal is longer; a line without end must not fill the memory.
LONGEST_LINE: Final = 1000

DEFAULT_DEALS: Final = 1_000


class InputError(Exception):
    """What was asked for cannot be read; the message says why."""


# -- deal -------------------------------------------------------------------------------------


def run_deal(args: argparse.Namespace) -> int:
    """Print the cards of a deal number."""
    deal: Deal = args.number
    if args.json:
        _print_json(
            {
                "number": deal.number,
                "pyramid": [str(card) for card in deal.pyramid],
                "stock": [str(card) for card in deal.stock],
            }
        )
    else:
        print(deal)
    return 0


# -- solve ------------------------------------------------------------------------------------


def run_solve(args: argparse.Namespace) -> int:
    """Solve each line of the input; 2 if one of them was no deal."""
    code = 0
    with _input(args.file) as source:
        for number, text in _lines(source):
            try:
                answer = _answer(text, args)
            except (DealError, UnicodeDecodeError) as error:
                answer = {"error": _reason(error), "line": number}
                code = BAD_INPUT
            _print_json(answer)
    return code


def _answer(text: bytes, args: argparse.Namespace) -> dict[str, Any]:
    if len(text) >= LONGEST_LINE:
        raise DealError(f"a deal has no line of {LONGEST_LINE} bytes or more")
    position = Position(Deal.parse(text.decode("utf-8-sig")), args.rules)
    start = perf_counter()
    if args.min_passes:
        found = min_passes(position, limit=args.limit)
        verdict, line, positions = found.winnable, found.line, found.positions
    else:
        find = shortest if args.shortest else solve
        solution = find(position, limit=args.limit)
        verdict, line, positions = solution.winnable, solution.line, solution.positions
    answer: dict[str, Any] = {
        "winnable": verdict,
        "moves": [str(move) for move in line],
        "positions": positions,
        "seconds": round(perf_counter() - start, 6),
    }
    if args.min_passes:
        answer["passes"] = found.passes
    return answer


def _reason(error: DealError | UnicodeDecodeError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"the line is not UTF-8 text: byte {error.start + 1} is {error.object[error.start]}"
    return str(error)


@contextmanager
def _input(name: str) -> Iterator[BinaryIO]:
    """Open a file, or the standard input for ``-``."""
    with ExitStack() as stack:
        if name == "-":
            if sys.stdin is None:
                raise InputError("cannot read the standard input: it is closed")
            yield sys.stdin.buffer
            return
        try:
            source = stack.enter_context(Path(name).open("rb"))
        except (OSError, ValueError) as error:
            raise InputError(f"cannot read {name}: {error}") from None
        yield source


def _lines(source: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield number and text of each line that is not blank; of one that is too long, the start."""
    number = 0
    while True:
        try:
            line = source.readline(LONGEST_LINE)
            rest = line
            while len(rest) == LONGEST_LINE and not rest.endswith(b"\n"):
                rest = source.readline(LONGEST_LINE)
        except OSError as error:
            raise InputError(f"cannot read: {error}") from None
        if not line:
            return
        number += 1
        if line.strip() or len(line) == LONGEST_LINE:
            yield number, line


# -- winrate ----------------------------------------------------------------------------------


def run_winrate(args: argparse.Namespace) -> int:
    """Count how many deals can be won."""
    if args.first + args.deals - 1 > LAST_DEAL:
        raise InputError(f"deal numbers end at {LAST_DEAL}")
    work = args.work or default_work_file(args.rules, args.first)
    start = perf_counter()
    with _bar("winrate", args.deals) as show:

        def progress(totals: tuple[Count, ...]) -> None:
            rates = " ".join(f"{counted.rate:.3%}" for counted in totals if counted.deals)
            show(totals[0].deals, f"{rates} winnable" if rates else "")

        totals = win_rates(
            args.rules,
            args.deals,
            work=work,
            first=args.first,
            workers=args.workers,
            cluster=args.dask,
            progress=progress,
        )
    seconds = round(perf_counter() - start, 3)
    for rules, counted in zip(args.rules, totals, strict=True):
        low, high = counted.interval
        if args.json:
            _print_json(
                {
                    "rules": str(rules),
                    "from": args.first,
                    "deals": counted.deals,
                    "winnable": counted.won,
                    "undecided": counted.undecided,
                    "rate": round(counted.rate, 8),
                    "standard_error": round(counted.standard_error, 8),
                    "interval": [round(low, 8), round(high, 8)],
                    "positions": counted.positions,
                    "worst": counted.worst,
                    "implied": counted.implied,
                    "seconds": seconds,
                }
            )
        else:
            name = f"{rules.preset or rules}: " if len(args.rules) > 1 else ""
            print(
                f"{name}{counted.won} of {counted.deals} deals can be won, {counted.undecided} "
                f"undecided: {counted.rate:.3%}, with 95 % confidence {low:.3%} to {high:.3%}"
            )
    return 0


# -- pool -------------------------------------------------------------------------------------


def run_pool_verify(args: argparse.Namespace) -> int:
    """Replay every line of a pool."""
    with Pool.open(args.pool) as pool:
        counts = dict.fromkeys(pool.presets, 0)
        total = sum(pool.count(preset) for preset in pool.presets)
        with _bar("verify", total) as show:
            for deal in pool.verify():
                counts[deal.preset] += 1
                show(sum(counts.values()), "")
        if args.json:
            _print_json({"pool": str(pool.path), "digest": pool.digest, "deals": counts})
        else:
            for preset, count in counts.items():
                print(f"{preset:12}{count:7} deals, every line wins")
            print(f"digest {pool.digest}")
    return 0


def run_pool_stats(args: argparse.Namespace) -> int:
    """Print counts and rates of a pool."""
    with Pool.open(args.pool) as pool:
        rows: list[dict[str, Any]] = []
        for preset in pool.presets:
            deals = pool.rows(preset)
            if not deals:
                continue
            rates = [row.casual_wins / CASUAL_GAMES for row in deals if row.casual_wins is not None]
            grades = [Grade(row.grade).name.lower() for row in deals if row.grade is not None]
            rows.append(
                {
                    "preset": preset,
                    "deals": len(deals),
                    "scanned": pool.scanned(preset),
                    "winnable": round(pool.winnable(preset) / max(1, pool.scanned(preset)), 4),
                    "moves": round(
                        statistics.mean(
                            len(decode_line(Deal.from_number(row.number), row.line))
                            for row in deals
                        ),
                        1,
                    ),
                    "grades": {grade: grades.count(grade) for grade in sorted(set(grades))},
                    "casual_rate": round(statistics.mean(rates), 4) if rates else None,
                }
            )
        size = pool.path.stat().st_size
        if args.json:
            _print_json(
                {"pool": str(pool.path), "bytes": size, "digest": pool.digest, "presets": rows}
            )
            return 0
        print(
            f"{'preset':12}{'deals':>7}{'of':>9}{'winnable':>10}{'moves':>7}  grades, casual rate"
        )
        for row in rows:
            grades_text = " ".join(f"{k} {v}" for k, v in row["grades"].items()) or "not graded"
            rate = "" if row["casual_rate"] is None else f", {row['casual_rate']:.1%}"
            print(
                f"{row['preset']:12}{row['deals']:7}{row['scanned']:9}{row['winnable']:10.2%}"
                f"{row['moves']:7.1f}  {grades_text}{rate}"
            )
        print(f"{size} bytes, digest {pool.digest}")
    return 0


def run_pool_build(args: argparse.Namespace) -> int:
    """Build a pool file."""
    path = DEFAULT_PATH if args.pool is None else args.pool
    with ExitStack() as stack:
        digest = build(
            path,
            dict.fromkeys(args.presets, args.deals),
            workers=args.workers,
            progress=_build_progress(stack),
        )
    if args.json:
        _print_json({"pool": str(path), "bytes": path.stat().st_size, "digest": digest})
    else:
        print(f"{path}: {path.stat().st_size} bytes, digest {digest}")
    return 0


def _build_progress(stack: ExitStack) -> Progress:
    """One progress bar for each preset, closed with ``stack``."""
    bars: dict[str, Callable[[int, str], None]] = {}

    def progress(preset: str, found: int, wanted: int, tried: int) -> None:
        if preset not in bars:
            stack.close()
            bars[preset] = stack.enter_context(_bar(preset, wanted))
        bars[preset](min(found, wanted), f"of {tried} tried")

    return progress


@contextmanager
def _bar(title: str, total: int) -> Iterator[Callable[[int, str], None]]:
    """A progress bar on the standard error, if it is a terminal and tqdm is there."""
    if not sys.stderr.isatty():
        yield lambda _done, _note: None
        return
    try:
        from tqdm import tqdm  # type: ignore[import-untyped]  # noqa: PLC0415
    except ImportError:
        yield lambda _done, _note: None
        return
    with tqdm(total=total, desc=title, unit="deal") as bar:

        def show(done: int, note: str) -> None:
            bar.set_postfix_str(note, refresh=False)
            bar.update(done - bar.n)

        yield show


# -- bench ------------------------------------------------------------------------------------


def run_bench(args: argparse.Namespace) -> int:
    """Measure the solver on deals 1, 2, 3, … of each rule set, then as a hint, then ratios."""
    say: Callable[[str], None] = (lambda _text: None) if args.json else print
    say(f"the loop is {LOOP}; times are processor time in milliseconds")
    say(
        f"{'rules':12}{'deals':>7}{'winnable':>9}{'open':>5}{'positions':>11}{'average':>9}"
        f"{'worst':>8}{'ms/deal':>9}{'median':>8}{'p99':>8}{'worst':>8}{'positions/s':>13}"
    )
    rule_sets = [(str(args.rules), args.rules)] if args.rules else list(PRESETS.items())
    for name, rules in rule_sets:
        row = deal_times(rules, args.deals, args.limit)
        if args.json:
            _print_json({"rules": name, "loop": LOOP, **row})
        say(
            f"{name:12}{row['deals']:7}{row['winnable']:9}{row['undecided']:5}"
            f"{row['positions']:11}{row['average']:9}{row['worst']:8}{row['ms_per_deal']:9.3f}"
            f"{row['ms_median']:8.3f}{row['ms_p99']:8.2f}{row['ms_worst']:8.2f}"
            f"{row['positions_per_second']:13}"
        )
    if args.rules:
        return 0
    hints = {preset: hint_times(preset, args.hints) for preset in PRESETS}
    pool = pool_times(args.hints)
    ratios = {
        "interpreted": interpreted_ratio(PRESETS["three-pass"], min(args.deals, 20)),
        "c": c_ratio(),
    }
    if args.json:
        _print_json({"hints": hints})
        _print_json({"pool": pool})
        _print_json({"ratios": ratios})
        return 0
    for preset, row in hints.items():
        say(
            f"{row['hints']} hints off the line of {preset}: median {row['ms_median']}, "
            f"p99 {row['ms_p99']}, worst {row['ms_worst']}"
        )
    say(
        f"pool: opened in {pool['ms_open']}; {pool['draws']} draws: median {pool['ms_median']}, "
        f"p99 {pool['ms_p99']}"
    )
    if ratios["interpreted"] is not None:
        say(f"the interpreted loop takes {ratios['interpreted']:.1f} times as long")
    if ratios["c"] is not None:
        say(f"the memo table takes {ratios['c']:.2f} times as long as in plain C")
    return 0


# -- arguments --------------------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    def print_help(self, file: Any = None) -> None:
        """Print the help; unlike its parent, newer Pythons' above all, hide no error."""
        stream = sys.stdout if file is None else file
        print(self.format_help(), end="", file=stream)
        if stream is sys.stdout:
            stream.flush()


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m engine", description="Deal and solve Pyramid; look after the pool of deals."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    deal = commands.add_parser(
        "deal",
        help="print the 52 cards of a deal number",
        description="Print the 52 cards of a deal number: 28 pyramid cards from the apex row by "
        "row, then the 24 of the stock in draw order.",
    )
    deal.add_argument("number", type=_deal_number, metavar="NUMBER", help="1 to 4294967295")
    deal.add_argument("--json", action="store_true", help="print a JSON object")
    deal.set_defaults(run=run_deal)

    presets = ", ".join(PRESETS)
    solving = commands.add_parser(
        "solve",
        help="decide whether deals can be won, and how",
        description="Read one deal a line (52 cards, or a deal number; blank lines are skipped), "
        'write one JSON object a line: {"winnable": true, false, or null for undecided, "moves": '
        'the winning line, "positions": how many were looked at, "seconds": …}. A line that is no '
        'deal gives {"error": …, "line": its number}, the run goes on, and the exit code is 2 in '
        "the end. Moves: D draws, R redeals, KH removes a King, 7C+6D a pair.",
    )
    solving.add_argument(
        "--rules",
        type=_rules,
        default=PRESETS["three-pass"],
        metavar="RULES",
        help=f"a preset ({presets}) or options, like "
        "passes=3,goal=pyramid,stock_playable=no,overlap=no; passes=unlimited and goal=deck exist "
        "too, and a preset may come first, like cards4,passes=2 (default: three-pass)",
    )
    solving.add_argument(
        "--limit", type=_count(0), metavar="N", help="look at no more than N positions a deal"
    )
    aim = solving.add_mutually_exclusive_group()
    aim.add_argument(
        "--shortest",
        action="store_true",
        help="find a line with the fewest removals, draws and redeals; takes longer",
    )
    aim.add_argument(
        "--min-passes",
        action="store_true",
        help='find the line with the least passes, whatever the rules allow; adds "passes"',
    )
    solving.add_argument(
        "file", nargs="?", default="-", metavar="FILE", help="where to read; - is standard input"
    )
    solving.set_defaults(run=run_solve)

    rate = commands.add_parser(
        "winrate",
        help="count how many deals can be won",
        description="Decide deals NUMBER, NUMBER + 1, … and print how many can be won, with a "
        "95 % confidence interval. Interrupted, go on when started again in the same folder.",
    )
    rate.add_argument(
        "--rules",
        type=_rules,
        required=True,
        action="append",
        metavar="RULES",
        help="as for solve; given several times, all are counted together, which is faster: put "
        "first what includes the others",
    )
    rate.add_argument(
        "--deals", type=_count(1), default=10_000, metavar="N", help="how many (default: 10000)"
    )
    rate.add_argument(
        "--from",
        type=_count(1),
        default=1,
        dest="first",
        metavar="NUMBER",
        help="the first deal number (default: 1)",
    )
    labour = rate.add_mutually_exclusive_group()
    labour.add_argument(
        "--workers", type=_count(1), default=1, metavar="K", help="processes (default: 1)"
    )
    labour.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="use the dask.distributed cluster with this scheduler, like tcp://host:8786",
    )
    rate.add_argument(
        "--work",
        type=Path,
        metavar="FILE",
        help="where to keep progress (default: a file in this folder, named after the rules)",
    )
    rate.add_argument(
        "--json", action="store_true", help="print a JSON object for each RULES, a line each"
    )
    rate.set_defaults(run=run_winrate)

    pool = commands.add_parser(
        "pool",
        help="verify, describe or build the pool of winnable deals",
        description="Look after the pool of winnable deals.",
    )
    pool_commands = pool.add_subparsers(required=True, metavar="COMMAND")
    for name, run, text in (
        ("verify", run_pool_verify, "Replay every line of the pool and check its digest."),
        ("stats", run_pool_stats, "Print how many deals the pool has of each preset."),
        (
            "build",
            run_pool_build,
            (
                "Build a pool from deal numbers 1, 2, 3, … in order; interrupted, go on when "
                "started again. The content does not depend on the number of workers."
            ),
        ),
    ):
        command = pool_commands.add_parser(name, help=text, description=text)
        command.add_argument(
            "--pool", type=Path, metavar="FILE", help="the pool file (default: the shipped one)"
        )
        command.add_argument("--json", action="store_true", help="print a JSON object")
        command.set_defaults(run=run)
        if run is run_pool_build:
            command.add_argument(
                "--deals",
                type=_count(1),
                default=DEFAULT_DEALS,
                metavar="N",
                help=f"deals of each preset and grade (default: {DEFAULT_DEALS})",
            )
            command.add_argument(
                "--presets",
                type=_presets,
                default=list(PRESETS),
                metavar="NAME,…",
                help=f"which presets (default: {presets})",
            )
            command.add_argument(
                "--workers", type=_count(1), default=1, metavar="K", help="processes that solve"
            )

    bench = commands.add_parser(
        "bench",
        help="measure the solver",
        description="Decide deals 1, 2, 3, … and print how many positions and how much time that "
        "takes; then how long hints and draws from the pool take; then how the loop compares to "
        "itself interpreted and to plain C. With --rules, decide deals alone.",
    )
    bench.add_argument(
        "--deals", type=_count(1), default=100, metavar="N", help="how many (default: 100)"
    )
    bench.add_argument("--rules", type=_rules, metavar="RULES", help="default: each preset")
    bench.add_argument(
        "--limit", type=_count(0), metavar="N", help="look at no more than N positions a deal"
    )
    bench.add_argument(
        "--hints",
        type=_count(1),
        default=200,
        metavar="N",
        help="how many hints and draws of each preset (default: 200)",
    )
    bench.add_argument("--json", action="store_true", help="print one JSON object a line")
    bench.set_defaults(run=run_bench)
    return parser


def _deal_number(text: str) -> Deal:
    try:
        deal = Deal.parse(text)
    except DealError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if deal.number is None:
        raise argparse.ArgumentTypeError("give a deal number")
    return deal


def _rules(text: str) -> Rules:
    try:
        return Rules.parse(text)
    except RulesError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _presets(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in PRESETS:
            raise argparse.ArgumentTypeError(
                f"{name!r} is not a preset: take some of {', '.join(PRESETS)}"
            )
    return names


def _count(least: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 19 and int(text) >= least):
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of {least} or more")
        return int(text)

    return read


def _print_json(value: dict[str, Any]) -> None:
    print(json.dumps(value), flush=True)


def main(  # noqa: PLR0911 - one return for each way to end
    argv: Sequence[str] | None = None,
) -> int:
    """Run a command and return its exit code.

    Args:
        argv: the arguments; None is those of this process.

    Raises:
        SystemExit: after ``--help`` (0), or for arguments that cannot be read (2).
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that knows ASCII alone gets escapes, not a traceback.
            stream.reconfigure(errors="backslashreplace")
    try:
        if sys.stdout is None or sys.stderr is None:
            return BAD_INPUT  # closed by whoever started this: there is nobody to tell
        args = _parser().parse_args(argv)
        run: Callable[[argparse.Namespace], int] = args.run
        code = run(args)
        sys.stdout.flush()
    except (InputError, ClusterError, WinRateError) as error:
        print(f"python -m engine: {error}", file=sys.stderr)
        return BAD_INPUT
    except PoolError as error:
        print(f"python -m engine: {error}", file=sys.stderr)
        return BAD_POOL
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Nobody reads on: what is still in the buffer must not fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except OSError as error:
        print(f"python -m engine: {error.strerror or error}", file=sys.stderr)
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BAD_INPUT
    return code


if __name__ == "__main__":
    sys.exit(main())
