"""Classes of URLs that are not fetched any more, because their pages brought nothing new."""

from __future__ import annotations

from collections.abc import Iterator

from storage.queue.frontier import Frontier
from storage.queue.url_classes import ClassRow
from workers.config import Settings
from workers.operations.backends import any_queue
from workers.operations.classes import crawls_with


def find_traps(settings: Settings, host: str, *, every: bool) -> list[ClassRow]:
    """Returns the stopped classes of one host, or of all hosts.

    Args:
        settings: Where the queue is.
        host: Lower-case authority; ``""``: all hosts.
        every: Also the classes that are still fetched.

    Raises:
        NotFound: No crawl knows the host.
    """
    with any_queue(settings) as frontier:
        return [
            row
            for crawl, name in _hosts(frontier, host)
            for row in frontier.classes.rows(crawl, name)
            if every or row.stopped
        ]


def lift_traps(settings: Settings, host: str) -> int:
    """Lets the classes of a host begin anew in every crawl; returns how many were stopped.

    URLs that ended as a trap stay ended; URLs that are found from now on are fetched.

    Args:
        settings: Where the queue is.
        host: Lower-case authority; ``""``: all hosts.

    Raises:
        NotFound: No crawl knows the host.
    """
    with any_queue(settings) as frontier:
        return sum(frontier.classes.lift(crawl, name) for crawl, name in _hosts(frontier, host))


def _hosts(frontier: Frontier, host: str) -> Iterator[tuple[str, str]]:
    """Yields (crawl, host) of every host that a crawl knows, or of the one that is named."""
    if host:
        yield from ((crawl, host) for crawl in crawls_with(frontier, host))
        return
    for crawl in frontier.crawl_ids():
        yield from ((crawl, name) for name in frontier.hosts(crawl))
