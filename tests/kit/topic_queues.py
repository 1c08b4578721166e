"""Topic crawls in the queue's tests: pages of a rank, fetched one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from importlib.resources import files
from typing import Any

from redis import Redis

from crawlclean.storage.crawl_types import CrawlSpec, Discovery, PageRole, Scope
from crawlclean.storage.queue.clients import PARTS, SHARED
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.queue.topic_ranks import TopicRanks, owner_of
from tests.kit.queues import Spider, ack_all, spec

JUDGED_FROM = 10  # pages: half of those that may wait


def topic_spec(crawl_id: str = "t", *seeds: str, **more: Any) -> CrawlSpec:
    """A topic crawl without a delay."""
    return spec(crawl_id, *seeds, scope=Scope.TOPIC, topic="storms", **more)


def ranked(host: str, *ranks: int) -> list[Discovery]:
    """A page of the host for each rank: ``/350`` has rank 350."""
    return [Discovery(url=f"http://{host}/{rank}", rank=rank, features=(rank,)) for rank in ranks]


def open_topic(frontier: Frontier, crawl_id: str = "t", **ranks_of: Sequence[int]) -> None:
    """Opens a topic crawl; ``a=(350, 400)`` are pages of a.example."""
    frontier.open_crawl(topic_spec(crawl_id, slots=1))
    for host, ranks in ranks_of.items():
        frontier.add(crawl_id, ranked(f"{host}.example", *ranks))


def judge_pages(spider: Spider) -> None:
    """Ends what was fetched, when so much waits that a topic crawl would wait for the workers."""
    with (
        closing(Redis.from_url(spider.url, decode_responses=True)) as client,
        closing(Frontier(spider.url)) as frontier,
    ):
        if int(client.hget("cc:flight", "pages") or 0) >= JUDGED_FROM:
            spider.flush()
            ack_all(frontier, client)


def next_pages(spider: Spider, most: int = 1000) -> list[str]:
    """Fetches one page after the other; ``a 350`` for each."""
    found: list[str] = []
    while len(found) < most and (leases := spider.lease(1)):
        (lease,) = leases
        if lease.role is PageRole.ROBOTS:
            spider.put_robots(lease)
        else:
            spider.put(lease)
            judge_pages(spider)
            host, path = lease.url.removeprefix("http://").split(".example/")
            found.append(f"{host} {path}")
    return found


def count_pages(topics: TopicRanks, host: str, pages: int, relevant: int) -> None:
    """Counts judged pages of a host as their ack does."""
    shared = files("crawlclean.storage") / "queue" / "lua" / "shared"
    parts = [(shared / f"{part}.lua").read_text("utf-8") for part in (*SHARED, *PARTS["ack"])]
    call = f"count_harvest('t', ARGV[1], ARGV[2], {pages}, {relevant}, {pages})"
    topics._client.eval("".join((*parts, call)), 0, host, owner_of(host))
