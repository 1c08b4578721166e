"""Spider traps that show in one URL, and the removal of session ids and marks of advertising.

Each limit is above the values that sites use on purpose. URLs beyond a limit come from

- relative links that repeat directories without end: ``/a/b/a/b/a/b/``;
- a return address nested in itself: ``/login?back=%2Flogin%3Fback%3D...``;
- a filter that adds up its parameters.
"""

from __future__ import annotations

import re
from collections import Counter
from enum import StrEnum
from urllib.parse import unquote

from crawlclean.cleaning.urls.patterns import SESSION_NAMES, is_session_like
from crawlclean.cleaning.urls.readable import readable

MAX_SEGMENTS = 20
MAX_PARAMETERS = 30
MOST_REPEATS = {"word": 3, "letter": 4, "number": 5}  # of one directory
MOST_CYCLES = 2  # a/b/a/b may be; a/b/a/b/a/b is not
MOST_NESTS = 1  # of a parameter in its own value
MOST_ESCAPES = 2  # how often a percent sign may be escaped: %252F is a slash escaped twice
UNQUOTE_LIMIT = 6

_OVER_ESCAPED = re.compile("%25" + "25" * (MOST_ESCAPES - 1), re.ASCII)
# Only names that mean a session wherever they occur: a sid may be a story's number.
_SESSION = re.compile(
    r"(?:jsessionid|phpsessid|aspsessionid\w*|oscsid|zenid|cfid|cftoken)=[\w.!-]*", re.I | re.ASCII
)
# What mailings, advertisements and shops add to follow a visitor, and browsers and filter lists
# (AdGuard, ClearURLs, Firefox) take away: it never names a page.
_MARK = re.compile(
    r"(?:utm_\w+|fbclid|[dg]clid|gclsrc|[gw]braid|msclkid|yclid|twclid|igshid|mc_[ce]id|mkt_tok|"
    r"_hsenc|_hsmi|__hs\w+|_openstat|vero_id|oly_(?:anon|enc)_id|_ga|_gl|spm)(?:=.*)?",
    re.I | re.ASCII,
)
_MAYBE_LEFT_OUT = re.compile(
    r"sessionid|phpsessid|oscsid|zenid|cfid=|cftoken=|session(?:_id)?=|[?&]sid=|utm_|clid|clsrc|"
    r"braid|igshid|mc_[ce]id|mkt_tok|_hs|_openstat|vero_id|oly_|[?&](?:_g[al]|spm)\b",
    re.I,
)


class TrapSign(StrEnum):
    """The sign of a trap in a URL."""

    REPEATED_SEGMENTS = "repeated_segments"
    TOO_MANY_SEGMENTS = "too_many_segments"
    NESTED_ADDRESS = "nested_address"
    TOO_MANY_PARAMETERS = "too_many_parameters"


def find_trap_sign(url: str) -> TrapSign | None:
    """Returns the sign of a trap in a URL in normal form; None without."""
    path, _, query = url[max(url.find("/", 8), 0) :].partition("?")
    depth = path.count("/")
    if depth > MAX_SEGMENTS:
        return TrapSign.TOO_MANY_SEGMENTS
    if depth > MOST_REPEATS["word"] and _repeats(path.split("/")[1:-1]):
        return TrapSign.REPEATED_SEGMENTS
    if not query:
        return None
    pairs = query.count("&")
    if pairs >= MAX_PARAMETERS:
        return TrapSign.TOO_MANY_PARAMETERS
    if _OVER_ESCAPED.search(query):
        return TrapSign.NESTED_ADDRESS
    if (query.count("=") > pairs + 1 or "%" in query) and _nests(query):
        return TrapSign.NESTED_ADDRESS
    return None


def without_session(url: str) -> str:
    """Removes session ids and marks of advertising: ``;jsessionid=0A1B``, ``utm_source=mail``.

    ``sid`` and ``session`` are removed only where the value is random: it may be a story's number.
    """
    if not _MAYBE_LEFT_OUT.search(url):
        return url
    head, mark, query = url.partition("?")
    if ";" in head:
        head = "/".join(_without_parameters(segment) for segment in head.split("/"))
    if query:
        kept = [part for part in query.split("&") if not _is_left_out(part)]
        mark, query = ("?", "&".join(kept)) if kept else ("", "")
    return head + mark + query


def _is_left_out(part: str) -> bool:
    """Whether a parameter names no page: ``fbclid=IwAR0``, ``sid=0a1b2c3d4e5f``."""
    if _SESSION.fullmatch(part) or _MARK.fullmatch(part):
        return True
    name, _, value = part.partition("=")
    return name.lower() in SESSION_NAMES and is_session_like(value)


def _without_parameters(segment: str) -> str:
    """A path segment without session ids: ``page.jsp`` of ``page.jsp;jsessionid=0A1B``."""
    first, *rest = segment.split(";")
    return ";".join([first, *(part for part in rest if not _SESSION.fullmatch(part))])


def _repeats(directories: list[str]) -> bool:
    """Whether directories repeat too often, alone or in cycles (``a/b/a/b/a/b``)."""
    if len(directories) == len(set(directories)):
        return False
    for directory, times in Counter(directories).items():
        name = readable(directory)
        kind = "number" if name.isdigit() else "word" if len(name) > 1 else "letter"
        if times > MOST_REPEATS[kind]:
            return True
    return any(
        _cycles(directories, length) > MOST_CYCLES
        for length in range(2, len(directories) // (MOST_CYCLES + 1) + 1)
    )


def _cycles(directories: list[str], length: int) -> int:
    """Counts how often in a row a run of ``length`` directories, not all equal, is repeated."""
    most = run = 1
    matched = 0
    for i in range(length, len(directories)):
        matched = matched + 1 if directories[i] == directories[i - length] else 0
        run = 1 + matched // length
        if run > most and len(set(directories[i - length + 1 : i + 1])) > 1:
            most = run
    return most


def _nests(query: str) -> bool:
    """Whether a parameter occurs in its own value."""
    for part in query.split("&"):
        name, _, value = part.partition("=")
        if len(value) <= len(name):
            continue
        inner = re.compile(rf"[?&;]{re.escape(name)}=")
        plain = value
        for _ in range(UNQUOTE_LIMIT):
            if len(inner.findall(plain)) > MOST_NESTS:
                return True
            unquoted = unquote(plain)
            if unquoted == plain:
                break
            plain = unquoted
    return False
