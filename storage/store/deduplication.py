"""Which keys came already, for readers that meet a record again when it is saved anew meanwhile."""

from __future__ import annotations

import sqlite3

from cleaning.errors import StoreFull

CACHE_KB = 8192  # what is more than this waits on disk


class Once:
    """Tells the first coming of each key; a database that only its maker knows, and no file's name.

    Its memory is bounded. It is not for several threads, and not to be used across a fork.
    """

    def __init__(self) -> None:
        """Knows no key."""
        self._db = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        for setting in ("journal_mode = OFF", "synchronous = OFF", f"cache_size = -{CACHE_KB}"):
            self._db.execute(f"PRAGMA {setting}")
        self._db.execute("CREATE TABLE keys (key BLOB PRIMARY KEY) WITHOUT ROWID")

    def is_first(self, key: str) -> bool:
        """Whether a key did not come before.

        Raises:
            StoreFull: The folder for temporary files has no space left.
        """
        try:
            added = self._db.execute("INSERT OR IGNORE INTO keys VALUES (?)", (key.encode(),))
        except sqlite3.OperationalError as error:
            said = f"no space left for temporary files ({error}): free some, then run again"
            raise StoreFull(said) from error
        return added.rowcount > 0

    def close(self) -> None:
        """Forgets all keys."""
        self._db.close()
