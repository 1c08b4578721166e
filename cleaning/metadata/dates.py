"""Dates in short texts: the forms of Chinese and Western pages, absolute and relative.

* Absolute: ``2026-11-22 18:05``, ``2026年11月22日``, ``民國115年11月22日``, ``22/11/2026``,
  ``22.11.26``, ``Nov 22, 2026``, ``22 listopada 2026``: months of 98 languages
  (``data/month_names.txt``).
* Relative to the fetch: ``3小时前``, ``yesterday``, ``昨天 08:30``; ``11-22 08:30`` has no year.

A date without a time of day is midnight. A time without an offset is in the zone of the page's
language where one zone covers nearly all of its writers (Chinese, Japanese, Korean), else in UTC.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, timezone, tzinfo
from functools import lru_cache
from unicodedata import combining

from crawlclean.cleaning.lexicon import month_names

MAX_CHARS = 400  # characters of a text that are searched for a date
FIRST_YEAR = 1990  # no page is older; an earlier date is one that the text tells of
# A date so little after the fetch is one of a clock that is fast.
_CLOCKS_DIFFER = timedelta(minutes=10)
ZONES_DIFFER = timedelta(hours=14)  # the zones farthest ahead of UTC have 14 hours
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
_YEAR_LAST = re.compile(
    r"(?<![\d/.-])(?P<first>[0-3]?\d)(?P<mark>\.\s|\s\|\s|[-/.])(?P<then>[0-3]?\d)(?P=mark)(?P<year>(?:19|20)\d\d)(?!\d)"
    + _TIME
)
# 30.10.23, where the day is written first.
_SHORT = re.compile(
    r"(?<![\d.])(?P<first>[0-3]\d)(?P<mark>\.)(?P<then>[01]\d)\.(?P<short>\d\d)(?![\d.]\d|\d)"
    + _TIME
)
_MONTH_FIRST = (None, "en", "zh", "ja", "ko")  # languages of 03/08/2026 for March 8
# A name may have letters that are no word characters for a pattern, such as vowel signs.
_MONTH = r"(?P<name>[^\s\d.,:;/|()-]{2,14})"
_DAY = r"(?P<day>3[01]|[12]\d|0?[1-9])"
_DAY_MONTH = re.compile(
    rf"(?<!\d){_DAY}(?:(?:st|nd|rd|th|er|º)?\s|\.\s?)(?:of\s|de\s|d['’])?{_MONTH}\.?,?\s"
    r"(?:de\s|del\s)?(?P<year>(?:19|20)\d\d)(?!\d)" + _TIME
)
_MONTH_DAY = re.compile(
    rf"(?<!\w){_MONTH}\.?\s{_DAY}(?:st|nd|rd|th)?,?\s(?P<year>(?:19|20)\d\d)(?!\d)" + _TIME
)
# 2020. március 5., 2020 m. kovo 5 d., 2020. gada 5. marts
_YEAR_MONTH = re.compile(
    rf"(?<![\d.])(?P<year>(?:19|20)\d\d)(?:\.\s?|\s)(?:m\.\s)?{_MONTH}\.?\s{_DAY}(?!\d)" + _TIME
)
_NUMERAL = "[一二三四五六七八九〇○零Ｏ十百廿卅]"
# Years of the Republic of China count from 1912: 民國一百一十三年三月五日. No other calendar has a
# year of three digits: 發布日期：113年3月5日.
_CHINESE = re.compile(
    rf"(?:(?P<year>{_NUMERAL}{{4}})|民[國国]\s?(?P<republic>{_NUMERAL}{{1,6}}|\d{{1,3}})"
    rf"|(?<![^\s:：])(?P<hundred>1\d\d|一百{_NUMERAL}{{0,4}}))\s?年"
    rf"\s?(?P<month>{_NUMERAL}{{1,2}}|\d{{1,2}})\s?月\s?(?P<day>{_NUMERAL}{{1,3}}|\d{{1,2}})\s?[日号號]?"
    + _TIME
)
_FIRST_OF_REPUBLIC = 1911  # the year before its first
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
    r"(?P<word>今天|昨天|前天|刚刚|剛剛|(?<![\w.-])(?:yesterday|today|just now)(?![\w.'’-]))"
    + _TIME,
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
_TENS = {"十": 10, "百": 100}
_YEAR = re.compile(r"(?:19|20)\d\d")
_LEAST_OF_NAME = 3  # letters of an abbreviation: two begin several names
_MAX_BEFORE_YEAR = 32  # characters before a year that may be its day and month
_LETTERS = re.compile(r"[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_WITHOUT_NAMES = (_YEAR_FIRST, _YEAR_LAST)
_WITH_NAMES = (*_WITHOUT_NAMES, _MONTH_DAY, _DAY_MONTH, _YEAR_MONTH)
# Every date holds one of these in lower case; most texts hold none of them. The regex engine scans
# for the set in front ten times as fast as it tries the forms at each place.
DATE_HINT = re.compile(
    r"[12/年月前天刚剛gjy.-](?:(?<=1)9\d\d|(?<=2)0\d\d|(?<=\d[-/月])\d{1,2}\D{1,4}\d{1,2}[:：]"
    r"|(?<=\d\d\.)[01]\d\.\d\d(?!\d)|(?<=[〇○零Ｏ一二三四五六七八九十百]年)|(?<=\d年)|(?<=[钟鐘秒时時天日期周週月年]前)|(?<=[今昨前]天)"
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
            05.03.24 is read in the other languages only, and not without a language.
    """
    text = text[:MAX_CHARS]
    year = _YEAR.search(text)
    patterns: tuple[re.Pattern[str], ...] = ()
    begin = 0
    if year:
        # No form begins farther before its year.
        begin = max(0, year.start() - _MAX_BEFORE_YEAR)
        has_name = _LETTERS.search(text, begin) is not None
        patterns = _WITH_NAMES if has_name else _WITHOUT_NAMES
    elif language not in _MONTH_FIRST:
        patterns = (_SHORT,)
    if "年" in text:
        patterns, begin = (*patterns, _CHINESE), 0
    best: FoundDate | None = None
    for pattern in patterns:
        # The first of two dates counts: the search ends at the best one so far.
        for match in pattern.finditer(text, begin, best.start if best else len(text)):
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
    is_unix = text.isascii() and text.isdecimal() and len(text) in (10, 13)
    if text[:4].isdecimal() and not is_unix:
        iso = f"{text[:8]}T{text[8:]}" if text.isdecimal() and text[8:] else text  # 20261122180500
        try:
            when = datetime.fromisoformat(iso)
        except ValueError:
            pass
        else:
            when = when.replace(microsecond=0, tzinfo=when.tzinfo or zone)
            is_known = when.year >= FIRST_YEAR
            return FoundDate(when, len(text) > 10, 0, len(text)) if is_known else None
    if is_unix:
        when = datetime.fromtimestamp(int(text[:10]), UTC)
        return FoundDate(when, True, 0, len(text)) if when.year >= FIRST_YEAR else None
    return find_date(text, zone, None, language)


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
    slack = ZONES_DIFFER if date.when.tzinfo is UTC else _CLOCKS_DIFFER
    return date.when > now + slack


def _absolute(match: re.Match[str], zone: tzinfo, language: str | None) -> FoundDate | None:
    """The date of a match with a year, or None."""
    parts = match.groupdict()
    if match.re is _CHINESE:
        republic = parts["republic"] or parts["hundred"]
        year = _number(parts["year"] or republic) + (_FIRST_OF_REPUBLIC if republic else 0)
        month, day = _number(parts["month"]), _number(parts["day"])
    else:
        year = int(parts.get("year") or "20" + parts["short"])
        if "name" in parts:
            month, day = _month_of(parts["name"], language), int(parts["day"])
        elif "first" in parts:
            month, day = int(parts["first"]), int(parts["then"])
            is_day_first = parts["mark"] not in "-/" or language not in _MONTH_FIRST
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
def _month_of(name: str, language: str | None) -> int:
    """The number of a month by its name or abbreviation, 1-12; 0 for another word.

    Names of the page's language count first; abbreviations of its own may be any beginning.
    """
    plain = "".join(c for c in unicodedata.normalize("NFD", name.lower()) if not combining(c))
    names = month_names()
    for code in (language or "", ""):
        if plain in names.get(code, ()):
            return names[code][plain]
    if len(plain) >= _LEAST_OF_NAME:
        for code in (language or "", "en"):
            found = {n for full, n in names.get(code, {}).items() if full.startswith(plain)}
            if len(found) == 1:
                return found.pop()
    return 0


def _number(text: str) -> int:
    """The value of a number in digits or Chinese: 31 for 三十一 and 卅一, 2014 for 二〇一四."""
    if text.isdecimal():
        return int(text)
    text = text.replace("廿", "二十").replace("卅", "三十")
    if _TENS.keys().isdisjoint(text):
        return int("".join(str(_DIGITS[c]) for c in text))
    value = digit = 0
    for c in text:
        if c in _TENS:
            value, digit = value + (digit or 1) * _TENS[c], 0
        else:
            digit = _DIGITS[c]
    return value + digit
