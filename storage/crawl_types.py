"""Types that queue, store, spiders and workers exchange: orders, leases, pages, outcomes.

``queue/frontier.py`` is the queue (Redis protocol), ``store/protocol.py`` the interface of a store;
``docs/architecture.md`` draws the states of a URL.

Times in the queue are whole milliseconds of the Redis server's clock; the store keeps aware UTC
datetimes.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from msgspec import Struct

from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.messages import Message
from crawlclean.cleaning.records import CleanRecord, Provenance, Via
from crawlclean.cleaning.revisits import VisitClass
from crawlclean.cleaning.topics.pictures import Picture
from crawlclean.storage.topic_types import TopicJudgement

# The politeness policy of a crawl: pauses, slots, exceptions for hosts, and failures to answer.

DELAY_FACTOR = 1.0  # a host rests as long as it works for us, so we take half of one slot at most
# A restart or a short outage is over by then; longer ones delay the end of a crawl.
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


class Retry(Struct, frozen=True, kw_only=True):
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


class HostPoliteness(Struct, frozen=True, kw_only=True):
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


class PolitenessPolicy(Struct, frozen=True, kw_only=True):
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


MAX_HOPS = 10
"""Redirects, refreshes and frames in a row that are followed."""

CRAWL_ID = re.compile(r"[^\W_][\w.-]{0,63}")
"""A part of the queue's keys: ``news``, ``伊朗地震``. Letters and digits of any script are neither
control characters, nor white space, nor signs of a key, of a pattern for keys or of a path."""
MOST_CRAWL_ID_BYTES = 200  # 64 Chinese characters have 192; a file's name may have 255
CRAWL_ID_RULE = "letters, digits, . _ - (at most 64)"


class Scope(StrEnum):
    """Which links a crawl follows."""

    HOST = "host"  # the hosts of its seeds
    DOMAIN = "domain"  # the registered domains of its seeds, with all their hosts
    ANY = "any"  # all hosts
    TOPIC = "topic"  # hosts that body and related links of its pages lead to (topic crawls)


class KeepRaw(StrEnum):
    """Which raw pages the archive keeps."""

    ALL = "all"  # every page
    SAMPLE = "sample"  # pages whose id falls into one sixteenth of the space
    NONE = "none"  # no page: hosts are not learned


class CrawlState(StrEnum):
    """State of a crawl, which decides whether its URLs are leased."""

    RUNNING = "running"  # its URLs are leased
    PAUSED = "paused"  # leases nothing until resumed
    STOPPED = "stopped"  # leases nothing; the same command resumes it
    FINISHED = "finished"  # nothing is left to do
    PURGED = "purged"  # its records alone are kept; the next run starts from the seeds


class PageRole(StrEnum):
    """The use of the fetched bytes."""

    PAGE = "page"
    SITEMAP = "sitemap"
    ROBOTS = "robots"
    IMAGE = "image"


class UrlState(StrEnum):
    """How a URL ended."""

    RECORD = "record"  # a clean record is stored
    REDIRECT = "redirect"  # the response redirects to another URL
    SITEMAP = "sitemap"  # a sitemap or a feed: its URLs are in the frontier
    IMAGE = "image"  # its bytes are in the archive
    EXCLUDED = "excluded"  # by robots.txt, a pattern of the crawl, a trap or a hook
    FAILED = "failed"  # a row of the failures has the reason


class FailureReason(StrEnum):
    """Why a URL gave no record."""

    DNS = "dns"  # the host name has no address
    ADDRESS_REFUSED = "address_refused"  # a private or loopback address
    CONNECT = "connect"  # refused, unreachable, reset before a response
    TIMEOUT = "timeout"  # no whole response in time
    TLS = "tls"  # the encrypted connection failed
    CERTIFICATE = "certificate"  # the certificate of the host is wrong, and was refused
    BROKEN_ANSWER = "broken_answer"  # cut short, bad content encoding, not HTTP
    HTTP_STATUS = "http_status"  # 4xx or 5xx
    TOO_LARGE = "too_large"  # the response is larger than the limit
    NOT_HTML = "not_html"  # the response is no HTML
    GONE = "gone"  # a visit was answered 200 with a page that reads as not found
    NOT_IMAGE = "not_image"  # the URL was fetched as an image
    BAD_REDIRECT = "bad_redirect"  # a 3xx without a usable Location
    ROBOTS = "robots"  # robots.txt forbids the URL
    PATTERN = "pattern"  # --include and --exclude of the crawl leave the URL out
    TRAP = "trap"  # many pages of its URL class in a row brought nothing new
    NOINDEX = "noindex"  # the page asks robots not to keep it
    DUPLICATE = "duplicate"  # another URL has the same page
    DROPPED = "dropped"  # a record step of another package dropped its record
    POISON = "poison"  # several workers died while they cleaned the page
    PAGE_ERROR = "page_error"  # the page cannot be cleaned
    INTERNAL = "internal"  # a defect of this program; the log has the traceback


class CertificateFault(StrEnum):
    """What is wrong with the certificate of an https host."""

    EXPIRED = "expired"
    NOT_YET_VALID = "not_yet_valid"
    WRONG_NAME = "wrong_name"  # it is for other hosts
    SELF_SIGNED = "self_signed"
    UNKNOWN_ISSUER = "unknown_issuer"  # no known authority signed it, or its chain is incomplete
    INVALID = "invalid"  # anything else


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a fetch or a cleaning failed; ``detail`` is one line for a person: ``status 503``."""

    reason: FailureReason
    detail: str = ""

    @property
    def line(self) -> Message:
        """Both, ``http_status: status 503``."""
        return Message("reason", self.reason.value, self.detail)


def is_crawl_id(text: str) -> bool:
    """Whether a text can be the name of a crawl or a topic; one name has one form (NFC)."""
    is_short = len(text.encode("utf-8", "replace")) <= MOST_CRAWL_ID_BYTES
    return bool(CRAWL_ID.fullmatch(text)) and is_short and unicodedata.is_normalized("NFC", text)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlSpec:
    """The order of a crawl, stored in the queue and in the store.

    Attributes:
        crawl_id: Letters and digits of any script, ``.``, ``_`` and ``-``; at most 64 characters.
        seeds: Absolute URLs in normal form; none: its pages were imported, nothing is fetched.
        scope: Which links are followed.
        max_pages: Records to store, or None.
        max_depth: Links from the nearest seed, or None.
        keep_raw: Which raw pages the archive keeps.
        allow_private: Whether loopback and private addresses may be fetched.
        delay_ms: Pause between a response and the next request; None = 1,000, loopback hosts 0.
        slots: Requests at a time to a host whose delay is 0.
        policy: The rest of the politeness policy.
        trap_pages: Pages in a row without novelty that stop their URL class; 0 stops none.
        images: Whether the content images of its pages are fetched.
        verify_tls: Whether hosts with a wrong certificate are refused.
        include: Patterns (``/news/``) of which one must match a followed URL, if there are any.
        exclude: Patterns of URLs that are not followed; they win (``cleaning/urls/url_choice.py``).
        page_robots: Whether noindex and nofollow of pages and links are obeyed.
        keep_fresh: Whether ended URLs are visited again when they are due, without end.
        topic: Name of its topic, which orders its URLs; ``""``: an ordinary crawl.
        ends_at: When the housekeeper stops it; None: never.
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
    verify_tls: bool = False
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    page_robots: bool = True
    keep_fresh: bool = False
    topic: str = ""
    ends_at: datetime | None = None

    def __post_init__(self) -> None:
        if not is_crawl_id(self.crawl_id):
            raise ConfigError(f"{self.crawl_id!r} is no crawl name: {CRAWL_ID_RULE}")

    @property
    def patterns_digest(self) -> str:
        """What spiders know its patterns by: ``9f86d081884c7d65``; ``""`` without patterns."""
        if not (self.include or self.exclude):
            return ""
        packed = json.dumps([self.include, self.exclude]).encode()
        return hashlib.blake2b(packed, digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """One URL to offer to a crawl's frontier; a second offer of the URL changes nothing.

    Attributes:
        url: Absolute URL in normal form (its key is ``crawlclean.storage.store.pictures.id_of``).
        depth: Links from the nearest seed.
        role: The use of the fetched bytes.
        via: How the URL was found.
        referrer: URL of the page that has the link, or None.
        text: Anchor text, at most 80 characters.
        rank: 0..998, a lower rank is fetched sooner; 101..998 in a topic crawl.
        hops: Redirects, refreshes and frames in a row that led here, >= 0.
        features: Numbers 0..4095 of the link's features in a topic crawl, at most 16.
    """

    url: str
    depth: int = 0
    role: PageRole = PageRole.PAGE
    via: Via = Via.SEED
    referrer: str | None = None
    text: str = ""
    rank: int = 50
    hops: int = 0
    features: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCookie:
    """A cookie of a host in a crawl; ``expires_s`` is Unix time, 0: it has no end."""

    name: str
    value: str = field(repr=False)  # may be a key to a session
    path: str = "/"
    is_secure: bool = False
    expires_s: int = 0


class Lease(Struct, frozen=True, kw_only=True):
    """One URL that a spider may fetch now, with the token that its result must carry.

    Attributes:
        token: 0 .. 2^53; a result that carries an old token changes nothing.
        attempt: 1 at the first try.
        robots_version: Changes when the host's robots rules change.
        is_known: Whether the host has answered before.
        is_gone: Whether the host's patience is spent: the URL must end without a request.
        is_nameless: Whether it is gone because its name has no address.
        needs_address: Whether ``FetchQueue.locate`` must be called before the request.
        pause_ms: For robots.txt, the pause before its redirect is followed; else 0.
        traps_version: Changes when the host's stopped URL classes change; 0: there are none.
        referrer: URL of the page that it was found on, ``""`` for a seed.
        verify_tls: Whether the host is refused when its certificate is wrong.
        patterns: Digest of the crawl's include and exclude patterns, ``""``: it has none.
        via: How it was found.
        is_revisit: Whether the URL has ended before.
        etag: ETag of its last response, as received (Latin-1), for a conditional request, or
            ``""``.
        last_modified: Last-Modified of its last response, for a conditional request, or ``""``.
        cookies: The cookies that the host has set in this crawl.
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
    is_known: bool = False
    is_gone: bool = False
    is_nameless: bool = False
    needs_address: bool = False
    pause_ms: int = 0
    traps_version: int = 0
    referrer: str = ""
    verify_tls: bool = False
    patterns: str = ""
    via: Via = Via.LINK
    is_revisit: bool = False
    etag: str = ""
    last_modified: str = ""
    cookies: tuple[StoredCookie, ...] = ()


class LeaseBatch(Struct, frozen=True, kw_only=True):
    """The leases of one call, and when the next call makes sense.

    Attributes:
        wait_ms: Time until the next host is ready; None: only a wake-up brings work.
        paused: Whether back-pressure held leases back.
    """

    leases: tuple[Lease, ...]
    wait_ms: int | None
    paused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchResult:
    """The response to a lease, or a failure that is final for this attempt.

    Attributes:
        status: HTTP status; 0 without a response.
        headers: As received, without Content-Encoding once the body is decoded.
        body: Decoded bytes.
        elapsed_ms: Time from the request to the end of the response.
        failure: Why there is no usable response, or None.
        certificate: What is wrong with the host's certificate, or None.
    """

    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    elapsed_ms: int = 0
    failure: Failure | None = None
    certificate: CertificateFault | None = None


class Step(Struct, frozen=True, kw_only=True):
    """One line of a URL's decision log.

    Attributes:
        at: When it was done.
        step: Its name: ``leased``.
        detail: More about it, for a person: ``attempt 1``; may be empty.
    """

    at: datetime
    step: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedPage:
    """One fetched page that a worker has claimed.

    Attributes:
        token: Of the attempt; 0: the page is in no queue, its outcome is saved again.
        crashes: Workers that died while they cleaned the page.
        poison: Whether the page must not be cleaned, because workers died of it.
        hops: Redirects, refreshes and frames in a row that led to the page.
        was: How the URL ended before this revisit; None: this is no revisit.
        features: Numbers of the features of the link to it, as discovered.
    """

    crawl_id: str
    page_id: str
    token: int = 0
    url: str
    host: str
    role: PageRole = PageRole.PAGE
    depth: int = 0
    provenance: Provenance
    attempt: int = 1
    crashes: int = 0
    poison: bool = False
    fetched_at: datetime
    result: FetchResult
    hops: int = 0
    was: UrlState | None = None
    log: tuple[Step, ...] = ()
    features: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one URL ended, ready for the store; saved before the queue's ack.

    Attributes:
        queued: The claimed page (identity, provenance, response, log).
        state: How the URL ended.
        record: The clean record when ``state`` is RECORD, else None.
        failure: The reason when ``state`` is FAILED or EXCLUDED, or when a revisit was missed, else
            None.
        html_chars: Characters of the decoded source.
        keep_raw: Whether the archive keeps the response.
        media_type: Media type of an image (``image/webp``), ``""`` for other roles.
        unchanged: Whether a revisit brought nothing: the server answered 304, or, with a
            ``failure``, gave no verdict on the page. ``state`` is that of the stored row, and there
            is no record: the store keeps row and record, and notes the visit.
        images_due: Whether images became content when the page was re-cleaned. Re-cleaning offers
            no URLs: the store keeps the mark with the record until the images are offered.
        log: The decision log up to this outcome.
        visit: The class by which the URL is revisited; None: its crawl does not keep fresh, and
            the store gives the URL no schedule.
        template: Keys of the lines on most pages of the host (``SiteIndex.often``): a difference
            of such lines is no change of the page.
        content: CRC-32 of what a sitemap lists, by which its changes are told; 0 of a page.
        judgements: What topics hold of the page; of its crawl's topic, and of others that want it.
        story: Signature of the record's text (``cleaning/topics/stories.py``), by which pages that
            tell the same are found; ``b""``: the text is too short, or the page is a list.
        picture: The looks of an image of a topic's crawl; None of other crawls and other roles.
    """

    queued: QueuedPage
    state: UrlState
    record: CleanRecord | None = None
    failure: Failure | None = None
    html_chars: int = 0
    keep_raw: bool = False
    media_type: str = ""
    unchanged: bool = False
    images_due: bool = False
    log: tuple[Step, ...] = ()
    visit: VisitClass | None = None
    template: frozenset[str] = frozenset()
    content: int = 0
    judgements: tuple[TopicJudgement, ...] = ()
    story: bytes = b""
    picture: Picture | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlRow:
    """A store's row of one URL of one crawl: how it was found, and how it ended last.

    Long lists are read without the fields that their readers do not need: these have their
    defaults then.

    Attributes:
        crawl_id: The crawl.
        page_id: 32 hex digits.
        url: Its URL.
        host: Lower-case authority.
        state: How it ended.
        finished_at: End of its newest response.
        role: The use of its bytes.
        depth: Links from the nearest seed.
        via: How it was found.
        referrer: URL of the page it was found on, or None.
        link_text: Anchor text of that link.
        discovered_at: Time of its discovery, or None.
        status: HTTP status; 0 without a response.
        reason: Why it gave no record, or None.
        detail: The reason in words for a person, may be empty.
        attempts: How often a failed URL was fetched.
        etag: ETag of its newest response, as received, or ``""``.
        last_modified: Last-Modified of its newest response, or ``""``.
        log: Its decision log, oldest first.
        fetched_bytes: Bytes of its newest response.
        media_type: Of a stored image: ``image/png``.
        sha256: Of a stored image, in hex.
    """

    crawl_id: str
    page_id: str
    url: str
    host: str
    state: UrlState
    finished_at: datetime
    role: PageRole = PageRole.PAGE
    depth: int = 0
    via: Via = Via.LINK
    referrer: str | None = None
    link_text: str = ""
    discovered_at: datetime | None = None
    status: int = 0
    reason: FailureReason | None = None
    detail: str = ""
    attempts: int = 0
    etag: str = ""
    last_modified: str = ""
    log: tuple[Step, ...] = ()
    fetched_bytes: int = 0
    media_type: str = ""
    sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlRow:
    """A store's row of one crawl; ``pages`` counts its URLs by final state.

    ``created_at`` is None where the store has no row: the crawl is only in the queue, because the
    store was lost, or is older than the queue. ``queue`` is the id of the queue that runs the
    crawl, ``4f11...``; ``""``: not known, or an import.
    """

    spec: CrawlSpec
    created_at: datetime | None
    state: CrawlState
    pages: Mapping[UrlState, int] = field(default_factory=dict)
    queue: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlCounts:
    """One crawl's URLs in the queue, by state, at one moment; ``done`` since the crawl began.

    ``spilled`` counts the pending URLs that wait in the store instead of the queue's memory;
    ``images`` the pending images in memory, which a spent budget does not hold back. ``revisits``
    counts ended URLs that wait to be visited again: they are done, not open, until they are leased.
    """

    state: CrawlState
    pending: int
    leased: int
    queued: int  # waiting for or held by a worker: fetched, or to end without a request
    done: int
    stored: int  # ended with a record
    failed: int
    fetched: int  # requests that ended, every role and every attempt, with a response or without
    hosts: int
    budget_left: int | None
    spilled: int = 0
    images: int = 0
    revisits: int = 0
    revisited: int = 0  # visits again that ended

    @property
    def in_flight(self) -> int:
        """URLs that a spider or a worker holds, or that wait for a worker."""
        return self.leased + self.queued

    @property
    def is_spent(self) -> bool:
        """Whether the budget is used up, and the images of its pages are fetched."""
        return self.budget_left == 0 and self.in_flight == self.images == 0

    @property
    def open(self) -> int:
        """URLs not yet done."""
        return self.pending + self.in_flight
