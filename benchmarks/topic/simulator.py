"""A topic crawl by the product's own parts on a clock of the simulator's: a part of ``topic.py``.

Real are the queue server and its scripts, the spider, the jobs of pages and the store. Simulated
are time and the network: a server answers after ``ANSWER_S``, a name that does not exist fails
after a look-up, a worker needs ``JOB_S`` and ``PAGE_S``. So the order in which hosts are served,
credit, sleep, slots, attempts, and pages that are fetched and not yet judged, are the product's.

The scripts read the time in one place, which is replaced in the scripts of this process by a key
that the simulator sets; no server that a crawl uses has such scripts. Records are cleaned once
(``records.py``), without site models.

A draw has its own port, so other page ids and another noise of exploration, and other times of
answers.
"""

from __future__ import annotations

import asyncio
import heapq
import random
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import urljoin

from scrapy import Request
from scrapy.exceptions import CannotResolveHostError
from scrapy.http import Response
from scrapy.settings import Settings as ScrapySettings
from twisted.python.failure import Failure as TwistedFailure

from benchmarks.topic.records import CleanedOnce
from benchmarks.topic.sites import PORT, ServedSites
from crawlclean.crawler.leasing import LONGEST_SLEEP_S, LeaseSource
from crawlclean.crawler.settings import scrapy_settings
from crawlclean.storage.crawl_types import Lease
from crawlclean.storage.opening import open_store
from crawlclean.storage.queue import clients
from crawlclean.storage.queue.embedded import EmbeddedServer
from crawlclean.storage.queue.fetch_queue import FLUSH_MS, FetchQueue
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.workers import tasks
from crawlclean.workers.config import Settings, load_settings
from crawlclean.workers.context import Context
from crawlclean.workers.jobs import outcomes
from crawlclean.workers.operations.topics.crawls import topic_spec
from crawlclean.workers.operations.topics.topics import TopicFlags, begin_topic, planned_topic
from crawlclean.workers.site_models import SiteModels

SERVER_TIME = """local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)"""
SIMULATED_TIME = "return tonumber(redis.call('GET', 'cc:simulated_ms'))"

# Means of live crawls on two cores: an answer of the site server; a look-up of an unknown name in
# one of 64 threads. A job of one small page takes .03 s from request to request (chain.json). A
# page of these sites is cleaned in .02 s; its judgement, rows and links are taken for as long.
ANSWER_S, LOOKUP_S, JOB_S, PAGE_S = 0.02, 0.75, 0.02, 0.04
LONGEST_LOOKUP_S = 30.0
IDLE_S = 600.0  # without a request until then a crawl has ended


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is crawled.

    Attributes:
        name: Of the topic.
        query: Words of the user.
        examples: Folder of the example pages, or None.
        seeds: Pages.
        max_pages: Budget.
        delay_s: Pause of a host.
    """

    name: str
    query: str
    examples: Path | None
    seeds: tuple[str, ...]
    max_pages: int
    delay_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """What a simulated crawl did.

    Attributes:
        fetched: Time (seconds of the crawl) and URL of each answer with a page.
        failed: Requests without one.
        unknown_names: Look-ups of names that do not exist.
        pending: URLs that waited at the end.
        cpu_s: CPU of this process; the queue server has about as much again.
    """

    fetched: tuple[tuple[float, str], ...]
    failed: int
    unknown_names: int
    pending: int
    cpu_s: float


def simulate(order: Order, sites: ServedSites, folder: Path, draw: int) -> Simulated:
    """Crawls a topic; call it in a process of its own, because scripts and cleaning are replaced.

    Args:
        order: What is crawled.
        sites: The web, on the port of the draw (``port_of``).
        folder: An empty one, for the data.
        draw: Of the noise.
    """
    begun_s = time.process_time()
    # Remembered records do not say what their pages ask of robots.
    flags = {"data": folder, "allow_private": True, "keep_raw": "none", "page_robots": False}
    settings = load_settings({}, {**flags, "max_pages": order.max_pages, "delay_s": order.delay_s})
    given = {"max_pages", "delay_s", "keep_raw", "allow_private", "page_robots"}
    product: Any = outcomes
    product.read = CleanedOnce(product.read, port_of(draw))
    clients.script_source = cache(_simulated_source(clients.script_source))
    spec = topic_spec(settings, order.name, sites.urls(order.seeds), None, given)
    examples = [str(order.examples)] if order.examples else None
    given_words = TopicFlags(query=order.query, examples=examples)
    planned = planned_topic(settings, spec.topic, given_words)
    begin_topic(settings, planned, given_words, lambda _: None)
    server = EmbeddedServer(folder)
    server.start()
    store = open_store(settings.storage)
    try:
        crawl = _Crawl(settings, server.url, sites, draw)
        frontier = Frontier(server.url)
        frontier.open_crawl(spec)
        crawl.context = Context(settings, frontier, store, SiteModels(store))
        asyncio.run(crawl.run())
        return Simulated(
            fetched=tuple(crawl.fetched),
            failed=crawl.failed,
            unknown_names=crawl.unknown_names,
            pending=frontier.counts(spec.crawl_id).pending,
            cpu_s=round(time.process_time() - begun_s, 1),
        )
    finally:
        store.close()
        server.stop()


def port_of(draw: int) -> int:
    """Returns the port of all hosts in a draw."""
    return PORT + draw


def _simulated_source(source: Callable[[str], str]) -> Callable[[str], str]:
    def simulated(name: str) -> str:
        text = source(name)
        if text.count("redis.call('TIME')") != 1 or SERVER_TIME not in text:
            raise AssertionError(f"{name} reads the time in another way: see SERVER_TIME")
        return text.replace(SERVER_TIME, SIMULATED_TIME)

    return simulated


class _Queue(FetchQueue):
    """The spider's side of the queue; jobs are done by the simulator's worker."""

    def __init__(self, url: str, settings: Settings) -> None:
        super().__init__(url, settings.storage, settings.crawl.host_patience_s)
        self.jobs: deque[str] = deque()

    async def _enqueue(self, job_id: str) -> None:
        self.jobs.append(job_id)


class _Leases(LeaseSource):
    """Leases of the simulator's time."""

    def __init__(
        self, queue: FetchQueue, capacity: int, pass_time: Callable[[float], Awaitable[bool]]
    ) -> None:
        super().__init__(queue, capacity)
        self._pass_time = pass_time

    async def leases(self) -> AsyncIterator[Lease]:
        """Yields leases until no request is left; time passes while none may be made."""
        goes_on = True
        while goes_on:
            room = self._capacity - len(self._held)
            batch = await self._queue.lease(room) if room > 0 else None
            leases = batch.leases if batch else ()
            self._held.update((lease.token, lease) for lease in leases)
            for lease in leases:
                yield lease
            if not leases:
                wait_ms = batch.wait_ms if batch else None
                goes_on = await self._pass_time(IDLE_S if wait_ms is None else wait_ms / 1000)


class _Crawl:
    """Time, network and worker of one crawl."""

    context: Context

    def __init__(self, settings: Settings, url: str, sites: ServedSites, draw: int) -> None:
        self.fetched: list[tuple[float, str]] = []
        self.failed = 0
        self.unknown_names = 0
        self._sites = sites
        self._choice = random.Random(draw)  # noqa: S311 - a repeatable choice
        self._client = clients.open_client(url)
        self._began_ms = int(time.time() * 1000)
        self._now_s = 0.0
        self._events: list[tuple[float, int, Callable[[], Awaitable[None]]]] = []
        self._numbers = 0
        self._is_working = False
        self._set_time(0.0)
        self._settings, self._url = settings, url

    async def run(self) -> None:
        """Crawls until the budget is spent or no request is left."""
        spider, self._queue = self._make_spider()
        self._spider = spider
        async for request in spider.start():
            self._send(request)
        await spider.end_session()
        self._client.close()

    def _make_spider(self) -> tuple[Any, _Queue]:
        from twisted.internet import reactor

        from crawlclean.crawler.addresses.guard import GuardedResolver
        from crawlclean.crawler.spiders.site import SiteSpider

        GuardedResolver(reactor).install_on_reactor()
        crawl = self._settings.crawl
        values = scrapy_settings(self._url, crawl, self._settings.storage) | {"FETCH_LOG": ""}
        crawler = SimpleNamespace(settings=ScrapySettings(values))
        queue = _Queue(self._url, self._settings)
        spider = SiteSpider(queue, cast(Any, crawler))
        spider.source = _Leases(queue, crawl.concurrency, self._pass_time)
        return spider, queue

    def _set_time(self, at_s: float) -> None:
        self._now_s = at_s
        self._client.set("cc:simulated_ms", self._began_ms + int(at_s * 1000))

    def _later(self, after_s: float, event: Callable[[], Awaitable[None]]) -> None:
        self._numbers += 1
        heapq.heappush(self._events, (self._now_s + after_s, self._numbers, event))

    async def _pass_time(self, wait_s: float) -> bool:
        """Goes to the next event, or to the time of the next lease; False: nothing follows."""
        if not self._events and wait_s >= IDLE_S:
            return False
        until_s = self._now_s + min(wait_s, LONGEST_SLEEP_S)
        if self._events and self._events[0][0] <= until_s:
            until_s, _, event = heapq.heappop(self._events)
            self._set_time(until_s)
            await event()
        else:
            self._set_time(until_s + 0.001)
        self._work()
        return True

    def _send(self, request: Request) -> None:
        """Sends a request: its answer comes later."""
        answer = self._sites.answer(request.url)
        mean_s = ANSWER_S if answer else LOOKUP_S
        took_s = min(self._choice.expovariate(1 / mean_s), LONGEST_LOOKUP_S)

        async def end() -> None:
            request.meta["begun"] = time.monotonic() - took_s
            if answer is None:
                self.unknown_names += 1
                failure = cast(Any, TwistedFailure)(CannotResolveHostError(request.url))
                failure.request = request
                ended = self._spider.unanswered(failure)
            else:
                is_page = answer.status == 200 and not request.url.endswith("/robots.txt")
                if is_page:
                    self.fetched.append((self._now_s, request.url))
                self.failed += answer.status >= 400
                headers = {"Content-Type": "text/html"}
                if answer.location:
                    headers["Location"] = urljoin(request.url, answer.location)
                response = Response(
                    request.url,
                    status=answer.status,
                    headers=headers,
                    body=answer.body,
                    request=request,
                )
                ended = self._spider.answered(response)
            async for item in ended:
                if isinstance(item, Request):
                    self._send(item)
                else:
                    await self._spider.finish(item)
            self._later(1.5 * FLUSH_MS / 1000, self._flush)

        self._later(took_s, end)

    async def _flush(self) -> None:
        await self._queue.flush()

    def _work(self) -> None:
        """Lets the worker begin the next job, if it is free."""
        if self._is_working or not self._queue.jobs:
            return
        job = self._queue.jobs.popleft()
        crawl, host, pages = self._client.hmget(f"cc:j:{job}", "crawl", "host", "pages")
        self._is_working = True

        async def end() -> None:
            tasks._Job(self.context, job, crawl.decode(), host.decode()).run("worker")
            self._is_working = False

        self._later(JOB_S + PAGE_S * int(pages), end)
