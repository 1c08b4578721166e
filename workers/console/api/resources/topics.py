"""Topics with their reports, and stories."""

from __future__ import annotations

from crawlclean.workers.console.api.registry import Api
from crawlclean.workers.operations.topics.reports import list_topics
from crawlclean.workers.operations.topics.stories import find_story, list_stories
from crawlclean.workers.operations.topics.watching import list_topic_stories, topic_report


def register(api: Api) -> None:
    """Adds the addresses."""
    api.ask("get_topics", "/topics", list_topics)
    api.ask("get_topic", "/topics/<topic>", topic_report)
    api.ask("get_topic_stories", "/topics/<topic>/stories", list_topic_stories)
    api.ask("get_stories", "/stories", list_stories)
    api.ask("get_story", "/stories/<story>", find_story)
