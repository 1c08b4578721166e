"""Ended URLs that wait in the queue to be visited again: turns, counters, ends, a queue at rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from crawlclean.cleaning.records import Via
from crawlclean.storage.crawl_types import (
    CrawlState,
    Discovery,
    FetchResult,
    PageRole,
    Scope,
    UrlRow,
    UrlState,
)
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.queue.revisits import MOST_OF_A_HOST
from crawlclean.storage.store.pictures import id_of
from tests.kit.queues import (
    A,
    Spider,
    ack_all,
    assert_at_rest,
    claim_all,
    ended_url,
    fetch_all,
    spec,
    urls,
)
from tests.kit.topic_queues import judge_pages

HOST = "a.example"


def visit(n: int, **more: Any) -> UrlRow:
    return replace(ended_url(f"http://{HOST}/old/{n}"), **more)


def open_fresh(frontier: Frontier, spider: Spider, client: Any, **more: Any) -> None:
    """A crawl that is kept fresh, whose seed has a record."""
    frontier.open_crawl(spec("c", A, keep_fresh=True, **more))
    assert fetch_all(spider) == 1
    assert ack_all(frontier, client) == 1


def counters(client: Any) -> dict[str, int]:
    """The counters of the crawl that are not 0, ``fetched`` and ``revisited`` left out."""
    names = ("pending", "leased", "queued", "done", "stored", "failed", "used", "revisits")
    found = {name: int(client.hget("cc:c:c", name) or 0) for name in names}
    return {name: n for name, n in found.items() if n}


AT_REST = {"done": 1, "stored": 1, "used": 1}


def test_a_due_url_is_leased_once_with_its_condition(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    open_fresh(frontier, spider, client)
    due = visit(1, etag='W/"a\u00e9"', last_modified="Mon, 01 Jan 2024 00:00:00 GMT", depth=3)
    assert frontier.revisits.offer("c", [due, due]) == 1
    assert counters(client) == {**AT_REST, "revisits": 1}
    assert frontier.counts("c").open == 0  # they are done until they are leased
    (lease,) = spider.lease()
    assert (lease.url, lease.is_revisit, lease.depth) == (due.url, True, 3)
    assert (lease.etag, lease.last_modified) == (due.etag, due.last_modified)
    assert frontier.revisits.offer("c", [due]) == 0  # it is under way
    assert spider.put(lease, FetchResult(status=304))
    spider.flush()
    ((job, (page,)),) = claim_all(frontier, client).items()
    assert (page.was, page.result.status) == (UrlState.RECORD, 304)
    assert frontier.revisits.offer("c", [due]) == 0
    assert frontier.ack(job, [(page, UrlState.RECORD)]) == 1
    assert counters(client) == AT_REST
    assert frontier.counts("c").revisited == 1
    assert frontier.counts("c").state is CrawlState.RUNNING  # it never finishes by itself
    assert len(frontier.receipts("c")) == 1  # that of the seed: an unchanged record is older
    assert_at_rest(client)


def test_new_urls_and_revisits_take_turns(frontier: Frontier, spider: Spider, client: Any) -> None:
    open_fresh(frontier, spider, client, trap_pages=0)
    frontier.add("c", urls(40))
    assert frontier.revisits.offer("c", [visit(n) for n in range(10)]) == 10
    order = ""
    for _ in range(50):
        (lease,) = spider.lease(1)
        order += "v" if lease.is_revisit else "n"
        spider.put(lease)
    assert order == "vn" * 10 + "n" * 30  # a million of either leave the other every second turn
    spider.flush()
    ack_all(frontier, client)
    assert counters(client) == {"done": 41, "stored": 41, "used": 41}


STEPS = st.lists(
    st.tuples(st.sampled_from(["new", "visit", "serve"]), st.integers(0, 2), st.integers(1, 3)),
    min_size=5,
    max_size=16,
)


@pytest.mark.parametrize("is_topic", [False, True])
@settings(
    max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=STEPS)
def test_neither_new_urls_nor_revisits_starve(
    frontier: Frontier, spider: Spider, client: Any, steps: list[Any], *, is_topic: bool
) -> None:
    """However they arrive, each is served, and at a host where both wait they take turns."""
    client.flushall()
    more = {"scope": Scope.TOPIC, "topic": "storms"} if is_topic else {}
    frontier.open_crawl(spec("c", keep_fresh=True, slots=1, **more))
    waiting: dict[tuple[str, str], set[str]] = {
        (host, kind): set() for host in "abc" for kind in ("new", "visit")
    }
    last: dict[str, str] = {}
    served = 0

    def offer(kind: str, host: str, count: int) -> None:
        made = [f"http://{host}.example/{kind}/{len(known) + n}" for n in range(count)]
        known.update(made)
        waiting[host, kind].update(made)
        if kind == "new":
            # The worst that a model expects: rank 998.
            frontier.add("c", [Discovery(url=url, rank=998 if is_topic else 50) for url in made])
        else:
            assert frontier.revisits.offer("c", [ended_url(url) for url in made]) == count

    def serve() -> bool:
        nonlocal served
        while leases := spider.lease(1):
            (lease,) = leases
            if lease.role is PageRole.ROBOTS:
                spider.put_robots(lease)
                continue
            kind, host = "visit" if lease.is_revisit else "new", lease.url[len("http://")]
            other = "new" if lease.is_revisit else "visit"
            if waiting[host, other] and both_waited.get(host):
                assert last[host] != kind
            waiting[host, kind].remove(lease.url)
            last[host] = kind
            both_waited[host] = bool(waiting[host, kind] and waiting[host, other])
            spider.put(lease)
            judge_pages(spider)
            served += 1
            return True
        return False

    known: set[str] = set()
    both_waited: dict[str, bool] = {}
    for step, host, count in steps:
        if step == "serve":
            for _ in range(count):
                serve()
        else:
            offer(step, "abc"[host], count)
    # Revisits come for ever, at every host: the new URLs are served nevertheless.
    left = sum(len(urls) for (_, kind), urls in waiting.items() if kind == "new")
    for _ in range(10 * 3 * 2 * (left + 1)):
        if not any(waiting[host, "new"] for host in "abc"):
            break
        for host in "abc":
            if not waiting[host, "visit"]:
                offer("visit", host, 1)
        assert serve()
    assert not any(waiting[host, "new"] for host in "abc")
    while serve():
        pass
    assert not any(waiting.values())
    assert served == len(known)


def test_a_revisit_that_fails_waits_its_time_and_stays_a_revisit(
    frontier: Frontier, spider: Spider, new_spider: Callable[..., Spider], client: Any
) -> None:
    open_fresh(frontier, spider, client)
    frontier.revisits.offer("c", [visit(1)])
    (lease,) = spider.lease()
    assert counters(client) == {**AT_REST, "leased": 1}
    spider.nack(lease, url_wait_ms=60_000)
    assert counters(client) == {**AT_REST, "revisits": 1}
    assert 50_000 < spider.wait_ms() <= 60_000
    frontier.add("c", urls(1))  # it holds nothing else up
    assert [lease.url for lease in spider.lease()] == [f"http://{HOST}/0"]
    client.zadd(f"cc:v:c:{HOST}", {visit(1).page_id: 0})
    client.zadd("cc:ready", {HOST: 0})
    (again,) = spider.lease()
    assert (again.attempt, again.is_revisit) == (2, True)
    spider.close()  # killed: its leases come back as what they were
    frontier.expire_sessions()
    frontier.sweep()
    assert counters(client) == {**AT_REST, "revisits": 1, "pending": 1}
    assert {each.is_revisit for each in new_spider().lease()} == {True, False}


def test_counters_follow_a_page_that_dies_and_comes_back(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    open_fresh(frontier, spider, client)
    for was, state, more in (
        (UrlState.RECORD, UrlState.FAILED, {"failed": 1, "stored": -1, "used": -1}),
        (UrlState.FAILED, UrlState.FAILED, {}),
        (UrlState.FAILED, UrlState.RECORD, {"failed": -1, "stored": 1, "used": 1}),
        (UrlState.RECORD, UrlState.REDIRECT, {"stored": -1, "used": -1}),
    ):
        before = counters(client)
        url = replace(ended_url(A), state=was)
        assert frontier.revisits.offer("c", [url]) == 1
        assert fetch_all(spider) == 1
        assert ack_all(frontier, client, state) == 1
        wanted = {name: before.get(name, 0) + more.get(name, 0) for name in {*before, *more}}
        assert counters(client) == {name: n for name, n in wanted.items() if n}


def test_a_spent_budget_holds_new_urls_back_and_no_revisits(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    open_fresh(frontier, spider, client, max_pages=1)
    frontier.add("c", urls(1))
    assert spider.lease() == ()
    frontier.revisits.offer("c", [visit(1)])
    (lease,) = spider.lease()
    assert lease.is_revisit
    spider.put(lease)
    spider.flush()
    ack_all(frontier, client)
    assert counters(client) == {**AT_REST, "pending": 1}


def test_only_a_crawl_that_is_kept_fresh_takes_visits(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    open_fresh(frontier, spider, client)
    assert frontier.revisits.offer("c", [visit(n) for n in range(100)]) == MOST_OF_A_HOST
    frontier.open_crawl(spec("c", A))  # `run` without --keep-fresh
    assert counters(client) == AT_REST
    assert frontier.counts("c").state is CrawlState.FINISHED
    assert list(client.scan_iter("cc:p:*")) == list(client.scan_iter("cc:v*")) == []
    assert frontier.revisits.offer("c", [visit(1)]) == 0
    assert frontier.revisits.offer("purged", [visit(1)]) == 0


def test_sitemaps_are_visited_again_as_sitemaps(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    open_fresh(frontier, spider, client)
    url = f"http://{HOST}/sitemap.xml"
    found = replace(
        ended_url(url),
        page_id=id_of(url, PageRole.SITEMAP),
        state=UrlState.SITEMAP,
        role=PageRole.SITEMAP,
        via=Via.SITEMAP,
    )
    frontier.revisits.offer("c", [found])
    (lease,) = spider.lease()
    assert (lease.role, lease.is_revisit) == (PageRole.SITEMAP, True)
    spider.put(lease)
    spider.flush()
    ack_all(frontier, client, UrlState.SITEMAP)
    assert counters(client) == AT_REST


def test_a_url_that_is_offered_anew_meanwhile_is_fetched_once(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    """`crawl recover` and `run --fresh` offer URLs of which the store knows that they are due."""
    open_fresh(frontier, spider, client)
    frontier.revisits.offer("c", [visit(1), visit(2)])
    frontier.add("c", [Discovery(url=visit(n).url) for n in (1, 2)])
    leases = spider.lease()
    assert len(leases) == 2
    for lease in leases:
        spider.put(lease)
    assert spider.lease() == ()
    spider.flush()
    ack_all(frontier, client)
    assert counters(client) == {"done": 3, "stored": 3, "used": 3}
    assert_at_rest(client)


def test_purging_a_host_deletes_its_waiting_revisits(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    open_fresh(frontier, spider, client)
    frontier.revisits.offer("c", [visit(1), visit(2)])
    spider.lease(1)
    frontier.purge("c", HOST)
    assert counters(client) == AT_REST
    frontier.purge("c")
    left = [key for key in client.scan_iter("cc:*") if ":c:" in key or key.endswith(":c")]
    assert left == []
