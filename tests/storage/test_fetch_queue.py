"""The spider's side of the queue: who may fetch what, when, and what an old token may do."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any

import pytest

from cleaning.errors import QueueUnavailable, StorageError
from cleaning.records import Via
from storage.base import (
    CrawlState,
    Discovery,
    Failure,
    FailureReason,
    FetchResult,
    PageRole,
    UrlState,
)
from storage.config import StorageConfig
from storage.fetch_queue import FetchQueue
from storage.frontier import Frontier
from tests.storage.conftest import (
    Spider,
    job_ids,
    let_time_pass,
    server_ms,
    spec,
    urls,
    wait_until,
)

A = "http://a.example/"
B = "http://b.example/"


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
        batch = spider.ask()
        assert batch.leases == ()
        assert batch.wait_ms is not None
        assert 50_000 < batch.wait_ms <= 60_000
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
    client.hset("cc:g:a.example", "rx", 0)  # the rules run out and come again
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
    assert before + delay_ms <= clock <= server_ms(client) + delay_ms


def test_one_request_at_a_time_and_the_clock_restarts_at_the_end(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", delay_ms=30_000))
    frontier.add("c", urls(3))
    (lease,) = spider.lease()
    for _ in range(3):
        assert spider.lease() == ()
        before = server_ms(client)
        if lease.role is PageRole.ROBOTS:
            spider.put_robots(lease)
        else:
            spider.put(lease)
        batch = spider.ask()
        assert batch.leases == ()
        assert batch.wait_ms is not None
        assert 30_000 - (server_ms(client) - before) <= batch.wait_ms <= 30_000
        assert int(client.hget("cc:g:a.example", "clock")) >= before + 30_000
        let_time_pass(client, "a.example")
        (lease,) = spider.lease()


def test_no_lease_before_the_delay_is_over(frontier: Frontier, spider: Spider, client: Any) -> None:
    frontier.open_crawl(spec("c", delay_ms=60))
    frontier.add("c", urls(4))
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
    frontier.open_crawl(spec("c", slots=3))
    frontier.add("c", urls(10))
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
    frontier.open_crawl(spec("c", slots=8))
    frontier.add("c", urls(4))
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
    batch = spider.ask()
    assert batch.leases == ()
    assert batch.wait_ms is not None
    assert 15_000 < batch.wait_ms <= 20_000
    frontier.add("c", urls(1))
    (third,) = spider.lease()  # the host itself does not wait
    spider.nack(third, host_wait_ms=40_000)
    batch = spider.ask()
    assert batch.leases == ()
    assert batch.wait_ms is not None
    assert 35_000 < batch.wait_ms <= 40_000
    let_time_pass(client, "a.example")
    again = {lease.url: lease.attempt for lease in spider.lease()}
    assert again == {first.url: 2, third.url: 2}


def test_unasked_host_is_not_made_to_wait(frontier: Frontier, spider: Spider, client: Any) -> None:
    frontier.open_crawl(spec("c", delay_ms=30_000))
    frontier.add("c", urls(2))
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
    frontier.open_crawl(spec("fast", slots=4))
    frontier.add("fast", urls(50))
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


# Tokens


def test_old_tokens_change_nothing(frontier: Frontier, new_spider: Callable[..., Spider]) -> None:
    frontier.open_crawl(spec("c", A))
    dead, living = new_spider(), new_spider()
    (old,) = dead.pages()
    frontier.expire_sessions()
    assert frontier.sweep()["leases_lost"] == 1
    (lease,) = living.lease()
    assert (lease.url, lease.attempt) == (A, 2)
    counts = frontier.counts("c")
    assert not dead.put(old)
    assert not dead.nack(old)
    assert not dead.put_robots(old)
    assert frontier.counts("c") == counts
    assert living.put(lease)
    counts = frontier.counts("c")
    assert not living.put(lease)  # twice
    assert not living.nack(lease)
    assert frontier.counts("c") == counts
    assert (counts.pending, counts.leased, counts.queued) == (0, 0, 1)


def test_lost_answer_is_reconciled(frontier: Frontier, spider: Spider, client: Any) -> None:
    frontier.open_crawl(spec("c", slots=8))
    frontier.add("c", urls(5))
    kept = spider.pages(2)
    lost = spider.lease()  # as if this answer had not arrived
    assert len(lost) == 3
    assert spider.reconcile(kept) == 3
    assert spider.reconcile(kept) == 0
    assert int(client.hget("cc:g:a.example", "held")) == 2
    again = spider.lease()
    assert {lease.url for lease in again} == {lease.url for lease in lost}
    assert not any(spider.put(lease) for lease in lost)
    assert all(spider.put(lease) for lease in [*kept, *again])


def test_lost_robots_lease_is_reconciled(frontier: Frontier, spider: Spider) -> None:
    frontier.open_crawl(spec("c", A))
    spider.lease()
    assert spider.reconcile([]) == 1
    (lease,) = spider.lease()
    assert lease.role is PageRole.ROBOTS


# Batches


def test_lone_page_is_a_job_at_once(frontier: Frontier, spider: Spider, client: Any) -> None:
    frontier.open_crawl(spec("c", A))
    (page,) = spider.pages()
    spider.put(page)
    (job,) = job_ids(client)
    assert client.lrange("rq:queue:pages", 0, -1) == [job]
    assert [p.url for p in frontier.claim(job, "w")] == [A]


def test_twenty_pages_are_one_job(frontier: Frontier, spider: Spider, client: Any) -> None:
    frontier.open_crawl(spec("c", slots=50))
    frontier.add("c", urls(45))
    for page in spider.pages():
        spider.put(page)
    sizes = [len(frontier.claim(job, "w")) for job in job_ids(client)]
    assert sizes == [20, 20, 5]


def test_large_pages_make_smaller_jobs(frontier: Frontier, spider: Spider, client: Any) -> None:
    frontier.open_crawl(spec("c", slots=50))
    frontier.add("c", urls(10))
    noise = random.Random(1).randbytes(400_000)
    for page in spider.pages():
        spider.put(page, FetchResult(status=200, body=noise))
    assert [len(frontier.claim(job, "w")) for job in job_ids(client)] == [3, 3, 3, 1]


def test_open_batch_is_flushed_by_age(frontier: Frontier, spider: Spider, client: Any) -> None:
    frontier.open_crawl(spec("c", slots=3))
    frontier.add("c", urls(9))
    for page in spider.pages()[:2]:
        spider.put(page)
    assert job_ids(client) == []
    assert spider.flush(60_000) == 0
    wait_until(lambda: spider.flush(20) == 1)
    assert client.lrange("rq:queue:pages", 0, -1) == job_ids(client)
    assert len(frontier.claim(job_ids(client)[0], "w")) == 2
    assert spider.flush(0) == 0


# Back-pressure, sessions, wake-ups


def test_pages_in_flight_hold_leases_back(
    frontier: Frontier, new_spider: Callable[..., Spider], client: Any
) -> None:
    spider = new_spider(StorageConfig(max_pages_in_flight=3))
    frontier.open_crawl(spec("c", slots=3))
    frontier.add("c", urls(9))
    for page in spider.pages(3):
        spider.put(page)
    batch = spider.ask()
    assert batch.paused
    assert batch.leases == ()
    assert batch.wait_ms is not None
    spider.flush()
    (job,) = job_ids(client)
    pages = frontier.claim(job, "w")
    assert spider.ask().paused  # claimed is still in flight
    frontier.ack(job, [(page, UrlState.RECORD) for page in pages])
    assert not spider.ask().paused


def test_bytes_in_flight_hold_leases_back(
    frontier: Frontier, new_spider: Callable[..., Spider]
) -> None:
    spider = new_spider(StorageConfig(max_bytes_in_flight=1 << 20))
    frontier.open_crawl(spec("c", slots=3))
    frontier.add("c", urls(9))
    (page,) = spider.pages(1)
    noise = random.Random(1).randbytes(1_100_000)
    spider.put(page, FetchResult(status=200, body=noise))
    assert spider.ask().paused


def test_memory_that_runs_out_holds_leases_back(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", A))
    used = int(client.info("memory")["used_memory"])
    try:
        client.config_set("maxmemory", used * 5 // 4)
        frontier.sweep()
        assert spider.ask().paused
        client.config_set("maxmemory", used * 2)
        frontier.sweep()
        assert len(spider.lease()) == 1
    finally:
        client.config_set("maxmemory", 0)


def test_closed_spider_gives_its_leases_back(
    frontier: Frontier, new_spider: Callable[..., Spider], client: Any
) -> None:
    frontier.open_crawl(spec("c", slots=4))
    frontier.add("c", urls(4))
    dead, living = new_spider(), new_spider()
    assert len(dead.pages()) == 4
    assert living.lease() == ()
    dead.close()
    assert frontier.sweep()["leases_lost"] == 4
    assert int(client.hget("cc:g:a.example", "held")) == 0
    assert len(living.lease()) == 4


def test_renewed_session_keeps_its_leases(frontier: Frontier, spider: Spider, client: Any) -> None:
    frontier.open_crawl(spec("c", A))
    (page,) = spider.pages()
    frontier.expire_sessions()
    spider.run(spider.queue.renew())
    assert frontier.sweep()["leases_lost"] == 0
    alive_ms = client.zscore("cc:spiders", spider.queue.session) - server_ms(client)
    assert 15_000 < alive_ms <= 20_000
    assert spider.put(page)


def test_url_that_outlives_many_spiders_waits(
    frontier: Frontier, new_spider: Callable[..., Spider], client: Any
) -> None:
    frontier.open_crawl(spec("c", A))
    spider = new_spider()
    (page,) = spider.pages()
    client.hset(f"cc:p:c:{page.page_id}", "a", 25)
    frontier.expire_sessions()
    frontier.sweep()
    batch = spider.ask()
    assert batch.leases == ()
    assert batch.wait_ms is not None
    assert batch.wait_ms > 200_000


def test_watch_says_when_work_may_have_come(frontier: Frontier, spider: Spider) -> None:
    frontier.open_crawl(spec("c"))

    async def wakes() -> int:
        queue = spider.queue
        watching = asyncio.create_task(queue.watch())
        seen = 0
        await asyncio.wait_for(queue.woken.wait(), 5)  # subscribed
        for work in (
            lambda: frontier.add("c", urls(1)),
            lambda: frontier.set_state("c", CrawlState.RUNNING),
            lambda: frontier.resume_host("a.example"),
        ):
            queue.woken.clear()
            await asyncio.to_thread(work)
            await asyncio.wait_for(queue.woken.wait(), 5)
            seen += 1
        queue.woken.clear()
        await asyncio.to_thread(frontier.add, "c", urls(1))  # nothing new
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(queue.woken.wait(), 0.05)
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        return seen

    assert spider.run(wakes()) == 3


def test_rules_of_a_host_wake_other_spiders(
    frontier: Frontier, new_spider: Callable[..., Spider]
) -> None:
    frontier.open_crawl(spec("c", A))
    busy, idle = new_spider(), new_spider()
    (robots,) = busy.lease()

    async def woken() -> None:
        watching = asyncio.create_task(idle.queue.watch())
        await asyncio.wait_for(idle.queue.woken.wait(), 5)
        assert (await idle.queue.lease(5)).leases == ()
        idle.queue.woken.clear()
        await asyncio.to_thread(busy.put_robots, robots)
        await asyncio.wait_for(idle.queue.woken.wait(), 5)
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)

    idle.run(woken())
    assert len(idle.lease()) == 1


def test_server_away_is_said_in_our_words() -> None:
    async def lease() -> None:
        queue = FetchQueue("unix:///nowhere/none.sock", StorageConfig())
        try:
            await queue.lease(1)
        finally:
            await queue.close()  # does not raise: the sweeper knows without it

    with pytest.raises(QueueUnavailable):
        asyncio.run(lease())


def test_answer_arrives_as_it_was(frontier: Frontier, spider: Spider, client: Any) -> None:
    frontier.open_crawl(spec("c"))
    found = Discovery(
        url="http://a.example/页?q=1",
        depth=4,
        via=Via.NEXT,
        referrer=A,
        text="下一页 \t\n\ud800",
        rank=3,
    )
    frontier.add("c", [found])
    (lease,) = spider.pages()
    assert lease.depth == 4
    answer = FetchResult(
        status=404,
        headers=(("Set-Cookie", "a\udc80"), ("Set-Cookie", "b")),
        body=bytes(range(256)) * 50,
        elapsed_ms=77,
        failure=Failure(reason=FailureReason.HTTP_STATUS, detail="404"),
    )
    before = server_ms(client)
    spider.put(lease, answer)
    (page,) = frontier.claim(job_ids(client)[0], "w")
    assert (page.result.status, page.result.body, page.result.elapsed_ms) == (404, answer.body, 77)
    assert [name for name, _ in page.result.headers] == ["Set-Cookie", "Set-Cookie"]
    assert page.result.failure == answer.failure
    assert (page.url, page.depth, page.attempt) == (lease.url, 4, 1)
    assert (page.provenance.referrer, page.provenance.via) == (A, Via.NEXT)
    assert page.provenance.link_text.startswith("下一页 \t\n")
    assert page.fetched_at.timestamp() * 1000 >= before - 1
    assert [step.step for step in page.log] == ["discovered", "leased", "gave_up", "claimed"]
