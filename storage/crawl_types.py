"""The types of the two things at rest: the queue and the store.

``frontier.py`` is the queue (Redis protocol), ``store.py`` says what a store may be asked;
``docs/architecture.md`` draws a URL's way through the states.

Times in the queue are whole milliseconds of the Redis server's clock; the store keeps aware UTC
datetimes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from cleaning.errors import ConfigError
from cleaning.records import CleanRecord, Provenance, Via
from storage.politeness_policy import PolitenessPolicy

CRAWL_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")  # it is part of keys in the queue


class Scope(StrEnum):
    """Which links a crawl follows."""

    HOST = "host"  # the hosts of its seeds
    DOMAIN = "domain"  # the registered domains of its seeds, with all their hosts
    ANY = "any"


class KeepRaw(StrEnum):
    """Which raw pages the archive keeps."""

    ALL = "all"
    SAMPLE = "sample"  # pages whose id falls into one sixteenth of the space
    NONE = "none"


class CrawlState(StrEnum):
    """What a crawl may do now."""

    RUNNING = "running"
    PAUSED = "paused"  # leases nothing until resumed
    STOPPED = "stopped"  # leases nothing; the same command resumes it
    FINISHED = "finished"  # nothing is left to do
    PURGED = "purged"  # only its records are kept; the next run begins anew


class PageRole(StrEnum):
    """What the fetched bytes are for."""

    PAGE = "page"
    SITEMAP = "sitemap"
    ROBOTS = "robots"
    IMAGE = "image"


class UrlState(StrEnum):
    """How a URL ended."""

    RECORD = "record"  # a clean record is stored
    REDIRECT = "redirect"  # its target is a URL of its own
    SITEMAP = "sitemap"  # its addresses are in the frontier
    IMAGE = "image"  # its bytes are in the archive
    EXCLUDED = "excluded"  # not fetched: robots.txt forbids it, or its class is a trap
    FAILED = "failed"  # a row of the failures says why


class FailureReason(StrEnum):
    """Why a URL gave no record; each is a counter."""

    DNS = "dns"  # the host name has no address
    ADDRESS_REFUSED = "address_refused"  # a private or loopback address
    CONNECT = "connect"  # refused, unreachable, reset before an answer
    TIMEOUT = "timeout"
    TLS = "tls"
    BROKEN_ANSWER = "broken_answer"  # cut short, bad coding, not HTTP
    HTTP_STATUS = "http_status"  # 4xx or 5xx
    TOO_LARGE = "too_large"
    NOT_HTML = "not_html"
    NOT_IMAGE = "not_image"  # an image was asked for
    BAD_REDIRECT = "bad_redirect"  # a 3xx without a usable Location
    ROBOTS = "robots"  # robots.txt forbids it
    TRAP = "trap"  # pages like it brought nothing new for a long time
    POISON = "poison"  # cleaning it killed the worker again and again
    PAGE_ERROR = "page_error"  # the page cannot be cleaned
    INTERNAL = "internal"  # a defect of this program; the log has it


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a fetch or a cleaning gave nothing; ``detail`` is one line for a person."""

    reason: FailureReason
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlSpec:
    """What a crawl was told to do; kept in the queue and in the store.

    Attributes:
        crawl_id: Letters, digits, ``.``, ``_`` and ``-``; at most 64 characters.
        seeds: Absolute URLs in normal form.
        scope: Which links are followed.
        max_pages: Records to store, or None.
        max_depth: Links from the nearest seed, or None.
        keep_raw: Which raw pages the archive keeps.
        allow_private: Whether loopback and private addresses may be fetched.
        delay_ms: Pause between an answer and the next request; None = 1,000, loopback hosts 0.
        slots: Requests at a time to a host whose delay is 0.
        policy: All else of how hosts are asked.
        trap_pages: Pages in a row that bring nothing new end their class of URLs; 0: never.
        images: Whether the content images of its pages are fetched.
    """

    crawl_id: str
    seeds: tuple[str, ...]
    scope: Scope = Scope.HOST
    max_pages: int | None = None
    max_depth: int | None = None
    keep_raw: KeepRaw = KeepRaw.ALL
    allow_private: bool = False
    delay_ms: int | None = None
    slots: int = 8
    policy: PolitenessPolicy = field(default_factory=PolitenessPolicy)
    trap_pages: int = 50
    images: bool = False

    def __post_init__(self) -> None:
        if not CRAWL_ID.fullmatch(self.crawl_id):
            raise ConfigError(
                f"{self.crawl_id!r} is no crawl name: letters, digits, . _ - (at most 64)"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """One URL to offer to a crawl's frontier; offering it again changes nothing.

    Attributes:
        url: Absolute URL in normal form (the frontier keys it by ``storage.store.images.id_of``).
        depth: Links from the nearest seed.
        role: What its bytes will be for.
        via: By what it was found.
        referrer: URL of the page it was found on, or None.
        text: Anchor text, at most 80 characters.
        rank: 0..99, lower is fetched sooner.
        hops: Redirects, refreshes and frames in a row that led here, >= 0.
    """

    url: str
    depth: int = 0
    role: PageRole = PageRole.PAGE
    via: Via = Via.SEED
    referrer: str | None = None
    text: str = ""
    rank: int = 50
    hops: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """One URL a spider may fetch now, and the token that makes its result count.

    ``token`` is 0 .. 2^53; a result that carries an old token changes nothing. ``attempt`` is 1
    at the first try. ``robots_version`` changes when the host's robots rules do, ``traps_version``
    when its stopped classes do (0: it has none). ``referrer`` is the page an image is on.
    """

    crawl_id: str
    page_id: str
    url: str
    host: str
    token: int
    attempt: int
    role: PageRole
    depth: int
    allow_private: bool
    robots_version: int
    is_known: bool = False  # the host has answered before
    is_gone: bool = False  # it was waited for in vain: it must not be asked
    needs_address: bool = False  # tell the queue before asking it
    pause_ms: int = 0  # of robots.txt: before its redirect is followed
    traps_version: int = 0
    referrer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseBatch:
    """What a spider got, and when asking again makes sense.

    ``wait_ms`` is the time until the next group is ready (None: only a wake-up brings work);
    ``paused`` says that back-pressure held leases back.
    """

    leases: tuple[Lease, ...]
    wait_ms: int | None
    paused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchResult:
    """What fetching a lease gave: an answer, or a failure that is final for this attempt.

    ``headers`` are as received, without Content-Encoding once it is undone. ``elapsed_ms`` is
    the time from request to the answer's end.
    """

    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    elapsed_ms: int = 0
    failure: Failure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One line of a URL's decision log: when, what happened, with what."""

    at: datetime
    step: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedPage:
    """One fetched page as a worker claims it.

    ``hops`` are redirects, refreshes and frames in a row that led to it. ``crashes`` is how many
    workers died while cleaning it; ``poison`` that it must not be cleaned again.
    """

    crawl_id: str
    page_id: str
    token: int
    url: str
    host: str
    role: PageRole
    depth: int
    provenance: Provenance
    attempt: int
    crashes: int
    poison: bool
    fetched_at: datetime
    result: FetchResult
    hops: int = 0
    log: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one URL ended, ready for the store; saved before the queue is told.

    Attributes:
        queued: The page as it came from the queue (identity, provenance, answer, log).
        state: How it ended.
        record: The clean record when ``state`` is RECORD, else None.
        failure: Why, when ``state`` is FAILED or EXCLUDED, else None.
        html_chars: Characters of the decoded source.
        keep_raw: Whether the archive keeps the answer.
        media_type: What the bytes of an image are, ``""`` for anything else.
        images_due: Whether images became content by a cleaning that offers nothing itself: the
            store keeps that with the record until they are offered.
        log: The decision log up to here.
    """

    queued: QueuedPage
    state: UrlState
    record: CleanRecord | None = None
    failure: Failure | None = None
    html_chars: int = 0
    keep_raw: bool = False
    media_type: str = ""
    images_due: bool = False
    log: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlRow:
    """What the store knows about one URL of one crawl.

    ``media_type``, ``sha256`` (hex) and ``fetched_bytes`` are those of an image that is stored.
    """

    crawl_id: str
    page_id: str
    url: str
    host: str
    state: UrlState
    depth: int
    via: Via
    referrer: str | None
    link_text: str
    discovered_at: datetime | None
    finished_at: datetime
    status: int
    etag: str | None
    last_modified: str | None
    log: tuple[Step, ...]
    fetched_bytes: int = 0
    media_type: str = ""
    sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureRow:
    """One URL that gave no record, and why."""

    crawl_id: str
    url: str
    host: str
    reason: FailureReason
    detail: str
    status: int
    attempts: int
    failed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlRow:
    """One crawl as the store knows it; ``pages`` counts its URLs by how they ended."""

    spec: CrawlSpec
    created_at: datetime
    state: CrawlState
    pages: Mapping[UrlState, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlCounts:
    """One crawl's URLs in the queue, by state, at one moment; ``done`` since the crawl began.

    ``spilled`` of the ``pending`` ones are not in the queue's memory but in the store; ``images``
    of those in memory are images, which a spent budget does not hold back.
    """

    state: CrawlState
    pending: int
    leased: int
    queued: int  # fetched, waiting for or held by a worker
    done: int
    stored: int  # ended with a record
    failed: int
    fetched: int  # answers, every role and every attempt
    hosts: int
    budget_left: int | None
    spilled: int = 0
    images: int = 0

    @property
    def in_flight(self) -> int:
        """URLs that somebody works on or waits for."""
        return self.leased + self.queued

    @property
    def is_spent(self) -> bool:
        """Whether the budget is used up, and the images of its pages are fetched."""
        return self.budget_left == 0 and self.in_flight == self.images == 0

    @property
    def open(self) -> int:
        """URLs not yet done."""
        return self.pending + self.in_flight
