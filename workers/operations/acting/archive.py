"""Actions on what is stored of a crawl or a host: fetch it again, drop its archived responses."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from cleaning.errors import ConfigError, NotFound
from storage.host_waits import Hold
from storage.store.codec import from_microseconds, to_microseconds
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
)
from workers.operations.acting.running import background_notes, start_operation
from workers.operations.backends import existing_store, queue_side
from workers.operations.controlling.dropping_raw import drop_raw, plan_drop
from workers.operations.controlling.fetching_again import (
    PageFilter,
    count_pages,
    crawls_of_target,
    fetch_again,
    read_since,
)

COUNTED_WITHIN_S = 2.0
"""How long a confirm page counts: a million URLs take longer, and are counted in part."""

FEW = 2_000
"""So many pages are offered at once; more are an operation."""

ALL, NO_BODY = "all", "no_body"
"""Values of ``which``."""


def _filter(asked: Asked) -> PageFilter:
    """The pages that are asked for, until the time of the confirm page.

    Raises:
        ConfigError: A value is wrong.
    """
    which = asked.values.get("which", "") or ALL
    if which not in (ALL, NO_BODY):
        raise ConfigError(f"{which} is neither {NO_BODY} nor {ALL}")
    try:
        until = (
            from_microseconds(asked.number("until"))
            if asked.values.get("until")
            else datetime.now(UTC)
        )
    except (OverflowError, ValueError) as error:
        raise ConfigError(f"{asked.values['until']} is no time") from error
    since = read_since(asked.values.get("since", ""), until)
    return PageFilter(since=since, until=until, no_body=which == NO_BODY)


def _plan_again(settings: Settings, asked: Asked) -> Plan:
    wanted = _filter(asked)
    with existing_store(settings) as store:
        crawls, host = crawls_of_target(store, asked.target)
        found = count_pages(store, crawls, replace(wanted, host=host), COUNTED_WITHIN_S)
    facts = {Fact.PAGES: found.pages, Fact.HOSTS: found.hosts}
    notes = [] if found.is_whole else [Note.AT_LEAST]
    notes += [Note.RECORDS_STAY]
    if _is_long(found.pages, is_whole=found.is_whole):
        return Plan(facts=facts, notes=(*notes, *background_notes(settings)))
    with queue_side(settings, at_rest=False) as side:
        notes += [] if side.frontier else [Note.NOT_FETCHED_YET]
    return Plan(facts=facts, notes=notes)


def _is_long(pages: int, *, is_whole: bool) -> bool:
    return pages > FEW or not is_whole


def _again(settings: Settings, asked: Asked) -> Done:
    wanted = _filter(asked)
    with existing_store(settings) as store:
        crawls, host = crawls_of_target(store, asked.target)
        found = count_pages(store, crawls, replace(wanted, host=host), COUNTED_WITHIN_S)
    if not found.pages and found.is_whole:
        raise NotFound("no stored page matches")
    if not _is_long(found.pages, is_whole=found.is_whole):
        offered = fetch_again(settings, asked.target, wanted)
        facts = {Fact.PAGES: sum(offered.values()), Fact.CRAWLS: len(offered)}
        return Done(facts=facts, notes=(Note.TO_BE_FETCHED,))
    arguments = {
        "target": asked.target,
        "crawls": list(crawls),
        "host": host,
        "since": to_microseconds(wanted.since) if wanted.since else None,
        "until": to_microseconds(wanted.until) if wanted.until else None,
        "no_body": wanted.no_body,
    }
    total = found.pages if found.is_whole else 0
    return start_operation(settings, "fetch_again", asked, arguments, total)


def _plan_drop(settings: Settings, asked: Asked, *, kind: TargetKind) -> Plan:
    found = plan_drop(settings, asked.target)
    if found.kind is not kind:
        raise NotFound(f"{asked.target} is no {kind.value}")
    facts = {Fact.RESPONSES: found.responses, Fact.FREED_BYTES: found.freed_bytes}
    notes = [Note.NO_WAY_BACK_RAW]
    if _has_hands(settings):
        notes.append(Note.IN_BACKGROUND)
    return Plan(facts=facts, notes=notes)


def _drop(settings: Settings, asked: Asked, *, kind: TargetKind) -> Done:
    plan = _plan_drop(settings, asked, kind=kind)
    if not plan.facts[Fact.RESPONSES]:
        raise NotFound(f"no response of {asked.target} is archived")
    if _has_hands(settings):
        arguments = {"target": asked.target}
        return start_operation(settings, "drop_raw", asked, arguments, plan.facts[Fact.RESPONSES])
    done = drop_raw(settings, asked.target)
    return Done(facts={Fact.RESPONSES: done.responses, Fact.FREED_BYTES: done.freed_bytes})


def _has_hands(settings: Settings) -> bool:
    """Whether workers can drop: at rest there are none, on a full disk all may wait for room."""
    with queue_side(settings, at_rest=False) as side:
        if side.frontier is None:
            return False
        now = side.frontier.now()
    return Hold.DISK not in now.holds and now.has_hands


_PAGES = ("since", "which", "until")
ARCHIVE_ACTIONS = tuple(
    Action(
        name=f"refetch_{kind.value}",
        safety=Safety.COUNTED,
        subject=Subject(kind.value),
        plan=_plan_again,
        act=_again,
        values=_PAGES,
        inputs=(Input.SINCE, Input.WHICH),
    )
    for kind in TargetKind
) + tuple(
    Action(
        name=f"drop_raw_{kind.value}",
        safety=Safety.TYPED,
        subject=Subject(kind.value),
        plan=partial(_plan_drop, kind=kind),
        act=partial(_drop, kind=kind),
    )
    for kind in TargetKind
)
