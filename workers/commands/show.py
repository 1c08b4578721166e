"""`show`: prints one record or one stored image."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from workers.commands.arguments import Commands, add_json
from workers.config import Settings

if TYPE_CHECKING:
    from workers.operations.reading import StoredRecord


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add("show", run, "print one record")
    add_json(parser)
    parser.add_argument(
        "target", metavar="URL|ID", help="URL of a page or image, or the first digits of a page id"
    )


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Prints the record of a page, or the stored fields of an image."""
    from workers.operations.reading import StoredRecord, find_stored
    from workers.output.image_report import image_answer, image_text
    from workers.output.printing import print_answer, print_line

    found = find_stored(settings, arguments.target)
    if isinstance(found, StoredRecord):
        if arguments.json:
            print_line(found.record.to_json())
        else:
            sys.stdout.write(_record_text(found))
    elif arguments.json:
        print_answer(image_answer(found))
    else:
        sys.stdout.write(image_text(found))
    return 0


def _record_text(found: StoredRecord) -> str:
    """A line for each field with a value, then the body."""
    from workers.control_characters import printable, readable_line
    from workers.output.image_report import stored_rows

    record = found.record
    about = [
        ("url", record.url),
        ("canonical", record.canonical_url if record.canonical_url != record.url else ""),
        ("id", record.page_id),
        ("kind", str(record.kind)),
        ("title", record.title),
        ("author", record.author or ""),
        ("published", str(record.published_at or "")),
        ("language", record.language or ""),
        ("encoding", record.encoding),
        ("fetched", f"{record.fetched_at:%Y-%m-%d %H:%M:%S} UTC"),
        ("body by", str(record.body_source)),
        ("links", str(len(record.links))),
        ("images", str(len(record.images))),
        *stored_rows(found.images),
        ("warnings", ", ".join(f"{w.kind} {w.detail}".strip() for w in record.warnings)),
    ]
    head = "".join(f"{name:<10} {readable_line(value)}\n" for name, value in about if value)
    body = printable(record.body, keep_lines=True)
    return head + (f"\n{body}\n" if body else "\nno body\n")
