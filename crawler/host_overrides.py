"""Host overrides of an operator: what the tables of a hosts file change for one URL.

For each key the most specific table with that key counts. Headers and cookies may be secrets. They
belong to an origin (scheme, host and port) and are given to no other: a name without scheme is
https, a name without port is the scheme's own port. ``hosts_file.py`` reads the file.

Delays and slots go into the queue with the crawl. Headers, cookies and proxies are in the memory of
the spider's process alone.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from urllib.parse import unquote, urlsplit

from crawlclean.cleaning.urls.normal_form import host_of
from crawlclean.storage.politeness_policy import HostPoliteness

CACHED_ORIGINS = 1000
SECRET_KEYS = frozenset({"headers", "cookies"})


@dataclass(frozen=True, slots=True, kw_only=True)
class HostOverride:
    """The overrides of one host; None for a key without one. Secrets have no repr."""

    delay_s: float | None = None
    slots: int | None = None
    user_agent: str | None = None
    verify_tls: bool | None = None
    headers: tuple[tuple[str, str], ...] | None = field(default=None, repr=False)
    cookies: tuple[tuple[str, str], ...] | None = field(default=None, repr=False)
    proxy: str | None = field(default=None, repr=False)

    @property
    def has_secrets(self) -> bool:
        """Whether there are headers or cookies: any of them may be a secret."""
        return bool(self.headers or self.cookies)

    def request_headers(self) -> dict[str, str]:
        """Returns the headers that a request to the host gets besides the default ones."""
        headers = dict(self.headers or ())
        if self.user_agent is not None:
            headers["User-Agent"] = self.user_agent
        if self.cookies:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies)
        user, _, password = _user_part(self.proxy or "").partition(":")
        if user:
            secret = f"{unquote(user)}:{unquote(password)}".encode()
            headers["Proxy-Authorization"] = "Basic " + b64encode(secret).decode()
        return headers

    def request_meta(self) -> dict[str, str]:
        """Returns Scrapy's request meta: ``{"proxy": "http://proxy.example:3128"}``, or ``{}``."""
        return {"proxy": _without_user(self.proxy)} if self.proxy else {}

    @property
    def proxy_hostname(self) -> str:
        """The host name of the proxy, ``proxy.example``; ``""`` without one."""
        return urlsplit(self.proxy).hostname or "" if self.proxy else ""


NOTHING = HostOverride()


@dataclass(frozen=True, slots=True, kw_only=True)
class HostTable:
    """One table of a hosts file.

    Attributes:
        name: As written: ``forum.example.com``, ``http://127.0.0.1:8081``, ``*.example.org``.
        pattern: The hosts that it is for: ``127.0.0.1:8081``, ``*.example.org``.
        origin: The origin that its headers and cookies are for: ``https://forum.example.com``,
            ``https://*.example.org``.
        is_origin: Whether the name has a scheme: then every key is for the origin alone.
        override: The values.
    """

    name: str
    pattern: str
    origin: str
    is_origin: bool
    override: HostOverride


class HostOverrides:
    """The tables of a hosts file; merges those that are for one URL."""

    def __init__(self, tables: Sequence[HostTable] = ()) -> None:
        self._tables: dict[str, list[HostTable]] = {}
        for table in sorted(tables, key=lambda table: not table.is_origin):
            self._tables.setdefault(table.pattern, []).append(table)
        self._cache: OrderedDict[tuple[str, str], HostOverride] = OrderedDict()

    def of(self, url: str) -> HostOverride:
        """Merges the overrides for a URL in normal form; the most specific table wins."""
        if not self._tables:
            return NOTHING
        scheme, host = url.partition(":")[0], host_of(url)
        known = self._cache.get((scheme, host))
        if known is None:
            known = self._cache[scheme, host] = self._merged(scheme, host)
            if len(self._cache) > CACHED_ORIGINS:
                self._cache.popitem(last=False)
        return known

    def _merged(self, scheme: str, host: str) -> HostOverride:
        found = []
        for table, pattern in self._named(host):
            is_ours = f"{scheme}://{_authority(host, pattern)}" == table.origin
            if is_ours or not table.is_origin:
                found.append((table.override, is_ours))
        values = {}
        for each in fields(HostOverride):
            name = each.name
            allowed = (rule for rule, is_ours in found if is_ours or name not in SECRET_KEYS)
            values[name] = next((v for r in allowed if (v := getattr(r, name)) is not None), None)
        return HostOverride(**values)

    def withheld(self, url: str) -> HostTable | None:
        """Returns the table whose headers or cookies a URL does not get though its host is named.

        The scheme or the port is another one. None: the URL gets them, or there are none.
        """
        if self.of(url).has_secrets:
            return None
        tables = (table for table, _ in self._named(host_of(url)))
        return next((table for table in tables if table.override.has_secrets), None)

    def _named(self, host: str) -> Iterator[tuple[HostTable, str]]:
        for pattern in override_patterns(host):
            for table in self._tables.get(pattern, ()):
                yield table, pattern

    def politeness(self) -> tuple[HostPoliteness, ...]:
        """Returns delays and slots by pattern, for the politeness policy of a crawl."""
        return tuple(
            HostPoliteness(
                pattern=table.pattern,
                delay_ms=None if rule.delay_s is None else round(rule.delay_s * 1000),
                slots=rule.slots,
            )
            for table in self._all()
            if ((rule := table.override).delay_s, rule.slots) != (None, None)
        )

    def proxy_hostnames(self) -> frozenset[str]:
        """Returns the host names of all proxies."""
        return frozenset(t.override.proxy_hostname for t in self._all() if t.override.proxy)

    def _all(self) -> Iterator[HostTable]:
        return (table for tables in self._tables.values() for table in tables)


def override_patterns(host: str) -> Iterator[str]:
    """Yields the patterns of a hosts file that match a host, the most specific first.

    For ``a.example:8080``: ``a.example:8080``, ``a.example``, ``*.a.example``, ``*.example``.
    """
    yield host
    name = re.sub(r":\d+$", "", host)
    if name != host:
        yield name
    rest = name
    while rest:
        yield f"*.{rest}"
        rest = rest.partition(".")[2]


def _authority(host: str, pattern: str) -> str:
    """Returns the host in the form of a pattern that matches it, with its port.

    ``*.example.org`` for ``www.example.org``, ``*.example.org:8080`` for ``www.example.org:8080``.
    """
    if not pattern.startswith("*."):
        return host
    port = re.search(r":\d+$", host)
    return pattern + (port[0] if port else "")


def _user_part(proxy: str) -> str:
    authority = urlsplit(proxy).netloc
    return authority.rpartition("@")[0]


def _without_user(proxy: str) -> str:
    parts = urlsplit(proxy)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
