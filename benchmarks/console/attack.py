"""Hostile requests to a console: floods, absurd requests, and connections that say little.

``python -m benchmarks.console.attack PORT`` goes on until SIGTERM, then prints how many requests
of each kind were sent, and what was answered. ``--sink`` is a server for the same that does
nothing with them: what the attack itself costs this machine is measured against it. For
``make bench-console``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import random
import re
import signal
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, cast
from urllib.parse import quote, urlencode

ANSWER_S = 5.0
MOST_OPEN = 150
"""Requests under way; more are not sent, as a client's machine would not."""

IDLE_S = 10.0
SLOW_S = 1.0
SLOW_HEADS = SLOW_BODIES = DEAF = 40
FORM = "Content-Type: application/x-www-form-urlencoded\r\n"


def request(line: str, headers: str = "", body: bytes = b"", host: str = "127.0.0.1") -> bytes:
    """One request over a connection that ends with it."""
    length = f"Content-Length: {len(body)}\r\n" if body else ""
    head = f"{line} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}{length}\r\n"
    return head.encode("latin-1") + body


class Requests:
    """Makes hostile requests."""

    def __init__(self, token: str, origin: str) -> None:
        """``token`` is of the login form, ``origin`` is the console's."""
        self._token, self._origin = token, origin
        self._chance = random.Random(1)  # noqa: S311 - the same requests every time

    def any(self) -> tuple[str, bytes]:
        """A request of some kind, with the kind's name."""
        (name,) = self._chance.choices([*KINDS], [share for share, _ in KINDS.values()])
        return name, KINDS[name][1](self)

    def login(self) -> bytes:
        """A wrong password, with the token of the form."""
        form = urlencode(
            {"token": self._token, "password": self._chance.randbytes(20).hex(), "to": "/"}
        )
        return request("POST /login", f"{FORM}Origin: {self._origin}\r\n", form.encode())

    def many_fields(self) -> bytes:
        """A form of 7,000 fields."""
        form = "&".join(f"f{n}={n}" for n in range(7_000)) + f"&token={self._token}"
        return request("POST /login", f"{FORM}Origin: {self._origin}\r\n", form.encode())

    def huge_form(self) -> bytes:
        """A form of two megabytes."""
        return request("POST /login", f"{FORM}Origin: {self._origin}\r\n", b"a=" + b"x" * (2 << 20))

    def long_password(self) -> bytes:
        """A password of 60,000 letters, and a way out to another site."""
        form = urlencode({"token": self._token, "password": "p" * 60_000, "to": "//evil.example/"})
        return request("POST /login", f"{FORM}Origin: {self._origin}\r\n", form.encode())

    def wrong_host(self) -> bytes:
        """A name that is not ours."""
        return request("GET /", host=f"h{self._chance.randrange(10**6)}.example")

    def huge_header(self) -> bytes:
        """A header of 100,000 bytes."""
        return request("GET /", f"X-Long: {'x' * 100_000}\r\n")

    def many_cookies(self) -> bytes:
        """2,000 cookies."""
        cookies = "; ".join(f"c{n}={self._chance.randrange(10**9)}" for n in range(2_000))
        return request("GET /hosts", f"Cookie: {cookies}\r\n")

    def absurd_query(self) -> bytes:
        """Numbers, characters and folders that nobody means."""
        queries = (
            f"/hosts?limit={'9' * 400}&after={'9' * 400}~{'x' * 400}",
            f"/hosts?q={'%25' * 2_000}",
            f"/pages?url={quote('http://[::' + 'a' * 4_000)}",
            f"/failures?after={quote(chr(0) * 50)}&reason={'r' * 3_000}",
            "/events?" + "&".join(f"after={n}" for n in range(3_000)),
            f"/login?to={'%2f' * 5_000}",
            f"/{'../' * 2_000}etc/passwd",
            f"/static/{'%2e%2e%2f' * 500}records.sqlite",
        )
        return request(f"GET {self._chance.choice(queries)}")

    def absurd_range(self) -> bytes:
        """4,000 parts of a file, and 1,000 tags."""
        ranges = ",".join(f"{n}-{n + 1}" for n in range(4_000))
        tags = ",".join(f'W/"{self._chance.randrange(10**9)}"' for _ in range(1_000))
        return request(
            "GET /static/console.js", f"Range: bytes={ranges}\r\nIf-None-Match: {tags}\r\n"
        )

    def bad_token(self) -> bytes:
        """A token that nobody made."""
        number, secret = self._chance.randbytes(4).hex(), self._chance.randbytes(24).hex()
        given = f"Authorization: Bearer cc_{number}_{secret}\r\n"
        return request("GET /api/v1/hosts?limit=200", given)

    def basic_guess(self) -> bytes:
        """A guessed password for the metrics."""
        return request("GET /metrics", "Authorization: Basic b3BlcmF0b3I6Z3Vlc3M=\r\n")

    def bad_action(self) -> bytes:
        """An action without a token, whose body is no JSON."""
        body = b"{" * 50_000
        headers = "Content-Type: application/json\r\nIdempotency-Key: " + "k" * 8_000 + "\r\n"
        return request("POST /api/v1/actions/pause_host", headers, body)

    def two_lengths(self) -> bytes:
        """A body whose length has two values, and a second request in it."""
        headers = "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"
        return request("POST /login", headers) + b"0\r\n\r\nGET /hosts HTTP/1.1\r\n\r\n"

    def bad_chunks(self) -> bytes:
        """A chunk of 17 terabytes."""
        return request("POST /login", "Transfer-Encoding: chunked\r\n") + b"fffffffffff\r\nx\r\n"

    def noise(self) -> bytes:
        """Bytes that are no HTTP."""
        return self._chance.randbytes(2_000) + b"\r\n\r\n"

    def pipeline(self) -> bytes:
        """51 requests at once."""
        return b"GET /help HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 50 + request("GET /healthz")


KINDS: dict[str, tuple[int, Callable[[Requests], bytes]]] = {
    "wrong password": (6, Requests.login),
    "many fields": (1, Requests.many_fields),
    "huge form": (1, Requests.huge_form),
    "long password": (1, Requests.long_password),
    "wrong host": (3, Requests.wrong_host),
    "huge header": (1, Requests.huge_header),
    "many cookies": (1, Requests.many_cookies),
    "absurd query": (3, Requests.absurd_query),
    "absurd range": (1, Requests.absurd_range),
    "bad token": (3, Requests.bad_token),
    "guess for metrics": (1, Requests.basic_guess),
    "bad action": (1, Requests.bad_action),
    "two lengths": (1, Requests.two_lengths),
    "bad chunks": (1, Requests.bad_chunks),
    "noise": (1, Requests.noise),
    "pipeline": (1, Requests.pipeline),
}
"""Kind -> (its share, what makes a request)."""


class Attack:
    """All kinds at once, until it is stopped."""

    def __init__(self, port: int, rate: float, idle: int, token: str) -> None:
        """Sends nothing yet.

        Args:
            port: Of the console.
            rate: Requests a second.
            idle: Connections that say nothing; each is left after ``IDLE_S`` and made anew.
            token: Of the login form.
        """
        self._port, self._rate, self._idle = port, rate, idle
        self._requests = Requests(token, f"http://127.0.0.1:{port}")
        self._under_way = 0
        self.sent: Counter[str] = Counter()
        self.answers: Counter[str] = Counter()

    async def run(self) -> None:
        """Attacks until it is cancelled."""
        held = [
            *(self._hold(self._stay_idle, n / max(1, self._idle)) for n in range(self._idle)),
            *(self._hold(self._slow_head, n / SLOW_HEADS) for n in range(SLOW_HEADS)),
            *(self._hold(self._slow_body, n / SLOW_BODIES) for n in range(SLOW_BODIES)),
            *(self._hold(self._read_nothing, n / DEAF) for n in range(DEAF)),
        ]
        async with asyncio.TaskGroup() as group:
            for each in held:
                group.create_task(each)
            group.create_task(self._flood(group))

    async def _flood(self, group: asyncio.TaskGroup) -> None:
        due = asyncio.get_running_loop().time()
        while True:
            due += 1 / self._rate
            await asyncio.sleep(max(0.0, due - asyncio.get_running_loop().time()))
            if self._under_way >= MOST_OPEN:
                self.answers["not sent: too many are under way"] += 1
                continue
            name, text = self._requests.any()
            self.sent[name] += 1
            group.create_task(self._one(text))

    async def _one(self, text: bytes) -> None:
        self._under_way += 1
        status = "cut"
        try:
            async with asyncio.timeout(ANSWER_S):
                reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
                try:
                    writer.write(text)
                    with suppress(ConnectionError):
                        await writer.drain()
                    line = await reader.readline()
                    status = line[9:12].decode("latin-1") if line.startswith(b"HTTP/") else "cut"
                    await reader.read(1 << 20)
                finally:
                    writer.transport.abort()
        except TimeoutError:
            status = "no answer"
        except OSError:
            pass
        finally:
            self._under_way -= 1
            self.answers[status] += 1

    async def _hold(
        self,
        stay: Callable[[asyncio.StreamWriter], Coroutine[Any, Any, None]],
        share: float,
    ) -> None:
        """Keeps one connection after the other, however they end; the first ones spread in time."""
        await asyncio.sleep(share * IDLE_S)
        loop = asyncio.get_running_loop()
        while True:
            left = loop.time() + IDLE_S
            with suppress(OSError, TimeoutError):
                async with asyncio.timeout(IDLE_S):
                    _, writer = await asyncio.open_connection("127.0.0.1", self._port)
                    try:
                        self.sent[stay.__name__.strip("_").replace("_", " ")] += 1
                        await stay(writer)
                    finally:
                        writer.transport.abort()
            await asyncio.sleep(max(0.0, left - loop.time()))

    async def _stay_idle(self, _writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(IDLE_S)

    async def _slow_head(self, writer: asyncio.StreamWriter) -> None:
        writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        for n in range(1_000):
            writer.write(f"X-{n}: {n}\r\n".encode())
            await writer.drain()
            await asyncio.sleep(SLOW_S)

    async def _slow_body(self, writer: asyncio.StreamWriter) -> None:
        head = f"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\n{FORM}Content-Length: 60000\r\n\r\n"
        writer.write(head.encode())
        for _ in range(1_000):
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(SLOW_S)

    async def _read_nothing(self, writer: asyncio.StreamWriter) -> None:
        asked = b"GET /static/console.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        cast(asyncio.Transport, writer.transport).pause_reading()
        writer.write(asked * 20)
        await asyncio.sleep(IDLE_S)


async def _attack(port: int, rate: float, idle: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request("GET /login"))
    found = re.search(rb'name="token" value="(\w+)"', await reader.read())
    writer.close()
    attack = Attack(port, rate, idle, found[1].decode() if found else "")
    await _until_stopped(attack.run())
    print(json.dumps({"sent": dict(attack.sent), "answers": dict(attack.answers)}), flush=True)


async def _sink(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Reads a request and answers, until the other side leaves."""
    with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = re.search(rb"Content-Length: (\d+)", head)
            if length:
                await reader.readexactly(min(int(length[1]), 1 << 16))
            writer.write(b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n")
            if b"Connection: close" in head:
                break
    writer.close()


async def _serve_sink() -> None:
    server = await asyncio.start_server(_sink, "127.0.0.1", 0, limit=1 << 17, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await _until_stopped(server.serve_forever())


async def _until_stopped(work: Coroutine[Any, Any, None]) -> None:
    task = asyncio.ensure_future(work)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    with suppress(asyncio.CancelledError):
        await task


def main() -> None:
    """Attacks, or is the sink."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("port", nargs="?", type=int, default=0)
    parser.add_argument("--rate", type=float, default=200.0)
    parser.add_argument("--idle", type=int, default=2_000)
    parser.add_argument("--sink", action="store_true")
    asked = parser.parse_args()
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # a line for each write that was cut
    asyncio.run(_serve_sink() if asked.sink else _attack(asked.port, asked.rate, asked.idle))


if __name__ == "__main__":
    main()
