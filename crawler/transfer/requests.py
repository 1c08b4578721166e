"""From a lease to its request (headers, proxy, size limit), or to the reason why there is none."""

from __future__ import annotations

import logging
import re
import time
from collections import OrderedDict
from collections.abc import Mapping
from http.cookiejar import Cookie, CookieJar
from typing import Any
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.http import Response
from scrapy.http.cookies import WrappedRequest, WrappedResponse

from crawlclean.cleaning.messages import Message
from crawlclean.cleaning.records import UrlKind
from crawlclean.cleaning.url_classes.rules import (
    LEADS_TO_DUPLICATES,
    UrlRule,
    UrlRules,
    class_of,
)
from crawlclean.cleaning.urls.normal_form import host_of
from crawlclean.cleaning.urls.patterns import patterns_of
from crawlclean.cleaning.urls.url_choice import UrlChoice
from crawlclean.crawler.addresses.guard import (
    address_of,
    installed_guard,
    is_local_name,
    is_web_port,
)
from crawlclean.crawler.config import CrawlConfig
from crawlclean.crawler.hosts_file import HostOverride, HostOverrides
from crawlclean.crawler.leasing import LeaseSource
from crawlclean.crawler.robots import RobotsRules, user_agent
from crawlclean.crawler.transfer.content_encoding import ACCEPT_ENCODING
from crawlclean.crawler.transfer.responses import address_refused, no_address
from crawlclean.storage.crawl_types import Failure, FailureReason, Lease, PageRole, StoredCookie
from crawlclean.storage.queue.fetch_queue import FetchQueue
from crawlclean.storage.queue.url_classes import FOLLOWED, REFUSED

# The cookies of a host in a crawl: those that a request gets, and the jar after its answer.
#
# The queue holds the jar (``FetchQueue.keep_cookies``); a lease brings it. ``http.cookiejar`` reads
# ``Set-Cookie`` and chooses by path, expiry and ``Secure``. A cookie goes back to the host
# (name and port) that set it, and to no other: its ``Domain`` may name this host or a parent, and
# then means no more than none.

MOST_COOKIE_BYTES = 4096  # name and value, as browsers (RFC 6265, 6.1)
DOMAIN = re.compile(r";\s*domain\s*=\s*([^;]*)", re.I)


def cookie_header(lease: Lease, url: str) -> dict[str, bytes]:
    """Returns the header Cookie of a request, ``{"Cookie": b"sid=3f9a"}``, or ``{}``."""
    if not lease.cookies or host_of(url) != lease.host:
        return {}
    request = Request(url)
    # Scrapy's wrapper has what a jar asks of a request; the stubs of cookielib want urllib's class.
    _jar(lease.cookies, request).add_cookie_header(WrappedRequest(request))  # type: ignore[arg-type]
    found = request.headers.get("Cookie")
    return {"Cookie": found} if found else {}


def cookies_after(lease: Lease, response: Response) -> tuple[StoredCookie, ...]:
    """Returns the jar of a lease's host after an answer of this host."""
    if "Set-Cookie" not in response.headers or host_of(response.url) != lease.host:
        return lease.cookies
    request = Request(response.url)
    jar = _jar(lease.cookies, request)
    jar.extract_cookies(_HostOnly(response), WrappedRequest(request))  # type: ignore[arg-type]  # duck-typed
    return tuple(
        StoredCookie(
            name=cookie.name,
            value=cookie.value or "",
            path=cookie.path,
            is_secure=cookie.secure,
            expires_s=cookie.expires or 0,
        )
        for cookie in jar
        if len(cookie.name) + len(cookie.value or "") <= MOST_COOKIE_BYTES
    )


class _HostOnly(WrappedResponse):
    """A response whose cookies have no Domain; one for other hosts is left out."""

    def get_all(self, name: str, default: None = None) -> list[str]:  # noqa: ARG002 - the interface's
        host = re.sub(r":\d+$", "", host_of(self.response.url))
        lines = [line.decode("latin-1") for line in self.response.headers.getlist(name)]
        return [
            DOMAIN.sub("", line)
            for line in lines
            if all(_is_within(host, domain) for domain in DOMAIN.findall(line))
        ]


def _is_within(host: str, domain: str) -> bool:
    domain = domain.strip().strip('"').lstrip(".").lower()
    return not domain or host == domain or host.endswith(f".{domain}")


def _jar(cookies: tuple[StoredCookie, ...], request: Request) -> CookieJar:
    host = re.sub(r":\d+$", "", WrappedRequest(request).host).lower()
    domain = host if "." in host else f"{host}.local"  # as http.cookiejar names such hosts
    jar = CookieJar()
    for each in cookies:
        jar.set_cookie(
            Cookie(
                version=0,
                name=each.name,
                value=each.value,
                port=None,
                port_specified=False,
                domain=domain,
                domain_specified=False,
                domain_initial_dot=False,
                path=each.path,
                path_specified=True,
                secure=each.is_secure,
                expires=each.expires_s or None,
                discard=not each.expires_s,
                comment=None,
                comment_url=None,
                rest={},
            )
        )
    return jar


log = logging.getLogger(__name__)

HEADERS = {
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.5",
    "Accept-Language": "zh-CN,zh;q=0.9,en;q=0.6,*;q=0.4",
    "Accept-Encoding": ACCEPT_ENCODING,
}
IMAGE_ACCEPT = "image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5"


def image_headers(lease: Lease, url: str) -> dict[str, str]:
    """Returns the headers of an image request: Accept, and Referer with the page of the image.

    Many servers serve images only to their own pages. As in browsers, an http host gets no Referer
    of an https page, and a user name in the page's URL is left out.
    """
    if lease.role is not PageRole.IMAGE:
        return {}
    headers = {"Accept": IMAGE_ACCEPT}
    page = urlsplit(lease.referrer)
    if page.hostname and (page.scheme == "http" or url.startswith("https:")):
        place = page.netloc.rpartition("@")[2]
        headers["Referer"] = page._replace(netloc=place, fragment="").geturl()
    return headers


def conditional_headers(lease: Lease) -> dict[str, bytes]:
    """Returns the header that makes a revisit conditional: If-None-Match, else If-Modified-Since.

    The values go back as they were received, which is all that a server has to understand. With an
    ETag the date is left out: servers need not look at it (RFC 9110, 13.1.3).
    """
    if not lease.is_revisit:
        return {}
    if lease.etag:
        return {"If-None-Match": lease.etag.encode("latin-1", "replace")}
    if lease.last_modified:
        return {"If-Modified-Since": lease.last_modified.encode("latin-1", "replace")}
    return {}


def elapsed_ms(meta: dict[str, Any]) -> int:
    """Returns the milliseconds since a request with this meta was built."""
    return int((time.monotonic() - meta["begun"]) * 1000)


class RequestBuilder:
    """Builds the requests of this process, with the overrides of each host."""

    def __init__(self, hosts: HostOverrides, config: CrawlConfig) -> None:
        """Lets the address guard trust the proxies of ``hosts``."""
        self._hosts = hosts
        self._config = config
        self._headers = {**HEADERS, "User-Agent": user_agent(config)}
        self._withheld: set[str] = set()
        self.guard = installed_guard()
        for proxy in self._hosts.proxy_hostnames():
            self.guard.trust_proxy(proxy)

    def request(self, lease: Lease, url: str, **meta: Any) -> Request:
        """Builds the request of a lease for its URL, or for a URL it was redirected to."""
        rule = self._hosts.of(url)
        self._note_withheld(url)
        ours = {
            "lease": lease,
            "begun": time.monotonic(),
            "verify_tls": self._is_verified(lease, rule),
            "download_timeout": self._config.timeout_s,
            "download_fail_on_dataloss": False,  # the spider decides about what came (is_cut)
            # A long robots.txt is cut, whatever Content-Length it states.
            "download_maxsize": self.max_bytes(lease),
        }
        return Request(
            url,
            headers={
                **self._headers,
                **image_headers(lease, url),
                **conditional_headers(lease),
                **({} if rule.has_secrets else cookie_header(lease, url)),
                **rule.request_headers(),
            },
            meta={**ours, **rule.request_meta(), **meta},
        )

    def cookies_after(self, lease: Lease, response: Response) -> tuple[StoredCookie, ...]:
        """Returns the cookies of a lease's host after an answer.

        A host with headers or cookies of the hosts file has no jar: what it sets may belong to
        them, and they stay in this process.
        """
        is_secret = self._hosts.of(response.url).has_secrets
        return lease.cookies if is_secret else cookies_after(lease, response)

    def _is_verified(self, lease: Lease, rule: HostOverride) -> bool:
        """Returns whether a host must have a right certificate to get this request."""
        if rule.has_secrets or rule.verify_tls is None:
            return rule.has_secrets or self._config.verify_tls or lease.verify_tls
        return rule.verify_tls

    def _note_withheld(self, url: str) -> None:
        """Logs once for each table that its headers and cookies are for another origin."""
        table = self._hosts.withheld(url)
        if table and table.name not in self._withheld:
            self._withheld.add(table.name)
            log.warning(
                "headers and cookies not sent: they are for another scheme or port",
                extra={"table": table.name, "are_for": table.origin, "url": url},
            )

    def max_bytes(self, lease: Lease) -> int:
        """Returns the size limit of a response, bytes; 0 (none) for robots.txt, which is cut."""
        if lease.role is PageRole.ROBOTS:
            return 0
        is_image = lease.role is PageRole.IMAGE
        return self._config.max_image_bytes if is_image else self._config.max_page_bytes

    def admits(self, lease: Lease, url: str) -> bool:
        """Returns whether a crawl may request a URL, judged by the host name alone."""
        hostname = urlsplit(url).hostname or ""
        if self._hosts.of(url).proxy:  # the proxy resolves the name
            return lease.allow_private or not is_local_name(hostname)
        return self.guard.admits(hostname, allow_private=lease.allow_private)

    async def address(self, lease: Lease) -> str:
        """Returns the IP address whose clock the lease's host shares, ``192.0.2.7``, or ``""``."""
        if self._hosts.of(lease.url).proxy:
            return lease.host  # only the proxy knows the address
        hostname = urlsplit(lease.url).hostname or ""
        return await address_of(hostname, allow_private=lease.allow_private)


# Leases that are refused without a request, each with its reason.
#
# In this order: private addresses, ports of other services, patterns of the crawl, robots.txt,
# stopped URL classes. A lease that passes becomes a request.

CACHED_HOSTS = 1000  # read again from the queue when more hosts take turns; bounds memory
CACHED_CHOICES = 100  # the sites of a list share their patterns
FIRST_PROBE = 32  # URLs refused before the first probe


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
            return Failure(reason=FailureReason.CONNECT, detail=Message("long_away"))
        if not self._requests.admits(lease, lease.url):
            return address_refused(urlsplit(lease.url).hostname or "")
        port = urlsplit(lease.url).port
        if not is_web_port(port):
            # Without rules the host's pages are leased, and each is refused here.
            is_rules = lease.role is PageRole.ROBOTS
            return Failure(
                reason=FailureReason.CONNECT if is_rules else FailureReason.ADDRESS_REFUSED,
                detail=Message("port", port or 0),
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
            spec = await self._source.ask(self._queue.spec, lease.crawl_id)
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
            rules = await self._source.ask(self._queue.robots, host)
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
            stopped = await self._source.ask(self._queue.stopped_classes, crawl, host)
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
            return Message("of", template, stopped[REFUSED + template])
        pattern = next((p for p in patterns_of(url) if p in stopped), "")
        if not pattern:
            return ""
        key = (crawl_id, host, pattern)
        self._refused[key] = refused = self._refused.get(key, 0) + 1
        is_power_of_two = refused & (refused - 1) == 0
        is_probe = refused >= FIRST_PROBE and is_power_of_two
        return "" if is_probe else Message("of", pattern, stopped[pattern])
