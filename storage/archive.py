"""Raw pages as WARC 1.1 segments, ``<data>/raw/NNNNN.warc.gz``; the index is in the database.

One gzip member a record, so that every WARC tool reads a segment and one record can be read by its
offset. Many processes write at once, each into a segment it holds an exclusive ``flock`` on:

    lock -> cut to the committed length -> append -> fsync -> database commit -> unlock

The committed length is a row of the database, written in the same transaction as the index. What
a killed writer left behind it is cut off by whoever locks the segment next, so a segment never
has a broken member in its middle.

Bodies are stored as they were cleaned, with content and transfer coding undone. The headers that
no longer hold (and Content-Length) are kept under ``X-Archive-Orig-`` and get their own name back
when a page is read.

Members are compressed at zlib level 4. Measured on 212 real page sources of 34 KB: level 1 takes
0.21 ms and gives 10.0 KB, level 4 0.32 ms and 9.2 KB, level 9 (that of warcio's own writer) 0.60
ms and 9.0 KB.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import time
import uuid
import zlib
from base64 import b32encode
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from io import BytesIO
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

import storage
from cleaning.errors import StoreDamaged, StoreFull, StoreUnavailable
from storage.codec import clean_text

SEGMENT_LIMIT_BYTES = 256 * 1024 * 1024
"""A segment that has reached this length gets no more records."""

ZLIB_LEVEL = 4
ORIGINAL = "X-Archive-Orig-"

_NOT_KEPT = frozenset({"content-encoding", "transfer-encoding", "content-length"})
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_NOT_IN_URI = re.compile(r"[\x00-\x20\x7f-\x9f<>\s]")
_SEGMENT_NAME = re.compile(r"([0-9]{5,})\.warc\.gz")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One HTTP answer as the archive keeps it; ``body`` with every coding undone."""

    url: str
    fetched_at: datetime
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a record is: segment number, offset and length of its gzip member in bytes."""

    segment: int
    offset: int
    length: int


# --- one record ----------------------------------------------------------------------------------


def archived_headers(headers: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The headers the archive can keep: a name that is no token drops its header, control
    characters in a value become one space.
    """
    return tuple(
        (name, _CONTROL.sub(" ", clean_text(value)).strip())
        for name, value in headers
        if _TOKEN.fullmatch(name)
    )


def target_uri(url: str) -> str:
    """The URL as a WARC header can carry it: control characters and spaces percent-encoded."""
    return _NOT_IN_URI.sub(lambda found: quote(found[0]), clean_text(url))


def _warc_record(kind: str, lines: Sequence[tuple[str, str]], block: bytes) -> bytes:
    head = [("WARC-Type", kind), *lines, ("Content-Length", str(len(block)))]
    text = "WARC/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in head)
    return text.encode() + b"\r\n" + block + b"\r\n\r\n"


def _date(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def response_record(answer: Answer) -> bytes:
    """The answer as an uncompressed WARC ``response`` record; the same answer, the same bytes."""
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
    payload = hashlib.sha1(answer.body, usedforsecurity=False).digest()  # what WARC tools expect
    identity = hashlib.blake2b(f"{url} {date}".encode() + payload, digest_size=16).digest()
    lines = [
        ("WARC-Record-ID", f"<urn:uuid:{uuid.UUID(bytes=identity, version=4)}>"),
        ("WARC-Target-URI", url),
        ("WARC-Date", date),
        ("WARC-Payload-Digest", "sha1:" + b32encode(payload).decode()),
        ("Content-Type", "application/http; msgtype=response"),
    ]
    return _warc_record("response", lines, block)


def _info_record(name: str) -> bytes:
    block = f"software: {storage.__dist__}\r\nformat: WARC File Format 1.1\r\n".encode()
    lines = [
        ("WARC-Record-ID", f"<urn:uuid:{uuid.uuid4()}>"),
        ("WARC-Date", _date(datetime.fromtimestamp(time.time(), UTC))),
        ("WARC-Filename", name),
        ("Content-Type", "application/warc-fields"),
    ]
    return _warc_record("warcinfo", lines, block)


def pack_member(record: bytes) -> bytes:
    """A record as one gzip member."""
    packer = zlib.compressobj(ZLIB_LEVEL, zlib.DEFLATED, zlib.MAX_WBITS + 16)
    return packer.compress(record) + packer.flush()


def unpack_member(member: bytes, url: str) -> tuple[int, tuple[tuple[str, str], ...], bytes]:
    """(status, headers, body) of a member that holds a ``response`` record of a URL.

    Raises:
        StoreDamaged: It holds anything else.
    """
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


# --- segments ------------------------------------------------------------------------------------


class Segment:
    """One segment this process holds the lock of; ``length`` grows with what is appended."""

    def __init__(self, number: int, name: str, descriptor: int, length: int) -> None:
        self.number = number
        self.length = length
        self._name = name
        self.descriptor = descriptor

    def append(self, members: Sequence[bytes]) -> list[Place]:
        """Writes members at the end, on disk when this returns; gives their places."""
        chunks = [] if self.length else [pack_member(_info_record(self._name))]
        offset = self.length + sum(map(len, chunks))
        places = []
        for member in members:
            places.append(Place(segment=self.number, offset=offset, length=len(member)))
            offset += len(member)
        data = memoryview(b"".join([*chunks, *members]))
        position = self.length
        try:
            while data:
                written = os.pwrite(self.descriptor, data, position)
                data, position = data[written:], position + written
            os.fsync(self.descriptor)
        except OSError:
            with suppress(OSError):  # a full disk needs the space back now
                os.ftruncate(self.descriptor, self.length)
            raise
        self.length = offset
        return places


class Commits(Protocol):
    """What the database says about segments; asked again once a lock is held."""

    def open_segments(self, below_bytes: int) -> list[int]:
        """Numbers of the segments whose committed length is under a limit, in order."""

    def committed(self, segment: int) -> int | None:
        """Committed length of a segment, or None when the database does not know it."""

    def add_segment(self, segment: int) -> None:
        """Commits a new segment with length 0."""


class Archive:
    """The folder of segments. Knows no database: ``Commits`` says what is committed."""

    def __init__(self, folder: Path, limit_bytes: int = SEGMENT_LIMIT_BYTES) -> None:
        self.folder = folder
        self.limit_bytes = limit_bytes

    def path(self, segment: int) -> Path:
        """The file of a segment."""
        return self.folder / f"{segment:05d}.warc.gz"

    @contextmanager
    def open_segment(self, commits: Commits) -> Iterator[Segment]:
        """A locked segment with room, cut to its committed length; unlocked on leaving.

        Raises:
            StoreFull, StoreUnavailable: The folder or the segment cannot be written.
        """
        with translated(self.folder):
            found = self._lock_one(commits)
            try:
                yield found
            finally:
                _unlock(found.descriptor)

    def _lock_one(self, commits: Commits) -> Segment:
        self.folder.mkdir(exist_ok=True)
        for number in commits.open_segments(self.limit_bytes):
            found = self._try(number, commits)
            if found is not None:
                return found
        number = max([*self.numbers(), *commits.open_segments(1 << 62), 0])
        while True:
            number += 1
            found = self._try(number, commits, create=True)
            if found is not None:
                return found

    def _try(self, number: int, commits: Commits, *, create: bool = False) -> Segment | None:
        descriptor = self._lock(number, create=create)
        if descriptor is None:
            return None
        try:
            if create:
                self._sync_folder()
                commits.add_segment(number)
            # another writer may have filled it before this lock; and a file without a row, or
            # shorter than its row, is not ours to write to
            length = commits.committed(number)
            size = os.fstat(descriptor).st_size
            if length is None or length > size or length >= self.limit_bytes:
                return None
            if size > length:
                os.ftruncate(descriptor, length)
            kept, descriptor = descriptor, -1
            return Segment(number, self.path(number).name, kept, length)
        finally:
            if descriptor >= 0:
                _unlock(descriptor)

    def repair(self, commits: Commits) -> int:
        """Cuts what killed writers left behind; returns how many segments were cut."""
        cut = 0
        with translated(self.folder):
            for number in commits.open_segments(1 << 62):
                descriptor = self._lock(number)
                if descriptor is None:
                    continue
                try:
                    length = commits.committed(number)
                    if length is not None and os.fstat(descriptor).st_size > length:
                        os.ftruncate(descriptor, length)
                        cut += 1
                finally:
                    _unlock(descriptor)
        return cut

    def _lock(self, number: int, *, create: bool = False) -> int | None:
        """A descriptor that holds the segment's lock, or None: taken, gone, or there already."""
        flags = os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT | os.O_EXCL if create else 0)
        try:
            descriptor = os.open(self.path(number), flags, 0o644)
        except (FileNotFoundError, FileExistsError):
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(descriptor).st_nlink:  # else removed between open and lock
                return descriptor
        except BlockingIOError:
            pass
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        return None

    def _sync_folder(self) -> None:
        descriptor = os.open(self.folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def numbers(self) -> list[int]:
        """The segments on disk, in order."""
        try:
            found = [_SEGMENT_NAME.fullmatch(each.name) for each in self.folder.iterdir()]
        except FileNotFoundError:
            return []
        return sorted(int(each[1]) for each in found if each)

    def read(self, place: Place, url: str) -> tuple[int, tuple[tuple[str, str], ...], bytes]:
        """(status, headers, body) of the answer of ``url`` at a place.

        Raises:
            StoreDamaged: The segment is gone or shorter than the place, or something else is
                there.
        """
        path = self.path(place.segment)
        try:
            with path.open("rb") as file:
                file.seek(place.offset)
                member = file.read(place.length)
        except FileNotFoundError as error:
            raise StoreDamaged(f"{path} is gone: restore it from a backup") from error
        except OSError as error:
            raise store_error(error, self.folder) from error
        if len(member) != place.length:
            raise StoreDamaged(f"{path} is shorter than its index says")
        return unpack_member(member, url)

    @contextmanager
    def hold(self, number: int) -> Iterator[bool]:
        """Whether a segment is held until leaving; one whose file is gone counts as held."""
        with translated(self.folder):
            descriptor = self._lock(number)
            try:
                yield descriptor is not None or not self.path(number).exists()
            finally:
                if descriptor is not None:
                    _unlock(descriptor)

    def remove(self, number: int) -> None:
        """Deletes a segment's file; call it while ``hold`` holds it."""
        with translated(self.folder):
            self.path(number).unlink(missing_ok=True)


def _unlock(descriptor: int) -> None:
    """Unlocks and closes: a child forked by another thread meanwhile may hold a copy."""
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)


def store_error(error: OSError, place: Path) -> StoreFull | StoreUnavailable:
    """Our error for the system's, with what to do."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StoreFull(f"no space left for {place}: free some, then run the command again")
    return StoreUnavailable(
        f"{place} cannot be used ({error.strerror or error}): make it a directory this user can "
        "write, or choose another data directory"
    )


@contextmanager
def translated(place: Path) -> Iterator[None]:
    """Turns the system's errors into ours."""
    try:
        yield
    except OSError as error:
        raise store_error(error, place) from error
