"""Web servers that answer with exactly the bytes they were given, and keep every request."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

from tests.kit.server_process import SocketServer
from tests.kit.timing import LIMIT_S

Answer = bytes | Callable[[socket.socket], None]


def answer(body: bytes = b"<p>x", *headers: str, status: str = "200 OK") -> bytes:
    """An HTTP answer with a length."""
    head = [f"HTTP/1.1 {status}", "Content-Type: text/html", f"Content-Length: {len(body)}"]
    return "\r\n".join([*head, *headers]).encode("latin-1") + b"\r\n\r\n" + body


NOT_FOUND = answer(b"", status="404 Not Found")


class RawWeb(SocketServer):
    """One thread a connection; every answer ends its connection."""

    def __init__(
        self,
        answers: Mapping[str, Answer],
        address: str = "127.0.0.1",
        port: int = 0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__(address, port)
        self._tls = tls
        self.answers = dict(answers)
        self.heads: list[str] = []
        self.times: list[tuple[float, str]] = []

    def url(self, path: str = "/", scheme: str = "http") -> str:
        """The URL of a path."""
        return f"{scheme}://{self.host}{path}"

    def paths(self) -> list[str]:
        """What was asked for, in order."""
        return [path for _, path in self.times]

    def head_of(self, path: str) -> dict[str, str]:
        """The headers of the first request for a path, by lower-case name."""
        head = next(h for h in self.heads if h.split(" ")[1] == path)
        pairs = (line.partition(": ") for line in head.split("\r\n")[1:] if line)
        return {name.lower(): value for name, _, value in pairs}

    def serve(self, connection: socket.socket) -> None:
        connection.settimeout(LIMIT_S)
        if self._tls:
            try:
                connection = self._tls.wrap_socket(connection, server_side=True)
            except OSError:
                connection.close()
                return
        with connection:
            head = b""
            try:
                while b"\r\n\r\n" not in head:
                    more = connection.recv(65536)
                    if not more:
                        return
                    head += more
                    if head[0] == 0x16:  # a TLS greeting
                        connection.sendall(NOT_FOUND)
                        return
                text = head.decode("latin-1")
                path = text.split(" ")[1]
                self.heads.append(text)
                self.times.append((time.monotonic(), path))
                said = self.answers.get(path, NOT_FOUND)
                if isinstance(said, bytes):
                    connection.sendall(said)
                else:
                    said(connection)
            except OSError:
                return


class KeepingWeb(SocketServer):
    """Keeps connections, and closes each without a word: one thread a connection.

    Attributes:
        times: When each path was asked for (monotonic seconds).
        lost: When a connection was closed with a request that was read and not answered.
    """

    def __init__(self, most: int, idle_s: float = LIMIT_S, address: str = "127.0.0.1") -> None:
        """Listens.

        Args:
            most: Requests that a connection answers; it is closed when the next one is read.
            idle_s: How long it waits for a request before it is closed.
            address: Where it listens.
        """
        super().__init__(address)
        self.most = most
        self.idle_s = idle_s
        self.times: list[tuple[float, str]] = []
        self.lost: list[float] = []

    def url(self, path: str) -> str:
        """The URL of a path."""
        return f"http://{self.host}{path}"

    def paths(self) -> list[str]:
        """What was asked for, in order."""
        return [path for _, path in self.times]

    def serve(self, connection: socket.socket) -> None:
        connection.settimeout(self.idle_s)
        with connection, suppress(OSError):
            for n in range(self.most + 1):
                head = b""
                while b"\r\n\r\n" not in head:
                    more = connection.recv(65536)
                    if not more:
                        return
                    head += more
                path = head.decode("latin-1").split(" ")[1]
                self.times.append((time.monotonic(), path))
                if n == self.most:
                    self.lost.append(time.monotonic())
                    return
                connection.sendall(NOT_FOUND if path == "/robots.txt" else answer())
