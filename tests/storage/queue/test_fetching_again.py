"""Pages that are fetched once more in a crawl that is not kept fresh: counters, waits, ends."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from crawlclean.cleaning.errors import NotFound
from crawlclean.storage.crawl_types import CrawlState, FetchResult, UrlState
from crawlclean.storage.queue.frontier import Frontier
from tests.kit.queues import (
    A,
    Spider,
    ack_all,
    assert_at_rest,
    claim_all,
    ended_url,
    fetch_all,
    let_time_pass,
    spec,
)

NAMES = ("pending", "leased", "queued", "done", "stored", "failed", "used", "revisits")
STORED = {"done": 1, "stored": 1, "used": 1}
END = ended_url(A)


def counters(client: Any) -> dict[str, int]:
    found = {name: int(client.hget("cc:c:c", name) or 0) for name in NAMES}
    return {name: n for name, n in found.items() if n}


@pytest.fixture
def finished(frontier: Frontier, spider: Spider, client: Any) -> None:
    """A finished crawl with one record and a budget of two pages."""
    frontier.open_crawl(spec("c", A, max_pages=2))
    assert fetch_all(spider) == ack_all(frontier, client) == 1
    assert frontier.counts("c").state is CrawlState.FINISHED


@pytest.mark.usefixtures("finished")
def test_a_page_is_fetched_again_once(frontier: Frontier, spider: Spider, client: Any) -> None:
    assert frontier.reopen("c", [END, END]) == 1
    assert frontier.reopen("c", [END]) == 0
    assert counters(client) == {**STORED, "pending": 1}
    assert frontier.counts("c").state is CrawlState.RUNNING
    (lease,) = spider.lease()
    assert (lease.is_revisit, lease.attempt, lease.etag) == (True, 1, "")
    assert spider.put(lease)
    spider.flush()
    ((job, (page,)),) = claim_all(frontier, client).items()
    assert page.was is UrlState.RECORD
    assert frontier.ack(job, [(page, UrlState.RECORD)]) == 1
    assert counters(client) == STORED
    assert frontier.counts("c").state is CrawlState.FINISHED
    assert_at_rest(client)


@pytest.mark.parametrize("found", [END.discovered_at, None])
@pytest.mark.usefixtures("finished")
def test_a_page_keeps_the_time_of_its_discovery(
    frontier: Frontier,
    spider: Spider,
    client: Any,
    found: datetime | None,
) -> None:
    """An imported page has none."""
    frontier.reopen("c", [replace(END, discovered_at=found)])
    (lease,) = spider.lease()
    assert spider.put(lease)
    spider.flush()
    ((page,),) = claim_all(frontier, client).values()
    assert page.provenance.discovered_at == found
    steps = [step.step for step in page.log]
    first = ["discovered", "offered again"] if found else ["offered again", "leased"]
    assert steps[:2] == first


@pytest.mark.usefixtures("finished")
def test_attempts_that_fail_wait_with_the_retries(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.reopen("c", [END])
    (lease,) = spider.lease()
    spider.nack(lease)
    assert counters(client) == {**STORED, "pending": 1}
    let_time_pass(client, "a.example")
    (lease,) = spider.lease()
    assert (lease.is_revisit, lease.attempt) == (True, 2)
    spider.close()  # killed
    frontier.expire_sessions()
    frontier.sweep()
    assert counters(client) == {**STORED, "pending": 1}
    assert frontier.counts("c").state is CrawlState.RUNNING


@pytest.mark.usefixtures("finished")
def test_a_page_that_is_gone_gives_its_place_in_the_budget_back(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.reopen("c", [END])
    (lease,) = spider.lease()
    assert spider.put(lease, FetchResult(status=404))
    spider.flush()
    assert ack_all(frontier, client, UrlState.FAILED) == 1
    assert counters(client) == {"done": 1, "failed": 1}


@pytest.mark.usefixtures("finished")
def test_a_purge_of_the_host_forgets_what_waits(frontier: Frontier, client: Any) -> None:
    frontier.reopen("c", [END])
    assert frontier.purge("c", "a.example") == 1
    assert counters(client) == STORED
    with pytest.raises(NotFound):
        frontier.reopen("none", [END])
