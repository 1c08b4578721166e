"""The grammar of the commands that mend a crawl: `recover` and `retry`."""

from __future__ import annotations

import argparse
from typing import Any

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
        "--force", action="store_true", help="crawls too that the queue has: offer what they miss"
    )


def _recover(settings: Settings, a: argparse.Namespace) -> int:
    from workers.commands.recover import recover

    return recover(settings, a.crawls, force=a.force)
