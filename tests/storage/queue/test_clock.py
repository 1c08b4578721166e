"""The server's clock is set back or forward by days, and nobody waits for it.

The queue's clock is the server's plus ``ahead``: tests move ``ahead`` in place of the server.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from crawlclean.storage.crawl_types import Lease, QueuedPage, UrlState
from crawlclean.storage.queue.clients import queue_ms
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.queue.jobs import LOST_MS
from tests.kit.queues import (
    A,
    Spider,
    ack_all,
    assert_at_rest,
    begin,
    claim_all,
    job_ids,
    let_time_pass,
    server_ms,
    spec,
    urls,
)

DAYS_MS = 403 * 24 * 3600 * 1000

SetClock = Callable[[int], None]


@pytest.fixture
def set_clock(client: Any, frontier: Frontier) -> SetClock:
    """Sets the server's clock forward, or back, by milliseconds; the housekeeper has run before."""

    def set_by(ms: int) -> None:
        frontier.sweep()
        client.hincrby("cc:clock", "ahead", ms)

    client.hset("cc:clock", "ahead", DAYS_MS)
    return set_by


def test_a_host_waits_for_its_delay_and_not_for_the_clock(
    frontier: Frontier, spider: Spider, client: Any, set_clock: SetClock
) -> None:
    begin(frontier, urls(3), delay_ms=200)
    spider.pages()  # robots.txt
    let_time_pass(client, "a.example")
    (page,) = spider.pages()
    spider.put(page)
    set_clock(-DAYS_MS)
    assert spider.wait_ms() > DAYS_MS / 2, "this is what the step alone would cost"
    frontier.sweep()
    assert (spider.ask().wait_ms or 0) <= 1000
    assert queue_ms(client) - server_ms(client) == pytest.approx(DAYS_MS, abs=2000)


def test_retries_batches_and_lost_jobs_go_on_after_a_step_back(
    frontier: Frontier, spider: Spider, client: Any, set_clock: SetClock
) -> None:
    begin(frontier, urls(3), slots=3)
    failed, queued, leased = spider.pages()
    spider.nack(failed, url_wait_ms=1)
    spider.put(queued)
    assert job_ids(client) == [], "the page waits for companions"
    set_clock(-DAYS_MS)
    frontier.sweep()
    client.hincrby("cc:clock", "ahead", 2000)  # two seconds pass
    frontier.sweep()
    assert len(job_ids(client)) == 1
    [again] = spider.pages()
    assert again.page_id == failed.page_id
    assert spider.put(leased), "the spider has kept its lease"
    assert spider.put(again)
    spider.flush()
    assert ack_all(frontier, client) == 3
    assert_at_rest(client)


def at_work(
    frontier: Frontier, spider: Spider, client: Any
) -> tuple[Lease, str, Sequence[QueuedPage]]:
    """(a page that the spider fetches, a claimed job of the other page, the pages of the job)."""
    begin(frontier, urls(2), slots=2)
    one, other = spider.pages()
    spider.put(one)
    spider.flush()
    [(job, pages)] = claim_all(frontier, client).items()
    return other, job, pages


def test_dead_processes_are_noticed_after_a_step_back_and_living_ones_are_not_dead(
    frontier: Frontier, spider: Spider, client: Any, set_clock: SetClock
) -> None:
    at_work(frontier, spider, client)
    set_clock(-DAYS_MS)
    spider.run(spider.queue.renew())
    swept = frontier.sweep()
    assert (swept["leases_lost"], swept["claims_lost"]) == (0, 0)
    client.hincrby("cc:clock", "ahead", 21_000)  # both die now
    swept = frontier.sweep()
    assert (swept["leases_lost"], swept["claims_lost"]) == (1, 1)


def test_nobody_is_dead_because_the_clock_was_set_forward(
    frontier: Frontier, spider: Spider, client: Any, set_clock: SetClock
) -> None:
    other, job, pages = at_work(frontier, spider, client)
    set_clock(DAYS_MS)
    swept = frontier.sweep()
    assert (swept["leases_lost"], swept["claims_lost"]) == (0, 0)
    assert spider.put(other)
    assert frontier.ack(job, [(page, UrlState.RECORD) for page in pages]) == 1


def test_what_is_recorded_has_the_time_of_the_server(
    frontier: Frontier,
    spider: Spider,
    client: Any,
    set_clock: SetClock,  # noqa: ARG001 - sets it ahead
) -> None:
    frontier.open_crawl(spec("c", A))
    (lease,) = spider.pages()
    spider.put(lease)
    spider.flush()
    [(_, (page,))] = claim_all(frontier, client).items()
    now = datetime.now(UTC)
    assert abs(page.fetched_at - now) < timedelta(minutes=5)
    assert page.provenance.discovered_at is not None
    assert abs(page.provenance.discovered_at - now) < timedelta(minutes=5)
    assert len(page.log) >= 4
    assert all(abs(step.at - now) < timedelta(minutes=5) for step in page.log)


def test_a_lost_learning_job_is_done_again_after_a_step_back(
    frontier: Frontier, client: Any, set_clock: SetClock
) -> None:
    frontier.learning.begin("a.example", 10, 100)
    set_clock(-DAYS_MS)
    frontier.sweep()
    client.hincrby("cc:clock", "ahead", LOST_MS + 1000)
    enqueued, _ = frontier.learning.requeue_lost()
    assert enqueued == 1


def test_the_night_between_two_runs_is_no_step_of_the_clock(
    frontier: Frontier, spider: Spider, set_clock: SetClock
) -> None:
    """What a killed run has left is done again at once."""
    frontier.open_crawl(spec("c", A))
    spider.pages()
    set_clock(8 * 3600 * 1000)
    frontier.expire_sessions()
    assert frontier.sweep()["leases_lost"] == 1
