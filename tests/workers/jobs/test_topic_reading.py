"""A new topic judges what other crawls have stored: in slices, once, and goes on after a kill."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from crawlclean.cleaning.topics.topic import Topic, TopicSpec
from crawlclean.storage.crawl_types import CrawlSpec, Scope
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.topic_types import TopicState
from crawlclean.workers.jobs import topic_adoption as topic_reading
from crawlclean.workers.jobs.topic_adoption import read_stored
from crawlclean.workers.jobs.topics import TopicOrder, first_version, next_version
from tests.kit.outcomes import make_outcome

SEED = "https://portal.example/"
PAGES = 25


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqliteStore]:
    """Pages of an ordinary crawl, every fifth about rescue after an earthquake."""
    monkeypatch.setattr(topic_reading, "AT_ONCE", 10)
    with closing(SqliteStore(tmp_path / "records.sqlite")) as opened:
        opened.save(
            [
                make_outcome(f"/{n}", text="地震救援。" * 9 if n % 5 == 0 else "天气晴。")
                for n in range(PAGES)
            ]
        )
        yield opened


def opened(store: SqliteStore, frontier: Frontier, scope: Scope) -> tuple[Topic, CrawlSpec]:
    order = TopicOrder(spec=TopicSpec(name="quake", query="地震 救援"))
    row = first_version(order, ())
    store.topics.create(row)
    spec = CrawlSpec(crawl_id="quake", seeds=(SEED,), scope=scope, topic="quake", delay_ms=0)
    frontier.open_crawl(spec)
    return Topic.from_bytes(row.packed), spec


def allows(_host: str, _url: str) -> bool:
    return True


def test_stored_pages_are_adopted_once(store: SqliteStore, frontier: Frontier) -> None:
    topic, spec = opened(store, frontier, Scope.TOPIC)
    assert read_stored(store, frontier, topic, spec, allows) == PAGES // 5
    pages = store.topics.newest("quake", 99)
    assert sorted(int(urlsplit(page.url).path[1:]) for page in pages) == [0, 5, 10, 15, 20]
    assert {page.crawl_id for page in pages} == {"c1"}
    assert all(frontier.has_seen("quake", page.page_id) for page in pages), "not fetched again"
    assert frontier.counts("quake").pending > 0, "their links are followed"
    reading = store.topics.reading("quake")
    assert reading is not None
    assert reading.left == 0
    assert read_stored(store, frontier, topic, spec, allows) == 0


def test_a_host_out_of_scope_is_left_alone(store: SqliteStore, frontier: Frontier) -> None:
    topic, spec = opened(store, frontier, Scope.HOST)
    assert read_stored(store, frontier, topic, spec, allows) == 0
    assert store.topics.newest("quake", 99) == []


def test_a_crawl_with_much_to_do_reads_a_slice_at_a_time(
    store: SqliteStore, frontier: Frontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic, spec = opened(store, frontier, Scope.TOPIC)
    monkeypatch.setattr(topic_reading, "FEW_URLS", 0)
    assert read_stored(store, frontier, topic, spec, allows) == 2
    reading = store.topics.reading("quake")
    assert reading is not None
    assert reading.left == PAGES - 10
    assert read_stored(store, frontier, topic, spec, allows) == 0, "the pause is not over"


class Killed(BaseException):
    """Ends a worker where a kill would."""


def test_a_killed_reading_goes_on(
    store: SqliteStore, frontier: Frontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic, spec = opened(store, frontier, Scope.TOPIC)

    def killed(*_: object) -> bool:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(frontier.topics, "adopt", killed)
        with pytest.raises(Killed):
            read_stored(store, frontier, topic, spec, allows)
    read_stored(store, frontier, topic, spec, allows)
    pages = store.topics.newest("quake", 99)
    assert len(pages) == PAGES // 5
    assert all(frontier.has_seen("quake", page.page_id) for page in pages)


def test_other_words_begin_anew(store: SqliteStore, frontier: Frontier) -> None:
    topic, spec = opened(store, frontier, Scope.TOPIC)
    read_stored(store, frontier, topic, spec, allows)
    row = store.topics.get("quake")
    assert row is not None
    marked = next_version(row, TopicOrder(spec=TopicSpec(name="quake", query="地震 救援")), ())
    store.topics.replace(marked)
    assert read_stored(store, frontier, Topic.from_bytes(marked.packed), spec, allows) == 0
    weather = next_version(marked, TopicOrder(spec=TopicSpec(name="quake", query="天气")), ())
    store.topics.replace(replace(weather, state=TopicState.RUNNING))
    found = read_stored(store, frontier, Topic.from_bytes(weather.packed), spec, allows)
    assert found == PAGES - PAGES // 5
