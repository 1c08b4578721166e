"""The date of publication: the machine-readable dates of a page, else a date in its byline.

Evidence, the surest first:

1. JSON-LD (``datePublished``, Baidu's ``pubDate``), then the usual ``<meta>`` names.
2. The dates on the lines of the byline, ``<time datetime>`` included. Each is scored by the label
   before it (``data/date_labels.txt``), its line, its class names, a time of day, and a day in the
   URL that equals it. Dates of comments, registrations and copyrights never count, nor those
   within a sentence; a date of change (更新时间) counts where there is no other.
3. The day in the URL: ``/2026/11/22/``.

A machine-readable day without a time of day takes the time from a line with that day. Dates after
the fetch are rejected.

htmldate, the maintained library for this, needs a second tree: docs/adr/0018 has its cost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, tzinfo
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

from crawlclean.cleaning.document.document import Declared, Document
from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.features.parts import PartKind, kind_of_part
from crawlclean.cleaning.lexicon import by_first_letter, find_words, word_table
from crawlclean.cleaning.metadata.byline import Byline, Inline
from crawlclean.cleaning.metadata.dates import (
    DATE_HINT,
    FoundDate,
    find_date,
    is_future,
    read_timestamp,
    zone_of,
)

# The surest date of publication first.
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
# A date alone, in a byline or before a text is one of publication; one within a sentence is a date
# of what the sentence tells. Words are counted between marks that end a field or a sentence.
_FIELD_END = re.compile(
    r"[:：|｜•·»。！？；!?（【】]|\s[-–—/]{1,2}\s|[-–—]{2}|—|\.\s"
    r"|(?<=[\u3400-\u9fff])\s(?=[\u3400-\u9fff])"
)
_WORD = re.compile(r"[^\W\d_\u3040-\u30ff\u3400-\u9fff]+")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
# Of 240 dates around bodies of labelled pages the longest byline has 8 words beside its date, the
# shortest sentence 22.
_MOST_WORDS = 8.0
_MOST_LABELLED = 12.0  # This page was last edited on 5 May 2020, at 10:11, by Ann Lee
_MOST_LOWER = 4  # words in lower case: bylines have few
_MOST_AT_EDGE = 4.0  # in the first and last field of a line that has sentences, too
_LABEL_CHARS = 14  # characters before a date that may hold its label
_MAX_LEVELS = 8  # parts around a date that may be comments
_PUBLISHED, _CHANGED, _NOT = "published", "changed", "not"


class _Clock(NamedTuple):
    """The time zone, time of fetch and language by which the dates of one page are read.

    Attributes:
        zone: Zone of times without an offset.
        now: When the page was fetched, or None.
        language: Language of the page, for the order of day and month.
    """

    zone: tzinfo
    now: datetime | None
    language: str | None


def find_published(document: Document, lines: Byline, language: str | None) -> datetime | None:
    """Returns the date of publication as an aware time, or None.

    Args:
        document: The parsed page; a time of fetch at the epoch counts as unknown.
        lines: The byline of the page; a page without a body has no visible date.
        language: Language of the page, for the time zone and the order of day and month.
    """
    page = document.page
    now = page.fetched_at if page.fetched_at.timestamp() > 0 else None
    zone = zone_of(language)
    stated = _first(read_declared_dates(document.declared, zone, language), now)
    if stated is not None and stated.has_time:
        return stated.when
    day = _day_of_url(page.url, zone)
    seen = _find_visible_date(document.tree, lines, _Clock(zone, now, language), day)
    if stated is not None:
        is_same = seen is not None and seen.when.date() == stated.when.date()
        return seen.when if is_same and seen is not None else stated.when
    if seen is not None:
        return seen.when
    return day.when if day is not None and not is_future(day, now) else None


def read_declared_dates(
    declared: Declared, zone: tzinfo, language: str | None
) -> Iterator[FoundDate]:
    """Yields the machine-readable dates of publication, the surest first."""
    for text in (declared.data.published, *declared.metas(*_METAS)):
        found = read_timestamp(text, zone, language) if text else None
        if found is not None:
            yield found


def _find_visible_date(
    tree: Tree, lines: Byline, clock: _Clock, day: FoundDate | None
) -> FoundDate | None:
    """The date of the highest score on the lines of the byline, or None.

    Args:
        tree: The parsed page.
        lines: The byline of the page.
        clock: Zone, time of fetch and language.
        day: The day in the URL, or None.
    """
    best: FoundDate | None = None
    best_score = 0.0
    timed = [
        line for line, found in lines.inlines.items() if any(tag == "time" for tag, _, _ in found)
    ]
    for line, text in lines.matching(DATE_HINT, timed):
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
    """Yields up to three dates of a line and those of its ``<time>``, each with its label.

    A label is ``published``, ``changed``, ``not`` (a date of something else) or ``""`` for none.
    """
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
        label = _label_of(before)
        yield date, _NOT if _is_told(rest, date, bool(label)) else label
        begin += max(date.end, 1)
    for tag, attributes, _ in inlines:
        value = attributes.get("datetime") if tag == "time" else None
        date = read_timestamp(value, zone, language) if value else None
        if date is not None:
            names = (attributes.get("itemprop", "") + " " + attributes.get("class", "")).lower()
            label = _label_of(text[:_LABEL_CHARS])
            if "modified" in names or "updated" in names:
                label = _CHANGED
            elif "pubdate" in attributes or "published" in names:
                label = _PUBLISHED
            yield date, label


def _is_told(text: str, date: FoundDate, is_labelled: bool) -> bool:
    """Whether a date stands within a sentence of its line, which tells of that day."""
    before = _FIELD_END.split(text[: date.start])
    after = _FIELD_END.split(text[date.end :])
    if after[0][:1] == "，":
        return True
    first = before.pop()
    beside = f"{first} {after.pop(0)}"
    words = _words(beside)
    if is_labelled or _label_of(first.strip()[:_LABEL_CHARS]):
        return words > _MOST_LABELLED
    lower = sum(word.islower() for word in _WORD.findall(beside))
    if words > _MOST_WORDS or lower > _MOST_LOWER:
        return True
    if all(_words(field) <= _MOST_WORDS for field in (*before, *after)):
        return False
    is_at_edge = not any(map(_words, before)) or not any(map(_words, after))
    return not is_at_edge or words > _MOST_AT_EDGE or lower > 1


def _words(text: str) -> float:
    """Number of words without digits; two Han characters or kana are one."""
    return len(_WORD.findall(text)) + len(_WIDE.findall(text)) / 2


def _score(tree: Tree, lines: Byline, line: int, date: FoundDate, label: str) -> float:
    """Score of a date as that of publication, at most 7.7; 0 or below rejects it."""
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
    """The meaning of the last label in a text: ``published`` for 发布时间; ``""`` without one."""
    found = find_words(text.lower(), _labels())
    if not found:
        return ""
    # 更新时间 labels a date of change: of adjacent labels (更新, 时间) the first counts.
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
    """The day in the path of a URL, such as ``/20261122/`` or ``/2026/11/22/``, or None."""
    match = _URL_DAY.search(urlsplit(url).path)
    if match is None:
        return None
    year, month, day = (match[name] or match[name + "2"] for name in ("year", "month", "day"))
    return read_timestamp(f"{year}-{month}-{day}", zone)


def _first(dates: Iterator[FoundDate], now: datetime | None) -> FoundDate | None:
    """The first date, or a later value of its day with a time of day; none after ``now``."""
    first = None
    for date in dates:
        if is_future(date, now):
            continue
        if date.has_time and (first is None or date.when.date() == first.when.date()):
            return date
        first = first or date
    return first
