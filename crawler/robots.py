"""robots.txt (RFC 9309): the outcome of a response, the rules for our name, the verdict on a URL.

- 2xx: the rules of the body. 4xx, and 3xx that cannot be followed: everything is allowed.
- 5xx: older rules stay in force for a while. Without older rules the host waits; after
  ``ROBOTS_PATIENCE`` such responses in a row everything is forbidden for an hour (ADR 5).
- A connection, but no response (reset, timeout): as 5xx.
- No connection: older rules stay in force for 15 seconds; without any, everything is allowed, so
  that the pages of the host fail with their own cause.

A parser stores every rule of a group once for every name of the group: 20,000 names and as many
rules in half a megabyte would become 400 million rules. ``rules_for`` keeps only the names that
match ours.
"""

from __future__ import annotations

import logging
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import OrderedDict
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from protego import Protego

from crawlclean import __dist__
from crawlclean.cleaning.errors import InvalidUrl
from crawlclean.cleaning.messages import Message
from crawlclean.cleaning.records import Via
from crawlclean.cleaning.urls.normal_form import resolve
from crawlclean.crawler.config import CrawlConfig
from crawlclean.crawler.transfer.responses import retry_after_ms, slow_down_ms
from crawlclean.storage.crawl_types import Discovery, FailureReason, FetchResult, Lease, PageRole
from crawlclean.storage.queue.fetch_queue import FetchQueue, RobotsVerdict

log = logging.getLogger(__name__)

MAX_BYTES = 512 << 10  # RFC 9309 asks for 500 KiB at least; what is behind is not read
MAX_SITEMAPS = 100  # each is a request: a hostile file may name any number
SITEMAP_RANK = 60  # after the pages that links lead to
FORBID_ALL = "# robots.txt cannot be had\nUser-agent: *\nDisallow: /\n"
ALLOW_ALL = ""
UNREACHABLE_TTL_MS = 15 * 1000  # short: fetched again soon after the host is back
# 5 minutes: a file may ask for days, by which a crawl would never end.
LONGEST_CRAWL_DELAY_MS = 300_000
CACHED_HOSTS = 1000  # parsed again when more hosts take turns; bounds memory
MAX_PATTERNS = 5000  # rules with * or $, each tried on every URL; a plain rule costs nothing
NAME = re.compile(r"\s*+user[- ]?agent\b\s*+:?+([^#]*+)", re.I)
ANY_GROUP = re.compile(r"\s*+(?:sitemaps?|site-map|host)\b", re.I)
RULE = re.compile(
    r"\s*+(?:dis+al+ow|diasllow|disallaw|allow|(?:crawl|request|visit)[- ](?:delay|rate|time))\b",
    re.I,
)


def read_robots(
    url: str, status: int, body: bytes, user_agent: str, headers: Sequence[tuple[str, str]] = ()
) -> RobotsVerdict:
    """Reads a robots.txt response with a status below 500."""
    if not 200 <= status < 300:
        return RobotsVerdict(rules=ALLOW_ALL)
    text = rules_for(_text(body, headers), product_token(user_agent))
    parsed = Protego.parse(text)
    delay = parsed.crawl_delay(product_token(user_agent)) or 0
    return RobotsVerdict(
        rules=text,
        crawl_delay_ms=int(1000 * max(0, min(delay, LONGEST_CRAWL_DELAY_MS / 1000))),
        sitemaps=_sitemaps(url, parsed),
    )


async def end_robots(
    queue: FetchQueue,
    lease: Lease,
    result: FetchResult,
    user_agent: str,
    *,
    asked: bool,
    was_reached: bool = False,
) -> bool:
    """Ends the lease of a robots.txt with its outcome; returns False when the token is old.

    Args:
        queue: Holds the lease.
        lease: Of the robots.txt.
        result: What came of it.
        user_agent: Ours; rules are for its first word.
        asked: Whether a request was made.
        was_reached: Whether the host may have been reached though there is no response.
    """
    if result.failure and result.failure.reason is FailureReason.ADDRESS_REFUSED:
        return await queue.refuse_robots(lease, ttl_ms=UNREACHABLE_TTL_MS, asked=asked)
    if result.status == 0 and not was_reached:
        return await queue.miss_robots(lease, ttl_ms=UNREACHABLE_TTL_MS)
    host_wait_ms = slow_down_ms(result.status, result.headers, lease.attempt)
    if result.status >= 500 or result.status == 0:
        why = result.failure.detail if result.failure else ""
        log.warning("robots.txt cannot be had", extra={"host": lease.host, "reason": why})
        return await queue.hold_robots(
            lease,
            FORBID_ALL,
            host_wait_ms=max(host_wait_ms, retry_after_ms(result.headers) or 0),
            elapsed_ms=result.elapsed_ms,
            is_answer=result.status > 0,
        )
    verdict = read_robots(lease.url, result.status, result.body, user_agent, result.headers)
    return await queue.put_robots(
        lease, verdict, host_wait_ms=host_wait_ms, elapsed_ms=result.elapsed_ms
    )


def rules_for(text: str, name: str) -> str:
    """Keeps the lines of a robots.txt for us: our groups, sitemaps, at most 5,000 patterns.

    Args:
        text: The whole file.
        name: Our product token, ``crawler``.
    """
    name = name.lower()
    kept: list[str] = []
    names: set[str] = set()  # of the current group, that match ours
    patterns = 0
    in_names = False
    for line in text.splitlines():
        name_line = NAME.match(line)
        if name_line:
            if not in_names:
                names = set()
            in_names = True
            value = name_line[1].strip().lower()
            if value != "*":
                value = value.replace("*", "")  # our name has no asterisk
            if value and value not in names and (value == "*" or value in name):
                names.add(value)
                kept.append(f"User-agent: {value}")
        elif ANY_GROUP.match(line):
            kept.append(line)
        elif RULE.match(line) or ":" in line.partition("#")[0]:
            in_names = False
            is_pattern = "*" in line or "$" in line
            patterns += is_pattern and bool(names)
            if names and not (is_pattern and patterns > MAX_PATTERNS):
                kept.append(line)
    return "".join(f"{line}\n" for line in kept)


def user_agent(config: CrawlConfig) -> str:
    """Returns our user agent: ``crawler/1.0 (+https://example.com/about)``, or ``crawler/1.0``."""
    try:
        name = f"{__dist__}/{version(__dist__)}"
    except PackageNotFoundError:
        name = __dist__
    return f"{name} (+{config.contact})" if config.contact else name


def product_token(user_agent: str) -> str:
    """Returns the name that groups match: ``crawler`` of ``crawler/1.0 (+me@example.com)``."""
    return user_agent.partition("/")[0].partition(" ")[0]


def _text(body: bytes, headers: Sequence[tuple[str, str]]) -> str:
    """The text of a robots.txt: UTF-8, or UTF-16 by its mark or the declared charset."""
    declared = " ".join(value.lower() for key, value in headers if key.lower() == "content-type")
    if body.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return body[:MAX_BYTES].decode("utf-16", "replace")
    if "utf-16" in declared and b"\0" in body[:4]:  # else the declaration is wrong
        order = "utf-16-le" if body[1:2] == b"\0" else "utf-16-be"
        return body[:MAX_BYTES].decode(order, "replace")
    return _head(body).decode("utf-8-sig", "replace")


def _head(body: bytes) -> bytes:
    """Cuts a body to whole lines within ``MAX_BYTES``: half a rule could forbid everything."""
    if len(body) <= MAX_BYTES:
        return body
    return body[: max(body.rfind(b"\n", 0, MAX_BYTES), body.rfind(b"\r", 0, MAX_BYTES)) + 1]


def _sitemaps(url: str, parsed: Protego) -> tuple[Discovery, ...]:
    found: dict[str, Discovery] = {}
    for address in parsed.sitemaps:
        try:
            target = resolve(url, address)
        except InvalidUrl:
            continue
        if target and len(found) < MAX_SITEMAPS:
            found[target] = Discovery(
                url=target, role=PageRole.SITEMAP, via=Via.SITEMAP, referrer=url, rank=SITEMAP_RANK
            )
    return tuple(found.values())


class RobotsRules:
    """Parsed rules of the hosts used last, at most ``CACHED_HOSTS``."""

    def __init__(self, user_agent: str) -> None:
        self._name = product_token(user_agent)
        self._cache: OrderedDict[tuple[str, int], tuple[Protego, str] | None] = OrderedDict()

    def known(self, host: str, version: int) -> bool:
        """Whether this version of the host's rules is cached."""
        return (host, version) in self._cache

    def learn(self, host: str, version: int, rules: str) -> None:
        """Parses and caches the rules of a host."""
        why = Message("no_robots" if rules == FORBID_ALL else "forbidden")
        self._cache[host, version] = (Protego.parse(rules), why) if rules else None
        self._cache.move_to_end((host, version))
        if len(self._cache) > CACHED_HOSTS:
            self._cache.popitem(last=False)

    def refusal(self, host: str, version: int, url: str) -> str:
        """Returns why a URL is forbidden; ``""`` when it is allowed or the rules are unknown."""
        if (host, version) in self._cache:
            self._cache.move_to_end((host, version))
        known = self._cache.get((host, version))
        return known[1] if known and not known[0].can_fetch(url, self._name) else ""

    def allow(self, host: str, version: int, url: str) -> bool:
        """Whether the rules allow a URL of the host; unknown rules allow every URL."""
        return not self.refusal(host, version, url)
