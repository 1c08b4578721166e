"""Which stored records an export wants, and how far it has come."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, nullcontext
from datetime import datetime
from errno import EDQUOT, ENOSPC
from pathlib import Path

from msgspec import Struct

from crawlclean.cleaning.errors import ConfigError, StoreFull
from crawlclean.cleaning.records import CleanRecord, PageKind
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.records import Once

# How far an export into several files has come: its records and files, kept beside them.
#
# A killed export goes on where its whole files stop. The keys of the records of a file are
# committed after the file has its name. A file without this commit is written again, so that no
# record is lost or stands twice.

FILE = ".unfinished-export"

_TABLES = """
CREATE TABLE IF NOT EXISTS keys (key BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS files (number INTEGER PRIMARY KEY, name TEXT, records INTEGER);
CREATE TABLE IF NOT EXISTS about (options TEXT);
"""


class ExportState(Once):
    """The records of the whole files of one export; one process at a time holds it."""

    def __init__(self, folder: Path, options: str) -> None:
        """Begins a state in a folder, or takes up that of a killed export.

        Args:
            folder: Has the files of the export.
            options: All that decides what the files hold: ``{"format": "csv", ...}``.

        Raises:
            StoreFull: The folder has no space left.
            ConfigError: Another export is writing into the folder, or one with other options was
                not finished, or the state cannot be written.
        """
        self._path = folder / FILE
        is_known = self._path.exists()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            super().__init__(self._path)
            self._db.execute("PRAGMA busy_timeout = 0")
            self._db.executescript(_TABLES)
            self._db.execute("BEGIN IMMEDIATE")
        except (sqlite3.Error, OSError) as error:
            if "locked" in str(error):
                raise ConfigError(f"another export is writing into {folder}") from None
            if "is full" in str(error) or getattr(error, "errno", 0) in (ENOSPC, EDQUOT):
                if not is_known:
                    self._path.unlink(missing_ok=True)
                raise StoreFull(f"no space left for {folder}: free some") from error
            raise ConfigError(f"{self._path} cannot be used: {error}") from error
        known = self._db.execute("SELECT options FROM about").fetchone()
        if known is None:
            self._db.execute("INSERT INTO about VALUES (?)", (options,))
        elif known[0] != options:
            self.close()
            raise ConfigError(
                f"{folder} has an unfinished export with other options: the same command goes on; "
                f"delete {self._path} and the files to begin anew"
            )
        self._commit()

    def files(self) -> list[tuple[str, int]]:
        """(name, records) of the whole files, in order."""
        return list(self._db.execute("SELECT name, records FROM files ORDER BY number"))

    def keep(self, name: str, records: int) -> None:
        """Keeps the keys met since the last file, whose records are in a file that is whole.

        Raises:
            StoreFull: The folder has no space left.
        """
        self._db.execute("INSERT INTO files (name, records) VALUES (?, ?)", (name, records))
        self._commit()

    def finish(self) -> None:
        """Deletes the state of an export that is whole."""
        self.close()
        for suffix in ("", "-journal"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)

    def _commit(self) -> None:
        try:
            self._db.execute("COMMIT")
            self._db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            raise StoreFull(f"{self._path} cannot be written: {error}") from error


# Which stored records are wanted: by crawl, host, kind, length of the body, each body once.


class Selection(Struct, frozen=True, kw_only=True):
    """A choice of records; without values all of them.

    Attributes:
        crawl: Only of this crawl; None: of all.
        topic: Only of pages that are relevant to this topic; None: of all.
        host: Only of this host, ``example.com:8080``; None: of all.
        kinds: Only of these kinds; empty: of all.
        min_chars: At least this many characters of body.
        min_confidence: At least this probability that the body is right, 0..1; 0: all, those of
            version 0.2.0 too, whose bodies were not judged.
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
    min_confidence: float = 0.0
    is_unique: bool = False
    is_earliest: bool = False
    since: datetime | None = None

    def wants(self, record: CleanRecord) -> bool:
        """Whether a record's own values are wanted; crawl, host and time are the store's."""
        return (
            (not self.kinds or record.kind in self.kinds)
            and len(record.body) >= self.min_chars
            and (record.confidence or 0.0) >= self.min_confidence
        )


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
