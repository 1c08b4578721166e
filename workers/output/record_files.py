"""Where an export goes: standard output or a file, compressed or not."""

from __future__ import annotations

import gzip
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from crawlclean.cleaning.errors import ConfigError
from crawlclean.storage.store.export import ExportState
from crawlclean.workers.control_characters import printable
from crawlclean.workers.operations.files.whole_files import open_whole
from crawlclean.workers.output.record_writers import Format

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


# An export in several files of about one size, which goes on after a kill.

_SIZE = re.compile(r"(\d+)(MB)?", re.IGNORECASE)
_MB = 1_000_000  # as file systems and clouds count


def read_chunk_size(text: str) -> tuple[int, int]:
    """Reads ``10000`` as (10000 records, 0), ``200MB`` as (0, 200000000 bytes).

    Raises:
        ConfigError: It is neither.
    """
    found = _SIZE.fullmatch(text.strip())
    if not found or not int(found[1]):
        raise ConfigError(f"--chunk-size {text}: write records, as 10000, or a size, as 200MB")
    number = int(found[1])
    return (0, number * _MB) if found[2] else (number, 0)


class ChunkFiles:
    """Files ``DIR/records-00001.jsonl``, ``records-00002.jsonl``, ..."""

    def __init__(self, folder: Path, form: Format, size: tuple[int, int], *, zipped: bool) -> None:
        """Names files in a folder.

        Args:
            folder: Of the files.
            form: Their format.
            size: When a file is full: records, bytes as written; 0: no limit.
            zipped: Whether they are compressed.
        """
        self._folder = folder
        self._form = form
        self._most_records, self._most_bytes = size
        self._zipped = zipped

    def check(self) -> None:
        """Checks that no file of a finished export would be replaced.

        Raises:
            ConfigError: One would.
        """
        if self._path(1).exists():
            raise ConfigError(
                f"{self._path(1)} is of an export that is finished: choose another folder, or "
                "delete its files"
            )

    def write(
        self, items: Iterator[Any], state: ExportState, on_item: Callable[[], None]
    ) -> Iterator[tuple[str, int]]:
        """Writes the items that the state has not; yields (name, records) of each whole file."""
        number = len(state.files()) + 1
        self._path(number).unlink(missing_ok=True)  # whole, but the kill came before its commit
        item = next(items, None)
        while item is not None:
            path, records = self._path(number), 0
            with (
                open_whole(path, is_durable=True) as stream,
                packed(stream, zipped=self._zipped) as out,
            ):
                writer = self._form.open(out)
                while item is not None:
                    writer.write(item)
                    records += 1
                    on_item()
                    if 0 < self._most_records <= records or 0 < self._most_bytes <= stream.tell():
                        break
                    item = next(items, None)
                writer.close()
            state.keep(path.name, records)
            yield path.name, records
            number += 1
            item = next(items, None) if item is not None else None

    def _path(self, number: int) -> Path:
        suffix = self._form.suffix + (".gz" if self._zipped else "")
        return self._folder / f"records-{number:05}{suffix}"
