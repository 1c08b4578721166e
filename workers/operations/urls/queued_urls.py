"""What the queue knows about a URL, and why a crawl did not take it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import inf
from typing import TYPE_CHECKING

from msgspec import structs

from crawlclean import __dist__
from crawlclean.cleaning.errors import InvalidUrl, ServiceError
from crawlclean.cleaning.messages import Message
from crawlclean.cleaning.records import Outlink, Via
from crawlclean.cleaning.urls.normal_form import host_of, is_asset, page_id
from crawlclean.cleaning.urls.patterns import without_session
from crawlclean.cleaning.urls.url_choice import UrlChoice
from crawlclean.storage.crawl_types import (
    MAX_HOPS,
    CrawlSpec,
    CrawlState,
    Scope,
    Step,
    UrlRow,
    UrlState,
)
from crawlclean.storage.live_state import WaitingHost
from crawlclean.storage.store.hosts import KeptRules
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.records import Inlink
from crawlclean.workers.answers.crawls import Cause, LinkedFrom, UnknownUrl
from crawlclean.workers.hooks.calling import HookCalls
from crawlclean.workers.jobs.url_classes import MOVED, HostUrlRules, unpacked_rules
from crawlclean.workers.jobs.url_filter import HOPS, Refusal, UrlFilter
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.controlling.crawl_states import pause_text

if TYPE_CHECKING:
    from crawlclean.storage.queue.frontier import Frontier


# What the queue knows about one URL: its state in each crawl, and the rules of its host.
#
# A queue at rest is opened for the time of reading only: a `run` that begins meanwhile is refused.

SPILLED = "pending, in the store"
DUE_AGAIN = "due again"
WAITING = frozenset({"pending", "retry", SPILLED, DUE_AGAIN})


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedUrl:
    """A URL in the queue of a crawl.

    Attributes:
        state: ``pending``, ``leased``, ``queued``, ``claimed``, ``retry``, or ``pending, in the
            store``, ``due again``.
        steps: Its decision log so far, oldest first.
        waits_for: What must change before a pending URL is fetched: ``--max-pages 5 is reached``;
            ``""`` when nothing must.
        wait: What its host waits for then, and at which moment; else None.
    """

    state: str
    steps: tuple[Step, ...] = ()
    waits_for: str = ""
    wait: tuple[WaitingHost, datetime] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedCrawl:
    """What the queue knows of a crawl, for one URL.

    Attributes:
        urls: The URL by page id, where the queue holds it.
        seen: Page ids that were offered to the crawl at some time.
        more_hosts: Hosts in scope that its seeds redirect to.
        rules: The rules of the URL's host; None when the crawl does not know the host.
    """

    urls: Mapping[str, QueuedUrl] = field(default_factory=dict)
    seen: Collection[str] = ()
    more_hosts: Collection[str] = ()
    rules: KeptRules | None = None


def read_queue(
    backends: Backends, host: str, page_ids: Sequence[str], *, at_rest: bool
) -> tuple[Mapping[str, QueuedCrawl], str]:
    """Returns what the queue knows about a URL, by crawl; and why the queue was not read.

    A crawl that the queue has lost is left out. Why is ``the queue is lost``, or ``""``: it was.

    Args:
        backends: The queue.
        host: Lower-case authority of the URL.
        page_ids: Its ids, as page and as image.
        at_rest: Whether a command may start a server where no crawl runs.
    """
    try:
        with backends.queue_side(at_rest=at_rest) as side:
            if side.frontier is None:
                return {}, side.why_not
            frontier, knowing = side.frontier, side.frontier.crawls_of(host)
            crawls = {}
            for crawl in frontier.crawl_ids():
                ids = page_ids if crawl in knowing else ()
                found = {
                    pid: _url(frontier, (crawl, host), pid, is_running=side.is_running)
                    for pid in ids
                }
                crawls[crawl] = QueuedCrawl(
                    urls={pid: queued for pid, queued in found.items() if queued},
                    seen=[pid for pid in ids if frontier.has_seen(crawl, pid)],
                    more_hosts=frontier.more_hosts(crawl),
                    rules=frontier.classes.known(crawl, host) if ids else None,
                )
            return crawls, ""
    except ServiceError as error:
        return {}, str(error)


def _url(
    frontier: Frontier, place: tuple[str, str], pid: str, *, is_running: bool
) -> QueuedUrl | None:
    """A URL of a crawl that knows its host; ``place`` is crawl and host."""
    crawl, host = place
    found = frontier.trace(crawl, pid, host)
    if found is None:
        if not (frontier.has_seen(crawl, pid) and frontier.has_overflow(crawl, host)):
            return None
        found = SPILLED, ()  # or ended long ago: the store knows
    state, steps = found
    state = DUE_AGAIN if state == "revisit" else state
    waits_for, wait = "", None
    if state in WAITING:
        waits_for = _waits_for(frontier, crawl, host, is_running)
        if not waits_for:
            waits = frontier.waits.of([place])
            wait = waits.hosts[0], waits.at
    return QueuedUrl(state=state, steps=steps, waits_for=waits_for, wait=wait)


def _waits_for(frontier: Frontier, crawl: str, host: str, is_running: bool) -> str:
    counts, topic = frontier.counts(crawl), frontier.spec(crawl).topic
    command = f"`topic {topic}`" if topic else "`run` with the same URLs"
    is_at_rest = not is_running or bool(topic and counts.state is CrawlState.STOPPED)
    pause = next((each for each in frontier.pauses() if each.host == host), None)
    noted = f" {pause_text(pause)}" if pause else ""
    reasons = [
        (counts.state is CrawlState.PAUSED, f"the crawl is paused (`crawl resume {crawl}`)"),
        (
            counts.budget_left == 0,
            f"--max-pages {frontier.spec(crawl).max_pages} is reached",
        ),
        (bool(pause), f"the host is paused (`crawl resume {host}` ends the pause){noted}"),
        (is_at_rest, f"nothing runs the {'topic' if topic else 'crawl'}; {command} resumes it"),
    ]
    return "; ".join(text for holds, text in reasons if holds)


# Why a crawl did not take a URL, and which of its pages link to the URL.
#
# A URL that a link leads to is judged by the same filter as in the crawl (``jobs/url_filter.py``),
# with the rules of its host from the queue, or from the store when the queue is away.

MOST_PAGES = 3  # named as examples
MOST_SEEDS = 1000  # whose redirects are followed
MOST_REDIRECTS = 2000  # of a host, that are searched for the URL


REFUSALS = {
    Refusal.OUT_OF_SCOPE: (Cause.OUT_OF_SCOPE, "out_of_scope"),
    Refusal.SAME_PAGE: (Cause.CANONICAL, "same_page"),
    Refusal.TOO_LONG: (Cause.TOO_LONG, "too_long"),
    Refusal.REPEATED_SEGMENTS: (Cause.TRAP, "repeated_segments"),
    Refusal.TOO_MANY_SEGMENTS: (Cause.TRAP, "too_many_segments"),
    Refusal.NESTED_ADDRESS: (Cause.TRAP, "nested_address"),
    Refusal.TOO_MANY_PARAMETERS: (Cause.TRAP, "too_many_parameters"),
}
"""Refusals whose messages have no values."""


_NOT_SEARCHED = LinkedFrom(pages=0, nearest=(), records_searched=0, is_whole=True, capped=())


class Judge:
    """Judges one URL for the crawls of a store; reads what it needs once."""

    def __init__(
        self,
        backends: Backends,
        store: Store,
        queued: Mapping[str, QueuedCrawl],
        why_not_queue: str,
        url: str,
        search_all: Callable[[int], None] | None = None,
    ) -> None:
        """Knows all that it reads of; nothing is read yet.

        Args:
            backends: Queue and store.
            store: The store.
            queued: What the queue knows about the URL, as ``read_queue`` returned it.
            why_not_queue: Why the queue was not read.
            url: The URL, in normal form.
            search_all: Lets the search of links take as long as all records need, and is called
                with the number of records of each step.
        """
        self._settings = backends.settings
        self._store = store
        self._queued = queued
        self._why_not_queue = why_not_queue
        self._url = url
        self._host = host_of(url)
        self._deadline = inf if search_all else time.monotonic() + backends.search_s
        self._progress = search_all or (lambda _records: None)
        self._is_robots_unread = False
        self._hooks = HookCalls(backends.hooks())

    def refusal(
        self, spec: CrawlSpec, depth: int | None, links: Sequence[Inlink] = ()
    ) -> tuple[Cause, str] | None:
        """Returns why a crawl refuses the URL; None when it does not.

        Args:
            spec: Of the crawl.
            depth: Of the URL; None: any.
            links: The links to it that link filters judge; none: a link without text.
        """
        if not spec.seeds:
            crawls = self._store.statistics.crawls_of([self._host]).get(self._host, ())
            cause = Cause.NOT_IMPORTED if spec.crawl_id in crawls else Cause.OUT_OF_SCOPE
            return cause, Message("import")
        rules = self._rules(spec)
        own = unpacked_rules(self._host, rules)
        known = self._known(spec.crawl_id)
        more_hosts = {*known.more_hosts, *self._moved_seeds(spec)}
        if spec.scope is Scope.TOPIC and known.rules is not None:
            more_hosts.add(self._host)  # the crawl has taken the host
        allows, why_forbidden = self._robots(rules.robots)
        if depth is None:
            spec = replace(spec, max_depth=None)
        found = UrlFilter(spec, more_hosts, allows, own).refusal(
            self._url, 1 if depth is None else depth
        )
        other = self._other_form(own) if spec.trap_pages else None
        if other and found in (None, Refusal.STOPPED_CLASS):
            return other
        if found is None:
            return self._refused_by_hook(links)
        if found in REFUSALS:
            cause, key = REFUSALS[found]
            return cause, Message(key)
        if found is Refusal.FORBIDDEN:
            return Cause.ROBOTS, why_forbidden()
        if found is Refusal.STOPPED_CLASS:
            return Cause.URL_CLASS, Message("stopped", own.why_refused(self._url))
        if found in (Refusal.EXCLUDED, Refusal.NOT_INCLUDED):
            choice = UrlChoice(spec.include, spec.exclude)
            return Cause(found.name.lower()), choice.reason(self._url)
        if found is Refusal.TOO_DEEP:
            return Cause.TOO_DEEP, Message("too_deep", spec.max_depth or 0)
        return Cause.REFUSED, found.value.replace("_", " ")

    def _refused_by_hook(self, links: Sequence[Inlink]) -> tuple[Cause, str] | None:
        """Why link filters refuse every one of the links; None when they keep one."""
        found = [
            (Outlink(url=self._url, via=each.via, text=each.text), each.url) for each in links
        ] or [(Outlink(url=self._url, via=Via.LINK), "")]
        reasons = [self._hooks.refusal(outlink, page_url) for outlink, page_url in found]
        if not all(reasons):
            return None
        return Cause.LINK_FILTER, Message("link_filter", reasons[0] or "")

    def is_in_scope(self, spec: CrawlSpec) -> bool:
        """Whether the URL lies in the scope of a crawl; every image of its pages does."""
        refused = self.refusal(spec, None)
        is_image = spec.images and is_asset(self._url)
        return is_image or refused is None or refused[0] is not Cause.OUT_OF_SCOPE

    def not_taken(self, spec: CrawlSpec, *, is_searched: bool) -> UnknownUrl:
        """Returns why a crawl does not know the URL; ``is_searched``: with the links to it."""
        found, links = self._links(spec) if is_searched else (_NOT_SEARCHED, [])
        offered = [link for link, is_offered in links if is_offered]
        depth = min((_depth_of(link) for link in offered), default=None)
        refused = self.refusal(spec, depth, offered)
        cause, reason = refused or self._without_refusal(spec, found)
        if spec.images and is_asset(self._url) and cause in (Cause.OUT_OF_SCOPE, Cause.FILE):
            cause, reason = Cause.NOT_CONTENT, Message("no_content_image")
        return UnknownUrl(
            url=self._url,
            crawl=spec.crawl_id,
            cause=cause,
            reason=reason,
            unknown=self._unknown(spec, cause),
            linked_from=found,
            did_you_mean=(),
        )

    def _without_refusal(self, spec: CrawlSpec, found: LinkedFrom) -> tuple[Cause, str]:
        if is_asset(self._url):
            return Cause.FILE, Message("file")
        if self._url in spec.seeds:
            return Cause.SEED, Message("seed")
        if found.nearest and all(link.via is Via.CANONICAL for link in found.nearest):
            return Cause.CANONICAL, Message("same_page")
        if not found.nearest:
            if found.is_whole:
                return Cause.NOT_LINKED, Message("not_linked")
            return Cause.NOT_LINKED, Message("not_linked_of", found.records_searched)
        if page_id(self._url) in self._known(spec.crawl_id).seen:
            return Cause.LINKED, Message("was_queued")
        return Cause.LINKED, Message("refused_before")

    def _unknown(self, spec: CrawlSpec, cause: Cause) -> str:
        """What was not read, for a cause that this might change."""
        is_decided = cause not in (Cause.NOT_LINKED, Cause.LINKED, Cause.SEED)
        if is_decided or not spec.seeds:  # imported pages have no queue
            return ""
        found = []
        if self._is_robots_unread:
            found.append(f"whether robots.txt forbids it: `pip install '{__dist__}[crawl]'`")
        if self._why_not_queue:
            found.append(f"whether it waits in the queue: {self._why_not_queue}")
        elif spec.crawl_id not in self._queued:
            recover = f"`crawl recover {spec.crawl_id}` rebuilds it"
            found.append(f"whether it waits in the queue, which has lost this crawl ({recover})")
        return "; ".join(found)

    def _known(self, crawl: str) -> QueuedCrawl:
        return self._queued.get(crawl, QueuedCrawl())

    def _rules(self, spec: CrawlSpec) -> KeptRules:
        """The rules of the host, of the queue before those of the store."""
        queued = self._known(spec.crawl_id).rules
        if queued is not None and queued.robots is not None:
            return queued
        stored = self._store.rules.get(spec.crawl_id, self._host) or KeptRules()
        return stored if queued is None else structs.replace(queued, robots=stored.robots)

    def _robots(self, text: str | None) -> tuple[Callable[[str, str], bool], Callable[[], str]]:
        """(whether the rules of the host allow a URL, why they do not)."""
        if not text:
            return lambda _host, _url: True, str
        try:  # their parser is absent without the extra `crawl`
            from crawlclean.crawler.robots import RobotsRules, user_agent
        except ModuleNotFoundError:
            self._is_robots_unread = True
            return lambda _host, _url: True, str
        rules = RobotsRules(user_agent(self._settings.crawl))
        rules.learn(self._host, 0, text)
        return (
            lambda host, url: rules.allow(host, 0, url),
            lambda: rules.refusal(self._host, 0, self._url),
        )

    def _other_form(self, own: HostUrlRules) -> tuple[Cause, str] | None:
        """The form in which crawls follow links to the URL, when it differs."""
        form = without_session(self._url)
        form = own.better_form(form) or form
        if form == self._url:
            return None
        return Cause.OTHER_FORM, Message("other_form", form)

    def _moved_seeds(self, spec: CrawlSpec) -> set[str]:
        """Hosts that the seeds redirect to, as the store has it."""
        hosts = set()
        for seed in spec.seeds[:MOST_SEEDS]:
            url = seed
            for _ in range(MAX_HOPS):
                row = self._row(url, spec.crawl_id)
                url = _target_of(row) if row else ""
                if not url:
                    break
                hosts.add(host_of(url))
        return hosts

    def _row(self, url: str, crawl: str) -> UrlRow | None:
        with suppress(InvalidUrl):
            return next(iter(self._store.urls.rows(page_id(url), [crawl])), None)
        return None

    def _links(self, spec: CrawlSpec) -> tuple[LinkedFrom, list[tuple[Inlink, bool]]]:
        """The pages that link to the URL, and the nearest links, each with whether it is offered.

        The host of the URL is searched first.
        """
        links: dict[str, tuple[Inlink, bool]] = {}
        capped: dict[str, None] = {}
        records, is_whole = 0, True
        for link in self._redirects(spec.crawl_id):
            links.setdefault(link.url, (link, True))
        for host in self._searched_hosts(spec.crawl_id):
            records = 0
            for read, inlinks, more in self._store.records.links_to(self._url, spec.crawl_id, host):
                records += read
                self._progress(read)
                capped.update(dict.fromkeys(more))
                for link, is_offered in inlinks:
                    links.setdefault(link.url, (link, is_offered))
                if time.monotonic() > self._deadline:
                    is_whole = False
                    break
        nearest = sorted(links.values(), key=lambda each: (not each[1], _depth_of(each[0])))
        nearest = nearest[:MOST_PAGES]
        found = LinkedFrom(
            pages=len(links),
            nearest=tuple(link for link, _ in nearest),
            records_searched=records,
            is_whole=is_whole,
            capped=tuple(capped)[:MOST_PAGES],
        )
        return found, nearest

    def _searched_hosts(self, crawl: str) -> list[str | None]:
        """The host of the URL; then None, which is all hosts, when the crawl has others."""
        hosts = self._store.statistics.hosts_of(crawl, limit=2)
        return [None] if hosts == [self._host] else [self._host, None]

    def _redirects(self, crawl: str) -> Iterator[Inlink]:
        """Redirects of the host that lead to the URL."""
        rows = self._store.urls.sample(crawl, self._host, UrlState.REDIRECT, MOST_REDIRECTS)
        for row in rows:
            if _target_of(row) == self._url:
                yield Inlink(url=row.url, via=Via.REDIRECT, text="", depth=row.depth)


def _depth_of(link: Inlink) -> int:
    """Depth of the URL that a link leads to."""
    return link.depth + (link.via not in HOPS)


def _target_of(row: UrlRow) -> str:
    """Target of a URL that redirects; ``""`` for any other."""
    return next((step.detail for step in row.log if step.step == MOVED), "")
