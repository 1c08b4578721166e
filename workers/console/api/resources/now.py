"""Now, the queue and who works on it, events, actions and long operations."""

from __future__ import annotations

from crawlclean.cleaning.errors import QueueUnavailable
from crawlclean.workers.answers.moments import (
    HeldBack,
    NowAnswer,
    ProcessAnswer,
    QueueAnswer,
    SharedQueue,
)
from crawlclean.workers.console.api.registry import Api, Call, PageOf
from crawlclean.workers.console.holding import said, sentence
from crawlclean.workers.console.words import Language
from crawlclean.workers.operations.controlling.crawls import lines_of
from crawlclean.workers.operations.watching.journal import audit, events, find_operation, operations
from crawlclean.workers.operations.watching.now.now import Moment, this_moment
from crawlclean.workers.operations.watching.views.queues import ask_queue, queues_now

# Now: what crawls at this moment.


def register_moments(api: Api) -> None:
    """Adds the addresses."""
    api.get("/now", get_now, answer=NowAnswer)


def get_now(call: Call) -> NowAnswer:
    """What crawls at this moment, and what holds it back."""
    backends = call.console.backends
    moment = this_moment(backends)
    return NowAnswer(
        at=moment.at,
        held_back=_held_back(moment),
        queue=QueueAnswer(state=moment.queue_state, why=moment.why_no_queue, queue=moment.queue),
        why_no_store=moment.why_no_store,
        running=moment.running,
        pending=moment.pending,
        rates=backends.meter.read(moment.queue) if moment.queue else {},
        waits=dict(moment.waits),
        crawls=tuple(lines_of(backends, moment.crawls)),
        causes=tuple(moment.causes),
        disk=moment.disk,
        as_of=moment.as_of,
    )


def _held_back(moment: Moment) -> HeldBack:
    told = sentence(moment)
    text = said(told, Language.ENGLISH).unescape()
    return HeldBack(level=told.level.value, cause=told.key, text=text)


# The queue, the processes that work on it, and the queues that share the store.


def register_queues(api: Api) -> None:
    """Adds the addresses."""
    api.ask("get_queues", "/queues", ask_queue)
    api.get("/queues/shared", get_shared_queues, page_of=SharedQueue)
    api.get("/processes", get_processes, page_of=ProcessAnswer)


def get_processes(call: Call) -> PageOf[ProcessAnswer]:
    """Spiders, workers and the others with what they work on, then those that are lost.

    By role and name, in one part; none while no crawl runs.
    """
    moment = queues_now(call.console.backends)
    if moment.is_away:
        raise QueueUnavailable(moment.why_not)
    return PageOf(items=moment.processes)


def get_shared_queues(call: Call) -> PageOf[SharedQueue]:
    """The queues that run crawls of this store, in one part; one of them is the console's own.

    A queue that was not heard for a minute is listed while a crawl names it.
    """
    return PageOf(items=queues_now(call.console.backends).queues)


def register_journal(api: Api) -> None:
    """Adds the addresses of events, actions (audit), and long operations."""
    api.ask("get_events", "/events", events)
    api.ask("get_audit", "/audit", audit)
    api.ask("get_operations", "/operations", operations)
    api.ask("get_operation", "/operations/<int:seq>", find_operation)
