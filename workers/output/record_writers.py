"""The formats of an export: ours, and those of other packages (`workers/hooks/loading.py`).

A writer is made from a binary stream and gets one item after another: the stored line of a record
in JSON, which need not become a record, or the record. ``warc`` gets archived responses.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import partial
from typing import Any, BinaryIO, Protocol

import msgspec
from msgspec import Struct

from crawlclean.cleaning.errors import ConfigError, HookFailed
from crawlclean.cleaning.json_values import utc
from crawlclean.cleaning.records import CleanRecord
from crawlclean.workers.config import Settings
from crawlclean.workers.hooks.calling import attempt
from crawlclean.workers.hooks.loading import Hook, find_hooks
from crawlclean.workers.output.printing import escape_line

# Records as text of an export: JSON lines, CSV rows, Markdown with YAML front matter, text.
#
# The web wrote the values. They are written as stored, but no value can end the field that holds
# it:
#
# - JSON, front matter: control characters, and in front matter the characters of HTML and of links,
#   are ``\u`` escapes, which readers of JSON and YAML undo;
# - Markdown: the title is escaped as the body is;
# - CSV: an apostrophe stands before a text that a spreadsheet would calculate (``=1+1``); line
#   breaks are ``\n`` inside quotes, and NUL, where some readers end a text, is U+FFFD;
# - text: a form feed ends a record and stands nowhere else.

ALL_FIELDS = tuple(field.name for field in fields(CleanRecord))
LINK_FIELDS = frozenset({"links", "outlinks", "link_blocks"})
CSV_FIELDS = (
    "url",
    "host",
    "fetched_at",
    "kind",
    "title",
    "author",
    "published_at",
    "language",
    "body",
)

_ENDS = re.compile(r"\r\n?")
_BREAKS = re.compile(r"[\s\u2028\u2029]+")
# A quoted YAML text knows the escapes of JSON. `](` would be a link where the front matter is
# shown as Markdown, `<` HTML.
_UNSAFE_YAML = re.compile(
    r"[<>&\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]|(?<=\])[(\[:]"
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
# Where lists are separated by ";" (Excel in German or French), a cell may begin behind one or at a
# line inside of a text. There "- item" is a list, and "-1" is a number.
_INNER_FORMULA = re.compile(r"(?<=[;\n])(?=[ \t]*(?:[=@＝＠]|[+＋－-][A-Za-z(]))")


def read_fields(text: str, *, links: bool = True, default: Sequence[str] = ALL_FIELDS) -> list[str]:
    """Reads names of record fields, ``url,title``; each once, in this order.

    Args:
        text: The names; ``""``: the default.
        links: False leaves the fields of links out.
        default: Names without a choice.

    Raises:
        ConfigError: A record has no such field, or no field is left.
    """
    names = [name.strip() for name in text.split(",")] if text else list(default)
    unknown = [name for name in names if name not in ALL_FIELDS]
    if unknown:
        known = ", ".join(ALL_FIELDS)
        raise ConfigError(f"--fields: a record has no field {unknown[0]!r}; it has {known}")
    left = [name for name in dict.fromkeys(names) if links or name not in LINK_FIELDS]
    if not left:
        raise ConfigError("--no-links leaves no field of --fields")
    return left


class FieldPicker:
    """Takes fields out of records in JSON; the values are copied, not decoded."""

    def __init__(self, names: Sequence[str], *, schema: bool = False) -> None:
        """Picks the fields of these names; with ``schema`` also the version of the form."""
        self._names = (["schema"] if schema else []) + list(names)
        wanted = msgspec.defstruct(
            "Picked",
            [
                (name, msgspec.Raw, msgspec.field(default=msgspec.Raw(b"null")))
                for name in self._names
            ],
        )
        self._decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(wanted)

    def values(self, line: bytes) -> list[bytes]:
        """The values of a record's line, as JSON."""
        picked = self._decoder.decode(line)
        return [bytes(getattr(picked, name)) for name in self._names]

    def pick(self, line: bytes) -> bytes:
        """The line with the fields alone: ``{"url":"https://example.com/","title":"A"}``."""
        values = zip(self._names, self.values(line), strict=True)
        return (
            b"{" + b",".join(b'"%s":%s' % (name.encode(), value) for name, value in values) + b"}"
        )


class CsvWriter:
    """Writes records in JSON as rows of CSV."""

    def __init__(self, names: Sequence[str]) -> None:
        """Writes the fields of these names."""
        self._names = names
        self._picker = FieldPicker(names)

    def head(self) -> str:
        """The row of names."""
        return _row(self._names)

    def row(self, line: bytes) -> str:
        """The row of a record; lists are JSON, None is empty."""
        return _row([_cell(value) for value in self._picker.values(line)])


def _row(cells: Sequence[str]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(cells)
    return out.getvalue()


def _cell(value: bytes) -> str:
    if value == b"null":
        return ""
    text = str(json.loads(value)) if value.startswith(b'"') else value.decode()
    text = _ENDS.sub("\n", text).replace("\0", "\ufffd")
    text = _INNER_FORMULA.sub("'", text)
    return f"'{text}" if text.startswith(_FORMULA) else text


def markdown_of(record: CleanRecord) -> str:
    """A record as Markdown with its title as heading, once, behind YAML front matter."""
    from crawlclean.cleaning.markdown.inline import escape, start_escaped

    values = {
        "url": record.url,
        "title": _one_line(record.title),
        "author": record.author and _one_line(record.author),
        "published": record.published_at and utc(record.published_at).isoformat(),
        "language": record.language,
        "kind": str(record.kind),
        "fetched_at": utc(record.fetched_at).isoformat(),
    }
    front = "".join(f"{name}: {_yaml(value)}\n" for name, value in values.items() if value)
    title = escape(_one_line(record.title) or record.url)
    body = record.markdown or "\n\n".join(
        start_escaped(escape(_one_line(line))) for line in record.body.split("\n")
    )
    first, _, rest = body.partition("\n")
    if first.startswith("#") and first.lstrip("#").strip() == title:
        body = rest.lstrip("\n")
    body = f"{body}\n\n" if body else ""
    return f"---\n{front}---\n\n# {title}\n\n{body}"


def text_of(record: CleanRecord) -> str:
    """A record as lines: URL, title, body; then a form feed."""
    body = record.body.replace("\f", " ")
    return f"{_one_line(record.url)}\n{_one_line(record.title)}\n{body}\n\f\n"


def encoded(record: CleanRecord, form: str) -> bytes:
    """A record as a line of ``jsonl``, as ``markdown`` or ``text``, UTF-8."""
    if form == "jsonl":
        return record.to_json() + b"\n"
    text = markdown_of(record) if form == "markdown" else text_of(record)
    return text.encode(errors="replace")


def _one_line(text: str) -> str:
    return _BREAKS.sub(" ", text).strip()


def _yaml(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return _UNSAFE_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)


NAMES = ("jsonl", "csv", "parquet", "markdown", "text", "warc")
WITH_FIELDS = ("jsonl", "csv", "parquet")


class Writer(Protocol):
    """Writes the items of one file."""

    def write(self, item: Any, /) -> None:
        """Writes an item."""

    def close(self) -> None:
        """Writes the end of the file; the stream stays open."""


class Format(Struct, frozen=True, kw_only=True):
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

    def __init__(self, stream: BinaryIO, make: Callable[[BinaryIO], Writer], hook: Hook):
        self._hook = hook
        self._url = "the begin of a file"
        self._writer: Writer = self._call(partial(make, stream))

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
