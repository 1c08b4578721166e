"""What a container starts: secrets in the settings, and the check of its health."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from crawlclean.cleaning.errors import ServiceError, StoreUnavailable
from crawlclean.storage.config import StorageConfig
from crawlclean.storage.queue.fetch_queue import FetchQueue
from tests.kit.deployed_redis import DEPLOY, DeployedRedis


@pytest.fixture(scope="module")
def entrypoint() -> ModuleType:
    spec = importlib.util.spec_from_file_location("entrypoint", DEPLOY / "entrypoint.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def redis() -> Iterator[DeployedRedis]:
    with DeployedRedis() as server:
        server.await_ready()
        yield server


def test_secrets_are_put_into_urls(entrypoint: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "one").write_text("p@ss/w:rd\n")
    (tmp_path / "none").write_text("\n")
    given = {"A_URL": "redis://:{one}@h/0", "OTHER": "{one}", "B_URL": "redis://h"}
    assert entrypoint.with_secrets(given, tmp_path) == {
        "A_URL": "redis://:p%40ss%2Fw%3Ard@h/0",
        "OTHER": "{one}",
        "B_URL": "redis://h",
    }
    with pytest.raises(ValueError, match="none is empty"):
        entrypoint.with_secrets({"A_URL": "{none}"}, tmp_path)
    with pytest.raises(OSError, match="absent"):
        entrypoint.with_secrets({"A_URL": "{absent}"}, tmp_path)


def test_a_spider_that_reaches_no_host_is_not_healthy(
    entrypoint: ModuleType, redis: DeployedRedis
) -> None:
    settings = {"CRAWLCLEAN_REDIS_URL": redis.url("spider")}
    runner, queue = asyncio.Runner(), FetchQueue(redis.url("spider"), StorageConfig())
    with runner:
        runner.run(queue.renew())
        entrypoint.check_health(settings)
        runner.run(queue.renew("does not reach a.example, left to other machines"))
        with pytest.raises(ServiceError, match=r"spider .*: does not reach a\.example, left to"):
            entrypoint.check_health(settings)
        runner.run(queue.renew())
        entrypoint.check_health(settings)
        runner.run(queue.close())


def test_a_worker_without_its_store_is_not_healthy(
    entrypoint: ModuleType, redis: DeployedRedis
) -> None:
    settings = {"CRAWLCLEAN_REDIS_URL": redis.url("worker")}
    settings["CRAWLCLEAN_MONGODB_URL"] = "mongodb://127.0.0.1:1/crawl?serverSelectionTimeoutMS=50"
    with pytest.raises(StoreUnavailable):
        entrypoint.check_health(settings)
