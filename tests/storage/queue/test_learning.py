"""Jobs of learning: one counts for a host; a lost job is enqueued again, up to a limit."""

from __future__ import annotations

from typing import Any

from rq.job import Job
from rq.serializers import JSONSerializer

from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.queue.jobs import (
    LEARN_JOBS,
    LEARN_SITE,
    LEARN_TASKS,
    LEARNED_HOSTS,
    LEARNING,
    MOST_TRIES,
    PAGES,
    RECLEAN_HOST,
)

HOST = "a.example"


def job_of(client: Any) -> str:
    return str(client.hget(LEARN_JOBS, HOST))


def waiting(client: Any, queue: str) -> list[str]:
    jobs = client.lrange(f"rq:queue:{queue}", 0, -1)
    return [client.hget(f"rq:job:{job}", "description") for job in jobs]


def lose(client: Any) -> None:
    """Deletes the jobs in RQ, and sets the last work on the host to the distant past."""
    client.delete(f"rq:queue:{PAGES}", f"rq:queue:{LEARNING}")
    client.zadd(LEARNED_HOSTS, {HOST: 1})


def test_learning_goes_before_pages_and_recleaning_behind(frontier: Frontier, client: Any) -> None:
    learning = frontier.learning
    assert learning.begin(HOST, 100, 30) == job_of(client)
    assert waiting(client, PAGES) == [], "the calling process learns the host"
    lose(client)
    learning.requeue_lost()
    assert waiting(client, PAGES) == [f"{HOST}: {LEARN_SITE.rpartition('.')[2]}"]
    learning.enqueue_recleaning(HOST, job_of(client), 1, {})
    assert waiting(client, LEARNING) == [f"{HOST}: {RECLEAN_HOST.rpartition('.')[2]}"]
    assert learning.count() == 1
    learning.end(HOST, job_of(client))
    assert learning.count() == 0


def test_a_newer_job_takes_the_place_of_an_older_one(frontier: Frontier, client: Any) -> None:
    learning = frontier.learning
    old = learning.begin(HOST, 8, 8)
    learning.begin(HOST, 100, 30)
    assert not learning.is_newest(HOST, old)
    learning.enqueue_recleaning(HOST, old, 1, {})
    learning.end(HOST, old)
    assert waiting(client, LEARNING) == []
    assert learning.count() == 1
    assert learning.is_newest(HOST, job_of(client))


def test_a_lost_job_is_enqueued_with_its_task_up_to_a_limit(
    frontier: Frontier, client: Any
) -> None:
    learning = frontier.learning
    job = learning.begin(HOST, 8, 8)
    assert learning.requeue_lost() == (0, []), "a process works on the host"
    learning.enqueue_recleaning(HOST, job, 7, {"after": 3})
    client.zadd(LEARNED_HOSTS, {HOST: 1})
    assert learning.requeue_lost() == (0, []), "the job waits for a worker"
    for _ in range(MOST_TRIES):
        lose(client)
        assert learning.requeue_lost() == (1, [])
        repeat = Job.fetch(job_of(client), frontier._client, serializer=JSONSerializer)
        assert list(repeat.args) == [HOST, 7, {"after": 3}]
    lose(client)
    assert learning.requeue_lost() == (0, [HOST])
    assert learning.count() == 0
    assert not [key for key in (LEARN_JOBS, LEARN_TASKS) if client.exists(key)]


def test_a_lost_recleaning_resumes_from_its_saved_progress(frontier: Frontier, client: Any) -> None:
    learning = frontier.learning
    learning.enqueue_recleaning(HOST, learning.begin(HOST, 8, 8), 1, {"tried": 0})
    learning.save_progress(HOST, job_of(client), 1, {"tried": 20})
    learning.save_progress(HOST, "another job", 1, {"tried": 7})
    lose(client)
    assert learning.requeue_lost() == (1, [])
    repeat = Job.fetch(job_of(client), frontier._client, serializer=JSONSerializer)
    assert list(repeat.args) == [HOST, 1, {"tried": 20}]


def test_the_next_slice_resets_the_losses(frontier: Frontier, client: Any) -> None:
    learning = frontier.learning
    learning.begin(HOST, 8, 8)
    for part in range(2 * MOST_TRIES):
        lose(client)
        assert learning.requeue_lost() == (1, [])
        learning.enqueue_recleaning(HOST, job_of(client), 1, {"part": part})
    assert learning.count() == 1


def test_a_job_of_a_dead_process_is_enqueued_at_once(frontier: Frontier, client: Any) -> None:
    learning = frontier.learning
    job = learning.begin(HOST, 8, 8)
    learning.declare_lost(HOST, "another")
    assert learning.requeue_lost() == (0, [])
    learning.declare_lost(HOST, job)
    assert learning.requeue_lost() == (1, [])
    for _ in range(2 * MOST_TRIES):
        client.delete(f"rq:queue:{PAGES}")
        frontier.expire_sessions()
        assert learning.requeue_lost() == (1, []), "no loss is counted"
    frontier.expire_sessions()
    assert learning.requeue_lost() == (0, []), "the job waits for a worker"


def test_records_are_counted_by_host_since_it_was_learned(frontier: Frontier) -> None:
    learning = frontier.learning
    assert learning.add_records(HOST, 3) == (0, 3, "")
    assert learning.add_records(HOST, 4) == (0, 7, "")
    learning.begin(HOST, 7, 8)
    assert learning.add_records(HOST, 2) == (7, 9, "")
    assert learning.add_records("b.example", 1) == (0, 1, "")


def test_recleaning_resumes_when_nothing_was_learned(frontier: Frontier, client: Any) -> None:
    learning = frontier.learning
    learning.enqueue_recleaning(HOST, learning.begin(HOST, 8, 8), 1, {"after": 3})
    job = learning.begin(HOST, 20, 0)
    learning.end_without_model(HOST, job)
    repeat = Job.fetch(job_of(client), frontier._client, serializer=JSONSerializer)
    assert list(repeat.args) == [HOST, 1, {"after": 3}]
    learning.end(HOST, job_of(client))
    learning.end_without_model(HOST, learning.begin(HOST, 30, 0))
    assert learning.count() == 0
