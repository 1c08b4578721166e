"""Now: what crawls at this moment."""

from __future__ import annotations

from crawlclean.storage.live_state import HostWait, WaitReason
from crawlclean.workers.answers.moments import DiskSpace, HeldBack, NowAnswer, QueueAnswer
from crawlclean.workers.console.api.registry import Api, Call
from crawlclean.workers.console.holding import sentence
from crawlclean.workers.console.words import Language, say
from crawlclean.workers.operations.failures import cause_answer
from crawlclean.workers.operations.watching.answers import crawl_answers
from crawlclean.workers.operations.watching.now.now import Moment, this_moment


def register(api: Api) -> None:
    """Adds the addresses."""
    api.get("/now", get_now, answer=NowAnswer)


def get_now(call: Call) -> NowAnswer:
    """What crawls at this moment, and what holds it back."""
    backends = call.console.backends
    moment = this_moment(backends)
    return NowAnswer(
        at=moment.at,
        held_back=_held_back(moment),
        queue=queue_answer(moment),
        why_no_store=moment.why_no_store,
        running=moment.running,
        pending=moment.pending,
        rates=backends.meter.read(moment.queue) if moment.queue else {},
        waits=dict(moment.waits),
        crawls=tuple(crawl_answers(backends, moment.crawls, moment.as_of)) if moment.crawls else (),
        causes=tuple(cause_answer(each, moment.as_of) for each in moment.causes),
        disk=DiskSpace(free_bytes=moment.disk.free_bytes, total_bytes=moment.disk.total_bytes)
        if moment.disk
        else None,
        as_of=moment.as_of,
    )


def wait_in_words(wait: HostWait, _at: object) -> str:
    """What a host waits for: ``the delay of its crawl``."""
    return _said(f"wait.{wait.reason.value}")


def queue_answer(moment: Moment) -> QueueAnswer:
    """The queue of a moment."""
    return QueueAnswer(state=moment.queue_state.value, why=moment.why_no_queue, queue=moment.queue)


def _held_back(moment: Moment) -> HeldBack:
    told = sentence(moment)
    values = {
        name: _said(f"wait.{value.value}") if isinstance(value, WaitReason) else value
        for name, value in told.values.items()
    }
    return HeldBack(
        level=told.level.value, cause=told.key, text=_said(f"holding.{told.key}", **values)
    )


def _said(key: str, **values: object) -> str:
    return say(Language.ENGLISH, key, **values).unescape()
