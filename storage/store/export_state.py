"""How far an export into several files has come: its records and files, kept beside them.

A killed export goes on where its whole files stop. The keys of the records of a file are committed
after the file has its name. A file without this commit is written again, so that no record is lost
or stands twice.
"""

from __future__ import annotations

import sqlite3
from errno import EDQUOT, ENOSPC
from pathlib import Path

from crawlclean.cleaning.errors import ConfigError, StoreFull
from crawlclean.storage.store.records import Once

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
