"""HTTP responses as WARC 1.1 records, one gzip member each, written and read.

Segments of the archive have ``warcinfo`` and ``response`` records; exports also ``request``,
``revisit`` (a body that an earlier record has) and ``metadata`` (how a page was found).

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
from base64 import b32decode, b32encode
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from io import BytesIO
from urllib.parse import quote, urlsplit

from crawlclean import __dist__
from crawlclean.cleaning.errors import StoreDamaged
from crawlclean.cleaning.json_values import replace_surrogates
from crawlclean.storage.store.export import ExportState
from crawlclean.storage.store.ports import Answer
from crawlclean.storage.store.records import Once

ZLIB_LEVEL = 4  # below the default 6: faster, for slightly larger files
ORIGINAL = "X-Archive-Orig-"
REVISIT_PROFILE = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"

_NOT_KEPT = frozenset({"content-encoding", "transfer-encoding", "content-length"})
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_NOT_IN_URI = re.compile(r"[\x00-\x20\x7f-\x9f<>\s]")


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


def payload_digest(body: bytes) -> str:
    """The digest of a body as WARC tools write it: ``sha1:2ESO5RC26ABJ3G5EJ4F3GUPX5BLEGQXC``."""
    digest = hashlib.sha1(body, usedforsecurity=False).digest()  # WARC tools expect SHA-1
    return "sha1:" + b32encode(digest).decode()


def record_id(kind: str, answer: Answer, digest: str) -> str:
    """The id of a record of a response, the same each time: ``<urn:uuid:1f0c...>``.

    Args:
        kind: Type of the record, ``metadata``.
        answer: The response.
        digest: Of its body.
    """
    named = f"{target_uri(answer.url)} {_date(answer.fetched_at)}"
    payload = b32decode(digest.partition(":")[2])
    other = b"" if kind == "response" else kind.encode()
    found = hashlib.blake2b(named.encode() + payload + other, digest_size=16).digest()
    return f"<urn:uuid:{uuid.UUID(bytes=found, version=4)}>"


def _http_head(answer: Answer) -> bytes:
    """Status line and headers, with the blank line behind them."""
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
    return text.encode() + b"\r\n"


def _lines_of(kind: str, answer: Answer, digest: str) -> list[tuple[str, str]]:
    """The headers that each record of a response has."""
    return [
        ("WARC-Record-ID", record_id(kind, answer, digest)),
        ("WARC-Target-URI", target_uri(answer.url)),
        ("WARC-Date", _date(answer.fetched_at)),
    ]


def response_record(answer: Answer) -> bytes:
    """An uncompressed WARC ``response`` record; equal responses give equal bytes."""
    digest = payload_digest(answer.body)
    lines = [
        *_lines_of("response", answer, digest),
        ("WARC-Payload-Digest", digest),
        ("Content-Type", "application/http; msgtype=response"),
    ]
    return _warc_record("response", lines, _http_head(answer) + answer.body)


Original = tuple[str, str, str]
"""(id, URL, date) of the ``response`` record that has the body of a ``revisit`` record.

``("<urn:uuid:1f0c...>", "https://a.example/", "2026-01-31T12:00:00.000000Z")``
"""


def original_of(answer: Answer, digest: str) -> Original:
    """What a later ``revisit`` record says of a response."""
    identity = record_id("response", answer, digest)
    return identity, target_uri(answer.url), _date(answer.fetched_at)


def revisit_record(answer: Answer, digest: str, original: Original) -> bytes:
    """An uncompressed ``revisit`` record: a response whose body an earlier record has.

    Args:
        answer: The response.
        digest: Of its body.
        original: The record that has the body.
    """
    identity, url, date = original
    lines = [
        *_lines_of("revisit", answer, digest),
        ("WARC-Profile", REVISIT_PROFILE),
        ("WARC-Refers-To", identity),
        ("WARC-Refers-To-Target-URI", url),
        ("WARC-Refers-To-Date", date),
        ("WARC-Payload-Digest", digest),
        ("Content-Type", "application/http; msgtype=response"),
    ]
    return _warc_record("revisit", lines, _http_head(answer))


def request_record(answer: Answer, digest: str, of: str) -> bytes:
    """An uncompressed ``request`` record: request line and Host, which follow from the URL.

    The other headers of a request are not archived.

    Args:
        answer: The response.
        digest: Of its body.
        of: Id of the record of the response.
    """
    parts = urlsplit(target_uri(answer.url))
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    host = parts.netloc.rpartition("@")[2]
    block = f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
    lines = [
        *_lines_of("request", answer, digest),
        ("WARC-Concurrent-To", of),
        ("Content-Type", "application/http; msgtype=request"),
    ]
    return _warc_record("request", lines, block)


def metadata_record(
    answer: Answer, digest: str, of: str, values: Sequence[tuple[str, str]]
) -> bytes:
    """An uncompressed ``metadata`` record: how a response came to its crawl.

    Args:
        answer: The response.
        digest: Of its body.
        of: Id of the record of the response.
        values: Its fields, ``[("via", "https://a.example/"), ("hopsFromSeed", "LL")]``.
    """
    lines = [
        *_lines_of("metadata", answer, digest),
        ("WARC-Concurrent-To", of),
        ("Content-Type", "application/warc-fields"),
    ]
    return _warc_record("metadata", lines, _fields(values))


def _fields(values: Iterable[tuple[str, str]]) -> bytes:
    """``application/warc-fields``; control characters in a value become one space."""
    clean = ((name, _CONTROL.sub(" ", replace_surrogates(value))) for name, value in values)
    return "".join(f"{name}: {value}\r\n" for name, value in clean).encode()


def info_record(name: str, more: Sequence[tuple[str, str]] = ()) -> bytes:
    """The ``warcinfo`` record at the begin of a file.

    Args:
        name: Of the file: ``00001.warc.gz``.
        more: Fields besides software and format, ``[("isPartOf", "news")]``.
    """
    fields = [("software", __dist__), ("format", "WARC File Format 1.1"), *more]
    lines = [
        ("WARC-Record-ID", f"<urn:uuid:{uuid.uuid4()}>"),
        ("WARC-Date", _date(datetime.fromtimestamp(time.time(), UTC))),
        ("WARC-Filename", name),
        ("Content-Type", "application/warc-fields"),
    ]
    return _warc_record("warcinfo", lines, _fields(fields))


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
        raise StoreDamaged("an archived page cannot be read: its bytes have changed") from error
    raise StoreDamaged("an archived page cannot be read: its place holds no whole response")


# Which record has a body first: a revisit names the digest of its body, and has none.
#
# Of an input these are places in its files, where the bodies of revisits are read; of an export
# they are the records that its revisits name.

_BODIES = """CREATE TABLE IF NOT EXISTS bodies (
    digest TEXT PRIMARY KEY, record_id TEXT, url TEXT, date TEXT
) WITHOUT ROWID"""


class FirstBodies:
    """What an input or an export has bodies of first, by digest; memory is bounded.

    With the state of an export they are kept as its keys are: with each whole file.
    """

    def __init__(self, state: ExportState | None = None) -> None:
        """Begins with the bodies of a state; without one empty, in a temporary file."""
        self._once = state or Once()
        self._is_own = state is None
        self._once.execute(_BODIES)

    def close(self) -> None:
        """Deletes the temporary file; a state is closed by its owner."""
        if self._is_own:
            self._once.close()

    def find(self, digest: str) -> Original | None:
        """What has a body first, as ``keep`` got it; None: nothing has it so far.

        Args:
            digest: As a record has it: ``sha1:2ESO5RC26ABJ3G5EJ4F3GUPX5BLEGQXC``.
        """
        query = "SELECT record_id, url, date FROM bodies WHERE digest = ?"
        found: Original | None = self._once.execute(query, digest).fetchone()
        return found

    def keep(self, digest: str, first: Original) -> None:
        """Keeps three texts about what has a body, unless something before it has the body.

        Raises:
            StoreFull: The folder has no space left.
        """
        self._once.execute("INSERT OR IGNORE INTO bodies VALUES (?, ?, ?, ?)", digest, *first)
