"""What hosts of crawls wait for, as values; ``queue/waits.py`` reads them from the queue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class WaitReason(StrEnum):
    """What a host of a crawl waits for."""

    DELAY = "delay"  # the crawl's own delay, --delay or the hosts file
    CRAWL_DELAY = "crawl_delay"  # the Crawl-delay of robots.txt, which is longer
    SLOW_ANSWERS = "slow_answers"  # a longer pause, because the host answers slowly
    SLOW_DOWN = "slow_down"  # the host answered 429 or 503, perhaps with Retry-After
    ROBOTS = "robots"  # robots.txt cannot be had
    AWAY = "away"  # connections fail
    GONE = "gone"  # connections failed for so long that URLs end without a request
    RETRY = "retry"  # all its URLs have failed and wait for the next attempt
    ADDRESS = "address"  # another host at its address is asked (politeness=ip)
    IN_FLIGHT = "in_flight"  # the answer to a request
    RANK = "rank"  # the better URLs of other hosts (topic crawls)
    READY = "ready"  # a spider, which takes a URL at its next call
    IN_STORE = "in_store"  # its URLs, which come back from the store
    PAUSED = "paused"  # an operator's `resume HOST`
    CRAWL_PAUSED = "crawl_paused"  # an operator's `resume CRAWL`
    CRAWL_STOPPED = "crawl_stopped"  # the next `run`
    LIMIT = "limit"  # a larger --max-pages
    NOTHING_LEFT = "nothing_left"  # no URL of the host waits


class Hold(StrEnum):
    """Why nothing is leased at any host."""

    PAGES = "pages"  # too many pages wait for workers
    BYTES = "bytes"  # too many bytes wait for workers
    MEMORY = "memory"  # the memory of the queue's server is nearly full
    DISK = "disk"  # the disk of the store is full, or the data folder has reached its quota


@dataclass(frozen=True, slots=True, kw_only=True)
class HostWait:
    """What a host of a crawl waits for.

    Attributes:
        crawl_id: The crawl.
        host: Lower-case authority: ``www.example.com:8080``.
        reason: What the host waits for.
        until: End of the wait; None when it is not known.
        pause_s: Pause between a response and the next request, seconds.
        urls: URLs of the crawl that wait in memory; those in the store do not count.
        in_flight: Requests under way to the host, of all crawls.
    """

    crawl_id: str
    host: str
    reason: WaitReason
    until: datetime | None = None
    pause_s: float = 0.0
    urls: int = 0
    in_flight: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """What hosts wait for, at one moment.

    Attributes:
        at: The moment, by the clock of the queue's server.
        hosts: The examined hosts.
        known: Hosts there are; more than ``hosts`` when not all were examined.
        spiders: Spiders alive.
        pages_in_flight: Fetched pages that wait for workers or that workers hold.
        bytes_in_flight: Their packed size.
        holds: Why nothing is leased at any host; empty: leasing goes on.
    """

    at: datetime
    hosts: Sequence[HostWait] = ()
    known: int = 0
    spiders: int = 0
    pages_in_flight: int = 0
    bytes_in_flight: int = 0
    holds: Sequence[Hold] = ()
