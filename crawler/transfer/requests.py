"""The request of a lease: how its host is to be asked, and whether its crawl may."""

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
    """What a request of an image tells besides: types, and the page it is on.

    Many servers give pictures to their own pages alone. As browsers do, an http host is not told
    of an https page, and no one of a user's name.
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
    """What every request of this process carries, by its host."""

    def __init__(self, hosts_file: str, max_bytes: int, max_image_bytes: int) -> None:
        """``hosts_file``: its path, ``""`` without one; limits of an answer, of an image."""
        self._hosts = load_hosts(Path(hosts_file) if hosts_file else None)
        self._max_bytes = max_bytes
        self._max_image_bytes = max_image_bytes
        self.guard = installed_guard()
        for proxy in self._hosts.proxy_hostnames():
            self.guard.trust_proxy(proxy)

    def request(self, lease: Lease, url: str, **meta: Any) -> Request:
        """A request made for a lease, of its URL or of another."""
        rule = self._hosts.of(host_of(url))
        ours = {
            "lease": lease,
            "begun": time.monotonic(),
            "handle_httpstatus_all": True,
            # A long robots.txt is read as far as it is looked at, whatever length it states.
            "download_maxsize": self.max_bytes(lease),
        }
        return Request(
            url,
            dont_filter=True,
            headers={**image_headers(lease, url), **rule.request_headers()},
            meta={**ours, **rule.request_meta(), **meta},
        )

    def max_bytes(self, lease: Lease) -> int:
        """How long the answer of a lease may be; 0 of a robots.txt, which is cut instead."""
        if lease.role is PageRole.ROBOTS:
            return 0
        return self._max_image_bytes if lease.role is PageRole.IMAGE else self._max_bytes

    def admits(self, lease: Lease, url: str) -> bool:
        """Whether the crawl of a lease may ask for a URL, as far as is known before."""
        hostname = urlsplit(url).hostname or ""
        if self._hosts.of(host_of(url)).proxy:  # which looks the name up, out of our sight
            return lease.allow_private or not is_local_name(hostname)
        return self.guard.admits(hostname, allow_private=lease.allow_private)

    async def address(self, lease: Lease) -> str:
        """What shares a clock with the host of a lease; ``""`` when it has no address."""
        if self._hosts.of(lease.host).proxy:
            return lease.host  # nobody here knows its address
        hostname = urlsplit(lease.url).hostname or ""
        return await address_of(hostname, allow_private=lease.allow_private)
