"""What hosts wait for, read from a real queue in each of its states."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from msgspec.structs import replace

from crawlclean.storage.config import StorageConfig
from crawlclean.storage.crawl_types import (
    CrawlState,
    Discovery,
    FetchResult,
    PageRole,
    Politeness,
    PolitenessPolicy,
    ResponseOutcome,
    Retry,
    Unreachable,
)
from crawlclean.storage.live_state import Hold, WaitingHost, WaitReason
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.store.hosts import Slowdown
from tests.kit.queues import A, B, Spider, begin, let_time_pass, pause_host, spec, urls
from tests.kit.some import some
from tests.kit.timing import wait_until


def wait_of(frontier: Frontier, host: str = "a.example") -> WaitingHost:
    (found,) = frontier.waits.of([("c", host)]).hosts
    return found


def seconds_left(frontier: Frontier) -> float:
    found = frontier.waits.of([("c", "a.example")])
    return (some(found.hosts[0].until) - found.at).total_seconds()


def test_a_host_waits_for_its_answer_then_for_its_delay(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", A, f"{A}1", f"{A}2", delay_ms=60_000))
    assert wait_of(frontier).reason is WaitReason.READY
    (robots,) = spider.lease()
    assert wait_of(frontier).reason is WaitReason.IN_FLIGHT
    assert spider.put_robots(robots)
    found = wait_of(frontier)
    assert (found.reason, found.pause_s, found.urls) == (WaitReason.DELAY, 60.0, 3)
    assert 50 < seconds_left(frontier) <= 60.01
    let_time_pass(client, "a.example")
    assert wait_of(frontier).reason is WaitReason.READY


def test_the_longer_crawl_delay_and_slow_answers_are_named(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    policy = PolitenessPolicy(delay_factor=2.0)
    frontier.open_crawl(spec("c", A, f"{A}1", f"{A}2", delay_ms=1000, policy=policy))
    assert spider.put_robots(spider.lease()[0], crawl_delay_ms=5000)
    found = wait_of(frontier)
    assert (found.reason, found.pause_s) == (WaitReason.CRAWL_DELAY, 5.0)
    let_time_pass(client, "a.example")
    (page,) = spider.lease()
    slow = FetchResult(status=200, body=b"<p>x", elapsed_ms=20_000)
    spider.run(spider.queue.put(page, slow, outcome=ResponseOutcome.ANSWERED))
    found = wait_of(frontier)
    assert found.reason is WaitReason.SLOW_ANSWERS
    assert found.pause_s > 5


def test_a_host_that_an_operator_slowed_down_is_asked_less_at_once(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", *(f"{A}{n}" for n in range(9)), delay_ms=0, slots=4))
    assert spider.put_robots(spider.lease()[0])
    first = spider.lease()
    assert len(first) == 4
    slowed = Slowdown(host="a.example", delay_ms=None, slots=1, since=datetime.now(UTC))
    frontier.slow(slowed)
    assert [spider.put(page) for page in first[:3]] == [True] * 3
    assert spider.lease() == (), "one request is under way"
    frontier.slow(replace(slowed, delay_ms=60_000, slots=None))
    assert spider.put(first[3])
    assert spider.lease() == ()
    found = wait_of(frontier)
    assert (found.reason, found.pause_s) == (WaitReason.SLOWED, 60)
    assert 50 < seconds_left(frontier) <= 60.01
    assert client.ttl("cc:g:a.example") == -1, "kept until somebody ends it"
    frontier.end_slow("a.example")
    wait_until(lambda: len(spider.lease()) == 4, 1.0)  # the margin of the clock is 5 ms


def test_a_slowdown_never_makes_a_host_faster(frontier: Frontier, spider: Spider) -> None:
    frontier.open_crawl(spec("c", A, f"{A}1", delay_ms=90_000))
    slowed = Slowdown(host="a.example", delay_ms=1_000, slots=8, since=datetime.now(UTC))
    frontier.slow(slowed)
    assert spider.put_robots(spider.lease()[0])
    found = wait_of(frontier)
    assert (found.reason, found.pause_s) == (WaitReason.DELAY, 90)


def test_a_refusal_is_named_while_its_time_lasts(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", A, f"{A}1", delay_ms=1000))
    assert spider.put_robots(spider.lease()[0])
    let_time_pass(client, "a.example")
    (page,) = spider.lease()
    asked = Retry(
        detail="429", url_wait_ms=0, host_wait_ms=120_000, outcome=ResponseOutcome.SLOW_DOWN
    )
    assert spider.run(spider.queue.nack(page, asked))
    assert wait_of(frontier).reason is WaitReason.SLOW_DOWN
    assert 110 < seconds_left(frontier) <= 120.01
    let_time_pass(client, "a.example")
    (page,) = spider.lease()
    assert spider.put(page)
    assert wait_of(frontier).reason is WaitReason.DELAY, "the refusal is over"


def test_robots_errors_hold_the_host(frontier: Frontier, spider: Spider) -> None:
    frontier.open_crawl(spec("c", A))
    (robots,) = spider.lease()
    forbid_all = "User-agent: *\nDisallow: /\n"
    assert spider.run(spider.queue.hold_robots(robots, forbid_all))
    assert wait_of(frontier).reason is WaitReason.ROBOTS
    assert 295 < seconds_left(frontier) <= 300.01


def test_a_host_without_connection_is_away_then_gone(
    frontier: Frontier, new_spider: Callable[..., Spider], client: Any
) -> None:
    spider = new_spider()
    begin(frontier, urls(30))
    assert spider.put_robots(spider.lease(1)[0])
    (page,) = spider.lease(1)
    spider.run(spider.queue.excuse(page, Unreachable.HOST, "connect: refused"))
    assert wait_of(frontier).reason is WaitReason.AWAY
    assert 0 < seconds_left(frontier) <= 1.01
    client.hset("cc:g:a.example", mapping={"next_probe": 10**14})
    assert wait_of(frontier).reason is WaitReason.GONE


def test_urls_that_failed_wait_for_their_next_attempt(frontier: Frontier, spider: Spider) -> None:
    frontier.open_crawl(spec("c", A))
    (page,) = spider.pages(1)
    assert spider.nack(page, url_wait_ms=90_000)
    found = wait_of(frontier)
    assert (found.reason, found.urls) == (WaitReason.RETRY, 1)
    assert 80 < seconds_left(frontier) <= 90.01


def test_pauses_stops_and_limits_are_named(frontier: Frontier, spider: Spider) -> None:
    frontier.open_crawl(spec("c", A, f"{A}1", max_pages=1))
    pause_host(frontier, "a.example")
    assert wait_of(frontier).reason is WaitReason.PAUSED
    frontier.resume_host("a.example")
    frontier.set_state("c", CrawlState.PAUSED)
    assert wait_of(frontier).reason is WaitReason.CRAWL_PAUSED
    frontier.set_state("c", CrawlState.STOPPED)
    assert wait_of(frontier).reason is WaitReason.CRAWL_STOPPED
    frontier.set_state("c", CrawlState.RUNNING)
    assert spider.put(spider.pages(1)[0])
    assert wait_of(frontier).reason is WaitReason.LIMIT


def test_a_host_at_the_address_of_another_waits_for_the_other(
    frontier: Frontier, spider: Spider
) -> None:
    policy = PolitenessPolicy(politeness=Politeness.IP)
    frontier.open_crawl(spec("c", A, B, f"{B}1", delay_ms=60_000, policy=policy))
    for lease in spider.lease():
        if spider.run(spider.queue.locate(lease, "192.0.2.7")):
            assert lease.role is PageRole.ROBOTS
            assert spider.put_robots(lease)
    reasons = {wait_of(frontier, host).reason for host in ("a.example", "b.example")}
    assert reasons == {WaitReason.DELAY, WaitReason.ADDRESS}


def test_what_holds_all_leasing_back_is_named(
    frontier: Frontier, new_spider: Callable[..., Spider]
) -> None:
    spider = new_spider(StorageConfig(max_pages_in_flight=1))
    frontier.open_crawl(spec("c", A, f"{A}1"))
    assert spider.put(spider.pages(1)[0])
    assert frontier.waits.of([]).holds == []
    assert spider.ask().paused
    frontier.hold_for_disk(is_full=True)
    found = frontier.waits.of_crawl("c")
    assert found.holds == [Hold.PAGES, Hold.DISK]
    assert (found.spiders, found.pages_in_flight) == (1, 1)
    assert [each.reason for each in found.hosts] == [WaitReason.READY]


def test_a_crawl_of_many_hosts_is_read_up_to_a_limit_that_shows(frontier: Frontier) -> None:
    begin(frontier, [Discovery(url=f"http://h{i}.example/") for i in range(250)])
    whole = frontier.waits.of_crawl("c")
    assert (len(whole.hosts), whole.known) == (250, 250)
    some = frontier.waits.of_crawl("c", most=30)
    assert (len(some.hosts), some.known) == (30, 250)
    assert frontier.waits.of([("c", "no.example")]).hosts[0].reason is WaitReason.NOTHING_LEFT


def fail(spider: Spider, client: Any, outcome: ResponseOutcome, why: str) -> None:
    """A request fails, and may be repeated at once."""
    (lease,) = spider.pages(1)
    assert spider.run(spider.queue.nack(lease, Retry(detail=why, outcome=outcome)))
    let_time_pass(client, "a.example")


def test_how_requests_fail_is_noted_until_as_many_are_answered(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", *(f"{A}{n}" for n in range(9))))
    assert frontier.waits.troubled() == []
    fail(spider, client, ResponseOutcome.SLOW_DOWN, "status 429")
    (first,) = frontier.waits.troubled()
    fail(spider, client, ResponseOutcome.NONE, "timeout: no response")
    (both,) = frontier.waits.troubled()
    assert (both.host, both.requests, both.since) == ("a.example", 2, first.since)
    assert (both.outcome, both.why, both.crawls) == ("none", "timeout: no response", ["c"])
    assert both.newest >= both.since
    assert spider.put(spider.pages(1)[0])
    assert [each.requests for each in frontier.waits.troubled()] == [2], "one answer ends nothing"
    let_time_pass(client, "a.example")
    assert spider.put(spider.pages(1)[0])
    assert frontier.waits.troubled() == []
    assert not client.hexists("cc:g:a.example", "trouble")


def test_other_errors_are_noted_where_nothing_else_fails(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", *(f"{A}{n}" for n in range(9))))
    for _ in range(2):
        fail(spider, client, ResponseOutcome.ERROR, "status 403")
    assert [(each.outcome, each.requests) for each in frontier.waits.troubled()] == [("error", 2)]
    fail(spider, client, ResponseOutcome.SLOW_DOWN, "status 503")
    fail(spider, client, ResponseOutcome.ERROR, "status 403")
    (trouble,) = frontier.waits.troubled()
    assert (trouble.outcome, trouble.requests, trouble.why) == ("slow_down", 1, "status 503")
