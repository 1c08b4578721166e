"""Topics with their reports, and stories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from crawlclean.workers.answers.topics import StoryLine, TopicLine, TopicReport, TopicStoryLine
from crawlclean.workers.console.api.registry import Api, Call, Limit, PageOf, Part, following, place
from crawlclean.workers.console.routes import USUAL_ROWS
from crawlclean.workers.operations.topics.reports import StoryOrder
from crawlclean.workers.operations.topics.watching import (
    topic_answers,
    topic_report,
    topic_story_lines,
)
from crawlclean.workers.operations.watching.answers import story_answer, story_answers

TOPICS, STORIES = "topics", "stories of a topic"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoriesQuery:
    """Which stories.

    Attributes:
        order: ``newest``: those that began last come first; ``largest``: those with most URLs.
        limit: At most this many rows.
    """

    order: Literal["newest", "largest"] = "newest"
    limit: Limit = USUAL_ROWS


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicStoriesQuery(Part):
    """Which stories of a topic.

    Attributes:
        order: ``largest``: those with most relevant pages come first; ``newest``: those found last.
    """

    order: Literal["largest", "newest"] = "largest"


def register(api: Api) -> None:
    """Adds the addresses."""
    api.get("/topics", get_topics, query=Part, page_of=TopicLine)
    api.get("/topics/<topic>", get_topic, answer=TopicReport)
    api.get(
        "/topics/<topic>/stories",
        get_topic_stories,
        query=TopicStoriesQuery,
        page_of=TopicStoryLine,
    )
    api.get("/stories", get_stories, query=StoriesQuery, page_of=StoryLine)
    api.get("/stories/<story>", get_story, answer=StoryLine)


def get_topics(call: Call, query: Part) -> PageOf[TopicLine]:
    """Every topic, by name."""
    behind = place(query.after, TOPICS)
    lines, after = topic_answers(call.console.backends, behind[1] if behind else "", query.limit)
    return PageOf(items=lines, next=following(TOPICS, f"0~{after}" if after else ""))


def get_topic(call: Call, topic: str) -> TopicReport:
    """What a topic has found, when it was read last (`made_at`)."""
    return topic_report(call.console.backends, topic)


def get_topic_stories(call: Call, query: TopicStoriesQuery, topic: str) -> PageOf[TopicStoryLine]:
    """Stories that several relevant pages of a topic tell, at most 10,000 in each order."""
    of = f"{STORIES} {query.order}"
    order, behind = StoryOrder(query.order), place(query.after, of)
    lines, after, as_of = topic_story_lines(
        call.console.backends, topic, order, behind, query.limit
    )
    return PageOf(items=lines, next=following(of, after), as_of=as_of)


def get_stories(call: Call, query: StoriesQuery) -> PageOf[StoryLine]:
    """Stories that several pages tell, as they were half a minute ago at most; in one part."""
    by_size = query.order == "largest"
    return PageOf(items=story_answers(call.console.backends, query.limit, by_size=by_size))


def get_story(call: Call, story: str) -> StoryLine:
    """One story with all its pages."""
    return story_answer(call.console.backends, story)
