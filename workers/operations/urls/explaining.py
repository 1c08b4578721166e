"""Explains a URL: its steps in every crawl that knows it, or why no crawl took it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import product

from msgspec import structs

from crawlclean.cleaning.urls.normal_form import host_of, page_id
from crawlclean.storage.crawl_types import CrawlRow, CrawlSpec, CrawlState, Step, UrlRow, UrlState
from crawlclean.storage.live_state import WaitingHost
from crawlclean.storage.store.pictures import image_id
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.rows import from_microseconds
from crawlclean.workers.answers.crawls import Cause, UnknownUrl, UrlTrace
from crawlclean.workers.answers.moments import UrlHistory
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.controlling.waits import wait_text
from crawlclean.workers.operations.reading import UrlOrId, find_page, is_page_id
from crawlclean.workers.operations.topics.stories import story_of
from crawlclean.workers.operations.topics.verdicts import topic_verdicts
from crawlclean.workers.operations.urls.near_matches import near_urls, with_scheme
from crawlclean.workers.operations.urls.queued_urls import (
    DUE_AGAIN,
    SPILLED,
    WAITING,
    Judge,
    QueuedUrl,
    read_queue,
)

MOST_SEARCHED = 5  # crawls whose records are searched for links
UNCERTAIN = frozenset(
    {UrlState.FAILED, UrlState.EXCLUDED}
)  # `crawl retry` may have queued them again
Rows = Mapping[str, UrlRow]
Waits = Mapping[str, tuple[WaitingHost, datetime]]
"""(the wait, the moment) that the ``waits_for`` of a trace tells, by this text."""


def url_history(backends: Backends, url: UrlOrId) -> UrlHistory:
    """What became of a URL: every step in every crawl, or why no crawl took it.

    The lines of `why`, in one object. A queue at rest is not started to answer, and links to an
    unknown URL are searched for a moment: `why` takes longer for both.

    Args:
        backends: Queue and store.
        url: Its URL, with or without ``http://``, or the first digits of its page id, at least
            six: ``4f1193``.
    """
    return explain_from(backends, url)[0]


def explain_url(
    backends: Backends, text: str, search_all: Callable[[int], None] | None = None
) -> UrlHistory:
    """Returns every step of a URL in every crawl, or for each crawl why it was not taken.

    A queue at rest is opened only when it can change the answer.

    Args:
        backends: Queue and store.
        text: A URL, with or without scheme, or the beginning of a page id: ``4f1193``.
        search_all: Searches all records for links to an unknown URL, however long that takes, and
            is called with the number of records of each step; None: ``search_s`` are enough.

    Raises:
        NotFound: No page has this id.
        InvalidUrl: The text is not an http(s) URL.
    """
    found = explain_from(backends, text, search_all)[0]
    if not found.not_taken:
        return found
    with backends.store() as store:
        seeds = (host_of(each) for row in store.crawls.all() for each in row.spec.seeds)
        near = tuple(near_urls(store, found.url, seeds))
    return replace(
        found, not_taken=tuple(structs.replace(each, did_you_mean=near) for each in found.not_taken)
    )


def explain_from(
    backends: Backends, text: str, search_all: Callable[[int], None] | None = None
) -> tuple[UrlHistory, Waits]:
    """Returns what ``explain_url`` does but for near URLs, and the waits as values.

    The URL of the history is as given when a crawl knows it, else in normal form; then
    ``not_taken`` has each crawl that has the URL in its scope, or all crawls when none has (a list
    of sites makes hundreds of crawls).

    Args:
        backends: Queue and store.
        text: A URL, with or without scheme, or the beginning of a page id: ``4f1193``.
        search_all: As in ``explain_url``.

    Raises:
        NotFound: No page has this id.
        InvalidUrl: The text is not an http(s) URL.
    """
    with backends.store() as store:
        crawls = store.crawls.all()
        if is_page_id(text):
            pid = find_page(store, text)
            of_page = _rows(store, crawls, [pid])[pid]
            ended = (of_page.get(crawl.spec.crawl_id) for crawl in crawls)
            traces = [_trace(store, text, pid, (row.crawl_id, row, None)) for row in ended if row]
            return _history(store, text, traces, [pid]), {}
        url = with_scheme(store, text)
        rows = _rows(store, crawls, [page_id(url), image_id(url)])  # one URL may be both
        at_rest = any(row.spec.seeds for row in crawls) and not _is_final(crawls, rows)
        queued_crawls, why_not = read_queue(backends, host_of(url), list(rows), at_rest=at_rest)
        judge = Judge(backends, store, queued_crawls, why_not, url, search_all)
        shown = text if "://" in text else url
        traces = []
        waits: dict[str, tuple[WaitingHost, datetime]] = {}
        for crawl, (pid, of_page) in product(crawls, rows.items()):
            name = crawl.spec.crawl_id
            row = of_page.get(name)
            queued = queued_crawls[name].urls.get(pid) if name in queued_crawls else None
            if queued and queued.state == SPILLED and row:
                queued = None  # the URL ended; others of its host wait in the store
            if not (row or queued):
                continue
            waits_for = _waits_for(judge, crawl.spec, url, queued) if queued else ""
            if queued and queued.wait and not waits_for:
                waits_for = f"{host_of(url)}: {wait_text(*queued.wait)}"
                waits[waits_for] = queued.wait
            traces.append(_trace(store, shown, page_id(url), (name, row, queued), waits_for))
        if traces:
            return _history(store, shown, traces, list(rows)), waits
        not_taken = _not_taken(judge, crawls)
        return UrlHistory(url=url, traces=(), not_taken=not_taken, topics=(), story=None), {}


def _history(store: Store, url: str, traces: Sequence[UrlTrace], ids: Sequence[str]) -> UrlHistory:
    """The way of a URL that crawls know; the first id is that of the page."""
    return UrlHistory(
        url=url,
        traces=tuple(traces),
        not_taken=(),
        topics=tuple(topic_verdicts(store, ids)),
        story=story_of(store, ids[0]),
    )


def _rows(store: Store, crawls: Collection[CrawlRow], ids: Sequence[str]) -> dict[str, Rows]:
    """The row of each crawl by page id."""
    names = [row.spec.crawl_id for row in crawls]
    return {pid: {row.crawl_id: row for row in store.urls.rows(pid, names)} for pid in ids}


def _is_final(crawls: Collection[CrawlRow], rows: Mapping[str, Rows]) -> bool:
    """Whether the store alone knows all steps: the URL ended well in crawls that are finished."""
    finished = {row.spec.crawl_id for row in crawls if row.state is CrawlState.FINISHED}
    ends = [row for of_page in rows.values() for row in of_page.values()]
    return bool(ends) and all(
        row.state not in UNCERTAIN and row.crawl_id in finished for row in ends
    )


def _all_steps(row: UrlRow | None, queued: QueuedUrl | None) -> tuple[Step, ...]:
    """The log of a URL; that of a revisit begins with the log of the visit that is stored."""
    if queued is None:
        return row.log if row else ()
    is_again = any(step.step == DUE_AGAIN for step in queued.steps)
    return (*row.log, *queued.steps[1:]) if row and is_again else queued.steps


def _waits_for(judge: Judge, spec: CrawlSpec, url: str, queued: QueuedUrl) -> str:
    """What must change before a URL is fetched; ``""`` when nothing must."""
    if queued.state in WAITING and url not in spec.seeds:
        refused = judge.refusal(spec, None)
        if refused and refused[0] in (Cause.ROBOTS, Cause.URL_CLASS):
            return f"it will end without a request: {refused[1]}"
    return queued.waits_for


def _trace(
    store: Store,
    url: str,
    pid: str,
    found: tuple[str, UrlRow | None, QueuedUrl | None],
    waits_for: str = "",
) -> UrlTrace:
    """The way of a URL; ``found`` is the crawl, and what the store and the queue have of it."""
    crawl, row, queued = found
    last_ms = store.urls.response_times(crawl, [pid]).get(pid)
    next_visit, visits = store.revisits.schedule(pid, crawl) or (None, None)
    return UrlTrace(
        url=url,
        crawl=crawl,
        state=queued.state if queued else str(row.state) if row else "",
        referrer=row.referrer if row else None,
        link_text=row.link_text if row else "",
        steps=_all_steps(row, queued),
        visits_again=visits.visits if visits else 0,
        last_visit=None if last_ms is None else from_microseconds(last_ms * 1000),
        next_visit=next_visit,
        waits_for=waits_for,
    )


def _not_taken(judge: Judge, crawls: Collection[CrawlRow]) -> tuple[UnknownUrl, ...]:
    """Returns why the crawls in whose scope a URL lies do not know it; all when there is none."""
    specs = [row.spec for row in crawls]
    wanted = [spec for spec in specs if judge.is_in_scope(spec)] or specs
    return tuple(
        judge.not_taken(spec, is_searched=number < MOST_SEARCHED)
        for number, spec in enumerate(wanted)
    )
