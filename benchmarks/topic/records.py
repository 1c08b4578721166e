"""Records of the served pages, cleaned once: ``build/topic-records-DIGEST.sqlite``.

The digest is that of the sources of ``cleaning``: another version cleans the pages anew. Records
are kept as ``clean`` makes them without a site model, for one port; the port of a draw is put in.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, replace

import zstandard

from benchmarks.kit.results import ROOT
from benchmarks.topic.sites import PORT
from crawlclean import RawPage
from crawlclean.cleaning.page import Reading
from crawlclean.cleaning.records import CleanRecord
from crawlclean.cleaning.urls.normal_form import page_id

BUILD = ROOT / "build"
BUSY_S = 60.0  # several draws write to the file


@dataclass(frozen=True, slots=True)
class _Remembered:
    """A reading of which the record is left."""

    record: CleanRecord


class CleanedOnce:
    """``page.read`` with a memory of its records, for the URLs of one port."""

    def __init__(self, read: Callable[[RawPage, None], Reading], port: int) -> None:
        """Opens the file; ``read`` is called for pages that are not in it."""
        self._read = read
        self._here, self._kept = (f":{each}".encode() for each in (port, PORT))
        sources = sorted((ROOT / "cleaning").rglob("*.py"))
        digest = hashlib.blake2b(digest_size=8)
        for source in sources:
            digest.update(source.read_bytes())
        file = BUILD / f"topic-records-{digest.hexdigest()}.sqlite"
        file.parent.mkdir(exist_ok=True)
        self._rows = sqlite3.connect(file, timeout=BUSY_S, isolation_level=None)
        self._rows.execute("CREATE TABLE IF NOT EXISTS records (url TEXT PRIMARY KEY, record BLOB)")

    def __call__(self, raw: RawPage, _model: object = None) -> _Remembered:
        """Returns the record of a page."""
        url = self._moved(raw.url.encode(), self._here, self._kept).decode()
        row = self._rows.execute("SELECT record FROM records WHERE url = ?", (url,)).fetchone()
        if row is None:
            packed = self._moved(self._read(raw, None).record.to_json(), self._here, self._kept)
            row = (zstandard.compress(packed),)
            self._rows.execute("INSERT OR IGNORE INTO records VALUES (?, ?)", (url, *row))
        packed = self._moved(zstandard.decompress(row[0]), self._kept, self._here)
        record = CleanRecord.from_json(packed)
        return _Remembered(replace(record, page_id=page_id(raw.url), fetched_at=raw.fetched_at))

    @staticmethod
    def _moved(text: bytes, before: bytes, after: bytes) -> bytes:
        return re.sub(rb"(127\.0\.[\d.]+)" + before + rb"\b", rb"\g<1>" + after, text)
