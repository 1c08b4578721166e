"""Leases that are refused without a request, each with its reason.

In this order: private addresses, ports of other services, patterns of the crawl, robots.txt,
stopped URL classes. A lease that passes becomes a request in ``transfer/requests.py``.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from urllib.parse import urlsplit

from crawlclean.cleaning.records import UrlKind
from crawlclean.cleaning.url_classes.rules import (
    LEADS_TO_DUPLICATES,
    UrlRule,
    UrlRules,
    class_of,
)
from crawlclean.cleaning.urls.patterns import patterns_of
from crawlclean.cleaning.urls.url_choice import UrlChoice
from crawlclean.crawler.addresses.guard import is_web_port
from crawlclean.crawler.leasing import LeaseSource
from crawlclean.crawler.robots import RobotsRules
from crawlclean.crawler.transfer.requests import RequestBuilder
from crawlclean.crawler.transfer.responses import address_refused, no_address
from crawlclean.storage.crawl_types import Failure, FailureReason, Lease, PageRole
from crawlclean.storage.queue.fetch_queue import FetchQueue
from crawlclean.storage.queue.url_classes import FOLLOWED, REFUSED

CACHED_HOSTS = 1000  # read again from the queue when more hosts take turns; bounds memory
CACHED_CHOICES = 100  # the sites of a list share their patterns
FIRST_PROBE = 32  # URLs refused before the first probe
GONE = "the host has not answered for long"


class LeaseFilter:
    """Decides whether a lease may be fetched, by what this process knows and the queue holds."""

    def __init__(
        self, queue: FetchQueue, source: LeaseSource, requests: RequestBuilder, user_agent: str
    ) -> None:
        """Starts with empty caches; ``source.ask`` waits while the queue is away."""
        self._queue = queue
        self._source = source
        self._requests = requests
        self._rules = RobotsRules(user_agent)
        self._stopped = StoppedClasses()
        self._choices: OrderedDict[str, UrlChoice] = OrderedDict()

    async def failure_of(self, lease: Lease) -> Failure | None:
        """Returns why a lease must not be fetched, or None."""
        if lease.is_nameless:
            return no_address(lease.host)
        if lease.is_gone:
            return Failure(reason=FailureReason.CONNECT, detail=GONE)
        if not self._requests.admits(lease, lease.url):
            return address_refused(urlsplit(lease.url).hostname or "")
        port = urlsplit(lease.url).port
        if not is_web_port(port):
            # Without rules the host's pages are leased, and each is refused here.
            is_rules = lease.role is PageRole.ROBOTS
            return Failure(
                reason=FailureReason.CONNECT if is_rules else FailureReason.ADDRESS_REFUSED,
                detail=f"port {port} is another service's: browsers refuse it, too",
            )
        if lease.role is PageRole.ROBOTS:
            return None
        return (
            await self._pattern_failure(lease)
            or await self._robots_failure(lease)
            or await self._stopped_failure(lease)
        )

    async def _pattern_failure(self, lease: Lease) -> Failure | None:
        """Returns the failure of a URL that the crawl's patterns leave out.

        Workers offer no such URL: this one was offered when the crawl had other patterns. Seeds,
        and what they redirect to, are always fetched.
        """
        if not lease.patterns or lease.role is not PageRole.PAGE or lease.depth == 0:
            return None
        choice = self._choices.get(lease.patterns)
        if choice is None:
            spec = await self._source.ask(lambda: self._queue.spec(lease.crawl_id))
            if spec is None:  # purged: the end of the lease changes nothing
                return None
            choice = self._choices[spec.patterns_digest] = UrlChoice(spec.include, spec.exclude)
            if len(self._choices) > CACHED_CHOICES:
                self._choices.popitem(last=False)
        why = choice.reason(lease.url)
        return Failure(reason=FailureReason.PATTERN, detail=why) if why else None

    async def _robots_failure(self, lease: Lease) -> Failure | None:
        host, version = lease.host, lease.robots_version
        if not self._rules.known(host, version):
            rules = await self._source.ask(lambda: self._queue.robots(host))
            self._rules.learn(host, version, rules)
        why = self._rules.refusal(host, version, lease.url)
        return Failure(reason=FailureReason.ROBOTS, detail=why) if why else None

    async def _stopped_failure(self, lease: Lease) -> Failure | None:
        """Returns the failure of a URL in a stopped class.

        Seeds are always fetched; a URL that was requested before ends by its own cause.
        """
        if lease.role is not PageRole.PAGE or lease.depth == 0 or lease.attempt > 1:
            return None
        crawl, host, version = lease.crawl_id, lease.host, lease.traps_version
        if not self._stopped.known(crawl, host, version):
            stopped = await self._source.ask(lambda: self._queue.stopped_classes(crawl, host))
            self._stopped.learn(crawl, host, version, stopped)
        why = self._stopped.refusal(crawl, host, version, lease.url)
        is_duplicate = LEADS_TO_DUPLICATES in why
        reason = FailureReason.DUPLICATE if is_duplicate else FailureReason.TRAP
        return Failure(reason=reason, detail=why) if why else None


class StoppedClasses:
    """Stopped URL classes of the hosts used last, at most ``CACHED_HOSTS``.

    A class is stopped after a row of pages without new content, which may be bad luck. So each time
    the number of its refused URLs doubles, one is fetched as a probe; a probe with new content
    lifts the class for all processes. An endless class costs one page for every doubling.
    """

    def __init__(self) -> None:
        self._cache: OrderedDict[tuple[str, str], tuple[int, Mapping[str, str]]] = OrderedDict()
        self._rules: dict[tuple[str, str], UrlRules] = {}
        self._refused: dict[tuple[str, str, str], int] = {}

    def known(self, crawl_id: str, host: str, version: int) -> bool:
        """Whether this version of the host's stopped classes is cached; version 0 has none."""
        return version == 0 or self._cache.get((crawl_id, host), (0, {}))[0] == version

    def learn(self, crawl_id: str, host: str, version: int, stopped: Mapping[str, str]) -> None:
        """Caches the stopped classes of a host: pattern -> reason.

        ``{"/cal/*": "50 pages in a row without new content"}``; a template of the host's URL rules
        has a mark before it: ``=/reply.php?id={n}`` is refused, ``+/show.php?id={n}`` is followed.
        """
        key = (crawl_id, host)
        self._cache[key] = (version, stopped)
        self._rules[key] = UrlRules(
            UrlRule(kind=UrlKind.OTHER, template=name[1:])  # the kinds are not needed here
            for name in stopped
            if name[:1] in (REFUSED, FOLLOWED)
        )
        self._cache.move_to_end(key)
        if len(self._cache) > CACHED_HOSTS:
            key, (_, stopped) = self._cache.popitem(last=False)
            self._rules.pop(key, None)
            for pattern in stopped:
                self._refused.pop((*key, pattern), None)

    def refusal(self, crawl_id: str, host: str, version: int, url: str) -> str:
        """Returns why a URL is not fetched; ``""`` for a probe and for URLs of no stopped class."""
        stopped = self._cache.get((crawl_id, host), (0, {}))[1] if version else {}
        if not stopped:
            return ""
        template = class_of(url, self._rules[crawl_id, host])
        if REFUSED + template in stopped:  # a kind that is never fetched: no probe
            return f"{template}: {stopped[REFUSED + template]}"
        pattern = next((p for p in patterns_of(url) if p in stopped), "")
        if not pattern:
            return ""
        key = (crawl_id, host, pattern)
        self._refused[key] = refused = self._refused.get(key, 0) + 1
        is_power_of_two = refused & (refused - 1) == 0
        is_probe = refused >= FIRST_PROBE and is_power_of_two
        return "" if is_probe else f"{pattern}: {stopped[pattern]}"
