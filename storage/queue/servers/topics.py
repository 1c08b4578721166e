"""Topic crawls over several queue servers: each ranks its own hosts, all by the same weights.

A host is on one server, with its URLs. The learner publishes the weights
on every server, and ranks the URLs of all anew. ``TopicServers`` stands where one server has
``TopicRanks``: it has every operation of that class, so none acts on one server alone in passing,
but the two by which a server hears what others lease (``ONE_SERVERS_OWN``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from storage.queue.ranking import Reranked, Score
from storage.queue.topic_ranks import TopicHosts, TopicRanks
from storage.server_list import server_of, split_call

ONE_SERVERS_OWN = frozenset({"leased_lately", "hear"})


class TopicServers:
    """The topic crawls of all servers; methods raise ``QueueUnavailable`` while one is away."""

    def __init__(self, number: int, server: Callable[[int], TopicRanks], near: int = 0) -> None:
        """Reaches no server yet.

        Args:
            number: Servers of the list.
            server: The topic crawls of the server with a number.
            near: The server that is asked what all have.
        """
        self._number = number
        self._server = server
        self._near = near

    def _all(self) -> Iterator[TopicRanks]:
        return (self._server(index) for index in range(self._number))

    def publish_weights(self, crawl_id: str, packed: bytes, version: int) -> bool:
        """Stores the packed weights of a crawl; False when a server has a newer version.

        A process that dies in between leaves it to the next learner, which does it again.
        """
        done = [each.publish_weights(crawl_id, packed, version) for each in self._all()]
        return all(done)

    def weights(self, crawl_id: str) -> tuple[bytes, int]:
        """The (packed weights, version) that were published last; ``(b"", 0)``: none."""
        return self._server(self._near).weights(crawl_id)

    def reached_by(self, crawl_id: str) -> int:
        """The oldest version of its topic by which a server has ranked what waits."""
        return min(each.reached_by(crawl_id) for each in self._all())

    def note_reached(self, crawl_id: str, topic_version: int) -> None:
        """Notes by which version of its topic what waits is ranked."""
        for each in self._all():
            each.note_reached(crawl_id, topic_version)

    def floor(self, crawl_id: str) -> int:
        """How many ranks below its best URL a crawl leases, in ranks of 1/50 logit."""
        return self._server(self._near).floor(crawl_id)

    def set_floor(self, crawl_id: str, ranks: int) -> None:
        """Sets ``floor``, 0..998.

        Raises:
            NotFound: No such crawl.
        """
        for each in self._all():
            each.set_floor(crawl_id, ranks)

    def steer(self, crawl_id: str, pages_per_hour: float, fetched: int) -> int:
        """Moves the floor, the same on all servers, towards so many fetched pages an hour.

        The first server decides; ``fetched`` counts the pages of all servers.
        """
        first, *others = self._all()
        floor = first.steer(crawl_id, pages_per_hour, fetched)
        for each in others:
            if each.floor(crawl_id) != floor:
                each.set_floor(crawl_id, floor)
        return floor

    def adopt(self, crawl_id: str, fetched_by: str, pages: Sequence[tuple[str, str]]) -> None:
        """Marks pages (page id, host) as done that another crawl has fetched."""

        def on_server(index: int, part: list[tuple[str, str]]) -> list[tuple[str, str]]:
            self._server(index).adopt(crawl_id, fetched_by, part)
            return part

        split_call(pages, lambda page: server_of(page[1], self._number), on_server)

    def harvest(self, crawl_id: str) -> tuple[int, int]:
        """The (records, relevant records without reprints) that a crawl has judged so far."""
        found = [each.harvest(crawl_id) for each in self._all()]
        return sum(judged for judged, _ in found), sum(relevant for _, relevant in found)

    def waiting(self, crawl_id: str) -> int:
        """URLs that a ranking reads."""
        return sum(each.waiting(crawl_id) for each in self._all())

    def rerank(
        self,
        crawl_id: str,
        score: Score,
        version: int | None = None,
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> Reranked:
        """Ranks all waiting URLs of a crawl anew, one server after another.

        The server that was ranked longest ago comes first: a ranking that is stopped before its end
        leaves out another one each time.
        """
        if version is None:
            version = self.weights(crawl_id)[1]
        done = Reranked(is_whole=True)
        servers = sorted(self._all(), key=lambda each: each.ranked_version(crawl_id))
        for each in servers:
            part = each.rerank(crawl_id, score, version, is_stopped)
            done.urls += part.urls
            done.moved += part.moved
            done.is_whole = done.is_whole and part.is_whole
        return done

    def ranked_version(self, crawl_id: str) -> int:
        """The oldest version of weights by which the last ranking of a server was begun."""
        return min(each.ranked_version(crawl_id) for each in self._all())

    def hosts(self, crawl_id: str) -> HostsOfAll:
        """The hosts of a topic crawl."""
        return HostsOfAll(self._number, lambda index: self._server(index).hosts(crawl_id))


class HostsOfAll:
    """The hosts of one topic crawl on all servers."""

    def __init__(self, number: int, server: Callable[[int], TopicHosts]) -> None:
        """Reaches no server yet; ``server``: the hosts on the server with a number."""
        self._number = number
        self._server = server

    def known(self, hosts: Collection[str]) -> frozenset[str]:
        """Which of the hosts are in the crawl."""
        return self._of(hosts, TopicHosts.known)

    def take(self, hosts: Collection[str]) -> frozenset[str]:
        """Takes hosts into the crawl; returns those that are in now.

        A registered domain is on one server, which counts its hosts.
        """
        return self._of(hosts, TopicHosts.take)

    def _of(
        self,
        hosts: Collection[str],
        ask: Callable[[TopicHosts, Collection[str]], frozenset[str]],
    ) -> frozenset[str]:
        found: set[str] = set()

        def on_server(index: int, part: list[str]) -> list[str]:
            found.update(ask(self._server(index), part))
            return part

        split_call(hosts, lambda host: server_of(host, self._number), on_server)
        return frozenset(found)
