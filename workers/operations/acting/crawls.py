"""Actions on crawls, on what failed in them, and the deletion of a crawl or a host."""

from __future__ import annotations

import time
from functools import partial

from cleaning.errors import ConfigError, NotFound
from storage.crawl_types import CrawlState, FailureReason, UrlState
from storage.store.codec import from_microseconds
from storage.store.protocol import Store
from workers.answers.control import TargetKind
from workers.config import Settings
from workers.operations.acting.action import (
    Action,
    Asked,
    Done,
    Fact,
    Input,
    Note,
    Plan,
    Safety,
    Subject,
    written,
)
from workers.operations.acting.running import background_notes, start_operation
from workers.operations.backends import existing_store, queue_side
from workers.operations.controlling.crawl_states import change_state
from workers.operations.failures.failed_urls import (
    TOO_MANY_REQUESTS,
    TRANSIENT,
    FailureFilter,
    retry_some,
)

SOME, ONE = 20, 1
"""URLs of a group that are tried first; of pages that kill workers one: it kills three again."""
OPPOSITE = {
    CrawlState.PAUSED: "resume_crawl",
    CrawlState.STOPPED: "resume_crawl",
    CrawlState.RUNNING: "pause_crawl",
}
OWN_FAULT = frozenset(
    {FailureReason.HTTP_STATUS, FailureReason.ROBOTS, FailureReason.NOT_HTML, FailureReason.POISON}
)
"""Failures of which most are the page's, and come again."""


def _existing_crawl(store: Store, crawl: str) -> dict[Fact, int]:
    """The stored counts of a crawl.

    Raises:
        NotFound: There is no such crawl.
    """
    for row in store.crawls.all():
        if row.spec.crawl_id == crawl:
            pages = row.pages
            return {
                Fact.RECORDS: pages.get(UrlState.RECORD, 0),
                Fact.FAILED: pages.get(UrlState.FAILED, 0),
            }
    raise NotFound(f"no crawl is named {crawl}; `crawls` lists them")


def _plan_state(settings: Settings, asked: Asked) -> Plan:
    with existing_store(settings) as store:
        facts = _existing_crawl(store, asked.target)
    with queue_side(settings, at_rest=False) as side:
        if side.frontier is None:
            return Plan(facts=facts, notes=(Note.NOT_FETCHED_YET,))
        counts = side.frontier.counts_of([asked.target]).get(asked.target)
    if counts is not None:
        facts |= {Fact.WAITING: counts.pending, Fact.IN_FLIGHT: counts.in_flight}
        facts |= {Fact.HOSTS: counts.hosts}
        if counts.state is CrawlState.FINISHED and not counts.open:
            return Plan(facts=facts, notes=(Note.HAS_ENDED,))
    return Plan(facts=facts, notes=(Note.IN_FLIGHT_GO_ON,))


def _set_state(settings: Settings, asked: Asked, *, state: CrawlState) -> Done:
    with existing_store(settings) as store:
        _existing_crawl(store, asked.target)
    why = asked.values.get("why", "")
    found = change_state(settings, asked.target, state, who=asked.who, why=why)
    if found.state is CrawlState.FINISHED:
        return Done(facts={Fact.CRAWLS: 0}, notes=(Note.HAS_ENDED,))
    is_late = state is CrawlState.RUNNING and found.state is not CrawlState.RUNNING
    return Done(
        facts={Fact.CRAWLS: 1},
        notes=(Note.NOT_FETCHED_YET,) if is_late else (),
        undo=written(OPPOSITE[state], asked.target),
    )


def _filter(asked: Asked) -> FailureFilter:
    """The failures that are asked for.

    Raises:
        ConfigError: A value is wrong.
    """
    reason, status = asked.values.get("reason", ""), asked.values.get("status", "")
    if reason and reason not in set(FailureReason):
        raise ConfigError(f"{reason} is no reason; `failures` prints them")
    until = asked.values.get("until", "")
    try:
        frozen = from_microseconds(asked.number("until")) if until else None
    except (OverflowError, ValueError) as error:
        raise ConfigError(f"{until} is no time") from error
    return FailureFilter(
        host=asked.values.get("host", ""),
        reasons=frozenset({FailureReason(reason)}) if reason else frozenset(),
        status=asked.number("status") if status not in ("", "0") else None,
        until=frozen,
    )


def _plan_retry(settings: Settings, asked: Asked, *, most: int | None) -> Plan:
    """Counts the group by its kept figures; ``most`` None: all, in the background."""
    wanted = _filter(asked)
    with existing_store(settings) as store:
        _existing_crawl(store, asked.target)
        urls, hosts, hopeless = _count_group(store, asked.target, wanted)
    if not urls:
        raise NotFound("no failed URL matches")
    if most is not None:
        urls = min(most, urls)
    facts = {Fact.URLS: urls, Fact.HOSTS: min(hosts, urls)}
    is_deadly = FailureReason.POISON in wanted.reasons
    notes = [Note.KILLS_AGAIN] if is_deadly else [Note.WILL_FAIL_AGAIN] if hopeless else []
    if is_deadly and most == ONE:
        notes.append(Note.ONE_FIRST)
    if most is None:
        notes += background_notes(settings)
    else:
        with queue_side(settings, at_rest=False) as side:
            notes += [] if side.frontier else [Note.NOT_FETCHED_YET]
    return Plan(facts=facts, notes=notes)


def _count_group(store: Store, crawl: str, wanted: FailureFilter) -> tuple[int, int, int]:
    """The (URLs, hosts, URLs of which most will fail again) of a group, as kept."""
    urls = hosts = hopeless = 0
    rows = (
        [
            (each.reason, each.status, each.count, 1)
            for each in store.overview.failure_groups(crawl, wanted.host)
        ]
        if wanted.host
        else [
            (each.reason, each.status, each.count, each.hosts)
            for each in store.overview.causes(crawl)
        ]
    )
    for reason, status, count, of_hosts in rows:
        passes = reason is FailureReason.HTTP_STATUS and (
            status >= 500 or status == TOO_MANY_REQUESTS
        )
        is_asked = reason in wanted.reasons if wanted.reasons else passes or reason in TRANSIENT
        if is_asked and wanted.status in (None, status):
            urls += count
            hosts = 1 if wanted.host else max(hosts, of_hosts)
            hopeless += count if reason in OWN_FAULT and not passes else 0
    return urls, hosts, hopeless


def _retry_some(settings: Settings, asked: Asked, *, most: int) -> Done:
    urls = retry_some(settings, asked.target, _filter(asked), most)
    return Done(facts={Fact.URLS: urls}, notes=(Note.TO_BE_FETCHED,))


def _retry(settings: Settings, asked: Asked) -> Done:
    wanted = _filter(asked)
    until = asked.values.get("until") or str(time.time_ns() // 1000)
    with existing_store(settings) as store:
        urls, _, _ = _count_group(store, asked.target, wanted)
    arguments = {
        "crawl": asked.target,
        "host": wanted.host,
        "reason": asked.values.get("reason", ""),
        "status": wanted.status,
        "until": int(until),
    }
    return start_operation(settings, "retry", asked, arguments, urls)


def _plan_purge(settings: Settings, asked: Asked, *, kind: TargetKind) -> Plan:
    """Counts what would be deleted, by the kept figures."""
    target = asked.target
    with existing_store(settings) as store:
        if kind is TargetKind.CRAWL:
            facts = _existing_crawl(store, target)
        else:
            row = store.overview.host(target)
            if row is None:
                raise NotFound(f"nothing of {target} is stored; `hosts` lists what is")
            facts = {
                Fact.CRAWLS: row.crawls,
                Fact.RECORDS: row.records,
                Fact.FAILED: row.failed,
                Fact.MODEL_VERSIONS: len(store.models.versions(target)),
            }
    with queue_side(settings, at_rest=False) as side:
        if side.frontier is not None:
            frontier = side.frontier
            if kind is TargetKind.CRAWL:
                counts = frontier.counts_of([target]).get(target)
                facts[Fact.WAITING] = counts.open if counts else 0
            else:
                facts[Fact.WAITING] = sum(
                    frontier.pending_of(crawl, target) for crawl in frontier.crawls_of(target)
                )
    return Plan(facts=facts, notes=(Note.NO_WAY_BACK, *background_notes(settings)))


def _purge(settings: Settings, asked: Asked, *, kind: TargetKind) -> Done:
    _plan_purge(settings, asked, kind=kind)  # what is not there is not purged
    return start_operation(settings, "purge", asked, {"kind": kind.value, "target": asked.target})


_FILTER = ("host", "reason", "status", "until")
_OF = Subject.CRAWL

CRAWL_ACTIONS = (
    Action(
        name="pause_crawl",
        safety=Safety.REVERSIBLE,
        subject=_OF,
        plan=_plan_state,
        act=partial(_set_state, state=CrawlState.PAUSED),
        inputs=(Input.WHY,),
    ),
    Action(
        name="resume_crawl",
        safety=Safety.REVERSIBLE,
        subject=_OF,
        plan=_plan_state,
        act=partial(_set_state, state=CrawlState.RUNNING),
    ),
    Action(
        name="stop_crawl",
        safety=Safety.COUNTED,
        subject=_OF,
        plan=_plan_state,
        act=partial(_set_state, state=CrawlState.STOPPED),
    ),
    Action(
        name="retry_some",
        safety=Safety.COUNTED,
        subject=_OF,
        plan=partial(_plan_retry, most=SOME),
        act=partial(_retry_some, most=SOME),
        values=_FILTER,
    ),
    Action(
        name="retry_one",
        safety=Safety.COUNTED,
        subject=_OF,
        plan=partial(_plan_retry, most=ONE),
        act=partial(_retry_some, most=ONE),
        values=_FILTER,
    ),
    Action(
        name="retry_failed",
        safety=Safety.COUNTED,
        subject=_OF,
        plan=partial(_plan_retry, most=None),
        act=_retry,
        values=_FILTER,
    ),
    Action(
        name="purge_crawl",
        safety=Safety.TYPED,
        subject=_OF,
        plan=partial(_plan_purge, kind=TargetKind.CRAWL),
        act=partial(_purge, kind=TargetKind.CRAWL),
    ),
    Action(
        name="purge_host",
        safety=Safety.TYPED,
        subject=Subject.HOST,
        plan=partial(_plan_purge, kind=TargetKind.HOST),
        act=partial(_purge, kind=TargetKind.HOST),
    ),
)
