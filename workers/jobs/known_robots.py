"""The robots rules that the queue knows, for the URL filters of a job."""

from __future__ import annotations

from crawlclean.crawler.robots import RobotsRules
from crawlclean.crawler.settings import user_agent
from crawlclean.workers.context import Context


class KnownRobots:
    """Robots rules, read once a host in one job."""

    def __init__(self, context: Context) -> None:
        """Reads nothing yet."""
        self._frontier = context.frontier
        self._rules = RobotsRules(user_agent(context.settings.crawl))

    def allows(self, host: str, url: str) -> bool:
        """Whether the rules of a host allow a URL; what is not known is allowed."""
        if not self._rules.known(host, 0):
            self._rules.learn(host, 0, self._frontier.robots(host) or "")
        return self._rules.allow(host, 0, url)
