"""`images`: the pictures of a topic, each once."""

from __future__ import annotations

import argparse
import sys

from cleaning.errors import ConfigError
from workers.commands.arguments import Commands, add_json, crawl_name
from workers.config import Settings

LISTED = 20


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "images",
        run,
        "list the pictures of a topic, copies as one",
        "Prints the pictures that a topic's crawl has fetched (`topic NAME --images`), the newest "
        "first: size in points, number of copies, caption, page. Copies have equal bytes or look "
        "the same: resized, recompressed, stamped, cut by some percent; the largest stands for "
        "them. `topic NAME --report` counts the images that were refused; "
        "`export --topic NAME --images DIR` writes the files.",
    )
    add_json(parser)
    parser.add_argument("topic", type=crawl_name, metavar="TOPIC", help="name of the topic")
    parser.add_argument("--copies", action="store_true", help="also print the URLs of the copies")
    parser.add_argument(
        "--limit", type=int, default=LISTED, metavar="N", help=f"list at most N (default {LISTED})"
    )


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Prints the pictures of a topic."""
    from workers.operations.topics.images import list_pictures
    from workers.output.printing import print_answer, write_lines
    from workers.output.topic_report import picture_lines

    if arguments.limit < 1:
        raise ConfigError(f"--limit is {arguments.limit}: it must be at least 1")
    found = list_pictures(settings, arguments.topic, arguments.limit, copies=arguments.copies)
    if arguments.json:
        for each in found:
            print_answer(each)
    elif found:
        write_lines(line for each in found for line in picture_lines(each))
    else:
        sys.stdout.write(f"topic {arguments.topic} has no image yet\n")
    return 0
