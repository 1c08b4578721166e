"""The queue's jobs: who claims and acks pages, what a dead worker leaves, what RQ may forget."""

from __future__ import annotations

from typing import Any

import pytest
from redis import Redis
from rq.job import Job, JobStatus
from rq.serializers import JSONSerializer

from crawlclean.cleaning.urls.normal_form import page_id
from crawlclean.storage.crawl_types import CrawlState, UrlState
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.queue.jobs import CLEAN_PAGES
from tests.kit.queues import (
    A,
    Spider,
    age_jobs,
    assert_at_rest,
    begin,
    claim_all,
    fetch_all,
    job_ids,
    server_ms,
    spec,
    urls,
)


def one_job(frontier: Frontier, spider: Spider, client: Any) -> str:
    """The job of a crawl with one page, which waits for a worker."""
    frontier.open_crawl(spec("c", A))
    assert fetch_all(spider) == 1
    (job,) = job_ids(client)
    return job


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
    job = one_job(frontier, spider, client)
    assert len(frontier.claim(job, "w")) == 1
    frontier.break_claim(job)
    assert frontier.keep_claim(job)
    assert 15_000 < client.zscore("cc:claims", job) - server_ms(client) <= 20_000
    assert frontier.sweep()["claims_lost"] == 0
    frontier.break_claim(job)
    assert frontier.sweep()["claims_lost"] == 1
    assert not frontier.keep_claim(job)


def test_dead_worker_loses_nothing(frontier: Frontier, spider: Spider, client: Any) -> None:
    begin(frontier, urls(9), slots=9)
    fetch_all(spider)
    (job,) = job_ids(client)
    pages = frontier.claim(job, "w")
    frontier.ack(job, [(page, UrlState.RECORD) for page in pages[:3]])
    frontier.mark(job, pages[4].page_id)
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


def test_a_page_is_marked_where_the_url_asks_for_checks_of_health(
    queue_url: str, spider: Spider, client: Any
) -> None:
    frontier = Frontier(f"{queue_url}?health_check_interval=-1")  # before every command
    begin(frontier, urls(2), slots=2)
    fetch_all(spider)
    (job,) = job_ids(client)
    page, _ = frontier.claim(job, "w")
    for _ in range(2):
        frontier.mark(job, page.page_id)
    frontier.break_claim(job)
    frontier.sweep()
    crashes = [page.crashes for pages in claim_all(frontier, client).values() for page in pages]
    assert sorted(crashes) == [0, 1]
    frontier.close()


def test_old_claim_cannot_ack_through_a_new_job(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    job = one_job(frontier, spider, client)
    (old,) = frontier.claim(job, "w")
    frontier.break_claim(job)
    frontier.sweep()
    (again,) = job_ids(client)
    assert frontier.ack(again, [(old, UrlState.RECORD)]) == 0
    (new,) = frontier.claim(again, "w")
    assert frontier.ack(again, [(old, UrlState.RECORD)]) == 0
    assert frontier.ack(again, [(new, UrlState.RECORD)]) == 1


def test_pages_given_back_bear_no_blame(frontier: Frontier, spider: Spider, client: Any) -> None:
    begin(frontier, urls(3), slots=3)
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


def test_what_ended_a_whole_run_is_not_blamed_on_the_pages_at_hand(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", slots=20))
    for host in "abc":
        frontier.add("c", urls(2, f"{host}.example"))
    fetch_all(spider)
    marked = {}
    for worker, job in zip(("h.1.x", "h.2.x", "h.3.x"), job_ids(client), strict=True):
        pages = frontier.claim(job, worker)
        frontier.mark(job, pages[0].page_id)
        marked[worker] = (job, pages[0].page_id)
    frontier.break_claim(marked["h.1.x"][0])  # its worker saw the job's process die
    frontier.expire_process("h.2")  # who started it saw it die
    frontier.expire_sessions()  # all others ended with the run
    frontier.sweep()
    crashes = {
        page.page_id: page.crashes for p in claim_all(frontier, client).values() for page in p
    }
    assert len(crashes) == 6
    assert {pid for pid, n in crashes.items() if n} == {
        marked["h.1.x"][1],
        marked["h.2.x"][1],
    }


def test_a_process_that_we_killed_is_not_blamed_on_its_page(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    for name, blame in (("c", False), ("d", True)):
        frontier.open_crawl(spec(name, f"http://{name}.example/"))
        fetch_all(spider)
        (job,) = job_ids(client)
        (page,) = frontier.claim(job, f"h.7.{name}")
        frontier.mark(job, page.page_id)
        frontier.expire_process("h.7", blame=blame)
        frontier.sweep()
        (again,) = claim_all(frontier, client).values()
        assert [page.crashes for page in again] == [int(blame)]


def test_page_that_kills_three_workers_is_poison(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    begin(frontier, urls(5), slots=5)
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
    begin(frontier, urls(3), slots=3)
    fetch_all(spider)
    for times in range(1, 6):
        jobs = claim_all(frontier, client)
        assert len(jobs) == (1 if times < 5 else 3)
        for job in jobs:
            frontier.break_claim(job)
        frontier.sweep()


# RQ


def test_job_on_the_wire_is_json(frontier: Frontier, spider: Spider, client: Any) -> None:
    job = one_job(frontier, spider, client)
    with Redis(unix_socket_path=client.connection_pool.connection_kwargs["path"]) as plain:
        told = Job.fetch(job, connection=plain, serializer=JSONSerializer)
    assert told.func_name == CLEAN_PAGES
    assert list(told.args) == ["c", "a.example", [page_id(A)]]
    assert told.retries_left is None


def test_lost_job_is_enqueued_again(frontier: Frontier, spider: Spider, client: Any) -> None:
    job = one_job(frontier, spider, client)
    client.delete(f"rq:job:{job}", "rq:queue:pages")
    assert frontier.sweep()["jobs_enqueued_again"] == 0  # its maker may be about to
    age_jobs(client)
    assert frontier.sweep()["jobs_enqueued_again"] == 1
    assert client.lrange("rq:queue:pages", 0, -1) == [job]
    age_jobs(client)
    assert frontier.sweep()["jobs_enqueued_again"] == 0
    assert client.lrange("rq:queue:pages", 0, -1) == [job]


@pytest.mark.parametrize("status", [JobStatus.FAILED, JobStatus.FINISHED, JobStatus.STARTED])
def test_job_that_ended_without_a_claim_is_enqueued_again(
    frontier: Frontier, spider: Spider, client: Any, status: JobStatus
) -> None:
    job = one_job(frontier, spider, client)
    client.lrem("rq:queue:pages", 0, job)
    started = "2020-01-01T00:00:00.000000Z"
    client.hset(f"rq:job:{job}", mapping={"status": status.value, "started_at": started})
    age_jobs(client)
    assert frontier.sweep()["jobs_enqueued_again"] == 1
    assert client.lrange("rq:queue:pages", 0, -1) == [job]
    assert client.hget(f"rq:job:{job}", "status") == "queued"


def test_queued_job_that_left_the_list_is_enqueued_again(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", A))
    fetch_all(spider)
    client.delete("rq:queue:pages")
    age_jobs(client)
    assert frontier.sweep()["jobs_enqueued_again"] == 1


def test_claimed_job_is_not_enqueued_again(frontier: Frontier, spider: Spider, client: Any) -> None:
    job = one_job(frontier, spider, client)
    frontier.claim(job, "w")
    client.delete(f"rq:job:{job}", "rq:queue:pages")
    assert frontier.sweep()["jobs_enqueued_again"] == 0


def test_stranded_batch_is_swept(frontier: Frontier, spider: Spider, client: Any) -> None:
    begin(frontier, urls(9), slots=3)
    spider.put(spider.pages()[0])
    frontier.sweep()
    assert job_ids(client) == []  # too young
    client.zadd("cc:bt", dict.fromkeys(client.zrange("cc:bt", 0, -1), 0))
    frontier.sweep()
    age_jobs(client)
    assert frontier.sweep()["jobs_enqueued_again"] == 1
    assert len(frontier.claim(job_ids(client)[0], "w")) == 1
