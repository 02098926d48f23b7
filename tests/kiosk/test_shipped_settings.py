"""The settings file that is shipped: complete, true, harmless as it is."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import msgspec
import pytest

from kiosk.places import SHIPPED_SETTINGS
from kiosk.settings import Settings, parse

pytest.importorskip("kivy")  # the command is asked for where the kiosk is installed

ROOT = Path(__file__).parents[2]
DEFAULTS = msgspec.to_builtins(Settings())


def shipped() -> str:
    return SHIPPED_SETTINGS.read_text("utf-8")


def uncommented() -> str:
    return re.sub(r"^#(?=\w)", "", shipped(), flags=re.MULTILINE)


def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "make_settings", ROOT / "kiosk/data/make_settings.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_is_what_the_document_and_the_program_make_of_it() -> None:
    table = (ROOT / "docs" / "settings.md").read_text("utf-8")
    assert shipped() == maker().made(table), "run: make settings"


def test_as_it_is_it_changes_nothing() -> None:
    assert parse(shipped()) == (Settings(), [])
    assert set(tomllib.loads(shipped())) == set(DEFAULTS)


def test_it_names_every_setting_with_its_default() -> None:
    said = tomllib.loads(uncommented())
    assert {name: set(table) for name, table in said.items()} == {
        name: set(table) for name, table in DEFAULTS.items()
    }
    wrong = [
        f"{section}.{key}"
        for section, table in DEFAULTS.items()
        for key, default in table.items()
        if default is not None
        and said[section][key] != (list(default) if isinstance(default, tuple) else default)
    ]
    assert wrong == []


def test_what_stands_for_settings_without_a_default_could_be_meant() -> None:
    read, problems = parse(uncommented())
    assert problems == []
    values = msgspec.to_builtins(read)
    assert all(value is not None for table in values.values() for value in table.values())


def test_each_line_says_something_and_fits() -> None:
    lines = shipped().splitlines()
    assert max(len(line) for line in lines if not line.startswith("#pin_hash")) <= 100
    for before, line in pairwise(lines):
        if re.match(r"#\w", line):
            assert before.startswith("# "), line


def test_links_and_code_become_plain() -> None:
    made = maker().plain("the `[x]` of [Wiring](wiring.md#a) and [README](../README.md)")
    assert made == "The [x] of Wiring (docs/wiring.md) and README"


def test_the_command_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    from kiosk.__main__ import main

    assert main(["settings"]) == 0
    assert capsys.readouterr().out == shipped()
    with pytest.raises(SystemExit) as ended:
        main(["settings", "--frobnicate"])
    assert ended.value.code == 2


def test_a_reader_who_has_had_enough_is_no_error() -> None:
    command = [sys.executable, "-m", "kiosk", "settings"]
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            command, stdout=writer, stderr=subprocess.PIPE, text=True, cwd=ROOT, check=False
        )
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")
