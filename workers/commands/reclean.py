"""`reclean`: re-cleans a host's stored pages from the archive, with the host's model."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from crawlclean.cleaning.lexicon import counted
from crawlclean.workers.commands.arguments import Commands, Exit, add_json
from crawlclean.workers.config import Settings

if TYPE_CHECKING:
    from crawlclean.workers.answers.hosts import RecleaningReport
    from crawlclean.workers.jobs.recleaning import RecleanedPage, RecleaningCounts
    from crawlclean.workers.operations.hosts.host_recleaning import Recleaned

SHOWN_CHARS = 60


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "reclean",
        run,
        "re-clean a host's stored pages with its model",
        "Cleans again, from the archive, all records that were made without a model or with an "
        "older version. After an interruption or a crash, the same command does the rest. A second "
        "run changes nothing.",
    )
    add_json(parser)
    parser.add_argument("host", metavar="HOST")
    parser.add_argument(
        "--dry-run", action="store_true", help="print what would change, store nothing"
    )
    parser.add_argument(
        "--again",
        action="store_true",
        help="also re-clean records of the version in use: after an update of the program",
    )


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Re-cleans a host, prints the changes; fails when a page cannot be re-cleaned."""
    from crawlclean.workers.control_characters import readable_line
    from crawlclean.workers.operations.hosts.host_recleaning import reclean_host
    from crawlclean.workers.output.printing import print_answer
    from crawlclean.workers.output.progress import Tally

    dry_run, again = arguments.dry_run, arguments.again
    tally = Tally("compared" if dry_run else "re-cleaned", 0)

    def show(total: RecleaningCounts, part: RecleaningCounts) -> None:
        for each in part.failed:
            tally.print_line(readable_line(each))
        tally.done, tally.failed = total.cleaned, len(total.failed)
        tally.show()

    with tally:
        done = reclean_host(settings, arguments.host, show, dry_run=dry_run, again=again)
        if not done.is_whole:
            rest = "starts over" if again else "does the rest"
            tally.print_line(
                "interrupted; " + ("nothing changed" if dry_run else f"the same command {rest}")
            )
        tally.show(last=True)
    total = done.total
    if arguments.json:
        print_answer(_report(done, dry_run=dry_run))
    elif done.is_whole or total.cleaned:
        sys.stdout.write(_as_text(done, dry_run=dry_run))
        if total.with_new_images and done.fetches_images:
            sys.stdout.write(_pictured_text(total.with_new_images, dry_run=dry_run))
    if not done.is_whole:
        return Exit.INTERRUPTED
    return Exit.FAILED if total.failed else Exit.DONE


def _report(done: Recleaned, *, dry_run: bool) -> RecleaningReport:
    from crawlclean.workers.answers.hosts import ChangedPage, RecleaningReport

    total = done.total
    return RecleaningReport(
        host=done.host,
        model_version=done.version,
        dry_run=dry_run,
        cleaned=total.cleaned,
        changed=total.changed,
        with_new_content_images=total.with_new_images,
        by_field=dict(total.by_field),
        not_archived=total.unarchived,
        older_layout=total.outdated,
        failed=len(total.failed),
        examples=tuple(
            ChangedPage(
                url=each.before.url,
                changes={name: (old, new) for name, old, new in _changes(each)},
            )
            for each in total.examples
        ),
        interrupted=not done.is_whole,
    )


def _as_text(done: Recleaned, *, dry_run: bool) -> str:
    from crawlclean.workers.control_characters import readable_line

    total, version = done.total, done.version
    verb = "would be re-cleaned" if dry_run else "re-cleaned"
    using = f"with version {version} of its model" if version else "without a model"
    fields = sorted(total.by_field.items(), key=lambda item: (-item[1], item[0]))
    lines = [f"{counted(total.cleaned, 'record')} of {done.host} {verb} {using}"]
    if total.cleaned:
        differ = ": " + ", ".join(f"{name} {count}" for name, count in fields) if fields else ""
        lines.append(f"{total.changed} of them {'would change' if dry_run else 'changed'}{differ}")
    elif not (total.unarchived or total.outdated or total.failed):
        lines.append("nothing left to do")
    if total.unarchived:
        lines.append(f"{total.unarchived} unchanged: not in the archive")
    if total.outdated:
        lines.append(f"{total.outdated} unchanged: of an older layout of the site")
    if total.failed:
        lines.append(f"{len(total.failed)} unchanged: cleaning failed")
    for each in total.examples:
        lines.append(each.before.url)
        lines += [f"  {name:<12} {old}  ->  {new}" for name, old, new in _changes(each)]
    return "".join(readable_line(line) + "\n" for line in lines)


def _pictured_text(pages: int, *, dry_run: bool) -> str:
    if dry_run:
        return f"{counted(pages, 'page')} would get new content images\n"
    fetched = "their crawl or its next `run --images` fetches them"
    return f"new content images on {counted(pages, 'page')}: {fetched}\n"


def _changes(each: RecleanedPage) -> Iterator[tuple[str, str, str]]:
    """Yields (field, before, after) of each change: ``("images", "content 1", "chrome 1")``."""
    for name in each.changed:
        before, after = getattr(each.before, name), getattr(each.after, name)
        if name in ("links", "images", "outlinks", "warnings"):
            old, new = _kinds(before), _kinds(after)
            yield name, old, new if new != old else "same kinds, other items or scores"
        elif isinstance(before, str) and isinstance(after, str):
            yield name, *_where_they_differ(before, after)
        elif isinstance(before, tuple):
            yield name, str(len(before)), str(len(after))
        else:
            yield name, str(before), str(after)


def _kinds(found: Sequence[Any]) -> str:
    counts = Counter(str(each.kind) for each in found).most_common()
    return ", ".join(f"{kind} {count}" for kind, count in counts) or "none"


def _where_they_differ(before: str, after: str) -> tuple[str, str]:
    """Cuts both texts to the part around their first difference; adds the lengths of long ones."""
    at = next(
        (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b),
        min(len(before), len(after)),
    )
    start = max(0, at - 10)
    return _cut(before, start), _cut(after, start)


def _cut(text: str, start: int) -> str:
    shown = " ".join(text[start : start + SHOWN_CHARS].split())
    if start or len(text) > SHOWN_CHARS:
        before = "..." if start else ""
        after = "..." if start + SHOWN_CHARS < len(text) else ""
        return f"{before}{shown}{after} ({len(text)} characters)"
    return shown or "none"
