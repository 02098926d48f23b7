"""What this machine must have: a few Debian packages, and a QEMU that knows a touchscreen.

Debian 12's own QEMU has no virtual multi-touch screen.  Where nothing newer is installed, one is
taken from Debian 13: its files are unpacked into the cache and run from there, with their own
libraries, so that nothing else on this machine changes.

Invariant: whatever is installed is named first.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from vm.qmp import VmError

#: What setup.sh and the installer are made of.
INSTALL_LIBRARY: Final = Path(__file__).resolve().parents[1] / "install" / "lib.sh"

#: The first version with a virtual multi-touch screen.
OLDEST: Final = 8
PROGRAM: Final = "qemu-system-x86_64"
#: The programs that are called, and the packages they are in.
PROGRAMS: Final[Mapping[str, str]] = {
    "mmdebstrap": "mmdebstrap",
    "mke2fs": "e2fsprogs",
    "unshare": "util-linux",
    "setpriv": "util-linux",
    "xz": "xz-utils",
}
_TOOLS_SUITE: Final = "trixie"


def say(text: str) -> None:
    """Tell whoever waits what happens."""
    print(f"==> {text}", flush=True)


def run(command: Sequence[str | Path], log: Path, *, env: Mapping[str, str] | None = None) -> None:
    """Run a command; what it writes is added to ``log``.

    Raises:
        VmError: it fails; the message ends with its last lines.
    """
    with log.open("ab") as file:
        begin = file.tell()
        file.write(f"\n$ {' '.join(map(str, command))}\n".encode())
        file.flush()
        done = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, env=env, check=False)
    if done.returncode:
        text = log.read_bytes()[begin:].decode("utf-8", "replace")
        last = "\n".join(text.splitlines()[-15:])
        raise VmError(f"{command[0]} ended with {done.returncode} (all of it is in {log}):\n{last}")


def install_missing(log: Path) -> None:
    """Install the packages whose programs are missing.

    Raises:
        VmError: this is not for root, or they cannot be installed.
    """
    if os.geteuid() != 0:
        raise VmError("this needs root, to make the files of another system: sudo make vm")
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    missing = [package for program, package in PROGRAMS.items() if not shutil.which(program)]
    if not Path("/usr/share/keyrings/debian-archive-keyring.gpg").exists():
        missing.append("debian-archive-keyring")
    if not missing:
        return
    if not shutil.which("apt-get"):
        raise VmError(f"this is no Debian: please see to {', '.join(missing)} yourself")
    say(f"Installing Debian packages: {' '.join(missing)}")
    # As the kiosk's own installer does it, which waits for others that install.
    call = 'set -euo pipefail; . "$1"; shift; install_missing "$@"'
    run(["bash", "-c", call, "install", INSTALL_LIBRARY, *missing], log)


@dataclass(frozen=True)
class Emulator:
    """How QEMU is called.

    Attributes:
        command: the program, and what must come first behind it.
        version: its version, as it says it.
        environment: variables that it needs.
    """

    command: tuple[str, ...]
    version: str
    environment: Mapping[str, str] = field(default_factory=dict)


def version_in(text: str) -> str:
    """The version in what QEMU says about itself, or "".

    >>> version_in("QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)")
    '7.2.22'
    """
    found = re.search(r"version (\d+(?:\.\d+)*)", text)
    return found[1] if found else ""


def is_new_enough(version: str) -> bool:
    """Whether that version has a virtual multi-touch screen."""
    first = version.partition(".")[0]
    return first.isdigit() and int(first) >= OLDEST


def unpacked(root: Path) -> Emulator:
    """The QEMU in another system's tree, called so that it finds everything there.

    Raises:
        VmError: it cannot be called.
    """
    libraries = root / "usr/lib/x86_64-linux-gnu"
    share = root / "usr/share"
    command = [
        str(root / "lib64/ld-linux-x86-64.so.2"),
        "--library-path",
        str(libraries),
        str(root / "usr/bin" / PROGRAM),
    ]
    for folder in (share / "qemu", share / "seabios", root / "usr/lib/ipxe/qemu"):
        command += ["-L", str(folder)]
    return _asked(command, {"QEMU_MODULE_DIR": str(libraries / "qemu")})


def _asked(command: Sequence[str], environment: Mapping[str, str]) -> Emulator:
    try:
        done = subprocess.run(
            [*command, "--version"],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise VmError(f"QEMU cannot be called: {error}") from error
    return Emulator(tuple(command), version_in(done.stdout), dict(environment))


def find_emulator(cache: Path, hooks: Sequence[str], log: Path) -> Emulator:
    """A QEMU that is new enough: this machine's, or else one that is unpacked into ``cache``.

    Args:
        cache: where it is unpacked, and looked for.
        hooks: further options for mmdebstrap.
        log: what is called writes here.

    Raises:
        VmError: there is none, and none can be had.
    """
    if shutil.which(PROGRAM):
        own = _asked([PROGRAM], {})
        if is_new_enough(own.version):
            return own
        why = f"QEMU {own.version} is too old"
    else:
        why = "there is no QEMU"
    root = cache / "tools"
    if not (root / ".complete").exists():
        say(f"{why} here, so that of Debian 13 is unpacked into {root}")
        if root.exists():
            shutil.rmtree(root)
        make = ["mmdebstrap", "--mode=root", "--variant=minbase", "--format=directory"]
        run([*make, "--include=qemu-system-x86", *hooks, _TOOLS_SUITE, str(root)], log)
        (root / ".complete").touch()
    return unpacked(root)
