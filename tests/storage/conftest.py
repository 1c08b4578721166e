"""The private server of the queue's tests, and a MongoDB-protocol server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from crawlclean.storage.sqlite.store import SqliteStore
from tests.kit.fixtures import client, frontier, new_spider, queue_url, server, spider

__all__ = ["client", "frontier", "new_spider", "queue_url", "server", "spider"]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    """An empty SQLite store."""
    with closing(SqliteStore(tmp_path / "store.db")) as opened:
        yield opened
