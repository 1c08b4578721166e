"""Actions on crawls and topics, on their failures, and on what is stored of crawls and hosts."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from msgspec.structs import replace

from crawlclean.cleaning.errors import ConfigError, NotFound
from crawlclean.cleaning.messages import Message
from crawlclean.cleaning.urls.normal_form import normalize, page_id
from crawlclean.storage.crawl_types import CrawlState, FailureReason, UrlState
from crawlclean.storage.live_state import Hold, ProcessRole
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.rows import to_microseconds
from crawlclean.workers.answers.control import TargetKind
from crawlclean.workers.operations.acting.action import (
    Asked,
    Effect,
    Fact,
    Input,
    Note,
    Safety,
    Steps,
    Subject,
    action,
    written,
)
from crawlclean.workers.operations.acting.running import WORDS, background_notes, start_operation
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.controlling.crawl_states import change_state
from crawlclean.workers.operations.controlling.fetching_again import (
    EndedFilter,
    count_pages,
    crawls_of_target,
    fetch_again,
    read_since,
    retry_some,
)
from crawlclean.workers.operations.controlling.purging import drop_raw
from crawlclean.workers.operations.failures import is_transient
from crawlclean.workers.operations.topics.topics import change_topic_state, find_topic, set_mark

CRAWL = Subject.CRAWL
REVERSIBLE, COUNTED, TYPED = Safety.REVERSIBLE, Safety.COUNTED, Safety.TYPED
PAUSED, RUNNING, STOPPED = CrawlState.PAUSED, CrawlState.RUNNING, CrawlState.STOPPED
SOME = 20
"""URLs of a group that are tried first."""

OWN_FAULT = frozenset(
    {FailureReason.HTTP_STATUS, FailureReason.ROBOTS, FailureReason.NOT_HTML, FailureReason.POISON}
)
"""Failures of which most are the page's, and come again."""

COUNTED_WITHIN_S = 2.0
"""How long a confirm page counts: a million URLs take longer, and are counted in part."""

FEW = 2_000
"""So many pages are offered at once; more are an operation."""

ALL, NO_BODY = "all", "no_body"
"""Values of ``which``."""


def _stored(store: Store, crawl: str) -> dict[Fact, int]:
    """The stored counts of a crawl.

    Raises:
        NotFound: There is no such crawl.
    """
    row = store.crawls.get(crawl)
    if row is None:
        raise NotFound(Message("no_crawl", crawl))
    n = row.pages.get
    return {Fact.RECORDS: n(UrlState.RECORD, 0), Fact.FAILED: n(UrlState.FAILED, 0)}


@action(REVERSIBLE, CRAWL, name="pause_crawl", inputs=(Input.WHY,), state=PAUSED)
@action(REVERSIBLE, CRAWL, name="resume_crawl", state=RUNNING)
@action(COUNTED, CRAWL, name="stop_crawl", state=STOPPED)
@action(REVERSIBLE, Subject.TOPIC, name="pause_topic", state=PAUSED, of="topic")
@action(REVERSIBLE, Subject.TOPIC, name="resume_topic", state=RUNNING, of="topic")
def _set_state(backends: Backends, asked: Asked, state: CrawlState, of: str = "crawl") -> Steps:
    crawl = asked.target
    with backends.store() as store:
        if of == "topic":
            crawl, facts = find_topic(store, asked.target).crawl_id, {Fact.CRAWLS: 1}
            if store.crawls.get(asked.target) is None:
                begins = f"`topic {asked.target}` begins it"
                raise NotFound(f"the crawl of topic {asked.target} has not begun: {begins}")
        else:
            facts = _stored(store, crawl)
    note = Note.IN_FLIGHT_GO_ON
    with backends.queue_side() as side:
        counts = side.frontier.counts_of([crawl]).get(crawl) if side.frontier else None
        if side.frontier is None or (counts is None and of == "topic"):
            note = Note.NOT_FETCHED_YET
    if counts is not None:
        facts |= {Fact.WAITING: counts.pending, Fact.IN_FLIGHT: counts.in_flight}
        facts |= {Fact.HOSTS: counts.hosts}
        if of == "crawl" and counts.state is CrawlState.FINISHED and not counts.open:
            note = Note.HAS_ENDED
    yield Effect(facts, (note,))
    if of == "topic":
        found = change_topic_state(backends, asked.target, state, who=asked.who)
    else:
        found = change_state(backends, crawl, state, who=asked.who, why=asked.get("why")).state
    undo = written(f"{'pause' if state is RUNNING else 'resume'}_{of}", asked.target)
    if found is CrawlState.FINISHED:
        return Effect({Fact.CRAWLS: int(of == "topic")}, (Note.HAS_ENDED,), undo * (of == "topic"))
    is_late = state is RUNNING and found is not RUNNING
    return Effect({Fact.CRAWLS: 1}, (Note.NOT_FETCHED_YET,) * is_late, undo)


def _failures(asked: Asked) -> EndedFilter:
    """The failures that are asked for.

    Raises:
        ConfigError: A value is wrong.
    """
    reason, status = asked.get("reason"), asked.get("status")
    if reason and reason not in set(FailureReason):
        raise ConfigError(f"{reason} is not a reason; `failures` prints them")
    return EndedFilter(
        failed=True,
        host=asked.get("host"),
        reasons=frozenset({FailureReason(reason)}) if reason else frozenset(),
        status=asked.number("status") if status not in ("", "0") else None,
        until=asked.time("until"),
    )


_GROUP = ("host", "reason", "status", "until")


@action(COUNTED, CRAWL, name="retry_some", values=_GROUP, most=SOME)
@action(COUNTED, CRAWL, name="retry_failed", values=_GROUP)
def _retry(backends: Backends, asked: Asked, most: int | None = None) -> Steps:
    """Fetches a group of failures again; ``most`` None: all, in the background."""
    wanted = _failures(asked)
    with backends.store() as store:
        _stored(store, asked.target)
        urls, hosts, hopeless, left = _count_group(store, asked.target, wanted)
    if not urls:
        raise NotFound("no failed URL matches")
    count = min(most or urls, urls)
    is_deadly = FailureReason.POISON in wanted.reasons
    notes = [Note.KILLS_AGAIN] if is_deadly else [Note.WILL_FAIL_AGAIN] if hopeless else []
    if most is None:
        notes += background_notes(backends)
    else:
        with backends.queue_side() as side:
            notes += [] if side.frontier else [Note.NOT_FETCHED_YET]
    facts = {Fact.URLS: count, Fact.HOSTS: min(hosts, count)}
    yield Effect(facts | ({} if wanted.reasons or not left else {Fact.LEFT_OUT: left}), notes)
    if most is not None:
        offered = retry_some(backends, asked.target, wanted, most)
        return Effect({Fact.URLS: offered}, (Note.TO_BE_FETCHED,))
    arguments = {
        "crawl": asked.target, "host": wanted.host, "reason": asked.get("reason"),
        "status": wanted.status, "until": int(asked.get("until") or time.time_ns() // 1000),
    }  # fmt: skip
    return start_operation(backends, "retry", asked, arguments, urls)


def _count_group(store: Store, crawl: str, wanted: EndedFilter) -> tuple[int, int, int, int]:
    """The (URLs, hosts, URLs of which most will fail again, other URLs) of a group, as kept."""
    urls = hosts = hopeless = left = 0
    overview = store.overview
    if wanted.host:
        groups = overview.failure_groups(crawl, wanted.host)
        causes = [each.as_cause(None) for each in groups]
    else:
        causes = overview.causes(crawl)
    for row in causes:
        passes = is_transient(row.reason, row.status)
        is_asked = row.reason in wanted.reasons if wanted.reasons else passes
        if is_asked and wanted.status in (None, row.status):
            urls += row.urls
            hosts = max(hosts, row.hosts)
            hopeless += row.urls if row.reason in OWN_FAULT and not passes else 0
        else:
            left += row.urls
    return urls, hosts, hopeless, left


@action(TYPED, CRAWL, name="purge_crawl", kind=TargetKind.CRAWL)
@action(TYPED, Subject.HOST, name="purge_host", kind=TargetKind.HOST)
def _purge(backends: Backends, asked: Asked, kind: TargetKind) -> Steps:
    """Deletes a crawl or a host."""
    target = asked.target
    with backends.store() as store:
        if kind is TargetKind.CRAWL:
            facts = _stored(store, target)
        elif (row := store.overview.host(target)) is None:
            raise NotFound(Message("no_host_listed", target))
        else:
            facts = {Fact.CRAWLS: row.crawls, Fact.RECORDS: row.records, Fact.FAILED: row.failed}
            facts[Fact.MODEL_VERSIONS] = len(store.models.versions(target))
    with backends.queue_side() as side:
        if (frontier := side.frontier) and kind is TargetKind.CRAWL:
            counts = frontier.counts_of([target]).get(target)
            facts[Fact.WAITING] = counts.open if counts else 0
        elif frontier:
            crawls = frontier.crawls_of(target)
            facts[Fact.WAITING] = sum(frontier.pending_of(crawl, target) for crawl in crawls)
    yield Effect(facts, (Note.NO_WAY_BACK, *background_notes(backends)))
    return start_operation(backends, "purge", asked, {"kind": kind.value, "target": target})


def _pages(asked: Asked) -> EndedFilter:
    """The stored pages that are asked for, until the time of the confirm page.

    Raises:
        ConfigError: A value is wrong.
    """
    which = asked.get("which") or ALL
    if which not in (ALL, NO_BODY):
        raise ConfigError(f"{which} is neither {NO_BODY} nor {ALL}")
    until = asked.time("until") or datetime.now(UTC)
    since = read_since(asked.get("since"), until)
    return EndedFilter(failed=False, since=since, until=until, no_body=which == NO_BODY)


_STORED, _WHICH = ("since", "which", "until"), (Input.SINCE, Input.WHICH)


@action(COUNTED, CRAWL, name="refetch_crawl", values=_STORED, inputs=_WHICH)
@action(COUNTED, Subject.HOST, name="refetch_host", values=_STORED, inputs=_WHICH)
def _refetch(backends: Backends, asked: Asked) -> Steps:
    """Fetches stored pages again."""
    wanted = _pages(asked)
    with backends.store() as store:
        crawls, host = crawls_of_target(store, asked.target)
        found = count_pages(store, crawls, replace(wanted, host=host), COUNTED_WITHIN_S)
    notes = [*([] if found.is_whole else [Note.AT_LEAST]), Note.RECORDS_STAY]
    if is_long := found.pages > FEW or not found.is_whole:
        notes += background_notes(backends)
    else:
        with backends.queue_side() as side:
            notes += [] if side.frontier else [Note.NOT_FETCHED_YET]
    yield Effect({Fact.PAGES: found.pages, Fact.HOSTS: found.hosts}, notes)
    if not found.pages and found.is_whole:
        raise NotFound("no stored page matches")
    if not is_long:
        offered = fetch_again(backends, asked.target, wanted)
        facts = {Fact.PAGES: sum(offered.values()), Fact.CRAWLS: len(offered)}
        return Effect(facts, (Note.TO_BE_FETCHED,))
    arguments = {
        "target": asked.target, "crawls": list(crawls), "host": host, "no_body": wanted.no_body,
        "since": to_microseconds(wanted.since) if wanted.since else None,
        "until": to_microseconds(wanted.until) if wanted.until else None,
    }  # fmt: skip
    total = found.pages if found.is_whole else 0
    return start_operation(backends, "fetch_again", asked, arguments, total)


@action(TYPED, CRAWL, name="drop_raw_crawl", kind=TargetKind.CRAWL)
@action(TYPED, Subject.HOST, name="drop_raw_host", kind=TargetKind.HOST)
def _drop_raw(backends: Backends, asked: Asked, kind: TargetKind) -> Steps:
    """Drops archived responses."""
    found = drop_raw(backends, asked.target, dry_run=True)
    if found.kind is not kind:
        raise NotFound(f"{asked.target} is no {kind.value}")
    with backends.queue_side() as side:  # at rest, or on a full disk, no worker drops
        now = side.frontier.now() if side.frontier else None
    has_hands = bool(now and Hold.DISK not in now.holds and now.of_role(ProcessRole.WORKER))
    facts = {Fact.RESPONSES: found.responses, Fact.FREED_BYTES: found.freed_bytes}
    yield Effect(facts, (Note.NO_WAY_BACK_RAW, *(Note.IN_BACKGROUND,) * has_hands))
    if not found.responses:
        raise NotFound(f"no response of {asked.target} is archived")
    if has_hands:
        arguments = {"target": asked.target}
        return start_operation(backends, "drop_raw", asked, arguments, found.responses)
    done = drop_raw(backends, asked.target)
    return Effect({Fact.RESPONSES: done.responses, Fact.FREED_BYTES: done.freed_bytes})


@action(REVERSIBLE, Subject.URL, name="mark_relevant", values=("topic",), mark=True)
@action(REVERSIBLE, Subject.URL, name="mark_not_relevant", values=("topic",), mark=False)
@action(REVERSIBLE, Subject.URL, name="unmark", values=("topic",), mark=None)
def _mark(backends: Backends, asked: Asked, mark: bool | None) -> Steps:
    """Stores a person's word on a page of a topic, or takes it off; a worker learns from it."""
    topic, page = asked.get("topic"), page_id(normalize(asked.target))
    with backends.store() as store:
        row, record = find_topic(store, topic), store.records.get(page)
        before = found.mark if (found := store.topics.page(topic, page)) else None
    if record is None:
        raise NotFound(f"{asked.target} is not stored")
    yield Effect({Fact.PAGES: 1}, (Note.TOPIC_JUDGES_ANEW, *background_notes(backends)))
    with backends.store() as store:
        set_mark(store, row, record, mark)
    arguments = {"topic": topic, "url": asked.target, "word": WORDS[mark]}
    done = start_operation(backends, "mark", asked, arguments, may_wait=True)
    if mark == before:
        return done
    back = {True: "mark_relevant", False: "mark_not_relevant", None: "unmark"}[before]
    return replace(done, undo=written(back, asked.target, topic=topic))
