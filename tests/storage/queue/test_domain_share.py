"""Dull hosts of a topic crawl are served last, never left out; a domain has a share."""

from __future__ import annotations

from typing import Any

import pytest

from crawlclean.storage.crawl_types import CrawlState
from crawlclean.storage.queue.frontier import Frontier
from tests.kit.queues import Spider, ack_all, ended_url
from tests.kit.topic_queues import (
    count_pages,
    judge_pages,
    next_pages,
    open_topic,
    ranked,
    topic_spec,
)


@pytest.mark.parametrize("dull", [8, 30, 2_000])
def test_no_number_of_dull_pages_ends_a_crawl(
    frontier: Frontier, spider: Spider, client: Any, dull: int
) -> None:
    open_topic(frontier, a=(600, 900), b=(620,))
    for host in ("a.example", "b.example"):
        count_pages(frontier.topics, host, dull, 0)
    assert frontier.topics.harvest("t") == (2 * dull, 0)
    assert next_pages(spider) == ["a 600", "b 620", "a 900"]
    ack_all(frontier, client)
    assert frontier.counts("t").state is CrawlState.FINISHED


@pytest.mark.parametrize("farm_rank", [150, 400, 900])
def test_a_domain_without_harvest_is_served_after_all_others(
    frontier: Frontier, spider: Spider, farm_rank: int
) -> None:
    farm = [f"h{n}.farm.test" for n in range(20)]
    open_topic(frontier, good=range(700, 710))
    for host in farm:
        frontier.add("t", ranked(host, farm_rank))
        count_pages(frontier.topics, host, 3, 0)
    count_pages(frontier.topics, "good.example", 40, 2)
    fetched = [lease.url for _ in range(40) for lease in _one(spider)]
    hosts = [url.split("/")[2].partition(".")[2] for url in fetched]
    assert hosts[:10] == ["example"] * 10, "although every link of the farm looks better"
    assert hosts[10:] == ["farm.test"] * 20, "an order, and no stop"


def _one(spider: Spider) -> list[Any]:
    while leases := spider.lease(1):
        (lease,) = leases
        if lease.role == "robots":
            spider.put_robots(lease)
            continue
        spider.put(lease)
        judge_pages(spider)
        return [lease]
    return []


@pytest.mark.parametrize(
    ("farm", "good", "is_behind"),
    [
        ((30, 0), (30, 1), True),
        ((30, 3), (30, 1), False),  # a better harvest than that of the others
        ((30, 0), (30, 0), True),  # nothing is found anywhere yet
        ((10, 0), (30, 1), False),  # 40 pages are too few to say
        ((6, 0), (70, 1), False),  # less than a tenth
    ],
)
def test_what_a_domain_may_have(
    frontier: Frontier,
    spider: Spider,
    farm: tuple[int, int],
    good: tuple[int, int],
    is_behind: bool,
) -> None:
    open_topic(frontier, good=(700,))
    for number, host in enumerate(("x.farm.example", "y.farm.example")):
        frontier.add("t", ranked(host, 690 + number))
        pages, relevant = farm
        count_pages(frontier.topics, host, pages // 2, relevant if number else 0)
    count_pages(frontier.topics, "good.example", *good)
    found = [lease.host for _ in range(3) for lease in _one(spider)]
    assert (found[0] == "good.example") is is_behind
    assert len(found) == 3


def test_one_host_has_no_share(frontier: Frontier, spider: Spider) -> None:
    """Seeds of four hosts: each is a domain of its own, and none waits for the others."""
    open_topic(frontier, a=(300,), b=(310,), c=(320,), d=(330,))
    for host in "abcd":
        count_pages(frontier.topics, f"{host}.example", 40, 40 if host == "d" else 0)
    assert next_pages(spider) == ["a 300", "b 310", "c 320", "d 330"]


def test_hosts_that_an_older_version_let_sleep_are_served(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    open_topic(frontier, a=(600,), b=(620,))
    client.zadd("cc:sleep:t", {"a.example": 99_999_999_999_999})
    client.zrem("cc:gc:a.example", "t")
    client.zrem("cc:ready", "a.example")
    assert sorted(next_pages(spider)) == ["a 600", "b 620"]
    assert not client.exists("cc:sleep:t")


def test_a_dull_host_is_visited_again_when_its_pages_are_due(
    frontier: Frontier, spider: Spider
) -> None:
    frontier.open_crawl(topic_spec(slots=1, keep_fresh=True))
    frontier.add("t", ranked("b.example", 620))
    assert frontier.revisits.offer("t", [ended_url("http://a.example/1")]) == 1
    count_pages(frontier.topics, "a.example", 50, 0)
    assert sorted(next_pages(spider)) == ["a 1", "b 620"]
