"""Where WARC files have the bodies of their revisits: a revisit names the digest of its body alone.

The places of all bodies are in a temporary file, so that memory stays bounded.
"""

from __future__ import annotations

from pathlib import Path

from crawlclean.storage.store.records import Once

_TABLE = """
    CREATE TABLE bodies (digest TEXT PRIMARY KEY, file TEXT, member INT, offset INT) WITHOUT ROWID
"""


class Originals:
    """The places of the HTML bodies of an input that was read so far."""

    def __init__(self) -> None:
        """Begins empty."""
        self._once = Once()
        self._once.execute(_TABLE)

    def close(self) -> None:
        """Deletes the temporary file."""
        self._once.close()

    def keep(self, digest: str, file: Path, member: int, offset: int) -> None:
        """Keeps the place of a body; the first place counts.

        Args:
            digest: As the file has it: ``sha1:2ESO5RC26ABJ3G5EJ4F3GUPX5BLEGQXC``.
            file: Where the body is.
            member: Offset in the file of the gzip member that its record begins in, bytes.
            offset: Of its record in this member, bytes.

        Raises:
            StoreFull: The folder for temporary files has no space left.
        """
        values = (digest, str(file), member, offset)
        self._once.execute("INSERT OR IGNORE INTO bodies VALUES (?, ?, ?, ?)", *values)

    def place(self, digest: str) -> tuple[Path, int, int] | None:
        """Returns (file, member, offset) of a body by digest; None: no file has it."""
        query = "SELECT file, member, offset FROM bodies WHERE digest = ?"
        found = self._once.execute(query, digest).fetchone()
        return (Path(found[0]), found[1], found[2]) if found else None
