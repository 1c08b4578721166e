"""A report for each site of a list: its counts, and why it ended early or without a record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cleaning.records import HostStats
from cleaning.urls.normal_form import host_of
from storage.crawl_types import CrawlSpec, UrlState
from storage.queue.frontier import Frontier
from storage.store.hosts import merge_stats
from storage.store.protocol import Store
from workers.operations.crawling.lifecycle import End, EndedBy

WAITING = "waiting"  # state of a site that has not begun


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteReport:
    """The result of one site.

    Attributes:
        url: Its seed, normalized.
        crawl: Name of its crawl.
        ended_by: Cause of the end.
        state: ``finished``, ``stopped`` with URLs left to fetch, or ``waiting``: not begun.
        why: Why it ended early or has no record, as ``--max-time reached``; ``""`` otherwise.
        records: Pages with a record.
        failed: URLs that gave no record.
        body_chars: Characters of all bodies.
        noise_share: Share of noise links among all links, 0..1.
        model_version: Model version of the seed's host that is in use; 0 without a model.
        seconds: Duration in this run; 0 for a site that was finished before.
    """

    url: str
    crawl: str
    ended_by: EndedBy
    state: str
    why: str
    records: int
    failed: int
    body_chars: int
    noise_share: float
    model_version: int
    seconds: float


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
        stats = merge_stats(store.statistics.all(name) or [HostStats(host=host_of(seed))])
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
