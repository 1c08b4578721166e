"""What crawls brought, and which of their hosts need a look: from the statistics of hosts alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from crawlclean.cleaning.page_warnings import WarningKind
from crawlclean.cleaning.records import HostStats, PageKind
from crawlclean.storage.crawl_types import FailureReason, UrlState
from crawlclean.storage.store.host_statistics import merge_stats
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.answers.crawls import Concern, HostConcern

# A tenth of a site's pages is more than a few odd ones, such as a map or a video page.
LEAST_SHARE = 0.1
# Pages of a site may well have equal bodies, as empty lists do; with half of them the body rule of
# the site is suspect, or one page is served at many URLs.
LEAST_REPEATED_SHARE = 0.5
LEAST_REPEATED = 10  # pages: half of fewer is a handful, and says nothing of a site
WALLS = ("401", "403", "407", "429", "451")  # a login, a refusal of crawlers, a legal block
SECURE = frozenset({"tls", "certificate"})  # reasons of failures


IN_FAILURES = frozenset({Concern.NOTHING_STORED, Concern.WALL, Concern.CERTIFICATE})


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlOutcome:
    """What crawls brought.

    Attributes:
        stored: Records by page kind.
        failed: Failed URLs by reason; ``http_status 404`` for the reason ``http_status``.
        concerns: Hosts that need a look, most pages first; a host may have several reasons.
        kept: Records of pages that gave none when they were fetched again.
    """

    stored: Mapping[str, int]
    failed: Mapping[str, int]
    concerns: tuple[HostConcern, ...]
    kept: int = 0

    @property
    def records(self) -> int:
        """Pages whose newest fetch gave a record."""
        return sum(self.stored.values())

    @property
    def all_records(self) -> int:
        """Records, also of pages that have gone since."""
        return self.records + self.kept


NO_OUTCOME = CrawlOutcome(stored={}, failed={}, concerns=())


def crawl_outcome(store: Store, crawl_ids: Iterable[str]) -> CrawlOutcome:
    """Sums up crawls; reads a row of the store for each host, and no record."""
    return outcome_of(stats for name in crawl_ids for stats in store.statistics.all(name))


def outcome_of(all_stats: Iterable[HostStats]) -> CrawlOutcome:
    """Sums up the statistics of hosts; a host of several crawls may come several times."""
    by_host: dict[str, list[HostStats]] = {}
    for stats in all_stats:
        by_host.setdefault(stats.host, []).append(stats)
    hosts = [merge_stats(parts) for parts in by_host.values()]
    if not hosts:
        return NO_OUTCOME
    total = merge_stats(hosts)
    failed = {k: n for k, n in total.errors_by_reason.items() if k != FailureReason.HTTP_STATUS}
    failed |= {f"http_status {status}": n for status, n in total.errors_by_status.items()}
    concerns = [concern for host in hosts for concern in concerns_of(host)]
    concerns.sort(key=lambda each: (-each.pages, each.host))
    return CrawlOutcome(
        stored={str(kind): n for kind, n in _sorted(total.pages_by_kind)},
        failed=dict(_sorted(failed)),
        concerns=tuple(concerns),
        kept=total.kept_records,
    )


def concerns_of(stats: HostStats) -> list[HostConcern]:
    """Returns why a host needs a look; none for an ordinary host."""
    records = stats.pages_by_state.get(UrlState.RECORD, 0)
    failed = sum(stats.errors_by_reason.values())
    secure = sum(n for reason, n in stats.errors_by_reason.items() if reason in SECURE)
    texts = records - stats.pages_by_kind.get(PageKind.INDEX, 0)
    walls = sum(stats.errors_by_status.get(status, 0) for status in WALLS)
    scripts = stats.pages_by_warning.get(WarningKind.NEEDS_JAVASCRIPT, 0)
    lost = stats.pages_by_warning.get(WarningKind.LOST_FIELD, 0)
    found = [
        (Concern.NEEDS_SCRIPTS, scripts, records, LEAST_SHARE),
        (Concern.WALL, walls, records + failed, LEAST_SHARE),
        (Concern.CERTIFICATE, secure, records + failed, LEAST_SHARE),
        (Concern.EMPTY_BODIES, max(0, stats.empty_bodies - scripts), texts, LEAST_SHARE),
        (Concern.LOST_FIELDS, lost, records, 0.0),
    ]
    if stats.near_duplicates >= LEAST_REPEATED:
        repeated = (Concern.REPEATED_BODIES, stats.near_duplicates, records, LEAST_REPEATED_SHARE)
        found.append(repeated)
    named = [each[:3] for each in found if each[1] > 0 and each[1] >= each[3] * each[2]]
    if failed and not records and not named:
        named = [(Concern.NOTHING_STORED, failed, failed)]
    return [
        HostConcern(
            host=stats.host,
            concern=what,
            pages=pages,
            of=of,
            command=f"{'failures' if what in IN_FAILURES else 'hosts'} {stats.host}",
        )
        for what, pages, of in named
    ]


def _sorted(counts: Mapping[Any, int]) -> list[tuple[Any, int]]:
    """The counts, largest first."""
    return sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))
