"""What all tests may rely on, however they are started.

Tests that draw into the window are marked ``window``: there is one window to a process, so they run
one after the other in a process of their own, while the others are spread over all cores.

Invariant: Ctrl+C means what it says, and so does a lost connection.  A shell that starts the checks
in the background, or nohup, has them and all that they start ignore it.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import settings

# How long an example takes says something about the machine, not about the program.
settings.register_profile(
    "untimed", settings.get_profile(settings.get_current_profile_name()), deadline=None
)
settings.load_profile("untimed")


@contextmanager
def restored(*numbers: signal.Signals) -> Iterator[None]:
    """Whatever is done with these signals ends with the block."""
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


@pytest.fixture(scope="session", autouse=True)
def heeded_signals() -> Iterator[None]:
    # Programs started from here get the default back, since they cannot inherit a handler.  The
    # checks themselves end at Ctrl+C, and go on without a connection.
    handlers = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: lambda *_: None}
    with restored(*handlers):
        for number, handler in handlers.items():
            if signal.getsignal(number) is signal.SIG_IGN:
                signal.signal(number, handler)
        yield


@pytest.fixture(autouse=True)
def kept_signals() -> Iterator[None]:
    """What a program that is called within a test does with signals ends with the test."""
    with restored(signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # First, because what is deselected is decided by the marks.
    for item in items:
        if "kivy_window" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.window)
