"""`show`: prints one record, its older versions, or one stored image."""

from __future__ import annotations

import argparse
import sys
from datetime import datetime
from typing import TYPE_CHECKING

from crawlclean.cleaning.lexicon import second
from crawlclean.workers.commands.arguments import Commands, add_json
from crawlclean.workers.config import Settings

if TYPE_CHECKING:
    from crawlclean.workers.operations.reading import StoredRecord


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add("show", run, "print one record")
    add_json(parser)
    parser.add_argument(
        "target",
        metavar="URL|ID",
        help="URL of a page or image (without http:// too), or first digits of a page id",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--history", action="store_true", help="list the versions of a page, newest first"
    )
    which.add_argument(
        "--diff",
        nargs="*",
        metavar="TIME",
        help="print what changed: from the version before to the newest one, or between those "
        "of two times (2026-01-31, 2026-01-31T12:00:00)",
    )


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Prints the record of a page, or the stored fields of an image."""
    if arguments.history:
        return _print_history(settings, arguments)
    if arguments.diff is not None:
        return _print_difference(settings, arguments)
    from crawlclean.workers.operations.reading import StoredRecord, find_stored
    from crawlclean.workers.output.image_report import image_answer, image_text
    from crawlclean.workers.output.printing import print_answer, print_line

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


def _print_history(settings: Settings, arguments: argparse.Namespace) -> int:
    """Prints a line for each version of a page."""
    from crawlclean.workers.operations.pages.page_versions import page_history
    from crawlclean.workers.output.printing import print_answer, table, write_lines

    versions = page_history(settings, arguments.target)
    if arguments.json:
        for each in versions:
            print_answer(each)
        return 0
    newest = versions[0]
    write_lines([f"{newest.url} in {newest.crawl}, last checked {_time(newest.checked_at)}"])
    rows = [["version of", "lines", "body", "title"]]
    for each in versions:
        change = f"+{each.added} -{each.removed}" if each is not versions[-1] else "first"
        rows.append([_time(each.fetched_at), change, f"{each.body_chars}", each.title])
    sys.stdout.write(table(rows))
    return 0


def _print_difference(settings: Settings, arguments: argparse.Namespace) -> int:
    """Prints the lines that differ between two versions of a page."""
    from crawlclean.cleaning.errors import ConfigError
    from crawlclean.workers.operations.pages.page_versions import page_difference
    from crawlclean.workers.output.printing import print_answer, write_lines

    if len(arguments.diff) not in (0, 2):
        raise ConfigError("--diff takes no time or two: --diff 2026-01-30 2026-01-31")
    found = page_difference(settings, arguments.target, arguments.diff)
    if arguments.json:
        print_answer(found)
        return 0
    write_lines([f"--- {_time(found.older_at)}", f"+++ {_time(found.newer_at)}", *found.lines])
    return 0


def _time(at: datetime | None) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S}Z" if at else ""


def _story_rows(found: StoredRecord) -> list[tuple[str, str]]:
    """The other URLs of a page's story, a row each."""
    from crawlclean.workers.output.page_report import told_also_by

    if found.story is None:
        return []
    first, *others = told_also_by(found.story, found.record.url)
    return [("story", first.removeprefix("story ")), *(("", line.strip()) for line in others)]


def _record_text(found: StoredRecord) -> str:
    """A line for each field with a value, then the body."""
    from crawlclean.workers.control_characters import printable, readable_line
    from crawlclean.workers.output.image_report import stored_rows

    record = found.record
    about = [
        ("url", record.url),
        ("canonical", record.canonical_url if record.canonical_url != record.url else ""),
        ("id", record.page_id),
        ("kind", str(record.kind)),
        ("title", record.title),
        ("author", record.author or ""),
        ("published", second(record.published_at) if record.published_at else ""),
        ("language", record.language or ""),
        ("encoding", record.encoding),
        ("fetched", second(record.fetched_at)),
        ("body by", str(record.body_source)),
        ("links", str(len(record.links))),
        ("images", str(len(record.images))),
        *stored_rows(found.images),
        *_story_rows(found),
        ("warnings", ", ".join(f"{w.kind} {w.detail}".strip() for w in record.warnings)),
    ]
    head = "".join(f"{name:<10} {readable_line(value)}\n" for name, value in about if value)
    body = printable(record.body, keep_lines=True)
    return head + (f"\n{body}\n" if body else "\nno body\n")
