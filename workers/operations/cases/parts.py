"""Parts of a page that a case can be about, and what can be right for them.

A part is written ``text 31``, ``link 4``, ``image 0``, ``title``, ``author``, ``published_at`` or
``kind``; numbers count from 0, texts as in ``cleaning.why.verdicts``, links and images as in the
record.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from cleaning.errors import ConfigError, NotFound
from cleaning.records import CleanRecord, ImageKind, LinkKind, PageKind
from cleaning.verdict import Verdict
from storage.store.cases import CaseSubject

BODY, NOT_BODY = "body", "not_body"
"""What a text can be said to be."""

MOST_TEXT_CHARS = 20_000
MOST_FIELD_CHARS = 1_000
_PART = re.compile(r"(text|link|image) (\d{1,6})|(title|author|published_at|kind)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a page, with what the cleaner found.

    Attributes:
        subject: What it is.
        place: Its number; -1 of a field.
        text: The text, or the URL of the link or image; ``""`` of a field.
        start: Characters of the body before the text, white space apart; -1 of other parts.
        chars: Characters of the text, white space apart; 0 of other parts.
        was: What the cleaner found.
        rule: The rule that decided.
        choices: What may be right; empty: any words.
    """

    subject: CaseSubject
    place: int = -1
    text: str = ""
    start: int = -1
    chars: int = 0
    was: str = ""
    rule: str = ""
    choices: Sequence[str] = ()


def find_part(name: str, record: CleanRecord, verdicts: Sequence[Verdict]) -> Part:
    """Returns a part of a page.

    Args:
        name: ``text 31``, ``title``.
        record: The record of the page.
        verdicts: Its verdicts.

    Raises:
        ConfigError: The name is none, or the text is too long to be reported.
        NotFound: The page has no such part.
    """
    found = _PART.fullmatch(name)
    if found is None:
        raise ConfigError(f"{name[:40]} is not a part of a page, such as text 31, link 4 or title")
    if found[3]:
        return _field(CaseSubject(found[3]), record)
    subject, place = CaseSubject(found[1]), int(found[2])
    try:
        if subject is CaseSubject.TEXT:
            return _text(place, verdicts)
        each = record.links[place] if subject is CaseSubject.LINK else record.images[place]
    except IndexError:
        raise NotFound(f"the page has no {name}") from None
    kinds = LinkKind if subject is CaseSubject.LINK else ImageKind
    return Part(
        subject=subject,
        place=place,
        text=each.url[:MOST_TEXT_CHARS],
        was=each.kind.value,
        rule=each.reason.value,
        choices=[kind.value for kind in kinds if kind is not each.kind],
    )


def _text(place: int, verdicts: Sequence[Verdict]) -> Part:
    each = verdicts[place]
    if each.block < 0:
        raise ConfigError("the title of the record is the part title")
    if len(each.text) > MOST_TEXT_CHARS:
        raise ConfigError(f"the text has over {MOST_TEXT_CHARS:,} characters")
    return Part(
        subject=CaseSubject.TEXT,
        place=place,
        text=each.text,
        start=sum(_own(before.text) for before in verdicts[:place] if before.in_body),
        chars=_own(each.text),
        was=each.kind.value,
        rule=each.reason.value,
        choices=[NOT_BODY if each.in_body else BODY],
    )


def _own(text: str) -> int:
    """Characters that are no white space."""
    return sum(map(len, text.split()))


def _field(subject: CaseSubject, record: CleanRecord) -> Part:
    if subject is CaseSubject.KIND:
        choices = [kind.value for kind in PageKind if kind is not record.kind]
        return Part(subject=subject, was=record.kind.value, choices=choices)
    if subject is CaseSubject.PUBLISHED_AT:
        at = record.published_at
        return Part(subject=subject, was=at.isoformat() if at else "")
    was = record.title if subject is CaseSubject.TITLE else record.author
    return Part(subject=subject, was=(was or "")[:MOST_FIELD_CHARS])


def right_value(part: Part, wanted: str) -> str:
    """Returns what a report says is right, in the words of the record.

    Args:
        part: What it is about.
        wanted: What was chosen or typed; of a time ISO 8601, without a zone in that of the time
            that was found, else UTC; ``""``: the page has no such field.

    Raises:
        ConfigError: It is none of the choices, no time, or what was found already.
    """
    wanted = " ".join(wanted.split())
    if part.choices:
        if wanted not in part.choices:
            raise ConfigError(f"{wanted[:40]}: must be one of {', '.join(part.choices)}")
        return wanted
    if part.subject is CaseSubject.PUBLISHED_AT and wanted:
        wanted = _time(wanted, part.was)
    if len(wanted) > MOST_FIELD_CHARS:
        raise ConfigError(f"the right value has over {MOST_FIELD_CHARS:,} characters")
    if wanted == part.was:
        raise ConfigError(f"{wanted[:40] or 'nothing'} is what was found")
    return wanted


def _time(text: str, was: str) -> str:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise ConfigError(f"{text[:40]} is not a time, such as 2026-10-05 18:30+08:00") from None
    zone = datetime.fromisoformat(was).tzinfo if was else None
    return (at if at.tzinfo else at.replace(tzinfo=zone or UTC)).isoformat()
