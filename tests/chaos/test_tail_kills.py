"""Whoever moves the tail dies by kill -9 at any moment: every URL is still done exactly once."""

from __future__ import annotations

import multiprocessing
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from crawlclean.storage.crawl_types import CrawlSpec, CrawlState, Discovery
from crawlclean.storage.queue.embedded import EmbeddedServer
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.sqlite.store import SqliteStore
from tests.kit.queues import Spider, ack_all, let_time_pass

HOSTS = [f"h{i}.example" for i in range(3)]
URLS_A_TURN = 40
KILLS = 14
MOST = 60
FORK = multiprocessing.get_context("fork")


def move(url: str, path: Path) -> None:
    """Moves the tail without a pause, until it is killed."""
    tail = Frontier(url).overflow(SqliteStore(path).spills, MOST)
    while True:
        tail.round()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EmbeddedServer]:
    started = EmbeddedServer(tmp_path)
    started.start()
    yield started
    started.stop()


@pytest.fixture
def new_mover(server: EmbeddedServer, tmp_path: Path) -> Iterator[Callable[[], Any]]:
    """Starts processes that move the tail; none outlives the test."""
    started: list[Any] = []

    def start() -> Any:
        started.append(FORK.Process(target=move, args=(server.url, tmp_path / "db")))
        started[-1].start()
        return started[-1]

    yield start
    for mover in started:
        mover.kill()
        mover.join()


def test_kills_lose_and_double_nothing(
    server: EmbeddedServer, tmp_path: Path, new_mover: Callable[[], Any]
) -> None:
    dice = random.Random(11)
    frontier, spider = Frontier(server.url), Spider(server.url)
    store = SqliteStore(tmp_path / "db")
    store.spills.ids("c")  # made before the movers race for it
    frontier.open_crawl(CrawlSpec(crawl_id="c", seeds=(), delay_ms=0, slots=9))
    fetched: Counter[str] = Counter()
    offered = 0
    with Redis.from_url(server.url, decode_responses=True) as client:

        def fetch_some() -> None:
            let_time_pass(client, *HOSTS)
            for lease in spider.pages(dice.randint(1, 30)):
                fetched[lease.url] += 1
                assert spider.put(lease)
            spider.flush()
            ack_all(frontier, client)

        store.close()
        for kill in range(KILLS):
            movers = [new_mover() for _ in range(1 + kill % 2)]  # two at once, too
            found = [
                Discovery(url=f"http://{dice.choice(HOSTS)}/{kill}/{i}", rank=dice.randint(30, 60))
                for i in range(URLS_A_TURN)
            ]
            offered += frontier.add("c", found)
            fetch_some()
            time.sleep(dice.uniform(0.01, 0.12))  # this is when they die
            for mover in movers:
                mover.kill()
                mover.join()
            counts = frontier.counts("c")
            assert counts.done + counts.open == offered
        spilled = frontier.counts("c").spilled
        assert spilled > 0
        tail = frontier.overflow(store.spills, MOST)
        deadline = time.monotonic() + 60
        while frontier.counts("c").open and time.monotonic() < deadline:
            tail.round()
            fetch_some()
        counts = frontier.counts("c")
        assert (counts.stored, counts.pending, counts.spilled) == (offered, 0, 0)
        assert counts.state is CrawlState.FINISHED
        assert (len(fetched), set(fetched.values())) == (offered, {1})
        assert not client.exists("cc:spills")
    store.close()
    spider.close()
    frontier.close()
