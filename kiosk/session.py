"""The session: the middle layer between the game and whatever shows it or touches it.

A :class:`~kiosk.commands.Command` goes in, a :class:`~kiosk.commands.Change` comes out.  The
session owns the game, the selection, the hints, the open panel, the idle time and the attract
mode.  What undo should restore is game state and lives in :class:`engine.game.Game`; the rest
lives here.

Invariant: no Kivy, no clock, no thread, no global randomness: time comes in with every command,
deals, advice and keeping of results are given from outside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from engine.advice import Advice
from engine.deal import PYRAMID_SIZE
from engine.game import Game
from engine.position import COVERS, DRAW, REDEAL, Move, MoveKind, Outcome, Position
from engine.rules import PRESETS
from kiosk.attract import AttractPlayer
from kiosk.commands import (
    AdviceReady,
    BackToWinnable,
    Change,
    ChangeKind,
    Close,
    Command,
    Draw,
    Drop,
    Hint,
    NewDeal,
    Open,
    Panel,
    Pile,
    Redo,
    Refusal,
    Replay,
    SetAutoPlay,
    SetLanguage,
    Tap,
    Target,
    Tick,
    Touched,
    Undo,
)
from kiosk.dealer import DealtGame

#: A gap between two commands longer than this is a suspended machine, not somebody thinking.
LONGEST_THOUGHT: Final = 5.0


class Dealer(Protocol):
    """Where deals come from."""

    def deal(self, preset: str) -> DealtGame:
        """The next deal for a player."""

    def demo(self, preset: str) -> DealtGame:
        """A deal for the attract mode; never one that :meth:`deal` would count as used."""


class Adviser(Protocol):
    """Who answers hints: at once it only takes the question, and answers by AdviceReady."""

    def ask(self, question: int, history: tuple[Position, ...], winnable_at: int | None) -> None:
        """Start working on a question; an earlier one is dropped."""

    def cancel(self) -> None:
        """Drop the question being worked on, if any."""


@dataclass(frozen=True)
class Result:
    """A finished game, for the statistics.

    Attributes:
        preset: the rules' name.
        number: the deal number, or None for cards without one.
        outcome: ``won``, ``lost`` (left when no move was possible) or ``abandoned``.
        moves: how many moves stood at the end.
        seconds: playing time.
        hints: hints asked for.
        undos: moves taken back.
    """

    preset: str
    number: int | None
    outcome: str
    moves: int
    seconds: float
    hints: int
    undos: int


@dataclass(frozen=True)
class Saved:
    """What is kept over a power cut: the running game and what belongs to it.

    Attributes:
        game: the text save of the game.
        preset: the preset being played.
        line: the moves of the pool's winning line from the deal, or empty.
        seconds: playing time so far.
        hints: hints asked for.
        undos: moves taken back.
        language: the language on the screen.
        auto_play: whether auto-play is on.
        recorded: whether the result of this game has been recorded already.
    """

    game: str
    preset: str
    line: str
    seconds: float
    hints: int
    undos: int
    language: str
    auto_play: bool
    recorded: bool


@dataclass(frozen=True)
class SessionOptions:
    """What the operator decides.

    Attributes:
        preset: the preset that a fresh kiosk deals.
        language: the language that a fresh kiosk speaks; the attract mode returns to it.
        auto_play: whether auto-play is on at first.
        attract_after: seconds without input until the countdown; 0 never.
        countdown: seconds that the countdown lasts.
        start_in_attract: whether the attract mode runs until somebody comes.
    """

    preset: str = "three-pass"
    language: str = "en"
    auto_play: bool = False
    attract_after: float = 60.0
    countdown: float = 20.0
    start_in_attract: bool = True


class _Table:
    """One game on the table with what is known about it: its lines, its counts, its time."""

    def __init__(self, game: Game, preset: str, line: tuple[Move, ...]) -> None:
        self.game = game
        self.preset = preset
        self.pool_line = line
        #: For each index of the game, moves known to win from there, or None.
        self.lines: list[tuple[Move, ...] | None] = [line or None]
        self.seconds = 0.0
        self.hints = 0
        self.undos = 0
        self.recorded = False

    @property
    def line(self) -> tuple[Move, ...] | None:
        """Moves known to win from the present position, or None."""
        return self.lines[self.game.index]

    @property
    def winnable_at(self) -> int | None:
        """The latest index up to the present one that is known to be winnable."""
        known = (i for i in range(self.game.index, -1, -1) if self.lines[i] is not None)
        return next(known, None)

    def learn(self, index: int, line: tuple[Move, ...]) -> None:
        """Remember moves that win from position ``index``."""
        self.lines[index] = line

    def play(self, move: Move) -> None:
        """Play a move, following the known line if it is that line's next move."""
        game = self.game
        redone = game.undone[:1] == (move,)
        before = self.line
        game.play(move)
        if not redone:
            del self.lines[game.index :]
            self.lines.append(None)
        if before is not None and before[:1] == (move,):
            self.lines[game.index] = before[1:]


class Session:
    """The state of the kiosk's table; see the module's text.

    Args:
        dealer: where deals come from.
        adviser: who answers hints.
        options: what the operator decides.
        now: the monotonic time in seconds, the same scale as in :meth:`handle`.
        record: called with every finished game.
        saved: the game to go on with, or None.

    Raises:
        engine.game.SaveError: ``saved`` cannot be read.  The caller sets it aside and starts
            without it.
    """

    def __init__(
        self,
        dealer: Dealer,
        adviser: Adviser,
        options: SessionOptions,
        *,
        now: float,
        record: Callable[[Result], None] | None = None,
        saved: Saved | None = None,
    ) -> None:
        self._dealer = dealer
        self._adviser = adviser
        self._options = options
        self._record_result = record or (lambda _result: None)
        self._now = now
        self._last_input = now
        self._question = 0
        self._pending: NewDeal | Replay | None = None
        self._back: Advice | None = None
        self._demo: tuple[_Table, AttractPlayer] | None = None
        self._panel_under_countdown = Panel.NONE
        self.selected: int | None = None
        self.hinted: tuple[Target, ...] = ()
        self.hinted_move: Move | None = None
        self.thinking = False
        self.panel = Panel.NONE
        self.language = options.language
        self.auto_play = options.auto_play
        if saved is None:
            self._table = self._fresh(options.preset)
            if options.start_in_attract:
                self._start_demo()
        else:
            self._table = self._restore(saved)
            self.language = saved.language
            self.auto_play = saved.auto_play
            self._open_end_panel()

    # -- what the widgets read ------------------------------------------------------------------

    @property
    def position(self) -> Position:
        """What lies on the table now, be it the player's game or the demo's."""
        return self._shown.game.position

    @property
    def attract(self) -> bool:
        """Whether the attract mode is on."""
        return self._demo is not None

    @property
    def preset(self) -> str:
        """The name of the rules of the game on the table."""
        return self._shown.preset

    @property
    def number(self) -> int | None:
        """The deal number of the game on the table."""
        return self._shown.game.deal.number

    @property
    def moves_played(self) -> int:
        """How many moves led to the present position."""
        return self._shown.game.index

    @property
    def seconds(self) -> float:
        """Playing time of the game on the table, in seconds."""
        return self._shown.seconds

    @property
    def hints(self) -> int:
        """How many hints this game has had."""
        return self._shown.hints

    @property
    def undos(self) -> int:
        """How many moves of this game were taken back."""
        return self._shown.undos

    @property
    def can_undo(self) -> bool:
        """Whether Undo would do something."""
        return (
            not self.attract
            and self.position.outcome is not Outcome.WON
            and self._table.game.can_undo
        )

    @property
    def can_redo(self) -> bool:
        """Whether Redo would do something."""
        return not self.attract and self._table.game.can_redo

    @property
    def moves_back(self) -> int | None:
        """In the panel CANNOT_WIN: how many moves BackToWinnable takes back; None if unknown."""
        if self._back is None or self._back.index is None:
            return None
        return self._table.game.index - self._back.index

    @property
    def countdown_left(self) -> float:
        """Seconds until the attract mode takes over, while the panel COUNTDOWN is open."""
        end = self._last_input + self._options.attract_after + self._options.countdown
        return max(0.0, end - self._now)

    @property
    def has_game(self) -> bool:
        """Whether a player's game is under way: begun and not over."""
        return self._table.game.index > 0 and self._table.game.outcome is Outcome.RUNNING

    @property
    def demo_move(self) -> Move | None:
        """In attract mode: the move that the demo is about to make, for captions."""
        return self._demo[1].next_move if self._demo else None

    @property
    def demo_line(self) -> tuple[Move, ...]:
        """In attract mode: all moves of the demo."""
        return self._demo[0].pool_line if self._demo else ()

    def saved(self) -> Saved:
        """Everything that must survive a power cut, as it is now."""
        table = self._table
        return Saved(
            game=table.game.save(),
            preset=table.preset,
            line=" ".join(map(str, table.pool_line)),
            seconds=table.seconds,
            hints=table.hints,
            undos=table.undos,
            language=self.language,
            auto_play=self.auto_play,
            recorded=table.recorded,
        )

    # -- the one road ---------------------------------------------------------------------------

    def handle(self, command: Command, now: float) -> Change:
        """Carry out a command at monotonic time ``now`` (seconds) and say what changed."""
        self._pass_time(now)
        if command.by_person:
            was_idle_since = self._last_input
            self._last_input = self._now
            if self._demo is not None:
                return self._wake()
            if self.panel is Panel.COUNTDOWN:
                return self._show(self._panel_under_countdown)
            if self._gone_by(was_idle_since):
                # The screen slept through ticks (a suspended machine): wake only.
                return self._change(ChangeKind.WOKE)
        return self._carry_out(command)

    def _carry_out(self, command: Command) -> Change:  # noqa: PLR0911, PLR0912 - the one switch
        match command:
            case Tick():
                return self._tick()
            case AdviceReady(question, advice):
                return self._advised(question, advice)
            case Touched():
                return self._change(ChangeKind.NOTHING)
            case Tap(target):
                return self._tap(target)
            case Drop(source, target):
                return self._drop(source, target)
            case Draw():
                return self._draw()
            case Undo():
                return self._undo()
            case Redo():
                return self._redo()
            case Hint():
                return self._hint()
            case BackToWinnable():
                return self._back_to_winnable()
            case NewDeal() | Replay():
                return self._leave_game(command)
            case Open(panel):
                return self._open(panel)
            case Close():
                return self._close()
            case SetLanguage(language):
                self.language = language
                return self._change(ChangeKind.OPTION)
            case SetAutoPlay(on):
                self.auto_play = on
                return self._change(ChangeKind.OPTION)
            case _:
                raise TypeError(f"the session knows no command {command!r}")

    # -- time -----------------------------------------------------------------------------------

    def _pass_time(self, now: float) -> None:
        gone = max(0.0, now - self._now)
        self._now = max(self._now, now)
        table = self._table
        playing = self._demo is None and self.panel is Panel.NONE
        if playing and table.game.index > 0 and table.game.outcome is Outcome.RUNNING:
            table.seconds += min(gone, LONGEST_THOUGHT)

    def _gone_by(self, idle_since: float) -> bool:
        """Whether the whole idle time and the countdown passed without a tick."""
        after = self._options.attract_after
        return after > 0 and self._now - idle_since > after + self._options.countdown

    def _tick(self) -> Change:
        if self._demo is not None:
            return self._play_demo()
        after = self._options.attract_after
        idle = self._now - self._last_input
        if after <= 0 or idle < after:
            return self._change(ChangeKind.NOTHING)
        nobody_there = self._table.game.index == 0 and self.panel is Panel.NONE
        if nobody_there or idle >= after + self._options.countdown:
            return self._attract()
        if self.panel is not Panel.COUNTDOWN:
            self._panel_under_countdown = self.panel
        return self._show(Panel.COUNTDOWN)

    # -- attract mode ---------------------------------------------------------------------------

    def _attract(self) -> Change:
        old = self.position
        self._stop_thinking()
        self._deselect()
        if self.panel is Panel.COUNTDOWN:
            self.panel = self._panel_under_countdown
        if self.panel is not Panel.STUCK:
            self.panel = Panel.NONE
        self._pending = None
        self._back = None
        self._start_demo()
        return self._change(ChangeKind.ATTRACT, old=old)

    def _start_demo(self) -> None:
        dealt = self._dealer.demo(self._options.preset)
        table = _Table(Game(dealt.deal, dealt.rules), dealt.preset, dealt.line)
        self._demo = (table, AttractPlayer(dealt.line, self._now))
        self._deselect()

    def _play_demo(self) -> Change:
        assert self._demo is not None
        table, player = self._demo
        command = player.next_command(table.game, self.selected, self._now)
        if command is not None:
            return self._carry_out(command)
        if player.finished(self._now):
            old = self.position
            self._start_demo()
            return self._change(ChangeKind.ATTRACT, old=old)
        return self._change(ChangeKind.NOTHING)

    def _wake(self) -> Change:
        old = self.position
        self._demo = None
        self._deselect()
        if not self.has_game:
            # Whoever comes now is somebody else: a finished game is recorded and cleared away.
            self._record("lost")
            self._table = self._fresh(self._options.preset)
            self.panel = Panel.NONE
        return self._change(ChangeKind.WOKE, old=old)

    # -- the table ------------------------------------------------------------------------------

    @property
    def _shown(self) -> _Table:
        return self._table if self._demo is None else self._demo[0]

    @property
    def _locked(self) -> bool:
        """Whether the table takes no input: a panel is open, or the game is won."""
        if self._demo is not None:
            return False
        return self.panel is not Panel.NONE or self.position.outcome is Outcome.WON

    def _place(self, target: Target) -> int | None:
        """The place of the card that a touch on ``target`` means, or None for an empty pile."""
        position = self.position
        if target is Pile.WASTE:
            return position.waste_top
        if target is Pile.STOCK:
            return position.stock_top if position.rules.stock_playable else None
        return target if isinstance(target, int) and 0 <= target < PYRAMID_SIZE else None

    def _target(self, place: int) -> Target:
        """The thing to touch for the card at ``place``."""
        if place < PYRAMID_SIZE:
            return place
        return Pile.WASTE if place == self.position.waste_top else Pile.STOCK

    def _targets(self, move: Move) -> tuple[Target, ...]:
        """The things to touch for ``move``."""
        if move.kind in {MoveKind.DRAW, MoveKind.REDEAL}:
            return (Pile.STOCK,)
        place_of = self.position.deal.place_of
        return tuple(self._target(place_of[card]) for card in move.cards)

    def _tap(self, target: Target) -> Change:  # noqa: PLR0911 - the cases of a tap, in order
        if self._locked:
            return self._refuse(Refusal.BLOCKED)
        position = self.position
        place = self._place(target)
        if place is None or not position.is_present(place):
            if target is Pile.STOCK:
                return self._draw()
            return self._refuse(Refusal.NOTHING_THERE, target)
        if place == self.selected:
            # The face-up stock card: the second tap draws it, so that drawing stays possible.
            if target is Pile.STOCK:
                return self._draw()
            self._deselect()
            return self._change(ChangeKind.DESELECTED, targets=(target,))
        if self.selected is not None and position.can_pair(self.selected, place):
            return self._remove(self.selected, place)
        partners = position.partners(place)
        if place not in position.available and not partners:
            covering = tuple(p for p in COVERS[place] if position.is_present(p))
            return self._refuse(Refusal.COVERED, target, *covering)
        if position.deal.cards[place].is_king:
            return self._remove(place)
        if target is Pile.STOCK and not partners:
            return self._draw()
        if self.auto_play and len(partners) == 1:
            return self._remove(place, partners[0])
        other = self.selected
        self._clear_hint()
        self.selected = place
        if other is not None:
            # The new card takes over the selection: a newcomer's next tap then works.
            return self._refuse(Refusal.NOT_THIRTEEN, self._target(other), target)
        return self._change(ChangeKind.SELECTED, targets=(target,))

    def _drop(  # noqa: PLR0911 - the cases of a drop, in order
        self, source: Target, target: Target | None
    ) -> Change:
        if self._locked:
            return self._refuse(Refusal.BLOCKED)
        position = self.position
        place = self._place(source)
        if source is Pile.STOCK and target is Pile.WASTE and place is None:
            return self._draw()
        if place is None or not position.is_present(place):
            return self._refuse(Refusal.NOTHING_THERE, source)
        other = None if target is None else self._place(target)
        if other is not None and position.can_pair(place, other):
            return self._remove(place, other)
        if position.deal.cards[place].is_king and place in position.available:
            return self._remove(place)
        if source is Pile.STOCK and target is Pile.WASTE:
            return self._draw()
        if place not in position.available and not position.partners(place):
            covering = tuple(p for p in COVERS[place] if position.is_present(p))
            return self._refuse(Refusal.COVERED, source, *covering)
        if target is None or target == source:
            return self._refuse(Refusal.NOTHING_THERE, source)
        if other is not None and other not in position.available:
            return self._refuse(Refusal.COVERED, target)
        return self._refuse(Refusal.NOT_THIRTEEN, source, target)

    def _draw(self) -> Change:
        if self._locked:
            return self._refuse(Refusal.BLOCKED)
        if self.position.can_draw:
            return self._play(DRAW)
        if self.position.can_redeal:
            return self._play(REDEAL)
        return self._refuse(Refusal.NO_STOCK, Pile.STOCK)

    def _remove(self, *places: int) -> Change:
        cards = self.position.deal.cards
        return self._play(Move.remove(*(cards[p] for p in places)))

    def _play(self, move: Move) -> Change:
        old = self.position
        targets = self._targets(move)
        self._stop_thinking()
        self._clear_hint()
        self._shown.play(move)
        # A selected pyramid card stays selected over a draw: its partner may just have come.
        if move.kind not in {MoveKind.DRAW, MoveKind.REDEAL} or (
            self.selected is not None and self.selected >= PYRAMID_SIZE
        ):
            self._deselect()
        if self._demo is None:
            self._open_end_panel()
            if self.panel is Panel.WON:
                self._record("won")
        return self._change(ChangeKind.PLAYED, old=old, move=move, targets=targets)

    def _open_end_panel(self) -> None:
        outcome = self._table.game.outcome
        if outcome is Outcome.WON:
            self.panel = Panel.WON
        elif outcome is Outcome.STUCK:
            self.panel = Panel.STUCK

    def _undo(self) -> Change:
        if self.panel not in {Panel.NONE, Panel.STUCK, Panel.CANNOT_WIN} or (
            self.position.outcome is Outcome.WON
        ):
            return self._refuse(Refusal.BLOCKED)
        old = self.position
        move = self._table.game.undo()
        if move is None:
            return self._refuse(Refusal.NOTHING_TO_UNDO)
        self._table.undos += 1
        self._settle()
        return self._change(ChangeKind.UNDONE, old=old, move=move)

    def _redo(self) -> Change:
        if self._locked:
            return self._refuse(Refusal.BLOCKED)
        if not self._table.game.can_redo:
            return self._refuse(Refusal.NOTHING_TO_REDO)
        old = self.position
        move = self._table.game.undone[0]
        self._table.play(move)
        self._settle()
        self._open_end_panel()
        return self._change(ChangeKind.REDONE, old=old, move=move)

    def _settle(self) -> None:
        """After the game stands elsewhere: nothing selected, hinted or asked is about it."""
        self._stop_thinking()
        self._deselect()
        self._back = None
        self.panel = Panel.NONE

    # -- hints ----------------------------------------------------------------------------------

    def _hint(self) -> Change:
        if self._locked:
            return self._refuse(Refusal.BLOCKED)
        if self.thinking:
            return self._change(ChangeKind.THINKING)
        table = self._table
        if not self.hinted:
            table.hints += 1
        if table.line:
            return self._show_hint()
        self._question += 1
        self.thinking = True
        self._adviser.ask(self._question, table.game.positions, table.winnable_at)
        return self._change(ChangeKind.THINKING)

    def _advised(self, question: int, advice: Advice | None) -> Change:
        if question != self._question or not self.thinking:
            return self._change(ChangeKind.NOTHING)
        self.thinking = False
        if advice is None or advice.winnable is None:
            return self._refuse(Refusal.NO_ADVICE)
        if advice.index is not None:
            self._table.learn(advice.index, advice.line)
        if advice.winnable:
            return self._show_hint()
        if self.panel is not Panel.NONE:
            return self._change(ChangeKind.NOTHING)
        self._back = advice
        self._deselect()
        return self._show(Panel.CANNOT_WIN)

    def _show_hint(self) -> Change:
        line = self._table.line
        assert line, "a hint is shown along a line that wins"
        self._deselect()
        self.hinted = self._targets(line[0])
        self.hinted_move = line[0]
        return self._change(ChangeKind.HINTED, move=line[0], targets=self.hinted)

    def _back_to_winnable(self) -> Change:
        back = self._back
        if self.panel is not Panel.CANNOT_WIN or back is None or back.index is None:
            return self._refuse(Refusal.BLOCKED)
        old = self.position
        table = self._table
        table.undos += table.game.index - back.index
        table.game.go_to(back.index)
        self._settle()
        return self._change(ChangeKind.WENT_BACK, old=old)

    def _stop_thinking(self) -> None:
        if self.thinking:
            self.thinking = False
            self._adviser.cancel()

    def _clear_hint(self) -> None:
        self.hinted = ()
        self.hinted_move = None

    def _deselect(self) -> None:
        self.selected = None
        self._clear_hint()

    # -- panels and games -----------------------------------------------------------------------

    def _open(self, panel: Panel) -> Change:
        if panel not in {Panel.MENU, Panel.RULES, Panel.CHOOSE}:
            return self._refuse(Refusal.BLOCKED)
        if self.panel in {Panel.NONE, Panel.MENU, Panel.RULES, Panel.CHOOSE}:
            return self._show(panel)
        return self._refuse(Refusal.BLOCKED)

    def _close(self) -> Change:
        pending, self._pending = self._pending, None
        self._back = None
        if self.panel is Panel.WON:
            return self._refuse(Refusal.BLOCKED)
        change = self._show(Panel.NONE)
        if pending is not None:
            self._open_end_panel()
        return change

    def _show(self, panel: Panel) -> Change:
        self.panel = panel
        return self._change(ChangeKind.PANEL)

    def _leave_game(self, command: NewDeal | Replay) -> Change:
        """Deal or replay; a running game is left only when that is confirmed."""
        if isinstance(command, NewDeal) and command.preset not in {None, *PRESETS}:
            raise ValueError(f"there is no preset {command.preset!r}")
        if self.panel is Panel.GIVE_UP and self._pending is not None and command.confirmed:
            command = self._pending
        elif self.has_game and not command.confirmed:
            self._pending = command
            self._stop_thinking()
            self._deselect()
            return self._show(Panel.GIVE_UP)
        old = self.position
        self._record("abandoned" if self.has_game else "lost")
        table = self._table
        if isinstance(command, Replay):
            self._table = _Table(Game(table.game.deal, table.game.rules), table.preset, ())
            self._table.pool_line = table.pool_line
            self._table.lines = [table.lines[0]]
        else:
            self._table = self._fresh(command.preset or table.preset)
        self._pending = None
        self._settle()
        return self._change(ChangeKind.DEALT, old=old)

    def _fresh(self, preset: str) -> _Table:
        dealt = self._dealer.deal(preset)
        return _Table(Game(dealt.deal, dealt.rules), dealt.preset, dealt.line)

    def _restore(self, saved: Saved) -> _Table:
        game = Game.load(saved.game)
        line = tuple(Move.parse(word) for word in saved.line.split())
        # Play the moves again on a table of our own, so that the pool's line is followed.
        table = _Table(Game(game.deal, game.rules), saved.preset, line)
        for move in (*game.moves, *game.undone):
            table.play(move)
        table.game.go_to(game.index)
        table.seconds, table.hints, table.undos = saved.seconds, saved.hints, saved.undos
        table.recorded = saved.recorded
        return table

    def _record(self, outcome: str) -> None:
        table = self._table
        if table.recorded or table.game.index == 0:
            return
        table.recorded = True
        self._record_result(
            Result(
                preset=table.preset,
                number=table.game.deal.number,
                outcome=outcome,
                moves=table.game.index,
                seconds=table.seconds,
                hints=table.hints,
                undos=table.undos,
            )
        )

    # -- answers --------------------------------------------------------------------------------

    def _refuse(self, refusal: Refusal, *targets: Target) -> Change:
        return self._change(ChangeKind.REFUSED, refusal=refusal, targets=targets)

    def _change(
        self,
        kind: ChangeKind,
        *,
        old: Position | None = None,
        move: Move | None = None,
        refusal: Refusal | None = None,
        targets: tuple[Target, ...] = (),
    ) -> Change:
        new = self.position
        return Change(kind, old or new, new, move, refusal, targets)
