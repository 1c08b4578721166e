"""`export`: writes records, or archived responses as WARC, to files; stored images as files."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawlclean.cleaning.errors import ConfigError, StoreDamaged
from crawlclean.workers.commands.arguments import Exit, argument, command, crawl_name
from crawlclean.workers.config import Settings
from crawlclean.workers.spoken import counted, say, told

if TYPE_CHECKING:
    from crawlclean.cleaning.records import CleanRecord
    from crawlclean.storage.store.export import ExportState, Selection
    from crawlclean.workers.output.progress import Tally
    from crawlclean.workers.output.record_writers import Format

MOST_CAUSES = 3  # of lost responses, in one line


def _output(text: str) -> Path | None:
    return None if text == "-" else Path(text)


@command(
    "Writes records, all or a choice, to standard output or files. With --warc the archived "
    "responses instead. A file appears under its name when it is whole.",
    argument(
        "--format",
        default="jsonl",
        metavar="FORMAT",
        help="jsonl (default), csv, parquet, markdown, text, warc, or an exporter of another "
        "package; markdown has YAML front matter; text is URL, title and body, and a form feed "
        "ends each record; csv has an apostrophe before text that a spreadsheet would calculate",
    ),
    argument(
        "--warc",
        dest="format",
        action="store_const",
        const="warc",
        help="write the archived responses as WARC 1.1 to --output, with requests and metadata; a "
        "body that came before is a revisit; choose by --crawl, --host and --since (the time of "
        "the response)",
    ),
    argument(
        "--since",
        default="",
        metavar="T",
        help="only records that are new, changed or cleaned anew since T, as 2026-01-31T12:00",
    ),
    argument("--crawl", default="", type=crawl_name, metavar="NAME", help="only this crawl"),
    argument(
        "--topic",
        default="",
        type=crawl_name,
        metavar="NAME",
        help="only relevant pages of this topic, whichever crawl fetched them; with --images the "
        "largest of the copies of each picture",
    ),
    argument("--host", default="", help="only this host, as `hosts` lists it"),
    argument(
        "--kind",
        default="",
        metavar="KIND[,KIND]",
        help="only these kinds of pages: article, thread, index, other",
    ),
    argument(
        "--min-chars", type=int, default=0, metavar="N", help="only bodies of N characters or more"
    ),
    argument(
        "--min-confidence",
        type=float,
        default=0.0,
        metavar="X",
        help="only bodies that are right with a probability of X or more, as .8: `confidence` of "
        "a record",
    ),
    argument(
        "--unique",
        nargs="?",
        default="",
        const="longest",
        choices=("longest", "earliest"),
        help="of pages that tell one story only the longest, or the earliest (`stories`)",
    ),
    argument(
        "--fields",
        default="",
        metavar="A,B",
        help="jsonl, csv, parquet: only these fields, in this order (csv without it: url, host, "
        "fetched_at, kind, title, author, published_at, language, body)",
    ),
    argument(
        "--no-links",
        dest="links",
        action="store_false",
        help="jsonl, csv, parquet: without links and outlinks, most of a record's bytes",
    ),
    argument(
        "-o",
        "--output",
        type=_output,
        metavar="FILE|DIR",
        help="write a file, or records.FORMAT in a folder that exists; shows progress (default and "
        "-: standard output)",
    ),
    argument(
        "--file-per-page",
        action="store_true",
        help="write each page to a file of its own in the --output folder, HOST/NAME-ID.md "
        "(.json, .txt), named as by `clean -o`; of several crawls the newest save",
    ),
    argument(
        "--chunk-size",
        default="",
        metavar="N|NMB",
        help="write files of N records or about N MB (as 200MB), records-00001.jsonl and so on in "
        "the --output folder; killed, the same command goes on where whole files stop",
    ),
    argument("--gzip", action="store_true", help="compress what is written (.gz)"),
    argument(
        "--images",
        dest="folder",
        type=Path,
        metavar="DIR",
        help="also write the stored images to DIR; in JSON lines an image has its `file`",
    ),
)
def export(settings: Settings, arguments: argparse.Namespace) -> int:
    """Writes the selected records in the format, and their stored images into the folder.

    FAILED when the archive has lost responses of an export as WARC: the others are written.

    Raises:
        ConfigError: A value is wrong, options do not go together, or a file cannot be written.
        NotFound: No crawl or no host has the name.
        HookFailed: An exporter of another package has a defect.
    """
    from crawlclean.workers.output.record_writers import find_format

    wanted = _selection(arguments)
    form = find_format(settings, arguments.format, arguments.fields, links=arguments.links)
    _check(arguments, form)
    lost: Counter[str] = Counter()
    if arguments.chunk_size:
        _write_chunks(settings, wanted, arguments, form, lost)
    elif arguments.file_per_page:
        _write_pages(settings, wanted, arguments, form)
    else:
        _write_one(settings, wanted, arguments, form, lost)
    if arguments.folder and not arguments.folder.exists():
        none = say("no image of these records is stored: `run --images` fetches images")
        sys.stderr.write(none + "\n")
    if lost:
        causes = "; ".join(f"{n}: {told(cause)}" for cause, n in lost.most_common(MOST_CAUSES))
        count = counted(lost.total(), "response")
        left_out = "left out {responses}, which the archive has lost ({causes})"
        sys.stderr.write(say(left_out, responses=count, causes=causes) + "\n")
    return Exit.FAILED if lost else Exit.DONE


def _selection(arguments: argparse.Namespace) -> Selection:
    from crawlclean.storage.store.export import Selection
    from crawlclean.workers.operations.files.exporting import read_kinds
    from crawlclean.workers.operations.reading import read_time

    if arguments.min_chars < 0:
        raise ConfigError(f"--min-chars is {arguments.min_chars}: it cannot be below 0")
    if not 0 <= arguments.min_confidence <= 1:
        raise ConfigError(f"--min-confidence is {arguments.min_confidence}: give 0 to 1")
    return Selection(
        crawl=arguments.crawl or None,
        topic=arguments.topic or None,
        host=arguments.host.lower() or None,
        kinds=read_kinds(arguments.kind),
        min_chars=arguments.min_chars,
        min_confidence=arguments.min_confidence,
        is_unique=bool(arguments.unique),
        is_earliest=arguments.unique == "earliest",
        since=read_time(arguments.since) if arguments.since else None,
    )


def _check(arguments: argparse.Namespace, form: Format) -> None:
    """Checks where the export goes.

    Raises:
        ConfigError: Options do not go together.
    """
    path: Path | None = arguments.output
    option = "--file-per-page" if arguments.file_per_page else "--chunk-size"
    if form.name == "warc":
        _check_warc(arguments)
    if form.is_packed and arguments.gzip:
        raise ConfigError(f"--gzip: {form.name} is compressed already")
    if form.is_packed and path is None:
        raise ConfigError(f"--format {form.name} needs --output")
    if arguments.file_per_page and arguments.chunk_size:
        raise ConfigError("--file-per-page and --chunk-size contradict each other")
    if not (arguments.file_per_page or arguments.chunk_size):
        return
    if path is None:
        raise ConfigError(f"{option} needs a folder: --output DIR")
    if path.exists() and not path.is_dir():
        raise ConfigError(f"{option} needs a folder: {path} is a file")
    if arguments.file_per_page and not form.page_suffix:
        raise ConfigError(f"--file-per-page is not for --format {form.name}")


def _check_warc(arguments: argparse.Namespace) -> None:
    """Checks that responses are chosen by what they have.

    Raises:
        ConfigError: An option chooses records.
    """
    for name in ("topic", "kind", "min_chars", "min_confidence", "unique", "folder"):
        if getattr(arguments, name):
            option = "images" if name == "folder" else name.replace("_", "-")
            raise ConfigError(f"--{option} is for records, and --warc writes responses")


@contextmanager
def _items(
    settings: Settings,
    wanted: Selection,
    form: Format,
    images: Path | None,
    lost: Counter[str],
    state: ExportState | None = None,
) -> Iterator[Iterator[Any]]:
    """Opens the store for an iteration over what the format's writers take.

    Args:
        settings: Where the store is.
        wanted: Which records or responses.
        form: The format.
        images: Folder that gets the stored images of the records; None: none are written.
        lost: Gets the responses that the archive has lost, by cause.
        state: Of a chunked export; None: of another one.
    """
    from crawlclean.workers.operations.files.exporting import (
        answers_to_export,
        lines_to_export,
        records_to_export,
    )

    if form.name == "warc":

        def leave_out(error: StoreDamaged) -> None:
            lost[str(error)] += 1

        with answers_to_export(settings, wanted, state, leave_out) as answers:
            yield answers
        return
    if form.takes_lines and not images:
        with lines_to_export(settings, wanted, state) as lines:
            yield lines
        return
    with records_to_export(settings, wanted, images, state) as records:
        yield (_item(record, files, form) for record, files in records)


def _item(record: CleanRecord, files: dict[str, str], form: Format) -> Any:
    """What the format's writers take of a record: a line of JSON with its files, or the record."""
    from crawlclean.cleaning.json_values import dump
    from crawlclean.workers.output.image_report import record_with_files

    if not form.takes_lines:
        return record
    return dump(record_with_files(record, files)) if files else record.to_json()


def _write_one(
    settings: Settings,
    wanted: Selection,
    arguments: argparse.Namespace,
    form: Format,
    lost: Counter[str],
) -> None:
    from crawlclean.workers.output.record_files import open_output

    path: Path | None = arguments.output
    if path is not None and path.is_dir():
        path /= "records" + form.suffix + (".gz" if arguments.gzip else "")
    with (
        _items(settings, wanted, form, arguments.folder, lost) as items,
        _progress(path) as (count, _),
        open_output(path, zipped=arguments.gzip) as out,
    ):
        writer = form.open(out)
        for item in items:
            writer.write(item)
            count()
        writer.close()


def _write_pages(
    settings: Settings, wanted: Selection, arguments: argparse.Namespace, form: Format
) -> None:
    from crawlclean.workers.operations.files.exporting import records_to_export
    from crawlclean.workers.operations.files.whole_files import page_name
    from crawlclean.workers.output.record_files import open_output

    suffix = form.page_suffix + (".gz" if arguments.gzip else "")
    with (
        records_to_export(settings, wanted, arguments.folder) as records,
        _progress(arguments.output) as (count, _),
    ):
        for record, files in records:
            path = arguments.output / (page_name(record.url) + suffix)
            with open_output(path, zipped=arguments.gzip, is_durable=False) as out:
                writer = form.open(out)
                writer.write(_item(record, files, form))
                writer.close()
            count()


def _write_chunks(
    settings: Settings,
    wanted: Selection,
    arguments: argparse.Namespace,
    form: Format,
    lost: Counter[str],
) -> None:
    from crawlclean.storage.store.export import FILE, ExportState
    from crawlclean.workers.output.record_files import ChunkFiles, read_chunk_size

    folder: Path = arguments.output
    size = read_chunk_size(arguments.chunk_size)
    files = ChunkFiles(folder, form, size, zipped=arguments.gzip)
    if not (folder / FILE).exists():
        files.check()
    state = ExportState(folder, _options(settings, arguments))
    with closing(state):
        with (
            _items(settings, wanted, form, arguments.folder, lost, state) as items,
            _progress(folder) as (count, tally),
        ):
            whole = state.files()
            if whole:
                count(sum(records for _, records in whole))
                files_done, done = counted(len(whole), "file"), counted(tally.done, "record")
                tally.print_line(
                    say("going on after {files}, {records}", files=files_done, records=done)
                )
            for name, records in files.write(items, state, count):
                tally.print_line(f"{name}: {counted(records, 'record')}")
        state.finish()


def _options(settings: Settings, arguments: argparse.Namespace) -> str:
    """All that decides what the files of an export hold, as JSON."""
    names = (
        "format",
        "fields",
        "links",
        "gzip",
        "chunk_size",
        "folder",
        "crawl",
        "topic",
        "host",
        "kind",
    )
    values = {name: str(getattr(arguments, name)) for name in names}
    more = ("min_chars", "min_confidence", "unique", "since")
    values |= {name: str(getattr(arguments, name)) for name in more}
    values["store"] = settings.storage.mongodb_url.rpartition("@")[2] or str(
        settings.storage.data.resolve()
    )
    return json.dumps(values, sort_keys=True)


@contextmanager
def _progress(path: Path | None) -> Iterator[tuple[Callable[..., None], Tally]]:
    """Yields (function that counts records, the counts); hidden for standard output."""
    from crawlclean.workers.output.progress import Tally

    with Tally("exported", 0, is_hidden=path is None) as tally:

        def count(records: int = 1) -> None:
            tally.done += records
            tally.show()

        yield count, tally
        tally.show(last=True)
    if path is not None:
        done = counted(tally.done, "record")
        sys.stderr.write(say("{records} written to {place}", records=done, place=path) + "\n")
