"""One crawl, from its seeds to its end: processes started, watched and stopped."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from typing import Protocol

from crawlclean.cleaning.errors import NotFound, ServiceError, StorageError
from crawlclean.storage.crawl_types import CrawlCounts, CrawlSpec, CrawlState, FailureRow, UrlState
from crawlclean.storage.queue.receipts import check_store
from crawlclean.workers.answers.crawls import EndedBy
from crawlclean.workers.config import Settings
from crawlclean.workers.jobs.images import catch_up, offer_due
from crawlclean.workers.operations.controlling.crawl_states import paused_line
from crawlclean.workers.operations.crawling.lifecycle import (
    DRAIN_LIMIT_S,
    NO_URL_LEFT,
    RECLEANING,
    CrawlBackends,
    End,
    are_only_paused_left,
    check_queue,
    end_crawl,
    finishing_note,
    forget_crawl,
    open_backends,
    queue_note,
    records_before,
    state_at_end,
    take_crawl,
    take_over,
)
from crawlclean.workers.operations.crawling.next_visits import NextVisit, VisitWait
from crawlclean.workers.operations.crawling.outcome import NO_OUTCOME, CrawlOutcome, crawl_outcome
from crawlclean.workers.operations.crawling.recovery import Recovery, offer_again
from crawlclean.workers.operations.crawling.specs import needs_contact, withheld_lines
from crawlclean.workers.processes.fleet import Fleet

DRY_SHARE = 3
"""A topic crawl without limits ends when a third of all its records brought nothing: the longest
such run before 30 % of the pages was a fifth (sec, `make bench-topic`)."""


class Watcher(Protocol):
    """Receives the progress of a crawl."""

    def show(
        self,
        counts: CrawlCounts,
        note: str = "",
        *,
        visits: VisitWait | None = None,
        last: bool = False,
    ) -> None:
        """Called with the counts several times a second; ``note`` is why the crawl waits."""

    def show_step(self, step: str) -> None:
        """Called with a step before the first counts: ``starting the queue``."""

    def print_line(self, line: str) -> None:
        """Called with one line about a step or a problem."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlResult:
    """How a crawl ended.

    Attributes:
        crawl: Name of the crawl.
        ended_by: Cause of the end.
        state: FINISHED, STOPPED with URLs left to fetch, or PURGED by an operator meanwhile.
        why: Why it ended early, as ``--max-pages reached``; ``""`` when no URL was left.
        records: Pages whose newest fetch gave a record, from all runs of the crawl.
        images: Stored images; None when the crawl fetches none.
        new_records: Records of this run.
        fetched: Responses of this run.
        failed: URLs that gave no record.
        waiting: URLs left to fetch.
        hosts: Hosts that the crawl knows.
        seconds: Duration of this run.
        paused_hosts: Paused hosts with URLs left to fetch.
        failures: The newest failures of the crawl, at most five.
        seeds: Its seeds, normalized.
        outcome: What it brought, from all runs, and which hosts need a look.
    """

    crawl: str
    ended_by: EndedBy
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
    paused_hosts: Sequence[str] = ()
    failures: Sequence[FailureRow] = ()
    seeds: Sequence[str] = ()
    outcome: CrawlOutcome = NO_OUTCOME


def run_crawl(
    settings: Settings,
    spec: CrawlSpec,
    watcher: Watcher,
    *,
    fresh: bool,
    begin: Callable[[], None] = lambda: None,
) -> CrawlResult:
    """Crawls from the seeds until no URL is left or a limit is reached.

    Args:
        settings: Where the data is, and how many processes run.
        spec: Seeds and limits.
        watcher: Receives counts and messages.
        fresh: Forget the URLs that an earlier run of this crawl left in the queue.
        begin: Called once the data folder is this run's, before anything is fetched.

    Raises:
        ServiceError: The data folder or a server cannot be used.
    """
    watcher.show_step("starting the queue")
    with open_backends(settings) as backends:
        begin()
        return _Run(backends, spec, watcher).run(fresh=fresh)


class _Run:
    """One run of a crawl: from the first process to the result."""

    def __init__(self, backends: CrawlBackends, spec: CrawlSpec, watcher: Watcher) -> None:
        self._backends = backends
        self._settings = backends.settings
        self._frontier = backends.frontier
        self._store = backends.store
        self._spec = spec
        self._watcher = watcher
        self._fleet = Fleet(
            backends.settings,
            backends.server,
            backends.frontier,
            watcher.print_line,
            backends.forks,
        )
        self._begun = time.monotonic()
        self._is_starting = True
        self._next = NextVisit(self._frontier, self._store)
        self._known = 0  # records of the crawl in the store before the run
        # Records that a topic crawl had judged, and relevant ones, when the newest relevant one
        # came, or the run began.
        self._judged: int | None = None
        self._relevant = 0

    def run(self, *, fresh: bool) -> CrawlResult:
        self._prepare(fresh=fresh)
        before = self._frontier.counts(self._spec.crawl_id)
        if not fresh:  # which counts all anew
            mine, tell = [self._spec.crawl_id], self._watcher.print_line
            self._known = records_before(self._backends, mine, tell)
        is_over = before.open == 0 and not self._spec.keep_fresh
        if is_over and not self._frontier.learning.count():
            return self._nothing_to_do(before)
        end: End | None = None
        try:
            self._fleet.start()
            with suppress(NotFound):
                end = self._watch()
        finally:
            self._fleet.stop()
        self._fleet.look_for_damage()
        if end is not None:
            with suppress(NotFound):
                return self._end(before, end)
        return self._purged()

    def _prepare(self, *, fresh: bool) -> None:
        crawl_id = self._spec.crawl_id
        check_queue(self._backends, [crawl_id], self._watcher.print_line)
        if not fresh:  # before take_over, which cuts the archive to what this store knows
            check_store(self._frontier, self._store.urls, crawl_id)
        take_over(self._backends, self._watcher.print_line)
        if fresh:
            forget_crawl(self._backends, crawl_id)
        known = crawl_id in self._frontier.crawl_ids()
        if not fresh:
            known = self._recover() or known
        queue = take_crawl(self._backends, crawl_id)
        self._frontier.open_crawl(self._spec)
        if not fresh:
            self._offer_again()
        waiting = 0 if fresh else catch_up(self._store, self._frontier, self._spec)
        waiting += self._offer_due()
        if waiting:
            self._watcher.print_line(f"{waiting} images of stored pages wait to be fetched")
        self._store.crawls.put(self._spec, CrawlState.RUNNING, queue=queue)
        is_open = self._frontier.counts(crawl_id).open or self._frontier.learning.count()
        if known and not is_open and not self._spec.keep_fresh:
            return  # the summary has a line for a finished crawl
        verb = "resuming" if known else "crawling"
        seeds = self._spec.seeds[0] + (f" and {n} more" if (n := len(self._spec.seeds) - 1) else "")
        self._watcher.print_line(
            f"{verb} {seeds} into {self._settings.storage.place} as {crawl_id}"
        )
        if needs_contact(self._spec) and not self._settings.crawl.contact:
            self._watcher.print_line("no --contact: site owners cannot reach you")
        for line in withheld_lines(self._settings, self._spec.seeds):
            self._watcher.print_line(line)
        if paused := list(self._frontier.paused_urls(crawl_id)):
            self._watcher.print_line(paused_line(paused))

    def _offer_again(self) -> None:
        """Offers what earlier runs of the crawl left out and this one follows."""
        row = self._store.crawls.get(self._spec.crawl_id)
        if row and row.state is not CrawlState.PURGED:
            offered = offer_again(self._backends, row, self._spec, self._watcher.print_line)
            if offered:
                line = f"the crawl goes further than before: {offered} URLs are offered again"
                self._watcher.print_line(line)

    def _recover(self) -> bool:
        """Rebuilds the crawl if the queue has lost it; returns whether it had."""
        opened = Recovery(self._settings, self._store, self._frontier, self._watcher.print_line)
        with closing(opened) as recovery:
            lost = {row.spec.crawl_id: row for row in recovery.lost_crawls()}
            mine = lost.pop(self._spec.crawl_id, None)
            if mine:
                self._watcher.print_line(
                    "the queue has lost this crawl: rebuilding it from the store"
                )
                recovery.recover(replace(mine, spec=self._spec))
        others = [name for name, row in lost.items() if row.state is not CrawlState.FINISHED]
        if others:
            names = " ".join(others)
            self._watcher.print_line(f"the queue has lost other crawls, too: run `recover {names}`")
        return mine is not None

    def _nothing_to_do(self, counts: CrawlCounts) -> CrawlResult:
        end_crawl(self._backends, self._spec, counts)
        return self._result(
            counts,
            counts,
            End(EndedBy.DONE, "this crawl is finished; --fresh fetches all of it again"),
        )

    def _watch(self) -> End:
        """Shows progress until the crawl ends; returns its end."""
        drained_by: float | None = None
        end = NO_URL_LEFT
        while True:
            self._fleet.wait()
            is_full, interrupts = self._fleet.disk.is_full, self._fleet.interrupts
            try:
                self._fleet.look_after()
                counts = self._frontier.counts(self._spec.crawl_id)
                learning = self._frontier.learning.count()
                if drained_by is None:
                    end = self._reason_to_stop(counts, learning)
                    if end.why:
                        self._frontier.set_state(self._spec.crawl_id, CrawlState.STOPPED)
                        drained_by = time.monotonic() + DRAIN_LIMIT_S
                is_done = counts.open == 0 and not learning and not self._offer_due()
                is_done = is_done and not self._spec.keep_fresh
                note = (
                    self._note(counts, learning)
                    if drained_by is None
                    else f"{end.why}; {finishing_note(drained_by)}"
                )
            except ServiceError as error:
                self._fleet.tolerate(error)
                continue
            self._fleet.outage.end()
            visits = None if end.why else self._next.wait([(self._spec, counts)])
            self._watcher.show(counts, note, visits=visits)
            if is_done:
                return end if end.by is EndedBy.SIGNAL else NO_URL_LEFT
            is_idle = counts.in_flight == 0 and (not learning or interrupts)
            may_end = is_idle or interrupts > 1 or is_full
            if drained_by is not None and (may_end or time.monotonic() > drained_by):
                return end

    def _note(self, counts: CrawlCounts, learning: int) -> str:
        if self._fleet.disk.note:
            return f"{self._fleet.disk.note}: waiting"
        self._is_starting = self._is_starting and not self._frontier.has_spiders()
        if self._is_starting:
            return self._fleet.starting_note
        if counts.state is CrawlState.PAUSED:
            return f"paused, `resume {self._spec.crawl_id}` ends the pause"
        if learning and (not counts.open or counts.is_spent):
            return RECLEANING
        return queue_note(self._frontier)

    def _offer_due(self) -> int:
        return offer_due(self._store, self._frontier, self._spec)

    def _why_dry(self) -> str:
        """Why a topic crawl without limits brings no more; ``""`` while it does."""
        crawl, config = self._spec, self._settings.crawl
        if not crawl.topic or crawl.max_pages is not None or config.max_time_s is not None:
            return ""
        judged, relevant = self._frontier.topics.harvest(crawl.crawl_id)
        if relevant != self._relevant or self._judged is None:
            self._judged, self._relevant = judged, relevant
        dry = judged - self._judged
        if dry < max(config.dry_after, judged / DRY_SHARE):
            return ""
        return (
            f"none of the last {dry:,} records is relevant; the same command goes on, and "
            "--dry-after N, --max-pages or --max-time say when it ends"
        )

    def _reason_to_stop(self, counts: CrawlCounts, learning: int) -> End:
        if self._fleet.interrupts:
            return End(EndedBy.SIGNAL, "interrupted; the same command resumes")
        limit_s = self._settings.crawl.max_time_s
        if limit_s is not None and time.monotonic() - self._begun >= limit_s:
            return End(EndedBy.LIMIT, "--max-time reached; the same command resumes")
        may_go_on = (self._spec.images and learning) or self._spec.keep_fresh
        if counts.is_spent and not may_go_on and not self._offer_due():
            return End(
                EndedBy.LIMIT, "--max-pages reached; the same command with a larger one resumes"
            )
        if counts.state is CrawlState.STOPPED:  # a paused one waits here for `resume`
            return End(EndedBy.STOP, "stopped by an operator")
        may_wait = learning or self._spec.keep_fresh
        why_dry = "" if may_wait else self._why_dry()
        if why_dry:
            return End(EndedBy.LIMIT, why_dry)
        if not may_wait and are_only_paused_left(self._frontier, self._spec.crawl_id, counts):
            return End(EndedBy.PAUSE, "only paused hosts are left")
        return NO_URL_LEFT

    def _end(self, before: CrawlCounts, end: End) -> CrawlResult:
        counts = self._frontier.counts(self._spec.crawl_id)
        # An operator may have added seeds meanwhile (`topic NAME --edit --seeds`).
        self._spec = replace(self._spec, seeds=self._frontier.spec(self._spec.crawl_id).seeds)
        end_crawl(self._backends, self._spec, counts)
        self._store.statistics.refresh()
        self._watcher.show(counts, end.why, last=True)
        return self._result(before, counts, end)

    def _purged(self) -> CrawlResult:
        """Returns the result of a purged crawl; no state of it may be stored again.

        Raises:
            StorageError: The queue has lost the crawl, and no operator purged it.
        """
        row = self._store.crawls.get(self._spec.crawl_id)
        if row and row.state is not CrawlState.PURGED:
            raise StorageError("the queue has lost this crawl; the same command rebuilds it")
        return CrawlResult(
            crawl=self._spec.crawl_id,
            ended_by=EndedBy.PURGE,
            state=CrawlState.PURGED,
            why="the crawl was purged",
        )

    def _images(self) -> int:
        row = self._store.crawls.get(self._spec.crawl_id)
        return row.pages.get(UrlState.IMAGE, 0) if row else 0

    def _result(self, before: CrawlCounts, counts: CrawlCounts, end: End) -> CrawlResult:
        crawl_id = self._spec.crawl_id
        outcome = crawl_outcome(self._store, [crawl_id])
        return CrawlResult(
            crawl=crawl_id,
            ended_by=end.by,
            state=state_at_end(self._spec, counts),
            why=end.why,
            records=outcome.records,
            images=self._images() if self._spec.images else None,
            # By the store: a queue that is older than it has pages stored once more.
            new_records=max(0, outcome.all_records - self._known),
            fetched=counts.fetched - before.fetched,
            failed=counts.failed,
            waiting=counts.pending,
            hosts=counts.hosts,
            seconds=time.monotonic() - self._begun,
            paused_hosts=tuple(self._frontier.paused_urls(crawl_id)),
            failures=tuple(self._store.urls.failures(crawl_id, limit=5)),
            seeds=self._spec.seeds,
            outcome=outcome,
        )
