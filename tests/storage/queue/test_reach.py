"""A machine that does not reach a host leaves it to machines that do (ADR 48)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from crawlclean.storage.crawl_types import (
    Lease,
    LeaseDecision,
    PageRole,
    Politeness,
    PolitenessPolicy,
    Unreachable,
)
from crawlclean.storage.queue.frontier import Frontier
from tests.kit.queues import Spider, assert_at_rest, begin, let_time_pass, server_ms, urls

HOST = "a.example"
G = f"cc:g:{HOST}"
COUNTS, ELSEWHERE, WAITS = LeaseDecision.COUNTS, LeaseDecision.ELSEWHERE, LeaseDecision.WAITS


def on(machine: str, spider: Spider) -> Spider:
    """A spider of the same queue on another machine; it lives from its first lease on."""
    found = Spider(spider.url)
    found.queue.session = f"{machine}.1.0a1b2c3d"
    found.run(found.queue.renew())
    return found


@pytest.fixture
def left(frontier: Frontier, spider: Spider) -> Iterator[Spider]:
    """A spider on the machine ``left``; the crawl has 30 pages of one host."""
    begin(frontier, urls(30))
    found = on("left", spider)
    yield found
    found.close()


@pytest.fixture
def right(left: Spider) -> Iterator[Spider]:
    """Another one, on ``right``."""
    found = on("right", left)
    yield found
    found.close()


def fail(spider: Spider, lease: Lease, suspect: Unreachable = Unreachable.HOST) -> LeaseDecision:
    found: LeaseDecision = spider.run(spider.queue.excuse(lease, suspect, "dns: no such name"))
    return found


def leave_to_others(left: Spider, right: Spider, client: Any) -> Lease:
    """``right`` has an answer of the host, ``left`` gets none; returns the lease that failed."""
    (page,) = right.pages(1)
    assert right.put(page)
    (lease,) = left.lease(1)
    assert fail(left, lease) is ELSEWHERE
    let_time_pass(client, HOST)
    return lease


@pytest.mark.parametrize("suspect", [Unreachable.HOST, Unreachable.NAME])
def test_a_host_that_others_reach_is_left_to_them(
    left: Spider, right: Spider, frontier: Frontier, client: Any, suspect: Unreachable
) -> None:
    (page,) = right.pages(1)
    assert right.put(page)
    (lease,) = left.lease(1)
    assert fail(left, lease, suspect) is ELSEWHERE
    let_time_pass(client, HOST)
    assert left.wait_ms() >= 250, "it does not ask all the time"
    taken = right.pages(30)
    assert (lease.url, 1) in [(each.url, each.attempt) for each in taken], "no attempt is lost"
    for each in taken:
        assert right.put(each)
    steps = client.hget(f"cc:p:c:{lease.page_id}", "log")
    assert '\telsewhere\t["not_reached","left","dns: no such name"]\n' in steps
    counts = frontier.counts("c")
    assert (counts.pending + counts.queued, counts.leased) == (30, 0)


def test_a_host_nobody_reached_gets_a_second_opinion_and_no_third(
    left: Spider, right: Spider, client: Any
) -> None:
    (robots,) = left.lease(1)
    assert robots.role is PageRole.ROBOTS
    assert fail(left, robots) is ELSEWHERE
    let_time_pass(client, HOST)
    assert left.lease() == ()
    (again,) = right.lease(1)
    assert (again.role, again.attempt) == (PageRole.ROBOTS, 1)
    assert fail(right, again, Unreachable.NAME) is WAITS, "not elsewhere again"


def test_a_host_that_fails_for_all_waits(left: Spider, right: Spider, client: Any) -> None:
    leave_to_others(left, right, client)
    (lease,) = right.lease(1)
    assert fail(right, lease) is WAITS, "it had the last answer itself"


def test_a_machine_takes_the_host_again_when_the_others_are_gone(
    left: Spider, right: Spider, client: Any
) -> None:
    leave_to_others(left, right, client)
    client.zadd("cc:spiders", {right.queue.session: server_ms(client) - 1})
    (lease,) = left.lease(1)
    assert fail(left, lease) is WAITS
    let_time_pass(client, HOST)
    client.hset(G, "wait_until", 0)
    (lease,) = left.lease(1)
    assert left.put(lease)
    assert client.hmget(G, "by", "unable") == ["left", ""], "an answer ends the doubt"


def test_the_doubt_ends_after_a_while(left: Spider, right: Spider, client: Any) -> None:
    leave_to_others(left, right, client)
    machine, until = client.hget(G, "unable").rstrip(";").split()
    assert machine == "left"
    assert 0 < int(until) - server_ms(client) <= 600_000
    client.hset(G, "unable", f"left {server_ms(client) - 1};")
    assert len(left.lease(1)) == 1


def test_spiders_of_one_machine_are_no_second_opinion(left: Spider) -> None:
    beside = on("left", left)
    (page,) = beside.pages(1)
    assert beside.put(page)
    (lease,) = left.lease(1)
    assert fail(left, lease) is WAITS
    beside.close()


def test_other_hosts_are_leased_beside_one_that_is_left(
    left: Spider, right: Spider, frontier: Frontier, client: Any
) -> None:
    for lease in right.pages(30):
        assert right.put(lease)
    frontier.add("c", urls(40)[30:])
    (lease,) = left.lease(1)
    assert fail(left, lease) is ELSEWHERE
    frontier.add("c", urls(3, "b.example"))
    let_time_pass(client, HOST)
    assert {each.host for each in left.lease()} == {"b.example"}


def test_a_host_of_an_address_is_left_too(spider: Spider, frontier: Frontier, client: Any) -> None:
    begin(frontier, urls(3), policy=PolitenessPolicy(politeness=Politeness.IP))
    one, two = on("left", spider), on("right", spider)
    (lease,) = two.lease(1)
    assert two.run(two.queue.locate(lease, "192.0.2.7"))
    assert two.put_robots(lease)
    (lease,) = one.lease(1)
    assert fail(one, lease) is ELSEWHERE
    let_time_pass(client, HOST)
    client.delete("cc:i:192.0.2.7")
    client.zadd("cc:ready", {"@192.0.2.7": 0})
    client.zadd("cc:ir:192.0.2.7", {HOST: 0})
    assert one.lease() == ()
    (lease,) = two.lease(1)
    assert two.put(lease)
    for each in (one, two):
        each.close()


@pytest.mark.usefixtures("right")
def test_nothing_is_left_over(left: Spider, frontier: Frontier, client: Any) -> None:
    (robots,) = left.lease(1)
    assert fail(left, robots) is ELSEWHERE
    let_time_pass(client, HOST)
    frontier.purge("c")
    assert_at_rest(client)
