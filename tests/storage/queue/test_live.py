"""The queue at one moment, and the heartbeats of its processes."""

from __future__ import annotations

from typing import Any

from crawlclean.storage.crawl_types import CrawlState
from crawlclean.storage.live_state import HEARTBEAT_S, ProcessRole
from crawlclean.storage.queue import live as heartbeats
from crawlclean.storage.queue.entries import process_name
from crawlclean.storage.queue.frontier import Frontier
from tests.kit.queues import A, B, Spider, pause_host, spec


def test_an_empty_queue(frontier: Frontier) -> None:
    now = frontier.now()
    assert (now.jobs, now.leases, now.spiders, now.hosts) == (0, 0, 0, 0)
    assert (now.oldest_job_s, now.oldest_lease_s, now.oldest_claim_s) == (None, None, None)
    assert [now.sessions, now.claims, now.processes, now.holds] == [[], [], [], []]
    assert now.damage == ""
    assert now.memory_bytes > 0


def test_what_is_leased_queued_and_claimed_is_counted_with_its_age(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", A, f"{A}1", B))
    pages = spider.pages(2)
    now = frontier.now()
    assert [(each.name, each.is_alive, each.leases) for each in now.sessions] == [
        (spider.queue.session, True, 2)
    ]
    assert now.leases == 2
    assert now.oldest_lease_s is not None
    for page in pages:
        assert spider.put(page)
    spider.flush()
    now = frontier.now()
    assert (now.jobs, now.pages_in_flight, now.leases) == (2, 2, 0)
    assert now.oldest_job_s is not None
    client.zadd("cc:jobs", {client.zrange("cc:jobs", 0, 0)[0]: 1}, xx=True)
    assert (frontier.now().oldest_job_s or 0) > 1e6
    job = client.zrange("cc:jobs", 0, 0)[0]
    (held,) = frontier.claim(job, "w.1.x")
    frontier.mark(job, held.page_id)
    now = frontier.now()
    (claim,) = now.claims
    assert (claim.job_id, claim.worker, claim.crawl_id, claim.host) == (
        job, "w.1.x", "c", held.host,
    )  # fmt: skip
    assert (claim.pages, claim.page_id, claim.is_alive) == (1, held.page_id, True)
    assert now.oldest_claim_s == claim.age_s
    client.zadd("cc:claims", {job: 1})
    client.zadd("cc:spiders", {spider.queue.session: 1})
    now = frontier.now()
    assert not now.claims[0].is_alive
    assert now.spiders == 0


def test_counts_of_many_crawls_are_those_of_each(frontier: Frontier) -> None:
    for name in "abc":
        frontier.open_crawl(spec(name, A, f"{A}{name}"))
    frontier.set_state("b", CrawlState.PAUSED)
    found = frontier.counts_of(["a", "b", "nobody", "c"])
    assert found == {name: frontier.counts(name) for name in "abc"}
    assert frontier.counts_of([]) == {}


def test_a_process_is_heard_until_it_leaves(frontier: Frontier) -> None:
    frontier.processes.beat(ProcessRole.HOUSEKEEPER, "sweeping")
    frontier.processes.beat(ProcessRole.HOUSEKEEPER, "too soon: nothing is stored")
    (found,) = frontier.now().processes
    assert (found.name, found.role) == (process_name(), ProcessRole.HOUSEKEEPER)
    assert f"{found.machine}.{found.pid}" == found.name
    assert found.work == "sweeping"
    assert found.silent_s < 30
    assert [each.name for each in frontier.now().of_role(ProcessRole.HOUSEKEEPER)] == [found.name]
    frontier.processes.leave(ProcessRole.HOUSEKEEPER)
    assert frontier.now().processes == []
    assert frontier.processes.take_silent() == []


def test_a_silent_process_is_taken_once(frontier: Frontier, client: Any) -> None:
    frontier.processes.beat(ProcessRole.WORKER)
    assert 0 < client.ttl(f"cc:who:{process_name()}") <= heartbeats.REMEMBERED_S
    assert frontier.processes.take_silent() == []
    frontier.expire_process("another.1")
    assert frontier.processes.take_silent() == []
    frontier.expire_process(process_name())
    assert frontier.processes.take_silent() == [(ProcessRole.WORKER, process_name())]
    assert frontier.processes.take_silent() == []
    assert frontier.now().processes == []


def fall_silent(client: Any, silent_s: float) -> None:
    """Lets this process be unheard for so long."""
    member = f"worker {process_name()}"
    heard = client.zscore("cc:who", member)
    client.zadd("cc:who", {member: heard - silent_s * 1000})


def test_a_lost_process_is_remembered_until_it_is_heard(frontier: Frontier, client: Any) -> None:
    frontier.processes.beat(ProcessRole.WORKER)
    fall_silent(client, heartbeats.LIFE_S + 10)
    (lost,) = frontier.now().lost
    assert lost.name == process_name()
    assert lost.silent_s >= heartbeats.LIFE_S + 10
    assert frontier.now().processes == []
    assert frontier.processes.take_silent() == [(ProcessRole.WORKER, process_name())]
    assert frontier.processes.take_silent() == [], "its silence is told once"
    assert len(frontier.now().lost) == 1
    heartbeats.Processes(client, frontier.processes._scripts).beat(ProcessRole.WORKER)
    assert frontier.now().lost == []
    assert len(frontier.now().processes) == 1
    fall_silent(client, heartbeats.LIFE_S)
    assert len(frontier.processes.take_silent()) == 1, "silent anew"


def test_a_lost_process_is_forgotten_when_it_is_declared_dead(
    frontier: Frontier, client: Any
) -> None:
    frontier.processes.beat(ProcessRole.WORKER)
    fall_silent(client, heartbeats.LIFE_S)
    assert len(frontier.processes.take_silent()) == 1
    frontier.expire_process(process_name())
    assert frontier.now().lost == []
    assert frontier.processes.take_silent() == [], "its death was told"
    heartbeats.Processes(client, frontier.processes._scripts).beat(ProcessRole.WORKER)
    fall_silent(client, heartbeats.REMEMBERED_S)
    assert frontier.processes.take_silent() == []
    assert frontier.now().lost == [], "nobody declared it dead for six hours"


def test_one_supervisor_is_asked_to_replace_a_process(frontier: Frontier, client: Any) -> None:
    frontier.processes.ask_to_replace("web1.4711")
    assert 0 < client.ttl("cc:replace") <= heartbeats.REPLACED_S
    assert frontier.processes.take_to_replace(["web2.4711", "web1.47"]) == []
    assert frontier.processes.take_to_replace(["web1.4712", "web1.4711"]) == ["web1.4711"]
    assert frontier.processes.take_to_replace(["web1.4711"]) == []


def test_the_age_of_the_server_is_known(frontier: Frontier) -> None:
    now = frontier.now()
    assert now.up_s >= 0
    assert now.is_starting == (now.up_s < HEARTBEAT_S)


def test_a_spider_beats_with_its_session(frontier: Frontier, spider: Spider) -> None:
    spider.run(spider.queue.renew())
    (found,) = frontier.now().of_role(ProcessRole.SPIDER)
    assert found.name == spider.queue.session
    spider.close()
    assert frontier.now().processes == []


def test_a_new_run_forgets_the_processes_of_the_last_one(frontier: Frontier) -> None:
    frontier.processes.beat(ProcessRole.HOUSEKEEPER)
    frontier.expire_sessions()
    assert frontier.processes.take_silent() == []


def test_a_pause_has_its_time_who_and_why(frontier: Frontier) -> None:
    frontier.open_crawl(spec("c", A, B))
    pause_host(frontier, "b.example", "root@machine", "too slow")
    pause_host(frontier, "a.example")
    first, second = frontier.pauses()
    assert (first.host, first.who, first.why) == ("a.example", "", "")
    assert (second.host, second.who, second.why) == ("b.example", "root@machine", "too slow")
    pause_host(frontier, "b.example", "somebody", "else")
    assert frontier.pauses()[1] == second, "a paused host keeps its time, who, and why"
    assert frontier.now().paused_hosts == 2
    frontier.resume_host("b.example")
    assert frontier.paused_hosts() == ["a.example"]
