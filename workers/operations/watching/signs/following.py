"""What an action has led to: its long action, the page it tried, what is left at its host."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from urllib.parse import parse_qs

from crawlclean.cleaning.errors import NotFound, ServiceError
from crawlclean.storage.live_state import ProcessRole
from crawlclean.storage.store.journal import Action as AuditRow, Operation
from crawlclean.workers.operations.acting.action import Fact, Subject, untold
from crawlclean.workers.operations.acting.actions import ACTIONS
from crawlclean.workers.operations.watching.journal import find_operation
from crawlclean.workers.operations.watching.kept_backends import KeptBackends
from crawlclean.workers.operations.watching.signs.mending import changed_since
from crawlclean.workers.operations.watching.signs.signs import Sign, SignKind, signs_now, signs_of
from crawlclean.workers.operations.watching.signs.trials import PageTried, find_trial


class Replacing(StrEnum):
    """What came of a process that was declared dead."""

    ASKED = "asked"  # the `run` that started it has not looked yet
    KILLED = "killed"  # that `run` has killed it; another one is not heard yet
    STARTED = "started"  # another one is heard
    NOT_OURS = "not_ours"  # no `run` has started it: whoever did has to end it


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
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
        with suppress(NotFound):
            operation = find_operation(backends, seq)
    action = ACTIONS.get(row.action)
    if row.action == "declare_dead" and facts:
        return _of_process(backends, row)
    if action is None or action.subject is not Subject.HOST:
        return Followed(operation=operation)
    signs: Sequence[Sign] = ()
    again_since = None
    with suppress(ServiceError):
        signs = signs_of(backends, row.target)
        if row.action == "resume_host" and not any(each.kind is SignKind.WALL for each in signs):
            again_since = _again_since(backends, row.target)
    asked = parse_qs(row.asked.partition("; ")[0]).get("url")
    if row.action == "try_page" and facts and asked:
        with suppress(ServiceError):
            trial = find_trial(backends, row.target, asked[0], row.at or datetime.now(UTC))
    return Followed(
        host=row.target, operation=operation, trial=trial, signs=signs, again_since=again_since
    )


def _of_process(backends: KeptBackends, row: AuditRow) -> Followed:
    """What came of a process that was declared dead, and which others are silent."""
    name = ".".join(row.target.split(".")[:2])
    machine, since = name.partition(".")[0], row.at or datetime.now(UTC)
    replacing, successor = None, ""
    with suppress(ServiceError), backends.queue() as frontier:
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
    with suppress(ServiceError):
        silent = (each for each in signs_now(backends) if each.kind is SignKind.SILENT)
        signs = [each for each in silent if not f"{each.target}.".startswith(f"{name}.")]
    return Followed(signs=signs, replacing=replacing, successor=successor, is_of_processes=True)


def _again_since(backends: KeptBackends, host: str) -> datetime | None:
    """Since when pages of a host have lost their bodies; None: its newest change took none."""
    with backends.store() as store:
        drifts = store.drifts.of(host)
    return changed_since(drifts) if drifts and drifts[0].alarm.empty else None
