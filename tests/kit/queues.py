"""The queue in tests: a spider driven call by call, crawls, waits skipped, jobs claimed."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

from crawlclean.cleaning.records import Via
from crawlclean.cleaning.urls.normal_form import host_of, page_id
from crawlclean.storage.config import StorageConfig
from crawlclean.storage.crawl_types import (
    CrawlSpec,
    Discovery,
    FetchResult,
    Lease,
    LeaseBatch,
    PageRole,
    QueuedPage,
    ResponseOutcome,
    Retry,
    UrlRow,
    UrlState,
)
from crawlclean.storage.queue.fetch_queue import FetchQueue, RobotsVerdict
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.store.hosts import Pause

A = "http://a.example/"
B = "http://b.example/"
END_MARGIN_MS = 5  # what the queue adds to every pause, for the host's own log
ANSWER = FetchResult(
    status=200, headers=(("Content-Type", "text/html"),), body=b"<p>x", elapsed_ms=3
)


def pause_host(queue: Frontier, host: str, who: str = "", why: str = "") -> None:
    """Pauses a host in the queue, as `crawl pause HOST` does."""
    queue.keep_paused([Pause(host=host, since=datetime.now(UTC), who=who, why=why)])


def ended_url(url: str) -> UrlRow:
    """A seed that ended with a record on 31 January 2026."""
    at = datetime(2026, 1, 31, tzinfo=UTC)
    return UrlRow(
        crawl_id="c",
        page_id=page_id(url),
        url=url,
        host=host_of(url),
        state=UrlState.RECORD,
        via=Via.SEED,
        discovered_at=at,
        status=200,
        finished_at=at,
    )


class Spider:
    """A ``FetchQueue`` on a loop of its own: every call runs to its end."""

    def __init__(self, url: str, config: StorageConfig | None = None) -> None:
        self._runner = asyncio.Runner()
        self._closed = False
        self.url = url
        self.queue = FetchQueue(url, config or StorageConfig())

    def run(self, work: Any) -> Any:
        return self._runner.run(work)

    def ask(self, n: int = 100) -> LeaseBatch:
        batch: LeaseBatch = self.run(self.queue.lease(n))
        return batch

    def wait_ms(self) -> int:
        """How long there is nothing to lease."""
        batch = self.ask()
        assert batch.leases == ()
        assert batch.wait_ms is not None
        return batch.wait_ms

    def lease(self, n: int = 100) -> tuple[Lease, ...]:
        return self.ask(n).leases

    def pages(self, n: int = 100) -> list[Lease]:
        """Leases of pages; robots.txt that comes first is answered with no rules."""
        pages: list[Lease] = []
        while True:
            leases = self.lease(n - len(pages))
            robots = [lease for lease in leases if lease.role is PageRole.ROBOTS]
            pages += [lease for lease in leases if lease.role is not PageRole.ROBOTS]
            for lease in robots:
                assert self.put_robots(lease)
            if not robots or len(pages) == n:
                return pages

    def put(self, lease: Lease, result: FetchResult = ANSWER, *, asked: bool = True) -> bool:
        outcome = ResponseOutcome.ANSWERED if asked else ResponseOutcome.UNASKED
        return bool(self.run(self.queue.put(lease, result, outcome=outcome)))

    def nack(self, lease: Lease, *, url_wait_ms: int = 0, host_wait_ms: int = 0) -> bool:
        retry = Retry(detail="why", url_wait_ms=url_wait_ms, host_wait_ms=host_wait_ms)
        return bool(self.run(self.queue.nack(lease, retry)))

    def put_robots(
        self,
        lease: Lease,
        rules: str = "",
        *,
        crawl_delay_ms: int = 0,
        sitemaps: tuple[Discovery, ...] = (),
        ttl_ms: int = 3_600_000,
    ) -> bool:
        verdict = RobotsVerdict(
            rules=rules, crawl_delay_ms=crawl_delay_ms, sitemaps=sitemaps, ttl_ms=ttl_ms
        )
        return bool(self.run(self.queue.put_robots(lease, verdict)))

    def reconcile(self, held: list[Lease]) -> int:
        return int(self.run(self.queue.reconcile(held)))

    def flush(self, age_ms: int = 0) -> int:
        return int(self.run(self.queue.flush(age_ms)))

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self.run(self.queue.close())
            self._runner.close()


def spec(crawl_id: str = "c", *seeds: str, **more: Any) -> CrawlSpec:
    """A crawl; without a delay where none is given."""
    more.setdefault("delay_ms", 0)
    return CrawlSpec(crawl_id=crawl_id, seeds=seeds, **more)


def begin(frontier: Frontier, found: list[Discovery], crawl_id: str = "c", **more: Any) -> None:
    """Opens a crawl without seeds, and offers it URLs."""
    frontier.open_crawl(spec(crawl_id, **more))
    frontier.add(crawl_id, found)


def urls(n: int, host: str = "a.example") -> list[Discovery]:
    """The host's pages ``/0`` to ``/n-1``."""
    return [Discovery(url=f"http://{host}/{i}") for i in range(n)]


def make_lease(url: str = A, **more: Any) -> Lease:
    """A lease of a page of crawl ``c``, as a spider gets it."""
    known = {"page_id": "0" * 32, "token": 1, "attempt": 1, "role": PageRole.PAGE, "depth": 0}
    known |= {"crawl_id": "c", "allow_private": False, "robots_version": 0}
    return Lease(url=url, **{"host": host_of(url), **known, **more})


def server_ms(client: Any) -> int:
    """The queue's clock."""
    seconds, micros = client.time()
    return int(seconds) * 1000 + int(micros) // 1000


def let_time_pass(client: Any, *hosts: str) -> None:
    """As if every wait of the hosts were over, and every URL's."""
    for host in hosts:
        client.hset(f"cc:g:{host}", mapping={"clock": 0, "answer_ended": 0})
        client.zadd("cc:ready", {host: 0})
    for key in client.scan_iter("cc:r:*"):
        client.zadd(key, dict.fromkeys(client.zrange(key, 0, -1), 0))


def age_jobs(client: Any) -> None:
    """As if every job that nobody claimed had been made long ago."""
    jobs = client.zrange("cc:jobs", 0, -1)
    if jobs:
        client.zadd("cc:jobs", dict.fromkeys(jobs, 0))


def job_ids(client: Any) -> list[str]:
    """Jobs that wait for a claim, oldest first."""
    return sorted(client.zrange("cc:jobs", 0, -1), key=lambda job: int(job[1:]))


def fetch_all(spider: Spider, n: int = 100) -> int:
    """Leases and puts up to ``n`` pages; returns how many there were."""
    pages = spider.pages(n)
    for page in pages:
        assert spider.put(page)
    spider.flush()
    return len(pages)


def claim_all(frontier: Frontier, client: Any) -> dict[str, list[QueuedPage]]:
    """Claims every waiting job."""
    return {job: frontier.claim(job, "w") for job in job_ids(client)}


def ack_all(frontier: Frontier, client: Any, state: UrlState = UrlState.RECORD) -> int:
    """Claims and acks everything that waits; returns how many counted."""
    jobs = claim_all(frontier, client)
    return sum(frontier.ack(job, [(page, state) for page in pages]) for job, pages in jobs.items())


def assert_at_rest(client: Any) -> None:
    """Nothing is in flight, and no host holds a slot."""
    assert {name: int(n) for name, n in client.hgetall("cc:flight").items() if int(n)} == {}
    for key in client.scan_iter("cc:g:*", _type="HASH"):
        assert int(client.hget(key, "held") or 0) == 0, key
    assert list(client.scan_iter("cc:l:*")) == []
    assert client.zcard("cc:claims") == 0
