"""setup.py: what is compiled can always be left out.

Each test builds a copy of the engine in a process of its own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
COMPILED = ("_search", "_shortest", "_casual")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The engine and setup.py, nothing built; times kept, so that Cython's work is not repeated."""
    shutil.copy2(ROOT / "setup.py", tmp_path)
    shutil.copytree(
        ROOT / "engine",
        tmp_path / "engine",
        ignore=shutil.ignore_patterns("*.so", "__pycache__", "data"),
    )
    return tmp_path


def built(copy: Path, before: str = "", **environment: str) -> set[str]:
    """Build in place, after a line of Python, and return the names of the compiled modules."""
    program = (
        f"import sys; {before}\n"
        "sys.argv = ['setup.py', '--quiet', 'build_ext', '--inplace']\n"
        "exec(compile(open('setup.py').read(), 'setup.py', 'exec'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=copy,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return {path.name.split(".")[0] for path in (copy / "engine").glob("*.so")}


def is_compiled(copy: Path) -> bool:
    """Whether the copy's solver is compiled; it must find its answer either way."""
    program = (
        "from engine._search import COMPILED; from engine.deal import Deal\n"
        "from engine.position import Position; from engine.rules import PRESETS\n"
        "from engine.solver import solve\n"
        "assert solve(Position(Deal.from_number(1), PRESETS['three-pass'])).winnable\n"
        "print(COMPILED)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=copy, capture_output=True, text=True, check=True
    )
    return done.stdout.strip() == "True"


def test_without_cython_nothing_is_compiled_and_all_works(copy: Path) -> None:
    assert built(copy, "sys.modules['Cython'] = sys.modules['Cython.Build'] = None") == set()
    assert not is_compiled(copy)


def test_without_a_compiler_nothing_is_compiled_and_all_works(copy: Path) -> None:
    pytest.importorskip("Cython")
    assert built(copy, CC="/nowhere/cc") == set()
    assert not is_compiled(copy)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no compiler")
def test_with_both_it_is_compiled(copy: Path) -> None:
    pytest.importorskip("Cython")
    for name in COMPILED:  # from the source alone
        (copy / "engine" / f"{name}.c").unlink(missing_ok=True)
    assert built(copy) == set(COMPILED)
    assert is_compiled(copy)
