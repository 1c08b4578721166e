"""Stopped classes of URLs as the spider knows them: what is not fetched any more.

A class was stopped by a row of pages that brought nothing new; that may be bad luck. So of the URLs
that end here one is fetched after all when their number doubles: a page that brings something lifts
the class for everybody. An endless class pays for this with a page for every doubling.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping

from cleaning.records import UrlKind
from cleaning.url_classes.rules import UrlRule, UrlRules, class_of, class_with_groups
from storage.crawl_types import Failure, FailureReason, Lease, PageRole
from storage.queue.url_classes import FOLLOWED, REFUSED

Answer = Awaitable[dict[str, str]]
Read = Callable[[str, str], Answer]
Ask = Callable[[Callable[[], Answer]], Answer]

CACHED_HOSTS = 1000
FIRST_PROBE = 32  # URLs that end before the first is fetched again


class StoppedClasses:
    """Stopped classes of the hosts used last, at most ``CACHED_HOSTS``."""

    def __init__(self, ask: Ask, read: Read) -> None:
        """Nothing is known yet.

        Args:
            ask: How the queue is asked, however long it is away.
            read: The stopped classes of a crawl and a host.
        """
        self._read = read
        self._ask = ask
        self._cache: OrderedDict[tuple[str, str], tuple[int, Mapping[str, str]]] = OrderedDict()
        self._rules: dict[tuple[str, str], UrlRules] = {}
        self._ended: dict[tuple[str, str, str], int] = {}

    async def failure_of(self, lease: Lease) -> Failure | None:
        """Why a lease is not fetched, or None.

        A seed is fetched whatever it is, and what was asked for before ends by its own cause.
        """
        if lease.role is not PageRole.PAGE or lease.depth == 0 or lease.attempt > 1:
            return None
        crawl, host, version = lease.crawl_id, lease.host, lease.traps_version
        if not self.known(crawl, host, version):
            stopped = await self._ask(lambda: self._read(crawl, host))
            self.learn(crawl, host, version, stopped)
        why = self.refusal(crawl, host, version, lease.url)
        return Failure(reason=FailureReason.TRAP, detail=why) if why else None

    def known(self, crawl_id: str, host: str, version: int) -> bool:
        """Whether this version of the host's stopped classes is here; 0 has none."""
        return version == 0 or self._cache.get((crawl_id, host), (0, {}))[0] == version

    def learn(self, crawl_id: str, host: str, version: int, stopped: Mapping[str, str]) -> None:
        """Keeps the stopped classes of a host: pattern -> why."""
        key = (crawl_id, host)
        self._cache[key] = (version, stopped)
        self._rules[key] = UrlRules(
            UrlRule(kind=UrlKind.OTHER, template=name[1:])  # of the templates no kind is told
            for name in stopped
            if name[:1] in (REFUSED, FOLLOWED)
        )
        self._cache.move_to_end(key)
        if len(self._cache) > CACHED_HOSTS:
            key, (_, stopped) = self._cache.popitem(last=False)
            self._rules.pop(key, None)
            for pattern in stopped:
                self._ended.pop((*key, pattern), None)

    def refusal(self, crawl_id: str, host: str, version: int, url: str) -> str:
        """Why a URL is not fetched; ``""`` when it is, as a probe or because nothing stops it."""
        stopped = self._cache.get((crawl_id, host), (0, {}))[1] if version else {}
        if not stopped:
            return ""
        template = class_of(url, self._rules[crawl_id, host])
        if REFUSED + template in stopped:  # of a kind that is never fetched: no probe
            return f"{template}: {stopped[REFUSED + template]}"
        pattern = next((p for p in class_with_groups(url) if p in stopped), "")
        if not pattern:
            return ""
        key = (crawl_id, host, pattern)
        self._ended[key] = ended = self._ended.get(key, 0) + 1
        is_probe = ended >= FIRST_PROBE and ended & (ended - 1) == 0
        return "" if is_probe else f"{pattern}: {stopped[pattern]}"
