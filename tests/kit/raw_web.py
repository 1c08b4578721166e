"""A web server that says exactly the bytes it is told to, and remembers what it was asked."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self

Answer = bytes | Callable[[socket.socket], None]


def answer(body: bytes = b"<p>x", *headers: str, status: str = "200 OK") -> bytes:
    """An HTTP answer with a length."""
    head = [f"HTTP/1.1 {status}", "Content-Type: text/html", f"Content-Length: {len(body)}"]
    return "\r\n".join([*head, *headers]).encode("latin-1") + b"\r\n\r\n" + body


NOT_FOUND = answer(b"", status="404 Not Found")


class RawWeb:
    """One thread a connection; every answer ends its connection."""

    def __init__(
        self,
        answers: Mapping[str, Answer],
        address: str = "127.0.0.1",
        port: int = 0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._tls = tls
        self._answers = answers
        self._listener = socket.create_server((address, port))
        self.host = f"{address}:{self._listener.getsockname()[1]}"
        self.port: int = self._listener.getsockname()[1]
        self.heads: list[str] = []
        self.times: list[tuple[float, str]] = []
        self._threads: list[threading.Thread] = []

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

    def __enter__(self) -> Self:
        self._threads.append(threading.Thread(target=self._accept, daemon=True))
        self._threads[0].start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(5)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        connection.settimeout(20)
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
                said = self._answers.get(path, NOT_FOUND)
                if isinstance(said, bytes):
                    connection.sendall(said)
                else:
                    said(connection)
            except OSError:
                return
