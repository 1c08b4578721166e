"""Records at rest: read by page, in the order of their saves, or as a sample of a host."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, nullcontext
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec import Struct

from crawlclean.cleaning.errors import StoreFull
from crawlclean.cleaning.records import CleanRecord, Link, Outlink, Via
from crawlclean.storage.store.ports import (
    PAGE_KEY,
    Blobs,
    Member,
    PackedRecord,
    Scan,
    Tables,
    Where,
    of,
)
from crawlclean.storage.store.rows import (
    find_links,
    find_signature,
    from_microseconds,
    has_capped_links,
    to_microseconds,
    unpack_head_text,
    unpack_line,
    unpack_outlinks,
    unpack_record,
)

READ_ROWS = 200  # held in memory at once: a row has a whole record
READ_LINKS = 200  # held in memory at once: a row has all links of a page
CACHE_KB = 8192  # of the keys in memory; more are in a temporary file

LEAST_COLUMNS = 60
"""A Chinese character takes two: a shorter body is a button or a line of an error."""

FIRST_WIDE = "\u2e80"


class Inlink(Struct, frozen=True, kw_only=True):
    """A page that links to a URL.

    Attributes:
        url: URL of the page.
        via: How the page names the URL.
        text: Text of the link, may be empty.
        depth: Links from the nearest seed to the page.
    """

    url: str
    via: Via
    text: str
    depth: int


class SearchText(Struct, frozen=True, kw_only=True):
    """A record as search indexes it.

    Attributes:
        seq: Number of its save, > 0.
        page_id: 32 hex digits.
        crawl_id: Its crawl.
        host: Its host.
        fetched_at: Microseconds since 1970 UTC.
        text: Title and body.
    """

    seq: int
    page_id: str
    crawl_id: str
    host: str
    fetched_at: int
    text: str


class SnippetPart(Struct, frozen=True, kw_only=True):
    """A part of a snippet.

    Attributes:
        text: As it stands in the text.
        is_hit: Whether it is what was searched for.
    """

    text: str
    is_hit: bool


def search_text(title: str, body: str) -> str:
    """The text of a record that is searched."""
    return f"{title}\n{body}"


class Records(Member):
    """The member ``records``: clean records; the newest of each page of a crawl is kept."""

    def get(self, page_id: str, crawl_id: str | None = None) -> CleanRecord | None:
        """The newest record of a page, of one crawl or of any; None without one."""
        while True:
            crawl = crawl_id or self._newest_crawl(page_id)
            found = self._blobs.record(page_id, crawl) if crawl else None
            if found:
                return unpack_record(found.head, found.links)
            if crawl_id or not crawl:
                return None  # else it was deleted between the two reads: read again

    def _newest_crawl(self, page_id: str) -> str | None:
        columns = ("fetched_at", "model_version", "saved_seq", "crawl_id")
        found = self._tables.scan(Scan("records", columns, {"page_id": page_id}))
        return max(found, key=lambda row: tuple(row[:3]))[3] if found else None

    def scan(
        self,
        crawl_id: str | None = None,
        since: datetime | None = None,
        host: str | None = None,
        once: Once | None = None,
    ) -> Iterator[CleanRecord]:
        """Yields records in the order of their saves, each once, read in steps of bounded size.

        A record that is saved again during the scan is yielded once; new records are included.

        Args:
            crawl_id: Only of this crawl.
            since: Only records saved at this time or later.
            host: Only of this host.
            once: Only records whose keys it has not, to which they are added; None: all.

        Raises:
            StoreFull: The folder for temporary files has no space left.
        """
        for each in self._packed(crawl_id, since, host, once):
            yield unpack_record(each.head, each.links)

    def after(self, number: int, limit: int) -> tuple[list[tuple[str, CleanRecord]], int]:
        """Returns (crawl, record) of the saves behind a number, and the number of the last one.

        Args:
            number: Number of a save, from 1; 0: the first ones.
            limit: At most so many records.

        Returns:
            The records in the order of their saves, and where the next call goes on; 0: the end.
        """
        found, behind = self._blobs.records({}, number, limit)
        return [(each.crawl_id, unpack_record(each.head, each.links)) for each in found], behind

    def texts(self, number: int, limit: int) -> list[SearchText]:
        """Texts of the saves behind a number, in the order of their saves, at most ``limit``."""
        found, _ = self._blobs.records({}, number, limit)
        texts = ((each, unpack_head_text(each.head)) for each in found)
        return [
            SearchText(
                seq=each.saved_seq,
                page_id=each.page_id,
                crawl_id=each.crawl_id,
                host=text.host,
                fetched_at=to_microseconds(text.fetched_at),
                text=search_text(text.title, text.body),
            )
            for each, text in texts
        ]

    def first_number(self, since: datetime) -> int | None:
        """Number of the first save at this time or later; None: there is none."""
        order, behind = ("saved_at", "saved_seq"), (to_microseconds(since) - 1,)
        first = self._tables.scan(Scan("records", order, order=order, after=behind, limit=1))
        return first[0][1] if first else None

    def title(self, page_id: str, crawl_id: str) -> str:
        """Title of the newest record of a page of a crawl; ``""`` without one. 0.1 ms."""
        found = self._blobs.record(page_id, crawl_id)
        return unpack_head_text(found.head).title if found else ""

    def numbers(self, keys: Collection[tuple[str, str]]) -> dict[tuple[str, str], int]:
        """Number of the newest save of each (page id, crawl) that has a record."""
        found = self._tables.get("records", keys, ("saved_seq",))
        return {(key[0], key[1]): row[0] for key, row in found.items()}

    def last_number(self) -> int:
        """Number of the newest save; 0 without records."""
        order = ("saved_at", "saved_seq")
        found = self._tables.scan(Scan("records", order, {}, order, backwards=True, limit=1))
        return found[0][1] if found else 0

    def lines(
        self,
        crawl_id: str | None = None,
        since: datetime | None = None,
        host: str | None = None,
        once: Once | None = None,
    ) -> Iterator[bytes]:
        """The records of ``scan``, each as its ``to_json`` writes it: a third of the work."""
        for each in self._packed(crawl_id, since, host, once):
            yield unpack_line(each.head, each.links)

    def _packed(
        self,
        crawl_id: str | None,
        since: datetime | None,
        host: str | None,
        known: Once | None,
    ) -> Iterator[PackedRecord]:
        after = 0
        if since is not None:
            first = self.first_number(since)
            if first is None:
                return
            after = first - 1
        with nullcontext(known) if known else closing(Once()) as once:
            for found in packed_records(self._blobs, of(crawl_id, host), READ_ROWS, after):
                for each in found:
                    if once.is_first(f"{each.page_id}:{each.crawl_id}"):
                        yield each

    def sample(self, crawl_id: str, host: str, limit: int) -> list[CleanRecord]:
        """A sample of a host's records in a crawl: the ``limit`` smallest page ids.

        Page ids are hashes, so the sample is random, repeatable, and part of a larger sample.
        """
        keys = self._tables.scan(
            Scan("records", PAGE_KEY, of(crawl_id, host), PAGE_KEY, limit=limit)
        )
        read = (self.get(page_id, crawl_id) for page_id, _ in keys)
        return [record for record in read if record is not None]

    def without_body(self, crawl_id: str, page_ids: Collection[str]) -> set[str]:
        """Those of some pages of a crawl whose records have no body; 0.1 ms a page.

        A body below ``LEAST_COLUMNS`` is none: that of a login page is its button.
        """
        found = ((page_id, self._blobs.record(page_id, crawl_id)) for page_id in page_ids)
        return {
            page_id
            for page_id, each in found
            if each and _is_short(unpack_head_text(each.head).body)
        }

    def count(self, crawl_id: str | None = None) -> int:
        """Number of stored records, of one crawl or of all."""
        return self._tables.count("records", of(crawl_id))

    def newest(self) -> datetime | None:
        """When a record was saved last; None without records."""
        last = Scan("records", ("saved_at",), {}, ("saved_at",), backwards=True, limit=1)
        found = self._tables.scan(last)
        return from_microseconds(found[0][0]) if found else None

    def linked(self, crawl_id: str) -> Iterator[tuple[str, int, Sequence[Outlink]]]:
        """Yields (URL, depth, outlinks) of every record in the order of their saves, in steps.

        A page that is saved again meanwhile may be yielded twice.
        """
        for found in packed_records(self._blobs, of(crawl_id), READ_LINKS):
            for each, url, depth in placed(self._tables, found):
                yield url, depth, unpack_outlinks(each.links)

    def with_signature(self, signature: str, host: str) -> Iterator[list[CleanRecord]]:
        """Yields the records of a host with a signature, in steps, until every record was read.

        The records have no links. A step may be empty: the caller ends the search when it has cost
        enough; a record takes about 0.05 ms.
        """
        for found in packed_records(self._blobs, of(host=host), READ_ROWS):
            equal = (find_signature(each.head, signature) for each in found)
            yield [record for record in equal if record is not None]

    def links_to(
        self, url: str, crawl_id: str, host: str | None = None
    ) -> Iterator[tuple[int, list[tuple[Inlink, bool]], list[str]]]:
        """Searches records for links to a URL, in steps, until every record was read.

        No index has the links of records: it would be larger than the records. The caller ends the
        search when it has cost enough; a record takes about 0.1 ms.

        Args:
            url: The URL, in normal form.
            crawl_id: The crawl.
            host: Only records of this host.

        Yields:
            How many records were read. (link to the URL, whether it is an outlink; a link to a
            file is none), at most one of each page. URLs of pages with more links than a record
            keeps (the warning ``capped_links``).
        """
        for found in packed_records(self._blobs, of(crawl_id, host), READ_LINKS):
            links = {each.page_id: find_links(each.links, url)[:1] for each in found}
            capped = {each.page_id for each in found if has_capped_links(each)}
            wanted = [each for each in found if links[each.page_id] or each.page_id in capped]
            places = list(placed(self._tables, wanted)) if wanted else []
            inlinks = [
                (_inlink(link, page_url, depth), isinstance(link, Outlink))
                for each, page_url, depth in places
                for link in links[each.page_id]
            ]
            yield len(found), inlinks, [page for each, page, _ in places if each.page_id in capped]


def _inlink(link: Link | Outlink, page_url: str, depth: int) -> Inlink:
    via = link.via if isinstance(link, Outlink) else Via.LINK
    return Inlink(url=page_url, via=via, text=link.text, depth=depth)


def packed_records(
    blobs: Blobs, where: Where, rows: int, after: int = 0
) -> Iterator[list[PackedRecord]]:
    """Yields packed records in the order of their saves, in lists of at most ``rows``."""
    while True:
        found, after = blobs.records(where, after, rows)
        yield found
        if not after:
            return


def placed(
    tables: Tables, found: Sequence[PackedRecord]
) -> Iterator[tuple[PackedRecord, str, int]]:
    """Yields (record, URL, depth) for the records that have a row of ``urls``."""
    places = tables.get("urls", [(each.page_id, each.crawl_id) for each in found], ("url", "depth"))
    for each in found:
        place = places.get((each.page_id, each.crawl_id))
        if place is not None:  # else its save, or its deletion, is under way
            yield each, place[0], place[1]


class Once:
    """A set of keys with bounded memory, in an unnamed temporary SQLite database.

    A record that is saved again during a scan is met a second time; the set recognises it. For one
    thread of one process.
    """

    def __init__(self, path: Path | None = None) -> None:
        """Begins empty in a temporary file; at a path, with the keys that are kept there."""
        self._db = sqlite3.connect(path or "", isolation_level=None, check_same_thread=False)
        if path is not None:
            return
        for setting in ("journal_mode = OFF", "synchronous = OFF", f"cache_size = -{CACHE_KB}"):
            self._db.execute(f"PRAGMA {setting}")
        self._db.execute("CREATE TABLE keys (key BLOB PRIMARY KEY) WITHOUT ROWID")

    def is_first(self, key: str) -> bool:
        """Adds a key, e.g. ``"4f11...:news"``; returns whether it is new.

        Raises:
            StoreFull: The folder for temporary files has no space left.
        """
        return self.execute("INSERT OR IGNORE INTO keys VALUES (?)", key.encode()).rowcount > 0

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        """Runs a statement on the database, which may have more than the keys.

        Raises:
            StoreFull: The folder for temporary files has no space left.
        """
        try:
            return self._db.execute(sql, values)
        except sqlite3.OperationalError as error:
            message = f"no space left for temporary files ({error}): free some, then run again"
            raise StoreFull(message) from error

    def close(self) -> None:
        """Deletes the temporary database."""
        self._db.close()


def _is_short(body: str) -> bool:
    """Whether a body is too short to be one."""
    if len(body) >= LEAST_COLUMNS:
        return False
    return sum(2 if char >= FIRST_WIDE else 1 for char in body) < LEAST_COLUMNS
