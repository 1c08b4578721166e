"""`export`: writes records as JSON lines, CSV, Markdown or text, and stored images as files."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cleaning.errors import ConfigError
from workers.commands.arguments import Commands
from workers.config import Settings

if TYPE_CHECKING:
    from storage.store.selection import Selection
    from workers.operations.exporting import Exported

SUFFIXES = {"jsonl": ".jsonl", "csv": ".csv", "markdown": ".md", "text": ".txt"}
WITH_FIELDS = ("jsonl", "csv")


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "export",
        run,
        "write records to standard output or files",
        "Writes records, all or a choice, to standard output or files. A file appears under its "
        "name when it is whole.",
    )
    parser.add_argument(
        "--format",
        choices=tuple(SUFFIXES),
        default="jsonl",
        help="default jsonl; markdown has YAML front matter; text is URL, title and body, and a "
        "form feed ends each record; csv has an apostrophe before text that a spreadsheet would "
        "calculate",
    )
    _add_choice(parser)
    parser.add_argument(
        "--fields",
        default="",
        metavar="A,B",
        help="jsonl, csv: only these fields, in this order (csv without it: url, host, "
        "fetched_at, kind, title, author, published_at, language, body)",
    )
    parser.add_argument(
        "--no-links",
        dest="links",
        action="store_false",
        help="jsonl, csv: without links and outlinks, most of a record's bytes",
    )
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FILE|DIR",
        help="write a file, or records.FORMAT in a folder that exists; shows progress",
    )
    parser.add_argument(
        "--file-per-page",
        action="store_true",
        help="write each page to a file of its own in the --output folder, "
        "HOST/PAGE-ID.md (.json, .txt); of several crawls the newest save",
    )
    parser.add_argument("--gzip", action="store_true", help="compress what is written (.gz)")
    parser.add_argument(
        "--images",
        dest="folder",
        type=Path,
        metavar="DIR",
        help="also write the stored images to DIR; in JSON lines an image has its `file`",
    )


def _add_choice(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments that select records."""
    parser.add_argument(
        "--since", default="", metavar="T", help="only records saved since T, as 2026-01-31T12:00"
    )
    parser.add_argument("--crawl", default="", metavar="NAME", help="only this crawl")
    parser.add_argument("--host", default="", help="only this host, as `hosts` lists it")
    parser.add_argument(
        "--kind",
        default="",
        metavar="KIND[,KIND]",
        help="only these kinds of pages: article, thread, index, other",
    )
    parser.add_argument(
        "--min-chars", type=int, default=0, metavar="N", help="only bodies of N characters or more"
    )
    parser.add_argument(
        "--unique", action="store_true", help="of records with equal bodies only the first"
    )


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Writes the selected records in the format, and their stored images into the folder.

    Raises:
        ConfigError: A value is wrong, options do not go together, or a file cannot be written.
        NotFound: No crawl or no host has the name.
    """
    wanted = _selection(arguments)
    path = _output_file(arguments)
    if arguments.file_per_page:
        _write_pages(settings, wanted, arguments)
    elif arguments.format in WITH_FIELDS and not arguments.folder:
        _write_lines(settings, wanted, arguments, path)
    else:
        _write_records(settings, wanted, arguments, path)
    return 0


def _selection(arguments: argparse.Namespace) -> Selection:
    from storage.store.selection import Selection
    from workers.operations.exporting import read_kinds
    from workers.operations.reading import read_time

    if arguments.min_chars < 0:
        raise ConfigError(f"--min-chars is {arguments.min_chars}: it cannot be below 0")
    return Selection(
        crawl=arguments.crawl or None,
        host=arguments.host.lower() or None,
        kinds=read_kinds(arguments.kind),
        min_chars=arguments.min_chars,
        is_unique=arguments.unique,
        since=read_time(arguments.since) if arguments.since else None,
    )


def _output_file(arguments: argparse.Namespace) -> Path | None:
    """The one file that is written; None: standard output, or a file for each page.

    Raises:
        ConfigError: Options do not go together.
    """
    if arguments.format not in WITH_FIELDS and (arguments.fields or not arguments.links):
        raise ConfigError("--fields and --no-links are for --format jsonl and csv")
    path: Path | None = arguments.output
    if arguments.file_per_page:
        if path is None:
            raise ConfigError("--file-per-page needs a folder: --output DIR")
        if arguments.format == "csv":
            raise ConfigError("--file-per-page is for --format jsonl, markdown and text")
        if path.exists() and not path.is_dir():
            raise ConfigError(f"--file-per-page needs a folder: {path} is a file")
        return None
    if path is not None and path.is_dir():
        path /= "records" + SUFFIXES[arguments.format] + (".gz" if arguments.gzip else "")
    return path


def _line_format(arguments: argparse.Namespace) -> tuple[str, Callable[[bytes], bytes]]:
    """The head of a jsonl or csv file, and the function from a stored line to a written one."""
    from workers.output.printing import escape_line
    from workers.output.record_formats import CSV_FIELDS, CsvWriter, FieldPicker, read_fields

    if arguments.format == "csv":
        names = read_fields(arguments.fields, links=arguments.links, default=CSV_FIELDS)
        writer = CsvWriter(names)
        return writer.head(), lambda line: writer.row(line).encode(errors="replace")
    names = read_fields(arguments.fields, links=arguments.links)
    if arguments.links and not arguments.fields:
        return "", lambda line: escape_line(line) + b"\n"
    picker = FieldPicker(names, schema=not arguments.fields)
    return "", lambda line: escape_line(picker.pick(line)) + b"\n"


def _record_format(arguments: argparse.Namespace) -> tuple[str, Callable[[Exported], bytes]]:
    """The head of a file, and the function from a record to its text."""
    from workers.output.record_formats import markdown_of, text_of

    if arguments.format not in WITH_FIELDS:
        text = markdown_of if arguments.format == "markdown" else text_of
        return "", lambda each: text(each.record).encode(errors="replace")
    from cleaning.json_values import dump
    from workers.output.image_report import record_with_files

    head, line = _line_format(arguments)
    return head, lambda each: line(
        dump(record_with_files(each.record, each.files)) if each.files else each.record.to_json()
    )


def _write_lines(
    settings: Settings, wanted: Selection, arguments: argparse.Namespace, path: Path | None
) -> None:
    """Writes stored lines, which need not become records."""
    from workers.operations.exporting import lines_to_export
    from workers.output.record_files import open_output

    head, format_line = _line_format(arguments)
    with (
        lines_to_export(settings, wanted) as lines,
        _progress(path) as count,
        open_output(path, zipped=arguments.gzip) as out,
    ):
        out.write(head.encode())
        for line in lines:
            out.write(format_line(line))
            count()


def _write_records(
    settings: Settings, wanted: Selection, arguments: argparse.Namespace, path: Path | None
) -> None:
    from workers.operations.exporting import records_to_export
    from workers.output.record_files import open_output

    head, format_record = _record_format(arguments)
    with (
        records_to_export(settings, wanted, arguments.folder) as records,
        _progress(path) as count,
        open_output(path, zipped=arguments.gzip) as out,
    ):
        out.write(head.encode())
        for each in records:
            out.write(format_record(each))
            count()


def _write_pages(settings: Settings, wanted: Selection, arguments: argparse.Namespace) -> None:
    from workers.operations.exporting import records_to_export
    from workers.output.record_files import PageFiles

    suffix = ".json" if arguments.format == "jsonl" else SUFFIXES[arguments.format]
    files = PageFiles(arguments.output, suffix, zipped=arguments.gzip)
    _, format_record = _record_format(arguments)
    with (
        records_to_export(settings, wanted, arguments.folder) as records,
        _progress(arguments.output) as count,
    ):
        for each in records:
            files.write(each.record, format_record(each))
            count()


@contextmanager
def _progress(path: Path | None) -> Iterator[Callable[[], None]]:
    """Yields a function that counts a record; nothing is shown for standard output."""
    from workers.output.progress import Tally

    if path is None:
        yield lambda: None
        return
    with Tally("exported", 0) as tally:

        def count() -> None:
            tally.done += 1
            tally.show()

        yield count
        tally.show(last=True)
    sys.stderr.write(f"{tally.done} record{'' if tally.done == 1 else 's'} written to {path}\n")
