"""The queue's jobs, who works on them, and long actions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from crawlclean.cleaning.errors import NotFound, QueueUnavailable, ServiceError
from crawlclean.storage.live_state import SILENT_S, Claim, QueueNow
from crawlclean.storage.store.journal import Operation
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.answers.moments import ProcessAnswer, SharedQueue
from crawlclean.workers.operations.watching.kept_backends import KeptBackends

LONG_CLAIM_S = 60.0
"""A job of pages takes seconds; one that is held so long hangs, or has a huge page."""

MOST_OPERATIONS = 20


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
    processes: Sequence[ProcessAnswer]
    claims: Sequence[Claim]
    operations: Sequence[Operation]
    queues: Sequence[SharedQueue] = ()

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
    queues: list[SharedQueue] = []
    with suppress(ServiceError), backends.store() as store:
        operations = store.operations.read(limit=MOST_OPERATIONS)
        queues = _queues(store, ours)
    claims = sorted(queue.claims, key=lambda each: -each.age_s) if queue else []
    return QueuesMoment(
        queue=queue,
        is_away=is_away,
        why_not=why_not,
        processes=_processes(queue, claims) if queue else (),
        claims=claims,
        operations=operations,
        queues=queues,
    )


def _queues(store: Store, ours: str) -> list[SharedQueue]:
    """The living queues and those that crawls name."""
    run = Counter(row.queue for row in store.crawls.all())
    return [
        SharedQueue(
            queue=row.queue_id,
            place=row.place,
            heard_at=row.heard_at,
            silent_s=row.silent_s,
            is_alive=row.is_alive,
            is_own=row.queue_id == ours,
            crawls=run[row.queue_id],
        )
        for row in store.queues.all()
        if row.is_alive or run[row.queue_id]
    ]


def _processes(queue: QueueNow, claims: Sequence[Claim]) -> list[ProcessAnswer]:
    """The processes, then those that are lost; of ``claims`` the oldest is first."""
    leases = {session.name: session.leases for session in queue.sessions}
    found = []
    for each in [*queue.processes, *queue.lost]:
        jobs = tuple(held for held in claims if held.worker.startswith(f"{each.name}."))
        found.append(
            ProcessAnswer(
                process=each,
                is_silent=each.silent_s >= SILENT_S or not all(held.is_alive for held in jobs),
                is_lost=each in queue.lost,
                jobs=jobs,
                leases=leases.get(each.name, 0),
            )
        )
    return found
