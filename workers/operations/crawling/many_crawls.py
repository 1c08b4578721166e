"""Crawls a list of sites: each site is one crawl, several crawls at a time."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from crawlclean.cleaning.errors import ServiceError
from crawlclean.cleaning.records import HostStats
from crawlclean.cleaning.urls.normal_form import host_of
from crawlclean.storage.crawl_types import CrawlRow, CrawlSpec, CrawlState, UrlState
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.store.host_statistics import merge_stats
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.answers.crawls import EndedBy, SiteReport
from crawlclean.workers.config import Settings
from crawlclean.workers.crawl_file.crawl_file import CrawlFile
from crawlclean.workers.operations.controlling.crawl_states import paused_line
from crawlclean.workers.operations.crawling.lifecycle import (
    INTERRUPTED,
    NO_URL_LEFT,
    RECLEANING,
    SPENT,
    Crawl,
    CrawlBackends,
    Crawls,
    End,
    VisitWait,
    finishing_note,
    use_overrides,
    use_receivers,
    with_backends,
)
from crawlclean.workers.operations.crawling.outcome import CrawlOutcome, crawl_outcome, outcome_of
from crawlclean.workers.operations.crawling.recovery import leads_further
from crawlclean.workers.operations.crawling.specs import crawl_spec, withheld_lines
from crawlclean.workers.spoken import counted, say

# A report for each site of a list: its counts, and why it ended early or without a record.

WAITING = "waiting"  # state of a site that has not begun


def report_sites(
    store: Store,
    frontier: Frontier,
    specs: Sequence[CrawlSpec],
    took: Mapping[str, tuple[End, float]],
) -> Iterator[SiteReport]:
    """Yields a report for each crawl.

    Args:
        store: Records, failures and models.
        frontier: Robots rules of hosts without a record.
        specs: The crawls, in order.
        took: (end, seconds) of each crawl by name.
    """
    states = {row.spec.crawl_id: row.state for row in store.crawls.all()}
    for spec in specs:
        name, seed = spec.crawl_id, spec.seeds[0]
        end, seconds = took[name]
        why = end.why
        of_hosts = store.statistics.all(name)
        outcome = outcome_of(of_hosts)
        stats = merge_stats(of_hosts or [HostStats(host=host_of(seed))])
        records = stats.pages_by_state.get(str(UrlState.RECORD), 0)
        if not records and name in states:
            why = "; ".join(filter(None, (why, _why_nothing(store, frontier, spec))))
        yield SiteReport(
            url=seed,
            crawl=name,
            ended_by=end.by,
            state=str(states.get(name, WAITING)),
            why=why,
            records=records,
            failed=stats.pages_by_state.get(str(UrlState.FAILED), 0),
            stored=dict(outcome.stored),
            failed_by_cause=dict(outcome.failed),
            concerns=outcome.concerns,
            body_chars=stats.body_chars,
            noise_share=round(stats.noise_share, 3),
            model_version=store.models.newest(host_of(seed)),
            seconds=seconds,
        )


def _why_nothing(store: Store, frontier: Frontier, spec: CrawlSpec) -> str:
    """Explains a crawl without a record by its newest failure, or by its host's robots.txt."""
    for failure in store.urls.failures(spec.crawl_id, limit=1):
        return " ".join((failure.detail or str(failure.reason)).split())
    if frontier.robots(host_of(spec.seeds[0])) is None:
        return "robots.txt could not be fetched"
    return "no page was fetched"


SITES_LOOK_S = 0.5
"""Between two looks at the crawls of a list: each is a call to the queue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SitesCounts:
    """Progress of a list of sites.

    Attributes:
        ended: Sites that are finished, or were stopped.
        now: Sites that are being crawled.
        to_come: Sites that have not begun.
        fetched: Responses of the sites that this run has begun, the ended ones too.
        cleaned: Their records.
        at_workers: Their pages that wait for a worker or are being cleaned.
        waiting: URLs of the sites that are being crawled that wait to be fetched.
        visits: What sites that are kept fresh wait for; None: they are not.
        note: Why the work waits: ``no space left in crawlclean-data: waiting``; ``""`` otherwise.
        open_sites: (seed, records, URLs that wait) of the sites that are being crawled.
    """

    ended: int
    now: int
    to_come: int
    fetched: int
    cleaned: int
    at_workers: int
    waiting: int
    visits: VisitWait | None
    note: str
    open_sites: Sequence[tuple[str, int, int]]


class SitesWatcher(Protocol):
    """Receives the progress of a list of sites."""

    def show_step(self, step: str) -> None:
        """Called with a step before the first counts: ``starting the queue``."""

    def print_line(self, line: str) -> None:
        """Called with one line about a step or a problem."""

    def site_ended(self, url: str, why: str, records: int, seconds: float) -> None:
        """Called when a site ends; ``why`` is ``""`` when no URL was left to fetch."""

    def show(self, counts: SitesCounts) -> None:
        """Called with the counts twice a second."""


def run_sites(
    settings: Settings,
    urls: Sequence[str],
    at_once: int,
    watcher: SitesWatcher,
    *,
    fresh: bool,
    file: CrawlFile | None = None,
) -> tuple[list[SiteReport], CrawlOutcome]:
    """Crawls every site of a list to its end or limit; returns a report for each site, and a sum.

    Args:
        settings: Where the data is, and the limits of each site.
        urls: One seed a site, each once.
        at_once: Sites that are crawled at a time, at least 1.
        watcher: Receives messages and counts.
        fresh: Also start over the sites that were finished or begun before.
        file: The crawl file, whose overrides the models of the hosts get.

    Raises:
        ServiceError: The data folder or a server cannot be used.
    """
    specs = [crawl_spec(settings, [url], "") for url in urls]

    part: _Sites | None = None

    def crawl(backends: CrawlBackends, _: bool) -> tuple[list[SiteReport], CrawlOutcome]:
        nonlocal part
        use_overrides(backends, file, urls, watcher.print_line)
        use_receivers(backends.store, file)
        part = _Sites(backends, specs, at_once, watcher, part)
        took = part.run(fresh=fresh)
        outcome = crawl_outcome(backends.store, [spec.crawl_id for spec in specs])
        return list(report_sites(backends.store, backends.frontier, specs, took)), outcome

    watcher.show_step("starting the queue")
    return with_backends(settings, watcher.print_line, crawl)


class _Sites(Crawls):
    """All crawls of a list, from the first process to the last."""

    waits_to_learn = False

    def __init__(
        self,
        backends: CrawlBackends,
        specs: Sequence[CrawlSpec],
        at_once: int,
        watcher: SitesWatcher,
        before: _Sites | None = None,
    ) -> None:
        super().__init__(backends, watcher.print_line)
        self._took |= before._took if before else {}
        self._begun: set[str] = before._begun if before else set()
        self._specs = specs
        self._at_once = at_once
        self._watcher = watcher

    def run(self, *, fresh: bool) -> dict[str, tuple[End, float]]:
        """Crawls all sites; returns (end, seconds) of every crawl by name."""
        waiting = deque(self._prepare(fresh=fresh))
        if waiting or self._has_more(waiting):
            try:
                self._fleet.start()
                self._crawl(waiting, fresh=fresh)
            finally:
                self._fleet.stop()
            self._fleet.look_for_damage()
        self._store.statistics.refresh()
        for spec in waiting:
            self._took[spec.crawl_id] = (INTERRUPTED, 0.0)
        return self._took

    def _prepare(self, *, fresh: bool) -> list[CrawlSpec]:
        """Returns the crawls with something left to do, in the order of the list."""
        mine = {spec.crawl_id: spec for spec in self._specs}
        self._take_over(list(mine), fresh=fresh)
        kept = self._begun if fresh else set(mine)
        rows = self._store.crawls.all()
        self._rows = {row.spec.crawl_id: row for row in rows if row.spec.crawl_id in kept}
        done = [name for name, row in self._rows.items() if self._is_done(row, mine[name])]
        self._took = dict.fromkeys(done, (NO_URL_LEFT, 0.0)) | self._took
        to_do = {name: spec for name, spec in mine.items() if name not in self._took}
        if known := {name: spec for name, spec in to_do.items() if name in kept}:
            self._recover(known)
            self._records_before(known)
        more = say("; {n} are finished, --fresh starts them over", n=len(done)) if done else ""
        self._tell(
            say(
                "{sites} into {place}, {n} at a time{more}",
                sites=counted(len(to_do), "site"),
                place=self._settings.storage.place,
                n=self._at_once,
                more=more,
            )
        )
        seeds = [seed for spec in to_do.values() for seed in spec.seeds]
        for line in withheld_lines(self._settings, seeds):
            self._tell(line)
        if paused := self._paused(to_do, {host_of(seed) for seed in seeds}):
            self._tell(paused_line(paused))
        return list(to_do.values())

    def _paused(self, crawls: Mapping[str, CrawlSpec], seeds: Collection[str]) -> list[str]:
        """Returns the paused hosts of the seeds, and those with URLs left in one of the crawls."""
        return [
            host
            for host in self._frontier.paused_hosts()
            if host in seeds
            or any(
                self._frontier.pending_of(crawl, host)
                for crawl in crawls.keys() & self._frontier.crawls_of(host)
            )
        ]

    def _is_done(self, row: CrawlRow, spec: CrawlSpec) -> bool:
        """Whether a crawl of the list has neither pages nor images left to fetch."""
        if row.state is not CrawlState.FINISHED or spec.keep_fresh:
            return False
        if leads_further(row.spec, spec):
            return False
        return not spec.images or (row.spec.images and not self._is_due(spec))

    def _is_due(self, spec: CrawlSpec) -> bool:
        """Whether a crawl has images that became content and are not offered yet."""
        return spec.images and bool(self._store.images.due(spec.crawl_id, 1))

    def _crawl(self, waiting: deque[CrawlSpec], *, fresh: bool) -> None:
        """Keeps ``at_once`` crawls running until none is left, or a signal asks for an end."""
        looked = 0.0
        while waiting or self._open or self._has_more(waiting):
            self._fleet.wait()
            interrupts = self._fleet.interrupts
            if time.monotonic() - looked < SITES_LOOK_S and not interrupts:
                continue
            looked = time.monotonic()
            try:
                self._fleet.look_after()
                while waiting and self._busy() < self._at_once and not interrupts:
                    name = waiting[0].crawl_id
                    self._begin(waiting[0], fresh=fresh and name not in self._begun)
                    self._begun.add(name)
                    waiting.popleft()
                for crawl in list(self._open.values()):
                    if self._look_at(crawl):
                        self._report(crawl)
                self._show(len(waiting))
            except ServiceError as error:
                self._fleet.tolerate(error)
                continue
            self._fleet.outage.end()
            if interrupts and not self._open:
                return

    def _report(self, crawl: Crawl) -> None:
        """Notes how a crawl ended, and how long it took, also before it was opened again."""
        name = crawl.spec.crawl_id
        took = time.monotonic() - crawl.begun + self._took.get(name, (NO_URL_LEFT, 0.0))[1]
        self._took[name] = (crawl.end, round(took, 1))
        records = self._counts[name].stored if crawl.end.by is not EndedBy.PURGE else 0
        self._watcher.site_ended(crawl.spec.seeds[0], crawl.end.why, records, took)

    def _busy(self) -> int:
        """Number of open sites with URLs left: those that only wait for visits do not count."""
        waits = 0
        for name, site in self._open.items():
            counts = self._counts.get(name)
            waits += site.spec.keep_fresh and counts is not None and not counts.open
        return len(self._open) - waits

    def _has_more(self, waiting: deque[CrawlSpec]) -> bool:
        """Whether hosts are being learned, or ended sites have images to fetch and wait again.

        Args:
            waiting: Gets these sites.
        """
        ended = {name for name, (end, _) in self._took.items() if end in (NO_URL_LEFT, SPENT)}
        try:
            if not self._fleet.interrupts and self._frontier.learning.count():
                return True
            waiting.extend(s for s in self._specs if s.crawl_id in ended and self._is_due(s))
        except ServiceError as error:
            if not error.retryable:
                raise
            return True  # not known: the next round asks again
        return bool(waiting)

    def _show(self, waiting: int) -> None:
        known = self._counts
        now = [(site, known[name]) for name, site in self._open.items() if name in known]
        self._watcher.show(
            SitesCounts(
                ended=len(self._took),
                now=len(self._open),
                to_come=waiting,
                fetched=sum(each.fetched for each in known.values()),
                cleaned=sum(each.stored for each in known.values()),
                at_workers=sum(counts.queued for _, counts in now),
                waiting=sum(counts.pending for _, counts in now),
                visits=self._next.wait((site.spec, counts) for site, counts in now),
                note=self._note(),
                open_sites=[
                    (site.spec.seeds[0], counts.stored, counts.pending) for site, counts in now
                ],
            )
        )

    def _note(self) -> str:
        if self._fleet.interrupts and self._open:
            return finishing_note(max(site.drained_by or 0.0 for site in self._open.values()))
        if note := self._why_nothing_comes():
            return note
        return self._why_queue_waits() if self._open else RECLEANING
