"""Overflow of the frontier: URLs too many for the queue's memory wait in the store (ADR 8).

A parcel is up to 1,000 of the worst entries of one host's queue. It moves in steps, each whole or
not at all, so a process that dies between two steps loses nothing and doubles nothing:

    queue --spill.lua--> a key of its own --save--> store --confirm_spill.lua--> the key is gone
    queue <--refill.lua (the entries in, the parcel's id off the list)-- store --later--> forgotten

A parcel that was spilled and not confirmed is saved by the next round of any process: saving is by
id. A stored parcel whose id is not on the queue's list (``cc:tn:<crawl>``) is garbage and harmless.
Any number of processes may run rounds at once.
"""

from __future__ import annotations

import heapq
import logging
import struct
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from cleaning.errors import StoreDamaged
from storage.queue.clients import Arg, Scripts, open_client, queue_errors
from storage.queue.entries import RANK_SCORE, is_pending
from storage.queue.parcel_format import Entry, pack_entries, unpack_entries
from storage.store.parcels import Parcel, Parcels

log = logging.getLogger(__name__)

URL_BYTES = 190  # of a pending URL, measured (benchmarks/results/frontier.json)
SHARE = 4  # pending URLs may take one part in so many of the memory limit
WITHOUT_LIMIT = 5_000_000
MEMORY_MARK = 0.55  # of the memory limit; below the mark that stops leasing (maintenance.py)
LEAST_URLS = 20
PARCEL_URLS = 1000
PARCELS_AT_ONCE, URLS_AT_ONCE = 64, 8000  # of one transaction of the store
ROUND_S = 0.5
HOSTS_A_LOOK, HOSTS_A_REFILL = 1000, 100
FORGET_MS = 10_000

SPILLED, REFILLED, LOST = "urls_spilled", "urls_refilled", "urls_lost"

HIGHEST_SCORE = 1000 * RANK_SCORE

_HEAD = struct.Struct(">dI")


class Overflow:
    """Moves parcels between the queue and a store."""

    def __init__(self, redis_url: str, parcels: Parcels, max_pending_urls: int = 0) -> None:
        """Touches nothing yet.

        Args:
            redis_url: The queue's server.
            parcels: Keeps the parcels, in the store.
            max_pending_urls: URLs of all crawls that may wait in the server's memory; 0 is a
                quarter of its memory limit.
        """
        self._client = open_client(redis_url)
        self._scripts = Scripts(self._client)
        self._parcels = parcels
        self._max = max_pending_urls
        self._looked_at: dict[str, int] = {}  # crawl -> where its hosts were left

    def close(self) -> None:
        """Closes the connection."""
        self._client.close()

    def _run(self, name: str, *args: Arg) -> Any:
        with queue_errors():
            return self._scripts(name, args)

    def round(self) -> Counter[str]:
        """Runs one round, of about a second at most; returns how many URLs moved each way.

        Raises:
            StorageError: The queue or the store is away or full; the next round goes on.
        """
        self._save_parcels(self._unconfirmed())
        most, pending = self._room()
        moved = self._refill(most, pending)
        moved += self._spill(most, pending + moved[REFILLED])
        self._forget()
        return +moved

    # --- out ---

    def spill(self) -> Counter[str]:
        """Moves the worst URLs to the store while more wait than memory has room for."""
        return self._spill(*self._room())

    def _spill(self, most: int, pending: int) -> Counter[str]:
        excess = pending - most
        if excess <= 0:
            return Counter()
        size, low = self._sizes(most, pending)
        queues = self._largest(excess // size + 64)
        begun, moved = time.monotonic(), 0
        while excess > moved and queues and time.monotonic() - begun < ROUND_S:
            parcels: list[tuple[str, str, str]] = []
            enough = min(excess, moved + URLS_AT_ONCE)
            while moved < enough and queues and len(parcels) < PARCELS_AT_ONCE:
                length, crawl, host = heapq.heappop(queues)
                if -length <= 4 * low:
                    queues.clear()  # the longest left: shorter queues need all they have
                    break
                parcel = uuid.uuid4().hex
                cut = int(self._run("spill", crawl, host, parcel, size, 2 * low))
                if cut:
                    moved += cut
                    parcels.append((parcel, crawl, host))
                    heapq.heappush(queues, (length + cut, crawl, host))
            self._save_parcels(parcels)
        return Counter({SPILLED: moved}) if moved else Counter()

    def _room(self) -> tuple[int, int]:
        """Returns (URLs that may wait in memory, URLs that wait in memory now)."""
        pending = sum(self._number(crawl, "pending") for crawl in self._crawls())
        pending -= sum(self._number(crawl, "spilled") for crawl in self._crawls())
        with queue_errors():
            memory = self._client.info("memory")
        limit = int(memory.get("maxmemory") or 0)
        most = self._max or (limit // SHARE // URL_BYTES if limit else WITHOUT_LIMIT)
        if limit:
            left = int(MEMORY_MARK * limit - memory["used_memory"]) // URL_BYTES
            most = min(most, pending + left)
        return max(LEAST_URLS, most), pending

    def _number(self, crawl: str, field: str) -> int:
        with queue_errors():
            return int(self._client.hget(f"cc:c:{crawl}", field) or 0)

    def _crawls(self) -> list[str]:
        with queue_errors():
            return sorted(each.decode() for each in self._client.smembers("cc:crawls"))

    def _sizes(self, most: int, pending: int) -> tuple[int, int]:
        """Returns (URLs of a parcel, length below which a host's queue is refilled).

        A queue that spills keeps more than twice that length, so no URL goes to and fro.
        """
        with queue_errors():
            hosts = sum(int(self._client.scard(f"cc:h:{crawl}")) for crawl in self._crawls())
        size = max(1, min(PARCEL_URLS, max(most, pending) // 20))
        return size, max(1, min(PARCEL_URLS // 2, most // (4 * max(1, hosts))))

    def _largest(self, count: int) -> list[tuple[int, str, str]]:
        """Returns the ``count`` longest queues as a heap of (minus the length, crawl, host)."""
        found: list[tuple[int, str, str]] = []
        for crawl in self._crawls():
            for hosts in self._some_hosts(f"cc:h:{crawl}"):
                with queue_errors(), self._client.pipeline(transaction=False) as pipe:
                    for host in hosts:
                        pipe.zcard(f"cc:q:{crawl}:{host}")
                    lengths = pipe.execute()
                found += [(-n, crawl, host) for n, host in zip(lengths, hosts, strict=True) if n]
                found = heapq.nsmallest(count, found)
        heapq.heapify(found)
        return found

    def _some_hosts(self, key: str) -> Iterator[list[str]]:
        cursor = 0
        while True:
            with queue_errors():
                cursor, members = self._client.sscan(key, cursor, count=HOSTS_A_LOOK)
            if members:
                yield [each.decode() for each in members]
            if not cursor:
                return

    def _unconfirmed(self) -> list[tuple[str, str, str]]:
        """Returns unconfirmed parcels as (id, crawl, host): their process is at it, or dead."""
        with queue_errors():
            _, found = self._client.hscan("cc:cuts", count=HOSTS_A_LOOK)
        return [(parcel.decode(), *_of(of)) for parcel, of in found.items()]

    def _save_parcels(self, cut: Sequence[tuple[str, str, str]]) -> None:
        """Saves spilled parcels, (id, crawl, host); then the queue forgets their entries."""
        for start in range(0, len(cut), PARCELS_AT_ONCE):
            parcels = []
            for parcel_id, crawl, host in cut[start : start + PARCELS_AT_ONCE]:
                with queue_errors():
                    data = self._client.get(f"cc:cut:{parcel_id}")
                if data is None:
                    continue  # saved by another process, or purged
                entries = read_cut(data)
                parcels.append(
                    Parcel(
                        parcel_id=parcel_id,
                        crawl_id=crawl,
                        host=host,
                        urls=len(entries),
                        packed=pack_entries(host, entries),
                    )
                )
            if parcels:
                self._parcels.save(parcels)
            for each in parcels:
                if not self._run("confirm_spill", each.crawl_id, each.parcel_id):
                    self._parcels.delete([each.parcel_id])

    # --- back ---

    def _refill(self, most: int, pending: int) -> Counter[str]:
        """Brings parcels back to hosts that need them; returns the URLs that came and were lost."""
        moved: Counter[str] = Counter()
        crawls = [crawl for crawl in self._crawls() if self._number(crawl, "spilled")]
        if not crawls:
            return moved
        _, low = self._sizes(most, pending)
        until = time.monotonic() + ROUND_S
        # Crawls that had no turn in the last rounds go first; others go on where they stopped.
        turns = [*(c for c in crawls if c not in self._looked_at), *self._looked_at]
        for number, crawl in enumerate(turns):
            if number and time.monotonic() > until:
                break
            cursor = self._looked_at.pop(crawl, 0)
            while True:
                with queue_errors():
                    key = f"cc:th:{crawl}"
                    cursor, members = self._client.sscan(key, cursor, count=HOSTS_A_REFILL)
                self._refill_hosts(crawl, low, [each.decode() for each in members], moved)
                if not cursor:
                    break
                if time.monotonic() > until:
                    self._looked_at[crawl] = cursor
                    break
        return moved

    def _refill_hosts(self, crawl: str, low: int, hosts: list[str], moved: Counter[str]) -> None:
        while hosts:
            flat = [each.decode() for each in self._run("needs_refill", crawl, low, *hosts)]
            pairs = list(zip(flat[::2], flat[1::2], strict=True))
            hosts = [host for host, parcel in pairs if self._bring_back(crawl, host, parcel, moved)]

    def _bring_back(self, crawl: str, host: str, parcel: str, moved: Counter[str]) -> bool:
        """Brings one parcel back; returns whether the queue has changed."""
        kept = self._parcels.get(parcel)
        if kept is None:
            with queue_errors():
                if self._client.hexists("cc:cuts", parcel):
                    return False  # on its way to the store
            kept = self._parcels.get(parcel)  # it may have arrived meanwhile
        with queue_errors():
            urls = int(self._client.hget(f"cc:tn:{crawl}", parcel) or 0)
        args: list[Arg] = []
        for score, entry in _entries_of(kept) if kept else ():
            args += [score, entry]
        came = int(self._run("refill", crawl, host, parcel, *args))
        if came < 0:
            return False  # another process was first
        moved[REFILLED] += came
        if came < urls:
            log.error(
                "the store has lost waiting URLs",
                extra={"crawl": crawl, "host": host, "urls": urls - came},
            )
            moved[LOST] += urls - came
        return True

    def _forget(self) -> None:
        """Deletes parcels from the store that came back ``FORGET_MS`` ago."""
        with queue_errors():
            seconds, _ = self._client.time()
            before = seconds * 1000 - FORGET_MS
            gone = self._client.zrangebyscore("cc:tg", "-inf", before, start=0, num=HOSTS_A_LOOK)
        if gone:
            self._parcels.delete([each.decode() for each in gone])
            with queue_errors():
                self._client.zrem("cc:tg", *gone)


def _of(of: bytes) -> tuple[str, str]:
    crawl, _, host = of.decode().partition(" ")
    return crawl, host


def _entries_of(parcel: Parcel) -> list[Entry]:
    """The entries of a parcel; none of a damaged one, whose URLs are lost."""
    try:
        return unpack_entries(parcel.host, parcel.packed)
    except StoreDamaged as error:
        log.error("parcel damaged", extra={"parcel": parcel.parcel_id, "reason": str(error)})
        return []


def read_cut(data: bytes) -> list[Entry]:
    """Decodes what ``spill.lua`` wrote: 8 bytes of score, 4 of length, the entry, and so on.

    Entries that our scripts cannot have written are left out, and count as lost when the parcel
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
