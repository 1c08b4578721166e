"""robots.txt: what an answer means, and what its rules say about a URL (RFC 9309).

An answer of 2xx holds rules; 4xx allows all; 5xx after every attempt forbids all for a while; a
host that cannot be reached allows all for a moment, so that its pages fail by their own cause.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from protego import Protego

from cleaning.errors import InvalidUrl
from cleaning.records import Via
from cleaning.source.urls import resolve
from storage.base import Discovery, PageRole

MAX_BYTES = 512 << 10
MAX_SITEMAPS = 100
SITEMAP_RANK = 60  # after the pages that links lead to
FORBID_ALL = "User-agent: *\nDisallow: /\n"
ALLOW_ALL = ""
DAY_MS = 24 * 3600 * 1000
UNREACHABLE_TTL_MS = 15 * 1000  # asked again soon after the host is back
FORBIDDEN_TTL_MS = 3600 * 1000
LONGEST_CRAWL_DELAY_MS = 300_000
CACHED_HOSTS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotsVerdict:
    """What a host's robots.txt came to: the rules to store, and for how long."""

    rules: str
    ttl_ms: int
    crawl_delay_ms: int = 0
    sitemaps: tuple[Discovery, ...] = ()


def read_robots(url: str, status: int, body: bytes, user_agent: str) -> RobotsVerdict:
    """The verdict of an answer; ``status`` 0 is an unreachable host."""
    if status == 0:
        return RobotsVerdict(rules=ALLOW_ALL, ttl_ms=UNREACHABLE_TTL_MS)
    if status >= 500:
        return RobotsVerdict(rules=FORBID_ALL, ttl_ms=FORBIDDEN_TTL_MS)
    if not 200 <= status < 300:
        return RobotsVerdict(rules=ALLOW_ALL, ttl_ms=DAY_MS)
    text = _head(body).decode("utf-8-sig", "replace")
    parsed = Protego.parse(text)
    delay = parsed.crawl_delay(product_token(user_agent)) or 0
    return RobotsVerdict(
        rules=text,
        ttl_ms=DAY_MS,
        crawl_delay_ms=max(0, min(int(delay * 1000), LONGEST_CRAWL_DELAY_MS)),
        sitemaps=_sitemaps(url, parsed),
    )


def product_token(user_agent: str) -> str:
    """The name that groups of rules are matched with: no version, and not our contact's words."""
    return user_agent.partition("/")[0].partition(" ")[0]


def _head(body: bytes) -> bytes:
    """The lines within the limit: half a rule may forbid everything, or something else."""
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
        self._cache: OrderedDict[tuple[str, int], Protego | None] = OrderedDict()

    def known(self, host: str, version: int) -> bool:
        """Whether this version of the host's rules is here."""
        return (host, version) in self._cache

    def learn(self, host: str, version: int, rules: str) -> None:
        """Keeps the rules of a host."""
        self._cache[host, version] = Protego.parse(rules) if rules else None
        self._cache.move_to_end((host, version))
        if len(self._cache) > CACHED_HOSTS:
            self._cache.popitem(last=False)

    def allow(self, host: str, version: int, url: str) -> bool:
        """Whether the rules let us fetch a URL of the host; unknown rules do."""
        if (host, version) in self._cache:
            self._cache.move_to_end((host, version))
        parsed = self._cache.get((host, version))
        return parsed is None or bool(parsed.can_fetch(url, self._name))
