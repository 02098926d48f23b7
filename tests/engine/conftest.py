"""The oracle that tries everything, compiled once for all tests of a process."""

from __future__ import annotations

import pytest

from tests.engine.uncut import Uncut


@pytest.fixture(scope="session")
def uncut(tmp_path_factory: pytest.TempPathFactory) -> Uncut:
    return Uncut(tmp_path_factory.mktemp("uncut"))
