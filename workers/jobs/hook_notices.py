"""Log lines about hooks that fail or are slow: one an hour for each hook, of all processes."""

from __future__ import annotations

import logging
from contextlib import suppress

from crawlclean.cleaning.errors import QueueUnavailable
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.workers.hooks.calling import HookReport

NOTICE_S = 3600  # a hook that fails on each page must not fill the log; counters count it

log = logging.getLogger(__name__)


class HookNotices:
    """Receives the reports of ``HookCalls`` in a job."""

    def __init__(self, frontier: Frontier) -> None:
        """Asks the queue whether another process has logged the same."""
        self._frontier = frontier

    def __call__(self, report: HookReport) -> None:
        """Logs a report with its traceback, unless one of the hook was logged in the last hour."""
        message = "hook failed" if report.error else "hook slow"
        with suppress(QueueUnavailable):  # else the line comes once too often
            if not self._frontier.is_first(f"{message}: {report.name}", NOTICE_S):
                return
        extra = {"hook": report.name, "url": report.url, "reason": report.reason}
        log.warning(message, extra=extra, exc_info=report.error)
