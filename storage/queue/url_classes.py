"""What a crawl knows of the classes of a host's URLs: rules, what operators said, what is refused.

Rules are kept as the text that the workers write; the templates of what is not fetched stand among
the host's stopped classes (``trap_ledger.py``), where spiders see them: ``=template`` with the
reason, and ``+template`` for each that is followed all the same though a refused one fits, too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from storage.crawl_types import Discovery, PageRole
from storage.queue.clients import queue_errors
from storage.queue.entries import RANK_SCORE, read_pending

REFUSED, FOLLOWED = "=", "+"
MOST_RANKED = 50_000  # pending URLs of a host that are looked at when its rules change
CHUNK = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class HostClasses:
    """What is known of a host's classes.

    Attributes:
        rules: The rules as their writer packed them, ``""`` for none.
        pins: What operators said, by template.
    """

    rules: str
    pins: Mapping[str, str]


class UrlLedger:
    """The URL classes of every crawl; methods raise ``QueueUnavailable`` when it is away."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def add_pages(self, crawl_id: str, host: str, count: int) -> int:
        """Counts answered pages of a host in a crawl; all of them so far, 0 without a crawl."""
        with queue_errors():
            if not self._client.exists(f"cc:c:{crawl_id}"):
                return 0
            return int(self._client.hincrby(f"cc:u:{crawl_id}:{host}", "pages", count))

    def known(self, crawl_id: str, host: str) -> HostClasses:
        """The rules of a host, and what operators said of its classes."""
        with queue_errors(), self._client.pipeline(transaction=False) as pipe:
            pipe.hget(f"cc:u:{crawl_id}:{host}", "rules")
            pipe.hgetall(f"cc:up:{host}")
            rules, pins = pipe.execute()
        return HostClasses(
            rules=(rules or b"").decode(),
            pins={template.decode(): word.decode() for template, word in pins.items()},
        )

    def keep(
        self,
        crawl_id: str,
        host: str,
        rules: str,
        refused: Mapping[str, str],
        followed: Collection[str] = (),
    ) -> None:
        """Replaces a host's rules and what of it is refused.

        Args:
            crawl_id: The crawl.
            host: The host.
            rules: The rules, packed.
            refused: Templates that are not fetched, and why.
            followed: Templates inside those that are.
        """
        stopped = f"cc:ts:{crawl_id}:{host}"
        marked = {REFUSED + template: why for template, why in refused.items()}
        marked.update(dict.fromkeys((FOLLOWED + template for template in followed), ""))
        with queue_errors():
            if not self._client.exists(f"cc:c:{crawl_id}"):
                return
            marks = (REFUSED.encode(), FOLLOWED.encode())
            old = [key for key in self._client.hkeys(stopped) if key.startswith(marks)]
            with self._client.pipeline() as pipe:
                pipe.hset(f"cc:u:{crawl_id}:{host}", "rules", rules)
                if old:
                    pipe.hdel(stopped, *old)
                if marked:
                    pipe.hset(stopped, mapping=marked)
                if old or marked:
                    pipe.hincrby(f"cc:g:{host}", "stopped_version", 1)
                pipe.execute()

    def pin(self, host: str, template: str, word: str) -> None:
        """Keeps what an operator said of a class, for every crawl; ``""`` forgets it."""
        with queue_errors():
            if word:
                self._client.hset(f"cc:up:{host}", template, word)
            else:
                self._client.hdel(f"cc:up:{host}", template)

    def rank_again(self, crawl_id: str, host: str, rank_of: Callable[[Discovery], int]) -> int:
        """Gives pending URLs of a host new ranks; returns how many changed their place."""
        key = f"cc:q:{crawl_id}:{host}"
        changed, seen = 0, 0
        scores: dict[bytes, int] = {}
        with queue_errors():
            for entry, score in self._client.zscan_iter(key, count=CHUNK):
                seen += 1
                found = read_pending(host, int(score), entry)
                if found.role is PageRole.PAGE and found.rank != (rank := rank_of(found)):
                    scores[entry] = rank * RANK_SCORE + int(score) % RANK_SCORE
                if len(scores) >= CHUNK or seen >= MOST_RANKED:
                    changed += self._move(key, scores)
                    scores = {}
                if seen >= MOST_RANKED:
                    break
            return changed + self._move(key, scores)

    def _move(self, key: str, scores: Mapping[bytes, int]) -> int:
        # Only what still waits: a URL that was leased meanwhile must not come back.
        return int(self._client.zadd(key, scores, xx=True, ch=True)) if scores else 0
