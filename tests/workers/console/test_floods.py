"""Floods of connections and requests: users are answered, strangers wait."""

from __future__ import annotations

import re
import signal
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from crawlclean.workers.console import connections
from crawlclean.workers.console.connections import (
    CONNECTIONS,
    MOST_STRANGERS,
    STRANGERS_A_S,
    Door,
    Rate,
)
from crawlclean.workers.console.serving import open_server
from tests.kit.console import serving
from tests.kit.crawls import start
from tests.kit.timing import LIMIT_S, wait_until

SESSION = "s-of-a-user"


def answer(_environ: Any, start_response: Callable[..., object]) -> Iterable[bytes]:
    start_response("200 OK", [("Content-Length", "2")])
    return [b"ok"]


@pytest.fixture
def door() -> Door:
    """Knows one user; no time passes."""
    return Door({SESSION, "Bearer cc_1_2"}.__contains__, 2, clock=lambda: 0.0)


@pytest.fixture
def port(door: Door, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A server with connections as the console's, without the console; silence ends none."""
    monkeypatch.setattr(connections, "REQUEST_S", LIMIT_S)
    server, port = open_server(answer, door, host="127.0.0.1", port=0)
    with serving(server):
        yield port


def asked(port: int, path: str = "/", **headers: str) -> int:
    """Status of the answer over a new connection."""
    client = HTTPConnection("127.0.0.1", port, timeout=LIMIT_S)
    try:
        client.request("GET", path, headers=headers)
        found = client.getresponse()
        if found.status == 429:
            assert found.getheader("Retry-After")
            assert b"without a login" in found.read()
        return found.status
    finally:
        client.close()


@contextmanager
def silent(port: int, number: int) -> Iterator[list[socket.socket]]:
    """Connections that say nothing."""
    with ExitStack() as opened:
        yield [
            opened.enter_context(socket.create_connection(("127.0.0.1", port), LIMIT_S))
            for _ in range(number)
        ]


def test_silent_connections_give_way_the_oldest_first(port: int) -> None:
    with silent(port, CONNECTIONS + 50) as held:
        assert asked(port, Cookie=f"console_1={SESSION}") == 200
        for each in held[:50]:
            assert each.recv(1) == b""
        held[-1].setblocking(False)
        with pytest.raises(BlockingIOError):
            held[-1].recv(1)


def test_a_connection_that_was_used_outlives_older_silent_ones(port: int) -> None:
    with silent(port, CONNECTIONS - 1):
        user = HTTPConnection("127.0.0.1", port, timeout=LIMIT_S)
        user.request("GET", "/", headers={"Cookie": f"a=1; console_1={SESSION}"})
        assert user.getresponse().read() == b"ok"
        mine = user.sock
        with silent(port, CONNECTIONS - 2):
            assert asked(port) == 200  # so all others were accepted
            user.request("GET", "/", headers={"Cookie": f"console_1={SESSION}"})
            assert user.getresponse().status == 200
            assert user.sock is mine
        user.close()


def test_a_request_that_comes_byte_by_byte_is_given_up(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "REQUEST_S", 0.0)
    with silent(port, 1) as (slow,):
        slow.sendall(b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 90\r\n\r\n")

        def is_closed() -> bool:
            try:
                slow.sendall(b"x")
            except OSError:
                return True
            return False

        wait_until(is_closed, LIMIT_S)


def test_strangers_are_answered_at_a_rate_and_users_always(port: int, door: Door) -> None:
    for _ in range(int(MOST_STRANGERS)):
        assert door.is_welcome("/login", {"COOKIE": "console_1=guess; x"})
    assert asked(port, "/login") == 429
    assert asked(port, "/login", Cookie="console_1=guess") == 429
    assert asked(port, "/api/v1/now", Authorization="Bearer cc_1_3") == 429
    assert asked(port, "/healthz") == 200  # counted by itself
    assert asked(port, "/hosts", Cookie=f"language=zh; console_1={SESSION}") == 200
    assert asked(port, "/api/v1/now", Authorization="Bearer cc_1_2") == 200


def test_requests_in_one_go_are_counted_one_by_one(port: int, door: Door) -> None:
    for _ in range(int(MOST_STRANGERS) - 3):
        assert door.is_welcome("/", {})
    with silent(port, 1) as (client,):
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 20)
        told = b""
        while part := client.recv(1 << 16):
            told += part
    assert told.count(b"HTTP/1.1 200") == 3
    assert told.count(b"HTTP/1.1") in (3, 4)


def test_a_rate_recovers() -> None:
    now = [0.0]
    rate = Rate(STRANGERS_A_S, 3.0, clock=lambda: now[0])
    assert [rate.lets_through() for _ in range(4)] == [True, True, True, False]
    now[0] += 1.5 / STRANGERS_A_S
    assert [rate.lets_through() for _ in range(2)] == [True, False]
    now[0] += 1000.0
    assert [rate.lets_through() for _ in range(4)] == [True, True, True, False]


def test_the_command_is_not_kept_busy_by_silence(tmp_path: Path) -> None:
    secret = tmp_path / "password"
    secret.write_text("correct horse")
    console = start(
        "console", "--port", "0", "--data", str(tmp_path / "data"), "--password-file", str(secret)
    )
    assert console.stdout is not None
    try:
        place = re.search(r"//([\d.]+):(\d+)/", console.stdout.readline())
        assert place
        with silent(int(place[2]), CONNECTIONS + 20):
            assert asked(int(place[2]), "/healthz") == 200
    finally:
        console.send_signal(signal.SIGTERM)
        _, errors = console.communicate(timeout=LIMIT_S)
    assert (console.returncode, errors) == (0, "")
