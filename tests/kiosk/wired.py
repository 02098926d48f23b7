"""The kiosk as it is really put together, which does what it is told: see test_wiring.py.

``python -m tests.kiosk.wired OPTIONS`` takes the options of the kiosk.  Each line of its standard
input is a word or two; the main loop does what it says, and answers with a line of JSON.
"""

from __future__ import annotations

import gc
import json
import logging
import sys
import threading
from typing import Any

from kiosk.__main__ import Stopper, make_app, parse
from kiosk.commands import Panel
from kiosk.service_commands import Adjust, EnterPin, OpenService, Page, Turn, TypePin


def main(arguments: list[str]) -> None:
    """Run until SIGTERM comes."""
    logging.basicConfig(level=logging.WARNING)
    stopper = Stopper()
    stopper.listen()
    app, close = make_app(parse(["--offscreen", "--size", "320x240", *arguments]))
    service = app.session.service
    assert service is not None

    def try_pin(digits: str) -> dict[str, Any]:
        if app.session.panel is not Panel.SERVICE:
            app.send(OpenService())
        for digit in digits:
            app.send(TypePin(digit))
        app.send(EnterPin())
        return {"in": service.may_change, "waits": service.waits}

    def next_grade(_word: str) -> dict[str, Any]:
        app.send(Turn(Page.SETTINGS))
        app.send(Adjust("game.grade", up=True))
        return {"grade": service.desk.value("game.grade")}

    def lose_touches(_word: str) -> dict[str, Any]:
        from kivy.base import EventLoop  # reads what was set up
        from kivy.input.provider import MotionEventProvider

        dead = threading.Thread(target=lambda: None, name="reader of touches")
        dead.start()
        dead.join()

        class Lost(MotionEventProvider):  # type: ignore[misc]
            thread = dead

            def update(self, dispatch_fn: Any) -> None:
                """Nobody is there to tell of a touch."""

        EventLoop.input_providers.append(Lost("lost", ""))
        return {}

    deeds = {
        "collects": lambda _word: {"garbage": gc.isenabled(), "frames": app.frames},
        "pin": try_pin,
        "grade": next_grade,
        "lose": lose_touches,
    }

    def answer(word: str, more: str) -> None:
        try:
            said = deeds[word](more)
        except Exception as error:
            said = {"failed": repr(error)}
        print(json.dumps(said), flush=True)

    def listen() -> None:
        for line in sys.stdin:
            word, _, more = line.strip().partition(" ")
            app.soon(lambda word=word, more=more: answer(word, more))

    threading.Thread(target=listen, daemon=True).start()
    try:
        stopper.run(app)
    finally:
        close()


if __name__ == "__main__":
    main(sys.argv[1:])
