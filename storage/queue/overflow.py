"""Overflow of the frontier: URLs that do not fit into the queue's memory wait in the store (ADR 8).

A *spill* is a block of up to 1,000 entries, the worst of one host's queue. A spill moves in atomic
steps; a process that dies between two steps loses no URL and doubles none:

    queue --spill.lua--> cc:spill:<spill> --save--> store --confirm_spill.lua--> the key is deleted
    queue <--refill.lua (entries return, the id leaves cc:tn)-- store --10 s later--> deleted

The next round of any process saves an unconfirmed spill: saving is by id. A spill in the store
whose id is not in ``cc:tn:<crawl>`` is garbage and harmless. Any number of processes may run rounds
at once.
"""

from __future__ import annotations

import heapq
import logging
import struct
import time
import uuid
from collections import Counter as Tally
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from crawlclean.cleaning.errors import StoreDamaged
from crawlclean.storage.queue.clients import (
    Arg,
    QueueMember,
    Scripts,
    queue_ms,
)
from crawlclean.storage.queue.counters import Counter
from crawlclean.storage.queue.entries import (
    RANK_SCORE,
    Entry,
    chunks,
    is_pending,
    pack_entries,
    unpack_entries,
)
from crawlclean.storage.queue.topic_ranks import Score, moved_entries
from crawlclean.storage.store.crawls import Spill, Spills

# Ranking anew what waits in the store: spills of topic crawls (``overflow.py``).
#
# A spill keeps the ranks of the model by which it was written. Each round of the overflow ranks a
# few spills of an older model anew, the best by their key in ``cc:t`` first and some by their id,
# so that every spill comes to its turn; what comes back into the queue is ranked anew on its way.

TopicModel = tuple[int, Score]
"""The version of a topic crawl's link model, and the model."""

BEST, OTHERS = 8, 2  # spills a round
LOOKED_AT = 1000  # spills of a crawl, of which a round takes the best


class TailRanks(QueueMember):
    """Ranks the spills of topic crawls anew; methods raise ``StorageError``."""

    def __init__(
        self,
        client: Any,
        scripts: Scripts,
        spills: Spills,
        model_of: Callable[[str], TopicModel | None],
    ) -> None:
        """``model_of`` gives the newest model of a crawl; None: it has none."""
        super().__init__(client, scripts)
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
            moved = int(self._scripts("move_spill", *args))
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


log = logging.getLogger(__name__)

URL_BYTES = 190  # memory of a pending URL, measured (benchmarks/results/frontier.json)
SHARE = 4  # pending URLs may take a quarter of the memory limit
WITHOUT_LIMIT = 5_000_000  # pending URLs, where the server has no memory limit: nearly a gigabyte
MEMORY_MARK = 0.55  # of the memory limit; below the mark that stops leasing (maintenance.py)
LEAST_URLS = 20  # however little memory there is: a crawl must have URLs to go on with
SPILL_URLS = 1000  # a block compresses better the longer it is, and comes back as a whole
SPILLS_AT_ONCE, URLS_AT_ONCE = 64, 8000  # in one transaction of the store
ROUND_S = 0.5  # of spilling, and of refilling: the housekeeper has other work
HOSTS_A_LOOK, HOSTS_A_REFILL = 1000, 100  # of one command: the server answers others in between
FORGET_MS = 10_000  # a server that dies may lose its last second, and need the spill again

HIGHEST_SCORE = 1000 * RANK_SCORE

_HEAD = struct.Struct(">dI")


class Overflow(QueueMember):
    """Moves spills between the queue and a store."""

    def __init__(
        self,
        client: Any,
        scripts: Scripts,
        spills: Spills,
        max_pending_urls: int,
        model_of: Callable[[str], TopicModel | None],
    ) -> None:
        """Has moved nothing yet; ``Frontier.overflow`` explains the arguments."""
        super().__init__(client, scripts)
        self._spills = spills
        self._max = max_pending_urls
        self._ranks = TailRanks(self._client, self._scripts, spills, model_of)
        self._cursors: dict[str, int] = {}  # crawl -> cursor of an unfinished scan of its hosts

    def round(self) -> Tally[str]:
        """Runs one round of about a second at most; returns how many URLs moved.

        The result is ``{"urls_spilled": 8000, "urls_refilled": 120}``; ``urls_lost`` counts URLs
        that are missing in the store.

        Raises:
            StorageError: The queue or the store is away or full; the next round continues.
        """
        self._save_spills(self._unconfirmed())
        most, pending = self._room()
        moved = self._refill(most, pending)
        moved += self._spill(most, pending + moved[Counter.URLS_REFILLED])
        self._forget()
        return +moved

    # --- queue -> store ---

    def spill(self) -> Tally[str]:
        """Moves the worst URLs to the store until the others fit into memory."""
        return self._spill(*self._room())

    def _spill(self, most: int, pending: int) -> Tally[str]:
        excess = pending - most
        if excess <= 0:
            return Tally()
        size, low = self._sizes(most, pending)
        queues = self._largest(excess // size + 64)
        begun, moved = time.monotonic(), 0
        while excess > moved and queues and time.monotonic() - begun < ROUND_S:
            spills: list[tuple[str, str, str]] = []
            enough = min(excess, moved + URLS_AT_ONCE)
            while moved < enough and queues and len(spills) < SPILLS_AT_ONCE:
                length, crawl, host = heapq.heappop(queues)
                if -length <= 4 * low:
                    queues.clear()  # the heap begins with the longest: no other is long enough
                    break
                spill = uuid.uuid4().hex
                taken = int(self._scripts("spill", crawl, host, spill, size, 2 * low))
                if taken:
                    moved += taken
                    spills.append((spill, crawl, host))
                    heapq.heappush(queues, (length + taken, crawl, host))
            self._save_spills(spills)
        return Tally({Counter.URLS_SPILLED: moved}) if moved else Tally()

    def _room(self) -> tuple[int, int]:
        """Returns (pending URLs that memory has room for, pending URLs in memory)."""
        pending = sum(self._number(crawl, "pending") for crawl in self._crawls())
        pending -= sum(self._number(crawl, "spilled") for crawl in self._crawls())
        memory = self._client.info("memory")
        limit = int(memory.get("maxmemory") or 0)
        most = self._max or (limit // SHARE // URL_BYTES if limit else WITHOUT_LIMIT)
        if limit:
            left = int(MEMORY_MARK * limit - memory["used_memory"]) // URL_BYTES
            most = min(most, pending + left)
        return max(LEAST_URLS, most), pending

    def _number(self, crawl: str, field: str) -> int:
        return int(self._client.hget(f"cc:c:{crawl}", field) or 0)

    def _crawls(self) -> list[str]:
        return sorted(each.decode() for each in self._client.smembers("cc:crawls"))

    def _sizes(self, most: int, pending: int) -> tuple[int, int]:
        """Returns (URLs in a spill, length below which a host's queue is refilled).

        A queue that spills keeps more than twice that length, so no URL moves back and forth.
        """
        hosts = sum(int(self._client.scard(f"cc:h:{crawl}")) for crawl in self._crawls())
        size = max(1, min(SPILL_URLS, max(most, pending) // 20))
        return size, max(1, min(SPILL_URLS // 2, most // (4 * max(1, hosts))))

    def _largest(self, count: int) -> list[tuple[int, str, str]]:
        """Returns the ``count`` longest queues as a heap of (minus the length, crawl, host)."""
        found: list[tuple[int, str, str]] = []
        for crawl in self._crawls():
            names = self._client.sscan_iter(f"cc:h:{crawl}", count=HOSTS_A_LOOK)
            for part in chunks(names, HOSTS_A_LOOK):
                hosts = [each.decode() for each in part]
                with self._client.pipeline(transaction=False) as pipe:
                    for host in hosts:
                        pipe.zcard(f"cc:q:{crawl}:{host}")
                    lengths = pipe.execute()
                found += [(-n, crawl, host) for n, host in zip(lengths, hosts, strict=True) if n]
                found = heapq.nsmallest(count, found)
        heapq.heapify(found)
        return found

    def _unconfirmed(self) -> list[tuple[str, str, str]]:
        """Returns unconfirmed spills, (id, crawl, host): being saved, or left by a dead process."""
        _, found = self._client.hscan("cc:spills", count=HOSTS_A_LOOK)
        named = ((spill, member.decode().partition(" ")) for spill, member in found.items())
        return [(spill.decode(), crawl, host) for spill, (crawl, _, host) in named]

    def _save_spills(self, taken: Sequence[tuple[str, str, str]]) -> None:
        """Saves spills, given as (id, crawl, host); then deletes their entries in the queue."""
        for part in chunks(taken, SPILLS_AT_ONCE):
            spills = []
            for spill_id, crawl, host in part:
                data = self._client.get(f"cc:spill:{spill_id}")
                if data is None:
                    continue  # saved by another process, or purged
                entries = read_spill(data)
                spills.append(
                    Spill(
                        spill_id=spill_id,
                        crawl_id=crawl,
                        host=host,
                        urls=len(entries),
                        packed=pack_entries(host, entries),
                    )
                )
            if spills:
                self._spills.save(spills)
            for each in spills:
                if not self._scripts("confirm_spill", each.crawl_id, each.spill_id):
                    self._spills.delete([each.spill_id])

    # --- store -> queue ---

    def _refill(self, most: int, pending: int) -> Tally[str]:
        """Refills hosts whose queues are low; counts the URLs that came back and those lost."""
        moved: Tally[str] = Tally()
        crawls = [crawl for crawl in self._crawls() if self._number(crawl, "spilled")]
        if not crawls:
            return moved
        for crawl in crawls:
            self._ranks.round(crawl)
        _, low = self._sizes(most, pending)
        until = time.monotonic() + ROUND_S
        # Crawls without a turn in the last round come first; others continue at their cursor.
        turns = [*(c for c in crawls if c not in self._cursors), *self._cursors]
        for number, crawl in enumerate(turns):
            if number and time.monotonic() > until:
                break
            cursor = self._cursors.pop(crawl, 0)
            while True:
                key = f"cc:th:{crawl}"
                cursor, members = self._client.sscan(key, cursor, count=HOSTS_A_REFILL)
                self._refill_hosts(crawl, low, [each.decode() for each in members], moved)
                if not cursor:
                    break
                if time.monotonic() > until:
                    self._cursors[crawl] = cursor
                    break
        return moved

    def _refill_hosts(self, crawl: str, low: int, hosts: list[str], moved: Tally[str]) -> None:
        while hosts:
            flat = [each.decode() for each in self._scripts("needs_refill", crawl, low, *hosts)]
            pairs = list(zip(flat[::2], flat[1::2], strict=True))
            hosts = [host for host, spill in pairs if self._bring_back(crawl, host, spill, moved)]

    def _bring_back(self, crawl: str, host: str, spill: str, moved: Tally[str]) -> bool:
        """Puts one spill back into its host's queue; returns whether the queue has changed."""
        kept = self._spills.get(spill)
        if kept is None:
            if self._client.hexists("cc:spills", spill):
                return False  # on its way to the store
            kept = self._spills.get(spill)  # another process may have saved it meanwhile
        urls = int(self._client.hget(f"cc:tn:{crawl}", spill) or 0)
        args: list[Arg] = []
        for score, entry in self._ranks.renewed(crawl, _entries_of(kept)) if kept else ():
            args += [score, entry]
        refilled = int(self._scripts("refill", crawl, host, spill, *args))
        if refilled < 0:
            return False  # another process was first
        moved[Counter.URLS_REFILLED] += refilled
        if refilled < urls:
            log.error(
                "the store has lost waiting URLs",
                extra={"crawl": crawl, "host": host, "urls": urls - refilled},
            )
            moved[Counter.URLS_LOST] += urls - refilled
        return True

    def _forget(self) -> None:
        """Deletes from the store the spills that came back ``FORGET_MS`` ago."""
        before = queue_ms(self._client) - FORGET_MS
        gone = self._client.zrangebyscore("cc:tg", "-inf", before, start=0, num=HOSTS_A_LOOK)
        if gone:
            self._spills.delete([each.decode() for each in gone])
            self._client.zrem("cc:tg", *gone)


def _entries_of(spill: Spill) -> list[Entry]:
    """The entries of a spill; none when it is damaged: its URLs are lost."""
    try:
        return unpack_entries(spill.host, spill.packed)
    except StoreDamaged as error:
        log.error("spill damaged", extra={"spill": spill.spill_id, "reason": str(error)})
        return []


def read_spill(data: bytes) -> list[Entry]:
    """Decodes ``cc:spill:<spill>``: for each entry 8 bytes of score, 4 of length, and the entry.

    Entries that ``spill.lua`` cannot have written are left out; they count as lost when the spill
    comes back.
    """
    entries, at = [], 0
    with suppress(struct.error):
        while at < len(data):
            score, length = _HEAD.unpack_from(data, at)
            at += _HEAD.size
            entry = data[at : at + length]
            at += length
            if 0 <= score < HIGHEST_SCORE and is_pending(entry):
                entries.append((int(score), entry))
    return entries
