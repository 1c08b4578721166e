"""`search`: records by words of their texts."""

from __future__ import annotations

import argparse
import sys

from crawlclean.cleaning.errors import ConfigError
from crawlclean.workers.commands.arguments import Commands, add_json, crawl_name
from crawlclean.workers.config import Settings

LISTED = 20


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "search",
        run,
        "find records by words of their texts",
        "Prints the records whose title or body has every given word, those saved last first, with "
        "the text around the first hit. Chinese needs no spaces; a phrase of several words stands "
        "in quotation marks. Needs the setting `search`; records that are not indexed yet are "
        "indexed first.",
    )
    add_json(parser)
    parser.add_argument("words", nargs="+", metavar="WORD", help="a word, or a quoted phrase")
    parser.add_argument("--host", default="", metavar="HOST", help="only pages of this host")
    parser.add_argument(
        "--crawl", default="", type=crawl_name, metavar="CRAWL", help="only of this crawl"
    )
    parser.add_argument(
        "--since", default="", metavar="TIME", help="only pages fetched then or later"
    )
    parser.add_argument("--until", default="", metavar="TIME", help="only pages fetched before")
    parser.add_argument(
        "--limit", type=int, default=LISTED, metavar="N", help=f"list at most N (default {LISTED})"
    )


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Prints records; returns 1 when none was found."""
    from crawlclean.workers.control_characters import readable_line
    from crawlclean.workers.operations.reading import read_time
    from crawlclean.workers.operations.searching import Wanted, search_stored
    from crawlclean.workers.output.printing import print_answer
    from crawlclean.workers.output.progress import Tally

    if arguments.limit < 1:
        raise ConfigError(f"--limit is {arguments.limit}: it must be at least 1")
    words = (f'"{each}"' if " " in each and '"' not in each else each for each in arguments.words)
    wanted = Wanted(
        text=" ".join(words),
        host=arguments.host.lower(),
        crawl=arguments.crawl,
        since=read_time(arguments.since) if arguments.since else None,
        until=read_time(arguments.until) if arguments.until else None,
    )
    with Tally("indexed", 0) as tally:

        def tell(done: int) -> None:
            tally.done = done
            tally.show()

        found = search_stored(settings, wanted, arguments.limit, tell)
    for hit in found.hits:
        if arguments.json:
            print_answer(hit)
        else:
            text = "".join(f"*{part.text}*" if part.is_hit else part.text for part in hit.snippet)
            lines = (hit.url, f"  {hit.title or '-'}  {hit.fetched_at:%Y-%m-%d}", f"  {text}")
            sys.stdout.write("".join(readable_line(line) + "\n" for line in lines))
    if found.is_late:
        sys.stderr.write("the search took too long, and ended early: give a rarer word\n")
    return 0 if found.hits else 1
