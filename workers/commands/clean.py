"""`clean`: pages that were fetched by others, as records on standard output, in input order."""

from __future__ import annotations

import base64
import gzip
import json
import os
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path
from urllib.parse import quote

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

from cleaning import RawPage, clean
from cleaning.errors import ConfigError, NotHtml, ServiceError
from cleaning.source.sniff import foreign_type
from storage.codec import record_to_json
from workers.commands.clean_pool import BATCH, batches, in_order
from workers.progress import Tally

HTML_SUFFIXES = frozenset({".html", ".htm", ".xhtml", ".shtml"})
WARC_SUFFIXES = (".warc", ".warc.gz")
ROW_SUFFIXES = (".jsonl", ".jsonl.gz")
FALLBACK_URL = "http://localhost/"
# What the readers raise on damaged files; the archive's stumbles over missing headers.
BROKEN = (ArchiveLoadFailed, EOFError, zlib.error, AttributeError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class Source:
    """One page to clean, or why there is none."""

    origin: str
    url: str = ""
    body: bytes = b""
    content_type: str | None = None
    fetched_at: datetime | None = None
    error: str = ""


def clean_files(paths: Sequence[Path], url: str, blocks: bool = False) -> int:
    """Cleans every page of the files and folders; 1 when one of them could not be.

    Args:
        paths: HTML files, WARC files, ``.jsonl``/``.jsonl.gz`` rows with ``url`` and
            ``html_base64``, and folders of such files.
        url: Address of a single HTML file; else files have addresses made of their names.
        blocks: Whether the records have the link blocks of the sources.

    Raises:
        ConfigError: A path does not exist, or ``url`` is given with several pages.
    """
    files = list(_files(paths))
    if url and (len(paths) != 1 or paths[0].name.lower().endswith(WARC_SUFFIXES + ROW_SUFFIXES)):
        raise ConfigError("--url goes with one HTML file or one folder of them")
    told = Tally("cleaned", len(files))
    for line, error in _cleaned(_sources(files, url, told), blocks):
        if error:
            told.failed += 1
            told.say(error)
        else:
            sys.stdout.write(line + "\n")
            told.done += 1
        told.show()
    told.show(last=True)
    return 1 if told.failed else 0


def _files(paths: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """(file, its place below the folder that was named; ``""`` when it was named itself)."""
    for path in paths:
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*") if p.is_file() and _is_known(p))
            if not inside:
                raise ConfigError(f"{path} holds no HTML, WARC or .jsonl file")
            yield from ((file, file.relative_to(path).as_posix()) for file in inside)
        elif path.exists():
            yield path, ""
        else:
            raise ConfigError(f"{path} does not exist")


def _is_known(path: Path) -> bool:
    name = path.name.lower()
    return path.suffix.lower() in HTML_SUFFIXES or name.endswith(WARC_SUFFIXES + ROW_SUFFIXES)


def _sources(files: Iterable[tuple[Path, str]], url: str, told: Tally) -> Iterator[Source]:
    for path, place in files:
        told.files += 1
        name = path.name.lower()
        try:
            if name.endswith(WARC_SUFFIXES):
                yield from _from_warc(path)
            elif name.endswith(ROW_SUFFIXES):
                yield from _from_rows(path)
            else:
                yield Source(str(path), _address(url, path, place), path.read_bytes())
        except OSError as error:
            yield Source(str(path), error=f"{path}: {error.strerror or error}")
        except BROKEN as error:
            # what follows the comma are bytes of the file
            yield Source(str(path), error=f"{path}: broken: {str(error).partition(',')[0]}")


def _address(url: str, path: Path, place: str) -> str:
    """The address of an HTML file: ``url`` itself, or its place below ``url`` or localhost."""
    if url and not place:
        return url
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
            address = entry.rec_headers.get_header("WARC-Target-URI") or ""
            body = entry.content_stream().read()
            if entry.raw_stream.read() or getattr(entry.raw_stream, "limit", 0) > 0:
                yield Source(str(path), error=f"{path}: broken: ends in the middle of {address}")
                return
            date = entry.rec_headers.get_header("WARC-Date")
            yield Source(
                f"{path}: {address}",
                address,
                body,
                kind or None,
                _time(date or ""),
            )


def _time(date: str) -> datetime | None:
    """A WARC-Date; it is UTC, said or unsaid, and one that cannot be read is none."""
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
                body = base64.b64decode(row["html_base64"], validate=True)
                address = str(row["url"]).encode().decode()  # half a surrogate pair cannot be told
                source = Source(origin, address, body)
            except (ValueError, KeyError, TypeError) as error:
                needs = "a row needs url and html_base64"
                why = f"{origin}: {needs} ({type(error).__name__}: {error})"
                source = Source(origin, error=why.encode(errors="replace").decode())
            yield source


def _cleaned(sources: Iterator[Source], blocks: bool) -> Iterator[tuple[str, str]]:
    """(record as JSON, error) of every source in order; in parallel when there are many."""
    work = partial(_clean_batch, blocks=blocks)
    lots = batches(sources, lambda source: len(source.body))
    first = next(lots, [])
    cores = os.cpu_count() or 1
    if len(first) < BATCH or cores == 1:
        for lot in chain([first], lots):
            yield from work(lot)
    else:
        yield from in_order(work, chain([first], lots), cores, _lost)


def _lost(source: Source) -> tuple[str, str]:
    return "", f"{source.origin}: the process that cleaned it died (out of memory?)"


def _clean_batch(batch: Sequence[Source], blocks: bool) -> list[tuple[str, str]]:
    return [_clean_one(source, blocks) for source in batch]


def _clean_one(source: Source, blocks: bool) -> tuple[str, str]:
    if source.error:
        return "", source.error
    try:
        foreign = foreign_type(source.body)
        if foreign:
            raise NotHtml(f"this is {foreign}, no HTML")
        page = RawPage.from_bytes(
            source.url,
            source.body,
            source.content_type,
            source.fetched_at and source.fetched_at.astimezone(UTC),
        )
        record = clean(page, blocks=blocks)
        return json.dumps(record_to_json(record), ensure_ascii=False), ""
    except ServiceError as error:
        return "", f"{source.origin}: {error}"
