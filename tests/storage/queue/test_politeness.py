"""The spider's side of the queue: robots.txt first, and when a host may be asked again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from crawlclean.cleaning.errors import StorageError
from crawlclean.cleaning.records import Via
from crawlclean.storage.crawl_types import (
    Discovery,
    Failure,
    FailureReason,
    FetchResult,
    PageRole,
    Scope,
)
from crawlclean.storage.queue.frontier import Frontier
from tests.kit.queues import (
    END_MARGIN_MS,
    A,
    B,
    Spider,
    begin,
    let_time_pass,
    server_ms,
    spec,
    urls,
)

# robots.txt first


def test_first_lease_of_a_host_is_its_robots_txt(frontier: Frontier, spider: Spider) -> None:
    frontier.open_crawl(spec("c", "https://a.example:8443/x", "https://a.example:8443/y"))
    (lease,) = spider.lease()
    assert lease.role is PageRole.ROBOTS
    assert lease.url == "https://a.example:8443/robots.txt"
    assert (lease.attempt, lease.robots_version) == (1, 0)
    assert spider.lease() == ()  # nothing else of the host before its rules
    assert spider.put_robots(lease, "User-agent: *\nDisallow: /x")
    pages = spider.lease()
    assert {page.url for page in pages} == {"https://a.example:8443/x", "https://a.example:8443/y"}
    assert {page.robots_version for page in pages} == {1}
    assert frontier.robots("a.example:8443") == "User-agent: *\nDisallow: /x"
    assert spider.run(spider.queue.robots("a.example:8443")) == "User-agent: *\nDisallow: /x"
    assert frontier.robots("b.example") is None


def test_a_host_with_rules_goes_before_robots_of_other_hosts(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    hosts = [f"h{n:02}.example" for n in range(30)]
    begin(
        frontier, [each for host in hosts for each in urls(2, host)], scope=Scope.ANY, delay_ms=1000
    )
    robots: list[str] = []
    pages: list[str] = []
    while len(pages) < len(hosts):
        leases = spider.lease(5)
        assert {each.role for each in leases} in ({PageRole.ROBOTS}, {PageRole.PAGE})
        for lease in leases:
            if lease.role is PageRole.ROBOTS:
                robots.append(lease.host)
                spider.put_robots(lease)
                client.hset(f"cc:g:{lease.host}", mapping={"clock": 0, "answer_ended": 0})
                client.zadd("cc:ruled", {lease.host: 0})  # as if its pause were over
            else:
                pages.append(lease.host)
                spider.put(lease)
        assert len(robots) - len(pages) <= 5
    assert pages == robots, "each host has its first page right behind its rules"
    assert sorted(robots) == hosts
    assert not client.exists("cc:ruled")


def test_robots_lease_is_counted_nowhere_but_in_leased(frontier: Frontier, spider: Spider) -> None:
    frontier.open_crawl(spec("c", A, max_pages=1))
    (lease,) = spider.lease()
    counts = frontier.counts("c")
    assert (counts.pending, counts.leased, counts.budget_left) == (1, 1, 1)
    spider.put_robots(lease)
    counts = frontier.counts("c")
    assert (counts.pending, counts.leased, counts.fetched) == (1, 0, 1)


def test_robots_attempts_are_counted_until_rules_come(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", A))
    for attempt in (1, 2, 3):
        (lease,) = spider.lease()
        assert (lease.role, lease.attempt) == (PageRole.ROBOTS, attempt)
        assert spider.nack(lease, url_wait_ms=60_000)
        assert 50_000 < spider.wait_ms() <= 60_000 + END_MARGIN_MS
        let_time_pass(client, "a.example")
    (lease,) = spider.lease()
    spider.put_robots(lease, ttl_ms=0)  # out of date at once
    (lease,) = spider.lease()
    assert (lease.role, lease.attempt) == (PageRole.ROBOTS, 1)


def test_robots_lease_of_a_dead_spider_is_leased_again(
    frontier: Frontier, new_spider: Callable[..., Spider]
) -> None:
    frontier.open_crawl(spec("c", A))
    dead, living = new_spider(), new_spider()
    (lost,) = dead.lease()
    assert living.lease() == ()
    dead.close()
    frontier.sweep()
    (lease,) = living.lease()
    assert (lease.role, lease.attempt) == (PageRole.ROBOTS, 2)
    assert frontier.counts("c").leased == 1
    assert lost.token != lease.token


def test_second_crawl_of_a_host_uses_the_rules(frontier: Frontier, spider: Spider) -> None:
    frontier.open_crawl(spec("c", A))
    (lease,) = spider.lease()
    spider.put_robots(lease, "rules")
    frontier.open_crawl(spec("d", A))
    leases = spider.lease()
    assert {(lease.crawl_id, lease.role) for lease in leases} == {
        ("c", PageRole.PAGE),
        ("d", PageRole.PAGE),
    }


def test_robots_lease_cannot_become_a_page(frontier: Frontier, spider: Spider) -> None:
    frontier.open_crawl(spec("c", A))
    (lease,) = spider.lease()
    with pytest.raises(StorageError, match=r"robots\.txt"):
        spider.put(lease)
    assert spider.put_robots(lease)


def test_sitemaps_of_robots_are_offered_once_per_crawl(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", A))
    (robots,) = spider.lease()
    found = Discovery(
        url="http://a.example/sitemap.xml", role=PageRole.SITEMAP, via=Via.SITEMAP, rank=1
    )
    assert spider.put_robots(robots, sitemaps=(found,))
    leases = {lease.url: lease for lease in spider.lease()}
    assert leases[found.url].role is PageRole.SITEMAP
    assert set(leases) == {A, found.url}
    for lease in leases.values():
        spider.put(lease)
    client.hset("cc:g:a.example", "robots_until", 0)  # the rules run out and come again
    frontier.add("c", urls(1))
    (robots,) = spider.lease()
    spider.put_robots(robots, sitemaps=(found,))
    assert [lease.url for lease in spider.lease()] == ["http://a.example/0"]
    frontier.open_crawl(spec("d", B, A))
    assert found.url in {lease.url for lease in spider.pages() if lease.crawl_id == "d"}


def test_crawl_of_its_seeds_alone_reads_no_sitemaps(frontier: Frontier, spider: Spider) -> None:
    frontier.open_crawl(spec("c", A, max_depth=0))
    (robots,) = spider.lease()
    spider.put_robots(
        robots, sitemaps=(Discovery(url="http://a.example/s.xml", role=PageRole.SITEMAP),)
    )
    assert [lease.url for lease in spider.lease()] == [A]
    frontier.open_crawl(spec("c", A, max_depth=3))  # told otherwise later
    frontier.add("c", urls(1))
    spider.lease()
    assert frontier.counts("c").leased == 3


# Politeness


@pytest.mark.parametrize(
    ("host", "delay_ms"),
    [
        ("a.example", 1000),
        ("127.0.0.1:8000", 0),
        ("127.1.2.3", 0),
        ("localhost:8000", 0),
        ("localhost", 0),
        ("[::1]:8000", 0),
        ("localhost.example", 1000),
        ("localhosting.example:80", 1000),
        ("127.example", 1000),
        ("127.0.0.1.example", 1000),
    ],
)
def test_default_delay(
    frontier: Frontier, spider: Spider, client: Any, host: str, delay_ms: int
) -> None:
    frontier.open_crawl(spec("c", f"http://{host}/", delay_ms=None))
    host = frontier.hosts("c")[0]
    (robots,) = spider.lease()
    before = server_ms(client)
    spider.put_robots(robots)
    clock = int(client.hget(f"cc:g:{host}", "clock"))
    assert before + delay_ms <= clock <= server_ms(client) + delay_ms + END_MARGIN_MS


def test_one_request_at_a_time_and_the_clock_restarts_at_the_end(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    begin(frontier, urls(3), delay_ms=30_000)
    (lease,) = spider.lease()
    for _ in range(3):
        assert spider.lease() == ()
        before = server_ms(client)
        if lease.role is PageRole.ROBOTS:
            spider.put_robots(lease)
        else:
            spider.put(lease)
        wait_ms = spider.wait_ms()
        assert 30_000 - (server_ms(client) - before) <= wait_ms <= 30_000 + END_MARGIN_MS
        assert int(client.hget("cc:g:a.example", "clock")) >= before + 30_000
        let_time_pass(client, "a.example")
        (lease,) = spider.lease()


def test_no_lease_before_the_delay_is_over(frontier: Frontier, spider: Spider, client: Any) -> None:
    begin(frontier, urls(4), delay_ms=60)
    ended: int | None = None
    gaps: list[int] = []
    while len(gaps) < 4:
        for lease in spider.lease():
            if ended is not None:
                gaps.append(server_ms(client) - ended)
            ended = server_ms(client)
            if lease.role is PageRole.ROBOTS:
                spider.put_robots(lease)
            else:
                spider.put(lease)
    assert min(gaps) >= 60


def test_two_spiders_never_hold_the_same_slow_host(
    frontier: Frontier, new_spider: Callable[..., Spider]
) -> None:
    frontier.open_crawl(spec("c", delay_ms=30_000))
    one, two = new_spider(), new_spider()
    for host in ("a.example", "b.example", "d.example"):
        frontier.add("c", urls(2, host))
    leases = one.lease(1) + two.lease(5)
    assert sorted(lease.host for lease in leases) == ["a.example", "b.example", "d.example"]
    assert one.lease() == two.lease() == ()


def test_slots_without_delay(frontier: Frontier, new_spider: Callable[..., Spider]) -> None:
    begin(frontier, urls(10), slots=3)
    one, two = new_spider(), new_spider()
    (robots,) = one.lease()
    one.put_robots(robots)
    held = [*one.lease(2), *two.lease()]
    assert len(held) == 3
    assert one.ask() == two.ask()
    assert one.ask().wait_ms is None  # only the end of a request can help
    assert one.put(held[0])
    assert len(two.lease()) == 1


def test_longer_of_both_delays_wins(frontier: Frontier, spider: Spider, client: Any) -> None:
    frontier.open_crawl(spec("c", A, B, "http://a.example/2", delay_ms=2_000))
    for robots in spider.lease():
        before = server_ms(client)
        asked = 9_000 if robots.host == "a.example" else 500
        spider.put_robots(robots, crawl_delay_ms=asked)
        wait = int(client.hget(f"cc:g:{robots.host}", "clock")) - before
        assert max(asked, 2_000) <= wait < max(asked, 2_000) + 1_000


def test_crawl_delay_takes_the_slots_of_a_crawl_without_delay(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    begin(frontier, urls(4), slots=8)
    (robots,) = spider.lease()
    spider.put_robots(robots, crawl_delay_ms=5_000)
    let_time_pass(client, "a.example")
    assert len(spider.lease()) == 1


def test_nack_may_push_the_host_and_the_url(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", A, "http://a.example/2"))
    first, second = spider.pages()
    spider.nack(first, url_wait_ms=20_000)
    assert spider.put(second)
    assert 15_000 < spider.wait_ms() <= 20_000
    frontier.add("c", urls(1))
    (third,) = spider.lease()  # the host itself does not wait
    spider.nack(third, host_wait_ms=40_000)
    assert 35_000 < spider.wait_ms() <= 40_000 + END_MARGIN_MS
    let_time_pass(client, "a.example")
    again = {lease.url: lease.attempt for lease in spider.lease()}
    assert again == {first.url: 2, third.url: 2}


def test_unasked_host_is_not_made_to_wait(frontier: Frontier, spider: Spider, client: Any) -> None:
    begin(frontier, urls(2), delay_ms=30_000)
    spider.pages()
    let_time_pass(client, "a.example")
    (page,) = spider.lease()
    refused = Failure(reason=FailureReason.ROBOTS, detail="Disallow: /")
    assert spider.put(page, FetchResult(failure=refused), asked=False)
    assert len(spider.lease()) == 1
    assert frontier.counts("c").fetched == 1  # robots.txt


def test_crawl_with_more_slots_does_not_starve_a_slow_one(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    begin(frontier, urls(50), slots=4, crawl_id="fast")
    held = spider.pages(4)
    frontier.open_crawl(spec("slow", A, delay_ms=20))
    order: list[str] = []
    while "slow" not in order:
        assert len(order) < 10
        spider.put(held.pop(0))
        let_time_pass(client, "a.example")
        leases = spider.lease(1)
        held += leases
        order += [lease.crawl_id for lease in leases]


def test_hosts_take_turns(frontier: Frontier, spider: Spider) -> None:
    frontier.open_crawl(spec("c"))
    for host in ("a.example", "b.example"):
        frontier.add("c", urls(4, host))
    for robots in spider.lease(2):
        spider.put_robots(robots)
    got = [lease.host for _ in range(8) for lease in spider.lease(1)]
    assert got.count("a.example") == 4
    assert abs(got[:4].count("a.example") - 2) <= 1
