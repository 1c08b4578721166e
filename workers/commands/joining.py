"""`worker`, `spider`, `sweeper`: one more process of a crawl that runs already."""

from __future__ import annotations

import argparse
import os

from workers.commands.arguments import Commands
from workers.config import FILE_SUFFIX, SECRETS, Settings, to_environ, variable


def register(commands: Commands) -> None:
    """Adds the three commands and their arguments."""
    for name, purpose in (
        ("worker", "to clean its pages"),
        ("spider", "to fetch its pages"),
        ("sweeper", "to hand on what dead processes held"),
    ):
        commands.add(
            name,
            run,
            f"join a running crawl {purpose}",
            f"Join a running crawl {purpose}. Ends with the crawl, or on SIGTERM or Ctrl-C after "
            "the work at hand.",
            hosts_file=name == "spider",
        )


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Runs one process until it is told to stop, or the crawl ends.

    Raises:
        NotFound: Embedded mode, and no crawl runs on the data folder.
        QueueUnavailable: The server does not answer.
    """
    from storage.opening import join_queue, queue_url

    join_queue(settings.storage).close()
    # A job reads its settings from the environment of the worker it was forked from.
    os.environ.update(to_environ(settings))
    for name in SECRETS:  # read already
        os.environ.pop(variable(name) + FILE_SUFFIX, None)
    if arguments.command == "spider":
        from crawler.run import fetch_pages

        fetch_pages(queue_url(settings.storage), settings.crawl, settings.storage)
    elif arguments.command == "worker":
        from workers.processes.worker import work_until_stopped

        work_until_stopped()
    else:
        from workers.processes.sweeper import sweep_until_stopped

        sweep_until_stopped()
    return 0
