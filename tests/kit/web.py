"""A real web server for tests: pages given as data, every request in a log file.

It is a process of its own, so killing a crawl never takes it down:
``python -m tests.kit.web PAGES.json LOG ADDRESS PORT`` prints its port; forked where that can be.
A page is an object with ``status``, ``headers``, ``body`` (text) or ``body_base64``,
``latency_ms``, ``held_by`` (a file: the answer waits until it is gone), ``referer`` (others get
403) and ``fault`` (``reset``, ``cut``, ``hang``);
paths under ``/trap/`` are made on demand (``trap_pages.py``), any other answers 404.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from tests.kit.server_process import ROOT, ServerProcess
from tests.kit.trap_pages import trap_page

REASONS = {200: "OK", 301: "Moved Permanently", 302: "Found", 404: "Not Found"}
Page = Mapping[str, Any] | str


class Web(ServerProcess):
    """The server's process, for a ``with`` block."""

    def __init__(
        self,
        folder: Path,
        pages: Mapping[str, Page],
        address: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        """Prepares a server of ``pages`` (path -> page, or its HTML as text); port 0 is any."""
        folder.mkdir(parents=True, exist_ok=True)
        self._requests = folder / "requests.log"
        self._requests.touch()
        given = folder / "pages.json"
        given.write_text(json.dumps(dict(pages)), "utf-8")
        files = (str(given), str(self._requests))
        super().__init__([sys.executable, "-m", "tests.kit.web", *files, address, str(port)])
        self.address = address
        self.port = port

    def _open(self, output: int | IO[bytes]) -> None:
        # Not at the top: a server would import the program.
        from tests.kit.forked import CAN_FORK, ForkedPopen

        if CAN_FORK and self.command[0] == sys.executable:  # not on another machine
            env = {**os.environ, "PYTHONPATH": str(ROOT)}
            self._process = ForkedPopen(self.command[1:], stdout=output, env=env, cwd=self.cwd)
        else:
            super()._open(output)

    @property
    def host(self) -> str:
        """The authority of its URLs."""
        return f"{self.address}:{self.port}"

    def url(self, path: str = "/") -> str:
        """The URL of a path."""
        return f"http://{self.host}{path}"

    def log(self) -> list[tuple[float, float, str]]:
        """(arrival, begin of the answer, path) of every request; monotonic seconds."""
        rows = []
        for line in self._requests.read_text("utf-8").splitlines():
            arrival, answered, path = line.split(" ", 2)
            rows.append((float(arrival), float(answered), path))
        return rows

    def requests(self) -> Counter[str]:
        """How often each path was asked for."""
        return Counter(path for _, _, path in self.log())


def html(title: str, *paragraphs: str, links: Mapping[str, str] | None = None) -> str:
    """A plain page: a title, paragraphs, and a list of links (href -> text)."""
    items = "".join(f'<li><a href="{h}">{t}</a></li>' for h, t in (links or {}).items())
    body = "".join(f"<p>{p}</p>" for p in paragraphs)
    return (
        f'<!DOCTYPE html><html lang="zh"><head><meta charset="utf-8"><title>{title}</title></head>'
        f"<body><h1>{title}</h1>{body}<ul>{items}</ul></body></html>"
    )


async def _answer(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, pages: Mapping[str, Page], log: Any
) -> None:
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            arrival = time.monotonic()
            path = head.split(b" ", 2)[1].decode("latin-1")
            page = pages.get(path) or trap_page(path) or {"status": 404, "body": "<h1>404</h1>"}
            if isinstance(page, str):
                page = {"body": page}
            told = f"\r\nReferer: {page.get('referer', '')}\r\n".encode()
            if "referer" in page and told not in head:
                page = {"status": 403, "body": "<h1>403</h1>"}
            if page.get("latency_ms"):
                await asyncio.sleep(page["latency_ms"] / 1000)
            while "held_by" in page and Path(page["held_by"]).exists():
                await asyncio.sleep(0.02)
            fault = page.get("fault", "")
            if fault == "hang":
                await asyncio.sleep(600)
            # Before the answer: who has it finds it in the log, and no pause after it looks short.
            log.write(f"{arrival:.6f} {time.monotonic():.6f} {path}\n")
            if fault != "reset":
                writer.write(encoded(page, cut=fault == "cut"))
                await writer.drain()
            if fault:
                writer.transport.abort()
                return
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


def encoded(page: Mapping[str, Any], *, cut: bool = False) -> bytes:
    """A page as an answer of HTTP; ``cut``: its second half is missing."""
    body = (
        base64.b64decode(page["body_base64"])
        if "body_base64" in page
        else str(page.get("body", "")).encode()
    )
    status = page.get("status", 200)
    headers = {"Content-Type": "text/html", "Content-Length": len(body), **page.get("headers", {})}
    lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + (body[: len(body) // 2] if cut else body)


async def _serve(pages: Mapping[str, Page], log_path: str, address: str, port: int) -> None:
    with open(log_path, "a", buffering=1, encoding="utf-8") as log:  # noqa: PTH123 - line buffered
        server = await asyncio.start_server(
            lambda r, w: _answer(r, w, pages, log), address, port, limit=1 << 16
        )
        print(server.sockets[0].getsockname()[1], flush=True)
        async with server:
            await server.serve_forever()


def main(arguments: Sequence[str]) -> int:
    """Serves pages until it is killed."""
    given, log, address, port = arguments
    asyncio.run(_serve(json.loads(Path(given).read_text("utf-8")), log, address, int(port)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
