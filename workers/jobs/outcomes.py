"""Outcomes of fetched pages: from a page of the queue to its row in the store and its outlinks."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from http import HTTPStatus

from crawlclean import __dist__
from crawlclean.cleaning.document.document import (
    Document,
    RawPage,
    page_robots,
    read_document,
)
from crawlclean.cleaning.document.feeds import is_feed, read_feed, read_sitemap
from crawlclean.cleaning.document.source import foreign_type, image_type
from crawlclean.cleaning.errors import NotHtml
from crawlclean.cleaning.messages import Message, joined, shortened
from crawlclean.cleaning.model.site_model import SiteModel
from crawlclean.cleaning.page import read
from crawlclean.cleaning.page_warnings import WarningKind
from crawlclean.cleaning.records import CleanRecord, LinkKind, Outlink, Provenance, Via
from crawlclean.cleaning.topics.pictures import read_picture
from crawlclean.cleaning.topics.stories import record_signature
from crawlclean.cleaning.urls.normal_form import host_of, page_id as page_id_of, resolve
from crawlclean.storage.crawl_types import (
    MAX_HOPS,
    CrawlSpec,
    Discovery,
    Failure,
    FailureReason,
    FetchResult,
    KeepRaw,
    Outcome,
    PageRole,
    QueuedPage,
    Step,
    UrlRow,
    UrlState,
)
from crawlclean.storage.queue.entries import LINK_TEXT_CHARS, NESTED_SITEMAP_RANK
from crawlclean.storage.store.journal import Event, EventKind
from crawlclean.storage.store.pictures import IMAGE_RANK
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.hooks.calling import HookCalls
from crawlclean.workers.jobs.url_classes import MOVED

# Pages on which workers died: named in an event, and by what cleaning them did.

MOST_CRASHES = 3
"""Workers that may have died on an archived page: one more, and archiving it was the cause."""


def note_poison(store: Store, outcome: Outcome) -> None:
    """Stores an event that names the page, if workers died on it."""
    page, failure = outcome.queued, outcome.failure
    if failure is None or failure.reason is not FailureReason.POISON:
        return
    event = Event(
        kind=EventKind.POISON,
        host=page.host,
        crawl_id=page.crawl_id,
        text=Message("of", page.url, failure.detail),
        link=page.page_id,
    )
    store.events.add(event)


def crash_text(page: QueuedPage) -> Message:
    """What cleaning a page did to its workers: ``cleaning it killed 3 workers``."""
    no_memory = Message("no_memory_on_page")
    times = min(page.crashes, sum(step.detail == no_memory for step in page.log))
    killed = page.crashes - times
    parts = [Message("killed", killed)] if killed or not times else []
    parts += [Message("no_memory", times)] if times else []
    return joined(parts)


log = logging.getLogger(__name__)

DETAIL_CHARS = 500  # of a failure's detail: one line, however long the exception's text is
EXCLUDING = frozenset(
    {
        FailureReason.ROBOTS,
        FailureReason.PATTERN,
        FailureReason.TRAP,
        FailureReason.NOINDEX,
        FailureReason.DUPLICATE,
        FailureReason.DROPPED,
    }
)
GONE = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.GONE})
VERDICTS = frozenset(
    {
        FailureReason.NOT_HTML,
        FailureReason.BAD_REDIRECT,
        FailureReason.NOINDEX,
        FailureReason.DROPPED,
        FailureReason.GONE,
    }
)
DEEPEST_SITEMAP = 4  # the protocol has one level of indexes; those that name each other must end
SAMPLE_FIRST_DIGIT = "0"  # of a page id: one page in sixteen, the same ones in every crawl


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """The end of one page.

    Attributes:
        outcome: For ``Store.save``.
        outlinks: For the URL filter of the crawl.
        discoveries: For the frontier, past the URL filter: sitemaps that a sitemap names, the
            target of an image's redirect.
        lastmods: When the pages of a sitemap were changed, as the sitemap has it:
            ``{"http://a.example/x": "2024-05-01"}``.
        feed_dates: The same of the pages of a feed: ``{"http://a.example/x": "Mon, 06 Sep 2024
            00:01:00 GMT"}``.
    """

    outcome: Outcome
    outlinks: Sequence[Outlink] = ()
    discoveries: tuple[Discovery, ...] = field(default=())
    lastmods: Mapping[str, str] = field(default_factory=dict)
    feed_dates: Mapping[str, str] = field(default_factory=dict)


def end_page(
    page: QueuedPage,
    keep_raw: KeepRaw,
    model: SiteModel | None = None,
    hooks: HookCalls | None = None,
    *,
    obeys: bool = True,
    document: Document | None = None,
) -> Ending:
    """Returns the ending of a page; a page that could not be fetched is not cleaned.

    Args:
        page: From the queue.
        keep_raw: Which responses the archive keeps.
        model: The model of its host, or None.
        hooks: Record steps that its record goes through, or None.
        obeys: Whether its noindex and nofollow count (``CrawlSpec.page_robots``).
        document: The page as ``document_of`` has parsed it, or None.

    Raises:
        PageError: The page cannot be cleaned: the caller makes its ending with ``failed``.
    """
    if page.poison:
        return _poison(page, keep_raw)
    if page.result.failure:
        return failed(page, page.result.failure.reason, page.result.failure.detail)
    if page.was is not None and page.result.status == HTTPStatus.NOT_MODIFIED:
        return _unchanged(page, page.was)
    location = _location(page)
    is_shown = not location and page.result.body and page.role is PageRole.PAGE
    if 300 <= page.result.status < 400 and not is_shown:
        return _redirect(page, location)
    if page.role is PageRole.SITEMAP:
        return _sitemap(page)
    if page.role is PageRole.IMAGE:
        return _image(page)
    return _page(page, keep_raw, model, hooks or HookCalls(), document, obeys=obeys)


def document_of(page: QueuedPage, *, obeys: bool) -> Document | None:
    """Parses a page that may get a record; None for anything else than the text of a new page.

    Where its noindex counts (``obeys``), a page that has it gives None, too.

    Raises:
        PageError: The page cannot be parsed.
    """
    result = page.result
    is_new = page.was is None and page.role is PageRole.PAGE and not page.poison
    is_text = result.status == HTTPStatus.OK and not result.failure and bool(result.body)
    if not is_new or not is_text or is_feed(result.body) or foreign_type(result.body):
        return None
    document = read_document(_raw_page(page))
    return None if obeys and page_robots(document, __dist__).is_noindex else document


def _raw_page(page: QueuedPage) -> RawPage:
    return RawPage.from_bytes(
        page.url,
        page.result.body,
        fetched_at=page.fetched_at,
        status=page.result.status,
        headers=page.result.headers,
        referrer=page.provenance.referrer,
        depth=page.depth,
        provenance=page.provenance,
    )


def failed(page: QueuedPage, reason: FailureReason, detail: str = "") -> Ending:
    """Returns the ending of a page without a record; a missed revisit leaves its URL as it was."""
    failure = Failure(reason=reason, detail=shortened(detail, DETAIL_CHARS))
    if page.was is not None and not _is_verdict(page, reason):
        missed = _outcome(page, page.was, "missed", failure.line)
        return Ending(outcome=replace(missed, failure=failure, unchanged=True))
    state = UrlState.EXCLUDED if reason in EXCLUDING else UrlState.FAILED
    return Ending(outcome=replace(_outcome(page, state, str(state), failure.line), failure=failure))


def _poison(page: QueuedPage, keep_raw: KeepRaw) -> Ending:
    """The ending of a page that kills workers: archived for a person, unless that kills them, too.

    A revisited page keeps the response that its record was made from.
    """
    is_kept = page.was is None and page.crashes <= MOST_CRASHES and _is_kept(page, keep_raw)
    shown = page if is_kept else replace(page, result=FetchResult())
    ending = failed(shown, FailureReason.POISON, crash_text(page))
    return replace(ending, outcome=replace(ending.outcome, keep_raw=is_kept))


def with_stored_step(outcome: Outcome) -> Outcome:
    """Returns the outcome with the step ``stored``, which is true once the log can be read."""
    return replace(outcome, log=(*outcome.log, _step("stored", "")))


def with_picture(ending: Ending) -> Ending:
    """Returns the ending of an image with the looks of the picture; any other as it is.

    The bytes are a stranger's: the page must be marked, as for cleaning.
    """
    outcome = ending.outcome
    if outcome.state is not UrlState.IMAGE:
        return ending
    picture = read_picture(outcome.queued.result.body)
    return replace(ending, outcome=replace(outcome, picture=picture))


def stored_page(
    row: UrlRow, crawl_id: str, fetched_at: datetime, result: FetchResult
) -> QueuedPage:
    """Returns a stored page as the queue once held it, for an outcome that is saved again.

    Args:
        row: Of the URL.
        crawl_id: The crawl of the outcome.
        fetched_at: End of the response.
        result: The response; without a body the stored one stays.
    """
    return QueuedPage(
        crawl_id=crawl_id,
        page_id=row.page_id,
        url=row.url,
        host=row.host,
        depth=row.depth,
        provenance=Provenance(
            crawl_id=crawl_id,
            referrer=row.referrer,
            via=row.via,
            link_text=row.link_text,
            discovered_at=row.discovered_at,
        ),
        fetched_at=fetched_at,
        result=result,
    )


def redirects_a_seed(ending: Ending, spec: CrawlSpec) -> bool:
    """Whether a page is a redirect of a seed, or follows such a redirect."""
    page = ending.outcome.queued
    is_hop = page.depth == 0 and page.provenance.via is Via.REDIRECT
    return ending.outcome.state is UrlState.REDIRECT and (is_hop or page.url in spec.seeds)


def count_lost_fields(ending: Ending) -> int:
    """Returns how many fields of a record a defect of this program cost; each is logged."""
    record = ending.outcome.record
    lost = (
        [each for each in record.warnings if each.kind is WarningKind.LOST_FIELD] if record else []
    )
    for each in lost:
        log.error("field lost", extra={"url": ending.outcome.queued.url, "reason": each.detail})
    return len(lost)


def _page(
    page: QueuedPage,
    keep_raw: KeepRaw,
    model: SiteModel | None,
    hooks: HookCalls,
    document: Document | None,
    *,
    obeys: bool,
) -> Ending:
    if is_feed(page.result.body):
        return _feed(page)
    foreign = foreign_type(page.result.body)
    if foreign:
        raise NotHtml(Message("media_type", foreign))
    reading = read(document or _raw_page(page), model)
    cleaned = reading.record
    outlinks = cleaned.outlinks
    if obeys:
        robots = page_robots(reading.document, __dist__)
        outlinks = _followed(cleaned, is_nofollow=robots.is_nofollow)
        if robots.is_noindex:
            refused = failed(page, FailureReason.NOINDEX, Message("noindex"))
            return replace(refused, outlinks=outlinks)
    record, dropped_by = hooks.finish(cleaned)
    if record is None:
        dropped = failed(page, FailureReason.DROPPED, Message("dropped", dropped_by))
        return replace(dropped, outlinks=outlinks)
    summary = _summary(record, len(cleaned.outlinks) - len(outlinks))
    outcome = replace(
        _outcome(page, UrlState.RECORD, "cleaned", summary),
        record=record,
        html_chars=len(reading.document.page.html),
        keep_raw=_is_kept(page, keep_raw),
        story=record_signature(record),
    )
    return Ending(outcome=outcome, outlinks=outlinks)


def _followed(record: CleanRecord, *, is_nofollow: bool) -> tuple[Outlink, ...]:
    """Returns the outlinks that may be followed: a URL with one link without nofollow may."""
    if is_nofollow:
        return tuple(link for link in record.outlinks if link.via is Via.META_REFRESH)
    marked = {link.url for link in record.links if "nofollow" in link.rel.split()}
    if not marked:
        return record.outlinks
    marked -= {link.url for link in record.links if "nofollow" not in link.rel.split()}
    return tuple(
        link
        for link in record.outlinks
        if link.url not in marked or link.via not in (Via.LINK, Via.NEXT)
    )


def _is_verdict(page: QueuedPage, reason: FailureReason) -> bool:
    """Whether a failed revisit shows that the page is gone; else its host may be ill."""
    if reason is FailureReason.HTTP_STATUS:
        return page.result.status in GONE
    return reason in VERDICTS


def _unchanged(page: QueuedPage, was: UrlState) -> Ending:
    """Returns the ending of a revisit that the server answered with 304: nothing to read."""
    outcome = _outcome(page, was, "unchanged", Message("not_changed"))
    return Ending(outcome=replace(outcome, unchanged=True))


def _summary(record: CleanRecord, unfollowed: int) -> Message:
    text = Message(
        "cleaned",
        record.kind.value,
        len(record.body),
        record.body_source.value,
        Message("links", len(record.links)),
        Message("outlinks", len(record.outlinks)),
        record.model_version,
    )
    if unfollowed:
        text = Message("nofollow", text, unfollowed)
    if record.warnings:
        text = Message("with_warnings", text, ", ".join(w.kind.value for w in record.warnings))
    return text


def _location(page: QueuedPage) -> str:
    """The Location of a response, ``/news/7.html``; ``""`` without one."""
    location = next((v for k, v in page.result.headers if k.lower() == "location"), "").strip()
    # Header bytes are decoded as Latin-1; servers mean UTF-8 by bytes above 127.
    return location.encode("latin-1", "replace").decode("utf-8", "replace")


def _redirect(page: QueuedPage, location: str) -> Ending:
    target = resolve(page.url, location) if location else None
    if not target:
        status = page.result.status
        detail = Message("no_location", status)
        if location:
            detail = Message("bad_location", status, location)
        if status == HTTPStatus.NOT_MODIFIED:
            detail = Message("no_condition")
        return failed(page, FailureReason.BAD_REDIRECT, detail)
    if page.hops >= MAX_HOPS:
        return failed(page, FailureReason.BAD_REDIRECT, Message("many_hops", MAX_HOPS))
    outcome = _outcome(page, UrlState.REDIRECT, MOVED, target)
    if page.role is PageRole.SITEMAP:
        return Ending(outcome=outcome, discoveries=_nested_sitemaps(page, (target,)))
    if page.role is PageRole.IMAGE:
        return Ending(outcome=outcome, discoveries=(_moved_image(page, target),))
    return Ending(outcome=outcome, outlinks=(Outlink(url=target, via=Via.REDIRECT),))


def _image(page: QueuedPage) -> Ending:
    """Returns the ending of an image, whose bytes go to the archive as they are."""
    body = page.result.body
    media_type = image_type(body)
    if media_type is None:
        detail = Message("no_image", len(body)) if body else Message("empty")
        return failed(page, FailureReason.NOT_IMAGE, detail)
    outcome = _outcome(page, UrlState.IMAGE, "kept", Message("image", media_type, len(body)))
    return Ending(outcome=replace(outcome, keep_raw=True, media_type=media_type))


def _moved_image(page: QueuedPage, target: str) -> Discovery:
    return Discovery(
        url=target,
        depth=page.depth,
        role=PageRole.IMAGE,
        via=Via.REDIRECT,
        referrer=page.provenance.referrer,
        text=page.provenance.link_text,
        rank=IMAGE_RANK,
        hops=page.hops + 1,
    )


def _feed(page: QueuedPage) -> Ending:
    """Returns the ending of a feed: its entries are links to content, with their titles."""
    feed = read_feed(page.result.body, page.url)
    entries = feed.entries
    detail = _read_over(page, Message("feed", len(entries)), feed.slips)
    return Ending(
        outcome=_outcome(page, UrlState.SITEMAP, "read", detail),
        outlinks=tuple(
            Outlink(
                url=entry.url,
                via=Via.LINK,
                kind=LinkKind.BODY,
                text=entry.title[:LINK_TEXT_CHARS],
            )
            for entry in entries
        ),
        feed_dates={entry.url: entry.lastmod for entry in entries if entry.lastmod},
    )


def _sitemap(page: QueuedPage) -> Ending:
    if is_feed(page.result.body):  # the protocol permits feeds as sitemaps
        return _feed(page)
    sitemap = read_sitemap(page.result.body, page.url)
    pages, sitemaps = len(sitemap.pages), len(sitemap.sitemaps)
    detail = Message("sitemap", Message("pages", pages), Message("sitemaps", sitemaps))
    detail = _read_over(page, detail, sitemap.slips)
    return Ending(
        outcome=_outcome(page, UrlState.SITEMAP, "read", detail),
        outlinks=tuple(Outlink(url=url, via=Via.SITEMAP) for url, _ in sitemap.pages),
        discoveries=_nested_sitemaps(page, sitemap.sitemaps),
        lastmods={url: lastmod for url, lastmod in sitemap.pages if lastmod},
    )


def _read_over(page: QueuedPage, detail: Message, slips: int) -> Message:
    """Warns of errors in a list of URLs; returns the detail of its log: ``..., 3 errors ...``."""
    if not slips:
        return detail
    log.warning("errors in a list of URLs", extra={"url": page.url, "errors": slips})
    return Message("read_over", detail, slips)


def _nested_sitemaps(page: QueuedPage, urls: Sequence[str]) -> tuple[Discovery, ...]:
    """Returns the sitemaps that a sitemap names on its host; ``depth`` bounds their nesting."""
    if page.depth >= DEEPEST_SITEMAP:
        return ()
    return tuple(
        Discovery(
            url=url,
            depth=page.depth + 1,
            role=PageRole.SITEMAP,
            via=Via.SITEMAP,
            referrer=page.url,
            rank=NESTED_SITEMAP_RANK,
        )
        for url in urls
        if host_of(url) == page.host
    )


def _is_kept(page: QueuedPage, keep_raw: KeepRaw) -> bool:
    if keep_raw is KeepRaw.SAMPLE:
        return page.page_id.startswith(SAMPLE_FIRST_DIGIT)
    return keep_raw is KeepRaw.ALL


def _outcome(page: QueuedPage, state: UrlState, step: str, detail: str) -> Outcome:
    """The outcome of a page that ends in a state, with the last step of its log."""
    return Outcome(queued=page, state=state, log=(*page.log, _step(step, detail)))


def _step(step: str, detail: str) -> Step:
    return Step(at=datetime.now(UTC), step=step, detail=detail)


# Pages of one text whose URLs differ by the name of an index file: ``/a/`` and ``/a/index.html``.
#
# The shorter URL has the record; where the longer one is stored already, the shorter has none: a
# record that was told to others is not taken back.

INDEX_NAMES = tuple(
    f"{name}.{extension}"
    for name in ("index", "Index", "default", "Default")
    for extension in ("html", "htm", "shtml", "php", "jsp", "asp", "aspx")
)
"""What web servers answer for a folder, in their usual settings."""
_INDEX = re.compile(f"(.+/)(?:{'|'.join(map(re.escape, INDEX_NAMES))})")
THIN_CHARS = 100  # a shorter body, a few sentences, is that of many pages: their links count, too


def judge_index(ending: Ending, others: Sequence[Ending], store: Store) -> Ending:
    """Returns the ending of a page: excluded when the same page has a record at its other URL.

    Args:
        ending: Of the page.
        others: Pages of its host that are not stored yet.
        store: Has those before.
    """
    outcome = ending.outcome
    page, record = outcome.queued, outcome.record
    if record is None or page.was is not None:
        return ending
    longer = _INDEX.fullmatch(page.url)
    if not longer and not page.url.endswith("/"):
        return ending
    urls = [longer[1]] if longer else [page.url + name for name in INDEX_NAMES]
    ids = {page_id_of(url): url for url in urls}
    found = [each.outcome.record for each in others if longer and each.outcome.queued.url in urls]
    known = store.urls.known(ids, [page.crawl_id])
    found += [store.records.get(each, page.crawl_id) for each in known]
    same = next((each.url for each in found if each and _is_same(record, each)), "")
    # A page that is done again keeps the record that it has.
    if not same or store.records.get(page.page_id, page.crawl_id) is not None:
        return ending
    excluded = failed(page, FailureReason.DUPLICATE, Message("same_as", same))
    return replace(excluded, outlinks=ending.outlinks)


def _is_same(one: CleanRecord, other: CleanRecord) -> bool:
    """Whether two pages have one text; without much of it, their links to others are one, too."""
    if (one.title, one.body) != (other.title, other.body):
        return False
    both = (one.url, other.url)
    links = [
        {(link.url, link.text) for link in each.links if link.url not in both}
        for each in (one, other)
    ]
    is_thin = len(one.body) < THIN_CHARS
    return not is_thin or (links[0] == links[1] and bool(one.body or links[0]))


# URLs that redirect to each other in a circle: asked once more with the cookies, then a failure.
#
# A site that wants a cookie sends a page to a second URL, which sets it and sends back. The page
# was asked already, so it is offered again, once; its request has the cookie now.

AGAIN = "offered again"  # the step that ``reopen.lua`` writes


def judge_loop(ending: Ending, earlier: Sequence[Ending], store: Store) -> tuple[Ending, str]:
    """Returns (the ending, id of the page to offer again or ``""``) of a page, by what is known.

    Only loops within a host are judged: no cookie leads out of another one.

    Args:
        ending: Of the page.
        earlier: Pages of its host that ended before it, and are not stored yet.
        store: Has the others.
    """
    page = ending.outcome.queued
    if ending.outcome.state is not UrlState.REDIRECT or page.role is not PageRole.PAGE:
        return ending, ""
    target = url = ending.outcome.log[-1].detail
    steps = list(page.log)
    for hops in range(1, MAX_HOPS + 1):
        if host_of(url) != page.host or page.was is not None:
            break
        log = _log_of_redirect(url, page.crawl_id, earlier, store)
        url = next((each.detail for each in reversed(log) if each.step == MOVED), "")
        if not url:
            break
        steps += log
        if url == page.url:
            is_again = AGAIN in [each.step for each in steps]
            # What ended a moment ago cannot be offered before it is acknowledged.
            if not is_again and target not in [each.outcome.queued.url for each in earlier]:
                return ending, page_id_of(target)
            detail = Message("redirects_back", target)
            if hops > 1:
                detail = Message("leads_back", target, hops)
            if is_again:
                detail = Message("also_with_cookies", detail)
            return failed(page, FailureReason.BAD_REDIRECT, detail), ""
    return ending, ""


def _log_of_redirect(
    url: str, crawl_id: str, earlier: Sequence[Ending], store: Store
) -> Sequence[Step]:
    """The log of a URL that ended as a redirect; empty for any other."""
    for each in earlier:
        if each.outcome.queued.url == url and each.outcome.state is UrlState.REDIRECT:
            return each.outcome.log
    rows = store.urls.rows(page_id_of(url), [crawl_id])
    return next((row.log for row in rows if row.state is UrlState.REDIRECT), ())
