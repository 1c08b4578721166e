"""Connections to a console that anybody may reach: floods cost little and keep no user out.

- Waitress accepts nothing more at its limit, so that many silent connections would make the console
  deaf. Here a new connection takes the place of the one whose last whole request is the longest
  ago, or that was opened the longest ago without one.
- A request that comes byte by byte is given up.
- Requests without a login are answered at a small rate; others of them end with 429 before a view
  is called. Whoever was let in once is known by the cookie or the header.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from waitress.channel import HTTPChannel
from waitress.task import ThreadedTaskDispatcher

CONNECTIONS = 50
"""Of browsers and programs, at a time; a browser opens at most six, and opens a lost one anew.
Each is looked at whenever something comes from any of them."""

REQUEST_S = 10.0
"""From the first byte of a request to its last one."""

STRANGERS_A_S, MOST_STRANGERS = 20.0, 100.0
"""Requests without a login: a second, and at once. A login takes four."""

WATCHED = frozenset({"/healthz", "/readyz"})
"""Each is counted by itself: what asks them restarts a console that does not answer."""

_REASON = b"429: too many requests without a login; try again in 5 s\n"
REFUSAL = (
    b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 5\r\nContent-Type: text/plain\r\n"
    b"Content-Length: %d\r\nConnection: close\r\n\r\n%b" % (len(_REASON), _REASON)
)
MOST_COOKIES = 20  # of this host: browsers send those of programs at its other ports, too


class Connection(HTTPChannel):  # type: ignore[misc]  # waitress has no types
    """One connection; waitress makes it with the socket that it has accepted.

    Attributes:
        used_at: When it was opened, or when its last answer began or was ready.
        begun_at: When the first byte of an unfinished request came; None between requests.
    """

    def __init__(self, server: Any, *arguments: Any, **options: Any) -> None:
        """Takes the place of another connection when there are ``CONNECTIONS``."""
        others = server.active_channels.values()
        if len(others) >= CONNECTIONS and (least := least_used(others)):
            least.handle_close()
        self.used_at = time.monotonic()
        self.begun_at: float | None = None
        super().__init__(server, *arguments, **options)

    def received(self, data: bytes) -> bool:
        """Takes bytes of a request; closes the connection when the request takes too long."""
        taken: bool = super().received(data)
        if self.request is None:
            self.begun_at = None
        elif self.begun_at is None:
            self.begun_at = time.monotonic()
        elif time.monotonic() - self.begun_at > REQUEST_S:
            self.will_close = True
        return taken

    def service(self) -> None:
        """Answers a request."""
        self.used_at = time.monotonic()
        super().service()
        self.used_at = time.monotonic()

    def refuse(self) -> None:
        """Answers 429, unless another answer is under way, and closes."""
        self.requests: list[Any] = []
        if not self.total_outbufs_len:
            self.send(REFUSAL, do_close=False)
        self.close_when_flushed = True


def least_used(connections: Iterable[Connection]) -> Connection | None:
    """The connection that gives way to a new one; None: all wait for an answer."""
    waiting = (each for each in connections if not each.requests)
    return min(waiting, key=lambda each: each.used_at, default=None)


class Rate:
    """Lets so many through in a second, and more after a rest."""

    def __init__(self, a_second: float, at_once: float, clock: Callable[[], float]) -> None:
        """Has rested."""
        self._a_second, self._at_once, self._clock = a_second, at_once, clock
        self._left, self._at = at_once, clock()

    def lets_through(self) -> bool:
        """Whether one more is let through."""
        now = self._clock()
        self._left = min(self._at_once, self._left + (now - self._at) * self._a_second)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Door(ThreadedTaskDispatcher):  # type: ignore[misc]  # waitress has no types
    """Hands requests to the threads that answer; those of strangers at a small rate."""

    def __init__(
        self,
        is_regular: Callable[[str], bool],
        threads: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Starts the threads.

        Args:
            is_regular: Whether somebody was let in by a cookie's value, or by a header
                ``Authorization``.
            threads: How many requests are answered at a time.
            clock: Seconds.
        """
        super().__init__()
        self._is_regular = is_regular
        self._gate = threading.Lock()
        self._rates = {path: Rate(STRANGERS_A_S, MOST_STRANGERS, clock) for path in (*WATCHED, "")}
        self.set_thread_count(threads)

    def add_task(self, task: Connection) -> None:
        """Takes the first request of a connection."""
        request = task.requests[0]
        if request.error is None and not self.is_welcome(request.path, request.headers):
            task.refuse()
        else:
            super().add_task(task)

    def is_welcome(self, path: str, headers: Mapping[str, str]) -> bool:
        """Whether a request is answered now.

        Args:
            path: Of the request.
            headers: By their names as in WSGI: ``COOKIE``.
        """
        cookies = headers.get("COOKIE", "").split(";", MOST_COOKIES)
        given = [each.partition("=")[2].strip() for each in cookies]
        if any(self._is_regular(each) for each in (*given, headers.get("AUTHORIZATION", ""))):
            return True
        with self._gate:
            return self._rates[path if path in WATCHED else ""].lets_through()
