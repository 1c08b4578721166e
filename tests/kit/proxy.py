"""A small forwarding proxy: absolute URLs and CONNECT, names of its own, a password."""

from __future__ import annotations

import socket
import threading
from base64 import b64encode
from collections.abc import Mapping
from urllib.parse import urlsplit

from tests.kit.server_process import SocketServer

DENIED = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"


class Proxy(SocketServer):
    """Forwards one request a connection to the (address, port) that a host has in ``names``."""

    def __init__(self, names: Mapping[str, str], user: str, password: str) -> None:
        super().__init__()
        self._names = names
        self._secret = "Basic " + b64encode(f"{user}:{password}".encode()).decode()
        self.asked: list[str] = []

    def serve(self, connection: socket.socket) -> None:
        """Forwards one request, or refuses it."""
        with connection as client:
            head = b""
            while b"\r\n\r\n" not in head:
                more = client.recv(65536)
                if not more:
                    return
                head += more
            first, *lines = head.decode("latin-1").split("\r\n")
            method, target, _ = first.split(" ", 2)
            self.asked.append(f"{method} {target}")
            if f"Proxy-Authorization: {self._secret}" not in lines:
                client.sendall(DENIED)
                return
            parts = urlsplit(target if "://" in target else f"//{target}")
            address, _, port = self._names[parts.hostname or ""].partition(":")
            with socket.create_connection((address, int(port))) as server:
                if method == "CONNECT":
                    client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                else:
                    ours = [x for x in lines if not x.startswith("Proxy-Authorization")]
                    request = "\r\n".join([f"{method} {parts.path} HTTP/1.1", *ours])
                    server.sendall(request.encode("latin-1"))
                back = threading.Thread(target=_relay, args=(server, client), daemon=True)
                back.start()
                if method == "CONNECT":
                    _relay(client, server)
                back.join(20)


def _relay(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        return
