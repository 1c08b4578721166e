"""An empty MongoDB store for every test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from crawlclean.storage.mongo.store import MongoStore
from tests.kit.mongo_server import MongoServer, own_store, url_of


@pytest.fixture
def store(server: MongoServer) -> Iterator[MongoStore]:
    with own_store(server.url("")) as opened:
        yield opened


@pytest.fixture
def where(store: MongoStore) -> str:
    return url_of(store)
