"""First signs of trouble, each with what it is about: what somebody should look at now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import partial
from types import MappingProxyType

from crawlclean.cleaning.errors import NotFound, ServiceError
from crawlclean.cleaning.url_classes.rules import FORBID
from crawlclean.storage.crawl_types import CrawlState, FailureReason
from crawlclean.storage.live_state import WaitingHost
from crawlclean.storage.queue.url_classes import ClassRow
from crawlclean.storage.store.hosts import Pause
from crawlclean.storage.store.journal import EventKind
from crawlclean.storage.store.models import DriftEvent, DriftOutcome
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.answers.crawls import UrlClass
from crawlclean.workers.operations.hosts.classes import classes_of
from crawlclean.workers.operations.watching.kept_backends import KeptBackends
from crawlclean.workers.operations.watching.signs.mending import (
    bodies_back,
    changed_since,
    recleaning,
)
from crawlclean.workers.operations.watching.views.crawls import newest_crawls
from crawlclean.workers.operations.watching.views.hosts import (
    changed_class,
    pauses_of,
    with_templates,
)
from crawlclean.workers.operations.watching.views.queues import queues_now
from crawlclean.workers.operations.watching.views.space import low_room

SIGNS_S = 3.0
"""How old the list may be: several who look at Now ask once."""

MOST_OF_A_KIND = 4
MOST_POISON = 20
"""Groups of pages that kill workers among which the recent ones are looked for."""

RECENT = timedelta(hours=6)
MENDED_SHOWN_S = 1800.0
"""How long a sign tells that it is mended, before it goes."""

MENDING_S, MENDING_S_A_RECORD = 5.0, 0.002
"""How old the answer may be whether a host is mended, longer with each record of the host: 5,000
records cost 16 ms, every 15 s."""

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

    SILENT = "silent"  # a process is not heard: it hangs, was stopped, or its machine is gone
    ROOM = "room"  # the disk is nearly full, or the quota nearly reached
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
        host: The host; of a process, that whose pages it holds; ``""``: none.
        crawl_id: The crawl; ``""``: every one.
        target: The process, ``machine.4711``; the URL class, ``/cal/{n}/{n}.html``; ``""``: the
            host.
        n: Pages without their body, of bodies that are back the newest pages with one; pages of the
            class; failed pages; pages that the process holds; the new version of the model; bytes
            that are free.
        of: Of so many: bytes of the disk or the quota; pages since the change, or the newest; pages
            of the class with news; records that the re-cleaning looked at.
        since: When it began; None: not known.
        silent_s: For how long a process is silent, seconds.
        who: Who paused the host.
        why: Why, in the words of who did.
        left: Pages that are still without a body; records of older versions; bytes that dropping
            the raw pages of ``crawl_id`` frees.
        again_since: Since when pages are to be fetched again; None: not known.
        example: A page that shows it; ``""``: none is known.
        is_back: Whether the newest pages have bodies again.
        is_mended: Whether nothing is left to do.
        operation: Number of the re-cleaning that mended it; 0: none.
        at_work: Number of a re-cleaning, or a dry run, that waits or goes on; 0: none.
        is_tried: Whether a dry run has shown what re-cleaning would change.
        is_paused: Whether the host of a wall is paused.
        is_below: Whether another sign above has the buttons of this one.
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
    left: int = 0
    again_since: datetime | None = None
    example: str = ""
    is_back: bool = False
    is_mended: bool = False
    operation: int = 0
    at_work: int = 0
    is_tried: bool = False
    is_paused: bool = False
    is_below: bool = False

    @property
    def offers(self) -> Sequence[str]:
        """The actions that mend it, in the order in which they are done."""
        if self.is_mended or self.is_below:
            return ()
        if self.kind is SignKind.WALL:
            pause = "resume_host" if self.is_paused else "pause_host"
            tried = ("try_page", pause) if self.is_paused else (pause, "try_page")
            is_answering = self.is_back and not self.is_paused
            return ("refetch_host",) if is_answering else (*tried, "refetch_host")
        if self.kind is SignKind.ROOM:
            return ("drop_raw_crawl",) if self.crawl_id else ()
        if self.kind is SignKind.CHANGED:
            if self.at_work or not self.n:
                return ()  # without a learned version there is nothing to clean records with
            return ("reclean_host",) if self.is_tried else ("try_reclean",)
        return _OFFERED.get(self.kind, ())

    @property
    def is_bad(self) -> bool:
        """Whether it does not mend itself."""
        return self.kind in BAD and not self.is_mended

    @property
    def level(self) -> str:
        """Its colour: ``bad``, ``warn``, ``ok``."""
        return "ok" if self.is_mended else "bad" if self.is_bad and not self.is_back else "warn"


_OFFERED: Mapping[SignKind, Sequence[str]] = MappingProxyType(
    {
        SignKind.SILENT: ("declare_dead",),
        SignKind.BARREN: ("forbid_class",),
        SignKind.PAUSED: ("try_page", "resume_host"),
    }
)


def signs_now(backends: KeptBackends) -> Sequence[Sign]:
    """Returns the signs, the worst kind first, mended ones last; a source that is away has none."""

    def ask() -> list[Sign]:
        return sorted(_told_once(list(_all(backends))), key=lambda each: each.is_mended)

    return backends.remembered("signs", SIGNS_S, ask)


def signs_of(backends: KeptBackends, host: str) -> list[Sign]:
    """Returns those of the signs that are about a host."""
    return [each for each in signs_now(backends) if each.host == host]


def _told_once(signs: Sequence[Sign]) -> list[Sign]:
    """The signs; of a host that is paused because of a wall, the wall has all buttons."""
    paused = {each.host for each in signs if each.kind is SignKind.PAUSED}
    walls = {each.host for each in signs if each.kind is SignKind.WALL and not each.is_mended}
    return [
        replace(
            each,
            is_paused=each.kind is SignKind.WALL and each.host in paused,
            is_below=each.kind is SignKind.PAUSED and each.host in walls,
        )
        for each in signs
    ]


def _all(backends: KeptBackends) -> Iterator[Sign]:
    yield from _silent(backends)
    with suppress(ServiceError, OSError):
        yield from _room(backends)
    with suppress(ServiceError), backends.store() as store:
        yield from _poison(store)
        yield from sorted(
            _changed(backends, store), key=lambda each: list(SignKind).index(each.kind)
        )
    with suppress(ServiceError):
        yield from _barren(backends)
    with suppress(ServiceError), backends.store() as store:
        yield from _paused(pauses_of(backends, store).values())


def _silent(backends: KeptBackends) -> Iterator[Sign]:
    moment = queues_now(backends)
    silent = [each for each in moment.processes if each.is_silent]
    for line in silent[:MOST_OF_A_KIND]:
        yield Sign(
            kind=SignKind.SILENT,
            host=line.jobs[0].host if line.jobs else "",
            target=line.process.name,
            since=moment.queue.at - timedelta(seconds=line.process.silent_s)
            if moment.queue
            else None,
            n=sum(claim.pages for claim in line.jobs) + line.leases,
            silent_s=line.process.silent_s,
            why=line.process.role.value,
        )


def _room(backends: KeptBackends) -> Iterator[Sign]:
    if low := low_room(backends):
        yield Sign(
            kind=SignKind.ROOM,
            crawl_id=low.crawl_id,
            why="quota" if low.is_quota else "disk",
            n=low.free_bytes,
            of=low.total_bytes,
            left=low.freed_bytes,
        )


def _poison(store: Store) -> Iterator[Sign]:
    groups = store.overview.failure_groups(limit=MOST_POISON, reason=FailureReason.POISON)
    recent = [each for each in groups if each.newest_at >= datetime.now(UTC) - RECENT]
    for group in recent[:MOST_OF_A_KIND]:
        yield Sign(
            kind=SignKind.POISON,
            host=group.host,
            crawl_id=group.crawl_id,
            n=group.count,
            since=group.newest_at,
        )


def _changed(backends: KeptBackends, store: Store) -> Iterator[Sign]:
    events = store.events.read(limit=5 * MOST_OF_A_KIND, kind=EventKind.DRIFT.value)
    since = datetime.now(UTC) - RECENT
    hosts = dict.fromkeys(each.host for each in events if each.at and each.at >= since)
    for host in list(hosts)[:MOST_OF_A_KIND]:
        with suppress(NotFound):
            drifts = [each for each in store.drifts.of(host) if each.is_change]
            if not drifts:
                continue
            event = drifts[0]
            key = ("sign", host, event.alarm.at, event.outcome)
            row = backends.figures(store).host(host)
            records = row.records if row else 0
            known_s = MENDING_S + MENDING_S_A_RECORD * records
            sign = backends.remembered(key, known_s, partial(_sign_of, store, drifts, records))
            if not sign.is_mended or backends.known_for_s(key) < MENDED_SHOWN_S:
                yield sign


def _sign_of(store: Store, drifts: Sequence[DriftEvent], records: int) -> Sign:
    """The sign of the newest change of a host; ``drifts`` are all, newest first."""
    event, alarm = drifts[0], drifts[0].alarm
    is_taken_back = event.outcome is DriftOutcome.TAKEN_BACK
    is_learned = is_taken_back or event.outcome is DriftOutcome.LEARNED
    is_lost = not is_learned and (event.outcome is DriftOutcome.NOTHING_BETTER or alarm.empty > 0)
    sign = Sign(
        kind=SignKind.WALL if is_lost else SignKind.CHANGED,
        host=event.host,
        target=changed_class(alarm),
        n=alarm.misfits if is_lost else event.new_version,
        of=alarm.pages,
        since=alarm.since,
        why=alarm.sign.value,
        again_since=changed_since(drifts),
        example=next(iter(alarm.examples), ""),
    )
    if is_taken_back:
        return replace(sign, is_mended=True, n=0)
    if is_learned:
        left = recleaning(store, event, records)
        if left is None:
            return sign
        return replace(
            sign,
            left=left.older,
            of=left.cleaned,
            operation=left.operation,
            at_work=left.at_work,
            is_tried=left.is_tried,
            is_mended=left.is_done,
        )
    back = bodies_back(store, drifts, records)
    if back is None or not is_lost or not back.is_answering:
        return sign
    return replace(
        sign,
        n=back.with_body,
        of=back.newest,
        left=back.empty,
        is_back=True,
        is_mended=not back.empty,
    )


def _barren(backends: KeptBackends) -> Iterator[Sign]:
    running = [
        each.name
        for each in newest_crawls(backends)
        if each.state is CrawlState.RUNNING and each.counts
    ][:EXAMINED_CRAWLS]
    with backends.queue() as frontier:
        waits: list[WaitingHost] = [
            wait
            for crawl in running
            for wait in frontier.waits.of_crawl(crawl, EXAMINED_HOSTS).hosts
        ]
        largest = sorted(waits, key=lambda wait: -wait.urls)[:LARGEST]
        found, stops = 0, frontier.classes.all_stopped()
        for wait in largest:
            if wait.urls < QUEUED:
                return
            rows = frontier.classes.rows(wait.crawl, wait.host)
            if found == MOST_OF_A_KIND or not any(map(_is_barren, rows)):
                continue
            classes = classes_of(frontier, wait.crawl, wait.host, stops)
            barren = [each for each in classes if _is_fetched_in_vain(each)]
            with suppress(ServiceError), backends.store() as store:
                barren = with_templates(store, barren)
            pins = frontier.classes.known(wait.crawl, wait.host).pins
            barren = [each for each in barren if pins.get(each.template) != FORBID]
            if barren:
                found += 1
                worst = max(barren, key=lambda each: each.pattern_pages)
                yield Sign(
                    kind=SignKind.BARREN,
                    host=wait.host,
                    crawl_id=wait.crawl,
                    target=worst.template,
                    n=worst.pattern_pages,
                    of=worst.pattern_pages_with_news,
                )


def _is_barren(row: ClassRow) -> bool:
    return row.pages >= FEWEST_PAGES and row.with_news <= row.pages * NEWS_SHARE


def _is_fetched_in_vain(each: UrlClass) -> bool:
    is_refused = each.stopped or each.refused or each.operator == FORBID
    is_group = each.template.endswith("**")
    pages = each.pattern_pages
    is_barren = pages >= FEWEST_PAGES and each.pattern_pages_with_news <= pages * NEWS_SHARE
    return is_barren and not is_refused and not is_group


def _paused(pauses: Iterable[Pause]) -> Iterator[Sign]:
    for pause in sorted(pauses, key=lambda each: each.since, reverse=True)[:MOST_OF_A_KIND]:
        yield Sign(
            kind=SignKind.PAUSED, host=pause.host, since=pause.since, who=pause.who, why=pause.why
        )
