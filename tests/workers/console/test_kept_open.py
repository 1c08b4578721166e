"""What the console keeps open between two questions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from storage.crawl_types import CrawlSpec, CrawlState, Discovery
from storage.opening import open_store
from tests.kit.console import console_of, settings_of
from tests.kit.outcomes import HOST, make_outcome
from tests.kit.private_queue import PrivateQueue

WAITS = f"http://{HOST}/waits.html"
UNKNOWN = f"http://{HOST}/none.html"


def connections(queue: PrivateQueue) -> int:
    """Connections that the queue's server has accepted since its start."""
    told: Any = queue.client.info("stats")
    return int(told["total_connections_received"])


def test_a_url_is_explained_over_the_connection_that_is_open(tmp_path: Path) -> None:
    with PrivateQueue(tmp_path / "data") as queue:
        settings = settings_of(queue.data)
        store = open_store(settings.storage, create=True)
        spec = CrawlSpec(crawl_id="c1", seeds=(f"http://{HOST}/",))
        store.crawls.put(spec, CrawlState.RUNNING)
        store.save([make_outcome("/t/1")])
        store.statistics.refresh()
        store.close()
        queue.frontier.open_crawl(spec)
        queue.frontier.offer("c1", [Discovery(url=WAITS)])
        with console_of(settings) as client:
            assert "pending" in client.get("/pages", query_string={"url": WAITS}).text
            opened = connections(queue)
            for url in (WAITS, UNKNOWN) * 5:
                assert client.get("/pages", query_string={"url": url}).status_code in (200, 404)
            assert connections(queue) == opened
