"""setup.sh, run for real in a machine made of stand-ins.

The script sees only a folder of commands: a few true ones that compute, and fakes for everything
that would install, ask for rights or know what system this is.  The fakes write down how they were
called.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
HARMLESS = ("bash", "chmod", "dirname", "env", "grep", "mkdir", "rm", "sh", "sha256sum")
COMPILER = ("gcc", "libc6-dev", "python3-dev")
ALL_DEBIAN = ("python3-venv", "libgl1", "libegl1", "libmtdev1", *COMPILER)


@dataclass
class Machine:
    """A made-up computer with a copy of the project on it."""

    home: Path
    project: Path

    @property
    def commands(self) -> Path:
        return self.home / "commands"

    def command(self, name: str, script: str) -> None:
        """Put a command into the machine; it writes down each call, then does ``script``."""
        path = self.commands / name
        log = f'printf "%s\\n" "{name} $*" >> "{self.home}/calls"\n'
        path.write_text(f"#!/bin/bash\n{log}{script}\n")
        path.chmod(0o755)

    def has_packages(self, *packages: str) -> None:
        cases = "".join(f"{name}) echo installed ;;\n" for name in packages)
        # Like the real one, it fails when any of the names it is asked about is unknown.
        loop = f"for name; do case $name in --*) ;;\n{cases}*) bad=1 ;; esac; done"
        self.command("dpkg-query", f"bad=0; {loop}; exit $bad")

    def has_python(self, version: str, pip: str = "") -> None:
        """Give it a Python; ``pip`` is what the environment's own does besides being noted."""
        pip = f'printf "%s\\n" "pip $*" >> "{self.home}/calls"; {pip}'
        make_venv = (
            "mkdir -p .venv/bin; "
            f"printf '%s\\n' '#!/bin/bash' '{pip}' > .venv/bin/python; "
            "chmod +x .venv/bin/python"
        )
        self.command("python3", f"if [[ $1 == -c ]]; then echo {version}; else {make_venv}; fi")

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run setup.sh as on the command line, with nobody to answer questions."""
        return subprocess.run(
            ["/bin/bash", str(self.project / "setup.sh"), *arguments],
            env={"PATH": str(self.commands), "PYTHON": str(self.commands / "python3")},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def calls(self, command: str) -> list[str]:
        """How ``command`` was called so far, one line a call, without its name."""
        log = self.home / "calls"
        lines = log.read_text().splitlines() if log.exists() else []
        return [line.removeprefix(f"{command} ") for line in lines if line.split()[0] == command]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A 64-bit Debian 12 PC, everything installed, used by root, without sudo."""
    machine = Machine(tmp_path, tmp_path / "project")
    machine.commands.mkdir()
    machine.project.mkdir()
    for name in ("setup.sh", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, machine.project / name)
    shutil.copytree(ROOT / "install", machine.project / "install")
    for name in HARMLESS:
        true_one = shutil.which(name)
        assert true_one is not None
        (machine.commands / name).symlink_to(true_one)
    machine.command("id", "echo 0")
    machine.command("dpkg", "echo amd64")
    machine.command("uname", "echo x86_64")
    machine.command("apt-get", "")
    machine.has_packages(*ALL_DEBIAN, "systemd")
    machine.has_python("3.11")
    return machine


PLAY, TEST = ".[kiosk,hardware]", ".[kiosk,hardware,cluster,dev]"


@pytest.mark.parametrize(("arguments", "extras"), [([], PLAY), (["--test"], TEST)])
def test_complete_machine_is_only_given_its_environment(
    machine: Machine, arguments: list[str], extras: str
) -> None:
    done = machine.run(*arguments)
    assert done.returncode == 0, done.stderr
    assert machine.calls("apt-get") == []
    assert machine.calls("python3")[1:] == ["-m venv --clear .venv"]
    (pip,) = machine.calls("pip")
    assert pip.startswith("-m pip install ")
    assert pip.endswith(f"-c constraints.txt -e {extras}")
    # Where packages come from is the user's own choice.
    assert "index" not in pip


@pytest.mark.parametrize("argument", [(), ("--test",)])
def test_second_call_does_nothing_and_says_nothing(
    machine: Machine, argument: tuple[str, ...]
) -> None:
    machine.run(*argument)
    done = machine.run(*argument)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert len(machine.calls("pip")) == 1


def test_what_the_checks_need_is_added_to_the_same_environment(machine: Machine) -> None:
    machine.run()
    assert machine.run("--test").returncode == 0
    assert [pip.split()[-1] for pip in machine.calls("pip")] == [PLAY, TEST]
    assert machine.calls("python3").count("-m venv --clear .venv") == 1


def test_what_the_checks_need_stays_when_somebody_plays(machine: Machine) -> None:
    machine.run("--test")
    assert machine.run().stdout == ""
    # Nor does it go out of date behind the back of the next check.
    with (machine.project / "constraints.txt").open("a") as file:
        file.write("\n")
    machine.run()
    assert [pip.split()[-1] for pip in machine.calls("pip")] == [TEST, TEST]
    assert machine.run("--test").stdout == ""


def test_installers_are_quiet_and_what_they_installed_is_said(machine: Machine) -> None:
    machine.has_packages(*ALL_DEBIAN[1:])
    machine.command("apt-get", "echo pages; echo pages >&2")
    pip = "echo Collecting pages; echo a warning >&2; echo Successfully installed kivy-2.3.1 x-1"
    machine.has_python("3.11", pip)
    done = machine.run()
    assert (done.returncode, done.stderr) == (0, "")
    assert "pages" not in done.stdout
    assert "==> Installed kivy-2.3.1 x-1\n" in done.stdout
    assert all(line.startswith("==> ") for line in done.stdout.splitlines())


def test_machine_that_updates_its_own_lists_is_waited_for(machine: Machine) -> None:
    machine.has_packages(*ALL_DEBIAN[1:])
    machine.command("sleep", "")
    lock = "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (apt-get)"
    busy = f"$(grep -c '^apt-get update' {machine.home}/calls) -lt 3"
    machine.command("apt-get", f"if [[ $1 == update && {busy} ]]; then echo '{lock}'; exit 100; fi")
    done = machine.run()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("waiting for it") == 1
    assert machine.calls("sleep") == ["5", "5"]


def test_lists_that_stay_locked_are_an_error_in_the_end(machine: Machine) -> None:
    machine.has_packages(*ALL_DEBIAN[1:])
    machine.command("sleep", "")
    machine.command("apt-get", "echo 'E: Could not get lock'; exit 100")
    done = machine.run()
    assert done.returncode == 1
    assert "Could not get lock" in done.stderr
    assert len(machine.calls("sleep")) == 60


@pytest.mark.parametrize("culprit", ["apt-get", "pip"])
def test_installer_that_fails_shows_what_it_printed(machine: Machine, culprit: str) -> None:
    machine.has_packages(*ALL_DEBIAN[1:])
    failing = "echo first; echo the reason >&2; exit 3"
    if culprit == "pip":
        machine.has_python("3.11", failing)
    else:
        machine.command("apt-get", failing)
    done = machine.run()
    assert done.returncode == 1
    assert done.stderr.startswith("first\nthe reason\nsetup: ")
    assert "Ready" not in done.stdout


@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt"])
def test_changed_requirements_are_installed_into_the_same_environment(
    machine: Machine, name: str
) -> None:
    machine.run()
    with (machine.project / name).open("a") as file:
        file.write("\n")
    assert machine.run().returncode == 0
    assert len(machine.calls("pip")) == 2
    assert machine.calls("python3").count("-m venv --clear .venv") == 1


def test_new_python_makes_a_new_environment(machine: Machine) -> None:
    machine.run()
    machine.has_python("3.12")
    machine.run()
    assert machine.calls("python3").count("-m venv --clear .venv") == 2


def test_moved_project_makes_a_new_environment(machine: Machine) -> None:
    # The programs in .venv/bin begin with the full path of their Python.
    machine.run()
    machine.project = machine.project.rename(machine.home / "moved")
    machine.run()
    assert machine.calls("python3").count("-m venv --clear .venv") == 2


def test_an_environment_somewhere_else_is_not_emptied(machine: Machine) -> None:
    elsewhere = machine.home / "elsewhere"
    elsewhere.mkdir()
    (machine.project / ".venv").symlink_to(elsewhere)
    done = machine.run()
    assert done.returncode == 1
    assert ".venv is a link" in done.stderr
    assert "rm .venv" in done.stderr
    assert not any("--clear" in call for call in machine.calls("python3"))
    (machine.project / ".venv").unlink()
    assert machine.run().returncode == 0


def test_failed_installation_is_tried_again(machine: Machine) -> None:
    make_failing_venv = (
        "if [[ $1 == -c ]]; then echo 3.11; else mkdir -p .venv/bin; "
        "printf '%s\\n' '#!/bin/bash' 'exit 1' > .venv/bin/python; chmod +x .venv/bin/python; fi"
    )
    machine.command("python3", make_failing_venv)
    assert machine.run().returncode != 0
    machine.has_python("3.11")
    assert machine.run().returncode == 0
    assert len(machine.calls("pip")) == 1


def test_root_installs_exactly_what_is_missing(machine: Machine) -> None:
    machine.has_packages("libgl1", "libegl1", *COMPILER)
    done = machine.run("--test")
    assert done.returncode == 0, done.stderr
    update, install = machine.calls("apt-get")
    assert update.startswith("update")
    assert install.endswith("install -q -y --no-install-recommends python3-venv libmtdev1 systemd")
    assert "Installing Debian packages: python3-venv libmtdev1 systemd" in done.stdout


def test_playing_needs_fewer_packages_than_testing(machine: Machine) -> None:
    machine.has_packages(*ALL_DEBIAN)
    machine.run()
    assert machine.calls("apt-get") == []


def test_library_renamed_by_debian_13_counts_as_installed(machine: Machine) -> None:
    machine.has_packages("python3-venv", "libgl1", "libegl1", "libmtdev1t64", *COMPILER)
    assert machine.run().returncode == 0
    assert machine.calls("apt-get") == []


def test_ordinary_user_installs_with_sudo_and_is_told(machine: Machine) -> None:
    machine.has_packages("libgl1", "libegl1", "libmtdev1", *COMPILER)
    machine.command("id", "echo 1000")
    machine.command("sudo", '"$@"')
    done = machine.run()
    assert done.returncode == 0, done.stderr
    assert "with sudo: python3-venv" in done.stdout
    assert len(machine.calls("sudo")) == len(machine.calls("apt-get")) == 2


def test_ordinary_user_needs_no_sudo_when_nothing_is_missing(machine: Machine) -> None:
    machine.command("id", "echo 1000")
    machine.command("sudo", '"$@"')
    assert machine.run().returncode == 0
    assert machine.calls("sudo") == []


def test_neither_root_nor_sudo_is_a_clear_error(machine: Machine) -> None:
    machine.has_packages("python3-venv", "libgl1", "libegl1", *COMPILER)
    machine.command("id", "echo 1000")
    done = machine.run()
    assert done.returncode == 1
    assert "libmtdev1" in done.stderr
    assert "root or sudo" in done.stderr
    assert machine.calls("apt-get") == []


@pytest.mark.parametrize("version", ["3.9", "3.10", "3.14"])
def test_unsuitable_python_is_a_clear_error(machine: Machine, version: str) -> None:
    machine.has_python(version)
    done = machine.run()
    assert done.returncode == 1
    assert f"is {version}" in done.stderr
    assert not (machine.project / ".venv").exists()


def test_32_bit_system_is_a_clear_error(machine: Machine) -> None:
    machine.command("dpkg", "echo armhf")
    done = machine.run()
    assert done.returncode == 1
    assert "armhf" in done.stderr


def test_tools_to_build_lgpio_are_installed_only_where_it_must_be_built(machine: Machine) -> None:
    machine.command("dpkg", "echo arm64")
    machine.command("uname", "echo aarch64")
    machine.run()
    assert machine.calls("apt-get") == []
    machine.has_python("3.13")
    done = machine.run()
    assert done.returncode == 0, done.stderr
    assert machine.calls("apt-get")[-1].endswith(" swig")


def test_compiler_is_installed_to_compile_the_solver(machine: Machine) -> None:
    machine.has_packages("python3-venv", "libgl1", "libegl1", "libmtdev1")
    assert machine.run().returncode == 0
    assert machine.calls("apt-get")[-1].endswith("gcc libc6-dev python3-dev")


@pytest.mark.parametrize("user", ["0", "1000"])
def test_without_a_compiler_it_goes_on_and_says_so(machine: Machine, user: str) -> None:
    """No network for root, no rights for somebody else: neither is the end."""
    machine.has_packages("python3-venv", "libgl1", "libegl1", "libmtdev1")
    machine.command("id", f"echo {user}")
    machine.command("apt-get", "exit 100")
    done = machine.run()
    assert done.returncode == 0, done.stderr
    assert "Going on without a compiler" in done.stdout
    assert "it is interpreted" in done.stdout
    # It is not tried again each time.
    assert machine.run().stdout == ""


@pytest.mark.parametrize("name", ["_search.py", "_search.pxd", "_shortest.pxd", "_casual.py"])
def test_changed_source_is_compiled_anew(machine: Machine, name: str) -> None:
    """A compiled file wins over a newer source beside it, so it must go first."""
    engine = machine.project / "engine"
    engine.mkdir()
    machine.run()
    stamp = machine.project / ".venv" / ".compiled"
    old = engine / f"{Path(name).stem}.cpython-311-x86_64-linux-gnu.so"
    old.touch()
    assert machine.run().stdout == ""
    os.utime(stamp, (1, 1))
    (engine / name).touch()
    done = machine.run()
    assert "Compiling the solver" in done.stdout
    assert machine.calls("pip")[-1] == "setup.py --quiet build_ext --inplace"
    assert not old.exists()
    assert machine.run().stdout == ""


def test_changed_source_is_compiled_by_pip_where_cython_is_not_at_hand(machine: Machine) -> None:
    machine.has_python("3.11", "[[ $1 != -c ]]")
    (machine.project / "engine").mkdir()
    machine.run()
    os.utime(machine.project / ".venv" / ".compiled", (1, 1))
    (machine.project / "engine" / "_search.py").touch()
    done = machine.run()
    assert (done.returncode, done.stderr) == (0, "")
    assert machine.calls("pip")[-1].endswith("--no-deps -e .")
    assert machine.run().stdout == ""


def test_other_distribution_is_told_what_to_install(machine: Machine) -> None:
    (machine.commands / "dpkg-query").unlink()
    done = machine.run()
    assert done.returncode == 0, done.stderr
    assert "libmtdev1" in done.stdout
    assert machine.calls("apt-get") == []


def test_works_from_any_folder(machine: Machine) -> None:
    before = Path.cwd()
    os.chdir("/")
    try:
        assert machine.run().returncode == 0
    finally:
        os.chdir(before)
    assert (machine.project / ".venv" / ".installed").exists()
