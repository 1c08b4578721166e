"""What bounds and steers a crawl: its budget, and operators who pause, resume and purge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from crawlclean.cleaning.errors import NotFound
from crawlclean.storage.crawl_types import CrawlState, Discovery, UrlState
from crawlclean.storage.queue import maintenance
from crawlclean.storage.queue.frontier import Frontier
from tests.kit.queues import (
    A,
    B,
    Spider,
    ack_all,
    assert_at_rest,
    begin,
    claim_all,
    fetch_all,
    job_ids,
    let_time_pass,
    pause_host,
    server_ms,
    spec,
    urls,
)

# Budget


@pytest.mark.parametrize("hosts", [1, 40])
def test_budget_is_never_overshot_and_redirects_are_refunded(
    frontier: Frontier, spider: Spider, client: Any, hosts: int
) -> None:
    frontier.open_crawl(spec("c", max_pages=10, slots=3))
    for host in range(hosts):
        frontier.add("c", urls(60 // hosts + 1, f"h{host}.example"))
    redirects = 0
    for _ in range(60):
        counts = frontier.counts("c")
        pages = spider.pages(4)
        assert counts.stored + counts.in_flight + len(pages) <= 10
        for page in pages:
            spider.put(page)
        spider.flush()
        for job, claimed in claim_all(frontier, client).items():
            for fetched in claimed:
                redirect = redirects < 25
                redirects += redirect
                state = UrlState.REDIRECT if redirect else UrlState.RECORD
                frontier.ack(job, [(fetched, state)])
        if not pages:
            break
    counts = frontier.counts("c")
    assert (counts.stored, counts.done, counts.budget_left) == (10, 35, 0)
    assert counts.pending > 0
    assert counts.state is CrawlState.FINISHED  # nothing that the budget allows is left
    assert_at_rest(client)
    frontier.open_crawl(spec("c", max_pages=14, slots=3))
    assert frontier.counts("c").state is CrawlState.RUNNING
    while fetch_all(spider):
        ack_all(frontier, client)
    counts = frontier.counts("c")
    assert (counts.stored, counts.budget_left) == (14, 0)


def test_hosts_held_back_by_the_budget_come_back(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", max_pages=1))
    for host in "abcdefghijklmnopqrstuvwxyz":
        frontier.add("c", urls(1, f"{host}.example"))
    for _ in range(26):
        assert fetch_all(spider) == 1
        assert ack_all(frontier, client, UrlState.FAILED) == 1
    counts = frontier.counts("c")
    assert (counts.failed, counts.state) == (26, CrawlState.FINISHED)


def test_lost_and_repeated_attempts_cost_no_budget(
    frontier: Frontier, new_spider: Callable[..., Spider]
) -> None:
    frontier.open_crawl(spec("c", A, max_pages=1))
    dead, living = new_spider(), new_spider()
    (page,) = dead.pages()
    assert frontier.counts("c").budget_left == 0
    dead.nack(page)
    assert frontier.counts("c").budget_left == 1
    dead.pages()
    dead.close()
    frontier.sweep()
    assert frontier.counts("c").budget_left == 1
    assert len(living.pages()) == 1


# Operators


def test_pause_and_resume_a_crawl(frontier: Frontier, spider: Spider) -> None:
    frontier.open_crawl(spec("c", A))
    (robots,) = spider.lease()
    for state in (CrawlState.PAUSED, CrawlState.STOPPED):
        frontier.set_state("c", state)
        spider.put_robots(robots)
        assert frontier.counts("c").state is state
        assert spider.lease() == ()
        frontier.add("c", urls(2))
        assert spider.lease() == ()
    frontier.set_state("c", CrawlState.RUNNING)
    assert len(spider.lease()) == 3


def test_crawl_whose_last_page_is_acked_while_paused_finishes_when_resumed(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", A))
    fetch_all(spider)
    frontier.set_state("c", CrawlState.PAUSED)
    ack_all(frontier, client)
    assert frontier.counts("c").state is CrawlState.PAUSED
    frontier.set_state("c", CrawlState.RUNNING)
    assert frontier.counts("c").state is CrawlState.FINISHED


def test_finished_crawl_runs_again_only_for_new_urls(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", A))
    fetch_all(spider)
    ack_all(frontier, client)
    frontier.open_crawl(spec("c", A))
    assert frontier.counts("c").state is CrawlState.FINISHED
    frontier.add("c", urls(1))
    assert frontier.counts("c").state is CrawlState.RUNNING
    assert len(spider.lease()) == 1


def test_paused_host_rests_for_every_crawl(frontier: Frontier, spider: Spider) -> None:
    frontier.open_crawl(spec("c", A, B))
    frontier.open_crawl(spec("d", A))
    spider.pages(0)
    pause_host(frontier, "a.example")
    assert {lease.host for lease in spider.pages()} == {"b.example"}
    frontier.add("c", urls(1))
    assert spider.lease() == ()
    frontier.resume_host("a.example")
    assert len(spider.pages()) == 3


def purge_scene(frontier: Frontier, spider: Spider, client: Any) -> None:
    """Crawl ``c`` with URLs in every state on two hosts, crawl ``d`` on one of them."""
    frontier.open_crawl(spec("c", slots=8, max_pages=100))
    begin(frontier, urls(2), slots=8, crawl_id="d")
    for host in ("a.example", "b.example"):
        frontier.add("c", urls(20, host))
        client.hset(f"cc:g:{host}", "robots_until", server_ms(client) + 3_600_000)
    pages = [page for page in spider.pages() if page.crawl_id == "c"]
    by_host = {h: [p for p in pages if p.host == h] for h in ("a.example", "b.example")}
    for held in by_host.values():
        spider.nack(held[0], url_wait_ms=60_000)
        spider.put(held[1])
    spider.flush()
    for job in job_ids(client):
        frontier.claim(job, "w")
    for held in by_host.values():
        spider.put(held[2])  # an open batch
    frontier.open_crawl(spec("e", "http://e.example/"))
    spider.lease()


def test_purge_gives_everything_back(frontier: Frontier, spider: Spider, client: Any) -> None:
    purge_scene(frontier, spider, client)
    assert int(client.hget("cc:flight", "pages")) == 4
    assert frontier.purge("c") == 40
    assert frontier.crawl_ids() == ["d", "e"]
    left = [key for key in client.scan_iter("cc:*:c*") if ":c:" in key or key.endswith(":c")]
    assert left == []
    assert int(client.hget("cc:flight", "pages")) == 0
    assert int(client.hget("cc:flight", "bytes")) == 0
    frontier.purge("e")
    assert client.hget("cc:g:e.example", "robots_leased") is None
    let_time_pass(client, "a.example")
    while fetch_all(spider):
        ack_all(frontier, client)
    frontier.expire_sessions()
    frontier.sweep()
    frontier.sweep()
    while fetch_all(spider):
        ack_all(frontier, client)
    ack_all(frontier, client)
    assert frontier.counts("d").state is CrawlState.FINISHED
    assert frontier.crawl_ids() == ["d"]
    assert not client.exists("cc:c:c")
    assert_at_rest(client)
    frontier.open_crawl(spec("c", A))  # the name is free
    assert frontier.counts("c").pending == 1


def begin_to_purge(
    frontier: Frontier, spider: Spider, client: Any, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Crawl ``c`` while the process that purges it is killed before a step."""
    purge_scene(frontier, spider, client)

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(maintenance.Maintenance, step, killed)
        with pytest.raises(KeyboardInterrupt):
            frontier.purge("c")


@pytest.mark.parametrize("step", ["purge_pages", "_drop_unconfirmed"])
def test_the_housekeeper_completes_a_purge_whose_process_was_killed(
    frontier: Frontier,
    spider: Spider,
    client: Any,
    step: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begin_to_purge(frontier, spider, client, step, monkeypatch)
    frontier.sweep()
    assert client.scard("cc:h:c"), "the process may be at work yet"
    client.zadd("cc:purging", {"c": server_ms(client) - maintenance.LOST_PURGE_MS})
    frontier.sweep()
    left = [key for key in client.scan_iter("cc:*:c*") if ":c:" in key or key.endswith(":c")]
    assert left == []
    assert int(client.hget("cc:flight", "pages")) == int(client.hget("cc:flight", "bytes")) == 0
    assert not client.exists("cc:purging")


def test_a_crawl_is_new_after_a_purge_whose_process_was_killed(
    frontier: Frontier, spider: Spider, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin_to_purge(frontier, spider, client, "purge_pages", monkeypatch)
    frontier.open_crawl(spec("c", A))
    assert frontier.counts("c").pending == 1
    assert frontier.hosts("c") == ["a.example"]
    assert int(client.hget("cc:flight", "pages")) == 0


@pytest.mark.parametrize("step", ["purge_pages", "_drop_unconfirmed", "_forget_traps"])
def test_a_purge_leaves_a_crawl_that_is_created_anew_meanwhile(
    frontier: Frontier,
    spider: Spider,
    client: Any,
    step: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    purge_scene(frontier, spider, client)
    client.hset("cc:ts:c:a.example", "/*", "1")
    do = getattr(maintenance.Maintenance, step)
    opened: list[str] = []

    def opened_first(*arguments: Any) -> Any:
        if not opened:
            opened.append(step)
            frontier.open_crawl(spec("c", A, "http://b.example/"))  # by another process
        return do(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(maintenance.Maintenance, step, opened_first)
        frontier.purge("c")
    assert opened
    assert frontier.crawl_ids() == ["c", "d", "e"]
    assert frontier.counts("c").pending == 2
    assert sorted(frontier.hosts("c")) == ["a.example", "b.example"]
    assert frontier.offer("c", [Discovery(url=A, rank=0)]) == [False], "it is known"
    assert int(client.hget("cc:flight", "pages")) == 0
    assert not client.exists("cc:purging")
    let_time_pass(client, "a.example")
    assert fetch_all(spider), "its URLs are leased"


def test_purge_of_a_host_leaves_the_others(frontier: Frontier, spider: Spider, client: Any) -> None:
    purge_scene(frontier, spider, client)
    before = frontier.counts("c")
    assert frontier.purge("c", "a.example") == 20
    after = frontier.counts("c")
    assert before.open == 40
    assert after.open == 20
    assert int(client.hget("cc:flight", "pages")) == 2
    assert client.zcard("cc:q:c:a.example") == client.zcard("cc:r:c:a.example") == 0
    let_time_pass(client, "a.example", "b.example")
    frontier.expire_sessions()
    frontier.sweep()
    for _ in range(30):
        ack_all(frontier, client)
        fetch_all(spider)
        let_time_pass(client, "b.example")
    counts = frontier.counts("c")
    assert (counts.open, counts.done, counts.state) == (0, 20, CrawlState.FINISHED)
    assert counts.budget_left == 80  # the purged pages were given back
    assert frontier.counts("d").done == 2


def test_purging_the_last_host_finishes_the_crawl(frontier: Frontier, spider: Spider) -> None:
    frontier.open_crawl(spec("c", A))
    spider.pages()
    assert frontier.purge("c", "a.example") == 1
    assert frontier.counts("c").state is CrawlState.FINISHED


def test_results_for_a_purged_crawl_bring_nothing_back(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", A, B))
    one, two = spider.pages()
    spider.put(one)
    (job,) = job_ids(client)
    (page,) = frontier.claim(job, "w")
    client.delete("cc:c:c")  # a purge that has only begun
    spider.put(two)
    frontier.ack(job, [(page, UrlState.RECORD)])
    frontier.expire_sessions()
    frontier.sweep()
    assert not client.exists("cc:c:c")
    with pytest.raises(NotFound):
        frontier.add("c", urls(1))
