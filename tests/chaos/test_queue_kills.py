"""Spider, worker and server die by kill -9 at any moment: every URL is still done exactly once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from redis import Redis

from crawlclean.storage.crawl_types import CrawlSpec, CrawlState, Discovery, UrlState
from crawlclean.storage.queue.embedded import EmbeddedServer
from crawlclean.storage.queue.frontier import Frontier
from tests.kit.queues import Spider, age_jobs, job_ids, let_time_pass
from tests.kit.timing import wait_until

HOSTS = [f"h{i}.example" for i in range(4)]
URLS = 300
ROUNDS = 4

# Fetches and cleans as fast as it can, until it is killed or the server is.
CHILD = """
import sys
from crawlclean.cleaning.errors import QueueUnavailable
from crawlclean.storage.crawl_types import UrlState
from crawlclean.storage.queue.frontier import Frontier
from tests.kit.queues import Spider

url, name = sys.argv[1:]
spider, frontier = Spider(url), Frontier(url)
print("up", flush=True)
try:
    while True:
        for page in spider.pages(8):
            spider.put(page)
        spider.flush()
        for job in frontier._client.zrange("cc:jobs", 0, 3):
            pages = frontier.claim(job.decode(), name)
            for page in pages:
                frontier.mark(job.decode(), page.page_id)
                frontier.ack(job.decode(), [(page, UrlState.RECORD)])
except QueueUnavailable:
    pass
"""


@pytest.fixture
def children() -> Iterator[list[subprocess.Popen[bytes]]]:
    """The processes of one turn; none outlives the test."""
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for child in started:
        child.kill()
        child.wait()


def test_kills_lose_and_double_nothing(
    tmp_path: Path, children: list[subprocess.Popen[bytes]]
) -> None:
    dice = random.Random(7)
    server = EmbeddedServer(tmp_path)
    server.start()
    offered = 0
    for turn in range(ROUNDS):
        frontier = Frontier(server.url)
        if not turn:
            frontier.open_crawl(CrawlSpec(crawl_id="c", seeds=(), delay_ms=0, slots=4))
        children[:] = [
            subprocess.Popen(
                [sys.executable, "-c", CHILD, server.url, f"w{turn}{i}"], stdout=subprocess.PIPE
            )
            for i in range(2)
        ]
        for child in children:
            assert child.stdout
            child.stdout.readline()
        enough = frontier.counts("c").done + dice.randint(5, URLS // 2)  # this is when they die
        found = [Discovery(url=f"http://{dice.choice(HOSTS)}/{turn}/{i}") for i in range(URLS)]
        offered += frontier.add("c", found)
        wait_until(partial(lambda queue, n: queue.counts("c").done >= n, frontier, enough))
        children[0].kill()
        if turn % 2 and server.pid:
            os.kill(server.pid, signal.SIGKILL)
            server.stop()
            frontier.close()
            server = EmbeddedServer(tmp_path)
            server.start()
            frontier = Frontier(server.url)
        children[1].kill()
        for child in children:
            child.wait()
            assert child.stdout
            child.stdout.close()
        frontier.expire_sessions()
        frontier.sweep()
        frontier.close()

    frontier, spider = Frontier(server.url), Spider(server.url)
    with Redis.from_url(server.url, decode_responses=True) as client:
        before = frontier.counts("c")
        assert before.open + before.done == offered
        while frontier.counts("c").open:
            frontier.sweep()
            let_time_pass(client, *HOSTS)
            for page in spider.pages():
                assert spider.put(page)
            spider.flush()
            age_jobs(client)
            for job in job_ids(client):
                pages = frontier.claim(job, "last")
                acked = frontier.ack(job, [(page, UrlState.RECORD) for page in pages])
                assert acked == len(pages)
        counts = frontier.counts("c")
        assert (counts.stored, counts.state) == (offered, CrawlState.FINISHED)
        assert {int(n) for n in client.hgetall("cc:flight").values()} == {0}
        for host in HOSTS:
            assert client.hget(f"cc:g:{host}", "held") == "0"
        assert list(client.scan_iter("cc:p:*")) == list(client.scan_iter("cc:l:*")) == []
    spider.close()
    frontier.close()
    server.stop()
