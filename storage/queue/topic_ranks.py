"""The queue of topic crawls: the weights that rank their URLs, and the hosts that they take.

A topic crawl leases its best URL first, across all hosts. Workers rank the URLs that they offer by
the weights of the topic's link model, which the learner publishes here.
"""

from __future__ import annotations

import re
import time
import uuid
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

import msgspec

from crawlclean.cleaning.urls.normal_form import domain_of
from crawlclean.storage.queue.clients import Arg, QueueMember, send_packed
from crawlclean.storage.queue.entries import RANK_SCORE, chunks, fingerprint

# Ranking anew: the waiting URLs of a topic crawl get the ranks of a newer model.
#
# The work is done outside the server, which stops for one command at a time: at most ``SLICE`` URLs
# are read or written by one. Hosts are handed out by ``lua/rank.lua``, first the heads of all
# queues, then the rest; any number of processes share them, and a host of a process that died goes
# on at its cursor. A URL that is leased meanwhile keeps its lease: only waiting URLs are moved.

Score = Callable[[Sequence[tuple[bytes, bytes]]], Sequence[int]]
"""Ranks 101..998 of links, given as (16 bytes of page id, packed features: ``topics/links.py``)."""

SLICE = 500  # URLs of a command: 1 to 3 ms of the server, for which a lease waits
HEAD = 100  # URLs of a long queue that are ranked first: what is leased until the rest is ranked
LEAST_MOVE = 2  # ranks: a smaller change is .02 logits and costs a write
# Of links: seeds, images and sitemaps rank before them, and no rank is 1000 or more.
BEST_RANK, WORST_RANK = 101, 998
AGE_RANKS, AGE_MS = 50, 7 * 86_400_000
"""A waiting URL rises by 50 ranks, 1 logit, in 7 days: one of p = .01 is at p = .5 in 4.6 weeks."""

HELD_MS = 20_000  # a process that is silent for so long has lost its hosts to others
WAIT_S = 0.1  # between two looks while other processes hold the last hosts of a ranking
_FEATURES = re.compile(rb"[a-z_]+ \d+ \d+=([\w-]+) ")
_ROLE, _PAGE = 16, ord("p")  # of an entry
_STR8, _STR16, _STR32 = 0xD9, 0xDA, 0xDB  # first bytes of MessagePack strings of 32 bytes or more
_PARTS = msgspec.msgpack.Decoder(list[msgspec.Raw])


@dataclass(slots=True)
class Reranked:
    """What one process did for a ranking.

    Attributes:
        urls: Waiting URLs that were ranked; a URL of a head may count twice.
        moved: Those whose rank changed by 2 or more.
        is_whole: Whether all URLs of the crawl in memory have their ranks now.
    """

    urls: int = 0
    moved: int = 0
    is_whole: bool = False


def moved_entries(
    entries: Iterable[tuple[bytes, int]], score: Score, at_ms: int
) -> tuple[int, list[tuple[int, bytes]]]:
    """Ranks pending entries anew.

    Seeds, images, sitemaps and other URLs without features keep their ranks.

    Args:
        entries: Each with its score in the queue.
        score: The model.
        at_ms: Time of the ranking; URLs that were found earlier rise by their age.

    Returns:
        How many were ranked, and (new score, entry) of those that move by ``LEAST_MOVE`` or more.
    """
    links, known = [], []
    features_of = _FEATURES.match
    for entry, old in entries:
        match = features_of(entry, 23)
        if match and entry[_ROLE] == _PAGE:
            links.append((entry[:16], match[1]))
            known.append((entry, old))
    moved = []
    for (entry, old), rank in zip(known, score(links) if links else (), strict=True):
        age_ms = at_ms - int.from_bytes(entry[17:23], "big")
        aged = rank - round(AGE_RANKS * age_ms / AGE_MS)
        new = aged if aged > BEST_RANK else BEST_RANK
        new = new if new < WORST_RANK else WORST_RANK
        old_rank, order = divmod(old, RANK_SCORE)
        if not -LEAST_MOVE < new - old_rank < LEAST_MOVE:
            moved.append((new * RANK_SCORE + order, entry))
    return len(known), moved


def unpack_scored(data: bytes) -> list[tuple[bytes, int]]:
    """Returns (entry, score) of the URLs that ``rank.lua`` packed.

    As MessagePack: an array of strings, entry and score in decimals in turn.

    Raises:
        ValueError: The bytes are no packed URLs.
    """
    parts = [bytes(each) for each in _PARTS.decode(data)]
    return [
        (entry[2:] if entry[0] == _STR8 else _text_of(entry), int(score[1:]))
        for entry, score in zip(parts[::2], parts[1::2], strict=True)
    ]


def _text_of(packed: bytes) -> bytes:
    """The text of a MessagePack string: after its length, which takes 1, 2, 3 or 5 bytes."""
    return packed[{_STR8: 2, _STR16: 3, _STR32: 5}.get(packed[0], 1) :]


def packed_moves(key: bytes, moved: Sequence[tuple[int, bytes]]) -> bytes:
    """Returns the command that gives entries of a queue their new scores, for ``send_packed``.

    Three times as fast as the client's own packing of 1,000 arguments.
    """
    head = b"*%d\r\n$4\r\nZADD\r\n$%d\r\n%b\r\n$2\r\nXX\r\n"
    parts = [head % (3 + 2 * len(moved), len(key), key)]
    for new, entry in moved:
        score = b"%d" % new
        parts.append(b"$%d\r\n%b\r\n$%d\r\n%b\r\n" % (len(score), score, len(entry), entry))
    return b"".join(parts)


MOST_HOSTS = 20
"""Hosts of a registered domain in a topic crawl: a link farm makes hosts at no cost."""

TOPIC_KEYS = ("tw", "dn", "df", "due", "best", "top", "sleep", "rank", "ranker", "tv", "ad")
"""Keys of a topic crawl alone, ``cc:tw:<crawl>`` ...: ``lua/shared/lib.lua`` has their meaning."""

CHUNK = 500  # hosts a command
_MARK = "."  # a field of cc:dn, so that the hash is there before the first host: no domain is '.'


def owner_of(host: str) -> str:
    """The registered domain of a host, whatever its port; an address with its port is its own.

    Of a hoster's tenants it is the hoster's: names below it cost nothing.
    """
    name = host.partition(":")[0]
    is_address = host.startswith("[") or name.replace(".", "").isdigit()
    return host if is_address else domain_of(name, of_tenant=False)


class TopicRanks(QueueMember):
    """The member ``topics`` of the queue; methods raise ``QueueUnavailable``."""

    def publish_weights(self, crawl_id: str, packed: bytes, version: int) -> bool:
        """Stores the packed weights of a crawl; False when a newer version is stored."""
        return bool(self._scripts("publish_weights", crawl_id, packed, version))

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
        return int(self._scripts("steer", crawl_id, str(pages_per_hour)))

    def adopt(self, crawl_id: str, fetched_by: str, pages: Sequence[tuple[str, str]]) -> None:
        """Marks pages as done that another crawl has fetched; a repetition changes nothing.

        A URL that waits ends when its turn comes, without a request; one that is under way, or done
        already, stays unchanged.

        Args:
            crawl_id: A topic crawl.
            fetched_by: The crawl that fetched the pages; they are not acknowledged there yet.
            pages: (page id, host); their judgements for this crawl are stored.
        """
        for part in chunks(pages, CHUNK):
            args: list[Arg] = [crawl_id, fetched_by]
            for page, host in part:
                args += [host, fingerprint(page), page]
            self._scripts("adopt", *args)

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

        Returns:
            What was ranked until nothing was left, a newer ranking had begun, or the caller
            stopped it; a ``version`` older than that of the last ranking changes nothing.
        """
        done = Reranked()
        ranked: list[bytes | str] = []
        while not is_stopped():
            answer, *parts = self._scripts("rank", crawl_id, version, HELD_MS, HEAD, SLICE, *ranked)
            hosts, states, urls = parts[::3], parts[1::3], parts[2::3]
            if hosts:
                commands = []
                for host, packed in zip(hosts, urls, strict=True):
                    n, moved = moved_entries(unpack_scored(packed), score, int(answer))
                    done.urls += n
                    done.moved += len(moved)
                    key = b"cc:q:%b:%b" % (crawl_id.encode(), host)
                    commands += [packed_moves(key, part) for part in chunks(moved, SLICE)]
                if commands:
                    send_packed(self._client, commands)
            elif answer == b"wait":
                time.sleep(WAIT_S)  # nothing tells when others let the last hosts go
            else:
                done.is_whole = answer == b"done"
                break
            ranked = [part for pair in zip(hosts, states, strict=True) for part in pair]
        return done

    def ranked_version(self, crawl_id: str) -> int:
        """The version of the weights by which the last ranking was begun; 0: there was none."""
        return int(self._client.hget(f"cc:ranker:{crawl_id}", " version") or 0)

    def known_hosts(self, crawl_id: str, hosts: Collection[str]) -> frozenset[str]:
        """Which of some hosts are in a topic crawl."""
        names = list(hosts)
        with self._client.pipeline(transaction=False) as pipe:
            for host in names:
                pipe.sismember(f"cc:h:{crawl_id}", host)
            marks = pipe.execute() if names else []
        return frozenset(host for host, is_in in zip(names, marks, strict=True) if is_in)

    def take_hosts(self, crawl_id: str, hosts: Collection[str]) -> frozenset[str]:
        """Takes hosts into a topic crawl, at most ``MOST_HOSTS`` of a registered domain.

        Returns:
            Those that are in the crawl now.
        """
        if not hosts:
            return frozenset()
        args: list[Arg] = [crawl_id, MOST_HOSTS]
        for host in sorted(hosts):
            args += [host, owner_of(host)]
        taken: Sequence[bytes] | None = self._scripts("open_hosts", *args)
        if taken is None:
            self._count_domains(crawl_id)
            taken = self._scripts("open_hosts", *args)
        return frozenset(host.decode() for host in taken or ())

    def _count_domains(self, crawl_id: str) -> None:
        """Counts the hosts of each registered domain anew, unless another process has done it."""
        found = Counter(
            owner_of(host.decode())
            for host in set(self._client.sscan_iter(f"cc:h:{crawl_id}", count=1000))
        )
        aside = f"cc:dn:{crawl_id}:{uuid.uuid4().hex}"
        self._client.hset(aside, mapping={_MARK: 0, **found})
        if not self._client.renamenx(aside, f"cc:dn:{crawl_id}"):
            self._client.delete(aside)
