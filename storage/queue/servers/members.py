"""One server of a list, for the processes that work on it; and its part of a crawl.

A worker cleans pages of this server's hosts alone. What it finds on hosts of the others goes to
their servers, before the page is acknowledged here: a page that is not acknowledged is cleaned
again, and offering a URL again changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from cleaning.errors import ConfigError
from cleaning.urls.normal_form import host_of
from storage.config import place_of
from storage.crawl_types import CrawlCounts, CrawlSpec, CrawlState, Discovery
from storage.politeness_policy import Politeness
from storage.queue.clients import raises_queue_errors
from storage.queue.entries import crawl_fields, read_counts
from storage.queue.frontier import Frontier
from storage.queue.identity import Identity
from storage.queue.maintenance import create_crawl
from storage.queue.servers.shares import MOST
from storage.queue.servers.stamps import check_member
from storage.queue.servers.topics import TopicServers
from storage.queue.topic_ranks import TopicRanks, join_turns
from storage.server_list import Place, server_of, split_call


def check_spec(spec: CrawlSpec) -> None:
    """Checks that a crawl works where its hosts are split over several servers.

    Raises:
        ConfigError: It does not.
    """
    if spec.policy.politeness is Politeness.IP:
        raise ConfigError(
            "politeness by address does not work with several queue servers: give one"
        )


@dataclass(frozen=True, slots=True)
class Part:
    """A server's part of a crawl.

    Attributes:
        counts: Its URLs by state.
        used: Pages that it has used of the budget.
        limit: Budget of the whole crawl; None: there is none.
        is_endless: Whether the crawl keeps its pages fresh, so that it never finishes.
    """

    counts: CrawlCounts
    used: int
    limit: int | None
    is_endless: bool


@raises_queue_errors
class Member(Frontier):
    """One server of a list; methods act on it alone, but those that say otherwise."""

    def __init__(self, redis_url: str, place: Place) -> None:
        """Connects at the first call of a method."""
        super().__init__(redis_url)
        self.place = place

    @property
    def client(self) -> Any:
        """The client of the server."""
        return self._client

    def check(self) -> tuple[str, ...]:
        """Checks that the server is that of its place; returns the ids of all queues."""
        return check_member(self._client, self.url, self.place)

    def share(self, crawl_id: str, step: str, number: int = 0, value: str = "") -> Any:
        """Runs ``share.lua``: a step of sharing a crawl's budget."""
        return self._run("share", crawl_id, step, number, value)

    def define(self, spec: CrawlSpec) -> None:
        """Creates a crawl without a share of its budget, or changes its limits.

        A new crawl is stopped; any other keeps its state.
        """
        check_spec(spec)
        fields = crawl_fields(spec, CrawlState.STOPPED)
        limit, state = fields.pop("max"), fields.pop("state")
        key = f"cc:c:{spec.crawl_id}"

        def write(pipe: Any) -> None:
            pipe.hset(key, mapping=fields)
            pipe.hsetnx(key, "state", state)
            pipe.sadd("cc:crawls", spec.crawl_id)
            join_turns(pipe, spec)

        create_crawl(self._client, self._scripts, spec.crawl_id, write)
        self.share(spec.crawl_id, "begin", value=str(limit))

    def begin(self, crawl_id: str) -> None:
        """Sets a crawl running, with all hosts that it knows here."""
        self._run("set_state", crawl_id, str(CrawlState.RUNNING))
        self._touch_hosts(crawl_id)  # a lease drops hosts of a crawl that does not run yet

    def parts_of(self, crawl_ids: Sequence[str]) -> list[Part | None]:
        """This server's part of each crawl; None of a crawl that it has not."""
        with self._client.pipeline() as pipe:
            for crawl_id in crawl_ids:
                pipe.hgetall(f"cc:c:{crawl_id}")
                pipe.scard(f"cc:h:{crawl_id}")
            rows = pipe.execute() if crawl_ids else []
            return [
                Part(
                    read_counts(c, hosts),
                    int(c.get(b"used") or 0),
                    _number(c[b"total"]),
                    c.get(b"fresh") == b"1",
                )
                if b"total" in c
                else None
                for c, hosts in zip(rows[::2], rows[1::2], strict=True)
            ]


class WorkingMember(Member):
    """The server of a worker or a sweeper, which reaches the others when it needs them.

    ``own_topics`` are the topic crawls of this server alone.

    Raises, from methods that reach others: QueueUnavailable while one is away; ConfigError when one
    is not that of the list.
    """

    def __init__(self, urls: Sequence[str], index: int) -> None:
        """Connects at the first call of a method."""
        super().__init__(urls[index], Place(index, len(urls)))
        self._urls = urls
        self._others: dict[int, Member] = {}
        self._ids: tuple[str, ...] | None = None
        own = self.own_topics = self.topics
        self.topics = cast(
            TopicRanks,
            TopicServers(
                len(urls), lambda i: own if i == index else self.other(i).topics, near=index
            ),
        )

    def other(self, index: int) -> Member:
        """Another server of the list, checked at its first use; this one for its own place."""
        if index == self.place.index:
            return self
        if index not in self._others:
            member = Member(self._urls[index], Place(index, len(self._urls)))
            try:
                self.check_ids(member)
            except BaseException:
                member.close()
                raise
            self._others[index] = member
        return self._others[index]

    def check_ids(self, member: Member) -> None:
        """Checks that a server was split with this one.

        Raises:
            ConfigError: It was not.
        """
        if self._ids is None:
            self._ids = self.check()
        if member.check() != self._ids:
            raise ConfigError(f"{place_of(member.url)} is a server of another list")

    def identity(self, *, make: bool = True) -> Identity:
        """Who this queue is.

        Raises:
            ConfigError: It is not the one of the list any more.
        """
        ours = super().identity(make=make)
        if self._ids is None:
            self._ids = self.check()
        if ours.queue_id != self._ids[self.place.index]:
            raise ConfigError(f"{place_of(self.url)} is another Redis server than before")
        return ours

    def uneven_budgets(self) -> list[str]:
        """Crawls with URLs left here and little of their budget, or with budget and no URL left."""
        names = self.crawl_ids()
        found = zip(names, self.parts_of(names), strict=True)
        return [name for name, part in found if part and _is_uneven(part.counts)]

    def offer(self, crawl_id: str, discoveries: Sequence[Discovery]) -> list[bool]:
        """Offers URLs to the servers of their hosts; returns which are new."""
        return split_call(
            discoveries,
            lambda each: server_of(host_of(each.url), self.place.number),
            lambda index, part: (
                Frontier.offer(self, crawl_id, part)
                if index == self.place.index
                else self.other(index).offer(crawl_id, part)
            ),
        )

    def widen(self, crawl_id: str, url: str) -> None:
        """Adds a URL's host to a crawl's scope, on all servers: pages of all may lead there."""
        for index in range(self.place.number):
            Frontier.widen(self.other(index), crawl_id, url)

    def of_host(self, host: str) -> Frontier:
        """The server of a host."""
        return self.other(server_of(host, self.place.number))

    def robots(self, host: str) -> str | None:
        """A host's robots rules as text, from its server; None when they were not fetched."""
        index = server_of(host, self.place.number)
        return Frontier.robots(self.other(index), host)

    def close(self) -> None:
        """Closes the connections."""
        for other in self._others.values():
            other.close()
        super().close()


def _is_uneven(counts: CrawlCounts) -> bool:
    if counts.budget_left is None or counts.state not in (CrawlState.RUNNING, CrawlState.FINISHED):
        return False  # not shared, or at rest
    if counts.pending:
        return counts.budget_left <= MOST // 2
    return counts.budget_left > 0 and not counts.in_flight


def _number(text: bytes) -> int | None:
    return int(text) if text else None
