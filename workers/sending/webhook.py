"""Sends a message to a webhook: one POST, signed, to an address that was checked.

Headers and signature are those of Standard Webhooks (https://www.standardwebhooks.com), for which
receivers have libraries: ``webhook-id``, ``webhook-timestamp`` and, with a secret,
``webhook-signature: v1,BASE64``, the HMAC-SHA256 of ``ID.TIMESTAMP.BODY``.

The host's name is looked up for each POST, each of its addresses is checked, and the connection
goes to an address that was checked, to the first that takes it: a name cannot lead elsewhere in
between. A redirect is an error: it is never followed. Ten seconds are for all of it, so a receiver
that sends a byte now and then holds nobody up, nor does a name server that is away.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
import re
import socket
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from crawlclean import __dist__
from crawlclean.cleaning.errors import ConfigError
from crawlclean.crawler.addresses.public import is_public

TIMEOUT_S = 10.0  # a receiver has only to take the message; it may work on it later
MOST_HEADER_BYTES = 32 << 10  # of an answer, of which a webhook's status alone counts
MOST_ANSWER_BYTES = 32 << 10  # of a chat's answer: some hundred bytes of JSON
MOST_WAIT_S = 3600.0  # of a Retry-After
PREFIX = "whsec_"
_LENGTH = re.compile(rb"^content-length:\s*(\d{1,9})\s*$", re.IGNORECASE | re.MULTILINE)
_RETRY_AFTER = re.compile(rb"^retry-after:\s*(\d{1,9})\s*$", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Result:
    """How a delivery ended.

    Attributes:
        error: Why it failed, one line without secrets: ``status 500``; ``""``: it succeeded.
        wait_s: Seconds that the receiver asks to be left alone, 0 without.
        body: What it answered, as far as it was asked for.
    """

    error: str = ""
    wait_s: float = 0.0
    body: bytes = b""


def signature_of(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """Returns the header ``webhook-signature``: ``v1,K5oZfzN95Z9UVu1EsfQm...``.

    Args:
        secret: Any text; behind ``whsec_`` the key is in base64.
        message_id: Of the message.
        timestamp: Seconds since 1970 UTC.
        body: The message.
    """
    key = secret.encode()
    if secret.startswith(PREFIX):
        try:
            key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
        except binascii.Error:
            raise ConfigError("the webhook secret is no base64 behind whsec_") from None
    signed = b".".join((message_id.encode(), str(timestamp).encode(), body))
    return "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()


class Posting:
    """Posts messages to addresses that were checked."""

    def __init__(self, ca_file: Path | None = None) -> None:
        """Reads the certificates at the first https URL.

        Args:
            ca_file: Private certificate authorities, trusted besides those of the system.
        """
        self._ca_file = ca_file

    def post(
        self,
        url: str,
        body: bytes,
        headers: dict[str, str],
        *,
        is_private: bool,
        reads: bool = False,
    ) -> Result:
        """Sends JSON and waits for the answer, ``TIMEOUT_S`` at most.

        Args:
            url: As checked by ``check_url``.
            body: JSON.
            headers: Headers besides the usual ones.
            is_private: Whether loopback and private addresses are allowed.
            reads: Whether the body of the answer is wanted.
        """
        headers = {"content-type": "application/json", **headers}
        loop = asyncio.new_event_loop()  # that of asyncio.run waits for a look-up which is given up
        try:
            return loop.run_until_complete(
                self._post(urlsplit(url), headers, body, is_private=is_private, reads=reads)
            )
        except TimeoutError:
            return Result(f"no answer within {TIMEOUT_S:g} s")
        except socket.gaierror as error:
            return Result(f"its name is not found: {error.strerror}")
        except OSError as error:
            return Result(why_no_connection(error))
        except (EOFError, asyncio.LimitOverrunError, ValueError):
            return Result("its answer is no HTTP")
        finally:
            loop.run_until_complete(loop.shutdown_asyncgens())  # lets the connection close
            loop.close()

    async def _post(
        self,
        url: SplitResult,
        headers: dict[str, str],
        body: bytes,
        *,
        is_private: bool,
        reads: bool,
    ) -> Result:
        async with asyncio.timeout(TIMEOUT_S):
            host, is_tls = url.hostname or "", url.scheme == "https"
            port = url.port or (443 if is_tls else 80)
            addresses = await _addresses(host, port)
            if not is_private and not all(map(is_public, addresses)):
                return Result(
                    "its address is private: allow it with private=true, or --webhook-private"
                )
            reader, writer = await self._connect(addresses, port, host if is_tls else None)
            try:
                writer.write(_request(url, headers, body) + body)
                await writer.drain()
                head = await _answer(reader)
                result = _result(head)
                if reads and not result.error:
                    return replace(result, body=await _body(reader, head))
                return result
            finally:
                writer.transport.abort()

    async def _connect(
        self, addresses: Sequence[str], port: int, tls_name: str | None
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to the first address that takes one; each has its share of the time.

        ``localhost`` may be ::1 before it is 127.0.0.1, where alone the receiver listens.
        """
        why = OSError()
        for address in addresses:
            try:
                async with asyncio.timeout(TIMEOUT_S / len(addresses)):
                    return await asyncio.open_connection(
                        address,
                        port,
                        limit=MOST_HEADER_BYTES,
                        ssl=self._tls() if tls_name else None,
                        server_hostname=tls_name,
                    )
            except OSError as error:
                why = error
        raise why

    def _tls(self) -> ssl.SSLContext:
        return trusting(self._ca_file)


class Webhook:
    """Delivers messages by POST."""

    def __init__(self, secret: str = "", ca_file: Path | None = None) -> None:
        """Sends nothing yet.

        Args:
            secret: Signs the messages; ``""``: they are not signed.
            ca_file: As of ``Posting``.
        """
        self._secret = secret
        self._posting = Posting(ca_file)

    def send(
        self, url: str, message_id: str, body: bytes, timestamp: int, *, is_private: bool
    ) -> Result:
        """Sends one message and waits for the answer, ``TIMEOUT_S`` at most.

        Args:
            url: As checked by ``check_url``.
            message_id: The same for every try.
            body: JSON.
            timestamp: Seconds since 1970 UTC.
            is_private: Whether loopback and private addresses are allowed.
        """
        headers = {"webhook-id": message_id, "webhook-timestamp": str(timestamp)}
        if self._secret:
            signature = signature_of(self._secret, message_id, timestamp, body)
            headers["webhook-signature"] = signature
        return self._posting.post(url, body, headers, is_private=is_private)


def trusting(ca_file: Path | None) -> ssl.SSLContext:
    """What checks certificates; private authorities are trusted besides those of the system."""
    context = ssl.create_default_context()
    if ca_file is not None:
        context.load_verify_locations(ca_file)
    return context


def why_no_connection(error: OSError) -> str:
    """Why a connection failed, one line."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is wrong: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return f"no TLS: {error.reason or 'broken'}"
    return f"no connection: {error.strerror or type(error).__name__}"


async def _addresses(host: str, port: int) -> list[str]:
    """The addresses of a host, each once, in the order in which they are to be tried."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(each[4][0]) for each in found))


def _request(url: SplitResult, headers: dict[str, str], body: bytes) -> bytes:
    target = (url.path or "/") + (f"?{url.query}" if url.query else "")
    lines = [
        f"POST {target} HTTP/1.1",
        f"host: {url.netloc}",
        f"user-agent: {__dist__}",
        f"content-length: {len(body)}",
        "connection: close",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode()


async def _answer(reader: asyncio.StreamReader) -> bytes:
    """Status line and headers of the answer, behind interim ones (1xx)."""
    while True:
        head = await reader.readuntil(b"\r\n\r\n")
        if not head.startswith((b"HTTP/1.1 1", b"HTTP/1.0 1")):
            return head


async def _body(reader: asyncio.StreamReader, head: bytes) -> bytes:
    """The body of an answer, of ``MOST_ANSWER_BYTES`` at most."""
    if size := _LENGTH.search(head):
        return await reader.readexactly(min(int(size[1]), MOST_ANSWER_BYTES))
    body = b""
    while b"chunked" in head.lower() and len(body) < MOST_ANSWER_BYTES:
        n = int((await reader.readline()).partition(b";")[0], 16)
        if not n:
            return body
        body += (await reader.readexactly(min(n, MOST_ANSWER_BYTES) + 2))[:-2]
    return body or await reader.read(MOST_ANSWER_BYTES)


def _result(head: bytes) -> Result:
    version, _, rest = head.partition(b" ")
    if not version.startswith(b"HTTP/"):
        raise ValueError
    status = int(rest[:3])
    if 200 <= status < 300:
        return Result()
    if 300 <= status < 400:
        return Result(f"status {status}: redirects are not followed, give the new URL")
    asked = _RETRY_AFTER.search(head.replace(b"\r\n", b"\n"))
    wait_s = min(MOST_WAIT_S, float(asked[1])) if asked else 0.0
    return Result(f"status {status}", wait_s=wait_s)
