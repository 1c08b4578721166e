"""JSON lines about older versions of pages: `show URL --history`, `show URL --diff`.

The fields of a type are the fields of its line, and the docstring of the type is their
documentation (``docs/json.md``).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PageVersion:
    """A version of a page: what it showed from one visit on.

    Attributes:
        url: Its URL.
        crawl: The crawl that visits it.
        fetched_at: The visit that found the version; `--diff` takes this time.
        title: Its title then.
        body_chars: Characters of its body then.
        posts: Posts of a thread then.
        added: Lines that it has and the version before has not; 0 of the oldest.
        removed: Lines that the version before has and it has not; 0 of the oldest.
        model_version: Version of the host's model that cleaned it; 0 without.
        is_newest: Whether it is the record that `show` prints.
        checked_at: The last visit that found the newest version; null of an older one.
    """

    url: str
    crawl: str
    fetched_at: datetime
    title: str
    body_chars: int
    posts: int
    added: int
    removed: int
    model_version: int
    is_newest: bool
    checked_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionDifference:
    """The difference between two versions of a page.

    Attributes:
        url: Its URL.
        crawl: The crawl that visits it.
        older_at: The visit that found the older version.
        newer_at: The visit that found the newer version.
        lines: Title, text and the links of a list as lines of a unified difference: a line of
            both begins with a space, one of the older version with `-`, of the newer with `+`.
    """

    url: str
    crawl: str
    older_at: datetime
    newer_at: datetime
    lines: list[str]
