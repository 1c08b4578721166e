"""An empty SQLite store for every test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from crawlclean.storage.sqlite.store import SqliteStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(tmp_path / "store.db")) as opened:
        yield opened


@pytest.fixture
def where(tmp_path: Path) -> Path:
    return tmp_path / "store.db"
