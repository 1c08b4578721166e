"""How a crawl asks hosts: its pauses, and what an operator said of single hosts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

DELAY_FACTOR = 1.0
HOST_PATIENCE_S = 600.0


class Politeness(StrEnum):
    """What shares one clock and its slots."""

    HOST = "host"  # each host has its own
    IP = "ip"  # hosts at the same address share them


class Unreachable(StrEnum):
    """What may be away when a request got no answer."""

    HOST = "host"  # no connection came about
    URL = "url"  # there may have been one: this URL alone may be at fault
    NETWORK = "network"  # ours: nothing is said of the host


class LeaseDecision(StrEnum):
    """What becomes of a lease that got no answer."""

    WAITS = "waits"  # given back, no attempt lost; the host waits
    COUNTS = "counts"  # the attempt counts; the lease is still held
    GONE = "gone"  # the host was waited for in vain: give the URL up; the lease is still held
    STALE = "stale"  # an old token: nothing was changed


class ResponseOutcome(StrEnum):
    """How a request ended, for the clock of its host."""

    ANSWERED = "answered"
    ERROR = "error"  # a status of an error: fast answers of this kind say nothing
    SLOW_DOWN = "slow_down"  # 429 or 503
    NONE = "none"  # no answer
    UNASKED = "unasked"  # no request was made


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPoliteness:
    """What an operator said of a host, or of all hosts of a domain.

    Attributes:
        pattern: A host (``example.com``, ``example.com:8080``) or ``*.example.com``: that domain
            and every host in it. The most specific pattern that says something wins.
        delay_ms: Pause instead of the crawl's; a longer Crawl-delay still wins.
        slots: Requests at a time, with a delay too; one where robots.txt asks for a Crawl-delay.
    """

    pattern: str
    delay_ms: int | None = None
    slots: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PolitenessPolicy:
    """How a crawl asks hosts, beside its delay and slots.

    Attributes:
        politeness: What shares a clock.
        delay_factor: The pause is at least so many times the host's smoothed answer time, up to
            30 s; 0 = no matter how slow it is. Not where the delay is 0.
        hosts: Exceptions, each pattern once.
    """

    politeness: Politeness = Politeness.HOST
    delay_factor: float = DELAY_FACTOR
    hosts: tuple[HostPoliteness, ...] = ()
