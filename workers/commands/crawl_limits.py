"""Options that `run` and `sites` share: limits and politeness of a crawl."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawlclean.cleaning.errors import ConfigError
from crawlclean.storage.crawl_types import KeepRaw, Scope
from crawlclean.workers.commands.arguments import Exit, seconds

if TYPE_CHECKING:
    from crawlclean.workers.answers.crawls import EndedBy
    from crawlclean.workers.crawl_file.crawl_file import CrawlFile

TRAP_HELP = "stop a URL class after N pages in a row with nothing new (default 50; 0: never)"
INCLUDE_HELP = (
    "follow only URLs in which REGEX is found, as /news/ or /新闻/ (escapes of UTF-8 are decoded); "
    "may be repeated: one must match; seeds are always fetched"
)
EXCLUDE_HELP = "follow no URL in which REGEX is found; wins over --include; may be repeated"
SCOPE_HELP = "follow links on the same host (default), in the same registered domain, or any"
TOPIC_SCOPE_HELP = (
    "topic: follow links on all hosts that body and related links lead to (default); or on the "
    "hosts of the seeds, in their registered domains, or any"
)
KEEP_FRESH_HELP = (
    "stay until Ctrl-C and visit pages again when they are due: lists often, articles rarely; the "
    "same command resumes, and makes up for missed visits once"
)
IMAGES_HELP = "also fetch content images, from any host; no other images"


def add_limits(parser: argparse.ArgumentParser, *, of_topic: bool = False) -> None:
    """Adds the options to a command; ``of_topic``: to the one with the scope of topics."""
    parser.add_argument(
        "--scope",
        # The setting `scope` of other crawls has no such value.
        dest="topic_scope" if of_topic else "scope",
        choices=[str(scope) for scope in Scope if of_topic or scope is not Scope.TOPIC],
        help=TOPIC_SCOPE_HELP if of_topic else SCOPE_HELP,
    )
    parser.add_argument(
        "--depth",
        dest="max_depth",
        type=int,
        metavar="N",
        help="follow at most N links from a seed; 0: only the seeds",
    )
    parser.add_argument("--include", action="append", metavar="REGEX", help=INCLUDE_HELP)
    parser.add_argument("--exclude", action="append", metavar="REGEX", help=EXCLUDE_HELP)
    parser.add_argument("--max-pages", type=int, metavar="N", help="stop after N records")
    parser.add_argument(
        "--max-time",
        dest="max_time_s",
        type=seconds,
        metavar="TIME",
        help="stop after this time: 90, 10m, 2h",
    )
    parser.add_argument(
        "--delay",
        dest="delay_s",
        type=float,
        metavar="S",
        help="seconds between a response and the next request to its host (default 1; 0 for "
        "loopback hosts; a longer Crawl-delay in robots.txt wins)",
    )
    parser.add_argument(
        "--slots",
        type=int,
        metavar="N",
        help=f"parallel requests to a host whose delay is 0 (default {1 if of_topic else 8})",
    )
    parser.add_argument("--trap-pages", type=int, metavar="N", help=TRAP_HELP)
    parser.add_argument(
        "--keep-raw",
        choices=[str(keep) for keep in KeepRaw],
        help="raw pages to keep (default all; sample: one in 16); learning needs them",
    )
    parser.add_argument(
        "--allow-private",
        action="store_true",
        default=None,
        help="also fetch loopback and private addresses",
    )
    parser.add_argument("--images", action="store_true", default=None, help=IMAGES_HELP)
    parser.add_argument("--keep-fresh", action="store_true", default=None, help=KEEP_FRESH_HELP)
    parser.add_argument(
        "--contact", metavar="ADDRESS", help="your address, sent to site owners in the user agent"
    )
    parser.add_argument(
        "--workers", type=int, metavar="N", help="cleaning processes (default cores - 1)"
    )
    parser.add_argument("--fresh", action="store_true", help="start over instead of resuming")


def crawl_file_of(arguments: Mapping[str, Any]) -> CrawlFile | None:
    """Reads the crawl file that `run` or `sites` is given; None: there is none.

    Raises:
        ConfigError: The file is wrong, or there are two.
    """
    command = arguments["command"]
    named: list[Any] = arguments["urls"] if command == "run" else []
    if command == "sites":
        named = [arguments["list"]]
    if not named:
        return None
    from crawlclean.workers.crawl_file.crawl_file import is_crawl_file, load_crawl_file

    files = [Path(each) for each in named if is_crawl_file(each)]
    if len(files) > 1:
        raise ConfigError(f"{files[0]} and {files[1]}: one crawl file at a time")
    return load_crawl_file(files[0]) if files else None


def status_of(ends: Collection[EndedBy], *, has_records: bool) -> Exit:
    """Returns the exit status of crawls that ended for these causes.

    Args:
        ends: Cause of the end of each crawl.
        has_records: Whether any of them has a record.
    """
    from crawlclean.workers.answers.crawls import EndedBy

    if EndedBy.SIGNAL in ends:
        return Exit.INTERRUPTED
    if any(each not in (EndedBy.DONE, EndedBy.PURGE) for each in ends):
        return Exit.URLS_LEFT
    return Exit.DONE if has_records else Exit.FAILED
