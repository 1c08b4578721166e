"""Topics as the console shows them: a list, and the figures of one topic.

Nothing here reads all pages of a topic: what needs them comes from ``reports.py``, with its time.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from crawlclean.cleaning.errors import NotFound
from crawlclean.storage.topic_types import TopicRow
from crawlclean.workers.answers.notices import ReceiverLine
from crawlclean.workers.answers.topics import TopicReport
from crawlclean.workers.jobs.topics import TopicOrder, order_of
from crawlclean.workers.operations.alerting.receivers import receiver_lines
from crawlclean.workers.operations.parts import Part, Place
from crawlclean.workers.operations.topics.reports import (
    FIRST_S,
    TopicFigures,
    figures_question,
    part_of_topics,
)
from crawlclean.workers.operations.topics.topics import find_topic, seen_topics
from crawlclean.workers.operations.watching.kept_backends import KeptBackends


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicDetails:
    """One topic.

    Attributes:
        row: The topic, with the state that it has now.
        order: What its user asked.
        figures: What was read from all its pages; None: not yet.
        receivers: Who is told of new stories.
        max_pages: Records at which its crawl ends; None: no limit, or not begun.
    """

    row: TopicRow
    order: TopicOrder
    figures: TopicFigures | None
    receivers: Sequence[ReceiverLine]
    max_pages: int | None


def list_entries(
    backends: KeptBackends, after: Place | None, limit: int
) -> Part[tuple[TopicRow, TopicOrder, TopicFigures | None]]:
    """Topics by name with the states that they have now, what was asked, and figures once read.

    Args:
        backends: Queue and store.
        after: 0 and the name of the topic before; None: the first part.
        limit: At most this many.
    """
    try:
        with backends.store() as store:
            part = part_of_topics(backends, store, after, limit)
    except NotFound:  # no crawl yet
        return Part(items=())
    wait_s = FIRST_S / max(1, len(part.items))
    entries = [(row, order_of(row), _figures(backends, row.name, wait_s)) for row in part.items]
    return Part(items=entries, after=part.after)


def find_topic_details(backends: KeptBackends, name: str) -> TopicDetails:
    """Returns one topic.

    Raises:
        NotFound: There is none of this name.
    """
    with backends.store() as store:
        (row,) = seen_topics(backends, [find_topic(store, name)])
        crawl = store.crawls.get(name)
        return TopicDetails(
            row=row,
            order=order_of(row),
            figures=_figures(backends, name),
            receivers=receiver_lines(store, name),
            max_pages=crawl.spec.max_pages if crawl else None,
        )


def _figures(backends: KeptBackends, name: str, wait_s: float = FIRST_S) -> TopicFigures | None:
    with suppress(NotFound):  # deleted meanwhile
        return newest_figures(backends, name, wait_s)
    return None


def newest_figures(
    backends: KeptBackends, name: str, wait_s: float = FIRST_S
) -> TopicFigures | None:
    """The figures of a topic that were read last; None: they are being read for the first time.

    Raises:
        NotFound: There is no such topic.
    """
    return backends.computing.newest(*figures_question(backends, name), wait_s)


def topic_report(backends: KeptBackends, topic: str) -> TopicReport:
    """What a topic has found, when it was read last (`made_at`).

    Raises:
        NotFound: There is no such topic.
    """
    with backends.store() as store:
        find_topic(store, topic)
    return backends.computing.ask(*figures_question(backends, topic)).report
