"""The politeness policy of a crawl: pauses, slots, exceptions for hosts, and failures to answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

DELAY_FACTOR = 1.0
HOST_PATIENCE_S = 600.0


class Politeness(StrEnum):
    """Which hosts share one clock and its slots."""

    HOST = "host"  # each host has its own
    IP = "ip"  # hosts at the same address share them


class Unreachable(StrEnum):
    """The party that may have failed when a request got no response."""

    HOST = "host"  # no connection was made
    NAME = "name"  # the name of the host is unknown here, which is certain
    URL = "url"  # a connection may have been made: this URL alone may be at fault
    CONNECTION = "connection"  # a kept connection was closed: nobody is at fault
    NETWORK = "network"  # our own network: no evidence about the host


class LeaseDecision(StrEnum):
    """What the queue decided about a lease that got no response."""

    WAITS = "waits"  # the URL is pending again, no attempt lost; the host waits
    ELSEWHERE = (
        "elsewhere"  # pending again for other machines, no attempt lost; the host does not wait
    )
    COUNTS = "counts"  # the attempt counts; the spider still holds the lease
    GONE = "gone"  # the host's patience is spent: give the URL up; the spider still holds the lease
    STALE = "stale"  # an old token: nothing was changed


class ResponseOutcome(StrEnum):
    """How a request ended, as far as the clock of its host is concerned."""

    ANSWERED = "answered"  # 2xx or 3xx: the response time counts
    ERROR = "error"  # 4xx or 5xx: a short response time is no evidence of a fast host
    SLOW_DOWN = "slow_down"  # 429 or 503
    NONE = "none"  # no response
    UNASKED = "unasked"  # no request was made


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """An attempt that failed and may be repeated.

    Attributes:
        detail: One line for the URL's decision log: ``status 503``, ``timeout: no response in
            60 s``.
        url_wait_ms: Time before the URL's next attempt.
        host_wait_ms: Least pause of the host.
        outcome: How the request ended.
    """

    detail: str
    url_wait_ms: int = 0
    host_wait_ms: int = 0
    outcome: ResponseOutcome = ResponseOutcome.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPoliteness:
    """An operator's exception for a host, or for all hosts of a domain.

    Attributes:
        pattern: A host (``example.com``, ``example.com:8080``) or ``*.example.com``: that domain
            and every host in it. The most specific pattern that sets a value wins.
        delay_ms: Pause in place of the crawl's, ms >= 0; None keeps the crawl's. A longer
            Crawl-delay still wins.
        slots: Requests at a time >= 1, also where there is a delay; None keeps the crawl's. Where
            robots.txt sets a Crawl-delay there is one slot.
    """

    pattern: str
    delay_ms: int | None = None
    slots: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PolitenessPolicy:
    """How a crawl treats hosts, beside its delay and slots.

    Attributes:
        politeness: Which hosts share a clock.
        delay_factor: The pause is at least this many times the host's smoothed response time, up
            to 30 s; 0 ignores the response time. It does not apply where the delay is 0.
        hosts: Exceptions, each pattern once; ``(HostPoliteness(pattern="*.example.org",
            delay_ms=2500),)``.
    """

    politeness: Politeness = Politeness.HOST
    delay_factor: float = DELAY_FACTOR
    hosts: tuple[HostPoliteness, ...] = ()
