"""What a crawl is told to do: its seeds as typed, and the settings."""

from __future__ import annotations

import hashlib
import re
import socket
from collections.abc import Sequence
from urllib.parse import urlsplit

from cleaning.errors import ConfigError, InvalidUrl
from cleaning.urls.normal_form import host_of, normalize
from crawler.addresses.public import is_public
from crawler.host_overrides import load_hosts
from storage.crawl_types import CrawlSpec, Scope
from storage.politeness_policy import PolitenessPolicy
from workers.config import Settings


def crawl_spec(settings: Settings, urls: Sequence[str], name: str) -> CrawlSpec:
    """What the crawl is told to do.

    Raises:
        ConfigError: A seed or the name cannot be used.
    """
    crawl = settings.crawl
    seeds = tuple(dict.fromkeys(_seed(url, allow_private=crawl.allow_private) for url in urls))
    return CrawlSpec(
        crawl_id=name or derived_name(seeds),
        seeds=seeds,
        scope=crawl.scope,
        max_pages=crawl.max_pages,
        max_depth=crawl.max_depth,
        keep_raw=crawl.keep_raw,
        allow_private=crawl.allow_private,
        delay_ms=None if crawl.delay_s is None else int(crawl.delay_s * 1000),
        slots=crawl.slots,
        policy=PolitenessPolicy(
            politeness=crawl.politeness,
            delay_factor=crawl.delay_factor,
            hosts=load_hosts(crawl.hosts_file).politeness(),
        ),
        trap_pages=crawl.trap_pages,
        images=crawl.images,
    )


def derived_name(seeds: Sequence[str]) -> str:
    """A crawl's id from its seeds: the first host and four digits of all."""
    digest = hashlib.blake2b("\n".join(sorted(seeds)).encode(), digest_size=2).hexdigest()
    return re.sub(r"[^a-z0-9.-]", "-", host_of(seeds[0]))[:48].strip(".-") + "-" + digest


def _seed(text: str, *, allow_private: bool) -> str:
    try:
        url = normalize(text)
    except InvalidUrl as error:
        hint = f"; did you mean https://{text}?" if "://" not in text and "." in text else ""
        raise InvalidUrl(f"{text!r} is no http(s) address{hint}") from error
    hostname = (urlsplit(url).hostname or "").strip("[]")
    local = hostname == "localhost" or hostname.endswith(".localhost")
    literal = hostname if ":" in hostname else _spelled_out(hostname)
    if not allow_private and (local or (literal and not is_public(literal))):
        raise ConfigError(
            f"{hostname} is a private or loopback address: crawl it with --allow-private"
        )
    return url


def _spelled_out(hostname: str) -> str:
    """The IPv4 address of a number in any spelling (2130706433, 0x7f.1); ``""`` for a name."""
    if not re.fullmatch(r"[0-9a-fx.]+", hostname) or not hostname[0].isdigit():
        return ""
    try:
        return socket.inet_ntoa(socket.inet_aton(hostname))
    except OSError:
        return ""


def needs_contact(spec: CrawlSpec) -> bool:
    """Whether a crawl may ask sites of other people."""
    return spec.scope is Scope.ANY or not all(map(_is_loopback, spec.seeds))


def _is_loopback(url: str) -> bool:
    hostname = urlsplit(url).hostname or ""
    return hostname in ("localhost", "::1") or hostname.startswith("127.")
