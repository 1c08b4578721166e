"""Leases as an async source: the next URLs of the spider, as soon as they may be fetched.

The queue wakes the source when URLs come; between wake-ups it sleeps until the nearest host clock.
It holds no more leases than the spider fetches at a time, so no lease ages in memory.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter as Tally
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from cleaning.errors import QueueUnavailable, ServiceError
from crawler.outage import OutageDetector
from storage.crawl_types import FetchResult, Lease
from storage.politeness_policy import LeaseDecision, ResponseOutcome, Retry, Unreachable
from storage.queue.clients import RETRY_PAUSE_S
from storage.queue.counters import Counter
from storage.queue.fetch_queue import FLUSH_MS, RENEW_S, FetchQueue

log = logging.getLogger(__name__)

T = TypeVar("T")

LONGEST_SLEEP_S = 5.0
CANCEL_AGAIN_S = 0.1
FLUSH_LOOK_S = 1.0  # older batches are left to the sweeper


class LeaseSource:
    """Takes leases from the queue and returns their results to it."""

    def __init__(
        self,
        queue: FetchQueue,
        capacity: int,
        patience_s: Callable[[], float | None] = lambda: None,
        network: OutageDetector | None = None,
    ) -> None:
        """Begins without leases.

        Args:
            queue: The queue.
            capacity: Most leases held at a time.
            patience_s: Returns how long the queue may be away before the leases end, seconds; 0: it
                has ended for good; None: without limit. Called again during an outage.
            network: Detects outages of our own network, during which leases only probe it.
        """
        self._queue = queue
        self._patience_s = patience_s
        self._capacity = capacity
        self.network = network or OutageDetector()
        self._held: dict[int, Lease] = {}
        self._away_since: float | None = None
        self._last_put_s = 0.0
        self._stopped = False
        self._lost_answer = False
        self._tasks: list[asyncio.Task[None]] = []
        self.counters: Tally[str] = Tally()
        self.failure: BaseException | None = None  # the error that ended the leases

    async def leases(self) -> AsyncIterator[Lease]:
        """Yields leases without end; each must come back by ``put``, ``nack`` or ``end``."""
        for work in (self._queue.watch(), self._keep_session(), self._flush_batches()):
            self._run_beside(work)
        while not self._stopped:
            self._queue.woken.clear()
            room = self.network.room(len(self._held), self._capacity)
            if room <= 0:
                await self._sleep(min(LONGEST_SLEEP_S, self.network.wait_s()))
                continue
            try:
                if self._lost_answer:
                    self._lost_answer = False
                    await self._queue.reconcile(list(self._held.values()))
                batch = await self._queue.lease(room)
            except QueueUnavailable as error:
                self._lost_answer = True
                self._say_away(error)
                await asyncio.sleep(RETRY_PAUSE_S)
                continue
            except ServiceError as error:
                self._fail(error)
                return
            self._say_back()
            for lease in batch.leases:
                self._held[lease.token] = lease
            self.counters[Counter.LEASES] += len(batch.leases)
            for lease in batch.leases:
                yield lease
            if not batch.leases:
                self.counters[Counter.LEASE_WAITS] += 1
                self.counters[Counter.BACKPRESSURE_WAITS] += batch.paused
                wait_s = LONGEST_SLEEP_S if batch.wait_ms is None else batch.wait_ms / 1000
                await self._sleep(min(wait_s, LONGEST_SLEEP_S))

    def _run_beside(self, work: Coroutine[Any, Any, None]) -> None:
        """Starts work that lasts as long as the leases; its failure ends them."""

        def ended(task: asyncio.Task[None]) -> None:
            error = None if task.cancelled() else task.exception()
            if error:
                self._fail(error)

        task = asyncio.create_task(work)
        task.add_done_callback(ended)
        self._tasks.append(task)

    def _fail(self, error: BaseException) -> None:
        """Stops the spider on an error that is not retryable."""
        log.error("the spider cannot go on, ending", exc_info=error)
        self.failure = error
        self._stop()

    async def _sleep(self, limit_s: float) -> None:
        """Sleeps until the queue has work, a lease came back, or the limit."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._queue.woken.wait(), limit_s)

    async def put(
        self,
        lease: Lease,
        result: FetchResult,
        *,
        outcome: ResponseOutcome = ResponseOutcome.ANSWERED,
        host_wait_ms: int = 0,
    ) -> None:
        """Hands a result to the workers; waits while the queue is away."""
        if await self._insist(
            lambda: self._queue.put(lease, result, outcome=outcome, host_wait_ms=host_wait_ms)
        ):
            self.counters[Counter.PAGES_PUT] += 1
        else:
            self.counters[Counter.STALE_TOKENS] += 1
        self._last_put_s = time.monotonic()
        self.end(lease)

    async def nack(self, lease: Lease, retry: Retry, *, elapsed_ms: int = 0) -> None:
        """Gives a URL back for another attempt."""
        await self._insist(lambda: self._queue.nack(lease, retry, elapsed_ms=elapsed_ms))
        self.counters[Counter.NACKS] += 1
        self.end(lease)

    async def excuse(self, lease: Lease, away: Unreachable, detail: str) -> LeaseDecision:
        """Has the queue decide about a lease without a response; WAITS and STALE end the lease."""
        decision = await self._insist(lambda: self._queue.excuse(lease, away, detail))
        if decision in (LeaseDecision.WAITS, LeaseDecision.STALE):
            self.counters[Counter.EXCUSED] += 1
            self.end(lease)
        return decision

    async def locate(self, lease: Lease, address: str) -> bool:
        """Stores the IP address of a lease's host; False when the lease was given back."""
        mine = await self._insist(lambda: self._queue.locate(lease, address))
        if not mine:
            self.counters[Counter.ADDRESS_WAITS] += 1
            self.end(lease)
        return mine

    async def ask(self, call: Callable[[], Awaitable[T]]) -> T:
        """Makes any other call to the queue; waits while the queue is away."""
        return await self._insist(call)

    def end(self, lease: Lease) -> None:
        """Forgets a lease that is over."""
        self._held.pop(lease.token, None)
        self._queue.woken.set()

    def give_back(self, lease: Lease) -> None:
        """Forgets a lease whose result the queue refused: ``reconcile`` makes its URL pending."""
        self._lost_answer = True
        self.end(lease)

    async def _insist(self, call: Callable[[], Awaitable[T]]) -> T:
        while True:
            try:
                return await call()
            except QueueUnavailable as error:
                self._say_away(error)
                if self._stopped:
                    raise
                await asyncio.sleep(RETRY_PAUSE_S)

    async def _keep_session(self) -> None:
        while True:
            await asyncio.sleep(RENEW_S)
            try:
                await self._queue.renew()
                await self._tell_counters()
            except QueueUnavailable as error:
                self._say_away(error)

    async def _tell_counters(self) -> None:
        counted, self.counters = self.counters, Tally()
        try:
            if counted:
                await self._queue.count(dict(counted))
        except ServiceError:
            self.counters.update(counted)  # sent the next time
            raise

    async def _flush_batches(self) -> None:
        """Flushes batches that wait for companions in vain, for a second after our last put."""
        while True:
            await asyncio.sleep(FLUSH_MS / 2000)
            if time.monotonic() - self._last_put_s < FLUSH_LOOK_S:
                try:
                    await self._queue.flush()
                except QueueUnavailable as error:
                    self._say_away(error)

    def _say_away(self, error: QueueUnavailable) -> None:
        """Logs one line an outage of the queue; ends the leases after the patience."""
        now = time.monotonic()
        patience = self._patience_s()
        if patience == 0:
            if not self._stopped:
                log.info("the run has ended")
                self._stop()
        elif self._away_since is None:
            self._away_since = now
            log.warning("queue away, waiting", extra={"reason": str(error)})
        elif patience is not None and now - self._away_since > patience and not self._stopped:
            log.warning("queue gone, ending")
            self._stop()

    def _stop(self) -> None:
        self._stopped = True
        self._queue.woken.set()

    def _say_back(self) -> None:
        if self._away_since is not None:
            self._away_since = None
            log.warning("queue back")

    async def close(self) -> None:
        """Ends the session: other spiders fetch the URLs that are still leased."""
        self._stopped = True
        self._queue.woken.set()
        # A cancellation gets lost when the awaited result comes in the same moment.
        while running := [task for task in self._tasks if not task.done()]:
            for task in running:
                task.cancel()
            await asyncio.wait(running, timeout=CANCEL_AGAIN_S)
        try:
            await self._tell_counters()
        except QueueUnavailable as error:
            self._say_away(error)
        finally:
            await self._queue.close()
