"""Topic crawls over several queue servers: weights on all, hosts on theirs, one budget, one end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import pytest

from cleaning.errors import QueueUnavailable
from cleaning.urls.normal_form import page_id
from storage.crawl_types import CrawlState
from storage.queue.servers.members import WorkingMember
from storage.queue.servers.spread import QueueServers
from storage.queue.topic_ranks import MOST_HOSTS
from storage.server_list import server_of
from tests.kit.queue_server import QueueServer, empty_clients
from tests.kit.queues import Spider, ack_all, let_time_pass
from tests.kit.topic_queues import count_pages, ranked, topic_spec
from workers.config import Settings
from workers.context import Context
from workers.processes.topic_floors import TopicFloors

FIRST, SECOND = "s1.example", "s4.example"
"""The first is on the first server, the second on the second."""
ANY: Any = None  # a part of a process that nothing here uses


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[QueueServer]]:
    folder = tmp_path_factory.mktemp("servers")
    with ExitStack() as stack:
        yield [stack.enter_context(QueueServer(folder / str(n))) for n in range(2)]


@pytest.fixture
def clients(servers: list[QueueServer]) -> Iterator[list[Any]]:
    """Plain clients of empty servers."""
    with empty_clients(servers) as made:
        yield made


@pytest.fixture
def opened(clients: list[Any]) -> Iterator[Callable[..., Any]]:
    """Opens queues and spiders on empty servers, and closes them."""
    assert clients
    with ExitStack() as stack:

        def open_one(what: Callable[..., Any], *arguments: Any) -> Any:
            made = what(*arguments)
            stack.callback(made.close)
            return made

        yield open_one


@pytest.fixture
def urls(servers: list[QueueServer]) -> list[str]:
    return [each.url for each in servers]


@pytest.fixture
def queue(urls: list[str], opened: Callable[..., Any]) -> QueueServers:
    """Both servers as one, with a topic crawl on both."""
    assert [server_of(host, 2) for host in (FIRST, SECOND)] == [0, 1]
    made: QueueServers = opened(QueueServers, ",".join(urls))
    made.open_crawl(topic_spec("t", f"http://{FIRST}/", max_pages=9))
    return made


@pytest.fixture
def workers(urls: list[str], opened: Callable[..., Any]) -> list[WorkingMember]:
    """A worker of each server."""
    return [opened(WorkingMember, urls, index) for index in range(2)]


def test_weights_of_one_worker_are_on_all_servers(
    queue: QueueServers, workers: list[WorkingMember], servers: list[QueueServer]
) -> None:
    assert workers[1].topics.publish_weights("t", b"one", 1)
    assert [each.topics.weights("t") for each in workers] == [(b"one", 1)] * 2
    servers[0].kill()
    try:
        with pytest.raises(QueueUnavailable):
            workers[1].topics.publish_weights("t", b"two", 2)
        assert workers[1].topics.weights("t") == (b"one", 1), "its own server goes on"
    finally:
        servers[0].start()
    assert workers[1].topics.publish_weights("t", b"two", 2), "the next learner completes it"
    assert {member.topics.weights("t") for member in queue.members} == {(b"two", 2)}


def test_hosts_are_taken_by_their_own_servers(
    queue: QueueServers, workers: list[WorkingMember]
) -> None:
    hosts = workers[1].topics.hosts("t")
    assert hosts.take([FIRST, SECOND]) == {FIRST, SECOND} == hosts.known([FIRST, SECOND, "x.test"])
    assert [set(member.hosts("t")) for member in queue.members] == [{FIRST}, {SECOND}]
    farm = {f"h{n}.farm.co.uk" for n in range(2 * MOST_HOSTS)}
    taken = hosts.take(farm)
    assert len(taken) == MOST_HOSTS
    assert workers[0].topics.hosts("t").take(farm) == taken


def test_each_server_ranks_its_hosts_and_one_worker_ranks_all_anew(
    queue: QueueServers, workers: list[WorkingMember], urls: list[str], opened: Callable[..., Any]
) -> None:
    workers[0].offer("t", [*ranked(FIRST, 300, 900), *ranked(SECOND, 400, 800)])
    assert workers[0].topics.waiting("t") == queue.counts("t").pending

    def upside_down(links: Sequence[tuple[bytes, bytes]]) -> list[int]:
        return [101 for _ in links]

    done = workers[1].topics.rerank("t", upside_down, 3)
    assert done.is_whole
    assert [member.topics.ranked_version("t") for member in queue.members] == [3, 3]
    assert workers[0].topics.ranked_version("t") == 3
    assert not workers[0].topics.rerank("t", upside_down, 2).is_whole, "an older model"
    queue.share_out("t")
    fetched = [lease.url for url in urls for lease in opened(Spider, url).pages(1)]
    assert len(fetched) == 2, "each server leases its own best URL"


def test_adopted_pages_end_on_the_servers_of_their_hosts(
    queue: QueueServers, workers: list[WorkingMember]
) -> None:
    found = [f"http://{host}/adopted" for host in (FIRST, SECOND)]
    pages = [(page_id(url), url.split("/")[2]) for url in found]
    workers[0].topics.adopt("t", "", pages)
    assert [member.counts("t").done for member in queue.members] == [1, 1]
    for (page, host), member in zip(pages, queue.members, strict=True):
        assert member.has_seen("t", page)
        assert workers[0].of_host(host).has_seen("t", page)


def test_the_budget_of_a_topic_is_spent_to_the_page(
    queue: QueueServers, urls: list[str], clients: list[Any], opened: Callable[..., Any]
) -> None:
    queue.offer("t", [*ranked(FIRST, *range(300, 304)), *ranked(SECOND, *range(300, 320))])
    spiders = [opened(Spider, url) for url in urls]
    idle, fetched = 0, 0
    while idle < 3:
        idle += 1
        for spider, member, client in zip(spiders, queue.members, clients, strict=True):
            for lease in spider.pages(4):
                spider.put(lease)
                fetched, idle = fetched + 1, 0
            spider.flush()
            ack_all(member, client)
        idle = 0 if queue.share_out("t") else idle
    counts = queue.counts("t")
    assert (fetched, counts.stored, counts.state) == (9, 9, CrawlState.FINISHED)


def test_the_harvest_of_a_crawl_is_that_of_all_servers(queue: QueueServers) -> None:
    for member, host, relevant in zip(queue.members, (FIRST, SECOND), (3, 0), strict=True):
        count_pages(member.topics, host, 40, relevant)
    assert queue.topics.harvest("t") == (80, 3)
    assert queue.topics.harvest("nothing") == (0, 0)


def test_a_server_with_worse_urls_waits_while_another_leases_better_ones(
    queue: QueueServers,
    workers: list[WorkingMember],
    urls: list[str],
    clients: list[Any],
    opened: Callable[..., Any],
) -> None:
    queue.offer("t", [*ranked(FIRST, 300, 310), *ranked(SECOND, 600, 610)])
    queue.share_out("t")
    first, second = (opened(Spider, url) for url in urls)
    fetched = []
    for spider in (first, second):
        for lease in spider.pages(1):
            fetched.append(lease.url)
            spider.put(lease)
    assert fetched == [f"http://{FIRST}/", f"http://{SECOND}/600"], "none has heard of the other"
    for client, host in zip(clients, (FIRST, SECOND), strict=True):
        let_time_pass(client, host)
    assert [lease.url for lease in first.lease(1)] == [f"http://{FIRST}/300"]
    assert workers[0].own_topics.leased_lately().keys() == {"t"}
    floors = TopicFloors(Context(settings=Settings(), frontier=workers[0], store=ANY, models=ANY))
    floors.round()
    assert clients[1].get("cc:elsewhere:t") == "300"
    workers[1].own_topics.hear("t", 500, 3000)
    assert clients[1].get("cc:elsewhere:t") == "300", "the best one counts"
    assert (second.ask().leases, second.ask().wait_ms) == ((), 500)
    clients[1].delete("cc:elsewhere:t")  # it has come to its end: the first one leases nothing
    assert [lease.url for lease in second.lease(1)] == [f"http://{SECOND}/610"]


def test_the_floor_is_one_for_all_servers(queue: QueueServers, clients: list[Any]) -> None:
    """Each server fetches five pages a minute: ten are what was asked."""
    assert queue.topics.steer("t", 600, 0) == 35
    clients[0].hincrby("cc:c:t", "steered_ms", -60_000)
    assert queue.topics.steer("t", 600, 10) == 35, "ten a minute, as asked"
    clients[0].hincrby("cc:c:t", "steered_ms", -60_000)
    assert queue.topics.steer("t", 600, 15) == 40
    assert [member.topics.floor("t") for member in queue.members] == [40, 40]
