"""`join worker`, `join spider`, `join housekeeper`: one more process for a running crawl."""

from __future__ import annotations

import argparse
import logging
import os
from contextlib import closing
from typing import TYPE_CHECKING

from crawlclean.workers.commands.arguments import add_host_options, command
from crawlclean.workers.config import FILE_SUFFIX, SECRETS, Settings, to_environ, variable

if TYPE_CHECKING:
    from crawlclean.workers.processes.housekeeper import Alerting

log = logging.getLogger(__name__)


def _join(settings: Settings, arguments: argparse.Namespace) -> int:
    """Runs one process until a signal stops it or the crawl ends.

    Raises:
        NotFound: Embedded mode, and no crawl runs on the data folder.
        QueueUnavailable: The queue's server does not respond.
    """
    from crawlclean.storage.opening import queue_url

    _report_joining(settings)
    # Jobs read their settings from the environment.
    os.environ.update(to_environ(settings))
    for name in SECRETS:  # the settings have read these files
        os.environ.pop(variable(name) + FILE_SUFFIX, None)
    if arguments.command == "spider":
        from crawlclean.crawler.run import fetch_pages

        fetch_pages(queue_url(settings.storage), settings.crawl, settings.storage)
    elif arguments.command == "worker":
        from crawlclean.workers.processes.worker import work_until_stopped

        work_until_stopped()
    else:
        from crawlclean.workers.processes.housekeeper import keep_house_until_stopped

        keep_house_until_stopped(_alerting)
    return 0


def _alerting(settings: Settings) -> Alerting:
    """What finds signs for receivers: most crawls have none, and it takes 0.1 s to import."""
    from crawlclean.workers.operations.alerting import alerts

    return alerts.Alerting(settings)


def _report_joining(settings: Settings) -> None:
    """Logs which queue and store the process has joined, and how many crawls and hosts are open.

    Raises:
        NotFound: Embedded mode, and no crawl runs on the data folder.
        QueueUnavailable: The queue's server does not respond.
    """
    from crawlclean.storage.crawl_types import CrawlState
    from crawlclean.storage.opening import DATABASE, join_queue, queue_url

    storage = settings.storage
    with closing(join_queue(storage)) as frontier:
        counts = [frontier.counts(crawl) for crawl in frontier.crawl_ids()]
    running = [each for each in counts if each.state is CrawlState.RUNNING]
    log.info(
        "joined",
        extra={
            "queue": queue_url(storage),
            "store": storage.data / DATABASE if storage.is_embedded else storage.mongodb_url,
            "crawls": len(running),
            "hosts": sum(each.hosts for each in running),
            "waiting": sum(each.open for each in running),
        },
    )


def _joins(purpose: str) -> str:
    return (
        f"Joins a running crawl {purpose}. Ends with the crawl; on SIGTERM or Ctrl-C it finishes "
        "its current work first."
    )


spider = command(_joins("to fetch pages"), add_host_options)(_join)
worker = command(_joins("to clean pages"))(_join)
housekeeper = command(_joins("to redo lost work, queue what is due again, and tell receivers"))(
    _join
)
