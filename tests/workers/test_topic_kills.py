"""A worker of a topic is killed before each of its calls of the queue: all is done, and once."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from crawlclean.cleaning.topics.topic import TopicSpec
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState, Discovery, FetchResult, Scope
from crawlclean.storage.queue.clients import Arg, Scripts
from crawlclean.storage.queue.entries import read_pending
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.workers.config import load_settings
from crawlclean.workers.context import Context
from crawlclean.workers.jobs.topics import TopicOrder, first_version
from crawlclean.workers.site_models import SiteModels
from crawlclean.workers.tasks import _Job
from tests.kit.queues import Spider, age_jobs, job_ids
from tests.kit.worker_bench import LONG

HOST = "a.example"
PAGES = 6  # a batch of the learner
QUERY = "汉字"  # LONG has it


def page(number: int) -> FetchResult:
    """An article with links to others that are nowhere yet."""
    links = "".join(f'<li><a href="/{number}{n}.html">第{n}篇文章的标题</a></li>' for n in range(3))
    text = f"<html><title>第{number}页</title><body><p>{LONG * 3}</p><ul>{links}</ul></body></html>"
    return FetchResult(
        status=200,
        headers=(("Content-Type", "text/html; charset=utf-8"),),
        body=text.encode(),
        elapsed_ms=3,
    )


class Crawls:
    """Two topics that want the same pages; the first has fetched them, a worker has their job."""

    def __init__(self, frontier: Frontier, client: Any, folder: Path) -> None:
        """Makes the topics; ``folder`` is for the store."""
        client.flushall()
        self.frontier, self.client, self.folder = frontier, client, folder
        store = SqliteStore(folder / "records.sqlite")
        for name in ("first", "second"):
            order = TopicOrder(spec=TopicSpec(name=name, query=QUERY))
            store.topics.create(first_version(order, ()))
            spec = CrawlSpec(
                crawl_id=name,
                seeds=(),
                topic=name,
                scope=Scope.TOPIC,
                delay_ms=0,
                slots=64,
                allow_private=True,
            )
            frontier.open_crawl(spec)
        store.close()

    def fetch(self, spider: Spider) -> None:
        """Fetches the pages for the first topic; one of them waits in the second one, too."""
        links = [
            Discovery(url=f"http://{HOST}/{n}.html", rank=300 + n, features=(0, 300 + n))
            for n in range(PAGES)
        ]
        self.frontier.add("second", links[:1])
        self.frontier.set_state("second", CrawlState.PAUSED)
        self.frontier.add("first", links)
        for lease in spider.pages(PAGES):
            assert spider.put(lease, page(int(lease.url.split("/")[3].removesuffix(".html"))))
        self.frontier.set_state("second", CrawlState.RUNNING)
        spider.flush()

    def work(self) -> None:
        """Does every job that waits, as a worker that lives."""
        store = SqliteStore(self.folder / "records.sqlite")
        context = Context(load_settings({}), self.frontier, store, SiteModels(store))
        while jobs := job_ids(self.client):
            for job in jobs:
                _Job(context, job, "first", HOST).run("worker")
            age_jobs(self.client)
        store.close()

    def is_killed_at(self, call: int) -> bool:
        """Works in a process that is killed before its n-th script; False: it had fewer."""
        pid = os.fork()
        if not pid:
            status = 1
            try:
                kill_at(call)
                self.work()
                status = 0
            finally:
                os._exit(status)
        _, status = os.waitpid(pid, 0)
        assert os.WIFSIGNALED(status) or status == 0
        return os.WIFSIGNALED(status)

    def state(self) -> dict[str, Any]:
        """All that the kill may not change."""
        store = SqliteStore(self.folder / "records.sqlite")
        found: dict[str, Any] = {
            name: sorted(
                (each.url, each.judgement.is_relevant) for each in store.topics.newest(name, 99)
            )
            for name in ("first", "second")
        }
        store.close()
        for name in ("first", "second"):
            found[f"counts of {name}"] = self.frontier.counts(name)
            waiting = self.frontier._client.zrange(f"cc:q:{name}:{HOST}", 0, -1)
            found[f"waiting in {name}"] = sorted(
                read_pending(HOST, 0, each).url for each in waiting
            )
            found[f"host of {name}"] = self.client.hgetall(f"cc:cr:{name}:{HOST}")
            found[f"adopted by {name}"] = self.client.smembers(f"cc:ad:{name}")
        return found


def before_scripts(work: Callable[[str], None]) -> pytest.MonkeyPatch:
    """Calls ``work`` with the name of each script before it runs, until the patch is undone."""
    real = Scripts.__call__

    def call(scripts: Scripts, name: str, *args: Arg) -> Any:
        work(name)
        return real(scripts, name, *args)

    patch = pytest.MonkeyPatch()
    patch.setattr(Scripts, "__call__", call)
    return patch


def kill_at(call: int) -> None:
    """Kills this process before it runs so many scripts."""
    calls = count(1)

    def work(_name: str) -> None:
        if next(calls) == call:
            os.kill(os.getpid(), signal.SIGKILL)

    before_scripts(work)


def test_a_killed_worker_adopts_and_counts_each_page_once(
    frontier: Frontier, client: Any, new_spider: Callable[..., Spider], tmp_path: Path
) -> None:
    """Killed before the first script after its pages are stored, or a later one."""

    def crawls(name: str) -> Crawls:
        (tmp_path / name).mkdir()
        made = Crawls(frontier, client, tmp_path / name)
        spider = new_spider()
        made.fetch(spider)
        spider.close()
        return made

    whole = crawls("whole")
    names: list[str] = []
    patch = before_scripts(names.append)
    whole.work()
    patch.undo()
    expected = whole.state()
    assert len(expected["second"]) == PAGES
    assert expected["host of first"]["judged_pages"] == str(PAGES)
    assert expected["counts of second"].done == PAGES - 1  # one waits for its turn
    assert {"adopt", "ack", "publish_weights", "rank"} <= {*names}
    for call in range(names.index("add") + 1, len(names) + 1):
        killed = crawls(str(call))
        assert killed.is_killed_at(call)
        frontier.expire_sessions()
        frontier.sweep()
        age_jobs(client)
        killed.work()
        assert killed.state() == expected, f"killed before {names[call - 1]}"
