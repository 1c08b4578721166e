"""Topic crawls in the queue: weights, hosts, the best URL across hosts, adopted pages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from crawlclean.cleaning.urls.normal_form import page_id
from crawlclean.storage.crawl_types import (
    CrawlState,
    Failure,
    FailureReason,
    FetchResult,
    PageRole,
    UrlState,
)
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.queue.topic_ranks import MOST_HOSTS, owner_of
from tests.kit.queues import (
    A,
    Spider,
    ack_all,
    ended_url,
    let_time_pass,
    pause_host,
    server_ms,
    spec,
    urls,
)
from tests.kit.topic_queues import (
    count_pages,
    judge_pages,
    next_pages,
    open_topic,
    ranked,
    topic_spec,
)

NOT_FOUND = FetchResult(status=404, failure=Failure(reason=FailureReason.HTTP_STATUS, detail="404"))


def test_only_newer_weights_replace_weights(frontier: Frontier) -> None:
    assert not frontier.topics.publish_weights("t", b"w", 1)
    frontier.open_crawl(topic_spec())
    assert frontier.topics.weights("t") == (b"", 0)
    assert frontier.topics.publish_weights("t", b"two", 2)
    assert not frontier.topics.publish_weights("t", b"one", 1)
    assert frontier.topics.weights("t") == (b"two", 2)


def test_hosts_of_a_domain_are_few(frontier: Frontier, client: Any) -> None:
    frontier.open_crawl(topic_spec("t", A))
    topics = frontier.topics
    farm = {f"h{n}.farm.co.uk" for n in range(2 * MOST_HOSTS)}
    taken = topics.take_hosts("t", farm)
    assert len(taken) == MOST_HOSTS
    assert topics.take_hosts("t", farm) == taken == topics.known_hosts("t", farm)
    assert topics.take_hosts("t", {"a.example", "other.co.uk"}) == {"a.example", "other.co.uk"}
    ports = {f"a{n}.ports.co.uk:{8000 + n}" for n in range(30)}
    assert len(topics.take_hosts("t", ports)) == MOST_HOSTS
    addresses = {f"192.0.2.1:{8000 + n}" for n in range(30)}
    assert topics.take_hosts("t", addresses) == addresses
    client.delete("cc:dn:t")  # only a count: made again from the hosts
    assert topics.take_hosts("t", farm) == taken
    frontier.purge("t")
    assert list(client.scan_iter("cc:*:t*")) == []


def test_the_best_url_of_all_hosts_is_leased_first(frontier: Frontier, spider: Spider) -> None:
    open_topic(frontier, a=(350, 420, 900), b=(300, 410), c=(400, 401))
    assert next_pages(spider) == ["b 300", "a 350", "c 400", "c 401", "b 410", "a 420", "a 900"]


def test_hosts_below_the_floor_are_idle(frontier: Frontier, spider: Spider, client: Any) -> None:
    frontier.open_crawl(topic_spec("t", delay_ms=60_000))
    for host, ranks in {"a": (300, 310), "b": (330, 600), "c": (600,)}.items():
        frontier.add("t", ranked(f"{host}.example", *ranks))
    for lease in spider.lease():
        spider.put_robots(lease)
    let_time_pass(client, "a.example", "b.example", "c.example")
    assert next_pages(spider, 2) == ["a 300", "b 330"]

    def a_comes_soon() -> None:
        at = server_ms(client) + 4000
        client.hset("cc:g:a.example", mapping={"clock": at, "answer_ended": 0})
        client.zadd("cc:ready", {"a.example": at})
        client.zadd("cc:top:t", {"a.example": 310})

    let_time_pass(client, "b.example")
    a_comes_soon()
    batch = spider.ask()
    assert (batch.leases, batch.wait_ms) == ((), 500)
    client.hset("cc:c:t", "floor", 400)
    a_comes_soon()
    assert sorted(next_pages(spider)) == ["b 600", "c 600"]
    let_time_pass(client, "a.example")
    assert next_pages(spider) == ["a 310"]


def test_a_better_host_that_does_not_come_is_not_waited_for(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    open_topic(frontier, a=(300, 310), b=(600,))
    for lease in spider.lease():
        spider.put_robots(lease)
    client.hset("cc:g:a.example", "clock", server_ms(client) + 60_000)
    assert next_pages(spider) == ["b 600"]
    let_time_pass(client, "a.example")
    pause_host(frontier, "a.example")
    frontier.add("t", ranked("b.example", 700))
    assert next_pages(spider) == ["b 700"]
    frontier.resume_host("a.example")
    assert next_pages(spider) == ["a 300", "a 310"]


def test_every_tenth_lease_goes_to_a_host_without_a_judged_page(
    frontier: Frontier, spider: Spider
) -> None:
    open_topic(frontier, a=range(200, 240), b=(998,))
    assert next_pages(spider).index("b 998") < 20  # its robots.txt took the first turn


def test_a_host_with_a_judged_page_has_a_lease_by_waiting_time_in_forty(
    frontier: Frontier, spider: Spider
) -> None:
    open_topic(frontier, a=range(200, 300), b=(990, 998))
    count_pages(frontier.topics, "a.example", 1, 1)
    assert "b 990" in next_pages(spider, 20)
    count_pages(frontier.topics, "b.example", 1, 0)
    assert "b 998" not in next_pages(spider, 15)
    assert "b 998" in next_pages(spider, 15)


def test_a_lease_by_waiting_time_looks_at_no_host_twice(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    """Hosts that are due and have judged pages wait by the hundred in a large topic crawl."""
    hosts = {f"h{n}": (900,) for n in range(60)}
    open_topic(frontier, "t", a=range(200, 300), **hosts)
    for host in ("a", *hosts):
        count_pages(frontier.topics, f"{host}.example", 1, 1)
    next_pages(spider, 41)  # all hosts have given robots.txt, and all have been looked at
    client.config_resetstat()
    assert len(next_pages(spider, 50)) == 50
    looks = client.info("commandstats").get("cmdstat_hexists", {}).get("calls", 0)
    assert looks < 60, "five leases by waiting time, and sixty hosts"
    frontier.add("t", ranked("new.example", 950))
    assert "new 950" in next_pages(spider, 25)


@pytest.mark.parametrize("lost", ["best", "top", "due"])
def test_no_url_is_lost_with_the_hints(
    lost: str, frontier: Frontier, spider: Spider, client: Any
) -> None:
    hosts = {f"h{n}": tuple(range(110 + n, 600, 60)) for n in range(20)}
    open_topic(frontier)
    for host, ranks in hosts.items():
        frontier.add("t", ranked(f"{host}.example", *ranks))
    found = set(next_pages(spider, 30))
    assert client.zcard("cc:due:t") == client.zcard("cc:best:t") > 0
    if lost == "due":
        client.zadd("cc:best:t", {"h3.example": 998, "none.example": 101})
        client.zadd("cc:top:t", {"h4.example": 101, "none.example": 101})
    else:
        client.delete(f"cc:{lost}:t")
    found |= set(next_pages(spider))
    assert found == {f"{host} {rank}" for host, ranks in hosts.items() for rank in ranks}
    assert frontier.counts("t").pending == 0


def test_no_page_is_leased_before_others_are_judged(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    open_topic(frontier, a=range(200, 240))
    while leases := spider.lease(1):
        (lease,) = leases
        spider.put_robots(lease) if lease.role is PageRole.ROBOTS else spider.put(lease)
    assert frontier.counts("t").pending == 20
    batch = spider.ask()
    assert (batch.leases, batch.wait_ms) == ((), 500)
    spider.flush()
    assert ack_all(frontier, client) == 20
    assert len(next_pages(spider)) == 20


def test_failed_urls_are_not_waited_for_as_pages_are(frontier: Frontier, spider: Spider) -> None:
    """They are not judged: a web with many dead links would wait for jobs without a page."""
    open_topic(frontier, a=range(200, 260))
    ended = 0
    while leases := spider.lease(1):
        (lease,) = leases
        if lease.role is PageRole.ROBOTS:
            spider.put_robots(lease)
        else:
            ended += 1
            spider.put(lease) if ended % 3 == 0 else spider.put(lease, NOT_FOUND)
    assert ended == 3 * 20
    assert frontier.counts("t").pending == 0


def test_hosts_that_are_gone_come_behind_all_others(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    """Their URLs end without a request, but each takes a lease and a job."""
    open_topic(frontier, a=range(500, 530), gone=(200, 300, 400), b=(600, 900))
    soon = server_ms(client) + 3_600_000
    client.hset("cc:g:gone.example", mapping={"failures": 1, "next_probe": soon})
    frontier.add("t", ranked("gone.example", 210))  # a new link shows the host again
    found = next_pages(spider)
    assert [page for page in found if "gone" in page] == found[-4:]
    assert len(found) == 36
    assert frontier.counts("t").pending == 0


def test_a_host_that_is_gone_is_asked_again(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    open_topic(frontier, gone=(200, 300), b=range(600, 640))
    soon = server_ms(client) + 3_600_000
    client.hset("cc:g:gone.example", mapping={"failures": 1, "next_probe": soon})
    assert all("gone" not in page for page in next_pages(spider, 30))
    client.hset("cc:g:gone.example", "next_probe", 1)  # an hour later
    client.zadd("cc:due:t", {"gone.example": 1})
    assert "gone 200" in next_pages(spider, 11), "by waiting time"


def test_topic_crawls_and_ordinary_crawls_take_turns(frontier: Frontier, spider: Spider) -> None:
    frontier.open_crawl(spec("o", slots=1))
    for host in "abcdef":
        frontier.add("o", urls(10, f"{host}.example"))
    open_topic(frontier, "s", a=range(200, 210), k=range(300, 320))
    open_topic(frontier, "t", b=range(210, 220), k=range(320, 340))
    crawls, pages = [], []
    while leases := spider.lease(1):
        (lease,) = leases
        if lease.role is PageRole.ROBOTS:
            spider.put_robots(lease)
            continue
        crawls.append(lease.crawl_id)
        pages.append(lease.url)
        spider.put(lease)
        judge_pages(spider)
    assert len(pages) == len(set(zip(crawls, pages, strict=True))) == 120
    # Which one has to wait for judgements varies with the time; none waits for the others to end.
    assert min(crawls[:60].count(crawl) for crawl in "ost") >= 6
    assert [frontier.counts(crawl).pending for crawl in "ost"] == [0, 0, 0]


def test_a_host_of_a_topic_serves_an_ordinary_crawl_too(frontier: Frontier, spider: Spider) -> None:
    open_topic(frontier, a=(200, 990), b=(210,))
    assert next_pages(spider, 1) == ["a 200"]
    frontier.open_crawl(spec("o", "http://a.example/seed", slots=1))
    assert "a seed" in next_pages(spider, 2)
    assert set(next_pages(spider)) >= {"a 990"}


def test_a_page_is_not_fetched_for_two_topics_at_once(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    open_topic(frontier, "s", a=(300,))
    open_topic(frontier, "t", a=(300, 310))
    assert sorted(next_pages(spider)) == ["a 300", "a 310"]
    waiting = [crawl for crawl in "st" if frontier.counts(crawl).pending]
    assert len(waiting) == 1
    page = page_id("http://a.example/300")
    found = frontier.trace(waiting[0], page, "a.example")
    assert found
    assert [step.step for step in found[1]] == ["discovered", "held"]
    client.delete(f"cc:fl:{page}")  # as if ten minutes were over
    let_time_pass(client, "a.example")
    assert next_pages(spider) == ["a 300"]


def test_every_url_of_a_frozen_model_is_leased(frontier: Frontier, spider: Spider) -> None:
    """A host of many low links beside one good host that gets new links all the time."""
    open_topic(frontier, low=range(900, 960), good=(200,))
    low = 0
    for number in range(700):
        frontier.add("t", ranked("good.example", 200 + number % 20, 300 + number))
        low += sum(page.startswith("low") for page in next_pages(spider, 1))
    assert low == 60
    frontier.purge("t")


def test_purge_leaves_nothing_of_a_topic(frontier: Frontier, spider: Spider, client: Any) -> None:
    open_topic(frontier, a=(300, 310), b=(320,), c=(800,))
    frontier.topics.publish_weights("t", b"w", 1)
    frontier.topics.take_hosts("t", {"d.example"})
    next_pages(spider, 1)
    frontier.purge("t")
    assert spider.lease() == ()
    left = {key for key in client.scan_iter("*") if ":t:" in f"{key}:" or key == "cc:turn"}
    assert left == set()


def test_adopted_pages_end_without_a_request(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    open_topic(frontier, a=(300, 310, 320, 330))
    assert next_pages(spider, 1) == ["a 300"]
    ids = {n: page_id(f"http://a.example/{n}") for n in (300, 310, 320, 340)}
    adopted = [(page, "a.example") for page in ids.values()]
    frontier.topics.adopt("t", "other", adopted)  # 300 is with a worker
    frontier.add("t", ranked("a.example", 340))
    assert next_pages(spider) == ["a 330"]
    assert ack_all(frontier, client) == 2
    counts = frontier.counts("t")
    assert (counts.pending, counts.done, counts.state) == (0, 5, CrawlState.FINISHED)
    assert client.exists("cc:ad:t") == 0
    frontier.topics.adopt("none", "other", adopted)
    assert not client.exists("cc:c:none")


def test_adopted_pages_that_have_ended_take_no_room(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    open_topic(frontier, a=range(300, 320))
    ended = next_pages(spider, 17)
    spider.flush()
    ack_all(frontier, client)
    pages = [(page_id(f"http://a.example/{each.split()[1]}"), "a.example") for each in ended]
    for _ in range(2):  # visited again and again by their own crawl
        frontier.topics.adopt("t", "other", pages)
        assert client.scard("cc:ad:t") == frontier.counts("t").pending == 3
    assert len(next_pages(spider)) == 3
    frontier.topics.adopt("t", "other", pages)
    assert client.exists("cc:ad:t") == 0
    assert frontier.counts("t").done == 17, "three are with the workers"


def test_a_visit_that_failed_is_repeated_though_its_page_was_adopted(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    url = "http://a.example/300"
    frontier.open_crawl(topic_spec("t", slots=1, keep_fresh=True))
    frontier.add("t", ranked("a.example", 300, 310))
    assert next_pages(spider, 1) == ["a 300"]
    spider.flush()
    ack_all(frontier, client)
    due = replace(ended_url(url), state=UrlState.FAILED)
    frontier.topics.adopt("t", "other", [(due.page_id, "a.example")])
    assert client.exists("cc:ad:t")
    assert frontier.revisits.offer("t", [due]) == 1
    (lease,) = spider.lease(1)
    assert lease.is_revisit
    assert spider.nack(lease)
    frontier.topics.adopt("t", "other", [(due.page_id, "a.example")])
    assert frontier.counts("t").done == 1
    let_time_pass(client, "a.example")
    assert sorted(next_pages(spider)) == ["a 300", "a 310"]


def test_a_lost_topic_is_rebuilt(frontier: Frontier, spider: Spider) -> None:
    rebuilder = frontier.maintenance
    rebuilder.begin(topic_spec("t", slots=1))
    frontier.add("t", ranked("a.example", 400, 300) + ranked("b.example", 350))
    assert next_pages(spider) == []
    hosts = {f"h{n}.farm.co.uk" for n in range(30)}
    assert len(frontier.topics.take_hosts("t", hosts)) == MOST_HOSTS
    rebuilder.finish("t", CrawlState.STOPPED)
    frontier.set_state("t", CrawlState.RUNNING)
    assert next_pages(spider) == ["a 300", "b 350", "a 400"]
    assert len(frontier.topics.take_hosts("t", {*hosts, "x.farm.co.uk"})) == MOST_HOSTS


def test_the_floor_follows_the_pages_an_hour(frontier: Frontier, client: Any) -> None:
    open_topic(frontier, a=(300,))

    def minute(fetched: int, wanted: float) -> int:
        """The floor after a minute of so many pages."""
        frontier.topics.steer("t", wanted)
        client.hincrby("cc:c:t", "fetched", fetched)
        client.hincrby("cc:c:t", "steered_ms", -60_000)
        return frontier.topics.steer("t", wanted)

    assert frontier.topics.steer("t", 600) == 35
    assert [minute(5, 600), minute(10, 600), minute(20, 600)] == [40, 40, 35]
    assert {minute(9, 10_000) for _ in range(90)} >= {445, 450}
    assert client.hget("cc:c:t", "floor") == "450"
    client.hincrby("cc:c:t", "steered_ms", -3_600_000)  # the crawl stood still for an hour
    assert frontier.topics.steer("t", 10) == 450


def test_an_address_stands_for_itself_and_a_host_for_its_registered_domain() -> None:
    assert owner_of("news.example.com.cn:8080") == owner_of("example.com.cn") == "example.com.cn"
    assert owner_of("127.0.0.1:8080") == "127.0.0.1:8080"
    assert owner_of("[::1]:80") == "[::1]:80"
