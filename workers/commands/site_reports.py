"""What `sites` tells at its end: one report of each site."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cleaning.records import HostStats
from cleaning.source.urls import host_of
from storage.base import CrawlSpec, CrawlState, UrlState
from storage.host_statistics import merge_stats
from storage.store import Store
from workers.commands.printing import table
from workers.progress import duration

WHY_CHARS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteReport:
    """What became of one site.

    Attributes:
        url: Where it begins.
        crawl: Name of its crawl.
        state: ``finished``, or ``stopped`` with something left to do.
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
    store: Store, specs: Sequence[CrawlSpec], took: Mapping[str, tuple[str, float]]
) -> list[SiteReport]:
    """A report of each crawl; ``took`` has why it ended and its seconds."""
    states = {row.spec.crawl_id: row.state for row in store.crawls()}
    return [
        _report(store, spec, states.get(spec.crawl_id, CrawlState.PURGED), *took[spec.crawl_id])
        for spec in specs
    ]


def _report(
    store: Store, spec: CrawlSpec, state: CrawlState, why: str, seconds: float
) -> SiteReport:
    name, seed = spec.crawl_id, spec.seeds[0]
    stats = merge_stats(store.hosts(name) or [HostStats(host=host_of(seed))])
    records = stats.pages_by_state.get(str(UrlState.RECORD), 0)
    failures = [] if records or why else store.failures(name, limit=1)
    for failure in failures:
        why = " ".join(f"{failure.reason}: {failure.detail}".split())
    return SiteReport(
        url=seed,
        crawl=name,
        state=str(state),
        why=why,
        records=records,
        failed=stats.pages_by_state.get(str(UrlState.FAILED), 0),
        body_chars=stats.body_chars,
        noise_share=round(stats.noise_share, 3),
        model_version=store.newest_model_version(host_of(seed)),
        seconds=seconds,
    )


def reports_text(reports: Sequence[SiteReport]) -> str:
    """A table of the reports, and how many sites are finished."""
    rows = [("SITE", "STATE", "RECORDS", "FAILED", "BODY CHARS", "NOISE", "MODEL", "TIME", "WHY")]
    for each in reports:
        rows.append(
            (
                each.url,
                each.state,
                f"{each.records:,}",
                f"{each.failed:,}",
                f"{each.body_chars:,}",
                f"{each.noise_share:.0%}",
                str(each.model_version or "-"),
                duration(each.seconds) if each.seconds else "-",
                each.why[:WHY_CHARS] or "-",
            )
        )
    finished = sum(each.state == CrawlState.FINISHED for each in reports)
    records = sum(each.records for each in reports)
    return table(rows) + f"{finished} of {len(reports)} sites finished, {records:,} records\n"
