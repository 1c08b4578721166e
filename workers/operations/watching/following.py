"""What an action has led to: its long action, the page it tried, what is left at its host."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import parse_qs

from cleaning.errors import NotFound, ServiceError
from storage.store.audit import Action as AuditRow
from storage.store.operations import Operation
from workers.operations.acting.action import Fact, Subject, untold
from workers.operations.acting.actions import ACTIONS
from workers.operations.watching.journal import find_operation
from workers.operations.watching.kept_backends import KeptBackends
from workers.operations.watching.mending import changed_since
from workers.operations.watching.signs import Sign, SignKind, signs_of
from workers.operations.watching.trials import PageTried, find_trial


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
    """

    host: str = ""
    operation: Operation | None = None
    trial: PageTried | None = None
    signs: Sequence[Sign] = ()
    again_since: datetime | None = None


def follow(backends: KeptBackends, row: AuditRow) -> Followed:
    """Returns what an action has led to; what cannot be read is left out."""
    facts, _, _ = untold(row.did or "")
    operation = trial = None
    if seq := facts.get(Fact.OPERATION):
        with suppress(NotFound):
            operation = find_operation(backends, seq)
    action = ACTIONS.get(row.action)
    if action is None or action.subject is not Subject.HOST:
        return Followed(operation=operation)
    signs: Sequence[Sign] = ()
    again_since = None
    with suppress(ServiceError):
        signs = signs_of(backends, row.target)
        if row.action == "resume_host" and not any(each.kind is SignKind.WALL for each in signs):
            again_since = _again_since(backends, row.target)
    if row.action == "try_page" and facts and (url := _url(row)):
        with suppress(ServiceError):
            trial = find_trial(backends, row.target, url, row.at or datetime.now(UTC))
    return Followed(
        host=row.target, operation=operation, trial=trial, signs=signs, again_since=again_since
    )


def _again_since(backends: KeptBackends, host: str) -> datetime | None:
    """Since when pages of a host have lost their bodies; None: its newest change took none."""
    with backends.store() as store:
        drifts = store.drifts.of(host)
    return changed_since(drifts) if drifts and drifts[0].alarm.empty else None


def _url(row: AuditRow) -> str:
    """The page that an action was asked to try."""
    return parse_qs(row.asked.partition("; ")[0]).get("url", [""])[0]
