"""Topics as the console's API answers them: as the commands print them, from kept figures."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from crawlclean.workers.answers.topics import TopicLine, TopicReport, TopicStoryLine
from crawlclean.workers.operations.topics.figures import StoryOrder, figures_question
from crawlclean.workers.operations.topics.reports import topic_line
from crawlclean.workers.operations.topics.topics import find_topic
from crawlclean.workers.operations.topics.watching import list_topic_stories, part_of_topics
from crawlclean.workers.operations.watching.kept_backends import KeptBackends


def topic_answers(
    backends: KeptBackends, after: str, limit: int
) -> tuple[Sequence[TopicLine], str]:
    """Returns (lines of topics by name, the name behind which the next part begins or ``""``)."""
    with backends.store() as store:
        rows, following = part_of_topics(backends, store, after, limit)
        return [topic_line(store, row) for row in rows], following


def topic_report(backends: KeptBackends, name: str) -> TopicReport:
    """Returns what a topic has found, as it was read last; waits for the first reading.

    Raises:
        NotFound: There is no such topic.
    """
    with backends.store() as store:
        find_topic(store, name)
    return backends.computing.ask(*figures_question(backends, name)).report


def topic_story_lines(
    backends: KeptBackends,
    name: str,
    order: StoryOrder,
    after: tuple[int, str] | None,
    limit: int,
) -> tuple[Sequence[TopicStoryLine], str, datetime]:
    """Returns stories of a topic as answers, the place behind them, and when they were read.

    Raises:
        NotFound: There is no such topic.
    """
    topic_report(backends, name)
    found = list_topic_stories(backends, name, order, after, limit)
    return found.stories, found.after, found.as_of or datetime.now(UTC)
