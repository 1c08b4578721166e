"""One URL of a host is tried, also while the host is paused: once, politely, nothing beside it."""

from __future__ import annotations

from typing import Any

import pytest

from crawlclean.cleaning.urls.normal_form import page_id
from crawlclean.storage.crawl_types import CrawlState, PageRole, UrlState
from crawlclean.storage.queue.frontier import Frontier
from tests.kit.queues import (
    Spider,
    ack_all,
    assert_at_rest,
    claim_all,
    ended_url,
    fetch_all,
    let_time_pass,
    pause_host,
    server_ms,
    spec,
    urls,
)

HOST = "a.example"
END = ended_url(f"http://{HOST}/0")


@pytest.fixture
def paused(frontier: Frontier, spider: Spider, client: Any) -> None:
    """A crawl with three records and two URLs that wait at a host that is paused."""
    frontier.open_crawl(spec("c"))
    frontier.add("c", urls(3))
    assert fetch_all(spider) == ack_all(frontier, client) == 3
    pause_host(frontier, HOST)
    frontier.add("c", urls(5))
    assert spider.lease() == ()


@pytest.mark.usefixtures("paused")
def test_one_page_of_a_paused_host_is_fetched(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    assert frontier.try_page("c", END)
    (lease,) = spider.lease()
    assert (lease.url, lease.is_revisit) == (END.url, True)
    assert not frontier.try_page("c", END), "it is under way"
    assert spider.put(lease)
    assert spider.lease() == (), "the host is still paused"
    assert [pause.host for pause in frontier.pauses()] == [HOST]
    spider.flush()
    ((job, (page,)),) = claim_all(frontier, client).items()
    state, steps = frontier.tried("c", END.page_id) or ("", ())
    assert state == "claimed"
    assert {"to be tried", "leased", "fetched"} <= {step.step for step in steps}
    assert frontier.ack(job, [(page, UrlState.RECORD)]) == 1
    state, steps = frontier.tried("c", END.page_id) or ("", ())
    assert (state, steps[-1].step, steps[-1].detail) == ("ended", "ended", "record")
    assert frontier.tried("c", page_id(f"http://{HOST}/1")) is None
    assert frontier.counts("c").pending == 2
    frontier.resume_host(HOST)
    assert {lease.url for lease in spider.pages()} == {f"http://{HOST}/3", f"http://{HOST}/4"}


@pytest.mark.usefixtures("paused")
def test_the_clock_of_the_host_and_its_robots_txt_come_first(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    client.hset(f"cc:g:{HOST}", mapping={"clock": server_ms(client) + 60_000, "robots_until": 0})
    frontier.try_page("c", END)
    assert spider.lease() == ()
    let_time_pass(client, HOST)
    (robots,) = spider.lease()
    assert robots.role is PageRole.ROBOTS
    assert spider.lease() == ()
    assert spider.put_robots(robots)
    (lease,) = spider.lease()
    assert lease.url == END.url


@pytest.mark.usefixtures("paused")
def test_an_attempt_that_fails_is_not_repeated(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.try_page("c", END)
    (lease,) = spider.lease()
    spider.nack(lease)
    let_time_pass(client, HOST)
    assert spider.lease() == ()
    assert frontier.counts("c").pending == 3
    assert frontier.try_page("c", END), "asked for once more"
    (lease,) = spider.lease()
    assert lease.attempt == 2


@pytest.mark.usefixtures("paused")
def test_a_trial_ends_with_its_time(frontier: Frontier, spider: Spider, client: Any) -> None:
    frontier.try_page("c", END)
    client.hset(f"cc:g:{HOST}", "trial", f"c {END.page_id} 1700000000000")
    assert spider.lease() == ()
    assert not client.hexists(f"cc:g:{HOST}", "trial")
    frontier.resume_host(HOST)
    assert len(spider.pages()) == 3


@pytest.mark.usefixtures("paused")
def test_nothing_else_of_a_host_that_is_not_paused_is_fetched_before(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.resume_host(HOST)
    frontier.try_page("c", END)
    first, *others = spider.pages()
    assert first.url == END.url
    assert len(others) == 2
    for lease in (first, *others):
        spider.put(lease)
    spider.flush()
    ack_all(frontier, client)
    assert_at_rest(client)


@pytest.mark.usefixtures("paused")
def test_a_crawl_that_is_paused_fetches_nothing(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.set_state("c", CrawlState.PAUSED)
    assert frontier.try_page("c", END)
    assert spider.lease() == ()
    assert not client.hexists(f"cc:g:{HOST}", "trial")


def test_a_visit_of_a_crawl_that_keeps_fresh_is_moved_forward(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("f", END.url, keep_fresh=True))
    assert fetch_all(spider) == ack_all(frontier, client) == 1
    assert frontier.revisits.offer("f", [END]) == 1
    client.zincrby(f"cc:v:f:{HOST}", 3_600_000, END.page_id)
    pause_host(frontier, HOST)
    assert frontier.try_page("f", END)
    (lease,) = spider.lease()
    assert lease.is_revisit
    assert spider.put(lease)
    spider.flush()
    ack_all(frontier, client)
    counts = frontier.counts("f")
    assert (counts.pending, counts.open, counts.done) == (0, 0, 1)
