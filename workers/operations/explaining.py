"""Explains a URL: its steps in every crawl that knows it, or why no crawl took it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from itertools import product

from cleaning.errors import ServiceError
from cleaning.records import Outlink, Via
from cleaning.urls.normal_form import host_of, is_asset, normalize
from cleaning.urls.url_choice import UrlChoice
from crawler.robots import RobotsRules
from crawler.settings import user_agent
from storage.crawl_types import CrawlRow, CrawlSpec, CrawlState, Step, UrlRow
from storage.opening import join_queue
from storage.queue.frontier import Frontier
from storage.store.images import image_id
from workers.config import Settings
from workers.hooks.calling import HookCalls
from workers.hooks.loading import load_hooks
from workers.jobs.url_classes import host_rules
from workers.jobs.url_filter import Refusal, UrlFilter
from workers.operations.backends import existing_store
from workers.operations.reading import find_page, is_page_id

NOT_CONTENT = (
    "no cleaned page shows it as a content image (`model HOST --why URL` shows its kinds on pages)"
)
REFUSALS = {
    Refusal.OUT_OF_SCOPE: "out of the crawl's scope",
    Refusal.TOO_DEEP: "deeper than --depth",
    Refusal.EXCLUDED: "excluded by --exclude",
    Refusal.NOT_INCLUDED: "no --include matches it",
    Refusal.FORBIDDEN: "forbidden by robots.txt",
    Refusal.SAME_PAGE: "another URL of a page that was fetched",
    Refusal.TOO_MANY_HOPS: "behind too many redirects or frames in a row",
    Refusal.TOO_LONG: "longer than 4,096 characters",
    Refusal.REPEATED_SEGMENTS: "looks like a trap: its folders repeat",
    Refusal.TOO_MANY_SEGMENTS: "looks like a trap: more than 20 folders",
    Refusal.NESTED_ADDRESS: "looks like a trap: a parameter is nested in itself",
    Refusal.TOO_MANY_PARAMETERS: "looks like a trap: more than 30 parameters",
    Refusal.STOPPED_CLASS: "of a URL class that is not fetched (`traps` and `classes` show why)",
    Refusal.LINK_FILTER: "refused by a link filter of another package",
    Refusal.NOT_AN_ADDRESS: "not an http(s) URL",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The way of a URL through one crawl that knows it.

    Attributes:
        crawl: Name of the crawl.
        state: State it reached (``record``), or its state in the queue (``pending``).
        referrer: Page it was found on; None for a seed, and while the URL is only in the queue.
        link_text: Text of the link there.
        steps: Its decision log, oldest first.
    """

    crawl: str
    state: str
    referrer: str | None
    link_text: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NotTaken:
    """Why one crawl does not know a URL.

    Attributes:
        crawl: Name of the crawl.
        reason: As ``deeper than --depth``.
        in_scope: Whether the URL lies in the scope of the crawl.
    """

    crawl: str
    reason: str
    in_scope: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The way of a URL through all crawls; ``not_taken`` is filled when no crawl knows the URL.

    Attributes:
        url: As given when a crawl knows the URL, else normalized.
        traces: One for each crawl that knows the URL.
        not_taken: One for each crawl that has the URL in its scope, or for all crawls when none
            has. A list of sites makes hundreds of crawls.
    """

    url: str
    traces: tuple[Trace, ...]
    not_taken: tuple[NotTaken, ...] = ()


def explain_url(settings: Settings, url: str) -> Explanation:
    """Returns every step of a URL in every crawl, or for each crawl why it was not taken.

    Args:
        settings: Where store and queue are; without a running queue only the store is read.
        url: A URL, or the beginning of a page id: ``4f1193``.

    Raises:
        NotFound: No page has this id.
        InvalidUrl: The text is not an http(s) URL.
    """
    with existing_store(settings) as store:
        ids = [find_page(store, url)]
        if not is_page_id(url):
            ids.append(image_id(url))  # one URL may be a page and an image
        rows = [(pid, {row.crawl_id: row for row in store.urls.rows(pid)}) for pid in ids]
        try:
            frontier = join_queue(settings.storage)
        except ServiceError:
            frontier = None
        with closing(frontier) if frontier else nullcontext():
            crawls = list(store.crawls.all())
            traces = tuple(_traces(frontier, url, crawls, rows))
            if traces:
                return Explanation(url=url, traces=traces)
            normal = normalize(url)
            not_taken = list(_not_taken(settings, crawls, frontier, normal))
    in_scope = tuple(each for each in not_taken if each.in_scope)
    return Explanation(url=normal, traces=(), not_taken=in_scope or tuple(not_taken))


def _traces(
    frontier: Frontier | None,
    url: str,
    crawls: Collection[CrawlRow],
    found: list[tuple[str, dict[str, UrlRow]]],
) -> Iterator[Trace]:
    for crawl, (pid, rows) in product(crawls, found):
        crawl_id = crawl.spec.crawl_id
        row = rows.get(crawl_id)
        live = _live_trace(frontier, crawl_id, pid, url, is_done=row is not None)
        if row is None and live is None:
            continue
        state, steps = live or (str(row.state) if row else "", row.log if row else ())
        yield Trace(
            crawl=crawl_id,
            state=state,
            referrer=row.referrer if row else None,
            link_text=row.link_text if row else "",
            steps=steps,
        )


def _live_trace(
    frontier: Frontier | None, crawl_id: str, pid: str, url: str, *, is_done: bool
) -> tuple[str, tuple[Step, ...]] | None:
    """(state, steps) of a URL in a running queue; None when the queue does not hold it."""
    if frontier is None or is_page_id(url):
        return None
    host = host_of(url)
    found = frontier.trace(crawl_id, pid, host)
    if found or is_done or not frontier.has_overflow(crawl_id, host):
        return found
    return ("pending, in the store", ()) if frontier.has_seen(crawl_id, pid) else None


def _not_taken(
    settings: Settings, crawls: Collection[CrawlRow], frontier: Frontier | None, url: str
) -> Iterator[NotTaken]:
    """Yields for each crawl why it does not know a normalized URL."""
    filter_of = _url_filters(settings, frontier, host_of(url))
    hooks = HookCalls(load_hooks(settings))
    for crawl in crawls:
        refusal = filter_of(replace(crawl.spec, max_depth=None)).refusal(url, 1)
        if crawl.spec.images and is_asset(url):
            refusal, reason = None, NOT_CONTENT
        elif refusal:
            reason = _reason(crawl.spec, refusal, url)
        elif is_asset(url):
            reason = "not followed: it names a file, not a page"
        elif url in crawl.spec.seeds:
            reason = "it is a seed that was not fetched yet"
        elif by := hooks.refusal(Outlink(url=url, via=Via.LINK), ""):
            reason = f"refused by the link filter {by}"
        elif frontier is None and crawl.state is not CrawlState.FINISHED:
            reason = "no cleaned page links to it, or it waits in the queue, which is not running"
        else:
            reason = "no cleaned page links to it"
        yield NotTaken(
            crawl=crawl.spec.crawl_id,
            reason=reason,
            in_scope=refusal is not Refusal.OUT_OF_SCOPE,
        )


def _reason(spec: CrawlSpec, refusal: Refusal, url: str) -> str:
    """Why a crawl refused a URL, as ``excluded by --exclude /tag/``."""
    if refusal in (Refusal.EXCLUDED, Refusal.NOT_INCLUDED):
        return UrlChoice(spec.include, spec.exclude).reason(url)
    return REFUSALS[refusal]


def _url_filters(
    settings: Settings, frontier: Frontier | None, host: str
) -> Callable[[CrawlSpec], UrlFilter]:
    """Returns a function that makes the URL filter of a crawl, as workers use it for a host."""
    robots = RobotsRules(user_agent(settings.crawl))

    def allows(of_host: str, url: str) -> bool:
        if frontier and not robots.known(of_host, 0):
            robots.learn(of_host, 0, frontier.robots(of_host) or "")
        return robots.allow(of_host, 0, url)

    def filter_of(spec: CrawlSpec) -> UrlFilter:
        if frontier is None:
            return UrlFilter(spec, (), allows)
        more_hosts = frontier.more_hosts(spec.crawl_id)
        return UrlFilter(spec, more_hosts, allows, host_rules(frontier, spec.crawl_id, host))

    return filter_of
