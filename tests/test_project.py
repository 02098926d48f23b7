"""The files around the code: versions, service, documents and examples agree with each other."""

from __future__ import annotations

import doctest
import importlib
import json
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import msgspec
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from kiosk import settings
from kiosk.commandline import parse as parse_command_line

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("engine", "hardware", "kiosk")
UNIT = ROOT / "systemd" / "pyramid-kiosk.service"
USERS = ROOT / "systemd" / "pyramid-kiosk.sysusers.conf"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


# --- Versions ------------------------------------------------------------------------------------


def pins() -> dict[str, str]:
    """Package name, in its canonical form, to the pinned version."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    return {canonicalize_name(line.split("==")[0]): line.split("==")[1] for line in lines}


def requirements() -> list[Requirement]:
    extras = PYPROJECT["project"]["optional-dependencies"]
    return [Requirement(text) for texts in extras.values() for text in texts]


def test_constraints_are_names_and_versions_and_nothing_else() -> None:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []
    assert lines == sorted(lines, key=str.lower)
    assert len(lines) == len(pins())


def test_everything_that_gets_installed_is_pinned_to_what_is_installed() -> None:
    pinned, seen = pins(), set()
    todo = [(requirement, True) for requirement in requirements()]
    while todo:
        requirement, ours = todo.pop()
        name = canonicalize_name(requirement.name)
        wanted_here = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        # Our own requirements are pinned for every machine, those of others as far as seen here.
        if (not wanted_here and not ours) or name in seen:
            continue
        assert name in pinned, f"{name} is missing in constraints.txt"
        assert requirement.specifier.contains(pinned[name], prereleases=True), requirement
        if wanted_here:
            seen.add(name)
            installed = distribution(name)
            assert installed.version == pinned[name], name
            todo += [(Requirement(text), False) for text in installed.requires or []]


@pytest.mark.parametrize(
    ("machine", "python", "wanted"),
    [
        ("aarch64", "3.11", True),
        ("aarch64", "3.13", True),
        ("x86_64", "3.11", True),
        ("x86_64", "3.12", True),
        ("x86_64", "3.13", False),
        ("armv7l", "3.11", False),
    ],
)
def test_the_pin_library_comes_to_a_pi_and_to_a_virtual_one(
    machine: str, python: str, wanted: bool
) -> None:
    (marker,) = (r.marker for r in requirements() if r.name == "lgpio")
    here = {"platform_machine": machine, "python_version": python, "sys_platform": "linux"}
    assert marker is not None
    assert marker.evaluate({**here, "extra": ""}) == wanted


def test_every_package_ships_the_mark_that_it_has_types() -> None:
    shipped = PYPROJECT["tool"]["setuptools"]["package-data"]
    for package in PYPROJECT["tool"]["setuptools"]["packages"]:
        assert (ROOT / package / "py.typed").is_file(), package
        assert "py.typed" in shipped[package]


def test_no_pin_is_left_over() -> None:
    # What is pinned is what we ask for, or what something that is installed asks for.
    asked = {canonicalize_name(requirement.name) for requirement in requirements()}
    absent = set()
    for name in pins():
        try:
            needs = distribution(name).requires or []
        except PackageNotFoundError:
            absent.add(name)
            continue
        asked |= {canonicalize_name(Requirement(text).name) for text in needs}
    left_over = set(pins()) - asked
    if sys.version_info >= (3, 12):
        # Backports for older Pythons are absent here, and so is whatever asks for them.
        left_over -= absent
    assert left_over == set()


# --- The service ---------------------------------------------------------------------------------


def settings_of(unit: Path) -> dict[str, list[str]]:
    """Setting to values, of all sections together; a setting may stand several times."""
    settings: dict[str, list[str]] = {}
    for line in unit.read_text("utf-8").splitlines():
        if "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            settings.setdefault(name, []).append(value)
    return settings


def environment_of(unit: Path) -> dict[str, str]:
    words = " ".join(settings_of(unit)["Environment"]).split()
    return dict(word.split("=", 1) for word in words)


def test_service_finds_its_user_and_every_group() -> None:
    # systemd refuses to start a unit that names a user or group which does not exist.
    lines = [line.split() for line in USERS.read_text("utf-8").splitlines() if line[:1] in "ug"]
    made = {kind: {name for k, name, *_ in lines if k == kind} for kind in "ug"}
    settings = settings_of(UNIT)
    assert set(settings["User"]) == made["u"]
    assert set(" ".join(settings["SupplementaryGroups"]).split()) == made["g"]


def test_service_writes_only_where_it_may() -> None:
    settings, environment = settings_of(UNIT), environment_of(UNIT)
    runtime = Path("/run", *settings["RuntimeDirectory"])
    cache = Path("/var/cache", *settings["CacheDirectory"])
    assert Path(environment["LG_WD"]) == runtime
    assert runtime in Path(environment["KIVY_HOME"]).parents
    assert Path(environment["XDG_CACHE_HOME"]) == cache
    assert settings["ProtectSystem"] == ["strict"]


def test_service_never_gives_up_and_is_watched() -> None:
    settings = settings_of(UNIT)
    assert settings["Type"] == ["notify"]
    assert settings["Restart"] == ["always"]
    assert settings["StartLimitIntervalSec"] == ["0"]
    assert 0 < int(settings["WatchdogSec"][0]) <= 60
    assert "getty@tty1.service" in settings["Conflicts"]
    assert settings["TTYPath"] == ["/dev/tty1"]


@pytest.mark.parametrize("unit", [UNIT, UNIT.parent / "user" / UNIT.name])
def test_service_can_be_reloaded(unit: Path) -> None:
    # By the shell: /bin/kill is in a package that small systems lack.
    assert settings_of(unit)["ExecReload"] == ['/bin/sh -c "kill -HUP ${MAINPID}"']


def test_a_reload_leaves_the_console_to_the_kiosk() -> None:
    # These count for the command of a reload as well, and would hang up the running kiosk.
    assert not {"TTYReset", "TTYVHangup", "TTYVTDisallocate"} & set(settings_of(UNIT))


def test_service_leaves_the_software_renderer_alive() -> None:
    # llvmpipe writes machine code and runs it; the name may stand in a comment only.
    assert "MemoryDenyWriteExecute" not in settings_of(UNIT)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("pyramid-kiosk.service", "WatchdogSec=", "WatchdogSek="),
        ("pyramid-kiosk.service", "Type=notify", "Type=notfy"),
        ("pyramid-kiosk.service", "CapabilityBoundingSet=\n", ""),
        ("pyramid-kiosk.sysusers.conf", "u pyramid-kiosk", "g pyramid-kiosk"),
    ],
)
def test_verification_sees_a_slip(tmp_path: Path, file: str, old: str, new: str) -> None:
    folder = shutil.copytree(ROOT / "systemd", tmp_path / "systemd")
    verify = [str(folder / "verify")]
    assert subprocess.run(verify, capture_output=True, check=False).returncode == 0
    text = (folder / file).read_text("utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new), "utf-8")
    assert subprocess.run(verify, capture_output=True, check=False).returncode != 0


# --- Documents -----------------------------------------------------------------------------------


def make_targets() -> set[str]:
    text = (ROOT / "Makefile").read_text("utf-8")
    return set(re.findall(r"^([a-z-]+):", text, re.MULTILINE))


@pytest.mark.parametrize(
    "document",
    ["README.md", "docs/architecture.md", "docs/operator.md", ".ci/run", "pyproject.toml"],
)
def test_documents_name_only_targets_that_exist(document: str) -> None:
    text = (ROOT / document).read_text("utf-8")
    named = set(re.findall(r"(?:`|^|exec )make ([a-z-]+)", text, re.MULTILINE))
    assert named <= make_targets()


def test_make_says_what_each_target_is_for() -> None:
    # Inside another make it would also say which directory it enters.
    command = ["make", "--no-print-directory", "help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    explained = {line.split()[0] for line in done.stdout.splitlines()}
    assert {"run", "test", "format", "vectors", "clean"} <= explained <= make_targets()


@pytest.mark.parametrize(
    "document",
    [
        "README.md",
        "docs/architecture.md",
        "docs/settings.md",
        "docs/monitoring.md",
        "docs/complaints.md",
        "docs/operator.md",
        "docs/pi-checklist.md",
    ],
)
def test_links_lead_somewhere(document: str) -> None:
    path = ROOT / document
    links = re.findall(r"\]\(([^)#]+)\)", path.read_text("utf-8"))
    missing = [link for link in links if "://" not in link and not (path.parent / link).exists()]
    assert missing == []


def test_code_map_is_complete_and_true() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    named = set(re.findall(r"`((?:engine|hardware|kiosk)/[\w/]+\.py)`", text))
    real = {
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if path.name != "__init__.py"
    }
    assert sorted(real - named) == [], "docs/architecture.md does not say what these are for"
    assert sorted(named - real) == [], "docs/architecture.md speaks of what does not exist"


def test_every_setting_is_described_with_its_default() -> None:
    text = (ROOT / "docs" / "settings.md").read_text("utf-8")
    described, section = {}, ""
    rows = re.findall(r"^\| (?:`\[(\w+)\]` )?\| `(\w+)` \| `?([^`|]+?)`? \| ", text, re.MULTILINE)
    for begun, key, default in rows:
        section = begun or section
        described[section, key] = default
    defaults = msgspec.to_builtins(settings.Settings())
    assert described == {
        (section, key): "none" if default is None else json.dumps(default)
        for section, table in defaults.items()
        for key, default in table.items()
    }


@pytest.mark.parametrize("document", ["README.md", "docs/settings.md"])
def test_settings_shown_as_examples_are_right(document: str) -> None:
    text = (ROOT / document).read_text("utf-8")
    (example,) = re.findall(r"^```toml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    read, problems = settings.parse(example)
    assert problems == []
    assert read != settings.Settings()


def test_mistakes_in_settings_are_named_as_described() -> None:
    text = (ROOT / "docs" / "settings.md").read_text("utf-8")
    _, problems = settings.parse('[game]\npreset = "golf"\n[display]\nlefthanded = true\n')
    described = re.findall(r"^ERROR kiosk: settings.toml: (.*)$", text, re.MULTILINE)
    assert described == problems


def test_options_in_the_readme_are_understood() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    options = re.findall(r"^\| `(--[a-z].*?)` \|", text, re.MULTILINE)
    for option in options:
        parse_command_line(option.split())  # ends the program if it is not
    assert options


def test_every_figure_is_described_and_every_described_figure_is_there() -> None:
    text = (ROOT / "docs" / "monitoring.md").read_text("utf-8")
    rows = re.findall(
        r"^\| (`[a-z_`{}, ]+`) \| [^|]+ \|$", text.partition("## Many")[2], re.MULTILINE
    )
    described = {name for row in rows for name in re.findall(r"`([a-z_]+)", row)}
    sources = "".join(
        (ROOT / "kiosk" / name).read_text() for name in ("monitor.py", "frametimes.py")
    )
    made = re.findall(r"(Family|gauge|counter|family)\(\s*\"([a-z_]+)\"", sources)
    assert described == {f"{n}_total" if kind == "counter" else n for kind, n in made}


def test_every_complaint_is_answered_by_a_test_that_exists() -> None:
    text = (ROOT / "docs" / "complaints.md").read_text("utf-8")
    rows = [line for line in text.splitlines() if re.match(r"\| (?!report )[^-]", line)]
    assert len(rows) == 30
    for row in rows:
        named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", row)
        assert named, f"no test shows: {row}"
        for path, name in named:
            source = (ROOT / path).read_text("utf-8")
            assert re.search(rf"^def {name}\(", source, re.MULTILINE), f"{path} has no {name}"


def test_changelog_has_a_place_for_the_next_change() -> None:
    assert "## [Unreleased]" in (ROOT / "CHANGELOG.md").read_text("utf-8")


# --- Examples ------------------------------------------------------------------------------------


def test_readme_example_runs() -> None:
    done = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert done.attempted > 0
    assert done.failed == 0


def modules_with_examples() -> list[str]:
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    return sorted(
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in paths
        if ">>> " in path.read_text("utf-8")
    )


@pytest.mark.parametrize("module", modules_with_examples())
def test_examples_in_the_source_run(module: str) -> None:
    done = doctest.testmod(importlib.import_module(module))
    assert done.attempted > 0
    assert done.failed == 0


def test_commands_in_the_readme_print_what_it_says() -> None:
    blocks = re.findall(r"^```console\n(.*?)^```", (ROOT / "README.md").read_text(), re.M | re.S)
    for block in blocks:
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = part.partition("\n")
            done = subprocess.run(
                ["bash", "-c", f'PATH="$PWD/.venv/bin:$PATH"; {command}'],
                cwd=ROOT,
                capture_output=True,
                text=True,
                check=True,
            )
            assert _without_measures(done.stdout) == _without_measures(expected), command
    assert blocks


def _without_measures(text: str) -> str:
    # How long and how far the solver searched may change with every improvement.
    return re.sub(r'("(?:seconds|positions)": )[\d.e-]+', r"\1…", text)
