"""What the queue knows about one URL: its state in each crawl, and the rules of its host.

A queue at rest is opened for the time of reading only: a `run` that begins meanwhile is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from crawlclean.cleaning.errors import ServiceError
from crawlclean.storage.crawl_types import CrawlState, Step
from crawlclean.storage.live_state import HostWait
from crawlclean.storage.store.hosts import KeptRules
from crawlclean.workers.jobs.url_classes import queued_rules
from crawlclean.workers.operations.backends import QueueSide
from crawlclean.workers.operations.controlling.crawl_states import pause_text, paused_host

if TYPE_CHECKING:  # the queue's client is slow to import, and absent without its extra
    from crawlclean.storage.queue.frontier import Frontier

SPILLED = "pending, in the store"
DUE_AGAIN = "due again"
WAITING = frozenset({"pending", "retry", SPILLED, DUE_AGAIN})


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedUrl:
    """A URL in the queue of a crawl.

    Attributes:
        state: ``pending``, ``leased``, ``queued``, ``claimed``, ``retry``, or ``pending, in the
            store``, ``due again``.
        steps: Its decision log so far, oldest first.
        waits_for: What must change before a pending URL is fetched: ``--max-pages 5 is reached``;
            ``""`` when nothing must.
        wait: What its host waits for at this moment, then; else None.
        at: The moment.
    """

    state: str
    steps: tuple[Step, ...] = ()
    waits_for: str = ""
    wait: HostWait | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedCrawl:
    """What the queue knows of a crawl, for one URL.

    Attributes:
        urls: The URL by page id, where the queue holds it.
        seen: Page ids that were offered to the crawl at some time.
        more_hosts: Hosts in scope that its seeds redirect to.
        rules: The rules of the URL's host; None when the crawl does not know the host.
    """

    urls: Mapping[str, QueuedUrl] = field(default_factory=dict)
    seen: Collection[str] = ()
    more_hosts: Collection[str] = ()
    rules: KeptRules | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueAnswer:
    """What the queue knows about a URL.

    Attributes:
        crawls: By name; a crawl that the queue has lost is left out.
        why_not: Why the queue was not read, ``the queue is lost``; ``""`` when it was.
    """

    crawls: Mapping[str, QueuedCrawl] = field(default_factory=dict)
    why_not: str = ""


def read_queue(
    opened: Callable[[], AbstractContextManager[QueueSide]], host: str, page_ids: Sequence[str]
) -> QueueAnswer:
    """Returns what the queue knows about a URL.

    Args:
        opened: Opens the queue.
        host: Lower-case authority of the URL.
        page_ids: Its ids, as page and as image.
    """
    try:
        with opened() as side:
            if side.frontier is None:
                return QueueAnswer(why_not=side.why_not)
            frontier, is_running = side.frontier, side.is_running
            knowing = set(frontier.crawls_of(host))
            return QueueAnswer(
                crawls={
                    crawl: _crawl(
                        frontier, crawl, host if crawl in knowing else "", page_ids, is_running
                    )
                    for crawl in frontier.crawl_ids()
                }
            )
    except ServiceError as error:
        return QueueAnswer(why_not=str(error))


def _crawl(
    frontier: Frontier, crawl: str, host: str, page_ids: Sequence[str], is_running: bool
) -> QueuedCrawl:
    """``host`` is ``""`` for a crawl that does not know the URL's host."""
    more_hosts = frontier.more_hosts(crawl)
    if not host:
        return QueuedCrawl(more_hosts=more_hosts)
    seen = [pid for pid in page_ids if frontier.has_seen(crawl, pid)]
    urls = {
        pid: found
        for pid in page_ids
        if (found := _url(frontier, (crawl, host), pid, is_running, is_seen=pid in seen))
    }
    rules = queued_rules(frontier, crawl, host)
    return QueuedCrawl(urls=urls, seen=seen, more_hosts=more_hosts, rules=rules)


def _url(
    frontier: Frontier, place: tuple[str, str], pid: str, is_running: bool, *, is_seen: bool
) -> QueuedUrl | None:
    """``place`` is crawl and host."""
    crawl, host = place
    found = frontier.trace(crawl, pid, host)
    if found is None:
        if not (is_seen and frontier.has_overflow(crawl, host)):
            return None
        found = SPILLED, ()  # or ended long ago: the store knows
    state, steps = found
    state = DUE_AGAIN if state == "revisit" else state
    if state not in WAITING:
        return QueuedUrl(state=state, steps=steps)
    waits_for = _waits_for(frontier, crawl, host, is_running)
    if waits_for:
        return QueuedUrl(state=state, steps=steps, waits_for=waits_for)
    waits = frontier.waits.of([place])
    return QueuedUrl(state=state, steps=steps, wait=waits.hosts[0], at=waits.at)


def _waits_for(frontier: Frontier, crawl: str, host: str, is_running: bool) -> str:
    counts, topic = frontier.counts(crawl), frontier.spec(crawl).topic
    command = f"`topic {topic}`" if topic else "`run` with the same URLs"
    is_at_rest = not is_running or bool(topic and counts.state is CrawlState.STOPPED)
    pause = next((each for each in frontier.pauses() if each.host == host), None)
    noted = f" {pause_text(paused_host(pause))}" if pause else ""
    reasons = [
        (counts.state is CrawlState.PAUSED, f"the crawl is paused (`resume {crawl}`)"),
        (
            counts.budget_left == 0,
            f"--max-pages {frontier.spec(crawl).max_pages} is reached",
        ),
        (bool(pause), f"the host is paused (`resume {host}` ends the pause){noted}"),
        (is_at_rest, f"nothing runs the {'topic' if topic else 'crawl'}; {command} resumes it"),
    ]
    return "; ".join(text for holds, text in reasons if holds)
