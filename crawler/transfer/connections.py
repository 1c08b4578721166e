"""Connections kept open between requests: so many, so long, and none for hosts that are done.

Left alone, Scrapy's handler keeps every connection for four minutes, 32 a host without end: on many
hosts the process runs out of files, and its memory grows with every host it ever asked.
"""

from __future__ import annotations

import resource
from collections.abc import Hashable
from contextlib import suppress
from typing import Any

from twisted.internet.defer import Deferred
from twisted.web.client import HTTPConnectionPool

IDLE_S = 30
WANTED_FILES = 8192


def allow_files() -> int:
    """How many files this process may open, raised as far as it may go, to ``WANTED_FILES``."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    now, most = (WANTED_FILES if n == resource.RLIM_INFINITY else n for n in (soft, hard))
    wanted = min(most, WANTED_FILES)
    if now < wanted:
        with suppress(ValueError, OSError):  # macOS has a limit below the one it tells
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            return wanted
    return min(now, WANTED_FILES)


class IdleConnections(HTTPConnectionPool):
    """Twisted's pool with a limit for all hosts together; the connection idle longest gives way."""

    cachedConnectionTimeout = IDLE_S  # noqa: N815 - the library's name

    def __init__(self, reactor: Any, most: int) -> None:
        super().__init__(reactor)  # type: ignore[no-untyped-call]
        self._most = most

    def getConnection(self, key: Hashable, endpoint: Any) -> Deferred[Any]:  # noqa: N802 - the library's name
        """A kept connection, or a new one."""
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
