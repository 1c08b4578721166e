"""The sentence of Now: the one thing that holds the crawls back, or that nothing does.

A list of rules in the order in which an operator has to deal with them; the first that holds is the
sentence. A rule is a pure function of the moment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from crawlclean.storage.crawl_types import CrawlState
from crawlclean.storage.live_state import Hold, ProcessRole, WaitReason
from crawlclean.workers.operations.watching.now.now import Moment, QueueState

HALF = 0.5
BEHIND_S = 30.0
"""A job of pages that waits this long: workers are behind, though no limit is reached yet."""


class Level(StrEnum):
    """How urgent a sentence is; also its class in the style sheet."""

    BAD = "bad"  # somebody has to act
    WARN = "warn"  # slower than it could be
    OK = "ok"  # as fast as politeness permits
    REST = "rest"  # nothing runs


@dataclass(frozen=True, slots=True)
class Sentence:
    """What the screen says.

    Attributes:
        level: How urgent it is.
        key: Key of its words behind ``holding.``.
        values: Values for the words; a ``WaitReason`` is put into words, too.
    """

    level: Level
    key: str
    values: Mapping[str, object] = field(default_factory=dict)


Rule = Callable[[Moment], Sentence | None]


def sentence(moment: Moment) -> Sentence:
    """Returns the first sentence that holds."""
    for rule in RULES:
        if found := rule(moment):
            return found
    return Sentence(Level.OK, "full_speed")


def _away(moment: Moment) -> Sentence | None:
    if moment.queue_state is QueueState.AWAY:
        return Sentence(Level.BAD, "queue_away")
    if moment.why_no_store:
        return Sentence(Level.BAD, "store_away")
    if moment.queue and moment.queue.damage:
        return Sentence(Level.BAD, "damaged", {"why": moment.queue.damage})
    return None


def _at_rest(moment: Moment) -> Sentence | None:
    if moment.queue is None:
        return Sentence(Level.REST, "at_rest" if moment.crawls else "no_crawl")
    return None


def _starting(moment: Moment) -> Sentence | None:
    """Who is not heard yet is no trouble before a heartbeat's time has passed."""
    missing = any(rule(moment) for rule in (_no_housekeeper, _no_spider, _no_worker))
    if missing and moment.queue and moment.queue.is_starting:
        return Sentence(Level.REST, "starting")
    return None


def _no_housekeeper(moment: Moment) -> Sentence | None:
    queue = moment.queue
    if queue and moment.running and not queue.of_role(ProcessRole.HOUSEKEEPER):
        return Sentence(Level.BAD, "no_housekeeper")
    return None


def _full(moment: Moment) -> Sentence | None:
    for hold in (Hold.DISK, Hold.MEMORY):
        if moment.queue and hold in moment.queue.holds:
            return Sentence(Level.BAD, f"full_{hold.value}")
    return None


def _no_spider(moment: Moment) -> Sentence | None:
    if moment.queue and moment.pending and not moment.queue.spiders:
        return Sentence(Level.BAD, "no_spider", {"n": moment.pending})
    return None


def _no_worker(moment: Moment) -> Sentence | None:
    queue = moment.queue
    if queue and queue.jobs and not queue.claims and not queue.of_role(ProcessRole.WORKER):
        return Sentence(Level.BAD, "no_worker", {"n": queue.pages_in_flight})
    return None


def _behind(moment: Moment) -> Sentence | None:
    queue = moment.queue
    if queue is None:
        return None
    is_over = {Hold.PAGES, Hold.BYTES} & {*queue.holds}
    oldest = queue.oldest_job_s or 0.0
    if is_over:
        return Sentence(Level.WARN, "backlog", {"n": queue.pages_in_flight, "s": round(oldest)})
    if oldest >= BEHIND_S:
        return Sentence(Level.WARN, "behind", {"s": round(oldest)})
    return None


def _none_running(moment: Moment) -> Sentence | None:
    if moment.running:
        return None
    live = [each for each in moment.crawls if each.counts]
    if any(each.state is CrawlState.PAUSED for each in live):
        return Sentence(Level.WARN, "all_paused")
    if any(each.state is CrawlState.STOPPED for each in live):
        return Sentence(Level.REST, "all_stopped")
    return Sentence(Level.REST, "all_finished" if moment.crawls else "no_crawl")


def _spent(moment: Moment) -> Sentence | None:
    if moment.spent == moment.running:
        return Sentence(Level.WARN, "spent")
    return None


def _waiting(moment: Moment) -> Sentence | None:
    """Over half of the examined hosts wait for one thing that is not the usual one."""
    total = sum(moment.waits.values())
    if not total:
        return None
    reason, hosts = max(moment.waits.items(), key=lambda each: (each[1], each[0]))
    if hosts <= total * HALF:
        return None
    if reason in _POLITE:
        return Sentence(Level.OK, "polite")
    if reason in _FREE:
        return None
    share = round(100 * hosts / total)
    return Sentence(Level.WARN, "waiting", {"share": share, "reason": reason})


_POLITE = frozenset({WaitReason.DELAY, WaitReason.ADDRESS})
_FREE = frozenset(
    {WaitReason.IN_FLIGHT, WaitReason.READY, WaitReason.RANK, WaitReason.IN_STORE,
     WaitReason.NOTHING_LEFT}
)  # fmt: skip

RULES: tuple[Rule, ...] = (
    _away,
    _at_rest,
    _starting,
    _no_housekeeper,
    _full,
    _no_spider,
    _no_worker,
    _behind,
    _none_running,
    _spent,
    _waiting,
)
"""In the order in which they are asked."""
