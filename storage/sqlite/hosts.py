"""What the SQLite store keeps and tells of one host: its models, its pages."""

from __future__ import annotations

from collections.abc import Iterator

from storage.crawl_types import PageRole
from storage.sqlite.connection import SqliteConnection
from storage.store.codec import from_microseconds
from storage.store.host_pages import ArchivedPage, RecordVersion
from storage.store.models import (
    KEPT_VERSIONS,
    VERSION_COLUMNS,
    ModelVersion,
    StoredModel,
    pack_text,
    unpack_text,
    version_row,
    version_values,
)

READ_PAGES = 1000


class SqliteSiteTables:
    """Part of ``SqliteStore``; see ``ModelStore`` and ``SitePages`` for the methods."""

    _db: SqliteConnection

    # --- models ---

    def save_model(self, model: StoredModel) -> bool:
        """Whether the version is now stored: False unless it is newer than all of its host."""
        host, version = model.about.host, model.about.version
        marks = ", ".join("?" * (len(VERSION_COLUMNS.split(",")) + 2))
        with self._db.transaction() as db:
            newest = "SELECT coalesce(max(version), 0) FROM models WHERE host = ?"
            if version <= db.execute(newest, (host,)).fetchall()[0][0]:
                return False
            db.execute(
                f"INSERT INTO models (host, {VERSION_COLUMNS}, packed) VALUES ({marks})",  # noqa: S608 (constants)
                (host, *version_values(model), pack_text(model.text)),
            )
            db.execute(
                "DELETE FROM models WHERE host = ? AND version NOT IN (SELECT version FROM models "
                "WHERE host = ? ORDER BY version DESC LIMIT ?)",
                (host, host, KEPT_VERSIONS),
            )
        return True

    def model(self, host: str, version: int | None = None) -> StoredModel | None:
        """A version of a host's model, the newest when ``version`` is None; None without."""
        rows = self._db.rows(
            f"SELECT {VERSION_COLUMNS}, packed FROM models "  # noqa: S608 (constants)
            "WHERE host = ? AND (? IS NULL OR version = ?) ORDER BY version DESC LIMIT 1",
            host,
            version,
            version,
        )
        for *about, packed in rows:
            return StoredModel(about=version_row(host, about), text=unpack_text(packed))
        return None

    def model_versions(self, host: str) -> list[ModelVersion]:
        """All that are kept of a host, newest first."""
        sql = f"SELECT {VERSION_COLUMNS} FROM models WHERE host = ? ORDER BY version DESC"  # noqa: S608
        return [version_row(host, row) for row in self._db.rows(sql, host)]

    def newest_model_version(self, host: str) -> int:
        """The number of the version in use, 0 when the host has none."""
        sql = "SELECT coalesce(max(version), 0) FROM models WHERE host = ?"
        return int(self._db.rows(sql, host)[0][0])

    def delete_models(self, host: str) -> int:
        """Forgets what a host taught; returns how many versions were kept."""
        with self._db.transaction() as db:
            return db.execute("DELETE FROM models WHERE host = ?", (host,)).rowcount

    # --- pages ---

    def archived_pages(self, host: str) -> Iterator[ArchivedPage]:
        """The newest answer of every page of every crawl that is archived."""
        after = ("", "")
        sql = (
            "SELECT page_id, crawl_id, url, fetched_at FROM raw "  # noqa: S608 (constants)
            "WHERE host = ? AND (page_id, crawl_id) > (?, ?) AND NOT EXISTS (SELECT 1 FROM urls "
            "WHERE (urls.page_id, urls.crawl_id) = (raw.page_id, raw.crawl_id) "
            f"AND role = '{PageRole.IMAGE}') ORDER BY page_id, crawl_id LIMIT {READ_PAGES}"
        )
        while True:
            rows = self._db.rows(sql, host, *after)
            for page_id, crawl_id, url, fetched_at in rows:
                yield ArchivedPage(
                    page_id=page_id,
                    crawl_id=crawl_id,
                    url=url,
                    fetched_at=from_microseconds(fetched_at),
                )
            if len(rows) < READ_PAGES:
                return
            after = (rows[-1][0], rows[-1][1])

    def record_versions(
        self, host: str, after: tuple[str, str] = ("", "")
    ) -> Iterator[RecordVersion]:
        """Every record of the host behind a (page id, crawl)."""
        sql = (
            "SELECT records.page_id, records.crawl_id, records.fetched_at, model_version, "  # noqa: S608 (constants)
            "raw.fetched_at IS records.fetched_at "
            "FROM records LEFT JOIN raw USING (page_id, crawl_id) WHERE records.host = ? "
            "AND (records.page_id, records.crawl_id) > (?, ?) "
            f"ORDER BY records.page_id, records.crawl_id LIMIT {READ_PAGES}"
        )
        while True:
            rows = self._db.rows(sql, host, *after)
            for page_id, crawl_id, fetched_at, model_version, is_archived in rows:
                yield RecordVersion(
                    page_id=page_id,
                    crawl_id=crawl_id,
                    fetched_at=from_microseconds(fetched_at),
                    model_version=model_version,
                    is_archived=bool(is_archived),
                )
            if len(rows) < READ_PAGES:
                return
            after = (rows[-1][0], rows[-1][1])

    def records_by_model(self, host: str) -> dict[int, int]:
        """Records of the host, by the version of the model that made them; 0: none did."""
        sql = "SELECT model_version, count(*) FROM records WHERE host = ? GROUP BY model_version"
        return dict(self._db.rows(sql, host))
