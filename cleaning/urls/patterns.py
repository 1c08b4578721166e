"""URL patterns: the class of a URL before the rules of its host are learned.

``url_classes.rules.class_of`` uses them. A pattern is wider than a learned template
(``url_classes/classes.py``), because a trap has to show before anything is learned. It consists of

- the directories, with numbers and session ids taken out: ``/board#/``;
- the last segment as a wildcard with its extension: ``*.html``;
- the names of the query, sorted: ``?page&sort``.

``/board12/thread-5-1.html?sort=new&page=2`` has the pattern ``/board#/*.html?page&sort``. Behind a
session id the rest of the path is one wildcard, for every session repeats the whole site.

Letters, digits and lengths are those of the readable form (``shapes.py``, ADR 30):
``/%E6%96%B0%E9%97%BB2/a`` has the pattern ``/新闻#/*``. The digits of an escape are no numbers.

A *group* is wider: a path with any query (``/board#/*.html?**``), or everything under a directory
(``/board#/**``); a trap that makes a new pattern with every page shows in its group. The root of a
site has neither pattern nor group.

Patterns are only compared with each other: two URLs that share one by accident cost nothing as long
as pages of either bring something.
"""

from __future__ import annotations

import re
from collections import Counter
from enum import StrEnum
from functools import lru_cache
from urllib.parse import unquote

from crawlclean.cleaning.urls.shapes import readable

MAX_PATTERN_CHARS = 160  # a host's accounts are kept by pattern, and a trap makes long ones
MAX_NAMES = 12  # of a query, for the same reason: a filter that adds up names parameters
GROUP_DEPTH = 3  # directories of the narrowest group: each level is an account of every page
SESSION = "{session}"  # a session id and the path behind it

SESSION_NAMES = frozenset(
    {
        "aspsessionid",
        "cfid",
        "cftoken",
        "jsessionid",
        "oscsid",
        "phpsessid",
        "session",
        "session_id",
        "sessionid",
        "sid",
        "zenid",
    }
)
LEAST_SESSION_CHARS = 8  # shortest session id of a known name; sid=12 may be a section
LEAST_HEX_CHARS = 10  # shorter hex with a digit may be a colour or a number of a product
LEAST_TOKEN_CHARS = 16  # names with numbers in them are mostly shorter, random ids longer
LEAST_CHANGES = 4  # between letter and digit: random characters mix them, words do not

_HEX = re.compile(r"[0-9A-Fa-f-]+")
_TOKEN = re.compile(r"[A-Za-z0-9_-]+")
_CHANGE = re.compile(r"[A-Za-z](?=[0-9])|[0-9](?=[A-Za-z])")
_LETTER = re.compile(r"[^\W\d_]")
_ESCAPE_OR_DIGITS = re.compile(r"%[0-9A-F]{2}|(\d+)")
_RAW_BYTE = re.compile(r"%[89A-F][0-9A-F]")  # of text that is no UTF-8, as GBK
_EXTENSION = re.compile(r"\.[A-Za-z]{1,5}")


def pattern_of(url: str) -> str:
    """Returns the pattern of a URL in normal form, ``""`` for the root of a site.

    Most URLs differ from others of their folder by a last segment without a session: these take a
    tenth of the time of ``patterns_of``.
    """
    end = url.rfind("/") + 1
    if end <= 8 or end == len(url) or "?" in url or "%" in url or ";" in url:
        return next(iter(patterns_of(url)), "")
    folder = _folder_pattern(url[:end])
    return _short(folder + _last(url[end:])) if folder[-1] == "/" else folder


@lru_cache(maxsize=2048)
def _folder_pattern(folder: str) -> str:
    """``/board#/`` for the pages of a folder; their whole pattern where it ends in the folder."""
    pattern = patterns_of(folder + "a")[0]
    return pattern[:-1] if pattern.endswith("/*") else pattern


@lru_cache(maxsize=512)  # asked for several times while a page is cleaned
def patterns_of(url: str) -> tuple[str, ...]:
    """Returns the pattern of a URL in normal form, then its groups, the narrowest first.

    ``http://example.com/deep/a/x?y=1`` has ``/deep/a/*?y``, ``/deep/a/*?**``, ``/deep/a/**`` and
    ``/deep/**``; the root of a site has none.
    """
    start = url.find("/", 8)
    target = readable(url[start:]) if start > 0 else "/"
    path, _, query = target.partition("?")
    segments = path.split("/")[1:]
    if segments == [""] and not query:
        return ()
    is_folder = segments[-1] == "" and len(segments) > 1
    if is_folder:
        segments.pop()
    names, in_query = _names_of(query)
    *directories, last = segments
    shown: list[str] = []
    for directory in directories:
        if is_session_like(directory) or _has_session_parameter(directory):
            shown.append(SESSION)
            break
        shown.append(_general(directory))
    if SESSION in shown or _has_session_parameter(last):
        shown = [part for part in shown if part != SESSION]
        stem = "/".join(["", *shown, SESSION])
    elif in_query:
        shown, stem = [], f"/{SESSION}"  # any path has it
    else:
        stem = "/".join(["", *shown, "*/" if is_folder else _last(last)])
    groups = [f"{stem}?**"] if query else []
    groups += [
        "/".join(["", *shown[:depth], "**"]) for depth in range(min(len(shown), GROUP_DEPTH), 0, -1)
    ]
    pattern = f"{stem}?{names}" if query else stem
    return tuple(_short(each) for each in (pattern, *groups))


def is_session_like(text: str) -> bool:
    """Whether a segment or value looks random: long hex, or letters mixed with digits."""
    if len(text) < LEAST_HEX_CHARS or not _CHANGE.search(text):
        return False
    if _HEX.fullmatch(text):
        return True
    if len(text) < LEAST_TOKEN_CHARS or not _TOKEN.fullmatch(text):
        return False
    # A slug has words between its hyphens.
    return "-" not in text and len(_CHANGE.findall(text)) >= LEAST_CHANGES


def is_session_parameter(name: str, value: str) -> bool:
    """Whether a parameter is a session id by its name and value: ``sid=0a1b2c3d``."""
    known, value = name.lower(), _RAW_BYTE.sub("", value)
    if known.startswith("aspsessionid"):
        known = "aspsessionid"
    if known not in SESSION_NAMES or len(value) < LEAST_SESSION_CHARS:
        return False
    return value.isdigit() or bool(_CHANGE.search(value)) or is_session_like(value)


def _has_session_parameter(segment: str) -> bool:
    """Whether a segment has a session id as a parameter: ``page.jsp;jsessionid=0A1B2C3D``."""
    pairs = (part.partition("=") for part in segment.split(";")[1:])
    return any(is_session_parameter(name, value) for name, _, value in pairs)


def _names_of(query: str) -> tuple[str, bool]:
    """(sorted names of a query, whether a value is a session id): ``("page&sort", False)``."""
    if not query:
        return "", False
    names, has_session = set(), False
    for part in query.split("&"):
        name, _, value = part.partition("=")
        has_session = has_session or is_session_like(value) or is_session_parameter(name, value)
        names.add(_general(name))
    return "&".join(sorted(names)[:MAX_NAMES]), has_session


def _general(segment: str) -> str:
    """A directory with ``#`` for numbers, ``*`` for numbers alone and random text: ``board#``."""
    if not _LETTER.search(segment):
        return "*" if segment else ""
    if is_session_like(segment):
        return "*"
    return _ESCAPE_OR_DIGITS.sub(lambda found: "#" if found[1] else found[0], segment)


def _last(segment: str) -> str:
    """A wildcard for the last segment, with its extension: ``*.html``."""
    dot = segment.rfind(".")
    extension = segment[dot:] if dot >= 0 else ""
    return "*" + (extension.lower() if _EXTENSION.fullmatch(extension) else "")


def _short(pattern: str) -> str:
    """A pattern of at most 160 characters; cut ones end with ``***``."""
    if len(pattern) <= MAX_PATTERN_CHARS:
        return pattern
    return pattern[: MAX_PATTERN_CHARS - 3] + "***"


# Spider traps that show in one URL, and the removal of session ids and marks of advertising.
#
# Each limit is above the values that sites use on purpose. URLs beyond a limit come from
#
# - relative links that repeat directories without end: ``/a/b/a/b/a/b/``;
# - a return address nested in itself: ``/login?back=%2Flogin%3Fback%3D...``;
# - a filter that adds up its parameters.

MAX_SEGMENTS = 20  # of a path; archives of whole trees are less deep
MAX_PARAMETERS = 30  # of a query; forms of searches have fewer fields
MOST_REPEATS = {"word": 3, "letter": 4, "number": 5}  # of one directory
MOST_CYCLES = 2  # a/b/a/b may be; a/b/a/b/a/b is not
MOST_NESTS = 1  # of a parameter in its own value
MOST_ESCAPES = 2  # how often a percent sign may be escaped: %252F is a slash escaped twice
UNQUOTE_LIMIT = 6  # rounds of undoing escapes: more than nesting needs to be seen, and an end

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
