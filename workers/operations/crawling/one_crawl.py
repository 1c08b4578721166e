"""One crawl, from its seeds to its end, which is when its hosts are learned: `run`."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from msgspec import UNSET

from crawlclean.cleaning.errors import NotFound, ServiceError, StorageError
from crawlclean.storage.crawl_types import CrawlCounts, CrawlSpec, CrawlState, UrlRow, UrlState
from crawlclean.workers.answers.crawls import EndedBy, RunSummary
from crawlclean.workers.config import Settings
from crawlclean.workers.crawl_file.crawl_file import CrawlFile
from crawlclean.workers.operations.controlling.crawl_states import paused_line
from crawlclean.workers.operations.crawling.lifecycle import (
    RECLEANING,
    Crawl,
    CrawlBackends,
    Crawls,
    End,
    VisitWait,
    finishing_note,
    state_at_end,
    use_overrides,
    use_receivers,
    with_backends,
)
from crawlclean.workers.operations.crawling.outcome import crawl_outcome
from crawlclean.workers.operations.crawling.specs import needs_contact, withheld_lines
from crawlclean.workers.spoken import say, some_of

NAMED_FAILURES = 5  # the newest ones: a line each

Ended = tuple[RunSummary, list[UrlRow]]
"""How a crawl ended, and newest failures that are worth a line each.

``why`` is ``""`` when no URL was left. The failures are of seeds; without a record, of any URL.
"""


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


def run_crawl(
    settings: Settings,
    spec: CrawlSpec,
    watcher: Watcher,
    *,
    fresh: bool,
    begin: Callable[[], None] = lambda: None,
    file: CrawlFile | None = None,
) -> Ended:
    """Crawls from the seeds until no URL is left or a limit is reached.

    Args:
        settings: Where the data is, and how many processes run.
        spec: Seeds and limits.
        watcher: Receives counts and messages.
        fresh: Forget the URLs that an earlier run of this crawl left in the queue.
        begin: Called once queue and store are open, before anything is fetched.
        file: The crawl file, whose overrides the models of the hosts get.

    Raises:
        ServiceError: The data folder or a server cannot be used.
    """
    part: _OneCrawl | None = None

    def crawl(backends: CrawlBackends, goes_on: bool) -> Ended:
        nonlocal part
        if not goes_on:
            begin()
        use_overrides(backends, file, spec.seeds, watcher.print_line)
        use_receivers(backends.store, file)
        part = _OneCrawl(backends, spec, watcher, part)
        return part.run(fresh=fresh)

    watcher.show_step("starting the queue")
    return with_backends(settings, watcher.print_line, crawl)


class _OneCrawl(Crawls):
    """One run of a crawl: from the first process to the result."""

    waits_to_learn = True

    def __init__(
        self,
        backends: CrawlBackends,
        spec: CrawlSpec,
        watcher: Watcher,
        before: _OneCrawl | None = None,
    ) -> None:
        super().__init__(backends, watcher.print_line)
        self._spec = spec
        self._watcher = watcher
        self._begun: float = before._begun if before else time.monotonic()
        # Of the crawl before the run: requests, and records in the store.
        self._before: tuple[int, int] | None = before._before if before else None

    def run(self, *, fresh: bool) -> Ended:
        goes_on = self._before is not None
        crawl = self._prepare(fresh=fresh and not goes_on)
        counts = self._frontier.counts(self._spec.crawl_id)
        is_over = counts.open == 0 and not self._spec.keep_fresh
        if is_over and not self._frontier.learning.count():
            self._write_end(self._spec, counts)
            why = "" if goes_on else "this crawl is finished; --fresh fetches all of it again"
            return self._result(counts, End(EndedBy.DONE, why))
        try:
            self._fleet.start()
            self._watch(crawl)
        finally:
            self._fleet.stop()
        self._fleet.look_for_damage()
        if crawl.end.by is not EndedBy.PURGE:
            with suppress(NotFound):  # deleted meanwhile
                return self._end(crawl.end)
        return self._purged()

    def _prepare(self, *, fresh: bool) -> Crawl:
        spec, name = self._spec, self._spec.crawl_id
        self._take_over([name], fresh=fresh)
        known = False
        if not fresh:
            self._recover_mine()
            known = name in self._frontier.crawl_ids()
            if row := self._store.crawls.get(name):
                self._rows[name] = row
        before = (0, 0)  # what is fetched anew counts anew
        if known:  # before it runs: there may be processes that fetch it
            before = self._frontier.counts(name).fetched, self._records_before([name])
        offered, images = self._begin(spec, fresh=fresh)
        self._before = self._before or before
        crawl = self._open[name]
        crawl.begun = self._begun
        if offered:
            self._tell(f"the crawl goes further than before: {offered} URLs are offered again")
        if images:
            self._tell(f"{images} images of stored pages wait to be fetched")
        is_open = self._frontier.counts(name).open or self._frontier.learning.count()
        if known and not is_open and not spec.keep_fresh:
            return crawl  # the summary has a line for a finished crawl
        verb = "resuming {seeds} into {place} as {crawl}"
        if not known:
            verb = "crawling {seeds} into {place} as {crawl}"
        seeds, place = some_of(spec.seeds, 1), self._settings.storage.place
        self._tell(say(verb, seeds=seeds, place=place, crawl=name))
        if needs_contact(spec) and not self._settings.crawl.contact:
            self._tell("no --contact: site owners cannot reach you")
        for line in withheld_lines(self._settings, spec.seeds):
            self._tell(line)
        if paused := list(self._frontier.paused_urls(name)):
            self._tell(paused_line(paused))
        return crawl

    def _recover_mine(self) -> None:
        """Rebuilds the crawl if the queue has lost it; names the others that it has lost."""
        mine = self._spec.crawl_id
        told = "the queue has lost this crawl: rebuilding it from the store"
        lost = {row.spec.crawl_id: row.state for row in self._recover({mine: self._spec}, told)}
        lost.pop(mine, None)
        others = [name for name, state in lost.items() if state is not CrawlState.FINISHED]
        if others:
            names = " ".join(others)
            self._tell(f"the queue has lost other crawls, too: run `crawl recover {names}`")

    def _watch(self, crawl: Crawl) -> None:
        """Shows progress until the crawl ends."""
        has_ended = False
        while not has_ended:
            self._fleet.wait()
            try:
                self._fleet.look_after()
                has_ended = self._look_at(crawl)
                if crawl.end.by is EndedBy.PURGE:
                    return
                note = self._note(crawl)
            except ServiceError as error:
                self._fleet.tolerate(error)
                continue
            self._fleet.outage.end()
            counts = self._counts[self._spec.crawl_id]
            visits = None if crawl.end.why else self._next.wait([(self._spec, counts)])
            self._watcher.show(counts, note, visits=visits)

    def _note(self, crawl: Crawl) -> str:
        if crawl.drained_by is not None:
            return f"{crawl.end.line}; {finishing_note(crawl.drained_by)}"
        if note := self._why_nothing_comes():
            return note
        counts = self._counts[self._spec.crawl_id]
        if counts.state is CrawlState.PAUSED:
            return f"paused, `crawl resume {self._spec.crawl_id}` ends the pause"
        if (not counts.open or counts.is_spent) and self._frontier.learning.count():
            return RECLEANING
        return self._why_queue_waits()

    def _end(self, end: End) -> Ended:
        # Workers may have ended pages since the end.
        counts = self._frontier.counts(self._spec.crawl_id)
        self._spec = self._write_end(self._spec, counts)
        self._store.statistics.refresh()
        self._watcher.show(counts, end.line, last=True)
        return self._result(counts, end)

    def _purged(self) -> Ended:
        """Returns the result of a purged crawl; no state of it may be stored again.

        Raises:
            StorageError: The queue has lost the crawl, and no operator purged it.
        """
        row = self._store.crawls.get(self._spec.crawl_id)
        if row and row.state is not CrawlState.PURGED:
            raise StorageError("the queue has lost this crawl; the same command rebuilds it")
        summary = RunSummary(
            crawl=self._spec.crawl_id,
            ended_by=EndedBy.PURGE,
            state=CrawlState.PURGED,
            why="the crawl was purged",
            records=0,
            kept_records=0,
            new_records=0,
            fetched=0,
            failed=0,
            waiting=0,
            hosts=0,
            stored={},
            failed_by_cause={},
            concerns=(),
            paused_hosts=(),
            seconds=0.0,
            data=str(self._settings.storage.data),
        )
        return summary, []

    def _images(self) -> int:
        row = self._store.crawls.get(self._spec.crawl_id)
        return row.pages.get(UrlState.IMAGE, 0) if row else 0

    def _result(self, counts: CrawlCounts, end: End) -> Ended:
        fetched, known = self._before or (0, 0)
        crawl_id, seeds = self._spec.crawl_id, self._spec.seeds
        outcome = crawl_outcome(self._store, [crawl_id])
        summary = RunSummary(
            crawl=crawl_id,
            ended_by=end.by,
            state=state_at_end(self._spec, counts),
            why=end.line,
            records=outcome.records,
            kept_records=outcome.kept,
            images=self._images() if self._spec.images else UNSET,
            # By the store: a queue that is older than it has pages stored once more.
            new_records=max(0, outcome.all_records - known),
            fetched=counts.fetched - fetched,
            failed=counts.failed,
            waiting=counts.pending,
            hosts=counts.hosts,
            stored=dict(outcome.stored),
            failed_by_cause=dict(outcome.failed),
            concerns=outcome.concerns,
            paused_hosts=tuple(self._frontier.paused_urls(crawl_id)),
            seconds=time.monotonic() - self._begun,
            data=str(self._settings.storage.data),
        )
        failures = self._store.urls.failures(crawl_id, limit=NAMED_FAILURES)
        return summary, [row for row in failures if not outcome.records or row.url in seeds]
