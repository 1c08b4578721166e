"""Commands that ask and list: `failures`, `images`, `stories`."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.lexicon import minute
from crawlclean.workers.commands.arguments import Exit, Rows, argument, asking, crawl_name, limit
from crawlclean.workers.spoken import counted, say, term, told

if TYPE_CHECKING:
    from crawlclean.workers.operations.backends import Backends


@asking(
    "",
    argument(
        "--causes",
        action="store_true",
        help="count the failed URLs by reason and status, instead of listing them",
    ),
    argument("target", type=crawl_name, metavar="CRAWL|HOST", help="only this crawl or host"),
)
def failures(backends: Backends, asked: argparse.Namespace) -> Rows:
    """The URLs without record, newest first; or their causes, most URLs first."""
    from crawlclean.workers.operations.failures import every_failed_url

    if asked.causes:
        return _causes(backends, asked.target)
    found = every_failed_url(backends, asked.target)
    return Rows(found=found, lines=_failure, empty="no URL has failed")


def _failure(row: Any) -> tuple[str]:
    why = term("reason", row.reason)
    detail, attempts = told(row.detail) or "-", counted(row.attempts, "attempt")
    line = "{url}  {why}: {detail} ({attempts})"
    return (say(line, url=row.url, why=why, detail=detail, attempts=attempts),)


def _causes(backends: Backends, target: str) -> Rows:
    from crawlclean.workers.operations.failures import causes_of
    from crawlclean.workers.operations.hosts.hosts import as_of_text

    def row(each: Any) -> tuple[str, ...]:
        cause = f"{each.reason} {each.status}" if each.status else str(each.reason)
        numbers = (str(each.urls), str(each.hosts))
        return (
            each.crawl,
            term("reason", cause),
            *numbers,
            minute(each.first_at),
            minute(each.newest_at),
        )

    found = causes_of(backends, target)
    return Rows(
        found=found.items,
        head=("CRAWL", "CAUSE", "URLS", "HOSTS", "FIRST", "NEWEST"),
        row=row,
        empty="no URL has failed",
        last=as_of_text(found.as_of) if found.as_of else "",
        fit=False,
    )


@asking(
    "Prints the pictures that a topic's crawl has fetched (`topic NAME --images`), the newest "
    "first: size in points, number of copies, caption, page. Copies have equal bytes or look "
    "the same: resized, recompressed, stamped, cut by some percent; the largest stands for "
    "them. `topic NAME --report` counts the images that were refused; "
    "`export --topic NAME --images DIR` writes the files.",
    argument("topic", nargs=None, type=crawl_name, metavar="TOPIC", help="name of the topic"),
    argument("--copies", action="store_true", help="also print the URLs of the copies"),
    limit(20),
)
def images(backends: Backends, asked: argparse.Namespace) -> Rows:
    """The pictures of a topic, each once."""
    from crawlclean.workers.operations.topics.reports import list_pictures
    from crawlclean.workers.output.topic_report import picture_lines

    return Rows(
        found=list_pictures(backends, asked.topic, asked.limit, copies=asked.copies),
        lines=picture_lines,
        empty=say("topic {topic} has no image yet", topic=asked.topic),
    )


@asking(
    "Prints the stories that began last: the time of the first page, the number of URLs and "
    "hosts, the story's id, the title and URL of the earliest page. With an id or a URL prints "
    "all URLs of one story. Texts of fewer than 100 letters and index pages tell no story. "
    "With --rebuild finds all stories anew, for pages that an older version stored or after "
    "pages were deleted; crawls may go on, and after an interruption or a crash the same "
    "command does the rest.",
    argument("target", metavar="STORY|URL", help="only this story, with its URLs"),
    argument("--largest", action="store_true", help="list the stories with the most URLs first"),
    limit(20),
    argument("--rebuild", action="store_true", help="find the stories of all stored pages anew"),
)
def stories(backends: Backends, asked: argparse.Namespace) -> Rows | int:
    """The pages that tell the same text."""
    from crawlclean.workers.operations.reading import find_told_story
    from crawlclean.workers.operations.topics.stories import is_rebuild_unfinished, list_stories
    from crawlclean.workers.output.page_report import story_lines

    def row(each: Any) -> tuple[str, ...]:
        numbers = (str(each.url_count), str(each.host_count))
        first = each.earliest
        return minute(first.at), *numbers, each.story, each.title, first.url

    if asked.rebuild:
        if asked.target:
            raise ConfigError(f"--rebuild takes no story: leave out {asked.target}")
        return _rebuild(backends, as_json=asked.json)
    if is_rebuild_unfinished(backends):
        unfinished = say("a rebuild is not finished: `stories --rebuild` does the rest")
        sys.stderr.write(unfinished + "\n")
    if asked.target:
        return Rows(found=[find_told_story(backends, asked.target)], lines=story_lines)
    return Rows(
        found=list_stories(backends, "largest" if asked.largest else "newest", asked.limit).items,
        head=("BEGAN", "URLS", "HOSTS", "STORY", "TITLE", "EARLIEST"),
        row=row,
        drop=("HOSTS", "TITLE"),
        empty="no text is stored twice",
    )


def _rebuild(backends: Backends, *, as_json: bool) -> int:
    """Rebuilds the index, shows the progress, prints what was done."""
    from crawlclean.workers.operations.topics.stories import rebuild_stories
    from crawlclean.workers.output.progress import Tally

    tally = Tally("read", 0)

    def show(records: int) -> None:
        tally.done = records
        tally.show()

    with tally:
        report = rebuild_stories(backends, show)
        if report.interrupted:
            tally.print_line("interrupted; the same command does the rest")
        tally.show(last=True)
    rebuilt = "read {records}; {n:,} with a text to compare"
    text = say(rebuilt, records=counted(report.records, "record"), n=report.texts)
    if as_json or not report.interrupted:
        Rows(found=[report], lines=lambda _: (text,)).print(as_json=as_json)
    return Exit.INTERRUPTED if report.interrupted else Exit.DONE
