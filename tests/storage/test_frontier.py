"""The queue as workers, the sweeper and the command line see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from redis import Redis
from rq.job import Job, JobStatus
from rq.serializers import JSONSerializer

from cleaning.errors import InvalidUrl, NotFound, QueueUnavailable
from cleaning.source.urls import page_id
from storage.base import CrawlState, Discovery, PageRole, QueuedPage, UrlState
from storage.frontier import Frontier
from storage.jobs import CLEAN_PAGES
from tests.storage.conftest import (
    Spider,
    age_jobs,
    job_ids,
    let_time_pass,
    server_ms,
    spec,
    urls,
)

A = "http://a.example/"
B = "http://b.example/"


def fetch_all(spider: Spider, n: int = 100) -> int:
    """Leases and puts up to ``n`` pages; returns how many there were."""
    pages = spider.pages(n)
    for page in pages:
        assert spider.put(page)
    spider.flush()
    return len(pages)


def claim_all(frontier: Frontier, client: Any) -> dict[str, list[QueuedPage]]:
    """Claims every waiting job."""
    return {job: frontier.claim(job, "w") for job in job_ids(client)}


def ack_all(frontier: Frontier, client: Any, state: UrlState = UrlState.RECORD) -> int:
    """Claims and acks everything that waits; returns how many counted."""
    jobs = claim_all(frontier, client)
    return sum(frontier.ack(job, [(page, state) for page in pages]) for job, pages in jobs.items())


def assert_at_rest(client: Any) -> None:
    """Nothing is in flight, and no host holds a slot."""
    assert {name: int(n) for name, n in client.hgetall("cc:flight").items() if int(n)} == {}
    for key in client.scan_iter("cc:g:*", _type="HASH"):
        assert int(client.hget(key, "held") or 0) == 0, key
    assert list(client.scan_iter("cc:l:*")) == []
    assert client.zcard("cc:claims") == 0


# Offering


def test_unknown_crawl(frontier: Frontier) -> None:
    for call in (
        lambda: frontier.add("none", urls(1)),
        lambda: frontier.counts("none"),
        lambda: frontier.spec("none"),
        lambda: frontier.set_state("none", CrawlState.PAUSED),
        lambda: frontier.purge("none"),
        lambda: frontier.pause_host("none.example"),
        lambda: frontier.resume_host("none.example"),
    ):
        with pytest.raises(NotFound):
            call()
    assert frontier.crawl_ids() == []


def test_offering_again_changes_nothing(frontier: Frontier, spider: Spider) -> None:
    frontier.open_crawl(spec("c", A))
    assert frontier.add("c", urls(3)) == 3
    assert frontier.add("c", [*urls(5), *urls(5)]) == 2
    assert frontier.counts("c").pending == 6
    held = spider.pages()
    assert frontier.add("c", urls(5)) == 0
    for page in held:
        spider.put(page)
    assert frontier.add("c", urls(5)) == 0
    assert frontier.has_seen("c", page_id(A))
    assert not frontier.has_seen("c", page_id(B))


def test_crawls_share_no_seen_set(frontier: Frontier) -> None:
    frontier.open_crawl(spec("c", A))
    frontier.open_crawl(spec("d", A))
    assert frontier.counts("c").pending == frontier.counts("d").pending == 1
    assert frontier.crawl_ids() == ["c", "d"]
    assert frontier.crawls_of("a.example") == ["c", "d"]
    assert frontier.crawls_of("b.example") == []


def test_many_urls_go_in_chunks(frontier: Frontier) -> None:
    frontier.open_crawl(spec("c"))
    assert frontier.add("c", urls(2_345)) == 2_345
    counts = frontier.counts("c")
    assert (counts.pending, counts.open, counts.hosts) == (2_345, 2_345, 1)
    assert frontier.add("c", []) == 0


def test_order_is_rank_then_arrival(frontier: Frontier, spider: Spider) -> None:
    frontier.open_crawl(spec("c", delay_ms=0, slots=20))
    for i, rank in enumerate((50, 0, 99, 50, 7, 0)):
        frontier.add("c", [Discovery(url=f"http://a.example/{i}", rank=rank)])
    assert [lease.url[-1] for lease in spider.pages()] == ["1", "5", "4", "0", "3", "2"]


def test_robots_role_cannot_be_offered_as_such(frontier: Frontier, spider: Spider) -> None:
    frontier.open_crawl(spec("c"))
    frontier.add("c", [Discovery(url="http://a.example/robots.txt", role=PageRole.ROBOTS)])
    (page,) = spider.pages()
    assert page.role is PageRole.PAGE


def test_bad_url_is_said(frontier: Frontier) -> None:
    frontier.open_crawl(spec("c"))
    with pytest.raises(InvalidUrl):
        frontier.add("c", [Discovery(url="mailto:a@b.example")])
    assert frontier.counts("c").open == 0


def test_crawl_comes_back_as_it_was_told(frontier: Frontier) -> None:
    told = spec("c", A, B, max_pages=7, max_depth=2, allow_private=True, slots=3)
    frontier.open_crawl(told)
    assert frontier.spec("c") == told
    assert frontier.hosts("c") == ["a.example", "b.example"]


def test_allow_private_travels_with_the_lease(frontier: Frontier, spider: Spider) -> None:
    frontier.open_crawl(spec("c", A, allow_private=True))
    frontier.open_crawl(spec("d", B))
    assert {lease.crawl_id: lease.allow_private for lease in spider.lease()} == {
        "c": True,
        "d": False,
    }


# Jobs and claims


def test_counts_follow_a_page(frontier: Frontier, spider: Spider, client: Any) -> None:
    frontier.open_crawl(spec("c", A))

    def states() -> tuple[int, ...]:
        c = frontier.counts("c")
        return (c.pending, c.leased, c.queued, c.done, c.stored, c.failed, c.in_flight, c.open)

    assert states() == (1, 0, 0, 0, 0, 0, 0, 1)
    (page,) = spider.pages()
    assert states() == (0, 1, 0, 0, 0, 0, 1, 1)
    spider.put(page)
    assert states() == (0, 0, 1, 0, 0, 0, 1, 1)
    (job,) = job_ids(client)
    (queued,) = frontier.claim(job, "w")
    assert states() == (0, 0, 1, 0, 0, 0, 1, 1)
    assert frontier.ack(job, [(queued, UrlState.RECORD)]) == 1
    assert states() == (0, 0, 0, 1, 1, 0, 0, 0)
    assert frontier.ack(job, [(queued, UrlState.RECORD)]) == 0
    assert states() == (0, 0, 0, 1, 1, 0, 0, 0)
    assert frontier.counts("c").state is CrawlState.FINISHED
    assert_at_rest(client)
    assert list(client.scan_iter("cc:p:*")) == list(client.scan_iter("cc:j:*")) == []


def test_claim_gives_new_tokens_once(frontier: Frontier, spider: Spider, client: Any) -> None:
    frontier.open_crawl(spec("c", A, "http://a.example/2"))
    leases = spider.pages()
    for lease in leases:
        spider.put(lease)
    (job,) = job_ids(client)
    pages = frontier.claim(job, "one")
    assert [page.url for page in pages] == [lease.url for lease in leases]
    assert {page.token for page in pages}.isdisjoint(lease.token for lease in leases)
    assert frontier.claim(job, "two") == []
    assert frontier.claim("j999", "two") == []
    assert job_ids(client) == []


def test_pages_may_be_acked_one_by_one(frontier: Frontier, spider: Spider, client: Any) -> None:
    frontier.open_crawl(spec("c", A, "http://a.example/2"))
    fetch_all(spider)
    (job,) = job_ids(client)
    one, two = frontier.claim(job, "w")
    assert frontier.ack(job, [(one, UrlState.RECORD)]) == 1
    assert client.zcard("cc:claims") == 1
    assert frontier.counts("c").state is CrawlState.RUNNING
    assert frontier.ack(job, [(two, UrlState.FAILED)]) == 1
    counts = frontier.counts("c")
    assert (counts.done, counts.stored, counts.failed) == (2, 1, 1)
    assert counts.state is CrawlState.FINISHED
    assert_at_rest(client)


def test_claim_is_kept_alive(frontier: Frontier, spider: Spider, client: Any) -> None:
    frontier.open_crawl(spec("c", A))
    fetch_all(spider)
    (job,) = job_ids(client)
    (page,) = frontier.claim(job, "w")
    frontier.break_claim(job)
    assert frontier.keep_claim(job)
    assert 15_000 < client.zscore("cc:claims", job) - server_ms(client) <= 20_000
    assert frontier.sweep()["claims_lost"] == 0
    frontier.break_claim(job)
    assert frontier.sweep()["claims_lost"] == 1
    assert not frontier.keep_claim(job)
    assert not frontier.mark(job, page.page_id)


def test_dead_worker_loses_nothing(frontier: Frontier, spider: Spider, client: Any) -> None:
    frontier.open_crawl(spec("c", slots=9))
    frontier.add("c", urls(9))
    fetch_all(spider)
    (job,) = job_ids(client)
    pages = frontier.claim(job, "w")
    frontier.ack(job, [(page, UrlState.RECORD) for page in pages[:3]])
    assert frontier.mark(job, pages[4].page_id)
    frontier.break_claim(job)
    assert frontier.sweep()["claims_lost"] == 1
    again = list(claim_all(frontier, client).values())
    assert sorted(len(job) for job in again) == [1, 5]
    alone = next(job for job in again if len(job) == 1)[0]
    assert (alone.url, alone.crashes, alone.poison) == (pages[4].url, 1, False)
    assert {page.crashes for job in again if len(job) == 5 for page in job} == {0}
    counts = frontier.counts("c")
    assert frontier.ack(job, [(page, UrlState.RECORD) for page in pages]) == 0  # it was not dead
    assert frontier.counts("c") == counts
    assert (counts.queued, counts.done) == (6, 3)


def test_old_claim_cannot_ack_through_a_new_job(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", A))
    fetch_all(spider)
    (job,) = job_ids(client)
    (old,) = frontier.claim(job, "w")
    frontier.break_claim(job)
    frontier.sweep()
    (again,) = job_ids(client)
    assert frontier.ack(again, [(old, UrlState.RECORD)]) == 0
    (new,) = frontier.claim(again, "w")
    assert frontier.ack(again, [(old, UrlState.RECORD)]) == 0
    assert frontier.ack(again, [(new, UrlState.RECORD)]) == 1


def test_pages_given_back_bear_no_blame(frontier: Frontier, spider: Spider, client: Any) -> None:
    frontier.open_crawl(spec("c", slots=3))
    frontier.add("c", urls(3))
    fetch_all(spider)
    for _ in range(8):
        (job,) = job_ids(client)
        pages = frontier.claim(job, "w")
        assert [page.crashes for page in pages] == [0, 0, 0]
        frontier.mark(job, pages[0].page_id)
        frontier.give_back(job)
        assert frontier.sweep()["claims_lost"] == 1
        frontier.give_back(job)  # too late: changes nothing
        assert not client.exists(f"cc:j:{job}")


def test_page_that_kills_three_workers_is_poison(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", slots=5))
    frontier.add("c", urls(5))
    fetch_all(spider)
    poison = page_id("http://a.example/2")
    swept = []
    for _ in range(3):
        for job, pages in claim_all(frontier, client).items():
            bad = [page for page in pages if page.page_id == poison]
            if bad:
                assert not bad[0].poison
                assert len(pages) in (1, 5)
                frontier.mark(job, poison)
                frontier.break_claim(job)
            else:
                assert frontier.ack(job, [(page, UrlState.RECORD) for page in pages]) == 4
        swept.append(frontier.sweep()["poison_pages"])
    assert swept == [0, 0, 1]
    (job,) = job_ids(client)
    (page,) = frontier.claim(job, "w")
    assert (page.poison, page.crashes) == (True, 3)
    frontier.ack(job, [(page, UrlState.FAILED)])
    counts = frontier.counts("c")
    assert (counts.stored, counts.failed, counts.state) == (4, 1, CrawlState.FINISHED)


def test_worker_that_dies_outside_pages_suspects_all_a_little(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", slots=3))
    frontier.add("c", urls(3))
    fetch_all(spider)
    for times in range(1, 6):
        jobs = claim_all(frontier, client)
        assert len(jobs) == (1 if times < 5 else 3)
        for job in jobs:
            frontier.break_claim(job)
        frontier.sweep()


# RQ


def test_job_on_the_wire_is_json(frontier: Frontier, spider: Spider, client: Any) -> None:
    frontier.open_crawl(spec("c", A))
    fetch_all(spider)
    (job,) = job_ids(client)
    with Redis(unix_socket_path=client.connection_pool.connection_kwargs["path"]) as plain:
        told = Job.fetch(job, connection=plain, serializer=JSONSerializer)
    assert told.func_name == CLEAN_PAGES
    assert list(told.args) == ["c", "a.example", [page_id(A)]]
    assert told.retries_left is None


def test_lost_job_is_enqueued_again(frontier: Frontier, spider: Spider, client: Any) -> None:
    frontier.open_crawl(spec("c", A))
    fetch_all(spider)
    (job,) = job_ids(client)
    client.delete(f"rq:job:{job}", "rq:queue:pages")
    assert frontier.sweep()["jobs_enqueued"] == 0  # too young: its maker may be about to do it
    age_jobs(client)
    assert frontier.sweep()["jobs_enqueued"] == 1
    assert client.lrange("rq:queue:pages", 0, -1) == [job]
    age_jobs(client)
    assert frontier.sweep()["jobs_enqueued"] == 0
    assert client.lrange("rq:queue:pages", 0, -1) == [job]


@pytest.mark.parametrize("status", [JobStatus.FAILED, JobStatus.FINISHED, JobStatus.STARTED])
def test_job_that_ended_without_a_claim_is_enqueued_again(
    frontier: Frontier, spider: Spider, client: Any, status: JobStatus
) -> None:
    frontier.open_crawl(spec("c", A))
    fetch_all(spider)
    (job,) = job_ids(client)
    client.lrem("rq:queue:pages", 0, job)
    started = "2020-01-01T00:00:00.000000Z"
    client.hset(f"rq:job:{job}", mapping={"status": status.value, "started_at": started})
    age_jobs(client)
    assert frontier.sweep()["jobs_enqueued"] == 1
    assert client.lrange("rq:queue:pages", 0, -1) == [job]
    assert client.hget(f"rq:job:{job}", "status") == "queued"


def test_queued_job_that_left_the_list_is_enqueued_again(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", A))
    fetch_all(spider)
    client.delete("rq:queue:pages")
    age_jobs(client)
    assert frontier.sweep()["jobs_enqueued"] == 1


def test_claimed_job_is_not_enqueued_again(frontier: Frontier, spider: Spider, client: Any) -> None:
    frontier.open_crawl(spec("c", A))
    fetch_all(spider)
    (job,) = job_ids(client)
    frontier.claim(job, "w")
    client.delete(f"rq:job:{job}", "rq:queue:pages")
    assert frontier.sweep()["jobs_enqueued"] == 0


def test_stranded_batch_is_swept(frontier: Frontier, spider: Spider, client: Any) -> None:
    frontier.open_crawl(spec("c", slots=3))
    frontier.add("c", urls(9))
    spider.put(spider.pages()[0])
    frontier.sweep()
    assert job_ids(client) == []  # too young
    client.zadd("cc:bt", dict.fromkeys(client.zrange("cc:bt", 0, -1), 0))
    frontier.sweep()
    age_jobs(client)
    assert frontier.sweep()["jobs_enqueued"] == 1
    assert len(frontier.claim(job_ids(client)[0], "w")) == 1


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
    frontier.pause_host("a.example")
    assert frontier.is_host_paused("a.example")
    assert {lease.host for lease in spider.pages()} == {"b.example"}
    frontier.add("c", urls(1))
    assert spider.lease() == ()
    frontier.resume_host("a.example")
    assert not frontier.is_host_paused("a.example")
    assert len(spider.pages()) == 3


def purge_scene(frontier: Frontier, spider: Spider, client: Any) -> None:
    """Crawl ``c`` with URLs in every state on two hosts, crawl ``d`` on one of them."""
    frontier.open_crawl(spec("c", slots=8, max_pages=100))
    frontier.open_crawl(spec("d", slots=8))
    frontier.add("d", urls(2))
    for host in ("a.example", "b.example"):
        frontier.add("c", urls(20, host))
        client.hset(f"cc:g:{host}", "rx", server_ms(client) + 3_600_000)
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
    assert client.hget("cc:g:e.example", "rb") is None
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


# One URL, counters


def test_trace_tells_a_urls_way(frontier: Frontier, spider: Spider, client: Any) -> None:
    frontier.open_crawl(spec("c", A))
    pid = page_id(A)

    def steps() -> tuple[str, list[str]] | None:
        found = frontier.trace("c", pid, "a.example")
        return found and (found[0], [step.step for step in found[1]])

    assert steps() == ("pending", ["discovered"])
    (page,) = spider.pages()
    assert steps() == ("leased", ["discovered", "leased"])
    spider.nack(page)
    assert steps() == ("retry", ["discovered", "leased", "failed"])
    fetch_all(spider)
    way = ["discovered", "leased", "failed", "leased", "fetched"]
    assert steps() == ("queued", way)
    jobs = claim_all(frontier, client)
    assert steps() == ("claimed", [*way, "claimed"])
    for job in jobs:
        frontier.break_claim(job)
    frontier.sweep()
    assert steps() == ("queued", [*way, "claimed", "claim_lost"])
    ack_all(frontier, client)
    assert steps() is None
    assert frontier.has_seen("c", pid)


def test_decision_log_stays_small(frontier: Frontier, spider: Spider, client: Any) -> None:
    frontier.open_crawl(spec("c", A))
    for _ in range(200):
        (page,) = spider.pages()
        spider.run(spider.queue.nack(page, "long\tdetail\n" * 100))
    assert client.hstrlen(f"cc:p:c:{page.page_id}", "lg") < 10_000
    found = frontier.trace("c", page.page_id, "a.example")
    assert found is not None
    assert {step.step for step in found[1]} == {"discovered", "leased", "failed"}


def test_counters_add_up(frontier: Frontier, spider: Spider) -> None:
    frontier.count({"x": 2, "y": 1})
    spider.run(spider.queue.count({"x": 3}))
    assert frontier.counters() == {"x": 5, "y": 1}


def test_ping_names_the_server(frontier: Frontier) -> None:
    assert frontier.ping().split()[0] in ("valkey", "redis")


def test_server_away() -> None:
    frontier = Frontier("unix:///nowhere/none.sock")
    with pytest.raises(QueueUnavailable):
        frontier.crawl_ids()
    frontier.close()
