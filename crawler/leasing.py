"""Leases for the spider: yields leased URLs as soon as they may be fetched, and takes results back.

The queue wakes the source when URLs come; otherwise the source sleeps until the nearest host clock
runs out. It holds no more leases than the spider has requests, so no lease ages in memory.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter as Tally
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, ParamSpec, TypeVar

from crawlclean.cleaning.errors import QueueUnavailable, ServiceError
from crawlclean.storage.crawl_types import (
    FetchResult,
    Lease,
    LeaseDecision,
    PageRole,
    ResponseOutcome,
    Retry,
    Unreachable,
)
from crawlclean.storage.queue.clients import RETRY_PAUSE_S, OutageLog
from crawlclean.storage.queue.counters import Counter
from crawlclean.storage.queue.fetch_queue import FLUSH_MS, RENEW_S, FetchQueue
from crawlclean.storage.store.journal import ANSWERED_IN, ANSWERS, Flow, in_time

# Detects outages of our own network, during which no host or URL is at fault.
#
# Evidence: ``SUSPECTS`` hosts that answered before, or that the queue leaves to other machines (ADR
# 48), fail, and no host answers in between. During an outage single requests probe the network,
# after 1, 2, 4 ... 30 seconds, and no attempt counts.

log = logging.getLogger(__name__)

SUSPECTS = 3  # failed hosts in a row: one or two die by themselves, three at once are our network
MOST_NAMED = 100  # hosts that are left to others
FIRST_PROBE_S = 1.0  # short: most outages of a network are over soon
LONGEST_PROBE_S = 30.0  # so long a network that is back may stay unnoticed
PATIENCE_S = 3600.0  # after it the hosts are at fault: a crawl whose last hosts died must end


class OutageDetector:
    """Judges from the requests of this process whether our network is down."""

    def __init__(
        self, patience_s: float = PATIENCE_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """``patience_s`` is the longest outage; ``clock`` returns monotonic seconds."""
        self._patience_s = patience_s
        self._clock = clock
        self._failed: set[str] = set()  # known hosts, since the last response of any host
        self._left: list[str] = []  # to other machines, since the last response of any host
        self._away_since: float | None = None
        self._given_up = False
        self._probe_s = FIRST_PROBE_S
        self._probe_at = 0.0

    @property
    def is_away(self) -> bool:
        """Whether our network is down, so that failed requests are nobody's fault."""
        return self._away_since is not None and not self._given_up

    @property
    def trouble(self) -> str:
        """Why this process fetches nothing; ``""`` when it does, or no host is left to others."""
        if self.is_away:
            return "the network is away"
        more = f" and {n} more" if (n := len(self._left) - 1) > 0 else ""
        return f"does not reach {self._left[0]}{more}, left to other machines" if self._left else ""

    def answered(self) -> None:
        """Records a response of any host; ends the outage."""
        self._failed.clear()
        self._left.clear()
        self._given_up = False
        self._probe_s = FIRST_PROBE_S
        if self._away_since is not None:
            away_s = self._clock() - self._away_since
            self._away_since = None
            log.warning("network back", extra={"seconds": round(away_s)})

    def failed(self, host: str, *, is_known: bool) -> bool:
        """Records a host that did not answer; returns whether our network is down.

        Only hosts that have answered before are evidence: others may never have existed.
        """
        now = self._clock()
        if is_known and len(self._failed) < SUSPECTS:
            self._failed.add(host)
        if self._away_since is None and len(self._failed) >= SUSPECTS:
            self._away_since = now
            self._probe_at = now + self._probe_s
            log.warning("network away, waiting", extra={"hosts": len(self._failed)})
        elif self.is_away and now >= self._probe_at:
            self._probe_s = min(2 * self._probe_s, LONGEST_PROBE_S)
            self._probe_at = now + self._probe_s
        since = self._away_since
        if since is not None and not self._given_up and now - since > self._patience_s:
            self._given_up = True
            log.warning("network away for long, failures count for the hosts again")
        return self.is_away

    def left_to_others(self, host: str, reason: str) -> None:
        """Records a host that gave no connection here, and that other machines are to ask."""
        log.warning("a host is left to other machines", extra={"host": host, "reason": reason})
        if host not in self._left and len(self._left) < MOST_NAMED:
            self._left.append(host)
        self.failed(host, is_known=True)

    def room(self, held: int, capacity: int) -> int:
        """Returns how many leases to take: ``capacity - held``; in an outage 0, or 1 to probe."""
        if not self.is_away:
            return capacity - held
        return int(held == 0 and self._clock() >= self._probe_at)

    def wait_s(self) -> float:
        """Returns the seconds until the next probe; infinite without an outage."""
        if not self.is_away:
            return float("inf")
        return max(0.05, self._probe_at - self._clock())


P = ParamSpec("P")
T = TypeVar("T")

LONGEST_SLEEP_S = 5.0  # a wake-up may be lost with its connection: then new URLs wait so long
CANCEL_AGAIN_S = 0.1  # so soon a lost cancellation is repeated; it delays the end of a spider
LOOKUP_SLOTS = 32
"""For first requests to hosts, as many as pages have by default: a look-up of a name that no server
knows takes up to 30 s.
"""
GATHER_S = 0.01
"""Hosts that come due so shortly after one another are leased together, while others are fetched:
a call costs spider and server as much as a third of a page."""
FLUSH_AFTER_PUT_S = 1.0  # batches older than this are left to the housekeeper


class LeaseSource:
    """Takes leases from the queue and returns their results to it."""

    def __init__(
        self,
        queue: FetchQueue,
        capacity: int,
        why_over: Callable[[float], str] = lambda _away_s: "",
        network: OutageDetector | None = None,
    ) -> None:
        """Starts without leases.

        Args:
            queue: Where leases come from and results go.
            capacity: Most leases held at a time, beside look-ups of names.
            why_over: Says why the leases end while the queue is unreachable, by the seconds for
                which it is; ``""``: they go on. Called again in each retry.
            network: Detects outages of our own network, during which a lease is only a probe.
        """
        self._queue = queue
        self._why_over = why_over
        self._capacity = capacity
        self.network = network or OutageDetector()
        self._held: dict[int, Lease] = {}
        self._outage = OutageLog("queue")
        self._last_put_s = 0.0
        self._asked_s = 0.0
        self._stopped = False
        self._reconcile_at_s = 0.0
        self._tasks: list[asyncio.Task[None]] = []
        self.counters: Tally[str] = Tally()
        self._tally: Tally[str] = Tally()
        self.failure: BaseException | None = None  # a non-retryable error that ended the leases

    async def leases(self) -> AsyncIterator[Lease]:
        """Yields leases until stopped; each must be ended by ``put``, ``nack`` or ``end``."""
        for work in (self._queue.watch(), self._keep_session(), self._flush_batches()):
            self._run_beside(work)
        while not self._stopped:
            self._queue.woken.clear()
            room = self.network.room(self._slots_held(), self._capacity)
            if room <= 0:
                await self._sleep(min(LONGEST_SLEEP_S, self.network.wait_s()))
                continue
            if self._held and (early_s := self._asked_s + GATHER_S - time.monotonic()) > 0:
                await asyncio.sleep(early_s)
                continue
            self._asked_s = time.monotonic()
            try:
                # A replica that takes over lacks its primary's last moment: results that were put,
                # with or without an outage here. 100 leases take the server .3 ms.
                if time.monotonic() >= self._reconcile_at_s:
                    self._reconcile_at_s = time.monotonic() + RENEW_S
                    await self._queue.reconcile(list(self._held.values()))
                batch = await self._queue.lease(room)
            except QueueUnavailable as error:
                self._reconcile_at_s = 0.0
                self._note_outage(error)
                await asyncio.sleep(RETRY_PAUSE_S)
                continue
            except ServiceError as error:
                self._fail(error)
                return
            self._outage.end()
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

    def _slots_held(self) -> int:
        """How many slots the leases hold; look-ups of names have slots of their own."""
        held = self._held.values()
        strangers = sum(each.role is PageRole.ROBOTS and not each.is_known for each in held)
        return len(held) - min(strangers, LOOKUP_SLOTS)

    def _run_beside(self, work: Coroutine[Any, Any, None]) -> None:
        """Starts a task for as long as the leases last; an exception there ends the leases."""

        def ended(task: asyncio.Task[None]) -> None:
            error = None if task.cancelled() else task.exception()
            if error:
                self._fail(error)

        task = asyncio.create_task(work)
        task.add_done_callback(ended)
        self._tasks.append(task)

    def _fail(self, error: BaseException) -> None:
        """Stops the spider on a non-retryable error."""
        log.error("the spider cannot continue, ending", exc_info=error)
        self.failure = error
        self._stop()

    async def _sleep(self, limit_s: float) -> None:
        """Sleeps until the queue has work, a lease ended, or ``limit_s`` passed."""
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
        """Puts a result into the queue and ends the lease; waits while the queue is unreachable."""
        put = self._queue.put
        if outcome is not ResponseOutcome.UNASKED:
            self._add(lease, result.status, result.elapsed_ms)
        if await self.ask(put, lease, result, outcome=outcome, host_wait_ms=host_wait_ms):
            self.counters[Counter.PAGES_PUT] += 1
        else:
            self.counters[Counter.STALE_TOKENS] += 1
        self._last_put_s = time.monotonic()
        self.end(lease)

    async def nack(
        self, lease: Lease, retry: Retry, *, elapsed_ms: int = 0, status: int = 0
    ) -> None:
        """Gives a URL back for another attempt and ends the lease; ``status``: of its answer."""
        self._add(lease, status, elapsed_ms)
        await self.ask(self._queue.nack, lease, retry, elapsed_ms=elapsed_ms)
        self.counters[Counter.NACKS] += 1
        self.end(lease)

    async def excuse(self, lease: Lease, away: Unreachable, detail: str) -> LeaseDecision:
        """Asks the queue about a lease without a response; COUNTS and GONE leave it held."""
        decision = await self.ask(self._queue.excuse, lease, away, detail)
        if decision not in (LeaseDecision.COUNTS, LeaseDecision.GONE):
            self.counters[Counter.EXCUSED] += 1
            self._add(lease, 0, 0)
            self.end(lease)
        return decision

    def _add(self, lease: Lease, status: int, elapsed_ms: int) -> None:
        """Adds the end of a request to the tally of its crawl and host; 0: it has no answer."""
        if lease.role is PageRole.ROBOTS:
            return
        of = f"{lease.crawl_id} {lease.host} "
        if not 200 <= status < 600:
            self._tally[of + Flow.ANSWERS_NONE] += 1
            return
        self._tally[of + ANSWERS[status // 100 - 2]] += 1
        self._tally[of + in_time(ANSWERED_IN, elapsed_ms / 1000)] += 1
        self._tally[of + Flow.RESPONSE_MS] += elapsed_ms

    async def locate(self, lease: Lease, address: str) -> bool:
        """Stores the IP address of a lease's host; False when the queue took the lease back."""
        is_kept = await self.ask(self._queue.locate, lease, address)
        if not is_kept:
            self.counters[Counter.ADDRESS_WAITS] += 1
            self.end(lease)
        return is_kept

    async def ask(self, call: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """Makes a call to the queue; repeats it while the queue is unreachable."""
        while True:
            try:
                return await call(*args, **kwargs)
            except QueueUnavailable as error:
                self._note_outage(error)
                if self._stopped:
                    raise
                await asyncio.sleep(RETRY_PAUSE_S)

    def end(self, lease: Lease) -> None:
        """Removes a lease from those held."""
        self._held.pop(lease.token, None)
        self._queue.woken.set()

    def give_back(self, lease: Lease) -> None:
        """Drops a lease whose result the queue refused; ``reconcile`` makes its URL pending."""
        self._reconcile_at_s = 0.0
        self.end(lease)

    async def _keep_session(self) -> None:
        while True:
            await asyncio.sleep(RENEW_S)
            try:
                await self._queue.renew(self.network.trouble)
                await self._send_counters()
            except QueueUnavailable as error:
                self._note_outage(error)

    async def _send_counters(self) -> None:
        counted, self.counters = self.counters, Tally()
        tally, self._tally = self._tally, Tally()
        try:
            if counted:
                await self._queue.count(dict(counted), tally)
        except ServiceError:
            self.counters.update(counted)  # sent next time
            self._tally.update(tally)
            raise

    async def _flush_batches(self) -> None:
        """Flushes incomplete batches of pages, for ``FLUSH_AFTER_PUT_S`` after our last put."""
        while True:
            await asyncio.sleep(FLUSH_MS / 2000)
            if time.monotonic() - self._last_put_s < FLUSH_AFTER_PUT_S:
                try:
                    await self._queue.flush()
                except QueueUnavailable as error:
                    self._note_outage(error)

    def _note_outage(self, error: QueueUnavailable) -> None:
        """Logs one line for each outage of the queue; ends the leases when it is over."""
        why = self._why_over(self._outage.lasted_s)
        if not why:
            self._outage.notice(error)
        elif not self._stopped:
            log.info(why)
            self._stop()

    def _stop(self) -> None:
        self._stopped = True
        self._queue.woken.set()

    async def close(self) -> None:
        """Ends the session; the URLs still leased become pending for other spiders."""
        self._stop()
        # A cancellation is lost when the awaited result comes at the same moment.
        while running := [task for task in self._tasks if not task.done()]:
            for task in running:
                task.cancel()
            await asyncio.wait(running, timeout=CANCEL_AGAIN_S)
        try:
            await self._send_counters()
        except QueueUnavailable as error:
            self._note_outage(error)
        finally:
            await self._queue.close()
