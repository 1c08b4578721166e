"""The formats of an export: ours, and those of other packages (`workers/hooks/loading.py`).

A writer is made from a binary stream and gets one item after another: the stored line of a record
in JSON, which need not become a record, or the record. ``warc`` gets archived responses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO, Protocol

from crawlclean.cleaning.errors import ConfigError, HookFailed
from crawlclean.cleaning.records import CleanRecord
from crawlclean.workers.config import Settings
from crawlclean.workers.hooks.calling import attempt
from crawlclean.workers.hooks.loading import Hook, RecordWriter, find_hooks
from crawlclean.workers.output.printing import escape_line
from crawlclean.workers.output.record_formats import (
    ALL_FIELDS,
    CSV_FIELDS,
    CsvWriter,
    FieldPicker,
    markdown_of,
    read_fields,
    text_of,
)

NAMES = ("jsonl", "csv", "parquet", "markdown", "text", "warc")
WITH_FIELDS = ("jsonl", "csv", "parquet")


class Writer(Protocol):
    """Writes the items of one file."""

    def write(self, item: Any, /) -> None:
        """Writes an item."""

    def close(self) -> None:
        """Writes the end of the file; the stream stays open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One format.

    Attributes:
        name: As typed: ``jsonl``.
        suffix: Of its files: ``.jsonl``.
        open: Makes a writer from a stream.
        takes_lines: Whether the items are lines of JSON; else they are records.
        page_suffix: Of the file of a single page; ``""``: the format has no such files.
        is_packed: Whether its files are compressed already, and cannot go to a pipe.
    """

    name: str
    suffix: str
    open: Callable[[BinaryIO], Writer]
    takes_lines: bool = False
    page_suffix: str = ""
    is_packed: bool = False


class _Lines:
    """Writes an item at a time, without head and end."""

    def __init__(
        self, stream: BinaryIO, encode: Callable[[Any], bytes | str], head: str = ""
    ) -> None:
        self._stream = stream
        self._encode = encode
        stream.write(head.encode())

    def write(self, item: Any, /) -> None:
        """Writes an item; what UTF-8 cannot carry becomes ``?``."""
        text = self._encode(item)
        self._stream.write(text if isinstance(text, bytes) else text.encode(errors="replace"))

    def close(self) -> None:
        """Writes nothing."""


class _Guarded:
    """A writer of another package; its errors name the package."""

    def __init__(self, stream: BinaryIO, make: Callable[[BinaryIO], RecordWriter], hook: Hook):
        self._hook = hook
        self._url = "the begin of a file"
        self._writer: RecordWriter = self._call(partial(make, stream))

    def write(self, record: CleanRecord, /) -> None:
        """Writes a record.

        Raises:
            HookFailed: The package has a defect.
        """
        self._url = record.url
        self._call(partial(self._writer.write, record))

    def close(self) -> None:
        """Writes the end of the file."""
        self._url = "the end of a file"
        self._call(self._writer.close)

    def _call(self, work: Callable[[], Any]) -> Any:
        found, error = attempt(work, (OSError,))  # a full disk is no defect of the package
        if error:
            reason = f"{type(error).__name__}: {error}"
            raise HookFailed(f"{self._hook} failed at {self._url}: {reason}") from error
        return found


def find_format(settings: Settings, name: str, fields: str = "", *, links: bool = True) -> Format:
    """Returns a format by name.

    Args:
        settings: Which hooks are in use.
        name: ``jsonl``, or the name of an exporter of another package.
        fields: Names of fields, ``url,title``; ``""``: those of the format.
        links: False leaves the fields of links out.

    Raises:
        ConfigError: There is no such format or field, or a package that it needs is absent.
    """
    if name not in WITH_FIELDS and (fields or not links):
        raise ConfigError(f"--fields and --no-links are for {', '.join(WITH_FIELDS)}")
    match name:
        case "jsonl":
            open_lines = partial(_Lines, encode=_json_line(fields, links=links))
            return Format(
                name=name, suffix=".jsonl", open=open_lines, takes_lines=True, page_suffix=".json"
            )
        case "csv":
            rows = CsvWriter(read_fields(fields, links=links, default=CSV_FIELDS))
            open_rows = partial(_Lines, encode=rows.row, head=rows.head())
            return Format(name=name, suffix=".csv", open=open_rows, takes_lines=True)
        case "parquet":
            names = read_fields(fields, links=links)
            return Format(
                name=name,
                suffix=".parquet",
                open=_parquet(names),
                takes_lines=True,
                is_packed=True,
            )
        case "markdown":
            open_text = partial(_Lines, encode=markdown_of)
            return Format(name=name, suffix=".md", open=open_text, page_suffix=".md")
        case "text":
            open_text = partial(_Lines, encode=text_of)
            return Format(name=name, suffix=".txt", open=open_text, page_suffix=".txt")
        case "warc":
            return Format(name=name, suffix=".warc.gz", open=_warc(), is_packed=True)
    return _format_of_hook(settings, name)


def _json_line(fields: str, *, links: bool) -> Callable[[bytes], bytes]:
    """Returns the function from a stored line to a written one."""
    names = read_fields(fields, links=links)
    if tuple(names) == ALL_FIELDS and not fields:
        return lambda line: escape_line(line) + b"\n"
    picker = FieldPicker(names, schema=not fields)
    return lambda line: escape_line(picker.pick(line)) + b"\n"


def _parquet(names: Sequence[str]) -> Callable[[BinaryIO], Writer]:
    from crawlclean.workers.output.record_parquet import ParquetWriter

    return partial(ParquetWriter, names=names)


def _warc() -> Callable[[BinaryIO], Writer]:
    from crawlclean.workers.output.record_warc import WarcWriter

    return WarcWriter


def _format_of_hook(settings: Settings, name: str) -> Format:
    exporters = {hook.name: hook for hook in find_hooks(settings, "exporters")}
    hook = exporters.get(name)
    if hook is None:
        known = ", ".join((*NAMES, *exporters))
        raise ConfigError(f"--format {name}: there is no such format; there are {known}")
    exporter = hook.load()
    suffix = getattr(exporter, "suffix", None)
    if not isinstance(suffix, str) or not suffix.startswith(".") or "/" in suffix:
        raise ConfigError(f"{hook} has the suffix {suffix!r}: a text such as '.xml' is needed")
    open_hook = partial(_Guarded, make=exporter, hook=hook)
    return Format(name=name, suffix=suffix, open=open_hook, page_suffix=suffix)
