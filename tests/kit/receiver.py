"""A webhook's receiver on loopback: keeps what it is sent, and answers as a test wants."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from tests.kit.timing import LIMIT_S


@dataclass(frozen=True)
class Delivered:
    """One POST.

    Attributes:
        path: Path and query.
        headers: By lower-case name.
        body: As sent.
    """

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def data(self) -> dict[str, Any]:
        """The story."""
        found: dict[str, Any] = json.loads(self.body)["data"]
        return found

    @property
    def json(self) -> dict[str, Any]:
        """The whole message."""
        found: dict[str, Any] = json.loads(self.body)
        return found


def hanging_until(release: threading.Event) -> Callable[[Delivered], int]:
    """The answer of a receiver that hangs until an event, ``LIMIT_S`` at most."""

    def hang(_: Delivered) -> int:
        release.wait(LIMIT_S)
        return 204

    return hang


class Receiver:
    """The receiver; ``answer`` gets a POST and returns a status, or waits before it does."""

    def __init__(self, answer: Callable[[Delivered], int] = lambda _: 204) -> None:
        """Starts when it is entered."""
        self.got: list[Delivered] = []
        self.answer = answer
        self.location = ""
        self.text = ""  # of its answers
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                delivered = Delivered(self.path, headers, body)
                receiver.got.append(delivered)
                self.send_response(receiver.answer(delivered))
                if receiver.location:
                    self.send_header("location", receiver.location)
                text = receiver.text.encode()
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: Any) -> None:
                """Prints nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    @property
    def url(self) -> str:
        """Its URL."""
        return f"http://127.0.0.1:{self._server.server_port}/stories"

    def __enter__(self) -> Receiver:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
