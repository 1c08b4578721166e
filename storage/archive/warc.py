"""HTTP responses as WARC 1.1 records, one gzip member each, written and read.

Bodies are stored with content and transfer coding undone. Headers that no longer hold are stored as
``X-Archive-Orig-<name>`` (Content-Encoding, Transfer-Encoding, Content-Length); reading restores
their names.

Members are compressed at zlib level 4. Measured on 212 real page sources of 34 KB: level 1 takes
0.21 ms and gives 10.0 KB, level 4 0.32 ms and 9.2 KB, level 9 (that of warcio's own writer) 0.60
ms and 9.0 KB.
"""

from __future__ import annotations

import hashlib
import re
import time
import uuid
import zlib
from base64 import b32encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from io import BytesIO
from urllib.parse import quote

import storage
from cleaning.errors import StoreDamaged
from cleaning.surrogates import replace_surrogates

ZLIB_LEVEL = 4
ORIGINAL = "X-Archive-Orig-"

_NOT_KEPT = frozenset({"content-encoding", "transfer-encoding", "content-length"})
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_NOT_IN_URI = re.compile(r"[\x00-\x20\x7f-\x9f<>\s]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One HTTP response to archive; ``body`` has every coding undone."""

    url: str
    fetched_at: datetime
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


def archived_headers(headers: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The headers that a WARC record can hold.

    A header whose name is no token is dropped; control characters in a value become one space.
    """
    return tuple(
        (name, _CONTROL.sub(" ", replace_surrogates(value)).strip())
        for name, value in headers
        if _TOKEN.fullmatch(name)
    )


def target_uri(url: str) -> str:
    """The URL for a WARC header: control characters and spaces percent-encoded."""
    return _NOT_IN_URI.sub(lambda found: quote(found[0]), replace_surrogates(url))


def _warc_record(kind: str, lines: Sequence[tuple[str, str]], block: bytes) -> bytes:
    head = [("WARC-Type", kind), *lines, ("Content-Length", str(len(block)))]
    text = "WARC/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in head)
    return text.encode() + b"\r\n" + block + b"\r\n\r\n"


def _date(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def response_record(answer: Answer) -> bytes:
    """An uncompressed WARC ``response`` record; equal responses give equal bytes."""
    headers = [
        (
            ORIGINAL + name
            if name.lower() in _NOT_KEPT or name.lower().startswith(ORIGINAL.lower())
            else name,
            value,
        )
        for name, value in archived_headers(answer.headers)
    ]
    headers.append(("Content-Length", str(len(answer.body))))
    try:
        reason = HTTPStatus(answer.status).phrase
    except ValueError:
        reason = ""
    text = f"HTTP/1.1 {answer.status} {reason}\r\n"
    text += "".join(f"{name}: {value}\r\n" for name, value in headers)
    block = text.encode() + b"\r\n" + answer.body
    url = target_uri(answer.url)
    date = _date(answer.fetched_at)
    payload = hashlib.sha1(answer.body, usedforsecurity=False).digest()  # WARC tools expect SHA-1
    identity = hashlib.blake2b(f"{url} {date}".encode() + payload, digest_size=16).digest()
    lines = [
        ("WARC-Record-ID", f"<urn:uuid:{uuid.UUID(bytes=identity, version=4)}>"),
        ("WARC-Target-URI", url),
        ("WARC-Date", date),
        ("WARC-Payload-Digest", "sha1:" + b32encode(payload).decode()),
        ("Content-Type", "application/http; msgtype=response"),
    ]
    return _warc_record("response", lines, block)


def info_record(name: str) -> bytes:
    """The ``warcinfo`` record at the begin of a segment, e.g. of ``00001.warc.gz``."""
    block = f"software: {storage.__dist__}\r\nformat: WARC File Format 1.1\r\n".encode()
    lines = [
        ("WARC-Record-ID", f"<urn:uuid:{uuid.uuid4()}>"),
        ("WARC-Date", _date(datetime.fromtimestamp(time.time(), UTC))),
        ("WARC-Filename", name),
        ("Content-Type", "application/warc-fields"),
    ]
    return _warc_record("warcinfo", lines, block)


def pack_member(record: bytes) -> bytes:
    """Compresses a record to one gzip member."""
    packer = zlib.compressobj(ZLIB_LEVEL, zlib.DEFLATED, zlib.MAX_WBITS + 16)
    return packer.compress(record) + packer.flush()


def unpack_member(member: bytes, url: str) -> tuple[int, tuple[tuple[str, str], ...], bytes]:
    """Decodes (status, headers, body) of a gzip member with the ``response`` record of a URL.

    Raises:
        StoreDamaged: The member holds no whole response of that URL.
    """
    # 20 ms that only a reader of answers needs.
    from warcio.archiveiterator import ArchiveIterator
    from warcio.exceptions import ArchiveLoadFailed

    try:
        for record in ArchiveIterator(BytesIO(member), check_digests="raise"):
            if record.rec_type != "response" or record.http_headers is None:
                break
            if record.rec_headers.get_header("WARC-Target-URI") != target_uri(url):
                break
            body: bytes = record.raw_stream.read()
            if len(body) != record.payload_length:
                break
            *kept, _own_length = record.http_headers.headers
            cut = len(ORIGINAL)
            headers = tuple(
                (name[cut:] if name.lower().startswith(ORIGINAL.lower()) else name, value)
                for name, value in kept
            )
            return int(record.http_headers.get_statuscode()), headers, body
    except (ArchiveLoadFailed, ValueError, EOFError, zlib.error, OSError) as error:
        raise StoreDamaged(f"an archived page cannot be read: {error}") from error
    raise StoreDamaged("an archived page cannot be read: its place holds no whole response")
