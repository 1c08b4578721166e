"""JSON lines of `cases`.

The fields of a type are the fields of its line, and the docstring of the type is their
documentation (``docs/json.md``).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class CaseState(StrEnum):
    """What the cleaner makes of the page of a case now."""

    STANDS = "stands"  # what it made when the case was reported
    MENDED = "mended"  # what is wanted, and nothing else changed
    CHANGED = "changed"  # something else
    UNREADABLE = "unreadable"  # the model of the case is of another version of this program
    NOT_TRIED = "not_tried"  # cleaning the page killed workers: it is not cleaned to look


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseLine:
    """A line of `cases`: a reported verdict.

    Attributes:
        case: Its id, 16 hex digits.
        url: URL of the page.
        crawl: The crawl that fetched it.
        part: What part of the page it is about: ``text 31``, ``link 4``, ``image 0`` (numbers from
            0), ``title``, ``author``, ``published_at``, ``kind``; ``crash``: workers died
            on the page.
        text: The text, or the URL of the link or image; ``""`` of a field.
        was: What the cleaner found.
        rule: The rule that decided; ``""`` of a field.
        wanted: What is right; of a text ``body`` or ``not_body``.
        note: Why, in words for a person.
        who: Who reported it.
        at: When it was reported.
    """

    case: str
    url: str
    crawl: str
    part: str
    text: str
    was: str
    rule: str
    wanted: str
    note: str
    who: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseDetails(CaseLine):
    """A reported verdict, with what the cleaner makes of its page now.

    Attributes:
        state: What it makes of it.
        differs: Parts of the record that are not what is wanted: ``["body"]``.
    """

    state: CaseState
    differs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFolder:
    """A line of `cases --export`: a golden folder that was written.

    Attributes:
        folder: Its path.
        url: URL of its page.
        cases: Ids of its cases: those of one page, cleaned the same way.
    """

    folder: str
    url: str
    cases: tuple[str, ...]
