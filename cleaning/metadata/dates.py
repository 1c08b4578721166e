"""Dates in short texts: the forms of Chinese and Western pages, absolute and relative.

* Absolute: ``2026-11-22 18:05``, ``2026年11月22日``, ``22/11/2026``, ``Nov 22, 2026``.
* Relative to the fetch: ``3小时前``, ``yesterday``, ``昨天 08:30``; ``11-22 08:30`` has no year.

A date without a time of day is midnight. A time without an offset is in the zone of the page's
language where one zone covers nearly all of its writers (Chinese, Japanese, Korean), else in UTC.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, timezone, tzinfo
from functools import lru_cache
from urllib.parse import urlsplit

from crawlclean.cleaning.document.document import Declared, Document
from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.features.parts import PartKind, kind_of_part
from crawlclean.cleaning.lexicon import by_first_letter, find_words, word_table
from crawlclean.cleaning.metadata.byline import Byline

MAX_CHARS = 400  # characters of a text that are searched for a date
FIRST_YEAR = 1990  # no page is older; an earlier date is one that the text tells of
# A date so little after the fetch is one of a clock that is fast.
_CLOCKS_DIFFER = timedelta(minutes=10)
_ZONES_DIFFER = timedelta(hours=14)  # the zones farthest ahead of UTC have 14 hours
_ZONES: dict[str, tzinfo] = {
    "zh": timezone(timedelta(hours=8), "CST"),
    "ja": timezone(timedelta(hours=9), "JST"),
    "ko": timezone(timedelta(hours=9), "KST"),
}

_NAMED_OFFSETS = {
    "Z": 0, "UTC": 0, "GMT": 0, "BST": 1, "CET": 1, "CEST": 2, "EST": -5, "EDT": -4,
    "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7, "ET": -5, "PT": -8, "JST": 9, "KST": 9,
}  # fmt: skip
_TIME = (
    r"(?:(?:\s{0,3}[T,，|·•/]|\s{1,3}at|\s{1,3}um|\s{1,3}à|\s*[(（]?(?:星期|周|週|礼拜)[一二三四五六日天][)）]?|"
    r"\s*\((?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*\)|\s*&nbsp;)?\s{0,8}"
    r"(?P<half>上午|下午|晚上|凌晨|中午|早上)?\s{0,2}"
    r"(?P<hour>[012]?\d)\s?[:：时時点點h]\s?(?P<minute>[0-5]\d)分?(?:[:：]?(?P<second>[0-5]\d)(?:[.,]\d{1,9})?秒?)?"
    r"(?:\s?(?P<ampm>[apAP])\.?[mM]\b\.?)?"
    r"(?:\s{0,2}[(（]?(?P<offset>[+-][01]\d:?[0-5]\d|[+-]0?\d\b(?!:)|Z\b|(?:UTC|GMT)(?:[+-]\d{1,2})?|[A-Z]{2,4}\b))?)?"
)
_YEAR_FIRST = re.compile(
    r"(?<![\d.])(?P<year>(?:19|20)\d\d)\s?(?:年|[-/.])\s?(?P<month>1[0-2]|0?[1-9])\s?(?:月|[-/.])\s?"
    r"(?P<day>3[01]|[12]\d|0?[1-9])(?!\d)\s?(?:[日号號])?" + _TIME
)
_COMPACT = re.compile(
    r"(?<!\d)(?P<year>(?:19|20)\d\d)(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])"
    r"(?:T?(?P<hour>[01]\d|2[0-3])(?P<minute>[0-5]\d)(?P<second>[0-5]\d)?)?(?!\d)"
)
_YEAR_LAST = re.compile(
    r"(?<![\d/.-])(?P<first>[0-3]?\d)(?P<mark>[-/.])(?P<then>[0-3]?\d)(?P=mark)(?P<year>(?:19|20)\d\d)(?!\d)"
    + _TIME
)
_DAY_MONTH = re.compile(
    r"(?<!\d)(?P<day>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th|\.|er|º)?\s(?:of\s|de\s)?(?P<name>[^\W\d_]{3,10})\.?,?\s"
    r"(?:de\s|del\s)?(?P<year>(?:19|20)\d\d)(?!\d)" + _TIME
)
_MONTH_DAY = re.compile(
    r"(?<!\w)(?P<name>[^\W\d_]{3,10})\.?\s(?P<day>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?,?\s(?P<year>(?:19|20)\d\d)(?!\d)"
    + _TIME
)
_CHINESE = re.compile(
    r"(?P<year>[一二三四五六七八九〇○零Ｏ]{4})年(?P<month>[一二三四五六七八九十]{1,2})月(?P<day>[一二三四五六七八九十廿卅]{1,3})[日号號]?"
)
_NO_YEAR = re.compile(
    r"(?<![\d./-])(?P<month>1[0-2]|0?[1-9])(?:-|/|月\s?)(?P<day>3[01]|[12]\d|0?[1-9])(?!\d)[日号號]?(?=\s{1,3}\d)"
    + _TIME
)
_AGO = re.compile(
    r"(?P<count>\d{1,4}|半|几|an?\b)\s?(?P<unit>个?(?:秒钟?|分钟|小时|天|日|星期|周|月|年)|(?:個|箇)(?:小時|月)|分鐘|小時|週)前"
    r"|(?P<many>\d{1,4}|an?)\s(?P<word>sec|min|hour|hr|day|week|month|year)[a-z]{0,4}\sago\b",
    re.I,
)
_DAY_WORD = re.compile(
    r"(?P<word>今天|昨天|前天|刚刚|剛剛|(?<![\w.-])(?:yesterday|today|just now)(?![\w.-]))" + _TIME,
    re.I,
)
_DAYS_BACK = {"今天": 0, "today": 0, "昨天": 1, "yesterday": 1, "前天": 2}
_UNITS = {
    "秒": 1, "秒钟": 1, "sec": 1, "分钟": 60, "分鐘": 60, "min": 60, "小时": 3600, "小時": 3600,
    "hour": 3600, "hr": 3600, "天": 86400, "日": 86400, "day": 86400, "星期": 604800,
    "周": 604800, "週": 604800, "week": 604800, "月": 2592000, "month": 2592000,
    "年": 31536000, "year": 31536000,
}  # fmt: skip
_DIGITS = {c: n for n, c in enumerate("〇一二三四五六七八九")} | {"○": 0, "零": 0, "Ｏ": 0}
_YEAR = re.compile(r"(?:19|20)\d\d")
_MAX_BEFORE_YEAR = 32  # characters before a year that may be its day and month
_LATIN = re.compile("[A-Za-z]")
_WITHOUT_NAMES = (_YEAR_FIRST, _YEAR_LAST)
_WITH_NAMES = (*_WITHOUT_NAMES, _MONTH_DAY, _DAY_MONTH)
# Every date holds one of these in lower case; most texts hold none of them. The regex engine scans
# for the set in front ten times as fast as it tries the forms at each place.
DATE_HINT = re.compile(
    r"[12/年月前天刚剛gjy-](?:(?<=1)9\d\d|(?<=2)0\d\d|(?<=\d[-/月])\d{1,2}\D{1,4}\d{1,2}[:：]"
    r"|(?<=[〇○零Ｏ一二三四五六七八九]年)|(?<=[钟鐘秒时時天日期周週月年]前)|(?<=[今昨前]天)"
    r"|(?<=刚刚)|(?<=剛剛)|(?<=ag)o\b|(?<=today)\b|(?<=yesterday)\b|(?<=j)ust now)"
)


@dataclass(frozen=True, slots=True)
class FoundDate:
    """A date in a text.

    Attributes:
        when: Aware; midnight without a time of day.
        has_time: Whether the text has a time of day.
        start: Index of the first character in the text.
        end: Index behind the last character.
    """

    when: datetime
    has_time: bool
    start: int
    end: int


def zone_of(language: str | None) -> tzinfo:
    """Returns the zone of times without an offset: UTC+8 for ``zh``, UTC for ``en``."""
    return _ZONES.get(language or "", UTC)


def find_date(
    text: str, zone: tzinfo, now: datetime | None = None, language: str | None = None
) -> FoundDate | None:
    """Returns the first date in the first 400 characters of a text, or None.

    Args:
        text: White space collapsed.
        zone: Zone of times without an offset.
        now: When the page was fetched; None leaves out relative dates and dates without a year.
        language: 03/08/2026 is March 8 in English, Chinese, Japanese and Korean, else 3 August.
    """
    text = text[:MAX_CHARS]
    best: FoundDate | None = None
    year = _YEAR.search(text)
    if year:
        # No form begins farther before its year.
        begin = max(0, year.start() - _MAX_BEFORE_YEAR)
        has_name = _LATIN.search(text, begin) is not None
        for pattern in _WITH_NAMES if has_name else _WITHOUT_NAMES:
            # The first of two dates counts: the search ends at the best one so far.
            for match in pattern.finditer(text, begin, best.start if best else len(text)):
                found = _absolute(match, zone, language)
                if found is not None:
                    best = found
                    break
    if "年" in text:
        for match in _CHINESE.finditer(text, 0, best.start if best else len(text)):
            found = _absolute(match, zone, language)
            if found is not None:
                best = found
                break
    if best is None and now is not None and DATE_HINT.search(text.lower()):
        return _relative(text, zone, now.astimezone(zone))
    return best


def read_timestamp(text: str, zone: tzinfo, language: str | None = None) -> FoundDate | None:
    """Returns the date of a machine-readable value, or None.

    Read are ISO 8601, the forms of ``find_date``, ``20261122T1805`` and Unix time (s or ms).
    """
    text = text.strip()[:MAX_CHARS]
    if text[4:5] == "-":
        try:
            when = datetime.fromisoformat(text)
        except ValueError:
            pass
        else:
            when = when.replace(microsecond=0, tzinfo=when.tzinfo or zone)
            is_known = when.year >= FIRST_YEAR
            return FoundDate(when, len(text) > 10, 0, len(text)) if is_known else None
    if text.isascii() and text.isdigit() and len(text) in (10, 13):
        when = datetime.fromtimestamp(int(text[:10]), UTC)
        return FoundDate(when, True, 0, len(text)) if when.year >= FIRST_YEAR else None
    found = find_date(text, zone, None, language)
    if found is None:
        match = _COMPACT.search(text[:40])
        found = _absolute(match, zone, language) if match else None
    return found


def time_reader(language: str | None, fetched_at: datetime) -> Callable[[str], datetime | None]:
    """Makes a function that reads the time of a post from a short text, such as 发表于 2024-5-1.

    Args:
        language: Language of the page.
        fetched_at: When the page was fetched; the epoch counts as unknown.
    """
    zone = zone_of(language)
    now = fetched_at if fetched_at.timestamp() > 0 else None

    def read_time(text: str) -> datetime | None:
        found = find_date(text, zone, now, language)
        return None if found is None or is_future(found, now) else found.when

    return read_time


def is_future(date: FoundDate, now: datetime | None) -> bool:
    """Whether a date is after ``now`` by over 10 minutes (clocks); 14 hours for a date in UTC."""
    if now is None:
        return False
    slack = _ZONES_DIFFER if date.when.tzinfo is UTC else _CLOCKS_DIFFER
    return date.when > now + slack


def _absolute(match: re.Match[str], zone: tzinfo, language: str | None) -> FoundDate | None:
    """The date of a match with a year, or None."""
    parts = match.groupdict()
    if match.re is _CHINESE:
        year = int("".join(str(_DIGITS[c]) for c in parts["year"]))
        month, day = _chinese_number(parts["month"]), _chinese_number(parts["day"])
    else:
        year = int(parts["year"])
        if "name" in parts:
            month, day = _month_of(parts["name"]), int(parts["day"])
        elif "first" in parts:
            month, day = int(parts["first"]), int(parts["then"])
            is_day_first = parts["mark"] == "." or (
                language is not None and language not in ("en", "zh", "ja", "ko")
            )
            if month > 12 or (is_day_first and day <= 12):
                month, day = day, month
        else:
            month, day = int(parts["month"]), int(parts["day"])
    return _date_of(match, (year, month, day), zone)


def _date_of(match: re.Match[str], day: tuple[int, int, int], zone: tzinfo) -> FoundDate | None:
    """The date of a match on a day such as ``(2026, 11, 22)``; None if there is no such day."""
    if day[0] < FIRST_YEAR:
        return None
    try:
        at = datetime(*day, tzinfo=zone)
    except ValueError:
        return None
    parts = match.groupdict()
    hour = parts.get("hour")
    clock = time(0)
    if hour is not None:
        hours = int(hour)
        if parts.get("half") in ("下午", "晚上") or (parts.get("ampm") or "").lower() == "p":
            hours = hours + 12 if hours < 12 else hours
        elif (parts.get("ampm") or "").lower() == "a" and hours == 12:
            hours = 0
        if hours > 23:
            hour = None
        else:
            clock = time(hours, int(parts["minute"]), int(parts.get("second") or 0))
            zone = _offset(parts.get("offset"), zone)
    when = datetime.combine(at, clock, zone)
    return FoundDate(when, hour is not None, match.start(), match.end())


def _offset(text: str | None, zone: tzinfo) -> tzinfo:
    """The zone of an offset such as ``+08:00``, ``-5``, ``GMT+8``, ``EST``; else ``zone``."""
    if not text:
        return zone
    if text[0] in "+-":
        sign = -1 if text[0] == "-" else 1
        digits = text[1:].replace(":", "")
        hours, minutes = (
            (int(digits[:-2]), int(digits[-2:])) if len(digits) > 2 else (int(digits), 0)
        )
        if hours > 14:
            return zone
        return timezone(sign * timedelta(hours=hours, minutes=minutes))
    name = text[:3] if text[:3] in ("UTC", "GMT") else text
    if name in _NAMED_OFFSETS:
        rest = text[len(name) :]
        hours = _NAMED_OFFSETS[name] + (int(rest) if rest else 0)
        return timezone(timedelta(hours=hours)) if abs(hours) <= 14 and hours else UTC
    return zone


def _relative(text: str, zone: tzinfo, now: datetime) -> FoundDate | None:
    """The first date that counts from the time of the fetch or has no year, or None."""
    match = _AGO.search(text)
    if match:
        count = match["count"] or match["many"]
        unit = (match["unit"] or match["word"]).lower().lstrip("个個箇")
        number = float(count) if count.isdigit() else 0.5 if count == "半" else 1.0
        seconds = _UNITS.get(unit)
        if seconds is None:
            return None
        try:
            when = now - timedelta(seconds=number * seconds)
        except OverflowError:  # 99999999999年前
            return None
        if when.year < FIRST_YEAR:
            return None
        return FoundDate(when.replace(microsecond=0), seconds <= 3600, *match.span())
    match = _DAY_WORD.search(text)
    if match:
        back = _DAYS_BACK.get(match["word"].lower())
        if back is None:
            return FoundDate(now.replace(microsecond=0), True, *match.span())
        day = now.date() - timedelta(days=back)
        return _date_of(match, (day.year, day.month, day.day), zone)
    match = _NO_YEAR.search(text)
    if match:
        month, day_of_month = int(match["month"]), int(match["day"])
        is_later = (month, day_of_month) > (now.month, now.day)
        return _date_of(match, (now.year - is_later, month, day_of_month), zone)
    return None


@lru_cache(maxsize=1024)
def _month_of(name: str) -> int:
    """The number of a month by its name or abbreviation, 1-12; 0 for another word."""
    plain = unicodedata.normalize("NFD", name.lower())
    plain = "".join(c for c in plain if c.isascii())
    table = word_table("month_names")
    return next((int(table[plain[:n]]) for n in (4, 3) if plain[:n] in table), 0)


def _chinese_number(text: str) -> int:
    """The value of a Chinese number below 100: 31 for 三十一 and 卅一; 0 for no number."""
    text = text.replace("廿", "二十").replace("卅", "三十")
    tens, ten, ones = text.partition("十")
    if not ten:
        return _DIGITS.get(text, 0) if len(text) == 1 else 0
    return 10 * _DIGITS.get(tens, 1 if not tens else 0) + (_DIGITS.get(ones, 0) if ones else 0)


# The date of publication: the machine-readable dates of a page, else a date in its byline.
#
# Evidence, the surest first:
#
# 1. JSON-LD (``datePublished``, Baidu's ``pubDate``), then the usual ``<meta>`` names.
# 2. The dates on the lines of the byline, ``<time datetime>`` included. Each is scored by the label
#    before it (``data/date_labels.txt``), its line, its class names, a time of day, and a day in
#    the URL that equals it. Dates of comments, registrations and copyrights never count, nor those
#    within a sentence; a date of change (更新时间) counts where there is no other.
# 3. The day in the URL: ``/2026/11/22/``.
#
# A machine-readable day without a time of day takes the time from a line with that day. Dates after
# the fetch are rejected.
#
# htmldate, the maintained library for this, needs a second tree: docs/adr/0018 has its cost.

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
    day: FoundDate | None = None  # ``/20261122/`` or ``/2026/11/22/``
    if match := _URL_DAY.search(urlsplit(page.url).path):
        parts = (match[name] or match[name + "2"] for name in ("year", "month", "day"))
        day = read_timestamp("-".join(parts), zone)
    seen: FoundDate | None = None
    best_score = 0.0
    timed = [
        line for line, found in lines.inlines.items() if any(tag == "time" for tag, _, _ in found)
    ]
    for line, text in lines.matching(DATE_HINT, timed):
        for date, label in _dates_of(document.tree, line, text, lines, zone, now, language):
            if label == _NOT or is_future(date, now):
                continue
            score = _score(document.tree, lines, line, date, label)
            if day is not None and date.when.date() == day.when.date():
                score += 2
            if score > best_score:
                seen, best_score = date, score
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


def _dates_of(
    tree: Tree,
    line: int,
    text: str,
    lines: Byline,
    zone: tzinfo,
    now: datetime | None,
    language: str | None,
) -> Iterator[tuple[FoundDate, str]]:
    """Yields up to three dates of a line and those of its ``<time>``, each with its label.

    A label is ``published``, ``changed``, ``not`` (a date of something else) or ``""`` for none.
    """
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
    for tag, attributes, _ in lines.inlines.get(line, ()):
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
