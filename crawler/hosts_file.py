"""Reads a hosts file: a TOML table for each host, domain or origin.

::

    ["forum.example.com"]           # the host; "forum.example.com:8080" is another
    delay_s = 2.5                   # pause after an answer; a longer Crawl-delay still wins
    slots = 2                       # requests at a time
    user_agent = "Partner/1.0"      # robots.txt is still matched with our own name
    verify_tls = true               # refuse the host when its certificate is wrong
    headers = { Authorization = "Bearer ..." }      # only to https://forum.example.com
    cookies = { session = "..." }

    ["http://127.0.0.1:8081"]       # an origin: the only way to send a secret without encryption
    headers = { X-Key = "..." }

    ["*.example.org"]               # example.org and every host in it
    proxy = "http://user:password@proxy.example:3128"

In a crawl file (``workers/crawl_file/``) the tables are in ``[hosts]``:
``[hosts."*.example.org"]``.
"""

from __future__ import annotations

import re
import tomllib
from base64 import b64encode
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from crawlclean.cleaning.errors import ConfigError, InvalidUrl
from crawlclean.cleaning.urls.normal_form import host_of, normalize
from crawlclean.storage.crawl_types import HostPoliteness

# Host overrides of an operator: what the tables of a hosts file change for one URL.
#
# For each key the most specific table with that key counts. Headers and cookies may be secrets.
# They belong to an origin (scheme, host and port) and are given to no other: a name without scheme
# is https, a name without port is the scheme's own port. ``hosts_file.py`` reads the file.
#
# Delays and slots go into the queue with the crawl. Headers, cookies and proxies are in the memory
# of the spider's process alone.

CACHED_ORIGINS = 1000  # merged overrides kept: a lease needs them several times; bounds memory
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
        user, _, password = urlsplit(self.proxy or "").netloc.rpartition("@")[0].partition(":")
        if user:
            secret = f"{unquote(user)}:{unquote(password)}".encode()
            headers["Proxy-Authorization"] = "Basic " + b64encode(secret).decode()
        return headers

    def request_meta(self) -> dict[str, str]:
        """Returns Scrapy's request meta: ``{"proxy": "http://proxy.example:3128"}``, or ``{}``."""
        parts = urlsplit(self.proxy or "")
        place = parts.netloc.rpartition("@")[2]
        return {"proxy": f"{parts.scheme}://{place}"} if self.proxy else {}


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
        proxies = (table.override.proxy for table in self._all())
        return frozenset(urlsplit(proxy).hostname or "" for proxy in proxies if proxy)

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


TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
COOKIE_VALUE = re.compile(r"[\x21-\x3a\x3c-\x7e]*")
OTHER_KEYS = {  # headers with a key of their own, or not for operators
    "user-agent": "use user_agent",
    "cookie": "use cookies",
    "proxy-authorization": "it is part of proxy",
    **dict.fromkeys(
        ("host", "content-length", "transfer-encoding", "connection", "accept-encoding"),
        "the program sets it",
    ),
}
NAME = re.compile(r"(?:(https?)://)?(\*\.)?([^/?#@*\s\\]+)/?")
LONGEST_DELAY_S = 86_400  # a day: a longer pause is a slip of the pen
MOST_SLOTS = 1000  # requests at a time: no spider has so many by default


def load_hosts(path: Path | None) -> HostOverrides:
    """Reads a hosts file; None gives no overrides.

    Raises:
        ConfigError: The file is unreadable or invalid; the message names file, host and key.
    """
    if path is None:
        return HostOverrides()
    try:
        tables = tomllib.loads(path.read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the hosts file {path} cannot be read: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: {error}") from error
    overrides, problems = read_tables(host_tables(tables))
    for name, why in problems:
        raise ConfigError(f'{path}: "{name.rpartition("@")[2]}" {why}')
    return overrides


def host_tables(tables: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the tables of hosts: in a crawl file those in ``[hosts]``, beside ``[overrides]``."""
    hosts = tables.get("hosts")
    names = [k for k, v in tables.items() if isinstance(v, dict) and k != "overrides"]
    return hosts if names == ["hosts"] and isinstance(hosts, dict) else tables


def read_tables(tables: Mapping[str, Any]) -> tuple[HostOverrides, list[tuple[str, str]]]:
    """Returns (the overrides of valid tables, the name and the problem of each invalid one).

    A problem is ``("a.example", "slots: a whole number from 1 to 1000 is needed")``.
    """
    read: dict[tuple[str, str], HostTable] = {}
    problems = []
    for name, values in tables.items():
        try:
            table = _table(name, values)
        except ConfigError as error:
            problems.append((name, str(error)))
            continue
        key = (table.pattern, table.origin if table.is_origin else "")
        if key in read:
            problems.append((name, "is there twice"))
        read[key] = table
    return HostOverrides(tuple(read.values())), problems


def _table(name: str, values: Any) -> HostTable:
    found = NAME.fullmatch(name.lower())
    scheme, star, authority = found.groups() if found else ("", "", "")
    try:
        origin = host_of(normalize(f"{scheme or 'https'}://{authority}/"))
        pattern = origin if scheme else host_of(normalize(f"http://{authority}/"))
    except InvalidUrl:
        found = None
    if not found or (star and ":" in authority):
        raise ConfigError("is no host, host:port, *.domain or http(s)://host:port")
    override = _override(values)
    if scheme and (override.delay_s, override.slots) != (None, None):
        raise ConfigError(
            f'has a scheme: delay_s and slots are for a whole host, give them in ["{pattern}"]'
        )
    return HostTable(
        name=name,
        pattern=(star or "") + pattern.removesuffix(":443"),
        origin=f"{scheme or 'https'}://{star or ''}{origin}",
        is_origin=bool(scheme),
        override=override,
    )


def _hint(key: str, value: Any, keys: Collection[str]) -> str:
    """The end of the message about an unknown key: ``; did you mean slots?``, or all keys."""
    if isinstance(value, dict):
        return f": {', '.join(keys)} (write a host with dots in quotes)"
    near = get_close_matches(key.replace("-", "_").lower(), keys, n=1)
    return f"; did you mean {near[0]}?" if near else f": {', '.join(keys)}"


def _override(table: Any) -> HostOverride:
    if not isinstance(table, dict):
        raise ConfigError("is no table: write the host in quotes, in square brackets")
    read = {
        "delay_s": _delay,
        "slots": _slots,
        "user_agent": _line,
        "verify_tls": _switch,
        "headers": _headers,
        "cookies": _cookies,
        "proxy": _proxy,
    }
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key not in read:
            raise ConfigError(f"has no key {key}{_hint(key, value, read)}")
        try:
            values[key] = read[key](value)
        except ConfigError as error:
            raise ConfigError(f"{key}: {error}") from None
    override = HostOverride(**values)
    if override.has_secrets and override.verify_tls is False:
        raise ConfigError(
            "verify_tls: headers and cookies go to verified hosts only; "
            "name the authority of a private certificate with --ca-file"
        )
    return override


def _switch(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ConfigError("true or false is needed")
    return value


def _delay(value: Any) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise ConfigError("a number of seconds is needed")
    if not 0 <= value <= LONGEST_DELAY_S:
        raise ConfigError(f"{value} is not between 0 and {LONGEST_DELAY_S} seconds")
    return float(value)


def _slots(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MOST_SLOTS:
        raise ConfigError(f"a whole number from 1 to {MOST_SLOTS} is needed")
    return value


# These values may be secrets: an error never shows the value.


def _line(value: Any) -> str:
    if not isinstance(value, str) or not value.isascii() or not value.isprintable():
        raise ConfigError("a line of printable ASCII is needed")
    return value.strip()


def _headers(value: Any) -> tuple[tuple[str, str], ...]:
    pairs = []
    for name, text in _pairs(value, "header"):
        if name.lower() in OTHER_KEYS:
            raise ConfigError(f"{name} cannot be set here: {OTHER_KEYS[name.lower()]}")
        pairs.append((name, _line(text)))
    return tuple(pairs)


def _cookies(value: Any) -> tuple[tuple[str, str], ...]:
    pairs = []
    for name, text in _pairs(value, "cookie"):
        if not COOKIE_VALUE.fullmatch(_line(text)):
            raise ConfigError(f"the value of {name} holds a space or a semicolon")
        pairs.append((name, _line(text)))
    return tuple(pairs)


def _pairs(value: Any, kind: str) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, dict):
        raise ConfigError('a table is needed: { name = "value" }')
    for name, text in value.items():
        if not TOKEN.fullmatch(name):
            raise ConfigError(f"a name is no {kind} name")
        yield name, text


def _proxy(value: Any) -> str:
    text = _line(value)
    try:
        parts = urlsplit(text)
        usable = parts.scheme == "http" and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable or parts.path not in ("", "/") or parts.query or parts.fragment:
        raise ConfigError("http://host:port or http://user:password@host:port is needed")
    return text
