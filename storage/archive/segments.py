"""Raw pages as WARC 1.1 segments, ``<data>/raw/NNNNN.warc.gz``; the index is in the database.

One gzip member a record (``storage/archive/warc.py``), so that every WARC tool reads a segment and
one record can be read by its offset. Many processes write at once, each into a segment it holds an
exclusive ``flock`` on:

    lock -> cut to the committed length -> append -> fsync -> database commit -> unlock

The committed length is a row of the database, written in the same transaction as the index. What
a killed writer left behind it is cut off by whoever locks the segment next, so a segment never
has a broken member in its middle.
"""

from __future__ import annotations

import errno
import fcntl
import gzip
import os
import random
import re
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from crawlclean.cleaning.errors import StoreDamaged, StoreFull, StoreUnavailable
from crawlclean.storage.archive.warc import info_record, pack_member, unpack_member

SEGMENT_LIMIT_BYTES = 256 * 1024 * 1024
"""A segment that has reached this length gets no more records."""

READ_BYTES = 1 << 20
"""Of text that is read at once while checksums are looked at: ten milliseconds."""

_SEGMENT_NAME = re.compile(r"([0-9]{5,})\.warc\.gz")


class Place(Struct, frozen=True, kw_only=True):
    """The place of a record: segment number (from 1), offset and length of its member in bytes."""

    segment: int
    offset: int
    length: int


class Segment:
    """A segment that this process has locked; ``length`` in bytes grows by ``append``."""

    def __init__(self, number: int, name: str, descriptor: int, length: int) -> None:
        self.number = number
        self.length = length
        self._name = name
        self.descriptor = descriptor

    def append(self, members: Sequence[bytes]) -> list[Place]:
        """Appends gzip members and syncs them to disk; returns their places."""
        chunks = [] if self.length else [pack_member(info_record(self._name))]
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
    """The committed lengths of segments in the database, read after a segment is locked."""

    def open_segments(self, below_bytes: int) -> list[int]:
        """Numbers of the segments shorter than ``below_bytes``, in order."""

    def committed(self, segment: int) -> int | None:
        """Committed length of a segment in bytes; None for an unknown segment."""

    def add_segment(self, segment: int) -> None:
        """Adds a segment with length 0."""


class Archive:
    """The folder of segments; the committed lengths come from a ``Commits``."""

    def __init__(self, folder: Path, limit_bytes: int = SEGMENT_LIMIT_BYTES) -> None:
        self.folder = folder
        self.limit_bytes = limit_bytes

    def path(self, segment: int) -> Path:
        """The file of a segment, ``<folder>/00001.warc.gz``."""
        return self.folder / f"{segment:05d}.warc.gz"

    @contextmanager
    def open_segment(self, commits: Commits) -> Iterator[Segment]:
        """A locked segment with room, truncated to its committed length; unlocked after the block.

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
            # Another writer may have filled it before this lock. A file without a row, or shorter
            # than its row has it, was changed by another program: leave it alone.
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
        """Truncates partial records of killed writers; returns how many segments were truncated."""
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

    def faults(self, commits: Commits, read_s: float = 0.0) -> list[str]:
        """A line for each segment that is gone, shorter than its row, or fails its checksums.

        Args:
            commits: The segments' lengths.
            read_s: How long segments are read at most, in another order each time; 0: none is.
        """
        found, until = [], time.monotonic() + read_s
        numbers = commits.open_segments(1 << 62)
        random.shuffle(numbers)  # a large archive is read in part, another one each time
        for number in numbers:
            path, length = self.path(number), commits.committed(number) or 0
            try:
                missing = length - path.stat().st_size
            except FileNotFoundError:
                missing = length
            if missing > 0:
                is_gone = missing == length and not path.exists()
                found.append(f"{path} is gone" if is_gone else f"{path} lacks {missing} bytes")
            elif read_s and not _is_whole(path, until):
                found.append(f"{path} has bytes that have changed")
        return sorted(found)

    def _lock(self, number: int, *, create: bool = False) -> int | None:
        """A descriptor holding the segment's lock; None when taken, deleted, or already there."""
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
        """Numbers of the segments on disk, in order."""
        try:
            found = [_SEGMENT_NAME.fullmatch(each.name) for each in self.folder.iterdir()]
        except FileNotFoundError:
            return []
        return sorted(int(each[1]) for each in found if each)

    def read(self, place: Place, url: str) -> tuple[int, tuple[tuple[str, str], ...], bytes]:
        """Reads the response of a URL at a place: (status, headers, body).

        Raises:
            StoreDamaged: The segment is gone or too short, or the place holds another record.
        """
        return unpack_member(self.member(place), url)

    def member(self, place: Place) -> bytes:
        """The packed record at a place.

        Raises:
            StoreDamaged: The segment is gone or too short.
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
        return member

    @contextmanager
    def hold(self, number: int) -> Iterator[bool]:
        """Locks a segment for the block; yields whether it is locked, True without a file."""
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


def _is_whole(path: Path, until: float) -> bool:
    """Whether the checksums of a segment's members are right, as far as it is read in time."""
    try:
        # A writer that is at work, or was killed, leaves half a member at the end.
        with suppress(EOFError), gzip.open(path) as file:
            while time.monotonic() < until and file.read(READ_BYTES):
                pass
    except (OSError, zlib.error):
        return False
    return True


def _unlock(descriptor: int) -> None:
    """Unlocks before closing: a child that another thread forked may hold a copy."""
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)


def store_error(error: OSError, place: Path) -> StoreFull | StoreUnavailable:
    """Our error for an error of the system, with advice."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StoreFull(f"no space left for {place}: free some, then run the command again")
    return StoreUnavailable(
        f"{place} cannot be used ({error.strerror or error}): make it a directory this user can "
        "write, or choose another data directory"
    )


@contextmanager
def translated(place: Path) -> Iterator[None]:
    """Translates errors of the system inside the block."""
    try:
        yield
    except OSError as error:
        raise store_error(error, place) from error
