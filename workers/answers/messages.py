"""What receivers of a topic are told: the body of a webhook's POST."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundStory:
    """A relevant page that tells a story first.

    Attributes:
        id: The same for every try: ``quake:4f1193a0c27be51d0c27be514f1193a0``; a receiver that
            has seen it drops the message. ASCII: of other names the bytes are ``%E5%9C%B0``.
        topic: Name of the topic.
        url: Its URL.
        host: Its host.
        title: Its title; may be empty.
        relevance: 0..1.
        published_at: When it was published; null when unknown.
        fetched_at: End of the response.
        language: Of its body: ``zh``; may be empty.
        excerpt: The first 500 characters of its body.
        body_chars: Characters of its body.
        story: Id of its story (`stories ID`); null while no other page tells it.
        also: Other URLs that tell the story by now, the earliest first, at most 20.
    """

    id: str
    topic: str
    url: str
    host: str
    title: str
    relevance: float
    published_at: datetime | None
    fetched_at: datetime
    language: str
    excerpt: str
    body_chars: int
    story: str | None
    also: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryMessage:
    """What `sender` sends to a webhook: one new relevant story.

    Attributes:
        type: ``topic.story``.
        timestamp: When the page was found relevant.
        data: The story.
    """

    type: str
    timestamp: datetime
    data: FoundStory
