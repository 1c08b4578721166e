"""The grammar of the commands that mend a crawl: `recover` and `retry`."""

from __future__ import annotations

import argparse
from typing import Any

from storage.crawl_types import FailureReason
from workers.config import Settings


def add_repair(commands: Any, command: Any, data: argparse.ArgumentParser) -> None:
    """Adds both to the command line; ``command`` adds one."""
    recover = command(
        commands,
        "recover",
        _recover,
        "rebuild the queue of crawls from the store",
        "For when the queue was lost altogether: its folder deleted, its server emptied. Rebuilds "
        "every crawl that the store has and the queue has not; no stored page is fetched again. "
        "`run` does this for its own crawl. Interrupted, the same command does it again.",
        data,
    )
    recover.add_argument("crawls", nargs="*", metavar="CRAWL", help="only these")
    recover.add_argument(
        "--force",
        action="store_true",
        help="also crawls that the queue still has: offer what they miss",
    )
    retry = command(
        commands,
        "retry",
        _retry,
        "fetch failed URLs again",
        "Lets URLs wait again that gave no record for a reason that may have passed: no "
        "connection, no or a broken answer, status 5xx or 429. A finished crawl goes on with its "
        "next `run`.",
        data,
    )
    retry.add_argument("crawl", nargs="?", default="", metavar="CRAWL", help="only of this crawl")
    retry.add_argument(
        "--host", dest="of_host", default="", metavar="HOST", help="only of this host"
    )
    retry.add_argument(
        "--reason",
        dest="reasons",
        action="append",
        default=[],
        choices=[str(reason) for reason in FailureReason],
        metavar="REASON",
        help="failed for this reason, as `failures` names it (may be repeated)",
    )


def _recover(settings: Settings, a: argparse.Namespace) -> int:
    from workers.commands.recover import recover

    return recover(settings, a.crawls, force=a.force)


def _retry(settings: Settings, a: argparse.Namespace) -> int:
    from workers.commands.retry import retry

    return retry(settings, a.crawl, a.of_host, {FailureReason(each) for each in a.reasons})
