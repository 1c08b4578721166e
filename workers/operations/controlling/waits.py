"""What hosts of crawls wait for, and what holds all of them back: in words, and counted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from crawlclean.storage.live_state import Hold, WaitingHost, WaitReason, Waits
from crawlclean.workers.answers.crawls import WaitCount
from crawlclean.workers.spoken import counted, duration, say

_HOLDS = {
    Hold.PAGES: "{pages:,} URLs wait for workers",
    Hold.BYTES: "{mib:,} MiB of fetched pages wait for workers",
    Hold.MEMORY: "the memory of the queue is full",
    Hold.DISK: "the disk or the quota of the data folder is full",
}


def hold_lines(waits: Waits) -> list[str]:
    """Describes what holds every host back; empty when nothing does."""
    size = waits.bytes_in_flight >> 20
    holds = [say(_HOLDS[hold], pages=waits.pages_in_flight, mib=size) for hold in waits.holds]
    if not waits.spiders:
        holds.append(say("no spider is running"))
    return [say("nothing is fetched: {why}", why=why) for why in holds]


LEAST_SHOWN_S = 10.0  # a shorter wait is over before its end is read

# What one host, and what several hosts do, in a summary: "1 waits for its delay, 2 answer slowly".
# In the order of the summary: what needs an operator comes last, where it is seen.
_COUNTED = {
    WaitReason.IN_FLIGHT: ("is being asked", "are being asked"),
    WaitReason.READY: ("is ready", "are ready"),
    WaitReason.RANK: ("waits for better URLs", "wait for better URLs"),
    WaitReason.DELAY: ("waits for its delay", "wait for their delay"),
    WaitReason.SLOWED: ("is slowed down", "are slowed down"),
    WaitReason.CRAWL_DELAY: ("waits for its Crawl-delay", "wait for their Crawl-delay"),
    WaitReason.SLOW_ANSWERS: ("answers slowly", "answer slowly"),
    WaitReason.ADDRESS: ("shares its address", "share their address"),
    WaitReason.IN_STORE: ("waits for URLs of the store", "wait for URLs of the store"),
    WaitReason.RETRY: ("waits for a next attempt", "wait for a next attempt"),
    WaitReason.LIMIT: ("has reached --max-pages", "have reached --max-pages"),
    WaitReason.SLOW_DOWN: ("answered 429 or 503", "answered 429 or 503"),
    WaitReason.ROBOTS: ("has a robots.txt with 5xx", "have a robots.txt with 5xx"),
    WaitReason.AWAY: ("is away", "are away"),
    WaitReason.GONE: ("is given up", "are given up"),
    WaitReason.PAUSED: ("is paused", "are paused"),
}
# Of the other reasons the end is a moment away, or unknown.
_TIMED = frozenset(
    {
        WaitReason.RETRY,
        WaitReason.SLOW_DOWN,
        WaitReason.ROBOTS,
        WaitReason.AWAY,
        WaitReason.GONE,
    }
)
_HOST = {
    WaitReason.DELAY: "waits for its delay of {pause:g} s",
    WaitReason.SLOWED: "slowed down by an operator, its delay is {pause:g} s",
    WaitReason.CRAWL_DELAY: "waits for the Crawl-delay of robots.txt, {pause:g} s",
    WaitReason.SLOW_ANSWERS: "answers slowly, so its pause is {pause:g} s",
    WaitReason.SLOW_DOWN: "answered 429 or 503 and is left alone",
    WaitReason.ROBOTS: "robots.txt cannot be had, so nothing is fetched",
    WaitReason.AWAY: "away, because connections fail,",
    WaitReason.GONE: "given up: connections failed for too long, its URLs fail unasked",
    WaitReason.RETRY: "its URLs failed and wait for the next attempt",
    WaitReason.ADDRESS: "waits for another host at its address",
    WaitReason.IN_FLIGHT: "is being asked",
    WaitReason.RANK: "waits while other hosts have better URLs for the topic",
    WaitReason.READY: "ready: a spider takes its next URL",
    WaitReason.IN_STORE: "waits for its URLs of the store",
    WaitReason.PAUSED: "paused, `crawl resume {host}` ends the pause",
    WaitReason.CRAWL_PAUSED: "the crawl is paused, `crawl resume {crawl}` ends the pause",
    WaitReason.CRAWL_STOPPED: "the crawl is stopped, the same command resumes it",
    WaitReason.LIMIT: "--max-pages is reached",
    WaitReason.NOTHING_LEFT: "no URL waits",
}


def wait_text(wait: WaitingHost, now: datetime) -> str:
    """Describes one wait: ``away, because connections fail, until 14:05:09 UTC (in 2m07s)``."""
    text = say(_HOST[wait.reason], pause=wait.pause_s, host=wait.host, crawl=wait.crawl)
    if wait.until is None or (wait.until - now).total_seconds() < LEAST_SHOWN_S:
        return text
    return say("{waits} {until}", waits=text, until=_until(wait.until, now))


def summary(waits: Waits) -> str:
    """Sums up a crawl: ``12 hosts wait for their delay, 2 are away until 14:05:09 UTC (in 2m07s)``.

    Returns:
        One line; ``""`` when no host of the crawl has URLs, or the whole crawl is paused.
    """
    parts: list[str] = []
    for reason, (one, several) in _COUNTED.items():
        hosts = [wait for wait in waits.hosts if wait.reason is reason]
        if not hosts:
            continue
        who = say("{n:,}", n=len(hosts)) if parts else counted(len(hosts), "host")
        part = say("{who} {does}", who=who, does=say(one if len(hosts) == 1 else several))
        ends = [wait.until for wait in hosts if wait.until and reason in _TIMED]
        if ends:
            part = part if len(hosts) == 1 else say("{waits}, the first", waits=part)
            part = say("{waits} {until}", waits=part, until=_until(min(ends), waits.at))
        parts.append(part)
    if parts and waits.known > len(waits.hosts):
        parts.append(say("of {n:,} of its {all:,} hosts", n=len(waits.hosts), all=waits.known))
    return say(", ").join(parts)


def visit_text(next_visit: datetime, now: datetime) -> str:
    """When a page is visited again: ``next visit at 14:05:09 UTC (in 2m07s)``."""
    if next_visit <= now:
        return say("a visit is due since {time}", time=_time(next_visit, now))
    left = duration((next_visit - now).total_seconds())
    return say("next visit at {time} (in {left})", time=_time(next_visit, now), left=left)


def _until(end: datetime, now: datetime) -> str:
    """``until 14:05:09 UTC (in 2m07s)``, with the date unless the end is today."""
    left = duration((end - now).total_seconds())
    return say("until {time} (in {left})", time=_time(end, now), left=left)


def _time(at: datetime, now: datetime) -> str:
    day = "" if at.date() == now.date() else f"{at:%Y-%m-%d} "
    return f"{day}{at:%H:%M:%S} UTC"


def wait_counts(waits: Waits) -> tuple[WaitCount, ...]:
    """The examined hosts by what they wait for; a reason without hosts is left out."""
    by_reason: dict[WaitReason, list[WaitingHost]] = {}
    for wait in waits.hosts:
        by_reason.setdefault(wait.reason, []).append(wait)
    return tuple(
        WaitCount(reason=reason, hosts=len(hosts), until=min(_ends(hosts), default=None))
        for reason, hosts in sorted(by_reason.items())
    )


def hosts_left(waits: Waits | None) -> list[WaitingHost]:
    """The examined hosts that have URLs left."""
    hosts = waits.hosts if waits else ()
    return [wait for wait in hosts if wait.reason is not WaitReason.NOTHING_LEFT]


def _ends(hosts: Sequence[WaitingHost]) -> list[datetime]:
    return [wait.until for wait in hosts if wait.until]
