from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from storage.sqlite import SqliteStore
from tests.storage.store_contract import StoreContract


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "store.db")
    yield opened
    opened.close()


class TestSqliteStore(StoreContract):
    pass
