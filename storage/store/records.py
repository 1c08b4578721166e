"""Records at rest, and the port by which packed bytes are read (records, archived answers)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from cleaning.records import CleanRecord, Outlink
from storage.store.codec import to_microseconds
from storage.store.deduplication import Once
from storage.store.record_blobs import unpack_line, unpack_outlinks, unpack_record
from storage.store.tables import PAGE_KEY, Scan, Tables, Where, of

READ_ROWS = 200
READ_LINKS = 200


@dataclass(frozen=True, slots=True)
class PackedRecord:
    """A record as it is stored.

    Attributes:
        saved_seq: The number of its save, from 1; a record that is saved anew gets a new one.
        page_id: 32 hex digits.
        crawl_id: Its crawl.
        head: The record without its links, as ``encode_record`` made it, compressed.
        links: Its links, images and outlinks, the same.
    """

    saved_seq: int
    page_id: str
    crawl_id: str
    head: bytes
    links: bytes


@dataclass(frozen=True, slots=True)
class ArchivedAnswer:
    """An HTTP answer as the archive holds it; ``fetched_at`` in microseconds since 1970 UTC."""

    url: str
    fetched_at: int
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


class Blobs(Protocol):
    """The port of the large things, which each database keeps in its own way."""

    def record(self, page_id: str, crawl_id: str) -> PackedRecord | None:
        """The newest record of a page of a crawl.

        Raises:
            StoreDamaged: The record is there and its bytes are not.
        """

    def records(self, where: Where, after: int, limit: int) -> tuple[list[PackedRecord], int]:
        """Records with a number greater than ``after``, and the number to go on behind; 0: no more.

        At most ``limit``, fewer when they are large. A record that is replaced while it is read is
        left out: it comes later, under its new number.
        """

    def answer(self, page_id: str, crawl_id: str) -> ArchivedAnswer | None:
        """The newest archived answer of a URL of a crawl.

        Raises:
            StoreDamaged: The answer should be there and its bytes are not.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedPage:
    """A page that has a record: where it is, how deep, and what it leads to."""

    url: str
    depth: int
    outlinks: Sequence[Outlink]


class Records:
    """The table ``records``."""

    def __init__(self, tables: Tables, blobs: Blobs) -> None:
        self._tables = tables
        self._blobs = blobs

    def get(self, page_id: str, crawl_id: str | None = None) -> CleanRecord | None:
        """The newest record of a page, in one crawl or in all."""
        while True:
            crawl = crawl_id or self._newest_crawl(page_id)
            found = self._blobs.record(page_id, crawl) if crawl else None
            if found:
                return unpack_record(found.head, found.links)
            if crawl_id or not crawl:
                return None  # else that crawl's record was deleted meanwhile: look again

    def _newest_crawl(self, page_id: str) -> str | None:
        columns = ("fetched_at", "model_version", "saved_seq", "crawl_id")
        found = self._tables.scan(Scan("records", columns, {"page_id": page_id}))
        return max(found, key=lambda row: tuple(row[:3]))[3] if found else None

    def scan(
        self, crawl_id: str | None = None, since: datetime | None = None
    ) -> Iterator[CleanRecord]:
        """Records in the order they were saved, each once, read in steps of bounded size.

        ``since`` keeps those saved at or after it. A record that is saved anew while this runs
        comes once all the same.
        """
        for each in self._packed(crawl_id, since):
            yield unpack_record(each.head, each.links)

    def lines(self, crawl_id: str | None = None, since: datetime | None = None) -> Iterator[bytes]:
        """The records of ``scan``, each as ``record_to_json`` writes it: a third of the work."""
        for each in self._packed(crawl_id, since):
            yield unpack_line(each.head, each.links)

    def _packed(self, crawl_id: str | None, since: datetime | None) -> Iterator[PackedRecord]:
        after = 0
        if since is not None:
            order, behind = ("saved_at", "saved_seq"), (to_microseconds(since) - 1,)
            first = self._tables.scan(Scan("records", order, order=order, after=behind, limit=1))
            if not first:
                return
            after = first[0][1] - 1
        with closing(Once()) as once:
            for found in packed_records(self._blobs, of(crawl_id), READ_ROWS, after):
                for each in found:
                    if once.is_first(f"{each.page_id}:{each.crawl_id}"):
                        yield each

    def sample(self, crawl_id: str, host: str, limit: int) -> list[CleanRecord]:
        """Records of a host of a crawl, those with the smallest page ids, at most ``limit``.

        Page ids are hashes: the sample grows with ``limit`` and does not depend on order.
        """
        keys = self._tables.scan(
            Scan("records", PAGE_KEY, of(crawl_id, host), PAGE_KEY, limit=limit)
        )
        read = (self.get(page_id, crawl_id) for page_id, _ in keys)
        return [record for record in read if record is not None]

    def count(self, crawl_id: str | None = None) -> int:
        """How many records are stored."""
        return self._tables.count("records", of(crawl_id))

    def linked(self, crawl_id: str) -> Iterator[LinkedPage]:
        """Every page with a record, in the order they were saved, read in steps.

        A page that is saved anew meanwhile may come twice.
        """
        for found in packed_records(self._blobs, of(crawl_id), READ_LINKS):
            for each, url, depth in placed(self._tables, found):
                yield LinkedPage(url=url, depth=depth, outlinks=unpack_outlinks(each.links))


def packed_records(
    blobs: Blobs, where: Where, rows: int, after: int = 0
) -> Iterator[list[PackedRecord]]:
    """Packed records in the order they were saved, in lists of at most ``rows``."""
    while True:
        found, after = blobs.records(where, after, rows)
        yield found
        if not after:
            return


def placed(
    tables: Tables, found: Sequence[PackedRecord]
) -> Iterator[tuple[PackedRecord, str, int]]:
    """(record, URL, depth) of records whose row of ``urls`` is there."""
    places = tables.get("urls", [(each.page_id, each.crawl_id) for each in found], ("url", "depth"))
    for each in found:
        place = places.get((each.page_id, each.crawl_id))
        if place is not None:  # else it is being saved, or deleted
            yield each, place[0], place[1]
