"""A crawl's hash in the queue (``cc:c:<crawl>``): its order, its state, its counters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from storage.crawl_types import CrawlCounts, CrawlSpec, CrawlState
from storage.politeness_policy import HostManners
from storage.queue.scripts import Arg
from storage.store.codec import spec_from_json, spec_to_json


def crawl_fields(spec: CrawlSpec, state: CrawlState) -> dict[str, Arg]:
    """The fields that an order sets; sitemaps are read unless a crawl is limited to its seeds."""
    return {
        "spec": spec_to_json(spec),
        "state": str(state),
        "delay": -1 if spec.delay_ms is None else spec.delay_ms,
        "slots": spec.slots,
        "max": "" if spec.max_pages is None else spec.max_pages,
        "private": int(spec.allow_private),
        "traps": spec.trap_pages,
        "sitemaps": int(spec.max_depth is None or spec.max_depth > 0),
        "politeness": str(spec.manners.politeness),
        "factor": str(spec.manners.delay_factor),
        "hosts": _host_lines(spec.manners.hosts),
    }


def _host_lines(hosts: Sequence[HostManners]) -> str:
    """One line an exception, as ``politeness.lua`` reads it; newlines at both ends."""
    lines = [
        " ".join(
            [host.pattern, *("-" if n is None else str(n) for n in (host.delay_ms, host.slots))]
        )
        for host in hosts
    ]
    return "\n".join(["", *lines, ""]) if lines else ""


def read_spec(packed: bytes) -> CrawlSpec:
    """The order in the field ``spec``."""
    return spec_from_json(packed)


def read_counts(crawl: Mapping[bytes, bytes], hosts: int) -> CrawlCounts:
    """The counters of a crawl's hash that exists; ``hosts`` are counted elsewhere.

    Raises:
        ValueError: Somebody else has written into it.
    """

    def number(name: bytes) -> int:
        return int(crawl.get(name, b"0"))

    most = crawl.get(b"max")
    return CrawlCounts(
        state=CrawlState(crawl.get(b"state", b"").decode()),
        pending=number(b"pending"),
        leased=number(b"leased"),
        queued=number(b"queued"),
        done=number(b"done"),
        stored=number(b"stored"),
        failed=number(b"failed"),
        fetched=number(b"fetched"),
        hosts=hosts,
        budget_left=max(0, int(most) - number(b"used")) if most else None,
        spilled=number(b"spilled"),
        images=number(b"images"),
    )
