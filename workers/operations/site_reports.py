"""What became of each site of a list: its numbers, and why it ended early or empty."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cleaning.records import HostStats
from cleaning.urls.normal_form import host_of
from storage.crawl_types import CrawlSpec, UrlState
from storage.queue.frontier import Frontier
from storage.store.hosts import merge_stats
from storage.store.protocol import Store

WAITING = "waiting"  # a site that was not begun


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteReport:
    """What became of one site.

    Attributes:
        url: Where it begins.
        crawl: Name of its crawl.
        state: ``finished``, ``stopped`` with something left to do, or ``waiting``: not begun.
        why: What ended it, ``""`` when nothing was left.
        records: Pages with a record.
        failed: Pages without.
        body_chars: Characters of all bodies.
        noise_share: Share of noise among the links, 0..1.
        model_version: Version in use of the model of the URL's host, 0 without.
        seconds: It took now; 0 for a site that was done before.
    """

    url: str
    crawl: str
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
    took: Mapping[str, tuple[str, float]],
) -> Iterator[SiteReport]:
    """What became of each crawl.

    Args:
        store: Its results.
        frontier: What is known of the hosts that gave nothing.
        specs: The crawls, in order.
        took: Why each ended, and the seconds it took.
    """
    states = {row.spec.crawl_id: row.state for row in store.crawls.all()}
    for spec in specs:
        name, seed = spec.crawl_id, spec.seeds[0]
        why, seconds = took[name]
        stats = merge_stats(store.statistics.all(name) or [HostStats(host=host_of(seed))])
        records = stats.pages_by_state.get(str(UrlState.RECORD), 0)
        if not records and name in states:
            why = "; ".join(filter(None, (why, _why_nothing(store, frontier, spec))))
        yield SiteReport(
            url=seed,
            crawl=name,
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
    """Why a crawl has no record, as far as its newest failure or its host's robots.txt tells."""
    for failure in store.urls.failures(spec.crawl_id, limit=1):
        return " ".join((failure.detail or str(failure.reason)).split())
    if frontier.robots(host_of(spec.seeds[0])) is None:
        return "no robots.txt, nor a word that there is none"
    return "no page was answered"
