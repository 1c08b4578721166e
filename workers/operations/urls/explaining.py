"""Explains a URL: its steps in every crawl that knows it, or why no crawl took it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import islice, product

from crawlclean.cleaning.urls.normal_form import host_of, page_id
from crawlclean.storage.crawl_types import CrawlRow, CrawlState, Step, UrlRow, UrlState
from crawlclean.storage.live_state import HostWait
from crawlclean.storage.store.pictures import image_id
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.rows import from_microseconds
from crawlclean.workers.answers.crawls import Cause
from crawlclean.workers.answers.topics import StoryLine, TopicVerdict
from crawlclean.workers.config import Settings
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.reading import find_page, is_page_id
from crawlclean.workers.operations.topics.told_stories import story_of
from crawlclean.workers.operations.topics.verdicts import topic_verdicts
from crawlclean.workers.operations.urls.near_matches import near_urls, with_scheme
from crawlclean.workers.operations.urls.queued_urls import (
    DUE_AGAIN,
    SPILLED,
    WAITING,
    Judge,
    NotTaken,
    QueueAnswer,
    QueuedUrl,
    read_queue,
)

MOST_SEARCHED = 5  # crawls whose records are searched for links
UNCERTAIN = frozenset({UrlState.FAILED, UrlState.EXCLUDED})  # `retry` may have queued them again
Rows = Mapping[str, UrlRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The way of a URL through one crawl that knows it.

    Attributes:
        crawl: Name of the crawl.
        state: State it reached (``record``), or its state in the queue (``pending``).
        referrer: Page it was found on; None for a seed, and while the URL is only in the queue.
        link_text: Text of the link there.
        steps: Its decision log, oldest first.
        visits_again: Visits after the first one that found the page.
        last_visit: End of the last response that showed the page; None before its end.
        next_visit: When the page is due again; None: not by a schedule.
        waits_for: What must change before a pending URL is fetched; ``""`` when nothing must.
        wait: What the host of a pending URL waits for at this moment, then; else None.
        at: The moment.
    """

    crawl: str
    state: str
    referrer: str | None
    link_text: str
    steps: tuple[Step, ...]
    visits_again: int = 0
    last_visit: datetime | None = None
    next_visit: datetime | None = None
    waits_for: str = ""
    wait: HostWait | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The way of a URL through all crawls; ``not_taken`` is filled when no crawl knows the URL.

    Attributes:
        url: The URL; as given when a crawl knows it, else in normal form.
        traces: One for each crawl that knows the URL.
        not_taken: One for each crawl that has the URL in its scope, or for all crawls when none
            has. A list of sites makes hundreds of crawls.
        near: Known URLs that are like an unknown one; of ``explain_url`` alone.
        topics: What topics hold of the page.
        story: Its story, when other pages tell it too.
    """

    url: str
    traces: tuple[Trace, ...]
    not_taken: tuple[NotTaken, ...] = ()
    near: tuple[str, ...] = ()
    topics: tuple[TopicVerdict, ...] = ()
    story: StoryLine | None = None


def explain_url(
    settings: Settings, text: str, search_all: Callable[[int], None] | None = None
) -> Explanation:
    """Returns every step of a URL in every crawl, or for each crawl why it was not taken.

    A queue at rest is opened only when it can change the answer.

    Args:
        settings: Where store and queue are.
        text: A URL, with or without scheme, or the beginning of a page id: ``4f1193``.
        search_all: Searches all records for links to an unknown URL, however long that takes, and
            is called with the number of records of each step; None: ``search_s`` are enough.

    Raises:
        NotFound: No page has this id.
        InvalidUrl: The text is not an http(s) URL.
    """
    with Backends(settings) as backends, backends.store() as store:
        found = explain_from(backends, text, search_all)
        if not found.not_taken:
            return found
        seeds = (host_of(each) for row in store.crawls.all() for each in row.spec.seeds)
        return replace(found, near=tuple(near_urls(store, found.url, seeds)))


def explain_from(
    backends: Backends, text: str, search_all: Callable[[int], None] | None = None
) -> Explanation:
    """Returns what ``explain_url`` does but for near URLs.

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
            ids = [find_page(store, text)]
            return Explanation(
                url=text,
                traces=_with_visits(
                    store, ids[0], _stored_traces(crawls, _rows(store, crawls, ids))
                ),
                topics=tuple(topic_verdicts(store, ids)),
                story=story_of(store, ids[0]),
            )
        url = with_scheme(store, text)
        rows = _rows(store, crawls, [page_id(url), image_id(url)])  # one URL may be both
        at_rest = any(row.spec.seeds for row in crawls) and not _is_final(crawls, rows)
        queue = read_queue(partial(backends.queue_side, at_rest=at_rest), host_of(url), list(rows))
        judge = Judge(backends, store, queue, url)
        traces = tuple(_traces(judge, crawls, rows, queue, url))
        traces = _with_visits(store, page_id(url), traces)
        if traces:
            return Explanation(
                url=text if "://" in text else url,
                traces=traces,
                topics=tuple(topic_verdicts(store, rows)),
                story=story_of(store, page_id(url)),
            )
        if search_all:
            judge.search_all(search_all)
        return Explanation(url=url, traces=(), not_taken=_not_taken(judge, crawls))


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


def _with_visits(store: Store, pid: str, traces: Sequence[Trace]) -> tuple[Trace, ...]:
    """Adds what the store knows of the visits of a page in each crawl."""
    return tuple(_with_visit(store, pid, trace) for trace in traces)


def _with_visit(store: Store, pid: str, trace: Trace) -> Trace:
    last_ms = store.urls.response_times(trace.crawl, [pid]).get(pid)
    last_visit = None if last_ms is None else from_microseconds(last_ms * 1000)
    schedule = store.revisits.schedule(pid, trace.crawl)
    if schedule is None:
        return replace(trace, last_visit=last_visit)
    next_visit, visits = schedule
    return replace(trace, visits_again=visits.visits, last_visit=last_visit, next_visit=next_visit)


def _all_steps(row: UrlRow | None, queued: QueuedUrl | None) -> tuple[Step, ...]:
    """The log of a URL; that of a revisit begins with the log of the visit that is stored."""
    if queued is None:
        return row.log if row else ()
    is_again = any(step.step == DUE_AGAIN for step in queued.steps)
    return (*row.log, *queued.steps[1:]) if row and is_again else queued.steps


def _stored_traces(crawls: Collection[CrawlRow], rows: Mapping[str, Rows]) -> tuple[Trace, ...]:
    return tuple(
        _trace(crawl.spec.crawl_id, row, None)
        for crawl, of_page in product(crawls, rows.values())
        if (row := of_page.get(crawl.spec.crawl_id))
    )


def _traces(
    judge: Judge,
    crawls: Collection[CrawlRow],
    rows: Mapping[str, Rows],
    queue: QueueAnswer,
    url: str,
) -> Iterator[Trace]:
    for crawl, (pid, of_page) in product(crawls, rows.items()):
        name = crawl.spec.crawl_id
        row = of_page.get(name)
        queued = queue.crawls[name].urls.get(pid) if name in queue.crawls else None
        if queued and queued.state == SPILLED and row:
            queued = None  # the URL ended; others of its host wait in the store
        if not (row or queued):
            continue
        waits_for = queued.waits_for if queued else ""
        if queued and queued.state in WAITING and url not in crawl.spec.seeds:
            refused = judge.refusal(crawl.spec, None)
            if refused and refused[0] in (Cause.ROBOTS, Cause.URL_CLASS):
                waits_for = f"it will end without a request: {refused[1]}"
        yield _trace(name, row, queued, waits_for)


def _trace(crawl: str, row: UrlRow | None, queued: QueuedUrl | None, waits_for: str = "") -> Trace:
    return Trace(
        crawl=crawl,
        state=queued.state if queued else str(row.state) if row else "",
        referrer=row.referrer if row else None,
        link_text=row.link_text if row else "",
        steps=_all_steps(row, queued),
        waits_for=waits_for,
        wait=queued.wait if queued and not waits_for else None,
        at=queued.at if queued else None,
    )


def _not_taken(judge: Judge, crawls: Collection[CrawlRow]) -> tuple[NotTaken, ...]:
    """Returns why the crawls in whose scope a URL lies do not know it; all when there is none."""
    wanted = [row for row in crawls if judge.is_in_scope(row.spec)] or crawls
    searched = set(islice((row.spec.crawl_id for row in wanted), MOST_SEARCHED))
    return tuple(judge.not_taken(row, is_searched=row.spec.crawl_id in searched) for row in wanted)
