"""JSON lines about hosts, their models and records: `hosts`, `model show|learn|reclean`, `show`.

The fields of a type are the fields of its line, and the docstring of the type is their
documentation (``docs/json.md``). A field that is ``UNSET`` is left out of the line.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from crawlclean.cleaning.drift.alarms import DriftSign
from crawlclean.cleaning.records import (
    BodySource,
    CleanRecord,
    HostStats,
    Image,
    ImageKind,
    ImageReason,
    PageKind,
)
from crawlclean.storage.live_state import Hold, WaitingHost
from crawlclean.storage.store.hosts import Slowdown, UnsurePage
from crawlclean.storage.store.models import DriftOutcome, ModelLine
from crawlclean.storage.store.records import SnippetPart


class ImageRequests(Struct, kw_only=True):
    """The image requests of a host, in the crawls that fetch images.

    Attributes:
        content: URLs of content images, of a topic's crawl on relevant pages; these are fetched.
        irrelevant: URLs of content images of irrelevant pages alone, in crawls of topics.
        stored: Content URLs whose image is stored.
        stored_bytes: Bytes of the stored images.
        too_early: URLs that were fetched as content and are content on no page any more.
        held_back: URLs that were not fetched, by kind of image.
        reasons: The same URLs by the reason of the kind.
        requests_saved: Sum of ``held_back`` and ``irrelevant``.
        sizes_known: Those of them whose size is known.
        known_bytes: Bytes of those.
    """

    content: int = 0
    irrelevant: int = 0
    stored: int = 0
    stored_bytes: int = 0
    too_early: int = 0
    held_back: dict[ImageKind, int] = {}
    reasons: dict[ImageReason, int] = {}
    requests_saved: int = 0
    sizes_known: int = 0
    known_bytes: int = 0


class Drift(Struct, frozen=True, kw_only=True):
    """A detected change of a host.

    Attributes:
        model_version: The model version that its pages no longer fit.
        sign: What has changed.
        url_class: The URL class of the changed pages; ``""``: the whole host.
        since: Fetch of the first of the pages that show it.
        at: Fetch of the last of them.
        pages: How many of the pages were compared with the model.
        misfits: Those that do not fit.
        empty: Those without a body.
        expected: Share of pages that fit a model as long as nothing changes, 0..1.
        observed: Share that fitted, 0..1.
        classes: The misfits by pattern of their URLs.
        examples: URLs of some misfits.
        outcome: The reaction.
        new_version: The version that was learned; 0: none.
        detail: The outcome in words for a person, may be empty.
    """

    model_version: int
    sign: DriftSign
    url_class: str
    since: datetime
    at: datetime
    pages: int
    misfits: int
    empty: int
    expected: float
    observed: float
    classes: dict[str, int]
    examples: tuple[str, ...]
    outcome: DriftOutcome
    new_version: int
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLine(HostStats):
    """A line of `hosts`: the statistics of a host over all crawls, and their age.

    Attributes:
        as_of: When the figures were computed; null: they are of this moment.
    """

    as_of: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostAnswer(HostLine):
    """The line of `hosts HOST`: the fields of `hosts`, and more.

    Attributes:
        records_by_model: Records by the model version that made them; 0: without a model.
        image_requests: Left out when no crawl of the host fetches images.
        is_paused: Whether `crawl pause HOST` holds the host.
        slowed: How an operator slowed it down; null: nobody did.
        waits: What it waits for in each crawl; left out when no queue runs.
        holds: Why nothing is fetched from any host; left out when no queue runs.
        next_visits: When its next page is due, by name of each crawl that keeps fresh; in the past
            when pages are.
        drifts: When the host changed, newest first.
        least_sure: The five pages whose bodies are least sure to be right, the least first.
    """

    records_by_model: dict[int, int]
    image_requests: ImageRequests | UnsetType = UNSET
    is_paused: bool
    slowed: Slowdown | None = None
    waits: tuple[WaitingHost, ...] | UnsetType = UNSET
    holds: tuple[Hold, ...] | UnsetType = UNSET
    next_visits: dict[str, datetime]
    drifts: tuple[Drift, ...]
    least_sure: tuple[UnsurePage, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedModel(ModelLine):
    """The line of `model learn`: the version in use.

    Attributes:
        model: The model, as `clean --save-model` writes it; its form is the program's own.
        is_new: Whether it differs from the version before.
    """

    model: dict[str, Any]
    is_new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer(ModelLine):
    """The line of `model show`: one version, the list of all, and the host's changes.

    Attributes:
        model: The model, as `clean --save-model` writes it; its form is the program's own.
        versions: Every stored version.
        drifts: When the host changed, newest first.
    """

    model: dict[str, Any]
    versions: tuple[ModelLine, ...]
    drifts: tuple[Drift, ...]


class ModelDifferences(Struct, frozen=True, kw_only=True):
    """The line of `model diff`.

    Attributes:
        host: Lower-case authority.
        old: Version A.
        new: Version B.
        differences: Lines for a person.
    """

    host: str
    old: int
    new: int
    differences: tuple[str, ...]


class TemplateVerdict(StrEnum):
    """What cleaning does with a line of text."""

    TEMPLATE = "template"  # it is left out where it stands before or behind the rest of a body
    REPEATED = "repeated"  # it repeats, but not on most pages: it stays
    OWN = "own"  # it is no template: it stays


class TemplateAnswer(Struct, frozen=True, kw_only=True):
    """The line of `model why`.

    Attributes:
        host: Lower-case authority.
        version: Of the model.
        text: The text or URL that was asked for.
        found: A line for a person for each reason; empty when it is not template.
        verdict: What cleaning does with the text; null for a URL.
        whole_body_of: Records of the host whose whole body is the text.
        body_sources: Those records by the method that gave the body.
        kept_because: Why the text was kept there, in words for a person; ``""`` when there is none.
        examples: URLs of those records, at most five.
        is_whole: Whether all records of the host were searched for the text.
    """

    host: str
    version: int
    text: str
    found: tuple[str, ...]
    verdict: TemplateVerdict | None
    whole_body_of: int = 0
    body_sources: dict[BodySource, int] = {}
    kept_because: str = ""
    examples: tuple[str, ...] = ()
    is_whole: bool = True


class ChangedPage(Struct, frozen=True, kw_only=True):
    """A page that re-cleaning changed.

    Attributes:
        url: Its URL.
        changes: Field of the record -> value before and after, both shortened for a person.
    """

    url: str
    changes: dict[str, tuple[str, str]]


class OverrideUse(Struct, frozen=True, kw_only=True):
    """One selector of an override, or its kind, on stored pages.

    Attributes:
        pattern: URL class of the override; ``""``: the whole host.
        field: ``drop``; ``kind`` for a kind of pages.
        selector: ``div.share``; ``article`` for a kind.
        by: Who made it in the console; ``""``: it stands in a file.
        pages: Pages that it is about.
        fits: Those of them on which the selector finds something.
        changes: Pages of which it changes a field of the record, by the field: ``{"body": 12}``.
        examples: Pages that it changes, at most five.
    """

    pattern: str
    field: str
    selector: str
    by: str
    pages: int
    fits: int
    changes: dict[str, int]
    examples: tuple[ChangedPage, ...]


class OverrideCheck(Struct, frozen=True, kw_only=True):
    """The line of `model check`: overrides of a host on its stored pages.

    Attributes:
        host: Lower-case authority.
        pages: Pages that were read: of the archive at most 100, of every URL class.
        uses: The selectors of the overrides, in their order.
        section: The overrides as tables of a crawl file, without those of the console.
        left_out: What of a file of rules is no override, each as ``7: strip_image_src``.
    """

    host: str
    pages: int
    uses: tuple[OverrideUse, ...]
    section: str
    left_out: tuple[str, ...] = ()


class RecleaningReport(Struct, frozen=True, kw_only=True):
    """The line of `model reclean`.

    Attributes:
        host: Lower-case authority.
        model_version: Version of the model that was used; 0: none.
        dry_run: Whether nothing was stored.
        cleaned: Re-cleaned records.
        changed: Those that differ from the record before.
        with_new_content_images: Pages with content images that they did not have before.
        by_field: Changed records by field.
        not_archived: Records whose page is not in the archive.
        older_layout: Records of an older layout of the site, which keep their model.
        failed: Pages that could not be cleaned.
        examples: Some of the changed pages.
        interrupted: Whether Ctrl-C ended it.
    """

    host: str
    model_version: int
    dry_run: bool
    cleaned: int
    changed: int
    with_new_content_images: int
    by_field: dict[str, int]
    not_archived: int
    older_layout: int
    failed: int
    examples: tuple[ChangedPage, ...]
    interrupted: bool


class StoredImage(Struct, frozen=True, kw_only=True):
    """The line of `show` for the URL of an image.

    Attributes:
        url: Its URL.
        page_id: Its id.
        media_type: ``image/png``, by the bytes.
        bytes: Size.
        sha256: Digest of the bytes, 64 hex digits.
        status: HTTP status.
        fetched_at: When the response ended.
        referrer: URL of the page it was found on.
        crawl: Name of the crawl.
    """

    url: str
    page_id: str
    media_type: str
    bytes: int
    sha256: str
    status: int
    fetched_at: datetime
    referrer: str | None
    crawl: str


class ExportedImage(Image, frozen=True, kw_only=True):
    """An image of a record.

    Attributes:
        file: Its file below the folder of `export --images`; left out without that option, and
            when the image is not stored.
    """

    file: str | UnsetType = UNSET


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedRecord(CleanRecord):
    """A line of `export`: a record, whose images may have a file."""

    images: tuple[ExportedImage, ...] = ()


# JSON lines about older versions of pages: `show URL --history`, `show URL --diff`.
#
# The fields of a type are the fields of its line, and the docstring of the type is their
# documentation (``docs/json.md``).


class PageVersion(Struct, frozen=True, kw_only=True):
    """A version of a page: what it showed from one visit on.

    Attributes:
        url: Its URL.
        crawl: The crawl that visits it.
        fetched_at: The visit that found the version; `--diff` takes this time.
        title: Its title then.
        body_chars: Characters of its body then.
        posts: Posts of a thread then.
        added: Lines that it has and the version before has not; 0 of the oldest.
        removed: Lines that the version before has and it has not; 0 of the oldest.
        model_version: Version of the host's model that cleaned it; 0 without.
        is_newest: Whether it is the record that `show` prints.
        checked_at: The last visit that found the newest version; null of an older one.
    """

    url: str
    crawl: str
    fetched_at: datetime
    title: str
    body_chars: int
    posts: int
    added: int
    removed: int
    model_version: int
    is_newest: bool
    checked_at: datetime | None


class VersionDifference(Struct, frozen=True, kw_only=True):
    """The difference between two versions of a page.

    Attributes:
        url: Its URL.
        crawl: The crawl that visits it.
        older_at: The visit that found the older version.
        newer_at: The visit that found the newer version.
        lines: Title, text and the links of a list as lines of a unified difference: a line of
            both begins with a space, one of the older version with `-`, of the newer with `+`.
    """

    url: str
    crawl: str
    older_at: datetime
    newer_at: datetime
    lines: list[str]


# Stored pages in a list of console and API.


class PageLine(Struct, frozen=True, kw_only=True):
    """A stored page in a list.

    Attributes:
        url: Its URL.
        title: Its title, may be empty.
        host: Its host.
        crawl: The crawl that stored it.
        page_id: 32 hex digits.
        kind: What it is for its reader.
        body_chars: Characters of its body.
        confidence: Probability that its body is right, 0..1; null: an older version stored it.
        has_copies: Whether other pages have its text, too.
        fetched_at: End of its response.
    """

    url: str
    title: str
    host: str
    crawl: str
    page_id: str
    kind: PageKind
    body_chars: int
    confidence: float | None
    has_copies: bool
    fetched_at: datetime


# JSON lines of `search`.


class SearchHit(Struct, frozen=True, kw_only=True):
    """A line of `search`: a record whose title or body has every word that was searched for.

    Attributes:
        url: URL of the page.
        title: Its title, may be empty.
        host: Its host.
        crawl: The crawl that stored the record.
        page_id: Id of the page, for `show` and the console.
        fetched_at: When the page was fetched.
        snippet: The text around the first hit, in parts.
    """

    url: str
    title: str
    host: str
    crawl: str
    page_id: str
    fetched_at: datetime
    snippet: tuple[SnippetPart, ...]
