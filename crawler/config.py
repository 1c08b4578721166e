"""Settings of ``crawler``: scope, limits, politeness."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.urls.url_choice import UrlChoice
from crawlclean.storage.crawl_types import DELAY_FACTOR, HOST_PATIENCE_S, KeepRaw, Politeness, Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlConfig:
    """Limits and politeness policy of a crawl; ``None`` means no limit."""

    scope: Scope = field(
        default=Scope.HOST,
        metadata={"help": "links followed: the seeds' hosts, their registered domains, or any"},
    )
    include: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "regular expressions, searched for in the readable URL: follow only URLs that "
            "one of them matches; seeds are always fetched"
        },
    )
    exclude: tuple[str, ...] = field(
        default=(), metadata={"help": "as include: never follow URLs that one of them matches"}
    )
    max_pages: int | None = field(default=None, metadata={"help": "stop after this many records"})
    max_time_s: float | None = field(
        default=None, metadata={"help": "stop after this many seconds; the same command resumes"}
    )
    dry_after: int = field(
        default=1_000,
        metadata={
            "help": "a topic crawl without max_pages and max_time_s ends after this many records "
            "in a row, and a third of all, of which none is relevant"
        },
    )
    max_depth: int | None = field(
        default=None, metadata={"help": "links from the nearest seed; 0 fetches the seeds only"}
    )
    keep_raw: KeepRaw = field(
        default=KeepRaw.ALL,
        metadata={
            "help": "raw pages kept in the archive, for learning and re-cleaning: all, sample "
            "(one in 16) or none"
        },
    )
    allow_private: bool = field(
        default=False, metadata={"help": "fetch loopback and private addresses too"}
    )
    delay_s: float | None = field(
        default=None,
        metadata={
            "help": "pause between a response and the next request to its host, seconds "
            "(default 1, for loopback hosts 0; a longer Crawl-delay wins)"
        },
    )
    delay_factor: float = field(
        default=DELAY_FACTOR,
        metadata={
            "help": "the pause is at least this many times the host's smoothed response time, up "
            "to 30 s; 0 ignores response times; hosts with delay 0 are exempt"
        },
    )
    politeness: Politeness = field(
        default=Politeness.HOST,
        metadata={
            "help": "who shares a clock and slots: the URLs of a host, or all hosts of an IP "
            "address (ip)"
        },
    )
    slots: int = field(
        default=8, metadata={"help": "concurrent requests to a host whose delay is 0"}
    )
    trap_pages: int = field(
        default=50,
        metadata={
            "help": "pages in a row without new content after which a URL class is stopped; "
            "0 stops none"
        },
    )
    concurrency: int = field(
        default=32, metadata={"help": "concurrent requests of one spider process"}
    )
    timeout_s: float = field(default=60.0, metadata={"help": "seconds one request may take"})
    max_page_bytes: int = field(
        default=64 << 20, metadata={"help": "largest response, bytes after decompression"}
    )
    images: bool = field(
        default=False,
        metadata={"help": "fetch content images, from any host; no others"},
    )
    keep_fresh: bool = field(
        default=False,
        metadata={"help": "stay after the last page, and visit pages again when they are due"},
    )
    max_image_bytes: int = field(
        default=10 << 20, metadata={"help": "largest image, bytes; a larger one fails"}
    )
    max_attempts: int = field(
        default=3, metadata={"help": "attempts of a URL before it counts as failed"}
    )
    host_patience_s: float = field(
        default=HOST_PATIENCE_S,
        metadata={
            "help": "total wait for a host that responded before and no longer does, seconds, "
            "before its URLs fail"
        },
    )
    hosts_file: Path | None = field(
        default=None,
        metadata={
            "help": "TOML file of host overrides: delay_s, slots, user_agent, verify_tls, headers, "
            "cookies, proxy"
        },
    )
    page_robots: bool = field(
        default=True,
        metadata={
            "help": "obey what pages say to robots, in `<meta name=robots>`, `X-Robots-Tag` and "
            "`rel=nofollow`: a noindex page gives no record, nofollow links are not followed"
        },
    )
    verify_tls: bool = field(
        default=False,
        metadata={
            "help": "refuse https hosts whose certificate is wrong; hosts that get headers or "
            "cookies of the hosts file are always verified"
        },
    )
    ca_file: Path | None = field(
        default=None,
        metadata={"help": "PEM file of authorities trusted besides those of the system"},
    )
    fetch_log_bytes: int = field(
        default=256 << 20,
        metadata={
            "help": "room for the fetch log (`logs/fetch.log` and three older files), bytes; 0 "
            "writes none"
        },
    )
    contact: str = field(
        default="", metadata={"help": "address or URL for site owners, part of the user agent"}
    )

    def __post_init__(self) -> None:
        at_least_one = (
            "max_pages",
            "slots",
            "concurrency",
            "max_page_bytes",
            "max_attempts",
            "dry_after",
        )
        for name in (*at_least_one, "max_image_bytes"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"{name} is {value}: at least 1 is needed")
        not_negative = ("max_time_s", "max_depth", "delay_s", "delay_factor", "host_patience_s")
        for name in (*not_negative, "trap_pages", "fetch_log_bytes"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < math.inf:
                raise ConfigError(f"{name} is {value}: a number from 0 on is needed")
        if not 0 < self.timeout_s < math.inf:
            raise ConfigError(f"timeout_s is {self.timeout_s}: a number above 0 is needed")
        if self.scope is Scope.TOPIC:
            raise ConfigError('scope is "topic", which only topic crawls have')
        UrlChoice(self.include, self.exclude)  # an invalid pattern is refused at once
        if any(ord(c) < 32 for c in self.contact):
            raise ConfigError("contact holds a control character")
