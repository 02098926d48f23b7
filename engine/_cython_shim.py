"""What ``engine._search`` asks of the module ``cython``, for where there is none.

Invariant: nothing here does anything.  Interpreted code is not compiled, and holds the
interpreter's lock whatever it asks for.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Final

compiled: Final = False
nogil: Final = nullcontext()
