"""How a lease of robots.txt ends, on the real queue: who waits, and whose rules are in force."""

from __future__ import annotations

from typing import Any

import pytest

from crawlclean.cleaning.records import Via
from crawlclean.crawler.robots import FORBID_ALL, end_robots
from crawlclean.storage.crawl_types import (
    Discovery,
    Failure,
    FailureReason,
    FetchResult,
    Lease,
    PageRole,
)
from crawlclean.storage.queue.fetch_queue import ROBOTS_TTL_MS
from crawlclean.storage.queue.frontier import Frontier
from tests.kit.queues import (
    END_MARGIN_MS,
    A,
    Spider,
    assert_at_rest,
    let_time_pass,
    server_ms,
    spec,
    urls,
)

HOST = "a.example"
MINUTE_MS = 60_000
RULES = FetchResult(
    status=200,
    body=b"User-agent: *\nDisallow: /1\nCrawl-delay: 20\nSitemap: http://a.example/map.xml\n",
)
UNREACHABLE = FetchResult(failure=Failure(reason=FailureReason.TIMEOUT, detail="too slow"))
REFUSED = FetchResult(failure=Failure(reason=FailureReason.ADDRESS_REFUSED, detail="private"))


def error(status: int = 503, *headers: tuple[str, str]) -> FetchResult:
    """An error after every attempt, as the spider hands it over."""
    failure = Failure(reason=FailureReason.HTTP_STATUS, detail=f"status {status}")
    return FetchResult(status=status, headers=headers, failure=failure)


def end(spider: Spider, lease: Lease, result: FetchResult, *, asked: bool = True) -> None:
    assert lease.role is PageRole.ROBOTS
    assert spider.run(end_robots(spider.queue, lease, result, "crawlclean/1", asked=asked))


def end_next(spider: Spider, result: FetchResult, *, asked: bool = True) -> None:
    """Ends the only lease that there is."""
    (lease,) = spider.lease()
    end(spider, lease, result, asked=asked)


def host_waits_ms(client: Any) -> int:
    """How long the host is left alone, without what the queue adds to every pause."""
    return int(client.hget(f"cc:g:{HOST}", "clock")) - server_ms(client) - END_MARGIN_MS


def in_force_ms(client: Any) -> int:
    return int(client.hget(f"cc:g:{HOST}", "robots_until")) - server_ms(client)


def run_out(client: Any) -> None:
    """As if the rules' time were over."""
    let_time_pass(client, HOST)
    client.hset(f"cc:g:{HOST}", "robots_until", 0)


def rules_in_force(spider: Spider) -> str:
    return str(spider.run(spider.queue.robots(HOST)))


def test_errors_hold_the_host_ever_longer_and_end_its_urls_at_last(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", A))
    for minutes in (5, 10):
        for attempt in (1, 2):
            (lease,) = spider.lease()
            assert (lease.role, lease.attempt) == (PageRole.ROBOTS, attempt)
            if attempt == 1:
                assert spider.nack(lease)
        end(spider, lease, error())
        assert minutes * MINUTE_MS - 5_000 < host_waits_ms(client) <= minutes * MINUTE_MS
        assert spider.lease() == ()
        counts = frontier.counts("c")
        assert (counts.pending, counts.leased, counts.queued) == (1, 0, 0), "nothing is lost"
        assert rules_in_force(spider) == ""
        assert_at_rest(client)
        let_time_pass(client, HOST)
    end_next(spider, error())
    assert rules_in_force(spider) == FORBID_ALL
    assert frontier.robots(HOST) is None, "links to the host are not dropped: nothing was read"
    assert 55 * MINUTE_MS < in_force_ms(client) <= 61 * MINUTE_MS
    let_time_pass(client, HOST)
    (page,) = spider.lease()
    assert (page.url, page.robots_version) == (A, 1)


def test_a_verdict_of_errors_is_not_for_good(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", A, "http://a.example/2"))
    for _ in range(3):
        end_next(spider, error())
        let_time_pass(client, HOST)
    run_out(client)
    end_next(spider, error())
    assert host_waits_ms(client) > 4 * MINUTE_MS, "as patient as the first time"
    assert rules_in_force(spider) == ""
    let_time_pass(client, HOST)
    end_next(spider, RULES)
    assert rules_in_force(spider) == RULES.body.decode()
    run_out(client)
    end_next(spider, error())
    assert in_force_ms(client) <= 6 * MINUTE_MS, "counted from one again"


def test_the_wait_is_what_the_host_asks_for_when_that_is_longer(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", A))
    end_next(spider, error(500, ("Retry-After", "1800")))
    assert 29 * MINUTE_MS < host_waits_ms(client) <= 30 * MINUTE_MS
    let_time_pass(client, HOST)
    end_next(spider, error(503, ("Retry-After", "2")))
    assert 9 * MINUTE_MS < host_waits_ms(client) <= 10 * MINUTE_MS


def test_a_final_429_allows_all_when_its_wait_is_over(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", A))
    end_next(spider, error(429, ("Retry-After", "120")))
    assert MINUTE_MS < host_waits_ms(client) <= 2 * MINUTE_MS
    assert in_force_ms(client) > ROBOTS_TTL_MS - MINUTE_MS
    let_time_pass(client, HOST)
    assert [page.url for page in spider.lease()] == [A]


@pytest.mark.parametrize(
    ("result", "shortest_ms", "longest_ms"),
    [
        (error(), 4 * MINUTE_MS, 6 * MINUTE_MS),
        (UNREACHABLE, 10_000, 60_000),
    ],
)
def test_rules_that_were_read_outlive_a_failure(
    frontier: Frontier,
    spider: Spider,
    client: Any,
    result: FetchResult,
    shortest_ms: int,
    longest_ms: int,
) -> None:
    frontier.open_crawl(spec("c", A))
    end_next(spider, RULES)
    before = client.hgetall(f"cc:g:{HOST}")
    for _ in range(4):
        run_out(client)
        (lease,) = spider.lease()
        assert lease.role is PageRole.ROBOTS
        end(spider, lease, result)
        after = client.hgetall(f"cc:g:{HOST}")
        assert {
            n: after[n] for n in ("robots_rules", "crawl_delay", "sitemaps", "robots_version")
        } == {n: before[n] for n in ("robots_rules", "crawl_delay", "sitemaps", "robots_version")}
        assert host_waits_ms(client) <= 20_000, "the Crawl-delay, no more"
        assert shortest_ms < in_force_ms(client)
    run_out(client)
    (lease,) = spider.lease()
    assert lease.attempt == 1
    end(spider, lease, RULES)
    run_out(client)
    end_next(spider, result)
    assert in_force_ms(client) <= longest_ms, "a new row"
    let_time_pass(client, HOST)
    (page,) = spider.lease()
    assert page.role is not PageRole.ROBOTS


def test_errors_with_rules_known_still_wait_as_asked(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", A))
    end_next(spider, RULES)
    run_out(client)
    end_next(spider, error(503, ("Retry-After", "600")))
    assert 9 * MINUTE_MS < host_waits_ms(client) <= 10 * MINUTE_MS
    assert in_force_ms(client) > host_waits_ms(client) + MINUTE_MS


def test_an_unreachable_host_allows_all_for_a_moment_and_stores_nothing(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", A, delay_ms=60_000))
    end_next(spider, UNREACHABLE)
    assert rules_in_force(spider) == ""
    assert frontier.robots(HOST) is None
    assert in_force_ms(client) > host_waits_ms(client) > 55_000, "a slow crawl has its turn"
    let_time_pass(client, HOST)
    (page,) = spider.lease()
    assert page.url == A


def test_sitemaps_are_offered_when_robots_txt_is_read_at_last(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", A, "http://a.example/2", slots=1))
    end_next(spider, UNREACHABLE)
    (page,) = spider.lease()
    assert spider.put(page)
    run_out(client)
    end_next(spider, RULES)
    leased = []
    for _ in range(2):
        let_time_pass(client, HOST)
        (lease,) = spider.lease()
        assert spider.put(lease)
        leased.append((lease.url, lease.role))
    assert ("http://a.example/map.xml", PageRole.SITEMAP) in leased


def test_unreachable_after_errors_is_judged_by_its_pages(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", A))
    for _ in range(3):
        end_next(spider, error())
        let_time_pass(client, HOST)
    run_out(client)
    end_next(spider, UNREACHABLE)
    assert rules_in_force(spider) == ""
    (page,) = spider.lease()
    assert (page.url, page.robots_version) == (A, 2), "no spider keeps the rules before"


@pytest.mark.parametrize("asked", [True, False])
def test_a_refused_address_says_nothing_to_a_crawl_that_may_ask(
    frontier: Frontier, spider: Spider, client: Any, asked: bool
) -> None:
    frontier.open_crawl(spec("no", *(u.url for u in urls(2)), delay_ms=30_000))
    (lease,) = spider.lease()
    assert lease.crawl_id == "no"
    end(spider, lease, REFUSED, asked=asked)
    assert (host_waits_ms(client) > 25_000) is asked
    assert frontier.counts("no").fetched == int(asked)
    let_time_pass(client, HOST)
    (page,) = spider.lease()
    assert (page.crawl_id, page.role) == ("no", PageRole.PAGE), "it fails by its own cause"
    assert spider.put(page, REFUSED, asked=False)
    assert not client.hexists(f"cc:g:{HOST}", "robots_until")
    frontier.open_crawl(spec("yes", *(u.url for u in urls(3)), allow_private=True))
    leases = spider.lease()
    assert {(lease.crawl_id, lease.role) for lease in leases} <= {
        ("no", PageRole.PAGE),
        ("yes", PageRole.ROBOTS),
    }
    for lease in leases:
        if lease.role is PageRole.PAGE:
            assert spider.put(lease, REFUSED, asked=False)
    robots = [lease for lease in leases if lease.role is PageRole.ROBOTS] or spider.lease()
    assert [lease.crawl_id for lease in robots] == ["yes"]
    end(spider, robots[0], RULES)
    assert rules_in_force(spider) == RULES.body.decode()


def test_a_crawl_that_is_allowed_later_asks_for_robots_txt(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", A))
    end_next(spider, REFUSED, asked=False)
    frontier.open_crawl(spec("c", A, allow_private=True))
    (lease,) = spider.lease()
    assert (lease.role, lease.allow_private) == (PageRole.ROBOTS, True)
    end(spider, lease, RULES)
    assert_at_rest(client)


def test_a_refusal_is_short_and_leaves_rules_alone(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("yes", A, allow_private=True))
    end_next(spider, RULES)
    run_out(client)
    before = client.hgetall(f"cc:g:{HOST}")
    frontier.set_state("yes", frontier.counts("yes").state.PAUSED)
    frontier.open_crawl(spec("no", A))
    end_next(spider, REFUSED, asked=False)
    assert client.hgetall(f"cc:g:{HOST}") == before | {"robots_attempts": "0"}
    assert 0 < client.pttl(f"cc:nr:no:{HOST}") <= 15_000
    client.delete(f"cc:nr:no:{HOST}")  # as if it were over
    (lease,) = spider.lease()
    assert lease.role is PageRole.ROBOTS


def test_links_found_meanwhile_wait_with_the_host(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", A))
    end_next(spider, error())
    frontier.add("c", [Discovery(url="http://a.example/new", via=Via.LINK)])
    assert spider.lease() == ()
    assert host_waits_ms(client) > 4 * MINUTE_MS
