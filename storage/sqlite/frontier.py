"""What the SQLite store does for the frontier: it keeps its tail, and tells how URLs ended."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from storage.sqlite.connection import SqliteConnection
from storage.sqlite.reading import condition
from storage.store.overflow_segments import Parcel
from storage.store.record_blobs import unpack_outlinks
from storage.store.url_outcomes import END_COLUMNS, EndedUrl, LinkedPage, ended_url

READ_ENDS = 1000
READ_LINKS = 200


class SqliteFrontierTables:
    """Part of ``SqliteStore``; see ``ParcelStore`` and ``EndReader`` for the methods."""

    _db: SqliteConnection

    def save_parcels(self, parcels: Sequence[Parcel]) -> None:
        """Keeps parcels; one whose id is kept already changes nothing."""
        rows = [(p.parcel_id, p.crawl_id, p.host, p.urls, p.packed) for p in parcels]
        with self._db.transaction() as db:
            db.executemany("INSERT OR IGNORE INTO parcels VALUES (?, ?, ?, ?, ?)", rows)

    def parcel(self, parcel_id: str) -> Parcel | None:
        """A parcel that is kept."""
        rows = self._db.rows(
            "SELECT crawl_id, host, urls, packed FROM parcels WHERE parcel_id = ?", parcel_id
        )
        for crawl_id, host, urls, packed in rows:
            return Parcel(
                parcel_id=parcel_id, crawl_id=crawl_id, host=host, urls=urls, packed=packed
            )
        return None

    def parcel_ids(self, crawl_id: str) -> list[str]:
        """The ids of a crawl's parcels, in any order."""
        sql = "SELECT parcel_id FROM parcels WHERE crawl_id = ?"
        return [row[0] for row in self._db.rows(sql, crawl_id)]

    def delete_parcels(self, parcel_ids: Collection[str]) -> int:
        """Forgets parcels; returns how many were there."""
        with self._db.transaction() as db:
            return db.executemany(
                "DELETE FROM parcels WHERE parcel_id = ?", [(each,) for each in parcel_ids]
            ).rowcount

    def forget_tail(self, crawl_id: str, host: str | None = None) -> int:
        """Forgets all parcels of a crawl (of one host); returns how many."""
        where, values = condition(crawl_id, host)
        with self._db.transaction() as db:
            return db.execute(f"DELETE FROM parcels WHERE {where}", values).rowcount  # noqa: S608

    def ended_urls(
        self, crawl_id: str, host: str | None = None, *, failed: bool = False
    ) -> Iterator[EndedUrl]:
        """Every ended URL of a crawl (of one host), by page id; ``failed``: only the failures."""
        after = ""
        of, join = ("failures", "CROSS JOIN urls") if failed else ("urls", "LEFT JOIN failures")
        where, values = condition(crawl_id, host)
        # With a plus before its name a column is not looked up in an index of its own: the order by
        # page id has to come from the key, or each step would sort all of the crawl.
        where = " AND ".join(f"+{of}.{each}" for each in where.split(" AND "))
        columns = ", ".join(f"urls.{each}" for each in END_COLUMNS.split(", "))
        sql = (
            f"SELECT {columns}, failures.reason "  # noqa: S608 (constants)
            f"FROM {of} {join} USING (page_id, crawl_id) "
            f"WHERE {where} AND {of}.page_id > ? ORDER BY {of}.page_id LIMIT {READ_ENDS}"
        )
        while True:
            rows = self._db.rows(sql, *values, after)
            for row in rows:
                yield ended_url(row)
            if len(rows) < READ_ENDS:
                return
            after = rows[-1][0]

    def linked_pages(self, crawl_id: str) -> Iterator[LinkedPage]:
        """Every page with a record, in the order they were saved."""
        after = 0
        sql = (
            "SELECT saved_seq, url, depth, links FROM records JOIN record_blobs USING (saved_seq) "  # noqa: S608
            "JOIN urls USING (page_id, crawl_id) "
            f"WHERE crawl_id = ? AND saved_seq > ? ORDER BY saved_seq LIMIT {READ_LINKS}"
        )
        while True:
            rows = self._db.rows(sql, crawl_id, after)
            for after, url, depth, links in rows:  # noqa: B007 (the last one is where to go on)
                yield LinkedPage(url=url, depth=depth, outlinks=unpack_outlinks(links))
            if len(rows) < READ_LINKS:
                return
