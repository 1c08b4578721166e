"""A topic that is stored with judged pages and stories, without a crawl that fetched them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from crawlclean.cleaning.topics.topic import TopicSpec
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState, Outcome
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.topic_types import TopicJudgement
from crawlclean.workers.jobs.topics import TopicOrder, first_version
from tests.kit.outcomes import T0
from tests.storage.store.stories_contract import page, text

TOPIC = "quake"
PARTS = (
    '{"q":0.8,"concepts":[{"name":"地震","h":0.5,"title":true,"count":4},'
    '{"name":"海啸","h":0.0,"title":false,"count":0}],'
    '"terms":["余震"],"nearest":"http://a.example/example"}'
)


def store_topic(
    store: Store, stories: int = 3, copies: int = 2, others: int = 4, *, title: str = "地震"
) -> list[Outcome]:
    """Stores topic ``quake``; returns its relevant pages, oldest first.

    Args:
        store: Where.
        stories: Stories that several pages tell.
        copies: Pages of each of them beside the first; story n has one more for each n.
        others: Pages that are not relevant.
        title: Title of every page.
    """
    spec = TopicSpec(name=TOPIC, query=f"地震 {title}", synonyms=(), excluded=())
    assert store.topics.create(first_version(TopicOrder(spec=spec, pages_per_hour=None), []))
    crawl = CrawlSpec(crawl_id=TOPIC, seeds=("https://a.example/",), topic=TOPIC, max_pages=1000)
    store.crawls.put(crawl, CrawlState.RUNNING)
    relevant = [
        judged_page(f"/{story}/{copy}", text(story), 0.9, title, f"h{copy}.example", minute)
        for minute, (story, copy) in enumerate(
            (story, copy) for story in range(stories) for copy in range(copies + 1 + story)
        )
    ]
    plain = [
        judged_page(f"/other/{n}", text(1000 + n), 0.1, title, "h0.example", 500 + n)
        for n in range(others)
    ]
    for each in (*relevant, *plain):
        store.save([each])
    return relevant


def judged_page(
    path: str, body: str, relevance: float, title: str, host: str, minute: int
) -> Outcome:
    """A page that topic ``quake`` has judged, fetched so many minutes after ``T0``."""
    made = page(path, body, host=host, crawl_id=TOPIC, at=T0 + timedelta(minutes=minute))
    assert made.record is not None
    judgement = TopicJudgement(
        topic=TOPIC,
        version=1,
        relevance=relevance,
        label=relevance,
        is_relevant=relevance >= 0.5,
        parts=PARTS,
    )
    record = replace(made.record, title=title)
    return replace(made, record=record, judgements=(judgement,))
