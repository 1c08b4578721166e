"""`stories`: the pages that tell the same text."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from cleaning.errors import ConfigError
from workers.commands.arguments import Commands, Exit, add_json
from workers.config import Settings

if TYPE_CHECKING:
    from storage.store.story_rebuild import RebuildProgress

LISTED = 20


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "stories",
        run,
        "list near-duplicates: reprints of one text, over all hosts and crawls",
        "Prints the stories that began last: the time of the first page, the number of URLs and "
        "hosts, the story's id, the title and URL of the earliest page. With an id or a URL prints "
        "all URLs of one story. Texts of fewer than 100 letters and index pages tell no story. "
        "With --rebuild finds all stories anew, for pages that an older version stored or after "
        "pages were deleted; crawls may go on, and after an interruption or a crash the same "
        "command does the rest.",
    )
    add_json(parser)
    parser.add_argument(
        "target", nargs="?", default="", metavar="STORY|URL", help="only this story, with its URLs"
    )
    parser.add_argument(
        "--largest", action="store_true", help="list the stories with the most URLs first"
    )
    parser.add_argument(
        "--limit", type=int, default=LISTED, metavar="N", help=f"list at most N (default {LISTED})"
    )
    parser.add_argument(
        "--rebuild", action="store_true", help="find the stories of all stored pages anew"
    )


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Prints the newest or largest stories, or one with its pages; or rebuilds their index."""
    from workers.operations.topics.stories import find_story, is_rebuild_unfinished, list_stories
    from workers.output.printing import print_answer, table, terminal_columns, write_lines
    from workers.output.story_report import DROPPED, story_lines, story_rows

    if arguments.limit < 1:
        raise ConfigError(f"--limit is {arguments.limit}: it must be at least 1")
    if arguments.rebuild:
        if arguments.target:
            raise ConfigError(f"--rebuild takes no story: leave out {arguments.target}")
        return _rebuild(settings, as_json=arguments.json)
    if is_rebuild_unfinished(settings):
        sys.stderr.write("a rebuild is not finished: `stories --rebuild` does the rest\n")
    if arguments.target:
        story = find_story(settings, arguments.target)
        if arguments.json:
            print_answer(story)
        else:
            write_lines(story_lines(story))
        return 0
    found = list_stories(settings, arguments.limit, by_size=arguments.largest)
    if arguments.json:
        for each in found:
            print_answer(each)
    elif found:
        sys.stdout.write(table(story_rows(found), terminal_columns(), drop=DROPPED))
    else:
        sys.stdout.write("no text is stored twice\n")
    return 0


def _rebuild(settings: Settings, *, as_json: bool) -> int:
    """Rebuilds the index, shows the progress, prints what was done."""
    from workers.answers.stories import StoriesRebuilt
    from workers.operations.topics.stories import rebuild_stories
    from workers.output.printing import print_answer
    from workers.output.progress import Tally

    tally = Tally("read", 0)

    def show(done: RebuildProgress) -> None:
        tally.done = done.records
        tally.show()

    with tally:
        done, is_whole = rebuild_stories(settings, show)
        if not is_whole:
            tally.print_line("interrupted; the same command does the rest")
        tally.show(last=True)
    if as_json:
        print_answer(
            StoriesRebuilt(records=done.records, texts=done.texts, interrupted=not is_whole)
        )
    elif is_whole:
        sys.stdout.write(f"read {done.records} records; {done.texts} have a text to compare\n")
    return Exit.DONE if is_whole else Exit.INTERRUPTED
