"""Scrapy's downloader, bounded where it is not, and with connections for each permission.

A body ends at the size limit; the head of an answer had none: header lines without end were kept
until the request's time was over. The connections kept for later are ``connections.py``'s. And a
connection to a private address that one crawl may use must not be there for another: crawls that
may have connections of their own, and only the lookups of these pass on private addresses.
"""

from __future__ import annotations

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
from twisted.web.iweb import IResponse

from cleaning.errors import FetchError
from crawler.addresses.guard import installed_resolver
from crawler.transfer.connections import IdleConnections, allow_files
from storage.crawl_types import Lease

# What browsers take, too; a policy or a cookie may well be longer than Twisted's 16 KB.
MAX_HEAD_BYTES = 256 << 10
MAX_LINE_BYTES = 64 << 10
MAX_INTERIM_ANSWERS = 16  # 1xx, before the answer itself


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
        """The answer of a request, over connections that its crawl may use."""
        lease: Lease | None = request.meta.get("lease")
        # A proxy is the operator's word, wherever it is. Read before anything is awaited.
        is_permitted = "proxy" in request.meta or (lease is not None and lease.allow_private)
        self._pool = self._pools[is_permitted]
        return await super().download_request(request)

    async def close(self) -> None:
        """Closes the connections that are kept."""
        for pool in self._pools.values():
            self._pool = pool
            await super().close()
