"""Reads what hosts and crawls are judged by: all running crawls and their hosts.

Queue and store keep all of it anyway: how requests of a host fail (``cc:troubled``), the newest
records, how seeds ended, and for each minute how far a crawl was (``samples``). Nothing has to have
been looked at before, so whoever asks first is told at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from math import isnan

from crawlclean.cleaning.errors import ServiceError
from crawlclean.cleaning.url_classes.rules import FORBID
from crawlclean.cleaning.urls.normal_form import page_id
from crawlclean.storage.crawl_types import CrawlState, UrlRow
from crawlclean.storage.live_state import HostTrouble, QueueNow, WaitingHost
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.store.journal import HOUR_S, MINUTE_S, OfCrawl
from crawlclean.storage.store.overview import PageRow
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.answers.moments import LookedAt
from crawlclean.workers.operations.controlling.crawls import (
    CrawlStatus,
    newest_crawls,
    running_crawls,
)
from crawlclean.workers.operations.watching.kept_backends import KeptBackends
from crawlclean.workers.operations.watching.signs.judging import (
    STILL_S,
    CrawlEvidence,
    HostEvidence,
    Sign,
    judge_crawl,
    judge_end,
    judge_host,
    judge_seeds,
    without_echoes,
)

LOOK_S = 10.0
"""How old a look may be: 10,000 hosts and 16 crawls cost 60 ms, while somebody looks."""

MOST_RECENT = 2_000
"""Newest records that are looked at: 40 ms."""

RECENT = timedelta(hours=1)
MOST_SEEDS = 5_000  # of the crawls that run and the newest: 25 ms


Look = tuple[Sequence[Sign], Collection[str], LookedAt]
"""Signs, the hosts of the running crawls, and what was looked at."""


def look(backends: KeptBackends, waits: Sequence[WaitingHost]) -> Look:
    """Looks at all running crawls and their hosts.

    Args:
        backends: Queue and store.
        waits: What examined hosts wait for.

    Raises:
        ServiceError: The store is away, or there is none.
    """
    return backends.remembered("look", LOOK_S, lambda: _look(backends, waits))


def _look(backends: KeptBackends, waits: Sequence[WaitingHost]) -> Look:
    now, crawls = datetime.now(UTC), running_crawls(backends)
    queue, troubles, known_hosts = None, list[HostTrouble](), set[str]()
    with suppress(ServiceError), backends.queue() as frontier:  # none runs, or it is away
        queue = frontier.now()
        known_hosts.update(*(frontier.hosts(each.name) for each in crawls))
        troubles = [each for each in frontier.waits.troubled() if each.host in known_hosts]
    with backends.store() as store:
        pages = store.overview.recent_pages(now - RECENT, MOST_RECENT)
        hosts = _hosts(store, sorted(troubles, key=lambda each: each.since), pages)
        known, sampled_s = _crawls(store, crawls, pages, waits, queue, now)
        signs = [sign for each in hosts for sign in judge_host(each, now)]
        signs += [sign for each in known for sign in judge_crawl(each, now)]
        signs += _ends(backends, store, crawls, now)
        as_of = backends.figures(store).as_of()
    with suppress(ServiceError), backends.queue() as frontier:
        signs = [each for each in signs if not _is_forbidden(frontier, each)]
    age_s = max(sampled_s, (now - as_of).total_seconds() if as_of else 0.0)
    looked = LookedAt(
        crawls=len(crawls),
        hosts=len(known_hosts),
        oldest_s=min(age_s, queue.up_s if queue else 0.0),  # one that has just begun has no figures
    )
    return without_echoes(signs), known_hosts, looked


def _is_forbidden(frontier: Frontier, sign: Sign) -> bool:
    """Whether somebody has forbidden the class of a sign: no page of it is fetched any more."""
    if "forbid_class" not in sign.offers:
        return False
    return frontier.classes.known(sign.crawl_id, sign.host).pins.get(sign.target) == FORBID


def _hosts(
    store: Store, troubles: Iterable[HostTrouble], pages: Iterable[PageRow]
) -> list[HostEvidence]:
    """The hosts of which there is anything that may be a sign; the others are as they should be."""
    of_host: dict[str, list[PageRow]] = defaultdict(list)
    for page in pages:
        of_host[page.host].append(page)
    failing = {each.host: each for each in troubles}
    rows = store.overview.rows_of({*failing, *of_host})
    return [
        HostEvidence(
            host=host, trouble=failing.get(host), pages=of_host.get(host, ()), row=rows.get(host)
        )
        for host in {**failing, **of_host}
    ]


def _crawls(
    store: Store,
    crawls: Sequence[CrawlStatus],
    pages: Sequence[PageRow],
    waits: Iterable[WaitingHost],
    queue: QueueNow | None,
    now: datetime,
) -> tuple[list[CrawlEvidence], float]:
    """The running crawls, and how old their newest sample is, seconds."""
    names = [each.name for each in crawls]
    minutes = store.samples.read(
        [f"{figure}{name}" for figure in OfCrawl for name in names],
        MINUTE_S,
        now - timedelta(seconds=HOUR_S),
        now,
    )
    of_crawl: dict[str, list[WaitingHost]] = defaultdict(list)
    for wait in waits:
        of_crawl[wait.crawl].append(wait)
    found, newest_sample = [], 0
    for each in crawls:
        if each.counts is None:
            continue
        fetched, pending, judged, relevant = (
            [None if isnan(x) else x for x in minutes.values[f"{figure}{each.name}"]]
            for figure in OfCrawl
        )
        known = [place for place, value in enumerate(fetched) if value is not None]
        newest_sample = max([newest_sample, *known])
        newest = store.overview.newest_page(each.name)
        since = each.row.created_at
        if each.counts.pending and (newest is None or (now - newest).total_seconds() >= STILL_S):
            running = store.crawls.state_since(each.name, CrawlState.RUNNING)
            since = running[0] if running else since
        found.append(
            CrawlEvidence(
                crawl_id=each.name, counts=each.counts, since=since, newest=newest,
                fetched=[*fetched, each.counts.fetched], pending=[*pending, each.counts.pending],
                waits=of_crawl[each.name], holds=queue.holds if queue else (),
                pages=[page for page in pages if page.crawl_id == each.name],
                oldest_job_s=(queue.oldest_job_s or 0.0) if queue else 0.0,
                judged=judged, relevant=relevant,
            )
        )  # fmt: skip
    at = minutes.start.timestamp() + newest_sample * MINUTE_S
    return found, max(0.0, now.timestamp() - at) if newest_sample else 0.0


def _ends(
    backends: KeptBackends, store: Store, running: Iterable[CrawlStatus], now: datetime
) -> Iterator[Sign]:
    """Signs of seeds that failed, and of crawls that ended, of all that run and the newest."""
    crawls = {each.name: each for each in (*running, *newest_crawls(backends))}
    keys = [(page_id(seed), each.name) for each in crawls.values() for seed in each.row.spec.seeds]
    rows: dict[str, list[UrlRow]] = defaultdict(list)
    for row in store.urls.ends(keys[:MOST_SEEDS]):
        rows[row.crawl_id].append(row)
    former: dict[object, int] = {}
    for name, each in reversed(crawls.items()):  # oldest first
        spec = each.row.spec
        if sign := judge_seeds(name, len(spec.seeds), rows[name], now):
            yield sign
        order = (spec.seeds, spec.scope, spec.max_depth, spec.include, spec.exclude)
        before, former[order] = former.get(order, 0), each.records
        if before and spec.seeds and each.state is CrawlState.FINISHED:
            ended = store.crawls.state_since(name, CrawlState.FINISHED)
            if sign := judge_end(name, each.records, before, ended[0] if ended else None, now):
                yield sign
