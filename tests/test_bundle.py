"""What `make bundle` makes: built here, unpacked elsewhere, started, installed.

It is one test, because what it looks at takes most of a minute to make, and tests that run side by
side would each make their own.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import zlib
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

pytestmark = pytest.mark.skipif(
    find_spec("PyInstaller") is None, reason="PyInstaller is not installed"
)


def bundle_in(made: Path, there: Path) -> Path:
    """Make the bundle in one folder and unpack it in another; return what was unpacked."""
    # Measuring what is run would find its way into the program that is made.
    environ = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    done = subprocess.run(
        [ROOT / "install" / "bundle", made],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (packed,) = made.glob("*.tar.gz")
    # The size is said, in MB.
    assert f"{packed}: {-(-packed.stat().st_size // 2**20)} MB" in done.stdout
    there.mkdir()
    subprocess.run(["tar", "-C", there, "-xzf", packed], check=True)
    (folder,) = there.iterdir()
    return folder


def colours(png: Path) -> int:
    """How many different values the bytes of a picture have; 1 if it is all of one colour."""
    data = png.read_bytes()[8:]
    pixels = b""
    while data:
        (size,) = struct.unpack(">I", data[:4])
        if data[4:8] == b"IDAT":
            pixels += data[8 : 8 + size]
        data = data[size + 12 :]
    return len(set(zlib.decompress(pixels)))


def check_it_plays_a_game_where_there_is_no_python(unpacked: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [
            unpacked / "bundle" / "pyramid-kiosk",
            *("--offscreen", "--size", "800x480", "--language", "de"),
            *("--demo", "--shots", tmp_path / "shots"),
        ],
        cwd="/",
        env={"PATH": "", "HOME": str(tmp_path), "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout.splitlines()[-1])
    # From the shipped pool, so that it can be won, and is.
    assert summary["won"]
    shots = [Path(name) for name in summary["pictures"]]
    assert len(shots) == 3
    for shot in shots:
        assert colours(shot) > 50


def check_it_has_what_it_needs_and_nothing_that_made_it(unpacked: Path) -> None:
    inside = unpacked / "bundle" / "_internal"
    data = [
        path.relative_to(ROOT)
        for folder in ("engine/data", "kiosk/data", "kiosk/locale")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix not in {".py", ".pyc", ".c"}
    ]
    assert {path.suffix for path in data} >= {".sqlite", ".po", ".svg", ".ttf", ".toml"}
    for path in data:
        assert (inside / path).read_bytes() == (ROOT / path).read_bytes(), path
    assert list(inside.glob("gpiozero-*.dist-info/entry_points.txt"))
    assert list(inside.glob("_lgpio*.so")) or find_spec("lgpio") is None
    names = [path.name.lower() for path in inside.rglob("*")]
    assert [name for name in names if "cython" in name and not name.endswith(".so")] == []
    assert [name for name in names if name.startswith(("pytest", "libstdc++", "pip"))] == []


def findings(program: list[str], home: Path) -> dict[str, tuple[str, str]]:
    """What `--check` says about what the bundle brings along: subject to level and text."""
    settings = home / "settings.toml"
    settings.write_text("[buttons]\nundo = 17\n")
    done = subprocess.run(
        [*program, "--check", "--json", "--offscreen", "--settings", str(settings)],
        env={"PATH": "", "HOME": str(home), "PYTHONPATH": str(ROOT), "LG_WD": str(home)},
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
    )
    found = {one["subject"]: one for one in json.loads(done.stdout)["findings"]}
    return {name: (found[name]["level"], found[name]["text"]) for name in ("pins", "pool", "touch")}


def check_it_finds_pool_and_pins_as_the_source_does(unpacked: Path, tmp_path: Path) -> None:
    bundled = findings([str(unpacked / "bundle" / "pyramid-kiosk")], tmp_path)
    assert bundled == findings([sys.executable, "-m", "kiosk"], tmp_path)
    assert bundled["pool"][0] == "ok"


def check_it_knows_its_version(unpacked: Path) -> None:
    (metadata,) = (unpacked / "bundle" / "_internal").glob("pyramid_kiosk-*.dist-info")
    version = metadata.name.removeprefix("pyramid_kiosk-").removesuffix(".dist-info")
    assert (unpacked / "RELEASE").read_text().startswith(f"{version}-")


def check_its_installer_installs_it(unpacked: Path, tmp_path: Path) -> None:
    machine = tmp_path / "machine"
    machine.mkdir()
    done = subprocess.run(
        [unpacked / "install" / "install"],
        env={**os.environ, "DESTDIR": str(machine)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    release = (unpacked / "RELEASE").read_text().strip()
    program = machine / "opt/pyramid-kiosk/releases" / release / "bundle" / "pyramid-kiosk"
    help_text = subprocess.run([program, "--help"], capture_output=True, text=True, check=True)
    assert "Pyramid solitaire" in help_text.stdout
    assert (machine / "etc/pyramid-kiosk/settings.toml").exists()


def test_bundle(tmp_path: Path) -> None:
    unpacked = bundle_in(tmp_path / "made", tmp_path / "there")
    check_it_has_what_it_needs_and_nothing_that_made_it(unpacked)
    check_it_knows_its_version(unpacked)
    check_it_plays_a_game_where_there_is_no_python(unpacked, tmp_path)
    check_it_finds_pool_and_pins_as_the_source_does(unpacked, tmp_path)
    check_its_installer_installs_it(unpacked, tmp_path)
