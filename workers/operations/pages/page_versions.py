"""The versions of one page: its history, and the difference between two of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from crawlclean.cleaning.errors import NotFound
from crawlclean.cleaning.records import CleanRecord
from crawlclean.cleaning.urls.normal_form import normalize
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.visits import VersionRow, difference
from crawlclean.workers.answers.versions import PageVersion, VersionDifference
from crawlclean.workers.config import Settings
from crawlclean.workers.operations.backends import existing_store
from crawlclean.workers.operations.reading import find_page, is_page_id, read_time
from crawlclean.workers.operations.urls.near_matches import did_you_mean, near_urls


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    """A page of a crawl with its versions, newest first; there is at least one."""

    page_id: str
    crawl_id: str
    url: str
    checked_at: datetime
    versions: Sequence[VersionRow]


def page_history(settings: Settings, target: str) -> list[PageVersion]:
    """Returns the versions of a page, newest first.

    Args:
        settings: Where the store is.
        target: A URL, or the beginning of a page id.

    Raises:
        NotFound: No record of it is stored.
    """
    with existing_store(settings) as store:
        return history_in(store, target)


def history_in(store: Store, target: str, crawl: str = "") -> list[PageVersion]:
    """Returns what ``page_history`` does, from a store that is open.

    Args:
        store: The store.
        target: A URL, or the beginning of a page id.
        crawl: Only as this crawl has it; ``""``: the crawl that fetched it last.

    Raises:
        NotFound: No record of it is stored.
    """
    page = _find(store, target, crawl)
    return [
        _answer(page, row, record, is_newest=number == 0)
        for number, (row, record) in enumerate(
            zip(page.versions, store.versions.walk(page.page_id, page.crawl_id), strict=False)
        )
    ]


def page_difference(settings: Settings, target: str, times: Sequence[str]) -> VersionDifference:
    """Returns the difference between two versions of a page.

    Args:
        settings: Where the store is.
        target: A URL, or the beginning of a page id.
        times: Two ISO times: of each the version that the page had then; none: the newest and the
            one before.

    Raises:
        NotFound: No record of it is stored, or the page has one version only.
        ConfigError: A text is no time.
    """
    wanted = [read_time(text) for text in times]
    with existing_store(settings) as store:
        pair = versions_in(store, target, wanted)
    return pair.difference()


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionPair:
    """Two versions of a page.

    Attributes:
        url: Its URL.
        crawl: The crawl that visits it.
        older: The older version.
        newer: The newer version.
    """

    url: str
    crawl: str
    older: CleanRecord
    newer: CleanRecord

    def difference(self) -> VersionDifference:
        """Their difference, line by line."""
        return VersionDifference(
            url=self.url,
            crawl=self.crawl,
            older_at=self.older.fetched_at,
            newer_at=self.newer.fetched_at,
            lines=difference(self.older, self.newer),
        )


def versions_in(
    store: Store, target: str, wanted: Sequence[datetime], crawl: str = ""
) -> VersionPair:
    """Returns two versions of a page.

    Args:
        store: The store.
        target: A URL, or the beginning of a page id.
        wanted: Two times: of each the version that the page had then, to the second; none: the
            newest and the one before.
        crawl: Only as this crawl has it; ``""``: the crawl that fetched it last.

    Raises:
        NotFound: No record of it is stored, or the page has one version only.
    """
    page = _find(store, target, crawl)
    if len(page.versions) < 2:
        raise NotFound(
            f"{page.url} has one version, of {page.versions[0].fetched_at:%Y-%m-%d %H:%M:%S} "
            "UTC: no later visit found other content"
        )
    older, newer = page.versions[1].fetched_at, page.versions[0].fetched_at
    if wanted:
        older, newer = sorted(_version_at(page, each) for each in wanted)
    records = [store.versions.restore(page.page_id, page.crawl_id, at) for at in (older, newer)]
    return VersionPair(url=page.url, crawl=page.crawl_id, older=records[0], newer=records[1])


def _version_at(page: _Page, at: datetime) -> datetime:
    """The version that a page had at a time, to the second; the oldest, if it is later."""
    for row in page.versions:
        if row.fetched_at.replace(microsecond=0) <= at:
            return row.fetched_at
    return page.versions[-1].fetched_at


def _find(store: Store, target: str, crawl: str = "") -> _Page:
    """The page in the crawl that fetched it last, and stored a record of it; or in one crawl.

    Raises:
        NotFound: No record of it is stored.
    """
    page_id = find_page(store, target)
    for row in store.urls.rows(page_id):
        if crawl and row.crawl_id != crawl:
            continue
        versions = store.versions.history(page_id, row.crawl_id)
        if versions:
            checked = store.revisits.checked_at(page_id, row.crawl_id)
            return _Page(
                page_id=page_id,
                crawl_id=row.crawl_id,
                url=row.url,
                checked_at=max(checked or versions[0].fetched_at, versions[0].fetched_at),
                versions=versions,
            )
    near = [] if is_page_id(target) else near_urls(store, normalize(target))
    raise NotFound(f"no record of {target}; `why {target}` shows its steps{did_you_mean(near)}")


def _answer(page: _Page, row: VersionRow, record: CleanRecord, *, is_newest: bool) -> PageVersion:
    return PageVersion(
        url=page.url,
        crawl=page.crawl_id,
        fetched_at=row.fetched_at,
        title=record.title,
        body_chars=len(record.body),
        posts=len(record.posts),
        added=row.added,
        removed=row.removed,
        model_version=record.model_version,
        is_newest=is_newest,
        checked_at=page.checked_at if is_newest else None,
    )
