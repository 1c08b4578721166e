"""Parts of JSON lines: what hosts wait for, in `crawls` and `hosts HOST`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from crawlclean.storage.live_state import WaitReason


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitCount:
    """The hosts of a crawl that wait for the same thing.

    Attributes:
        reason: What they wait for.
        hosts: Their number.
        until: End of the first of these waits; null when no end is known.
    """

    reason: WaitReason
    hosts: int
    until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingHost:
    """What a host of a crawl waits for.

    Attributes:
        crawl: Name of the crawl.
        host: Lower-case authority.
        reason: What the host waits for.
        until: End of the wait; null when it is not known.
        pause_s: Pause between a response and the next request, seconds.
        urls: URLs of the crawl that wait in memory; those in the store do not count.
        in_flight: Requests under way to the host, of all crawls.
    """

    crawl: str
    host: str
    reason: WaitReason
    until: datetime | None
    pause_s: float
    urls: int
    in_flight: int
