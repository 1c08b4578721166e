"""`check`: reads a crawl file, a hosts file or a list of sites without crawling."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.lexicon import counted
from crawlclean.workers.commands.arguments import Commands, Exit, add_json
from crawlclean.workers.config import Settings
from crawlclean.workers.control_characters import readable_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlclean.workers.answers.checks import FileCheck, PlannedCrawl

MOST_SEEDS_SHOWN = 3
MAX_PROBLEMS_SHOWN = 50  # a screen; a file that is no list at all has one a line
KINDS = {
    "crawl": "a crawl file",
    "hosts": "a hosts file",
    "sites": "a list of sites",
    "unreadable": "cannot be read",
}


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "check",
        run,
        "check a crawl file, a hosts file or a list of sites without crawling",
        "Reads a crawl file (TOML with everything that `run` and `sites` take), a hosts file or a "
        "list of sites. Prints each error and warning with its line, and what would be crawled. "
        "Exit status 2: the file has errors.",
        data=False,
    )
    add_json(parser)
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE")
    parser.add_argument(
        "--example", action="store_true", help="print a crawl file with every key, explained"
    )
    parser.add_argument(
        "--allow-private",
        action="store_true",
        default=None,
        help="as for `run`: seeds may be loopback and private addresses",
    )


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Prints the problems of a file and the crawl that it describes; 2 when it has errors.

    Raises:
        ConfigError: No file is named.
    """
    from crawlclean.workers.crawl_file.crawl_file import example
    from crawlclean.workers.operations.files.file_checking import check_file
    from crawlclean.workers.output.printing import print_answer

    if arguments.example:
        sys.stdout.write(example())
        return Exit.DONE
    if arguments.file is None:
        raise ConfigError("name a file, or use --example")
    found = check_file(settings, arguments.file)
    if arguments.json:
        print_answer(found)
    else:
        sys.stdout.write("".join(readable_line(line) + "\n" for line in _lines(found)))
    return Exit.WRONG_USE if found.has_errors else Exit.DONE


def _lines(found: FileCheck) -> Iterator[str]:
    for each in found.problems[:MAX_PROBLEMS_SHOWN]:
        place = f"{found.file}:{each.line}" if each.line else found.file
        yield f"{place}: {'warning: ' if each.is_warning else ''}{each.text}"
    if len(found.problems) > MAX_PROBLEMS_SHOWN:
        yield f"and {len(found.problems) - MAX_PROBLEMS_SHOWN} more (--json has all)"
    errors = sum(not each.is_warning for each in found.problems)
    warnings = len(found.problems) - errors
    yield f"{found.file}: {KINDS[found.kind]}, {_count(errors, 'error')}, " + _count(
        warnings, "warning"
    )
    if found.crawl:
        yield from _plan(found.crawl)


def _count(n: int, what: str) -> str:
    return counted(n, what)


def _plan(crawl: PlannedCrawl) -> Iterator[str]:
    """Yields what would be crawled, a line for each question."""
    from crawlclean.workers.output.progress import duration

    shown = " ".join(crawl.seeds[:MOST_SEEDS_SHOWN])
    more = len(crawl.seeds) - MOST_SEEDS_SHOWN
    yield f"  from     {shown}" + (f" and {more} more" if more > 0 else "")
    if crawl.crawl:
        yield f"  as       {crawl.crawl}"
    scope = {"host": "the same host", "domain": "the same domain", "any": "any host"}[crawl.scope]
    depth = "" if crawl.max_depth is None else f", at most {_count(crawl.max_depth, 'link')} deep"
    yield f"  follows  links to {scope}{depth}" + (", and content images" if crawl.images else "")
    if crawl.include:
        yield f"  only     {'  '.join(crawl.include)}"
    if crawl.exclude:
        yield f"  never    {'  '.join(crawl.exclude)}"
    limits = [] if crawl.max_pages is None else [f"after {_count(crawl.max_pages, 'record')}"]
    limits += [] if crawl.max_time_s is None else [f"after {duration(crawl.max_time_s)}"]
    last = "on Ctrl-C; it visits pages again" if crawl.keep_fresh else "when no URL is left"
    yield f"  stops    {' or '.join(limits) or last}"
    pause = "the default pause" if crawl.delay_s is None else f"a pause of {crawl.delay_s:g} s"
    own = f"; {_count(crawl.hosts, 'table')} of single hosts" if crawl.hosts else ""
    yield f"  asks     one request at a time to a host, then {pause}{own}"
    yield f"  stores   in {crawl.data or 'MongoDB'}; raw pages: {crawl.keep_raw}"
