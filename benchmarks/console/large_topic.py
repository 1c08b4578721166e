"""A topic with many judged pages, and stories that many of them tell."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from crawlclean.cleaning.topics.topic import TopicSpec
from crawlclean.cleaning.urls.normal_form import page_id
from crawlclean.storage.config import StorageConfig
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState, Outcome
from crawlclean.storage.opening import open_store
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.topic_types import JudgedPage, TopicJudgement
from crawlclean.workers.jobs.topics import TopicOrder, first_version
from tests.kit.outcomes import T0
from tests.storage.store.stories_contract import page, text

TOPIC = "quake"
HOSTS = 800
LARGEST, OTHERS, COPIES = 1_000, 1_000, 3
"""Pages of one story; pages of the others, and pages of each of them."""

AT_ONCE = 2_000
PARTS = (
    '{"q":0.8,"concepts":[{"name":"地震","h":0.5,"title":true,"count":4}],'
    '"terms":["地震","余震"],"nearest":"http://a.example/x"}'
)


def write_topic(data: Path, pages: int) -> str:
    """Stores a topic with so many judged pages, unless it is there; returns its largest story."""
    with closing(open_store(StorageConfig(data=data), create=True)) as store:
        if store.topics.get(TOPIC) is None:
            _create(store)
            for batch in _told(LARGEST + OTHERS):
                store.save(batch)
            rows = list(_judged(pages - LARGEST - OTHERS))
            for start in range(0, len(rows), AT_ONCE):
                store.topics.judge(rows[start : start + AT_ONCE])
        story = store.stories.of_page(page_id("https://h0.example/s/0"))
    assert story is not None  # noqa: S101 - just written
    return story.story_id


def _create(store: Store) -> None:
    spec = TopicSpec(name=TOPIC, query="地震 余震 救援", synonyms=(), excluded=())
    row = first_version(TopicOrder(spec=spec, pages_per_hour=None), [])
    store.topics.create(row)
    seeds = ("http://h0.example/",)
    store.crawls.put(CrawlSpec(crawl_id=TOPIC, seeds=seeds, topic=TOPIC), CrawlState.RUNNING)


def _told(pages: int) -> Iterator[list[Outcome]]:
    """Relevant pages that tell a story with others, 20 a save."""
    batch: list[Outcome] = []
    for n in range(pages):
        story = 0 if n < LARGEST else n // COPIES
        made = page(
            f"/s/{n}",
            text(story),
            host=f"h{n % HOSTS}.example",
            crawl_id=TOPIC,
            at=T0 + timedelta(seconds=30 * n),
        )
        batch.append(replace(made, judgements=(_judgement(0.9),)))
        if len(batch) == 20:
            yield batch
            batch = []
    if batch:
        yield batch


def _judged(pages: int) -> Iterator[JudgedPage]:
    """Pages that no other tells, a fifth of them relevant."""
    for n in range(pages):
        host = f"h{n % HOSTS}.example"
        url = f"http://{host}/p/{n}.html"
        yield JudgedPage(
            page_id=page_id(url),
            crawl_id=TOPIC,
            url=url,
            host=host,
            title=f"页面 {n}",
            fetched_at=T0 + timedelta(seconds=12 * n),
            at=T0 + timedelta(seconds=12 * n),
            judgement=_judgement(round((n * 7919 % 10_007 / 10_007) ** 3, 4)),
        )


def _judgement(relevance: float) -> TopicJudgement:
    return TopicJudgement(
        topic=TOPIC,
        version=1,
        relevance=relevance,
        label=relevance,
        is_relevant=relevance >= 0.5,
        parts=PARTS,
    )
