"""Archived responses as WARC 1.1: for each a response or a revisit, its request, its metadata.

A revisit has no body: an earlier record of the export has the same one. A request has its first
line and Host, which follow from the URL; what else was sent is not archived. Pages that were
imported have none. The metadata say how the URL was found.
"""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from crawlclean.cleaning.records import Via
from crawlclean.storage.archive.warc import (
    info_record,
    metadata_record,
    pack_member,
    record_id,
    request_record,
    response_record,
    revisit_record,
)
from crawlclean.workers.operations.files.exporting import ExportedAnswer

ABOUT = (
    (
        "conformsTo",
        "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
    ),
    (
        "description",
        "content and transfer codings of bodies are undone, their headers have the prefix "
        "X-Archive-Orig-; requests are their first line and Host",
    ),
)


class WarcWriter:
    """Writes archived responses, one gzip member a record."""

    def __init__(self, stream: BinaryIO) -> None:
        """Writes the record about the file."""
        self._stream = stream
        name = Path(stream.name).name.removeprefix(".").removesuffix(".part")
        self._put(info_record(name, ABOUT))

    def write(self, item: ExportedAnswer, /) -> None:
        """Writes the records of a response."""
        answer, digest = item.answer, item.digest
        if item.original is None:
            kind = "response"
            self._put(response_record(answer))
        else:
            kind = "revisit"
            self._put(revisit_record(answer, digest, item.original))
        identity = record_id(kind, answer, digest)
        if item.provenance.via is not Via.IMPORT:
            self._put(request_record(answer, digest, identity))
        self._put(metadata_record(answer, digest, identity, _found_by(item)))

    def close(self) -> None:
        """Writes nothing."""

    def _put(self, record: bytes) -> None:
        self._stream.write(pack_member(record))


def _found_by(item: ExportedAnswer) -> list[tuple[str, str]]:
    """The fields of the metadata."""
    found = item.provenance
    fields = [
        ("crawl", found.crawl_id),
        ("via", found.referrer or ""),
        ("viaKind", str(found.via)),
        ("linkText", found.link_text),
        ("depth", str(item.depth)),
        ("discoveredAt", found.discovered_at.isoformat() if found.discovered_at else ""),
    ]
    return [(name, value) for name, value in fields if value]
