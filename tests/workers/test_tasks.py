"""Jobs in a real forked worker: what kills it, hangs it or lies to it."""

from __future__ import annotations

import json
import os
import pickle
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from rq import Queue
from rq.job import Job
from rq.registry import FailedJobRegistry
from rq.serializers import JSONSerializer

from crawlclean.cleaning.records import UrlKind
from crawlclean.cleaning.url_classes.rules import UrlRule, UrlRules, refused_templates
from crawlclean.cleaning.urls.normal_form import page_id
from crawlclean.storage.crawl_types import Failure, FailureReason, FetchResult, UrlState
from crawlclean.storage.queue.jobs import PAGES
from crawlclean.storage.store.journal import EventKind
from crawlclean.workers.tasks import clean_pages
from tests.kit.timing import LIMIT_S, wait_until
from tests.kit.worker_bench import LONG, Bench, answer

HOST = "http://a.example"


def ends_on_request(bench: Bench) -> None:
    bench.process.terminate()
    assert bench.process.wait(LIMIT_S) == 0, bench.log


def test_a_page_on_which_memory_runs_out_is_tried_alone_and_named(bench: Bench) -> None:
    fine = [f"{HOST}/{n}" for n in range(4)]
    bench.fetch(*fine[:2], f"{HOST}/memory", f"{HOST}/memory-once", *fine[2:])
    bench.start_worker()
    bench.sweep_until(bench.is_done)
    assert bench.stored() == [*fine, f"{HOST}/memory-once"], "its memory came back"
    failures = bench.failures()
    assert set(failures) == {f"{HOST}/memory"}
    said = "memory ran out 3 times while it was cleaned"
    assert failures[f"{HOST}/memory"] == (FailureReason.POISON, said)
    steps = [(step.step, step.detail) for step in bench.url_row(page_id(f"{HOST}/memory")).log]
    assert steps.count(("claim_lost", "memory ran out on this page")) == 3
    with closing(bench.store()) as store:
        [event] = store.events.read(kind=EventKind.POISON.value)
    assert event.text == f"{HOST}/memory: {said}"
    assert "job out of memory" in bench.log
    ends_on_request(bench)


def test_pages_that_kill_their_worker_are_set_aside_and_their_companions_cleaned(
    bench: Bench,
) -> None:
    fine = [f"{HOST}/{n}" for n in range(6)]
    bad = [f"{HOST}/kill", f"{HOST}/exit", f"{HOST}/defect"]
    bench.fetch(*fine[:3], *bad, *fine[3:])
    bench.start_worker()
    bench.sweep_until(bench.is_done)
    assert bench.stored() == fine
    failures = bench.failures()
    assert set(failures) == set(bad)
    for url in bad[:2]:
        assert failures[url] == (FailureReason.POISON, "cleaning it killed 3 workers")
        steps = [(s.step, s.detail) for s in bench.url_row(page_id(url)).log]
        assert steps.count(("claim_lost", "the worker died on this page")) == 3
    with closing(bench.store()) as store:
        named = [event.text for event in store.events.read(kind=EventKind.POISON.value)]
    assert sorted(named) == [f"{url}: cleaning it killed 3 workers" for url in sorted(bad[:2])]
    reason, detail = failures[bad[2]]
    assert reason is FailureReason.INTERNAL
    assert detail == "RuntimeError: a defect of ours"
    assert "page failed" in bench.log
    # Counters follow the acknowledgement.
    wait_until(lambda: bench.frontier.counters().get("failed") == 3)
    assert bench.frontier.counters()["records"] == 6
    counts = bench.frontier.counts("c")
    assert (counts.stored, counts.failed, counts.open) == (6, 3, 0)
    ends_on_request(bench)


@pytest.mark.parametrize(
    ("template", "twin", "again"),
    [("/x/{n}", "", ["p", "t"]), ("/t/{n}", "/p/{1}", ["p"]), ("/p/{n}", "/t/{1}", ["t"])],
)
def test_forms_that_were_left_out_by_older_rules_are_fetched(
    bench: Bench, template: str, twin: str, again: list[str]
) -> None:
    """Two forms of a page, each left out for the other by rules that took turns."""
    older = Failure(reason=FailureReason.DUPLICATE, detail="leads to duplicate pages")
    left_out = {"7": FetchResult(failure=older)}
    bench.fetch(f"{HOST}/p/7", f"{HOST}/t/7", crawl_id="c", **left_out)
    rule = UrlRule(kind=UrlKind.DUPLICATE, template=template, twin=twin, pages=9)
    rules = UrlRules([rule])
    _, version = bench.frontier.classes.versioned("c", "a.example")
    refused = refused_templates(rules, {})
    assert bench.frontier.classes.keep("c", "a.example", version, rules.to_json(), refused)
    bench.start_worker()
    wait_until(lambda: bench.frontier.counts("c").pending == len(again))
    for lease in bench.spider.pages(len(again)):
        bench.spider.put(lease, answer(lease.url))
    bench.spider.flush()
    bench.sweep_until(lambda: bench.frontier.counts("c").open == 0)
    assert bench.stored() == [f"{HOST}/{name}/7" for name in again]
    ends_on_request(bench)


def test_a_large_job_is_stored_in_portions(bench: Bench) -> None:
    urls = [f"{HOST}/{n}" for n in range(30)] + [f"{HOST}/kill"] + [f"{HOST}/{n}" for n in (30, 31)]
    bench.fetch(*urls)
    bench.start_worker()
    bench.sweep_until(bench.is_done)
    assert len(bench.stored()) == 32

    def claims(url: str) -> int:
        return [s.step for s in bench.url_row(page_id(url)).log].count("claimed")

    assert [claims(url) for url in urls[:20]] == [1] * 20, "what was stored before is not redone"
    assert claims(urls[20]) > 1
    ends_on_request(bench)


def test_what_a_job_did_is_counted_by_crawl_and_host(bench: Bench) -> None:
    bench.fetch(f"{HOST}/1", f"{HOST}/2", f"{HOST}/defect")
    bench.start_worker()
    bench.sweep_until(lambda: bench.is_done() and bench.frontier.counters().get("jobs_done", 0) > 0)
    taken = bench.frontier.tallies.take(28_000_000)["@a.example"]
    assert (taken["new_records"], taken["new_failures"]) == (2, 1)
    assert sum(n for name, n in taken.items() if name.startswith("cleaned_in_")) == 3
    assert taken["cleaning_time_ms"] >= 0
    ends_on_request(bench)


def test_a_job_that_takes_too_long_is_ended_and_redone(bench: Bench) -> None:
    slow, hang = "http://slow.example", "http://hang.example"
    urls = [f"{slow}/1", f"{slow}/slow", f"{slow}/2", f"{hang}/1", f"{hang}/hang", f"{hang}/2"]
    bench.fetch(*urls)
    queue = Queue(PAGES, connection=bench.client, serializer=JSONSerializer)
    assert len(queue.job_ids) == 2
    for job_id in queue.job_ids:
        job = Job.fetch(job_id, connection=bench.client, serializer=JSONSerializer)
        job.timeout = 1
        job.save()
    bench.start_worker()
    bench.sweep_until(bench.is_done)
    assert bench.stored() == sorted(urls)
    assert bench.failures() == {}
    for url, least_s, most_s in ((f"{slow}/slow", 0.9, 5.0), (f"{hang}/hang", 3.9, 10.0)):
        began = bench.began(url.rpartition("/")[2])  # before its claim, the busier the earlier
        log = bench.url_row(page_id(url)).log
        claimed = next(s.at for s in log if s.step == "claimed")
        lost = next(s for s in log if s.step == "claim_lost")
        assert lost.detail == "the worker died on this page"
        assert least_s <= (lost.at - began).total_seconds()
        assert (lost.at - claimed).total_seconds() <= most_s
    assert bench.log.count("hanging job killed") == 1
    ends_on_request(bench)


class Trap:
    """Makes a folder where it is unpickled."""

    def __init__(self, path: Path) -> None:
        self._path = str(path)

    def __reduce__(self) -> Any:
        return os.mkdir, (self._path,)


def test_pickle_in_the_queue_is_never_loaded(bench: Bench, tmp_path: Path) -> None:
    trap, called = tmp_path / "trap", tmp_path / "called"
    plain = Queue(PAGES, connection=bench.client)  # the stock serializer is pickle
    job = plain.enqueue_call("os.mkdir", args=(str(called),))
    evil = plain.enqueue_call("os.mkdir", args=("x",))
    bench.client.hset(evil.key, "data", pickle.dumps(Trap(trap)))
    bench.fetch(f"{HOST}/1")
    bench.start_worker()
    bench.sweep_until(bench.is_done)
    assert bench.stored() == [f"{HOST}/1"], "the worker goes on"
    failed = FailedJobRegistry(PAGES, connection=bench.client, serializer=JSONSerializer)
    wait_until(lambda: set(failed.get_job_ids()) == {job.id, evil.id})
    assert not called.exists()
    assert not trap.exists()
    ends_on_request(bench)


def test_outlinks_are_offered_before_the_page_is_done(bench: Bench) -> None:
    bench.fetch(
        f"{HOST}/a",
        f"{HOST}/moved",
        f"{HOST}/pdf",
        f"{HOST}/refused",
        a=answer("a", links={"/b": "乙", "http://other.example/": "外", "/a": "自己"}),
        moved=FetchResult(status=301, headers=(("Location", "http://c.example/x"),)),
        pdf=FetchResult(status=200, headers=(), body=b"%PDF-1.7"),
        refused=FetchResult(status=301, headers=(("Location", "mailto:x"),)),
    )
    bench.start_worker()
    bench.sweep_until(bench.is_done)
    assert bench.frontier.has_seen("c", page_id(f"{HOST}/b"))
    assert not bench.frontier.has_seen("c", page_id("http://other.example/"))
    assert bench.frontier.has_seen("c", page_id("http://c.example/x")), "a seed moved there"
    assert bench.frontier.more_hosts("c") == frozenset({"c.example"})
    failures = bench.failures()
    assert failures[f"{HOST}/pdf"][0] is FailureReason.NOT_HTML
    assert failures[f"{HOST}/refused"][0] is FailureReason.BAD_REDIRECT
    assert bench.url_row(page_id(f"{HOST}/moved")).state is UrlState.REDIRECT
    store = bench.store()
    record = store.records.get(page_id(f"{HOST}/a"))
    store.close()
    assert record is not None
    assert LONG in record.body
    counters = bench.frontier.counters()
    assert counters["outlinks_out_of_scope"] >= 1
    assert counters["redirects"] == 1
    ends_on_request(bench)


def test_a_job_needs_a_worker() -> None:
    with pytest.raises(RuntimeError, match="RQ worker"):
        clean_pages("c", "a.example", [])


def test_a_job_that_names_anything_else_runs_nothing(bench: Bench, tmp_path: Path) -> None:
    called, back = tmp_path / "called", tmp_path / "back"
    queue = Queue(PAGES, connection=bench.client, serializer=JSONSerializer)
    evil = queue.enqueue_call("os.mkdir", args=(str(called),))
    method = queue.enqueue_call("workers.tasks.clean_pages", args=("c", "h", []))
    bench.client.hset(method.key, "data", json.dumps(["mkdir", str(back), [], {}]))
    calling_back = queue.enqueue_call("workers.tasks.nothing", args=(str(back),))
    bench.client.hset(calling_back.key, "failure_callback_name", "os.mkdir")
    bench.fetch(f"{HOST}/1")
    bench.start_worker()
    bench.sweep_until(bench.is_done)
    failed = FailedJobRegistry(PAGES, connection=bench.client, serializer=JSONSerializer)
    wait_until(lambda: set(failed.get_job_ids()) == {evil.id, method.id, calling_back.id})
    assert not called.exists()
    assert not back.exists()
    ends_on_request(bench)
