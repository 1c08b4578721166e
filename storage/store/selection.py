"""Which stored records are wanted: by crawl, host, kind, length of the body, each body once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass
from datetime import datetime

from crawlclean.cleaning.records import CleanRecord, PageKind
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.records import Once


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """A choice of records; without values all of them.

    Attributes:
        crawl: Only of this crawl; None: of all.
        topic: Only of pages that are relevant to this topic; None: of all.
        host: Only of this host, ``example.com:8080``; None: of all.
        kinds: Only of these kinds; empty: of all.
        min_chars: At least this many characters of body.
        is_unique: Of the pages of a story only the longest that is wanted, or with ``since`` the
            one that was saved first; of others with equal bodies the one that was saved first;
            records without a body are all taken.
        is_earliest: With ``is_unique`` the earliest page of a story instead of the longest.
        since: Only those saved at or after this time; None: all.
    """

    crawl: str | None = None
    topic: str | None = None
    host: str | None = None
    kinds: frozenset[PageKind] = frozenset()
    min_chars: int = 0
    is_unique: bool = False
    is_earliest: bool = False
    since: datetime | None = None

    def wants(self, record: CleanRecord) -> bool:
        """Whether a record has the kind and the length; crawl, host and time are the store's."""
        return (not self.kinds or record.kind in self.kinds) and len(record.body) >= self.min_chars


def select(store: Store, wanted: Selection, known: Once | None = None) -> Iterator[CleanRecord]:
    """Yields the records of a choice in the order in which they were saved.

    Args:
        store: Holds the records.
        wanted: The choice.
        known: Records and bodies that were met before, and are left out; None: none.
    """
    left = {page.page_id for page in store.topics.relevant(wanted.topic)} if wanted.topic else None
    with nullcontext(known) if known else closing(Once()) as once:
        for record in store.records.scan(wanted.crawl, wanted.since, wanted.host, known):
            if not wanted.wants(record):
                continue
            if left is not None:
                if record.page_id not in left:
                    continue
                left.discard(record.page_id)  # several crawls may have fetched it
            chosen = _chosen(store, wanted, record, once) if wanted.is_unique else record
            if chosen is not None:
                yield chosen


def _chosen(store: Store, wanted: Selection, record: CleanRecord, once: Once) -> CleanRecord | None:
    """The page that stands for a record's story; None when it was yielded before."""
    story_id = store.stories.id_of(record.page_id)
    if story_id is None:
        is_first = not record.signature or once.is_first(f"body:{record.signature}")
        return record if is_first else None
    if not once.is_first(f"story:{story_id}"):
        return None
    story = store.stories.story(story_id)
    if story is None or wanted.since is not None:
        return record
    pages = list(story.pages)
    if not wanted.is_earliest:
        pages.sort(key=lambda page: -page.chars)
    for page in pages:
        if wanted.host in (None, page.host):
            other = store.records.get(page.page_id, wanted.crawl or page.crawl_id)
            if other is not None and wanted.wants(other):
                return other
    return record
