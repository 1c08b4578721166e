"""The spider's side of the queue: what an old token may do, what becomes of results, who waits."""

from __future__ import annotations

import asyncio
import errno
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from crawlclean.cleaning.errors import QueueUnavailable
from crawlclean.cleaning.records import Via
from crawlclean.storage.config import StorageConfig
from crawlclean.storage.crawl_types import (
    CrawlState,
    Discovery,
    Failure,
    FailureReason,
    FetchResult,
    PageRole,
    UrlState,
)
from crawlclean.storage.queue.fetch_queue import FetchQueue
from crawlclean.storage.queue.frontier import Frontier
from tests.kit.queues import (
    A,
    Spider,
    begin,
    job_ids,
    server_ms,
    spec,
    urls,
)
from tests.kit.some import some
from tests.kit.timing import wait_until

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
    begin(frontier, urls(5), slots=8)
    kept = spider.pages(2)
    lost = spider.lease()  # as if this answer had not arrived
    assert len(lost) == 3
    assert spider.reconcile(kept) == 3
    assert spider.reconcile(kept) == 0
    assert int(client.hget("cc:g:a.example", "held")) == 2
    again = spider.lease()
    assert {lease.url for lease in again} == {lease.url for lease in lost}
    told = some(frontier.trace("c", again[0].page_id, again[0].host))
    assert [s.step for s in told[1]] == ["discovered", "leased", "lease_lost", "leased"]
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
    begin(frontier, urls(45), slots=50)
    pages = spider.pages()
    for page in pages[:19]:
        spider.put(page)
    assert job_ids(client) == []
    spider.put(pages[19])
    assert [len(frontier.claim(job, "w")) for job in job_ids(client)] == [20]


def test_large_pages_make_smaller_jobs(frontier: Frontier, spider: Spider, client: Any) -> None:
    begin(frontier, urls(10), slots=50)
    noise = random.Random(1).randbytes(400_000)
    for page in spider.pages():
        spider.put(page, FetchResult(status=200, body=noise))
    assert [len(frontier.claim(job, "w")) for job in job_ids(client)] == [3, 3, 3, 1]


def test_open_batch_is_flushed_by_age(frontier: Frontier, spider: Spider, client: Any) -> None:
    begin(frontier, urls(9), slots=3)
    for page in spider.pages()[:2]:
        spider.put(page)
    assert job_ids(client) == []
    assert spider.flush(60_000) == 0
    wait_until(lambda: spider.flush(20) == 1)
    assert client.lrange("rq:queue:pages", 0, -1) == job_ids(client)
    assert len(frontier.claim(job_ids(client)[0], "w")) == 2
    assert spider.flush(0) == 0


def test_pages_join_a_job_that_waits_for_a_worker(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    begin(frontier, [*urls(104), *urls(1, "b.example")], trap_pages=0)
    for _ in range(2):
        for page in spider.pages(2):
            spider.put(page)
            spider.flush()
    assert sorted(client.hvals("cc:bj")) == job_ids(client)
    assert len(job_ids(client)) == 2, "one of each host"
    for _ in range(99):
        spider.put(spider.pages(1)[0])
        spider.flush()
    first, other, second = job_ids(client)
    assert client.lrange("rq:queue:pages", 0, -1) == job_ids(client)
    assert len(frontier.claim(first, "w")) == 100, "more do not fit"
    assert len(frontier.claim(second, "w")) == 2
    spider.put(spider.pages(1)[0])
    spider.flush()
    (third,) = set(job_ids(client)) - {other}
    assert len(frontier.claim(third, "w")) == 1, "nothing joins a job that a worker has"
    assert len(frontier.claim(other, "w")) == 1
    assert not client.exists("cc:bj")


# Back-pressure, sessions, wake-ups


def test_pages_in_flight_hold_leases_back(
    frontier: Frontier, new_spider: Callable[..., Spider], client: Any
) -> None:
    spider = new_spider(StorageConfig(max_pages_in_flight=3))
    begin(frontier, urls(9), slots=3)
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
    begin(frontier, urls(9), slots=3)
    (page,) = spider.pages(1)
    noise = random.Random(1).randbytes(1_100_000)
    spider.put(page, FetchResult(status=200, body=noise))
    assert spider.ask().paused


def test_memory_that_runs_out_holds_leases_back(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", A))
    memory = client.info("memory")
    used = int(memory["used_memory"])
    try:
        client.config_set("maxmemory", used * 5 // 4)
        frontier.sweep()
        assert spider.ask().paused
        client.config_set("maxmemory", used * 2)
        frontier.sweep()
        assert len(spider.lease()) == 1
    finally:
        client.config_set("maxmemory", memory["maxmemory"])


def test_closed_spider_gives_its_leases_back(
    frontier: Frontier, new_spider: Callable[..., Spider], client: Any
) -> None:
    begin(frontier, urls(4), slots=4)
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
    client.hset(f"cc:p:c:{page.page_id}", "attempt", 25)
    frontier.expire_sessions()
    frontier.sweep()
    assert spider.wait_ms() > 200_000


@asynccontextmanager
async def watching(queue: FetchQueue) -> AsyncIterator[asyncio.Event]:
    """What the queue sets when work may have come, while it watches."""
    watch = asyncio.create_task(queue.watch())
    await asyncio.wait_for(queue.woken.wait(), 5)  # subscribed
    yield queue.woken
    watch.cancel()
    await asyncio.gather(watch, return_exceptions=True)


def test_watch_says_when_work_may_have_come(frontier: Frontier, spider: Spider) -> None:
    frontier.open_crawl(spec("c"))

    works = (
        lambda: frontier.add("c", urls(1)),
        lambda: frontier.set_state("c", CrawlState.RUNNING),
        lambda: frontier.resume_host("a.example"),
    )

    async def wakes() -> None:
        async with watching(spider.queue) as woken:
            for work in works:
                woken.clear()
                await asyncio.to_thread(work)
                await asyncio.wait_for(woken.wait(), 5)
            woken.clear()
            await asyncio.to_thread(frontier.add, "c", urls(1))  # nothing new
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(woken.wait(), 0.05)

    spider.run(wakes())


def test_a_connection_that_the_kernel_gave_up_is_made_anew(
    frontier: Frontier, spider: Spider
) -> None:
    """Its error is a TimeoutError, as the end of a wait is: the watch looped on it without end."""
    frontier.open_crawl(spec("c"))

    async def wakes_again() -> None:
        async with watching(spider.queue) as woken:
            for connection in spider.queue._client.connection_pool._in_use_connections:
                connection._reader.set_exception(TimeoutError(errno.ETIMEDOUT, "timed out"))
            woken.clear()
            await asyncio.wait_for(woken.wait(), 30)  # subscribed again

    spider.run(wakes_again())


def test_rules_of_a_host_wake_other_spiders(
    frontier: Frontier, new_spider: Callable[..., Spider]
) -> None:
    frontier.open_crawl(spec("c", A))
    busy, idle = new_spider(), new_spider()
    (robots,) = busy.lease()

    async def wakes() -> None:
        async with watching(idle.queue) as woken:
            assert (await idle.queue.lease(5)).leases == ()
            woken.clear()
            await asyncio.to_thread(busy.put_robots, robots)
            await asyncio.wait_for(woken.wait(), 5)

    idle.run(wakes())
    assert len(idle.lease()) == 1


def test_server_away_is_said_in_our_words() -> None:
    async def lease() -> None:
        queue = FetchQueue("unix:///nowhere/none.sock", StorageConfig())
        try:
            await queue.lease(1)
        finally:
            await queue.close()  # does not raise: the housekeeper knows without it

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
