"""`export`: writes records as JSON lines, Markdown or text, and stored images as files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from workers.commands.arguments import Commands
from workers.config import Settings

if TYPE_CHECKING:
    from cleaning.records import CleanRecord

FORMATS = ("jsonl", "markdown", "text")


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add("export", run, "write records to standard output")
    parser.add_argument("--format", choices=FORMATS, default=FORMATS[0], help="default jsonl")
    parser.add_argument(
        "--since", default="", metavar="T", help="only records saved since T, as 2026-01-31T12:00"
    )
    parser.add_argument("--crawl", default="", metavar="NAME", help="only this crawl")
    parser.add_argument(
        "--images",
        dest="folder",
        type=Path,
        metavar="DIR",
        help="also write the stored images to DIR; in JSON lines an image has its `file`",
    )


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Writes every record in the format, and its stored images into the folder."""
    from workers.operations.reading import lines_to_export, records_to_export
    from workers.output.printing import print_line

    if arguments.format == "jsonl" and not arguments.folder:
        with lines_to_export(settings, arguments.crawl, arguments.since) as lines:
            for line in lines:
                print_line(line)
        return 0
    write = {"jsonl": _write_json, "markdown": _write_markdown, "text": _write_text}
    with records_to_export(settings, arguments.crawl, arguments.since, arguments.folder) as records:
        for record, files in records:
            write[arguments.format](record, files)
    return 0


def _write_json(record: CleanRecord, files: dict[str, str]) -> None:
    from workers.output.image_report import record_with_files
    from workers.output.printing import print_json, print_line

    if files:
        print_json(record_with_files(record, files))
    else:
        print_line(record.to_json())


def _write_markdown(record: CleanRecord, _files: dict[str, str]) -> None:
    body = record.markdown or record.body.replace("\n", "\n\n")
    text = f"# {record.title or record.url}\n\n<{record.url}>\n\n{body}\n\n---\n\n"
    sys.stdout.write(_for_terminal(text))


def _write_text(record: CleanRecord, _files: dict[str, str]) -> None:
    text = _for_terminal(f"{record.url}\n{record.title}\n{record.body}\n")
    sys.stdout.write(f"{text}\f\n")


def _for_terminal(text: str) -> str:
    """Returns the text; without control characters when standard output is a terminal."""
    from workers.control_characters import printable

    return printable(text, keep_lines=True) if sys.stdout.isatty() else text
