"""All servers of a list as one queue, for commands and for what concerns a whole crawl.

``Spread`` gives each operation of a class the meaning that ``meanings.py`` has for it. To its
callers it is this class: ``opening.py`` returns it where it returns a ``Frontier`` otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from cleaning.errors import ConfigError, NotFound
from cleaning.urls.normal_form import host_of
from storage.config import place_of
from storage.crawl_types import CrawlCounts, CrawlSpec, CrawlState, Discovery
from storage.live_state import QueueNow
from storage.queue.identity import Identity
from storage.queue.maintenance import CrawlRebuilder, UrlReopener
from storage.queue.overflow import Overflow
from storage.queue.servers import meanings
from storage.queue.servers.meanings import Meaning
from storage.queue.servers.members import Member, Part, check_spec
from storage.queue.servers.shares import share_out
from storage.queue.servers.stamps import check_list
from storage.queue.servers.topics import TopicServers
from storage.server_list import Place, server_of, split_call, split_list
from storage.store.spills import Spills

if TYPE_CHECKING:
    from storage.queue.frontier import Frontier

ORDER = (CrawlState.RUNNING, CrawlState.PAUSED, CrawlState.STOPPED, CrawlState.FINISHED)
"""A crawl has the first of these states that it has on any server."""
PARTS = {
    "classes": meanings.CLASSES,
    "learning": meanings.LEARNING,
    "revisits": meanings.REVISITS,
    "waits": meanings.WAITS,
    "processes": meanings.PROCESSES,
    "operations": meanings.OPERATIONS,
}


Wrap = Callable[[str, Sequence[Any]], list[Any]]


class Spread:
    """Objects of one class, one a server, that act as one."""

    def __init__(
        self, objects: Sequence[Any], table: Mapping[str, Meaning], wrap: Wrap | None = None
    ) -> None:
        """Calls nothing yet; ``wrap`` wraps the calls of an operation, by its name."""
        self._objects = objects
        self._table = table
        self._wrap = wrap

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._table:
            raise ConfigError(f"this does not work with several queue servers yet ({name})")
        meaning = self._table[name]
        calls = [getattr(each, name) for each in self._objects]
        if self._wrap is not None:
            calls = self._wrap(name, calls)
        return lambda *args, **more: meaning(calls, args, more)


class QueueServers(Spread):
    """The queue over all servers of a list; what it does not have is refused.

    Attributes:
        url: The list.
        members: The servers, in order.
    """

    def __init__(self, redis_url: str) -> None:
        """Connects to every server of a list, and checks it.

        Raises:
            ConfigError: The servers are of another list.
            QueueUnavailable: A server does not answer.
        """
        urls = split_list(redis_url)
        self.url = redis_url
        self._ids = check_list(urls)
        self.members = [Member(url, Place(i, len(urls))) for i, url in enumerate(urls)]
        super().__init__(self.members, meanings.QUEUE)
        for name, table in PARTS.items():
            setattr(self, name, Spread([getattr(each, name) for each in self.members], table))
        self.topics = TopicServers(len(urls), lambda index: self.members[index].topics)

    def check(self) -> None:
        """Checks that hosts are still split over this list.

        Raises:
            ConfigError: They are split over another one by now.
            QueueUnavailable: A server does not answer.
        """
        if any(member.check() != self._ids for member in self.members):
            raise ConfigError("hosts are split over another list of queue servers by now")

    def now(self) -> QueueNow:
        """What all servers and their processes do at this moment, together and each for itself."""
        places = [place_of(member.url) for member in self.members]
        return meanings.now_of_all([member.now() for member in self.members], places)

    def identity(self, *, make: bool = True) -> Identity:
        """Who the servers are together: their ids with commas, and the runs of the servers."""
        found = [member.identity(make=make) for member in self.members]
        return Identity(",".join(self._ids), ",".join(each.server for each in found))

    def open_crawl(self, spec: CrawlSpec) -> None:
        """Creates a crawl on every server or changes its limits, sets it running, offers its seeds.

        It is known everywhere before it runs anywhere: pages of one server lead to hosts of others.

        Raises:
            ConfigError: The crawl does not work on several servers.
        """
        check_spec(spec)
        for member in self.members:
            member.define(spec)
        self.add(spec.crawl_id, [Discovery(url=url, rank=0) for url in spec.seeds])
        self.share_out(spec.crawl_id)
        for member in self.members:
            member.begin(spec.crawl_id)

    def share_out(self, crawl_id: str) -> bool:
        """Moves shares of a crawl's budget to servers with URLs left; returns whether any moved."""
        return share_out(self.members, crawl_id)

    def add(self, crawl_id: str, discoveries: Sequence[Discovery]) -> int:
        """Offers URLs to the servers of their hosts; returns how many are new."""
        return sum(self.offer(crawl_id, discoveries))

    def offer(self, crawl_id: str, discoveries: Sequence[Discovery]) -> list[bool]:
        """Offers URLs to the servers of their hosts; returns which are new."""
        return split_call(
            discoveries,
            lambda each: server_of(host_of(each.url), len(self.members)),
            lambda index, part: self.members[index].offer(crawl_id, part),
        )

    def counts(self, crawl_id: str) -> CrawlCounts:
        """A crawl's URLs by state, on all servers together.

        Raises:
            NotFound: No such crawl.
        """
        found = self.counts_of([crawl_id])
        if not found:
            raise NotFound(f"no crawl {crawl_id} in the queue")
        return found[crawl_id]

    def counts_of(self, crawl_ids: Collection[str]) -> dict[str, CrawlCounts]:
        """Many crawls' URLs by state, on all servers together; an unknown crawl is left out.

        Servers are asked one after another. A crawl that looks finished is looked at until two
        looks in a row find the same: then there was a moment between both at which no server had
        an open URL. A page of which the links are on their way to another server is open on its own
        until they are there.
        """
        names = list(crawl_ids)
        found = self._look(names)
        unsure = [name for name, counts in found.items() if _seems_over(counts)]
        while unsure:
            again = self._look(unsure)
            unsure = [
                name
                for name, counts in again.items()
                if _seems_over(counts) and counts != found.get(name)
            ]
            found |= again
        return found

    def _look(self, names: Sequence[str]) -> dict[str, CrawlCounts]:
        known = zip(names, zip(*self._parts(names), strict=True), strict=True)
        return {name: _together([p for p in of if p]) for name, of in known if any(of)}

    def of_host(self, host: str) -> Frontier:
        """The server of a host."""
        return self.members[server_of(host, len(self.members))]

    def _parts(self, names: Sequence[str]) -> list[list[Part | None]]:
        """For each server its part of each crawl."""
        return [member.parts_of(names) for member in self.members]

    def purge(self, crawl_id: str, host: str = "") -> int:
        """Deletes a crawl, or one of its hosts; returns the number of its URLs.

        Raises:
            NotFound: No such crawl.
        """
        if host:
            return self.of_host(host).purge(crawl_id, host)
        has = [member for member in self.members if crawl_id in member.crawl_ids()]
        if not has:
            raise NotFound(f"no crawl {crawl_id} in the queue")
        return sum(member.purge(crawl_id) for member in has)


class _Rebuilders(Spread):
    """``CrawlRebuilder`` for a list."""

    def __init__(self, urls: Sequence[str]) -> None:
        self._rebuilders = [CrawlRebuilder(url) for url in urls]
        self._members = [Member(url, Place(i, len(urls))) for i, url in enumerate(urls)]
        super().__init__([*self._rebuilders], meanings.REBUILDING)

    def begin(self, spec: CrawlSpec) -> None:
        """Creates a lost crawl on each server that lacks it; none has a share of its budget yet."""
        check_spec(spec)
        for rebuilder, member in zip(self._rebuilders, self._members, strict=True):
            rebuilder.begin(spec)
            limit = "" if spec.max_pages is None else str(spec.max_pages)
            member.share(spec.crawl_id, "begin", value=limit)

    def close(self) -> None:
        """Closes the connections."""
        for rebuilder, member in zip(self._rebuilders, self._members, strict=True):
            rebuilder.close()
            member.close()


def open_queue(redis_url: str) -> Frontier:
    """The queue on one server or on all servers of a list.

    Raises:
        ConfigError: The servers are of another list.
        QueueUnavailable: A server of a list does not answer.
    """
    from storage.queue.frontier import Frontier

    if len(split_list(redis_url)) > 1:
        return cast("Frontier", QueueServers(redis_url))
    return Frontier(redis_url)


def open_rebuilder(redis_url: str) -> CrawlRebuilder:
    """The rebuilder of crawls on one server, or on all servers of a list."""
    urls = split_list(redis_url)
    return cast(CrawlRebuilder, _Rebuilders(urls)) if len(urls) > 1 else CrawlRebuilder(redis_url)


def open_reopener(redis_url: str) -> UrlReopener:
    """What makes ended URLs pending, on one server or on all servers of a list."""
    urls = split_list(redis_url)
    if len(urls) == 1:
        return UrlReopener(redis_url)
    return cast(UrlReopener, Spread([UrlReopener(url) for url in urls], meanings.REOPENING))


def open_overflow(redis_url: str, spills: Spills, most: int) -> Overflow:
    """What spills URLs while a crawl is rebuilt, on one server or on all servers of a list."""
    urls = split_list(redis_url)
    if len(urls) == 1:
        return Overflow(redis_url, spills, most)
    each = [Overflow(url, spills, most) for url in urls]
    return cast(Overflow, Spread(each, meanings.SPILLING))


def _seems_over(counts: CrawlCounts) -> bool:
    return counts.state is CrawlState.FINISHED or not counts.open


def _together(parts: Sequence[Part]) -> CrawlCounts:
    """The counts of a crawl from those of its servers.

    A server that has spent its share runs on, because it may get more; when the whole budget is
    spent, the crawl is finished.
    """
    counts = [part.counts for part in parts]
    used, limit = sum(part.used for part in parts), parts[0].limit
    left = None if limit is None else max(0, limit - used)
    state = min((each.state for each in counts), key=ORDER.index)
    total = replace(
        counts[0],
        state=state,
        budget_left=left,
        **{
            name: sum(getattr(each, name) for each in counts)
            for name in (
                *("pending", "leased", "queued", "done", "stored", "failed", "fetched", "hosts"),
                *("spilled", "images", "revisits", "revisited"),
            )
        },
    )
    is_over = state is CrawlState.RUNNING and total.is_spent and not parts[0].is_endless
    return replace(total, state=CrawlState.FINISHED) if is_over else total
