"""Actions on pages that kill workers: a person has seen them; their copies can go."""

from __future__ import annotations

from cleaning.errors import ConfigError, NotFound
from storage.crawl_types import FailureReason
from storage.store.cases import CaseSubject
from storage.store.codec import from_microseconds, to_microseconds
from storage.store.overview import FailureGroup
from storage.store.protocol import Store
from workers.config import Settings
from workers.operations.acting.action import (
    Action,
    Asked,
    Done,
    Fact,
    Note,
    Plan,
    Safety,
    Subject,
    written,
)
from workers.operations.backends import existing_store
from workers.operations.cases.cases import find_case, withdraw
from workers.operations.failures.seen_failures import note_seen


def _group(store: Store, asked: Asked) -> FailureGroup:
    """The poison pages of a host in a crawl.

    Raises:
        NotFound: There is none.
    """
    crawl = asked.values.get("crawl", "")
    for group in store.overview.failure_groups(crawl, asked.target):
        if group.reason is FailureReason.POISON:
            return group
    raise NotFound(f"no page of {asked.target} in crawl {crawl} has killed workers")


def _plan_seen(settings: Settings, asked: Asked) -> Plan:
    with existing_store(settings) as store:
        group = _group(store, asked)
    newest = str(to_microseconds(group.newest_at))
    return Plan(
        facts={Fact.POISON_PAGES: group.count}, notes=(Note.SIGN_ENDS,), chosen={"newest": newest}
    )


def _mark_seen(settings: Settings, asked: Asked) -> Done:
    with existing_store(settings) as store:
        group = _group(store, asked)
        until = group.newest_at
        if asked.values.get("newest"):
            try:
                until = from_microseconds(asked.number("newest"))
            except (OverflowError, ValueError) as error:
                raise ConfigError(f"{asked.values['newest']} is no time") from error
        note_seen(store, group.crawl_id, group.host, asked.who, until)
    undo = written("mark_unseen", asked.target, crawl=group.crawl_id)
    return Done(facts={Fact.POISON_PAGES: group.count}, notes=(Note.SIGN_ENDS,), undo=undo)


def _plan_unseen(settings: Settings, asked: Asked) -> Plan:
    with existing_store(settings) as store:
        return Plan(facts={Fact.POISON_PAGES: _group(store, asked).count})


def _mark_unseen(settings: Settings, asked: Asked) -> Done:
    with existing_store(settings) as store:
        group = _group(store, asked)
        note_seen(store, group.crawl_id, group.host, asked.who, None)
    undo = written("mark_seen", asked.target, crawl=group.crawl_id)
    return Done(facts={Fact.POISON_PAGES: group.count}, undo=undo)


def _plan_drop(settings: Settings, asked: Asked) -> Plan:
    _copy(settings, asked)
    return Plan(facts={Fact.COPIES: 1}, notes=(Note.NO_WAY_BACK_COPY,))


def _drop(settings: Settings, asked: Asked) -> Done:
    _copy(settings, asked)
    withdraw(settings, asked.target)
    return Done(facts={Fact.COPIES: 1})


def _copy(settings: Settings, asked: Asked) -> None:
    """Refuses what is no copy.

    Raises:
        NotFound: There is no copy of this id.
    """
    if find_case(settings, asked.target).subject is not CaseSubject.CRASH:
        raise NotFound(f"there is no copy {asked.target[:40]}")


POISON_ACTIONS = (
    Action(
        name="mark_seen",
        safety=Safety.REVERSIBLE,
        subject=Subject.HOST,
        plan=_plan_seen,
        act=_mark_seen,
        values=("crawl", "newest"),
    ),
    Action(
        name="mark_unseen",
        safety=Safety.REVERSIBLE,
        subject=Subject.HOST,
        plan=_plan_unseen,
        act=_mark_unseen,
        values=("crawl",),
    ),
    Action(
        name="drop_copy",
        safety=Safety.COUNTED,
        subject=Subject.CASE,
        plan=_plan_drop,
        act=_drop,
    ),
)
