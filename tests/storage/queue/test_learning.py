"""Jobs of learning: one counts for a host, what is lost is done again, and not for ever."""

from __future__ import annotations

from typing import Any

from rq.job import Job
from rq.serializers import JSONSerializer

from storage.queue.frontier import Frontier
from storage.queue.jobs import LEARN_SITE, LEARNING, PAGES, RECLEAN_HOST
from storage.queue.learning import HOSTS, JOBS, MAX_TRIES, TASKS

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
    assert learning.begin(HOST, 100, 30) == job_of(client)
    assert waiting(client, PAGES) == [], "who begins does it"
    lose(client)
    learning.redo_lost()
    assert waiting(client, PAGES) == [f"{HOST}: {LEARN_SITE.rpartition('.')[2]}"]
    learning.go_on(HOST, job_of(client), 1, {})
    assert waiting(client, LEARNING) == [f"{HOST}: {RECLEAN_HOST.rpartition('.')[2]}"]
    assert learning.count() == 1
    learning.end(HOST, job_of(client))
    assert learning.count() == 0


def test_a_newer_job_takes_the_place_of_an_older_one(frontier: Frontier, client: Any) -> None:
    learning = frontier.learning
    old = learning.begin(HOST, 8, 8)
    learning.begin(HOST, 100, 30)
    assert not learning.is_newest(HOST, old)
    learning.go_on(HOST, old, 1, {})
    learning.end(HOST, old)
    assert waiting(client, LEARNING) == []
    assert learning.count() == 1
    assert learning.is_newest(HOST, job_of(client))


def test_a_lost_job_is_enqueued_as_it_was_and_not_for_ever(frontier: Frontier, client: Any) -> None:
    learning = frontier.learning
    job = learning.begin(HOST, 8, 8)
    assert learning.redo_lost() == (0, []), "somebody works on it"
    learning.go_on(HOST, job, 7, {"after": 3})
    client.zadd(HOSTS, {HOST: 1})
    assert learning.redo_lost() == (0, []), "it waits for a worker"
    for _ in range(MAX_TRIES):
        lose(client)
        assert learning.redo_lost() == (1, [])
        again = Job.fetch(job_of(client), frontier._client, serializer=JSONSerializer)
        assert list(again.args) == [HOST, 7, {"after": 3}]
    lose(client)
    assert learning.redo_lost() == (0, [HOST])
    assert learning.count() == 0
    assert not [key for key in (JOBS, TASKS) if client.exists(key)]


def test_cleaning_again_that_is_lost_goes_on_from_the_place_it_kept(
    frontier: Frontier, client: Any
) -> None:
    learning = frontier.learning
    learning.go_on(HOST, learning.begin(HOST, 8, 8), 1, {"tried": 0})
    learning.keep_place(HOST, job_of(client), 1, {"tried": 20})
    learning.keep_place(HOST, "another job", 1, {"tried": 7})
    lose(client)
    assert learning.redo_lost() == (1, [])
    again = Job.fetch(job_of(client), frontier._client, serializer=JSONSerializer)
    assert list(again.args) == [HOST, 1, {"tried": 20}]


def test_losses_count_until_a_job_goes_on(frontier: Frontier, client: Any) -> None:
    learning = frontier.learning
    learning.begin(HOST, 8, 8)
    for part in range(2 * MAX_TRIES):
        lose(client)
        assert learning.redo_lost() == (1, [])
        learning.go_on(HOST, job_of(client), 1, {"part": part})
    assert learning.count() == 1


def test_who_died_is_not_waited_for(frontier: Frontier, client: Any) -> None:
    learning = frontier.learning
    job = learning.begin(HOST, 8, 8)
    learning.lose(HOST, "another")
    assert learning.redo_lost() == (0, [])
    learning.lose(HOST, job)
    assert learning.redo_lost() == (1, [])
    for _ in range(2 * MAX_TRIES):
        client.delete(f"rq:queue:{PAGES}")
        frontier.expire_sessions()
        assert learning.redo_lost() == (1, []), "nobody's fault"
    frontier.expire_sessions()
    assert learning.redo_lost() == (0, []), "it waits for a worker"


def test_records_are_counted_by_host_since_it_was_learned(frontier: Frontier) -> None:
    learning = frontier.learning
    assert learning.add_records(HOST, 3) == (0, 3, "")
    assert learning.add_records(HOST, 4) == (0, 7, "")
    learning.begin(HOST, 7, 8)
    assert learning.add_records(HOST, 2) == (7, 9, "")
    assert learning.add_records("b.example", 1) == (0, 1, "")


def test_cleaning_again_goes_on_when_nothing_was_learned(frontier: Frontier, client: Any) -> None:
    learning = frontier.learning
    learning.go_on(HOST, learning.begin(HOST, 8, 8), 1, {"after": 3})
    job = learning.begin(HOST, 20, 0)
    learning.give_way(HOST, job)
    again = Job.fetch(job_of(client), frontier._client, serializer=JSONSerializer)
    assert list(again.args) == [HOST, 1, {"after": 3}]
    learning.end(HOST, job_of(client))
    learning.give_way(HOST, learning.begin(HOST, 30, 0))
    assert learning.count() == 0
