"""First signs of trouble, each with what it is about: what somebody should look at now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from cleaning.errors import NotFound, ServiceError
from storage.crawl_types import CrawlState, FailureReason
from storage.host_waits import HostWait
from storage.queue.url_classes import ClassRow
from storage.store.drifts import DriftEvent, DriftOutcome
from storage.store.events import EventKind
from storage.store.pauses import Pause
from storage.store.protocol import Store
from workers.answers.crawls import UrlClass
from workers.operations.classes import classes_of
from workers.operations.watching.crawls import newest_crawls
from workers.operations.watching.hosts import pauses_of
from workers.operations.watching.kept_backends import KeptBackends
from workers.operations.watching.queues import queues_now

SIGNS_S = 3.0
"""How old the list may be: several who look at Now ask once."""

MOST_OF_A_KIND = 4
RECENT = timedelta(hours=6)
EXAMINED_CRAWLS, EXAMINED_HOSTS, LARGEST = 8, 100, 20
"""Whose waits are read, and how many of the largest queues have their URL classes read: 10 ms."""

FEWEST_PAGES = 30
"""Pages of a class before one can say that they bring nothing new."""

NEWS_SHARE = 0.05
"""A class whose pages bring news less often than that brings nothing new."""

QUEUED = 20
"""URLs of a host that wait: fewer end by themselves."""


class SignKind(StrEnum):
    """What is wrong."""

    SILENT = "silent"  # a process is not heard, and holds work
    POISON = "poison"  # a page killed workers and was set aside
    WALL = "wall"  # a host's pages have lost their bodies, and nothing better is learned
    CHANGED = "changed"  # a host changed, and was learned anew
    BARREN = "barren"  # a large queue has a class whose pages bring nothing new
    PAUSED = "paused"  # somebody paused a host


BAD = frozenset({SignKind.SILENT, SignKind.POISON, SignKind.WALL})
"""Signs of what does not mend itself; the others may be meant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """One sign.

    Attributes:
        kind: What is wrong.
        host: The host; ``""``: a process.
        crawl_id: The crawl; ``""``: every one.
        target: The process, ``machine.4711``; the URL class, ``/cal/*``; ``""``: the host.
        n: Pages without their body; pages of the class; failed pages; pages that the process holds;
            the new version of the model.
        of: Of so many: pages since the change; pages of the class with news.
        since: When it began; None: not known.
        silent_s: Since when a process is silent, seconds.
        who: Who paused the host.
        why: Why, in the words of who did.
    """

    kind: SignKind
    host: str = ""
    crawl_id: str = ""
    target: str = ""
    n: int = 0
    of: int = 0
    since: datetime | None = None
    silent_s: float = 0.0
    who: str = ""
    why: str = ""

    @property
    def is_bad(self) -> bool:
        """Whether it does not mend itself."""
        return self.kind in BAD


def signs_now(backends: KeptBackends) -> Sequence[Sign]:
    """Returns the signs, the worst kind first; a source that is away has none."""
    return backends.remembered("signs", SIGNS_S, lambda: list(_all(backends)))


def _all(backends: KeptBackends) -> Iterator[Sign]:
    yield from _silent(backends)
    with suppress(ServiceError), backends.store() as store:
        yield from _poison(store)
        yield from sorted(_changed(store), key=lambda each: list(SignKind).index(each.kind))
    with suppress(ServiceError):
        yield from _barren(backends)
    with suppress(ServiceError), backends.store() as store:
        yield from _paused(pauses_of(backends, store).values())


def _silent(backends: KeptBackends) -> Iterator[Sign]:
    silent = [each for each in queues_now(backends).processes if each.is_silent]
    for line in silent[:MOST_OF_A_KIND]:
        yield Sign(
            kind=SignKind.SILENT,
            target=line.process.name,
            n=sum(claim.pages for claim in line.claims) + line.leases,
            silent_s=line.process.silent_s,
            why=line.process.role.value,
        )


def _poison(store: Store) -> Iterator[Sign]:
    groups = store.overview.failure_groups(limit=MOST_OF_A_KIND, reason=FailureReason.POISON)
    for group in groups:
        if group.newest_at >= datetime.now(UTC) - RECENT:
            yield Sign(
                kind=SignKind.POISON,
                host=group.host,
                crawl_id=group.crawl_id,
                n=group.count,
                since=group.newest_at,
            )


def _changed(store: Store) -> Iterator[Sign]:
    events = store.events.read(limit=5 * MOST_OF_A_KIND, kind=EventKind.DRIFT.value)
    since = datetime.now(UTC) - RECENT
    hosts = dict.fromkeys(each.host for each in events if each.at and each.at >= since)
    for host in list(hosts)[:MOST_OF_A_KIND]:
        with suppress(NotFound):
            drifts = store.drifts.of(host)
            if drifts:
                yield _sign_of(drifts[0])


def _sign_of(event: DriftEvent) -> Sign:
    is_learned = event.outcome in (DriftOutcome.LEARNED, DriftOutcome.TAKEN_BACK)
    alarm = event.alarm
    is_lost = not is_learned and (event.outcome is DriftOutcome.NOTHING_BETTER or alarm.empty > 0)
    return Sign(
        kind=SignKind.WALL if is_lost else SignKind.CHANGED,
        host=event.host,
        target=alarm.url_class,
        n=alarm.misfits if is_lost else event.new_version,
        of=alarm.pages,
        since=alarm.since,
        why=alarm.sign.value,
    )


def _barren(backends: KeptBackends) -> Iterator[Sign]:
    running = [
        each.name
        for each in newest_crawls(backends)
        if each.state is CrawlState.RUNNING and each.counts
    ][:EXAMINED_CRAWLS]
    with backends.queue() as frontier:
        waits: list[HostWait] = [
            wait
            for crawl in running
            for wait in frontier.waits.of_crawl(crawl, EXAMINED_HOSTS).hosts
        ]
        largest = sorted(waits, key=lambda wait: -wait.urls)[:LARGEST]
        found, stops = 0, frontier.classes.all_stopped()
        for wait in largest:
            if wait.urls < QUEUED:
                return
            rows = frontier.classes.rows(wait.crawl_id, wait.host)
            if found == MOST_OF_A_KIND or not any(map(_is_barren, rows)):
                continue
            classes = classes_of(frontier, wait.crawl_id, wait.host, stops)
            barren = [each for each in classes if _is_fetched_in_vain(each)]
            if barren:
                found += 1
                worst = max(barren, key=lambda each: each.pattern_pages)
                yield Sign(
                    kind=SignKind.BARREN,
                    host=wait.host,
                    crawl_id=wait.crawl_id,
                    target=worst.template,
                    n=worst.pattern_pages,
                    of=worst.pattern_pages_with_news,
                )


def _is_barren(row: ClassRow) -> bool:
    return row.pages >= FEWEST_PAGES and row.with_news <= row.pages * NEWS_SHARE


def _is_fetched_in_vain(each: UrlClass) -> bool:
    is_refused = each.stopped or each.refused or each.template.endswith("**")
    pages = each.pattern_pages
    is_barren = pages >= FEWEST_PAGES and each.pattern_pages_with_news <= pages * NEWS_SHARE
    return is_barren and not is_refused


def _paused(pauses: Iterable[Pause]) -> Iterator[Sign]:
    for pause in sorted(pauses, key=lambda each: each.since, reverse=True)[:MOST_OF_A_KIND]:
        yield Sign(
            kind=SignKind.PAUSED, host=pause.host, since=pause.since, who=pause.who, why=pause.why
        )
