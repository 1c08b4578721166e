"""The URL filter of a crawl: which outlinks enter the frontier, and why the others do not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from msgspec.structs import replace

from crawlclean.cleaning.errors import InvalidUrl
from crawlclean.cleaning.records import LinkKind, Outlink, Via
from crawlclean.cleaning.urls.normal_form import domain_of, host_of, normal_page_id
from crawlclean.cleaning.urls.patterns import TrapSign, find_trap_sign, without_session
from crawlclean.cleaning.urls.url_choice import UrlChoice
from crawlclean.storage.crawl_types import MAX_HOPS, CrawlSpec, Discovery, Scope
from crawlclean.storage.queue.counters import Counter
from crawlclean.storage.queue.entries import MAX_URL_CHARS
from crawlclean.workers.hooks.calling import HookCalls
from crawlclean.workers.jobs.url_classes import HostUrlRules

if TYPE_CHECKING:  # `why` judges URLs without the queue's client
    from crawlclean.storage.queue.frontier import Frontier
    from crawlclean.storage.queue.topic_ranks import TopicRanks

T = TypeVar("T")

RANKS = {
    LinkKind.BODY: 40,
    LinkKind.RELATED: 40,
    LinkKind.HOT: 45,
    LinkKind.NAVIGATION: 50,
    LinkKind.TAG: 60,
    LinkKind.OTHER: 50,
    LinkKind.FUNCTION: 75,
    LinkKind.LEGAL: 80,
    LinkKind.AD: 85,
}
SITEMAP_RANK = 65  # pages that links lead to come first; the sitemap adds what links miss
DEEPEST_RANK = 14  # behind it depth counts no more: 85, the last kind, and 14 stay below 100
DEEPEST_TENTH = 9  # level 9 is the last of ten ranks each: all stay below 100
NO_FEATURES: tuple[int, ...] = ()
HOPS = frozenset({Via.REDIRECT, Via.META_REFRESH, Via.FRAME})
LEADING_KINDS = frozenset({LinkKind.BODY, LinkKind.RELATED})
"""Kinds of links by which a host comes into a topic crawl: what the page's author refers to."""
ASIDE_KINDS = frozenset({LinkKind.AD, LinkKind.FUNCTION, LinkKind.LEGAL})
"""Kinds of links by which not even a seed brings a host in: a portal's own links are its menus."""
LEADING_HOPS = frozenset({Via.REDIRECT, Via.META_REFRESH})

Ranker = Callable[[Outlink], tuple[int, tuple[int, ...]]]
"""Returns the rank and the features of an outlink of one page: ``(412, (0, 17, 2561))``."""


class Refusal(StrEnum):
    """Why a URL does not enter the frontier."""

    OUT_OF_SCOPE = Counter.OUTLINKS_OUT_OF_SCOPE
    TOO_DEEP = Counter.OUTLINKS_TOO_DEEP
    EXCLUDED = Counter.OUTLINKS_EXCLUDED
    NOT_INCLUDED = Counter.OUTLINKS_NOT_INCLUDED
    FORBIDDEN = Counter.OUTLINKS_FORBIDDEN
    SAME_PAGE = Counter.OUTLINKS_SAME_PAGE
    TOO_MANY_HOPS = Counter.OUTLINKS_TOO_MANY_HOPS
    TOO_LONG = Counter.OUTLINKS_TOO_LONG
    REPEATED_SEGMENTS = Counter.OUTLINKS_REPEATED_SEGMENTS
    TOO_MANY_SEGMENTS = Counter.OUTLINKS_TOO_MANY_SEGMENTS
    NESTED_ADDRESS = Counter.OUTLINKS_NESTED_ADDRESS
    TOO_MANY_PARAMETERS = Counter.OUTLINKS_TOO_MANY_PARAMETERS
    STOPPED_CLASS = Counter.OUTLINKS_STOPPED_CLASS
    LINK_FILTER = Counter.OUTLINKS_LINK_FILTER
    NOT_AN_ADDRESS = "not_an_address"


TRAPS = {
    TrapSign.REPEATED_SEGMENTS: Refusal.REPEATED_SEGMENTS,
    TrapSign.TOO_MANY_SEGMENTS: Refusal.TOO_MANY_SEGMENTS,
    TrapSign.NESTED_ADDRESS: Refusal.NESTED_ADDRESS,
    TrapSign.TOO_MANY_PARAMETERS: Refusal.TOO_MANY_PARAMETERS,
}


class Chosen(NamedTuple):
    """An outlink that may enter the frontier.

    Attributes:
        outlink: In its best form.
        referrer: URL of the page.
        depth: Links from the nearest seed to it.
        hops: Redirects, refreshes and frames in a row that lead to it.
    """

    outlink: Outlink
    referrer: str
    depth: int
    hops: int


@lru_cache(maxsize=4)  # of a crawl with a thousand seeds each job has some pages of one
def _own(seeds: tuple[str, ...], more: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Returns the hosts of a crawl and their registered domains."""
    hosts = more.union(map(host_of, seeds))
    return hosts, frozenset(map(domain_of, hosts))


class UrlFilter:
    """The URL filter of one crawl, for the outlinks of pages of one host.

    Attributes:
        sessions_left_out: Session ids that were cut out of links so far.
    """

    def __init__(
        self,
        spec: CrawlSpec,
        more_hosts: Iterable[str] = (),
        allows: Callable[[str, str], bool] = lambda _host, _url: True,
        own: HostUrlRules | None = None,
        hooks: HookCalls | None = None,
        gate: TopicRanks | None = None,
    ) -> None:
        """Filters nothing yet.

        Args:
            spec: Scope and limits of the crawl.
            more_hosts: Hosts that its seeds redirect to; they are in scope, too.
            allows: Whether the robots rules known so far allow (host, url).
            own: URL rules of the pages' host; None: none are known.
            hooks: Link filters, asked about what all else would take; None: there are none.
            gate: Has the hosts of topic crawls; None: those of its seeds alone.
        """
        self._spec = spec
        self._seeds = frozenset(spec.seeds)
        self._hosts, self._domains = _own(spec.seeds, frozenset(more_hosts))
        self._allows = allows
        self._choice = UrlChoice(spec.include, spec.exclude)
        # Caches for the life of this object (a job): pages of a host repeat links.
        self._scopes: dict[str, bool] = {}
        self._judged: dict[str, Refusal | None] = {}
        self._own = own or HostUrlRules()
        self._hooks = hooks or HookCalls()
        self._gate = gate if spec.scope is Scope.TOPIC else None
        self._watches_traps = spec.trap_pages > 0
        self.sessions_left_out = 0

    def refusal(self, url: str, depth: int) -> Refusal | None:
        """Returns why a URL at a depth is refused; None when it is taken."""
        try:
            host = host_of(url)
        except InvalidUrl:
            return Refusal.NOT_AN_ADDRESS
        return self._refusal(url, host, depth)

    def _refusal(self, url: str, host: str, depth: int) -> Refusal | None:
        if len(url) > MAX_URL_CHARS:
            return Refusal.TOO_LONG
        if host not in self._scopes:
            self._scopes[host] = self.in_scope(host)
        if not self._scopes[host]:
            return Refusal.OUT_OF_SCOPE
        if self._spec.max_depth is not None and depth > self._spec.max_depth:
            return Refusal.TOO_DEEP
        if url not in self._judged:
            self._judged[url] = self._judge(url, host)
        refusal = self._judged[url]
        # What a seed redirects to stands for the seed, which no include pattern has to match.
        return None if refusal is Refusal.NOT_INCLUDED and depth == 0 else refusal

    def _judge(self, url: str, host: str) -> Refusal | None:
        """Returns why a URL is refused at any depth; None when it is not."""
        is_chosen = not self._choice or url in self._seeds
        if not is_chosen and self._choice.exclusion(url):
            return Refusal.EXCLUDED
        if not self._allows(host, url):
            return Refusal.FORBIDDEN
        if self._watches_traps:
            sign = find_trap_sign(url)
            if sign:
                return TRAPS[sign]
        if host == self._own.host and self._own.is_refused(url):
            return Refusal.STOPPED_CLASS
        if not is_chosen and not self._choice.is_included(url):
            return Refusal.NOT_INCLUDED
        return None

    def in_scope(self, host: str) -> bool:
        """Whether a host is in the scope of the crawl."""
        if self._spec.scope is Scope.ANY:
            return True
        if self._spec.scope is Scope.DOMAIN:
            return domain_of(host) in self._domains
        if host in self._hosts or self._gate is None:
            return host in self._hosts
        return host in self._gate.known_hosts(self._spec.crawl_id, [host])

    def _take_hosts(
        self, gate: TopicRanks, outlinks: Sequence[Outlink], depth: int, hops: int
    ) -> None:
        """Decides for the hosts of outlinks whether they are in the scope of a topic crawl.

        A body link, a related link or a redirect that nothing else refuses brings its host in, and
        so does a link of a seed; other links are followed on the hosts that are in.
        """
        hosts = {outlink.url.split("/", 3)[2] for outlink in outlinks}
        new = {host for host in hosts - self._hosts if not self._scopes.get(host)}
        for host in new:
            self._scopes[host] = True  # for the judgement of all else
        wanted = set()
        for outlink in outlinks:
            host = outlink.url.split("/", 3)[2]
            leads = outlink.via is Via.LINK and (
                outlink.kind in LEADING_KINDS or (depth == 0 and outlink.kind not in ASIDE_KINDS)
            )
            if host in new and (leads or outlink.via in LEADING_HOPS):
                is_hop = outlink.via in HOPS
                if self._refusal_of(outlink, depth + (not is_hop), hops + is_hop) is None:
                    wanted.add(host)
        crawl = self._spec.crawl_id
        known = set(gate.known_hosts(crawl, new)) if new else set()
        known |= gate.take_hosts(crawl, wanted - known)
        for host in new:
            self._scopes[host] = host in known

    def filter(
        self, outlinks: Iterable[Outlink], referrer: str, depth: int, hops: int = 0
    ) -> tuple[list[Discovery], list[Refusal]]:
        """Returns (discoveries for the frontier, refusals of the others) of a page's outlinks.

        The arguments are those of ``choose``.
        """
        chosen, refused = self.choose(outlinks, referrer, depth, hops)
        return [self.discovery(each) for each in chosen], refused

    def choose(
        self, outlinks: Iterable[Outlink], referrer: str, depth: int, hops: int = 0
    ) -> tuple[list[Chosen], list[Refusal]]:
        """Returns (outlinks that may enter the frontier, refusals of the others) of a page.

        A redirect, a refresh or a frame is as deep as its page, but only ``MAX_HOPS`` of them may
        come in a row.

        Args:
            outlinks: Of the page.
            referrer: URL of the page.
            depth: Links from the nearest seed to the page.
            hops: Redirects, refreshes and frames in a row that led to the page.
        """
        taken: list[Chosen] = []
        refused: list[Refusal] = []
        if self._gate:
            outlinks = list(outlinks)
            self._take_hosts(self._gate, outlinks, depth, hops)
        for outlink in outlinks:
            is_hop = outlink.via in HOPS
            if not is_hop:
                outlink = self._in_better_form(self._without_session(outlink))
            deeper = depth if is_hop else depth + 1
            refusal = self._refusal_of(outlink, deeper, hops + 1 if is_hop else 0)
            if refusal is None and self._hooks.refusal(outlink, referrer):
                refusal = Refusal.LINK_FILTER
            if refusal:
                refused.append(refusal)
            else:
                taken.append(Chosen(outlink, referrer, deeper, hops + 1 if is_hop else 0))
        return taken, refused

    def discovery(self, chosen: Chosen, ranker: Ranker | None = None) -> Discovery:
        """Returns a chosen outlink for the frontier.

        Args:
            chosen: The outlink.
            ranker: Ranks the outlinks of the page in a topic crawl; None: they rank by kind.
        """
        outlink, referrer, depth, hops = chosen
        rank, features = ranker(outlink) if ranker else (self._rank(outlink, depth), NO_FEATURES)
        return Discovery(
            url=outlink.url,
            depth=depth,
            via=outlink.via,
            referrer=referrer,
            text=outlink.text,
            rank=rank,
            features=features,
            hops=hops,
        )

    def _without_session(self, outlink: Outlink) -> Outlink:
        """Cuts a session id out of a link, so that a page has one URL; redirects keep theirs."""
        url = without_session(outlink.url) if self._watches_traps else outlink.url
        if url is outlink.url or url == outlink.url:
            return outlink
        self.sessions_left_out += 1
        return replace(outlink, url=url)

    def _in_better_form(self, outlink: Outlink) -> Outlink:
        """Replaces a link to another form of a page by the better form, where one is known."""
        if outlink.url.split("/", 3)[2] != self._own.host:
            return outlink
        url = self._own.better_form(outlink.url)
        return replace(outlink, url=url) if url else outlink

    def _refusal_of(self, outlink: Outlink, depth: int, hops: int) -> Refusal | None:
        # A canonical URL is another name of the page that was just read: fetching it too would
        # double the crawl of every site that has canonical links.
        if outlink.via is Via.CANONICAL:
            return Refusal.SAME_PAGE
        if hops > MAX_HOPS:
            return Refusal.TOO_MANY_HOPS
        # An outlink is in normal form: its host stands between the second and the third slash.
        return self._refusal(outlink.url, outlink.url.split("/", 3)[2], depth)

    def _rank(self, outlink: Outlink, depth: int) -> int:
        base = SITEMAP_RANK if outlink.via is Via.SITEMAP else RANKS[outlink.kind]
        if self._spec.max_depth is not None:
            # A page's depth is that of its first discovery: only level by level is it the least.
            return min(depth, DEEPEST_TENTH) * 10 + base // 10
        if outlink.url.split("/", 3)[2] == self._own.host:
            base = self._own.rank(outlink.url, base)
        return base + min(depth, DEEPEST_RANK)


def unknown(frontier: Frontier, crawl_id: str, found: Mapping[str, T]) -> list[T]:
    """Returns what a crawl does not know, of values by their URL in normal form.

    Pages of a host repeat their links, so most are known: they need neither a rank nor an entry.
    """
    known = frontier.have_seen(crawl_id, [normal_page_id(url) for url in found])
    return [value for value, is_known in zip(found.values(), known, strict=True) if not is_known]


def count_refusals(refused: Sequence[Refusal]) -> dict[Counter, int]:
    """Counts refusals by their counter; invalid URLs have none."""
    counted: dict[Counter, int] = {}
    for refusal in refused:
        if refusal is not Refusal.NOT_AN_ADDRESS:
            name = Counter(refusal)
            counted[name] = counted.get(name, 0) + 1
    return counted
