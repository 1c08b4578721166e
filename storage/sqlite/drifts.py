"""The drift events of the SQLite store."""

from __future__ import annotations

from storage.sqlite.connection import SqliteConnection
from storage.store.drifts import DRIFT_COLUMNS, KEPT_DRIFTS, DriftEvent, drift_row, drift_values


class SqliteDrifts:
    """Part of ``SqliteStore``; see ``DriftStore`` for the methods."""

    _db: SqliteConnection

    def save_drift(self, event: DriftEvent) -> None:
        """Stores an event, or what was done about it since."""
        marks = ", ".join("?" * (len(DRIFT_COLUMNS.split(",")) + 1))
        with self._db.transaction() as db:
            db.execute(
                f"INSERT OR REPLACE INTO drifts (host, {DRIFT_COLUMNS}) VALUES ({marks})",  # noqa: S608 (constants)
                (event.host, *drift_values(event)),
            )
            db.execute(
                "DELETE FROM drifts WHERE host = ? AND rowid NOT IN (SELECT rowid FROM drifts "
                "WHERE host = ? ORDER BY at DESC, model_version DESC LIMIT ?)",
                (event.host, event.host, KEPT_DRIFTS),
            )

    def drifts(self, host: str) -> list[DriftEvent]:
        """All that are kept of a host, newest first."""
        rows = self._db.rows(
            f"SELECT {DRIFT_COLUMNS} FROM drifts WHERE host = ? "  # noqa: S608 (constants)
            "ORDER BY at DESC, model_version DESC",
            host,
        )
        return [drift_row(host, row) for row in rows]

    def delete_drifts(self, host: str) -> int:
        """Forgets the events of a host; returns how many."""
        with self._db.transaction() as db:
            return db.execute("DELETE FROM drifts WHERE host = ?", (host,)).rowcount
