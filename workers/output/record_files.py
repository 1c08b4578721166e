"""Where an export goes: standard output, one file, or a file for each page.

A file appears under its name when it is whole: until then it is ``NAME.part``.
"""

from __future__ import annotations

import errno
import gzip
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol, cast

from cleaning.errors import ConfigError
from cleaning.records import CleanRecord
from workers.control_characters import printable

LEVEL = 6  # of gzip: 9 takes three times as long for 1 % less
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9.-]|^\.+")
LONGEST_NAME = 100


class Sink(Protocol):
    """Takes the text of an export."""

    def write(self, text: bytes) -> None:
        """Takes the next piece, UTF-8."""


class Terminal:
    """Standard output; control characters are replaced when it is a terminal."""

    def write(self, text: bytes) -> None:
        """Prints a piece."""
        if sys.stdout.isatty():
            sys.stdout.write(printable(text.decode(), keep_lines=True))
        else:
            sys.stdout.flush()
            sys.stdout.buffer.write(text)


@contextmanager
def open_output(path: Path | None, *, zipped: bool) -> Iterator[Sink]:
    """Opens a file that is renamed to ``path`` at the end; None: standard output.

    Raises:
        ConfigError: The file cannot be written, or compressed bytes would go to a terminal.
    """
    if path is not None:
        with _whole_file(path, zipped=zipped, durable=True) as stream:
            yield cast(Sink, stream)
    elif not zipped:
        yield Terminal()
    elif sys.stdout.isatty():
        raise ConfigError("--gzip prints binary data: name a file with --output")
    else:
        sys.stdout.flush()
        with gzip.GzipFile("", "wb", LEVEL, sys.stdout.buffer, mtime=0) as stream:
            yield cast(Sink, stream)


class PageFiles:
    """Files of single pages: ``DIR/example.com_8080/4f1193....md``."""

    def __init__(self, folder: Path, suffix: str, *, zipped: bool) -> None:
        """Writes into a folder; ``suffix`` is ``.md``, with ``.gz`` added for ``zipped``."""
        self._folder = folder
        self._suffix = suffix + (".gz" if zipped else "")
        self._zipped = zipped

    def write(self, record: CleanRecord, text: bytes) -> Path:
        """Writes the file of a page, over an older one; returns its path.

        Raises:
            ConfigError: The file cannot be written.
        """
        name = f"{safe_name(record.page_id)}{self._suffix}"
        path = self._folder / safe_name(record.host) / name
        with _whole_file(path, zipped=self._zipped) as stream:
            stream.write(text)
        return path


def safe_name(text: str) -> str:
    """A text as a name of a file: ``example.com_8080``; no slash, no dot in front."""
    return _NOT_IN_NAMES.sub("_", text)[:LONGEST_NAME] or "_"


@contextmanager
def _whole_file(path: Path, *, zipped: bool, durable: bool = False) -> Iterator[IO[bytes]]:
    """Opens ``PATH.part`` and renames it to ``path`` at the end; an error deletes it."""
    path = path.resolve()
    if path.exists() and not path.is_file():
        raise ConfigError(f"cannot write {path}: it is no regular file")
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        stream = part.open("wb")
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise  # wrong use is something else
        raise ConfigError(f"cannot write {path}: {error.strerror}") from error
    try:
        with stream:
            if zipped:
                with gzip.GzipFile("", "wb", LEVEL, stream, mtime=0) as packed:
                    yield cast(IO[bytes], packed)
            else:
                yield stream
            stream.flush()
            if durable:
                os.fsync(stream.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
