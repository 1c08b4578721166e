"""What hosts wait for at this moment: the reason, until when, and how many URLs wait.

``lua/waits.lua`` reads it from the clocks and queues of the hosts, and changes nothing. The answer
is of one moment: a host with a delay of a second changes between DELAY and IN_FLIGHT all the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from crawlclean.storage.host_waits import Hold, HostWait, WaitReason, Waits
from crawlclean.storage.queue.clients import Scripts, raises_queue_errors
from crawlclean.storage.queue.entries import from_ms

MOST_HOSTS = 2_000
"""Hosts of a crawl that are examined; 2,000 take 0.2 s (server and client, one core)."""

CHUNK = 100  # hosts a call: the server answers others in between


@raises_queue_errors
class HostWaits:
    """The member ``waits`` of the queue; methods raise ``QueueUnavailable``."""

    def __init__(self, client: Any, scripts: Scripts) -> None:
        self._client = client
        self._scripts = scripts

    def of(self, pairs: Sequence[tuple[str, str]]) -> Waits:
        """What hosts of crawls wait for; ``pairs`` are (crawl, host)."""
        hosts: list[HostWait] = []
        for start in range(0, max(1, len(pairs)), CHUNK):
            part = pairs[start : start + CHUNK]
            now, spiders, pages, size, holds, *rows = self._scripts(
                "waits", [text for pair in part for text in pair]
            )
            found = zip(part, rows, strict=True)
            hosts += [_read(crawl_id, host, row) for (crawl_id, host), row in found]
        return Waits(
            at=from_ms(int(now)),
            hosts=hosts,
            known=len(pairs),
            spiders=int(spiders),
            pages_in_flight=int(pages),
            bytes_in_flight=int(size),
            holds=[Hold(word) for word in holds.decode().split()],
        )

    def of_crawl(self, crawl_id: str, most: int = MOST_HOSTS) -> Waits:
        """What the hosts of a crawl wait for; of more than ``most`` hosts, any ``most``."""
        known = int(self._client.scard(f"cc:h:{crawl_id}"))
        names = islice(self._client.sscan_iter(f"cc:h:{crawl_id}", count=1000), most)
        hosts = sorted({name.decode() for name in names})  # a scan may repeat a name
        found = self.of([(crawl_id, host) for host in hosts])
        return replace(found, known=max(known, len(hosts)))


def _read(crawl_id: str, host: str, row: Sequence[Any]) -> HostWait:
    """Decodes a row of ``waits.lua``: ``[b"delay", b"1700000000000", b"1000", 12, 0]``.

    Raises:
        ValueError: A field is damaged.
    """
    reason, until_ms, pause_ms, urls, held = row
    return HostWait(
        crawl_id=crawl_id,
        host=host,
        reason=WaitReason(reason.decode()),
        until=from_ms(int(until_ms)) if int(until_ms) else None,
        pause_s=int(pause_ms) / 1000,
        urls=int(urls),
        in_flight=int(held),
    )
