"""Forgetting a crawl, or a host of it: in chunks, so that the server goes on answering."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from storage.queue.clients import Scripts

SCAN_COUNT = 1000
CHUNK = 500


def purge_crawl(client: Any, scripts: Scripts, crawl_id: str) -> None:
    """Forgets a crawl: its pages give back their slots and bytes, then its keys go."""
    # With its hash gone every script refuses the crawl from here on.
    client.delete(f"cc:c:{crawl_id}")
    client.srem("cc:crawls", crawl_id)
    purge_pages(client, scripts, crawl_id, "")
    _drop_cuts(client, crawl_id)
    for key in client.scan_iter(f"cc:ts:{crawl_id}:*", count=SCAN_COUNT):
        forget_traps(client, crawl_id, key.decode().removeprefix(f"cc:ts:{crawl_id}:"))
    for kind in ("q", "r", "seen", "tx", "k", "u", "b", "p", "t"):
        for keys in _chunks(client.scan_iter(f"cc:{kind}:{crawl_id}:*", count=SCAN_COUNT)):
            client.unlink(*keys)
    client.delete(*(f"cc:{kind}:{crawl_id}" for kind in ("h", "sm", "bg", "x", "tn", "th")))


def _drop_cuts(client: Any, crawl_id: str) -> None:
    """Forgets what was on its way to the store; ``confirm_spill.lua`` tells whoever carries it."""
    for parcel, of in client.hscan_iter("cc:cuts", count=SCAN_COUNT):
        if of.startswith(f"{crawl_id} ".encode()):
            client.hdel("cc:cuts", parcel)
            client.delete(b"cc:cut:" + parcel)


def purge_pages(client: Any, scripts: Scripts, crawl_id: str, host: str) -> int:
    """Forgets the pages of a host (``""``: of every host); returns how many."""
    purged = int(scripts("purge", [crawl_id, host]))  # the host's pending URLs
    for keys in _chunks(client.scan_iter(f"cc:p:{crawl_id}:*", count=SCAN_COUNT)):
        purged += int(scripts("purge", [crawl_id, host, *keys]))
    return purged


def forget_traps(client: Any, crawl_id: str, host: str) -> None:
    """Lets every class of a host's URLs begin anew; spiders see it by the version."""
    client.delete(f"cc:ts:{crawl_id}:{host}", f"cc:k:{crawl_id}:{host}")
    client.hincrby(f"cc:g:{host}", "stopped_version", 1)


def _chunks(keys: Iterator[bytes]) -> Iterator[list[bytes]]:
    while chunk := list(islice(keys, CHUNK)):
        yield chunk
