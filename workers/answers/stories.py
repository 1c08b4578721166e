"""JSON lines about near-duplicates: `stories`, `why`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from msgspec import UNSET, UnsetType


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldBy:
    """A page that tells a story.

    Attributes:
        url: Its URL.
        host: Its host.
        at: When it was published, if that is known and less than 30 days before the fetch; else
            when it was fetched first.
        body_chars: Characters of its body.
    """

    url: str
    host: str
    at: datetime
    body_chars: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryLine:
    """A story: the pages that tell the same text, perhaps edited, cut or framed by other lines.

    Attributes:
        story: Its id, 15 hex digits: ``4f1193a0c27be51``. When two stories prove to be one, the
            smaller id stays, and both lead to it.
        title: Title of its earliest page.
        url_count: Number of its URLs; of a large story at most 1,000 are read.
        host_count: Number of their hosts.
        earliest: The page that was seen or published first.
        longest: The page with the longest body.
        pages: All its pages, the earliest first; only for one story, and in a topic's report.
    """

    story: str
    title: str
    url_count: int
    host_count: int
    earliest: ToldBy
    longest: ToldBy
    pages: tuple[ToldBy, ...] | UnsetType = UNSET


@dataclass(frozen=True, slots=True, kw_only=True)
class StoriesRebuilt:
    """The result of `stories --rebuild`.

    Attributes:
        records: Records that were read.
        texts: Those of them whose text can tell a story.
        interrupted: Whether it was ended by Ctrl-C; the same command does the rest.
    """

    records: int
    texts: int
    interrupted: bool
