"""Speaking with QEMU and with the agent inside the machine: lines of JSON over a socket.

Both take one client at a time, and both answer ``{"return": ...}`` or ``{"error": ...}``.

Invariant: a wait always ends, with the answer or with an error that names what was asked.
"""

from __future__ import annotations

import base64
import json
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class VmError(Exception):
    """Something did not go as it must; the message says what was wanted and what came."""


class Channel:
    """One connection that carries lines of JSON.

    Args:
        path: the socket.
        timeout: seconds that it may take until the socket can be connected to.

    Raises:
        VmError: nobody answers there.
    """

    def __init__(self, path: Path, timeout: float = 20.0) -> None:
        self._path = path
        self._buffer = b""
        end = time.monotonic() + timeout
        while True:
            self._socket = socket.socket(socket.AF_UNIX)
            try:
                self._socket.connect(str(path))
            except OSError as error:
                self._socket.close()
                if time.monotonic() > end:
                    raise VmError(f"{path.name} cannot be connected to: {error}") from error
                time.sleep(0.1)
            else:
                return

    def send(self, message: dict[str, Any]) -> None:
        """Write one line.

        Raises:
            VmError: nobody reads any more.
        """
        try:
            self._socket.sendall(json.dumps(message).encode() + b"\n")
        except OSError as error:
            raise VmError(f"{self._path.name}: {error}") from error

    def order(self, command: str, arguments: Mapping[str, Any]) -> None:
        """Write a command; underscores in names of arguments stand for hyphens.

        Raises:
            VmError: nobody reads any more.
        """
        named = {name.replace("_", "-"): value for name, value in arguments.items()}
        self.send({"execute": command, "arguments": named})

    def receive(self, timeout: float) -> dict[str, Any] | None:
        """The next line; None when there is none within ``timeout`` seconds.

        Lines that are no JSON object are passed over: a connection may begin with the end of one.

        Raises:
            VmError: the connection has ended.
        """
        end = time.monotonic() + timeout
        while True:
            line, newline, rest = self._buffer.partition(b"\n")
            if newline:
                self._buffer = rest
                try:
                    message = json.loads(line.lstrip(b"\xff"))
                except ValueError:
                    continue
                if isinstance(message, dict):
                    return message
                continue
            left = end - time.monotonic()
            if left <= 0:
                return None
            self._socket.settimeout(left)
            try:
                data = self._socket.recv(65536)
            except TimeoutError:
                return None
            except OSError as error:
                raise VmError(f"{self._path.name}: {error}") from error
            if not data:
                raise VmError(f"{self._path.name}: the connection has ended")
            self._buffer += data

    def close(self) -> None:
        """Hang up."""
        self._socket.close()


def _value(answer: dict[str, Any], asked: str) -> Any:
    if "error" in answer:
        raise VmError(f"{asked}: {answer['error'].get('desc', answer['error'])}")
    return answer["return"]


class Qmp:
    """QEMU's own ear.

    Raises:
        VmError: nobody answers, or not in this way.
    """

    def __init__(self, path: Path) -> None:
        self._channel = Channel(path)
        self._events: list[dict[str, Any]] = []
        self._answer("the greeting", 30.0, key="QMP")
        self.ask("qmp_capabilities")

    def _answer(self, asked: str, timeout: float, key: str = "return") -> dict[str, Any]:
        end = time.monotonic() + timeout
        while True:
            message = self._channel.receive(max(0.0, end - time.monotonic()))
            if message is None:
                raise VmError(f"QEMU did not answer {asked} within {timeout:.0f} s")
            if "event" in message:
                self._events.append(message)
            elif key in message or "error" in message:
                return message

    def ask(self, command: str, *, timeout: float = 60.0, **arguments: Any) -> Any:
        """What QEMU answers to a command; underscores in names of arguments stand for hyphens.

        Raises:
            VmError: it refuses, or says nothing.
        """
        self._channel.order(command, arguments)
        return _value(self._answer(command, timeout), command)

    def wait_for(self, event: str, timeout: float, **data: Any) -> None:
        """Wait for an event with that data; one that came since the last wait for it counts.

        Raises:
            VmError: it did not come within ``timeout`` seconds.
        """
        end = time.monotonic() + timeout
        while True:
            for known in self._events:
                there = known.get("data", {})
                if known["event"] == event and all(there.get(k) == v for k, v in data.items()):
                    self._events.remove(known)
                    return
            message = self._channel.receive(max(0.0, end - time.monotonic()))
            if message is None:
                raise VmError(f"{event} did not come within {timeout:.0f} s")
            if "event" in message:
                self._events.append(message)

    def close(self) -> None:
        """Hang up."""
        self._channel.close()


@dataclass(frozen=True)
class Ran:
    """How a command in the machine ended.

    Attributes:
        code: its exit code.
        out, err: what it wrote.
    """

    code: int
    out: str
    err: str


class Agent:
    """qemu-guest-agent, inside the machine, as root.

    Args:
        path: the socket.
        timeout: seconds that it may take to answer for the first time.

    Raises:
        VmError: it does not answer.
    """

    def __init__(self, path: Path, timeout: float) -> None:
        self._channel = Channel(path)
        end = time.monotonic() + timeout
        number = 0
        while True:
            # Whatever was asked before the agent was there is answered when it is.
            number += 1
            self._channel.order("guest-sync", {"id": number})
            message = self._channel.receive(5.0)
            while message is not None and message.get("return") != number:
                message = self._channel.receive(1.0)
            if message is not None:
                return
            if time.monotonic() > end:
                raise VmError(f"the agent in the machine was silent for {timeout:.0f} s")

    def _ask(self, command: str, timeout: float, **arguments: Any) -> Any:
        self._channel.order(command, arguments)
        answer = self._channel.receive(timeout)
        if answer is None:
            raise VmError(f"the agent did not answer {command} within {timeout:.0f} s")
        return _value(answer, command)

    def run(self, *command: str, timeout: float = 120.0) -> Ran:
        """Run a command in the machine and wait for its end.

        Raises:
            VmError: it cannot be run, or goes on for longer than ``timeout`` seconds.
        """
        end = time.monotonic() + timeout
        path, *words = command
        started = self._ask("guest-exec", timeout, path=path, arg=words, capture_output=True)
        pause = 0.2
        while True:
            status = self._ask("guest-exec-status", timeout, pid=started["pid"])
            if status["exited"]:
                out, err = (
                    base64.b64decode(status.get(key, "")).decode("utf-8", "replace")
                    for key in ("out-data", "err-data")
                )
                return Ran(status.get("exitcode", -status.get("signal", 1)), out, err)
            if time.monotonic() > end:
                raise VmError(f"{' '.join(command)} did not end within {timeout:.0f} s")
            time.sleep(pause)
            pause = min(2.0, pause * 1.5)

    def shell(self, script: str, timeout: float = 120.0) -> str:
        """What a shell script writes.

        Raises:
            VmError: it fails.
        """
        ran = self.run("/bin/sh", "-ec", script, timeout=timeout)
        if ran.code:
            raise VmError(f"in the machine, {script!r} ended with {ran.code}: {ran.err.strip()}")
        return ran.out.strip()

    def close(self) -> None:
        """Hang up."""
        self._channel.close()
