"""Fixtures of the tests that talk to a queue or to MongoDB; a ``conftest.py`` imports its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from crawlclean.storage.config import StorageConfig
from crawlclean.storage.queue.embedded import EmbeddedServer
from crawlclean.storage.queue.frontier import Frontier
from tests.kit.mongo_server import MongoServer, running
from tests.kit.queues import Spider
from tests.kit.worker_bench import Bench


@pytest.fixture(scope="session")
def queue_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One private server for all tests."""
    server = EmbeddedServer(tmp_path_factory.mktemp("queue"))
    server.start()
    yield server.url
    server.stop()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MongoServer]:
    """One MongoDB-protocol server for all tests; each has databases of its own."""
    with running(tmp_path_factory.mktemp("mongo")) as started:
        yield started


@pytest.fixture
def client(queue_url: str) -> Iterator[Any]:
    """A plain client of an empty server."""
    with Redis.from_url(queue_url, decode_responses=True) as plain:
        plain.flushall()
        yield plain


@pytest.fixture
def frontier(queue_url: str, client: Any) -> Iterator[Frontier]:  # noqa: ARG001 - empties it
    """The blocking side of an empty queue."""
    queue = Frontier(queue_url)
    yield queue
    queue.close()


@pytest.fixture
def new_spider(queue_url: str) -> Iterator[Callable[..., Spider]]:
    """Makes spiders and ends them."""
    spiders: list[Spider] = []

    def make(config: StorageConfig | None = None) -> Spider:
        spiders.append(Spider(queue_url, config))
        return spiders[-1]

    yield make
    for spider in spiders:
        spider.close()


@pytest.fixture
def spider(new_spider: Callable[..., Spider]) -> Spider:
    """One spider."""
    return new_spider()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A private queue, a store, and a worker that the test starts."""
    with Bench(tmp_path) as started:
        yield started
