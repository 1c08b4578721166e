"""Settings of ``crawler``: scope, limits, politeness."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from crawlclean.cleaning.errors import ConfigError
from crawlclean.storage.config import Count, Natural, setting
from crawlclean.storage.crawl_types import DELAY_FACTOR, HOST_PATIENCE_S, KeepRaw, Politeness, Scope

Finite = Annotated[float, Meta(ge=0, le=sys.float_info.max)]  # neither infinite nor nan


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlConfig:
    """Limits and politeness policy of a crawl; ``None`` means no limit."""

    scope: Scope = setting(
        Scope.HOST, "links followed: the seeds' hosts, their registered domains, or any"
    )
    include: tuple[str, ...] = setting(
        (),
        "regular expressions, searched for in the readable URL: follow only URLs that "
        "one of them matches; seeds are always fetched",
    )
    exclude: tuple[str, ...] = setting((), "as include: never follow URLs that one of them matches")
    max_pages: Count | None = setting(None, "stop after this many records")
    max_time_s: Finite | None = setting(
        None, "stop after this many seconds; the same command resumes"
    )
    dry_after: Count = setting(
        1_000,
        "a topic crawl without max_pages and max_time_s ends after this many records "
        "in a row, and a third of all, of which none is relevant",
    )
    max_depth: Natural | None = setting(
        None, "links from the nearest seed; 0 fetches the seeds only"
    )
    keep_raw: KeepRaw = setting(
        KeepRaw.ALL,
        "raw pages kept in the archive, for learning and re-cleaning: all, sample "
        "(one in 16) or none",
    )
    allow_private: bool = setting(False, "fetch loopback and private addresses too")
    delay_s: Finite | None = setting(
        None,
        "pause between a response and the next request to its host, seconds "
        "(default 1, for loopback hosts 0; a longer Crawl-delay wins)",
    )
    delay_factor: Finite = setting(
        DELAY_FACTOR,
        "the pause is at least this many times the host's smoothed response time, up "
        "to 30 s; 0 ignores response times; hosts with delay 0 are exempt",
    )
    politeness: Politeness = setting(
        Politeness.HOST,
        "who shares a clock and slots: the URLs of a host, or all hosts of an IP address (ip)",
    )
    slots: Count = setting(8, "concurrent requests to a host whose delay is 0")
    trap_pages: Natural = setting(
        50, "pages in a row without new content after which a URL class is stopped; 0 stops none"
    )
    concurrency: Count = setting(32, "concurrent requests of one spider process")
    timeout_s: Annotated[float, Meta(gt=0, le=sys.float_info.max)] = setting(
        60.0, "seconds one request may take"
    )
    max_page_bytes: Count = setting(64 << 20, "largest response, bytes after decompression")
    images: bool = setting(False, "fetch content images, from any host; no others")
    keep_fresh: bool = setting(
        False, "stay after the last page, and visit pages again when they are due"
    )
    max_image_bytes: Count = setting(10 << 20, "largest image, bytes; a larger one fails")
    max_attempts: Count = setting(3, "attempts of a URL before it counts as failed")
    host_patience_s: Finite = setting(
        HOST_PATIENCE_S,
        "total wait for a host that responded before and no longer does, seconds, "
        "before its URLs fail",
    )
    hosts_file: Path | None = setting(
        None,
        "TOML file of host overrides: delay_s, slots, user_agent, verify_tls, headers, "
        "cookies, proxy",
    )
    page_robots: bool = setting(
        True,
        "obey what pages say to robots, in `<meta name=robots>`, `X-Robots-Tag` and "
        "`rel=nofollow`: a noindex page gives no record, nofollow links are not followed",
    )
    verify_tls: bool = setting(
        False,
        "refuse https hosts whose certificate is wrong; hosts that get headers or "
        "cookies of the hosts file are always verified",
    )
    ca_file: Path | None = setting(
        None, "PEM file of authorities trusted besides those of the system"
    )
    fetch_log_bytes: Natural = setting(
        256 << 20,
        "room for the fetch log (`logs/fetch.log` and three older files), bytes; 0 writes none",
    )
    contact: str = setting("", "address or URL for site owners, part of the user agent")

    def __post_init__(self) -> None:
        if self.scope is Scope.TOPIC:
            raise ConfigError('scope is "topic", which only topic crawls have')
        if self.include or self.exclude:
            from crawlclean.cleaning.urls.url_choice import UrlChoice  # few commands have patterns

            UrlChoice(self.include, self.exclude)  # an invalid pattern is refused at once
        if any(ord(c) < 32 for c in self.contact):
            raise ConfigError("contact holds a control character")
