"""Hosts at one address share its clock and slots, when a crawl asks for that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crawlclean.storage.crawl_types import Lease, PageRole, Politeness, PolitenessPolicy
from crawlclean.storage.queue.frontier import Frontier
from tests.kit.queues import Spider, begin, server_ms, spec, urls

BY_IP = PolitenessPolicy(politeness=Politeness.IP)
IP = "192.0.2.7"
HOSTS = [f"h{i}.example" for i in range(5)]


def locate(spider: Spider, lease: Lease, address: str = IP) -> bool:
    return bool(spider.run(spider.queue.locate(lease, address)))


def answer(spider: Spider, lease: Lease) -> None:
    if lease.role is PageRole.ROBOTS:
        assert spider.put_robots(lease)
    else:
        assert spider.put(lease)


def open_hosts(frontier: Frontier, hosts: list[str] = HOSTS, n: int = 2, **more: Any) -> None:
    frontier.open_crawl(spec("c", policy=BY_IP, **{"delay_ms": 40, **more}))
    for host in hosts:
        frontier.add("c", urls(n, host))


def pass_time(client: Any) -> None:
    """As if every pause were over; who comes first stays."""
    for key in [*client.scan_iter("cc:g:*"), *client.scan_iter("cc:i:*")]:
        client.hset(key, mapping={"clock": 0, "answer_ended": 0})
    for key in ["cc:ready", *client.scan_iter("cc:ir:*"), *client.scan_iter("cc:r:*")]:
        members = client.zrange(key, 0, -1)
        if members:
            client.zadd(key, {member: place for place, member in enumerate(members)})


def test_one_request_at_a_time_and_the_delay_between_for_all_hosts_of_an_address(
    frontier: Frontier, new_spider: Callable[..., Spider], client: Any
) -> None:
    open_hosts(frontier)
    spiders = [new_spider(), new_spider()]
    held: list[tuple[Spider, Lease]] = []
    ended, gaps, order = 0, [0], []
    while frontier.counts("c").pending:
        for spider in spiders:
            for lease in spider.lease():
                if not lease.needs_address or locate(spider, lease):
                    order.append(lease.host)
                    gaps.append(server_ms(client) - ended)
                    held.append((spider, lease))
                    assert lease.attempt == 1
        assert len(held) <= 1
        for spider, lease in held:
            ended = server_ms(client)
            answer(spider, lease)
        held.clear()
    assert min(gaps[2:]) >= 40
    assert len(order) == len(HOSTS) * 3
    assert set(order[:5]) == set(HOSTS), "they take turns"
    frontier.purge("c")
    assert client.zcard(f"cc:ir:{IP}") <= len(HOSTS)
    assert int(client.hget(f"cc:i:{IP}", "held")) == 0
    assert 0 < client.ttl(f"cc:i:{IP}") <= 172_800


def test_a_host_whose_address_is_being_asked_is_given_back_uncounted(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    open_hosts(frontier, HOSTS[:2])
    one, two = spider.lease()
    assert one.needs_address
    assert two.needs_address
    assert locate(spider, one)
    assert not locate(spider, two)
    assert frontier.counts("c").leased == 1
    assert spider.lease() == ()
    answer(spider, one)
    assert 0 < spider.wait_ms() <= 45
    pass_time(client)
    (first,) = spider.lease()
    answer(spider, first)
    pass_time(client)
    (second,) = spider.lease()
    assert {first.host, second.host} == set(HOSTS[:2])
    assert {first.needs_address, second.needs_address} == {False}
    assert {first.attempt, second.attempt} == {1}


def test_slots_are_the_address_s_where_there_is_no_delay(
    frontier: Frontier, spider: Spider
) -> None:
    open_hosts(frontier, n=4, delay_ms=0, slots=3)
    held = [lease for lease in spider.lease() if locate(spider, lease)]
    assert len(held) == 3
    assert spider.lease() == ()
    answer(spider, held[0])
    more = spider.lease()
    assert len(more) == 1
    for lease in [*held[1:], *more]:
        answer(spider, lease)
    assert len(spider.lease()) == 3


def test_an_address_is_asked_for_again_after_an_hour_and_may_be_another(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    open_hosts(frontier, HOSTS[:2], delay_ms=0)
    for lease in spider.lease():
        locate(spider, lease)
        answer(spider, lease)
    pass_time(client)
    client.hset(f"cc:g:{HOSTS[0]}", "address_until", 0)
    lease = next(x for x in spider.lease(1) + spider.lease(1) if x.host == HOSTS[0])
    assert lease.needs_address
    assert locate(spider, lease, "192.0.2.8")
    assert client.hget(f"cc:i:{IP}", "held") in ("0", "1")
    assert client.hget("cc:i:192.0.2.8", "held") == "1"
    assert HOSTS[0] not in client.zrange(f"cc:ir:{IP}", 0, -1)
    answer(spider, lease)
    assert client.hget("cc:i:192.0.2.8", "held") == "0"


def test_a_dead_spider_s_slot_of_an_address_comes_back(
    frontier: Frontier, new_spider: Callable[..., Spider], client: Any
) -> None:
    open_hosts(frontier, HOSTS[:2])
    dead, living = new_spider(), new_spider()
    for lease in dead.lease():
        locate(dead, lease)
    dead.close()
    assert living.lease() == ()
    frontier.sweep()
    assert client.hget(f"cc:i:{IP}", "held") == "0"
    pass_time(client)
    assert len(living.lease()) == 1


def test_another_crawl_of_the_host_keeps_to_the_address_as_well(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    open_hosts(frontier, HOSTS[:2])
    for _ in range(2):
        for lease in spider.lease():
            if not lease.needs_address or locate(spider, lease):
                answer(spider, lease)
        pass_time(client)
    begin(frontier, urls(3, HOSTS[0]), slots=4, crawl_id="d")
    frontier.add("d", urls(3, HOSTS[1]))
    assert len(spider.lease()) == 1


def test_many_hosts_at_one_address_cost_a_lease_no_more_looks(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    hosts = [f"h{i}.example" for i in range(400)]
    open_hosts(frontier, hosts, n=1)
    for host in hosts:  # as if all had been located
        client.hset(
            f"cc:g:{host}", mapping={"address": IP, "address_until": 10**15, "robots_until": 10**15}
        )
    assert sum(len(spider.lease()) for _ in range(6)) == 1
    assert client.zcard("cc:ready") == 0
    assert client.zcard(f"cc:ir:{IP}") == 400
    lease_calls = client.info("commandstats")["cmdstat_zrange"]["calls"]
    for _ in range(20):
        assert spider.lease() == ()
    assert client.info("commandstats")["cmdstat_zrange"]["calls"] - lease_calls <= 40
