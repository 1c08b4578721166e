"""Builds the request of a lease: headers, proxy, size limit."""

from __future__ import annotations

import logging
import re
import time
from http.cookiejar import Cookie, CookieJar
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.http import Response
from scrapy.http.cookies import WrappedRequest, WrappedResponse

from crawlclean.cleaning.urls.normal_form import host_of
from crawlclean.crawler.addresses.guard import address_of, installed_guard, is_local_name
from crawlclean.crawler.hosts_file import HostOverride, load_hosts
from crawlclean.storage.crawl_types import Lease, PageRole, StoredCookie

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

    def __init__(
        self, hosts_file: str, max_bytes: int, max_image_bytes: int, *, verify_tls: bool = False
    ) -> None:
        """Reads the hosts file.

        Args:
            hosts_file: Its path, ``""`` without one.
            max_bytes: Limit of a decoded page.
            max_image_bytes: Limit of an image.
            verify_tls: Whether hosts with a wrong certificate are refused in every crawl.
        """
        self._hosts = load_hosts(Path(hosts_file) if hosts_file else None)
        self._withheld: set[str] = set()
        self._max_bytes = max_bytes
        self._max_image_bytes = max_image_bytes
        self._verify_tls = verify_tls
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
            "handle_httpstatus_all": True,
            "download_fail_on_dataloss": False,  # the spider decides about what came (is_cut)
            # A long robots.txt is cut, whatever Content-Length it states.
            "download_maxsize": self.max_bytes(lease),
        }
        return Request(
            url,
            dont_filter=True,
            headers={
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
            return rule.has_secrets or self._verify_tls or lease.verify_tls
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
        return self._max_image_bytes if lease.role is PageRole.IMAGE else self._max_bytes

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
