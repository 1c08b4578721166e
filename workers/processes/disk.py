"""Whether the data folder may take more: the disk's free space, and the quota it was given."""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

LEAST_FREE_BYTES = 8 << 20  # less cannot take the pages in flight
SIZE_LOOK_S = 2.0  # the folder holds few files, but looking at each costs


class Disk:
    """The room of one data folder.

    Attributes:
        is_full: Whether the disk itself has no room: nobody can write, or say so in a log.
        note: Why nothing more is fetched, in a few words; ``""`` while there is room.
    """

    def __init__(self, data: Path, quota_bytes: int) -> None:
        """The folder, and how many bytes its files may have; 0 = as many as the disk takes."""
        self._data, self._quota_bytes = data, quota_bytes
        self._size_bytes, self._looked = 0, -SIZE_LOOK_S
        self.is_full = False
        self.note = ""

    def look(self) -> bool:
        """Looks again; returns whether ``note`` has changed."""
        before = self.note
        self.is_full = shutil.disk_usage(self._data).free < LEAST_FREE_BYTES
        if self.is_full:
            self.note = f"no space left in {self._data}"
        elif self._quota_bytes and self._size() >= self._quota_bytes:
            self.note = f"{self._data} has reached its quota of {self._quota_bytes} bytes"
        else:
            self.note = ""
        return self.note != before

    def _size(self) -> int:
        now = time.monotonic()
        if now - self._looked >= SIZE_LOOK_S:
            self._looked, self._size_bytes = now, size_of(self._data)
        return self._size_bytes


def size_of(folder: Path) -> int:
    """Bytes on disk of all files below a folder; one that goes away meanwhile counts nothing."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += Path(parent, name).lstat().st_blocks * 512
    return total
