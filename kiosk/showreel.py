"""What is shown while nobody plays: scenes in turn, half of them demo games.

A demo, a call to touch, a demo, the deal of the day, a demo, what was played here; each demo begins
with the next of the kiosk's languages.  With somebody in front of the screen everything is shorter.

Invariant: a scene ends in a bounded time, however time comes in; a demo that nobody cuts short
ends with the win; no two demos in a row show the same deal, as long as the dealer has another;
nothing grows, however long it runs.  No clock of its
own: times are monotonic seconds, given from outside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Final, Protocol

from engine.deal import Deal
from kiosk.attract import OPENING, AttractPlayer, Length
from kiosk.commands import Command
from kiosk.dealer import DealtGame
from kiosk.lessons import Lesson, Teacher
from kiosk.schedule import clock_was_set
from kiosk.statistics import Statistics
from kiosk.tablegame import TableGame, laid_out

#: Seconds that a demo should last, and that it may last at most.
DEMO: Final = 37.0
DEMO_MOST: Final = 40.0
#: Seconds of every other scene.
STILL: Final = 30.0
#: The same, while somebody is there.
DEMO_SHORT: Final = 25.0
STILL_SHORT: Final = 10.0
#: Seconds that a lesson stays, and until the next one comes: between them the moves speak.
LESSON: Final = 5.0
BETWEEN_LESSONS: Final = 3.5
#: So many deals are looked at for one whose line can be played in the time.
TRIES: Final = 4


class SceneKind(Enum):
    """What a scene shows."""

    DEMO = "demo"  #: a game along a line that wins, with lessons
    CALL = "call"  #: how to begin, in all languages
    DAILY = "daily"  #: the deal of the day
    FIGURES = "figures"  #: how much was played here


#: The scenes, over and over.
ORDER: Final = (
    SceneKind.DEMO,
    SceneKind.CALL,
    SceneKind.DEMO,
    SceneKind.DAILY,
    SceneKind.DEMO,
    SceneKind.FIGURES,
)


class Deals(Protocol):
    """Where the showreel's deals come from."""

    def demo(self, preset: str) -> DealtGame:
        """A deal for a demo."""

    def daily(self, preset: str, day: date) -> DealtGame:
        """The deal of a day."""


@dataclass
class Scene:
    """What is on the screen.

    Attributes:
        kind: what it is.
        language: the code of the language that it speaks.
        began: when, in monotonic seconds.
        ends: when it is over at the latest.
        table: what lies on the table.
        player: who plays the demo; None in other scenes.
        lesson: what is taught at this moment, if anything.
        day: the day of a daily deal.
    """

    kind: SceneKind
    language: str
    began: float
    ends: float
    table: TableGame
    player: AttractPlayer | None = None
    lesson: Lesson | None = None
    day: date | None = None


class Showreel:
    """The scenes, one after the other.

    Args:
        deals: where deals come from.
        statistics: what was played here.
        today: the date.
        preset: the rules of the demos and of the daily deal.
        languages: the codes of the languages that take turns; at least one.

    Attributes:
        scene: what is shown; None before :meth:`begin` and after :meth:`end`.
        somebody: whether somebody is there, as far as a sensor tells.
    """

    def __init__(
        self,
        deals: Deals,
        statistics: Statistics,
        today: Callable[[], date],
        *,
        preset: str,
        languages: tuple[str, ...],
    ) -> None:
        self._deals = deals
        self._statistics = statistics
        self._today = today
        self._teacher = Teacher()
        self._step = -1
        self._turn = -1
        self._lesson_due = 0.0
        self._last: Deal | None = None
        self.preset = preset
        self.languages = languages
        self.scene: Scene | None = None
        self.somebody = False

    def begin(self, now: float) -> Scene:
        """Begin, with a demo."""
        self._step = -1
        return self.next(now)

    def end(self) -> None:
        """Show nothing any more."""
        self.scene = None

    def next(self, now: float) -> Scene:
        """Go on to the next scene that there is something to show in."""
        while True:
            self._step = (self._step + 1) % len(ORDER)
            scene = self._made(ORDER[self._step], now)
            if scene is not None:
                self.scene = scene
                return scene

    def over(self, now: float) -> bool:
        """Whether the scene has been seen long enough."""
        scene = self.scene
        if scene is None:
            return False
        return now >= scene.ends or (scene.player is not None and scene.player.finished(now))

    def command(self, selected: int | None, now: float) -> Command | None:
        """What a demo does now, if anything is due; ``selected`` is the place that is marked."""
        scene = self.scene
        if scene is None or scene.player is None:
            return None
        return scene.player.next_command(scene.table.game, selected, now)

    def teach(self, now: float) -> bool:
        """Give the lesson that is due, or take one back; whether anything changed."""
        scene = self.scene
        if scene is None or scene.player is None or now < self._lesson_due:
            return False
        if scene.lesson is not None:
            scene.lesson = None
            self._lesson_due = now + BETWEEN_LESSONS
            return True
        move = scene.player.next_move
        position = scene.table.game.position
        if move is None or not position.is_legal(move):
            return False
        scene.lesson = self._teacher.choose(position, move)
        if scene.lesson is None:
            return False
        self._lesson_due = now + LESSON
        return True

    def notice(self, somebody: bool, now: float) -> None:
        """Somebody came, or has gone.  A scene that has been shown long enough ends soon."""
        self.somebody = somebody
        scene = self.scene
        if somebody and scene is not None:
            scene.ends = max(now, min(scene.ends, scene.began + self._most(scene.kind)))

    # -- scenes ---------------------------------------------------------------------------------

    def _most(self, kind: SceneKind) -> float:
        """How long a scene may take, in seconds."""
        if kind is SceneKind.DEMO:
            return DEMO_SHORT if self.somebody else DEMO_MOST
        return STILL_SHORT if self.somebody else STILL

    def _made(self, kind: SceneKind, now: float) -> Scene | None:
        """A scene that begins now, or None when it would have nothing to show."""
        match kind:
            case SceneKind.DEMO:
                self._turn = (self._turn + 1) % len(self.languages)
                return self._demo(now)
            case SceneKind.DAILY:
                return self._daily(now)
            case SceneKind.FIGURES if not self._statistics.all.played:
                return None
            case _:
                # The words lie over whatever the demo has left.
                assert self.scene is not None, "the first scene is a demo"
                return self._scene(kind, now, self.scene.table)

    def _scene(self, kind: SceneKind, now: float, table: TableGame) -> Scene:
        self._last = table.game.deal
        language = self.languages[self._turn % len(self.languages)]
        return Scene(kind, language, now, now + self._most(kind), table)

    def _demo(self, now: float) -> Scene:
        seconds = DEMO_SHORT if self.somebody else DEMO
        dealt = self._choose(seconds)
        scene = self._scene(SceneKind.DEMO, now, laid_out(dealt))
        table, rest = scene.table, dealt.line
        while Length.of(rest).seconds(0.0) > scene.ends - now and table.game.position.is_legal(
            rest[0]
        ):
            # The win is worth more than the first moves: it begins after them.
            table.play(rest[0])
            rest = rest[1:]
        scene.player = AttractPlayer(dealt.line, now, Length.of(rest).pace(seconds))
        self._lesson_due = now + OPENING / 3
        return scene

    def _choose(self, seconds: float) -> DealtGame:
        """A deal that was not shown just now and can be played in the time, if one is found."""
        best: tuple[float, DealtGame] | None = None
        for _ in range(TRIES):
            dealt = self._deals.demo(self.preset)
            if dealt.deal == self._last:
                continue
            takes = Length.of(dealt.line).seconds(0.0)
            if best is None or takes < best[0]:
                best = (takes, dealt)
            if takes <= seconds:
                break
        return dealt if best is None else best[1]

    def _daily(self, now: float) -> Scene | None:
        day = self._today()
        if not clock_was_set(day):
            return None
        dealt = self._deals.daily(self.preset, day)
        scene = self._scene(SceneKind.DAILY, now, laid_out(dealt, daily=True))
        scene.day = day
        return scene
