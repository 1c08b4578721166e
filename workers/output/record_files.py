"""Where an export goes: standard output or a file, compressed or not."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from crawlclean.cleaning.errors import ConfigError
from crawlclean.workers.control_characters import printable
from crawlclean.workers.operations.files.whole_files import open_whole

LEVEL = 6  # of gzip: 9 takes three times as long for 1 % less


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
def open_output(path: Path | None, *, zipped: bool, is_durable: bool = True) -> Iterator[BinaryIO]:
    """Opens a file as ``open_whole`` does; None: standard output.

    Raises:
        ConfigError: The file cannot be written, or compressed bytes would go to a terminal.
    """
    if path is not None:
        with (
            open_whole(path, is_durable=is_durable) as stream,
            packed(stream, zipped=zipped) as out,
        ):
            yield out
    elif not zipped:
        yield cast(BinaryIO, Terminal())
    elif sys.stdout.isatty():
        raise ConfigError("--gzip prints binary data: name a file with --output")
    else:
        sys.stdout.flush()
        with packed(sys.stdout.buffer, zipped=True) as out:
            yield out


@contextmanager
def packed(stream: BinaryIO, *, zipped: bool) -> Iterator[BinaryIO]:
    """Yields the stream, or one that compresses into it."""
    if not zipped:
        yield stream
        return
    with gzip.GzipFile("", "wb", LEVEL, stream, mtime=0) as out:
        yield cast(BinaryIO, out)
