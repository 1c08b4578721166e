"""`traps`: classes of URLs that are not fetched any more, why, and how they are again."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict

from cleaning.errors import NotFound
from storage.queue.frontier import Frontier
from storage.queue.traps import ClassRow
from workers.commands.control import any_queue
from workers.config import Settings
from workers.output.printing import print_json, table


def list_traps(settings: Settings, host: str, *, every: bool, as_json: bool) -> int:
    """Prints the stopped classes of all hosts, or of one; ``every``: also those that go on.

    Raises:
        NotFound: No crawl knows the host.
    """
    with any_queue(settings) as frontier:
        rows = [row for row in _rows(frontier, host) if every or row.stopped]
    if as_json:
        for row in rows:
            print_json(asdict(row))
        return 0
    lines = [("CRAWL", "HOST", "CLASS", "PAGES", "WITH NEWS", "STOPPED")]
    for row in rows:
        numbers = (str(row.pages), str(row.with_news))
        lines.append((row.crawl_id, row.host, row.pattern, *numbers, row.stopped or "-"))
    sys.stdout.write(table(lines) if rows else "no class of URLs is stopped\n")
    return 0


def lift_traps(settings: Settings, host: str) -> int:
    """Lets the classes of a host (``""``: of every host) begin anew, in every crawl.

    What ended as a trap stays ended; what is found from now on is fetched.

    Raises:
        NotFound: No crawl knows the host.
    """
    with any_queue(settings) as frontier:
        lifted = sum(frontier.traps.lift(crawl, name) for crawl, name in _hosts(frontier, host))
    sys.stdout.write(f"{lifted} classes of URLs are followed again\n")
    return 0


def _rows(frontier: Frontier, host: str) -> Iterator[ClassRow]:
    for crawl, name in _hosts(frontier, host):
        yield from frontier.traps.rows(crawl, name)


def _hosts(frontier: Frontier, host: str) -> Iterator[tuple[str, str]]:
    """(crawl, host) of all that the crawls know, or of one host."""
    if host:
        crawls = frontier.crawls_of(host)
        if not crawls:
            raise NotFound(f"no crawl knows the host {host}; `hosts` lists them")
        yield from ((crawl, host) for crawl in crawls)
        return
    for crawl in frontier.crawl_ids():
        yield from ((crawl, name) for name in frontier.hosts(crawl))
