"""JSON lines about crawls and their URLs: `run`, `sites`, `crawls`, `why`, `failures`, `classes`.

The fields of a type are the fields of its line, and the docstring of the type is their
documentation (``docs/json.md``). A field that is ``UNSET`` is left out of the line.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from crawlclean.cleaning.records import UrlKind
from crawlclean.storage.crawl_types import CrawlState, FailureReason, Step, UrlState
from crawlclean.storage.live_state import Hold, WaitingHost, WaitReason
from crawlclean.storage.store.records import Inlink

# Parts of JSON lines: what hosts wait for, in `crawls` and `hosts HOST`.


class WaitCount(Struct, frozen=True, kw_only=True):
    """The hosts of a crawl that wait for the same thing.

    Attributes:
        reason: What they wait for.
        hosts: Their number.
        until: End of the first of these waits; null when no end is known.
    """

    reason: WaitReason
    hosts: int
    until: datetime | None


class EndedBy(StrEnum):
    """Cause of a crawl's end; all but DONE and PURGE leave URLs to fetch."""

    DONE = "done"  # no URL was left
    LIMIT = "limit"  # --max-pages, --max-time
    PAUSE = "pause"  # only hosts paused by `pause HOST` are left
    STOP = "stop"  # the command `crawl stop`
    PURGE = "purge"  # the command `crawl purge`
    SIGNAL = "signal"  # Ctrl-C, SIGTERM or SIGHUP


class Concern(StrEnum):
    """Why a host needs a look."""

    NOTHING_STORED = "nothing_stored"  # each of its URLs failed
    NEEDS_SCRIPTS = "needs_scripts"  # texts are made by JavaScript, which is not run
    WALL = "wall"  # status 401, 403, 407, 429 or 451
    CERTIFICATE = "certificate"  # no secure connection
    EMPTY_BODIES = "empty_bodies"  # pages without a text, but for index pages
    REPEATED_BODIES = "repeated_bodies"  # pages with the body of another page
    LOST_FIELDS = "lost_fields"  # a defect of this program


class HostConcern(Struct, frozen=True, kw_only=True):
    """A host that needs a look.

    Attributes:
        host: Lower-case authority.
        concern: Why.
        pages: Its pages that show it.
        of: Its pages that could.
        command: The command that shows them: ``failures example.com``.
    """

    host: str
    concern: Concern
    pages: int
    of: int
    command: str


class RunSummary(Struct, frozen=True, kw_only=True):
    """The line of `run`: how the crawl ended.

    Attributes:
        crawl: Name of the crawl.
        state: State of the crawl.
        ended_by: Cause of the end.
        why: The cause in words, ``--max-pages reached``; ``done`` when no URL was left.
        records: Pages whose newest fetch gave a record, from all runs of the crawl.
        kept_records: Records of pages that gave none when they were fetched again; exports have
            them, too.
        images: Stored images; left out when the crawl fetches none.
        new_records: Records that were not stored before this run; with `--fresh` all.
        fetched: Responses of this run.
        failed: URLs that gave no record.
        waiting: URLs left to fetch.
        hosts: Hosts that the crawl knows.
        stored: Records by page kind, from all runs.
        failed_by_cause: Failed URLs by reason, ``http_status 404`` for the reason ``http_status``.
        concerns: Hosts that need a look, most pages first; a host may have several reasons.
        paused_hosts: Paused hosts with URLs left to fetch.
        seconds: Duration of this run.
        data: The data folder.
    """

    crawl: str
    state: CrawlState
    ended_by: EndedBy
    why: str
    records: int
    kept_records: int
    images: int | UnsetType = UNSET
    new_records: int
    fetched: int
    failed: int
    waiting: int
    hosts: int
    stored: dict[str, int]
    failed_by_cause: dict[str, int]
    concerns: tuple[HostConcern, ...]
    paused_hosts: tuple[str, ...]
    seconds: float
    data: str


class SiteReport(Struct, frozen=True, kw_only=True):
    """A line of `sites`: the result of one site.

    Attributes:
        url: Its seed, normalized.
        crawl: Name of its crawl.
        ended_by: Cause of the end.
        state: ``finished``, ``stopped`` with URLs left to fetch, or ``waiting``: not begun.
        why: Why it ended early or has no record, as ``--max-time reached``; ``""`` otherwise.
        records: Pages with a record.
        failed: URLs that gave no record.
        stored: Records by page kind.
        failed_by_cause: Failed URLs by reason, ``http_status 404`` for the reason ``http_status``.
        concerns: Its hosts that need a look, most pages first.
        body_chars: Characters of all bodies.
        noise_share: Share of noise links among all links, 0..1.
        model_version: Model version of the seed's host that is in use; 0 without a model.
        seconds: Duration in this run; 0 for a site that was finished before.
    """

    url: str
    crawl: str
    ended_by: EndedBy
    state: str
    why: str
    records: int
    failed: int
    stored: dict[str, int]
    failed_by_cause: dict[str, int]
    concerns: tuple[HostConcern, ...]
    body_chars: int
    noise_share: float
    model_version: int
    seconds: float


class CrawlLine(Struct, frozen=True, kw_only=True):
    """A line of `crawls`; the last eleven fields stand only while the queue of the crawl runs.

    Attributes:
        crawl: Name of the crawl.
        state: State of the crawl.
        records: Pages with a record.
        failed: URLs that gave no record.
        pages: Ended URLs by final state.
        created_at: When its first run began; null: the crawl is only in the queue, the store does
            not have it.
        as_of: When ``records``, ``failed`` and ``pages`` were computed; null: they are of this
            moment.
        seeds: Its seeds, normalized; none of an import.
        include: Patterns of which one must match a followed URL, if there are any.
        exclude: Patterns of URLs that are not followed.
        paused_hosts: Its hosts that `crawl pause HOST` holds; at rest as well.
        keep_fresh: Whether it visits pages again when they are due.
        next_visit: When the next page is due, in the past when pages are; null of a crawl that
            does not keep fresh.
        other_queue: Where the queue is that runs the crawl, ``redis://db1:6379/0``; left out of
            crawls of the queue that is asked.
        to_visit_again: Pages that wait in the queue to be visited again.
        visited_again: Visits of pages that the crawl had visited before.
        waiting: URLs left to fetch.
        in_flight: URLs that are being fetched or cleaned.
        hosts: Hosts that the crawl knows.
        waiting_in_store: Those of ``waiting`` that are in the store, not in memory.
        waits: What its hosts wait for.
        hosts_examined: Hosts that ``waits`` counts; at most 2,000 of all crawls.
        holds: Why nothing is fetched from any host; empty: nothing holds the spiders back.
        spiders: Spiders alive, of all crawls.
        hosts_left: The examined hosts that have URLs left; only with `crawls CRAWL`.
    """

    crawl: str
    state: CrawlState
    records: int
    failed: int
    pages: dict[UrlState, int]
    created_at: datetime | None
    as_of: datetime | None
    seeds: tuple[str, ...]
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    paused_hosts: tuple[str, ...]
    keep_fresh: bool
    next_visit: datetime | None
    other_queue: str | UnsetType = UNSET
    to_visit_again: int | UnsetType = UNSET
    visited_again: int | UnsetType = UNSET
    waiting: int | UnsetType = UNSET
    in_flight: int | UnsetType = UNSET
    hosts: int | UnsetType = UNSET
    waiting_in_store: int | UnsetType = UNSET
    waits: tuple[WaitCount, ...] | UnsetType = UNSET
    hosts_examined: int | UnsetType = UNSET
    holds: tuple[Hold, ...] | UnsetType = UNSET
    spiders: int | UnsetType = UNSET
    hosts_left: tuple[WaitingHost, ...] | UnsetType = UNSET


class UrlTrace(Struct, frozen=True, kw_only=True):
    """A line of `why` for each crawl that knows the URL.

    Attributes:
        url: The URL as given.
        crawl: Name of the crawl.
        state: The state it reached, as in ``pages`` of `crawls`, or its state in the queue:
            ``pending``, ``pending, in the store``, ``leased``, ``queued``, ``claimed``,
            ``due again``.
        referrer: URL of the page it was found on; null for a seed, and while it is in the queue.
        link_text: Text of the link there, may be empty.
        steps: Its decision log, oldest first.
        visits_again: Visits after the first one that found the page.
        last_visit: End of the last response that showed the page; null before its end.
        next_visit: When the page is due again; null: not by a schedule.
        waits_for: Why a pending URL is not fetched at this moment, in words for a person; ``""``
            otherwise.
    """

    url: str
    crawl: str
    state: str
    referrer: str | None
    link_text: str
    steps: tuple[Step, ...]
    visits_again: int
    last_visit: datetime | None
    next_visit: datetime | None
    waits_for: str


class Cause(StrEnum):
    """Why a crawl did not take a URL."""

    OUT_OF_SCOPE = "out_of_scope"  # its host is not one of the crawl (--scope)
    TOO_DEEP = "too_deep"  # --depth
    EXCLUDED = "excluded"  # --exclude
    NOT_INCLUDED = "not_included"  # --include
    ROBOTS = "robots"  # robots.txt forbids it
    URL_CLASS = "url_class"  # its URL class is stopped, forbidden, or leads to no content
    TRAP = "trap"  # the URL itself looks like a trap
    TOO_LONG = "too_long"  # longer than 4,096 characters
    CANONICAL = "canonical"  # a page names the URL as its own canonical one
    OTHER_FORM = "other_form"  # links to it are followed in another form
    LINK_FILTER = "link_filter"  # a link filter of another package refuses it
    NOT_IMPORTED = "not_imported"  # the crawl is an import, which fetches nothing
    FILE = "file"  # no page, by its extension
    NOT_CONTENT = "not_content"  # an image that no page shows as content
    SEED = "seed"  # a seed that was not fetched yet
    NOT_LINKED = "not_linked"  # no record links to it
    LINKED = "linked"  # a record links to it, and no rule that is known refuses it
    REFUSED = "refused"  # by another rule of the crawl


class LinkedFrom(Struct, frozen=True, kw_only=True):
    """The pages of a crawl that link to a URL.

    Attributes:
        pages: Pages that were found.
        nearest: Those nearest to a seed, at most three.
        records_searched: Records that were searched for links.
        is_whole: Whether every record was searched.
        capped: Pages with more links than a record keeps, at most three: the URL may be among
            the links that are left out.
    """

    pages: int
    nearest: tuple[Inlink, ...]
    records_searched: int
    is_whole: bool
    capped: tuple[str, ...]


class UnknownUrl(Struct, frozen=True, kw_only=True):
    """A line of `why` for each crawl, when no crawl knows the URL.

    Attributes:
        url: The URL in normal form.
        crawl: Name of the crawl.
        cause: Why the crawl does not know it.
        reason: The cause in words for a person.
        unknown: What could not be read and might change the answer, in words for a person; ``""``
            when nothing is missing.
        linked_from: The pages of the crawl that link to the URL.
        did_you_mean: Known URLs that are like it; empty in answers of the API.
        state: Always ``unknown``.
    """

    url: str
    crawl: str
    state: Literal["unknown"] = "unknown"
    cause: Cause
    reason: str
    unknown: str
    linked_from: LinkedFrom
    did_you_mean: tuple[str, ...]


class FailedUrl(Struct, frozen=True, kw_only=True):
    """A line of `failures`.

    Attributes:
        crawl: Name of the crawl.
        url: The URL.
        host: Lower-case authority.
        reason: Why it gave no record.
        detail: The reason in words for a person, may be empty.
        status: HTTP status; 0 without a response.
        attempts: How often it was fetched.
        failed_at: When the last attempt ended.
    """

    crawl: str
    url: str
    host: str
    reason: FailureReason
    detail: str
    status: int
    attempts: int
    failed_at: datetime


class UrlClass(Struct, frozen=True, kw_only=True):
    """A line of `classes`: one URL class of a host in one crawl.

    Attributes:
        crawl: Name of the crawl.
        host: Lower-case authority.
        template: Path and query of its URLs, with slots: ``/thread-{n}.html``. The pattern of a
            class that is not learned: ``/*.html``; of a stopped group: ``/deep/**``.
        kind: Kind of the pages that its URLs lead to; None when it is not learned.
        operator: Decision of an operator: a kind (``article``), ``forbid``, or ``""``.
        better_form: Template of the better URL of the same page, ``""`` without one.
        urls: URLs of the class when it was learned.
        pages_seen: Pages that the kind was learned from.
        pattern_pages: Ended pages of its pattern, which is wider than a learned template.
        pattern_pages_with_news: Those of them with new text, or new URLs of other classes.
        refused: Why its kind or an operator forbids to fetch it; ``""`` otherwise.
        stopped: Why it is stopped, by its own pages or those of a group around it; ``""``
            otherwise.
        stopped_at: When it was stopped; null while it is fetched.
        example: Path and query of one of its URLs.
    """

    crawl: str
    host: str
    template: str
    kind: UrlKind | None = None
    operator: str = ""
    better_form: str = ""
    urls: int = 0
    pages_seen: int = 0
    pattern_pages: int = 0
    pattern_pages_with_news: int = 0
    refused: str = ""
    stopped: str = ""
    stopped_at: datetime | None = None
    example: str = ""
