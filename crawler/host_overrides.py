"""Host overrides of an operator: the hosts file, with a TOML table for each host or domain.

::

    ["forum.example.com"]           # the host; "forum.example.com:8080" is another
    delay_s = 2.5                   # pause after an answer; a longer Crawl-delay still wins
    slots = 2                       # requests at a time
    user_agent = "Partner/1.0"      # robots.txt is still matched with our own name
    headers = { Authorization = "Bearer ..." }
    cookies = { session = "..." }

    ["*.example.org"]               # example.org and every host in it
    proxy = "http://user:password@proxy.example:3128"

For each key the most specific table with that key counts. Delays and slots go into the queue with
the crawl. Headers, cookies and proxies may be secrets: only the spider's process holds them.
"""

from __future__ import annotations

import re
import tomllib
from base64 import b64encode
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from cleaning.errors import ConfigError, InvalidUrl
from cleaning.urls.normal_form import host_of, normalize
from storage.politeness_policy import HostPoliteness

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
CACHED_HOSTS = 1000
LONGEST_DELAY_S = 86_400
MOST_SLOTS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class HostOverride:
    """The overrides of one host; None for a key without one. Secrets have no repr."""

    delay_s: float | None = None
    slots: int | None = None
    user_agent: str | None = None
    headers: tuple[tuple[str, str], ...] | None = field(default=None, repr=False)
    cookies: tuple[tuple[str, str], ...] | None = field(default=None, repr=False)
    proxy: str | None = field(default=None, repr=False)

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


class HostOverrides:
    """The overrides of a hosts file by pattern; merges those of one host."""

    def __init__(self, overrides: Mapping[str, HostOverride] | None = None) -> None:
        self._overrides = dict(overrides or {})
        self._cache: OrderedDict[str, HostOverride] = OrderedDict()

    def of(self, host: str) -> HostOverride:
        """Merges the overrides of a host, ``example.com:8080``; the most specific table wins."""
        if not self._overrides:
            return NOTHING
        known = self._cache.get(host)
        if known is None:
            names = [name for name in override_patterns(host) if name in self._overrides]
            found = [self._overrides[name] for name in names]
            known = HostOverride(
                **{
                    f.name: next((v for r in found if (v := getattr(r, f.name)) is not None), None)
                    for f in fields(HostOverride)
                }
            )
            self._cache[host] = known
            if len(self._cache) > CACHED_HOSTS:
                self._cache.popitem(last=False)
        return known

    def politeness(self) -> tuple[HostPoliteness, ...]:
        """Returns delays and slots by pattern, for the politeness policy of a crawl."""
        return tuple(
            HostPoliteness(
                pattern=pattern,
                delay_ms=None if rule.delay_s is None else round(rule.delay_s * 1000),
                slots=rule.slots,
            )
            for pattern, rule in self._overrides.items()
            if (rule.delay_s, rule.slots) != (None, None)
        )

    def proxy_hostnames(self) -> frozenset[str]:
        """Returns the host names of all proxies."""
        return frozenset(r.proxy_hostname for r in self._overrides.values() if r.proxy)


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


def load_hosts(path: Path | None) -> HostOverrides:
    """Reads a hosts file; None gives no overrides.

    Raises:
        ConfigError: The file is unreadable or invalid; the message names file, host and key.
    """
    if path is None:
        return HostOverrides()
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the hosts file {path} cannot be read: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: {error}") from error
    rules = {}
    for name, table in tables.items():
        try:
            pattern = _pattern(name)
            if pattern in rules:
                raise ConfigError("is there twice")
            rules[pattern] = _rule(table)
        except ConfigError as error:
            raise ConfigError(f'{path}: "{name}" {error}') from None
    return HostOverrides(rules)


def _pattern(name: str) -> str:
    domain = name.removeprefix("*.")
    try:
        host = host_of(normalize(f"http://{domain}/"))
        is_host = not set(domain) & set("/?#@* \t\r\n\\")
    except InvalidUrl:
        is_host = False
    if not is_host or (domain != name and ":" in domain):
        raise ConfigError("is no host, host:port or *.domain")
    return "*." + host if domain != name else host


def _rule(table: Any) -> HostOverride:
    if not isinstance(table, dict):
        raise ConfigError("is no table: write the host in quotes, in square brackets")
    read = {
        "delay_s": _delay,
        "slots": _slots,
        "user_agent": _line,
        "headers": _headers,
        "cookies": _cookies,
        "proxy": _proxy,
    }
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key not in read:
            hint = " (write a host with dots in quotes)" if isinstance(value, dict) else ""
            raise ConfigError(f"has no key {key}: {', '.join(read)}{hint}")
        try:
            values[key] = read[key](value)
        except ConfigError as error:
            raise ConfigError(f"{key}: {error}") from None
    return HostOverride(**values)


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
    for name, text in _table(value):
        if not TOKEN.fullmatch(name):
            raise ConfigError("a name is no header name")
        if name.lower() in OTHER_KEYS:
            raise ConfigError(f"{name} cannot be set here: {OTHER_KEYS[name.lower()]}")
        pairs.append((name, _line(text)))
    return tuple(pairs)


def _cookies(value: Any) -> tuple[tuple[str, str], ...]:
    pairs = []
    for name, text in _table(value):
        if not TOKEN.fullmatch(name):
            raise ConfigError("a name is no cookie name")
        if not COOKIE_VALUE.fullmatch(_line(text)):
            raise ConfigError(f"the value of {name} holds a space or a semicolon")
        pairs.append((name, _line(text)))
    return tuple(pairs)


def _table(value: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, dict):
        raise ConfigError('a table is needed: { name = "value" }')
    yield from value.items()


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


def _user_part(proxy: str) -> str:
    authority = urlsplit(proxy).netloc
    return authority.rpartition("@")[0]


def _without_user(proxy: str) -> str:
    parts = urlsplit(proxy)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
