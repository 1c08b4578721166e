"""Older versions of records: what a page said at earlier visits, as differences of lines.

A row has the time of an older version, and the edits that make its lines from those of the next
newer one (``cleaning/versions.py``); the newest version is the record itself. So a save writes one
small row, and a version is restored by going back from the record.

A page keeps ``MOST_VERSIONS``; then every second one goes, the oldest never. A version is written
before the record that replaces it: a row that is not older than the record is of a save that died,
and is skipped; saving the outcome again writes it anew. Where the record is replaced and no version
begins (the page was cleaned again), the newest row keeps its lines whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import unified_diff
from zlib import crc32

import msgspec

from crawlclean.cleaning.errors import NotFound, StoreDamaged
from crawlclean.cleaning.json_values import DAMAGE
from crawlclean.cleaning.records import CleanRecord
from crawlclean.cleaning.versions import (
    Edit,
    edits_back,
    go_back,
    kept_lines,
    record_of,
    shown_lines,
)
from crawlclean.storage.store.codec import from_microseconds, to_microseconds
from crawlclean.storage.store.ports import Blobs, PackedRecord, Scan, Tables
from crawlclean.storage.store.record_blobs import compress, decompress, unpack_record, unpack_text

MOST_VERSIONS = 50
"""Older versions of a page that are kept; a thinned page has 26."""
CONTEXT_LINES = 2
"""Equal lines shown around a difference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionRow:
    """One version of a page.

    Attributes:
        fetched_at: End of the response that showed it first.
        added: Lines that it has and the version before it has not; 0 of the oldest.
        removed: Lines that the version before it has and it has not; 0 of the oldest.
    """

    fetched_at: datetime
    added: int
    removed: int


class _Packed(msgspec.Struct, frozen=True, array_like=True):
    """An older version: ``[305419896,[[3,4,["b"]]]]``.

    Attributes:
        check: CRC-32 of its lines.
        edits: What makes its lines from those of the next newer version.
        whole: Its lines, when it has no edits; ``()``: it has edits.
    """

    check: int
    edits: tuple[Edit, ...] = ()
    whole: tuple[str, ...] = ()


_PACKED = msgspec.json.Decoder(_Packed)
_COLUMNS = ("fetched_at", "added", "removed", "packed")
_Row = tuple[int, int, int, bytes]
"""The values of ``_COLUMNS``."""


class Versions:
    """The member ``versions``."""

    def __init__(self, tables: Tables, blobs: Blobs) -> None:
        self._tables = tables
        self._blobs = blobs

    def history(self, page_id: str, crawl_id: str) -> list[VersionRow]:
        """The versions of a page of a crawl, newest first; the first is the record itself.

        A page without a record has none.
        """
        known = self._record(page_id, crawl_id)
        if known is None:
            return []
        found: list[VersionRow] = []
        newer_at = known.fetched_at
        for at, added, removed, _ in self._older(page_id, crawl_id, newer_at):
            found.append(VersionRow(fetched_at=newer_at, added=added, removed=removed))
            newer_at = from_microseconds(at)
        return [*found, VersionRow(fetched_at=newer_at, added=0, removed=0)]

    def restore(self, page_id: str, crawl_id: str, fetched_at: datetime) -> CleanRecord:
        """A version of a page: of an older one title, author, times, body, posts and outlinks.

        Args:
            page_id: 32 hex digits.
            crawl_id: Its crawl.
            fetched_at: As in ``history``.

        Raises:
            NotFound: The page has no such version.
            StoreDamaged: The version cannot be read.
        """
        record = self._record(page_id, crawl_id)
        if record is None:
            raise NotFound(f"no record of {page_id} in {crawl_id}")
        if record.fetched_at == fetched_at:
            return record
        wanted = to_microseconds(fetched_at)
        rows = self._older(page_id, crawl_id, record.fetched_at)
        if not any(row[0] == wanted for row in rows):
            raise NotFound(f"{record.url} has no version of {fetched_at:%Y-%m-%d %H:%M:%S} UTC")
        for at, lines in _walk(kept_lines(record), rows):
            if at == wanted:
                return record_of(lines, page_id, fetched_at)
        raise StoreDamaged(f"the version of {record.url} of {fetched_at} cannot be read")

    def walk(self, page_id: str, crawl_id: str) -> Iterator[CleanRecord]:
        """Yields the versions of a page as ``restore`` gives them, newest first."""
        record = self._record(page_id, crawl_id)
        if record is not None:
            yield record
            rows = self._older(page_id, crawl_id, record.fetched_at)
            for at, lines in _walk(kept_lines(record), rows):
                yield record_of(lines, page_id, from_microseconds(at))

    def _record(self, page_id: str, crawl_id: str) -> CleanRecord | None:
        packed = self._blobs.record(page_id, crawl_id)
        return unpack_record(packed.head, packed.links) if packed else None

    def _older(self, page_id: str, crawl_id: str, than: datetime) -> list[_Row]:
        """The rows of a page that are older than a time, newest first."""
        where = {"page_id": page_id, "crawl_id": crawl_id}
        rows = self._tables.scan(Scan("versions", _COLUMNS, where, ("fetched_at",), backwards=True))
        newest = to_microseconds(than)
        return [(row[0], row[1], row[2], bytes(row[3])) for row in rows if row[0] < newest]

    # --- in a save ---

    def begin(self, old: PackedRecord, new: CleanRecord, *, is_changed: bool) -> None:
        """Keeps the record that a save will replace, before it is replaced.

        Args:
            old: The stored record.
            new: The record that will replace it.
            is_changed: Whether the old record becomes a version; else only the difference of the
                newest version is made anew, because what it begins from is replaced.
        """
        before = unpack_text(old.head, old.links)
        rows = self._older(old.page_id, old.crawl_id, before.fetched_at)
        lines = kept_lines(before)
        if is_changed:
            at = to_microseconds(before.fetched_at)
            self._put(old, before.host, at, lines, edits_back(kept_lines(new), lines))
            if len(rows) >= MOST_VERSIONS:
                self._thin(old, before.host, lines, rows)
        elif rows:
            for at, older in _walk(lines, rows[:1]):
                self._put(old, before.host, at, older, edits_back(kept_lines(new), older), True)

    def has_any(self, page_id: str, crawl_id: str) -> bool:
        """Whether a page has older versions."""
        where = {"page_id": page_id, "crawl_id": crawl_id}
        return bool(self._tables.scan(Scan("versions", ("fetched_at",), where, limit=1)))

    def _put(
        self,
        key: PackedRecord,
        host: str,
        at: int,
        lines: tuple[str, ...],
        edits: Sequence[Edit],
        is_whole: bool = False,
    ) -> None:
        """Writes the row of an older version, whose newer neighbour gives its lines by edits."""
        packed = _Packed(_check(lines), () if is_whole else tuple(edits), lines if is_whole else ())
        self._tables.put(
            "versions",
            {
                "page_id": key.page_id,
                "crawl_id": key.crawl_id,
                "fetched_at": at,
                "host": host,
                "added": sum(edit.end - edit.start for edit in edits),
                "removed": sum(len(edit.lines) for edit in edits),
                "packed": compress(msgspec.json.encode(packed)),
            },
        )

    def _thin(
        self, key: PackedRecord, host: str, lines: tuple[str, ...], rows: Sequence[_Row]
    ) -> None:
        """Deletes every second row, newest first, and those that cannot be read; the oldest stays.

        A row is written whole before the one that it needs is deleted: a thinning that was killed
        loses nothing.
        """
        read = dict(_walk(lines, rows))
        newer, gone = lines, [at for at, *_ in rows if at not in read]
        waiting: int | None = None
        for number, (at, older) in enumerate(read.items()):
            if number % 2 == 0 and number != len(read) - 1:
                waiting = at
                continue
            if waiting is not None:
                edits = edits_back(newer, older)
                self._put(key, host, at, older, edits, True)
                self._delete(key, waiting)
                self._put(key, host, at, older, edits)
            newer, waiting = older, None
        for at in gone:
            self._delete(key, at)

    def _delete(self, key: PackedRecord, at: int) -> None:
        where = {"page_id": key.page_id, "crawl_id": key.crawl_id, "fetched_at": at}
        self._tables.delete("versions", where)


def difference(older: CleanRecord, newer: CleanRecord) -> list[str]:
    """What a person sees of the difference between two versions, as lines of a unified diff.

    ``["@@ -3,2 +3,2 @@", "-Sold out", "+In stock"]``; empty when both show the same.
    """
    found = unified_diff(shown_lines(older), shown_lines(newer), n=CONTEXT_LINES, lineterm="")
    return list(found)[2:]  # without the names of two files


def _check(lines: Sequence[str]) -> int:
    return crc32("\n".join(lines).encode("utf-8", "surrogatepass"))


def _walk(lines: tuple[str, ...], rows: Sequence[_Row]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yields (time, lines) of older versions, newest first; the first unreadable one ends it.

    Args:
        lines: Those of the version before which the first row is.
        rows: Newest first.

    Raises:
        StoreDamaged: A row is none of ours.
    """
    for at, _, _, packed in rows:
        try:
            found = _PACKED.decode(decompress(packed))
        except DAMAGE as error:
            raise StoreDamaged(f"a stored version cannot be read: {error}") from error
        try:
            lines = found.whole or go_back(lines, found.edits)
        except StoreDamaged:
            return
        if _check(lines) != found.check:
            return
        yield at, lines
