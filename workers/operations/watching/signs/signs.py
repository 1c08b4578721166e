"""Signs of trouble, each with what it is about and what mends it; and the hosts that need a look.

A kind of sign is one function: it reads the evidence, and yields a sign with its figures, since
when it is so, and the actions that mend it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from crawlclean.cleaning.drift.watch import KNOWN_PLACES
from crawlclean.cleaning.errors import NotFound, ServiceError
from crawlclean.cleaning.url_classes.rules import class_of
from crawlclean.storage.crawl_types import FailureReason
from crawlclean.storage.live_state import WaitingHost
from crawlclean.storage.queue.maintenance import MEMORY_WATERMARK
from crawlclean.storage.store.hosts import Pause, StoredPage
from crawlclean.storage.store.journal import EventKind, OperationState
from crawlclean.storage.store.models import DriftEvent, DriftOutcome
from crawlclean.storage.store.overview import HostRow
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.answers.moments import LookedAt
from crawlclean.workers.operations.controlling.crawls import running_crawls
from crawlclean.workers.operations.hosts.classes import changed_class
from crawlclean.workers.operations.hosts.hosts import changed_since, pauses_of
from crawlclean.workers.operations.parts import Part
from crawlclean.workers.operations.watching.kept_backends import KeptBackends
from crawlclean.workers.operations.watching.now.series import Range, full_in_s, ranged
from crawlclean.workers.operations.watching.queues import ask_queue, queues_now
from crawlclean.workers.operations.watching.signs.evidence import look
from crawlclean.workers.operations.watching.signs.judging import (
    Sign,
    SignKind,
    judge_trend,
    shortened,
)
from crawlclean.workers.operations.watching.space import droppable_crawl, low_room

SIGNS_S = 3.0
"""How old the list may be: several who look at Now ask once."""

TREND = 20  # minutes of the queue's memory: its first ones fill it, later ones are the trend
RECENT = timedelta(hours=6)
NEVER_S = 86_400.0  # the age of figures that cannot be read: nothing is called fine by them
MOST_CHANGED = 8  # hosts that changed lately: each costs up to 16 ms, every 15 s
MENDED_SHOWN_S = 1800.0
"""How long a sign tells that it is mended, before it goes."""


def all_signs(backends: KeptBackends) -> tuple[Sequence[Sign], LookedAt]:
    """Returns every sign, and what was looked at; a source that is away has none."""

    def ask() -> tuple[Sequence[Sign], LookedAt]:
        found: list[Sign] = [*_silent(backends)]
        seen = LookedAt(oldest_s=NEVER_S)
        with suppress(ServiceError, OSError):
            found.extend(_room(backends))
        with suppress(ServiceError), backends.store() as store:  # none yet, or away
            found += [*_receivers(store), *_poison(store)]
            pauses = pauses_of(backends, store)
            changed = list(_changed(backends, store, pauses))
            signs, running, seen = look(backends, running_waits(backends))
            told = {each.host for each in changed if not each.is_mended}
            found += [each for each in signs if _is_news(each, told, pauses)]
            found += [*changed, *_paused(pauses, changed)]
            ours = {each.host for each in found if each.is_of_host and each.is_trouble}
            seen = replace(seen, in_trouble=len(ours.intersection(running)))
        return found, seen

    return backends.remembered("signs", SIGNS_S, ask)


def _is_news(sign: Sign, told: Collection[str], pauses: Collection[str]) -> bool:
    """Whether a sign of a host is not told by one that knows more, nor ended by a pause."""
    if sign.host in pauses:
        return sign.kind is SignKind.SEED
    is_of_pages = sign.kind in (SignKind.FORMS, SignKind.GROWS, SignKind.REPEATS)
    return not (is_of_pages and sign.host in told)


def signs_now(backends: KeptBackends) -> Sequence[Sign]:
    """Returns some signs of each kind, the worst kind first, mended ones last."""
    return shortened(all_signs(backends)[0])


def signs_of(backends: KeptBackends, host: str) -> list[Sign]:
    """Returns those of the signs that are about a host."""
    return [each for each in all_signs(backends)[0] if each.host == host]


def _silent(backends: KeptBackends) -> Iterator[Sign]:
    moment = queues_now(backends)
    for line in (each for each in moment.processes if each.is_silent):
        silent_s = line.process.silent_s
        yield Sign(
            kind=SignKind.SILENT, host=line.jobs[0].host if line.jobs else "",
            target=line.process.name, n=sum(claim.pages for claim in line.jobs) + line.leases,
            since=moment.queue.at - timedelta(seconds=silent_s) if moment.queue else None,
            lasts_s=silent_s, why=line.process.role.value, offers=("declare_dead",),
        )  # fmt: skip


def _room(backends: KeptBackends) -> Iterator[Sign]:
    room = low_room(backends)
    if room is None:
        yield from _trends(backends)
        return
    free, total = room.free_bytes or 0, room.total_bytes or 0
    if is_quota := not room.is_low:
        free, total = room.quota_bytes - room.used_bytes, room.quota_bytes
    crawl, freed = droppable_crawl(backends, room)
    yield Sign(
        kind=SignKind.ROOM, crawl_id=crawl, why="quota" if is_quota else "disk", n=max(0, free),
        of=total, left=freed, offers=("drop_raw_crawl",) if crawl else (),
    )  # fmt: skip


def _trends(backends: KeptBackends) -> Iterator[Sign]:
    """Signs of a disk or a queue's memory that will be full in some hours."""
    found, queue = ranged(backends, Range.HOUR), ask_queue(backends).queue
    if found is None or queue is None:
        return
    free = found.free_bytes
    limit = (queue.memory_limit_bytes or 0) * MEMORY_WATERMARK
    memory = found.memory_bytes[-TREND:]
    left = [None if used is None else limit - used for used in memory]
    rooms = {"disk_soon": free} | ({"memory_soon": left} if limit else {})
    for what, values in rooms.items():
        if sign := judge_trend(what, full_in_s(values, found.step_s), values, limit):
            yield sign


UNREACHED_S = 60.0
"""A receiver that fails this long is a sign; one that restarts is back by then."""


def _receivers(store: Store) -> Iterator[Sign]:
    """Receivers that take nothing."""
    now = datetime.now(UTC)
    for each in store.receivers.all():
        lasts_s = (now - (each.failing_since or now)).total_seconds()
        if lasts_s >= UNREACHED_S:
            yield Sign(
                kind=SignKind.RECEIVER, target=each.name, n=store.receivers.count_waiting(each),
                since=each.failing_since, lasts_s=lasts_s, why=each.last_error,
                offers=("test_receiver",),
            )  # fmt: skip


MOST_POISON = 20
"""Groups of pages that kill workers among which the recent ones are looked for."""


def _poison(store: Store) -> Iterator[Sign]:
    groups = store.overview.failure_groups(limit=MOST_POISON, reason=FailureReason.POISON)
    for group in (each for each in groups if each.newest_at >= datetime.now(UTC) - RECENT):
        yield Sign(
            kind=SignKind.POISON, host=group.host, crawl_id=group.crawl_id, n=group.count,
            since=group.newest_at,
        )  # fmt: skip


def _paused(pauses: Mapping[str, Pause], changed: Iterable[Sign]) -> Iterator[Sign]:
    """The paused hosts; the sign of a wall has the buttons of its host."""
    walls = {each.host for each in changed if each.kind is SignKind.WALL and not each.is_mended}
    newest = sorted(pauses.values(), key=lambda each: each.since, reverse=True)
    for pause in newest:
        yield Sign(
            kind=SignKind.PAUSED, host=pause.host, since=pause.since, who=pause.who, why=pause.why,
            offers=() if pause.host in walls else ("try_page", "resume_host"),
        )  # fmt: skip


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
    for host in _changed_hosts(store, RECENT)[:MOST_CHANGED]:
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
        kind=SignKind.WALL if is_lost else SignKind.CHANGED, host=event.host, of=alarm.pages,
        n=alarm.misfits if is_lost else event.new_version, target=changed_class(alarm),
        since=alarm.since, why=alarm.sign.value, again_since=changed_since(drifts),
        example=next(iter(alarm.examples), ""),
    )  # fmt: skip
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
        crawls = [each.name for each in running_crawls(backends)]
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


class Trouble(Struct, frozen=True, kw_only=True):
    """A host that needs a look.

    Attributes:
        host: Lower-case authority.
        signs: Kinds of its signs; ``failing``: more URLs failed than gave a record.
        until: End of its wait; None when it is not known, or it waits for nothing.
        row: Its figures; None before anything of it is stored.
    """

    host: str
    signs: Sequence[str]
    until: datetime | None
    row: HostRow | None


def troubled_hosts(backends: KeptBackends) -> Part[Trouble]:
    """Returns the hosts that need a look, those with most signs first, at most 200."""
    until = {each.host: each.until for each in running_waits(backends)}
    signs: dict[str, dict[str, None]] = {}
    for sign in (each for each in all_signs(backends)[0] if each.host and not each.is_mended):
        signs.setdefault(sign.host, {})[sign.kind] = None
    with backends.store() as store:
        figures = backends.figures(store)
        for row in figures.hosts("failed", limit=MOST_FAILING):
            if row.failed >= FEWEST_FAILURES and row.failed > row.records:
                signs.setdefault(row.host, {})["failing"] = None
        for host in _changed_hosts(store, A_WEEK):
            signs.setdefault(host, {})[SignKind.CHANGED] = None
        found = [
            Trouble(
                host=host, signs=list(signs[host]), until=until.get(host), row=figures.host(host)
            )
            for host in sorted(signs, key=lambda each: (-len(signs[each]), each))[:MOST_SHOWN]
        ]
        return Part(items=found, as_of=figures.as_of())
