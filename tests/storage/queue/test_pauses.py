"""How long a host is left alone when it is slow, when crawls differ, when an operator said so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from crawlclean.storage.crawl_types import (
    FetchResult,
    HostPoliteness,
    Lease,
    PageRole,
    PolitenessPolicy,
    ResponseOutcome,
)
from crawlclean.storage.queue.frontier import Frontier
from tests.kit.queues import (
    END_MARGIN_MS,
    A,
    Spider,
    begin,
    let_time_pass,
    pause_host,
    server_ms,
    spec,
    urls,
)

HOST_TTL_S = 172_800


def took(ms: int) -> FetchResult:
    return FetchResult(status=200, body=b"<p>x", elapsed_ms=ms)


def put(spider: Spider, lease: Lease, result: FetchResult, outcome: ResponseOutcome) -> None:
    assert spider.run(spider.queue.put(lease, result, outcome=outcome))


def pause_after(
    spider: Spider, client: Any, ms: int, outcome: ResponseOutcome = ResponseOutcome.ANSWERED
) -> int:
    """What the host's clock shows after one answer that took so long, ms from now."""
    let_time_pass(client, "a.example")
    (lease,) = spider.lease(1)
    before = server_ms(client)
    put(spider, lease, took(ms), outcome)
    return int(client.hget("cc:g:a.example", "clock")) - before


def test_a_slow_host_is_left_alone_as_long_as_it_works(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    policy = PolitenessPolicy(delay_factor=2.0)
    seeds = [f"{A}{i}" for i in range(40)]
    frontier.open_crawl(spec("c", *seeds, delay_ms=1000, policy=policy, trap_pages=0))
    robots = spider.lease()
    spider.put_robots(robots[0])
    assert 1000 <= pause_after(spider, client, 100) < 1500, "a quick host has its plain delay"
    slow = [pause_after(spider, client, 4000) for _ in range(8)]
    assert slow == sorted(slow), "the time is smoothed"
    assert slow[0] < 4000
    assert 7000 < slow[-1] < 8500
    as_before = pause_after(spider, client, 60_000, ResponseOutcome.NONE)
    assert as_before < 8500, "no answer is no answer time: the host waits for other reasons"
    for _ in range(10):
        raised = pause_after(spider, client, 60_000, ResponseOutcome.ERROR)
    assert 25_000 < raised <= 30_500, "30 s at most"
    held = pause_after(spider, client, 1, ResponseOutcome.ERROR)
    assert held > 20_000, "a quick error does not say that the host is quick"
    assert [pause_after(spider, client, 1) for _ in range(4)][-1] < 0.7 * held


@pytest.mark.parametrize("more", [{"delay_ms": 0}, {"policy": PolitenessPolicy(delay_factor=0.0)}])
def test_no_slowness_counts_without_delay_or_factor(
    frontier: Frontier, spider: Spider, client: Any, more: dict[str, Any]
) -> None:
    frontier.open_crawl(spec("c", A, f"{A}1", **{"delay_ms": 500, **more}))
    spider.put_robots(spider.lease()[0])
    assert pause_after(spider, client, 20_000) < 600


def test_a_host_that_chokes_gets_fewer_requests_at_a_time(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    begin(frontier, urls(600), slots=8, trap_pages=0)
    held = spider.pages(8)

    def answer_all(ms: int, outcome: ResponseOutcome = ResponseOutcome.ANSWERED) -> int:
        """How many requests the host gets at a time afterwards."""
        nonlocal held
        for lease in held:
            put(spider, lease, took(ms), outcome)
        client.hset("cc:g:a.example", "next_cut", 0)  # as if a second had passed
        held = list(spider.lease())
        return len(held)

    assert len(held) == 8
    assert answer_all(50) == 8
    assert answer_all(900) == 8, "slow, but not too slow"
    put(spider, held.pop(), took(50), ResponseOutcome.SLOW_DOWN)
    assert answer_all(50) == 8, "one page may be what is refused"
    assert answer_all(50, ResponseOutcome.SLOW_DOWN) == 4
    assert [answer_all(50) for _ in range(2)] == [6, 8], "it is given them back one by one"
    fewer = [answer_all(5000) for _ in range(4)]
    assert fewer == [4, 2, 1, 1]
    assert [answer_all(50) for _ in range(60)][-1] == 8


@pytest.mark.parametrize("slow_first", [True, False])
def test_the_longer_delay_of_two_crawls_holds_on_one_host(
    frontier: Frontier, new_spider: Callable[..., Spider], client: Any, slow_first: bool
) -> None:
    fast, slow = spec("fast", slots=4), spec("slow", delay_ms=80)
    for crawl in (slow, fast) if slow_first else (fast, slow):
        frontier.open_crawl(crawl)
        frontier.add(crawl.crawl_id, urls(6))
    one, two = new_spider(), new_spider()
    ended = 0
    gaps: list[int] = []
    order: list[str] = []
    while "slow" not in order or len(order) < 6:
        for spider in (one, two):
            leases = spider.lease()
            assert len(leases) <= 1, "the crawl with a delay has one request at a time"
            for lease in leases:
                if ended:
                    gaps.append(server_ms(client) - ended)
                ended = server_ms(client)
                if lease.role is PageRole.ROBOTS:
                    spider.put_robots(lease)
                else:
                    order.append(lease.crawl_id)
                    spider.put(lease)
    assert min(gaps) >= 80
    assert {"fast", "slow"} <= set(order)


def test_the_other_crawl_is_alone_again_when_the_slow_one_is_done(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("slow", A, delay_ms=50_000))
    begin(frontier, urls(9), slots=4, crawl_id="fast")
    (robots,) = spider.lease()
    spider.put_robots(robots)
    seen: set[str] = set()
    for _ in range(3):
        let_time_pass(client, "a.example")
        leases = spider.lease()
        seen |= {lease.crawl_id for lease in leases}
        for lease in leases:
            spider.put(lease)
        if len(leases) == 4:
            break
    assert "slow" in seen
    let_time_pass(client, "a.example")
    assert len(spider.lease()) == 4


EXCEPTIONS = PolitenessPolicy(
    hosts=(
        HostPoliteness(pattern="*.example", delay_ms=5000),
        HostPoliteness(pattern="*.b.example", slots=3),
        HostPoliteness(pattern="a.example", delay_ms=0, slots=2),
        HostPoliteness(pattern="a.example:8080", delay_ms=200),
        HostPoliteness(pattern="127.0.0.1", delay_ms=70),
    )
)


@pytest.mark.parametrize(
    ("host", "delay_ms", "slots"),
    [
        ("a.example", 0, 2),
        ("a.example:8080", 200, 2),
        ("b.example", 5000, 3),
        ("deep.b.example:81", 5000, 3),
        ("xb.example", 5000, 1),
        ("example", 5000, 1),
        ("a.example.com", 1500, 1),
        ("127.0.0.1:9", 70, 1),
    ],
)
def test_what_an_operator_said_of_a_host(
    frontier: Frontier, spider: Spider, client: Any, host: str, delay_ms: int, slots: int
) -> None:
    begin(frontier, urls(9, host), delay_ms=1500, policy=EXCEPTIONS)
    (robots,) = spider.lease()
    before = server_ms(client)
    spider.put_robots(robots)
    clock = int(client.hget(f"cc:g:{host}", "clock"))
    assert before + delay_ms <= clock <= server_ms(client) + delay_ms + END_MARGIN_MS
    let_time_pass(client, host)
    assert len(spider.lease()) == slots


def test_an_exception_is_forgotten_with_the_order_that_named_it(
    frontier: Frontier, spider: Spider
) -> None:
    policy = PolitenessPolicy(hosts=(HostPoliteness(pattern="a.example", slots=2),))
    frontier.open_crawl(spec("c", slots=5, policy=policy))
    begin(frontier, urls(9), slots=5)
    assert len(spider.pages()) == 5
    assert frontier.spec("c").policy == PolitenessPolicy()


def test_a_crawl_delay_is_kept_whatever_the_operator_said(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    policy = PolitenessPolicy(hosts=(HostPoliteness(pattern="a.example", delay_ms=0, slots=4),))
    begin(frontier, urls(9), policy=policy)
    (robots,) = spider.lease()
    before = server_ms(client)
    spider.put_robots(robots, crawl_delay_ms=5000)
    assert int(client.hget("cc:g:a.example", "clock")) >= before + 5000
    let_time_pass(client, "a.example")
    assert len(spider.lease()) == 1


def test_what_is_known_of_a_host_is_forgotten_two_days_after_it_was_used(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", A, f"{A}1"))
    for lease in spider.pages():
        spider.put(lease)
    assert HOST_TTL_S - 10 < client.ttl("cc:g:a.example") <= HOST_TTL_S
    pause_host(frontier, "a.example")
    assert client.ttl("cc:g:a.example") == -1, "an operator's pause stays"
    frontier.add("c", urls(1))
    assert spider.lease() == ()
    frontier.resume_host("a.example")
    for lease in spider.pages():
        spider.put(lease)
    assert client.ttl("cc:g:a.example") > 0
