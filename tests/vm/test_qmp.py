"""Lines of JSON over a socket: QEMU's ear and the agent, with somebody else at the other end."""

from __future__ import annotations

import base64
import json
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from vm.qmp import Agent, Channel, Qmp, VmError

Answer = Callable[[dict[str, Any]], list[dict[str, Any]]]


class Peer:
    """Answers one client in a thread; `heard` is all that it said."""

    def __init__(self, path: Path, answer: Answer, greeting: bytes = b"") -> None:
        self.path = path
        self.heard: list[dict[str, Any]] = []
        self._answer = answer
        self._greeting = greeting
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(path))
        self._listening.listen(1)
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        try:
            client, _ = self._listening.accept()
        except OSError:
            return
        with client, client.makefile("rw") as file:
            client.sendall(self._greeting)
            for line in file:
                message = json.loads(line)
                self.heard.append(message)
                for reply in self._answer(message):
                    file.write(json.dumps(reply) + "\n")
                file.flush()

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join(10)


@pytest.fixture
def peers(tmp_path: Path) -> Iterator[Callable[..., Peer]]:
    made: list[Peer] = []

    def make(answer: Answer, greeting: bytes = b"") -> Peer:
        made.append(Peer(tmp_path / f"s{len(made)}", answer, greeting))
        return made[-1]

    yield make
    for peer in made:
        peer.close()


GREETING = b'{"QMP": {"version": {}}}\n'


@pytest.fixture
def qmp_with(peers: Callable[..., Peer]) -> Iterator[Callable[[Answer], tuple[Qmp, Peer]]]:
    opened: list[Qmp] = []

    def make(answer: Answer) -> tuple[Qmp, Peer]:
        def all_answers(message: dict[str, Any]) -> list[dict[str, Any]]:
            if message["execute"] == "qmp_capabilities":
                return [{"return": {}}]
            return answer(message)

        peer = peers(all_answers, GREETING)
        opened.append(Qmp(peer.path))
        return opened[-1], peer

    yield make
    for qmp in opened:
        qmp.close()


def test_an_answer_is_told_from_the_events_around_it(
    qmp_with: Callable[[Answer], tuple[Qmp, Peer]],
) -> None:
    qmp, peer = qmp_with(
        lambda _: [{"event": "RESUME"}, {"return": {"running": True}}, {"event": "STOP"}]
    )
    assert qmp.ask("query-status", some_name=1) == {"running": True}
    assert peer.heard[1] == {"execute": "query-status", "arguments": {"some-name": 1}}
    qmp.wait_for("RESUME", 5)
    qmp.wait_for("STOP", 5)
    with pytest.raises(VmError, match="STOP did not come"):
        qmp.wait_for("STOP", 0.05)


def test_an_event_of_another_device_is_none(
    qmp_with: Callable[[Answer], tuple[Qmp, Peer]],
) -> None:
    gone = {"event": "DEVICE_DELETED", "data": {"device": "screen", "path": "/x"}}
    qmp, _ = qmp_with(lambda _: [{"return": {}}, gone])
    qmp.ask("device_del", id="screen")
    with pytest.raises(VmError, match="DEVICE_DELETED did not come"):
        qmp.wait_for("DEVICE_DELETED", 0.2, device="disk")
    qmp.wait_for("DEVICE_DELETED", 5, device="screen")


def test_a_refusal_names_what_was_asked(qmp_with: Callable[[Answer], tuple[Qmp, Peer]]) -> None:
    qmp, _ = qmp_with(lambda _: [{"error": {"class": "GenericError", "desc": "no such device"}}])
    with pytest.raises(VmError, match="device_del: no such device"):
        qmp.ask("device_del", id="x")


def test_silence_ends_in_an_error(qmp_with: Callable[[Answer], tuple[Qmp, Peer]]) -> None:
    qmp, _ = qmp_with(lambda _: [])
    with pytest.raises(VmError, match="did not answer screendump within 0 s"):
        qmp.ask("screendump", timeout=0.05)


def test_nobody_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(VmError, match="cannot be connected to"):
        Channel(tmp_path / "nothing", 0)


class Inside:
    """An agent that runs one command, which takes a few questions to end."""

    def __init__(self, **ended: Any) -> None:
        self._ended = ended
        self._asked = 0

    def __call__(self, message: dict[str, Any]) -> list[dict[str, Any]]:
        match message["execute"]:
            case "guest-sync":
                return [{"return": 77}, {"return": message["arguments"]["id"]}]
            case "guest-exec":
                return [{"return": {"pid": 5}}]
            case "guest-exec-status":
                self._asked += 1
                if self._asked < 3:
                    return [{"return": {"exited": False}}]
                return [{"return": {"exited": True, **self._ended}}]
        raise AssertionError(message)


def coded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def test_a_command_in_the_machine_is_waited_for(peers: Callable[..., Peer]) -> None:
    # What is left of an older connection is no answer.
    peer = peers(Inside(exitcode=0, **{"out-data": coded("größe\n")}), b'"}\n')
    agent = Agent(peer.path, 5)
    assert agent.shell("echo größe") == "größe"
    started = next(m for m in peer.heard if m["execute"] == "guest-exec")
    assert started["arguments"] == {
        "path": "/bin/sh",
        "arg": ["-ec", "echo größe"],
        "capture-output": True,
    }
    agent.close()


def test_a_command_that_fails_is_an_error_with_its_words(peers: Callable[..., Peer]) -> None:
    peer = peers(Inside(exitcode=4, **{"err-data": coded("no such unit\n")}))
    agent = Agent(peer.path, 5)
    with pytest.raises(VmError, match="ended with 4: no such unit"):
        agent.shell("false")
    agent.close()


def test_a_command_that_was_killed_says_by_what(peers: Callable[..., Peer]) -> None:
    agent = Agent(peers(Inside(signal=9)).path, 5)
    assert agent.run("/bin/true").code == -9
    agent.close()
