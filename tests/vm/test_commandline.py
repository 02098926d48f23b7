"""`make vm`: what the command line takes, and what is told when the machine lacks something."""

from __future__ import annotations

from pathlib import Path

import pytest

from vm import __main__ as vm
from vm import host


def test_defaults_are_those_of_the_description() -> None:
    args = vm.parse([])
    assert (args.cuts, args.seed, args.out, args.image) == (5, 1, Path("build/vm"), False)


def test_no_cut_at_all_may_be_asked_for() -> None:
    assert vm.parse(["--cuts", "0"]).cuts == 0


@pytest.mark.parametrize("text", ["-1", "many", "2.5", ""])
def test_what_is_no_count_is_named(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        vm.parse([f"--cuts={text}"])
    assert ended.value.code == 2
    assert f"{text!r} is no count" in capsys.readouterr().err


def test_who_is_not_root_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(host.os, "geteuid", lambda: 1000)
    assert vm.main(["--out", str(tmp_path)]) == 2
    assert "this needs root" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("said", "version", "enough"),
    [
        ("QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)", "7.2.22", False),
        ("QEMU emulator version 8.0.0", "8.0.0", True),
        ("QEMU emulator version 10.0.13 (Debian 1:10.0.13+ds-0+deb13u1)", "10.0.13", True),
        ("something else", "", False),
    ],
)
def test_a_qemu_is_judged_by_its_version(said: str, version: str, enough: bool) -> None:
    assert host.version_in(said) == version
    assert host.is_new_enough(version) is enough


def _program(folder: Path, name: str, text: str) -> None:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)


def test_an_old_qemu_makes_a_newer_one_be_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    _program(bin_folder, host.PROGRAM, "echo QEMU emulator version 7.2.22")
    loader = "mkdir -p $root/lib64; printf '#!/bin/sh\\necho QEMU emulator version 10.0.13\\n'"
    _program(
        bin_folder,
        "mmdebstrap",
        f'for root; do :; done; echo "$@"; {loader} >$root/lib64/ld-linux-x86-64.so.2; '
        "chmod 755 $root/lib64/*",
    )
    monkeypatch.setenv("PATH", f"{bin_folder}:/usr/bin:/bin")
    log = tmp_path / "log"
    found = host.find_emulator(tmp_path, ["--verbose"], log)
    assert found.version == "10.0.13"
    assert found.command[0] == str(tmp_path / "tools/lib64/ld-linux-x86-64.so.2")
    assert found.environment["QEMU_MODULE_DIR"].startswith(str(tmp_path / "tools"))
    assert "QEMU 7.2.22 is too old" in capsys.readouterr().out
    called = log.read_text()
    # It is kept: the second time nothing is called.
    assert host.find_emulator(tmp_path, [], log) == found
    assert log.read_text() == called
    assert "--verbose trixie" in called


def test_what_fails_is_shown_with_its_last_words(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("before\n")
    with pytest.raises(host.VmError) as error:
        host.run(["sh", "-c", "echo it broke; exit 3"], log)
    assert "sh ended with 3" in str(error.value)
    assert str(error.value).endswith("it broke")
    assert "before" not in str(error.value)
