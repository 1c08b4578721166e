"""The cookies of a host in a crawl: those that a request gets, and the jar after its answer.

The queue holds the jar (``FetchQueue.keep_cookies``); a lease brings it. ``http.cookiejar`` reads
``Set-Cookie`` and chooses by path, expiry and ``Secure``. A cookie goes back to the host
(name and port) that set it, and to no other: its ``Domain`` may name this host or a parent, and
then means no more than none.
"""

from __future__ import annotations

import re
from http.cookiejar import Cookie, CookieJar

from scrapy import Request
from scrapy.http import Response
from scrapy.http.cookies import WrappedRequest, WrappedResponse

from crawlclean.cleaning.urls.normal_form import host_of
from crawlclean.storage.crawl_types import Lease, StoredCookie

MOST_COOKIE_BYTES = 4096  # name and value, as browsers (RFC 6265, 6.1)
DOMAIN = re.compile(r";\s*domain\s*=\s*([^;]*)", re.I)


def cookie_header(lease: Lease, url: str) -> dict[str, bytes]:
    """Returns the header Cookie of a request, ``{"Cookie": b"sid=3f9a"}``, or ``{}``."""
    if not lease.cookies or host_of(url) != lease.host:
        return {}
    request = Request(url)
    _jar(lease.cookies, request).add_cookie_header(WrappedRequest(request))  # type: ignore[arg-type]
    found = request.headers.get("Cookie")
    return {"Cookie": found} if found else {}


def cookies_after(lease: Lease, response: Response) -> tuple[StoredCookie, ...]:
    """Returns the jar of a lease's host after an answer of this host."""
    if "Set-Cookie" not in response.headers or host_of(response.url) != lease.host:
        return lease.cookies
    request = Request(response.url)
    jar = _jar(lease.cookies, request)
    jar.extract_cookies(_HostOnly(response), WrappedRequest(request))  # type: ignore[arg-type]
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
