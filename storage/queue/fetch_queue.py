"""The spider's side of the queue: lease, put, nack.

The client is asyncio's: a blocking client would freeze the spider's reactor while the server
stalls. One ``FetchQueue`` is one session. A session that is not renewed for ``SESSION_TTL_MS`` is
dead: the housekeeper makes its leases pending.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from crawlclean.cleaning.errors import QueueUnavailable
from crawlclean.cleaning.messages import Message, read_line
from crawlclean.storage.config import StorageConfig
from crawlclean.storage.crawl_types import (
    HOST_PATIENCE_S,
    CrawlSpec,
    Discovery,
    FetchResult,
    Lease,
    LeaseBatch,
    LeaseDecision,
    ResponseOutcome,
    Retry,
    StoredCookie,
    Unreachable,
)
from crawlclean.storage.live_state import SILENT_S, ProcessRole
from crawlclean.storage.queue.clients import (
    Arg,
    Scripts,
    keep_listening,
    open_async_client,
    open_client,
    queue_errors,
    raises_queue_errors,
)
from crawlclean.storage.queue.entries import (
    log_detail,
    offer_args,
    pack_cookie,
    pack_result,
    process_name,
    read_lease,
)
from crawlclean.storage.queue.jobs import JobQueue
from crawlclean.storage.queue.live import Tally, add_tally, beat_args
from crawlclean.storage.store.rows import spec_from_json

SESSION_TTL_MS = round(SILENT_S * 1000)
RENEW_S = 5.0  # several renewals fit into SESSION_TTL_MS: one that fails costs no lease
FLUSH_PAGES = 20  # a job costs a worker as much as ten small pages; more pages wait longer
JOB_PAGES = 100  # a job costs a worker as much as ten small pages, so a waiting job may grow
FLUSH_BYTES = 1 << 20  # a few large pages are work enough for one job
FLUSH_MS = 200  # so long a page waits for others of its host
THREAD_BYTES = 256 << 10  # a smaller body is compressed sooner than a thread starts
ROBOTS_TTL_MS = 24 * 3600 * 1000  # 24 h: RFC 9309 asks not to use a copy for longer
ROBOTS_WAIT_MS = 300 * 1000  # after the first 5xx; doubles with each further one
LONGEST_ROBOTS_WAIT_MS = 3600 * 1000  # a host that is repaired is crawled again by then
ROBOTS_PATIENCE = 3  # 5xx in a row: 5 and 10 minutes of waiting
FORBIDDEN_TTL_MS = 3600 * 1000  # then robots.txt is asked for again (ADR 5)
MOST_COOKIES = 50  # a host: what every browser keeps at least (RFC 6265, 6.1)
MOST_JAR_BYTES = 8 << 10  # servers refuse a request whose headers are longer
# An hour: addresses change, and a look-up delays the first request of a host.
ADDRESS_TTL_MS = 3600 * 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotsVerdict:
    """The content of a robots.txt that was read.

    Attributes:
        rules: The lines for this crawler, ``User-agent: *\\nDisallow: /x\\n``; ``""`` allows all.
        ttl_ms: How long the rules are valid.
        crawl_delay_ms: Crawl-delay of the file, 0 without one.
        sitemaps: Sitemaps that the file names.
    """

    rules: str
    ttl_ms: int = ROBOTS_TTL_MS
    crawl_delay_ms: int = 0
    sitemaps: tuple[Discovery, ...] = ()


@raises_queue_errors
class FetchQueue:
    """The queue for one spider; every method raises ``QueueUnavailable`` while the server is away.

    Attributes:
        session: Name of the session, ``machine.4711.0a1b2c3d``.
        woken: Event that ``watch`` sets when new work is possible.
    """

    def __init__(
        self,
        redis_url: str,
        config: StorageConfig,
        host_patience_s: float = HOST_PATIENCE_S,
    ) -> None:
        """Opens a session.

        Args:
            redis_url: The queue's server.
            config: Limits of pages and bytes in flight.
            host_patience_s: Total of the waits for a host that has stopped answering, seconds.
        """
        self._host_patience_ms = int(host_patience_s * 1000)
        self._client = open_async_client(redis_url)
        self._scripts = Scripts(self._client)
        self._jobs = JobQueue(open_client(redis_url))
        self._config = config
        self.session = f"{process_name()}.{uuid.uuid4().hex[:8]}"
        self.woken = asyncio.Event()

    async def lease(self, n: int) -> LeaseBatch:
        """Leases up to ``n`` URLs, at most one per free slot of a host; renews the session.

        A call that fails may have leased URLs: call ``reconcile`` before the next ``lease``.
        """
        answer = await self._scripts(
            "lease",
            self.session,
            n,
            SESSION_TTL_MS,
            self._config.max_pages_in_flight,
            self._config.max_bytes_in_flight,
            self._host_patience_ms,
        )
        wait = int(answer[1])
        leases = tuple(read_lease(row) for row in answer[2:])
        return LeaseBatch(
            leases=leases, wait_ms=None if wait < 0 else wait, paused=answer[0] == b"full"
        )

    async def renew(self, trouble: str = "") -> None:
        """Keeps the session alive for another ``SESSION_TTL_MS``; ``trouble``: why it is idle."""
        beat = beat_args(ProcessRole.SPIDER, self.session, trouble)
        await self._scripts("beat", *beat, SESSION_TTL_MS)

    async def reconcile(self, held: Sequence[Lease]) -> int:
        """Gives back the leases of this session that are not in ``held``; returns their number."""
        return int(await self._scripts("reconcile", self.session, *(lease.token for lease in held)))

    async def put(
        self,
        lease: Lease,
        result: FetchResult,
        *,
        outcome: ResponseOutcome = ResponseOutcome.ANSWERED,
        host_wait_ms: int = 0,
    ) -> bool:
        """Gives a response, or a final failure, to the workers; False when the token is old.

        Args:
            lease: The lease that ends.
            result: The response or failure.
            outcome: How the request ended; UNASKED leaves the host's clock alone.
            host_wait_ms: Pause of the host, if longer than its delay.
        """
        if len(result.body) < THREAD_BYTES:
            meta, body = pack_result(result)
        else:
            meta, body = await asyncio.to_thread(pack_result, result)
        if result.failure:
            step, detail = "gave_up", result.failure.line
        else:
            figures = result.status, len(result.body), result.elapsed_ms
            step, detail = "fetched", Message("fetched", *figures)
            if result.certificate:
                detail = Message("fetched_wrong", *figures, result.certificate)
        accepted, job = await self._scripts(
            "put",
            lease.crawl_id,
            lease.page_id,
            lease.token,
            meta,
            body,
            FLUSH_PAGES,
            FLUSH_BYTES,
            FLUSH_MS,
            step,
            log_detail(detail),
            str(outcome),
            host_wait_ms,
            result.elapsed_ms,
            JOB_PAGES,
        )
        if job:
            await self._enqueue(job.decode())
        return bool(accepted)

    async def flush(self, age_ms: int = FLUSH_MS) -> int:
        """Turns batches older than ``age_ms`` into jobs; returns the number of jobs."""
        jobs = await self._scripts("flush", age_ms)
        for job in jobs:
            await self._enqueue(job.decode())
        return len(jobs)

    async def _enqueue(self, job_id: str) -> None:
        # The job is stored already: if RQ cannot be reached, the housekeeper enqueues it.
        try:
            await asyncio.to_thread(self._jobs.enqueue, job_id)
        except QueueUnavailable:
            return

    async def nack(self, lease: Lease, retry: Retry, *, elapsed_ms: int = 0) -> bool:
        """Ends an attempt that may be repeated; False when the token is old.

        Args:
            lease: The lease that ends.
            retry: The reason and the waits.
            elapsed_ms: Duration of the request.
        """
        return bool(
            await self._scripts(
                "nack",
                lease.crawl_id,
                lease.page_id,
                lease.token,
                retry.url_wait_ms,
                retry.host_wait_ms,
                log_detail(retry.detail),
                str(retry.outcome),
                elapsed_ms,
            )
        )

    async def excuse(self, lease: Lease, away: Unreachable, detail: str) -> LeaseDecision:
        """Decides about a lease without a response where the URL may not be at fault.

        Args:
            lease: The lease of the failed request.
            away: The party that may have failed.
            detail: The reason, one line for the decision log.
        """
        answer = await self._scripts(
            "host_unreachable",
            lease.crawl_id,
            lease.page_id,
            lease.token,
            str(away),
            self._host_patience_ms,
            log_detail(detail),
        )
        return LeaseDecision(answer.decode())

    async def locate(self, lease: Lease, address: str) -> bool:
        """Stores the IP address of a lease's host; False when the lease was given back.

        Hosts at one address share its clock and slots: another host may be in use just now.
        """
        leased = (lease.crawl_id, lease.page_id, lease.token)
        return bool(await self._scripts("locate", *leased, address, ADDRESS_TTL_MS))

    async def keep_cookies(self, lease: Lease, cookies: Collection[StoredCookie]) -> int:
        """Changes the jar of a lease's host from ``lease.cookies`` to these; returns how many."""
        before, after = (dict(map(pack_cookie, jar)) for jar in (lease.cookies, cookies))
        gone = [field for field in before if field not in after]
        new = [arg for f, v in after.items() if before.get(f) != v for arg in (f, v)]
        leased: tuple[Arg, ...] = (lease.crawl_id, lease.page_id, lease.token)
        limits = (MOST_COOKIES, MOST_JAR_BYTES)
        return int(await self._scripts("keep_cookies", *leased, *limits, len(gone), *gone, *new))

    async def put_robots(
        self,
        lease: Lease,
        verdict: RobotsVerdict,
        *,
        host_wait_ms: int = 0,
        elapsed_ms: int = 0,
    ) -> bool:
        """Stores a host's robots rules for every spider; False when the token is old.

        Args:
            lease: The lease of robots.txt.
            verdict: Its content.
            host_wait_ms: Least pause of the host.
            elapsed_ms: Duration of the request.
        """
        offers = [
            arg.decode() if isinstance(arg, bytes) else arg
            for sitemap in verdict.sitemaps
            for arg in offer_args(sitemap)
        ]
        return await self._end_robots(
            lease,
            "read",
            host_wait_ms,
            elapsed_ms,
            verdict.rules.encode("utf-8", "replace"),
            verdict.crawl_delay_ms,
            json.dumps(offers, ensure_ascii=False).encode("utf-8", "replace"),
            verdict.ttl_ms,
        )

    async def hold_robots(
        self,
        lease: Lease,
        forbid_all: str,
        *,
        host_wait_ms: int = 0,
        elapsed_ms: int = 0,
        is_answer: bool = True,
    ) -> bool:
        """Ends a lease of a robots.txt that cannot be had; False when the token is old.

        Rules from an earlier request stay in force until the next request. Without rules the host
        waits; after ``ROBOTS_PATIENCE`` errors in a row its rules are ``forbid_all`` for a while.

        Args:
            lease: The lease of robots.txt.
            forbid_all: Rules that forbid every URL.
            host_wait_ms: Least pause of the host.
            elapsed_ms: Duration of the request.
            is_answer: Whether it was answered, with 5xx.
        """
        return await self._end_robots(
            lease,
            "errors" if is_answer else "unanswered",
            host_wait_ms,
            elapsed_ms,
            ROBOTS_WAIT_MS,
            LONGEST_ROBOTS_WAIT_MS,
            ROBOTS_PATIENCE,
            forbid_all,
            FORBIDDEN_TTL_MS,
        )

    async def miss_robots(self, lease: Lease, *, ttl_ms: int) -> bool:
        """Ends a lease of a robots.txt of a host without a connection; False when the token is old.

        Rules from an earlier request stay in force for ``ttl_ms``; without rules all is allowed.
        """
        return await self._end_robots(lease, "missed", 0, 0, ttl_ms)

    async def refuse_robots(self, lease: Lease, *, ttl_ms: int, asked: bool) -> bool:
        """Ends a lease of robots.txt at an address refused to this crawl; False: old token.

        For ``ttl_ms`` the host's pages are leased without rules, to be refused as well; nothing is
        stored for other crawls. ``asked``: whether a request was made.
        """
        return await self._end_robots(lease, "refused", 0, 0, ttl_ms, int(asked))

    async def _end_robots(
        self, lease: Lease, verdict: str, host_wait_ms: int, *details: Arg
    ) -> bool:
        leased = (lease.crawl_id, lease.page_id, lease.token)
        return bool(await self._scripts("robots", *leased, verdict, host_wait_ms, *details))

    async def robots(self, host: str) -> str:
        """The robots rules in force for a host, as text; ``""`` allows all."""
        ours, read = await self._client.hmget(f"cc:g:{host}", "robots_override", "robots_rules")
        return (ours or read or b"").decode("utf-8", "replace")

    async def stopped_classes(self, crawl_id: str, host: str) -> dict[str, str]:
        """The stopped URL classes of a host with their reasons, ``{"/cal/*": "no novelty"}``."""
        found = await self._client.hgetall(f"cc:ts:{crawl_id}:{host}")
        return {pattern.decode(): read_line(why.decode()) for pattern, why in found.items()}

    async def spec(self, crawl_id: str) -> CrawlSpec | None:
        """The order of a crawl; None when it was purged."""
        packed = await self._client.hget(f"cc:c:{crawl_id}", "spec")
        return spec_from_json(packed) if packed else None

    async def watch(self) -> None:
        """Sets ``woken`` when new work is possible; runs until cancelled."""
        await keep_listening(self._client, "cc:wake", self.woken.set)

    async def count(self, counters: dict[str, int], tally: Tally = MappingProxyType({})) -> None:
        """Adds to the process counters, ``{"leases": 3}``, and to the tally of hosts."""
        async with self._client.pipeline(transaction=False) as pipe:
            for name, value in counters.items():
                pipe.hincrby("cc:metrics", name, value)
            add_tally(pipe, tally)
            await pipe.execute()

    async def close(self) -> None:
        """Ends the session; the housekeeper may give its leases to other spiders at once."""
        try:
            with queue_errors():
                await self._client.zadd("cc:spiders", {self.session: 0}, xx=True)
                await self._client.zrem("cc:who", f"{ProcessRole.SPIDER} {self.session}")
        except QueueUnavailable:
            pass
        await self._client.aclose()
        self._jobs.close()
