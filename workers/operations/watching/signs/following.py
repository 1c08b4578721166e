"""What an action has led to: its long action, the page it tried, what is left at its host."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from crawlclean.cleaning.errors import NotFound, ServiceError
from crawlclean.cleaning.records import PageKind
from crawlclean.cleaning.urls.normal_form import page_id
from crawlclean.storage.crawl_types import Step
from crawlclean.storage.live_state import ProcessRole
from crawlclean.storage.store.journal import Action as AuditRow, Operation
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.operations.acting.action import Fact, Subject, read_asked, untold
from crawlclean.workers.operations.acting.actions import ACTIONS
from crawlclean.workers.operations.hosts.hosts import changed_since
from crawlclean.workers.operations.watching.journal import find_operation
from crawlclean.workers.operations.watching.kept_backends import KeptBackends
from crawlclean.workers.operations.watching.signs.judging import Sign, SignKind
from crawlclean.workers.operations.watching.signs.signs import signs_now, signs_of

# What came of a page that somebody tried: how far it is, what the host answered, what is in it.

CLOCKS = timedelta(seconds=5)
"""Between the clock of the queue's server and this machine's."""

_ANSWER = re.compile(r"(\d{3}), (\d+) bytes")
_STATUS = re.compile(r"\bstatus (\d{3})\b")
TO_BE_TRIED = "to be tried"
"""A step of the decision log (``storage/queue``)."""


class TrialState(StrEnum):
    """How far a trial is."""

    WAITS = "waits"  # for the host's clock and robots.txt, and a spider
    FETCHING = "fetching"
    CLEANING = "cleaning"
    ENDED = "ended"
    NO_ANSWER = "no_answer"  # the page waits with the others of its host
    UNKNOWN = "unknown"  # longer than an hour ago, or never taken


class PageTried(Struct, frozen=True, kw_only=True):
    """What came of a trial.

    Attributes:
        url: The page.
        page_id: Its id.
        crawl: The crawl; ``""``: not known.
        state: How far it is.
        status: HTTP status; 0: no response so far.
        response_bytes: Length of the response.
        why_not: Why there was no response, in words for a person.
        target: Where it redirects to; ``""``: nowhere.
        kind: Kind of its record; None without a record.
        title: Title of its record.
        body_chars: Length of its body.
        is_new: Whether the record is of this response; otherwise an older one stays.
        has_body: Whether the record has a body that is worth the name.
        lasted_s: Seconds since it was asked for, to its end if it has ended; None: not known.
    """

    url: str
    page_id: str
    crawl: str = ""
    state: TrialState
    status: int = 0
    response_bytes: int = 0
    why_not: str = ""
    target: str = ""
    kind: PageKind | None = None
    title: str = ""
    body_chars: int = 0
    is_new: bool = False
    has_body: bool = False
    lasted_s: float | None = None

    @property
    def is_under_way(self) -> bool:
        """Whether more is to come."""
        return self.state in (TrialState.WAITS, TrialState.FETCHING, TrialState.CLEANING)

    @property
    def is_good(self) -> bool:
        """Whether the host answered with a page that has a body."""
        return self.is_new and self.has_body


def find_trial(backends: KeptBackends, host: str, url: str, asked_at: datetime) -> PageTried:
    """Returns what came of a trial that was asked for at a time."""
    pid, since = page_id(url), asked_at - CLOCKS
    with backends.store() as store:
        crawls = store.statistics.crawls_of([host]).get(host, [])
        crawl, state, steps = _in_queue(backends, crawls, pid, since)
        since = steps[0].at if steps else since  # by the clock that responses have, too
        trial = _told(
            store, PageTried(url=url, page_id=pid, crawl=crawl, state=state), steps, since
        )
    if not steps:
        return trial
    end = datetime.now(UTC) if trial.is_under_way else steps[-1].at
    return replace(trial, lasted_s=max(0.0, (end - steps[0].at).total_seconds()))


def _in_queue(
    backends: KeptBackends, crawls: Sequence[str], pid: str, since: datetime
) -> tuple[str, TrialState, Sequence[Step]]:
    """The (crawl, state, steps) of a trial, as the queue tells it; its first step begins it."""
    with suppress(ServiceError), backends.queue() as frontier:  # none runs, or it is away
        for crawl in crawls:
            found = frontier.tried(crawl, pid)
            steps = found[1] if found else ()
            begun = [n for n, step in enumerate(steps) if step.step == TO_BE_TRIED]
            if found and begun and steps[begun[-1]].at >= since:
                return crawl, _state(found[0], steps[begun[-1] :]), steps[begun[-1] :]
    return "", TrialState.UNKNOWN, []


def _state(state: str, steps: Sequence[Step]) -> TrialState:
    if state in ("retry", "revisit"):
        is_over = any(step.step == "leased" for step in steps)
        return TrialState.NO_ANSWER if is_over else TrialState.WAITS
    if state == "leased":
        return TrialState.FETCHING
    return TrialState.ENDED if state == "ended" else TrialState.CLEANING


def _told(store: Store, trial: PageTried, steps: Sequence[Step], since: datetime) -> PageTried:
    """The trial with what its steps and the stored record tell."""
    for step in steps:
        if step.step == "fetched" and (answer := _ANSWER.match(step.detail)):
            trial = replace(trial, status=int(answer[1]), response_bytes=int(answer[2]))
        elif step.step in ("gave_up", "failed"):
            refused = _STATUS.search(step.detail)
            trial = replace(trial, why_not=step.detail, status=int(refused[1]) if refused else 0)
    if trial.is_under_way:
        return trial
    rows = [row for row in store.urls.rows(trial.page_id) if trial.crawl in ("", row.crawl_id)]
    for row in rows[:1]:
        trial = replace(trial, crawl=row.crawl_id)
        begun = [step.at for step in row.log if step.step == TO_BE_TRIED and step.at >= since]
        since = begun[-1] if begun else since  # the queue may have forgotten its steps
        if row.finished_at >= since and row.log:
            target = next((s.detail for s in row.log if s.step == "redirects to"), "")
            trial = replace(trial, status=row.status or trial.status, target=target)
    record = store.records.get(trial.page_id, trial.crawl) if trial.crawl else None
    if record is None:
        return trial
    empty = store.records.without_body(trial.crawl, [trial.page_id])
    is_new = record.fetched_at >= since
    state = TrialState.ENDED if trial.state is TrialState.UNKNOWN and is_new else trial.state
    return replace(
        trial,
        state=state,
        kind=record.kind,
        title=record.title,
        body_chars=len(record.body),
        is_new=is_new and not trial.target,
        has_body=not empty,
    )


class Replacing(StrEnum):
    """What came of a process that was declared dead."""

    ASKED = "asked"  # the `run` that started it has not looked yet
    KILLED = "killed"  # that `run` has killed it; another one is not heard yet
    STARTED = "started"  # another one is heard
    NOT_OURS = "not_ours"  # no `run` has started it: whoever did has to end it


class Followed(Struct, frozen=True, kw_only=True):
    """What an action has led to so far.

    Attributes:
        host: The host it is about; ``""``: it is about something else.
        operation: The long action that it gave to workers; None: none, or it is not kept.
        trial: What came of the page that it tried; None: it tried none.
        signs: What Now shows of the host.
        again_since: Since when pages of a resumed host may lack their bodies, where no sign says
            so; None: not known.
        replacing: What came of the process that it declared dead; None: it was about none, or the
            queue cannot be asked.
        successor: The process that was started on its machine since, ``worker machine.4712``;
            ``""``: none is heard.
        is_of_processes: Whether ``signs`` are those of silent processes.
    """

    host: str = ""
    operation: Operation | None = None
    trial: PageTried | None = None
    signs: Sequence[Sign] = ()
    again_since: datetime | None = None
    replacing: Replacing | None = None
    successor: str = ""
    is_of_processes: bool = False


def follow(backends: KeptBackends, row: AuditRow) -> Followed:
    """Returns what an action has led to; what cannot be read is left out."""
    facts, _, _ = untold(row.did or "")
    operation = trial = None
    if seq := facts.get(Fact.OPERATION):
        with suppress(NotFound):  # deleted meanwhile
            operation = find_operation(backends, seq)
    action = ACTIONS.get(row.action)
    if row.action == "declare_dead" and facts:
        return _of_process(backends, row)
    if action is None or action.subject is not Subject.HOST:
        return Followed(operation=operation)
    signs: Sequence[Sign] = ()
    again_since = None
    with suppress(ServiceError):  # away: shown without it
        signs = signs_of(backends, row.target)
        if row.action == "resume_host" and not any(each.kind is SignKind.WALL for each in signs):
            again_since = _again_since(backends, row.target)
    url = read_asked(row.asked)[0].get("url")
    if row.action == "try_page" and facts and url:
        with suppress(ServiceError):  # away: shown without it
            trial = find_trial(backends, row.target, url, row.at or datetime.now(UTC))
    return Followed(
        host=row.target, operation=operation, trial=trial, signs=signs, again_since=again_since
    )


def _of_process(backends: KeptBackends, row: AuditRow) -> Followed:
    """What came of a process that was declared dead, and which others are silent."""
    name = ".".join(row.target.split(".")[:2])
    machine, since = name.partition(".")[0], row.at or datetime.now(UTC)
    replacing, successor = None, ""
    with suppress(ServiceError), backends.queue() as frontier:  # none runs, or it is away
        newer = [
            each
            for each in frontier.now().processes
            if each.machine == machine
            and each.role in (ProcessRole.WORKER, ProcessRole.SPIDER)
            and each.since >= since
            and not f"{each.name}.".startswith(f"{name}.")
        ]
        is_asked = frontier.processes.is_to_replace(name)  # first: it may be taken up meanwhile
        if frontier.processes.is_replaced(name):
            replacing = Replacing.STARTED if newer else Replacing.KILLED
            successor = f"{newer[0].role} {newer[0].name}" if newer else ""
        else:
            replacing = Replacing.ASKED if is_asked else Replacing.NOT_OURS
    signs: Sequence[Sign] = ()
    with suppress(ServiceError):  # away: shown without it
        silent = (each for each in signs_now(backends) if each.kind is SignKind.SILENT)
        signs = [each for each in silent if not f"{each.target}.".startswith(f"{name}.")]
    return Followed(signs=signs, replacing=replacing, successor=successor, is_of_processes=True)


def _again_since(backends: KeptBackends, host: str) -> datetime | None:
    """Since when pages of a host have lost their bodies; None: its newest change took none."""
    with backends.store() as store:
        drifts = store.drifts.of(host)
    return changed_since(drifts) if drifts and drifts[0].alarm.empty else None
