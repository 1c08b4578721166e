"""What crawls brought, in five lines: for the end of `run` and `sites`."""

from __future__ import annotations

from datetime import datetime

from crawlclean.storage.live_state import HostWait, WaitReason, Waits
from crawlclean.workers.answers.crawls import Concern, HostConcern
from crawlclean.workers.control_characters import readable_line
from crawlclean.workers.operations.crawling.outcome import CrawlOutcome
from crawlclean.workers.output.printing import listed
from crawlclean.workers.output.progress import duration

# What hosts wait for, as text, for `crawls` and `hosts HOST`.

LEAST_SHOWN_S = 10.0  # a shorter wait is over before its end is read

# What one host, and what several hosts do, in a summary: "1 waits for its delay, 2 answer slowly".
# In the order of the summary: what needs an operator comes last, where it is seen.
_COUNTED = {
    WaitReason.IN_FLIGHT: ("is being asked", "are being asked"),
    WaitReason.READY: ("is ready", "are ready"),
    WaitReason.RANK: ("waits for better URLs", "wait for better URLs"),
    WaitReason.DELAY: ("waits for its delay", "wait for their delay"),
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
    WaitReason.PAUSED: "paused, `resume {host}` ends the pause",
    WaitReason.CRAWL_PAUSED: "the crawl is paused, `resume {crawl}` ends the pause",
    WaitReason.CRAWL_STOPPED: "the crawl is stopped, the same command resumes it",
    WaitReason.LIMIT: "--max-pages is reached",
    WaitReason.NOTHING_LEFT: "no URL waits",
}


def wait_text(wait: HostWait, now: datetime) -> str:
    """Describes one wait: ``away, because connections fail, until 14:05:09 UTC (in 2m07s)``."""
    text = _HOST[wait.reason].format(pause=wait.pause_s, host=wait.host, crawl=wait.crawl_id)
    if wait.until is None or (wait.until - now).total_seconds() < LEAST_SHOWN_S:
        return text
    return f"{text} {_until(wait.until, now)}"


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
        noun = "" if parts else " host" if len(hosts) == 1 else " hosts"
        part = f"{len(hosts):,}{noun} {one if len(hosts) == 1 else several}"
        ends = [wait.until for wait in hosts if wait.until and reason in _TIMED]
        if ends:
            part += f"{'' if len(hosts) == 1 else ', the first'} {_until(min(ends), waits.at)}"
        parts.append(part)
    if parts and waits.known > len(waits.hosts):
        parts.append(f"of {len(waits.hosts):,} of its {waits.known:,} hosts")
    return ", ".join(parts)


def visit_text(next_visit: datetime, now: datetime) -> str:
    """When a page is visited again: ``next visit at 14:05:09 UTC (in 2m07s)``."""
    if next_visit <= now:
        return f"a visit is due since {_time(next_visit, now)}"
    left = duration((next_visit - now).total_seconds())
    return f"next visit at {_time(next_visit, now)} (in {left})"


def _until(end: datetime, now: datetime) -> str:
    """``until 14:05:09 UTC (in 2m07s)``, with the date unless the end is today."""
    return f"until {_time(end, now)} (in {duration((end - now).total_seconds())})"


def _time(at: datetime, now: datetime) -> str:
    day = "" if at.date() == now.date() else f"{at:%Y-%m-%d} "
    return f"{day}{at:%H:%M:%S} UTC"


MOST_REASONS = 4  # of failed URLs in one line
MOST_NAMED = 5  # hosts in one line
WORDS = {
    Concern.NOTHING_STORED: "each of its URLs failed",
    Concern.NEEDS_SCRIPTS: "pages need JavaScript, which is not run",
    Concern.WALL: "URLs want a login or refuse crawlers (status 401, 403, 407, 429 or 451)",
    Concern.CERTIFICATE: "URLs have no secure connection (certificate)",
    Concern.EMPTY_BODIES: "pages have no text",
    Concern.REPEATED_BODIES: "pages have the text of another page",
    Concern.LOST_FIELDS: "pages lost a field to a defect of this program",
}


def outcome_lines(outcome: CrawlOutcome) -> list[str]:
    """At most five lines: records by kind, kept records, failures by cause, hosts that need a look.

    ``failed: http_status 404 12, timeout 3 (`failures`)``
    """
    lines = []
    if outcome.stored:
        lines.append(f"stored: {listed(outcome.stored)} (`hosts`)")
    if outcome.kept:
        lines.append(kept_line(outcome.kept))
    if outcome.failed:
        first = dict(list(outcome.failed.items())[:MOST_REASONS])
        rest = sum(outcome.failed.values()) - sum(first.values())
        more = f", others {rest:,}" if rest else ""
        lines.append(f"failed: {listed(first)}{more} (`failures`)")
    if outcome.concerns:
        worst = outcome.concerns[0]
        lines.append(f"look at {worst.host}: {_in_words(worst)} (`{worst.command}`)")
        others = list(dict.fromkeys(c.host for c in outcome.concerns if c.host != worst.host))
        if others:
            named = ", ".join(others[:MOST_NAMED])
            more = f" and {len(others) - MOST_NAMED} more" if len(others) > MOST_NAMED else ""
            lines.append(f"look also at {named}{more} (`hosts HOST`)")
    return [readable_line(line) for line in lines]


def kept_line(kept: int) -> str:
    """Names the records that only exports count: ``2 more records are of pages that gave ...``."""
    records = "1 more record is of a page" if kept == 1 else f"{kept:,} more records are of pages"
    return f"{records} that gave none when fetched again: exports have what was stored before"


def _in_words(concern: HostConcern) -> str:
    words = WORDS[concern.concern]
    if concern.concern is Concern.NOTHING_STORED:
        return f"{words} ({concern.pages:,})"
    return f"{concern.pages:,} of {concern.of:,} {words}"
