"""Several queue servers: which has a host, which lists are refused, and what all have together.

More than 400 lines: a test of each operation over several servers.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Any

import pytest

from cleaning.errors import ConfigError, QueueUnavailable, StorageError
from cleaning.urls.normal_form import host_of, page_id
from storage.config import StorageConfig
from storage.crawl_types import CrawlSpec, CrawlState, Discovery, UrlState
from storage.live_state import ProcessRole
from storage.opening import join_queue
from storage.politeness_policy import Politeness, PolitenessPolicy
from storage.queue.frontier import Frontier
from storage.queue.maintenance import CrawlRebuilder, UrlReopener
from storage.queue.revisits import MOST_OF_A_HOST
from storage.queue.servers import meanings
from storage.queue.servers.members import Member, WorkingMember
from storage.queue.servers.moving import take_into_use
from storage.queue.servers.picking import fewest, take_server
from storage.queue.servers.shares import share_out
from storage.queue.servers.spread import PARTS, QueueServers, open_reopener
from storage.queue.servers.stamps import KEY, MOVING
from storage.queue.servers.topics import ONE_SERVERS_OWN
from storage.server_list import server_of
from storage.store.urls import Visit
from tests.kit.queue_server import QueueServer, empty_clients
from tests.kit.queues import Spider, ack_all, ended_url, job_ids, let_time_pass, pause_host, spec


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[QueueServer]]:
    folder = tmp_path_factory.mktemp("servers")
    with ExitStack() as stack:
        yield [stack.enter_context(QueueServer(folder / str(n))) for n in range(3)]


@pytest.fixture
def clients(servers: list[QueueServer]) -> Iterator[list[Any]]:
    """Plain clients of empty servers."""
    with empty_clients(servers) as made:
        yield made


@pytest.fixture
def urls(servers: list[QueueServer], clients: list[Any]) -> list[str]:
    assert clients
    return [each.url for each in servers]


@pytest.fixture
def opened(urls: list[str]) -> Iterator[Callable[..., Any]]:
    """Opens queues and spiders on empty servers, and closes them."""
    assert urls
    with ExitStack() as stack:

        def open_one(what: Callable[..., Any], *arguments: Any) -> Any:
            made = what(*arguments)
            stack.callback(made.close)
            return made

        yield open_one


def config(*urls: str, index: int | None = None) -> StorageConfig:
    return StorageConfig(redis_url=",".join(urls), queue_server=index)


def hosts_of(index: int, number: int, count: int = 1) -> list[str]:
    """Hosts of one server, each of a domain of its own."""
    names = (f"s{n}.example" for n in range(1000))
    found = [name for name in names if server_of(name, number) == index]
    return found[:count]


def pages_only(crawl_id: str, *seeds: str, **more: Any) -> CrawlSpec:
    """A crawl that reads no sitemaps."""
    return spec(crawl_id, *seeds, max_depth=0, **more)


def page(host: str, n: int = 0) -> Discovery:
    return Discovery(url=f"http://{host}/{n}")


def test_lists_that_differ_are_refused_in_one_line(
    urls: list[str], clients: list[Any], opened: Callable[..., Any]
) -> None:
    a, b, c = urls
    assert opened(join_queue, config(a, b)).crawl_ids() == []

    def refusal(*those: str) -> str:
        with pytest.raises(ConfigError) as refused:
            join_queue(config(*those))
        assert "\n" not in str(refused.value)
        return str(refused.value)

    assert "is number 0 of this list, and number 1 of the list" in refusal(b, a)
    assert "hosts are split over 2 queue servers, this list has 3" in refusal(a, b, c)
    assert "is one of 2 over which hosts are split: give all" in refusal(a)
    assert "another Redis server than the one over which hosts were split" in refusal(a, c)
    clients[2].flushall()
    assert "lead to the same Redis server" in refusal(c, c)
    clients[1].flushall()
    assert "or has lost its data; `recover --servers`" in refusal(a, b)
    clients[0].set(KEY, MOVING)
    assert "run `recover --servers` again" in refusal(a, b)


def test_servers_with_crawls_are_not_split_in_passing(
    urls: list[str], opened: Callable[..., Any]
) -> None:
    opened(Frontier, urls[0]).open_crawl(spec("c"))
    with pytest.raises(ConfigError, match="holds crawls that are not split over this list"):
        join_queue(config(*urls[:2]))
    assert opened(join_queue, config(urls[0])).crawl_ids() == ["c"], "it is left as it was"


def test_a_process_takes_the_server_with_the_fewest_of_its_kind(
    urls: list[str], opened: Callable[..., Any]
) -> None:
    with pytest.raises(QueueUnavailable, match="is not one of several queue servers yet"):
        opened(WorkingMember, urls, 0).check()
    assert take_server(config(urls[0]), ProcessRole.WORKER).queue_server is None
    took = take_server(config(*urls), ProcessRole.WORKER).queue_server
    assert took == 0, "the servers are split, and workers take turns"
    turns = [fewest(urls, ProcessRole.WORKER) for _ in range(3)]
    assert turns == [1, 2, 0], "none is heard yet"
    opened(WorkingMember, urls, 1).processes.beat(ProcessRole.WORKER)
    assert 1 not in [fewest(urls, ProcessRole.WORKER) for _ in range(3)]
    assert take_server(config(*urls, index=2), ProcessRole.SPIDER).queue_server == 2
    for role in (ProcessRole.KEEPER, ProcessRole.SENDER):
        assert take_server(config(*urls, index=1), role).queue_server is None, "it works on all"


def test_every_operation_has_a_meaning_or_is_refused(
    urls: list[str], opened: Callable[..., Any]
) -> None:
    queue = opened(QueueServers, ",".join(urls))

    def names(of: Any) -> set[str]:
        return {n for n, _ in inspect.getmembers(of, callable) if not n.startswith("_")}

    own = {name for name in vars(QueueServers) if not name.startswith("_")}
    known = meanings.QUEUE.keys() | meanings.ONE_SERVERS_OWN | own
    assert names(Frontier) - known == {"check_alone"}, "a new operation needs a meaning"
    assert meanings.QUEUE.keys() <= names(Frontier)
    single = opened(Frontier, urls[0])
    for part, table in PARTS.items():
        assert table.keys() <= names(getattr(single, part)), part
    assert names(UrlReopener) == meanings.REOPENING.keys()
    assert names(CrawlRebuilder) == meanings.REBUILDING.keys() | {"begin"}
    with pytest.raises(ConfigError, match="does not work with several queue servers yet"):
        queue.ack("j1", [])
    assert names(queue.topics) == names(single.topics) - ONE_SERVERS_OWN
    assert names(queue.topics.hosts("c")) == names(single.topics.hosts("c"))


def test_crawls_that_need_one_server_are_refused(
    urls: list[str], opened: Callable[..., Any]
) -> None:
    queue = opened(QueueServers, ",".join(urls))
    by_address = PolitenessPolicy(politeness=Politeness.IP)
    with pytest.raises(ConfigError, match="does not work with several queue servers"):
        queue.open_crawl(spec(policy=by_address))
    assert queue.crawl_ids() == []


def crawl_all(queue: QueueServers, spiders: list[Spider], clients: list[Any]) -> list[str]:
    """Fetches and ends what the servers lease, in turn, and shares budgets; the fetched URLs."""
    fetched: list[str] = []
    idle = 0
    while idle < 3:
        idle += 1
        for spider, member, client in zip(spiders, queue.members, clients, strict=True):
            for lease in spider.pages(8):
                spider.put(lease)
                fetched.append(lease.url)
                idle = 0
            spider.flush()
            ack_all(member, client)
        for crawl in queue.crawl_ids():
            idle = 0 if queue.share_out(crawl) else idle
    return fetched


def test_a_crawl_is_on_all_servers_and_ends_when_all_have_ended(
    urls: list[str], clients: list[Any], opened: Callable[..., Any]
) -> None:
    number = len(urls)
    hosts = [host for index in range(number) for host in hosts_of(index, number, 2)]
    queue = opened(QueueServers, ",".join(urls))
    spiders = [opened(Spider, url) for url in urls]
    queue.open_crawl(pages_only("c", f"http://{hosts[0]}/0"))
    assert queue.counts("c").state is CrawlState.RUNNING
    worker = opened(WorkingMember, urls, 0)
    found = [page(host, n) for n in range(2) for host in hosts]
    marks = worker.offer("c", [*found, found[3]])
    assert marks == [host != hosts[0] or n != 0 for n in range(2) for host in hosts] + [False]
    for index, url in enumerate(urls):
        assert opened(Frontier, url).hosts("c") == sorted(hosts_of(index, number, 2))
    counts = queue.counts("c")
    assert (counts.pending, counts.hosts) == (len(found), len(hosts))
    assert sorted(crawl_all(queue, spiders, clients)) == sorted(each.url for each in found)
    counts = queue.counts("c")
    assert (counts.state, counts.done, counts.open) == (CrawlState.FINISHED, len(found), 0)
    queue.set_state("c", CrawlState.PAUSED)
    assert {opened(Frontier, url).counts("c").state for url in urls} == {CrawlState.PAUSED}
    pause_host(queue, hosts[2])
    assert queue.paused_hosts() == [hosts[2]]
    assert opened(Frontier, urls[1]).paused_hosts() == [hosts[2]]
    assert queue.purge("c") == len(found)
    assert queue.crawl_ids() == []


def test_a_crawl_that_goes_on_while_spiders_look_is_fetched(
    urls: list[str], opened: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    (host,) = hosts_of(1, 2)
    queue = opened(QueueServers, ",".join(urls[:2]))
    order = pages_only("c", f"http://{host}/0")
    queue.open_crawl(order)
    queue.set_state("c", CrawlState.STOPPED)
    spider, run = opened(Spider, urls[1]), queue.members[1]._run

    def look_before(*arguments: Any) -> Any:
        assert not spider.lease()
        return run(*arguments)

    monkeypatch.setattr(queue.members[1], "_run", look_before)
    queue.open_crawl(order)
    assert [lease.url for lease in spider.pages()] == [f"http://{host}/0"]


def test_a_page_whose_links_are_under_way_keeps_the_crawl_open(
    urls: list[str], clients: list[Any], opened: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    target, here = hosts_of(0, 2)[0], hosts_of(1, 2)[0]
    queue = opened(QueueServers, ",".join(urls[:2]))
    queue.open_crawl(pages_only("c", f"http://{here}/0"))
    worker = opened(WorkingMember, urls[:2], 1)
    spider = opened(Spider, urls[1])
    (lease,) = spider.pages()
    spider.put(lease)
    spider.flush()
    (job,) = job_ids(clients[1])
    (claimed,) = worker.claim(job, "w")
    first, looks = queue.members[0], 0
    look = first.parts_of

    def look_before_it_moves(names: Sequence[str]) -> Any:
        """The link arrives where it was looked at, and its page ends where it was not yet."""
        nonlocal looks
        found = look(names)
        looks += 1
        if looks == 1:
            assert worker.offer("c", [page(target)]) == [True]
            assert worker.ack(job, [(claimed, UrlState.RECORD)]) == 1
        return found

    monkeypatch.setattr(first, "parts_of", look_before_it_moves)
    counts = queue.counts("c")
    assert (counts.state, counts.pending) == (CrawlState.RUNNING, 1)
    assert looks > 1, "one look found no open URL"


@pytest.mark.parametrize("limit", [1, 7, 50])
def test_the_budget_is_spent_to_the_page_wherever_the_urls_are(
    urls: list[str], clients: list[Any], opened: Callable[..., Any], limit: int
) -> None:
    number = len(urls)
    queue = opened(QueueServers, ",".join(urls))
    spiders = [opened(Spider, url) for url in urls]
    # One server has nearly all URLs, another few, the third none.
    rich, poor = hosts_of(2, number)[0], hosts_of(0, number)[0]
    queue.open_crawl(pages_only("c", f"http://{poor}/0", max_pages=limit))
    queue.offer("c", [page(poor, 1), page(poor, 2), *(page(rich, n) for n in range(60))])
    fetched = crawl_all(queue, spiders, clients)
    assert len(fetched) == limit
    counts = queue.counts("c")
    assert (counts.stored, counts.budget_left, counts.state) == (limit, 0, CrawlState.FINISHED)
    assert counts.is_spent
    queue.open_crawl(pages_only("c", f"http://{poor}/0", max_pages=limit + 5))
    assert len(crawl_all(queue, spiders, clients)) == 5
    queue.open_crawl(pages_only("c", f"http://{poor}/0"))
    assert queue.counts("c").budget_left is None
    assert len(crawl_all(queue, spiders, clients)) == 63 - limit - 5


def test_shares_never_exceed_the_budget_whoever_stops_where(
    urls: list[str], clients: list[Any], opened: Callable[..., Any]
) -> None:
    number, limit = len(urls), 40
    queue = opened(QueueServers, ",".join(urls))
    queue.open_crawl(pages_only("c", f"http://{hosts_of(0, number)[0]}/0", max_pages=limit))
    found = [page(hosts_of(i, number)[0], n) for i in range(number) for n in range(30)]
    queue.offer("c", found)
    spiders = [opened(Spider, url) for url in urls]
    chance = random.Random(7)

    class Stops:
        """A server before which a round may stop for ever, or let another round pass first."""

        def __init__(self, member: Member) -> None:
            self.member, self.client = member, member.client

        def share(self, *args: Any) -> Any:
            if chance.random() < 0.1:
                raise QueueUnavailable("the process died")
            if chance.random() < 0.15:
                share_out(queue.members, "c")
            return self.member.share(*args)

    stopping = [Stops(member) for member in queue.members]
    for _ in range(120):
        with suppress(QueueUnavailable):
            share_out(stopping, "c")
        shares = [int(c.hget("cc:c:c", "max")) for c in clients]
        assert sum(shares) <= limit, shares
        spider = chance.choice(spiders)
        for lease in spider.pages(2):
            spider.put(lease)
    clients[0].delete("cc:rounds")  # the first server has lost its last second
    share_out(queue.members, "c")
    crawl_all(queue, spiders, clients)
    assert queue.counts("c").stored == limit


def test_due_pages_wait_on_the_servers_of_their_hosts(
    urls: list[str], clients: list[Any], opened: Callable[..., Any]
) -> None:
    number = len(urls)
    hosts = [hosts_of(index, number)[0] for index in range(number)]
    queue = opened(QueueServers, ",".join(urls))
    seeds = [f"http://{host}/0" for host in hosts]
    queue.open_crawl(pages_only("c", *seeds, keep_fresh=True, max_pages=number))
    spiders = [opened(Spider, url) for url in urls]
    assert sorted(crawl_all(queue, spiders, clients)) == sorted(seeds)
    counts = queue.counts("c")
    assert (counts.state, counts.budget_left) == (CrawlState.RUNNING, 0), "it does not end"

    assert queue.revisits.lock("first", 60_000)
    assert not queue.revisits.lock("second", 60_000), "one keeper for all servers"
    due = [Visit(page_id=page_id(u), url=u, host=host_of(u), was=UrlState.RECORD) for u in seeds]
    many = [replace(due[1], page_id=f"{n:032x}", url=f"{seeds[1]}{n}") for n in range(70)]
    assert queue.revisits.offer("c", [*due, *many, due[0]]) == number + MOST_OF_A_HOST - 1
    assert queue.revisits.full_hosts("c") == {hosts[1]}
    found = [member.counts("c").revisits for member in queue.members]
    assert found == [MOST_OF_A_HOST if i == 1 else 1 for i in range(number)]
    assert queue.counts("c").revisits == sum(found)
    for client, host in zip(clients, hosts, strict=True):
        let_time_pass(client, host)
    (visit,) = spiders[2].pages(1)
    assert (visit.url, visit.is_revisit) == (seeds[2], True), "the spent budget does not hold it"
    assert queue.revisits.forget("c") == sum(found) - 1


def test_other_servers_get_what_is_of_their_hosts(
    urls: list[str], clients: list[Any], opened: Callable[..., Any]
) -> None:
    number = len(urls)
    hosts = [hosts_of(index, number)[0] for index in range(number)]
    queue = opened(QueueServers, ",".join(urls))
    queue.open_crawl(pages_only("c", *(f"http://{host}/0" for host in hosts)))
    worker = opened(WorkingMember, urls, 1)
    worker.widen("c", f"http://{hosts[0]}/moved")
    assert all(member.more_hosts("c") == {hosts[0]} for member in queue.members)
    member = opened(Member, urls[2], worker.place)
    with pytest.raises(ConfigError, match="is number 1 of this list, and number 2"):
        member.check()
    spiders = [opened(Spider, url) for url in urls]
    assert len(crawl_all(queue, spiders, clients)) == number
    ends = [ended_url(f"http://{host}/0") for host in hosts]
    reopener = opened(open_reopener, ",".join(urls))
    assert reopener.reopen("c", ends) == number
    assert [member.counts("c").pending for member in queue.members] == [1] * number


def test_a_list_is_taken_into_use_at_rest_alone(
    urls: list[str], clients: list[Any], opened: Callable[..., Any]
) -> None:
    opened(Frontier, urls[0]).open_crawl(spec("c"))
    worker = opened(Frontier, urls[0])
    worker.processes.beat(ProcessRole.WORKER)
    kept: list[str] = []

    def keep(each: Any) -> None:
        kept.append(each.crawl_id)

    with pytest.raises(StorageError, match="stop all spiders, workers and sweepers"):
        take_into_use(urls[:2], keep)
    worker.processes.leave(ProcessRole.WORKER)
    assert take_into_use(urls[:2], keep) == 1
    assert kept == ["c"]
    assert opened(join_queue, config(*urls[:2])).crawl_ids() == []
    assert take_into_use(urls[1:2], keep) == 0
    assert opened(join_queue, config(urls[1])).crawl_ids() == []
    assert clients[1].get(KEY) is None
