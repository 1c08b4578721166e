"""Files of other crawlers: which to read, of which kind each is, and the URL of an HTML file.

A mirror (wget, HTTrack) has a folder for each host and names its files as the site does. So a file
that begins like HTML is HTML with any suffix, and a folder named like a host holds the pages of
that host. Standard input (``-``) has no name: its first bytes decide.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, cast
from urllib.parse import quote

from crawlclean.cleaning.document.source import foreign_type
from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.urls.normal_form import is_asset
from crawlclean.storage.archive.warc import FirstBodies
from crawlclean.workers.operations.pages.page_sources import (
    BEGINNING_BYTES,
    GZIP,
    MAX_PAGE_BYTES,
    Columns,
    Source,
    begins_html,
    from_rows,
    from_warc,
    has_tag,
    unzipped,
)

HTML_SUFFIXES = frozenset({".html", ".htm", ".xhtml", ".shtml"})
TEXT_SUFFIXES = frozenset({".txt", ".md", ".xml", ".json", ".rss", ".atom"})  # never HTML
WARC_SUFFIXES = (".warc", ".warc.gz")
ROW_SUFFIXES = (".jsonl", ".jsonl.gz")
STDIN = "-"
FALLBACK_URL = "http://localhost/"
_HOST_FOLDER = re.compile(
    r"(?:(?:[a-z0-9-]{1,63}\.){1,9}[a-z]{2,24}|\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?", re.I
)
BROKEN = (EOFError, zlib.error, ValueError)  # raised by gzip on damaged files


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file to read, or standard input.

    Attributes:
        path: The file; ``-`` for standard input, which can be read once.
        place: Its path below the named folder, ``a.example/1.html``; ``""`` when it was named.
        folder_host: The host that the named folder is named like, ``a.example``; ``""``: like none.
        is_stdin: Whether it is standard input, or the copy of it.
    """

    path: Path
    place: str = ""
    folder_host: str = ""
    is_stdin: bool = False

    @property
    def name(self) -> str:
        """Its name in messages and records: ``m/a.html``, ``stdin``."""
        return "stdin" if self.is_stdin else str(self.path)

    def time(self) -> datetime:
        """When a file was written; now for standard input."""
        if self.is_stdin:
            return datetime.now(UTC)
        return datetime.fromtimestamp(self.path.stat().st_mtime, UTC)

    def kind(self, stream: IO[bytes]) -> str:
        """``warc``, ``rows`` or ``html``: by the name, for standard input by its first bytes."""
        name = self.path.name.lower()
        if not self.is_stdin:
            is_warc, is_rows = name.endswith(WARC_SUFFIXES), name.endswith(ROW_SUFFIXES)
        else:
            beginning: bytes = cast(Any, stream).peek(BEGINNING_BYTES)
            if beginning.startswith(GZIP):
                with suppress(zlib.error):
                    unpacker = zlib.decompressobj(zlib.MAX_WBITS + 16)
                    beginning = unpacker.decompress(beginning, BEGINNING_BYTES)
            is_warc = beginning.startswith(b"WARC/")
            is_rows = beginning.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
        return "warc" if is_warc else "rows" if is_rows else "html"


@dataclass(frozen=True, slots=True)
class PageInput:
    """What a command was told to read.

    Attributes:
        files: From ``find_files``.
        url: URL of the one HTML file, or of the one folder; ``""``: made from the file names.
        columns: Names of the columns of rows.
    """

    files: Sequence[InputFile]
    url: str = ""
    columns: Columns = field(default_factory=Columns)

    @contextmanager
    def kept(self) -> Iterator[PageInput]:
        """The same input, which can be read again: standard input is copied to a file."""
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "stdin"
            yield replace(self, files=[_kept(file, copy) for file in self.files])

    def sources(self, begin_file: Callable[[], None] = lambda: None) -> Iterator[Source]:
        """Yields every page, and a source with an error for each that cannot be read.

        Args:
            begin_file: Called before each file is read.

        Raises:
            ConfigError: ``url`` is given, and standard input has rows or a WARC file.
        """
        with closing(FirstBodies()) as originals:
            for file in self.files:
                begin_file()
                try:
                    yield from self._sources_of(file, originals)
                except OSError as error:
                    yield Source(file.name, error=f"{file.name}: {error.strerror or error}")
                except BROKEN as error:
                    # Bytes of the file follow the comma.
                    why = str(error).partition(",")[0]
                    yield Source(file.name, error=f"{file.name}: broken: {why}")

    def _sources_of(self, file: InputFile, originals: FirstBodies) -> Iterator[Source]:
        with _opened(file) as stream:
            kind = file.kind(stream)
            if self.url and file.is_stdin and kind != "html":
                raise ConfigError(f"--url is for one HTML page, and standard input has {kind}")
            if kind == "warc":
                path = None if file.is_stdin else file.path
                yield from from_warc(stream, file.name, file.time(), originals, path)
            elif kind == "rows":
                yield from from_rows(stream, file.name, file.time(), self.columns)
            else:
                yield self._html(file, unzipped(stream))

    def _html(self, file: InputFile, stream: IO[bytes]) -> Source:
        body = stream.read(MAX_PAGE_BYTES + 1)
        if len(body) > MAX_PAGE_BYTES:
            limit = MAX_PAGE_BYTES >> 20
            return Source(file.name, error=f"{file.name}: over {limit} MB")
        if not _is_html(file, body):
            return Source(file.name, error=f"{file.name}: {_why_no_html(body)}")
        return Source(file.name, _url_of(self.url, file), body, fetched_at=file.time())


def page_input(paths: Sequence[Path], url: str, columns: Columns) -> tuple[PageInput, int]:
    """Returns the input of a command, and the number of other files in its folders.

    Raises:
        ConfigError: As in ``find_files``; or a URL is given for several pages.
    """
    files, others = find_files(paths)
    many = WARC_SUFFIXES + ROW_SUFFIXES
    if url and (len(paths) != 1 or paths[0].name.lower().endswith(many)):
        raise ConfigError("--url needs exactly one HTML file or one folder")
    return PageInput(files, url, columns), others


def find_files(paths: Sequence[Path]) -> tuple[list[InputFile], int]:
    """Finds the files to read below some paths; ``-`` is standard input.

    Returns:
        (files, number of other files in the folders).

    Raises:
        ConfigError: A path does not exist, a folder holds nothing to read, or ``-`` comes twice.
    """
    if sum(str(path) == STDIN for path in paths) > 1:
        raise ConfigError("standard input (-) can be read once")
    found = []
    others = 0
    for path in paths:
        if str(path) == STDIN:
            found.append(InputFile(path, is_stdin=True))
        elif path.is_dir():
            inside = [p for p in sorted(path.rglob("*")) if p.is_file() and not _is_hidden(p, path)]
            known = [p for p in inside if _is_known(p)]
            if not known:
                raise ConfigError(f"{path} holds no HTML, WARC or .jsonl file")
            others += len(inside) - len(known)
            host = _host_of_folder(path, known)
            found += [InputFile(file, file.relative_to(path).as_posix(), host) for file in known]
        elif path.exists():
            found.append(InputFile(path))
        else:
            raise ConfigError(f"{path} does not exist")
    return found, others


def _host_of_folder(folder: Path, files: Sequence[Path]) -> str:
    """The host that a named folder is named like; ``""``: it is none, or holds folders of hosts.

    ``mirror.old/`` with nothing but folders such as ``a.example/`` holds folders of hosts.
    """
    name = folder.name if folder.name not in ("", "..") else folder.resolve().name
    inside = [file.relative_to(folder).parts for file in files]
    are_hosts = all(len(parts) > 1 and _HOST_FOLDER.fullmatch(parts[0]) for parts in inside)
    return name if _HOST_FOLDER.fullmatch(name) and not are_hosts else ""


def _is_hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(folder).parts)


def _is_known(path: Path) -> bool:
    name = path.name.lower()
    if path.suffix.lower() in HTML_SUFFIXES or name.endswith(WARC_SUFFIXES + ROW_SUFFIXES):
        return True
    if path.suffix.lower() in TEXT_SUFFIXES or is_asset(FALLBACK_URL + name):
        return False
    try:
        with path.open("rb") as file:
            return begins_html(file.read(BEGINNING_BYTES))
    except OSError:
        return True  # reading it later reports the error


def _is_html(file: InputFile, body: bytes) -> bool:
    """Whether a named file is HTML: by its suffix, its beginning, or a tag in its first KB.

    Other types (PDF, PNG) are left to ``Source.page``, which names them.
    """
    suffix = file.path.suffix.lower()
    if suffix in HTML_SUFFIXES or foreign_type(body):
        return True
    return begins_html(body) if suffix in TEXT_SUFFIXES else has_tag(body)


def _why_no_html(body: bytes) -> str:
    rows = body[:BEGINNING_BYTES].lstrip()[:1] == b"{"
    hint = "; rows of JSON are read from .jsonl files and from standard input" if rows else ""
    return f"this is no HTML: its first {BEGINNING_BYTES} bytes have no tag{hint}"


def _url_of(url: str, file: InputFile) -> str:
    """Returns the URL of an HTML file.

    Args:
        url: Of the file or of its folder; ``""``: a folder named like a host gives the host,
            otherwise the host is localhost.
        file: The file.
    """
    if url and not file.place:
        return url
    host, _, rest = file.place.partition("/")
    if file.folder_host:
        host, rest = file.folder_host, file.place
    if rest and not url and _HOST_FOLDER.fullmatch(host):
        return f"http://{host}/{quote(os.fsencode(rest), safe='/?&=;,+@:~!$')}"
    base = (url or FALLBACK_URL).rstrip("/") + "/"
    return base + quote(os.fsencode(file.place or Path(file.name).name))


def _kept(file: InputFile, copy: Path) -> InputFile:
    if not file.is_stdin:
        return file
    with copy.open("wb") as out:
        shutil.copyfileobj(sys.stdin.buffer, out)
    return replace(file, path=copy)


@contextmanager
def _opened(file: InputFile) -> Iterator[IO[bytes]]:
    """A stream that can ``peek``."""
    if str(file.path) == STDIN and file.is_stdin:
        yield _peekable(sys.stdin.buffer)
    else:
        with file.path.open("rb") as stream:
            yield stream


def _peekable(stream: IO[bytes]) -> IO[bytes]:
    """A stream whose ``peek`` gives the first KB, however small the pieces of a pipe are."""
    return io.BufferedReader(_Joined(stream.read(BEGINNING_BYTES), stream))


class _Joined(io.RawIOBase):
    """Some bytes, then a stream."""

    def __init__(self, beginning: bytes, stream: IO[bytes]) -> None:
        self._beginning = beginning
        self._stream: Any = stream

    def readable(self) -> bool:
        """True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fills the buffer with the next bytes; returns their number, 0 at the end."""
        data = self._beginning or self._stream.read1(len(buffer))
        self._beginning = data[len(buffer) :] if self._beginning else b""
        data = data[: len(buffer)]
        buffer[: len(data)] = data
        return len(data)
