"""Reads pages from files of other crawlers: HTML, WARC, rows of JSON, and folders of these.

A mirror (wget, HTTrack) has a folder for each host and names its files as the site does. So a file
that begins like HTML is HTML with any suffix, and a folder named like a host holds the pages of
that host.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

from cleaning import RawPage
from cleaning.document.sniffing import foreign_type
from cleaning.errors import ConfigError, NotHtml
from cleaning.model.site_model import SiteModel
from cleaning.urls.normal_form import is_asset

HTML_SUFFIXES = frozenset({".html", ".htm", ".xhtml", ".shtml"})
TEXT_SUFFIXES = frozenset({".txt", ".md", ".xml", ".json", ".rss", ".atom"})  # never HTML
WARC_SUFFIXES = (".warc", ".warc.gz")
ROW_SUFFIXES = (".jsonl", ".jsonl.gz")
FALLBACK_URL = "http://localhost/"
UTF_8 = "text/html; charset=utf-8"
_BEGINNING_BYTES = 1024
_BEGINS_HTML = re.compile(rb"<!doctype\s{1,9}html|<html[\s>]", re.I)
_HOST_FOLDER = re.compile(
    r"(?:(?:[a-z0-9-]{1,63}\.){1,9}[a-z]{2,24}|\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?", re.I
)
# Raised by the readers on damaged files; warcio fails in its own code on missing headers.
BROKEN = (ArchiveLoadFailed, EOFError, zlib.error, AttributeError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class Source:
    """One page to clean, or the error of a page that could not be read.

    Attributes:
        origin: Where the page comes from: ``site/a.html``, ``rows.jsonl:7``.
        url: Its URL as found.
        body: Its bytes.
        content_type: Header of the response, if there was one.
        fetched_at: Time of the response, if it is known.
        error: Why there is no page, ``""`` when there is one.
        model: The model of its host.
    """

    origin: str
    url: str = ""
    body: bytes = b""
    content_type: str | None = None
    fetched_at: datetime | None = None
    error: str = ""
    model: SiteModel | None = None

    def page(self) -> RawPage:
        """Decodes the page.

        Raises:
            ServiceError: The bytes are not HTML, or the URL is invalid.
        """
        foreign = foreign_type(self.body)
        if foreign:
            raise NotHtml(f"this is {foreign}, not HTML")
        at = self.fetched_at and self.fetched_at.astimezone(UTC)
        return RawPage.from_bytes(self.url, self.body, self.content_type, at)


def find_files(paths: Sequence[Path]) -> tuple[list[tuple[Path, str]], int]:
    """Finds the files to read below some paths.

    Returns:
        (files, number of other files in the folders). Each file comes with its path below the
        named folder: ``(Path("m/a.example/1.html"), "a.example/1.html")``; ``""`` for a file that
        was named itself.

    Raises:
        ConfigError: A path does not exist, or a folder holds nothing to read.
    """
    found = []
    others = 0
    for path in paths:
        if path.is_dir():
            inside = [p for p in sorted(path.rglob("*")) if p.is_file() and not _is_hidden(p, path)]
            known = [p for p in inside if _is_known(p)]
            if not known:
                raise ConfigError(f"{path} holds no HTML, WARC or .jsonl file")
            others += len(inside) - len(known)
            found += [(file, file.relative_to(path).as_posix()) for file in known]
        elif path.exists():
            found.append((path, ""))
        else:
            raise ConfigError(f"{path} does not exist")
    return found, others


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
            return _BEGINS_HTML.search(file.read(_BEGINNING_BYTES)) is not None
    except OSError:
        return True  # reading it later reports the error


def read_sources(
    files: Iterable[tuple[Path, str]], url: str, begin_file: Callable[[], None]
) -> Iterator[Source]:
    """Yields every page of the files, and a source with an error for each that cannot be read.

    Args:
        files: (file, path below the named folder) from ``find_files``.
        url: URL of the one HTML file, or of the one folder; ``""``: made from the file names.
        begin_file: Called before each file is read.
    """
    for path, place in files:
        begin_file()
        name = path.name.lower()
        try:
            if name.endswith(WARC_SUFFIXES):
                yield from _from_warc(path)
            elif name.endswith(ROW_SUFFIXES):
                yield from _from_rows(path)
            else:
                yield Source(str(path), _url_of(url, path, place), path.read_bytes())
        except OSError as error:
            yield Source(str(path), error=f"{path}: {error.strerror or error}")
        except BROKEN as error:
            # Bytes of the file follow the comma.
            yield Source(str(path), error=f"{path}: broken: {str(error).partition(',')[0]}")


def _url_of(url: str, path: Path, place: str) -> str:
    """Returns the URL of an HTML file.

    Args:
        url: Of the file or of its folder; ``""``: a folder named like a host gives the host,
            otherwise the host is localhost.
        path: The file.
        place: Its path below the named folder; ``""`` when the file itself was named.
    """
    if url and not place:
        return url
    host, _, rest = place.partition("/")
    if rest and not url and _HOST_FOLDER.fullmatch(host):
        return f"http://{host}/{quote(os.fsencode(rest), safe='/?&=;,+@:~!$')}"
    base = (url or FALLBACK_URL).rstrip("/") + "/"
    return base + quote(os.fsencode(place or path.name))


def _from_warc(path: Path) -> Iterator[Source]:
    with path.open("rb") as stream:
        for entry in ArchiveIterator(stream):
            if entry.rec_type != "response" or entry.http_headers is None:
                continue
            kind = entry.http_headers.get_header("Content-Type") or ""
            status = entry.http_headers.get_statuscode() or ""
            if (kind and "html" not in kind.lower()) or not status.startswith("2"):
                continue
            url = entry.rec_headers.get_header("WARC-Target-URI") or ""
            body = entry.content_stream().read()
            if entry.raw_stream.read() or getattr(entry.raw_stream, "limit", 0) > 0:
                yield Source(str(path), error=f"{path}: broken: ends in the middle of {url}")
                return
            date = entry.rec_headers.get_header("WARC-Date")
            yield Source(
                f"{path}: {url}",
                url,
                body,
                kind or None,
                _time(date or ""),
            )


def _time(date: str) -> datetime | None:
    """Parses a WARC-Date, which is UTC with or without a zone; None when it is invalid."""
    try:
        at = datetime.fromisoformat(date)
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _from_rows(path: Path) -> Iterator[Source]:
    # Lines of bytes: one that is no UTF-8 is one broken row, not the end of the file.
    with gzip.open(path, "rb") if path.name.lower().endswith(".gz") else path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            origin = f"{path}:{number}"
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                url = str(row["url"]).encode().decode()  # half a surrogate pair raises
                if "html_base64" not in row and isinstance(row.get("html"), str):
                    source = Source(origin, url, row["html"].encode(errors="replace"), UTF_8)
                else:
                    body = base64.b64decode(row["html_base64"], validate=True)
                    source = Source(origin, url, body)
            except (ValueError, KeyError, TypeError) as error:
                needs = "a row needs url and html_base64 or html"
                why = f"{origin}: {needs} ({type(error).__name__}: {error})"
                source = Source(origin, error=why.encode(errors="replace").decode())
            yield source
