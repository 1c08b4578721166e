"""A page of a topic as a story: one row for screens, feeds, reports, the API and webhooks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from urllib.parse import quote

import msgspec

from crawlclean.cleaning.errors import StoreDamaged
from crawlclean.cleaning.json_values import DAMAGE
from crawlclean.cleaning.records import CleanRecord, ImageKind
from crawlclean.cleaning.topics.relevance import ConceptHit, Parts, judge, text_of
from crawlclean.cleaning.topics.topic import Taught, Topic, plain
from crawlclean.storage.store.pictures import image_id
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.stories import Story
from crawlclean.storage.topic_types import JudgedPage, TopicJudgement, TopicRow
from crawlclean.workers.answers.topics import FoundStory

EXCERPT_CHARS = 500  # two paragraphs: a message for people shows no more
MOST_ALSO = 20  # other pages of the story: a message has some kilobytes
RASTER = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp", "image/avif"})
"""Pictures that are shown: an SVG image is a document."""

_PARTS = msgspec.json.Decoder(Parts)


def parts_of(judgement: TopicJudgement) -> Parts:
    """Returns why a page has its relevance.

    Raises:
        StoreDamaged: This program never wrote the reasons.
    """
    try:
        return _PARTS.decode(judgement.parts) if judgement.parts else Parts()
    except DAMAGE as error:
        raise StoreDamaged(f"a stored judgement cannot be read: {error}") from error


def found_story(
    store: Store, page: JudgedPage, topic: TopicRow | None, told: Story | None, copies: int = 0
) -> FoundStory | None:
    """Returns a judged page as a story; None when its record is purged.

    Args:
        store: Has its record.
        page: The page.
        topic: The topic; None: it was deleted.
        told: The story that it tells with others.
        copies: Other relevant pages of the topic that tell it.
    """
    record = store.records.get(page.page_id, page.crawl_id)
    if record is None:
        return None
    text = text_of(record)
    whole = plain(f"{record.title}\n{text}")
    others = [each.url for each in told.pages if each.url != page.url] if told else []
    return FoundStory(
        id=message_id(page.judgement.topic, page.page_id),
        topic=page.judgement.topic,
        page_id=page.page_id,
        url=page.url,
        host=page.host,
        title=record.title,
        author=record.author or "",
        relevance=page.judgement.relevance,
        published_at=record.published_at,
        fetched_at=page.fetched_at,
        language=record.language or "",
        excerpt=text[:EXCERPT_CHARS],
        body_chars=len(record.body),
        words=tuple(words_on(_query_of(topic.packed), record.title, text)) if topic else (),
        like=tuple(term for term in parts_of(page.judgement).terms if term in whole),
        story=told.story_id if told else None,
        copies=copies,
        also=tuple(others[:MOST_ALSO]),
        picture=_picture(store, page.judgement.topic, record),
        mark=page.mark,
        is_read=page.read_at is not None,
    )


def message_id(topic: str, page_id: str) -> str:
    """Names the message about a page of a topic: ``quake:4f11...``, ``%E5%9C%B0%E9%9C%87:4f11...``.

    It is a header: ASCII, because servers read others in several ways and no signature fits then,
    and without the full stop that ends the id in what is signed.
    """
    return f"{quote(topic, safe='').replace('.', '%2E')}:{page_id}"


@lru_cache(maxsize=8)
def _query_of(packed: bytes) -> Topic:
    """The query of a topic alone: without examples and marks a page takes a fifth of the time."""
    topic = Topic.from_bytes(packed)
    return msgspec.structs.replace(topic, terms={}, taught=Taught(), examples=(), excluded=())


def words_on(query: Topic, title: str, text: str) -> Iterator[str]:
    """Yields the words of a query that stand on a page, by the rule that judges pages."""
    names = {name.text: name.words for concept in query.concepts for name in concept.names}
    whole = plain(f"{title}\n{text}")
    for hit in judge(query, title, text).parts.concepts:
        if hit.share:
            yield from words_of(hit, names, whole)


def words_of(hit: ConceptHit, names: Mapping[str, tuple[str, ...]], whole: str) -> tuple[str, ...]:
    """What is found of a concept: its name, or its words where they stand apart.

    Args:
        hit: A concept that is on a page; its name may be cut.
        names: Words of all names of the query.
        whole: The page's text in the form of ``plain``; ``""``: not known.
    """
    full = next((name for name in names if name.startswith(hit.name)), hit.name)
    return (full,) if full in whole else names.get(full, (full,))


def _picture(store: Store, crawl_id: str, record: CleanRecord) -> str | None:
    """The first content image of a record that is stored, as a topic's crawl keeps them."""
    for image in record.images:
        if image.kind is ImageKind.CONTENT and image.url.startswith("http"):
            found = image_id(image.url)
            if store.pictures.of_image(found, crawl_id):
                return found
    return None
