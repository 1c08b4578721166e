"""A mail server on loopback: keeps what it is given, with TLS and a password as a test wants."""

from __future__ import annotations

import base64
import email
import email.policy
import socketserver
import ssl
import threading
from contextlib import suppress
from dataclasses import dataclass
from email.message import EmailMessage
from types import TracebackType
from typing import Any


@dataclass(frozen=True)
class Mail:
    """One mail.

    Attributes:
        to: Its recipients, as the server was told.
        message: The mail.
        is_encrypted: Whether it came by TLS.
        user: Who had logged in; ``""``: nobody.
    """

    to: tuple[str, ...]
    message: EmailMessage
    is_encrypted: bool
    user: str

    @property
    def text(self) -> str:
        """Its body."""
        return str(self.message.get_content()).replace("\r\n", "\n")


class MailServer:
    """The server; refuses recipients of ``refused``, and who has another password."""

    def __init__(
        self,
        *,
        tls: ssl.SSLContext | None = None,
        is_tls_at_once: bool = False,
        password: str = "",
    ) -> None:
        """Starts when it is entered."""
        self.got: list[Mail] = []
        self.refused: set[str] = set()
        self.is_down = False
        server = self

        class Session(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                self._is_encrypted, self._user, self._to = False, "", list[str]()
                with suppress(OSError):  # the client does not trust it, or went away
                    if tls and is_tls_at_once:
                        self._encrypt(tls)
                    self._say("421 later" if server.is_down else "220 mail.test")
                    while line := self.rfile.readline().decode().strip():
                        self._answer(line)
                for each in (self.rfile, self.wfile, self.connection):
                    each.close()

            def _encrypt(self, context: ssl.SSLContext) -> None:
                self.connection = context.wrap_socket(self.request, server_side=True)
                self.rfile = self.connection.makefile("rb")
                self.wfile = self.connection.makefile("wb", 0)
                self._is_encrypted = True

            def _say(self, line: str) -> None:
                self.wfile.write(f"{line}\r\n".encode())

            def _answer(self, line: str) -> None:
                word = line.upper().split(" ")[0]
                if word == "EHLO":
                    self._say("250-mail.test")
                    if tls and not self._is_encrypted:
                        self._say("250-STARTTLS")
                    self._say("250 AUTH PLAIN")
                elif word == "STARTTLS" and tls:
                    self._say("220 go")
                    self._encrypt(tls)
                elif word == "AUTH":
                    _, user, given = base64.b64decode(line.split(" ")[2]).decode().split("\0")
                    self._user = user if given == password else ""
                    self._say("235 ok" if self._user else "535 5.7.8 authentication failed")
                elif word == "RCPT":
                    address = line.partition("<")[2].partition(">")[0]
                    is_known = address not in server.refused
                    if is_known:
                        self._to.append(address)
                    self._say("250 ok" if is_known else "550 no such user")
                elif word == "DATA":
                    self._take()
                elif word == "QUIT":
                    self._say("221 bye")
                else:
                    self._say("250 ok")

            def _take(self) -> None:
                self._say("354 go")
                lines = []
                while (line := self.rfile.readline()) != b".\r\n":
                    lines.append(line.removeprefix(b"."))
                message: Any = email.message_from_bytes(
                    b"".join(lines), policy=email.policy.default
                )
                mail = Mail(tuple(self._to), message, self._is_encrypted, self._user)
                server.got.append(mail)
                self._to = []
                self._say("250 taken")

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Session)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    @property
    def address(self) -> str:
        """Host and port."""
        return f"localhost:{self._server.server_address[1]}"

    def __enter__(self) -> MailServer:
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
