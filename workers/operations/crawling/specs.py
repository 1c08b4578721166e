"""Crawl specifications from URLs as an operator types them and from the settings.

`sites` reads its URLs from a file, one a line; both read them from a crawl file, too.
"""

from __future__ import annotations

import hashlib
import re
import socket
import ssl
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from crawlclean.cleaning.errors import ConfigError, InvalidUrl
from crawlclean.cleaning.urls.normal_form import host_of, normalize
from crawlclean.crawler.addresses.public import is_public
from crawlclean.crawler.hosts_file import load_hosts
from crawlclean.storage.crawl_types import CrawlSpec, PolitenessPolicy, Scope
from crawlclean.workers.config import Settings
from crawlclean.workers.crawl_file.crawl_file import CrawlFile, is_crawl_file
from crawlclean.workers.crawl_file.toml_lines import MAX_LIST_BYTES, read_text

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
        crawl_id=unicodedata.normalize("NFC", name) or derived_name(seeds),
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
        verify_tls=crawl.verify_tls,
        include=crawl.include,
        exclude=crawl.exclude,
        page_robots=crawl.page_robots,
        keep_fresh=crawl.keep_fresh,
    )


def derived_name(seeds: Sequence[str]) -> str:
    """Derives a crawl's name from its seeds, as ``example.com-3f2a``: first host, digest of all."""
    digest = hashlib.blake2b("\n".join(sorted(seeds)).encode(), digest_size=2).hexdigest()
    return re.sub(r"[^a-z0-9.-]", "-", host_of(seeds[0]))[:48].strip(".-") + "-" + digest


def _seed(text: str, *, allow_private: bool) -> str:
    try:
        url = normalize(text)
    except InvalidUrl as error:
        hint = f"; did you mean https://{text}?" if re.fullmatch(r"[^\s:]+\.[^\s:]+", text) else ""
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


def check_ca_file(settings: Settings) -> None:
    """Returns when the file of authorities can be used, or there is none.

    Raises:
        ConfigError: It cannot be read, or holds no certificate.
    """
    path = settings.crawl.ca_file
    try:
        if path is not None:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(path)
    except ssl.SSLError:
        raise ConfigError(f"{path} holds no PEM certificates") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None


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
    if path.parts[:1] in (("http:",), ("https:",)) and not path.exists():
        url = str(path).replace(":/", "://", 1)
        raise ConfigError(f"{url} is a URL: `run {url}` crawls one site, `sites FILE` a list")
    return _usable(path, *find_urls(settings, path))


def read_seeds(settings: Settings, file: CrawlFile) -> tuple[list[str], int]:
    """Returns the seeds of a crawl file, as ``read_list`` returns those of a list.

    Raises:
        ConfigError: As for a list.
    """
    return _usable(file.path, *find_seeds(settings, file))


def find_urls(settings: Settings, path: Path) -> tuple[dict[str, int], list[str]]:
    """Returns (times that each URL of a list is there, a line for each invalid line).

    Raises:
        ConfigError: The file cannot be read.
    """
    lines = enumerate(read_text(path, MAX_LIST_BYTES).splitlines(), 1)
    written = (
        (f"{path}:{number}", "" if line.lstrip().startswith("#") else line.partition(" #")[0])
        for number, line in lines
    )
    return _checked(settings, written)


def find_seeds(settings: Settings, file: CrawlFile) -> tuple[dict[str, int], list[str]]:
    """Returns (times that each seed of a crawl file is there, a line for each invalid seed).

    Raises:
        ConfigError: Its file of seeds cannot be read.
    """
    line = file.lines.get(("seeds",), 0)
    written = (
        (f"{file.path}:{file.lines.get(('seeds', n), line)}", text or "''")
        for n, text in enumerate(file.values.get("seeds", ()))
    )
    found, bad = _checked(settings, written)
    if path := file.values.get("seeds_file"):
        more, worse = find_urls(settings, path)
        found |= {url: times + found.get(url, 0) for url, times in more.items()}
        bad += worse
    return found, bad


def _checked(
    settings: Settings, written: Iterable[tuple[str, str]]
) -> tuple[dict[str, int], list[str]]:
    found: dict[str, int] = {}
    bad = []
    for place, text in written:
        if not text.strip():
            continue
        try:
            seed = _seed(text.strip(), allow_private=settings.crawl.allow_private)
        except ConfigError as error:
            bad.append(f"{place}: {error}")
            continue
        found[seed] = found.get(seed, 0) + 1
    return found, bad


def _usable(path: Path, found: dict[str, int], bad: list[str]) -> tuple[list[str], int]:
    if bad:
        more = [f"and {len(bad) - MAX_SHOWN_LINES} more"] if len(bad) > MAX_SHOWN_LINES else []
        raise ConfigError("\n".join([*bad[:MAX_SHOWN_LINES], *more]))
    if not found:
        if is_crawl_file(path):
            raise ConfigError(f"{path} has no seeds: write seeds = [...], or give URLs after it")
        raise ConfigError(f"{path} has no URL: write one URL a line")
    return list(found), sum(found.values()) - len(found)
