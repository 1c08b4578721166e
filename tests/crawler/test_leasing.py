"""Leases as a source, on the real queue: never too many, at once when they come, none lost."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from crawlclean.cleaning.errors import QueueUnavailable, StorageError
from crawlclean.crawler import leasing
from crawlclean.crawler.leasing import LeaseSource
from crawlclean.storage.config import StorageConfig
from crawlclean.storage.crawl_types import (
    Discovery,
    Failure,
    FailureReason,
    FetchResult,
    Lease,
    LeaseBatch,
    PageRole,
    ResponseOutcome,
    Retry,
)
from crawlclean.storage.queue.embedded import EmbeddedServer
from crawlclean.storage.queue.fetch_queue import FetchQueue, RobotsVerdict
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.queue.live import Tally
from tests.kit.queues import ANSWER, begin, make_lease, server_ms, spec, urls
from tests.kit.timing import LIMIT_S


def retry(url_wait_ms: int = 0) -> Retry:
    return Retry(detail="why", url_wait_ms=url_wait_ms, host_wait_ms=0)


@asynccontextmanager
async def opened(
    url: str, capacity: int, why_over: Callable[[float], str] = lambda _: ""
) -> AsyncIterator[tuple[LeaseSource, FetchQueue]]:
    queue = FetchQueue(url, StorageConfig())
    source = LeaseSource(queue, capacity, why_over)
    try:
        yield source, queue
    finally:
        await source.close()


async def pages(source: LeaseSource, queue: FetchQueue) -> AsyncIterator[Lease]:
    """The source's leases of pages; robots.txt is answered with no rules."""
    async for lease in source.leases():
        if lease.role is PageRole.ROBOTS:
            await queue.put_robots(lease, RobotsVerdict(rules=""))
            source.end(lease)
        else:
            yield lease


async def holds(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        await asyncio.sleep(0.005)


def test_no_more_is_held_than_there_is_room_for(queue_url: str, frontier: Frontier) -> None:
    begin(frontier, [d for h in range(6) for d in urls(20, f"h{h}.example")], slots=100)

    async def crawl() -> tuple[int, int]:
        held, most, done = 0, 0, 0
        async with opened(queue_url, 7) as (source, queue):
            fetches: list[asyncio.Task[None]] = []

            async def fetch(lease: Lease) -> None:
                nonlocal held, done
                await asyncio.sleep(0)
                held -= 1
                await source.put(lease, ANSWER)
                done += 1

            async for lease in pages(source, queue):
                held += 1
                most = max(most, held)
                assert frontier.counts("c").leased <= 7
                fetches.append(asyncio.create_task(fetch(lease)))
                if len(fetches) == 120:
                    break
            await asyncio.gather(*fetches)
        return most, done

    most, done = asyncio.run(crawl())
    assert 1 < most <= 7
    assert done == 120
    assert frontier.counts("c").leased == 0


def test_hosts_that_come_due_together_are_leased_together(
    queue_url: str, frontier: Frontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(frontier, [d for h in range(6) for d in urls(20, f"h{h}.example")], slots=100)

    async def crawl() -> list[float]:
        held, asked_at, gaps = 0, 0.0, list[float]()
        async with opened(queue_url, 40) as (source, queue):
            lease_some = queue.lease

            async def lease(n: int) -> LeaseBatch:
                nonlocal asked_at
                gap, asked_at = time.monotonic() - asked_at, time.monotonic()
                if held:
                    gaps.append(gap)
                return await lease_some(n)

            async def fetch(lease: Lease, takes_s: float) -> None:
                nonlocal held
                await asyncio.sleep(takes_s)  # an answer of a host
                held -= 1
                await source.put(lease, ANSWER)

            monkeypatch.setattr(queue, "lease", lease)
            fetches: list[asyncio.Task[None]] = []
            async for each in pages(source, queue):
                held += 1
                fetches.append(asyncio.create_task(fetch(each, len(fetches) % 7 / 1000)))
                if len(fetches) == 120:
                    break
            await asyncio.gather(*fetches)
        return gaps

    gaps = asyncio.run(crawl())
    assert gaps
    assert min(gaps) >= 0.9 * leasing.GATHER_S


def test_new_work_wakes_a_waiting_spider_at_once(queue_url: str, frontier: Frontier) -> None:
    frontier.open_crawl(spec("c"))

    async def crawl() -> float:
        async with opened(queue_url, 4) as (source, queue):
            leases = pages(source, queue)
            first = asyncio.ensure_future(anext(leases))
            await holds(lambda: source.counters["lease_waits"] >= 2)
            begun = time.monotonic()
            await asyncio.to_thread(frontier.add, "c", urls(1))
            lease = await asyncio.wait_for(first, 5)
            assert lease.url == "http://a.example/0"
            return time.monotonic() - begun

    assert asyncio.run(crawl()) < 1.0


def test_a_host_clock_is_slept_until_and_no_longer(
    queue_url: str, frontier: Frontier, client: Any
) -> None:
    begin(frontier, urls(2), delay_ms=300)

    async def crawl() -> tuple[int, int]:
        async with opened(queue_url, 4) as (source, queue):
            leases = pages(source, queue)
            lease = await asyncio.wait_for(anext(leases), 5)
            released = server_ms(client)
            await source.put(lease, ANSWER)
            await asyncio.wait_for(anext(leases), 5)
            return server_ms(client) - released, source.counters["lease_waits"]

    gap, waits = asyncio.run(crawl())
    assert 300 <= gap < 1500
    assert waits < 20, "it does not ask in a circle"


def test_a_lost_answer_is_reconciled(
    queue_url: str, frontier: Frontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(frontier, urls(6), slots=8)
    lease = FetchQueue.lease
    lost: list[LeaseBatch] = []

    async def losing(self: FetchQueue, n: int) -> LeaseBatch:
        batch = await lease(self, n)
        if len(lost) < 3 and any(x.role is PageRole.PAGE for x in batch.leases):
            lost.append(batch)  # the server did it, the network lost what it said
            raise QueueUnavailable("the answer is lost")
        return batch

    monkeypatch.setattr(FetchQueue, "lease", losing)

    async def crawl() -> set[str]:
        got: set[str] = set()
        async with opened(queue_url, 4) as (source, queue):
            async for x in pages(source, queue):
                assert frontier.counts("c").leased <= 4
                await source.put(x, ANSWER)
                got.add(x.url)
                if len(got) == 6:
                    return got
        return got

    assert len(asyncio.run(crawl())) == 6
    assert len(lost) == 3
    counts = frontier.counts("c")
    assert (counts.leased, counts.queued) == (0, 6)


@pytest.mark.parametrize("role", [PageRole.PAGE, PageRole.ROBOTS])
def test_what_a_replica_lacks_is_fetched_again(
    queue_url: str, frontier: Frontier, monkeypatch: pytest.MonkeyPatch, role: PageRole
) -> None:
    monkeypatch.setattr(leasing, "RENEW_S", 0.1)
    begin(frontier, urls(3), slots=8)
    lost: list[Lease] = []

    async def crawl() -> list[str]:
        got: list[str] = []
        async with opened(queue_url, 4) as (source, queue):
            async for lease in source.leases():
                if lease.role is role and not lost:
                    lost.append(lease)
                    source.end(lease)  # its primary had the result
                elif lease.role is PageRole.ROBOTS:
                    await queue.put_robots(lease, RobotsVerdict(rules=""))
                    source.end(lease)
                else:
                    await source.put(lease, ANSWER)
                    got.append(lease.url)
                if len(got) == 3:
                    return got
        return got

    assert sorted(asyncio.run(crawl())) == sorted(each.url for each in urls(3))
    assert len(lost) == 1


def test_a_result_outlives_the_server(tmp_path: Path) -> None:
    server = EmbeddedServer(tmp_path / "data")
    server.start()
    try:
        frontier = Frontier(server.url)
        begin(frontier, urls(3), slots=8)

        async def crawl() -> None:
            async with opened(server.url, 3) as (source, queue):
                leases = pages(source, queue)
                held = [await asyncio.wait_for(anext(leases), 5) for _ in range(3)]
                await asyncio.sleep(1.1)  # what the server wrote is on its disk: once a second
                assert server.pid is not None
                os.kill(server.pid, signal.SIGKILL)
                await holds(lambda: not server.is_running())
                puts = [asyncio.create_task(source.put(x, ANSWER)) for x in held[:2]]
                puts.append(asyncio.create_task(source.nack(held[2], retry())))
                done, _ = await asyncio.wait(puts, timeout=0.5)
                assert not done, "they insist"
                server.start()
                await asyncio.wait_for(asyncio.gather(*puts), 15)
                again = await asyncio.wait_for(anext(leases), 10)
                assert again.url == held[2].url
                assert again.attempt == 2
                assert source.counters["pages_put"] == 2

        asyncio.run(crawl())
        assert frontier.counts("c").queued == 2
        frontier.close()
    finally:
        server.stop()


def test_an_embedded_queue_that_stays_away_ends_the_leases(tmp_path: Path) -> None:
    server = EmbeddedServer(tmp_path / "data")
    server.start()
    frontier = Frontier(server.url)
    frontier.open_crawl(spec("c"))
    frontier.close()

    async def crawl() -> list[Lease]:
        async with opened(server.url, 3, lambda away_s: "gone" * (away_s > 0.3)) as (source, _):
            got: list[Lease] = []

            async def take() -> None:
                async for lease in source.leases():
                    got.append(lease)

            taking = asyncio.create_task(take())
            await holds(lambda: source.counters["lease_waits"] >= 1)
            server.stop()
            source.end(LEASE)  # something makes it look
            await asyncio.wait_for(taking, 10)
            with pytest.raises(QueueUnavailable):
                await source.put(LEASE, ANSWER)
            return got

    assert asyncio.run(crawl()) == []


LEASE = make_lease()


def test_old_tokens_are_counted_and_change_nothing(queue_url: str, frontier: Frontier) -> None:
    begin(frontier, urls(1))

    async def crawl() -> None:
        async with opened(queue_url, 3) as (source, _):
            await source.put(LEASE, FetchResult(status=200))
            assert source.counters["stale_tokens"] == 1
            assert source.counters["pages_put"] == 0

    asyncio.run(crawl())
    assert frontier.counters()["stale_tokens"] == 1, "the last counters are told when it closes"
    assert frontier.counts("c").queued == 0


def test_closing_gives_back_what_is_held(queue_url: str, frontier: Frontier, client: Redis) -> None:
    begin(frontier, [*urls(3), Discovery(url="http://b.example/")], slots=8)

    async def crawl() -> None:
        async with opened(queue_url, 4) as (source, queue):
            leases = pages(source, queue)
            for _ in range(4):
                await asyncio.wait_for(anext(leases), 5)

    asyncio.run(crawl())
    assert frontier.counts("c").leased == 4
    frontier.sweep()
    assert frontier.counts("c").leased == 0
    assert frontier.counts("c").pending == 4
    assert client.zcard("cc:spiders") == 0


def test_background_work_that_fails_ends_the_leases(
    queue_url: str, frontier: Frontier, client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    begin(frontier, urls(1))

    async def crawl() -> BaseException | None:
        async with opened(queue_url, 4) as (source, queue):
            async for lease in pages(source, queue):
                client.set("cc:bt", "no list of batches")
                await source.nack(lease, retry(600_000))
                source._last_put_s = time.monotonic()  # batches are looked at after a put
            return source.failure

    failure = asyncio.run(asyncio.wait_for(crawl(), 10))
    assert isinstance(failure, StorageError)
    assert "WRONGTYPE" in str(failure)
    assert "the spider cannot continue" in caplog.text


def test_counters_that_could_not_be_told_are_kept(
    queue_url: str, frontier: Frontier, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawlclean.crawler.leasing.RENEW_S", 0.01)
    begin(frontier, urls(3))

    async def crawl() -> BaseException | None:
        async with opened(queue_url, 4) as (source, queue):
            client.set("cc:metrics", "no counters")
            async for _ in pages(source, queue):
                pass
            assert source.counters["leases"] >= 1
            client.delete("cc:metrics")
            return source.failure

    failure = asyncio.run(asyncio.wait_for(crawl(), 10))
    assert isinstance(failure, StorageError)
    assert frontier.counters()["leases"] >= 1, "told at the end"


def test_counters_of_an_absence_are_told_after_it(
    queue_url: str, frontier: Frontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawlclean.crawler.leasing.RENEW_S", 0.01)
    frontier.open_crawl(spec("c"))
    count = FetchQueue.count
    lost: list[dict[str, int]] = []

    async def losing(self: FetchQueue, counters: dict[str, int], tally: Tally) -> None:
        if len(lost) < 3:
            lost.append(counters)
            raise QueueUnavailable("the network is away")
        await count(self, counters, tally)

    monkeypatch.setattr(FetchQueue, "count", losing)

    async def crawl() -> None:
        async with opened(queue_url, 4) as (source, _):
            source.counters["leases"] += 5
            waiting = asyncio.ensure_future(anext(source.leases()))
            await holds(lambda: len(lost) == 3 and frontier.counters().get("leases") == 5)
            waiting.cancel()

    asyncio.run(crawl())
    assert frontier.counters()["leases"] == 5


def test_what_hosts_answer_is_counted_by_class_and_time(queue_url: str, frontier: Frontier) -> None:
    """In the round trips of the counters: a page costs none of its own."""
    begin(frontier, urls(3, "a.example"), slots=8)

    async def crawl() -> None:
        async with opened(queue_url, 4) as (source, queue):
            leases = pages(source, queue)
            first, second, third = [await anext(leases) for _ in range(3)]
            await source.put(first, replace(ANSWER, elapsed_ms=80))
            await source.nack(second, retry(), elapsed_ms=2000, status=503)
            away = Failure(reason=FailureReason.TIMEOUT, detail="")
            await source.put(third, FetchResult(failure=away), outcome=ResponseOutcome.NONE)

    asyncio.run(crawl())
    taken = frontier.tallies.take(28_000_000)
    assert taken["@a.example"] == taken[":c"] == {
        "answers_2xx": 1, "answered_in_0.1": 1, "answers_5xx": 1, "answered_in_2.5": 1,
        "response_ms": 2080, "answers_none": 1,
    }  # fmt: skip


def test_a_lost_cancellation_does_not_keep_the_source_open(
    queue_url: str, frontier: Frontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    frontier.open_crawl(spec("c"))
    flushing = asyncio.Event()
    lost: list[str] = []

    async def losing(_self: FetchQueue) -> int:
        flushing.set()
        if not lost:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                lost.append("the answer came in the same moment")
        return 0

    monkeypatch.setattr(FetchQueue, "flush", losing)

    async def crawl() -> None:
        async with opened(queue_url, 4) as (source, _):
            source._last_put_s = time.monotonic()
            waiting = asyncio.ensure_future(anext(source.leases()))
            await flushing.wait()
            await asyncio.wait_for(source.close(), 5)
            waiting.cancel()

    asyncio.run(crawl())
    assert len(lost) == 1
