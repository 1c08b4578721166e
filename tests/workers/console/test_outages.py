"""Queue and store go away under an open console, and come back."""

from __future__ import annotations

from pathlib import Path

from crawlclean.storage.config import StorageConfig
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState
from crawlclean.storage.mongo.store import MongoStore
from crawlclean.storage.queue.embedded import EmbeddedServer
from crawlclean.workers.config import Settings
from tests.kit.console import console_of
from tests.kit.mongo_server import MongoServer
from tests.kit.outcomes import HOST, make_outcome
from tests.kit.timing import wait_until

AWAY = "server does not answer: nothing moves"


def test_servers_that_stop_and_start_again(tmp_path: Path) -> None:
    queue = EmbeddedServer(tmp_path / "queue")
    queue.start()
    url = queue.url
    with MongoServer(tmp_path / "mongo") as mongo:
        store = MongoStore(mongo.url("crawl"))
        store.crawls.put(CrawlSpec(crawl_id="c1", seeds=()), CrawlState.FINISHED)
        store.save([make_outcome("/t/1")])
        store.statistics.refresh()
        store.close()
        servers = StorageConfig(
            data=tmp_path / "data",
            redis_url=url,
            mongodb_url=mongo.url("crawl", "?serverSelectionTimeoutMS=500"),
        )
        with console_of(Settings(storage=servers)) as client:
            assert client.get("/readyz").status_code == 200
            assert "c1" in client.get("/").text
            assert HOST in client.get("/hosts").text

            queue.stop()
            page = client.get("/")
            assert page.status_code == 200
            assert AWAY in page.text
            assert "c1" in page.text  # the store is there
            assert client.get("/readyz").status_code == 503
            assert client.get("/metrics").status_code == 503
            assert client.get("/hosts").status_code == 200

            mongo.kill()
            wait_until(lambda: client.get("/hosts").status_code == 503)
            assert client.get("/").status_code == 200

            mongo.start()
            queue = EmbeddedServer(tmp_path / "queue")
            queue.start()
            assert queue.url == url
            wait_until(lambda: client.get("/readyz").status_code == 200)
            wait_until(lambda: AWAY not in client.get("/").text)
            assert HOST in client.get("/hosts").text
    queue.stop()
