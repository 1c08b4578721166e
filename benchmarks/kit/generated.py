"""A generated web: any number of hosts and pages, each page computed from its number on request.

The server is a separate process (``python -m benchmarks.kit.generated SPEC.json LOG`` prints its
port). It needs a small part of one core and keeps no page, so 50,000 pages of 40 KB need no memory.
Every host has a loopback address. Every request is a row of the log: address, arrival (header
complete), end (last byte given to the kernel, or client gone), status, Retry-After, ``whole`` or
``cut``, path; times in seconds of one monotonic clock::

    127.77.0.1 81.250113 81.290417 200 0 whole /p/17.html

The pages are defined in ``generated_site.py``.
"""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.forum.generated_forum import Forum, ForumSpec
from benchmarks.kit.generated_site import Answer, Site, WebSpec, sentences
from tests.kit.server_process import ServerProcess

LOG_S = 0.2
SLOW_PARTS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A request: seconds of one monotonic clock; ``cut`` when the client left before the end.

    ``wait_s`` is the Retry-After of the response.
    """

    address: str
    path: str
    arrival_s: float
    end_s: float
    status: int
    wait_s: float
    cut: bool


class GeneratedWeb(ServerProcess):
    """The process of the server, for a ``with`` block."""

    stop_signal = signal.SIGTERM  # it writes the rest of its log

    def __init__(self, folder: Path, spec: WebSpec | ForumSpec) -> None:
        """Prepares a server with its log in the folder."""
        folder.mkdir(parents=True, exist_ok=True)
        self.spec = spec
        spec_file, self._log = folder / "spec.json", folder / "visits.log"
        spec_file.write_text(json.dumps(asdict(spec)), "utf-8")
        super().__init__([sys.executable, "-m", __name__, str(spec_file), str(self._log)])

    def home(self, host: int) -> str:
        """Returns the URL of a host's home page."""
        return f"http://{self.spec.address(host)}:{self.port}/"

    def seeds(self) -> list[str]:
        """Returns the URLs from which all pages can be reached."""
        return [self.home(host) for host in range(self.spec.chains)]

    def visits(self) -> list[Visit]:
        """Returns the requests so far, except the last ``LOG_S`` seconds; all after the block."""
        rows = []
        for line in self._log.read_text("utf-8").splitlines():
            address, arrival, end, status, wait, cut, path = line.split(" ", 6)
            rows.append(
                Visit(
                    address=address,
                    path=path,
                    arrival_s=float(arrival),
                    end_s=float(end),
                    status=int(status),
                    wait_s=float(wait),
                    cut=cut == "cut",
                )
            )
        return rows


class _Connection(asyncio.Protocol):
    """A connection with one request at a time."""

    def __init__(self, site: Site | Forum, rows: list[str]) -> None:
        self._site = site
        self._rows = rows
        self._received = b""
        self._visit: tuple[float, str, Answer] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._is_whole = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - for the type checker
        transport.set_write_buffer_limits(0)
        self._transport = transport
        self._address = transport.get_extra_info("sockname")[0]

    def data_received(self, data: bytes) -> None:
        self._received += data
        if b"\r\n\r\n" not in self._received:
            return
        arrival = time.monotonic()
        head, _, self._received = self._received.partition(b"\r\n\r\n")
        path = head.split(b" ", 2)[1].decode("latin-1")
        answer = self._site.answer(self._address, path)
        self._visit, self._is_whole = (arrival, path, answer), False
        parts = [answer.head() + answer.body]
        if answer.slow_s:
            step = len(answer.body) // SLOW_PARTS + 1
            cuts = range(0, len(answer.body), step)
            parts = [answer.head(), *(answer.body[cut : cut + step] for cut in cuts)]
        pause = answer.slow_s / len(parts)
        if answer.latency_s:
            self._later(answer.latency_s, parts, pause)
        else:
            self._send(parts, pause)

    def _later(self, wait_s: float, parts: Sequence[bytes], pause_s: float) -> None:
        if self._timer:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(wait_s, self._send, parts, pause_s)

    def _send(self, parts: Sequence[bytes], pause_s: float) -> None:
        self._transport.write(parts[0])
        if len(parts) > 1:
            self._later(pause_s, parts[1:], pause_s)
            return
        self._is_whole = True
        if not self._transport.get_write_buffer_size():
            self._end("whole")

    def resume_writing(self) -> None:
        if self._is_whole:
            self._end("whole")

    def connection_lost(self, _exc: Exception | None) -> None:
        if self._timer:
            self._timer.cancel()
        self._end("cut")

    def _end(self, how: str) -> None:
        if self._visit:
            arrival, path, answer = self._visit
            self._visit = None
            self._rows.append(
                f"{self._address} {arrival:.6f} {time.monotonic():.6f} {answer.status} "
                f"{answer.wait_s} {how} {path}\n"
            )


def _listen(spec: WebSpec | ForumSpec) -> list[socket.socket]:
    """Opens one socket for each host, all with one port number."""
    while True:
        sockets: list[socket.socket] = []
        port = 0
        try:
            for host in range(spec.hosts):
                sockets.append(socket.create_server((spec.address(host), port), backlog=512))
                port = sockets[0].getsockname()[1]
        except OSError:  # another process has that port at one of the addresses
            for each in sockets:
                each.close()
            continue
        return sockets


async def _serve(spec: WebSpec | ForumSpec, log_path: Path) -> None:
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stopped.set)
    sockets = _listen(spec)
    port = sockets[0].getsockname()[1]
    site = Forum(spec) if isinstance(spec, ForumSpec) else Site(spec, port)
    rows: list[str] = []
    sentences()
    for each in sockets:
        await loop.create_server(lambda: _Connection(site, rows), sock=each)
    print(port, flush=True)
    with log_path.open("w", encoding="utf-8") as log:
        while rows or not stopped.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(stopped.wait(), LOG_S)
            written = list(rows)
            rows.clear()
            log.writelines(written)
            log.flush()


def _read_spec(path: Path) -> WebSpec | ForumSpec:
    given = json.loads(path.read_text("utf-8"))
    if "threads" in given:
        return ForumSpec(**given)
    return WebSpec(**{**given, "crawl_delays_s": tuple(given["crawl_delays_s"])})


if __name__ == "__main__":
    asyncio.run(_serve(_read_spec(Path(sys.argv[1])), Path(sys.argv[2])))
