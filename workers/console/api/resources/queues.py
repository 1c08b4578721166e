"""The queue, the processes that work on it, and the queues that share the store."""

from __future__ import annotations

from crawlclean.cleaning.errors import QueueUnavailable
from crawlclean.workers.answers.moments import ProcessAnswer, QueueAnswer, SharedQueue
from crawlclean.workers.console.api.registry import Api, Call, PageOf
from crawlclean.workers.console.api.resources.moments import queue_answer
from crawlclean.workers.operations.watching.now.now import this_moment
from crawlclean.workers.operations.watching.views.queues import ProcessLine, QueueLine, queues_now


def register(api: Api) -> None:
    """Adds the addresses."""
    api.get("/queues", get_queues, answer=QueueAnswer)
    api.get("/queues/shared", get_shared_queues, page_of=SharedQueue)
    api.get("/processes", get_processes, page_of=ProcessAnswer)


def get_queues(call: Call) -> QueueAnswer:
    """The queue: backlog, leases, claims, processes, memory, counters.

    A queue at rest or away is an answer too, not an error.
    """
    return queue_answer(this_moment(call.console.backends))


def get_processes(call: Call) -> PageOf[ProcessAnswer]:
    """Spiders, workers and the others with what they work on, then those that are lost.

    By role and name, in one part; none while no crawl runs.
    """
    moment = queues_now(call.console.backends)
    if moment.is_away:
        raise QueueUnavailable(moment.why_not)
    lost = {each.name for each in moment.queue.lost} if moment.queue else set()
    return PageOf(items=[_process(each, lost) for each in moment.processes])


def get_shared_queues(call: Call) -> PageOf[SharedQueue]:
    """The queues that run crawls of this store, in one part; one of them is the console's own.

    A queue that was not heard for a minute is listed while a crawl names it.
    """
    return PageOf(items=[_shared(each) for each in queues_now(call.console.backends).queues])


def _process(line: ProcessLine, lost: set[str]) -> ProcessAnswer:
    return ProcessAnswer(
        process=line.process,
        is_silent=line.is_silent,
        is_lost=line.process.name in lost,
        jobs=tuple(sorted(line.claims, key=lambda each: -each.age_s)),
        leases=line.leases,
    )


def _shared(line: QueueLine) -> SharedQueue:
    row = line.row
    return SharedQueue(
        queue=row.queue_id,
        place=row.place,
        heard_at=row.heard_at,
        silent_s=row.silent_s,
        is_alive=row.is_alive,
        is_own=line.is_ours,
        crawls=line.crawls,
    )
