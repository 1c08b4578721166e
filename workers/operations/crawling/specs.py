"""Crawl specifications from URLs as an operator types them and from the settings.

`sites` reads its URLs from a file, one a line.
"""

from __future__ import annotations

import hashlib
import re
import socket
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from cleaning.errors import ConfigError, InvalidUrl
from cleaning.urls.normal_form import host_of, normalize
from crawler.addresses.public import is_public
from crawler.hosts_file import load_hosts
from storage.crawl_types import CrawlSpec, Scope
from storage.politeness_policy import PolitenessPolicy
from workers.config import Settings

MAX_LIST_BYTES = 16 << 20
MAX_SHOWN_LINES = 20  # invalid lines that an error names


def crawl_spec(settings: Settings, urls: Sequence[str], name: str) -> CrawlSpec:
    """Builds the specification of a crawl.

    Args:
        settings: Limits and politeness.
        urls: Seeds as typed, at least one: ``https://example.com/``.
        name: Of the crawl; ``""`` derives one from the seeds.

    Raises:
        ConfigError: A seed is private or loopback and these are not allowed, or the name has
            characters that a name may not have.
        InvalidUrl: A seed is not an http(s) URL.
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
        include=crawl.include,
        exclude=crawl.exclude,
    )


def derived_name(seeds: Sequence[str]) -> str:
    """Derives a crawl's name from its seeds, as ``example.com-3f2a``: first host, digest of all."""
    digest = hashlib.blake2b("\n".join(sorted(seeds)).encode(), digest_size=2).hexdigest()
    return re.sub(r"[^a-z0-9.-]", "-", host_of(seeds[0]))[:48].strip(".-") + "-" + digest


def _seed(text: str, *, allow_private: bool) -> str:
    try:
        url = normalize(text)
    except InvalidUrl as error:
        hint = f"; did you mean https://{text}?" if "://" not in text and "." in text else ""
        raise InvalidUrl(f"{text!r} is not an http(s) URL{hint}") from error
    hostname = (urlsplit(url).hostname or "").strip("[]")
    local = hostname == "localhost" or hostname.endswith(".localhost")
    literal = hostname if ":" in hostname else _spelled_out(hostname)
    if not allow_private and (local or (literal and not is_public(literal))):
        raise ConfigError(
            f"{hostname} is a private or loopback address: crawl it with --allow-private"
        )
    return url


def _spelled_out(hostname: str) -> str:
    """Decodes an IPv4 address in any spelling (2130706433, 0x7f.1); ``""`` for a host name."""
    if not re.fullmatch(r"[0-9a-fx.]+", hostname) or not hostname[0].isdigit():
        return ""
    try:
        return socket.inet_ntoa(socket.inet_aton(hostname))
    except OSError:
        return ""


def needs_contact(spec: CrawlSpec) -> bool:
    """Whether a crawl may send requests to other machines, whose owners want a contact."""
    return spec.scope is Scope.ANY or not all(map(_is_loopback, spec.seeds))


def _is_loopback(url: str) -> bool:
    hostname = urlsplit(url).hostname or ""
    return hostname in ("localhost", "::1") or hostname.startswith("127.")


def withheld_lines(settings: Settings, seeds: Sequence[str]) -> list[str]:
    """Returns a line for each seed that does not get the headers and cookies of its host.

    Those of ``["forum.example.com"]`` are for ``https://forum.example.com``. They are sent without
    encryption only when the hosts file names ``http://forum.example.com``.
    """
    hosts = load_hosts(settings.crawl.hosts_file)
    lines = {}
    for seed in seeds:
        table = hosts.withheld(seed)
        if table and table.name not in lines:
            seed_origin = f"{urlsplit(seed).scheme}://{host_of(seed)}"
            lines[table.name] = (
                f'no headers and cookies for {seed}: those of "{table.name}" are for '
                f'{table.origin}; to send them to {seed_origin}, give them in ["{seed_origin}"]'
            )
    return list(lines.values())


def read_list(settings: Settings, path: Path) -> tuple[list[str], int]:
    """Reads a list of sites: one URL a line, ``#`` begins a comment.

    Returns:
        (normalized URLs in order, each once; number of lines that repeat a URL).

    Raises:
        ConfigError: The file cannot be read, has no URL, or has invalid lines: the message names
            the first 20 of them.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_LIST_BYTES + 1)
        lines = data.decode("utf-8-sig").splitlines()
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except ValueError:
        raise ConfigError(f"{path} is not UTF-8 text") from None
    if len(data) > MAX_LIST_BYTES:
        raise ConfigError(f"{path} is over {MAX_LIST_BYTES >> 20} MB: split it")
    urls: dict[str, None] = {}
    repeated = 0
    bad = []
    for number, line in enumerate(lines, 1):
        url = "" if line.lstrip().startswith("#") else line.partition(" #")[0].strip()
        if not url:
            continue
        try:
            [seed] = crawl_spec(settings, [url], "").seeds
        except (InvalidUrl, ConfigError) as error:
            bad.append(f"{path}:{number}: {error}")
            continue
        repeated += seed in urls
        urls[seed] = None
    if bad:
        more = [f"and {len(bad) - MAX_SHOWN_LINES} more"] if len(bad) > MAX_SHOWN_LINES else []
        raise ConfigError("\n".join([*bad[:MAX_SHOWN_LINES], *more]))
    if not urls:
        raise ConfigError(f"{path} has no URL: write one URL a line")
    return list(urls), repeated
