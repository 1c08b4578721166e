"""A host that is away for a while costs no attempts; one that never was there ends quickly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from crawlclean.storage.crawl_types import (
    Failure,
    FailureReason,
    FetchResult,
    Lease,
    LeaseDecision,
    PageRole,
    ResponseOutcome,
    Unreachable,
)
from crawlclean.storage.live_state import WaitReason
from crawlclean.storage.queue.fetch_queue import FetchQueue
from crawlclean.storage.queue.frontier import Frontier
from tests.kit.queues import Spider, assert_at_rest, begin, let_time_pass, urls

NOTHING = FetchResult(failure=Failure(reason=FailureReason.CONNECT, detail="refused"))
G = "cc:g:a.example"


def excuse(spider: Spider, lease: Lease, away: Unreachable = Unreachable.HOST) -> LeaseDecision:
    patience: LeaseDecision = spider.run(spider.queue.excuse(lease, away, "connect: refused"))
    return patience


def give_up(spider: Spider, lease: Lease) -> None:
    assert spider.run(spider.queue.put(lease, NOTHING, outcome=ResponseOutcome.NONE))


def later(client: Any) -> None:
    """As if the wait were over."""
    let_time_pass(client, "a.example")
    for field in ("wait_until", "next_probe"):
        if client.hexists(G, field):
            client.hset(G, field, 0)


@pytest.fixture
def known(frontier: Frontier, spider: Spider) -> Spider:
    """A spider at a host that has answered once and has more pages."""
    begin(frontier, urls(30))
    (robots,) = spider.lease(1)
    spider.put_robots(robots)
    return spider


def test_the_host_waits_ever_longer_and_no_attempt_is_lost(
    known: Spider, frontier: Frontier, client: Any
) -> None:
    waits, asked = [], []
    for _ in range(7):
        (lease,) = known.lease(1)
        assert (lease.attempt, lease.is_known, lease.is_gone) == (1, True, False)
        asked.append(lease.url)
        assert excuse(known, lease) is LeaseDecision.WAITS
        waits.append(round(known.wait_ms() / 1000))
        later(client)
    assert waits == [1, 4, 16, 64, 256, 256, 3], "600 s in all"
    (lease,) = known.lease()
    assert excuse(known, lease) is LeaseDecision.GONE
    assert frontier.counts("c").pending + frontier.counts("c").leased == 30
    assert (
        client.hget(f"cc:p:c:{lease.page_id}", "log").count("away")
        == 1 + asked.count(lease.url) - 1
    )


def test_an_answer_ends_the_doubt(known: Spider, client: Any) -> None:
    first = known.lease()
    assert len(first) == 8
    for lease in first:
        assert excuse(known, lease) is LeaseDecision.WAITS
    assert client.hget(G, "failures") == "1", "requests that were under way together fail once"
    later(client)
    (probe,) = known.lease()
    assert probe.attempt == 1
    assert known.lease() == (), "one request tells whether it is back"
    known.put(probe)
    assert not client.hexists(G, "failures")
    later(client)
    client.hdel(G, "slots")
    again = known.lease()
    assert len(again) == 8
    assert {lease.attempt for lease in again} == {1}


def test_urls_that_hang_together_are_tried_together_again(known: Spider, client: Any) -> None:
    for lease in known.lease():
        assert excuse(known, lease, Unreachable.URL) is LeaseDecision.WAITS
    assert client.hget(G, "failures") == "1"
    later(client)
    assert len(known.lease()) == 8, "a server that takes connections is no dead one"


def test_another_url_goes_first_after_the_wait(known: Spider, client: Any) -> None:
    (lease,) = known.lease(1)
    excuse(known, lease)
    client.hset(G, mapping={"clock": 0, "answer_ended": 0})
    client.zadd("cc:ready", {"a.example": 0})
    (other,) = known.lease()
    assert other.url != lease.url


def test_a_url_that_hangs_while_its_host_answers_is_to_blame(known: Spider) -> None:
    bad, good = known.lease(2)
    known.put(good)
    assert excuse(known, bad, Unreachable.URL) is LeaseDecision.COUNTS
    assert known.nack(bad)
    (again,) = [x for x in known.lease() if x.url == bad.url]
    assert again.attempt == 2
    assert excuse(known, again, Unreachable.URL) is LeaseDecision.COUNTS, "once to blame, always"


def test_a_url_that_is_refused_while_others_are_answered_is_to_blame(
    known: Spider, client: Any
) -> None:
    bad, good = known.lease(2)
    known.put(good)
    assert excuse(known, bad) is LeaseDecision.WAITS, "the server may have stopped in this moment"
    later(client)
    client.hset(G, "answers", 99)  # others were answered
    (again,) = known.lease(1)
    assert again.url == bad.url
    assert excuse(known, again) is LeaseDecision.COUNTS


def test_a_url_that_gets_no_answer_has_two_free_attempts(known: Spider, client: Any) -> None:
    (lease,) = known.lease(1)
    for pending in client.scan_iter("cc:q:c:*"):
        client.delete(pending)  # it is the last one
    for _ in range(2):
        assert excuse(known, lease, Unreachable.URL) is LeaseDecision.WAITS
        later(client)
        (lease,) = known.lease()
        assert lease.attempt == 1
    assert excuse(known, lease, Unreachable.URL) is LeaseDecision.COUNTS


def test_a_kept_connection_that_is_closed_is_the_fault_of_nobody(
    known: Spider, client: Any
) -> None:
    (lease,) = known.lease(1)
    for pending in client.scan_iter("cc:q:c:*"):
        client.delete(pending)  # it is the last one
    for _ in range(2):
        assert excuse(known, lease, Unreachable.CONNECTION) is LeaseDecision.WAITS
        assert client.hmget(G, "failures", "wait_until") == [None, None]
        later(client)
        (lease,) = known.lease()
        assert lease.attempt == 1
    client.hset(G, "answers", 99)  # the host answers others
    assert excuse(known, lease, Unreachable.CONNECTION) is LeaseDecision.COUNTS
    give_up(known, lease)


def test_the_urls_of_a_host_that_is_gone_end_one_by_one_unasked(
    frontier: Frontier, new_spider: Callable[..., Spider], queue_url: str, client: Any
) -> None:
    spider = new_spider()
    spider.queue = FetchQueue(queue_url, spider.queue._config, host_patience_s=2.0)
    begin(frontier, urls(20), delay_ms=30)
    (robots,) = spider.lease()
    spider.put_robots(robots)
    for _ in range(2):
        later(client)
        (lease,) = spider.lease()
        assert excuse(spider, lease) is LeaseDecision.WAITS
    later(client)
    (lease,) = spider.lease()
    assert excuse(spider, lease) is LeaseDecision.GONE
    give_up(spider, lease)
    fetched = frontier.counts("c").fetched
    for _ in range(19):
        let_time_pass(client, "a.example")
        (lease,) = spider.lease()
        assert lease.is_gone
        assert spider.put(lease, NOTHING, asked=False)
    assert frontier.counts("c").fetched == fetched
    assert frontier.counts("c").pending == 0
    assert_at_rest_but_queued(client)


def assert_at_rest_but_queued(client: Any) -> None:
    client.delete("cc:flight")
    assert_at_rest(client)


def test_a_host_that_is_gone_is_asked_once_a_minute(known: Spider, client: Any) -> None:
    client.hset(G, mapping={"failures": 7, "waited_ms": 600_000, "unconnected": 1})
    (lease,) = known.lease()
    assert not lease.is_gone
    assert excuse(known, lease) is LeaseDecision.GONE
    give_up(known, lease)
    (lease,) = known.lease(1)
    assert lease.is_gone
    known.put(lease, NOTHING, asked=False)
    later(client)
    (probe,) = known.lease()
    assert not probe.is_gone
    known.put(probe)
    later(client)
    assert {lease.is_gone for lease in known.lease()} == {False}


def test_a_host_that_never_answered_is_not_waited_for(frontier: Frontier, spider: Spider) -> None:
    begin(frontier, urls(10))
    for attempt in (1, 2):
        (robots,) = spider.lease()
        assert (robots.attempt, robots.is_known) == (attempt, False)
        assert excuse(spider, robots) is LeaseDecision.COUNTS
        spider.nack(robots)
    (robots,) = spider.lease()
    spider.run(spider.queue.miss_robots(robots, ttl_ms=60_000))
    for _ in range(6):
        (lease,) = spider.lease(1)
        assert excuse(spider, lease) is LeaseDecision.COUNTS
        give_up(spider, lease)
    (lease,) = spider.lease(1)
    assert excuse(spider, lease) is LeaseDecision.GONE, "nine requests in vain"
    give_up(spider, lease)
    assert {lease.is_gone for lease in spider.lease()} == {True}


@pytest.mark.parametrize("has_rules", [True, False])
def test_a_name_that_does_not_exist_is_looked_up_twice(
    frontier: Frontier, spider: Spider, client: Any, has_rules: bool
) -> None:
    """Without a look-up for each URL: these took most requests of a topic crawl."""
    begin(frontier, urls(5))
    if has_rules:
        client.hset(G, "robots_until", 99_999_999_999_999)
    first, *others = spider.lease(2)
    assert (first.role is PageRole.PAGE) is has_rules
    assert excuse(spider, first, Unreachable.NAME) is LeaseDecision.WAITS
    for lease in others:  # its look-up was under way
        assert excuse(spider, lease, Unreachable.NAME) is LeaseDecision.WAITS
    assert spider.lease() == ()
    (wait,) = frontier.waits.of([("c", "a.example")]).hosts
    assert wait.reason is WaitReason.AWAY
    later(client)
    (again,) = spider.lease(1)
    assert again.attempt == 1, "the first look-up has cost none"
    assert excuse(spider, again, Unreachable.NAME) is LeaseDecision.GONE
    if has_rules:
        give_up(spider, again)
    else:
        spider.run(spider.queue.miss_robots(again, ttl_ms=60_000))
    gone: list[Lease] = []
    while leases := spider.lease(1):
        gone += leases
        spider.put(leases[0], NOTHING, asked=False)
    assert {lease.is_gone for lease in gone} == {True}
    assert len(gone) + (again.role is PageRole.PAGE) == 5, "no URL was lost"
    assert frontier.counts("c").pending == 0


def test_a_name_that_is_known_later_is_crawled(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    begin(frontier, urls(3))
    (robots,) = spider.lease(1)
    assert excuse(spider, robots, Unreachable.NAME) is LeaseDecision.WAITS
    later(client)
    (robots,) = spider.lease(1)
    spider.put_robots(robots)
    later(client)
    assert {lease.is_gone for lease in spider.lease()} == {False}
    assert client.hget(G, "failures") is None


def test_a_robots_txt_that_hangs_alone_holds_nobody(known: Spider, client: Any) -> None:
    client.hset(G, "robots_until", 0)
    (robots,) = known.lease()
    assert robots.role is PageRole.ROBOTS
    assert excuse(known, robots, Unreachable.URL) is LeaseDecision.COUNTS
    assert excuse(known, robots, Unreachable.HOST) is LeaseDecision.WAITS
    later(client)
    (robots,) = known.lease()
    assert robots.attempt == 1


def test_our_own_network_says_nothing_of_a_host(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    begin(frontier, urls(1))
    for _ in range(12):
        (robots,) = spider.lease()
        assert (robots.role, robots.attempt) == (PageRole.ROBOTS, 1)
        assert excuse(spider, robots, Unreachable.NETWORK) is LeaseDecision.WAITS
        assert not client.hexists(G, "failures")
        let_time_pass(client, "a.example")
    spider.put_robots(spider.lease()[0])
    for _ in range(12):
        (lease,) = spider.lease()
        assert lease.attempt == 1
        assert excuse(spider, lease, Unreachable.NETWORK) is LeaseDecision.WAITS
        let_time_pass(client, "a.example")


def test_an_old_token_excuses_nothing(known: Spider, frontier: Frontier) -> None:
    (lease,) = known.lease(1)
    known.put(lease)
    before = frontier.counts("c")
    assert excuse(known, lease) is LeaseDecision.STALE
    assert frontier.counts("c") == before
