"""The queue of topic crawls: the weights that rank their URLs, and the hosts that they take.

A topic crawl leases its best URL first, across all hosts. Workers rank the URLs that they offer by
the weights of the topic's link model, which the learner publishes here.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any

from crawlclean.cleaning.urls.normal_form import domain_of
from crawlclean.storage.crawl_types import CrawlSpec
from crawlclean.storage.queue.clients import Arg, Scripts, raises_queue_errors
from crawlclean.storage.queue.entries import fingerprint
from crawlclean.storage.queue.ranking import Ranker, Reranked, Score

MOST_HOSTS = 20
"""Hosts of a registered domain in a topic crawl: a link farm makes hosts at no cost."""

TOPIC_KEYS = ("tw", "dn", "df", "due", "best", "top", "sleep", "rank", "ranker", "tv", "ad")
"""Keys of a topic crawl alone, ``cc:tw:<crawl>`` ...: ``lua/shared/lib.lua`` has their meaning."""

CHUNK = 500  # hosts a command
_MARK = "."  # a field of cc:dn, so that the hash is there before the first host: no domain is '.'


def owner_of(host: str) -> str:
    """The registered domain of a host, whatever its port; an address with its port is its own."""
    name = host.partition(":")[0]
    is_address = host.startswith("[") or name.replace(".", "").isdigit()
    return host if is_address else domain_of(name)


def join_turns(pipe: Any, spec: CrawlSpec) -> None:
    """Adds a topic crawl to those whose hosts are chosen by rank; any other crawl leaves them."""
    if spec.topic:
        pipe.zadd("cc:turn", {spec.crawl_id: 0}, nx=True)
    else:
        pipe.zrem("cc:turn", spec.crawl_id)


@raises_queue_errors
class TopicRanks:
    """The member ``topics`` of the queue; methods raise ``QueueUnavailable``."""

    def __init__(self, client: Any, scripts: Scripts) -> None:
        self._client = client
        self._scripts = scripts

    def publish_weights(self, crawl_id: str, packed: bytes, version: int) -> bool:
        """Stores the packed weights of a crawl; False when a newer version is stored."""
        return bool(self._scripts("publish_weights", (crawl_id, packed, version)))

    def weights(self, crawl_id: str) -> tuple[bytes, int]:
        """The (packed weights, version) that were published last; ``(b"", 0)``: none."""
        packed, version = self._client.hmget(f"cc:tw:{crawl_id}", "weights", "version")
        return packed or b"", int(version or 0)

    def reached_by(self, crawl_id: str) -> int:
        """The newest version of its topic by which what waits is ranked; 1 before any change."""
        return int(self._client.hget(f"cc:tw:{crawl_id}", "topic_version") or 1)

    def note_reached(self, crawl_id: str, topic_version: int) -> None:
        """Notes by which version of its topic what waits is ranked."""
        if self._client.exists(f"cc:c:{crawl_id}"):
            self._client.hset(f"cc:tw:{crawl_id}", "topic_version", topic_version)

    def steer(self, crawl_id: str, pages_per_hour: float) -> int:
        """Moves the floor by 5 ranks a minute, 0..450, towards so many fetched pages an hour.

        The floor is how many ranks of 1/50 logit below its best URL a topic crawl leases. Any
        number of processes may call it at any time.

        Returns:
            The floor.
        """
        return int(self._scripts("steer", (crawl_id, str(pages_per_hour))))

    def adopt(self, crawl_id: str, fetched_by: str, pages: Sequence[tuple[str, str]]) -> None:
        """Marks pages as done that another crawl has fetched; a repetition changes nothing.

        A URL that waits ends when its turn comes, without a request; one that is under way, or done
        already, stays unchanged.

        Args:
            crawl_id: A topic crawl.
            fetched_by: The crawl that fetched the pages; they are not acknowledged there yet.
            pages: (page id, host); their judgements for this crawl are stored.
        """
        for start in range(0, len(pages), CHUNK):
            args: list[Arg] = [crawl_id, fetched_by]
            for page, host in pages[start : start + CHUNK]:
                args += [host, fingerprint(page), page]
            self._scripts("adopt", args)

    def harvest(self, crawl_id: str) -> tuple[int, int]:
        """The (records, relevant records without reprints) that a crawl has judged so far."""
        judged, relevant = self._client.hmget(f"cc:c:{crawl_id}", "judged", "relevant")
        return int(judged or 0), int(relevant or 0)

    def waiting(self, crawl_id: str) -> int:
        """URLs that a ranking reads: pending ones, those in the store included."""
        return int(self._client.hget(f"cc:c:{crawl_id}", "pending") or 0)

    def rerank(
        self,
        crawl_id: str,
        score: Score,
        version: int,
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> Reranked:
        """Ranks all waiting URLs of a crawl anew, those in the store apart (``overflow.py``).

        Several processes may do it at once and share the hosts; after a kill the next call goes on.
        A million URLs take one process 15 s of CPU time, and the server 18
        (``make bench-ranking`` on a busy machine).

        Args:
            crawl_id: A topic crawl.
            score: Ranks of links by the new model.
            version: Of this model.
            is_stopped: Asked between two slices of 500 URLs or more.
        """
        return Ranker(self._client, self._scripts, crawl_id, score).run(version, is_stopped)

    def ranked_version(self, crawl_id: str) -> int:
        """The version of the weights by which the last ranking was begun; 0: there was none."""
        return int(self._client.hget(f"cc:ranker:{crawl_id}", " version") or 0)

    def hosts(self, crawl_id: str) -> TopicHosts:
        """The hosts of a topic crawl."""
        return TopicHosts(self._client, self._scripts, crawl_id)


@raises_queue_errors
class TopicHosts:
    """The hosts of one topic crawl, which grow with it; methods raise ``QueueUnavailable``."""

    def __init__(self, client: Any, scripts: Scripts, crawl_id: str) -> None:
        self._client = client
        self._scripts = scripts
        self._crawl_id = crawl_id

    def known(self, hosts: Collection[str]) -> frozenset[str]:
        """Which of the hosts are in the crawl."""
        names = list(hosts)
        with self._client.pipeline(transaction=False) as pipe:
            for host in names:
                pipe.sismember(f"cc:h:{self._crawl_id}", host)
            marks = pipe.execute() if names else []
        return frozenset(host for host, is_in in zip(names, marks, strict=True) if is_in)

    def take(self, hosts: Collection[str]) -> frozenset[str]:
        """Takes hosts into the crawl, at most ``MOST_HOSTS`` of a registered domain.

        Returns:
            Those that are in the crawl now.
        """
        if not hosts:
            return frozenset()
        args: list[Arg] = [self._crawl_id, MOST_HOSTS]
        for host in sorted(hosts):
            args += [host, owner_of(host)]
        taken: Sequence[bytes] | None = self._scripts("open_hosts", args)
        if taken is None:
            self._count_domains()
            taken = self._scripts("open_hosts", args)
        return frozenset(host.decode() for host in taken or ())

    def _count_domains(self) -> None:
        """Counts the hosts of each registered domain anew, unless another process has done it."""
        found = Counter(
            owner_of(host.decode())
            for host in set(self._client.sscan_iter(f"cc:h:{self._crawl_id}", count=1000))
        )
        aside = f"cc:dn:{self._crawl_id}:{uuid.uuid4().hex}"
        self._client.hset(aside, mapping={_MARK: 0, **found})
        if not self._client.renamenx(aside, f"cc:dn:{self._crawl_id}"):
            self._client.delete(aside)
