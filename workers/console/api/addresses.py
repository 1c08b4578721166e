"""What programs may ask: each address with the question that answers it."""

from __future__ import annotations

from crawlclean.workers.answers.making import answer_of
from crawlclean.workers.answers.moments import HeldBack, NowAnswer, QueueAnswer, SignAnswer
from crawlclean.workers.console.api.actions import list_actions
from crawlclean.workers.console.api.registry import Question
from crawlclean.workers.console.holding import said, sentence, sign_words
from crawlclean.workers.operations.alerting.receivers import list_messages, list_receivers
from crawlclean.workers.operations.controlling.crawls import get_crawl, get_crawls, lines_of
from crawlclean.workers.operations.failures import failed_urls, failure_causes, failure_groups
from crawlclean.workers.operations.hosts.classes import url_classes
from crawlclean.workers.operations.hosts.host_models import model_answer, model_versions
from crawlclean.workers.operations.hosts.hosts import host_answer, hosts_by_figure
from crawlclean.workers.operations.pages.browsing import list_pages
from crawlclean.workers.operations.pages.page_versions import page_difference, page_history
from crawlclean.workers.operations.parts import Part
from crawlclean.workers.operations.reading import find_record
from crawlclean.workers.operations.searching import search_records
from crawlclean.workers.operations.topics.reading import list_topic_stories
from crawlclean.workers.operations.topics.reports import list_topics
from crawlclean.workers.operations.topics.stories import find_story, list_stories
from crawlclean.workers.operations.topics.watching import topic_report
from crawlclean.workers.operations.urls.explaining import url_history
from crawlclean.workers.operations.watching.journal import (
    audit,
    events,
    find_operation,
    operations,
)
from crawlclean.workers.operations.watching.kept_backends import KeptBackends
from crawlclean.workers.operations.watching.now.now import Moment, this_moment
from crawlclean.workers.operations.watching.now.series import series
from crawlclean.workers.operations.watching.queues import (
    ask_queue,
    processes,
    shared_queues,
)
from crawlclean.workers.operations.watching.signs.judging import in_order
from crawlclean.workers.operations.watching.signs.signs import all_signs
from crawlclean.workers.operations.watching.space import hosts_room, room_of
from crawlclean.workers.words import Language


def now(backends: KeptBackends) -> NowAnswer:
    """What crawls at this moment, and what holds it back."""
    moment = this_moment(backends)
    return answer_of(
        NowAnswer,
        moment,
        held_back=_held_back(moment),
        queue=QueueAnswer(state=moment.queue_state, why=moment.why_no_queue, queue=moment.queue),
        rates=backends.meter.read(moment.queue) if moment.queue else {},
        crawls=lines_of(backends, moment.crawls),
    )


def signs(backends: KeptBackends) -> Part[SignAnswer]:
    """What somebody should look at, in one part: the worst kind first, mended ones last."""
    return Part(items=[
        answer_of(
            SignAnswer, each, kind=each.kind.value, level=each.level, crawl=each.crawl_id,
            page=each.page, offers=tuple(each.offers),
            text=sign_words(each, Language.ENGLISH).unescape(),
        )
        for each in in_order(all_signs(backends)[0])
    ])  # fmt: skip


def _held_back(moment: Moment) -> HeldBack:
    told = sentence(moment)
    text = said(told, Language.ENGLISH).unescape()
    return HeldBack(level=told.level.value, cause=told.key, text=text)


QUESTIONS: tuple[tuple[str, str, Question], ...] = (
    ("get_now", "/now", now),
    ("get_signs", "/signs", signs),
    ("get_series", "/series", series),
    ("get_queues", "/queues", ask_queue),
    ("get_shared_queues", "/queues/shared", shared_queues),
    ("get_processes", "/processes", processes),
    ("get_crawls", "/crawls", get_crawls),
    ("get_crawl", "/crawls/<crawl>", get_crawl),
    ("get_hosts", "/hosts", hosts_by_figure),
    ("get_host", "/hosts/<host>", host_answer),
    ("get_classes", "/hosts/<host>/classes", url_classes),
    ("get_models", "/hosts/<host>/models", model_versions),
    ("get_model", "/hosts/<host>/models/<int:version>", model_answer),
    ("get_failures", "/failures", failure_groups),
    ("get_failed_urls", "/failures/urls", failed_urls),
    ("get_failure_causes", "/failures/causes", failure_causes),
    ("get_versions", "/versions", page_history),
    ("get_difference", "/versions/difference", page_difference),
    ("get_url", "/urls", url_history),
    ("get_record", "/records", find_record),
    ("get_pages", "/pages", list_pages),
    ("get_search", "/search", search_records),
    ("get_topics", "/topics", list_topics),
    ("get_topic", "/topics/<topic>", topic_report),
    ("get_topic_stories", "/topics/<topic>/stories", list_topic_stories),
    ("get_stories", "/stories", list_stories),
    ("get_story", "/stories/<story>", find_story),
    ("get_events", "/events", events),
    ("get_receivers", "/receivers", list_receivers),
    ("get_messages", "/receivers/messages", list_messages),
    ("get_audit", "/audit", audit),
    ("get_operations", "/operations", operations),
    ("get_operation", "/operations/<int:seq>", find_operation),
    ("get_space", "/space", room_of),
    ("get_host_space", "/space/hosts", hosts_room),
    ("get_actions", "/actions", list_actions),
)
"""Name in the description, path below ``/api/v1``, question; in the order of the documentation."""
