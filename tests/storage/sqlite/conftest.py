"""Where others open the SQLite store of a test."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def where(tmp_path: Path) -> Path:
    return tmp_path / "store.db"
