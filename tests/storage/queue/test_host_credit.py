"""Hosts of a topic crawl that sleep, and the share of a registered domain."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from cleaning.urls.normal_form import page_id
from storage.crawl_types import CrawlState, LeaseBatch, UrlState
from storage.host_waits import WaitReason
from storage.queue.frontier import Frontier
from storage.queue.revisits import Visit
from tests.kit.queues import Spider, ack_all
from tests.kit.topic_queues import credit, next_pages, open_topic, ranked, topic_spec


def let_it_be_dry(client: Any) -> None:
    """As if the last 60 records of the crawl had not been relevant."""
    client.hset("cc:c:t", mapping={"dry": 60, "is_dry": "1"})


def test_a_host_without_relevant_pages_sleeps_and_wakes(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    open_topic(frontier, a=(600, 610), b=(620,))
    let_it_be_dry(client)
    topics = frontier.topics
    assert credit(topics, "a.example", 7, 0) is None
    wakes = credit(topics, "a.example", 1, 0)
    assert wakes
    assert topics.asleep("t") == {"a.example": wakes}
    assert topics.rests_until("t") is None
    assert next_pages(spider) == ["b 620"]
    ack_all(frontier, client)
    counts = frontier.counts("t")
    assert (counts.state, counts.open, counts.in_flight) == (CrawlState.RUNNING, 2, 0)
    assert topics.rests_until("t") == wakes
    (wait,) = frontier.waits.of([("t", "a.example")]).hosts
    assert (wait.reason, wait.until) == (WaitReason.ASLEEP, wakes)
    assert 0 < (spider.ask().wait_ms or 0) <= 6 * 3_600_000
    client.zadd("cc:sleep:t", {"a.example": 1})  # as if six hours were over
    assert next_pages(spider) == ["a 600", "a 610"]
    assert credit(topics, "a.example", 3, 0)
    nap = topics.asleep("t")["a.example"] - frontier.waits.of([]).at
    assert timedelta(hours=11) < nap < timedelta(hours=13)
    assert topics.wake("t") == 1
    assert topics.wake("t", ["a.example"]) == 0
    frontier.add("t", ranked("a.example", 700))
    assert next_pages(spider) == ["a 700"]


def test_pages_in_flight_let_a_sleeping_host_sleep_no_longer(frontier: Frontier) -> None:
    open_topic(frontier, a=(600,))
    topics = frontier.topics
    wakes = credit(topics, "a.example", 8, 0)
    assert wakes
    assert credit(topics, "a.example", 2, 0) == wakes
    assert credit(topics, "a.example", 1, 1) is None  # its credit is 1 again
    assert topics.asleep("t") == {}


def test_a_sleeping_host_is_called_when_no_better_url_is_left(
    frontier: Frontier, spider: Spider
) -> None:
    open_topic(frontier, a=(600, 650), b=(630, 640), c=(700,))
    topics = frontier.topics
    assert credit(topics, "a.example", 8, 0)
    assert credit(topics, "c.example", 8, 0)
    assert topics.rests_until("t") is None
    assert next_pages(spider, 3) == ["b 630", "a 600", "b 640"]  # 640 is over 35 below a.example
    frontier.add("t", ranked("c.example", 560))
    assert credit(topics, "a.example", 3, 0)  # with what it got for the call, it sleeps again
    assert next_pages(spider) == ["c 560", "a 650", "c 700"]
    assert topics.rests_until("t") is None


def test_a_crawl_that_finds_nothing_calls_no_host(frontier: Frontier, spider: Spider) -> None:
    open_topic(frontier, a=(600,), b=(620,))
    topics = frontier.topics
    wakes = credit(topics, "a.example", 70, 0, records=49)
    assert (wakes is not None, topics.rests_until("t")) == (True, None)
    assert credit(topics, "b.example", 8, 0, records=1)
    assert next_pages(spider) == []  # 50 records in a row: the crawl rests
    assert topics.rests_until("t") == wakes
    assert credit(topics, "b.example", 1, 1) is None  # a page that was in flight
    assert next_pages(spider) == ["b 620", "a 600"]


def test_a_promising_link_wakes_its_host(frontier: Frontier, spider: Spider, client: Any) -> None:
    open_topic(frontier, a=(600,), b=(620,))
    let_it_be_dry(client)
    assert credit(frontier.topics, "a.example", 8, 0)
    frontier.add("t", ranked("a.example", 800))
    assert next_pages(spider) == ["b 620"]
    frontier.add("t", ranked("a.example", 550))
    assert next_pages(spider) == ["a 550", "a 600", "a 800"]


def test_relevant_pages_keep_a_host_awake(frontier: Frontier) -> None:
    open_topic(frontier, a=(600,))
    topics = frontier.topics
    assert [credit(topics, "a.example", 4, 1) for _ in range(30)] == [None] * 30
    assert credit(topics, "a.example", 10, 10) is None
    assert credit(topics, "a.example", 29, 0) is None
    assert credit(topics, "a.example", 1, 0)  # 30 misses in a row; 8 pages of credit left


def test_a_domain_without_harvest_keeps_to_its_share(frontier: Frontier, client: Any) -> None:
    """A link farm: each of its pages brings the next host, none is relevant."""
    open_topic(frontier, good=(200,))
    topics, farm = frontier.topics, 0
    for number in range(300):
        credit(topics, "good.other", 1, number % 2)
        host = f"h{number % 20}.farm.example"
        if host not in topics.asleep("t"):
            farm += 1
            credit(topics, host, 1, 0)
    assert client.hget("cc:df:t", "farm.example") == f"{farm} 0"
    assert farm <= 25 + 20  # half of the first 50 pages, and one of each host
    client.delete("cc:df:t")
    assert credit(topics, "y.farm.example", 2, 0) is None  # no other domain to be fairer to


def test_a_sleeping_host_is_visited_again_when_its_pages_are_due(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(topic_spec(slots=1, keep_fresh=True))
    let_it_be_dry(client)
    frontier.add("t", ranked("a.example", 600, 610))
    frontier.add("t", ranked("b.example", 620, 630))
    visits = [
        Visit(
            page_id=page_id(f"http://a.example/{n}"),
            url=f"http://a.example/{n}",
            host="a.example",
            was=UrlState.RECORD,
        )
        for n in range(3)
    ]
    assert frontier.revisits.offer("t", visits[:1]) == 1  # waits while the host falls asleep
    assert credit(frontier.topics, "a.example", 8, 0)
    assert sorted(next_pages(spider)) == ["a 0", "b 620", "b 630"]
    assert frontier.revisits.offer("t", visits[1:]) == 2
    (wait,) = frontier.waits.of([("t", "a.example")]).hosts
    assert wait.reason is not WaitReason.ASLEEP
    assert sorted(next_pages(spider)) == ["a 1", "a 2"]
    assert list(frontier.topics.asleep("t")) == ["a.example"]
    assert frontier.counts("t").pending == 2
    ack_all(frontier, client)
    assert credit(frontier.topics, "a.example", 9, 9) is None  # a visit found something
    assert next_pages(spider) == ["a 600", "a 610"]


def test_pause_and_resume_of_a_crawl_that_sleeps(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    open_topic(frontier, a=(600,), b=(610,))
    let_it_be_dry(client)
    credit(frontier.topics, "a.example", 8, 0)
    frontier.set_state("t", CrawlState.PAUSED)
    assert spider.ask() == LeaseBatch(leases=(), wait_ms=None)
    frontier.set_state("t", CrawlState.RUNNING)
    assert next_pages(spider) == ["b 610"]
    assert list(frontier.topics.asleep("t")) == ["a.example"]


def test_a_host_whose_images_wait_stays_awake(frontier: Frontier, spider: Spider) -> None:
    open_topic(frontier, a=(1, 600))
    topics = frontier.topics
    assert credit(topics, "a.example", 8, 0) is None
    assert next_pages(spider)[0] == "a 1"
    assert credit(topics, "a.example", 1, 0)
