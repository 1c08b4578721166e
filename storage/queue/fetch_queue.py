"""The spider's side of the queue: lease, put, nack; asyncio, because a blocking client would
freeze the spider's reactor while the server stalls.

One ``FetchQueue`` is one session. A session that is not renewed for ``SESSION_TTL_MS`` is dead:
the sweeper gives its leases to others.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Sequence
from typing import Any

from cleaning.errors import QueueUnavailable
from storage.config import StorageConfig
from storage.crawl_types import Discovery, FetchResult, Lease, LeaseBatch
from storage.politeness_policy import HOST_PATIENCE_S, LeaseDecision, ResponseOutcome, Unreachable
from storage.queue.clients import RETRY_PAUSE_S, Arg, AsyncScripts, open_async_client, queue_errors
from storage.queue.entries import log_detail, offer_args, pack_result, process_name, read_lease
from storage.queue.jobs import JobQueue

SESSION_TTL_MS = 20_000
RENEW_S = 5.0
FLUSH_PAGES = 20
JOB_PAGES = 100  # a job costs a worker as much as ten small pages, so one that waits may grow
FLUSH_BYTES = 1 << 20
FLUSH_MS = 200
THREAD_BYTES = 256 << 10  # less is packed sooner than a thread is called
ROBOTS_TTL_MS = 24 * 3600 * 1000
ADDRESS_TTL_MS = 3600 * 1000


class FetchQueue:
    """What a spider may do to the queue. Every method raises ``QueueUnavailable``."""

    def __init__(
        self,
        redis_url: str,
        config: StorageConfig,
        host_patience_s: float = HOST_PATIENCE_S,
    ) -> None:
        """A session on a queue.

        Args:
            redis_url: The queue's server.
            config: Limits of what is in flight.
            host_patience_s: How long a host that stops answering is waited for in all.
        """
        self._host_patience_ms = int(host_patience_s * 1000)
        self._client = open_async_client(redis_url)
        self._scripts = AsyncScripts(self._client)
        self._jobs = JobQueue(redis_url)
        self._config = config
        self.session = f"{process_name()}.{uuid.uuid4().hex[:8]}"
        self.woken = asyncio.Event()

    async def _run(self, name: str, *args: Arg) -> Any:
        with queue_errors():
            return await self._scripts(name, args)

    async def lease(self, n: int) -> LeaseBatch:
        """Up to ``n`` URLs to fetch now, at most one per free slot of a host; renews the session.

        A call that fails may have leased: call ``reconcile`` before the next one.
        """
        answer = await self._run(
            "lease",
            self.session,
            n,
            SESSION_TTL_MS,
            self._config.max_pages_in_flight,
            self._config.max_bytes_in_flight,
            self._host_patience_ms,
        )
        wait = int(answer[1])
        with queue_errors():
            leases = tuple(read_lease(row) for row in answer[2:])
        return LeaseBatch(
            leases=leases, wait_ms=None if wait < 0 else wait, paused=answer[0] == b"full"
        )

    async def renew(self) -> None:
        """Keeps the session alive for another ``SESSION_TTL_MS``."""
        with queue_errors():
            seconds, micros = await self._client.time()
            alive = seconds * 1000 + micros // 1000 + SESSION_TTL_MS
            await self._client.zadd("cc:spiders", {self.session: alive})

    async def reconcile(self, held: Sequence[Lease]) -> int:
        """Gives back leases of this session that are not in ``held``; returns how many."""
        return int(await self._run("reconcile", self.session, *(lease.token for lease in held)))

    async def put(
        self,
        lease: Lease,
        result: FetchResult,
        *,
        outcome: ResponseOutcome = ResponseOutcome.ANSWERED,
        host_wait_ms: int = 0,
    ) -> bool:
        """Hands an answer, or a final failure, to the workers; False when the token is old.

        Args:
            lease: What was fetched.
            result: What came of it.
            outcome: How the request ended; the host's clock does not restart when none was made.
            host_wait_ms: How long every URL of the host waits, if longer than its delay.
        """
        if len(result.body) < THREAD_BYTES:
            meta, body = pack_result(result)
        else:
            meta, body = await asyncio.to_thread(pack_result, result)
        if result.failure:
            step, detail = "gave_up", f"{result.failure.reason}: {result.failure.detail}"
        else:
            step, detail = "fetched", f"{result.status}, {len(result.body)} bytes"
            detail += f", {result.elapsed_ms} ms"
        accepted, job = await self._run(
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
        """Turns batches older than ``age_ms`` into jobs; returns how many jobs."""
        jobs = await self._run("flush", age_ms)
        for job in jobs:
            await self._enqueue(job.decode())
        return len(jobs)

    async def _enqueue(self, job_id: str) -> None:
        # The batch is a job in the queue already: if this fails, the sweeper enqueues it.
        try:
            await asyncio.to_thread(self._jobs.enqueue, job_id)
        except QueueUnavailable:
            return

    async def nack(
        self,
        lease: Lease,
        detail: str,
        *,
        url_wait_ms: int = 0,
        host_wait_ms: int = 0,
        outcome: ResponseOutcome = ResponseOutcome.NONE,
        elapsed_ms: int = 0,
    ) -> bool:
        """Ends an attempt that may be repeated; False when the token is old.

        Args:
            lease: What failed.
            detail: Why, one line for the decision log.
            url_wait_ms: How long this URL waits.
            host_wait_ms: How long every URL of the host waits.
            outcome: How the request ended.
            elapsed_ms: How long it took.
        """
        return bool(
            await self._run(
                "nack",
                lease.crawl_id,
                lease.page_id,
                lease.token,
                url_wait_ms,
                host_wait_ms,
                log_detail(detail),
                str(outcome),
                elapsed_ms,
            )
        )

    async def excuse(self, lease: Lease, away: Unreachable, detail: str) -> LeaseDecision:
        """What becomes of a lease that got no answer, when it may not be its URL's fault.

        Args:
            lease: What failed.
            away: What may be away.
            detail: Why, one line for the decision log.
        """
        answer = await self._run(
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
        """Says at which address a lease's host is; False when the lease is over: it was given back.

        Hosts at one address share its clock and slots, and another may be asked now.
        """
        leased = (lease.crawl_id, lease.page_id, lease.token)
        return bool(await self._run("locate", *leased, address, ADDRESS_TTL_MS))

    async def put_robots(
        self,
        lease: Lease,
        rules: str,
        *,
        crawl_delay_ms: int = 0,
        sitemaps: Sequence[Discovery] = (),
        ttl_ms: int = ROBOTS_TTL_MS,
        host_wait_ms: int = 0,
        elapsed_ms: int = 0,
    ) -> bool:
        """Stores a host's robots rules for every spider; False when the token is old."""
        offers = [
            a.decode() if isinstance(a, bytes) else a for s in sitemaps for a in offer_args(s)
        ]
        return await self._end_robots(
            lease,
            "read",
            host_wait_ms,
            elapsed_ms,
            rules.encode("utf-8", "replace"),
            crawl_delay_ms,
            json.dumps(offers, ensure_ascii=False).encode("utf-8", "replace"),
            ttl_ms,
        )

    async def hold_robots(
        self,
        lease: Lease,
        *,
        wait_ms: int,
        longest_wait_ms: int,
        patience: int,
        forbid_all: str,
        forbid_ttl_ms: int,
        host_wait_ms: int = 0,
        elapsed_ms: int = 0,
    ) -> bool:
        """Ends a lease whose host answers errors; False when the token is old.

        Rules that were read before stay in force until it is asked again. Without any the host
        waits, and when that was in vain ``forbid_all`` are its rules for a while.

        Args:
            lease: The lease of robots.txt.
            wait_ms: Time to the next question after the first error; it doubles with each in a row.
            longest_wait_ms: The limit of that.
            patience: How many errors in a row end the waiting.
            forbid_all: The rules that then end the host's URLs.
            forbid_ttl_ms: How long they do.
            host_wait_ms: How long every URL of the host waits in any case.
            elapsed_ms: How long the answer took.
        """
        return await self._end_robots(
            lease,
            "errors",
            host_wait_ms,
            elapsed_ms,
            wait_ms,
            longest_wait_ms,
            patience,
            forbid_all,
            forbid_ttl_ms,
        )

    async def miss_robots(self, lease: Lease, *, ttl_ms: int) -> bool:
        """Ends a lease that got no answer; False when the token is old.

        For ``ttl_ms`` the rules stay that were read before; without any all is allowed.
        """
        return await self._end_robots(lease, "missed", 0, 0, ttl_ms)

    async def refuse_robots(self, lease: Lease, *, ttl_ms: int, asked: bool) -> bool:
        """Ends a lease whose host this crawl may not ask; False when the token is old.

        For ``ttl_ms`` its pages are leased without rules, to be refused like this; nothing is
        stored for other crawls.
        """
        return await self._end_robots(lease, "refused", 0, 0, ttl_ms, int(asked))

    async def _end_robots(
        self, lease: Lease, verdict: str, host_wait_ms: int, *details: Arg
    ) -> bool:
        leased = (lease.crawl_id, lease.page_id, lease.token)
        return bool(await self._run("robots", *leased, verdict, host_wait_ms, *details))

    async def robots(self, host: str) -> str:
        """The rules in force for a host; ``""`` allows all."""
        with queue_errors():
            ours, read = await self._client.hmget(f"cc:g:{host}", "robots_override", "robots_rules")
        return (ours or read or b"").decode("utf-8", "replace")

    async def stopped_classes(self, crawl_id: str, host: str) -> dict[str, str]:
        """Stopped classes of URLs of a host, and why each was stopped."""
        with queue_errors():
            found = await self._client.hgetall(f"cc:ts:{crawl_id}:{host}")
        return {pattern.decode(): why.decode() for pattern, why in found.items()}

    async def watch(self) -> None:
        """Sets ``woken`` whenever work may have come; runs until cancelled."""
        while True:
            try:
                with queue_errors():
                    async with self._client.pubsub(ignore_subscribe_messages=True) as pubsub:
                        await pubsub.subscribe("cc:wake")
                        self.woken.set()
                        while True:
                            if await pubsub.get_message(timeout=RENEW_S):
                                self.woken.set()
            except QueueUnavailable:
                await asyncio.sleep(RETRY_PAUSE_S)

    async def count(self, counters: dict[str, int]) -> None:
        """Adds to the process counters."""
        with queue_errors():
            async with self._client.pipeline(transaction=False) as pipe:
                for name, value in counters.items():
                    pipe.hincrby("cc:metrics", name, value)
                await pipe.execute()

    async def close(self) -> None:
        """Ends the session; leases it still holds are others' to take at once."""
        try:
            with queue_errors():
                await self._client.zadd("cc:spiders", {self.session: 0}, xx=True)
        except QueueUnavailable:
            pass
        await self._client.aclose()
        self._jobs.close()
