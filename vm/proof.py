"""What is tried with the machine, one function a row of the table.

Invariant: each function returns what was seen, or raises; none passes because a wait ended.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from engine.deal import PYRAMID_SIZE
from engine.position import Move, MoveKind, Position
from vm.host import say
from vm.machine import PATIENCE, START, UNIT, Machine
from vm.picture import Picture
from vm.play import LAYOUT, Player, Safe, places, read
from vm.qmp import VmError
from vm.report import Row

#: As in `vm/guest/settings.toml`.
UNDO_PIN: Final = 17
NEW_DEAL_PIN: Final = 27
UNDO_LAMP: Final = 22
#: Seconds that a button is pressed, and held for a new deal (for which the kiosk asks 1.5).
PRESS: Final = 0.3
HOLD: Final = 6.0
#: Seconds until systemd aborts a kiosk that does not move: as in `vm/guest/slow.conf`.
WATCHDOG: Final = 120
#: Seconds that are waited, for a screenshot, until nothing moves.
REST: Final = 15.0
#: A share of the pyramid's area that is as light as paper tells that cards lie there.
CARDS: Final = 0.1
#: The same of one card: measured are 0.44 (a king) to 0.77, and up to 0.34 where one is gone.
CARD: Final = 0.4
#: Moves between two power cuts: safe ones, then hurried ones.
SAFE_MOVES: Final = (1, 3)
HURRIED_MOVES: Final = (2, 4)

#: Keys that lead out of programs on a console that is not guarded.
_WAYS_OUT: Final = (
    ("ctrl", "alt", "f2"),
    ("alt", "f3"),
    ("ctrl", "c"),
    ("ctrl", "backslash"),
    ("alt", "sysrq", "b"),
    ("ctrl", "alt", "delete"),
)
_READ_AGAIN: Final = re.compile(r"the settings were read again")
_RECOVERED: Final = re.compile(r"EXT4-fs \(vda\): recovery complete")


class CheckError(Exception):
    """The kiosk did not do what it must; the message says what was seen instead."""


def demand(holds: bool, otherwise: str) -> None:
    """Raise a CheckError with the text ``otherwise`` unless it ``holds``."""
    if not holds:
        raise CheckError(otherwise)


def judge_cut(acknowledged: Safe, hurried: tuple[str, ...], found: Safe) -> str:
    """What a power cut has cost.

    Args:
        acknowledged: what was known to be safe.
        hurried: the moves that were touched after it, in this order.
        found: what is on the disk when power is back.

    Returns:
        how many of the hurried moves are there, in words.

    Raises:
        CheckError: a move that was safe is gone, or there is one that nobody made.
    """
    what = f"{acknowledged} were safe, {found} were found"
    demand(found.deal == acknowledged.deal, f"another deal: {what}")
    demand(found.results == acknowledged.results, f"other results: {what}")
    all_moves = acknowledged.moves + hurried
    demand(len(found.moves) >= len(acknowledged.moves), f"moves are lost: {what}")
    demand(found.moves == all_moves[: len(found.moves)], f"other moves: {what}")
    more = len(found.moves) - len(acknowledged.moves)
    return f"{what}: nothing lost, and {more} of {len(hurried)} moves that were touched last"


@dataclass(frozen=True)
class Database:
    """What is found in the machine's database.

    Attributes:
        safe: the game.
        verdict: of SQLite's integrity check: ``ok``.
        put_aside: games in it that were set aside.
        set_aside: files beside it that were.
    """

    safe: Safe
    verdict: str
    put_aside: int
    set_aside: list[str]


class Proof:
    """Tries everything, and keeps a picture of each step.

    Args:
        machine: what is tried; off.
        folder: for the pictures.
        rng: chooses when power is cut.
        told: called after each step with the rows so far, so that what ends too soon has told
            what it found.

    Attributes:
        rows: what has been tried so far.
    """

    def __init__(
        self, machine: Machine, folder: Path, rng: Random, told: Callable[[Sequence[Row]], object]
    ) -> None:
        self._machine = machine
        self._told = told
        self._player = Player(machine)
        self._folder = folder
        self._rng = rng
        self.rows: list[Row] = []

    def run(self, cuts: int) -> list[Row]:
        """Try everything, with so many power cuts; a failure does not end it while the machine is
        on."""
        checks: list[tuple[str, Callable[[], str]]] = [
            ("power on: attract mode", self.power_on),
            ("a touch begins a game", self.touch_begins),
            ("two cards paired by touch", self.pair_by_touch),
            ("undo by its button, and its lamp", self.undo_by_button),
            ("new deal by holding its button", self.new_deal_by_button),
            ("keys that would leave the kiosk, after a reload", self.keys_do_nothing),
            ("SIGSTOP: restarted by the watchdog", self.stopped),
            ("touchscreen unplugged and plugged in", self.replugged),
        ]
        checks += [(f"power cut {n} of {cuts}", self.power_cut) for n in range(1, cuts + 1)]
        for number, (name, check) in enumerate(checks):
            if number and not self._machine.is_on:
                self._add(Row(name, None, 0.0, "the machine was off"))
                continue
            self._try(number, name, check)
        return self.rows

    def _add(self, row: Row) -> None:
        self.rows.append(row)
        self._told(self.rows)
        say(f"{row.name}: {row.verdict} ({row.seconds:.0f} s): {row.detail}")

    def _try(self, number: int, name: str, check: Callable[[], str]) -> None:
        began = time.monotonic()
        try:
            detail, passed = check(), True
        except (CheckError, VmError) as error:
            detail, passed = str(error), False
        seconds = time.monotonic() - began
        picture = self._keep(f"{number:02}-{_file_name(name)}")
        self._add(Row(name, passed, round(seconds, 1), detail, picture))

    def _keep(self, name: str) -> str:
        """Save what is on the screen; the file's name, or "" where there is nothing to save."""
        try:
            picture = self._picture_at_rest()
        except VmError:
            return ""
        file = f"{name}.png"
        (self._folder / file).write_bytes(picture.png())
        return file

    def _picture_at_rest(self) -> Picture:
        """What is on the screen when nothing moves any more, or after a while."""
        before, end = self._machine.picture(), time.monotonic() + REST
        while True:
            time.sleep(3.0)
            picture = self._machine.picture()
            if picture.data == before.data or time.monotonic() > end:
                return picture
            before = picture

    # -- looking --------------------------------------------------------------------------------

    def _see(
        self, what: str, wanted: Callable[[Picture], bool], timeout: float = PATIENCE
    ) -> Picture:
        end = time.monotonic() + timeout
        while True:
            picture = self._machine.picture()
            if wanted(picture):
                return picture
            if time.monotonic() > end:
                raise CheckError(
                    f"{what} was not seen within {timeout:.0f} s: {picture.black:.0%} black, "
                    f"{picture.colours} colours, {paper_on(picture):.0%} paper"
                )
            time.sleep(1.0)

    def _status(self) -> str:
        return self._machine.unit("StatusText")["StatusText"]

    def _wait_for_status(self, wanted: str) -> None:
        end = time.monotonic() + PATIENCE
        while (status := self._status()) != wanted:
            demand(time.monotonic() < end, f"the kiosk says {status!r}, not {wanted!r}")
            time.sleep(3.0)

    def _database(self) -> Database:
        found = json.loads(self._machine.agent.shell("python3 /opt/vm/sound.py"))
        safe = read(json.dumps(found["told"]))
        if safe is None:
            raise CheckError("there is no game in the database")
        return Database(safe, found["verdict"], found["put_aside"], found["set_aside"])

    # -- the checks -----------------------------------------------------------------------------

    def power_on(self) -> str:
        """From power to attract mode: something is on the screen, it is cards, and it moves."""
        began = time.monotonic()
        self._machine.power_on()
        self._machine.wait_until_ready()
        ready = time.monotonic() - began
        first = self._see("a table with cards", shows_cards)
        self._wait_for_status("attract mode")
        self._see("the demo's next move", lambda picture: picture.changed(first) > 0.002)
        return (
            f"ready after {ready:.0f} s; the demo plays; {first.black:.0%} of the screen black, "
            f"{first.colours} colours, {paper_on(first):.0%} of the pyramid's place is paper"
        )

    def touch_begins(self) -> str:
        """A touch anywhere ends the demo, and a game lies there."""
        before = self._machine.picture()
        self._machine.touch(*LAYOUT.screen.center)
        safe = self._player.now()
        demand(safe.game.index == 0, f"the touch did more than begin: {safe}")
        self._wait_for_status("a visitor is playing")
        after = self._see("the game", shows_cards)
        return f"{safe}; {after.changed(before):.0%} of the screen changed"

    def pair_by_touch(self) -> str:
        """Play on until two cards have been paired by touching one and then the other."""
        safe, move = self._play_until(MoveKind.PAIR)
        return f"{move} is gone, safe on the disk as move {safe.game.index} of that game"

    def _play_until(self, *kinds: MoveKind) -> tuple[Safe, Move]:
        """Play on to a move of such a kind; the game after it, and the move."""
        safe = self._player.now()
        for _ in range(40):
            move = safe.next_move
            if move is None:
                break
            safe = self._player.play(safe)
            if move.kind in kinds:
                return safe, move
        raise CheckError(f"no {' or '.join(kind.value for kind in kinds)} came: {safe}")

    def undo_by_button(self) -> str:
        """The lamp is lit because there is something to undo; a press takes one move back."""
        before = self._player.now()
        self._wait_for_lamp(1, "the lamp of undo is dark, and there is something to undo")
        self._machine.press(UNDO_PIN, PRESS)
        wanted = before.moves[:-1]
        after = self._player.wait("the undone move", lambda now: now.moves != before.moves)
        demand(after.moves == wanted, f"{before} became {after}, which is not one move less")
        demand(after.undos == before.undos + 1, f"{after.undos} undos are counted")
        return f"from {len(before.moves)} to {len(wanted)} moves; the line of its lamp was high"

    def new_deal_by_button(self) -> str:
        """Holding the button ends the game and deals another one; the lamp of undo goes out."""
        # A game that is left before anything was removed would not be counted, and rightly.
        before, _move = self._play_until(MoveKind.KING, MoveKind.PAIR)
        after = self._new_deal()
        demand(after.game.index == 0, f"the new game has begun already: {after}")
        demand(after.results == before.results + 1, "the game that was left is not counted")
        self._see("the new deal", shows_cards)
        self._wait_for_lamp(0, "the lamp of undo is lit, with nothing to undo")
        return f"{before} became {after}; the lamp of undo went out"

    def _wait_for_lamp(self, level: int, otherwise: str) -> None:
        end = time.monotonic() + PATIENCE
        while self._machine.level(UNDO_LAMP) != level:
            demand(time.monotonic() < end, otherwise)
            time.sleep(1.0)

    def _new_deal(self) -> Safe:
        before = self._player.now()
        self._machine.press(NEW_DEAL_PIN, HOLD)
        return self._player.wait("a new deal", lambda now: now.deal != before.deal)

    def keys_do_nothing(self) -> str:
        """Keys that lead to other consoles or restart the machine do nothing, and still do nothing
        when the settings have been read again."""
        names = ("MainPID", "NRestarts")
        was = self._machine.unit(*names)
        for word in ("before", "after"):
            for keys in _WAYS_OUT:
                self._machine.keys(*keys)
                time.sleep(2.0)
            console = self._machine.agent.shell("cat /sys/class/tty/tty0/active")
            if console != "tty1":
                self._machine.agent.shell("chvt 1 || true")
                self._machine.keys("ctrl", "alt", "f1")
            demand(console == "tty1", f"{word} a reload, keys led to the console {console}")
            if word == "before":
                since = self._machine.console_size()
                self._machine.agent.shell(f"systemctl reload {UNIT}")
                self._machine.wait_for_console(_READ_AGAIN, since=since)
        self._see("the game", shows_cards)
        demand(self._machine.unit(*names) == was, "it is another process now")
        return f"{', '.join('+'.join(keys) for keys in _WAYS_OUT)}: nothing happened, twice"

    def stopped(self) -> str:
        """A kiosk that hangs is killed by the watchdog and comes back with its game.

        Somebody taps at it while it hangs.  The first touch afterwards is at the same place, which
        the kernel does not repeat.
        """
        before = self._player.play(self._player.now())
        move = before.next_move
        if move is None:
            raise CheckError(f"the game is over: {before}")
        was = self._machine.unit("MainPID", "NRestarts")
        since = self._machine.console_size()
        began = time.monotonic()
        self._machine.agent.shell(f"kill -STOP {was['MainPID']}")
        self._machine.touch(*places(move, before.game.position)[0])
        self._machine.wait_until_ready(since)
        back = time.monotonic() - began
        now = self._machine.unit("MainPID", "NRestarts", "ActiveState")
        demand(now["MainPID"] != was["MainPID"], "it is still the same process")
        restarts = int(now["NRestarts"]) - int(was["NRestarts"])
        demand(restarts == 1, f"it was restarted {restarts} times")
        log = f"journalctl -b -o cat -u {UNIT} | grep -ci 'watchdog timeout' || true"
        demand(self._machine.agent.shell(log) == "1", "systemd tells of no watchdog timeout")
        self._see("the game", shows_cards)
        after = self._player.play(before)
        return (
            f"watchdog timeout ({WATCHDOG} s), ready again {back:.0f} s after the signal with "
            f"{before}, and a touch at the same place as the last one played on to {after}"
        )

    def replugged(self) -> str:
        """Without its touchscreen nothing is lost; plugged in again, it works."""
        before = self._player.play(self._player.now())
        since = self._machine.console_size()
        self._machine.unplug_touchscreen()
        time.sleep(5.0)
        demand(not self._has_touchscreen(), "the machine still has its touchscreen")
        self._machine.plug_touchscreen()
        began = time.monotonic()
        self._machine.wait_until_ready(since)
        back = time.monotonic() - began
        # The plug and the silence of the old one may each ask for a restart.
        self._settle()
        self._see("the game", shows_cards)
        after = self._player.play(before)
        return (
            f"the kiosk was started again and ready {back:.0f} s after the plug was in, "
            f"with {before}; a touch played on to {after}"
        )

    def _has_touchscreen(self) -> bool:
        """Whether one is among the input devices of the machine, by their names."""
        names = self._machine.agent.shell("cat /sys/class/input/input*/name || true").lower()
        return "multitouch" in names or "touchscreen" in names

    def _settle(self) -> None:
        """Wait until the kiosk runs, and has done so for a while."""
        end = time.monotonic() + START
        steady: dict[str, str] = {}
        while True:
            now = self._machine.unit("ActiveState", "MainPID")
            if now["ActiveState"] == "active" and now == steady:
                return
            steady = now
            demand(time.monotonic() < end, f"the kiosk does not come to rest: {now}")
            time.sleep(15.0)

    def power_cut(self) -> str:
        """Cut the power while moves are being made; then everything that was safe is there."""
        safe = self._begin_to_play()
        for _ in range(self._rng.randint(*SAFE_MOVES)):
            if self._moves_on(safe):
                safe = self._player.play(safe)
        hurried = self._hurry(safe, self._rng.randint(*HURRIED_MOVES))
        # Between 10 ms and 3 s: a move is carried out and written in a fraction of a second where
        # the host is idle, and takes seconds where it is busy.
        time.sleep(10 ** self._rng.uniform(-2.0, 0.5))
        self._machine.cut()
        acknowledged = self._player.safe
        if acknowledged is None:
            raise CheckError("nothing was safe before the cut")
        left = hurried[len(acknowledged.moves) - len(safe.moves) :]
        self._machine.power_on()
        self._machine.wait_until_ready()
        kernel = self._machine.agent.shell("dmesg")
        recovered = _RECOVERED.search(kernel)
        found = self._database()
        demand(found.verdict == "ok", f"the database is damaged: {found.verdict}")
        demand(not found.set_aside, f"the kiosk has set {found.set_aside} aside")
        demand(not found.put_aside, "the kiosk has set a game aside")
        said = judge_cut(acknowledged, tuple(map(str, left)), found.safe)
        position = found.safe.game.position
        self._see(str(found.safe), lambda picture: shows_position(picture, position))
        if self._moves_on(found.safe):
            after = self._player.play(found.safe)
            said += f"; a touch played on to {after}"
        return f"{said}; database sound; journal {'recovered' if recovered else 'was clean'}"

    def _begin_to_play(self) -> Safe:
        """The game under way, or a new one where it is nearly over."""
        safe = self._player.now()
        return safe if self._moves_on(safe) else self._new_deal()

    def _moves_on(self, safe: Safe) -> bool:
        """Whether there is a next move, and it is not the last one of the game."""
        move = safe.next_move
        return move is not None and safe.after(move).next_move is not None

    def _hurry(self, safe: Safe, count: int) -> list[Move]:
        """Touch so many moves and wait for none of them."""
        made: list[Move] = []
        while len(made) < count and self._moves_on(safe):
            move = safe.next_move
            assert move is not None
            self._player.touch_move(move, safe.game.position)
            made.append(move)
            safe = safe.after(move)
        return made


def paper_on(picture: Picture) -> float:
    """The share of the pyramid's area that is as light as the paper of cards."""
    return picture.cut(LAYOUT.pyramid_area).paper


def shows_cards(picture: Picture) -> bool:
    """Whether cards are on the table."""
    return picture.shows_something and paper_on(picture) >= CARDS


def shows_position(picture: Picture, position: Position) -> bool:
    """Whether each card of the pyramid that can be touched lies in its place."""
    return picture.shows_something and all(
        picture.cut(LAYOUT.target_rect(place)).paper >= CARD
        for place in range(PYRAMID_SIZE)
        if position.is_exposed(place)
    )


def _file_name(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
