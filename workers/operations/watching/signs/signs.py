"""Signs of trouble, each with what it is about and what mends it; and the hosts that need a look.

A kind of sign is one function: it reads the evidence, and yields a sign with its figures, since
when it is so, and the actions that mend it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import partial
from itertools import islice, takewhile
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from crawlclean.cleaning.drift.watch import KNOWN_PLACES
from crawlclean.cleaning.errors import NotFound, ServiceError
from crawlclean.cleaning.url_classes.rules import FORBID, class_of
from crawlclean.storage.crawl_types import CrawlState, FailureReason
from crawlclean.storage.live_state import StoppedClass, WaitingHost, WaitReason
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.store.hosts import Pause, StoredPage
from crawlclean.storage.store.journal import EventKind, OperationState
from crawlclean.storage.store.models import DriftEvent, DriftOutcome
from crawlclean.storage.store.overview import HostRow
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.answers.crawls import UrlClass
from crawlclean.workers.operations.controlling.crawls import newest_crawls
from crawlclean.workers.operations.hosts.classes import changed_class, classes_of, with_templates
from crawlclean.workers.operations.hosts.hosts import changed_since, pauses_of
from crawlclean.workers.operations.parts import Part
from crawlclean.workers.operations.watching.kept_backends import KeptBackends
from crawlclean.workers.operations.watching.queues import queues_now
from crawlclean.workers.operations.watching.space import droppable_crawl, low_room

SIGNS_S = 3.0
"""How old the list may be: several who look at Now ask once."""

MOST_OF_A_KIND = 4  # signs: a list of twenty alike hides the other one
RECENT = timedelta(hours=6)
MENDED_SHOWN_S = 1800.0
"""How long a sign tells that it is mended, before it goes."""


class SignKind(StrEnum):
    """What is wrong, in the order in which signs are told."""

    SILENT = "silent"  # a process is not heard: it hangs, was stopped, or its machine is gone
    ROOM = "room"  # the disk is nearly full, or the quota nearly reached
    POISON = "poison"  # a page killed workers and was set aside
    WALL = "wall"  # a host's pages have lost their bodies, and nothing better is learned
    CHANGED = "changed"  # a host changed, and was learned anew
    BARREN = "barren"  # a large queue has a class whose pages bring nothing new
    PAUSED = "paused"  # somebody paused a host


_BAD = frozenset({SignKind.SILENT, SignKind.POISON, SignKind.WALL})
"""Signs of what does not mend itself; the others may be meant."""


class Sign(Struct, frozen=True, kw_only=True):
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
        offers: The actions that mend it, in the order in which they are done.
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
    offers: Sequence[str] = ()

    @property
    def level(self) -> str:
        """Its colour: ``bad``, ``warn``, ``ok``."""
        if self.is_mended:
            return "ok"
        return "bad" if self.kind in _BAD and not self.is_back else "warn"


def signs_now(backends: KeptBackends) -> Sequence[Sign]:
    """Returns the signs, the worst kind first, mended ones last; a source that is away has none."""

    def ask() -> list[Sign]:
        found: list[Sign] = [*_silent(backends)]
        with suppress(ServiceError, OSError):
            found.extend(_room(backends))
        with suppress(ServiceError), backends.store() as store:  # none yet, or away
            found.extend(_poison(store))
            found.extend(_barren(backends))
            pauses = pauses_of(backends, store)
            changed = list(_changed(backends, store, pauses))
            found.extend(changed)
            found.extend(_paused(pauses, changed))
        order = list(SignKind)
        return sorted(found, key=lambda each: (each.is_mended, order.index(each.kind)))

    return backends.remembered("signs", SIGNS_S, ask)


def signs_of(backends: KeptBackends, host: str) -> list[Sign]:
    """Returns those of the signs that are about a host."""
    return [each for each in signs_now(backends) if each.host == host]


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
            offers=("declare_dead",),
        )


def _room(backends: KeptBackends) -> Iterator[Sign]:
    room = low_room(backends)
    if room is None:
        return
    free, total = room.free_bytes or 0, room.total_bytes or 0
    if is_quota := not room.is_low:
        free, total = room.quota_bytes - room.used_bytes, room.quota_bytes
    crawl, freed = droppable_crawl(backends, room)
    yield Sign(
        kind=SignKind.ROOM,
        crawl_id=crawl,
        why="quota" if is_quota else "disk",
        n=max(0, free),
        of=total,
        left=freed,
        offers=("drop_raw_crawl",) if crawl else (),
    )


MOST_POISON = 20
"""Groups of pages that kill workers among which the recent ones are looked for."""


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


def _paused(pauses: Mapping[str, Pause], changed: Iterable[Sign]) -> Iterator[Sign]:
    """The paused hosts; the sign of a wall has the buttons of its host."""
    walls = {each.host for each in changed if each.kind is SignKind.WALL and not each.is_mended}
    newest = sorted(pauses.values(), key=lambda each: each.since, reverse=True)
    for pause in newest[:MOST_OF_A_KIND]:
        yield Sign(
            kind=SignKind.PAUSED,
            host=pause.host,
            since=pause.since,
            who=pause.who,
            why=pause.why,
            offers=() if pause.host in walls else ("try_page", "resume_host"),
        )


# Classes of large queues whose pages bring nothing new.

LARGEST = 20
"""The largest queues have their URL classes read: 10 ms."""

FEWEST_PAGES = 30
"""Pages of a class before one can say that they bring nothing new."""

NEWS_SHARE = 0.05
"""A class whose pages bring news less often than that brings nothing new."""

QUEUED = 20
"""URLs of a host that wait: fewer end by themselves."""


def _barren(backends: KeptBackends) -> Iterator[Sign]:
    waits = sorted(running_waits(backends), key=lambda each: -each.urls)[:LARGEST]
    large = list(takewhile(lambda each: each.urls >= QUEUED, waits))
    with suppress(ServiceError), backends.queue() as frontier:  # none runs, or it is away
        stops = frontier.classes.all_stopped() if large else []
        found = ((wait, _fetched_in_vain(backends, frontier, wait, stops)) for wait in large)
        for wait, classes in islice((each for each in found if each[1]), MOST_OF_A_KIND):
            worst = max(classes, key=lambda each: each.pattern_pages)
            yield Sign(
                kind=SignKind.BARREN,
                host=wait.host,
                crawl_id=wait.crawl,
                target=worst.template,
                n=worst.pattern_pages,
                of=worst.pattern_pages_with_news,
                offers=("forbid_class",),
            )


def _fetched_in_vain(
    backends: KeptBackends, frontier: Frontier, wait: WaitingHost, stops: Sequence[StoppedClass]
) -> list[UrlClass]:
    """The classes of a host's queue that bring nothing new and are still fetched."""
    crawl, host = wait.crawl, wait.host
    if not any(
        _is_barren(each.pages, each.with_news)
        for each in frontier.classes.all_accounts(crawl, host).values()
    ):
        return []  # most hosts: their classes need not be put together
    found = [
        each
        for each in classes_of(frontier, crawl, host, stops)
        if _is_barren(each.pattern_pages, each.pattern_pages_with_news)
        and not (each.stopped or each.refused or each.operator == FORBID)
        and not each.template.endswith("**")
    ]
    pins = frontier.classes.known(crawl, host).pins
    return [each for each in with_templates(backends, found) if pins.get(each.template) != FORBID]


def _is_barren(pages: int, with_news: int) -> bool:
    return pages >= FEWEST_PAGES and with_news <= pages * NEWS_SHARE


# Hosts that changed: whether bodies are back, whether older records are cleaned again.

MENDING_S, MENDING_S_A_RECORD = 5.0, 0.002
"""How old the answer may be whether a host is mended, longer with each record of the host: 5,000
records cost 16 ms, every 15 s."""

MOST_RECORDS = 10_000
"""A host with more records is not looked at: these are read in 35 ms."""

NEWEST = 8
"""Pages that show whether bodies are back."""

MOST_READ = 200
"""Pages of a host whose URL is read to know their class, and bodies that are read whole: 20 ms."""

SURE_CHARS, NO_CHARS = 60, 30
"""A body of so many characters is one (``Records.without_body``); a shorter one is none."""

_RECLEANING = frozenset({"reclean", "try_reclean"})
LOOKED_AT = 50
"""Long actions among which the re-cleaning of a host is looked for, the newest."""


def _changed(backends: KeptBackends, store: Store, pauses: Mapping[str, Pause]) -> Iterator[Sign]:
    for host in _changed_hosts(store, RECENT)[:MOST_OF_A_KIND]:
        with suppress(NotFound):  # deleted meanwhile
            drifts = [each for each in store.drifts.of(host) if each.is_change]
            if not drifts:
                continue
            key = ("sign", host, drifts[0].alarm.at, drifts[0].outcome)
            row = backends.figures(store).host(host)
            records = row.records if row else 0
            known_s = MENDING_S + MENDING_S_A_RECORD * records
            sign = backends.remembered(key, known_s, partial(_sign_of, store, drifts, records))
            if sign.kind is SignKind.WALL and not sign.is_mended:
                sign = replace(sign, offers=_offers_of_wall(sign, is_paused=host in pauses))
            if not sign.is_mended or backends.known_for_s(key) < MENDED_SHOWN_S:
                yield sign


def _changed_hosts(store: Store, lately: timedelta) -> list[str]:
    """Hosts that changed lately, the newest change first."""
    events = store.events.read(limit=MOST_DRIFTS, kind=EventKind.DRIFT.value)
    since = datetime.now(UTC) - lately
    return list(
        dict.fromkeys(each.host for each in events if each.host and each.at and each.at >= since)
    )


def _offers_of_wall(sign: Sign, *, is_paused: bool) -> Sequence[str]:
    """A host is paused, a page of it tried, then it is resumed and its pages fetched again."""
    if is_paused:
        return ("try_page", "resume_host", "refetch_host")
    return ("refetch_host",) if sign.is_back else ("pause_host", "try_page", "refetch_host")


def _sign_of(store: Store, drifts: Sequence[DriftEvent], records: int) -> Sign:
    """The sign of the newest change of a host.

    Args:
        store: Holds the pages.
        drifts: The kept changes of the host, newest first; at least one.
        records: Its records; of a host with too many nothing more is said.
    """
    event, alarm = drifts[0], drifts[0].alarm
    is_learned = event.outcome in (DriftOutcome.LEARNED, DriftOutcome.TAKEN_BACK)
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
    if event.outcome is DriftOutcome.TAKEN_BACK:
        return replace(sign, is_mended=True, n=0)
    if is_learned:
        return _recleaned(store, sign, event, records)
    return _with_bodies(store, sign, event, records) if is_lost else sign


def _recleaned(store: Store, sign: Sign, event: DriftEvent, records: int) -> Sign:
    """The sign with what is left to re-clean after a change that was learned."""
    version, at_work, offer = event.new_version, 0, "try_reclean"
    for each in store.operations.read(limit=LOOKED_AT):
        if each.kind not in _RECLEANING or each.target != event.host:
            continue
        if not each.state.has_ended:
            at_work = at_work or each.seq
        elif each.state is OperationState.DONE and _version(each.asked) >= version:
            if each.kind == "reclean":
                return replace(sign, of=each.done, operation=each.seq, is_mended=True)
            offer = "reclean_host"
    # Pages before a redesign have another layout, and keep the last model of that.
    since = event.alarm.since if event.is_redesign else None
    is_counted = records <= MOST_RECORDS
    older = is_counted and sum(
        each.model_version < version and (since is None or each.fetched_at >= since)
        for each in store.hosts.bodies(event.host)
    )
    is_mended = is_counted and not older
    # Without a learned version there is nothing to clean records with.
    is_to_do = version and not at_work and not is_mended
    return replace(
        sign,
        left=older,
        at_work=at_work,
        is_mended=is_mended,
        offers=(offer,) if is_to_do else (),
    )


def _with_bodies(store: Store, sign: Sign, event: DriftEvent, records: int) -> Sign:
    """The sign with how the host's pages have bodies since it lost them."""
    since = sign.again_since
    if records > MOST_RECORDS or since is None:
        return sign
    alarm = event.alarm
    classes = {alarm.url_class} if alarm.url_class else {name for name, _ in alarm.classes}
    pages = [each for each in store.hosts.bodies(event.host) if each.fetched_at >= since]
    pages.sort(key=lambda each: each.fetched_at, reverse=True)
    newest = _of_classes(store, pages[: MOST_READ // 2], classes)[:NEWEST]
    short = [each for each in pages if each.body_chars < SURE_CHARS][:MOST_READ]
    empty = [each for each in _of_classes(store, short, classes) if _is_empty(store, each)]
    # Where most misfits have a body, only at another place or as short as a button, a body proves
    # nothing: it has to be at the place that was learned.
    is_any_proof = 2 * alarm.empty >= alarm.misfits
    with_body = sum(
        each not in empty and (is_any_proof or _is_at_place(store, each)) for each in newest
    )
    if not newest or with_body < len(newest):
        return sign
    return replace(
        sign,
        n=with_body,
        of=len(newest),
        left=len(empty),
        is_back=True,
        is_mended=not empty,
    )


def _of_classes(
    store: Store, pages: Sequence[StoredPage], classes: set[str]
) -> Sequence[StoredPage]:
    """The pages of the URL classes that have changed; of none: all."""
    if not classes:
        return pages
    urls = store.urls.known(
        [each.page_id for each in pages], {each.crawl_id for each in pages}
    )  # a page has one URL in every crawl
    return [each for each in pages if class_of(urls.get(each.page_id, "")) in classes]


def _is_empty(store: Store, page: StoredPage) -> bool:
    is_sure = page.body_chars < NO_CHARS
    return is_sure or bool(store.records.without_body(page.crawl_id, [page.page_id]))


def _is_at_place(store: Store, page: StoredPage) -> bool:
    record = store.records.get(page.page_id, page.crawl_id)
    return record is not None and record.body_source in KNOWN_PLACES


def _version(asked: str) -> int:
    """The version of the model that an operation re-cleaned with."""
    with suppress(ValueError, TypeError, KeyError):
        return int(json.loads(asked)["version"])
    return 0


# What hosts of running crawls wait for.

EXAMINED_HOSTS = 500
"""Hosts whose waits are read, of all running crawls: 50 ms, once in ``EXAMINED_S``."""

EXAMINED_S = 10.0  # how old the list may be: reading it costs the server 50 ms


def running_waits(backends: KeptBackends) -> Sequence[WaitingHost]:
    """Returns what some hosts of each running crawl wait for; nothing while no queue answers."""
    with suppress(ServiceError):  # away: shown without it
        known = newest_crawls(backends)
        crawls = [each.name for each in known if each.state is CrawlState.RUNNING and each.counts]
        ask = partial(_waits, backends, crawls)
        return backends.remembered(("waits", *crawls), EXAMINED_S, ask)
    return ()


def _waits(backends: KeptBackends, crawls: Sequence[str]) -> list[WaitingHost]:
    with backends.queue() as frontier:
        return [
            wait
            for crawl in crawls[:EXAMINED_HOSTS]
            for wait in frontier.waits.of_crawl(crawl, max(1, EXAMINED_HOSTS // len(crawls))).hosts
        ]


# The hosts that need a look, each with the signs of its trouble.

MOST_FAILING = 100
"""Hosts with the most failures that are compared with their records."""

FEWEST_FAILURES = 10  # a few URLs of any host are broken links
MOST_DRIFTS = 50  # newest events of drifts that are read: those of a week, as a rule
A_WEEK = timedelta(days=7)
MOST_SHOWN = 200  # hosts of the list, those with most signs first


class TroubleSign(StrEnum):
    """Why a host needs a look."""

    PAUSED = "paused"  # by an operator
    SLOW_DOWN = "slow_down"  # it answered 429 or 503
    ROBOTS = "robots"  # its robots.txt cannot be had
    AWAY = "away"  # connections fail
    GONE = "gone"  # connections failed for so long that its URLs end without a request
    FAILING = "failing"  # more URLs failed than gave a record
    CHANGED = "changed"  # its pages do not fit its model, in the last week


_OF_WAIT: Final = {
    WaitReason.SLOW_DOWN: TroubleSign.SLOW_DOWN,
    WaitReason.ROBOTS: TroubleSign.ROBOTS,
    WaitReason.AWAY: TroubleSign.AWAY,
    WaitReason.GONE: TroubleSign.GONE,
}


class Trouble(Struct, frozen=True, kw_only=True):
    """A host that needs a look.

    Attributes:
        host: Lower-case authority.
        signs: Why, in the order of ``TroubleSign``.
        until: End of its wait; None when it is not known, or it waits for nothing.
        row: Its figures; None before anything of it is stored.
    """

    host: str
    signs: Sequence[TroubleSign]
    until: datetime | None
    row: HostRow | None


def troubled_hosts(backends: KeptBackends) -> Part[Trouble]:
    """Returns the hosts that need a look, those with most signs first, at most 200."""
    waits = running_waits(backends)
    until = {wait.host: wait.until for wait in waits}
    signs: dict[str, set[TroubleSign]] = {}
    for wait in waits:
        if wait.reason in _OF_WAIT:
            signs.setdefault(wait.host, set()).add(_OF_WAIT[wait.reason])
    with backends.store() as store:
        figures = backends.figures(store)
        failing = [
            row.host
            for row in figures.hosts("failed", limit=MOST_FAILING)
            if row.failed >= FEWEST_FAILURES and row.failed > row.records
        ]
        of_kind: Mapping[TroubleSign, Iterable[str]] = {
            TroubleSign.PAUSED: pauses_of(backends, store),
            TroubleSign.FAILING: failing,
            TroubleSign.CHANGED: _changed_hosts(store, A_WEEK),
        }
        for sign, hosts in of_kind.items():
            for host in hosts:
                signs.setdefault(host, set()).add(sign)
        order = list(TroubleSign)
        found = [
            Trouble(
                host=host,
                signs=sorted(signs[host], key=order.index),
                until=until.get(host),
                row=figures.host(host),
            )
            for host in sorted(signs, key=lambda each: (-len(signs[each]), each))[:MOST_SHOWN]
        ]
        return Part(items=found, as_of=figures.as_of())
