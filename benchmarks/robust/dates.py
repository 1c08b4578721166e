"""Dates in lines about a text, written in other ways: in words, as a time ago, hidden, or none."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import date

from lxml.html import HtmlElement

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_CHINESE = ("一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二")
_NAME = rf"(?P<name>{'|'.join(_MONTHS)})[a-z]*\.?"
_CLOCK = r"(?:[\sT,]{0,3}(?:at\s)?\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]m)?)?"
_DATE = re.compile(
    r"(?P<year>(?:19|20)\d\d)\s?[-/年.]\s?(?P<month>\d{1,2})\s?[-/月.]\s?(?P<day>\d{1,2})\s?日?"
    + _CLOCK
    + rf"|\b{_NAME}\s+(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year2>(?:19|20)\d\d)"
    + _CLOCK
    + rf"|\b(?P<day3>\d{{1,2}})\s+(?P<name3>{'|'.join(_MONTHS)})[a-z]*\.?,?"
    + r"\s+(?P<year3>(?:19|20)\d\d)"
    + _CLOCK,
    re.I,
)
_BESIDE_CHARS = 24  # longest other text of a line about a text: 发表于, 来源
_LAST = date(2026, 1, 1)
Write = Callable[[date], str]


def in_words(day: date) -> str:
    """Writes a date with a Chinese month: ``16 十二月 '23``."""
    return f"{day.day} {_CHINESE[day.month - 1]}月 '{day.year % 100:02}"


def as_time_ago(day: date) -> str:
    """Writes a date as the time up to 2026: ``3 年前``, ``5 个月前``."""
    days = max(1, (_LAST - day).days)
    if days >= 365:
        return f"{days // 365} 年前"
    return f"{days // 30} 个月前" if days >= 60 else f"{days} 天前"


def rewrite_dates(root: HtmlElement, write: Write | None, *, keep_hidden: bool = False) -> None:
    """Rewrites the dates of short lines, and removes those of attributes.

    Args:
        root: The page; dates inside longer texts stay.
        write: Writes a date; None leaves none.
        keep_hidden: The date stands in attributes of the element, as browsers show it on hovering.
    """
    for element in list(root.iter("*")):
        if not isinstance(element.tag, str) or element.tag in ("script", "style", "title"):
            continue
        if not keep_hidden:
            for name in ("datetime", "title"):
                if _DATE.search(element.get(name, "")):
                    del element.attrib[name]
        found = _rewritten(element, element.text, write, keep_hidden=keep_hidden)
        if found is not None:
            element.text = found
        around = element.getparent()
        if around is not None:
            found = _rewritten(around, element.tail, write, keep_hidden=keep_hidden)
            if found is not None:
                element.tail = found


def _rewritten(
    element: HtmlElement, text: str | None, write: Write | None, *, keep_hidden: bool
) -> str | None:
    """The text with its date written anew; None where it stays as it is."""
    match = _DATE.search(text) if text else None
    if text is None or match is None:
        return None
    if len("".join(text.split())) - len(match[0]) > _BESIDE_CHARS:
        return None
    day = _day_of(match)
    if day is None:
        return None
    if keep_hidden:
        element.set("title", match[0])
    found = text[: match.start()] + (write(day) if write else "") + text[match.end() :]
    return "".join(each for each in found if each >= " " or each.isspace())  # as lxml wants it


def _day_of(match: re.Match[str]) -> date | None:
    found = match.groupdict()
    name = found["name"] or found["name3"]
    year = found["year"] or found["year2"] or found["year3"]
    month = found["month"] or _MONTHS.index(name.lower()) + 1
    with suppress(ValueError):
        return date(int(year), int(month), int(found["day"] or found["day2"] or found["day3"]))
    return None
