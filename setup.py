"""Compiles the solver's loops and the casual player, where that is possible.

Everything else about the package is in pyproject.toml.

Invariant: a machine without Cython, or without a compiler that works, gets the same program: they
are then interpreted, with the same answers, only slower.
"""

from __future__ import annotations

from setuptools import Extension, setup


def extensions() -> list[Extension]:
    """What can be compiled, or nothing if Cython is not there."""
    try:
        from Cython.Build import cythonize  # noqa: PLC0415
    except ImportError:
        return []
    found: list[Extension] = cythonize(
        [
            Extension(
                f"engine.{name}",
                [f"engine/{name}.py"],
                depends=[f"engine/{name}.pxd", "engine/_search.pxd"],
                extra_compile_args=["-O2"],
            )
            for name in ("_search", "_shortest", "_casual")
        ],
        compiler_directives={
            "language_level": 3,
            # The types are in the .pxd files; "int" in the source is Python's word, not C's.
            "annotation_typing": False,
            "boundscheck": False,
            "wraparound": False,
            "initializedcheck": False,
            "cdivision": True,
        },
    )
    for extension in found:
        # cythonize() forgets it, and without it a missing compiler ends the installation.
        extension.optional = True
    return found


setup(ext_modules=extensions())
