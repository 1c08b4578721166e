from __future__ import annotations

from pathlib import Path

import pytest

from tests.kit.api import Program, fill, program


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with something of everything; nothing runs."""
    return fill(tmp_path_factory.mktemp("api"))


@pytest.fixture(scope="session")
def reader(data: Path) -> Program:
    """A program that may read it."""
    return program(data)
