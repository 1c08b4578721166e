"""The queue's jobs, who works on them, and long actions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from enum import StrEnum

from msgspec import Struct

from crawlclean.cleaning.errors import NotFound, QueueUnavailable, ServiceError
from crawlclean.storage.live_state import SILENT_S, Claim, QueueNow
from crawlclean.storage.store.journal import Operation
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.answers.making import answer_of
from crawlclean.workers.answers.moments import ProcessAnswer, QueueAnswer, SharedQueue
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.parts import Part

LONG_CLAIM_S = 60.0
"""A job of pages takes seconds; one that is held so long hangs, or has a huge page."""

MOST_OPERATIONS = 20  # the newest ones; the screen of long actions has all


class QueueState(StrEnum):
    """Whether the queue can be asked."""

    ANSWERS = "answers"
    AT_REST = "at_rest"  # embedded, and no crawl runs
    AWAY = "away"  # its server does not answer


class QueuesMoment(Struct, frozen=True, kw_only=True):
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


def ask_queue(backends: Backends) -> QueueAnswer:
    """The queue: backlog, leases, claims, processes, memory, counters.

    A queue at rest or away is an answer too, not an error.
    """
    try:
        with backends.queue() as frontier:
            return QueueAnswer(state=QueueState.ANSWERS, why="", queue=frontier.now())
    except NotFound as error:
        return QueueAnswer(state=QueueState.AT_REST, why=str(error), queue=None)
    except QueueUnavailable as error:
        return QueueAnswer(state=QueueState.AWAY, why=str(error), queue=None)


def queues_now(backends: Backends) -> QueuesMoment:
    """Returns the moment; what cannot be read is named in it."""
    answer, ours = ask_queue(backends), ""
    queue = answer.queue
    with suppress(ServiceError), backends.queue() as frontier:  # none runs, or it is away
        ours = frontier.queue_id(make=False)
    operations: list[Operation] = []
    queues: list[SharedQueue] = []
    with suppress(ServiceError), backends.store() as store:  # none yet, or away
        operations = store.operations.read(limit=MOST_OPERATIONS)
        queues = _queues(store, ours)
    claims = sorted(queue.claims, key=lambda each: -each.age_s) if queue else []
    return QueuesMoment(
        queue=queue,
        is_away=answer.state == QueueState.AWAY,
        why_not=answer.why,
        processes=_processes(queue, claims) if queue else (),
        claims=claims,
        operations=operations,
        queues=queues,
    )


def processes(backends: Backends) -> Part[ProcessAnswer]:
    """Spiders, workers and the others with what they work on, then those that are lost.

    By role and name, in one part; none while no crawl runs.
    """
    moment = queues_now(backends)
    if moment.is_away:
        raise QueueUnavailable(moment.why_not)
    return Part(items=moment.processes)


def shared_queues(backends: Backends) -> Part[SharedQueue]:
    """The queues that run crawls of this store, in one part; one of them is the console's own.

    A queue that was not heard for a minute is listed while a crawl names it.
    """
    return Part(items=queues_now(backends).queues)


def _queues(store: Store, ours: str) -> list[SharedQueue]:
    """The living queues and those that crawls name."""
    run = Counter(row.queue for row in store.crawls.all())
    return [
        answer_of(
            SharedQueue,
            row,
            queue=row.queue_id,
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
