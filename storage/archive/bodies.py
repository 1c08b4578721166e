"""Which record of an export has a body first: later ones with the same body are revisits."""

from __future__ import annotations

from crawlclean.storage.archive.warc import Original
from crawlclean.storage.store.export_state import ExportState
from crawlclean.storage.store.records import Once

_TABLE = """CREATE TABLE IF NOT EXISTS bodies (
    digest TEXT PRIMARY KEY, record_id TEXT, url TEXT, date TEXT
) WITHOUT ROWID"""


class Bodies:
    """The bodies that the records of an export have, by digest; memory is bounded.

    With a state they are kept as its keys are: with each whole file.
    """

    def __init__(self, state: ExportState | None = None) -> None:
        """Begins with the bodies of a state; without one empty, in a temporary file."""
        self._once = state or Once()
        self._is_own = state is None
        self._once.execute(_TABLE)

    def close(self) -> None:
        """Deletes the temporary file; a state is closed by its owner."""
        if self._is_own:
            self._once.close()

    def first(self, digest: str, record: Original) -> Original | None:
        """Returns the earlier record that has a body; None: ``record`` has it from now on.

        Raises:
            StoreFull: The folder has no space left.
        """
        found = self._once.execute(
            "SELECT record_id, url, date FROM bodies WHERE digest = ?", digest
        ).fetchone()
        if found:
            return Original(*found)
        values = (record.record_id, record.url, record.date)
        self._once.execute("INSERT INTO bodies VALUES (?, ?, ?, ?)", digest, *values)
        return None
