"""Topics with their reports, and stories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from workers.answers.stories import StoryLine
from workers.answers.topics import TopicLine, TopicReport
from workers.console.api.paging import Limit, PageOf
from workers.console.api.registry import Api, Call
from workers.console.routes import USUAL_ROWS
from workers.operations.watching.answers import (
    story_answer,
    story_answers,
    topic_answers,
    topic_report,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoriesQuery:
    """Which stories.

    Attributes:
        order: ``newest``: those that began last come first; ``largest``: those with most URLs.
        limit: At most this many rows.
    """

    order: Literal["newest", "largest"] = "newest"
    limit: Limit = USUAL_ROWS


def register(api: Api) -> None:
    """Adds the addresses."""
    api.get("/topics", get_topics, page_of=TopicLine)
    api.get("/topics/<topic>", get_topic, answer=TopicReport)
    api.get("/stories", get_stories, query=StoriesQuery, page_of=StoryLine)
    api.get("/stories/<story>", get_story, answer=StoryLine)


def get_topics(call: Call) -> PageOf[TopicLine]:
    """Every topic, by name."""
    return PageOf(items=topic_answers(call.console.backends))


def get_topic(call: Call, topic: str) -> TopicReport:
    """What a topic has found, half a minute ago at most (`made_at`)."""
    return topic_report(call.console.backends, topic)


def get_stories(call: Call, query: StoriesQuery) -> PageOf[StoryLine]:
    """Stories that several pages tell, as they were half a minute ago at most; in one part."""
    by_size = query.order == "largest"
    return PageOf(items=story_answers(call.console.backends, query.limit, by_size=by_size))


def get_story(call: Call, story: str) -> StoryLine:
    """One story with all its pages."""
    return story_answer(call.console.backends, story)
