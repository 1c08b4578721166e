"""The housekeeper's sweeping: requeues the work of dead processes; no other code does.

It also keeps the hosts' statistics and the crawls' rows in the store up to date, tells the store
that its queue lives, stores events of processes and a sample of figures each minute, fills the
search index, and moves overflow segments between the queue and the store.
"""

from __future__ import annotations

import logging
import math
import time
from contextlib import suppress
from datetime import UTC, datetime

from crawlclean.cleaning.errors import NotFound
from crawlclean.cleaning.messages import Message
from crawlclean.storage.crawl_types import CrawlState
from crawlclean.storage.live_state import ProcessRole
from crawlclean.storage.queue.clients import OutageLog
from crawlclean.storage.queue.counters import Counter
from crawlclean.storage.queue.fetch_queue import RENEW_S
from crawlclean.storage.queue.ownership import announce
from crawlclean.storage.store.journal import (
    ANSWERS,
    MINUTE_S,
    MOST_KEPT,
    Event,
    EventKind,
    Gauge,
    OfCrawl,
    OperationState,
)
from crawlclean.workers.context import Context
from crawlclean.workers.jobs.images import offer_due
from crawlclean.workers.jobs.learning_schedule import GIVEN_UP_PAGES, settle
from crawlclean.workers.jobs.search import Indexer
from crawlclean.workers.jobs.topic_learning import TopicModels, steer
from crawlclean.workers.metrics import read_gauges

log = logging.getLogger(__name__)

ROUND_S = 1.0  # so late the work of a dead process is noticed
BUSY_ROUND_S = 0.1  # while URLs move to the store or back
STATISTICS_S = 10.0  # so old figures may be: each round of them reads the hosts that have changed
GRACE_S = RENEW_S + 1.0  # for heartbeats after an outage, during which none could arrive
UNFINISHED = frozenset({CrawlState.RUNNING, CrawlState.PAUSED})


class Sweeping:
    """The rounds of one process."""

    def __init__(self, context: Context, queue: OutageLog, store: OutageLog) -> None:
        """Has swept nothing yet; ends the outages of queue and store."""
        self._context = context
        self._queue_outage, self._store_outage = queue, store
        storage = context.settings.storage
        models = TopicModels(context.frontier.topics)
        self._overflow = context.frontier.overflow(
            context.store.spills, storage.max_pending_urls, models.of
        )
        self._sampler, self._queue = Sampler(context), WatchedQueue(context)
        self._indexer = Indexer(context.settings, context.store)
        self._refreshed = -math.inf  # lost learning jobs first

    def round(self) -> float:
        """Does one round; returns the seconds until the next one.

        Raises:
            ServiceError: The queue or the store is away.
        """
        context = self._context
        if self._queue_outage.lasted_s:
            context.frontier.ping()
            note_return(context, self._queue_outage, "queue_away")
            return GRACE_S
        context.frontier.processes.beat(ProcessRole.HOUSEKEEPER)
        sweep_once(context)
        self._sampler.round()
        self._indexer.round()
        pause_s = BUSY_ROUND_S if self._move_overflow() else ROUND_S
        if time.monotonic() - self._refreshed >= STATISTICS_S:
            self._refreshed = time.monotonic()
            redo_learning(context)
            redo_operations(context)
            queue_id = self._queue.announce()
            context.store.statistics.refresh()
            self._queue.stop_taken(queue_id)
            update_crawls(context)
            note_silent(context)
            note_return(context, self._store_outage, "store_away")
        return pause_s

    def _move_overflow(self) -> bool:
        """Spills or refills pending URLs once; returns whether URLs moved."""
        moved = self._overflow.round()
        if moved:
            self._context.frontier.count(moved)
        return bool(moved)


class WatchedQueue:
    """What sweeping tells of its queue: that it lives, and which crawls it no longer runs.

    Where several queues share a store, each crawl is run by one of them
    (``storage/queue/ownership.py``).
    """

    def __init__(self, context: Context) -> None:
        """Has announced nothing yet."""
        self._context = context
        self._announced = ""

    def announce(self) -> str:
        """Stores that the queue lives; returns its id.

        When the server at the queue's address has another id than before, the old queue is gone:
        its crawls may be rebuilt at once.
        """
        store = self._context.store
        queue_id = announce(self._context.settings.storage, self._context.frontier, store)
        if queue_id != self._announced:
            if self._announced:
                log.warning("the queue was made anew", extra={"was": self._announced})
                store.queues.forget(self._announced)
            store.queues.forget_gone({row.queue for row in store.crawls.all()})
        self._announced = queue_id
        return queue_id

    def stop_taken(self, queue_id: str) -> None:
        """Stops the crawls that another queue has taken over; takes those that none has."""
        store, frontier = self._context.store, self._context.frontier
        known = set(frontier.crawl_ids())
        for row in store.crawls.all():
            crawl = row.spec.crawl_id
            if crawl not in known or row.queue == queue_id:
                continue
            if not row.queue:  # stored before queues had ids
                store.crawls.give_to(crawl, queue_id)
                continue
            with suppress(NotFound):  # purged meanwhile
                if frontier.counts(crawl).state in (CrawlState.RUNNING, CrawlState.PAUSED):
                    frontier.set_state(crawl, CrawlState.STOPPED)
                    log.warning("crawl taken over", extra={"crawl": crawl, "by": row.queue})
                    text = Message("other_queue", queue_id, row.queue)
                    event = Event(kind=EventKind.RECOVERED, crawl_id=crawl, text=text)
                    store.events.add(event)


class Sampler:
    """The sample of a minute: figures of queue, crawls, hosts and disk, for charts and signs."""

    def __init__(self, context: Context) -> None:
        """Has sampled nothing yet."""
        self._context = context
        self._minute = -1

    def round(self) -> bool:
        """Stores the sample of this minute, at the first call in it, unless there is one.

        Returns:
            Whether it did.

        Raises:
            ServiceError: The queue or the store is away; the next call tries again.
        """
        minute = int(time.time()) // MINUTE_S
        if minute == self._minute:
            return False
        frontier = self._context.frontier
        now, counts = frontier.now(), frontier.counts_of(frontier.crawl_ids())
        tally = frontier.tallies.take(minute)
        gauges = read_gauges(now, counts.values(), self._context.settings.storage)
        values = {**now.counters, **{str(name): value for name, value in gauges.items()}}
        running = [each for each in counts.items() if each[1].state is CrawlState.RUNNING]
        shown = {"": tally.get("", {})}
        for crawl, count in sorted(running, key=lambda each: -each[1].open)[: MOST_KEPT[":"]]:
            values[f"{OfCrawl.FETCHED}{crawl}"] = count.fetched
            values[f"{OfCrawl.PENDING}{crawl}"] = count.pending
            values[f"{Gauge.PAGES_IN_FLIGHT}:{crawl}"] = count.queued
            shown[f":{crawl}"] = tally.get(f":{crawl}", {})
        hosts = frontier.tallies.waiting([of[1:] for of in tally if of[:1] == "@"])
        for host, waiting in hosts.items():
            if waiting or tally[f"@{host}"]:
                values[f"{Gauge.PENDING_URLS}@{host}"] = waiting
                shown[f"@{host}"] = tally[f"@{host}"]
        for of, each in shown.items():
            values |= {name + of: each.get(name, 0) for name in (*ANSWERS, *each)}
        is_stored = self._context.store.samples.add(now.at, values)
        self._minute = minute
        return is_stored


def sweep_once(context: Context) -> None:
    """Does one round: requeues, logs and counts the work of dead processes."""
    swept = {name: n for name, n in context.frontier.sweep().items() if n}
    if swept:
        log.info("swept", extra={str(name): n for name, n in swept.items()})
    context.frontier.count({**swept, Counter.SWEEPS: 1})
    for name in (Counter.LEASES_LOST, Counter.CLAIMS_LOST):  # work that is redone
        if name in swept:
            event = Event(kind=EventKind.DIED, text=Message(name.value, swept[name]))
            context.store.events.add(event)


def redo_learning(context: Context) -> None:
    """Enqueues lost learning jobs again; gives up a host whose jobs die again and again."""
    enqueued, given_up = context.frontier.learning.requeue_lost()
    if enqueued:
        log.info("learning enqueued again", extra={"jobs": enqueued})
    for host in given_up:
        log.warning("host not learned, its jobs died", extra={"host": host})
        context.store.events.add(
            Event(kind=EventKind.NOT_LEARNED, host=host, text=Message("not_learned"))
        )
        settle(context.frontier.learning, host, 0, GIVEN_UP_PAGES)


def redo_operations(context: Context) -> None:
    """Enqueues lost operations of the console again; gives up those whose jobs die each time."""
    operations, jobs = context.store.operations, context.frontier.operations
    for each in operations.unfinished():
        if jobs.is_at_work(each.seq):
            continue
        if each.moved_at and (datetime.now(UTC) - each.moved_at).total_seconds() < STATISTICS_S:
            continue  # between two slices
        if jobs.enqueue_again(each.seq):
            log.info("operation enqueued again", extra={"operation": each.seq})
        else:
            operations.end(each.seq, OperationState.FAILED, Message("operation_died"))
            jobs.forget(each.seq)


def note_silent(context: Context) -> None:
    """Stores an event for each process that is not heard any more."""
    for role, name in context.frontier.processes.take_silent():
        log.warning("process not heard any more", extra={"role": role, "who": name})
        event = Event(kind=EventKind.DIED, text=Message("silent", role.value, name), link=name)
        context.store.events.add(event)


def note_return(context: Context, outage: OutageLog, key: str) -> None:
    """Ends the outage of a server, if there was one, and stores an event with this message."""
    lasted_s = outage.lasted_s
    if outage.end():
        text = Message(key, round(lasted_s))
        context.store.events.add(Event(kind=EventKind.AWAY, text=text))


def update_crawls(context: Context) -> None:
    """Offers images that became content, and writes finished crawls to the store.

    A crawl that fetches images is not finished while hosts are learned: re-cleaning may find more.
    """
    store, frontier = context.store, context.frontier
    known, learning = set(frontier.crawl_ids()), frontier.learning.count()
    queue_id = frontier.queue_id()
    for row in store.crawls.all():
        if row.state not in UNFINISHED or row.spec.crawl_id not in known:
            continue
        if row.queue not in ("", queue_id):
            continue
        with suppress(NotFound):  # purged meanwhile
            offer_due(store, frontier, row.spec)
            counts = frontier.counts(row.spec.crawl_id)
            ends_at = row.spec.ends_at
            if ends_at and ends_at <= datetime.now(UTC) and counts.state is CrawlState.RUNNING:
                frontier.set_state(row.spec.crawl_id, CrawlState.STOPPED)
                counts = frontier.counts(row.spec.crawl_id)
            steer(store, frontier, row.spec)
            if row.state is CrawlState.PAUSED or (learning and row.spec.images):
                continue
            is_over = counts.state is CrawlState.FINISHED
            # A crawl that has spent its limit is finished in the queue, and has URLs left.
            state = CrawlState.STOPPED if is_over and counts.open else counts.state
            if state is not row.state:
                log.info("crawl ended", extra={"crawl": row.spec.crawl_id, "state": state})
                store.crawls.put(frontier.spec(row.spec.crawl_id), state)
            if is_over and not counts.open:
                store.spills.forget(row.spec.crawl_id)
