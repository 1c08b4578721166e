"""Connections kept between requests: no more than the process may have, gone when idle."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.web._newclient import HTTP11ClientProtocol

from benchmarks.kit.generated import GeneratedWeb
from benchmarks.kit.generated_site import WebSpec
from crawlclean.crawler.transfer.downloading import IDLE_S, IdleConnections
from tests.kit.crawls import command, environment
from tests.kit.timing import LIMIT_S

HOSTS = 90
FILES = 80


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pool(clock: Clock) -> IdleConnections:
    return IdleConnections(clock, 3)


def keep(pool: IdleConnections, host: str) -> StringTransport:
    """A connection to a host that has become idle."""
    connection, transport = HTTP11ClientProtocol(lambda _: None), StringTransport()  # type: ignore[no-untyped-call]
    connection.makeConnection(transport)  # type: ignore[no-untyped-call]
    pool._putConnection(host, connection)
    return transport


def take(pool: IdleConnections, host: str) -> Any:
    """A connection to a host, which must be a kept one."""
    return pool.getConnection(host, None).result


def test_the_connection_idle_longest_gives_way(pool: IdleConnections) -> None:
    first, second, third, fourth = (keep(pool, host) for host in ("a", "b", "a", "c"))
    assert first.disconnecting
    assert [each.disconnecting for each in (second, third, fourth)] == [False] * 3
    keep(pool, "d")
    assert second.disconnecting


def test_a_kept_connection_is_used_again(pool: IdleConnections, clock: Clock) -> None:
    transport = keep(pool, "a")
    clock.advance(IDLE_S - 1)
    take(pool, "a")
    clock.advance(IDLE_S)
    assert not transport.disconnecting


def test_an_idle_connection_is_closed_and_its_host_forgotten(
    pool: IdleConnections, clock: Clock
) -> None:
    transport = keep(pool, "a")
    clock.advance(IDLE_S)
    assert transport.disconnecting
    keep(pool, "b")
    take(pool, "b")
    assert (pool._connections, pool._timeouts) == ({}, {})


@pytest.mark.slow
def test_more_hosts_than_files(tmp_path: Path) -> None:
    with GeneratedWeb(tmp_path / "web", WebSpec(hosts=HOSTS, pages=1, chains=HOSTS)) as web:
        run = command("run", *web.seeds(), "--allow-private", "--json", "--data", "data")
        done = subprocess.run(
            ["sh", "-c", f'ulimit -n {FILES} && exec "$@"', "sh", *run],
            cwd=tmp_path,
            env=environment(CRAWLCLEAN_CONCURRENCY="8"),
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
    summary = json.loads(done.stdout)
    assert (summary["records"], summary["fetched"]) == (HOSTS, 2 * HOSTS), done.stderr
