"""The disk of the virtual machine: Debian, the kiosk by its own installer, and what watches it.

Made in three steps, each kept in the cache until something that it was made from changes: the bare
Debian; the kernel module for simulated pins, which Debian's kernels lack; the disk.

Invariant: the kiosk comes into the image by ``install/install`` alone, and of what that puts there
only the operator's settings are changed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from vm.host import run, say
from vm.qmp import VmError

ROOT: Final = Path(__file__).resolve().parents[1]
GUEST: Final = Path(__file__).resolve().parent / "guest"
SUITE: Final = "bookworm"
#: A system that boots and can be watched; what the kiosk needs is the installer's affair.
PACKAGES: Final = (
    "systemd",
    "systemd-sysv",
    "udev",
    "dbus",
    "kmod",
    "linux-image-amd64",
    "initramfs-tools",
    "python3",
    "qemu-guest-agent",
    "ca-certificates",
)
#: What the module for simulated pins is built with.
BUILD_PACKAGES: Final = ("linux-headers-amd64", "linux-source", "gcc", "libc6-dev", "make")
BUILD_PACKAGES_TOO: Final = ("xz-utils", "kmod")
#: The disk's size; a file with holes, of which about half is filled.
SIZE: Final = "4G"

#: Made before the kernel is installed, or its start-up files would hold every driver there is.
_INITRAMFS: Final = (
    '--essential-hook=mkdir -p "$1/etc/initramfs-tools/conf.d" '
    '"$1/usr/share/initramfs-tools/modules.d" && '
    'echo MODULES=list >"$1/etc/initramfs-tools/conf.d/vm" && '
    'printf "virtio_pci\\nvirtio_blk\\next4\\n" >"$1/usr/share/initramfs-tools/modules.d/vm"'
)


@dataclass(frozen=True)
class Disk:
    """What the machine boots.

    Attributes:
        image: the disk, a raw file that is never written to.
        kernel, initrd: what QEMU starts.
        release: the name of the kiosk's release on it.
        system: the kernel's version.
    """

    image: Path
    kernel: Path
    initrd: Path
    release: str
    system: str


def key_of(*parts: str | bytes) -> str:
    """A name for what something is made from."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()[:16]


def folder_key(folder: Path) -> str:
    """The same for the files in a folder: their names and what is in them."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return key_of(*(part for path in files for part in (path.name, path.read_bytes())))


def kept(path: Path, key: str, make: Callable[[Path], None]) -> bool:
    """Have ``make`` write a file or folder, unless it is there and made from the same.

    Args:
        path: what is wanted.
        key: names what it is made from; kept beside it.
        make: makes it under the name that it is given.

    Returns:
        whether it was made.
    """
    note = path.with_name(path.name + ".key")
    if path.exists() and note.exists() and note.read_text("utf-8") == key:
        return False
    note.unlink(missing_ok=True)
    unfinished = path.with_name(path.name + ".new")
    for old in (path, unfinished):
        if old.is_dir():
            shutil.rmtree(old)
        else:
            old.unlink(missing_ok=True)
    make(unfinished)
    unfinished.rename(path)
    note.write_text(key, "utf-8")
    return True


class Workshop:
    """Makes disks.

    Args:
        cache: where everything is kept.
        hooks: further options for mmdebstrap, for instance to copy in a network's certificates.
        log: what is called writes here.
    """

    def __init__(self, cache: Path, hooks: Sequence[str], log: Path) -> None:
        self._cache = cache
        self._hooks = list(hooks)
        self._log = log

    def disk(self) -> Disk:
        """The disk with the kiosk as it is in the source tree.

        Raises:
            VmError: it cannot be made; the message says what failed.
        """
        base_key = key_of(SUITE, *PACKAGES, _INITRAMFS, *self._hooks)
        base = self._cache / "base.tar"
        if kept(base, base_key, self._make_base):
            # Another kernel may have come with it.
            (self._cache / "gpio-sim.key").unlink(missing_ok=True)
        pins = self._cache / "gpio-sim"
        pins_key = key_of(base_key, folder_key(GUEST / "gpio-sim"), *BUILD_PACKAGES)
        kept(pins, pins_key, self._make_pins)
        release = source_release()
        disk = self._cache / "disk"
        disk_key = key_of(
            base_key, pins_key, release, SIZE, folder_key(GUEST), Path(__file__).read_bytes()
        )
        kept(disk, disk_key, self._make_disk)
        system = (disk / "system").read_text("utf-8")
        return Disk(
            disk / "kiosk.img",
            disk / "vmlinuz",
            disk / "initrd",
            (disk / "release").read_text("utf-8"),
            system,
        )

    def _mmdebstrap(self, *words: str | Path) -> None:
        run(["mmdebstrap", "--mode=root", "--variant=minbase", *self._hooks, *words], self._log)

    def _make_base(self, target: Path) -> None:
        say(f"Making a Debian {SUITE} (minutes, {', '.join(PACKAGES[:3])} and so on)")
        include = f"--include={','.join(PACKAGES)}"
        self._mmdebstrap("--format=tar", include, _INITRAMFS, SUITE, target)

    def _make_pins(self, target: Path) -> None:
        say("Building the kernel module for simulated pins (minutes)")
        packages = ",".join((*BUILD_PACKAGES, *BUILD_PACKAGES_TOO))
        root = self._cache / "build-root"
        if root.exists():
            shutil.rmtree(root)
        recipe = GUEST / "gpio-sim"
        target.mkdir()
        self._mmdebstrap(
            "--format=null",
            f"--include={packages}",
            f'--customize-hook=cp -r "{recipe}" "$1/root/gpio-sim"',
            '--customize-hook=chroot "$1" sh /root/gpio-sim/build',
            f'--customize-hook=cp "$1/root/gpio-sim/out/"* "{target}"',
            SUITE,
            "/dev/null",
        )

    def _make_disk(self, target: Path) -> None:
        target.mkdir()
        tree = target / "tree"
        tree.mkdir()
        run(["tar", "-C", tree, "--numeric-owner", "-xf", self._cache / "base.tar"], self._log)
        system = _kernel_in(tree)
        built_for = (self._cache / "gpio-sim/system").read_text("utf-8").strip()
        if built_for != system:
            (self._cache / "gpio-sim.key").unlink()
            (self._cache / "base.tar.key").unlink()
            raise VmError(
                f"the pins were built for Linux {built_for}, and the image has {system}: an update "
                "came in between; start again, and both are made anew"
            )
        self._install(tree)
        self._add_watchers(tree, system)
        (target / "vmlinuz").write_bytes((tree / f"boot/vmlinuz-{system}").read_bytes())
        (target / "initrd").write_bytes((tree / f"boot/initrd.img-{system}").read_bytes())
        link = (tree / "opt/pyramid-kiosk/current").readlink()
        (target / "release").write_text(link.name, "utf-8")
        (target / "system").write_text(system, "utf-8")
        say("Writing the disk")
        image = target / "kiosk.img"
        run(["mke2fs", "-q", "-t", "ext4", "-L", "kiosk", "-d", tree, image, SIZE], self._log)
        shutil.rmtree(tree)

    def _install(self, tree: Path) -> None:
        say("Installing the kiosk into it, by its installer (minutes)")
        for name in ("resolv.conf", "hosts"):
            shutil.copyfile(f"/etc/{name}", tree / "etc" / name)
        # In a mount namespace of its own: whatever happens, nothing stays mounted.
        script = (
            'mount -t proc proc "$1/proc"; mount -t sysfs sys "$1/sys"; '
            'mount --rbind /dev "$1/dev"; shift; exec "$@"'
        )
        env = {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": "/root",
            "LC_ALL": "C.UTF-8",
            "DESTDIR": str(tree),
            "VARIANT": "bare",
        }
        inside = ["unshare", "--mount", "--fork", "sh", "-ec", script, "sh", str(tree)]
        run([*inside, ROOT / "install/install"], self._log, env=env)
        (tree / "etc/resolv.conf").unlink()
        (tree / "etc/hosts").write_text("127.0.0.1 localhost kiosk\n", "utf-8")
        (tree / "etc/hostname").write_text("kiosk\n", "utf-8")

    def _add_watchers(self, tree: Path, system: str) -> None:
        """Put into it what stands for hardware, and what tells us how it goes."""
        modules = tree / "lib/modules" / system / "extra"
        modules.mkdir()
        shutil.copyfile(self._cache / "gpio-sim/gpio-sim.ko", modules / "gpio-sim.ko")
        run(["chroot", tree, "depmod", system], self._log)
        units = tree / "etc/systemd/system"
        wants = units / "multi-user.target.wants"
        place = tree / "opt/vm"
        place.mkdir()
        for name in ("witness.py", "sound.py", "header"):
            shutil.copyfile(GUEST / name, place / name)
        for name in ("vm-header.service", "vm-witness.service"):
            shutil.copyfile(GUEST / name, units / name)
            (wants / name).symlink_to(f"../{name}")
        shutil.copyfile(GUEST / "vm-ready.service", units / "vm-ready.service")
        drop_in = units / "pyramid-kiosk.service.d"
        drop_in.mkdir()
        shutil.copyfile(GUEST / "slow.conf", drop_in / "vm.conf")
        # The operator's file, as an operator would change it.
        settings = tree / "etc/pyramid-kiosk/settings.toml"
        with settings.open("r+b") as file:
            file.truncate()
            file.write((GUEST / "settings.toml").read_bytes())


def source_release() -> str:
    """What the installer calls the kiosk in the source tree: its version, and a hash of it.

    Raises:
        VmError: it cannot be told.
    """
    script = '. "$source/install/source.sh"; source_release vm'
    done = subprocess.run(
        ["bash", "-euc", script],
        env={**os.environ, "source": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise VmError(f"the source cannot be read: {done.stderr.strip()}")
    return done.stdout.strip()


def _kernel_in(tree: Path) -> str:
    found = sorted(path.name for path in (tree / "lib/modules").iterdir())
    if not found:
        raise VmError(f"{tree} has no kernel")
    return found[-1]
