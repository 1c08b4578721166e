"""The sweeper's part in crawls' budgets, where several queue servers share them.

Each second a sweeper looks at its own server: a crawl that has URLs left and little of the budget
needs more, and one with budget and no URL left gives some back (``storage/queue/servers/shares``).
"""

from __future__ import annotations

import time
from contextlib import suppress

from cleaning.errors import NotFound
from storage.queue.servers.members import WorkingMember
from storage.queue.servers.spread import QueueServers
from workers.context import Context

SPENT_PAUSE_S = 10.0
"""A crawl that has spent its whole budget gets more only by another `run`."""


class Budgets:
    """The budgets of the crawls on one server of a list; the only server has whole budgets."""

    def __init__(self, context: Context) -> None:
        """Has looked at nothing yet."""
        self._context = context
        self._spent: dict[str, float] = {}  # crawl -> when to look again

    def round(self) -> None:
        """Moves shares of budgets between the servers, where this one has too little or too much.

        Raises:
            QueueUnavailable: A server is away; the next round tries again.
        """
        own = self._context.frontier
        if not isinstance(own, WorkingMember):
            return
        now = time.monotonic()
        self._spent = {crawl: at for crawl, at in self._spent.items() if at > now}
        for crawl in own.uneven_budgets():
            whole = self._context.whole_queue()
            if crawl in self._spent or not isinstance(whole, QueueServers):
                continue
            with suppress(NotFound):  # purged meanwhile
                if whole.counts(crawl).budget_left:
                    whole.share_out(crawl)
                else:
                    self._spent[crawl] = now + SPENT_PAUSE_S
