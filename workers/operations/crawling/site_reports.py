"""A report for each site of a list: its counts, and why it ended early or without a record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from crawlclean.cleaning.records import HostStats
from crawlclean.cleaning.urls.normal_form import host_of
from crawlclean.storage.crawl_types import CrawlSpec, UrlState
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.store.hosts import merge_stats
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.answers.crawls import SiteReport
from crawlclean.workers.operations.crawling.lifecycle import End
from crawlclean.workers.operations.crawling.outcome import outcome_of

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
