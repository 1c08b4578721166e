"""The worker's watch over a job: what ends it, what does not, and who is blamed."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from redis import Redis

from crawlclean.storage.config import StorageConfig
from crawlclean.storage.opening import start_queue
from crawlclean.workers.processes.worker import CleaningWorker, JobProcess
from tests.kit.crawls import ROOT, start
from tests.kit.processes import children_of, is_alive, kill
from tests.kit.timing import LIMIT_S, wait_until
from tests.kit.web import Page, Web, html
from tests.kit.worker_bench import LONG, WAIT, WAITING, Bench, Waiting


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Waiting]:
    with Waiting(tmp_path) as made:
        yield made


def test_an_absent_server_does_not_end_the_watch_over_a_job(bench: Waiting) -> None:
    bench.begin()
    bench.kill_server()
    wait_until(lambda: "queue away, waiting" in bench.log)
    bench.server.start()
    bench.go()
    bench.sweep_until(bench.is_done)
    assert bench.stored() == ["http://a.example/1", WAIT]
    assert bench.waited == 1, "the job went on"
    assert "Traceback" not in bench.log


def test_ids_that_no_job_has_do_not_end_the_worker(bench: Waiting) -> None:
    bench.start_worker()
    bench.client.rpush("rq:queue:pages", "bad \x1b[31m id", b"\xff")
    bench.fetch("http://a.example/1")
    bench.sweep_until(bench.is_done)
    assert bench.stored() == ["http://a.example/1"]
    wait_until(lambda: bench.log.count("job dropped, its id is invalid") == 2)
    assert "Traceback" not in bench.log
    assert "\x1b" not in bench.log


def test_a_job_that_another_worker_has_done_meanwhile_is_no_error(bench: Waiting) -> None:
    bench.begin()
    [gone] = bench.client.keys("rq:job:*")
    bench.client.delete(gone)
    bench.go()
    bench.sweep_until(bench.is_done)
    bench.process.terminate()
    assert bench.process.wait(LIMIT_S) == 0, bench.log
    assert "Traceback" not in bench.log
    assert bench.client.zcard("rq:wip:pages") == 0
    assert bench.client.keys("rq:job:*") == [], "nothing of it is written again"


def test_a_worker_told_to_stop_while_the_server_is_away_ends_its_job_first(bench: Waiting) -> None:
    bench.begin()
    bench.kill_server()
    bench.process.terminate()
    wait_until(lambda: "queue away, waiting" in bench.log)
    bench.server.start()
    bench.go()
    assert bench.process.wait(LIMIT_S) == 0, bench.log
    assert bench.stored() == ["http://a.example/1", WAIT]


def test_a_worker_told_twice_gives_its_pages_back_without_blame(bench: Waiting) -> None:
    bench.begin()
    process = bench.process

    def ended() -> bool:
        process.terminate()  # a second one at once counts as the same
        return process.poll() is not None

    wait_until(ended)
    bench.frontier.sweep()
    pages = list(bench.client.scan_iter("cc:p:c:*"))
    assert len(pages) == 2
    for page in pages:
        assert bench.client.hget(page, "state") == b"queued"
        assert bench.client.hget(page, "crashes") is None
    bench.go()
    bench.start_worker()
    bench.sweep_until(bench.is_done)
    assert bench.stored() == ["http://a.example/1", WAIT]


def test_no_process_of_a_job_is_left_behind() -> None:
    process = JobProcess(Event().wait)
    process.kill()
    process.give()
    pid = process.pid
    assert process.ended(0) is None, "it is at work"
    process.kill()
    assert process.ended(LIMIT_S) == signal.SIGKILL
    assert process.pid == 0
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


PIDS = """
import os, sys
from pathlib import Path

if "worker" in sys.orig_argv:
    import crawlclean.workers.jobs.outcomes as endings
    import crawlclean.workers.processes.worker as worker

    worker.{limit}
    real = endings.read

    def clean(raw, *rest):
        with (Path(__file__).parent / "pids").open("a") as told:
            told.write(f"{{os.getpid()}}\\n")
        return real(raw, *rest)

    endings.read = clean
"""


@pytest.mark.parametrize(
    ("limit", "jobs"),
    [("MOST_JOBS = 9", [4]), ("MOST_JOBS = 3", [3, 1]), ("MOST_BYTES = 1", [1, 1, 1, 1])],
)
def test_a_process_does_many_jobs_within_its_limits(
    tmp_path: Path, limit: str, jobs: list[int]
) -> None:
    with Bench(tmp_path, PIDS.format(limit=limit)) as bench:
        bench.start_worker()
        for host in "abcd":
            bench.fetch(f"http://{host}.example/1", crawl_id=host)
            bench.sweep_until(lambda host=host: bench.is_done(host))  # type: ignore[misc]
        bench.process.terminate()
        assert bench.process.wait(LIMIT_S) == 0, bench.log
        assert len(bench.stored()) == 4
        assert "died" not in bench.log
    pids = (tmp_path / "sabotage" / "pids").read_text().split()
    assert list(Counter(pids).values()) == jobs


def test_a_process_that_is_killed_between_two_jobs_is_replaced_without_a_word(bench: Bench) -> None:
    bench.start_worker()
    bench.fetch("http://a.example/1", crawl_id="a")
    bench.sweep_until(lambda: bench.is_done("a"))
    wait_until(lambda: not bench.client.keys("rq:job:*"))
    [worker] = bench.client.smembers("rq:workers")
    wait_until(lambda: bench.client.hget(worker, "state") == b"idle")
    [idle] = children_of(bench.process.pid)
    kill(idle)
    wait_until(lambda: not is_alive(idle))
    bench.fetch("http://a.example/2", crawl_id="b")
    bench.sweep_until(lambda: bench.is_done("b"))
    assert bench.stored() == ["http://a.example/1", "http://a.example/2"]
    assert "died" not in bench.log
    bench.process.terminate()
    assert bench.process.wait(LIMIT_S) == 0, bench.log


def test_the_process_of_a_job_is_not_heard_as_a_worker(bench: Waiting) -> None:
    worker = CleaningWorker(bench.frontier, bench.client)
    if (child := os.fork()) == 0:
        worker.heartbeat()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert bench.frontier.now().processes == []
    worker.heartbeat()
    assert [each.pid for each in bench.frontier.now().processes] == [os.getpid()]


def test_an_absent_server_does_not_hinder_the_end_of_a_worker(tmp_path: Path) -> None:
    with Waiting(tmp_path) as bench:
        worker = CleaningWorker(bench.frontier, bench.client)
        worker.subscribe()  # type: ignore[no-untyped-call]
        bench.kill_server()
        worker.teardown()
        assert worker.pubsub_thread
        wait_until(lambda: not worker.pubsub_thread.is_alive())


def waiting_site() -> dict[str, Page]:
    return {"/": html("首页", LONG, links={"/wait": "等"}), "/wait": html("等", LONG)}


def test_what_run_killed_is_not_blamed_on_its_page(tmp_path: Path) -> None:
    sabotage, data = tmp_path / "sabotage", tmp_path / "data"
    sabotage.mkdir()
    (sabotage / "sitecustomize.py").write_text(WAITING, "utf-8")
    with Web(tmp_path / "web", waiting_site()) as web:
        words = ("run", web.url(), "--allow-private", "--workers", "1", "--data", str(data))
        crawl = start(*words, PYTHONPATH=f"{sabotage}:{ROOT}")
        try:
            wait_until(lambda: (sabotage / "waited").exists())

            def ended() -> bool:
                crawl.send_signal(signal.SIGINT)
                return crawl.poll() is not None

            wait_until(ended)
        finally:
            crawl.kill()
            _, said = crawl.communicate()
    assert "process does not stop, killed" in said
    server, frontier = start_queue(StorageConfig(data=data))
    assert server is not None
    with Redis.from_url(server.url) as client:
        for job in client.zrange("cc:claims", 0, -1):
            assert client.hget(b"cc:j:" + job, "why") == b"!"
        frontier.expire_sessions()
        frontier.sweep()
        [page] = client.scan_iter("cc:p:*")
        assert client.hget(page, "state") == b"queued"
        assert client.hget(page, "crashes") is None
    frontier.close()
    server.stop()
