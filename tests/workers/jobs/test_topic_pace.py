"""The floor of a topic crawl moves until it spends the pages an hour that were asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from cleaning.topics.topic import TopicSpec
from storage.crawl_types import CrawlSpec
from storage.queue.frontier import Frontier
from storage.queue.topic_ranks import FLOOR
from storage.sqlite.store import SqliteStore
from workers.jobs.topic_pace import EVERY_S, HIGHEST, STEP, TopicPace
from workers.jobs.topic_rows import TopicOrder, first_version


def test_the_floor_moves_every_minute(frontier: Frontier, client: Any, tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "records.sqlite")
    for name, pages_per_hour in (("fast", 600.0), ("plain", None)):
        spec = TopicSpec(name=name, query="earthquake")
        order = TopicOrder(spec=spec, pages_per_hour=pages_per_hour)
        store.topics.create(first_version(order, ()))
        frontier.open_crawl(CrawlSpec(crawl_id=name, seeds=("http://a.example/",), topic=name))
    gone = first_version(TopicOrder(spec=TopicSpec(name="gone", query="a b c")), ())
    store.topics.create(replace(gone, crawl_id="lost"))
    now = 0.0
    pace = TopicPace(store, frontier, lambda: now)

    def after(seconds: float, stored: int) -> int:
        nonlocal now
        now += seconds
        client.hincrby("cc:c:fast", "stored", stored)
        pace.adjust()
        return frontier.topics.floor("fast")

    assert after(0, 0) == FLOOR
    assert after(EVERY_S - 1, 0) == FLOOR
    assert after(1, 5) == FLOOR + STEP  # 300 an hour
    assert after(EVERY_S, 11) == FLOOR  # 660 an hour
    frontier.topics.set_floor("fast", HIGHEST)
    assert after(EVERY_S, 0) == HIGHEST
    frontier.topics.set_floor("fast", 0)
    assert after(EVERY_S, 100) == 0
    assert frontier.topics.floor("plain") == FLOOR
    store.close()
