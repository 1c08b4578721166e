"""The queue's jobs, who works on them, and long actions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from crawlclean.cleaning.errors import NotFound, QueueUnavailable, ServiceError
from crawlclean.storage.live_state import SILENT_S, Claim, Process, QueueNow
from crawlclean.storage.store.crawls import QueueRow
from crawlclean.storage.store.journal import Operation
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.operations.watching.kept_backends import KeptBackends

LONG_CLAIM_S = 60.0
"""A job of pages takes seconds; one that is held so long hangs, or has a huge page."""

MOST_OPERATIONS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessLine:
    """A process with what it does.

    Attributes:
        process: The process.
        claims: Jobs that it holds.
        leases: URLs that it fetches.
        is_silent: Whether it was not heard for longer than usual, or has lost a job by its silence.
    """

    process: Process
    claims: Sequence[Claim] = ()
    leases: int = 0
    is_silent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLine:
    """One of several queues that share the store.

    Attributes:
        row: The queue.
        crawls: Crawls that it runs.
        is_ours: Whether it is the one that this page shows.
    """

    row: QueueRow
    crawls: int
    is_ours: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuesMoment:
    """The queue at one moment.

    Attributes:
        queue: The queue; None when no crawl runs, or its server is away.
        is_away: Whether its server does not answer.
        why_not: Why it cannot be read, for a person.
        processes: By role and name, behind them those that are lost.
        claims: Jobs that workers hold, the oldest first.
        operations: The newest long actions.
        queues: The living queues of the store, and those that its crawls name.
    """

    queue: QueueNow | None
    is_away: bool
    why_not: str
    processes: Sequence[ProcessLine]
    claims: Sequence[Claim]
    operations: Sequence[Operation]
    queues: Sequence[QueueLine] = ()

    @property
    def shows_queues(self) -> bool:
        """Whether there are several queues, so that somebody wants to know which is which."""
        return len(self.queues) > 1


def queues_now(backends: KeptBackends) -> QueuesMoment:
    """Returns the moment; what cannot be read is named in it."""
    queue, is_away, why_not, ours = None, False, "", ""
    try:
        with backends.queue() as frontier:
            queue = frontier.now()
            ours = frontier.identity(make=False).queue_id
    except NotFound as error:
        why_not = str(error)
    except QueueUnavailable as error:
        is_away, why_not = True, str(error)
    operations: list[Operation] = []
    queues: list[QueueLine] = []
    with suppress(ServiceError), backends.store() as store:
        operations = store.operations.read(limit=MOST_OPERATIONS)
        queues = _queues(store, ours)
    claims = sorted(queue.claims, key=lambda each: -each.age_s) if queue else []
    return QueuesMoment(
        queue=queue,
        is_away=is_away,
        why_not=why_not,
        processes=_lines(queue) if queue else (),
        claims=claims,
        operations=operations,
        queues=queues,
    )


def _queues(store: Store, ours: str) -> list[QueueLine]:
    """The living queues and those that crawls name."""
    run = Counter(row.queue for row in store.crawls.all())
    return [
        QueueLine(row=row, crawls=run[row.queue_id], is_ours=row.queue_id == ours)
        for row in store.queues.all()
        if row.is_alive or run[row.queue_id]
    ]


def _lines(queue: QueueNow) -> list[ProcessLine]:
    leases = {session.name: session.leases for session in queue.sessions}
    return [
        ProcessLine(
            process=each,
            claims=[held for held in queue.claims if held.worker.startswith(f"{each.name}.")],
            leases=leases.get(each.name, 0),
            is_silent=each.silent_s >= SILENT_S
            or any(
                not held.is_alive
                for held in queue.claims
                if held.worker.startswith(f"{each.name}.")
            ),
        )
        for each in [*queue.processes, *queue.lost]
    ]
