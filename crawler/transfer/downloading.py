"""Scrapy's download handler with bounded and tolerant heads, and four connection pools.

- Headers: Scrapy limits bodies, but collects endless header lines until the request times out.
- Tolerance: Twisted reads heads and chunks by the letter of the RFC. Servers do not write them so,
  and browsers and curl read what they write: blanks around names and sizes, lines without a name,
  lengths that are no numbers, ends of lines without a carriage return.
- Idle connections: Scrapy keeps every connection for four minutes, 32 a host, for any number of
  hosts. On many hosts the process runs out of files, and its memory grows with every host. Here all
  hosts together have a limit.
- Private addresses: crawls that may reach them use a pool of their own, and only lookups of that
  pool let private addresses pass. No other crawl can reuse such a connection.
- Repeated requests: Twisted sends a request again by itself when a kept connection was closed under
  it. Neither the host's clock nor the fetch log would know of the second request; here it goes back
  to the queue.
- Certificates: a request for verified hosts only (``certificates.py``) reuses no connection that
  was opened without this condition.

ADR 24 lists the private names of Scrapy and Twisted that this file uses, with the tests that check
them.
"""

from __future__ import annotations

import re
import resource
from collections.abc import Hashable
from contextlib import suppress
from itertools import product
from typing import Any, NoReturn
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.core.downloader.handlers.http11 import (
    HTTP11DownloadHandler,
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
    _LenientHTTPClientParser,
)
from scrapy.crawler import Crawler
from scrapy.http import Response
from twisted.internet.defer import CancelledError, Deferred
from twisted.python.failure import Failure
from twisted.web._newclient import STATUS, RequestNotSent
from twisted.web.client import HTTPConnectionPool, ResponseNeverReceived
from twisted.web.http import _ChunkedTransferDecoder, maxChunkSizeLineLength
from twisted.web.iweb import IResponse

from crawlclean.cleaning.errors import FetchError
from crawlclean.crawler.addresses.guard import installed_resolver
from crawlclean.crawler.transfer.certificates import (
    CertificateFaults,
    CertificatePolicy,
    tls_context,
)
from crawlclean.crawler.transfer.responses import KeptConnectionLostError
from crawlclean.storage.crawl_types import Lease

# The limit of browsers; a policy or a cookie may be longer than Twisted's 16 KB.
MAX_HEAD_BYTES = 256 << 10
MAX_LINE_BYTES = 64 << 10  # of a header: as MAX_HEAD_BYTES, a cookie or a policy may be long
MAX_INTERIM_RESPONSES = 16  # 1xx, before the final response
IDLE_S = 30  # servers close idle connections themselves, many sooner; each costs a file
WANTED_FILES = 8192  # of them an eighth may be idle connections; the usual soft limit is 1024
HTTPS_PORT = 443  # the port of the scheme
SHOWN_BYTES = 60  # of what is wrong, in an error
# HTTP/1.1 200 OK; also without a version, in small letters, with more blanks or none before OK.
STATUS_LINE = re.compile(rb"\s*HTTP(?:/(\d+)(?:\.(\d+))?)?[ \t]+(\d{1,9})(.*)", re.I | re.S)
NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
LENGTHS = re.compile(rb"\d+(?:[ \t]*,[ \t]*\d+)*")


class _TolerantChunks(_ChunkedTransferDecoder):
    """Twisted's decoder; sizes may have blanks around them, and lines may end with LF alone."""

    def _dataReceived_CHUNK_LENGTH(self) -> bool:  # noqa: N802 - the library's name
        end = self._buffer.find(b"\n", 0, maxChunkSizeLineLength)
        if end >= 0:
            line = bytes(self._buffer[:end])
            size = line.partition(b";")[0].strip()  # an extension means nothing to us
            if not re.fullmatch(rb"[0-9A-Fa-f]+", size):
                raise FetchError(f"a chunk begins with {_shown(line)} in the place of its size")
            self._buffer[: end + 1] = size + b"\r\n"
            self._start = 0
        return super()._dataReceived_CHUNK_LENGTH()

    def _dataReceived_CRLF(self) -> bool:  # noqa: N802 - as above
        self._end_line()
        return super()._dataReceived_CRLF()

    def _dataReceived_TRAILER(self) -> bool:  # noqa: N802 - as above
        self._end_line()
        return super()._dataReceived_TRAILER()

    def _end_line(self) -> None:
        if self._buffer.startswith(b"\n"):
            self._buffer[:0] = b"\r"


class _BoundedParser(_LenientHTTPClientParser):
    MAX_LENGTH = MAX_LINE_BYTES
    _transferDecoders = {b"chunked": _TolerantChunks}  # noqa: N815, RUF012 - the library's name
    head_bytes: int
    interim_responses: int

    def lineReceived(self, line: bytes) -> None:  # noqa: N802 - the interface's name
        self.head_bytes += len(line) + 1  # and the line's end
        if self.head_bytes > MAX_HEAD_BYTES:
            raise FetchError(f"the response header is over {MAX_HEAD_BYTES} bytes")
        if self.state == STATUS and not line.strip():
            return  # a blank line before the status line
        if self.state != STATUS and self._partialHeader is None and line[:1] in (b" ", b"\t"):
            return  # it continues a header that is not there
        super().lineReceived(line)

    def statusReceived(self, status: bytes) -> None:  # noqa: N802 - the interface's name
        found = STATUS_LINE.fullmatch(status)
        if not found:
            raise FetchError(f"the response begins with {_shown(status)}, with no HTTP status")
        major, minor, code, phrase = found.groups()
        version = b"HTTP/%b.%b" % (major or b"1", minor or (b"0" if major else b"1"))
        super().statusReceived(b" ".join((version, code, phrase.strip())))  # type: ignore[no-untyped-call]

    def headerReceived(self, name: bytes, value: bytes) -> None:  # noqa: N802 - as above
        name = name.strip()
        word = name.lower()
        if (
            not NAME.fullmatch(name)
            or (word == b"content-length" and not LENGTHS.fullmatch(value))
            or (word == b"transfer-encoding" and value.lower() in (b"", b"identity"))
        ):
            return
        if word == b"transfer-encoding" and value.lower() not in self._transferDecoders:
            raise FetchError(f"transfer encoding {_shown(value)}, which no request accepts")
        super().headerReceived(name, value)  # type: ignore[no-untyped-call]

    def lineLengthExceeded(self, line: bytes) -> None:  # noqa: ARG002, N802 - the interface's names
        raise FetchError(f"a line of the response header is over {MAX_LINE_BYTES} bytes")

    def allHeadersReceived(self) -> None:  # noqa: N802 - the interface's name
        if 100 <= self.response.code < 200:
            self.interim_responses += 1
            if self.interim_responses > MAX_INTERIM_RESPONSES:
                raise FetchError(f"more than {MAX_INTERIM_RESPONSES} interim responses")
        super().allHeadersReceived()  # type: ignore[no-untyped-call]


def _shown(received: bytes) -> str:
    return repr(received[:SHOWN_BYTES].decode("latin-1"))


class _BoundedProtocol(_LenientHTTP11ClientProtocol):
    is_kept = False

    def request(self, request: Any) -> Deferred[IResponse]:
        response = super().request(request)
        if self.is_kept:
            response.addErrback(_kept_connection_lost)
        self.is_kept = True
        parser: Any = self._parser
        # As Scrapy does: Twisted names the parser's class in the middle of a method.
        parser.__class__ = _BoundedParser
        parser.head_bytes = parser.interim_responses = 0
        return response


def _kept_connection_lost(failure: Failure) -> NoReturn:
    """Raises ``KeptConnectionLostError`` for a request that got no byte and was not cancelled."""
    error = failure.value
    reasons = getattr(error, "reasons", ())
    is_ours = any(reason.check(CancelledError) for reason in reasons)
    if isinstance(error, (RequestNotSent, ResponseNeverReceived)) and not is_ours:
        raise KeptConnectionLostError(str(error)) from error
    failure.raiseException()


class _BoundedFactory(_LenientHTTP11ClientFactory):
    def buildProtocol(self, addr: Any) -> _BoundedProtocol:  # noqa: ARG002, N802 - the interface's
        return _BoundedProtocol(self._quiescentCallback)  # type: ignore[no-untyped-call]


def allow_files() -> int:
    """Raises the limit of open files, at most to ``WANTED_FILES``; returns the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    now, most = (WANTED_FILES if n == resource.RLIM_INFINITY else n for n in (soft, hard))
    wanted = min(most, WANTED_FILES)
    if now < wanted:
        with suppress(ValueError, OSError):  # the real limit of macOS is below the reported one
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            return wanted
    return min(now, WANTED_FILES)


class IdleConnections(HTTPConnectionPool):
    """Twisted's pool with a limit for all hosts together; closes the longest idle connection."""

    cachedConnectionTimeout = IDLE_S  # noqa: N815 - the library's name
    retryAutomatically = False  # noqa: N815 - as above

    def __init__(self, reactor: Any, most: int) -> None:
        super().__init__(reactor)  # type: ignore[no-untyped-call]
        self._most = most

    def getConnection(self, key: Hashable, endpoint: Any) -> Deferred[Any]:  # noqa: N802 - the library's name
        """Reuses an idle connection to the host, or opens a new one."""
        found = super().getConnection(key, endpoint)
        self._forget(key)
        return found

    def _putConnection(self, key: Hashable, connection: Any) -> None:  # noqa: N802 - as above
        if len(self._timeouts) >= self._most:
            longest = next(iter(self._timeouts.values()))
            remove, arguments = longest.func, longest.args
            longest.cancel()
            remove(*arguments)
        super()._putConnection(key, connection)  # type: ignore[no-untyped-call]

    def _removeConnection(self, key: Hashable, connection: Any) -> None:  # noqa: N802 - as above
        super()._removeConnection(key, connection)  # type: ignore[no-untyped-call]
        self._forget(key)

    def _forget(self, key: Hashable) -> None:
        if key in self._connections and not self._connections[key]:
            del self._connections[key]


class _PermittedConnections(IdleConnections):
    def _newConnection(self, key: Any, endpoint: Any) -> Any:  # noqa: N802 - Twisted's name
        with installed_resolver().permitting():
            return super()._newConnection(key, endpoint)


class BoundedDownloadHandler(HTTP11DownloadHandler):
    """Scrapy's HTTP/1.1 handler, bounded."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        from twisted.internet import reactor

        most, per_host = allow_files() // 8, self._pool.maxPersistentPerHost
        kinds = {False: IdleConnections, True: _PermittedConnections}
        self._pools: dict[tuple[bool, bool], IdleConnections] = {
            (is_permitted, is_verified): kinds[is_permitted](reactor, most)
            for is_permitted, is_verified in product((False, True), repeat=2)
        }
        for pool in self._pools.values():
            pool.maxPersistentPerHost = per_host
            pool._factory = _BoundedFactory
        context = tls_context(crawler.settings.get("CA_FILE") or "")
        self._faults = CertificateFaults()
        self._policies: dict[bool, Any] = {
            is_verified: CertificatePolicy(context, self._faults, refuses_wrong=is_verified)
            for is_verified in (False, True)
        }

    async def download_request(self, request: Request) -> Response:
        """Sends a request over a connection that its crawl may use; returns the response.

        Afterwards ``meta["certificate"]`` has what is wrong with the host's certificate, or None.
        """
        lease: Lease | None = request.meta.get("lease")
        # An operator's proxy may have any address. Must be read before anything is awaited.
        is_permitted = "proxy" in request.meta or (lease is not None and lease.allow_private)
        is_verified = bool(request.meta.get("verify_tls"))
        self._pool = self._pools[is_permitted, is_verified]
        self._contextFactory = self._policies[is_verified]
        try:
            return await super().download_request(request)
        finally:
            url = urlsplit(request.url)
            if url.scheme == "https":
                known = self._faults.of(url.hostname or "", url.port or HTTPS_PORT)
                request.meta["certificate"] = known
