"""A web server that answers with exactly the bytes it was given, and keeps every request."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Mapping

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
