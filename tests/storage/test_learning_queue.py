"""Jobs of learning: one counts for a host, what is lost is done again, and not for ever."""

from __future__ import annotations

from typing import Any

from storage.frontier import Frontier
from storage.jobs import LEARN_SITE, LEARNING, PAGES, RECLEAN_HOST
from storage.learning import HOSTS, JOBS, MAX_TRIES

HOST = "a.example"


def job_of(client: Any) -> str:
    return str(client.hget(JOBS, HOST))


def waiting(client: Any, queue: str) -> list[str]:
    jobs = client.lrange(f"rq:queue:{queue}", 0, -1)
    return [client.hget(f"rq:job:{job}", "description") for job in jobs]


def lose(client: Any) -> None:
    """What RQ knew is gone, and nobody has worked on the host for long."""
    client.delete(f"rq:queue:{PAGES}", f"rq:queue:{LEARNING}")
    client.zadd(HOSTS, {HOST: 1})


def test_learning_goes_before_pages_and_cleaning_again_behind(
    frontier: Frontier, client: Any
) -> None:
    learning = frontier.learning
    learning.ask(HOST, 30)
    assert waiting(client, PAGES) == [f"{HOST}: {LEARN_SITE.rpartition('.')[2]}"]
    learning.go_on(HOST, job_of(client), 1, {})
    assert waiting(client, LEARNING) == [f"{HOST}: {RECLEAN_HOST.rpartition('.')[2]}"]
    assert learning.count() == 1
    learning.end(HOST, job_of(client))
    assert learning.count() == 0


def test_a_newer_job_takes_the_place_of_an_older_one(frontier: Frontier, client: Any) -> None:
    learning = frontier.learning
    learning.ask(HOST)
    old = job_of(client)
    learning.ask(HOST)
    assert not learning.is_newest(HOST, old)
    learning.go_on(HOST, old, 1, {})
    learning.end(HOST, old)
    assert waiting(client, LEARNING) == []
    assert learning.count() == 1
    assert learning.is_newest(HOST, job_of(client))


def test_a_lost_job_is_enqueued_again_and_not_for_ever(frontier: Frontier, client: Any) -> None:
    learning = frontier.learning
    learning.ask(HOST)
    assert learning.redo_lost() == (0, [])
    client.zadd(HOSTS, {HOST: 1})
    assert learning.redo_lost() == (0, []), "it waits for a worker"
    for _ in range(MAX_TRIES):
        lose(client)
        assert learning.redo_lost() == (1, [])
    lose(client)
    assert learning.redo_lost() == (0, [HOST])
    assert learning.count() == 0


def test_records_are_counted_by_host(frontier: Frontier) -> None:
    assert frontier.learning.add_records(HOST, 3) == (3, "")
    assert frontier.learning.add_records(HOST, 4) == (7, "")
    assert frontier.learning.add_records("b.example", 1) == (1, "")
