"""The queue as workers, housekeeper and command line see it: URLs offered, traced, counted."""

from __future__ import annotations

from typing import Any

import pytest

from crawlclean.cleaning.errors import InvalidUrl, NotFound, QueueUnavailable
from crawlclean.cleaning.urls.normal_form import page_id
from crawlclean.storage.crawl_types import CrawlState, Discovery, PageRole, Retry
from crawlclean.storage.queue.frontier import Frontier
from tests.kit.queues import (
    A,
    B,
    Spider,
    ack_all,
    begin,
    claim_all,
    fetch_all,
    spec,
    urls,
)
from tests.kit.some import some

# Offering


def test_unknown_crawl(frontier: Frontier) -> None:
    for call in (
        lambda: frontier.add("none", urls(1)),
        lambda: frontier.counts("none"),
        lambda: frontier.spec("none"),
        lambda: frontier.set_state("none", CrawlState.PAUSED),
        lambda: frontier.purge("none"),
        lambda: frontier.resume_host("none.example"),
    ):
        with pytest.raises(NotFound):
            call()
    assert frontier.crawl_ids() == []


def test_offering_again_changes_nothing(frontier: Frontier, spider: Spider) -> None:
    frontier.open_crawl(spec("c", A))
    assert frontier.add("c", urls(3)) == 3
    assert frontier.add("c", [*urls(5), *urls(5)]) == 2
    assert frontier.counts("c").pending == 6
    held = spider.pages()
    assert frontier.add("c", urls(5)) == 0
    for page in held:
        spider.put(page)
    assert frontier.add("c", urls(5)) == 0
    assert frontier.has_seen("c", page_id(A))
    assert not frontier.has_seen("c", page_id(B))


def test_crawls_share_no_seen_set(frontier: Frontier) -> None:
    frontier.open_crawl(spec("c", A))
    frontier.open_crawl(spec("d", A))
    assert frontier.counts("c").pending == frontier.counts("d").pending == 1
    assert frontier.crawl_ids() == ["c", "d"]
    assert frontier.crawls_of("a.example") == ["c", "d"]
    assert frontier.crawls_of("b.example") == []


def test_many_urls_go_in_chunks(frontier: Frontier) -> None:
    frontier.open_crawl(spec("c"))
    assert frontier.add("c", urls(2_345)) == 2_345
    counts = frontier.counts("c")
    assert (counts.pending, counts.open, counts.hosts) == (2_345, 2_345, 1)
    assert frontier.add("c", []) == 0


def test_order_is_rank_then_arrival(frontier: Frontier, spider: Spider) -> None:
    frontier.open_crawl(spec("c", delay_ms=0, slots=20))
    for i, rank in enumerate((50, 0, 99, 50, 7, 0)):
        frontier.add("c", [Discovery(url=f"http://a.example/{i}", rank=rank)])
    assert [lease.url[-1] for lease in spider.pages()] == ["1", "5", "4", "0", "3", "2"]


def test_robots_role_cannot_be_offered_as_such(frontier: Frontier, spider: Spider) -> None:
    begin(frontier, [Discovery(url="http://a.example/robots.txt", role=PageRole.ROBOTS)])
    (page,) = spider.pages()
    assert page.role is PageRole.PAGE


def test_bad_url_is_said(frontier: Frontier) -> None:
    frontier.open_crawl(spec("c"))
    with pytest.raises(InvalidUrl):
        frontier.add("c", [Discovery(url="mailto:a@b.example")])
    assert frontier.counts("c").open == 0


def test_crawl_comes_back_as_it_was_told(frontier: Frontier) -> None:
    told = spec("c", A, B, max_pages=7, max_depth=2, allow_private=True, slots=3)
    frontier.open_crawl(told)
    assert frontier.spec("c") == told
    assert frontier.hosts("c") == ["a.example", "b.example"]


def test_allow_private_travels_with_the_lease(frontier: Frontier, spider: Spider) -> None:
    frontier.open_crawl(spec("c", A, allow_private=True))
    frontier.open_crawl(spec("d", B))
    assert {lease.crawl_id: lease.allow_private for lease in spider.lease()} == {
        "c": True,
        "d": False,
    }


# One URL, counters


def test_trace_tells_a_urls_way(frontier: Frontier, spider: Spider, client: Any) -> None:
    frontier.open_crawl(spec("c", A))
    pid = page_id(A)

    def steps() -> tuple[str, list[str]] | None:
        found = frontier.trace("c", pid, "a.example")
        return found and (found[0], [step.step for step in found[1]])

    assert steps() == ("pending", ["discovered"])
    (page,) = spider.pages()
    assert steps() == ("leased", ["discovered", "leased"])
    spider.nack(page)
    assert steps() == ("retry", ["discovered", "leased", "failed"])
    fetch_all(spider)
    way = ["discovered", "leased", "failed", "leased", "fetched"]
    assert steps() == ("queued", way)
    jobs = claim_all(frontier, client)
    assert steps() == ("claimed", [*way, "claimed"])
    for job in jobs:
        frontier.break_claim(job)
    frontier.sweep()
    assert steps() == ("queued", [*way, "claimed", "claim_lost"])
    ack_all(frontier, client)
    assert steps() is None
    assert frontier.has_seen("c", pid)


def test_decision_log_stays_small(frontier: Frontier, spider: Spider, client: Any) -> None:
    frontier.open_crawl(spec("c", A))
    for _ in range(200):
        (page,) = spider.pages()
        spider.run(spider.queue.nack(page, Retry(detail="long\tdetail\n" * 100)))
    assert client.hstrlen(f"cc:p:c:{page.page_id}", "log") < 10_000
    found = some(frontier.trace("c", page.page_id, "a.example"))
    assert {step.step for step in found[1]} == {"discovered", "leased", "failed"}


def test_counters_add_up(frontier: Frontier, spider: Spider) -> None:
    frontier.count({"x": 2, "y": 1})
    spider.run(spider.queue.count({"x": 3}))
    assert frontier.counters() == {"x": 5, "y": 1}


def test_ping_names_the_server(frontier: Frontier) -> None:
    assert frontier.ping().split()[0] in ("valkey", "redis")


def test_server_away() -> None:
    frontier = Frontier("unix:///nowhere/none.sock")
    with pytest.raises(QueueUnavailable):
        frontier.crawl_ids()
    frontier.close()
