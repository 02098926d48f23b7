"""Who may import whom: the walls between engine, hardware and kiosk.

The source is read, not run, so an import counts wherever it stands: at the top, inside a function,
or only for the type checker.  The checker is itself tested on small made-up projects that break
each rule, because a checker that sees nothing also finds nothing.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("engine", "hardware", "kiosk", "vm")

# Modules that talk to people on the command line may show progress, once they are running.
MAY_SHOW_PROGRESS = ("engine.__main__", "engine.labour", "engine.bench")
SHOWING_AND_SHARING = ("tqdm", "distributed")
# Asks for Cython's names, and has a stand-in for where Cython is not there.
MAY_BE_COMPILED = ("engine._search", "engine._shortest")
# What a pure engine cannot need.  (The modules above are allowed it: they measure and share out
# work between processes.)
IMPURE = frozenset(
    {"asyncio", "concurrent", "multiprocessing", "random", "secrets", "signal", "socket"}
    | {"subprocess", "threading", "time"}
)
# A generator that is handed in, seeded by whoever does, is no hidden randomness.
PURE_AFTER_ALL = frozenset({"random.Random"})
# What must run, and be tested, on a machine that cannot open a window.
KIVY_FREE = (
    "kiosk.session",
    "kiosk.settings",
    "kiosk.inputs",
    "kiosk.storage",
    "kiosk.layout",
    "kiosk.attract*",
    "kiosk.showreel",
    "kiosk.lessons",
    "kiosk.reel_wording",
    "kiosk.light",
    "kiosk.schedule",
    "kiosk.burnin",
    "kiosk.panel_controls",
    "kiosk.cursor",
    "vm",
)


@dataclass(frozen=True)
class Import:
    """One import: the dotted name asked for, its line, and whether it waits inside a function."""

    name: str
    line: int
    lazy: bool

    @property
    def top(self) -> str:
        """The first part of the name: ``kivy`` for ``kivy.clock``."""
        return self.name.partition(".")[0]


def imports_of(module: str, source: str, *, is_package: bool = False) -> Iterator[Import]:
    """Yield every import in ``source``, relative ones resolved against ``module``.

    ``from a import b`` yields ``a.b``, whether ``b`` is a module or something in one.
    """
    package = module if is_package else module.rpartition(".")[0]

    def visit(node: ast.AST, lazy: bool) -> Iterator[Import]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno, lazy)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, base]).strip(".")
            for alias in node.names:
                yield Import(f"{base}.{alias.name}".lstrip("."), node.lineno, lazy)
        elif (
            isinstance(node, ast.Call)
            and ast.unparse(node.func) in ("__import__", "import_module", "importlib.import_module")
            and node.args
        ):
            name = node.args[0]
            # A name that is computed cannot be judged, so it is a violation of its own.
            text = name.value if isinstance(name, ast.Constant) else "(computed)"
            yield Import(str(text), node.lineno, lazy)
        inside = lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(node):
            yield from visit(child, inside)

    yield from visit(ast.parse(source), False)


@dataclass(frozen=True)
class Project:
    """A project's source: module name to text.  Names of packages end in ``.__init__``."""

    sources: Mapping[str, str]

    @classmethod
    def on_disk(cls, root: Path) -> Project:
        paths = [path for package in PACKAGES for path in sorted((root / package).rglob("*.py"))]
        # What lies in these folders is not imported by anybody.
        return cls(
            {
                ".".join(path.relative_to(root).with_suffix("").parts): path.read_text("utf-8")
                for path in paths
                if not {"data", "guest"} & set(path.relative_to(root).parts)
            }
        )

    def imports(self, module: str) -> list[Import]:
        name, is_package = module.removesuffix(".__init__"), module.endswith(".__init__")
        return list(imports_of(name, self.sources[module], is_package=is_package))

    def modules(self, *patterns: str) -> list[str]:
        """Modules matching any of the patterns, or below a package that does."""
        return [
            module
            for module in self.sources
            if any(fnmatch(module, p) or fnmatch(module, f"{p}.*") for p in patterns)
        ]

    def loaded_by(self, name: str) -> list[str]:
        """Modules of ours that run when ``name`` is imported: itself, and the packages around."""
        parts = name.split(".")
        heads = [".".join(parts[:n]) for n in range(1, len(parts) + 1)]
        wanted = [module for head in heads for module in (f"{head}.__init__", head)]
        return [module for module in wanted if module in self.sources]

    def way_to(self, start: str, goal: str) -> list[str] | None:
        """A chain of imports from ``start`` to anything inside package ``goal``, or None."""
        chains = [[module] for module in self.loaded_by(start)]
        seen = {chain[-1] for chain in chains}
        while chains:
            chain = chains.pop(0)
            for found in self.imports(chain[-1]):
                if found.top == goal:
                    return [*chain, found.name]
                for module in self.loaded_by(found.name):
                    if module not in seen:
                        seen.add(module)
                        chains.append([*chain, module])
        return None


def engine_violations(project: Project) -> list[str]:
    """Imports in the engine of anything but the standard library, or of its impure part."""
    found = []
    for module in project.modules("engine"):
        works = module in MAY_SHOW_PROGRESS
        for one in project.imports(module):
            if one.top == "engine" or (one.top in SHOWING_AND_SHARING and works and one.lazy):
                continue
            if one.name == "cython" and module in MAY_BE_COMPILED:
                continue
            pure = one.top not in IMPURE or one.name in PURE_AFTER_ALL
            if one.top not in sys.stdlib_module_names or not (pure or works):
                found.append(f"{module}:{one.line} imports {one.name}")
    return found


def hardware_violations(project: Project) -> list[str]:
    """Imports that tie pins to cards: of the game in hardware, of hardware outside the wiring."""
    found = []
    for module in project.sources:
        top = module.partition(".")[0]
        for one in project.imports(module):
            inward = top == "hardware" and one.top in ("engine", "kiosk")
            outward = one.top == "hardware" and top != "hardware" and module != "kiosk.wiring"
            if inward or outward:
                found.append(f"{module}:{one.line} imports {one.name}")
    return found


def proof_violations(project: Project) -> list[str]:
    """Imports that make the appliance need what only tries it out."""
    return [
        f"{module}:{one.line} imports {one.name}"
        for module in project.sources
        for one in project.imports(module)
        if one.top == "vm" and module.partition(".")[0] != "vm"
    ]


def kivy_violations(project: Project) -> list[str]:
    """Ways from a module that must run without a window to Kivy."""
    ways = [project.way_to(module, "kivy") for module in project.modules(*KIVY_FREE)]
    return [" -> ".join(way) for way in ways if way]


def test_engine_needs_the_standard_library_alone() -> None:
    assert engine_violations(Project.on_disk(ROOT)) == []


def test_hardware_and_game_do_not_know_each_other() -> None:
    assert hardware_violations(Project.on_disk(ROOT)) == []


def test_nothing_of_the_kiosk_needs_the_virtual_machine() -> None:
    assert proof_violations(Project.on_disk(ROOT)) == []


def test_middle_layer_never_reaches_kivy() -> None:
    assert kivy_violations(Project.on_disk(ROOT)) == []


def test_every_wall_has_something_behind_it() -> None:
    # Were a module renamed, its rule would go on passing with nothing left to guard.
    project = Project.on_disk(ROOT)
    for pattern in (
        "engine",
        "hardware",
        "kiosk.wiring",
        *KIVY_FREE,
        *MAY_SHOW_PROGRESS,
        *MAY_BE_COMPILED,
    ):
        assert project.modules(pattern), pattern


def test_middle_layer_runs_without_kivy() -> None:
    # The reader above could be fooled; the interpreter cannot.
    modules = [m.removesuffix(".__init__") for m in Project.on_disk(ROOT).modules(*KIVY_FREE)]
    program = f"import sys, {', '.join(modules)}; print('kivy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


# --- The checker itself --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        "import msgspec",
        "from kivy.clock import Clock",
        "import kiosk.session",
        "import hardware",
        "def late():\n    import tqdm",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from kiosk import session",
        "try:\n    import cython\nexcept ImportError:\n    pass",
        "import importlib\nimportlib.import_module('msgspec')",
        "import importlib\nimportlib.import_module('msg' + 'spec')",
        "import random",
        "from random import Random, choice",
        "from time import monotonic",
        "import threading as harmless",
        "from .. import kiosk",
    ],
)
def test_checker_sees_a_leak_in_the_engine(source: str) -> None:
    clean = {"engine.__init__": "", "engine.cards": "import enum\nfrom . import deal\n"}
    assert engine_violations(Project(clean)) == []
    (leak, *_) = engine_violations(Project(clean | {"engine.deal": source}))
    assert leak.startswith("engine.deal:")


def test_checker_lets_only_the_command_line_show_progress_and_only_lazily() -> None:
    lazy, early = "def main():\n    from tqdm import tqdm", "from tqdm import tqdm"
    assert engine_violations(Project({"engine.__main__": lazy})) == []
    assert engine_violations(Project({"engine.__main__": early})) != []
    assert engine_violations(Project({"engine.solver": lazy})) != []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("hardware.buttons", "from kiosk.commands import Undo"),
        ("hardware.buttons", "from engine import cards"),
        ("kiosk.app", "import hardware"),
        ("kiosk.app", "def late():\n    from hardware.buttons import Panel"),
        ("kiosk.__init__", "from hardware import buttons"),
    ],
)
def test_checker_sees_pins_and_cards_meet(module: str, source: str) -> None:
    clean = {"hardware.buttons": "import gpiozero", "kiosk.wiring": "import hardware.buttons"}
    assert hardware_violations(Project(clean)) == []
    assert hardware_violations(Project(clean | {module: source})) != []


def test_checker_sees_the_kiosk_need_the_virtual_machine() -> None:
    clean = {"vm.play": "from vm import qmp\nimport engine", "kiosk.app": "import engine"}
    assert proof_violations(Project(clean)) == []
    assert proof_violations(Project(clean | {"kiosk.app": "from vm import qmp"})) != []


@pytest.mark.parametrize(
    "sources",
    [
        {"kiosk.session": "from kivy.clock import Clock"},
        {"kiosk.session": "from . import table"},
        {
            "kiosk.session": "from kiosk.commands import Tap",
            "kiosk.commands": "from .table import X",
        },
        {"kiosk.session": "import kiosk.commands", "kiosk.__init__": "import kivy"},
        {"kiosk.attract_player": "import kiosk.table"},
        {"kiosk.storage": "def late():\n    import kiosk.table"},
    ],
)
def test_checker_follows_imports_to_kivy(sources: dict[str, str]) -> None:
    clean = {
        "kiosk.__init__": "",
        "kiosk.table": "from kivy.uix.widget import Widget",
        "kiosk.commands": "import enum",
        "kiosk.session": "from kiosk.commands import Tap",
    }
    assert kivy_violations(Project(clean)) == []
    (way, *_) = kivy_violations(Project(clean | sources))
    assert way.split(" -> ")[-1].startswith("kivy")
