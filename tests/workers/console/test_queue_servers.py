"""The console over two queue servers: every screen and resource, actions on both, one away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest
from flask.testing import FlaskClient
from redis import Redis

from cleaning.errors import ConfigError
from storage.queue.entries import process_name
from storage.queue.frontier import Frontier
from storage.queue.servers.stamps import KEY
from tests.kit.api import Program
from tests.kit.console import acting_console, do
from tests.kit.crawls import start
from tests.kit.queues import spec
from tests.kit.split_queue import CRAWL, HOSTS, SplitQueue, split_queue
from tests.kit.timing import LIMIT_S, wait_until
from workers.console.api.tokens import TokenScope
from workers.operations.api_tokens import make_token
from workers.operations.watching import kept_backends
from workers.operations.watching.kept_backends import KeptBackends

SCREENS = (
    *("/", "/crawls", f"/crawls/{CRAWL}", "/hosts", "/pages", f"/pages?url=http://{HOSTS[1]}/1"),
    *(f"/hosts/{HOSTS[1]}", "/failures", "/queues", "/traps", "/topics", "/events"),
    *("/space", "/help", "/readyz", "/metrics"),
)
RESOURCES = (
    "/now",
    "/queues",
    "/crawls",
    f"/crawls/{CRAWL}",
    "/hosts",
    "/failures/causes",
    "/events",
)


@pytest.fixture(scope="module")
def split(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SplitQueue]:
    with split_queue(tmp_path_factory.mktemp("split")) as made:
        yield made


@pytest.fixture(scope="module")
def console(split: SplitQueue) -> Iterator[FlaskClient]:
    """A console that allows actions."""
    with closing(KeptBackends(split.settings)) as backends:
        yield acting_console(split.settings, split.settings.storage.data, backends)


@pytest.fixture(scope="module")
def api(split: SplitQueue, console: FlaskClient) -> Program:
    token = make_token(split.settings.storage.data, "tests", TokenScope.READ, None).token
    return Program(console, token)


def test_every_screen_and_resource_reads_all_servers(console: FlaskClient, api: Program) -> None:
    answers = {address: console.get(address) for address in SCREENS}
    answers |= {address: api.get(address) for address in RESOURCES}
    for address, answer in answers.items():
        assert answer.status_code == 200, f"{address}: {answer.text}"
        assert "does not work with several queue servers" not in answer.text, address


def test_figures_are_of_all_servers_and_of_each(
    console: FlaskClient, api: Program, split: SplitQueue
) -> None:
    split.beat()
    queue = api.value("/queues")["queue"]
    assert [each["index"] for each in queue["servers"]] == [0, 1]
    assert [each["place"].split(" ")[0] for each in queue["servers"]] == split.urls
    for name in ("jobs", "pages_in_flight", "workers", "sweepers", "hosts"):
        assert [each[name] for each in queue["servers"]] == [1, 1], name
    assert queue["jobs"] == queue["pages_in_flight"] == 2
    workers = [each for each in queue["processes"] if each["role"] == "worker"]
    assert [each["server"] for each in workers] == [0, 1]
    page = console.get("/queues").text
    assert 'id="queue-servers"' in page
    for url in split.urls:
        assert url in page
    metrics = console.get("/metrics").text
    assert "\ncrawlclean_jobs 2\n" in metrics
    for index in range(2):
        assert f'\ncrawlclean_server_jobs{{server="{index}"}} 1\n' in metrics


def test_actions_act_on_the_server_of_a_host_or_on_all(
    console: FlaskClient, split: SplitQueue
) -> None:
    do(console, "pause_host", HOSTS[1], typed_why="too slow")
    paused = []
    for url in split.urls:
        with closing(Frontier(url)) as frontier:
            paused.append(frontier.paused_hosts())
    assert paused == [[], [HOSTS[1]]]
    do(console, "resume_host", HOSTS[1])

    before = split.pending()
    do(console, "retry_some", CRAWL, reason="timeout")
    assert split.pending() == [n + 1 for n in before]

    name = ".".join(process_name().split(".")[:2])
    do(console, "declare_dead", name)
    with closing(split.queue()) as queue:
        assert queue.processes.is_to_replace(name)
        assert queue.processes.take_to_replace([name]) == [name]
        assert queue.processes.is_replaced(name)


def test_long_actions_are_done_on_all_servers_by_workers_of_the_first(
    console: FlaskClient, split: SplitQueue
) -> None:
    worker = start("worker", **split.environment(CRAWLCLEAN_QUEUE_SERVER="0"))
    try:
        do(console, "purge_crawl", CRAWL, typed_typed=CRAWL)
        wait_until(lambda: split.store.operations.read(limit=1)[0].state.has_ended, limit_s=LIMIT_S)
    finally:
        worker.terminate()
        worker.communicate(timeout=LIMIT_S)
    (operation,) = split.store.operations.read(limit=1)
    assert operation.state == "done", operation.detail
    for url in split.urls:
        with closing(Frontier(url)) as frontier:
            assert frontier.crawl_ids() == []


def test_a_list_that_is_another_by_now_is_noticed(
    split: SplitQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_backends, "CHECK_S", 0.0)
    with closing(KeptBackends(split.settings)) as backends, Redis.from_url(split.urls[0]) as client:
        with backends.queue() as queue:
            queue.ping()
        stamp: Any = client.getset(KEY, "a,b,c 0")
        try:
            for _ in range(2):
                with ExitStack() as stack, pytest.raises(ConfigError, match="over 3 queue servers"):
                    stack.enter_context(backends.queue())
        finally:
            client.set(KEY, stamp)
        with backends.queue() as queue:
            queue.ping()


def test_a_server_that_is_away_is_named_and_the_others_go_on(
    split: SplitQueue, console: FlaskClient, api: Program
) -> None:
    """The last test: the second server stays away, then the first one, too."""
    with closing(split.queue()) as queue:
        queue.open_crawl(spec(CRAWL, *(f"http://{host}/0" for host in HOSTS), max_depth=0))
    assert 'crawlclean_server_up{server="1"} 1' in console.get("/metrics").text
    split.servers[1].kill()
    told = api.value("/queues")
    assert told["state"] == "answers"
    first, second = told["queue"]["servers"]
    assert (first["away"], first["hosts"]) == ("", 1)
    assert second["place"].split(" ")[0] == split.urls[1]
    assert second["away"]
    assert api.value("/now")["held_back"]["cause"] == "server_away"
    for address in ("/", "/queues"):
        assert split.urls[1] in console.get(address).text, address
    assert api.value(f"/crawls/{CRAWL}")["waiting"] == 1, "the figures of the first server"
    answers = {each: console.get(each) for each in SCREENS if HOSTS[1] not in each}
    answers[f"/hosts/{HOSTS[0]}"] = console.get(f"/hosts/{HOSTS[0]}")
    answers |= {address: api.get(address) for address in RESOURCES}
    for address, answer in answers.items():
        assert answer.status_code == 200, f"{address}: {answer.text}"
    metrics = answers["/metrics"].text
    assert 'crawlclean_server_up{server="1"} 0' in metrics
    assert "crawlclean_server_hosts" not in metrics
    assert 'crawlclean_server_workers{server="1"}' not in metrics
    assert "_total" not in metrics, "sums without a server look as if they had begun anew"

    split.servers[0].kill()
    assert api.value("/queues")["state"] == "away"
    assert console.get("/readyz").status_code == 503
