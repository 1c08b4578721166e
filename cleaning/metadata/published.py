"""When a page was published: machine-readable dates, else the date that stands with its title.

1. JSON-LD (``datePublished``, Baidu's ``pubDate``), then the usual ``<meta>`` names.
2. Dates on short lines from a little before the title to the beginning of the body, and a few lines
   behind it, each weighed by the words before it (``data/date_labels.txt``), its place, its class
   names, a time of day, and whether the URL holds the same day. ``<time datetime>`` counts by the
   line it stands on. Dates of comments, registrations and copyrights never count; a date of change
   does where there is no other.
3. The day in the URL.

A machine-readable day takes its time of day from the line that shows the same day. What lies in the
future of the fetch is rejected.

htmldate, the kept library for this, needs a tree of its own: docs/adr/0018 has what it costs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, tzinfo
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

from cleaning.document.document import Declared, Document
from cleaning.document.tree import Tree
from cleaning.features.parts import PartKind, kind_of_part
from cleaning.lexicon import by_first_letter, find_words, word_table
from cleaning.metadata.byline import Byline, Inline
from cleaning.metadata.dates import (
    DATE_HINT,
    FoundDate,
    find_date,
    is_future,
    read_timestamp,
    zone_of,
)

# In the order of how surely they are the date of publication.
_METAS = (
    "article:published_time", "og:published_time", "datepublished", "pubdate", "publishdate",
    "publish_date", "publish_time", "publishtime", "bytedance:published_time", "parsely-pub-date",
    "og:release_date", "article:published", "article.published", "sailthru.date",
    "rnews:datepublished",
    "dc.date.issued", "dcterms.issued", "citation_publication_date", "weibo: article:create_at",
    "weibo:article:create_at", "dcterms.created", "dc.date.created", "dc.date", "dcterms.date",
    "date",
)  # fmt: skip
_URL_DAY = re.compile(
    r"(?<!\d)(?P<year>(?:19|20)\d\d)(?P<mark>[-/_]?)(?P<month>0[1-9]|1[0-2])[-/_]?(?P<day>0[1-9]|[12]\d|3[01])(?!\d)"
    r"|/(?P<year2>(?:19|20)\d\d)/(?P<month2>1[0-2]|[1-9])/(?P<day2>[12]\d|3[01]|0?[1-9])/"
)
_DATE_NAMES = re.compile(r"date|time|pub|info|source|meta|byline|riqi|shijian", re.I)
_LABEL_CHARS = 14
_MAX_LEVELS = 8
_PUBLISHED, _CHANGED, _NOT = "published", "changed", "not"


class _Clock(NamedTuple):
    """How the dates of one page are read.

    Attributes:
        zone: Of times without an offset.
        now: When the page was fetched, or None.
        language: Of the page, for the order of day and month.
    """

    zone: tzinfo
    now: datetime | None
    language: str | None


def find_published(document: Document, lines: Byline, language: str | None) -> datetime | None:
    """Find when a page was published: an aware time, or None.

    Args:
        document: The parsed page; a time of fetch at the epoch is not known.
        lines: The lines about its body; without one no visible date is its date.
        language: Of the page, for the time zone and the order of day and month.
    """
    page = document.page
    now = page.fetched_at if page.fetched_at.timestamp() > 0 else None
    zone = zone_of(language)
    said = _first(read_declared_dates(document.declared, zone, language), now)
    if said is not None and said.has_time:
        return said.when
    day = _day_of_url(page.url, zone)
    seen = _find_visible_date(document.tree, lines, _Clock(zone, now, language), day)
    if said is not None:
        is_same = seen is not None and seen.when.date() == said.when.date()
        return seen.when if is_same and seen is not None else said.when
    if seen is not None:
        return seen.when
    return day.when if day is not None and not is_future(day, now) else None


def read_declared_dates(
    declared: Declared, zone: tzinfo, language: str | None
) -> Iterator[FoundDate]:
    """The machine-readable dates of publication, the surest first."""
    for text in (declared.data.published, *declared.metas(*_METAS)):
        found = read_timestamp(text, zone, language) if text else None
        if found is not None:
            yield found


def _find_visible_date(
    tree: Tree, lines: Byline, clock: _Clock, day: FoundDate | None
) -> FoundDate | None:
    """Find the date a reader takes for that of publication, or None.

    Args:
        tree: The parsed page.
        lines: The lines about its body.
        clock: How its dates are read.
        day: The day its URL holds, or None.
    """
    best: FoundDate | None = None
    best_score = 0.0
    timed = [
        line for line, found in lines.inlines.items() if any(tag == "time" for tag, _, _ in found)
    ]
    for line, text in lines.holding(DATE_HINT, timed):
        inlines = lines.inlines.get(line, ())
        for date, label in _dates_of(tree, line, text, inlines, clock):
            if label == _NOT or is_future(date, clock.now):
                continue
            score = _score(tree, lines, line, date, label)
            if day is not None and date.when.date() == day.when.date():
                score += 2
            if score > best_score:
                best, best_score = date, score
    return best


def _dates_of(
    tree: Tree, line: int, text: str, inlines: Sequence[Inline], clock: _Clock
) -> Iterator[tuple[FoundDate, str]]:
    """Up to three dates of a line, each with its label: ``published``, ``changed`` or ``not``."""
    zone, now, language = clock
    begin = 0
    for _ in range(3):
        rest = text[begin:]
        date = find_date(rest, zone, now, language)
        if date is None:
            break
        before = rest[max(0, date.start - _LABEL_CHARS) : date.start]
        if begin == 0 and date.start <= 2 and line:
            above = tree.line_text(line - 1)
            before = above + before if len(above) <= _LABEL_CHARS else before
        yield date, _label_of(before)
        begin += max(date.end, 1)
    for tag, attributes, _ in inlines:
        value = attributes.get("datetime") if tag == "time" else None
        date = read_timestamp(value, zone, language) if value else None
        if date is not None:
            said = attributes.get("itemprop", "") + " " + attributes.get("class", "")
            label = _label_of(text[:_LABEL_CHARS])
            if "modified" in said.lower() or "updated" in said.lower():
                label = _CHANGED
            elif "pubdate" in attributes or "published" in said.lower():
                label = _PUBLISHED
            yield date, label


def _score(tree: Tree, lines: Byline, line: int, date: FoundDate, label: str) -> float:
    """How surely a date is that of publication; not above 0 for one that is not."""
    score = 1.0 + date.has_time
    if label == _PUBLISHED:
        score += 3
    elif label == _CHANGED:
        score -= 0.9
    if lines.is_under_title(line):
        score += 2
    elif line >= lines.first:
        score -= 0.5 if line <= lines.last else 2.0
    elif line >= lines.title:
        score += 2
    else:
        score -= 0.02 * (lines.title - line)
    part = tree.line_blocks[line]
    names = tree.block_names[part]
    if _DATE_NAMES.search(names) or any(
        _DATE_NAMES.search(a.get("class", "")) for _, a, _ in lines.inlines.get(line, ())
    ):
        score += 0.7
    start, end = tree.line_runs(line)
    if all(anchor >= 0 for anchor in tree.anchor_of[start:end]) and line > lines.first:
        score -= 2  # a link to another page
    for _ in range(_MAX_LEVELS):
        if part <= 0:
            break
        if kind_of_part(tree.block_tags[part], tree.block_names[part]) is PartKind.COMMENT:
            return 0.0
        part = tree.block_parents[part]
    return score


@lru_cache(maxsize=2048)
def _label_of(text: str) -> str:
    """Return the meaning of the last label of a text: ``published`` for 发布时间; else ``""``."""
    found = find_words(text.lower(), _labels())
    if not found:
        return ""
    # 更新时间 is a date of change: of labels side by side the first counts.
    place, word = found[-1]
    for before, other in reversed(found[:-1]):
        if before + len(other) < place:
            break
        place, word = before, other
    return word_table("date_labels")[word]


@lru_cache(maxsize=1)
def _labels() -> dict[str, tuple[str, ...]]:
    return by_first_letter(word_table("date_labels"))


def _day_of_url(url: str, zone: tzinfo) -> FoundDate | None:
    """The day an address holds, or None."""
    match = _URL_DAY.search(urlsplit(url).path)
    if match is None:
        return None
    year, month, day = (match[name] or match[name + "2"] for name in ("year", "month", "day"))
    return read_timestamp(f"{year}-{month}-{day}", zone)


def _first(dates: Iterator[FoundDate], now: datetime | None) -> FoundDate | None:
    """The first date with a time of day, else the first; none that is in the future."""
    first = None
    for date in dates:
        if is_future(date, now):
            continue
        if date.has_time and (first is None or date.when.date() == first.when.date()):
            return date
        first = first or date
    return first
