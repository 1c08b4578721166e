"""What the console keeps open between two questions."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from crawlclean.cleaning.errors import QueueUnavailable
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState, Discovery
from crawlclean.storage.opening import open_store
from crawlclean.workers.operations.watching.kept_backends import KeptBackends
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
            assert "waits to be fetched" in client.get("/pages", query_string={"url": WAITS}).text
            opened = connections(queue)
            for url in (WAITS, UNKNOWN) * 5:
                assert client.get("/pages", query_string={"url": url}).status_code in (200, 404)
            # One for what the console renews in the background meanwhile, at the same moment.
            assert connections(queue) <= opened + 1


def numbers() -> Callable[[], int]:
    """Counts its calls."""
    return iter(range(1, 100)).__next__


def test_what_cannot_be_renewed_is_no_longer_given(tmp_path: Path) -> None:
    now = [0.0]
    backends = KeptBackends(settings_of(tmp_path), clock=lambda: now[0])

    def is_away() -> int:
        raise QueueUnavailable("the queue is away")

    assert backends.remembered("a", 3.0, numbers()) == 1
    now[0] = 4.0
    assert backends.remembered("a", 3.0, is_away) == 1
    now[0] = 6.0
    backends.close()
    with pytest.raises(QueueUnavailable, match="is away"):
        backends.remembered("a", 3.0, is_away)


def test_an_answer_that_was_asked_for_before_an_action_is_not_kept(tmp_path: Path) -> None:
    with closing(KeptBackends(settings_of(tmp_path))) as backends:
        assert backends.remembered("room", 60, lambda: 1) == 1
        backends.forget_all()

        def ask() -> int:
            backends.forget_all()  # an action ends meanwhile
            return 2

        assert backends.remembered("room", 60, ask) == 2
        assert backends.remembered("room", 60, lambda: 3) == 3
        assert backends.remembered("room", 60, lambda: 4) == 3
