"""install/, run for real into a folder that stands for a machine.

Nothing outside that folder is touched: DESTDIR says where the machine is, and what would speak with
a running systemd, wait, or install packages is a stand-in that writes down how it was called.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kiosk import power

ROOT = Path(__file__).resolve().parent.parent
INSTALL = ROOT / "install"
SYSTEMD = ROOT / "systemd"
UNIT = "etc/systemd/system/pyramid-kiosk.service"
SETTINGS = "etc/pyramid-kiosk/settings.toml"
STATE = "var/lib/pyramid-kiosk/state.sqlite"
PROGRAMS = ("install", "switch", "uninstall", "back-off", "mount-stick", "desktop-start")


@dataclass
class Machine:
    """A made-up machine: a folder with its files, and a folder with its commands."""

    home: Path
    environ: dict[str, str] = field(default_factory=dict)

    @property
    def tree(self) -> Path:
        return self.home / "tree"

    def command(self, name: str, script: str = "") -> None:
        """Put a command into the machine; it writes down each call, then does ``script``."""
        path = self.home / "commands" / name
        log = f'printf "%s\\n" "{name} $*" >> "{self.home}/calls"\n'
        path.write_text(f"#!/bin/bash\n{log}{script}\n")
        path.chmod(0o755)

    def calls(self, command: str) -> list[str]:
        """How ``command`` was called so far, one line a call, without its name."""
        log = self.home / "calls"
        lines = log.read_text().splitlines() if log.exists() else []
        return [line.removeprefix(f"{command} ") for line in lines if line.split()[0] == command]

    def run(self, program: Path, *arguments: str, **environ: str) -> tuple[int, str]:
        """Run one of our programs; return its exit code and all that it printed."""
        done = subprocess.run(
            [str(program), *arguments],
            env={
                "PATH": f"{self.home}/commands:{os.environ['PATH']}:/usr/sbin:/sbin",
                "DESTDIR": str(self.tree),
                **self.environ,
                **environ,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    def bundle(self, release: str) -> Path:
        """What `make bundle` makes, without the program."""
        folder = self.home / f"pyramid-kiosk-{release}"
        if not folder.exists():
            (folder / "bundle").mkdir(parents=True)
            (folder / "RELEASE").write_text(f"{release}\n")
            (folder / "bundle" / "pyramid-kiosk").write_text(f"#!/bin/sh\necho {release} $*\n")
            (folder / "bundle" / "pyramid-kiosk").chmod(0o755)
            for name in ("install", "systemd"):
                shutil.copytree(ROOT / name, folder / name)
            (folder / "docs").mkdir()
            shutil.copy(ROOT / "kiosk" / "data" / "settings.toml", folder)
        return folder

    def install(self, release: str = "1.0", **environ: str) -> str:
        """Install a release; return what was printed."""
        status, printed = self.run(
            INSTALL / "install", "--bundle", str(self.bundle(release)), **environ
        )
        assert status == 0, printed
        return printed

    def current(self) -> str:
        return (self.tree / "opt/pyramid-kiosk/current").readlink().name

    def contents(self) -> dict[str, str]:
        """Every file and link of the tree, and what is in it."""
        found = {}
        for path in sorted(self.tree.rglob("*")):
            name = str(path.relative_to(self.tree))
            if path.is_symlink():
                found[name] = f"-> {path.readlink()}"
            elif path.is_file():
                found[name] = path.read_bytes().hex()
        return found


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine with nothing on it, and no systemd to speak with."""
    machine = Machine(tmp_path)
    machine.tree.mkdir()
    (tmp_path / "commands").mkdir()
    machine.command("sync")
    return machine


# --- Installing ----------------------------------------------------------------------------------


def test_everything_is_in_its_place(machine: Machine) -> None:
    printed = machine.install()
    tree = machine.tree
    for source, place in {
        "pyramid-kiosk.service": UNIT,
        "pyramid-kiosk-power.path": "etc/systemd/system/pyramid-kiosk-power.path",
        "pyramid-kiosk-power.service": "etc/systemd/system/pyramid-kiosk-power.service",
        "pyramid-kiosk-replug.service": "etc/systemd/system/pyramid-kiosk-replug.service",
        "pyramid-kiosk-stick@.service": "etc/systemd/system/pyramid-kiosk-stick@.service",
        "pyramid-kiosk.sysusers.conf": "etc/sysusers.d/pyramid-kiosk.conf",
        "pyramid-kiosk.tmpfiles.conf": "etc/tmpfiles.d/pyramid-kiosk.conf",
        "pyramid-kiosk.rules": "etc/udev/rules.d/60-pyramid-kiosk.rules",
        "pyramid-kiosk-plugged.rules": "etc/udev/rules.d/61-pyramid-kiosk-plugged.rules",
        "pyramid-kiosk.logind.conf": "etc/systemd/logind.conf.d/pyramid-kiosk.conf",
        "pyramid-kiosk.sysctl.conf": "etc/sysctl.d/60-pyramid-kiosk.conf",
    }.items():
        assert (tree / place).read_bytes() == (SYSTEMD / source).read_bytes(), place
        assert f"Wrote /{place}" in printed
    system = tree / "etc/systemd/system"
    wanted = system / "multi-user.target.wants/pyramid-kiosk.service"
    assert wanted.resolve() == tree / UNIT
    assert (system / "paths.target.wants/pyramid-kiosk-power.path").exists()
    for masked in ("getty@tty1.service", "ctrl-alt-del.target"):
        assert (system / masked).readlink() == Path("/dev/null")
    assert (system / "default.target").readlink().name == "multi-user.target"


def test_every_unit_and_rule_has_a_place(machine: Machine) -> None:
    placed = set()
    for variant in ("bare", "desktop"):
        machine.install(VARIANT=variant, KIOSK_USER="pi")
        placed |= {
            path.read_bytes() for path in (machine.tree / "etc").rglob("*") if path.is_file()
        }
    sources = [path for path in SYSTEMD.rglob("*") if path.is_file() and path.name != "verify"]
    assert [path.name for path in sources if path.read_bytes() not in placed] == []


def test_unit_starts_what_is_installed(machine: Machine) -> None:
    machine.install()
    commands = re.findall(r"^Exec\w+=-?(/opt\S+)", (machine.tree / UNIT).read_text(), re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        assert os.access(machine.tree / command.lstrip("/"), os.X_OK), command
    launcher = (machine.tree / "opt/pyramid-kiosk/current/pyramid-kiosk").read_text()
    program = re.findall(r'^exec (\S+) "\$@"$', launcher, re.MULTILINE)
    assert program == ["/opt/pyramid-kiosk/releases/1.0/bundle/pyramid-kiosk"]
    assert (machine.tree / program[0].lstrip("/")).is_file()
    command = machine.tree / "usr/local/bin/pyramid-kiosk"
    assert command.readlink() == Path("/opt/pyramid-kiosk/current/pyramid-kiosk")


@pytest.mark.skipif(shutil.which("systemd-sysusers") is None, reason="systemd is not installed")
@pytest.mark.skipif(os.getuid() != 0, reason="only root can make users")
def test_user_is_made_and_alone_may_read_the_settings(machine: Machine) -> None:
    machine.install()
    (line,) = re.findall(
        r"^pyramid-kiosk:.*$", (machine.tree / "etc/passwd").read_text(), re.MULTILINE
    )
    group = int(line.split(":")[3])
    found = (machine.tree / SETTINGS).stat()
    assert (found.st_uid, found.st_gid, found.st_mode & 0o777) == (0, group, 0o640)


@pytest.mark.skipif(shutil.which("systemd-sysusers") is None, reason="systemd is not installed")
@pytest.mark.skipif(os.getuid() != 0, reason="only root can make users")
def test_image_made_where_no_user_could_be_made_has_its_settings_read_when_it_starts(
    machine: Machine,
) -> None:
    machine.command("systemd-sysusers")
    machine.command("systemd-tmpfiles")
    machine.install()
    assert (machine.tree / SETTINGS).stat().st_gid == 0
    # What systemd does when the image starts.
    for program, file in {
        "systemd-sysusers": "etc/sysusers.d/pyramid-kiosk.conf",
        "systemd-tmpfiles": "etc/tmpfiles.d/pyramid-kiosk.conf",
    }.items():
        create = ["--create"] if program == "systemd-tmpfiles" else []
        there = shutil.which(program)
        assert there is not None
        subprocess.run(
            [there, f"--root={machine.tree}", *create, machine.tree / file],
            check=True,
            capture_output=True,
        )
    (line,) = re.findall(
        r"^pyramid-kiosk:.*$", (machine.tree / "etc/group").read_text(), re.MULTILINE
    )
    found = (machine.tree / SETTINGS).stat()
    assert (found.st_gid, found.st_mode & 0o777) == (int(line.split(":")[2]), 0o640)


@pytest.mark.parametrize("variant", ["bare", "desktop"])
def test_second_time_changes_nothing(machine: Machine, variant: str) -> None:
    first = machine.install(VARIANT=variant, KIOSK_USER="pi")
    before = machine.contents()
    second = machine.install()
    assert machine.contents() == before
    assert "Wrote" in first
    for word in ("Wrote", "Linked", "Masked", "Removed", "Copying", "Made"):
        assert word not in second


def test_settings_of_the_operator_are_never_overwritten(machine: Machine) -> None:
    machine.install()
    shipped = (ROOT / "kiosk" / "data" / "settings.toml").read_bytes()
    assert (machine.tree / SETTINGS).read_bytes() == shipped
    mine = '[game]\npreset = "classic"\n'
    (machine.tree / SETTINGS).write_text(mine)
    (machine.bundle("1.1") / "settings.toml").write_text("# new\n")
    printed = machine.install("1.1")
    assert (machine.tree / SETTINGS).read_text() == mine
    assert (machine.tree / "etc/pyramid-kiosk/settings.example.toml").read_text() == "# new\n"
    assert "settings.example.toml" in printed


def test_interrupted_installation_is_begun_again(machine: Machine) -> None:
    half = machine.tree / "opt/pyramid-kiosk/releases/1.0"
    half.mkdir(parents=True)
    (half / "left-over").touch()
    machine.install()
    assert not (half / "left-over").exists()
    assert (half / ".complete").exists()


def test_bundle_is_taken_from_a_tar_file_and_by_its_own_installer(machine: Machine) -> None:
    folder = machine.bundle("1.0")
    packed = machine.home / "packed.tar.gz"
    with tarfile.open(packed, "w:gz") as file:
        file.add(folder, arcname=folder.name)
    status, printed = machine.run(INSTALL / "install", "--bundle", str(packed))
    assert status == 0, printed
    assert machine.current() == "1.0"
    status, printed = machine.run(machine.bundle("1.1") / "install" / "install")
    assert status == 0, printed
    assert machine.current() == "1.1"


def test_what_interrupted_installations_left_makes_room_first(machine: Machine) -> None:
    machine.install("1.0")
    half = machine.tree / "opt/pyramid-kiosk/releases/0.9"
    half.mkdir()
    unpacked = machine.tree / "opt/pyramid-kiosk/unpacked"
    unpacked.mkdir()
    machine.command("cp", f'[[ -e {half} ]] && exit 1; exec /bin/cp "$@"')
    machine.install("1.1")
    assert not half.exists()
    packed = machine.home / "packed.tar.gz"
    with tarfile.open(packed, "w:gz") as file:
        file.add(machine.bundle("1.2"), arcname="kiosk-1.2")
    assert machine.run(INSTALL / "install", "--bundle", str(packed))[0] == 0
    assert not unpacked.exists()


def test_bundle_that_one_user_unpacked_for_himself_can_be_run_by_the_kiosk(
    machine: Machine,
) -> None:
    """Unpacked under umask 077, or on a stick that knows of no programs."""
    bundle = machine.bundle("1.0")
    (bundle / "docs" / "operator.md").write_text("help\n")
    for path in bundle.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    machine.install()
    release = machine.tree / "opt/pyramid-kiosk/releases/1.0"
    programs = {"bundle/pyramid-kiosk", "pyramid-kiosk", *(f"install/{name}" for name in PROGRAMS)}
    for path in (release, *release.rglob("*")):
        name = str(path.relative_to(release))
        if path.is_dir() or name in programs:
            assert path.stat().st_mode & 0o777 == 0o755, name
        elif name != "install/bundle":
            assert path.stat().st_mode & 0o777 == 0o644, name


def test_tar_file_is_not_unpacked_in_the_folder_for_temporary_files(machine: Machine) -> None:
    packed = machine.home / "packed.tar.gz"
    with tarfile.open(packed, "w:gz") as file:
        file.add(machine.bundle("1.0"), arcname="kiosk-1.0")
    status, printed = machine.run(INSTALL / "install", "--bundle", str(packed), TMPDIR="/nowhere")
    assert status == 0, printed
    assert {path.name for path in (machine.tree / "opt/pyramid-kiosk").iterdir()} == {
        *("current", "default-target-before", "releases", "variant"),
    }


def test_everything_has_been_written_to_the_disk_at_the_end(machine: Machine) -> None:
    """The manual has the operator switch off at the wall next."""
    listing = f"(cd {machine.tree}; find . -type f -exec cksum {{}} + -o -type l -ls)"
    machine.command("sync", f"{listing} > {machine.home}/synced")
    machine.install()
    now = subprocess.run(["bash", "-c", listing], capture_output=True, text=True, check=True)
    assert (machine.home / "synced").read_text() == now.stdout


@pytest.mark.parametrize("place", ["opt/pyramid-kiosk", "etc/pyramid-kiosk"])
@pytest.mark.parametrize("kind", ["file", "dangling link"])
def test_something_else_in_place_of_a_folder_is_named_at_once(
    machine: Machine, place: str, kind: str
) -> None:
    path = machine.tree / place
    path.parent.mkdir(parents=True)
    if kind == "file":
        path.write_text("mine\n")
    else:
        path.symlink_to("/nowhere/at/all")
    before = machine.contents()
    status, printed = machine.run(INSTALL / "install", "--bundle", str(machine.bundle("1.0")))
    assert status == 1
    assert f"/{place} is in the way" in printed
    assert machine.contents() == before


@pytest.mark.parametrize("mode", [0o700, 0o777])
def test_program_folder_can_be_read_by_all_and_written_by_root_alone(
    machine: Machine, mode: int
) -> None:
    folder = machine.tree / "opt/pyramid-kiosk"
    folder.mkdir(parents=True)
    folder.chmod(mode)
    if os.getuid() == 0:
        os.chown(folder, 1000, 1000)
    machine.install()
    assert folder.stat().st_mode & 0o777 == 0o755
    assert folder.stat().st_uid == os.getuid()


def test_program_folder_may_be_a_link_to_a_larger_disk(machine: Machine) -> None:
    disk = machine.home / "disk"
    disk.mkdir()
    (machine.tree / "opt").mkdir()
    (machine.tree / "opt/pyramid-kiosk").symlink_to(disk)
    machine.install()
    assert machine.current() == "1.0"
    assert (disk / "releases/1.0/.complete").exists()
    uninstall(machine)
    assert list(disk.iterdir()) == []


def test_only_one_installation_runs_at_a_time(machine: Machine) -> None:
    machine.install()
    before = machine.contents()
    machine.command("flock", "exit 1")
    for program, arguments in {
        "install": ["--bundle", str(machine.bundle("1.1"))],
        "switch": ["1.0"],
        "uninstall": [],
    }.items():
        status, printed = machine.run(INSTALL / program, *arguments)
        assert status == 1
        assert "another installation is under way" in printed
    assert machine.contents() == before


def test_user_who_was_there_before_gets_the_groups_that_the_unit_names(machine: Machine) -> None:
    (machine.tree / "etc").mkdir()
    (machine.tree / "etc/passwd").write_text("pyramid-kiosk:x:1000:100::/home/p:/bin/sh\n")
    groups = ["video", "render", "input", "gpio", "audio"]
    (machine.tree / "etc/group").write_text("".join(f"{name}:x:9:\n" for name in groups))
    machine.command("systemd-sysusers")
    machine.install()
    assert len(machine.calls("systemd-sysusers")) == 1
    with (machine.tree / "etc/group").open("a") as file:
        file.write("pyramid-kiosk:x:10:\n")
    machine.command("chown")
    machine.install()
    assert len(machine.calls("systemd-sysusers")) == 1


def test_unknown_desktop_user_is_told_before_anything_is_done(machine: Machine) -> None:
    machine.command("id", "[[ $1 == -u ]] && echo 0")
    for name in ("apt-get", "mkdir", "systemctl"):
        machine.command(name, "exit 1")
    status, printed = machine.run(
        INSTALL / "install",
        *("--bundle", str(machine.bundle("1.0"))),
        **{"DESTDIR": "", "VARIANT": "desktop", "KIOSK_USER": "nobody-is-called-so"},
    )
    assert status == 1
    assert "KIOSK_USER=nobody-is-called-so: there is no such user" in printed
    assert machine.calls("mkdir") == []


def test_only_two_releases_stay(machine: Machine) -> None:
    for release in ("1.0", "1.1", "1.2"):
        machine.install(release)
    there = {path.name for path in (machine.tree / "opt/pyramid-kiosk/releases").iterdir()}
    assert there == {"1.1", "1.2"}
    assert (machine.tree / "opt/pyramid-kiosk/previous").readlink().name == "1.1"


# --- Variants ------------------------------------------------------------------------------------


def test_desktop_is_recognised_by_its_display_manager(machine: Machine) -> None:
    system = machine.tree / "etc/systemd/system"
    system.mkdir(parents=True)
    (system / "display-manager.service").symlink_to("/lib/systemd/system/lightdm.service")
    printed = machine.install(SUDO_USER="maria")
    assert "Variant desktop" in printed
    assert not (machine.tree / UNIT).exists()
    assert not (system / "getty@tty1.service").is_symlink()
    assert not (system / "default.target").is_symlink()
    assert (machine.tree / "etc/pyramid-kiosk/desktop-user").read_text() == "maria\n"
    start = (machine.tree / "etc/xdg/autostart/pyramid-kiosk.desktop").read_text()
    (command,) = re.findall(r"^Exec=(.*)$", start, re.MULTILINE)
    assert os.access(machine.tree / command.lstrip("/"), os.X_OK)
    assert (machine.tree / "etc/systemd/user/pyramid-kiosk.service").exists()


def test_variant_can_be_changed_and_leaves_nothing_behind(machine: Machine) -> None:
    system = machine.tree / "etc/systemd/system"
    system.mkdir(parents=True)
    (system / "default.target").symlink_to("/lib/systemd/system/graphical.target")
    machine.install(VARIANT="desktop", KIOSK_USER="pi")
    desktop = machine.contents()
    machine.install(VARIANT="bare")
    assert (machine.tree / UNIT).exists()
    assert not (machine.tree / "etc/xdg/autostart/pyramid-kiosk.desktop").exists()
    assert (system / "default.target").readlink().name == "multi-user.target"
    assert "it was" not in machine.install()
    machine.install(VARIANT="desktop")
    assert machine.contents() == desktop


# --- Uninstalling --------------------------------------------------------------------------------


def uninstall(machine: Machine, **environ: str) -> str:
    program = machine.tree / "opt/pyramid-kiosk/current/install/uninstall"
    status, printed = machine.run(program, **environ)
    assert status == 0, printed
    return printed


@pytest.mark.parametrize("variant", ["bare", "desktop"])
def test_uninstalling_keeps_the_data_and_nothing_else(machine: Machine, variant: str) -> None:
    default = machine.tree / "etc/systemd/system/default.target"
    default.parent.mkdir(parents=True)
    default.symlink_to("/lib/systemd/system/graphical.target")
    before = machine.contents()
    machine.install(VARIANT=variant, KIOSK_USER="pi")
    (machine.tree / STATE).parent.mkdir(parents=True, exist_ok=True)
    (machine.tree / STATE).write_text("the game")
    users = {f"etc/{name}" for name in ("passwd", "group", "shadow", "gshadow", ".pwd.lock")}
    printed = uninstall(machine)
    kept = set(machine.contents()) - set(before) - users
    kept = {name for name in kept if not name.endswith("-")}
    assert {SETTINGS, STATE} <= kept
    assert {Path(name).parts[:3] for name in kept} <= {
        ("etc", "pyramid-kiosk", "settings.toml"),
        ("etc", "pyramid-kiosk", "settings.example.toml"),
        ("etc", "pyramid-kiosk", "desktop-user"),
        ("var", "lib", "pyramid-kiosk"),
    }
    assert default.readlink().name == "graphical.target"
    assert "PURGE=yes" in printed


def test_uninstalling_everything_takes_the_data_too(machine: Machine) -> None:
    machine.install()
    (machine.tree / STATE).parent.mkdir(parents=True, exist_ok=True)
    (machine.tree / STATE).write_text("the game")
    uninstall(machine, PURGE="yes")
    left = [name for name in machine.contents() if "pyramid-kiosk" in name]
    assert left == []


@pytest.mark.parametrize(
    ("entry", "ours"),
    [
        ("pyramid-kiosk:x:996:996:Pyramid kiosk:/var/lib/pyramid-kiosk:/usr/sbin/nologin", True),
        ("pyramid-kiosk:x:1000:1000:,,,:/home/pyramid-kiosk:/bin/bash", False),
        ("pyramid-kiosk:x:998:998::/srv:/bin/sh", False),
    ],
)
def test_user_is_removed_only_if_the_installer_made_him(
    machine: Machine, entry: str, ours: bool
) -> None:
    machine.command("chown")
    (machine.tree / "etc").mkdir()
    (machine.tree / "etc/passwd").write_text(f"root:x:0:0::/root:/bin/sh\n{entry}\n")
    machine.command("systemd-sysusers")
    machine.install()
    machine.command("userdel")
    printed = uninstall(machine, PURGE="yes")
    calls = machine.calls("userdel")
    assert calls == ([f"--prefix {machine.tree} pyramid-kiosk"] if ours else [])
    assert ("and stays" in printed) == (not ours)


def test_game_of_the_desktops_user_is_named_and_removed_with_the_rest(machine: Machine) -> None:
    (machine.tree / "etc").mkdir()
    (machine.tree / "etc/passwd").write_text("pi:x:1000:1000::/home/pi:/bin/bash\n")
    machine.install(VARIANT="desktop", KIOSK_USER="pi")
    state = machine.tree / "home/pi/.local/state/pyramid-kiosk/state.sqlite"
    state.parent.mkdir(parents=True)
    state.write_text("the game")
    mine = machine.tree / "etc/systemd/user/pyramid-kiosk.service.d/override.conf"
    mine.parent.mkdir()
    mine.write_text("[Service]\n")
    assert "/home/pi/.local/state/pyramid-kiosk" in uninstall(machine)
    assert state.exists()
    assert mine.exists()
    machine.install()
    uninstall(machine, PURGE="yes")
    assert not state.parent.exists()
    assert state.parent.parent.exists()
    assert not mine.parent.exists()


def test_nothing_is_said_to_be_removed_that_was_not_there(machine: Machine) -> None:
    status, printed = machine.run(INSTALL / "uninstall")
    assert status == 0, printed
    assert "Removed" not in printed


def test_what_is_not_ours_stays(machine: Machine) -> None:
    system = machine.tree / "etc/systemd/system"
    system.mkdir(parents=True)
    (system / "getty@tty1.service").write_text("# somebody's own\n")
    assert "not ours" in machine.install()
    uninstall(machine)
    assert (system / "getty@tty1.service").read_text() == "# somebody's own\n"


# --- Bringing up to date -------------------------------------------------------------------------


@pytest.fixture
def running(machine: Machine) -> Machine:
    """A machine whose kiosk runs release 1.0; what is in the file `good` becomes ready."""
    machine.install("1.0")
    (machine.tree / STATE).parent.mkdir(parents=True, exist_ok=True)
    (machine.tree / STATE).write_text("written by 1.0")
    (machine.home / "good").write_text("1.0\n1.1\n")
    current = machine.tree / "opt/pyramid-kiosk/current"
    machine.command(
        "systemctl",
        f"""
        release=$(basename $(readlink {current}))
        case "$*" in
        *is-active*) [[ -f {machine.home}/up ]] && grep -qx $release {machine.home}/good ;;
        'start --no-block'*)
            touch {machine.home}/up
            # A release that starts also writes its state.
            echo "written by $release" > {machine.tree / STATE} ;;
        stop*) rm -f {machine.home}/up ;;
        esac""",
    )
    machine.command("journalctl", "echo 'ERROR kiosk: the reason'")
    machine.command("sleep")
    (machine.home / "up").touch()
    return machine


def switch(machine: Machine, release: str, **environ: str) -> tuple[int, str]:
    """Have the machine run a release, which is put into its place first."""
    folder = machine.tree / "opt/pyramid-kiosk/releases" / release
    if not folder.exists():
        shutil.copytree(machine.bundle(release), folder)
        with (folder / "systemd" / "pyramid-kiosk.service").open("a") as file:
            file.write(f"# release {release}\n")
        (folder / ".complete").touch()
    return machine.run(folder / "install" / "switch", release, **environ)


def test_release_that_comes_up_stays(running: Machine) -> None:
    status, printed = switch(running, "1.1")
    assert status == 0, printed
    assert "The kiosk is ready" in printed
    assert running.current() == "1.1"
    assert (running.tree / "opt/pyramid-kiosk/previous").readlink().name == "1.0"
    assert (running.tree / UNIT).read_text().endswith("# release 1.1\n")
    assert (running.tree / STATE).read_text() == "written by 1.1\n"
    orders = [call for call in running.calls("systemctl") if not re.search("is-active|show", call)]
    assert orders == [
        "stop pyramid-kiosk.service",
        "daemon-reload",
        "start pyramid-kiosk-power.path",
        "reset-failed pyramid-kiosk.service",
        "start --no-block pyramid-kiosk.service",
    ]


def test_release_that_does_not_come_up_is_taken_back_with_all_it_did(running: Machine) -> None:
    before = (running.tree / UNIT).read_text()
    status, printed = switch(running, "1.2")
    assert status == 1
    assert "not ready within 60 s" in printed
    assert "ERROR kiosk: the reason" in printed
    assert "release 1.0 runs again" in printed
    assert len(running.calls("sleep")) == 60
    assert running.current() == "1.0"
    assert (running.tree / UNIT).read_text() == before
    # 1.0 found what it had written, and has written since.
    assert (running.tree / STATE).read_text() == "written by 1.0\n"
    failed = running.tree / "opt/pyramid-kiosk/state-before.failed/state.sqlite"
    assert failed.read_text() == "written by 1.2\n"
    assert (running.home / "up").exists()


def test_release_before_is_still_the_one_before_when_a_new_one_was_taken_back(
    running: Machine,
) -> None:
    switch(running, "1.1")
    assert switch(running, "1.2")[0] == 1
    assert running.current() == "1.1"
    assert (running.tree / "opt/pyramid-kiosk/previous").readlink().name == "1.0"


def test_files_that_cannot_be_written_lead_back_to_a_kiosk_that_runs(running: Machine) -> None:
    """A full disk, or one that has become read-only, half-way through the unit files."""
    before = running.contents()
    running.command(
        "install",
        'for last; do :; done; [[ $last == *power.path* ]] && exit 1; exec /usr/bin/install "$@"',
    )
    folder = running.bundle("1.1")
    (folder / "systemd" / "pyramid-kiosk-power.path").write_text("# new\n")
    status, printed = switch(running, "1.1")
    assert status == 1
    assert "release 1.0 runs again" in printed
    assert running.current() == "1.0"
    assert (running.home / "up").exists()
    there = {name: what for name, what in running.contents().items() if name in before}
    there.pop(STATE), before.pop(STATE)
    assert there == before
    assert not [name for name in running.contents() if name.endswith(".new")]


@pytest.mark.parametrize("signal", ["INT", "TERM"])
def test_whoever_interrupts_gets_the_old_release_back(running: Machine, signal: str) -> None:
    running.command("sleep", f"kill -{signal} $PPID")
    status, printed = switch(running, "1.2")
    assert status == 1
    assert "release 1.0 runs again" in printed
    assert len(running.calls("sleep")) == 1
    assert running.current() == "1.0"
    assert (running.tree / STATE).read_text() == "written by 1.0\n"


@pytest.mark.parametrize("good", [True, False])
def test_connection_that_is_lost_meanwhile_changes_nothing(running: Machine, good: bool) -> None:
    becomes = f"echo 1.2 >> {running.home}/good" if good else ""
    running.command("sleep", f"kill -HUP $PPID; {becomes}")
    status, printed = switch(running, "1.2", READY_WITHIN="3")
    assert status == (0 if good else 1)
    assert printed.endswith("Starting the kiosk, release 1.2\n")
    assert running.current() == ("1.2" if good else "1.0")
    assert (running.home / "up").exists()


def test_nobody_who_reads_what_is_said_changes_nothing_either(running: Machine) -> None:
    switch(running, "1.1")
    script = f"set -o pipefail; {INSTALL}/switch 1.0 2>&1 | true"
    assert running.run(Path("/bin/bash"), "-c", script)[0] == 0
    assert running.current() == "1.0"
    assert (running.home / "up").exists()


def test_seconds_that_are_no_number_are_refused_before_the_kiosk_is_stopped(
    running: Machine,
) -> None:
    status, printed = switch(running, "1.1", READY_WITHIN="2m")
    assert status == 1
    assert "READY_WITHIN=2m" in printed
    assert running.calls("systemctl") == []


def test_state_that_is_kept_elsewhere_is_put_back_there(running: Machine) -> None:
    """As docs/operator.md has it for a read-only system: a partition, which cannot be moved."""
    elsewhere = running.tree / "srv/kiosk-state"
    (elsewhere / "lost+found").mkdir(parents=True)
    (elsewhere / "state.sqlite").write_text("written by 1.0")
    number = elsewhere.stat().st_ino
    script = (running.home / "commands" / "systemctl").read_text()
    argv = "argv[]=/opt/pyramid-kiosk/current/pyramid-kiosk --state /srv/kiosk-state ;"
    show = f"[[ $1 == show ]] && {{ echo 'ExecStart={{ {argv} pid=7 }}'; exit; }}"
    write = f"cd {elsewhere} && echo written by $release >state.sqlite && touch of-$release"
    write = f"if [[ $1 == start ]]; then {write}; fi\n"
    script = script.replace('case "$*" in', f'{show}\n{write}case "$*" in', 1)
    running.command("systemctl", script)
    status, printed = switch(running, "1.2")
    assert status == 1, printed
    failed = running.tree / "opt/pyramid-kiosk/state-before.failed/state.sqlite"
    assert failed.read_text() == "written by 1.2\n"
    assert (failed.parent / "of-1.2").exists()
    assert not (elsewhere / "of-1.2").exists()
    assert (elsewhere / "state.sqlite").read_text() == "written by 1.0\n"
    assert (elsewhere / "lost+found").exists()
    assert elsewhere.stat().st_ino == number


def test_state_of_the_desktops_user_is_put_back_too(running: Machine) -> None:
    (running.tree / "etc/passwd").write_text("pi:x:1000:1000::/home/pi:/bin/bash\n")
    (running.tree / "etc/pyramid-kiosk/desktop-user").write_text("pi\n")
    (running.tree / "opt/pyramid-kiosk/variant").write_text("desktop\n")
    state = running.tree / "home/pi/.local/state/pyramid-kiosk/state.sqlite"
    state.parent.mkdir(parents=True)
    state.write_text("written by 1.0")
    running.command(
        "systemctl",
        f"""[[ $* == *is-active* ]] && exit 1
        [[ $* == *start* && ! -e {running.home}/once ]] || exit 0
        touch {running.home}/once; echo 'written by 1.2' >{state}""",
    )
    assert switch(running, "1.2")[0] == 1
    assert state.read_text() == "written by 1.0"
    failed = running.tree / "opt/pyramid-kiosk/state-before.failed/state.sqlite"
    assert failed.read_text() == "written by 1.2\n"


def test_state_is_put_back_before_the_old_release_starts(running: Machine) -> None:
    (running.home / "good").write_text("")
    status, printed = switch(running, "1.2", READY_WITHIN="3")
    assert status == 1
    assert "not ready either" in printed
    assert "not ready within 3 s" in printed
    kept = running.tree / "opt/pyramid-kiosk/state-before/state.sqlite"
    assert kept.read_text() == "written by 1.0"


def test_older_release_can_be_taken_back_by_hand(running: Machine) -> None:
    switch(running, "1.1")
    status, printed = switch(running, "1.0")
    assert status == 0, printed
    assert running.current() == "1.0"


def test_full_disk_stops_before_anything_is_changed(running: Machine) -> None:
    running.command("cp", 'if [[ $1 == -a ]]; then exit 1; fi; exec /bin/cp "$@"')
    status, printed = switch(running, "1.1")
    assert status == 1
    assert "nothing was changed" in printed
    assert running.current() == "1.0"
    assert (running.home / "up").exists()


def test_release_that_is_not_there_is_named_with_those_that_are(running: Machine) -> None:
    status, printed = running.run(INSTALL / "switch", "7")
    assert status == 1
    assert "no complete release 7 (there are: 1.0)" in printed


# --- From the source tree ------------------------------------------------------------------------


@pytest.fixture
def debian(machine: Machine) -> Machine:
    """A tree with a Debian in it, whose commands are all played by the fake chroot."""
    for name in ("bin/sh", "usr/bin/python3"):
        path = machine.tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
    packages = "libgl1 libegl1 libgles2 libgbm1 libdrm2 libudev1 udev gcc libc6-dev python3-dev"
    machine.command(
        "chroot",
        f"""
        tree=$1; shift
        case "$*" in
        *print-architecture) echo ${{ARCHITECTURE:-amd64}} ;;
        dpkg-query*) for name in {packages}; do
            if [[ $* == *" $name "* ]]; then echo installed; exit; fi; done; exit 1 ;;
        *'python3 --version') echo Python 3.11.2 ;;
        *'python3 -c'*) echo ${{VERSION:-3.11}} ;;
        *'-m venv'*) mkdir -p $tree${{!#}}/bin ;;
        *'-m pip'*) echo Collecting pages
            if [[ -d $tree$TMPDIR ]]; then echo "$TMPDIR" >{machine.home}/temporary; fi
            echo Successfully installed kivy-2 x-1
            exit ${{PIP:-0}} ;;
        esac""",
    )
    machine.command("id", "echo 0")
    machine.command("chown")
    return machine


def test_source_is_installed_with_an_environment_of_its_own(debian: Machine) -> None:
    status, printed = debian.run(INSTALL / "install")
    assert status == 0, printed
    name = debian.current()
    assert re.fullmatch(r"[0-9.]+-[0-9a-f]{8}", name)
    release = Path("/opt/pyramid-kiosk/releases") / name
    calls = [call.removeprefix(f"{debian.tree} ") for call in debian.calls("chroot")]
    assert f"/usr/bin/python3 -m venv {release}/venv" in calls
    (pip,) = [call for call in calls if "-m pip" in call]
    assert pip.startswith(f"{release}/venv/bin/python -m pip install ")
    assert pip.endswith(f"-c {release}/constraints.txt {release}[kiosk,hardware]")
    (apt,) = [call for call in calls if "apt-get" in call and "install" in call]
    assert apt.endswith("install -q -y --no-install-recommends libmtdev1 python3-venv")
    assert "==> Installed kivy-2 x-1\n" in printed
    assert "pages" not in printed
    folder = debian.tree / str(release).lstrip("/")
    # Called from a folder with sources in it, it must not run those.
    assert f"exec {release}/venv/bin/python -P -m kiosk" in (folder / "pyramid-kiosk").read_text()
    # The program is in the environment alone; what installs it and explains it stays.
    assert not (folder / "kiosk").exists()
    assert (folder / "install" / "switch").exists()
    assert (debian.tree / SETTINGS).exists()
    # What pip unpacks and builds meanwhile does not go into /tmp, which may allow no programs.
    assert (debian.home / "temporary").read_text() == f"{release}/tmp\n"
    assert not (folder / "tmp").exists()
    # The same source again is recognised.
    _, again = debian.run(INSTALL / "install")
    assert f"Release {name} is there already" in again


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        ({"PIP": "1"}, "Collecting pages"),
        ({"VERSION": "3.14"}, "is 3.14"),
        ({"ARCHITECTURE": "armhf"}, "armhf"),
        ({"VARIANT": "kiosk"}, "it may be bare or desktop"),
        ({"VARIANT": "desktop"}, "KIOSK_USER=name"),
        ({"READY_WITHIN": "2m"}, "READY_WITHIN=2m: it is a number of seconds"),
        ({"PYTHON": "/usr/bin/python4"}, "there is no /usr/bin/python4"),
        ({"DESTDIR": "/nowhere"}, "DESTDIR=/nowhere is no folder"),
        ({"BUNDLE": "/nowhere"}, "there is no /nowhere"),
        ({"BUNDLE": str(ROOT / "docs")}, "not what 'make bundle' makes"),
        ({"BUNDLE": str(ROOT / "README.md")}, "cannot be unpacked"),
    ],
)
def test_what_cannot_be_installed_is_said_and_changes_nothing(
    debian: Machine, environ: dict[str, str], message: str
) -> None:
    status, printed = debian.run(INSTALL / "install", **environ)
    assert status == 1
    assert message in printed
    # Nor does a half of it go on filling the disk.
    assert not (debian.tree / "opt/pyramid-kiosk").exists()
    assert not (debian.tree / UNIT).exists()


@pytest.mark.parametrize("program", ["install", "uninstall"])
def test_running_system_is_for_root_alone(machine: Machine, program: str) -> None:
    machine.command("id", "echo 1000")
    status, printed = machine.run(INSTALL / program, DESTDIR="")
    assert status == 1
    assert f"sudo make {program}" in printed


# --- The small programs --------------------------------------------------------------------------


def test_back_off_grows_to_a_minute_and_is_forgiven(machine: Machine) -> None:
    machine.command("sleep")
    clock = machine.home / "uptime"
    now = 100.0

    def start(after: float) -> int:
        nonlocal now
        now += after
        clock.write_text(f"{now} 1.0\n")
        environ = {"RUNTIME_DIRECTORY": str(machine.home), "UPTIME_FILE": str(clock)}
        status, printed = machine.run(INSTALL / "back-off", **environ)
        assert status == 0
        waited = int(machine.calls("sleep")[-1])
        assert (f"waiting {waited} s" in printed) == (waited > 0)
        now += waited
        return waited

    assert [start(5) for _ in range(10)] == [0, 0, 2, 4, 8, 16, 32, 60, 60, 60]
    # A kiosk that hangs 40 s after each start does not run either.
    assert start(40) == 60
    assert start(300) == 0
    assert start(5) == 0
    assert start(5) == 2
    # The count is damaged, or from before the machine was started.
    (machine.home / "starts").write_text("x\n")
    assert start(5) == 0
    (machine.home / "starts").write_text("9 999999\n")
    assert start(5) == 0
    (machine.home / "starts").unlink()
    (machine.home / "starts").mkdir()
    assert start(5) == 0


@pytest.mark.parametrize(
    ("disk", "mounted", "taken"),
    [("sda", "", True), ("", "", True), ("sda", "/boot/firmware", False)],
)
def test_stick_is_mounted_for_the_kiosk_unless_its_disk_is_in_use(
    machine: Machine, disk: str, mounted: str, taken: bool
) -> None:
    script = f"if [[ $* == *PKNAME* ]]; then echo {disk}; else printf '\\n%s\\n' '{mounted}'; fi"
    machine.command("lsblk", script)
    machine.command("systemd-mount")
    status, _ = machine.run(INSTALL / "mount-stick", "sda1")
    assert status == 0
    assert machine.calls("lsblk")[1].split()[-1] == f"/dev/{disk or 'sda1'}"
    calls = machine.calls("systemd-mount")
    assert bool(calls) == taken
    if taken:
        assert "--owner=pyramid-kiosk" in calls[0]
        assert calls[0].endswith("/dev/sda1 /media/pyramid-kiosk-sda1")


def test_desktop_hands_its_screen_to_the_service(machine: Machine) -> None:
    machine.command("systemctl")
    status, _ = machine.run(INSTALL / "desktop-start", DISPLAY=":0", XAUTHORITY="/x")
    assert status == 0
    assert machine.calls("systemctl") == [
        "--user import-environment DISPLAY XAUTHORITY",
        "--user restart pyramid-kiosk.service",
    ]


@pytest.mark.parametrize(
    ("requests", "orders"),
    [
        (["power-off"], ["--no-block poweroff"]),
        (["reboot"], ["--no-block reboot"]),
        (["power-off", "reboot"], ["--no-block poweroff"]),
        ([], []),
    ],
)
def test_request_to_switch_off_is_taken_and_obeyed(
    machine: Machine, requests: list[str], orders: list[str]
) -> None:
    path = (SYSTEMD / "pyramid-kiosk-power.path").read_text()
    seen = re.findall(r"^PathExists=%t/pyramid-kiosk/(.*)$", path, re.MULTILINE)
    assert sorted(seen) == sorted(power.FILES.values())
    unit = (SYSTEMD / "pyramid-kiosk-power.service").read_text().replace("\\\n", "")
    (script,) = re.findall(r"^ExecStart=/bin/sh -ec '(.*)'$", unit, re.MULTILINE)
    runtime = machine.home / "pyramid-kiosk"
    runtime.mkdir()
    for name in requests:
        (runtime / name).touch()
    machine.command("systemctl")
    machine.run(Path("/bin/sh"), "-ec", script.replace("%t", str(machine.home)))
    assert machine.calls("systemctl") == orders
    assert list(runtime.iterdir()) == []


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
def test_shell_programs_have_no_known_pitfalls() -> None:
    files = [str(INSTALL / name) for name in (*PROGRAMS, "lib.sh", "places.sh")]
    files += [str(ROOT / "setup.sh"), str(SYSTEMD / "verify")]
    done = subprocess.run(
        ["shellcheck", "-x", *files], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
