"""One virtual machine: switched on, watched, touched, and cut off.

Invariant: no emulator outlives the :class:`Machine` that started it.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from vm.host import Emulator, run
from vm.image import Disk
from vm.picture import Picture
from vm.qmp import Agent, Qmp, VmError

WIDTH: Final = 800
HEIGHT: Final = 480
#: Virtual touchscreens count from 0 to this, in both directions.
TOUCH_RANGE: Final = 0x7FFF
MEMORY_MB: Final = 1536
#: Seconds that anything may take until it is seen, on a busy machine.
PATIENCE: Final = 400.0
#: Seconds until the kiosk must be ready after power is on.
START: Final = 900.0

UNIT: Final = "pyramid-kiosk.service"
#: What the console says when the kiosk has reported ready: see `vm/guest/vm-ready.service`.
READY: Final = re.compile(r"vm: the kiosk is ready")
#: What a Debian does by itself soon after its start, and nobody looks at here.
_IDLE_WORK: Final = (
    "apt-daily.timer",
    "apt-daily-upgrade.timer",
    "dpkg-db-backup.timer",
    "e2scrub_reap.service",
    "fstrim.timer",
)

_TOUCHSCREEN: Final[dict[str, Any]] = {"driver": "virtio-multitouch-pci", "id": "touchscreen"}


class Machine:
    """A machine with a disk that keeps what is written to it over power cuts.

    Args:
        emulator: QEMU.
        disk: what it boots; not written to.
        folder: for what it writes: its copy of the disk, and its serial lines.
        log: what is called writes here.

    Attributes:
        console: the file with all that came over the serial line since power was last on.
        witness: the same for the line of the program that watches the database.
        boots: how often it was switched on.
    """

    def __init__(self, emulator: Emulator, disk: Disk, folder: Path, log: Path) -> None:
        self._emulator = emulator
        self._disk = disk
        self._folder = folder
        self._log = log
        self._sockets = tempfile.TemporaryDirectory(prefix="vm-")
        self._process: subprocess.Popen[bytes] | None = None
        self._qmp: Qmp | None = None
        self._agent: Agent | None = None
        self._copy = folder / "disk.img"
        self._finger = 0
        self.console = folder / "console.log"
        self.witness = folder / "witness.log"
        self.boots = 0
        # A plain copy: a layer over the disk would have a structure of its own to lose at a cut.
        run(["cp", "--sparse=always", disk.image, self._copy], log)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.cut()
        self._sockets.cleanup()
        self._copy.unlink(missing_ok=True)

    # -- power ----------------------------------------------------------------------------------

    def _command(self) -> list[str]:
        def socket(name: str) -> str:
            return f"socket,id={name},path={self._sockets.name}/{name},server=on,wait=off"

        masked = " ".join(f"systemd.mask={unit}" for unit in _IDLE_WORK)
        boot = f"root=/dev/vda rw console=ttyS0 quiet mitigations=off panic=10 {masked}"
        return [
            # It must not outlive us, however we end.
            *("setpriv", "--pdeathsig", "KILL"),
            *self._emulator.command,
            *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
            *("-machine", "pc", "-accel", "tcg,thread=multi", "-cpu", "Nehalem"),
            *("-smp", "2", "-m", str(MEMORY_MB)),
            *("-kernel", str(self._disk.kernel), "-initrd", str(self._disk.initrd)),
            *("-append", boot),
            *("-drive", f"file={self._copy},format=raw,if=none,id=disk,cache=writeback"),
            *("-device", "virtio-blk-pci,drive=disk"),
            *("-device", f"virtio-gpu-pci,xres={WIDTH},yres={HEIGHT}"),
            *("-device", ",".join(f"{key}={value}" for key, value in _TOUCHSCREEN.items())),
            *("-device", "virtio-rng-pci", "-device", "virtio-serial-pci"),
            *("-chardev", socket("qmp"), "-mon", "chardev=qmp,mode=control"),
            *("-chardev", socket("agent")),
            *("-device", "virtserialport,chardev=agent,name=org.qemu.guest_agent.0"),
            *("-chardev", f"file,id=witness,path={self.witness}"),
            *("-device", "virtserialport,chardev=witness,name=vm.witness"),
            *("-chardev", f"file,id=console,path={self.console}", "-serial", "chardev:console"),
        ]

    def power_on(self) -> None:
        """Switch it on; what it says from now on is in new files."""
        self.cut()
        for file in (self.console, self.witness):
            if file.exists():
                file.rename(file.with_name(f"{file.stem}-{self.boots}{file.suffix}"))
            file.touch()
        self.boots += 1
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **self._emulator.environment},
            )
        self._qmp = Qmp(Path(self._sockets.name) / "qmp")

    def cut(self) -> None:
        """Take its power away: the emulator is killed, and gets no chance to write anything."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        for channel in (self._qmp, self._agent):
            if channel is not None:
                channel.close()
        self._qmp = self._agent = None

    @property
    def is_on(self) -> bool:
        """Whether the emulator runs."""
        return self._process is not None and self._process.poll() is None

    @property
    def qmp(self) -> Qmp:
        """QEMU's ear.

        Raises:
            VmError: the machine is off.
        """
        if self._qmp is None or not self.is_on:
            raise VmError(f"the machine is off; the end of {self._log} may say why")
        return self._qmp

    @property
    def agent(self) -> Agent:
        """The agent inside; the first time, it is waited for.

        Raises:
            VmError: it does not answer.
        """
        if self._agent is None:
            self._agent = Agent(Path(self._sockets.name) / "agent", PATIENCE)
        return self._agent

    # -- listening ------------------------------------------------------------------------------

    def console_size(self) -> int:
        """How many bytes have come over the serial line: a place in time to wait from."""
        return self.console.stat().st_size

    def wait_for_console(
        self, pattern: re.Pattern[str], *, since: int = 0, timeout: float = PATIENCE
    ) -> re.Match[str]:
        """Wait until the serial line has said something.

        Args:
            pattern: what is looked for.
            since: only behind so many bytes.
            timeout: seconds.

        Raises:
            VmError: it did not come, or the machine has stopped; the message ends with what came.
        """
        end = time.monotonic() + timeout
        while True:
            on = self.is_on
            text = self.console.read_bytes()[since:].decode("utf-8", "replace")
            if (found := pattern.search(text)) is not None:
                return found
            if not on or time.monotonic() > end:
                why = f"within {timeout:.0f} s" if on else "before the machine stopped"
                last = " / ".join(line.strip() for line in text.splitlines()[-3:])
                raise VmError(f"the console did not say {pattern.pattern!r} {why}; last: {last}")
            time.sleep(0.2)

    def wait_until_ready(self, since: int = 0, timeout: float = START) -> None:
        """Wait until the kiosk has reported ready.

        Raises:
            VmError: it has not.
        """
        self.wait_for_console(READY, since=since, timeout=timeout)

    def picture(self) -> Picture:
        """What is on the screen now.

        Raises:
            VmError: it cannot be had.
        """
        path = Path(self._sockets.name) / "screen.ppm"
        self.qmp.ask("screendump", filename=str(path))
        return Picture.from_ppm(path.read_bytes())

    def unit(self, *names: str) -> dict[str, str]:
        """Properties of the kiosk's unit, as systemd tells them.

        Raises:
            VmError: it does not.
        """
        text = self.agent.shell(f"systemctl show {UNIT} -p {','.join(names)}")
        return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)

    # -- touching -------------------------------------------------------------------------------

    def touch(self, x: float, y: float, hold: float = 0.2) -> None:
        """Put a finger on the screen and take it away.

        Args:
            x, y: where, in px; the origin is the lower left corner, as in the layout.
            hold: seconds between the two.

        Raises:
            VmError: QEMU refuses.
        """
        self._finger += 1
        place = {"x": x / WIDTH, "y": 1 - y / HEIGHT}
        down = [_mtt("begin", self._finger)]
        down += [
            _mtt("data", self._finger, axis, round(share * TOUCH_RANGE))
            for axis, share in place.items()
        ]
        self._send([_button(True), *down])
        time.sleep(hold)
        self._send([_button(False), _mtt("end", -1)])

    def _send(self, events: Sequence[dict[str, object]]) -> None:
        self.qmp.ask("input-send-event", events=list(events))

    def unplug_touchscreen(self) -> None:
        """Pull the touchscreen's plug.

        Raises:
            VmError: the machine does not let go of it.
        """
        self.qmp.ask("device_del", id=_TOUCHSCREEN["id"])
        self.qmp.wait_for("DEVICE_DELETED", 60.0, device=_TOUCHSCREEN["id"])

    def plug_touchscreen(self) -> None:
        """Plug it in again.

        Raises:
            VmError: QEMU refuses.
        """
        self.qmp.ask("device_add", **_TOUCHSCREEN)

    def keys(self, *names: str) -> None:
        """Press keys together, by QEMU's names for them, and let them go.

        Raises:
            VmError: QEMU refuses.
        """
        self.qmp.ask("send-key", keys=[{"type": "qcode", "data": name} for name in names])

    # -- pins -----------------------------------------------------------------------------------

    def _line(self, pin: int, file: str) -> str:
        return f"$(echo /sys/devices/platform/gpio-sim.*/gpiochip*/sim_gpio{pin})/{file}"

    def press(self, pin: int, hold: float) -> None:
        """Press a button, which connects its pin to ground, for ``hold`` seconds.

        Raises:
            VmError: there is no such line.
        """
        file = self._line(pin, "pull")
        self.agent.shell(f"echo pull-down >{file}; sleep {hold}; echo pull-up >{file}")

    def level(self, pin: int) -> int:
        """The level of a line, 0 or 1.

        Raises:
            VmError: there is no such line.
        """
        return int(self.agent.shell(f"cat {self._line(pin, 'value')}"))


def _mtt(kind: str, finger: int, axis: str = "x", value: int = 0) -> dict[str, object]:
    data = {"type": kind, "slot": 0, "tracking-id": finger, "axis": axis, "value": value}
    return {"type": "mtt", "data": data}


def _button(down: bool) -> dict[str, object]:
    return {"type": "btn", "data": {"button": "touch", "down": down}}
