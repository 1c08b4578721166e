"""Drops repeated keys: a record that is saved anew during a scan is met a second time."""

from __future__ import annotations

import sqlite3

from cleaning.errors import StoreFull

CACHE_KB = 8192  # what is more than this waits on disk


class Once:
    """A set of keys with bounded memory: an unnamed temporary SQLite database.

    It is not for several threads, and not to be used across a fork.
    """

    def __init__(self) -> None:
        """Starts with no key."""
        self._db = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        for setting in ("journal_mode = OFF", "synchronous = OFF", f"cache_size = -{CACHE_KB}"):
            self._db.execute(f"PRAGMA {setting}")
        self._db.execute("CREATE TABLE keys (key BLOB PRIMARY KEY) WITHOUT ROWID")

    def is_first(self, key: str) -> bool:
        """Adds a key, e.g. ``"4f11...:c1"``; returns whether it is new.

        Raises:
            StoreFull: The folder for temporary files has no space left.
        """
        try:
            added = self._db.execute("INSERT OR IGNORE INTO keys VALUES (?)", (key.encode(),))
        except sqlite3.OperationalError as error:
            message = f"no space left for temporary files ({error}): free some, then run again"
            raise StoreFull(message) from error
        return added.rowcount > 0

    def close(self) -> None:
        """Forgets all keys."""
        self._db.close()
