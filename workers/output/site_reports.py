"""What became of each site of a list: numbers for a person, and why one ended early or empty."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cleaning.records import HostStats
from cleaning.urls.normal_form import host_of
from storage.crawl_types import CrawlSpec, CrawlState, UrlState
from storage.queue.frontier import Frontier
from storage.store.protocol import Store
from storage.store.statistics import merge_stats
from workers.output.printing import printable
from workers.output.progress import duration

WAITING = "waiting"  # a site that was not begun
WHY_CHARS = 76
HEAD = (
    f"{'RECORDS':>9} {'FAILED':>7} {'BODY CHARS':>13} {'NOISE':>5} {'MODEL':>5} {'TIME':>6}  SITE\n"
)


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


def reports_text(reports: Sequence[SiteReport]) -> str:
    """The numbers of each site on a line, and why it ended early or empty on the next."""
    lines = [HEAD]
    for each in reports:
        lines.append(
            f"{each.records:>9,} {each.failed:>7,} {each.body_chars:>13,} {each.noise_share:>5.0%} "
            f"{each.model_version or '-':>5} {duration(each.seconds) if each.seconds else '-':>6}  "
            f"{printable(each.url)}\n"
        )
        said = "" if each.state == CrawlState.FINISHED else each.state
        if said or each.why:
            lines.append(
                f"    {printable(': '.join(filter(None, (said, each.why))))[:WHY_CHARS]}\n"
            )
    finished = sum(each.state == CrawlState.FINISHED for each in reports)
    empty = sum(not each.records for each in reports)
    records = sum(each.records for each in reports)
    lines.append(
        f"{finished} of {len(reports)} sites finished, {records:,} records"
        + (f"; without any: {empty}" if empty else "")
        + "\n"
    )
    return "".join(lines)
