"""The session: the middle layer between the game and whatever shows it or touches it.

A :class:`~kiosk.commands.Command` goes in, a :class:`~kiosk.commands.Change` comes out.  The
session owns the game, the selection, the hints, the open panel, the idle time and the attract
mode.  What undo should restore is game state and lives in :class:`engine.game.Game`; the rest
lives here.

Invariant: no Kivy, no clock, no thread, no global randomness: time comes in with every command,
deals, advice and keeping of results are given from outside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from enum import Enum
from typing import Final

import msgspec

from engine.advice import Advice
from engine.cards import makes_thirteen
from engine.deal import PYRAMID_SIZE, Deal
from engine.difficulty import Grade
from engine.game import Game, SaveError
from engine.position import (
    COVERS,
    DRAW,
    REDEAL,
    IllegalMoveError,
    Move,
    MoveKind,
    MoveTextError,
    Outcome,
    Position,
)
from engine.rules import PRESETS, Rules
from kiosk.coaching import Coach
from kiosk.commands import (
    OPENED_BY_PLAYER,
    AdviceReady,
    BackToWinnable,
    Change,
    ChangeKind,
    CheckDeal,
    Close,
    Command,
    Darken,
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
    SetLook,
    Somebody,
    Tap,
    Target,
    Tick,
    Touched,
    Undo,
)
from kiosk.dealer import DealtGame
from kiosk.service import Service
from kiosk.service_commands import OpenService, Report, ServiceCommand, ServiceDone, Task
from kiosk.sessiontypes import (
    Adviser,
    Checked,
    Configure,
    Dealer,
    Saved,
    SessionOptions,
    Tell,
)
from kiosk.settings import DisplaySettings
from kiosk.showreel import Scene, SceneKind, Showreel
from kiosk.statistics import ABANDONED, LOST, WON, Figures, Result, Statistics
from kiosk.tablegame import TableGame, laid_out

#: A gap between two commands longer than this is a suspended machine, not somebody thinking.
LONGEST_THOUGHT: Final = 5.0
#: A hurried tap on the stock, so many seconds after the last card was drawn, is not a redeal.
NO_REDEAL_YET: Final = 0.7


class _Question(Enum):
    """What the solver is at work on."""

    NONE = "none"
    HINT = "hint"
    WAY_BACK = "way back"  #: the game is stuck: since when could it not be won?
    WATCH = "watch"  #: can it still be won?
    NUMBER = "number"  #: can the deal that was entered be won?
    COACH = "coach"  #: what should glow: which removal wins?


class Session:
    """The state of the kiosk's table; see the module's text.

    Args:
        dealer: where deals come from.
        adviser: who answers hints.
        options: what the operator decides.
        now: the monotonic time in seconds, the same scale as in :meth:`handle`.
        record: called with every finished game.
        saved: the game to go on with, or None.
        statistics: what was played before; finished games are added to it.
        today: the date, for the deal of the day.
        rules: what can be played, by name; None is the presets.
        service: the service menu; None has none.

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
        statistics: Statistics | None = None,
        today: Callable[[], date] = date.today,
        rules: Mapping[str, Rules] | None = None,
        service: Service | None = None,
    ) -> None:
        self.service = service
        self._rules = PRESETS if rules is None else rules
        self.statistics = statistics or Statistics()
        self._today = today
        self._dealer = dealer
        self._adviser = adviser
        self._options = options
        self._record_result = record or (lambda _result: None)
        self._now = now
        self._last_input = now
        self._question = 0
        self._question_is = _Question.NONE
        self._pending: NewDeal | Replay | None = None
        self._back: Advice | None = None
        self._left_at: float | None = None
        self._left_language, self._left_look = options.language, options.look
        self._last_draw = -NO_REDEAL_YET
        self._coach = Coach()
        self._checked_line: tuple[Move, ...] = ()
        #: The figures of the preset and grade before the win that the panel WON shows.
        self.before: Figures | None = None
        self.checked: Checked | None = None
        self._dark = False
        self._reel = Showreel(
            dealer, self.statistics, today, preset=options.preset, languages=options.turns
        )
        self._panel_under_countdown = self._panel_under_service = Panel.NONE
        self.selected: int | None = None
        self.hinted: tuple[Target, ...] = ()
        self.hinted_move: Move | None = None
        self.panel = Panel.NONE
        self.language = options.language
        self.auto_play = options.auto_play
        self.look = options.look
        #: The rules and the grade of the next deal.
        self.wanted_preset = options.preset
        self.wanted_grade = options.grade
        #: In the panel NUMBER: the rules that the deal is to be played by.
        self.number_preset = options.preset
        if saved is None:
            self._table = self._fresh()
            if options.start_in_attract:
                self._start_demo()
        else:
            self._table = self._restore(saved)
            self._coach = Coach(needed=False)
            self.auto_play = saved.auto_play
            if not options.language_first:
                self.language = saved.language
            if not options.preset_first:
                self.wanted_preset = saved.preset
                self.wanted_grade = _grade(saved.wanted_grade)
            self._end_of_game()
            if options.start_in_attract and self._table.game.index == 0:
                self._start_demo()

    # -- what the widgets read ------------------------------------------------------------------

    @property
    def position(self) -> Position:
        """What lies on the table now, be it the player's game or the demo's."""
        return self._shown.game.position

    @property
    def attract(self) -> bool:
        """Whether the attract mode is on."""
        return self._reel.scene is not None

    @property
    def scene(self) -> Scene | None:
        """What the attract mode shows now; None when somebody plays."""
        return self._reel.scene

    @property
    def dark(self) -> bool:
        """Whether nothing on the screen can be seen."""
        return self._dark

    @property
    def speaks(self) -> str:
        """The language on the screen: the visitor's, that of the attract mode's scene, or in the
        service menu, which no visitor opens, that of the house."""
        scene = self._reel.scene
        if scene is not None:
            return scene.language
        return self._options.language if self.panel is Panel.SERVICE else self.language

    @property
    def preset(self) -> str:
        """The name of the rules of the game on the table."""
        return self._shown.preset

    @property
    def grade(self) -> str | None:
        """How hard the deal on the table is, if that is known."""
        return self._shown.grade

    @property
    def daily(self) -> bool:
        """Whether the deal on the table is the deal of a day."""
        return self._shown.daily

    @property
    def number(self) -> int | None:
        """The deal number of the game on the table."""
        return self._shown.game.deal.number

    @property
    def has_removed(self) -> bool:
        """Whether anything has been removed in the game on the table."""
        return self._shown.has_removed

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
    def thinking(self) -> bool:
        """Whether the solver works on something that the player waits for."""
        return self._question_is in {_Question.HINT, _Question.NUMBER}

    @property
    def pending(self) -> NewDeal | Replay | None:
        """In the panel GIVE_UP: what the running game would be given up for."""
        return self._pending

    @property
    def today(self) -> date:
        """The date whose deal a daily deal is."""
        return self._today()

    @property
    def presets(self) -> tuple[str, ...]:
        """The names of the rules that can be played, as they are offered."""
        return tuple(self._rules)

    def grades(self, preset: str) -> tuple[Grade, ...]:
        """The grades that there are deals of, from the easiest."""
        return self._dealer.grades(preset)

    @property
    def coached(self) -> tuple[Target, ...]:
        """What glows for a new visitor: a free King, or the pair or the stock that a line goes on
        with that wins; where none is known, any pair."""
        if self.attract or self._locked or not self._coaching:
            return ()
        removals = list(self.position.removals())
        kings = [move for move in removals if move.kind is MoveKind.KING]
        moves = kings or self._table.line or removals
        return self._targets(moves[0]) if moves else (Pile.STOCK,)

    @property
    def _coaching(self) -> bool:
        """Whether the visitor is new and still shown what can be removed."""
        return self._options.coaching and self._coach.shows

    @property
    def lost(self) -> bool:
        """Whether the game on the table is said, unasked, to be one that cannot be won any more."""
        return self._options.tell is Tell.ALWAYS and self.has_game and self._shown.lost

    @property
    def moves_back(self) -> int | None:
        """How many moves BackToWinnable takes back; None if there is no way back, or none known."""
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
        scene = self._reel.scene
        return None if scene is None or scene.player is None else scene.player.next_move

    @property
    def demo_line(self) -> tuple[Move, ...]:
        """In attract mode: all moves of the demo."""
        scene = self._reel.scene
        return () if scene is None or scene.player is None else scene.table.pool_line

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
            grade=table.grade,
            daily=table.daily,
            wanted_grade=None if self.wanted_grade is None else self.wanted_grade.name.lower(),
        )

    # -- the one road ---------------------------------------------------------------------------

    def handle(self, command: Command, now: float) -> Change:
        """Carry out a command at monotonic time ``now`` (seconds) and say what changed."""
        self._pass_time(now)
        if command.by_person:
            was_idle_since = self._last_input
            self._last_input = self._now
            if isinstance(command, OpenService):
                return self._open_service()
            if self.attract:
                return self._wake()
            if self.panel is Panel.COUNTDOWN:
                return self._show(self._panel_under_countdown)
            if self.panel is Panel.SERVICE:
                return self._serve(command, was_idle_since)
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
            case ServiceDone(report):
                return self._served(report)
            case Configure(options):
                return self._configure(options)
            case ServiceCommand():
                return self._refuse(Refusal.BLOCKED)
            case Touched():
                return self._change(ChangeKind.NOTHING)
            case Somebody(there):
                self._reel.notice(there, self._now)
                return self._change(ChangeKind.NOTHING)
            case Darken(dark):
                return self._darken(dark)
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
            case CheckDeal(number):
                return self._check_deal(number)
            case SetLook(name, on):
                self.look = msgspec.structs.replace(self.look, **{name: on})
                return self._change(ChangeKind.OPTION)
            case Open(panel, preset):
                return self._open(panel, preset)
            case Close():
                return self._close()
            case SetLanguage(language):
                self.language = language
                if self.panel is Panel.CONTINUE:
                    # Chosen by whoever stands there now: going on does not take it back.
                    self._left_language = language
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
        playing = not self.attract and self.panel is Panel.NONE
        if playing and table.game.index > 0 and table.game.outcome is Outcome.RUNNING:
            table.seconds += min(gone, LONGEST_THOUGHT)

    def _gone_by(self, idle_since: float) -> bool:
        """Whether the whole idle time and the countdown passed without a tick."""
        after = self._options.attract_after
        return after > 0 and self._now - idle_since > after + self._options.countdown

    def _tick(self) -> Change:
        if self.attract:
            if self._table.game.index > 0 and not (self.has_game and self._is_kept):
                # A game that is over is offered to nobody.
                self._record(ABANDONED if self.has_game else LOST)
                self._fresh_visitor()
                return self._change(ChangeKind.ABANDONED)
            return self._play_demo()
        after = self._options.attract_after
        idle = self._now - self._last_input
        if self.panel is Panel.SERVICE:
            return self._wait_for_service(idle)
        if after <= 0 or idle < after:
            self._think_of_what_glows()
            if not self._locked and self._question_is is _Question.NONE:
                # What was asked after a move may have been dropped for something else since.
                self._watch()
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
        countdown = self.panel is Panel.COUNTDOWN
        offered = (self._panel_under_countdown if countdown else self.panel) is Panel.CONTINUE
        self._settle()
        self._pending = None
        self.checked = None
        if not offered:
            # Whoever comes next sees everything as the operator wants it; whoever comes back and
            # goes on has their own language and look again.  One who only touched the screen did
            # not go on: the game stays as long as it would have, and is another's.
            self._left_at = self._now
            self._left_language, self._left_look = self.language, self.look
        self.language, self.look = self._options.language, self._options.look
        self._start_demo()
        return self._change(ChangeKind.ATTRACT, old=old)

    @property
    def _is_kept(self) -> bool:
        """Whether the game that was left is still offered to go on with."""
        return self._left_at is not None and self._now - self._left_at <= self._options.keep_for

    def _fresh_visitor(self, table: TableGame | None = None) -> None:
        """Whoever comes now is somebody else: everything is as the operator wants it, with
        ``table`` to play on or a fresh deal."""
        self._forget_choices()
        self.language = self._options.language
        self._table = table or self._fresh()

    def _forget_choices(self) -> None:
        """Everything but the language is as the operator wants it, for the next deal."""
        options = self._options
        self.wanted_preset, self.wanted_grade = options.preset, options.grade
        self.auto_play, self.look = options.auto_play, options.look
        self._coach = Coach()

    def _start_demo(self) -> None:
        self._reel.begin(self._now)
        self._deselect()

    def _play_demo(self) -> Change:
        if self._dark:
            return self._change(ChangeKind.NOTHING)
        if self._reel.over(self._now):
            return self._next_scene()
        command = self._reel.command(self.selected, self._now)
        if command is not None:
            return self._carry_out(command)
        taught = self._reel.teach(self._now)
        return self._change(ChangeKind.SCENE if taught else ChangeKind.NOTHING)

    def _next_scene(self) -> Change:
        old, table = self.position, self._shown
        self._reel.next(self._now)
        self._deselect()
        other = self._shown is not table
        return self._change(ChangeKind.ATTRACT if other else ChangeKind.SCENE, old=old)

    def _darken(self, dark: bool) -> Change:
        """Show nothing that nobody sees; begin something when it is seen again."""
        if dark == self._dark:
            return self._change(ChangeKind.NOTHING)
        self._dark = dark
        if self.attract and not dark:
            return self._next_scene()
        return self._change(ChangeKind.SCENE)

    def _wake(self) -> Change:
        old, scene = self.position, self._reel.scene
        self._reel.end()
        self._deselect()
        if self.has_game and self._is_kept:
            self.panel = Panel.CONTINUE
        else:
            self._record(ABANDONED if self.has_game else LOST)
            if scene is not None and scene.kind is SceneKind.DAILY:
                # Whoever touches the deal of the day wants to play that.
                self._fresh_visitor(scene.table)
            else:
                self._fresh_visitor()
        if scene is not None and not self._dark:
            # Whoever has just read a sentence in one language is not answered in another.
            self.language = scene.language
        return self._change(ChangeKind.WOKE, old=old)

    # -- the service menu -----------------------------------------------------------------------

    def _open_service(self) -> Change:
        """Open the menu over whatever is there; a demo ends as if somebody had come."""
        service = self.service
        if service is None:
            return self._refuse(Refusal.BLOCKED)
        woke = self.attract
        old = self.position
        if woke:
            self._wake()
        elif self.panel is Panel.COUNTDOWN:
            self.panel = self._panel_under_countdown
        if self.panel is not Panel.SERVICE:
            self._panel_under_service = self.panel
            service.open(self._now)
        elif not service.back():
            # The same way leads out again: of a test that takes all buttons for itself.
            return self._close_service()
        if self.thinking:
            self._stop_thinking()
            self.checked = None
        self._deselect()
        self.panel = Panel.SERVICE
        return self._change(ChangeKind.WOKE if woke else ChangeKind.PANEL, old=old)

    def _close_service(self) -> Change:
        assert self.service is not None
        self.service.close()
        return self._show(self._panel_under_service)

    def _serve(self, command: Command, idle_since: float) -> Change:
        """What a person asks while the menu is open: nothing reaches the game."""
        service = self.service
        assert service is not None
        if self._now - idle_since >= service.close_after:
            # The screen slept through ticks: this is somebody else.
            self._close_service()
            return self._change(ChangeKind.WOKE)
        match command:
            case Touched():
                return self._change(ChangeKind.NOTHING)
            case Close():
                return self._show(Panel.SERVICE) if service.back() else self._close_service()
            case ServiceCommand() if service.handle(command, self._now):
                return self._show(Panel.SERVICE)
            case _:
                return self._refuse(Refusal.BLOCKED)

    def _wait_for_service(self, idle: float) -> Change:
        assert self.service is not None
        if idle >= self.service.close_after:
            return self._close_service()
        if self.service.pass_time(self._now):
            return self._show(Panel.SERVICE)
        return self._change(ChangeKind.NOTHING)

    def _served(self, report: Report) -> Change:
        if report.task is Task.RESET and report.done:
            self.statistics.clear()
            self.before = None
        if self.service is not None:
            self.service.done(report)
        return self._change(ChangeKind.PANEL)

    def _configure(self, options: SessionOptions) -> Change:
        """The operator wants something else from now on."""
        before, self._options = self._options, options
        self._reel.preset, self._reel.languages = options.preset, options.turns
        self._follow(before)
        if self.panel is Panel.COUNTDOWN:
            # The next tick asks again, if it is still time to.
            self.panel = self._panel_under_countdown
        if (options.preset, options.grade) == (before.preset, before.grade):
            return self._change(ChangeKind.PANEL)
        self.wanted_preset, self.wanted_grade = options.preset, options.grade
        if self._table.game.index > 0:
            return self._change(ChangeKind.PANEL)
        # Nobody has begun the game on the table: it is replaced at once.
        old = self.position
        self._table = self._fresh()
        if self._question_is is not _Question.NUMBER:
            # That one is not about the table.
            self._stop_thinking()
        self._deselect()
        return self._change(ChangeKind.PANEL if self.attract else ChangeKind.DEALT, old=old)

    def _follow(self, before: SessionOptions) -> None:
        """Look, auto-play and language as the operator wants them now, but for what the visitor
        has chosen, and no other words in the middle of a game."""
        options = self._options
        # Whoever left their game and may come back has chosen something, too.
        self._left_look = _chosen(self._left_look, before.look, options.look)
        if self.attract:
            # Nobody is there whose choice it would take back.
            self.language, self.look = options.language, options.look
            return
        self.look = _chosen(self.look, before.look, options.look)
        if self.auto_play == before.auto_play:
            self.auto_play = options.auto_play
        if self.language == before.language and not self.has_game:
            self.language = options.language

    # -- the table ------------------------------------------------------------------------------

    @property
    def _shown(self) -> TableGame:
        scene = self._reel.scene
        return self._table if scene is None else scene.table

    @property
    def _locked(self) -> bool:
        """Whether the table takes no input: a panel is open, or the game is won."""
        if self.attract:
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
            return self._refuse_covered(place)
        if position.deal.cards[place].is_king:
            return self._remove(place)
        if target is Pile.STOCK and not partners:
            return self._draw()
        if self.auto_play and len(partners) == 1 and target is not Pile.STOCK:
            return self._remove(place, partners[0])
        other = self.selected
        self._clear_hint()
        self.selected = place
        if other is not None:
            # The new card takes over the selection: a newcomer's next tap then works.
            return self._refuse_pair(other, place)
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
            return self._refuse_covered(place)
        if other is None or other == place or not position.is_present(other):
            # An empty pile, or a stock whose cards lie face down: what they are is nobody's
            # business.
            return self._refuse(Refusal.NOTHING_THERE, source)
        if other not in position.available:
            return self._refuse_covered(other)
        return self._refuse_pair(place, other)

    def _refuse_pair(self, place: int, other: int) -> Change:
        """Two face-up cards do not go together: they make another number, or one is covered."""
        position = self.position
        if makes_thirteen(position.deal.cards[place], position.deal.cards[other]):
            # Under ``overlap`` a covered card can be taken, but only with the one that covers it.
            return self._refuse_covered(other if place in position.available else place)
        return self._refuse(Refusal.NOT_THIRTEEN, self._target(place), self._target(other))

    def _refuse_covered(self, place: int) -> Change:
        """A pyramid card is not free: what lies on it is in the way."""
        covering = tuple(p for p in COVERS[place] if self.position.is_present(p))
        return self._refuse(Refusal.COVERED, place, *covering)

    def _draw(self) -> Change:
        if self._locked:
            return self._refuse(Refusal.BLOCKED)
        if self.position.can_draw:
            self._last_draw = self._now
            return self._play(DRAW)
        if self.position.can_redeal:
            if not self.attract and self._now - self._last_draw < NO_REDEAL_YET:
                return self._change(ChangeKind.NOTHING)
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
        first = False
        if not self.attract:
            self._back = None
            first = self._coach.sees(move) and self._options.coaching
            self._end_of_game()
            self._watch()
        return self._change(ChangeKind.PLAYED, old=old, move=move, targets=targets, first=first)

    def _end_of_game(self) -> None:
        """Open the panel for a game that has ended, if it has."""
        table = self._table
        if table.game.outcome is Outcome.WON:
            self.panel = Panel.WON
            if not table.recorded:
                self.before = Figures(**vars(self.statistics.of_grade(table.preset, table.grade)))
            self._record(WON)
        elif table.game.outcome is Outcome.STUCK:
            self.panel = Panel.STUCK
            if self._options.tell is not Tell.OFF and self._back is None:
                self._ask(_Question.WAY_BACK)

    def _watch(self) -> None:
        """Keep an eye on whether the game can still be won, if the operator wants that."""
        table = self._table
        if (
            self._options.tell is Tell.ALWAYS
            and self.has_game
            and table.line is None
            and not table.lost
            and table.game.position != table.watched
        ):
            self._ask(_Question.WATCH)

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
        if self.panel not in {Panel.NONE, Panel.MENU}:
            return self._refuse(Refusal.BLOCKED)
        if not self._table.game.can_redo:
            return self._refuse(Refusal.NOTHING_TO_REDO)
        old = self.position
        move = self._table.game.undone[0]
        self._table.play(move)
        self._settle()
        self._end_of_game()
        return self._change(ChangeKind.REDONE, old=old, move=move)

    def _settle(self) -> None:
        """After the game stands elsewhere: nothing selected, hinted or asked is about it."""
        self._stop_thinking()
        self._deselect()
        self._back = None
        self.panel = Panel.NONE

    # -- hints ----------------------------------------------------------------------------------

    def _hint(self) -> Change:
        if self._locked or self._table.game.outcome is not Outcome.RUNNING:
            return self._hint_when_stuck()
        if self.thinking:
            return self._change(ChangeKind.THINKING)
        table = self._table
        if not self.hinted:
            table.hints += 1
        if table.line and not self._may_remove_instead:
            return self._show_hint()
        self._ask(_Question.HINT)
        return self._change(ChangeKind.THINKING)

    def _think_of_what_glows(self) -> None:
        """Let nothing glow that loses the game, as soon as it is known what does not."""
        position = self.position
        if (
            self._coaching
            and not self._locked
            and self._question_is is _Question.NONE
            and position != self._table.thought_of
            and (self._table.line is None or self._may_remove_instead)
            and any(position.removals())
        ):
            self._table.thought_of = position
            self._ask(_Question.COACH)

    @property
    def _may_remove_instead(self) -> bool:
        """Whether the line that is known draws although something can be removed, and whether that
        would win as well has not been found out."""
        first = (self._table.line or (None,))[0]
        if first is None or first.cards or self.position == self._table.waits_in:
            return False
        return any(self.position.removals())

    @property
    def hint_waits(self) -> bool:
        """Whether the hint draws because every removal that is possible is proven to lose."""
        return self.hinted_move is not None and self.position == self._table.waits_in

    def _hint_when_stuck(self) -> Change:
        """A hint on a table that is looked at after the end: the end's panel says what to do."""
        if self.panel is not Panel.NONE or self.attract:
            return self._refuse(Refusal.BLOCKED)
        self._end_of_game()
        return self._change(ChangeKind.PANEL)

    def _ask(self, question: _Question) -> None:
        self._question += 1
        self._question_is = question
        table = self._table
        self._adviser.ask(self._question, table.game.positions, table.winnable_at)

    def _advised(  # noqa: PLR0911 - each kind of question has its own answer
        self, number: int, advice: Advice | None
    ) -> Change:
        question = self._question_is
        if number != self._question or question is _Question.NONE:
            return self._change(ChangeKind.NOTHING)
        self._question_is = _Question.NONE
        if question is _Question.NUMBER:
            return self._deal_checked(advice)
        if question is _Question.WATCH:
            self._table.watched = self.position
        if advice is None or advice.winnable is None:
            if question is _Question.HINT:
                return self._show_hint() if self._table.line else self._refuse(Refusal.NO_ADVICE)
            return self._change(ChangeKind.NOTHING)
        if advice.index is not None:
            self._table.learn(advice.index, advice.line)
        if advice.waits:
            self._table.waits_in = self.position
        if advice.winnable:
            if question is _Question.HINT:
                return self._show_hint()
            return self._change(
                ChangeKind.PANEL if question is _Question.COACH else ChangeKind.NOTHING
            )
        return self._too_late(question, advice)

    def _too_late(self, question: _Question, advice: Advice) -> Change:
        """The solver has proven that the game on the table cannot be won any more."""
        self._table.lose(advice.index)
        if question is _Question.COACH and not self.lost:
            return self._change(ChangeKind.NOTHING)
        self._back = advice
        if question in {_Question.WATCH, _Question.COACH}:
            return self._change(ChangeKind.LOST)
        if question is _Question.WAY_BACK:
            return self._change(ChangeKind.PANEL)
        if self.panel is not Panel.NONE:
            return self._change(ChangeKind.NOTHING)
        self._deselect()
        return self._show(Panel.CANNOT_WIN)

    def _check_deal(self, number: int | None) -> Change:
        if self.panel is not Panel.NUMBER:
            return self._refuse(Refusal.BLOCKED)
        self._stop_thinking()
        self._checked_line = ()
        if number is None:
            self.checked = None
            return self._change(ChangeKind.PANEL)
        found = self._dealer.find(self.number_preset, number)
        if found is not None:
            self.checked = Checked(number, True, False)
            return self._change(ChangeKind.PANEL)
        position = Position(Deal.from_number(number), self._rules[self.number_preset])
        self.checked = Checked(number, None, True)
        self._question += 1
        self._question_is = _Question.NUMBER
        self._adviser.ask(self._question, (position,), None)
        return self._change(ChangeKind.PANEL)

    def _deal_checked(self, advice: Advice | None) -> Change:
        if self.checked is None:
            return self._change(ChangeKind.NOTHING)
        winnable = None if advice is None else advice.winnable
        self._checked_line = advice.line if advice is not None and winnable else ()
        self.checked = Checked(self.checked.number, winnable, False)
        return self._change(ChangeKind.PANEL)

    def _show_hint(self) -> Change:
        line = self._table.line
        assert line, "a hint is shown along a line that wins"
        self._deselect()
        self.hinted = self._targets(line[0])
        self.hinted_move = line[0]
        return self._change(
            ChangeKind.HINTED, move=line[0], targets=self.hinted, waits=self.hint_waits
        )

    def _back_to_winnable(self) -> Change:
        back = self._back
        if (
            self.panel not in {Panel.CANNOT_WIN, Panel.STUCK, Panel.NONE}
            or back is None
            or back.index is None
        ):
            return self._refuse(Refusal.BLOCKED)
        old = self.position
        table = self._table
        table.undos += table.game.index - back.index
        table.game.go_to(back.index)
        self._settle()
        return self._change(ChangeKind.WENT_BACK, old=old)

    def _stop_thinking(self) -> None:
        if self._question_is is not _Question.NONE:
            self._question_is = _Question.NONE
            self._adviser.cancel()

    def _clear_hint(self) -> None:
        self.hinted = ()
        self.hinted_move = None

    def _deselect(self) -> None:
        self.selected = None
        self._clear_hint()

    # -- panels and games -----------------------------------------------------------------------

    def _open(self, panel: Panel, preset: str | None) -> Change:
        if panel not in OPENED_BY_PLAYER or self.panel not in {Panel.NONE, *OPENED_BY_PLAYER}:
            return self._refuse(Refusal.BLOCKED)
        if preset is not None and preset not in self._rules:
            raise ValueError(f"there is no preset {preset!r}")
        self.number_preset = preset or self.wanted_preset
        self._stop_thinking()
        self._clear_hint()
        self.checked = None
        return self._show(panel)

    def _close(self) -> Change:
        pending, self._pending = self._pending, None
        if self.panel is Panel.WON:
            return self._refuse(Refusal.BLOCKED)
        if self.panel is Panel.NUMBER:
            self._stop_thinking()
        if self.panel is Panel.CONTINUE:
            self.language, self.look = self._left_language, self._left_look
            self._left_at = None
        change = self._show(Panel.NONE)
        if pending is not None:
            self._end_of_game()
        return change

    def _show(self, panel: Panel) -> Change:
        self.panel = panel
        return self._change(ChangeKind.PANEL)

    def _leave_game(self, command: NewDeal | Replay) -> Change:
        """Deal or replay; a running game is left only when that is confirmed."""
        if isinstance(command, NewDeal):
            if command.preset not in {None, *self._rules}:
                raise ValueError(f"there is no preset {command.preset!r}")
            if command.number is not None:
                Deal.from_number(command.number)  # an impossible number changes nothing
        if self.panel is Panel.GIVE_UP and self._pending is not None and command.confirmed:
            command = self._pending
        elif self.has_game and not (command.confirmed or self.panel is Panel.CONTINUE):
            # Whether to go on with a game that was left has been asked already.
            self._pending = command
            self._stop_thinking()
            self._deselect()
            return self._show(Panel.GIVE_UP)
        old = self.position
        table = self._table
        self._record(ABANDONED if self.has_game else LOST)
        if isinstance(command, Replay):
            self._table = TableGame(
                Game(table.game.deal, table.game.rules),
                table.preset,
                table.pool_line,
                grade=table.grade,
                daily=table.daily,
            )
            self._table.lines = [table.lines[0]]
        else:
            if self.panel is Panel.CONTINUE:
                # Somebody else begins, who has chosen a language at most.
                self._forget_choices()
            if command.preset is not None:
                # A deal by number says nothing about how hard the next ones shall be.
                keep_grade = command.number is not None and command.preset == self.wanted_preset
                self.wanted_grade = self.wanted_grade if keep_grade else command.grade
                self.wanted_preset = command.preset
            self._table = self._wanted(command)
        self._pending = None
        self._left_at = None
        self.checked = None
        self._settle()
        return self._change(ChangeKind.DEALT, old=old)

    def _wanted(self, command: NewDeal) -> TableGame:
        """The game that a NewDeal asks for."""
        preset = self.wanted_preset
        if command.number is not None:
            line = (
                self._checked_line if self.checked == Checked(command.number, True, False) else ()
            )
            found = self._dealer.find(preset, command.number) or DealtGame(
                Deal.from_number(command.number), self._rules[preset], preset, line
            )
            return laid_out(found)
        if command.daily:
            return laid_out(self._dealer.daily(preset, self._today()), daily=True)
        return self._fresh()

    def _fresh(self) -> TableGame:
        """Another game: of the grade that is wanted, or of any, but for a newcomer an easy one."""
        any_grade = Grade.EASY if self._coaching else None
        grade = any_grade if self.wanted_grade is None else self.wanted_grade
        return laid_out(self._dealer.deal(self.wanted_preset, grade))

    def _restore(self, saved: Saved) -> TableGame:
        game = Game.load(saved.game)
        if self._rules.get(saved.preset) != game.rules:
            raise SaveError(f"the save's rules are not those of {saved.preset!r}")
        line = _winning(game, saved.line)
        # Play the moves again on a table of our own, so that the pool's line is followed.
        table = TableGame(
            Game(game.deal, game.rules),
            saved.preset,
            line,
            grade=saved.grade,
            daily=saved.daily,
        )
        for move in (*game.moves, *game.undone):
            table.play(move)
        table.game.go_to(game.index)
        table.seconds, table.hints, table.undos = saved.seconds, saved.hints, saved.undos
        table.recorded = saved.recorded
        return table

    def _record(self, outcome: str) -> None:
        """Count a game that ends, but not one that is left before anything was removed."""
        table = self._table
        looked_at = table.game.index == 0 or (outcome == ABANDONED and not table.has_removed)
        if table.recorded or looked_at:
            return
        table.recorded = True
        result = Result(
            preset=table.preset,
            number=table.game.deal.number,
            outcome=outcome,
            moves=table.game.index,
            seconds=table.seconds,
            hints=table.hints,
            undos=table.undos,
            grade=table.grade,
            daily=table.daily,
        )
        self.statistics.add(result, self._today())
        self._record_result(result)

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
        first: bool = False,
        waits: bool = False,
    ) -> Change:
        new = self.position
        return Change(kind, old or new, new, move, refusal, targets, first, waits)


def _chosen(
    look: DisplaySettings, before: DisplaySettings, now: DisplaySettings
) -> DisplaySettings:
    """The look that the operator wants ``now``, with what a visitor has made of the one before."""
    chosen = {
        name: value
        for name in look.__struct_fields__
        if (value := getattr(look, name)) != getattr(before, name)
    }
    return msgspec.structs.replace(now, **chosen)


def _winning(game: Game, text: str) -> tuple[Move, ...]:
    """The line of that text if it wins the game from its deal; none otherwise."""
    attempt = Game(game.deal, game.rules)
    try:
        for word in text.split():
            attempt.play(Move.parse(word))
    except (MoveTextError, IllegalMoveError):
        return ()
    return attempt.moves if attempt.outcome is Outcome.WON else ()


def _grade(name: str | None) -> Grade | None:
    """The grade of that name; None for none, and for a name that no version of ours wrote."""
    return next((grade for grade in Grade if grade.name.lower() == name), None)
