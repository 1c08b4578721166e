"""Scrapy's downloader, bounded where it is not, and with connections for each permission.

- Heads: a body ends at the size limit, but header lines without end were kept until the request's
  time was over.
- Connections kept between requests: Scrapy's handler keeps every connection for four minutes, 32 a
  host without end. On many hosts the process runs out of files, and its memory grows with every
  host it ever asked. Here all hosts together have a limit.
- Permissions: a connection to a private address that one crawl may use must not be there for
  another. Crawls that may reach private addresses have connections of their own, and only the
  lookups of these pass on private addresses.

ADR 24 lists the private names of Scrapy and Twisted that this file uses, and the tests that hold
them.
"""

from __future__ import annotations

import resource
from collections.abc import Hashable
from contextlib import suppress
from typing import Any

from scrapy import Request
from scrapy.core.downloader.handlers.http11 import (
    HTTP11DownloadHandler,
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
    _LenientHTTPClientParser,
)
from scrapy.crawler import Crawler
from scrapy.http import Response
from twisted.internet.defer import Deferred
from twisted.web.client import HTTPConnectionPool
from twisted.web.iweb import IResponse

from cleaning.errors import FetchError
from crawler.addresses.guard import installed_resolver
from storage.crawl_types import Lease

# As much as browsers take; a policy or a cookie may be longer than Twisted's 16 KB.
MAX_HEAD_BYTES = 256 << 10
MAX_LINE_BYTES = 64 << 10
MAX_INTERIM_ANSWERS = 16  # 1xx, before the final response
IDLE_S = 30
WANTED_FILES = 8192


class _BoundedParser(_LenientHTTPClientParser):
    MAX_LENGTH = MAX_LINE_BYTES
    head_bytes: int
    interim_answers: int

    def lineReceived(self, line: bytes) -> None:  # noqa: N802 - the interface's name
        self.head_bytes += len(line)
        if self.head_bytes > MAX_HEAD_BYTES:
            raise FetchError(f"the answer's head is over {MAX_HEAD_BYTES} bytes")
        super().lineReceived(line)

    def lineLengthExceeded(self, line: bytes) -> None:  # noqa: ARG002, N802 - the interface's names
        raise FetchError(f"a line of the answer's head is over {MAX_LINE_BYTES} bytes")

    def allHeadersReceived(self) -> None:  # noqa: N802 - the interface's name
        if 100 <= self.response.code < 200:
            self.interim_answers += 1
            if self.interim_answers > MAX_INTERIM_ANSWERS:
                raise FetchError(f"more than {MAX_INTERIM_ANSWERS} interim answers")
        super().allHeadersReceived()  # type: ignore[no-untyped-call]


class _BoundedProtocol(_LenientHTTP11ClientProtocol):
    def request(self, request: Any) -> Deferred[IResponse]:
        answer = super().request(request)
        parser: Any = self._parser
        # As Scrapy does it: Twisted names the parser's class in the middle of a method.
        parser.__class__ = _BoundedParser
        parser.head_bytes = parser.interim_answers = 0
        return answer


class _BoundedFactory(_LenientHTTP11ClientFactory):
    def buildProtocol(self, addr: Any) -> _BoundedProtocol:  # noqa: ARG002, N802 - the interface's
        return _BoundedProtocol(self._quiescentCallback)  # type: ignore[no-untyped-call]


def allow_files() -> int:
    """Raises the limit of open files, at most to ``WANTED_FILES``; returns the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    now, most = (WANTED_FILES if n == resource.RLIM_INFINITY else n for n in (soft, hard))
    wanted = min(most, WANTED_FILES)
    if now < wanted:
        with suppress(ValueError, OSError):  # macOS has a limit below the one it reports
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            return wanted
    return min(now, WANTED_FILES)


class IdleConnections(HTTPConnectionPool):
    """Twisted's pool with a limit for all hosts together; closes the connection idle longest."""

    cachedConnectionTimeout = IDLE_S  # noqa: N815 - the library's name

    def __init__(self, reactor: Any, most: int) -> None:
        super().__init__(reactor)  # type: ignore[no-untyped-call]
        self._most = most

    def getConnection(self, key: Hashable, endpoint: Any) -> Deferred[Any]:  # noqa: N802 - the library's name
        """Takes a kept connection, or opens a new one."""
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
    """HTTP/1.1 by Scrapy, heads and idle connections bounded; Scrapy's ``DOWNLOAD_HANDLERS``."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        from twisted.internet import reactor

        most, per_host = allow_files() // 8, self._pool.maxPersistentPerHost
        self._pools: dict[bool, IdleConnections] = {
            False: IdleConnections(reactor, most),
            True: _PermittedConnections(reactor, most),
        }
        for pool in self._pools.values():
            pool.maxPersistentPerHost = per_host
            pool._factory = _BoundedFactory

    async def download_request(self, request: Request) -> Response:
        """Sends a request over connections that its crawl may use; returns the response."""
        lease: Lease | None = request.meta.get("lease")
        # An operator's proxy may have any address. Must be read before anything is awaited.
        is_permitted = "proxy" in request.meta or (lease is not None and lease.allow_private)
        self._pool = self._pools[is_permitted]
        return await super().download_request(request)

    async def close(self) -> None:
        """Closes the kept connections of both pools."""
        for pool in self._pools.values():
            self._pool = pool
            await super().close()
