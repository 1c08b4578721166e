"""Spills of a topic crawl get the ranks of a newer model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from crawlclean.storage.crawl_types import Discovery
from crawlclean.storage.queue.entries import unpack_features
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.queue.overflow import TopicModel
from crawlclean.storage.sqlite.store import SqliteStore
from tests.kit.queues import Spider
from tests.kit.topic_queues import judge_pages, topic_spec

HOSTS = ("a.example", "b.example", "c.example")


def test_spills_of_a_topic_are_ranked_anew(
    frontier: Frontier, spider: Spider, client: Any, tmp_path: Path
) -> None:
    """The model turns the order round: the URLs that wait in the store are the best now."""
    models: list[TopicModel] = []
    store = SqliteStore(tmp_path / "records.sqlite")
    tail = frontier.overflow(store.spills, 40, lambda _crawl: models[0] if models else None)
    frontier.open_crawl(topic_spec("t", slots=1))
    for host in HOSTS:
        found = [Discovery(url=f"http://{host}/{n}", rank=300 + n) for n in range(200)]
        frontier.add("t", [replace(each, features=(n,)) for n, each in enumerate(found)])
    while tail.round():
        pass
    before = frontier.counts("t")
    assert before.spilled > 500
    models.append((1, lambda links: [600 - unpack_features(packed)[0] for _, packed in links]))
    frontier.topics.rerank("t", models[0][1], version=1)
    for _ in range(60):
        tail.round()
    assert set(client.hvals("cc:tv:t")) == {"1"}
    assert client.hlen("cc:tv:t") == client.hlen("cc:tn:t")
    assert frontier.counts("t").pending == before.pending
    leased: list[int] = []
    while len(leased) < 30:
        (lease,) = spider.pages(1)
        leased.append(int(lease.url.rpartition("/")[2]))
        spider.put(lease)
        judge_pages(spider)
        tail.round()
    assert sum(n >= 150 for n in leased) >= 25
    while leases := spider.pages(20):
        leased += [int(lease.url.rpartition("/")[2]) for lease in leases]
        for lease in leases:
            spider.put(lease)
        judge_pages(spider)
        tail.round()
    assert sorted(leased) == sorted([*range(200)] * len(HOSTS))
    store.close()
