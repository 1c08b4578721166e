"""Builds the request of a lease: headers, proxy and limits, and whether its crawl may make it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from scrapy import Request

from cleaning.urls.normal_form import host_of
from crawler.addresses.guard import address_of, installed_guard, is_local_name
from crawler.host_overrides import load_hosts
from storage.crawl_types import Lease, PageRole

IMAGE_ACCEPT = "image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5"


def image_headers(lease: Lease, url: str) -> dict[str, str]:
    """Headers of an image request: Accept, and Referer with the page that the image is on.

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


class RequestBuilder:
    """Builds the requests of this process, with the overrides of each host."""

    def __init__(self, hosts_file: str, max_bytes: int, max_image_bytes: int) -> None:
        """Reads the hosts file.

        Args:
            hosts_file: Its path, ``""`` without one.
            max_bytes: Largest decoded response.
            max_image_bytes: Largest image.
        """
        self._hosts = load_hosts(Path(hosts_file) if hosts_file else None)
        self._max_bytes = max_bytes
        self._max_image_bytes = max_image_bytes
        self.guard = installed_guard()
        for proxy in self._hosts.proxy_hostnames():
            self.guard.trust_proxy(proxy)

    def request(self, lease: Lease, url: str, **meta: Any) -> Request:
        """The request of a URL for a lease: its own URL, or one it was redirected to."""
        rule = self._hosts.of(host_of(url))
        ours = {
            "lease": lease,
            "begun": time.monotonic(),
            "handle_httpstatus_all": True,
            # A long robots.txt is cut, whatever Content-Length it states.
            "download_maxsize": self.max_bytes(lease),
        }
        return Request(
            url,
            dont_filter=True,
            headers={**image_headers(lease, url), **rule.request_headers()},
            meta={**ours, **rule.request_meta(), **meta},
        )

    def max_bytes(self, lease: Lease) -> int:
        """Largest response of a lease, bytes; 0 (no limit) for robots.txt, which is cut instead."""
        if lease.role is PageRole.ROBOTS:
            return 0
        return self._max_image_bytes if lease.role is PageRole.IMAGE else self._max_bytes

    def admits(self, lease: Lease, url: str) -> bool:
        """Whether the crawl of a lease may request a URL, as far as its host name shows."""
        hostname = urlsplit(url).hostname or ""
        if self._hosts.of(host_of(url)).proxy:  # the proxy resolves the name
            return lease.allow_private or not is_local_name(hostname)
        return self.guard.admits(hostname, allow_private=lease.allow_private)

    async def address(self, lease: Lease) -> str:
        """The IP address whose clock the host of a lease shares; ``""`` without an address."""
        if self._hosts.of(lease.host).proxy:
            return lease.host  # the proxy alone knows its address
        hostname = urlsplit(lease.url).hostname or ""
        return await address_of(hostname, allow_private=lease.allow_private)
