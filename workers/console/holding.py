"""The sentences of Now and of a topic: the one thing that holds them back, or that nothing does.

Each is a function whose rules stand in the order in which an operator has to deal with them; the
first that holds is the sentence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final

from markupsafe import Markup
from msgspec import Struct

from crawlclean.storage.crawl_types import CrawlState
from crawlclean.storage.live_state import Hold, ProcessRole, WaitReason
from crawlclean.storage.receiver_types import ReceiverKind
from crawlclean.storage.topic_types import TopicState
from crawlclean.workers import formats
from crawlclean.workers.console.strangers_text import plain
from crawlclean.workers.console.words import say, told
from crawlclean.workers.operations.controlling.crawls import CrawlStatus
from crawlclean.workers.operations.topics.reports import TopicFigures
from crawlclean.workers.operations.topics.watching import TopicDetails
from crawlclean.workers.operations.watching.now.now import Moment
from crawlclean.workers.operations.watching.queues import QueueState
from crawlclean.workers.operations.watching.signs import wording
from crawlclean.workers.operations.watching.signs.judging import (
    BEHIND_S,
    Sign,
    SignKind,
)
from crawlclean.workers.words import Language

HALF = 0.5  # of the hosts: fewer do not hold up a crawl
OLD_S = 180.0
"""Figures are kept once a minute: older ones are no look."""


class Level(StrEnum):
    """How urgent a sentence is; also its class in the style sheet."""

    BAD = "bad"  # somebody has to act
    WARN = "warn"  # slower than it could be
    OK = "ok"  # as fast as politeness permits
    REST = "rest"  # nothing runs


class Sentence(Struct, frozen=True):
    """What the screen says.

    Attributes:
        level: How urgent it is.
        key: Key of its words behind ``holding.``.
        values: Values for the words; reasons and kinds are put into words, too.
    """

    level: Level
    key: str
    values: Mapping[str, object] = {}


_TERMS: Final[Mapping[type, str]] = {WaitReason: "wait", SignKind: "sign_kind"}


def said(sentence: Sentence, language: Language) -> Markup:
    """A sentence of Now in words, for HTML."""
    values = {
        name: say(language, f"{_TERMS[type(value)]}.{value}")
        if type(value) in _TERMS
        else plain(value)
        if isinstance(value, str)
        else value
        for name, value in sentence.values.items()
    }
    return say(language, f"holding.{sentence.key}", **values)


def sentence(moment: Moment) -> Sentence:
    """Returns what holds the crawls back at a moment."""
    queue = moment.queue
    if moment.queue_state == QueueState.AWAY:
        return Sentence(Level.BAD, "queue_away")
    if moment.why_no_store:
        return Sentence(Level.BAD, "store_away")
    if queue is None:
        return Sentence(Level.REST, "at_rest" if moment.crawls else "no_crawl")
    if queue.damage:
        return Sentence(Level.BAD, "damaged", {"why": queue.damage})
    has_housekeeper = not moment.running or queue.of_role(ProcessRole.HOUSEKEEPER)
    has_spider = not moment.pending or queue.spiders
    has_worker = not queue.jobs or queue.claims or queue.of_role(ProcessRole.WORKER)
    if queue.is_starting and not (has_housekeeper and has_spider and has_worker):
        # Who is not heard yet is no trouble before a heartbeat's time has passed.
        return Sentence(Level.REST, "starting")
    if not has_housekeeper:
        return Sentence(Level.BAD, "no_housekeeper")
    for hold in (Hold.DISK, Hold.MEMORY):
        if hold in queue.holds:
            return Sentence(Level.BAD, f"full_{hold.value}")
    if not has_spider:
        return Sentence(Level.BAD, "no_spider", {"n": moment.pending})
    if not has_worker:
        return Sentence(Level.BAD, "no_worker", {"n": queue.pages_in_flight})
    oldest = queue.oldest_job_s or 0.0
    if {Hold.PAGES, Hold.BYTES} & {*queue.holds}:
        return Sentence(Level.WARN, "backlog", {"n": queue.pages_in_flight, "s": round(oldest)})
    if oldest >= BEHIND_S:
        return Sentence(Level.WARN, "behind", {"s": round(oldest)})
    if not moment.running:
        return _none_running(moment.crawls)
    if moment.spent == moment.running:
        return Sentence(Level.WARN, "spent")
    return _looked(moment)


def _none_running(crawls: Sequence[CrawlStatus]) -> Sentence:
    live = {each.state for each in crawls if each.counts}
    if CrawlState.PAUSED in live:
        return Sentence(Level.WARN, "all_paused")
    if CrawlState.STOPPED in live:
        return Sentence(Level.REST, "all_stopped")
    return Sentence(Level.REST, "all_finished" if crawls else "no_crawl")


_POLITE = frozenset({WaitReason.DELAY, WaitReason.ADDRESS})
_FREE = frozenset(
    {WaitReason.IN_FLIGHT, WaitReason.READY, WaitReason.RANK, WaitReason.IN_STORE,
     WaitReason.NOTHING_LEFT}
)  # fmt: skip


def _waiting(waits: Mapping[WaitReason, int]) -> Sentence:
    """Whether over half of the examined hosts wait for one thing that is not the usual one."""
    total = sum(waits.values())
    reason, hosts = max(waits.items(), key=lambda each: (each[1], each[0]), default=("", 0))
    if hosts <= total * HALF or reason in _FREE:
        return Sentence(Level.OK, "full_speed")
    if reason in _POLITE:
        return Sentence(Level.OK, "polite")
    return Sentence(Level.WARN, "waiting", {"n": hosts, "of": total, "reason": reason})


def _looked(moment: Moment) -> Sentence:
    """Whether anything is wrong with a crawl, a host or a process: green is a finding."""
    looked = moment.looked
    values: dict[str, object] = {
        "n": looked.hosts,
        "fine": max(0, looked.hosts - looked.in_trouble),
        "crawls": looked.crawls,
        "s": round(looked.oldest_s),
    }
    troubles = [each for each in moment.signs if each.is_trouble]
    if troubles:
        signs = len(troubles) + sum(each.others for each in troubles)
        is_bad = any(each.level == "bad" for each in troubles)
        values |= {"signs": signs, "worst": troubles[0].kind}
        return Sentence(Level.BAD if is_bad else Level.WARN, "signs", values)
    waits = _waiting(moment.waits)
    if waits.level is not Level.OK:
        return waits
    if looked.oldest_s > OLD_S:
        return Sentence(Level.WARN, "not_looked", values)
    return Sentence(Level.OK, waits.key, values)


def sign_words(sign: Sign, language: Language) -> Markup:
    """What a sign says of its host, crawl or process, in words, for HTML."""
    return Markup(wording.sign_words(sign, language, say, told))  # noqa: S704 - escaped by ``say``


# A topic: what keeps it from finding stories, or how many it finds.

LATELY = 300
"""Pages of the crawl that are its last ones: a share of fewer says little."""

FALLS = 1 / 3
"""Of the share over all pages: less among the last ones is a falling harvest."""


def topic_sentence(details: TopicDetails) -> Sentence:
    """Returns what holds a topic back; its words stand behind ``topic_now.``."""
    state, figures = details.row.state, details.figures
    if state is TopicState.PAUSED:
        return Sentence(Level.WARN, "paused")
    for each in details.receivers:
        if each.failing_since:
            known = (ReceiverKind.WEBHOOK, ReceiverKind.COMMAND)
            key = f"{each.kind if each.kind in known else 'receiver'}_fails"
            return Sentence(Level.BAD, key, {"name": each.name, "error": each.last_error})
    if figures is None:
        return Sentence(Level.REST, "reading")
    report, line, most = figures.report, figures.report.topic, details.max_pages
    if not line.pages:
        return Sentence(Level.REST, "no_page")
    if state is TopicState.ENDED:
        return Sentence(Level.REST, "ended", {"n": report.stories, "pages": line.pages})
    if line.outdated:
        return Sentence(Level.WARN, "outdated", {"n": line.outdated})
    if not line.relevant:
        return Sentence(Level.WARN, "none_relevant", {"n": line.pages})
    if most is not None and report.budget.pages >= most:
        return Sentence(Level.WARN, "spent", {"n": most})
    if report.waiting == 0:
        return Sentence(Level.WARN, "nothing_waits")
    return _harvests(figures)


def _harvests(figures: TopicFigures) -> Sentence:
    report = figures.report
    pages = stories = 0
    for step in reversed(report.harvest):
        if pages >= LATELY:
            break
        pages += step.pages
        stories += step.stories
    if not pages:
        return Sentence(Level.OK, "others", {"n": report.stories})
    share, in_all = stories / pages, report.stories / report.topic.pages
    values = {"pages": pages, "share": formats.percent(share), "over_all": formats.percent(in_all)}
    if pages >= LATELY and share < FALLS * in_all:
        return Sentence(Level.WARN, "falls", values)
    return Sentence(Level.OK, "harvests", values)
