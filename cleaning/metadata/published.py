"""The date of publication: the day that most sources of a page name; of as many the surest's.

The sources, the surest first:

1. JSON-LD (``datePublished``, Baidu's ``pubDate``).
2. The ``<meta>`` names of publication.
3. The best date on the lines of the byline, ``<time datetime>`` included. Each is scored by the
   label before it (``data/date_labels.txt``), its line, its class names, a time of day, and a day
   in the URL that equals it. Dates of comments, registrations and copyrights never count, nor
   those within a sentence, or in a sentence of the body; a date of change (更新时间) counts where
   there is no other.
4. ``<meta>`` names that other dates have, too.
5. The day in the URL: ``/2026/11/22/``.
6. Where there is none of these, the variable of a script that writes the date (WeChat), else a
   labelled date anywhere, or the only one behind the title.

Pages that are no text have only the dates of head and URL: those they show are of other pages.
A day without a time of day takes it from another source of that day. Dates after the fetch are
rejected. On 482 labelled pages the majority mended eight days that the first source had wrong,
and broke none.

htmldate, the maintained library for this, needs a second tree: docs/adr/0018 has its cost.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from functools import lru_cache
from itertools import islice
from urllib.parse import urlsplit

from crawlclean.cleaning.document.document import Declared, Document
from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.features.lines import ends_sentence
from crawlclean.cleaning.features.parts import PartKind, kind_of_part
from crawlclean.cleaning.lexicon import by_first_letter, find_words, word_table
from crawlclean.cleaning.metadata.byline import MAX_LINE_CHARS, Byline, Inline
from crawlclean.cleaning.metadata.dates import (
    DATE_HINT,
    ZONES_DIFFER,
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
    "rnews:datepublished", "og:article:published_time", "article:publish_date", "publish-date",
    "publication_date",
    "dc.date.issued", "dcterms.issued", "citation_publication_date", "weibo: article:create_at",
    "weibo:article:create_at",
)  # fmt: skip
# Names that other dates have, too: of a change, of an event.
_DATE_METAS = ("dcterms.created", "dc.date.created", "dc.date", "dcterms.date", "date")
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
_MOST_WORDS = 8.0  # beside a date in a byline: of 240 labelled ones the longest; a sentence has 22
_MOST_LABELLED = 12.0  # This page was last edited on 5 May 2020, at 10:11, by Ann Lee
_MOST_LOWER = 4  # words in lower case: bylines have few
_LABEL_CHARS = 20  # characters before a date that may hold its label
_MAX_LEVELS = 8  # parts around a date that may be comments
_MAX_DATES = 3  # in the text of a line, and as many by its <time>: published, changed, read
# WeChat's ct and createTime, and the names of metas.
_VALUE = re.compile(r"=\s{0,3}[\"'](?P<value>1\d{9}(?:\d{3})?\b|20\d\d-\d\d-\d\d[^\"'<;,]{0,30})")
_VARIABLE = re.compile(r"\b(?:ct|(?:create|publish|pub)_?(?:[Tt]ime|[Dd]ate))\s{0,3}$")
_MAX_VARIABLE_CHARS = 20  # the longest name and the spaces behind it
_NUMBER = re.compile(r"[\d年]")  # 3 天前, 二〇二六年; 昨天 has none
_DATELINE_CHARS = 80  # of a paragraph that may begin with a place and a date
_MOST_PLACE = 3.0  # words before the date of a dateline
_DATELINE = re.compile(r"\s?[)\]）】.。:|]|\s?[-–—]")
_LEAST_SCORE = 0.1  # of a date that counts where there is no other
_LEAST_ANYWHERE = -1.1  # of a date anywhere: behind the body, and neither linked nor of comments
_LABELLED = 10.0  # more than any score: added for a label, and that of comments below zero
_SURE_SCORE = 2.5  # of a shown date: one between title and body, or labelled
_ZONE_STEP = timedelta(minutes=30)  # nearly all zones are whole halves of an hour from UTC
_SECONDS_LEFT_OUT = timedelta(seconds=59)  # of a time that is shown
_EAST_OF_UTC = 20  # hour of UTC: at and behind it all of Europe has midnight
_PUBLISHED, _CHANGED, _NOT = "published", "changed", "not"


@dataclass(frozen=True, slots=True)
class _Clock:
    """What dates of a page are read with: zone without an offset, time of fetch, language."""

    zone: tzinfo
    now: datetime | None
    language: str | None

    @classmethod
    def of(cls, document: Document, language: str | None) -> _Clock:
        fetched_at = document.page.fetched_at
        return cls(zone_of(language), fetched_at if fetched_at.timestamp() > 0 else None, language)


def find_published(
    document: Document, lines: Byline, language: str | None, *, is_list: bool = False
) -> datetime | None:
    """Returns the date of publication as an aware time, or None.

    Args:
        document: The parsed page; a time of fetch at the epoch counts as unknown.
        lines: The byline of the page; a page without a body has no visible date.
        language: Language of the page, for the time zone and the order of day and month.
        is_list: Whether the dates in the body and behind it are those of other pages.
    """
    clock = _Clock.of(document, language)
    seen: FoundDate | None = None
    day: FoundDate | None = None  # ``/20261122/`` or ``/2026/11/22/``
    if match := _URL_DAY.search(urlsplit(document.page.url).path):
        parts = (match[name] or match[name + "2"] for name in ("year", "month", "day"))
        day = read_timestamp("-".join(parts), clock.zone)
        day = None if day is None or is_future(day, clock.now) else day
    best_score = 0.0
    for date, _, score in () if is_list else _visible_dates(document.tree, lines, clock):
        if day is not None and date.when.date() == day.when.date():
            score += 2
        if score > best_score:
            seen, best_score = date, score
    data, metas, others = (
        [date for date in dates if not is_future(date, clock.now)]
        for dates in _declared_dates(document.declared, clock.zone, language)
    )
    shown = [seen] if seen is not None and best_score >= _SURE_SCORE else []
    # The day that most of them name; of as many the day of the surest.
    stated = [*data, *metas, *shown, *others]
    if not (data or metas or others):
        found = seen or day
        if found is None and not is_list:
            found = _find_in_scripts(document, clock) or _find_anywhere(document.tree, lines, clock)
        return found.when if found is not None else None
    votes = Counter(
        named
        for dates in (data, metas, shown, others, [day] if day is not None else [])
        for named in {date.when.date() for date in dates}
    )
    most = max(stated, key=lambda date: votes[date.when.date()])
    same = (date for date in stated if date.when.date() == most.when.date() and date.has_time)
    found = next(same, most)
    if found is not seen and found.has_time and not found.when.utcoffset():
        return _by_own_clock(found, [*stated, *filter(None, (seen,))])
    return found.when


def is_dated(document: Document, lines: Byline) -> bool:
    """Whether a date of publication stands between the title and the body, as of one text."""
    found = _visible_dates(document.tree, lines, _Clock.of(document, None))
    return any(lines.title < line < lines.first and score > 0 for _, line, score in found)


def _visible_dates(
    tree: Tree, lines: Byline, clock: _Clock
) -> Iterator[tuple[FoundDate, int, float]]:
    """Yields (date, line, score) of the dates in the byline that may be of publication."""
    inlines = lines.inlines
    timed = [line for line, found in inlines.items() if any(tag == "time" for tag, _, _ in found)]
    for line, text in lines.matching(DATE_HINT, timed):
        for date, label in _dates_of(tree, lines, line, text, inlines.get(line, ()), clock):
            if label != _NOT and not is_future(date, clock.now):
                yield date, line, _score(tree, lines, line, date, label)
    if lines.first >= 0 and len(text := tree.line_text(lines.first)) > MAX_LINE_CHARS:
        # (18.01.2018) The farmers ... Köln, 18. Januar 2018 - Die Bauern ...
        date_ = find_date(text[:_DATELINE_CHARS], clock.zone, clock.now, clock.language)
        if date_ and _is_dateline(text, date_):
            yield date_, lines.first, _LEAST_SCORE


def _find_in_scripts(document: Document, clock: _Clock) -> FoundDate | None:
    """The date in a variable of a script that writes it on the page: ``var ct = "1709596800"``."""
    html = document.page.html
    value = next(
        (
            match["value"]
            for match in _VALUE.finditer(html)
            if _VARIABLE.search(html, max(0, match.start() - _MAX_VARIABLE_CHARS), match.start())
        ),
        "",
    )
    found = read_timestamp(value, clock.zone, clock.language) if value else None
    if found is None or is_future(found, clock.now):
        return None
    return replace(found, when=found.when.astimezone(clock.zone))


def _find_anywhere(tree: Tree, lines: Byline, clock: _Clock) -> FoundDate | None:
    """The likeliest date on a short line of a page whose byline has none, or None.

    A date without a label has to be the only one behind the title: lists of other pages have
    several, and above the title stands the day of the visit.
    """
    if lines.first < 0:
        return None
    title = lines.title if lines.title >= 0 else lines.first
    timed: dict[int, list[Inline]] = {}
    for inline in tree.inlines:
        if inline[0] == "time":
            # One without text behind the last run is of the last line.
            timed.setdefault(tree.line_of[min(inline[2], len(tree.line_of) - 1)], []).append(inline)
    found: list[tuple[float, int, FoundDate]] = []
    for line in range(len(tree.line_starts)):
        text = tree.line_text(line)
        if len(text) > MAX_LINE_CHARS or not (line in timed or DATE_HINT.search(text.lower())):
            continue
        for date, label in _dates_of(tree, lines, line, text, timed.get(line, ()), clock):
            score = _score(tree, lines, line, date, label)
            is_own = label != _NOT and (label or line > title) and score > _LEAST_ANYWHERE
            if is_own and not is_future(date, clock.now):
                found.append((score + bool(label) * _LABELLED, line, date))
    if not found:
        return None
    score, line, date = max(found, key=lambda each: each[0])
    is_lone = all(other == line for _, other, _ in found)
    return date if is_lone or score >= _LABELLED else None


def _by_own_clock(stated: FoundDate, others: Sequence[FoundDate]) -> datetime:
    """A date in UTC, or the same moment by the page's own clock, on the day before or behind.

    A page that states 02:11 UTC, and shows 21:11 on the day before, was published on that day; one
    that states 23:00 UTC and shows the next day has counted from a midnight east of UTC.
    """
    for other in others:
        if other.when.date() == stated.when.date():
            continue
        apart = abs(other.when - stated.when)
        if other.has_time and apart <= ZONES_DIFFER and apart % _ZONE_STEP <= _SECONDS_LEFT_OUT:
            return other.when
        is_midnight = stated.when.minute == 0 and stated.when.hour >= _EAST_OF_UTC
        if (
            not other.has_time
            and is_midnight
            and stated.when < other.when <= stated.when + timedelta(hours=4)
        ):
            return other.when
    return stated.when


def _declared_dates(
    declared: Declared, zone: tzinfo, language: str | None
) -> Iterator[list[FoundDate]]:
    """Yields the dates of JSON-LD, those of metas of publication, and those of other metas."""
    for texts in ([declared.data.published], declared.metas(*_METAS), declared.metas(*_DATE_METAS)):
        found = (read_timestamp(text, zone, language) for text in texts if text)
        yield [date for date in found if date is not None]


def _dates_of(
    tree: Tree, lines: Byline, line: int, text: str, inlines: Iterable[Inline], clock: _Clock
) -> Iterator[tuple[FoundDate, str]]:
    """Yields up to three dates of a line and three of its ``<time>``, each with its label.

    A label is ``published``, ``changed``, ``not`` (a date of something else) or ``""`` for none.
    """
    begin = 0
    is_sentence = lines.first <= line <= lines.last and ends_sentence(tree, line)
    # The 昨天 and 今天 of a sentence are those of the story.
    for _ in range(_MAX_DATES if not is_sentence or _NUMBER.search(text) else 0):
        rest = text[begin:]
        date = find_date(rest, clock.zone, clock.now, clock.language)
        if date is None:
            break
        before = rest[max(0, date.start - _LABEL_CHARS) : date.start]
        if begin == 0 and date.start <= 2 and line:
            above = tree.line_text(line - 1)
            before = above + before if len(above) <= _LABEL_CHARS else before
        label = _label_of(before)
        # A sentence of the text tells of other days, and of its own yesterday.
        is_of_text = is_sentence and not label and not _is_dateline(rest, date)
        yield date, _NOT if is_of_text or _is_told(rest, date, bool(label)) else label
        begin += max(date.end, 1)
    times = (attributes for tag, attributes, _ in inlines if tag == "time")
    for attributes in islice(times, _MAX_DATES):
        value = attributes.get("datetime")
        date = read_timestamp(value, clock.zone, clock.language) if value else None
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
    return not is_at_edge or lower > 1


def _is_dateline(text: str, date: FoundDate) -> bool:
    """Whether a text begins with a date, or a place and a date: ``Köln, 18. Januar 2018 - Die``."""
    mark = _DATELINE.match(text, date.end)
    return mark is not None and mark.end() < len(text) and _words(text[: date.start]) <= _MOST_PLACE


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
        # Behind a body stand dates of other pages; a label tells the page's own.
        score -= 0.5 if line <= lines.last else 0.0 if label else 2.0
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
            return -_LABELLED
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
