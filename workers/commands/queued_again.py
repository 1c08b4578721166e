"""Commands that put URLs into the queue again: `crawl recover|retry|refetch`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from crawlclean.storage.crawl_types import FailureReason
from crawlclean.workers.commands.arguments import Rows, argument, asking, crawl_name
from crawlclean.workers.spoken import counted, say, told

if TYPE_CHECKING:
    from crawlclean.workers.operations.backends import Backends


@asking(
    "For a lost queue: its folder was deleted, or its server emptied. Rebuilds every crawl "
    "that the store has and the queue has not. `run` does this for its own crawl. Also for a "
    "store that is older than its queue, such as a backup: the missing pages are fetched "
    "again. Stored pages are not. After an interruption, run the same command again. A crawl "
    "that another living queue of the store runs is refused.",
    argument("crawls", nargs="*", type=crawl_name, metavar="CRAWL", help="only these crawls"),
    argument(
        "--force",
        action="store_true",
        help="also crawls that the queue still has: add the URLs that they lack; and take over "
        "the named CRAWLs that another queue runs",
    ),
)
def recover(backends: Backends, asked: argparse.Namespace) -> Rows:
    """The crawls that are in the queue again."""
    from crawlclean.workers.operations.crawling.recovery import recover_crawls

    def lines(done: Any) -> tuple[str]:
        ended = counted(done.ended, "finished URL")
        line = "recovered {done.crawl}: {ended}, {done.waiting:,} waiting"
        return (say(line, done=done, ended=ended),)

    return Rows(
        found=recover_crawls(backends.settings, asked.crawls, _print_line, force=asked.force),
        lines=lines,
        empty="nothing to recover: queue and store have the same crawls",
    )


def _print_line(line: str) -> None:
    sys.stderr.write(told(line) + "\n")


@asking(
    "Puts failed URLs back into the queue. Default: URLs with a temporary reason (no "
    "connection, no response, a broken response, status 5xx or 429). The next `run` of a "
    "finished crawl fetches them.",
    argument("target", type=crawl_name, metavar="CRAWL|HOST", help="only this crawl or host"),
    argument(
        "--host", dest="of_host", default="", metavar="HOST", help="only this host of the crawl"
    ),
    argument(
        "--reason",
        dest="reasons",
        action="append",
        default=[],
        choices=[str(reason) for reason in FailureReason],
        metavar="REASON",
        help="only URLs with this reason, as `failures` prints it; may be repeated",
    ),
)
def retry(backends: Backends, asked: argparse.Namespace) -> Rows:
    """Failed URLs that are in the queue again, by crawl."""
    from crawlclean.workers.answers.control import RetriedCrawl
    from crawlclean.workers.operations.controlling.fetching_again import retry_failed

    reasons = {FailureReason(each) for each in asked.reasons}
    offered = retry_failed(backends, asked.target, asked.of_host, reasons)
    return Rows(
        found=[RetriedCrawl(crawl=name, urls=count) for name, count in offered.items()],
        lines=_back("failed URL"),
        empty="no failed URL matches; `failures` lists all of them",
    )


@asking(
    "Puts pages that have a record back into the queue. A record stays until a newer one of "
    "its page is stored; when both differ, it becomes an older version. Without an answer it "
    "stays. The next `run` of a finished crawl fetches them.",
    argument("target", nargs=None, type=crawl_name, metavar="CRAWL|HOST"),
    argument(
        "--since",
        default="",
        metavar="T",
        help="only pages fetched since T, as 2026-01-31T12:00, or 30m, 6h, 2d ago",
    ),
    argument(
        "--no-body",
        action="store_true",
        help="only pages whose record has no body, or one below 30 Chinese or 60 Latin letters",
    ),
)
def refetch(backends: Backends, asked: argparse.Namespace) -> Rows:
    """Stored pages that are in the queue again, by crawl."""
    from crawlclean.workers.answers.control import RefetchedCrawl
    from crawlclean.workers.operations.controlling.fetching_again import (
        EndedFilter,
        fetch_again,
        read_since,
    )

    now = datetime.now(UTC)
    since = read_since(asked.since, now)
    wanted = EndedFilter(failed=False, since=since, until=now, no_body=asked.no_body)
    offered = fetch_again(backends, asked.target, wanted)
    return Rows(
        found=[RefetchedCrawl(crawl=name, urls=count) for name, count in offered.items()],
        lines=_back("page"),
        empty="no stored page matches",
    )


def _back(what: str) -> Callable[[Any], tuple[str]]:
    def lines(each: Any) -> tuple[str]:
        line = "{urls} of {crawl} is back in the queue"
        if each.urls != 1:
            line = "{urls} of {crawl} are back in the queue"
        return (say(line, urls=counted(each.urls, what), crawl=each.crawl),)

    return lines
