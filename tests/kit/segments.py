"""What lies in a store's segments, read by another tool than ours."""

from __future__ import annotations

from warcio.archiveiterator import ArchiveIterator

from crawlclean.storage.sqlite.store import SqliteStore


def archived_bodies(store: SqliteStore) -> dict[str, bytes]:
    """Every answer in the segment files, as another WARC tool reads them."""
    found = {}
    for segment in sorted((store.path.parent / "raw").iterdir()):
        with segment.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                if record.rec_type == "response":
                    url = record.rec_headers["WARC-Target-URI"]
                    found[url] = record.raw_stream.read()
    return found
