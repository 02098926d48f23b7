"""Nobody gets out: no key, no socket, no way that Kivy itself would open."""

from __future__ import annotations

import os
import queue
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kiosk.commands import Command
from kiosk.session import Session
from kiosk.sessiontypes import SessionOptions
from tests.kiosk.conftest import Stage
from tests.kiosk.fakes import FakeAdviser, FakeDealer
from tests.kiosk.program import ROOT, started

pytest.importorskip("kivy")

#: What lists the sockets of a machine that can be reached from outside of it.
TABLES = ("tcp", "tcp6", "udp", "udp6", "raw", "raw6", "packet")
MODIFIERS: list[list[str]] = [[], ["ctrl"], ["alt"], ["meta"], ["ctrl", "alt"], ["shift", "ctrl"]]


def reached(pid: int) -> dict[str, str]:
    """The sockets of a process that the network leads to: number and table of each."""
    folder = Path("/proc") / str(pid)
    links = [str(link.readlink()) for link in (folder / "fd").iterdir() if link.is_symlink()]
    numbers = {link[8:-1] for link in links if link.startswith("socket:[")}
    found = {}
    for name in TABLES:
        if (table := folder / "net" / name).exists():
            fields = set(table.read_text().split())
            found |= dict.fromkeys(numbers & fields, name)
    return found


def test_a_socket_that_listens_would_be_found() -> None:
    before = reached(os.getpid())
    with socket.create_server(("127.0.0.1", 0)):
        after = reached(os.getpid())
    assert [name for number, name in after.items() if number not in before] == ["tcp"]


def test_a_running_kiosk_listens_nowhere(tmp_path: Path) -> None:
    with started("--size", "800x480", "--state", tmp_path) as process:
        assert process.stderr is not None
        assert any("drawn by" in line for line in process.stderr)
        found = reached(process.pid)
        process.send_signal(signal.SIGTERM)
        process.stderr.read()
        assert process.wait(30) == 0
    assert found == {}


def test_no_key_reaches_what_kivy_would_do_with_it(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kivy opens settings at F1 and ends at escape, if it hears of them."""
    from kivy.app import App

    from kiosk.app import KioskApp

    asked: list[str] = []
    for name in ("open_settings", "stop"):
        monkeypatch.setattr(App, name, lambda *_args, name=name: asked.append(name))
    session = Session(FakeDealer(), FakeAdviser(), SessionOptions(attract_after=0), now=stage.now)
    inbox: queue.SimpleQueue[Command] = queue.SimpleQueue()
    app = KioskApp(session, inbox, keep=lambda _saved: None, clock=lambda: stage.now)
    window: Any = stage.window
    window.add_widget(app.build())
    before = list(window.children)
    try:
        for key in (*range(0, 330), *range(1001, 1010), *range(1073741881, 1073741910)):
            for modifiers in MODIFIERS:
                let_through = not window.dispatch("on_key_down", key, 0, None, modifiers)
                assert not let_through, (key, modifiers)
                window.dispatch("on_key_up", key, 0)
        stage.wait(0.3)
        assert list(window.children) == before
        assert window.dispatch("on_request_close"), "and the window cannot be closed"
        assert asked == []
    finally:
        app.on_stop()
        window.remove_widget(app.root_widget)


def test_nothing_of_kivy_that_helps_to_look_inside_is_loaded(tmp_path: Path) -> None:
    code = (
        "import sys; from kiosk.display import Driver, prepare;"
        "prepare(Driver.OFFSCREEN, (320, 240));"
        "from kivy.config import Config; from kivy.core.window import Window;"
        "from kivy.modules import Modules; Modules.register_window(Window);"
        "print(dict(Config.items('modules')), Config.get('kivy', 'exit_on_escape'),"
        " 'kivy.modules.inspector' in sys.modules, 'kivy.modules.console' in sys.modules)"
    )
    plain = {k: v for k, v in os.environ.items() if k != "DISPLAY"}
    # What somebody has left in a home folder does not count either.
    (tmp_path / ".kivy").mkdir()
    (tmp_path / ".kivy" / "config.ini").write_text("[modules]\ninspector =\n")
    plain["HOME"] = str(tmp_path)
    plain["KIVY_HOME"] = str(tmp_path / ".kivy")
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=plain,
        cwd=ROOT,
        check=True,
    )
    assert done.stdout.strip() == "{} 0 False False"
