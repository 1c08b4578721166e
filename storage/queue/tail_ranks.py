"""Ranking anew what waits in the store: spills of topic crawls (``overflow.py``).

A spill keeps the ranks of the model by which it was written. Each round of the overflow ranks a few
spills of an older model anew, the best by their key in ``cc:t`` first and some by their id, so that
every spill comes to its turn; what comes back into the queue is ranked anew on its way.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from crawlclean.cleaning.errors import StoreDamaged
from crawlclean.storage.queue.clients import Arg, Scripts, queue_ms, raises_queue_errors
from crawlclean.storage.queue.ranking import Score, moved_entries
from crawlclean.storage.queue.spill_format import Entry, pack_entries, unpack_entries
from crawlclean.storage.store.spills import Spills

TopicModel = tuple[int, Score]
"""The version of a topic crawl's link model, and the model."""

BEST, OTHERS = 8, 2  # spills a round
LOOKED_AT = 1000  # spills of a crawl, of which a round takes the best


@raises_queue_errors
class TailRanks:
    """Ranks the spills of topic crawls anew; methods raise ``StorageError``."""

    def __init__(
        self,
        client: Any,
        scripts: Scripts,
        spills: Spills,
        model_of: Callable[[str], TopicModel | None],
    ) -> None:
        """``model_of`` gives the newest model of a crawl; None: it has none."""
        self._client = client
        self._scripts = scripts
        self._spills = spills
        self._model_of = model_of

    def renewed(self, crawl: str, entries: Sequence[Entry]) -> list[Entry]:
        """The entries of a spill with their scores by the newest model."""
        model = self._model_of(crawl)
        if model is None:
            return list(entries)
        now_ms = queue_ms(self._client)
        _, moved = moved_entries(((entry, score) for score, entry in entries), model[1], now_ms)
        new = {entry: score for score, entry in moved}
        return sorted((new.get(entry, score), entry) for score, entry in entries)

    def round(self, crawl: str) -> int:
        """Ranks at most ``BEST + OTHERS`` spills of a crawl anew; returns their number."""
        model = self._model_of(crawl)
        if model is None:
            return 0
        done = 0
        for spill_id, host in self._chosen(crawl, model[0]):
            kept = self._spills.get(spill_id)
            if kept is None:
                continue  # on its way to the store, or it has come back
            try:
                entries = self.renewed(crawl, unpack_entries(kept.host, kept.packed))
            except StoreDamaged:  # the overflow notices when it comes back
                self._client.hset(f"cc:tv:{crawl}", spill_id, model[0])
                continue
            self._spills.save([replace(kept, packed=pack_entries(kept.host, entries))])
            least = entries[0][0] if entries else 0
            args: list[Arg] = [crawl, host, spill_id, least, model[0]]
            moved = int(self._scripts("move_spill", args))
            if moved < 0:
                self._spills.delete([spill_id])
            done += moved == 1
        return done

    def _chosen(self, crawl: str, version: int) -> list[tuple[str, str]]:
        """Spills of an older model, (id, host): the best ones, and those of the least ids."""
        _, hosts = self._client.sscan(f"cc:th:{crawl}", 0, count=LOOKED_AT)
        with self._client.pipeline(transaction=False) as pipe:
            for host in hosts:
                pipe.zrange(b"cc:t:%b:%b" % (crawl.encode(), host), 0, -1, withscores=True)
            found = pipe.execute() if hosts else []
        waiting = [
            (key, spill.decode(), host.decode())
            for host, spills in zip(hosts, found, strict=True)
            for spill, key in spills
        ]
        names = [spill for _, spill, _ in waiting]
        versions = self._client.hmget(f"cc:tv:{crawl}", names) if names else []
        old = [
            each
            for each, known in zip(waiting, versions, strict=True)
            if known is None or int(known) < version
        ]
        best = heapq.nsmallest(BEST, old)
        others = heapq.nsmallest(OTHERS, {*old} - {*best}, key=lambda each: each[1])
        return [(spill, host) for _, spill, host in (*best, *others)]
