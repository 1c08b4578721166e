"""Ranking anew: the waiting URLs of a topic crawl get the ranks of a newer model.

The work is done outside the server, which stops for one command at a time: at most ``SLICE`` URLs
are read or written by one. Hosts are handed out by ``lua/rank.lua``, first the heads of all queues,
then the rest; any number of processes share them, and a host of a process that died goes on at its
cursor. A URL that is leased meanwhile keeps its lease: only waiting URLs are moved.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from crawlclean.storage.queue.clients import Scripts, raises_queue_errors, send_packed
from crawlclean.storage.queue.entries import RANK_SCORE

Score = Callable[[Sequence[tuple[bytes, bytes]]], Sequence[int]]
"""Ranks 101..998 of links, given as (16 bytes of page id, packed features: ``feature_ids.py``)."""

SLICE = 500  # URLs of a command: 1 to 3 ms of the server, for which a lease waits
HEAD = 100  # URLs of a long queue that are ranked first: what is leased until the rest is ranked
LEAST_MOVE = 2  # ranks: a smaller change is .02 logits and costs a write
BEST_RANK, WORST_RANK = 101, 998
AGE_RANKS, AGE_MS = 50, 7 * 86_400_000
"""A waiting URL rises by 50 ranks, 1 logit, in 7 days: one of p = .01 is at p = .5 in 4.6 weeks."""

HELD_MS = 20_000
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


@raises_queue_errors
class Ranker:
    """One process that ranks the waiting URLs of a crawl; raises ``QueueUnavailable``."""

    def __init__(self, client: Any, scripts: Scripts, crawl_id: str, score: Score) -> None:
        self._client = client
        self._scripts = scripts
        self._crawl_id = crawl_id
        self._score = score
        self._done = Reranked()

    def run(self, version: int, is_stopped: Callable[[], bool]) -> Reranked:
        """Ranks until nothing is left, a newer ranking has begun, or the caller stops it.

        Args:
            version: Of the weights that ``score`` has; an older version than that of the last
                ranking changes nothing.
            is_stopped: Asked between two slices.
        """
        ranked: list[bytes | str] = []
        while not is_stopped():
            answer, *parts = self._scripts(
                "rank", [self._crawl_id, version, HELD_MS, HEAD, SLICE, *ranked]
            )
            hosts, states, urls = parts[::3], parts[1::3], parts[2::3]
            if hosts:
                self._move(hosts, urls, int(answer))
            elif answer == b"wait":
                time.sleep(WAIT_S)
            else:
                self._done.is_whole = answer == b"done"
                break
            ranked = [part for pair in zip(hosts, states, strict=True) for part in pair]
        return self._done

    def _move(self, hosts: Sequence[bytes], packed: Sequence[bytes], at_ms: int) -> None:
        """Writes the new ranks of a slice."""
        commands = []
        for host, urls in zip(hosts, packed, strict=True):
            entries = unpack_scored(urls)
            ranked, moved = moved_entries(entries, self._score, at_ms)
            self._done.urls += ranked
            self._done.moved += len(moved)
            key = b"cc:q:%b:%b" % (self._crawl_id.encode(), host)
            for start in range(0, len(moved), SLICE):
                commands.append(packed_moves(key, moved[start : start + SLICE]))
        if commands:
            send_packed(self._client, commands)
