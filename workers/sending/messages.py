"""Makes the message about a page of the outbox, and delivers it to the receiver it is for."""

from __future__ import annotations

import time
from urllib.parse import quote

from crawlclean.storage.store.protocol import Store
from crawlclean.storage.topic_types import OutboxRow, Receiver, ReceiverKind
from crawlclean.workers.answers.messages import FoundStory, StoryMessage
from crawlclean.workers.answers.schema import encode
from crawlclean.workers.sending.webhook import Result, Webhook

TYPE = "topic.story"
EXCERPT_CHARS = 500
MOST_ALSO = 20
COMMAND_IS_GONE = "not run any more: set a webhook (--edit --webhook URL --no-command)"


def message_of(store: Store, row: OutboxRow) -> StoryMessage | None:
    """Returns the message; None when the page is purged, or is not relevant any more."""
    page = store.topics.page(row.topic, row.page_id)
    if page is None or not page.judgement.is_relevant:
        return None
    record = store.records.get(page.page_id, page.crawl_id)
    if record is None:
        return None
    story = store.stories.of_page(page.page_id)
    others = [each.url for each in story.pages if each.url != page.url] if story else []
    return StoryMessage(
        type=TYPE,
        timestamp=row.at,
        data=FoundStory(
            id=message_id(row.topic, row.page_id),
            topic=row.topic,
            url=page.url,
            host=page.host,
            title=record.title,
            relevance=page.judgement.relevance,
            published_at=record.published_at,
            fetched_at=record.fetched_at,
            language=record.language or "",
            excerpt=record.body[:EXCERPT_CHARS],
            body_chars=len(record.body),
            story=story.story_id if story else None,
            also=tuple(others[:MOST_ALSO]),
        ),
    )


def message_id(topic: str, page_id: str) -> str:
    """Names the message about a page of a topic: ``quake:4f11...``, ``%E5%9C%B0%E9%9C%87:4f11...``.

    It is a header: ASCII, because servers read others in several ways and no signature fits then,
    and without the full stop that ends the id in what is signed.
    """
    return f"{quote(topic, safe='').replace('.', '%2E')}:{page_id}"


def deliver(webhook: Webhook, receiver: Receiver, message: StoryMessage) -> Result:
    """Sends one message; returns how it ended. A command of an older version always fails."""
    if receiver.kind is ReceiverKind.COMMAND:
        return Result(COMMAND_IS_GONE)
    return webhook.send(
        receiver.target,
        message.data.id,
        encode(message),
        int(time.time()),
        is_private=receiver.is_private,
    )
