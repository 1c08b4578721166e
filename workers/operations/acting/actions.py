"""Every action by its name: importing the files that register them fills the table."""

from crawlclean.workers.operations.acting import (
    crawls,
    hosts,
    orders,
    others,
    overrides,
    receivers,
)
from crawlclean.workers.operations.acting.action import ACTIONS

__all__ = ["ACTIONS", "crawls", "hosts", "orders", "others", "overrides", "receivers"]
