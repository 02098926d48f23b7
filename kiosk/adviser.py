"""Answers hints on a thread of its own, so that the solver never holds up a frame.

Invariant: at most one question is worked on; a new question or a cancel stops the old one, and an
answer always carries the number of its question.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from engine.advice import advise
from engine.position import Position
from engine.solver import LOOP
from kiosk.commands import AdviceReady

log = logging.getLogger(__name__)

#: Positions that one search may look at before the hint is given up.
LIMIT: Final = 3_000_000


@dataclass
class _Question:
    number: int
    history: tuple[Position, ...]
    winnable_at: int | None
    stop: threading.Event = field(default_factory=threading.Event)


class ThreadAdviser:
    """An adviser (see :class:`kiosk.session.Adviser`) with one worker thread.

    Args:
        post: takes the answer; called on the worker thread, so it may only put it on a queue.
    """

    def __init__(self, post: Callable[[AdviceReady], None]) -> None:
        self._post = post
        self._wake = threading.Condition()
        self._waiting: _Question | None = None
        self._current: _Question | None = None
        self._closing = False
        log.info("the solver is %s", LOOP)
        self._thread = threading.Thread(target=self._work, name="adviser", daemon=True)
        self._thread.start()

    def ask(self, question: int, history: tuple[Position, ...], winnable_at: int | None) -> None:
        """Start working on a question; an earlier one is dropped."""
        with self._wake:
            self._drop()
            self._waiting = _Question(question, history, winnable_at)
            self._wake.notify()

    def cancel(self) -> None:
        """Drop the question being worked on, if any."""
        with self._wake:
            self._drop()

    def close(self, timeout: float = 2.0) -> None:
        """Stop the thread, waiting for it at most ``timeout`` seconds."""
        with self._wake:
            self._drop()
            self._closing = True
            self._wake.notify()
        self._thread.join(timeout)

    def _drop(self) -> None:
        self._waiting = None
        if self._current is not None:
            self._current.stop.set()

    def _work(self) -> None:
        while True:
            with self._wake:
                while self._waiting is None and not self._closing:
                    self._wake.wait()
                if self._closing:
                    return
                question, self._waiting = self._waiting, None
                self._current = question
            assert question is not None
            try:
                advice = advise(
                    question.history,
                    winnable_at=question.winnable_at,
                    limit=LIMIT,
                    should_stop=question.stop.is_set,
                )
            except Exception:
                # A hint is never worth the kiosk: say that there is none, and keep the thread.
                log.exception("the solver failed on\n%s", question.history[-1:])
                advice = None
            if not question.stop.is_set():
                self._post(AdviceReady(question.number, advice))
            with self._wake:
                self._current = None
