"""Waits of hosts as answers: `crawls`, `hosts HOST`, and the API."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from crawlclean.storage.live_state import HostWait, WaitReason, Waits
from crawlclean.workers.answers.crawls import WaitCount, WaitingHost
from crawlclean.workers.answers.making import answer_of


def waiting_host(wait: HostWait) -> WaitingHost:
    """One wait as an answer."""
    return answer_of(WaitingHost, wait, crawl=wait.crawl_id)


def wait_counts(waits: Waits) -> tuple[WaitCount, ...]:
    """The examined hosts by what they wait for; a reason without hosts is left out."""
    by_reason: dict[WaitReason, list[HostWait]] = {}
    for wait in waits.hosts:
        by_reason.setdefault(wait.reason, []).append(wait)
    return tuple(
        WaitCount(reason=reason, hosts=len(hosts), until=min(_ends(hosts), default=None))
        for reason, hosts in sorted(by_reason.items())
    )


def hosts_left(waits: Waits | None) -> list[HostWait]:
    """The examined hosts that have URLs left."""
    hosts = waits.hosts if waits else ()
    return [wait for wait in hosts if wait.reason is not WaitReason.NOTHING_LEFT]


def _ends(hosts: Sequence[HostWait]) -> list[datetime]:
    return [wait.until for wait in hosts if wait.until]
