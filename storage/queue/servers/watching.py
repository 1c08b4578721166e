"""All servers of a list for somebody who only looks: a server that is away is left out and named.

Commands need all servers: what acts on some of them looks as if it had acted on all. The console
shows what the others have, and which one is away. A question about a host whose server is away
fails; so does whatever is not among the ``READS`` of the table of meanings.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from cleaning.errors import ConfigError, QueueUnavailable
from storage.config import place_of
from storage.live_state import QueueNow
from storage.queue.identity import Identity
from storage.queue.servers import meanings
from storage.queue.servers.meanings import ABSENT
from storage.queue.servers.members import Member, Part
from storage.queue.servers.spread import PARTS, QueueServers, Spread
from storage.queue.servers.topics import TopicServers
from storage.server_list import Place, split_list

AWAY_S = 5.0
"""A server that did not answer is not asked again for this long."""


class WatchedServers(QueueServers):
    """The queue over all servers that answer.

    Attributes:
        url: The list.
        members: The servers, in order.
    """

    def __init__(self, redis_url: str, clock: Callable[[], float] = time.monotonic) -> None:
        """Connects to the servers that answer, and checks them; ``clock``: seconds.

        Raises:
            ConfigError: A server is of another list.
            QueueUnavailable: None answers, or hosts were not split over them yet.
        """
        urls = split_list(redis_url)
        self.url = redis_url
        self.members = [Member(url, Place(i, len(urls))) for i, url in enumerate(urls)]
        self._clock = clock
        self._why: dict[int, str] = {}
        self._away_until: dict[int, float] = {}
        self._ids: tuple[str, ...] = ()
        self._checked: set[int] = set()
        Spread.__init__(self, self.members, meanings.QUEUE, self._wrapped)
        for name, table in PARTS.items():
            parts = [getattr(member, name) for member in self.members]
            setattr(self, name, Spread(parts, table, partial(self._wrapped, part=name)))
        self.topics = TopicServers(len(self.members), lambda index: self.members[index].topics)
        try:
            self.check()
        except BaseException:
            self.close()
            raise

    def _wrapped(self, name: str, calls: Sequence[Any], part: str = "") -> list[Any]:
        is_read = name in meanings.READS.get(part, ())
        return [partial(self.ask, i, call, is_read=is_read) for i, call in enumerate(calls)]

    def ask(
        self, index: int, call: Callable[..., Any], *args: Any, is_read: bool, **more: Any
    ) -> Any:
        """Calls an operation of one server.

        Args:
            index: The server.
            call: The operation.
            args: Its arguments.
            is_read: Whether the server may be left out.
            more: Its other arguments.

        Returns:
            Its result; ``ABSENT`` when the server is away and may be left out.

        Raises:
            ConfigError: The server is of another list.
            QueueUnavailable: The server is away, and is needed.
        """
        try:
            if self._clock() < self._away_until.get(index, 0.0):
                raise QueueUnavailable(self._why[index])
            if index not in self._checked:
                self._check(index)
            found = call(*args, **more)
        except QueueUnavailable as error:
            if self._clock() >= self._away_until.get(index, 0.0):
                self._why[index] = str(error)
                self._away_until[index] = self._clock() + AWAY_S
            if is_read:
                return ABSENT
            raise
        self._why.pop(index, None)
        return found

    def _check(self, index: int) -> None:
        ids = self.members[index].check()
        if self._ids and ids != self._ids:
            raise ConfigError("hosts are split over another list of queue servers by now")
        self._ids = ids
        self._checked.add(index)

    def check(self) -> None:
        """Checks that hosts are still split over this list, on the servers that answer.

        Raises:
            ConfigError: They are split over another one by now.
            QueueUnavailable: No server answers.
        """
        meanings.present(
            [self.ask(i, self._check, i, is_read=True) for i in range(len(self.members))],
            "; ".join(self._why.values()),
        )

    def away(self) -> dict[int, str]:
        """The servers that did not answer when they were asked last, and why."""
        return dict(sorted(self._why.items()))

    def now(self) -> QueueNow:
        """What the servers that answer, and their processes, do; the others are named.

        Raises:
            QueueUnavailable: No server answers.
        """
        found = [self.ask(i, each.now, is_read=True) for i, each in enumerate(self.members)]
        return meanings.now_of_all(found, [place_of(each.url) for each in self.members], self._why)

    def close(self) -> None:
        """Closes the connections."""
        for member in self.members:
            member.close()

    def identity(self, *, make: bool = True) -> Identity:
        """Who the servers are together: their ids; the runs of servers are left out."""
        del make  # who only looks gives no server an id
        return Identity(",".join(self._ids), "")

    def _parts(self, names: Sequence[str]) -> list[list[Part | None]]:
        found = [
            self.ask(i, each.parts_of, names, is_read=True) for i, each in enumerate(self.members)
        ]
        if all(each is ABSENT for each in found):
            raise QueueUnavailable("; ".join(self._why.values()))
        return [[None] * len(names) if each is ABSENT else each for each in found]
