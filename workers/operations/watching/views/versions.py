"""The versions of a page, for the console."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from crawlclean.cleaning.versions import shown_lines
from crawlclean.workers.answers.versions import PageVersion, VersionDifference
from crawlclean.workers.operations.pages.inline_difference import ChangedLine, inline_difference
from crawlclean.workers.operations.pages.page_versions import history_in, versions_in
from crawlclean.workers.operations.reading import is_page_id
from crawlclean.workers.operations.urls.near_matches import with_scheme
from crawlclean.workers.operations.watching.kept_backends import KeptBackends

MOST_SHOWN_LINES = 1_000
"""Lines of a difference that one screen shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageVersions:
    """The versions of a page, and the difference of two.

    Attributes:
        url: Its URL.
        versions: Newest first.
        older_at: The older one of two that are compared; None: there is one only.
        newer_at: The newer one.
        lines: Their difference.
        left_out: Lines of the difference behind ``lines``.
    """

    url: str
    versions: Sequence[PageVersion]
    older_at: datetime | None = None
    newer_at: datetime | None = None
    lines: Sequence[ChangedLine] = ()
    left_out: int = 0


def show_versions(
    backends: KeptBackends, page_id: str, crawl: str, wanted: Sequence[datetime]
) -> PageVersions:
    """Returns the versions of a page.

    Args:
        backends: Queue and store.
        page_id: 32 hex digits.
        crawl: Whose; ``""``: of the crawl that fetched it last.
        wanted: Times of two versions to compare; fewer: the newest and the one before.

    Raises:
        NotFound: No record of it is stored.
    """
    with backends.store() as store:
        versions = history_in(store, page_id, crawl)
        if len(versions) < 2:
            return PageVersions(url=versions[0].url, versions=versions)
        pair = versions_in(store, page_id, wanted if len(wanted) == 2 else (), crawl)
    lines = inline_difference(shown_lines(pair.older), shown_lines(pair.newer))
    return PageVersions(
        url=pair.url,
        versions=versions,
        older_at=pair.older.fetched_at,
        newer_at=pair.newer.fetched_at,
        lines=lines[:MOST_SHOWN_LINES],
        left_out=max(0, len(lines) - MOST_SHOWN_LINES),
    )


def version_answers(backends: KeptBackends, target: str) -> list[PageVersion]:
    """Returns the versions of a page, newest first, as `show --history` does.

    Raises:
        NotFound: No record of it is stored.
        InvalidUrl: It is no http(s) URL.
    """
    with backends.store() as store:
        return history_in(store, target if is_page_id(target) else with_scheme(store, target))


def version_difference(
    backends: KeptBackends, target: str, wanted: Sequence[datetime]
) -> VersionDifference:
    """Returns the difference between two versions of a page, as `show --diff` does.

    Args:
        backends: Queue and store.
        target: A URL, or the beginning of a page id.
        wanted: Two times; none: the newest version and the one before.

    Raises:
        NotFound: No record of it is stored, or the page has one version only.
        InvalidUrl: It is no http(s) URL.
    """
    with backends.store() as store:
        url = target if is_page_id(target) else with_scheme(store, target)
        return versions_in(store, url, wanted).difference()
