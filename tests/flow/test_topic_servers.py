"""A topic crawl over two queue servers finds what one server finds, and tells of all of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from storage.config import StorageConfig
from storage.opening import open_store
from storage.queue.frontier import Frontier
from storage.server_list import server_of
from tests.kit.crawls import crawlclean
from tests.kit.mongo_server import running
from tests.kit.queue_server import QueueServer
from tests.kit.receiver import Receiver
from tests.kit.topic_web import (
    EXAMPLE,
    PORTAL,
    QUAKES,
    QUERY,
    RELIEF,
    free_port,
    topic_web,
)
from tests.kit.web import Web

ARTICLES = 6
DELAY_S = "0.05"


@dataclass(frozen=True)
class World:
    """A small web, and two queue servers with a store; the web's good hosts are on both."""

    web: Mapping[str, Web]
    receiver: Receiver
    config: StorageConfig
    words: tuple[str, ...]

    @property
    def env(self) -> dict[str, str]:
        return {
            "CRAWLCLEAN_REDIS_URL": self.config.redis_url,
            "CRAWLCLEAN_MONGODB_URL": self.config.mongodb_url,
            "CRAWLCLEAN_DATA": str(self.config.data),
        }

    def targets(self) -> set[str]:
        """The articles on earthquakes."""
        return {
            self.web[address].url(f"/a/{n}.html")
            for address in (QUAKES, RELIEF)
            for n in range(1, ARTICLES + 1)
        }

    def found(self) -> set[str]:
        """The articles on earthquakes that the store has as relevant."""
        with closing(open_store(self.config)) as store:
            pages = store.topics.newest("quake", 1000)
            return {each.url for each in pages if each.judgement.is_relevant} & self.targets()

    def versions(self) -> list[int]:
        """The versions of the weights on the servers."""
        found = []
        for url in self.config.redis_urls:
            with closing(Frontier(url)) as frontier:
                found.append(frontier.topics.weights("quake")[1])
        return found


def port_that_splits() -> int:
    """A port with which the hosts on earthquakes are on two servers, the second on the first."""
    while True:
        port = free_port()
        if [server_of(f"{host}:{port}", 2) for host in (QUAKES, RELIEF)] == [1, 0]:
            return port


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    example = tmp_path / "example.txt"
    example.write_text(EXAMPLE, "utf-8")
    with ExitStack() as stack:
        servers = [stack.enter_context(QueueServer(tmp_path / f"queue{n}")) for n in range(2)]
        mongo = stack.enter_context(running(tmp_path / "mongo"))
        web = stack.enter_context(
            topic_web(tmp_path / "web", ARTICLES, recipes=2, port=port_that_splits())
        )
        receiver = stack.enter_context(Receiver())
        (tmp_path / "data").mkdir()
        words = ("--seeds", web[PORTAL].url("/"), "--query", QUERY, "--examples", str(example))
        more = ("--allow-private", "--delay", DELAY_S, "--workers", "1")
        config = StorageConfig(
            data=tmp_path / "data",
            redis_url=",".join(each.url for each in servers),
            mongodb_url=mongo.url("crawl"),
        )
        yield World(web, receiver, config, (*words, *more))


def test_a_topic_over_two_servers_finds_what_one_finds(world: World) -> None:
    crawlclean("topic", "quake", *world.words, "--webhook", world.receiver.url, env=world.env)
    assert world.found() == world.targets(), "one server finds all of them (test_topics.py)"
    first, second = world.versions()
    assert first == second > 0, "all servers rank by what was learned"
    learned = first
    report = json.loads(crawlclean("topic", "quake", "--report", "--json", env=world.env).stdout)
    assert report["stories"] + report["copies"] == report["topic"]["relevant"] >= 2 * ARTICLES
    told = {each.data["id"] for each in world.receiver.got}
    assert len(told) >= report["stories"], "the sender tells of stories of all servers"
    marked = ("--not-relevant", sorted(world.targets())[0])
    crawlclean("topic", "quake", *marked, env=world.env)
    first, second = world.versions()
    assert first == second > learned, "a mark reaches all servers"
