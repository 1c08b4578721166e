"""One crawl, from its seeds to its end: processes started, watched and stopped."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol

from cleaning.errors import NotFound, ServiceError, StorageError
from storage.crawl_types import CrawlCounts, CrawlSpec, CrawlState, FailureRow, UrlState
from storage.queue.embedded import EmbeddedServer
from storage.queue.frontier import Frontier
from storage.store.protocol import Store
from workers.config import Settings
from workers.jobs.images import catch_up, offer_due
from workers.operations.lifecycle import DRAIN_LIMIT_S, end_crawl, forget_crawl, opened, take_over
from workers.operations.lost_crawls import lost_crawls, recovering
from workers.processes.crawl_specs import needs_contact
from workers.processes.fleet import Fleet


class Watcher(Protocol):
    """Whoever looks on while something is crawled."""

    def show(self, counts: CrawlCounts, note: str = "", *, last: bool = False) -> None:
        """Gets the counts several times a second, and what the crawl waits for, if anything."""

    def say(self, line: str) -> None:
        """Gets one line about what is done or goes wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlResult:
    """How a crawl ended.

    Attributes:
        crawl: Its name.
        state: FINISHED, STOPPED with something left to do, or PURGED meanwhile.
        why: Why it ended early, in words; ``""`` when nothing was left to do.
        records: Pages with a record, from all runs of the crawl.
        images: Stored images; None when the crawl fetches none.
        new_records: Records of this run.
        fetched: Answers of this run.
        failed: URLs that gave no record.
        waiting: URLs left to fetch.
        hosts: Hosts it knows.
        seconds: How long this run took.
        failures: Its newest failures, at most five.
        seeds: Where it began.
    """

    crawl: str
    state: CrawlState
    why: str
    records: int = 0
    images: int | None = None
    new_records: int = 0
    fetched: int = 0
    failed: int = 0
    waiting: int = 0
    hosts: int = 0
    seconds: float = 0.0
    failures: Sequence[FailureRow] = ()
    seeds: Sequence[str] = ()


def run_crawl(settings: Settings, spec: CrawlSpec, watcher: Watcher, *, fresh: bool) -> CrawlResult:
    """Crawls from the seeds until nothing is left or a limit is reached.

    Args:
        settings: Everything else.
        spec: Seeds and limits.
        watcher: Gets counts and messages on the way.
        fresh: Forget what an earlier run of the same crawl queued.

    Raises:
        ServiceError: The data folder or a server cannot be used.
    """
    with opened(settings) as (server, frontier, store):
        return _Run(settings, spec, server, frontier, store, watcher).go(fresh=fresh)


class _Run:
    """One run of a crawl: from the first process to the result."""

    def __init__(
        self,
        settings: Settings,
        spec: CrawlSpec,
        server: EmbeddedServer | None,
        frontier: Frontier,
        store: Store,
        watcher: Watcher,
    ) -> None:
        self._settings = settings
        self._spec = spec
        self._server = server
        self._frontier = frontier
        self._store = store
        self._watcher = watcher
        self._fleet = Fleet(settings, server, frontier, watcher.say)
        self._begun = time.monotonic()

    def go(self, *, fresh: bool) -> CrawlResult:
        self._prepare(fresh=fresh)
        before = self._frontier.counts(self._spec.crawl_id)
        if before.open == 0 and not self._frontier.learning.count():
            return self._nothing_to_do(before)
        why: str | None = None
        try:
            self._fleet.start()
            with suppress(NotFound):
                why = self._watch()
        finally:
            self._fleet.stop()
        if why is not None:
            with suppress(NotFound):
                return self._end(before, why)
        return self._purged()

    def _prepare(self, *, fresh: bool) -> None:
        crawl_id = self._spec.crawl_id
        if self._server:
            take_over(self._frontier, self._store)
        if fresh:
            forget_crawl(self._frontier, self._store, crawl_id)
        known = crawl_id in self._frontier.crawl_ids()
        if not fresh:
            known = self._recover() or known
        self._frontier.open_crawl(self._spec)
        waiting = 0 if fresh else catch_up(self._store, self._frontier, self._spec)
        waiting += self._offer_due()
        if waiting:
            self._watcher.say(f"{waiting} images of pages that are stored wait to be fetched")
        self._store.crawls.put(self._spec, CrawlState.RUNNING)
        if known and not (self._frontier.counts(crawl_id).open or self._frontier.learning.count()):
            return  # the summary says that it is finished
        verb = "resuming" if known else "crawling"
        seeds = self._spec.seeds[0] + (f" and {n} more" if (n := len(self._spec.seeds) - 1) else "")
        self._watcher.say(f"{verb} {seeds} into {self._settings.storage.data} as {crawl_id}")
        if needs_contact(self._spec) and not self._settings.crawl.contact:
            self._watcher.say("no --contact: site owners cannot tell whom to ask")

    def _recover(self) -> bool:
        """Rebuilds the crawl if the queue has lost it; whether it had."""
        with recovering(self._settings, self._store, self._frontier, self._watcher.say) as tools:
            recovery, rebuilding = tools
            lost = {row.spec.crawl_id: row for row in lost_crawls(self._store, rebuilding)}
            mine = lost.pop(self._spec.crawl_id, None)
            if mine:
                self._watcher.say("the queue has lost this crawl: rebuilding it from the store")
                recovery.recover(replace(mine, spec=self._spec))
        others = [name for name, row in lost.items() if row.state is not CrawlState.FINISHED]
        if others:
            names = " ".join(others)
            self._watcher.say(f"the queue has lost other crawls, too: `recover {names}`")
        return mine is not None

    def _nothing_to_do(self, counts: CrawlCounts) -> CrawlResult:
        end_crawl(self._frontier, self._store, self._spec, counts)
        return self._result(
            counts, counts, "this crawl is finished; --fresh fetches all of it anew"
        )

    def _watch(self) -> str:
        """Shows progress until the crawl ends; returns why it ended, ``""`` when it is done."""
        drained_by: float | None = None
        why = ""
        while True:
            self._fleet.wait()
            is_full, interrupts = self._fleet.disk.is_full, self._fleet.interrupts
            try:
                self._fleet.look_after()
                counts = self._frontier.counts(self._spec.crawl_id)
                learning = self._frontier.learning.count()
                if drained_by is None:
                    why = self._reason_to_stop(counts, learning)
                    if why:
                        self._frontier.set_state(self._spec.crawl_id, CrawlState.STOPPED)
                        drained_by = time.monotonic() + DRAIN_LIMIT_S
                is_done = counts.open == 0 and not learning and not self._offer_due()
                note = (
                    f"{why}; finishing, Ctrl-C again ends at once"
                    if why
                    else self._note(counts, learning)
                )
            except ServiceError as error:
                self._fleet.bear(error)
                continue
            self._fleet.absence.end()
            self._watcher.show(counts, note)
            if is_done:
                return ""
            is_idle = counts.in_flight == 0 and (not learning or interrupts)
            may_end = is_idle or interrupts > 1 or is_full
            if drained_by is not None and (may_end or time.monotonic() > drained_by):
                return why

    def _note(self, counts: CrawlCounts, learning: int) -> str:
        if self._fleet.disk.note:
            return f"{self._fleet.disk.note}: waiting"
        if counts.state is CrawlState.PAUSED:
            return "paused"
        if learning and (not counts.open or counts.is_spent):
            return "cleaning again what sites have taught"
        return "queue memory full, waiting" if self._frontier.is_memory_full() else ""

    def _offer_due(self) -> int:
        return offer_due(self._store, self._frontier, self._spec)

    def _reason_to_stop(self, counts: CrawlCounts, learning: int) -> str:
        if self._fleet.interrupts:
            return "interrupted; the same command resumes"
        limit_s = self._settings.crawl.max_time_s
        if limit_s is not None and time.monotonic() - self._begun >= limit_s:
            return "--max-time reached; the same command resumes"
        may_give_images = self._spec.images and learning
        if counts.is_spent and not may_give_images and not self._offer_due():
            return "--max-pages reached; a larger one goes on"
        if counts.state is CrawlState.STOPPED:  # a paused one waits here for `resume`
            return "stopped by an operator"
        return ""

    def _end(self, before: CrawlCounts, why: str) -> CrawlResult:
        counts = self._frontier.counts(self._spec.crawl_id)
        end_crawl(self._frontier, self._store, self._spec, counts)
        self._store.statistics.refresh()
        self._watcher.show(counts, why, last=True)
        return self._result(before, counts, why)

    def _purged(self) -> CrawlResult:
        """The queue has forgotten the crawl: nothing of it may come back to the store."""
        states = {row.spec.crawl_id: row.state for row in self._store.crawls.all()}
        if states.get(self._spec.crawl_id, CrawlState.PURGED) is not CrawlState.PURGED:
            raise StorageError("the queue has lost this crawl; the same command rebuilds it")
        return CrawlResult(
            crawl=self._spec.crawl_id, state=CrawlState.PURGED, why="the crawl was purged"
        )

    def _images(self) -> int:
        rows = (row for row in self._store.crawls.all() if row.spec.crawl_id == self._spec.crawl_id)
        return sum(row.pages.get(UrlState.IMAGE, 0) for row in rows)

    def _result(self, before: CrawlCounts, counts: CrawlCounts, why: str) -> CrawlResult:
        crawl_id = self._spec.crawl_id
        return CrawlResult(
            crawl=crawl_id,
            state=CrawlState.STOPPED if counts.open else CrawlState.FINISHED,
            why=why,
            records=self._store.records.count(crawl_id),
            images=self._images() if self._spec.images else None,
            new_records=counts.stored - before.stored,
            fetched=counts.fetched - before.fetched,
            failed=counts.failed,
            waiting=counts.pending,
            hosts=counts.hosts,
            seconds=time.monotonic() - self._begun,
            failures=self._store.urls.failures(crawl_id, limit=5),
            seeds=self._spec.seeds,
        )
