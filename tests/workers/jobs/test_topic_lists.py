"""A list is learned by the links to the topic that it adds: its text says nothing."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from crawlclean.cleaning.document.document import RawPage
from crawlclean.cleaning.page import clean
from crawlclean.cleaning.topics.relevance import build_topic
from crawlclean.cleaning.topics.topic import Topic, TopicSpec
from crawlclean.storage.crawl_types import Outcome
from crawlclean.storage.queue.entries import RANK_SCORE
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.workers.jobs.topics import CrawlTopic, first_model
from crawlclean.workers.jobs.url_classes import learn_classes
from tests.kit.outcomes import HOST, make_outcome
from tests.kit.queues import spec
from tests.kit.topic_queues import ranked, topic_spec
from tests.kit.web import html

LAMPS = {f"/a/{n}.html": f"灯塔日志第{n}号" for n in range(6)}
ROOMS = {f"/r/{n}.html": f"客房第{n}间" for n in range(6)}


def judged(
    topic: CrawlTopic, links: Mapping[str, str], *paragraphs: str, path: str = "/list/1.html"
) -> Outcome:
    made = make_outcome(path)
    page = html("列表", *paragraphs, links=links).encode()
    record = clean(RawPage.from_bytes(made.queued.url, page, "text/html"))
    return topic.with_judgement(replace(made, record=record))


@pytest.fixture(scope="module")
def lamps() -> Topic:
    return build_topic(TopicSpec(name="lamps", query="灯塔"))


@pytest.fixture
def topic(lamps: Topic) -> CrawlTopic:
    return CrawlTopic(lamps, first_model(lamps))


@pytest.mark.parametrize(("new", "label"), [(0, 0.0), (1, 0.25), (2, 0.5), (6, 0.5)])
def test_two_new_links_to_the_topic_make_a_list_as_good_as_a_hub(
    topic: CrawlTopic, new: int, label: float
) -> None:
    outcome = judged(topic, LAMPS | ROOMS)
    found = topic.named_links(outcome)
    assert {url.partition("/a/")[2] for url in found} == {f"{n}.html" for n in range(6)}
    (before,) = outcome.judgements
    (after,) = topic.with_new_links(outcome, new).judgements
    assert after.label == pytest.approx(max(before.label, label))
    assert (after.relevance, after.is_relevant) == (before.relevance, False)


def test_a_list_without_a_word_of_the_topic_is_what_its_text_is(topic: CrawlTopic) -> None:
    assert topic.named_links(judged(topic, ROOMS)) == {}


def test_an_article_is_judged_by_its_text(topic: CrawlTopic) -> None:
    text = "第{n}座灯塔建于{n}00年前,守塔人每晚点亮灯塔,船只靠灯塔的光进港,日志记下了第{n}天的风。"
    link = '参看<a href="/a/1.html">灯塔日志</a>一文,其中有更多关于海岬与守塔人的记录,历年的风。'
    outcome = judged(topic, {}, *[text.format(n=n) for n in range(2, 9)], link, path="/a/9.html")
    assert outcome.record is not None
    assert outcome.record.outlinks
    assert topic.named_links(outcome) == {}
    assert outcome.judgements[0].label > 0.5


@pytest.mark.parametrize("is_topic", [False, True])
def test_kinds_of_urls_order_no_topic(
    frontier: Frontier, client: Any, tmp_path: Path, is_topic: bool
) -> None:
    """At the eighth page of a host its links went before those of all other hosts."""
    order = topic_spec("c") if is_topic else spec("c")
    frontier.open_crawl(order)
    frontier.add("c", ranked(HOST, *range(700, 720)))
    frontier.classes.pin(HOST, "/{n}", "thread")
    with closing(SqliteStore(tmp_path / "records.sqlite")) as store:
        store.save([make_outcome(f"/{n}", crawl_id="c", text=f"{n}号。") for n in range(1, 21)])
        learn_classes(frontier, store, order, HOST)
    key = f"cc:q:c:{HOST}"
    ranks = [
        client.zcount(key, rank * RANK_SCORE, (rank + 1) * RANK_SCORE - 1) for rank in (33, 710)
    ]
    assert ranks == ([0, 1] if is_topic else [20, 0])
